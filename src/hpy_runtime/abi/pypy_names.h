/* PyPy's cpyext names for the declarations of cpython_abi.h: each has the prefix PyPy.
 *
 * cpython_abi.h includes this file before its declarations when the PyPy form is built (FHPY_PYPY). The members of
 * FhpyOptional are not listed: layout.c adds the prefix before it looks a name up. Functions that cpyext lacks, or
 * implements differently from CPython, are at the end, each with its replacement. */
#pragma once

/* ---- data ---- */

#define PyBaseObject_Type PyPyBaseObject_Type
#define PyBool_Type PyPyBool_Type
#define PyBytes_Type PyPyBytes_Type
#define PyCapsule_Type PyPyCapsule_Type
#define PyComplex_Type PyPyComplex_Type
#define PyDict_Type PyPyDict_Type
#define PyFloat_Type PyPyFloat_Type
#define PyList_Type PyPyList_Type
#define PyLong_Type PyPyLong_Type
#define PyMemoryView_Type PyPyMemoryView_Type
#define PyModule_Type PyPyModule_Type
#define PySlice_Type PyPySlice_Type
#define PyTuple_Type PyPyTuple_Type
#define PyType_Type PyPyType_Type
#define PyUnicode_Type PyPyUnicode_Type
#define _Py_EllipsisObject _PyPy_EllipsisObject
#define _Py_FalseStruct _PyPy_FalseStruct
#define _Py_NoneStruct _PyPy_NoneStruct
#define _Py_NotImplementedStruct _PyPy_NotImplementedStruct
#define _Py_TrueStruct _PyPy_TrueStruct

/* ---- exceptions ---- */

#define PyExc_ArithmeticError PyPyExc_ArithmeticError
#define PyExc_AssertionError PyPyExc_AssertionError
#define PyExc_AttributeError PyPyExc_AttributeError
#define PyExc_BaseException PyPyExc_BaseException
#define PyExc_BlockingIOError PyPyExc_BlockingIOError
#define PyExc_BrokenPipeError PyPyExc_BrokenPipeError
#define PyExc_BufferError PyPyExc_BufferError
#define PyExc_BytesWarning PyPyExc_BytesWarning
#define PyExc_ChildProcessError PyPyExc_ChildProcessError
#define PyExc_ConnectionAbortedError PyPyExc_ConnectionAbortedError
#define PyExc_ConnectionError PyPyExc_ConnectionError
#define PyExc_ConnectionRefusedError PyPyExc_ConnectionRefusedError
#define PyExc_ConnectionResetError PyPyExc_ConnectionResetError
#define PyExc_DeprecationWarning PyPyExc_DeprecationWarning
#define PyExc_EOFError PyPyExc_EOFError
#define PyExc_Exception PyPyExc_Exception
#define PyExc_FileExistsError PyPyExc_FileExistsError
#define PyExc_FileNotFoundError PyPyExc_FileNotFoundError
#define PyExc_FloatingPointError PyPyExc_FloatingPointError
#define PyExc_FutureWarning PyPyExc_FutureWarning
#define PyExc_GeneratorExit PyPyExc_GeneratorExit
#define PyExc_ImportError PyPyExc_ImportError
#define PyExc_ImportWarning PyPyExc_ImportWarning
#define PyExc_IndentationError PyPyExc_IndentationError
#define PyExc_IndexError PyPyExc_IndexError
#define PyExc_InterruptedError PyPyExc_InterruptedError
#define PyExc_IsADirectoryError PyPyExc_IsADirectoryError
#define PyExc_KeyError PyPyExc_KeyError
#define PyExc_KeyboardInterrupt PyPyExc_KeyboardInterrupt
#define PyExc_LookupError PyPyExc_LookupError
#define PyExc_MemoryError PyPyExc_MemoryError
#define PyExc_ModuleNotFoundError PyPyExc_ModuleNotFoundError
#define PyExc_NameError PyPyExc_NameError
#define PyExc_NotADirectoryError PyPyExc_NotADirectoryError
#define PyExc_NotImplementedError PyPyExc_NotImplementedError
#define PyExc_OSError PyPyExc_OSError
#define PyExc_OverflowError PyPyExc_OverflowError
#define PyExc_PendingDeprecationWarning PyPyExc_PendingDeprecationWarning
#define PyExc_PermissionError PyPyExc_PermissionError
#define PyExc_ProcessLookupError PyPyExc_ProcessLookupError
#define PyExc_RecursionError PyPyExc_RecursionError
#define PyExc_ReferenceError PyPyExc_ReferenceError
#define PyExc_ResourceWarning PyPyExc_ResourceWarning
#define PyExc_RuntimeError PyPyExc_RuntimeError
#define PyExc_RuntimeWarning PyPyExc_RuntimeWarning
#define PyExc_StopAsyncIteration PyPyExc_StopAsyncIteration
#define PyExc_StopIteration PyPyExc_StopIteration
#define PyExc_SyntaxError PyPyExc_SyntaxError
#define PyExc_SyntaxWarning PyPyExc_SyntaxWarning
#define PyExc_SystemError PyPyExc_SystemError
#define PyExc_SystemExit PyPyExc_SystemExit
#define PyExc_TabError PyPyExc_TabError
#define PyExc_TimeoutError PyPyExc_TimeoutError
#define PyExc_TypeError PyPyExc_TypeError
#define PyExc_UnboundLocalError PyPyExc_UnboundLocalError
#define PyExc_UnicodeDecodeError PyPyExc_UnicodeDecodeError
#define PyExc_UnicodeEncodeError PyPyExc_UnicodeEncodeError
#define PyExc_UnicodeError PyPyExc_UnicodeError
#define PyExc_UnicodeTranslateError PyPyExc_UnicodeTranslateError
#define PyExc_UnicodeWarning PyPyExc_UnicodeWarning
#define PyExc_UserWarning PyPyExc_UserWarning
#define PyExc_ValueError PyPyExc_ValueError
#define PyExc_Warning PyPyExc_Warning
#define PyExc_ZeroDivisionError PyPyExc_ZeroDivisionError

/* ---- numbers ---- */

#define PyNumber_Absolute PyPyNumber_Absolute
#define PyNumber_Add PyPyNumber_Add
#define PyNumber_And PyPyNumber_And
#define PyNumber_Check PyPyNumber_Check
#define PyNumber_Divmod PyPyNumber_Divmod
#define PyNumber_Float PyPyNumber_Float
#define PyNumber_FloorDivide PyPyNumber_FloorDivide
#define PyNumber_InPlaceAdd PyPyNumber_InPlaceAdd
#define PyNumber_InPlaceAnd PyPyNumber_InPlaceAnd
#define PyNumber_InPlaceFloorDivide PyPyNumber_InPlaceFloorDivide
#define PyNumber_InPlaceLshift PyPyNumber_InPlaceLshift
#define PyNumber_InPlaceMatrixMultiply PyPyNumber_InPlaceMatrixMultiply
#define PyNumber_InPlaceMultiply PyPyNumber_InPlaceMultiply
#define PyNumber_InPlaceOr PyPyNumber_InPlaceOr
#define PyNumber_InPlaceRemainder PyPyNumber_InPlaceRemainder
#define PyNumber_InPlaceRshift PyPyNumber_InPlaceRshift
#define PyNumber_InPlaceSubtract PyPyNumber_InPlaceSubtract
#define PyNumber_InPlaceTrueDivide PyPyNumber_InPlaceTrueDivide
#define PyNumber_InPlaceXor PyPyNumber_InPlaceXor
#define PyNumber_Index PyPyNumber_Index
#define PyNumber_Invert PyPyNumber_Invert
#define PyNumber_Long PyPyNumber_Long
#define PyNumber_Lshift PyPyNumber_Lshift
#define PyNumber_MatrixMultiply PyPyNumber_MatrixMultiply
#define PyNumber_Multiply PyPyNumber_Multiply
#define PyNumber_Negative PyPyNumber_Negative
#define PyNumber_Or PyPyNumber_Or
#define PyNumber_Positive PyPyNumber_Positive
#define PyNumber_Power PyPyNumber_Power
#define PyNumber_Remainder PyPyNumber_Remainder
#define PyNumber_Rshift PyPyNumber_Rshift
#define PyNumber_Subtract PyPyNumber_Subtract
#define PyNumber_TrueDivide PyPyNumber_TrueDivide
#define PyNumber_Xor PyPyNumber_Xor

/* ---- the other functions ---- */

#define PyBytes_AsString PyPyBytes_AsString
#define PyBytes_FromString PyPyBytes_FromString
#define PyBytes_FromStringAndSize PyPyBytes_FromStringAndSize
#define PyBytes_Size PyPyBytes_Size
#define PyCallable_Check PyPyCallable_Check
#define PyCapsule_GetContext PyPyCapsule_GetContext
#define PyCapsule_GetName PyPyCapsule_GetName
#define PyCapsule_GetPointer PyPyCapsule_GetPointer
#define PyCapsule_IsValid PyPyCapsule_IsValid
#define PyCapsule_New PyPyCapsule_New
#define PyCapsule_SetContext PyPyCapsule_SetContext
#define PyCapsule_SetName PyPyCapsule_SetName
#define PyCapsule_SetPointer PyPyCapsule_SetPointer
#define PyDescr_NewGetSet PyPyDescr_NewGetSet
#define PyDict_Copy PyPyDict_Copy
#define PyDict_Keys PyPyDict_Keys
#define PyDict_New PyPyDict_New
#define PyDict_Next PyPyDict_Next
#define PyDict_SetItem PyPyDict_SetItem
#define PyErr_Clear PyPyErr_Clear
#define PyErr_ExceptionMatches PyPyErr_ExceptionMatches
#define PyErr_Fetch PyPyErr_Fetch
#define PyErr_Format fhpy_pypy_errors_format
#define PyErr_NewException PyPyErr_NewException
#define PyErr_NewExceptionWithDoc PyPyErr_NewExceptionWithDoc
#define PyErr_NoMemory PyPyErr_NoMemory
#define PyErr_NormalizeException PyPyErr_NormalizeException
#define PyErr_Occurred PyPyErr_Occurred
#define PyErr_Restore PyPyErr_Restore
#define PyErr_SetFromErrnoWithFilename PyPyErr_SetFromErrnoWithFilename
#define PyErr_SetFromErrnoWithFilenameObjects PyPyErr_SetFromErrnoWithFilenameObjects
#define PyErr_SetObject PyPyErr_SetObject
#define PyErr_SetString PyPyErr_SetString
#define PyErr_WarnEx PyPyErr_WarnEx
#define PyErr_WriteUnraisable PyPyErr_WriteUnraisable
#define PyEval_EvalCode PyPyEval_EvalCode
#define PyEval_GetBuiltins PyPyEval_GetBuiltins
#define PyEval_RestoreThread PyPyEval_RestoreThread
#define PyEval_SaveThread PyPyEval_SaveThread
#define PyException_GetTraceback PyPyException_GetTraceback
#define PyException_SetTraceback PyPyException_SetTraceback
#define PyFloat_AsDouble PyPyFloat_AsDouble
#define PyFloat_FromDouble PyPyFloat_FromDouble
#define PyGILState_Check PyPyGILState_Check
#define PyGILState_Ensure PyPyGILState_Ensure
#define PyGILState_GetThisThreadState PyPyGILState_GetThisThreadState
#define PyGILState_Release PyPyGILState_Release
#define PyImport_ImportModule PyPyImport_ImportModule
#define PyList_Append PyPyList_Append
#define PyIter_Check PyPyIter_Check
#define PyIter_Next PyPyIter_Next
#define PyList_Insert PyPyList_Insert
#define PyObject_GetIter PyPyObject_GetIter
#define PySequence_DelSlice PyPySequence_DelSlice
#define PySequence_GetItem PyPySequence_GetItem
#define PySequence_GetSlice PyPySequence_GetSlice
#define PySequence_SetSlice PyPySequence_SetSlice
#define PySet_Add PyPySet_Add
#define PySet_New PyPySet_New
#define PySlice_New PyPySlice_New
#define PyList_New PyPyList_New
#define PyList_SetItem PyPyList_SetItem
#define PyLong_AsDouble PyPyLong_AsDouble
#define PyLong_AsLongLong PyPyLong_AsLongLong
#define PyLong_AsUnsignedLongLongMask PyPyLong_AsUnsignedLongLongMask
#define PyLong_AsVoidPtr PyPyLong_AsVoidPtr
#define PyLong_FromLong PyPyLong_FromLong
#define PyLong_FromLongLong PyPyLong_FromLongLong
#define PyLong_FromSize_t PyPyLong_FromSize_t
#define PyLong_FromSsize_t PyPyLong_FromSsize_t
#define PyLong_FromUnsignedLong PyPyLong_FromUnsignedLong
#define PyLong_FromUnsignedLongLong PyPyLong_FromUnsignedLongLong
#define PyMem_Calloc PyPyMem_Calloc
#define PyMem_Free PyPyMem_Free
#define PyMem_Malloc PyPyMem_Malloc
#define PyMem_Realloc PyPyMem_Realloc
#define PyModuleDef_Init PyPyModuleDef_Init
#define PyModule_AddFunctions PyPyModule_AddFunctions
#define PyModule_NewObject PyPyModule_NewObject
#define PyObject_ASCII PyPyObject_ASCII
#define PyObject_Bytes PyPyObject_Bytes
#define PyObject_Call PyPyObject_Call
#define PyObject_CallObject PyPyObject_CallObject
#define PyObject_DelItem PyPyObject_DelItem
#define PyObject_Free PyPyObject_Free
#define PyObject_GC_Del PyPyObject_GC_Del
#define PyObject_GetAttr PyPyObject_GetAttr
#define PyObject_GetAttrString PyPyObject_GetAttrString
#define PyObject_GetItem PyPyObject_GetItem
#define PyObject_Hash PyPyObject_Hash
#define PyObject_IsTrue PyPyObject_IsTrue
#define PyObject_Repr PyPyObject_Repr
#define PyObject_RichCompare PyPyObject_RichCompare
#define PyObject_RichCompareBool PyPyObject_RichCompareBool
#define PyObject_SetAttr PyPyObject_SetAttr
#define PyObject_SetAttrString PyPyObject_SetAttrString
#define PyObject_SetItem PyPyObject_SetItem
#define PyObject_Size PyPyObject_Size
#define PyObject_Str PyPyObject_Str
#define PyObject_VectorcallDict PyPyObject_VectorcallDict
#define PyObject_VectorcallMethod PyPyObject_VectorcallMethod
#define PySequence_Contains PyPySequence_Contains
#define PySlice_Unpack PyPySlice_Unpack
#define PyThreadState_Get PyPyThreadState_Get
#define PyTuple_GetItem PyPyTuple_GetItem
#define PyTuple_New PyPyTuple_New
#define PyTuple_SetItem PyPyTuple_SetItem
#define PyTuple_Size PyPyTuple_Size
#define PyType_FromSpecWithBases PyPyType_FromSpecWithBases
#define PyType_GenericAlloc PyPyType_GenericAlloc
#define PyThread_get_thread_ident PyPyThread_get_thread_ident
#define PyType_GetSlot PyPyType_GetSlot
#define PyType_IsSubtype PyPyType_IsSubtype
#define PyType_Modified PyPyType_Modified
#define PyType_Ready PyPyType_Ready
#define PyUnicode_AsASCIIString PyPyUnicode_AsASCIIString
#define PyUnicode_AsLatin1String PyPyUnicode_AsLatin1String
#define PyUnicode_AsUTF8AndSize PyPyUnicode_AsUTF8AndSize
#define PyUnicode_AsUTF8String PyPyUnicode_AsUTF8String
#define PyUnicode_DecodeASCII PyPyUnicode_DecodeASCII
#define PyUnicode_DecodeFSDefault PyPyUnicode_DecodeFSDefault
#define PyUnicode_DecodeFSDefaultAndSize PyPyUnicode_DecodeFSDefaultAndSize
#define PyUnicode_DecodeLatin1 PyPyUnicode_DecodeLatin1
#define PyUnicode_EncodeFSDefault PyPyUnicode_EncodeFSDefault
#define PyUnicode_FromFormat PyPyUnicode_FromFormat
#define PyUnicode_FromString PyPyUnicode_FromString
#define PyUnicode_FromWideChar PyPyUnicode_FromWideChar
#define PyUnicode_InternInPlace PyPyUnicode_InternInPlace
#define PyUnicode_ReadChar PyPyUnicode_ReadChar
#define PyVectorcall_Call PyPyVectorcall_Call
#define Py_DecRef PyPy_DecRef
#define Py_EnterRecursiveCall PyPy_EnterRecursiveCall
#define Py_FatalError PyPy_FatalError
#define Py_GetVersion PyPy_GetVersion
#define Py_IncRef PyPy_IncRef
#define Py_IsInitialized PyPy_IsInitialized
#define _Py_Dealloc _PyPy_Dealloc

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

/* ---- functions of cpyext that differ from CPython's, replaced by functions of pypy_functions.c ---- */

#define PyCapsule_SetDestructor fhpy_pypy_functions_set_destructor
#define PyLong_AsSize_t fhpy_pypy_functions_as_size
#define PyLong_AsSsize_t fhpy_pypy_functions_as_ssize
#define PyLong_AsUnsignedLongLong fhpy_pypy_functions_as_unsigned
#define PyNumber_InPlacePower fhpy_pypy_functions_in_place_power
#define PyUnicode_FromEncodedObject fhpy_pypy_functions_from_encoded
#define PyUnicode_Substring fhpy_pypy_functions_substring
