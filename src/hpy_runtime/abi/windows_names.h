/* The interpreter's functions and objects on Windows, looked up when the runtime is imported.
 *
 * A Windows binary names the library of each imported symbol, and the interpreter's library has another name in each
 * version (python311.dll). The library of the stable ABI (python3.dll) lacks names in old versions, and is missing from
 * interpreters without a GIL. Therefore nothing is linked: each function is a jump through a word, each exception a
 * copy of the interpreter's pointer, and each static object is reached through a pointer. All are looked up by name in
 * the library that the process has loaded. Empty on other systems, whose loader binds names in any library. */
#pragma once

#if defined(_WIN32)
struct _object;

/* Pointers to the static objects. */
typedef struct {
#define FUNCTION(name)
#define EXCEPTION(name)
#define OBJECT(name) struct _object *name##_at;
#include "interpreter_names.def"
#undef FUNCTION
#undef EXCEPTION
#undef OBJECT
} FhpyWindowsObjects;
extern FhpyWindowsObjects fhpy_windows_objects;

#define PyBaseObject_Type (*fhpy_windows_objects.PyBaseObject_Type_at)
#define PyBool_Type (*fhpy_windows_objects.PyBool_Type_at)
#define PyBytes_Type (*fhpy_windows_objects.PyBytes_Type_at)
#define PyCapsule_Type (*fhpy_windows_objects.PyCapsule_Type_at)
#define PyComplex_Type (*fhpy_windows_objects.PyComplex_Type_at)
#define PyDict_Type (*fhpy_windows_objects.PyDict_Type_at)
#define PyFloat_Type (*fhpy_windows_objects.PyFloat_Type_at)
#define PyList_Type (*fhpy_windows_objects.PyList_Type_at)
#define PyLong_Type (*fhpy_windows_objects.PyLong_Type_at)
#define PyMemoryView_Type (*fhpy_windows_objects.PyMemoryView_Type_at)
#define PyModule_Type (*fhpy_windows_objects.PyModule_Type_at)
#define PySlice_Type (*fhpy_windows_objects.PySlice_Type_at)
#define PyTuple_Type (*fhpy_windows_objects.PyTuple_Type_at)
#define PyType_Type (*fhpy_windows_objects.PyType_Type_at)
#define PyUnicode_Type (*fhpy_windows_objects.PyUnicode_Type_at)
#define _Py_EllipsisObject (*fhpy_windows_objects._Py_EllipsisObject_at)
#define _Py_FalseStruct (*fhpy_windows_objects._Py_FalseStruct_at)
#define _Py_NoneStruct (*fhpy_windows_objects._Py_NoneStruct_at)
#define _Py_NotImplementedStruct (*fhpy_windows_objects._Py_NotImplementedStruct_at)
#define _Py_TrueStruct (*fhpy_windows_objects._Py_TrueStruct_at)

/* Looks up all names. Called before any other function of the interpreter. Returns 0; -1 on failure, with an exception
 * raised if the functions for that exist. */
int fhpy_windows_names_find(void);
#else
static inline int fhpy_windows_names_find(void) { return 0; }
#endif
