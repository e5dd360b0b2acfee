/* Instances of HPy types: made, traversed, cleared, destroyed.
 *
 * The chain of bases of an instance's type is: classes made in Python, if any; HPy types, one at least; the rest,
 * which is object or another built-in type. With guests (type.h) Python classes may also stand between HPy types.
 * The functions below are reached from the interpreter's subtype_dealloc and subtype_traverse in these cases, once
 * for each instance, and therefore always walk the whole chain.
 */
#include "type.h"

#include "pypy_layout.h"
#include "pypy_meta.h"

/* ---- guests ---- */

FhpyType *fhpy_type_guests;

void fhpy_type_add_guest(FhpyType *note) {
  note->next_guest = __atomic_load_n(&fhpy_type_guests, __ATOMIC_RELAXED);
  /* release: a reader that finds the note sees it complete */
  while (
      !__atomic_compare_exchange_n(&fhpy_type_guests, &note->next_guest, note, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    continue;
}

FhpyType *fhpy_type_find_guest(PyObject *type) {
  void *methods = type_member(type, MEMBER_METHODS);
  for (FhpyType *note = __atomic_load_n(&fhpy_type_guests, __ATOMIC_ACQUIRE); note != NULL; note = note->next_guest)
    if (note->methods == methods) return note;
  return NULL;
}

/* ---- making ---- */

static void set_vectorcall(PyObject *o, const FhpyType *note) {
  if (note->vectorcall_offset == 0) return;
  /* release: with the object complete, for threads that get to see it */
  __atomic_store_n((vectorcall_fn *)((char *)o + note->vectorcall_offset), note->vectorcall, __ATOMIC_RELEASE);
}

#define TYPE_FLAGS_BUILTIN                                                                                   \
  (TYPE_FLAG_LONG_SUBCLASS | TYPE_FLAG_LIST_SUBCLASS | TYPE_FLAG_TUPLE_SUBCLASS | TYPE_FLAG_BYTES_SUBCLASS | \
   TYPE_FLAG_UNICODE_SUBCLASS | TYPE_FLAG_DICT_SUBCLASS | TYPE_FLAG_BASE_EXC_SUBCLASS | TYPE_FLAG_TYPE_SUBCLASS)

/* Zeroes are not an empty dict, which has a table, nor in every version an empty str or tuple or the number 0; and cpyext
 * does not find its way from such zeroes to an object. */
PyObject *fhpy_type_make_bare(PyObject *type) {
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

/* The interpreter calls HPy_tp_finalize for what it knows of, which an object that never leaves C is not. It gets to
 * know any object that it is asked about. */
static void show_to_collector(PyObject *o, PyObject *type) {
  for (; type != NULL; type = type_base(type)) {
    if (type_member(type, MEMBER_FINALIZE) == NULL) continue;
    (void)PyCallable_Check(o);
    return;
  }
}
#else
/* What PyType_GenericAlloc does for a type with a plain_size. */
static PyObject *make_plain(PyObject *type, size_t byte_size) {
  PyObject *o = PyObject_Calloc(1, byte_size);
  return o == NULL ? PyErr_NoMemory() : PyObject_Init(o, type);
}

static void show_to_collector(PyObject *o, PyObject *type) { (void)o, (void)type; }
#endif

static PyObject *finish(PyObject *o, PyObject *type, const FhpyType *note, void **data) {
  if (o == NULL) return NULL;
  set_vectorcall(o, note);
  show_to_collector(o, type);
  *data = type_struct(o, note);
  return o;
}

static FHPY_NOINLINE PyObject *make_general(PyObject *type, void **data) {
  const FhpyType *note = is_type(type) ? type_nearest_note(type) : NULL;
  if (note == NULL) {
    PyErr_Format(PyExc_TypeError, "HPy_New expects a type made by HPyType_FromSpec, got %R", type);
    return NULL;
  }
  /* zeroes the struct, starts tracking where the type wants it, takes the instance's reference to its type */
  return finish(fhpy_type_make_bare(type), type, note, data);
}

PyObject *fhpy_type_make_instance(PyObject *type, void **data) {
  const FhpyType *note = is_type(type) ? type_note(type) : NULL;
  if (note == NULL || note->plain_size == 0) return make_general(type, data);
  return finish(make_plain(type, note->plain_size), type, note, data);
}

static bool has_arguments(PyObject *args, PyObject *kw) {
  return (args != NULL && PyTuple_Size(args) > 0) || (kw != NULL && PyObject_Size(kw) > 0);
}

/* The tp_new that would be inherited if fhpy_type_new_callable were not there: the first different one above it. What
 * stands below it (a __new__ written in Python) has called us. */
static new_fn inherited_new(PyObject *type) {
  void *ours = (void *)fhpy_type_new_callable;
  while (type != NULL && type_member(type, MEMBER_NEW) != ours) type = type_base(type);
  while (type != NULL && type_member(type, MEMBER_NEW) == ours) type = type_base(type);
  return type == NULL ? NULL : (new_fn)type_member(type, MEMBER_NEW);
}

PyObject *fhpy_type_new_callable(PyObject *type, PyObject *args, PyObject *kw) {
  new_fn inherited = inherited_new(type);
  PyObject *o;
  if (inherited == NULL || (void *)inherited == type_member(&PyBaseObject_Type, MEMBER_NEW)) {
    /* object.__new__ refuses arguments to any other tp_new than itself; its rule is: arguments need an __init__ */
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

#ifdef FHPY_PYPY
PyObject *fhpy_type_call_instance(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  const FhpyType *note = type_nearest_note(type_of(self));
  vectorcall_fn call = note == NULL || note->vectorcall_offset == 0
                           ? NULL
                           : *(vectorcall_fn *)(void *)((char *)self + note->vectorcall_offset);
  if (call == NULL) {
    PyErr_Format(PyExc_TypeError, "%R object has no call function yet", type_of(self));
    return NULL;
  }
  return layout_has_stack() ? call(self, args, (size_t)nargs, kwnames) : NULL;
}
#endif

/* ---- fields ---- */

typedef struct {
  visit_fn visit;
  void *arg;
} Visitor;

static int visit_field(HPyField *field, void *arg) {
  const Visitor *v = arg;
  return field->_i == 0 ? 0 : v->visit((PyObject *)field->_i, v->arg);
}

static int clear_field(HPyField *field, void *arg) {
  (void)arg;
  PyObject *old = (PyObject *)field->_i;
  field->_i = 0; /* before the release, which may run code that looks here */
  drop_reference(old);
  return 0;
}

int fhpy_type_visit_struct(PyObject *self, HPyFunc_traverseproc traverse, visit_fn visit, void *arg) {
  const FhpyType *note = type_nearest_note(type_of(self));
  Visitor v = {visit, arg};
  return traverse(type_struct(self, note), visit_field, &v);
}

/* The first base above the last HPy type: object, or the built-in type whose shape the instance has. */
static PyObject *foreign_base(PyObject *type) {
  PyObject *result = type;
  for (; type != NULL; type = type_base(type))
    if (type_note(type) != NULL) result = type_base_known(type);
  return result;
}

int fhpy_type_traverse(PyObject *self, visit_fn visit, void *arg) {
  Visitor v = {visit, arg};
  for (PyObject *type = type_of(self); type != NULL; type = type_base(type)) {
    const FhpyType *note = type_note(type);
    if (note == NULL || note->traverse == NULL) continue;
    int rc = note->traverse(type_struct(self, note), visit_field, &v);
    if (rc != 0) return rc;
  }
  /* An instance owns a reference to its heap type. It is visited for classes made in Python, which come and go; an
   * HPy type stays as long as its module, and HPy's own tests want gc.get_referents() to list fields only. Not
   * visiting is safe: the collector then takes the type to be referenced from outside. */
  PyObject *type = type_of(self);
  if (type_note(type) == NULL) {
    int rc = visit(type, arg);
    if (rc != 0) return rc;
  }
  traverse_fn above = (traverse_fn)type_member(foreign_base(type), MEMBER_TRAVERSE);
  return above == NULL ? 0 : above(self, visit, arg);
}

static void clear_fields(PyObject *self, const FhpyType *note) {
  if (note->traverse != NULL) note->traverse(type_struct(self, note), clear_field, NULL);
}

int fhpy_type_clear(PyObject *self) {
  for (PyObject *type = type_of(self); type != NULL; type = type_base(type)) {
    const FhpyType *note = type_note(type);
    if (note != NULL) clear_fields(self, note);
  }
  clear_fn above = (clear_fn)type_member(foreign_base(type_of(self)), MEMBER_CLEAR);
  return above == NULL ? 0 : above(self);
}

/* ---- the end ---- */

static void free_instance(PyObject *self, PyObject *type, bool is_gc) {
  if (is_gc)
    PyObject_GC_Del(self);
  else
    PyObject_Free(self);
  drop_reference(type);
}

/* Whether the finalizer brought the object back. */
static inline bool is_saved_by_finalizer(PyObject *self, PyObject *type) {
  return type_member(type, MEMBER_FINALIZE) != NULL && fhpy_optional.PyObject_CallFinalizerFromDealloc != NULL &&
         fhpy_optional.PyObject_CallFinalizerFromDealloc(self) < 0;
}

/* The end of an instance whose only HPy type is derived from object. */
static inline void end_single(PyObject *self, PyObject *type, const FhpyType *note, bool is_gc) {
  clear_fields(self, note);
  if (note->destroy != NULL) note->destroy((char *)self + note->data_offset);
  free_instance(self, type, is_gc);
}

/* For an instance of a class made in Python, subtype_dealloc has run the finalizer, released what the class added, and
 * calls us; it leaves the reference to the type to us, because its base is a heap type. */
static FHPY_NOINLINE void end_derived(PyObject *self, PyObject *type) {
  bool is_hpy = type_member(type, MEMBER_DEALLOC) == (void *)fhpy_type_dealloc;
  if (is_hpy && is_saved_by_finalizer(self, type)) return;
  bool is_gc = type_has_flag(type, TYPE_FLAG_HAVE_GC);
  if (is_gc) PyObject_GC_UnTrack(self);
  const FhpyType *note;
  PyObject *nearest = type;
  while ((note = type_note(nearest)) == NULL) nearest = type_base(nearest);
  if (note->is_single) {
    end_single(self, type, note, is_gc);
    return;
  }
  for (PyObject *t = nearest; t != NULL; t = type_base(t))
    if ((note = type_note(t)) != NULL) clear_fields(self, note);
  PyObject *foreign = NULL;
  for (PyObject *t = nearest; t != NULL; t = type_base(t)) {
    if ((note = type_note(t)) == NULL) continue;
    if (note->destroy != NULL) note->destroy(type_struct(self, note));
    foreign = type_base_known(t);
  }
#ifdef FHPY_PYPY
  if (foreign == &PyType_Type) fhpy_pypy_meta_end_struct(self);
#endif
  if (foreign == &PyBaseObject_Type) {
    free_instance(self, type, is_gc);
    return;
  }
  if (type_has_flag(foreign, TYPE_FLAG_HAVE_GC)) PyObject_GC_Track(self); /* such a deallocation begins by untracking */
  ((dealloc_fn)type_member(foreign, MEMBER_DEALLOC))(self);
  Py_DecRef(type);
}

/* tp_dealloc of every HPy type. */
void fhpy_type_dealloc(PyObject *self) {
  PyObject *type = type_of(self);
  const FhpyType *note = type_note(type);
  if (note == NULL || !note->is_single) {
    end_derived(self, type);
    return;
  }
  if (is_saved_by_finalizer(self, type)) return;
  if (note->is_gc) PyObject_GC_UnTrack(self);
  end_single(self, type, note, note->is_gc);
}
