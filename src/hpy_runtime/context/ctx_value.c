/* The context's entries for plain values: constants, numbers, bytes and str. */
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

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* Context entries: the number protocol. */

/* The entries have the names of the interpreter's functions, so each is one word in these lists. */
#define UNARY(X) X(Negative) X(Positive) X(Absolute) X(Invert) X(Index) X(Long) X(Float)
/* clang-format off */
#define BINARY(X)                                                                                                \
  X(Add) X(Subtract) X(Multiply) X(MatrixMultiply) X(FloorDivide) X(TrueDivide) X(Remainder) X(Divmod) X(Lshift) \
  X(Rshift) X(And) X(Xor) X(Or) X(InPlaceAdd) X(InPlaceSubtract) X(InPlaceMultiply) X(InPlaceMatrixMultiply)     \
  X(InPlaceFloorDivide) X(InPlaceTrueDivide) X(InPlaceRemainder) X(InPlaceLshift) X(InPlaceRshift)               \
  X(InPlaceAnd) X(InPlaceXor) X(InPlaceOr)
/* clang-format on */
#define TERNARY(X) X(Power) X(InPlacePower)

#define DEFINE_UNARY(name)                      \
  extern PyObject *PyNumber_##name(PyObject *); \
  static HPy unary_##name(CTX, HPy a) { return to_hpy(PyNumber_##name(to_py(a))); }
#define DEFINE_BINARY(name)                                 \
  extern PyObject *PyNumber_##name(PyObject *, PyObject *); \
  static HPy binary_##name(CTX, HPy a, HPy b) { return to_hpy(PyNumber_##name(to_py(a), to_py(b))); }
#define DEFINE_TERNARY(name)                                            \
  extern PyObject *PyNumber_##name(PyObject *, PyObject *, PyObject *); \
  static HPy ternary_##name(CTX, HPy a, HPy b, HPy c) { return to_hpy(PyNumber_##name(to_py(a), to_py(b), to_py(c))); }
UNARY(DEFINE_UNARY)
BINARY(DEFINE_BINARY)
TERNARY(DEFINE_TERNARY)

static int number_check(CTX, HPy h) { return PyNumber_Check(to_py(h)); }

void fhpy_ctx_number_fill(HPyContext *ctx) {
#define SET_UNARY(name) ctx->ctx_##name = unary_##name;
#define SET_BINARY(name) ctx->ctx_##name = binary_##name;
#define SET_TERNARY(name) ctx->ctx_##name = ternary_##name;
  UNARY(SET_UNARY)
  BINARY(SET_BINARY)
  TERNARY(SET_TERNARY)
  ctx->ctx_Number_Check = number_check;
}

/* --- int objects ------------------------------------------------------------------------------------------------- */

/* Context entries: conversion of int, float and bool values to C and back. Most pass their argument on to the
 * interpreter's function. */

static HPy long_from_int32(CTX, int32_t v) { return to_hpy(PyLong_FromLong(v)); }
static HPy long_from_uint32(CTX, uint32_t v) { return to_hpy(PyLong_FromUnsignedLong(v)); }
static HPy long_from_int64(CTX, int64_t v) { return to_hpy(PyLong_FromLongLong(v)); }
static HPy long_from_uint64(CTX, uint64_t v) { return to_hpy(PyLong_FromUnsignedLongLong(v)); }
static HPy long_from_size(CTX, size_t v) { return to_hpy(PyLong_FromSize_t(v)); }
static HPy long_from_ssize(CTX, HPy_ssize_t v) { return to_hpy(PyLong_FromSsize_t(v)); }

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

static uint32_t long_as_uint32_mask(CTX, HPy h) { return (uint32_t)PyLong_AsUnsignedLongLongMask(to_py(h)); }
static int64_t long_as_int64(CTX, HPy h) { return PyLong_AsLongLong(to_py(h)); }
static uint64_t long_as_uint64(CTX, HPy h) { return PyLong_AsUnsignedLongLong(to_py(h)); }
static uint64_t long_as_uint64_mask(CTX, HPy h) { return PyLong_AsUnsignedLongLongMask(to_py(h)); }
static size_t long_as_size(CTX, HPy h) { return PyLong_AsSize_t(to_py(h)); }
static HPy_ssize_t long_as_ssize(CTX, HPy h) { return PyLong_AsSsize_t(to_py(h)); }
static void *long_as_void_ptr(CTX, HPy h) { return PyLong_AsVoidPtr(to_py(h)); }
static double long_as_double(CTX, HPy h) { return PyLong_AsDouble(to_py(h)); }

static HPy float_from_double(CTX, double v) { return to_hpy(PyFloat_FromDouble(v)); }
static double float_as_double(CTX, HPy h) { return PyFloat_AsDouble(to_py(h)); }
static HPy bool_from_bool(CTX, bool v) { return new_reference(v ? &_Py_TrueStruct : &_Py_FalseStruct); }

void fhpy_ctx_long_fill(HPyContext *ctx) {
  ctx->ctx_Long_FromInt32_t = long_from_int32;
  ctx->ctx_Long_FromUInt32_t = long_from_uint32;
  ctx->ctx_Long_FromInt64_t = long_from_int64;
  ctx->ctx_Long_FromUInt64_t = long_from_uint64;
  ctx->ctx_Long_FromSize_t = long_from_size;
  ctx->ctx_Long_FromSsize_t = long_from_ssize;
  ctx->ctx_Long_AsInt32_t = long_as_int32;
  ctx->ctx_Long_AsUInt32_t = long_as_uint32;
  ctx->ctx_Long_AsUInt32_tMask = long_as_uint32_mask;
  ctx->ctx_Long_AsInt64_t = long_as_int64;
  ctx->ctx_Long_AsUInt64_t = long_as_uint64;
  ctx->ctx_Long_AsUInt64_tMask = long_as_uint64_mask;
  ctx->ctx_Long_AsSize_t = long_as_size;
  ctx->ctx_Long_AsSsize_t = long_as_ssize;
  ctx->ctx_Long_AsVoidPtr = long_as_void_ptr;
  ctx->ctx_Long_AsDouble = long_as_double;
  ctx->ctx_Float_FromDouble = float_from_double;
  ctx->ctx_Float_AsDouble = float_as_double;
  ctx->ctx_Bool_FromBool = bool_from_bool;
}

/* --- bytes and str ------------------------------------------------------------------------------------------------ */

/* Context entries: str. Each passes its arguments on to the interpreter's function of the same name. */

static int unicode_check(CTX, HPy h) { return type_has_flag(type_of(to_py(h)), TYPE_FLAG_UNICODE_SUBCLASS); }
static HPy unicode_from_string(CTX, const char *utf8) { return to_hpy(PyUnicode_FromString(utf8)); }
static HPy unicode_from_wide(CTX, const wchar_t *w, HPy_ssize_t n) { return to_hpy(PyUnicode_FromWideChar(w, n)); }
static HPy unicode_as_ascii(CTX, HPy h) { return to_hpy(PyUnicode_AsASCIIString(to_py(h))); }
static HPy unicode_as_latin1(CTX, HPy h) { return to_hpy(PyUnicode_AsLatin1String(to_py(h))); }
static HPy unicode_as_utf8(CTX, HPy h) { return to_hpy(PyUnicode_AsUTF8String(to_py(h))); }
/* The string data is borrowed: it belongs to the str and lives as long as the str. */
static const char *unicode_as_utf8_and_size(CTX, HPy h, HPy_ssize_t *byte_len) {
  return PyUnicode_AsUTF8AndSize(to_py(h), byte_len);
}
static HPy unicode_decode_fs(CTX, const char *s) { return to_hpy(PyUnicode_DecodeFSDefault(s)); }
static HPy unicode_decode_fs_and_size(CTX, const char *s, HPy_ssize_t byte_len) {
  return to_hpy(PyUnicode_DecodeFSDefaultAndSize(s, byte_len));
}
static HPy unicode_encode_fs(CTX, HPy h) { return to_hpy(PyUnicode_EncodeFSDefault(to_py(h))); }
static HPy_UCS4 unicode_read_char(CTX, HPy h, HPy_ssize_t i) { return PyUnicode_ReadChar(to_py(h), i); }
static HPy unicode_decode_ascii(CTX, const char *s, HPy_ssize_t byte_len, const char *errors) {
  return to_hpy(PyUnicode_DecodeASCII(s, byte_len, errors));
}
static HPy unicode_decode_latin1(CTX, const char *s, HPy_ssize_t byte_len, const char *errors) {
  return to_hpy(PyUnicode_DecodeLatin1(s, byte_len, errors));
}
static HPy unicode_from_encoded(CTX, HPy o, const char *encoding, const char *errors) {
  return to_hpy(PyUnicode_FromEncodedObject(to_py(o), encoding, errors));
}
static HPy unicode_substring(CTX, HPy s, HPy_ssize_t start, HPy_ssize_t end) {
  return to_hpy(PyUnicode_Substring(to_py(s), start, end));
}

void fhpy_ctx_unicode_fill(HPyContext *ctx) {
  ctx->ctx_Unicode_Check = unicode_check;
  ctx->ctx_Unicode_FromString = unicode_from_string;
  ctx->ctx_Unicode_FromWideChar = unicode_from_wide;
  ctx->ctx_Unicode_AsASCIIString = unicode_as_ascii;
  ctx->ctx_Unicode_AsLatin1String = unicode_as_latin1;
  ctx->ctx_Unicode_AsUTF8String = unicode_as_utf8;
  ctx->ctx_Unicode_AsUTF8AndSize = unicode_as_utf8_and_size;
  ctx->ctx_Unicode_DecodeFSDefault = unicode_decode_fs;
  ctx->ctx_Unicode_DecodeFSDefaultAndSize = unicode_decode_fs_and_size;
  ctx->ctx_Unicode_EncodeFSDefault = unicode_encode_fs;
  ctx->ctx_Unicode_ReadChar = unicode_read_char;
  ctx->ctx_Unicode_DecodeASCII = unicode_decode_ascii;
  ctx->ctx_Unicode_DecodeLatin1 = unicode_decode_latin1;
  ctx->ctx_Unicode_FromEncodedObject = unicode_from_encoded;
  ctx->ctx_Unicode_Substring = unicode_substring;
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

/* Context entries: bytes. The data of a bytes object is borrowed: it lives as long as the object. */

static int bytes_check(CTX, HPy h) { return type_has_flag(type_of(to_py(h)), TYPE_FLAG_BYTES_SUBCLASS); }
/* The next two functions also serve as the entries without a check (GET_SIZE, AS_STRING), because the stable ABI has no
 * cheaper functions. */
static HPy_ssize_t bytes_size(CTX, HPy h) { return PyBytes_Size(to_py(h)); }
static const char *bytes_as_string(CTX, HPy h) { return PyBytes_AsString(to_py(h)); }
static HPy bytes_from_string(CTX, const char *s) { return to_hpy(PyBytes_FromString(s)); }

static HPy bytes_from_string_and_size(CTX, const char *s, HPy_ssize_t byte_len) {
  if (s == NULL) { /* CPython would return uninitialised bytes for the caller to fill, which HPy does not support */
    PyErr_SetString(PyExc_ValueError, "NULL char * passed to HPyBytes_FromStringAndSize");
    return HPy_NULL;
  }
  return to_hpy(PyBytes_FromStringAndSize(s, byte_len));
}

void fhpy_ctx_bytes_fill(HPyContext *ctx) {
  ctx->ctx_Bytes_Check = bytes_check;
  ctx->ctx_Bytes_Size = bytes_size;
  ctx->ctx_Bytes_GET_SIZE = bytes_size;
  ctx->ctx_Bytes_AsString = bytes_as_string;
  ctx->ctx_Bytes_AS_STRING = bytes_as_string;
  ctx->ctx_Bytes_FromString = bytes_from_string;
  ctx->ctx_Bytes_FromStringAndSize = bytes_from_string_and_size;
}
