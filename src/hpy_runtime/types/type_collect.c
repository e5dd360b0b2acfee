/* References outside of fields: types whose instances call the binding's part of a collection.
 *
 * The interpreter's subtype_traverse, which every class made in Python has, calls the first other tp_traverse among its
 * bases, also if that base is not GC-tracked. So the functions below are set for every HPy type that may be such a
 * base, whether it is GC-tracked or not. */
#include "type_collect.h"

#include "hpy_runtime/lifetime/collection.h"
#include "type.h"
#include "type_instance.h"

#ifndef FHPY_PYPY

static const FhpyCollector *collector; /* written once, during the import of the binding */

/* Whether a traversal asks the binding about an instance. Programs may have many thousand objects without references,
 * which each collection traverses twice. */
static inline bool is_asked(PyObject *self) {
  const FhpyCollector *functions = collector;
  if (functions == NULL) return false;
  uint8_t asks = fh_atomic_load_relaxed(functions->asks);
  if (asks != FHPY_ASKS_FLAGGED) return asks == FHPY_ASKS_ALWAYS;
  return (fh_atomic_load_relaxed((const uint8_t *)self + functions->flags_offset) & functions->flag) != 0;
}

/* The collector subtracts with the object itself as the argument of its visitor, without a GIL with NULL. No other
 * traversal has such an argument. */
static int traverse_native(PyObject *self, visit_fn visit, void *arg) {
  bool counts = fhpy_layout.free_threaded ? arg == NULL : arg == (void *)self;
  return collector->traverse(to_hpy(self), counts ? FHPY_TRAVERSE_COUNT : FHPY_TRAVERSE_REACH,
                             (int (*)(void *, void *))visit, arg);
}

/* For types with HPyFields. The binding is asked about each of their instances. */
static FH_NOINLINE int traverse(PyObject *self, visit_fn visit, void *arg) {
  int rc = fhpy_type_traverse(self, visit, arg);
  return rc != 0 || collector == NULL ? rc : traverse_native(self, visit, arg);
}

static FH_NOINLINE int traverse_both(PyObject *self, visit_fn visit, void *arg) {
  int rc = visit(type_of(self), arg);
  return rc != 0 ? rc : traverse_native(self, visit, arg);
}

/* For types without any HPyField, also in their bases, whose instances that the collector tracks are of classes made in
 * Python. The function visits the class as fhpy_type_traverse does. */
static int traverse_without_fields(PyObject *self, visit_fn visit, void *arg) {
  /* acquire: pairs with fhpy_type_add_guest. The type of self may be a guest with fields. */
  if (FH_UNLIKELY(fh_atomic_load_acquire_ptr(&fhpy_type_guests) != NULL)) return traverse(self, visit, arg);
  if (FH_UNLIKELY(is_asked(self))) return traverse_both(self, visit, arg);
  return visit(type_of(self), arg);
}

static int clear(PyObject *self) {
  if (collector != NULL) collector->clear(to_hpy(self));
  return fhpy_type_traverse_clear(self);
}

bool fhpy_type_collect_is_possible(void) {
  return fhpy_layout.member_offset[MEMBER_TRAVERSE] != 0 && fhpy_layout.member_offset[MEMBER_CLEAR] != 0;
}

static void set_member(PyObject *type, TypeMember member, void *value) {
  fh_atomic_store_release_ptr((void **)(void *)((char *)type + fhpy_layout.member_offset[member]), value);
}

static bool has_fields(PyObject *type) {
  for (; type != NULL; type = type_base(type)) {
    const FhpyType *note = type_note(type);
    if (note == NULL ? type_member(type, MEMBER_TRAVERSE) != NULL : note->traverse != NULL) return true;
  }
  return false;
}

/* Whether the interpreter's function for instances of a class made in Python would, in the end, only call
 * traverse_without_fields. */
static bool only_inherits(PyObject *type) {
  if (!is_type(type) || !type_has_flag(type, TYPE_FLAG_HEAPTYPE) || fhpy_type_instance_adds(type)) return false;
  PyObject *above = type;
  while (above != NULL && type_note(above) == NULL) above = type_base(above);
  return above != NULL && type_member(above, MEMBER_TRAVERSE) == (void *)traverse_without_fields;
}

void fhpy_type_collect(PyObject *type) {
  if (type_note(type) == NULL) {
    if (only_inherits(type)) set_member(type, MEMBER_TRAVERSE, (void *)traverse_without_fields);
    return;
  }
  bool is_plain = !has_fields(type) && !type_note(type)->is_gc;
  set_member(type, MEMBER_TRAVERSE, is_plain ? (void *)traverse_without_fields : (void *)traverse);
  set_member(type, MEMBER_CLEAR, (void *)clear);
}

void fhpy_type_collect_begin(const FhpyCollector *functions) {
  collector = functions;
  (void)fhpy_collection_follow(functions->phase);
}

#endif
