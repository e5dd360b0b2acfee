/* Where the running interpreter keeps what the stable ABI hides, measured at import.
 *
 * Nothing here is known from a header: the sizes come from __basicsize__, the offsets from looking for known
 * pointers in a type and an object made for the purpose (layout.c). One binary therefore fits builds with the GIL
 * and without, and a version that moves a member is measured right; where a measurement finds nothing,
 * PyType_GetSlot serves instead.
 */
#ifndef FFI_HPY_RUNTIME_LAYOUT_H_
#define FFI_HPY_RUNTIME_LAYOUT_H_

#include <stdbool.h>

#include "cpython_abi.h"

/* The members of a type object that are read without a call. */
typedef enum {
  MEMBER_BASE,
  MEMBER_DEALLOC,
  MEMBER_METHODS,
  MEMBER_FINALIZE,
  MEMBER_NEW,
  MEMBER_INIT,
  MEMBER_TRAVERSE,
  MEMBER_CLEAR,
  MEMBER_COUNT
} TypeMember;

typedef struct FhpyLayout {
  int minor;                             /* of 3.minor */
  bool free_threaded;                    /* the build has no GIL */
  bool plain_refcounts;                  /* see take_reference */
  ptrdiff_t list_items;                  /* of the pointer to a list's items; 0: unknown, use functions */
  ptrdiff_t tuple_items;                 /* of a tuple's first item, for reading; 0: the same */
  size_t header_size;                    /* object.__basicsize__ */
  ptrdiff_t type_offset;                 /* of the type pointer in an object */
  ptrdiff_t flags_offset;                /* of tp_flags in a type object; 0: not found */
  ptrdiff_t data_offset[8];              /* of the struct in an instance, by HPyType_BuiltinShape (0 to 7) */
  ptrdiff_t member_offset[MEMBER_COUNT]; /* in a type object; 0: not found */
} FhpyLayout;

/* Constant after fhpy_layout_measure() succeeded, which happens before the context is given to anybody. */
extern FhpyLayout fhpy_layout;

/* Fills fhpy_optional and fhpy_layout. Returns 0, or -1 with an exception raised. */
int fhpy_layout_measure(void);

/* PyType_GetSlot for any type, heap or static, by the name used here. */
void *fhpy_layout_get_slot(PyObject *type, TypeMember member);

/* Up to 3.11 and with the GIL a reference count is a plain first word, which every extension built for the limited API of
 * those versions changes in place. Later versions have immortal objects and leave it to functions. NULL is accepted. */
static inline void take_reference(PyObject *o) {
  if (!fhpy_layout.plain_refcounts)
    Py_IncRef(o);
  else if (o != NULL)
    ++*(Py_ssize_t *)o;
}
static inline void drop_reference(PyObject *o) {
  if (!fhpy_layout.plain_refcounts)
    Py_DecRef(o);
  else if (o != NULL && --*(Py_ssize_t *)o == 0)
    _Py_Dealloc(o);
}

/* Whether the interpreter can leave references on its own stack uncounted: without the GIL, from 3.14 on. */
static inline bool can_defer_references(void) {
  return fhpy_layout.free_threaded && fhpy_optional.PyUnstable_Object_EnableDeferredRefcount != NULL;
}
/* Has it do so for an object that threads are going to share; true if it will. Only a collection frees the object then.
 * It declines an object that is not garbage-collected or has been asked for before. Any thread may ask. */
static inline bool defer_references(PyObject *o) {
  return can_defer_references() && fhpy_optional.PyUnstable_Object_EnableDeferredRefcount(o) != 0;
}

static inline PyObject *type_of(PyObject *o) {
  /* relaxed: a concurrent assignment to __class__ writes the word atomically; both types are alive */
  return __atomic_load_n((PyObject **)((char *)o + fhpy_layout.type_offset), __ATOMIC_RELAXED);
}

static inline void *type_member(PyObject *type, TypeMember member) {
  ptrdiff_t offset = fhpy_layout.member_offset[member];
  if (offset == 0) return fhpy_layout_get_slot(type, member);
  /* relaxed: the interpreter itself updates these words while other threads read them (type attribute assignment) */
  return __atomic_load_n((void **)((char *)type + offset), __ATOMIC_RELAXED);
}

static inline bool type_has_flag(PyObject *type, unsigned long flag) {
  if (fhpy_layout.flags_offset == 0) return (PyType_GetFlags(type) & flag) != 0;
  /* relaxed, as the interpreter itself reads them */
  return (__atomic_load_n((unsigned long *)((char *)type + fhpy_layout.flags_offset), __ATOMIC_RELAXED) & flag) != 0;
}
static inline bool is_type(PyObject *o) { return type_has_flag(type_of(o), TYPE_FLAG_TYPE_SUBCLASS); }

#ifdef FHPY_PYPY
/* Whether there is stack enough to run Python code; else false with RecursionError raised. Not so on PyPy would be the
 * end of the process: some functions of cpyext may not fail, and do when the stack ends in them. */
bool fhpy_layout_has_stack(void);
static inline bool layout_has_stack(void) { return fhpy_layout_has_stack(); }
#else
static inline bool layout_has_stack(void) { return true; } /* the interpreter looks after it */
#endif

/* type.__basicsize__, or -1 with an exception raised. */
Py_ssize_t fhpy_layout_get_basicsize(PyObject *type);

#endif /* FFI_HPY_RUNTIME_LAYOUT_H_ */
