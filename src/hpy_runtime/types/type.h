/* Types made by HPyType_FromSpec: the metadata that the runtime keeps about each type (FhpyType, called its note), and
 * the lookup of a note.
 *
 * A type object has neither a free word nor a free flag bit, so the note is connected to two words that every type has:
 *
 *   - tp_dealloc of every HPy type is fhpy_type_dealloc, which no other type has: a class made in Python gets the
 *     interpreter's own, and so does a C type that does not set it;
 *   - tp_methods, which is never inherited, points to the `methods` at the end of the note.
 *
 * Guests are the exception: HPy types with a base that is a heap type and was not made by HPy.
 *
 * A note lives as long as the process, because method objects and descriptors point into it, and the runtime
 * gets no notification when the last of them is freed. */
#pragma once

#include "hpy_runtime/abi/handle.h"

/* A slot and the extension's function for it. */
typedef struct FhpySlot {
  int slot;
  HPyCFunction impl;
} FhpySlot;

typedef struct FhpyType {
  HPyFunc_traverseproc traverse; /* HPy_tp_traverse of this type itself, or NULL */
  HPyFunc_destroyfunc destroy;   /* HPy_tp_destroy of this type itself, or NULL */
  HPyType_BuiltinShape shape;
  ptrdiff_t data_offset;       /* offset of the struct in an instance; see type_struct */
  /* If every type in the chain of bases has one base and the last is object: the first type in the chain whose struct
   * has values to release or a destructor, or the last HPy type. NULL: no such chain. */
  const struct FhpyType *ends_as;
  const struct FhpyType *ends_next; /* of a type that others end as: the next such type in its chain, or NULL */
  bool is_gc; /* instances of exactly this type are GC-tracked */
  size_t plain_size; /* size of an instance, if it consists of a header and a struct only; otherwise 0 */
#ifdef FHPY_PYPY
  Py_ssize_t struct_size; /* basicsize of the specification */
  struct FhpySlot *slots; /* the slots of the specification, in the memory block of the note */
  size_t n_slots;
  PyObject *(*descr_get)(PyObject *, PyObject *, PyObject *); /* the extension's functions, or NULL */
  int (*descr_set)(PyObject *, PyObject *, PyObject *);
#endif
  ptrdiff_t vectorcall_offset; /* offset of the word with an instance's vectorcall function; 0: instances have none */
  vectorcall_fn vectorcall; /* HPy_New stores it in that word; NULL: the extension stores it (HPy_SetCallFunction) */
  /* In the memory block of the note. */
  PyMemberDef *members;
  PyGetSetDef *getset;
  char *name;
  /* The list of guests, in which a guest's note is found by its tp_methods. The list only grows and is read without a
   * lock. Because of its base, a guest's instances are deallocated and traversed by the interpreter's subtype_dealloc
   * and subtype_traverse. These call the functions of the nearest HPy base, if there is one, which process the whole
   * chain of bases. */
  struct FhpyType *next_guest;
  PyMethodDef methods[];
} FhpyType;

/* tp_dealloc of every HPy type. */
void fhpy_type_dealloc(PyObject *self);
#ifndef FHPY_PYPY
/* Shortens the end of the instances of a class made in Python that are like instances of the note's type: their
 * tp_dealloc does its work at once, without subtype_dealloc. Returns false if that is not possible. */
bool fhpy_type_shorten_dealloc(PyObject *type, const FhpyType *note);
#endif
/* Releases the values of the HPyFields in a struct: the fields that the note's own type traverses. */
void fhpy_type_clear_fields(PyObject *self, const FhpyType *note);

/* Adds the note to the list of guests. Any thread may call it. */
void fhpy_type_add_guest(FhpyType *note);
/* Returns the note of a guest, NULL for every other type. */
FhpyType *fhpy_type_find_guest(PyObject *type);
extern void *fhpy_type_guests; /* the list's head, a FhpyType; NULL in almost every process */

/* Returns the note of a type that HPy made; NULL for any other type. */
static inline FhpyType *type_note(PyObject *type) {
  if (type_member(type, MEMBER_DEALLOC) != (void *)fhpy_type_dealloc) {
    /* acquire: pairs with fhpy_type_add_guest */
    return fh_atomic_load_acquire_ptr(&fhpy_type_guests) == NULL ? NULL : fhpy_type_find_guest(type);
  }
  char *methods = type_member(type, MEMBER_METHODS);
#ifdef FHPY_PYPY
  if (methods == NULL) return NULL; /* on PyPy a class made in Python inherits the tp_dealloc of its base */
#endif
  return (FhpyType *)(methods - offsetof(FhpyType, methods));
}

static inline PyObject *type_base(PyObject *type) { return type_member(type, MEMBER_BASE); }

/* Returns the base in the specification of an HPy type: on PyPy this skips the class that pypy_type.h inserts. */
static inline PyObject *type_base_known(PyObject *type) {
  type = type_base(type);
#ifdef FHPY_PYPY
  while (type_has_flag(type, TYPE_FLAG_HEAPTYPE) && type_note(type) == NULL) type = type_base(type);
#endif
  return type;
}

/* Returns the note of the nearest HPy type among a type and its bases, or NULL. An HPy type needs one step, a class
 * made in Python a few; for NULL the whole chain is searched. */
static inline FhpyType *type_nearest_note(PyObject *type) {
  for (; type != NULL; type = type_base(type)) {
    FhpyType *note = type_note(type);
    if (note != NULL) return note;
  }
  return NULL;
}

#ifdef FHPY_PYPY
/* Returns the struct of a type whose class is an HPy metaclass (pypy_type.h). The struct is made at the first
 * request. */
void *fhpy_type_get_meta_struct(PyObject *type);
#endif

/* Returns the struct of an instance of the note's type, or of a subclass. */
static inline void *type_struct(PyObject *self, const FhpyType *note) {
#ifdef FHPY_PYPY
  if (note->shape == HPyType_BuiltinShape_Type) return fhpy_type_get_meta_struct(self);
#endif
  return (char *)self + note->data_offset;
}
