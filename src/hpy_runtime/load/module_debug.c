/* The functions of debug mode in the module ffi_hpy._hpy, for ffi_hpy.hpy_debug. Each converts its arguments and calls
 * a function of debug/. */
#include "module_debug.h"

#include "hpy_runtime/debug/debug.h"
#include "hpy_runtime/debug/debug_handle.h"
#include "hpy_runtime/debug/debug_report.h"
#include "hpy_runtime/trace/trace.h"
#include "load.h"

static PyObject *new_none(void) {
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

static PyObject *debug_serial(FH_MAYBE_UNUSED PyObject *self, FH_MAYBE_UNUSED PyObject *none) {
  return PyLong_FromUnsignedLongLong(fhpy_debug_record_serial());
}
static const char debug_serial_doc[] = "debug_serial()\n--\n\nThe serial number of the latest debug handle.";

/* Calls `list` with the serial number `since`. -1 is a serial number or a failed conversion, so the exception
 * decides. */
static PyObject *list_since(PyObject *(*list)(uint64_t), PyObject *since) {
  unsigned long long serial = PyLong_AsUnsignedLongLong(since);
  return serial == (unsigned long long)-1 && PyErr_Occurred() ? NULL : list(serial);
}
static PyObject *debug_open(PyObject *self, PyObject *since) {
  return (void)self, list_since(fhpy_debug_list_open, since);
}
static PyObject *debug_closed(PyObject *self, PyObject *since) {
  return (void)self, list_since(fhpy_debug_list_closed, since);
}
static const char debug_open_doc[] = "debug_open(since)\n--\n\n"
                                     "A list of (serial number, kind, word, opener, None, value, bytes of texts, "
                                     "native stack) of the handles, builders\n"
                                     "and trackers that are open and have a greater serial number.";
static const char debug_closed_doc[] = "debug_closed(since)\n--\n\n"
                                       "A list of (serial number, kind, word, opener, closer, None, bytes of texts, "
                                       "native stack) of the handles that are closed\n"
                                       "and still known.";

static PyObject *debug_close(FH_MAYBE_UNUSED PyObject *self, PyObject *word) {
  unsigned long long value = PyLong_AsUnsignedLongLong(word);
  if (value == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
  if (fhpy_debug_handle_close_forgotten((HPy){(intptr_t)value})) return new_none();
  PyErr_Format(PyExc_ValueError,
               "debug_close() expects the word of a handle that is open and the extension's to close, got %R", word);
  return NULL;
}
static const char debug_close_doc[] = "debug_close(word)\n--\n\nClose a handle that an extension has forgotten.";

static PyObject *debug_set_hook(FH_MAYBE_UNUSED PyObject *self, PyObject *hook) {
  bool is_none = hook == &_Py_NoneStruct;
  if (!is_none && !PyCallable_Check(hook)) {
    PyErr_Format(PyExc_TypeError, "debug_set_hook() expects a callable or None, got %R", type_of(hook));
    return NULL;
  }
  PyObject *old = fhpy_debug_report_set_hook(is_none ? NULL : hook);
  return old != NULL ? old : new_none();
}
static const char debug_set_hook_doc[] =
    "debug_set_hook(hook)\n--\n\n"
    "Let a misused handle call hook(report) instead of ending the process (None). Returns the former hook.";

/* debug_limits([closed handles, bytes of their texts, native frames]) */
static PyObject *debug_limits(FH_MAYBE_UNUSED PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  FhpyDebugLimits old = fhpy_debug_record_get_limits(), wanted;
  if (nargs != 0 && nargs != 3) {
    PyErr_Format(PyExc_TypeError, "debug_limits() expects none or three limits, got %zd", nargs);
    return NULL;
  }
  if (nargs == 3) {
    /* All steps that can fail come before the limits are changed. */
    size_t *const members[] = {&wanted.n_closed, &wanted.n_text_bytes, &wanted.n_frames};
    for (int i = 0; i < 3; ++i) {
      *members[i] = PyLong_AsSize_t(args[i]);
      if (*members[i] == (size_t)-1 && PyErr_Occurred()) return NULL;
    }
  }
  PyObject *values[] = {PyLong_FromSize_t(old.n_closed), PyLong_FromSize_t(old.n_text_bytes),
                        PyLong_FromSize_t(old.n_frames)};
  PyObject *result = PyTuple_New(3);
  if (result == NULL || values[0] == NULL || values[1] == NULL || values[2] == NULL) {
    Py_DecRef(result), Py_DecRef(values[0]), Py_DecRef(values[1]), Py_DecRef(values[2]);
    return NULL;
  }
  for (int i = 0; i < 3; ++i) PyTuple_SetItem(result, i, values[i]);
  if (nargs == 3) fhpy_debug_record_set_limits(wanted);
  return result;
}
static const char debug_limits_doc[] =
    "debug_limits(n_closed, n_text_bytes, n_frames, /)\n--\n\n"
    "Set how many closed handles are known, how many bytes of their texts are kept, and how much of the native stack "
    "is\n"
    "noted when a handle is opened. Returns the limits before; without arguments, changes nothing.";

static PyObject *debug_report_open(FH_MAYBE_UNUSED PyObject *self, FH_MAYBE_UNUSED PyObject *none) {
  fhpy_debug_list_report();
  return new_none();
}
static const char debug_report_open_doc[] =
    "debug_report_open()\n--\n\nTell stderr which debug handles are open, if any are.";

static PyMethodDef debug_methods[] = {
    {"debug_serial", (void *)debug_serial, METH_NOARGS, debug_serial_doc},
    {"debug_open", (void *)debug_open, METH_O, debug_open_doc},
    {"debug_closed", (void *)debug_closed, METH_O, debug_closed_doc},
    {"debug_close", (void *)debug_close, METH_O, debug_close_doc},
    {"debug_set_hook", (void *)debug_set_hook, METH_O, debug_set_hook_doc},
    {"debug_limits", (void *)debug_limits, METH_FASTCALL, debug_limits_doc},
    {"debug_report_open", (void *)debug_report_open, METH_NOARGS, debug_report_open_doc},
    {0}};

/* If the environment enables debug mode, registers debug_report_open() with atexit. atexit runs functions in the
 * reverse order of their registration. This function is registered early, so it runs after the functions of other
 * modules, which may still close handles. Returns 0, or -1 with an exception raised. */
static int report_at_exit(PyObject *module) {
  int is_wanted = fhpy_load_file_wants_debug();
  if (is_wanted < 0) PyErr_Clear(); /* load() raises it again */
  if (is_wanted <= 0) return 0;
  PyObject *atexit = PyImport_ImportModule("atexit");
  PyObject *add = atexit != NULL ? PyObject_GetAttrString(atexit, "register") : NULL;
  PyObject *report = add != NULL ? PyObject_GetAttrString(module, "debug_report_open") : NULL;
  PyObject *args = report != NULL ? PyTuple_New(1) : NULL;
  /* PyTuple_SetItem steals `report`, even if it fails. */
  int rc = args != NULL ? PyTuple_SetItem(args, 0, report) : -1;
  if (args == NULL) Py_DecRef(report);
  PyObject *done = rc == 0 ? PyObject_CallObject(add, args) : NULL;
  Py_DecRef(done), Py_DecRef(args), Py_DecRef(add), Py_DecRef(atexit);
  return done != NULL ? 0 : -1;
}

int fhpy_module_debug_exec(PyObject *module) {
  return PyModule_AddFunctions(module, debug_methods) < 0 ? -1 : report_at_exit(module);
}

/* --- trace mode -------------------------------------------------------------------------------------------------- */

/* The functions of trace mode in the module ffi_hpy._hpy, for hpy.trace of the drop-in replacement. */

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
    "trace_calls()\n--\n\nThe number of calls of each function of HPy in trace mode, by name.";
static const char nanoseconds_doc[] = "trace_nanoseconds()\n--\n\nThe duration of these calls, by name.";
static const char on_enter_doc[] =
    "trace_on_enter(hook)\n--\n\nLet each of these calls first call hook(name); None: no hook.";
static const char on_exit_doc[] =
    "trace_on_exit(hook)\n--\n\nLet each of these calls call hook(name) at its end; None: no hook.";

static PyMethodDef trace_methods[] = {{"trace_calls", (void *)trace_calls, METH_NOARGS, calls_doc},
                                      {"trace_nanoseconds", (void *)trace_nanoseconds, METH_NOARGS, nanoseconds_doc},
                                      {"trace_on_enter", (void *)trace_on_enter, METH_O, on_enter_doc},
                                      {"trace_on_exit", (void *)trace_on_exit, METH_O, on_exit_doc},
                                      {0}};

int fhpy_module_trace_exec(PyObject *module) { return PyModule_AddFunctions(module, trace_methods); }
