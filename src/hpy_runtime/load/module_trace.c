/* The functions of trace mode in the module ffi_hpy._hpy, for hpy.trace of the drop-in replacement. */
#include "module_trace.h"

#include "hpy_runtime/trace/trace_record.h"

static PyObject *trace_calls(PyObject *self, PyObject *none) {
  return (void)self, (void)none, fhpy_trace_record_totals(TRACE_CALLS);
}
static PyObject *trace_nanoseconds(PyObject *self, PyObject *none) {
  return (void)self, (void)none, fhpy_trace_record_totals(TRACE_NANOSECONDS);
}

static PyObject *set_hook(FhpyTraceHook which, PyObject *hook) {
  bool is_none = hook == &_Py_NoneStruct;
  if (!is_none && !PyCallable_Check(hook)) {
    PyErr_Format(PyExc_TypeError, "expected a callable or None, got %R", type_of(hook));
    return NULL;
  }
  fhpy_trace_record_set_hook(which, is_none ? NULL : hook);
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}
static PyObject *trace_on_enter(PyObject *self, PyObject *hook) { return (void)self, set_hook(TRACE_ON_ENTER, hook); }
static PyObject *trace_on_exit(PyObject *self, PyObject *hook) { return (void)self, set_hook(TRACE_ON_EXIT, hook); }

static const char calls_doc[] =
    "trace_calls()\n--\n\nHow often each function of HPy was called in trace mode, by name.";
static const char nanoseconds_doc[] = "trace_nanoseconds()\n--\n\nHow long those calls took.";
static const char on_enter_doc[] = "trace_on_enter(hook)\n--\n\nHave hook(name) called before each of them; None: not.";
static const char on_exit_doc[] = "trace_on_exit(hook)\n--\n\nHave hook(name) called after each of them; None: not.";

static PyMethodDef methods[] = {{"trace_calls", (void *)trace_calls, METH_NOARGS, calls_doc},
                                {"trace_nanoseconds", (void *)trace_nanoseconds, METH_NOARGS, nanoseconds_doc},
                                {"trace_on_enter", (void *)trace_on_enter, METH_O, on_enter_doc},
                                {"trace_on_exit", (void *)trace_on_exit, METH_O, on_exit_doc},
                                {0}};

int fhpy_module_trace_exec(PyObject *module) { return PyModule_AddFunctions(module, methods); }
