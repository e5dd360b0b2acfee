/* Makes instances of HPy types. */
#include "type_instance.h"

#include "hpy_runtime/abi/pypy_functions.h"
#include "type.h"

static void set_vectorcall(PyObject *o, const FhpyType *note) {
  if (note->vectorcall_offset != 0) type_instance_set_vectorcall(o, note, note->vectorcall);
}

#define TYPE_FLAGS_BUILTIN                                                                                   \
  (TYPE_FLAG_LONG_SUBCLASS | TYPE_FLAG_LIST_SUBCLASS | TYPE_FLAG_TUPLE_SUBCLASS | TYPE_FLAG_BYTES_SUBCLASS | \
   TYPE_FLAG_UNICODE_SUBCLASS | TYPE_FLAG_DICT_SUBCLASS | TYPE_FLAG_BASE_EXC_SUBCLASS | TYPE_FLAG_TYPE_SUBCLASS)

/* A built-in type makes its instance itself, because zeroed memory is not a valid instance: an empty dict has a table,
 * and in some versions an empty str or tuple or the number 0 has more than zeroes. cpyext cannot make such an object of
 * zeroes at all. */
PyObject *fhpy_type_instance_make_bare(PyObject *type) {
  if (!type_has_flag(type, TYPE_FLAGS_BUILTIN)) return PyType_GenericAlloc(type, 0);
  PyObject *builtin = type;
  while (type_has_flag(builtin, TYPE_FLAG_HEAPTYPE)) builtin = type_base(builtin);
  PyObject *no_args = PyTuple_New(0);
  if (no_args == NULL) return NULL;
  PyObject *o = ((new_fn)type_member(builtin, MEMBER_NEW))(type, no_args, NULL);
  Py_DecRef(no_args);
  return o;
}

#ifdef FHPY_PYPY
static PyObject *make_plain(PyObject *type, size_t byte_size) { return (void)byte_size, PyType_GenericAlloc(type, 0); }

/* PyPy calls HPy_tp_finalize only for objects that it knows. PyPy does not know an object that never leaves C; any
 * query of the object makes it known. */
static void show_to_collector(PyObject *o, PyObject *type) {
  for (; type != NULL; type = type_base(type)) {
    if (type_member(type, MEMBER_FINALIZE) == NULL) continue;
    (void)PyCallable_Check(o);
    return;
  }
}
#else
/* The work of PyType_GenericAlloc for a type with a plain_size. */
static PyObject *make_plain(PyObject *type, size_t byte_size) {
  PyObject *o = PyObject_Calloc(1, byte_size);
  return o == NULL ? PyErr_NoMemory() : PyObject_Init(o, type);
}

static void show_to_collector(PyObject *o, PyObject *type) { (void)o, (void)type; }
#endif

/* The last step of both paths of HPy_New. Steals the object; NULL is returned unchanged. */
static PyObject *complete_instance(PyObject *o, PyObject *type, const FhpyType *note, void **data) {
  if (o == NULL) return NULL;
  set_vectorcall(o, note);
  show_to_collector(o, type);
  *data = type_struct(o, note);
  return o;
}

static FH_NOINLINE PyObject *make_general(PyObject *type, void **data) {
  const FhpyType *note = is_type(type) ? type_nearest_note(type) : NULL;
  if (note == NULL) {
    PyErr_Format(PyExc_TypeError, "HPy_New expects a type made by HPyType_FromSpec, got %R", type);
    return NULL;
  }
  /* this zeroes the struct, starts tracking if the type is GC-tracked, and takes the instance's reference to its
   * type */
  return complete_instance(fhpy_type_instance_make_bare(type), type, note, data);
}

PyObject *fhpy_type_instance_make(PyObject *type, void **data) {
  const FhpyType *note = is_type(type) ? type_note(type) : NULL;
  if (note == NULL || note->plain_size == 0) return make_general(type, data);
  return complete_instance(make_plain(type, note->plain_size), type, note, data);
}

/* ---- callable types ---- */

static bool has_arguments(PyObject *args, PyObject *kw) {
  return (args != NULL && PyTuple_Size(args) > 0) || (kw != NULL && PyObject_Size(kw) > 0);
}

/* Returns the tp_new that the type would inherit without fhpy_type_instance_new_callable: the first other tp_new above
 * it. Types below it are skipped: they have a __new__ written in Python, which has called this function. */
static new_fn inherited_new(PyObject *type) {
  void *own = (void *)fhpy_type_instance_new_callable;
  while (type != NULL && type_member(type, MEMBER_NEW) != own) type = type_base(type);
  while (type != NULL && type_member(type, MEMBER_NEW) == own) type = type_base(type);
  return type == NULL ? NULL : (new_fn)type_member(type, MEMBER_NEW);
}

PyObject *fhpy_type_instance_new_callable(PyObject *type, PyObject *args, PyObject *kw) {
  new_fn inherited = inherited_new(type);
  PyObject *o;
  if (inherited == NULL || (void *)inherited == type_member(&PyBaseObject_Type, MEMBER_NEW)) {
    /* object.__new__ refuses arguments if tp_new is another function, so this code applies its rule: arguments need an
     * __init__ */
    if (has_arguments(args, kw) && type_member(type, MEMBER_INIT) == type_member(&PyBaseObject_Type, MEMBER_INIT)) {
      PyErr_Format(PyExc_TypeError, "%R takes no arguments", type);
      return NULL;
    }
    o = PyType_GenericAlloc(type, 0);
  } else {
    o = inherited(type, args, kw);
  }
  if (o == NULL) return NULL;
  FhpyType *note = type_nearest_note(type_of(o));
  if (note != NULL) set_vectorcall(o, note);
  return o;
}

/* ---- slots of classes ---- */

#ifndef FHPY_PYPY
/* Whether the interpreter looks at tp_vectorcall when an instance of the metaclass is called. Up to 3.11 a metaclass
 * that is made in Python does not inherit the flag for that, although it inherits the offset. */
static bool calls_by_vectorcall(PyObject *metaclass) {
  enum { LAST_WITHOUT = 11 };
  if (type_member(metaclass, MEMBER_CALL) != type_member(&PyType_Type, MEMBER_CALL)) return false;
  if (type_has_flag(metaclass, TYPE_FLAG_HAVE_VECTORCALL)) return true;
  if (fhpy_layout.minor > LAST_WITHOUT || fhpy_layout.flags_offset == 0) return false;
  *(unsigned long *)(void *)((char *)metaclass + fhpy_layout.flags_offset) |= TYPE_FLAG_HAVE_VECTORCALL;
  return true;
}

int fhpy_type_instance_set_call(PyObject *type, void *call) {
  if (!is_type(type) || !type_has_flag(type, TYPE_FLAG_HEAPTYPE)) return 0;
  void **word = (void **)(void *)((char *)type + fhpy_layout.type_vectorcall);
  if (call != NULL && !calls_by_vectorcall(type_of(type))) call = NULL;
  fh_atomic_store_release_ptr(word, call); /* the interpreter reads it without a lock */
  return call != NULL;
}

/* The slot of a class with `__next__` calls the method by its name. The interpreter stores that function again when the
 * attribute changes. */
int fhpy_type_instance_set_next(PyObject *type, void *next) {
  if (!is_type(type) || type_note(type) != NULL || !type_has_flag(type, TYPE_FLAG_HEAPTYPE)) return 0;
  void **word = (void **)(void *)((char *)type + fhpy_layout.member_offset[MEMBER_ITERNEXT]);
  fh_atomic_store_release_ptr(word, next); /* the interpreter reads it without a lock */
  return 1;
}

/* ---- classes whose instances are like those of their HPy type ---- */

bool fhpy_type_instance_adds(PyObject *type) {
  static const char *const offsets[] = {"__dictoffset__", "__weakrefoffset__"};
  for (int i = 0; i < 2; ++i) {
    PyObject *offset = PyObject_GetAttrString(type, offsets[i]);
    int is_set = offset == NULL ? -1 : PyObject_IsTrue(offset);
    Py_DecRef(offset);
    if (is_set < 0) PyErr_Clear();
    if (is_set != 0) return true;
  }
  PyObject *above = type;
  while (above != NULL && type_note(above) == NULL) above = type_base(above);
  Py_ssize_t size = fhpy_layout_get_basicsize(type), plain = above == NULL ? -1 : fhpy_layout_get_basicsize(above);
  PyErr_Clear();
  return size < 0 || size != plain;
}

int fhpy_type_instance_shorten(PyObject *type, PyObject *base) {
  bool is_made_in_python = is_type(type) && type_note(type) == NULL && type_has_flag(type, TYPE_FLAG_HEAPTYPE);
  if (!is_made_in_python || !type_has_flag(type, TYPE_FLAG_HAVE_GC)) return 0;
  const FhpyType *note = type_nearest_note(type);
  if (note == NULL || note != type_note(base) || note->shape != HPyType_BuiltinShape_Object) return 0;
  if (note->vectorcall_offset != 0 || fhpy_type_instance_adds(type)) return 0;
  return fhpy_type_shorten_dealloc(type, note);
}
#endif

#ifdef FHPY_PYPY
PyObject *fhpy_type_instance_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  const FhpyType *note = type_nearest_note(type_of(self));
  vectorcall_fn call = note == NULL || note->vectorcall_offset == 0
                           ? NULL
                           : *(vectorcall_fn *)(void *)((char *)self + note->vectorcall_offset);
  if (call == NULL) {
    PyErr_Format(PyExc_TypeError, "%R object has no call function yet", type_of(self));
    return NULL;
  }
  return fhpy_pypy_stack_has_room() ? call(self, args, (size_t)nargs, kwnames) : NULL;
}
#endif

/* --- traversal --------------------------------------------------------------------------------------------------- */

/* The functions that the garbage collector calls for instances of HPy types.
 *
 * For an instance of a class made in Python, the interpreter's subtype_traverse and subtype_clear call the functions
 * below once. Therefore these always process the whole chain of bases, which type.c describes. */

typedef struct {
  visit_fn visit;
  void *arg;
} Visitor;

static int visit_field(HPyField *field, void *arg) {
  const Visitor *v = arg;
  return field->_i == 0 ? 0 : v->visit((PyObject *)field->_i, v->arg);
}

/* For a call through a trampoline, whose visitor takes objects and not fields. */
int fhpy_type_traverse_struct(PyObject *self, HPyFunc_traverseproc traverse, visit_fn visit, void *arg) {
  const FhpyType *note = type_nearest_note(type_of(self));
  Visitor v = {visit, arg};
  return traverse(type_struct(self, note), visit_field, &v);
}

/* Returns the first base above the last HPy type: object, or the built-in type of the instance's shape. */
static PyObject *foreign_base(PyObject *type) {
  PyObject *result = type;
  for (; type != NULL; type = type_base(type))
    if (type_note(type) != NULL) result = type_base_known(type);
  return result;
}

/* For an instance of exactly an HPy type whose bases are HPy types and object. */
static int traverse_chain(PyObject *self, const FhpyType *note, visit_fn visit, void *arg) {
  Visitor v = {visit, arg};
  for (; note != NULL; note = note->ends_next) {
    int rc = note->traverse == NULL ? 0 : note->traverse((char *)self + note->data_offset, visit_field, &v);
    if (rc != 0) return rc;
  }
  return 0;
}

int fhpy_type_traverse(PyObject *self, visit_fn visit, void *arg) {
  const FhpyType *own = type_note(type_of(self));
  if (FH_LIKELY(own != NULL && own->ends_as != NULL)) return traverse_chain(self, own->ends_as, visit, arg);
  Visitor v = {visit, arg};
  for (PyObject *type = type_of(self); type != NULL; type = type_base(type)) {
    const FhpyType *note = type_note(type);
    if (note == NULL || note->traverse == NULL) continue;
    int rc = note->traverse(type_struct(self, note), visit_field, &v);
    if (rc != 0) return rc;
  }
  /* An instance owns a reference to its heap type. The reference is visited if that type is a class made in Python,
   * because such classes may be short-lived. An HPy type lives as long as its module, and HPy's own tests expect
   * gc.get_referents() to list fields only. Not visiting is safe: the collector then assumes a reference to the type
   * from outside. */
  PyObject *type = type_of(self);
  if (type_note(type) == NULL) {
    int rc = visit(type, arg);
    if (rc != 0) return rc;
  }
  traverse_fn above = (traverse_fn)type_member(foreign_base(type), MEMBER_TRAVERSE);
  return above == NULL ? 0 : above(self, visit, arg);
}

int fhpy_type_traverse_clear(PyObject *self) {
  for (PyObject *type = type_of(self); type != NULL; type = type_base(type)) {
    const FhpyType *note = type_note(type);
    if (note != NULL) fhpy_type_clear_fields(self, note);
  }
  clear_fn above = (clear_fn)type_member(foreign_base(type_of(self)), MEMBER_CLEAR);
  return above == NULL ? 0 : above(self);
}
