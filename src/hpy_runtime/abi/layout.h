/* The layout of the running interpreter, as far as the stable ABI hides it: measured at import.
 *
 * On CPython nothing here comes from a header. Sizes come from __basicsize__. Offsets come from a search for known
 * pointers in a type and an object made for the purpose (layout.c). So one binary fits builds with the GIL and without,
 * and a version that moves a member is measured correctly. A member of a type that is not found is read by
 * PyType_GetSlot; without the offset of an object's type the import fails. */
#pragma once

#include <stdbool.h>

#include "core/platform/atomic.h"
#include "cpython_abi.h"
#include "hpy_runtime/api/values.h"

/* --- functions of some versions ----------------------------------------------------------------------------------- */

/* Functions that only some versions export, or that the stable ABI does not guarantee: NULL if the interpreter lacks
 * them.
 *
 * The comments name the versions that have them. The callers have the substitutes, unless a comment here names one. */

typedef struct FhpyOptional {
  /* 3.12, stable. Before: type_bases.c has a substitute. */
  PyObject *(*PyType_FromMetaclass)(PyObject *, PyObject *, PyType_Spec *, PyObject *);
  /* 3.12, stable (a symbol already in 3.11). Before: PyObject_VectorcallDict. */
  PyObject *(*PyObject_Vectorcall)(PyObject *, PyObject *const *, size_t, PyObject *);
  /* 3.12, stable. Before: fetch and normalize. */
  PyObject *(*PyErr_GetRaisedException)(void);
  void (*PyErr_SetRaisedException)(PyObject *);
  int (*Py_IsFinalizing)(void); /* 3.13, stable */
  int (*_Py_IsFinalizing)(void); /* up to 3.12 */
  void *(*PyThreadState_GetUnchecked)(void); /* 3.13: the attached thread state, or NULL */
  void *(*_PyThreadState_UncheckedGet)(void); /* up to 3.12; it may be the state of another thread */
  int (*PyObject_CallFinalizerFromDealloc)(PyObject *); /* all, not stable */
  void (*PyObject_CallFinalizer)(PyObject *); /* all, not stable */
  PyObject *(*PyUnicode_New)(Py_ssize_t, uint32_t); /* all, not stable */
  PyObject *(*PyMethod_New)(PyObject *, PyObject *); /* all, not stable */
  PyObject *(*PyContextVar_New)(const char *, PyObject *); /* all, not stable */
  int (*PyContextVar_Get)(PyObject *, PyObject *, PyObject **);
  PyObject *(*PyContextVar_Set)(PyObject *, PyObject *);
  void (*PyObject_Dump)(PyObject *); /* 3.15 */
  void (*_PyObject_Dump)(PyObject *); /* all before, private */
  void *(*PyInterpreterState_ThreadHead)(void *); /* all, not stable */
  void *(*PyThreadState_Next)(void *); /* all, not stable */
  int (*PyUnstable_Object_EnableDeferredRefcount)(PyObject *); /* 3.14 */
  void (*PyUnstable_EnableTryIncRef)(PyObject *); /* 3.14 */
} FhpyOptional;

/* Constant after fhpy_layout_measure(). */
extern FhpyOptional fhpy_optional;

/* --- layouts ------------------------------------------------------------------------------------------------------ */

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
  MEMBER_CALL,
  MEMBER_ITERNEXT,
  MEMBER_COUNT
} TypeMember;

/* The way to count references to an object. */
typedef enum {
  /* By the interpreter's functions: without a GIL, in builds that check counts, and where the layout is unknown. */
  FHPY_COUNT_CALLS,
  /* The first word is the count: up to 3.11, and on PyPy. Every extension built for the limited API of those versions,
   * or for cpyext, changes it in place. */
  FHPY_COUNT_WORD,
  /* The lower half of the first word is the count, which has its highest bit set in an immortal object and then does
   * not change: from 3.12 on. Up to 3.13 the upper half is 0, later it has flags. Every extension built for one of
   * these versions changes the count in place. */
  FHPY_COUNT_HALF,
} FhpyCounting;

typedef struct FhpyLayout {
  int minor;                             /* of 3.minor */
  bool free_threaded;                    /* the build has no GIL */
  FhpyCounting counting;                 /* see handle.h */
  ptrdiff_t list_items;                  /* offset of the pointer to a list's items; 0: unknown, functions are used */
  ptrdiff_t tuple_items;                 /* offset of a tuple's first item, for reading; 0: unknown */
  ptrdiff_t ascii_data;                  /* offset of the bytes of an ASCII str; 0: unknown, or not needed */
  size_t header_size;                    /* object.__basicsize__ */
  ptrdiff_t type_offset;                 /* offset of the type pointer in an object */
  ptrdiff_t flags_offset;                /* offset of tp_flags in a type object; 0: not found */
  ptrdiff_t data_offset[8];              /* offset of the struct in an instance, by HPyType_BuiltinShape (0 to 7) */
  ptrdiff_t member_offset[MEMBER_COUNT]; /* offset in a type object; 0: not found */
  ptrdiff_t type_vectorcall; /* offset of tp_vectorcall in a type object; 0: not found */
} FhpyLayout;

/* Constant after fhpy_layout_measure(), which succeeds before any module gets the context. */
extern FhpyLayout fhpy_layout;

/* Checks that objects have the header size for which this binary is compiled; only on PyPy. Returns 0, or -1 with
 * ImportError raised. */
int fhpy_layout_check_header(void);

/* Fills fhpy_optional and fhpy_layout. Returns 0, or -1 with an exception raised. */
int fhpy_layout_measure(void);

/* Calls PyType_GetSlot, for members that were not found. */
void *fhpy_layout_get_slot(PyObject *type, TypeMember member);

static inline PyObject *type_of(PyObject *o) {
  /* relaxed: a concurrent assignment to __class__ writes the word atomically; both types are alive */
  return (PyObject *)fh_atomic_load_relaxed_ptr((void **)(void *)((char *)o + fhpy_layout.type_offset));
}

static inline void *type_member(PyObject *type, TypeMember member) {
  ptrdiff_t offset = fhpy_layout.member_offset[member];
  if (offset == 0) return fhpy_layout_get_slot(type, member);
  /* relaxed: the interpreter itself updates these words while other threads read them (type attribute assignment) */
  return fh_atomic_load_relaxed_ptr((void **)(void *)((char *)type + offset));
}

static inline bool type_has_flag(PyObject *type, unsigned long flag) {
  if (fhpy_layout.flags_offset == 0) return (PyType_GetFlags(type) & flag) != 0;
  /* relaxed, like the interpreter's own loads */
  return (fh_atomic_load_relaxed_u64((uint64_t *)(void *)((char *)type + fhpy_layout.flags_offset)) & flag) != 0;
}
static inline bool is_type(PyObject *o) { return type_has_flag(type_of(o), TYPE_FLAG_TYPE_SUBCLASS); }

/* Returns type.__basicsize__, or -1 with an exception raised. */
Py_ssize_t fhpy_layout_get_basicsize(PyObject *type);

/* --- ints --------------------------------------------------------------------------------------------------------- */

/* The layout of small values, so that they are read without a call: measured at import. */

/* Constant after fhpy_value_layout_measure(). Unknown members are 0. */
extern FhpyValues fhpy_value_layout;

/* Measures values made for the purpose. Called after fhpy_layout_measure(). Returns 0, or -1 with an exception
 * raised. */
int fhpy_value_layout_measure(void);
