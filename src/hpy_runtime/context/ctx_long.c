/* Context entries: conversion of int, float and bool values to C and back. Most pass their argument on to the
 * interpreter's function. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

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
