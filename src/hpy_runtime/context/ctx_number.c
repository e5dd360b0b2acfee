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
