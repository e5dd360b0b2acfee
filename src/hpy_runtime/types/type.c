/* The marks of an HPy type: its note, and the tp_dealloc that leads to the note and deallocates instances.
 *
 * The chain of bases of an instance's type has classes made in Python, if any; then HPy types, at least one; then
 * object or another built-in type, and its bases. With guests (type.h) Python classes may also be between HPy types. A
 * class made in Python has the interpreter's subtype_dealloc, which calls fhpy_type_dealloc once for each instance.
 * Therefore fhpy_type_dealloc always processes the whole chain. A class made in Python that adds nothing to its
 * instances may have a shorter function, dealloc_plain. */
#include "type.h"

#include "pypy_type.h"

/* ---- guests ---- */

void *fhpy_type_guests;

void fhpy_type_add_guest(FhpyType *note) {
  void *first = fh_atomic_load_relaxed_ptr(&fhpy_type_guests);
  do { /* a reader that finds the note by an acquire load sees a complete note */
    note->next_guest = first;
  } while (!fh_atomic_cas_seq_cst_ptr(&fhpy_type_guests, &first, note));
}

FhpyType *fhpy_type_find_guest(PyObject *type) {
  void *methods = type_member(type, MEMBER_METHODS);
  FhpyType *note = fh_atomic_load_acquire_ptr(&fhpy_type_guests); /* pairs with fhpy_type_add_guest */
  while (note != NULL && note->methods != methods) note = note->next_guest;
  return note;
}

#ifdef FHPY_PYPY
/* ---- structs of types ---- */

/* Returns the size of the struct that the metaclass gives its instances. The struct of a derived metaclass begins with
 * the struct of its base. */
static size_t get_struct_size(PyObject *metaclass) {
  for (; metaclass != NULL; metaclass = type_base(metaclass)) {
    const FhpyType *note = type_note(metaclass);
    if (note != NULL && note->struct_size > 0) return (size_t)note->struct_size;
  }
  return 0;
}

void *fhpy_type_get_meta_struct(PyObject *type) {
  void *found = fhpy_pypy_struct_find(type);
  return found != NULL ? found : fhpy_pypy_struct_add(type, get_struct_size(type_of(type)));
}
#endif

/* ---- fields ---- */

static int clear_field(HPyField *field, FH_MAYBE_UNUSED void *arg) {
  PyObject *old = (PyObject *)field->_i;
  field->_i = 0; /* before the release, which may run code that reads the field */
  drop_reference(old);
  return 0;
}

void fhpy_type_clear_fields(PyObject *self, const FhpyType *note) {
  if (note->traverse != NULL) note->traverse(type_struct(self, note), clear_field, NULL);
}

/* ---- deallocation of instances ---- */

/* Frees an instance. The reference to the type is released last, because it may be the last one. */
static void free_instance(PyObject *self, PyObject *type, bool is_gc) {
  if (is_gc)
    PyObject_GC_Del(self);
  else
    PyObject_Free(self);
  drop_reference(type);
}

/* Whether the finalizer resurrected the object. */
static inline bool is_saved_by_finalizer(PyObject *self, PyObject *type) {
  return type_member(type, MEMBER_FINALIZE) != NULL && fhpy_optional.PyObject_CallFinalizerFromDealloc != NULL &&
         fhpy_optional.PyObject_CallFinalizerFromDealloc(self) < 0;
}

static void end_struct(PyObject *self, const FhpyType *note) {
  if (note->destroy != NULL) note->destroy((char *)self + note->data_offset);
}

static FH_NOINLINE void end_structs(PyObject *self, const FhpyType *note) {
  for (const FhpyType *each = note; each != NULL; each = each->ends_next) fhpy_type_clear_fields(self, each);
  for (const FhpyType *each = note; each != NULL; each = each->ends_next) end_struct(self, each);
}

/* Deallocates an instance of a type with ends_as == note. */
static inline void end_chain(PyObject *self, PyObject *type, const FhpyType *note, bool is_gc) {
  if (FH_UNLIKELY(note->ends_next != NULL)) {
    end_structs(self, note);
  } else {
    fhpy_type_clear_fields(self, note);
    end_struct(self, note);
  }
  free_instance(self, type, is_gc);
}

/* Deallocates any other instance. If its type is a class made in Python, subtype_dealloc has run the finalizer and
 * released the members that the class added. subtype_dealloc leaves the reference to the type to its base's tp_dealloc,
 * because that base is a heap type. */
static FH_NOINLINE void end_derived(PyObject *self, PyObject *type) {
  bool is_hpy = type_member(type, MEMBER_DEALLOC) == (void *)fhpy_type_dealloc;
  if (is_hpy && is_saved_by_finalizer(self, type)) return;
  bool is_gc = type_has_flag(type, TYPE_FLAG_HAVE_GC);
  if (is_gc) PyObject_GC_UnTrack(self);
  const FhpyType *note;
  PyObject *nearest = type;
  while ((note = type_note(nearest)) == NULL) nearest = type_base(nearest);
  if (note->ends_as != NULL) {
    end_chain(self, type, note->ends_as, is_gc);
    return;
  }
  for (PyObject *t = nearest; t != NULL; t = type_base(t))
    if ((note = type_note(t)) != NULL) fhpy_type_clear_fields(self, note);
  PyObject *foreign = NULL;
  for (PyObject *t = nearest; t != NULL; t = type_base(t)) {
    if ((note = type_note(t)) == NULL) continue;
    if (note->destroy != NULL) note->destroy(type_struct(self, note));
    foreign = type_base_known(t);
  }
#ifdef FHPY_PYPY
  if (foreign == &PyType_Type) fhpy_pypy_struct_end(self);
#endif
  if (foreign == &PyBaseObject_Type) {
    free_instance(self, type, is_gc);
    return;
  }
  if (type_has_flag(foreign, TYPE_FLAG_HAVE_GC)) PyObject_GC_Track(self); /* the deallocation untracks it again */
  ((dealloc_fn)type_member(foreign, MEMBER_DEALLOC))(self);
  Py_DecRef(type);
}

#ifndef FHPY_PYPY
static const FhpyType *plain_ends_as; /* of all classes with dealloc_plain */

/* tp_dealloc of such a class. For an instance of a class that derives from it, subtype_dealloc calls this function. */
static void dealloc_plain(PyObject *self) {
  PyObject *type = type_of(self);
  if (FH_UNLIKELY(type_member(type, MEMBER_DEALLOC) != (void *)dealloc_plain)) {
    end_derived(self, type);
    return;
  }
  if (is_saved_by_finalizer(self, type)) return;
  PyObject_GC_UnTrack(self);
  end_chain(self, type_of(self), fh_atomic_load_relaxed(&plain_ends_as), true); /* __del__ may assign __class__ */
}

bool fhpy_type_shorten_dealloc(PyObject *type, const FhpyType *note) {
  const FhpyType *known = fh_atomic_load_relaxed(&plain_ends_as);
  ptrdiff_t offset = fhpy_layout.member_offset[MEMBER_DEALLOC];
  if (offset == 0 || note->ends_as == NULL || (known != NULL && known != note->ends_as)) return false;
  /* the binding has one such note: threads store the same word */
  fh_atomic_store_relaxed(&plain_ends_as, note->ends_as);
  fh_atomic_store_release_ptr((void **)(void *)((char *)type + offset), (void *)dealloc_plain);
  return true;
}
#endif

void fhpy_type_dealloc(PyObject *self) {
  PyObject *type = type_of(self);
  const FhpyType *note = type_note(type);
  if (note == NULL || note->ends_as == NULL) {
    end_derived(self, type);
    return;
  }
  if (is_saved_by_finalizer(self, type)) return;
  if (note->is_gc) PyObject_GC_UnTrack(self);
  end_chain(self, type, note->ends_as, note->is_gc);
}
