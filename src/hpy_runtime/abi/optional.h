/* Functions that only some versions export, or that the stable ABI does not guarantee: NULL if the interpreter lacks
 * them.
 *
 * The comments name the versions that have them. The callers have the substitutes, unless a comment here names one. */
#ifndef FFI_HPY_RUNTIME_OPTIONAL_H_
#define FFI_HPY_RUNTIME_OPTIONAL_H_

#include "cpython_abi.h"

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

/* Constant after fhpy_optional_find(), which fhpy_layout_measure() calls. */
extern FhpyOptional fhpy_optional;

/* Looks up all functions. */
void fhpy_optional_find(void);

#endif /* FFI_HPY_RUNTIME_OPTIONAL_H_ */
