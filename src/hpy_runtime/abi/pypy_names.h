/* The names that PyPy's cpyext gives to the declarations of cpython_abi.h: each has "Py" before CPython's name.
 *
 * cpython_abi.h includes this file before its declarations when the PyPy form is built (FHPY_PYPY). The members of
 * FhpyOptional are not listed: layout.c adds the prefix before it looks a name up. The macros at the end replace names
 * with another prefix, and functions that cpyext lacks or implements differently from CPython. */
#pragma once

#if defined(__APPLE__) /* clang takes the name of the symbol, which has an underscore there */
#define RENAMED(name) PRAGMA(redefine_extname name _Py##name)
#else
#define RENAMED(name) PRAGMA(redefine_extname name Py##name)
#endif
#define PRAGMA(words) _Pragma(#words)
#define FUNCTION(name) RENAMED(name)
#define EXCEPTION(name) RENAMED(name)
#define OBJECT(name) RENAMED(name)
#include "interpreter_names.def"
RENAMED(PyGILState_Check) /* of PyPy alone */
RENAMED(PyType_Ready)
#undef FUNCTION
#undef EXCEPTION
#undef OBJECT
#undef RENAMED
#undef PRAGMA

#define _Py_Dealloc _PyPy_Dealloc
#define _Py_EllipsisObject _PyPy_EllipsisObject
#define _Py_FalseStruct _PyPy_FalseStruct
#define _Py_NoneStruct _PyPy_NoneStruct
#define _Py_NotImplementedStruct _PyPy_NotImplementedStruct
#define _Py_TrueStruct _PyPy_TrueStruct

/* ---- missing from cpyext ---- */

/* PyPy's garbage collector tracks all objects itself. */
#define PyObject_GC_Track(o) ((void)(o))
#define PyObject_GC_UnTrack(o) ((void)(o))
#define PyCFunction_NewEx(def, self, module) PyPyCMethod_New(def, self, module, NULL)
#define Py_CompileString(source, filename, start) PyPy_CompileStringFlags(source, filename, start, NULL)
/* PyPy has no sub-interpreters: the first is the only one. */
#define PyInterpreterState_Get PyPyInterpreterState_Head
#define PyInterpreterState_GetID fhpy_pypy_functions_interpreter_id
#define PyModule_SetDocString(module, doc) fhpy_pypy_set_doc(module, doc)
#define PyType_GetFlags(type) fhpy_pypy_get_flags(type)

/* ---- functions of cpyext that differ from CPython's, replaced by pypy_errors.c and pypy_functions.c ---- */

#define PyCapsule_SetDestructor fhpy_pypy_functions_set_destructor
#define PyErr_Format fhpy_pypy_errors_format
#define PyLong_AsSize_t fhpy_pypy_functions_as_size
#define PyLong_AsSsize_t fhpy_pypy_functions_as_ssize
#define PyLong_AsUnsignedLongLong fhpy_pypy_functions_as_unsigned
#define PyNumber_InPlacePower fhpy_pypy_functions_in_place_power
#define PyUnicode_FromEncodedObject fhpy_pypy_functions_from_encoded
#define PyUnicode_Substring fhpy_pypy_functions_substring
