/* Types made by HPyType_FromSpec: what the runtime keeps about each, and how it is found.
 *
 * A type has no free word for us and no private flag bit is ours to take, so the note is tied to two words that a
 * type has anyway: tp_dealloc of every HPy type is fhpy_type_dealloc, which no other type has (a class made in
 * Python gets the interpreter's own, and so does a C type that names none), and tp_methods, which is never
 * inherited, points to the `methods` at the end of the note. The exception are guests, HPy types on top of a heap
 * type that is not HPy's.
 *
 * A note lives as long as the process: method objects and descriptors point into it, and nothing tells when the last
 * of them is gone.
 */
#ifndef FFI_HPY_RUNTIME_TYPE_H_
#define FFI_HPY_RUNTIME_TYPE_H_

#include "context.h"

/* A slot and the extension's function for it. */
typedef struct FhpySlot {
  int slot;
  HPyCFunction impl;
} FhpySlot;

typedef struct FhpyType {
  HPyFunc_traverseproc traverse; /* HPy_tp_traverse of this type itself, or NULL */
  HPyFunc_destroyfunc destroy;   /* HPy_tp_destroy of this type itself, or NULL */
  HPyType_BuiltinShape shape;
  ptrdiff_t data_offset;       /* of the struct in an instance; see type_struct */
  bool is_single;              /* its one base is object */
  bool is_gc;                  /* instances of the type itself are garbage-collected */
  size_t plain_size;           /* of an instance that is a header and a struct and nothing else; 0: it is more */
#ifdef FHPY_PYPY
  Py_ssize_t struct_size; /* basicsize of the specification */
  struct FhpySlot *slots; /* all that the specification has functions for, in the note's block of memory */
  size_t n_slots;
  PyObject *(*descr_get)(PyObject *, PyObject *, PyObject *); /* what the extension gave, or NULL */
  int (*descr_set)(PyObject *, PyObject *, PyObject *);
#endif
  ptrdiff_t vectorcall_offset; /* of the word with the instance's vectorcall function; 0: instances have none */
  vectorcall_fn vectorcall;    /* what HPy_New writes there; NULL: the extension does it (HPy_SetCallFunction) */
  PyMemberDef *members;        /* these and the strings are in the same block of memory */
  PyGetSetDef *getset;
  char *name;
  /* A guest is taken down and traversed by the interpreter's subtype_dealloc and subtype_traverse, as its base
   * wants; they call the functions of the nearest HPy base, if there is one, which walk the whole chain. Guests are
   * found in this list, by their tp_methods. It only grows, and is read without a lock. */
  struct FhpyType *next_guest;
  PyMethodDef methods[];
} FhpyType;

void fhpy_type_dealloc(PyObject *self);
int fhpy_type_traverse(PyObject *self, visit_fn visit, void *arg);
int fhpy_type_clear(PyObject *self);

#ifdef FHPY_PYPY
/* The method __call__ of callable types: a call through tp_call or a vectorcall word costs more than twice as much in
 * cpyext. Calls the function in the instance's vectorcall word. */
PyObject *fhpy_type_call_instance(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
#endif

/* tp_new of a callable type that has no HPy_tp_new: what the base would make, with the vectorcall word set. */
PyObject *fhpy_type_new_callable(PyObject *type, PyObject *args, PyObject *kw);

/* An instance of any type without running __new__ or __init__ of anything but the built-in type that it derives from,
 * which is asked for an empty one. NULL with an exception raised; a class, which cannot be empty, is a TypeError. */
PyObject *fhpy_type_make_bare(PyObject *type);

/* HPyType_FromSpec and HPy_New, for ctx_type.c. */
PyObject *fhpy_type_from_spec(HPyType_Spec *spec, HPyType_SpecParam *params);
PyObject *fhpy_type_make_instance(PyObject *type, void **data);

/* Runs one HPy_tp_traverse over the struct of self, with the interpreter's visitor. */
int fhpy_type_visit_struct(PyObject *self, HPyFunc_traverseproc traverse, visit_fn visit, void *arg);

void fhpy_type_add_guest(FhpyType *note);
FhpyType *fhpy_type_find_guest(PyObject *type);
extern FhpyType *fhpy_type_guests; /* the list's head */

/* The note of a type that HPy made, NULL for every other. */
static inline FhpyType *type_note(PyObject *type) {
  if (type_member(type, MEMBER_DEALLOC) != (void *)fhpy_type_dealloc) {
    /* acquire: pairs with fhpy_type_add_guest */
    return __atomic_load_n(&fhpy_type_guests, __ATOMIC_ACQUIRE) == NULL ? NULL : fhpy_type_find_guest(type);
  }
  char *methods = type_member(type, MEMBER_METHODS);
#ifdef FHPY_PYPY
  if (methods == NULL) return NULL; /* a class made in Python takes over the tp_dealloc of its base there */
#endif
  return (FhpyType *)(methods - offsetof(FhpyType, methods));
}

static inline PyObject *type_base(PyObject *type) { return type_member(type, MEMBER_BASE); }

/* The note of the nearest HPy type among type and its bases, or NULL. The first step finds it unless the type is a
 * class made in Python. */
static inline FhpyType *type_nearest_note(PyObject *type) {
  for (; type != NULL; type = type_base(type)) {
    FhpyType *note = type_note(type);
    if (note != NULL) return note;
  }
  return NULL;
}

#ifdef FHPY_PYPY
void *fhpy_pypy_meta_get_struct(PyObject *type); /* pypy_meta.h */
#endif

/* The struct of an instance of the type that the note belongs to, or of a subclass. */
static inline void *type_struct(PyObject *self, const FhpyType *note) {
#ifdef FHPY_PYPY
  if (note->shape == HPyType_BuiltinShape_Type) return fhpy_pypy_meta_get_struct(self);
#endif
  return (char *)self + note->data_offset;
}

#endif /* FFI_HPY_RUNTIME_TYPE_H_ */
