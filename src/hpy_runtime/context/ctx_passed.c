/* Context entries that pass their arguments on to a function of the interpreter, generated from entries.def and
 * appended.def. A handle is an object pointer, so the conversions are free. */
#include "entries.h"
#include "entry_kinds.h"
#include "hpy_runtime/abi/handle.h"

#define ARGUMENT(kind, x) IF_HANDLE(kind, to_py(x), x)
#define RESULT(kind, x) IF_HANDLE(kind, to_hpy(x), x)

/* The functions of the number protocol, which only these entries call. */
typedef PyObject *unary_fn(PyObject *), *binary_fn(PyObject *, PyObject *);
typedef PyObject *ternary_fn(PyObject *, PyObject *, PyObject *);
extern unary_fn PyNumber_Absolute, PyNumber_Float, PyNumber_Index, PyNumber_Invert, PyNumber_Long, PyNumber_Negative;
extern unary_fn PyNumber_Positive;
extern binary_fn PyNumber_Add, PyNumber_And, PyNumber_Divmod, PyNumber_FloorDivide, PyNumber_Lshift;
extern binary_fn PyNumber_MatrixMultiply, PyNumber_Multiply, PyNumber_Or, PyNumber_Remainder, PyNumber_Rshift;
extern binary_fn PyNumber_Subtract, PyNumber_TrueDivide, PyNumber_Xor;
extern binary_fn PyNumber_InPlaceAdd, PyNumber_InPlaceAnd, PyNumber_InPlaceFloorDivide, PyNumber_InPlaceLshift;
extern binary_fn PyNumber_InPlaceMatrixMultiply, PyNumber_InPlaceMultiply, PyNumber_InPlaceOr;
extern binary_fn PyNumber_InPlaceRemainder, PyNumber_InPlaceRshift, PyNumber_InPlaceSubtract;
extern binary_fn PyNumber_InPlaceTrueDivide, PyNumber_InPlaceXor;
extern ternary_fn PyNumber_Power, PyNumber_InPlacePower;

#define ENTRY0(R, name)
#define ENTRY1(R, name, A)
#define ENTRY2(R, name, A, B)
#define ENTRY3(R, name, A, B, C)
#define ENTRY4(R, name, A, B, C, D)
#define SPECIAL(name)

#define PASS0(R, name, function) \
  static T_##R name(CTX) { RETURN(R, function()) }
#define PASS1(R, name, function, A) \
  static T_##R name(CTX, T_##A a) { RETURN(R, function(ARGUMENT(A, a))) }
#define PASS2(R, name, function, A, B) \
  static T_##R name(CTX, T_##A a, T_##B b) { RETURN(R, function(ARGUMENT(A, a), ARGUMENT(B, b))) }
#define PASS3(R, name, function, A, B, C)                               \
  static T_##R name(CTX, T_##A a, T_##B b, T_##C c) {                   \
    RETURN(R, function(ARGUMENT(A, a), ARGUMENT(B, b), ARGUMENT(C, c))) \
  }
#define PASS4(R, name, function, A, B, C, D)                                            \
  static T_##R name(CTX, T_##A a, T_##B b, T_##C c, T_##D d) {                          \
    RETURN(R, function(ARGUMENT(A, a), ARGUMENT(B, b), ARGUMENT(C, c), ARGUMENT(D, d))) \
  }
#include "appended.def"
#include "entries.def"
#undef PASS0
#undef PASS1
#undef PASS2
#undef PASS3
#undef PASS4

void fhpy_ctx_passed_fill(FhpyContext *ctx) {
#define PASS0(R, name, function) INTO->ctx_##name = name;
#define PASS1(R, name, function, A) INTO->ctx_##name = name;
#define PASS2(R, name, function, A, B) INTO->ctx_##name = name;
#define PASS3(R, name, function, A, B, C) INTO->ctx_##name = name;
#define PASS4(R, name, function, A, B, C, D) INTO->ctx_##name = name;
#define INTO ctx
#include "appended.def"
#undef INTO
#define INTO (&ctx->base)
#include "entries.def"
#undef INTO
}
