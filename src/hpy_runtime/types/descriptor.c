/* Methods made of callables.
 *
 * The type declares its instances to be method descriptors. So `object.method(...)` calls the descriptor with the
 * object as the first argument, without making a bound method. The descriptor passes the arguments on unchanged.
 *
 * A callable that replaces a function written in Python has that function as its attribute `__wrapped__`. A method
 * shows the attributes of that function, or of the callable itself, in addition to its own: a signature for
 * instance. */
#include "descriptor.h"

#ifdef FHPY_PYPY

/* On PyPy a call through a vectorcall word costs more than a method written in Python. */
bool fhpy_descriptor_is_possible(void) { return false; }
PyObject *fhpy_descriptor_new_method(PyObject *callable, const FhpyMethodNames *names) {
  (void)callable, (void)names;
  PyErr_SetString(PyExc_RuntimeError, "this runtime makes no method descriptors on PyPy");
  return NULL;
}

#else

#include <stddef.h>

#include "hpy_runtime/abi/handle.h"
#include "type.h"

typedef struct Method {
  vectorcall_fn vectorcall;
  vectorcall_fn target; /* the vectorcall function of `callable` */
  PyObject *weak;       /* the interpreter's list of weak references */
  PyObject *callable, *wrapped, *module, *name, *qualname, *doc;
} Method;

enum { N_OWNED = 6 }; /* from `callable` on */

static void *method_type; /* a PyObject, made at first use */

static Method *method_of(PyObject *self) { return (Method *)(void *)((char *)self + fhpy_layout.header_size); }
static PyObject **owned_of(PyObject *self) { return &method_of(self)->callable; }

/* A call without arguments by position: the object may be the argument "self". Not inline, so that method_call has no
 * frame. */
static FH_NOINLINE PyObject *call_by_name(const Method *method, PyObject *const *args, PyObject *kwnames) {
  Py_ssize_t n = kwnames == NULL ? 0 : PyTuple_Size(kwnames), at = 0;
  while (at < n && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, at), "self") != 0) ++at;
  if (at == n) {
    PyErr_Format(PyExc_TypeError, "method %R needs an object to be called on", method->qualname);
    return NULL;
  }
  PyObject **moved = (PyObject **)PyMem_Malloc((size_t)n * sizeof(*moved)), *names = PyTuple_New(n - 1);
  if (moved == NULL && names != NULL) PyErr_NoMemory();
  PyObject *result = NULL;
  if (moved != NULL && names != NULL) {
    moved[0] = args[at];
    for (Py_ssize_t i = 0, k = 0; i < n; ++i) {
      if (i == at) continue;
      PyObject *name = PyTuple_GetItem(kwnames, i);
      take_reference(name);
      (void)PyTuple_SetItem(names, k, name); /* the tuple is new, so this works */
      moved[++k] = args[i];
    }
    result = method->target(method->callable, moved, 1, n == 1 ? NULL : names);
  }
  PyMem_Free(moved);
  if (names != NULL) drop_reference(names);
  return result;
}

static PyObject *method_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  const Method *method = method_of(self);
  if ((nargsf & ~VECTORCALL_ARGUMENTS_OFFSET) == 0) return call_by_name(method, args, kwnames);
  return method->target(method->callable, args, nargsf, kwnames);
}

static PyObject *method_bind(PyObject *self, PyObject *object, FH_MAYBE_UNUSED PyObject *type) {
  if (object != NULL && object != &_Py_NoneStruct) return fhpy_optional.PyMethod_New(self, object);
  take_reference(self);
  return self;
}

static PyObject *method_repr(PyObject *self) {
  return PyUnicode_FromFormat("<native method %R>", method_of(self)->qualname);
}

static int method_traverse(PyObject *self, visit_fn visit, void *arg) {
  for (int i = 0; i < N_OWNED; ++i) {
    int rc = owned_of(self)[i] == NULL ? 0 : visit(owned_of(self)[i], arg);
    if (rc != 0) return rc;
  }
  return visit(type_of(self), arg);
}

/* The type has no tp_clear, because a cycle through a method contains its class, which the collector clears. */
static void method_dealloc(PyObject *self) {
  PyObject *type = type_of(self);
  PyObject_GC_UnTrack(self);
  if (method_of(self)->weak != NULL) PyObject_ClearWeakRefs(self);
  for (int i = 0; i < N_OWNED; ++i) drop_reference(owned_of(self)[i]);
  PyObject_GC_Del(self);
  drop_reference(type);
}

static PyObject *method_get(PyObject *self, void *offset) {
  PyObject *value = *(PyObject **)(void *)((char *)method_of(self) + (size_t)(uintptr_t)offset);
  take_reference(value);
  return value;
}

/* `__module__` is handled here, because the type's dict has the `__module__` of the type itself. */
static PyObject *method_get_attribute(PyObject *self, PyObject *name) {
  if (PyUnicode_CompareWithASCIIString(name, "__module__") == 0)
    return method_get(self, (void *)offsetof(Method, module));
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  PyErr_Clear();
  return PyObject_GetAttr(method_of(self)->wrapped, name);
}

/* copy and pickle interpret a str as the qualified name of a global object: like a function, a method belongs to its
 * class. */
static PyObject *method_reduce(PyObject *self, FH_MAYBE_UNUSED PyObject *ignored) {
  return method_get(self, (void *)offsetof(Method, qualname));
}

/* copy.deepcopy asks the instance first, which would otherwise return the function's __deepcopy__. */
static PyObject *method_deepcopy(PyObject *self, FH_MAYBE_UNUSED PyObject *memo) {
  take_reference(self);
  return self;
}

static PyObject *make_type(void) {
  enum { FLAG_IMMUTABLE_TYPE = 1 << 8, FLAG_METHOD_DESCRIPTOR = 1 << 17 };
  static PyGetSetDef getset[] = {{"__name__", (void *)method_get, NULL, NULL, (void *)offsetof(Method, name)},
                                 {"__qualname__", (void *)method_get, NULL, NULL, (void *)offsetof(Method, qualname)},
                                 {"__doc__", (void *)method_get, NULL, NULL, (void *)offsetof(Method, doc)},
                                 {"__wrapped__", (void *)method_get, NULL, NULL, (void *)offsetof(Method, wrapped)},
                                 {NULL, NULL, NULL, NULL, NULL}};
  static PyMethodDef methods[] = {{"__reduce__", (void *)method_reduce, METH_NOARGS, NULL},
                                  {"__deepcopy__", (void *)method_deepcopy, METH_O, NULL},
                                  {NULL, NULL, 0, NULL}};
  static PyMemberDef members[] = {{"__vectorcalloffset__", MEMBER_SSIZE, 0, MEMBER_READONLY, NULL},
                                  {"__weaklistoffset__", MEMBER_SSIZE, 0, MEMBER_READONLY, NULL},
                                  {NULL, 0, 0, 0, NULL}};
  static PyType_Slot slots[] = {{SLOT_TP_CALL, (void *)PyVectorcall_Call},
                                {SLOT_TP_DESCR_GET, (void *)method_bind},
                                {SLOT_TP_REPR, (void *)method_repr},
                                {SLOT_TP_GETATTRO, (void *)method_get_attribute},
                                {SLOT_TP_METHODS, methods},
                                {SLOT_TP_TRAVERSE, (void *)method_traverse},
                                {SLOT_TP_DEALLOC, (void *)method_dealloc},
                                {SLOT_TP_GETSET, getset},
                                {SLOT_TP_MEMBERS, members},
                                {0, NULL}};
  members[0].offset = (Py_ssize_t)fhpy_layout.header_size;
  members[1].offset = (Py_ssize_t)(fhpy_layout.header_size + offsetof(Method, weak));
  unsigned flags =
      1u << 18 | (unsigned)TYPE_FLAG_HAVE_GC | (unsigned)TYPE_FLAG_HAVE_VECTORCALL | FLAG_METHOD_DESCRIPTOR;
  /* The interpreter caches in its bytecode only methods of immutable types. */
  if (fhpy_layout.minor >= 10) flags |= FLAG_IMMUTABLE_TYPE; /* earlier versions have no such flag */
  PyType_Spec spec = {"ffi_hpy._hpy.method", (int)(fhpy_layout.header_size + sizeof(Method)), 0, flags, slots};
  PyObject *type = PyType_FromSpecWithBases(&spec, NULL);
  if (type != NULL) defer_references(type);
  return type;
}

/* Returns the type of methods, borrowed; never freed. Threads that call this at the same time make a type each. One of
 * these is published, the others are released. */
static PyObject *get_type(void) {
  PyObject *type = fh_atomic_load_acquire_ptr(&method_type); /* pairs with the swap below */
  if (type != NULL) return type;
  PyObject *fresh = make_type();
  void *first = NULL;
  if (fresh == NULL) return NULL;
  if (fh_atomic_cas_seq_cst_ptr(&method_type, &first, fresh)) return fresh;
  Py_DecRef(fresh);
  return fh_atomic_load_acquire_ptr(&method_type);
}

bool fhpy_descriptor_is_possible(void) { return fhpy_optional.PyMethod_New != NULL; }

/* Returns a new reference to the function that `callable` replaces, or to `callable` itself; NULL with an exception
 * raised. */
static PyObject *wrapped_by(PyObject *callable) {
  PyObject *wrapped = PyObject_GetAttrString(callable, "__wrapped__");
  if (wrapped != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return wrapped;
  PyErr_Clear();
  take_reference(callable);
  return callable;
}

PyObject *fhpy_descriptor_new_method(PyObject *callable, const FhpyMethodNames *names) {
  const FhpyType *note = type_nearest_note(type_of(callable));
  if (note == NULL || note->vectorcall_offset == 0) {
    PyErr_Format(PyExc_TypeError, "a method is made of an HPy object that can be called, not of %R", type_of(callable));
    return NULL;
  }
  PyObject *type = get_type();
  PyObject *wrapped = type == NULL ? NULL : wrapped_by(callable);
  PyObject *self = wrapped == NULL ? NULL : PyType_GenericAlloc(type, 0);
  if (self == NULL) {
    drop_reference(wrapped);
    return NULL;
  }
  Method *method = method_of(self);
  *method = (Method){.vectorcall = method_call,
                     .target = *(vectorcall_fn *)(void *)((char *)callable + note->vectorcall_offset),
                     .callable = callable,
                     .wrapped = wrapped,
                     .module = to_py(names->module),
                     .name = to_py(names->name),
                     .qualname = to_py(names->qualname),
                     .doc = to_py(names->doc)};
  for (int i = 0; i < N_OWNED; ++i) take_reference(owned_of(self)[i]);
  drop_reference(wrapped);
  defer_references(self);
  return self;
}

#endif
