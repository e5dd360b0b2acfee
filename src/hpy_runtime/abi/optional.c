/* Looks up the functions of optional.h among the global symbols of the process. */
#include "optional.h"

#include <stdbool.h>
#include <stdio.h>

#include "core/platform/system.h"

FhpyOptional fhpy_optional;

#ifdef FHPY_PYPY
/* Py... is exported as PyPy..., and _Py... as _PyPy... */
static void *find_function(const char *name) {
  char prefixed[80];
  bool is_private = name[0] == '_';
  snprintf(prefixed, sizeof(prefixed), "%sPy%s", is_private ? "_" : "", name + is_private);
  return fh_loader_find_anywhere(prefixed);
}
#else
static void *find_function(const char *name) { return fh_loader_find_anywhere(name); }
#endif

void fhpy_optional_find(void) {
#define FIND(name) *(void **)&fhpy_optional.name = find_function(#name)
  FIND(PyType_FromMetaclass);
  FIND(PyObject_Vectorcall);
  FIND(PyErr_GetRaisedException);
  FIND(PyErr_SetRaisedException);
  FIND(Py_IsFinalizing);
  FIND(_Py_IsFinalizing);
  FIND(PyThreadState_GetUnchecked);
  FIND(_PyThreadState_UncheckedGet);
#ifndef FHPY_PYPY /* cpyext's function prints a warning; PyPy calls HPy_tp_finalize itself, as __del__ */
  FIND(PyObject_CallFinalizerFromDealloc);
  FIND(PyObject_CallFinalizer);
  FIND(PyUnicode_New);
#endif
  FIND(PyMethod_New);
  FIND(PyContextVar_New);
  FIND(PyContextVar_Get);
  FIND(PyContextVar_Set);
  FIND(PyObject_Dump);
  FIND(_PyObject_Dump);
  FIND(PyInterpreterState_ThreadHead);
  FIND(PyThreadState_Next);
  FIND(PyUnstable_Object_EnableDeferredRefcount);
  FIND(PyUnstable_EnableTryIncRef);
#undef FIND
}
