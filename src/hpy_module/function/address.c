/* Native functions that wrap a C function pointer. The closure is an Address, which the core frees together with the
 * function. The pointer is not checked. */
#include "function.h"

#include <stdlib.h>

#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/error/error.h"

/* The signature that MLIR's execution engine compiles: every argument and the return code are passed as pointers to
 * variables. */
typedef void (*MlirCall)(void **variables);

/* Exactly one of the two calls is set. */
typedef struct Address {
  TVMFFISafeCallType safe_call; /* the C function; NULL for a function compiled by MLIR */
  MlirCall mlir_call;
  void *context;      /* the first argument of safe_call */
  FbPyOwner *keep_alive; /* NULL: nothing */
} Address;

static int address_call(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  const Address *address = self;
  return address->safe_call(address->context, args, n, result);
}

static int address_call_mlir(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  const Address *address = self;
  void *context = NULL;
  int rc = 0;
  /* The order of the parameters of TVMFFISafeCallType, then the return code. The handle is NULL. */
  void *variables[] = {&context, &args, &n, &result, &rc};
  address->mlir_call(variables);
  return rc;
}

/* Deleter for the core. Any thread may call it, like fb_py_owner_drop. */
static void address_drop(void *self) {
  Address *address = self;
  if (address->keep_alive != NULL) fb_py_owner_drop(address->keep_alive);
  free(address);
}

/* Makes the Function of an Address whose calls are filled in. The Function keeps args[1] alive, if it is given and not
 * None. */
static HPy function_of(HPyContext *ctx, Address filled, const HPy *args, size_t nargs, const char *maker) {
  Address *address = malloc(sizeof(*address));
  if (address == NULL) return HPyErr_NoMemory(ctx);
  *address = filled;
  if (nargs > 1 && !HPy_Is(ctx, args[1], ctx->h_None)) {
    address->keep_alive = fb_py_owner_new(ctx, args[1]);
    if (address->keep_alive == NULL) {
      free(address);
      return HPy_NULL;
    }
  }
  /* From here on address_drop releases everything. The core calls it with the function; without a function, this
   * function calls it. */
  TVMFFIObjectHandle handle = NULL;
  TVMFFISafeCallType call = address->mlir_call != NULL ? address_call_mlir : address_call;
  if (TVMFFIFunctionCreate(address, call, address_drop, &handle) != 0) {
    address_drop(address);
    return fb_error_raise_pending(ctx, maker);
  }
  return fb_function_wrap(ctx, handle, NULL);
}

/* Reads a pointer; 0 is accepted only if `may_be_null`. Returns 0, or -1 with an exception raised. */
static int read_address(HPyContext *ctx, HPy value, bool may_be_null, const char *maker, void **out) {
  *out = HPyLong_AsVoidPtr(ctx, value);
  if (*out != NULL || (may_be_null && !HPyErr_Occurred(ctx))) return 0;
  if (!HPyErr_Occurred(ctx)) fb_raise(ctx, ctx->h_ValueError, "%s() address must not be 0", maker);
  return -1;
}

HPyDef_METH(fb_address_function, "function_from_address", HPyFunc_VARARGS,
            .doc = "A Function around a C function of type TVMFFISafeCallType.")
static HPy fb_address_function_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  static const char name[] = "function_from_address";
  if (nargs < 1 || nargs > 3) {
    return fb_raise(ctx, ctx->h_TypeError, "function_from_address() takes address[, keep_alive[, context]]");
  }
  void *code, *context = NULL;
  if (read_address(ctx, args[0], false, name, &code) != 0) return HPy_NULL;
  if (nargs > 2 && read_address(ctx, args[2], true, name, &context) != 0) return HPy_NULL;
  /* ISO C has no cast from an object pointer to a function pointer, here and below. */
  Address filled = {.context = context};
  memcpy(&filled.safe_call, &code, sizeof(code));
  return function_of(ctx, filled, args, nargs, name);
}

HPyDef_METH(fb_address_mlir_function, "function_from_mlir", HPyFunc_VARARGS,
            .doc = "A Function around a function that MLIR compiled from one of type TVMFFISafeCallType.")
static HPy fb_address_mlir_function_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  static const char name[] = "function_from_mlir";
  if (nargs < 1 || nargs > 2) {
    return fb_raise(ctx, ctx->h_TypeError, "function_from_mlir() takes address[, keep_alive]");
  }
  void *code;
  if (read_address(ctx, args[0], false, name, &code) != 0) return HPy_NULL;
  Address filled = {.context = NULL};
  memcpy(&filled.mlir_call, &code, sizeof(code));
  return function_of(ctx, filled, args, nargs, name);
}
