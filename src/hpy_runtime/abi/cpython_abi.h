/* The part of the C API that every CPython from 3.9 to 3.15 has, with the GIL and without: structs whose layout the
 * stable ABI freezes, and functions and data that all of these versions export.
 *
 * Python.h is not included. The functions and data are plain externs: the loader refuses the file if the interpreter
 * lacks one of them, so this list must be limited to names that all versions have. Functions of some versions only are
 * in layout.h. layout.h measures the facts that the stable ABI hides (the offsets of an object's type and of a type's
 * slots). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "windows_names.h"

#ifdef FHPY_PYPY
#include "pypy_names.h"
#endif

typedef struct _object PyObject; /* opaque: the header is 16 bytes, free-threaded 32, on PyPy 24 */
typedef intptr_t Py_ssize_t;

/* ---- structs of the stable ABI, with equal layouts in 3.9 to 3.15 ---- */

typedef struct {
  const char *name;
  void *function;
  int flags;
  const char *doc;
} PyMethodDef;

typedef struct {
  const char *name;
  int type;
  Py_ssize_t offset;
  int flags;
  const char *doc;
} PyMemberDef;

typedef struct {
  const char *name;
  void *get;
  void *set;
  const char *doc;
  void *closure;
} PyGetSetDef;

typedef struct {
  int slot;
  void *value;
} PyType_Slot;

typedef struct {
  const char *name;
  int basicsize;
  int itemsize;
  unsigned flags;
  PyType_Slot *slots;
} PyType_Spec;

typedef struct {
  int slot;
  void *value;
} PyModuleDef_Slot;

/* Py_buffer is frozen since 3.11, and has the same layout in 3.9 and 3.10. HPy_buffer has the same members in the same
 * order, and a handle is a pointer. So a Py_buffer is passed on as an HPy_buffer. */

enum { METH_VARARGS = 0x1, METH_KEYWORDS = 0x2, METH_NOARGS = 0x4, METH_O = 0x8, METH_FASTCALL = 0x80 };
enum { MEMBER_READONLY = 1, MEMBER_SSIZE = 19 };
enum { EVAL_SINGLE = 256, EVAL_FILE = 257, EVAL_EXPRESSION = 258 }; /* start symbols of Py_CompileString */
enum { EQUAL = 2 }; /* operator of PyObject_RichCompareBool */

#define TYPE_FLAG_HEAPTYPE (1ul << 9)
#define TYPE_FLAG_HAVE_VECTORCALL (1ul << 11)
#define TYPE_FLAG_HAVE_GC (1ul << 14)
#define TYPE_FLAG_LONG_SUBCLASS (1ul << 24)
#define TYPE_FLAG_LIST_SUBCLASS (1ul << 25)
#define TYPE_FLAG_TUPLE_SUBCLASS (1ul << 26)
#define TYPE_FLAG_BYTES_SUBCLASS (1ul << 27)
#define TYPE_FLAG_UNICODE_SUBCLASS (1ul << 28)
#define TYPE_FLAG_DICT_SUBCLASS (1ul << 29)
#define TYPE_FLAG_BASE_EXC_SUBCLASS (1ul << 30)
#define TYPE_FLAG_TYPE_SUBCLASS (1ul << 31)

/* Slot numbers, frozen. HPy's slots have the same numbers, except tp_destroy, which CPython does not have. */
enum {
  SLOT_TP_BASE = 48,
  SLOT_TP_CALL = 50,
  SLOT_TP_CLEAR = 51,
  SLOT_TP_DEALLOC = 52,
  SLOT_TP_DESCR_GET = 54,
  SLOT_TP_DOC = 56,
  SLOT_TP_GETATTRO = 58,
  SLOT_TP_INIT = 60,
  SLOT_TP_ITERNEXT = 63,
  SLOT_TP_METHODS = 64,
  SLOT_TP_NEW = 65,
  SLOT_TP_REPR = 66,
  SLOT_TP_TRAVERSE = 71,
  SLOT_TP_MEMBERS = 72,
  SLOT_TP_GETSET = 73,
  SLOT_TP_FINALIZE = 80,
};

typedef PyObject *(*vectorcall_fn)(PyObject *, PyObject *const *, size_t, PyObject *);
typedef PyObject *(*new_fn)(PyObject *, PyObject *, PyObject *);
typedef int (*init_fn)(PyObject *, PyObject *, PyObject *);
typedef int (*visit_fn)(PyObject *, void *);
typedef int (*traverse_fn)(PyObject *, visit_fn, void *);
typedef int (*clear_fn)(PyObject *);
typedef void (*dealloc_fn)(PyObject *);

#define VECTORCALL_ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))

/* ---- data exported by every version ---- */

#if !defined(_WIN32) /* on Windows, windows_names.h declares the objects */
extern PyObject _Py_NoneStruct, _Py_TrueStruct, _Py_FalseStruct, _Py_NotImplementedStruct, _Py_EllipsisObject;
extern PyObject PyBaseObject_Type, PyType_Type, PyBool_Type, PyLong_Type, PyFloat_Type, PyUnicode_Type, PyTuple_Type;
extern PyObject PyList_Type, PyDict_Type, PyComplex_Type, PyBytes_Type, PyMemoryView_Type, PyCapsule_Type, PySlice_Type;
extern PyObject PyModule_Type;
#endif
extern PyObject *PyExc_AttributeError, *PyExc_ImportError, *PyExc_MemoryError, *PyExc_OverflowError;
extern PyObject *PyExc_RuntimeError, *PyExc_SystemError, *PyExc_TypeError, *PyExc_ValueError;
/* the other PyExc_* are declared in ctx_value.c, which uses them */

/* ---- functions of the stable ABI, exported by every version ---- */

/* references, interpreter, threads */
extern void Py_IncRef(PyObject *), Py_DecRef(PyObject *); /* both accept NULL */
extern void _Py_Dealloc(PyObject *); /* stable, because inlined code calls it */
extern const char *Py_GetVersion(void);
extern int Py_IsInitialized(void);
extern void Py_FatalError(const char *) __attribute__((noreturn));
extern void *PyEval_SaveThread(void);
extern void PyEval_RestoreThread(void *);
/* returns this thread's own state, attached or not; NULL if it has none */
extern void *PyGILState_GetThisThreadState(void);
extern void *PyInterpreterState_Get(void), *PyThreadState_Get(void);
extern int64_t PyInterpreterState_GetID(void *interpreter); /* 0 for the main one; -1 with an exception */
extern int PyGILState_Ensure(void);
extern void *PyThreadState_New(void *interpreter); /* needs no GIL */
extern void PyThreadState_Clear(void *), PyThreadState_DeleteCurrent(void);
#ifdef FHPY_PYPY
extern int PyGILState_Check(void); /* callable from any thread; not in CPython's stable ABI */
#endif
extern void PyGILState_Release(int);
extern unsigned long PyThread_get_thread_ident(void);
extern PyObject *PyEval_GetBuiltins(void); /* borrowed */
extern PyObject *PyEval_EvalCode(PyObject *, PyObject *, PyObject *);
extern int Py_EnterRecursiveCall(const char *);
#ifdef FHPY_PYPY
extern PyObject *PyPy_CompileStringFlags(const char *, const char *, int, void *);
#else
extern void Py_LeaveRecursiveCall(void);
extern PyObject *Py_CompileString(const char *, const char *, int);
#endif
extern PyObject *PyImport_ImportModule(const char *);

/* memory */
extern void *PyMem_Malloc(size_t), *PyMem_Calloc(size_t, size_t), *PyMem_Realloc(void *, size_t);
extern void PyMem_Free(void *), PyObject_Free(void *), PyObject_GC_Del(void *);
#ifndef FHPY_PYPY
extern void *PyObject_Calloc(size_t, size_t);
extern PyObject *PyObject_Init(PyObject *, PyObject *); /* takes a reference to a heap type */
extern PyObject *_PyObject_GC_New(PyObject *); /* stable, because a macro calls it */
extern void PyObject_GC_Track(void *), PyObject_GC_UnTrack(void *), PyObject_ClearWeakRefs(PyObject *);
#endif

/* errors */
extern PyObject *PyErr_Occurred(void); /* borrowed */
extern void PyErr_Clear(void), PyErr_SetString(PyObject *, const char *), PyErr_SetObject(PyObject *, PyObject *);
extern void PyErr_Fetch(PyObject **, PyObject **, PyObject **), PyErr_Restore(PyObject *, PyObject *, PyObject *);
extern void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **), PyErr_WriteUnraisable(PyObject *);
extern int PyErr_ExceptionMatches(PyObject *), PyErr_WarnEx(PyObject *, const char *, Py_ssize_t);
extern PyObject *PyErr_NoMemory(void), *PyErr_Format(PyObject *, const char *, ...);
extern PyObject *PyErr_SetFromErrnoWithFilename(PyObject *, const char *);
extern PyObject *PyErr_SetFromErrnoWithFilenameObjects(PyObject *, PyObject *, PyObject *);
extern PyObject *PyErr_NewException(const char *, PyObject *, PyObject *);
extern PyObject *PyErr_NewExceptionWithDoc(const char *, const char *, PyObject *, PyObject *);
extern int PyException_SetTraceback(PyObject *, PyObject *);
extern PyObject *PyException_GetTraceback(PyObject *);

/* types */
extern PyObject *PyType_FromSpecWithBases(PyType_Spec *, PyObject *), *PyType_GenericAlloc(PyObject *, Py_ssize_t);
#ifdef FHPY_PYPY
/* cpyext has it only as an inline function in its headers, so the offset is part of its ABI */
static inline unsigned long fhpy_pypy_get_flags(PyObject *type) {
  enum { FLAGS_OFFSET = 176 };
  return *(const unsigned long *)(const void *)((const char *)type + FLAGS_OFFSET);
}
#else
extern unsigned long PyType_GetFlags(PyObject *);
#endif
extern int PyType_IsSubtype(PyObject *, PyObject *);
extern void *PyType_GetSlot(PyObject *, int); /* heap types only before 3.10 */
extern void PyType_Modified(PyObject *);
extern PyObject *PyDescr_NewGetSet(PyObject *, PyGetSetDef *);

/* object protocol */
extern PyObject *PyObject_GetAttr(PyObject *, PyObject *), *PyObject_GetAttrString(PyObject *, const char *);
extern PyObject *PyObject_GenericGetAttr(PyObject *, PyObject *);
extern int PyObject_SetAttr(PyObject *, PyObject *, PyObject *);
extern int PyObject_SetAttrString(PyObject *, const char *, PyObject *);
extern PyObject *PyObject_GetItem(PyObject *, PyObject *);
extern int PyObject_SetItem(PyObject *, PyObject *, PyObject *), PyObject_DelItem(PyObject *, PyObject *);
extern int PySequence_Contains(PyObject *, PyObject *);
extern Py_ssize_t PyObject_Size(PyObject *);
extern PyObject *PyObject_Repr(PyObject *), *PyObject_Str(PyObject *), *PyObject_ASCII(PyObject *);
extern PyObject *PyObject_Bytes(PyObject *), *PyObject_RichCompare(PyObject *, PyObject *, int);
extern int PyObject_RichCompareBool(PyObject *, PyObject *, int), PyObject_IsTrue(PyObject *);
extern Py_ssize_t PyObject_Hash(PyObject *);
extern int PyCallable_Check(PyObject *);
extern PyObject *PyObject_Call(PyObject *, PyObject *, PyObject *), *PyObject_CallObject(PyObject *, PyObject *);
extern PyObject *PyVectorcall_Call(PyObject *, PyObject *, PyObject *); /* stable since 3.12, exported before */
/* like PyVectorcall_Call */
extern PyObject *PyObject_VectorcallMethod(PyObject *, PyObject *const *, size_t, PyObject *);
extern PyObject *PyObject_VectorcallDict(PyObject *, PyObject *const *, size_t, PyObject *); /* exported since 3.9 */

/* numbers */
extern PyObject *PyLong_FromLong(long), *PyLong_FromUnsignedLong(unsigned long), *PyLong_FromLongLong(long long);
extern PyObject *PyLong_FromUnsignedLongLong(unsigned long long), *PyLong_FromSize_t(size_t);
extern PyObject *PyLong_FromSsize_t(Py_ssize_t), *PyFloat_FromDouble(double);
extern long long PyLong_AsLongLong(PyObject *);
extern unsigned long long PyLong_AsUnsignedLongLong(PyObject *), PyLong_AsUnsignedLongLongMask(PyObject *);
extern size_t PyLong_AsSize_t(PyObject *);
extern Py_ssize_t PyLong_AsSsize_t(PyObject *);
extern void *PyLong_AsVoidPtr(PyObject *);
extern double PyLong_AsDouble(PyObject *), PyFloat_AsDouble(PyObject *);
extern int PyNumber_Check(PyObject *);

/* bytes, str */
extern Py_ssize_t PyBytes_Size(PyObject *);
extern char *PyBytes_AsString(PyObject *);
extern PyObject *PyBytes_FromString(const char *), *PyBytes_FromStringAndSize(const char *, Py_ssize_t);
extern PyObject *PyUnicode_FromString(const char *), *PyUnicode_FromFormat(const char *, ...);
extern PyObject *PyUnicode_FromWideChar(const wchar_t *, Py_ssize_t);
extern PyObject *PyUnicode_AsASCIIString(PyObject *), *PyUnicode_AsLatin1String(PyObject *);
extern PyObject *PyUnicode_AsUTF8String(PyObject *);
extern int PyUnicode_CompareWithASCIIString(PyObject *, const char *);
extern const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *); /* stable since 3.10, exported before */
extern PyObject *PyUnicode_DecodeFSDefault(const char *), *PyUnicode_EncodeFSDefault(PyObject *);
extern PyObject *PyUnicode_DecodeFSDefaultAndSize(const char *, Py_ssize_t);
extern uint32_t PyUnicode_ReadChar(PyObject *, Py_ssize_t);
extern PyObject *PyUnicode_DecodeASCII(const char *, Py_ssize_t, const char *);
#ifndef FHPY_PYPY
extern PyObject *PyUnicode_DecodeUTF8(const char *, Py_ssize_t, const char *);
#endif
extern PyObject *PyUnicode_DecodeLatin1(const char *, Py_ssize_t, const char *);
extern PyObject *PyUnicode_FromEncodedObject(PyObject *, const char *, const char *);
extern PyObject *PyUnicode_Substring(PyObject *, Py_ssize_t, Py_ssize_t);
extern void PyUnicode_InternInPlace(PyObject **);

/* containers */
extern PyObject *PyTuple_New(Py_ssize_t), *PyTuple_GetItem(PyObject *, Py_ssize_t); /* GetItem borrows */
extern int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *), PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
extern Py_ssize_t PyTuple_Size(PyObject *);
extern PyObject *PyList_New(Py_ssize_t), *PyDict_New(void), *PyDict_Keys(PyObject *), *PyDict_Copy(PyObject *);
extern int PyList_Append(PyObject *, PyObject *), PyDict_SetItem(PyObject *, PyObject *, PyObject *);
extern int PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **); /* borrows the key and the value */
extern PyObject *PySet_New(PyObject *);
extern int PySet_Add(PyObject *, PyObject *);
extern int PyList_Insert(PyObject *, Py_ssize_t, PyObject *);
extern PyObject *PySequence_GetItem(PyObject *, Py_ssize_t);
extern PyObject *PySequence_GetSlice(PyObject *, Py_ssize_t, Py_ssize_t);
extern int PySequence_SetSlice(PyObject *, Py_ssize_t, Py_ssize_t, PyObject *);
extern int PySequence_DelSlice(PyObject *, Py_ssize_t, Py_ssize_t);
extern PyObject *PyObject_GetIter(PyObject *), *PyIter_Next(PyObject *);
extern int PyIter_Check(PyObject *);
extern PyObject *PySlice_New(PyObject *, PyObject *, PyObject *);
extern int PySlice_Unpack(PyObject *, Py_ssize_t *, Py_ssize_t *, Py_ssize_t *);

/* capsules */
typedef void (*capsule_destructor)(PyObject *);
extern PyObject *PyCapsule_New(void *, const char *, capsule_destructor);
extern void *PyCapsule_GetPointer(PyObject *, const char *), *PyCapsule_GetContext(PyObject *);
extern const char *PyCapsule_GetName(PyObject *);
extern int PyCapsule_IsValid(PyObject *, const char *), PyCapsule_SetPointer(PyObject *, void *);
extern int PyCapsule_SetName(PyObject *, const char *), PyCapsule_SetContext(PyObject *, void *);
extern int PyCapsule_SetDestructor(PyObject *, capsule_destructor);

/* modules */
extern PyObject *PyModuleDef_Init(void *), *PyModule_NewObject(PyObject *);
extern int PyModule_AddFunctions(PyObject *, PyMethodDef *);
#ifdef FHPY_PYPY
extern PyObject *PyPyCMethod_New(PyMethodDef *, PyObject *, PyObject *, PyObject *);
static inline int fhpy_pypy_set_doc(PyObject *module, const char *doc) {
  PyObject *text = PyUnicode_FromString(doc);
  int rc = text != NULL ? PyObject_SetAttrString(module, "__doc__", text) : -1;
  Py_DecRef(text);
  return rc;
}
#else
extern PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
extern int PyModule_SetDocString(PyObject *, const char *);
#endif
