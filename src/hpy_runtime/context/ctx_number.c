/* Context entries: the number protocol. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

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

#define DEFINE_UNARY(name)                          \
  extern PyObject *PyNumber_##name(PyObject *);     \
  static HPy unary_##name(HPyContext *ctx, HPy a) { \
    (void)ctx;                                      \
    return to_hpy(PyNumber_##name(to_py(a)));       \
  }
#define DEFINE_BINARY(name)                                 \
  extern PyObject *PyNumber_##name(PyObject *, PyObject *); \
  static HPy binary_##name(HPyContext *ctx, HPy a, HPy b) { \
    (void)ctx;                                              \
    return to_hpy(PyNumber_##name(to_py(a), to_py(b)));     \
  }
#define DEFINE_TERNARY(name)                                            \
  extern PyObject *PyNumber_##name(PyObject *, PyObject *, PyObject *); \
  static HPy ternary_##name(HPyContext *ctx, HPy a, HPy b, HPy c) {     \
    (void)ctx;                                                          \
    return to_hpy(PyNumber_##name(to_py(a), to_py(b), to_py(c)));       \
  }
UNARY(DEFINE_UNARY)
BINARY(DEFINE_BINARY)
TERNARY(DEFINE_TERNARY)

static int number_check(HPyContext *ctx, HPy h) { return (void)ctx, PyNumber_Check(to_py(h)); }

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

static HPy long_from_int32(HPyContext *ctx, int32_t v) { return (void)ctx, to_hpy(PyLong_FromLong(v)); }
static HPy long_from_uint32(HPyContext *ctx, uint32_t v) { return (void)ctx, to_hpy(PyLong_FromUnsignedLong(v)); }
static HPy long_from_int64(HPyContext *ctx, int64_t v) { return (void)ctx, to_hpy(PyLong_FromLongLong(v)); }
static HPy long_from_uint64(HPyContext *ctx, uint64_t v) { return (void)ctx, to_hpy(PyLong_FromUnsignedLongLong(v)); }
static HPy long_from_size(HPyContext *ctx, size_t v) { return (void)ctx, to_hpy(PyLong_FromSize_t(v)); }
static HPy long_from_ssize(HPyContext *ctx, HPy_ssize_t v) { return (void)ctx, to_hpy(PyLong_FromSsize_t(v)); }

/* The interpreter has no 32-bit conversions before 3.14, so the result of a wider conversion is narrowed after a check.
 * A conversion that fails returns -1 with an exception raised. For int32 that is in range and is returned unchanged.
 * For uint32 it is out of range, and only the exception distinguishes it from a large number. */
static int32_t long_as_int32(HPyContext *ctx, HPy h) {
  (void)ctx;
  long long wide = PyLong_AsLongLong(to_py(h));
  if (wide >= INT32_MIN && wide <= INT32_MAX) return (int32_t)wide;
  PyErr_Format(PyExc_OverflowError, "HPyLong_AsInt32_t expects an int of 32 bits, got %lld", wide);
  return -1;
}

static uint32_t long_as_uint32(HPyContext *ctx, HPy h) {
  (void)ctx;
  unsigned long long wide = PyLong_AsUnsignedLongLong(to_py(h));
  if (wide <= UINT32_MAX) return (uint32_t)wide;
  if (wide == (unsigned long long)-1 && PyErr_Occurred()) return (uint32_t)-1;
  PyErr_Format(PyExc_OverflowError, "HPyLong_AsUInt32_t expects an int of 32 bits, got %llu", wide);
  return (uint32_t)-1;
}

static uint32_t long_as_uint32_mask(HPyContext *ctx, HPy h) {
  return (void)ctx, (uint32_t)PyLong_AsUnsignedLongLongMask(to_py(h));
}
static int64_t long_as_int64(HPyContext *ctx, HPy h) { return (void)ctx, PyLong_AsLongLong(to_py(h)); }
static uint64_t long_as_uint64(HPyContext *ctx, HPy h) { return (void)ctx, PyLong_AsUnsignedLongLong(to_py(h)); }
static uint64_t long_as_uint64_mask(HPyContext *ctx, HPy h) {
  return (void)ctx, PyLong_AsUnsignedLongLongMask(to_py(h));
}
static size_t long_as_size(HPyContext *ctx, HPy h) { return (void)ctx, PyLong_AsSize_t(to_py(h)); }
static HPy_ssize_t long_as_ssize(HPyContext *ctx, HPy h) { return (void)ctx, PyLong_AsSsize_t(to_py(h)); }
static void *long_as_void_ptr(HPyContext *ctx, HPy h) { return (void)ctx, PyLong_AsVoidPtr(to_py(h)); }
static double long_as_double(HPyContext *ctx, HPy h) { return (void)ctx, PyLong_AsDouble(to_py(h)); }

static HPy float_from_double(HPyContext *ctx, double v) { return (void)ctx, to_hpy(PyFloat_FromDouble(v)); }
static double float_as_double(HPyContext *ctx, HPy h) { return (void)ctx, PyFloat_AsDouble(to_py(h)); }
static HPy bool_from_bool(HPyContext *ctx, bool v) {
  return (void)ctx, new_reference(v ? &_Py_TrueStruct : &_Py_FalseStruct);
}

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
