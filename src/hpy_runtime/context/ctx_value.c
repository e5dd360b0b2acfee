/* The context's entries for plain values (constants, numbers, bytes and str) that do more than pass their arguments on.
 */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

/* --- constants ---------------------------------------------------------------------------------------------------- */

/* Context entries: constants, which are handles that live as long as the process. The interpreter's static objects are
 * borrowed; they are never freed. */

/* The exceptions by their names, which the context has with the prefix h_. CPython exports each as a pointer,
 * PyExc_<name>. */
/* clang-format off */
#define EXCEPTIONS(X) \
  X(BaseException) X(Exception) X(StopAsyncIteration) X(StopIteration) X(GeneratorExit) X(ArithmeticError)           \
  X(LookupError) X(AssertionError) X(AttributeError) X(BufferError) X(EOFError) X(FloatingPointError) X(OSError)     \
  X(ImportError) X(ModuleNotFoundError) X(IndexError) X(KeyError) X(KeyboardInterrupt) X(MemoryError) X(NameError)   \
  X(OverflowError) X(RuntimeError) X(RecursionError) X(NotImplementedError) X(SyntaxError) X(IndentationError)       \
  X(TabError) X(ReferenceError) X(SystemError) X(SystemExit) X(TypeError) X(UnboundLocalError) X(UnicodeError)       \
  X(UnicodeEncodeError) X(UnicodeDecodeError) X(UnicodeTranslateError) X(ValueError) X(ZeroDivisionError)            \
  X(BlockingIOError) X(BrokenPipeError) X(ChildProcessError) X(ConnectionError) X(ConnectionAbortedError)            \
  X(ConnectionRefusedError) X(ConnectionResetError) X(FileExistsError) X(FileNotFoundError) X(InterruptedError)      \
  X(IsADirectoryError) X(NotADirectoryError) X(PermissionError) X(ProcessLookupError) X(TimeoutError) X(Warning)     \
  X(UserWarning) X(DeprecationWarning) X(PendingDeprecationWarning) X(SyntaxWarning) X(RuntimeWarning)               \
  X(FutureWarning) X(ImportWarning) X(UnicodeWarning) X(BytesWarning) X(ResourceWarning)
/* clang-format on */

#define DECLARE(name) extern PyObject *PyExc_##name;
EXCEPTIONS(DECLARE)

void fhpy_ctx_constant_fill(HPyContext *ctx) {
#define SET(name) ctx->h_##name = to_hpy(PyExc_##name);
  EXCEPTIONS(SET)
  ctx->h_None = to_hpy(&_Py_NoneStruct);
  ctx->h_True = to_hpy(&_Py_TrueStruct);
  ctx->h_False = to_hpy(&_Py_FalseStruct);
  ctx->h_NotImplemented = to_hpy(&_Py_NotImplementedStruct);
  ctx->h_Ellipsis = to_hpy(&_Py_EllipsisObject);
  ctx->h_BaseObjectType = to_hpy(&PyBaseObject_Type);
  ctx->h_TypeType = to_hpy(&PyType_Type);
  ctx->h_BoolType = to_hpy(&PyBool_Type);
  ctx->h_LongType = to_hpy(&PyLong_Type);
  ctx->h_FloatType = to_hpy(&PyFloat_Type);
  ctx->h_UnicodeType = to_hpy(&PyUnicode_Type);
  ctx->h_TupleType = to_hpy(&PyTuple_Type);
  ctx->h_ListType = to_hpy(&PyList_Type);
  ctx->h_ComplexType = to_hpy(&PyComplex_Type);
  ctx->h_BytesType = to_hpy(&PyBytes_Type);
  ctx->h_MemoryViewType = to_hpy(&PyMemoryView_Type);
  ctx->h_CapsuleType = to_hpy(&PyCapsule_Type);
  ctx->h_SliceType = to_hpy(&PySlice_Type);
  ctx->h_Builtins = new_reference(PyEval_GetBuiltins()); /* the dict, as in all implementations of HPy 0.9 */
}

/* --- numbers, bytes and str --------------------------------------------------------------------------------------- */

/* The interpreter has no 32-bit conversions before 3.14, so the result of a wider conversion is narrowed after a check.
 * A conversion that fails returns -1 with an exception raised. For int32 that is in range and is returned unchanged.
 * For uint32 it is out of range, and only the exception distinguishes it from a large number. */
static int32_t long_as_int32(CTX, HPy h) {
  long long wide = PyLong_AsLongLong(to_py(h));
  if (wide >= INT32_MIN && wide <= INT32_MAX) return (int32_t)wide;
  PyErr_Format(PyExc_OverflowError, "HPyLong_AsInt32_t expects an int of 32 bits, got %lld", wide);
  return -1;
}

static uint32_t long_as_uint32(CTX, HPy h) {
  unsigned long long wide = PyLong_AsUnsignedLongLong(to_py(h));
  if (wide <= UINT32_MAX) return (uint32_t)wide;
  if (wide == (unsigned long long)-1 && PyErr_Occurred()) return (uint32_t)-1;
  PyErr_Format(PyExc_OverflowError, "HPyLong_AsUInt32_t expects an int of 32 bits, got %llu", wide);
  return (uint32_t)-1;
}

static HPy bool_from_bool(CTX, bool v) { return new_reference(v ? &_Py_TrueStruct : &_Py_FalseStruct); }

/* The data of a str or bytes object is borrowed: it lives as long as the object. */
static int unicode_check(CTX, HPy h) { return type_has_flag(type_of(to_py(h)), TYPE_FLAG_UNICODE_SUBCLASS); }
static const char *unicode_as_utf8_and_size(CTX, HPy h, HPy_ssize_t *byte_len) {
  return PyUnicode_AsUTF8AndSize(to_py(h), byte_len);
}
static HPy unicode_substring(CTX, HPy s, HPy_ssize_t start, HPy_ssize_t end) {
  return to_hpy(PyUnicode_Substring(to_py(s), start, end));
}

static int bytes_check(CTX, HPy h) { return type_has_flag(type_of(to_py(h)), TYPE_FLAG_BYTES_SUBCLASS); }
/* Also the entry without a check, because the stable ABI has no cheaper function. */
static const char *bytes_as_string(CTX, HPy h) { return PyBytes_AsString(to_py(h)); }

static HPy bytes_from_string_and_size(CTX, const char *s, HPy_ssize_t byte_len) {
  if (s == NULL) { /* CPython would return uninitialised bytes for the caller to fill, which HPy does not support */
    PyErr_SetString(PyExc_ValueError, "NULL char * passed to HPyBytes_FromStringAndSize");
    return HPy_NULL;
  }
  return to_hpy(PyBytes_FromStringAndSize(s, byte_len));
}

void fhpy_ctx_value_fill(HPyContext *ctx) {
  ctx->ctx_Long_AsInt32_t = long_as_int32;
  ctx->ctx_Long_AsUInt32_t = long_as_uint32;
  ctx->ctx_Bool_FromBool = bool_from_bool;
  ctx->ctx_Unicode_Check = unicode_check;
  ctx->ctx_Unicode_AsUTF8AndSize = unicode_as_utf8_and_size;
  ctx->ctx_Unicode_Substring = unicode_substring;
  ctx->ctx_Bytes_Check = bytes_check;
  ctx->ctx_Bytes_AsString = bytes_as_string;
  ctx->ctx_Bytes_AS_STRING = bytes_as_string;
  ctx->ctx_Bytes_FromStringAndSize = bytes_from_string_and_size;
}
