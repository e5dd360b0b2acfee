/* C functions of type TVMFFISafeCallType, of which the package makes Functions. They use no Python, so calls of them
 * are as fast with the cffi backend. */
#include "native.h"

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/drop.h"

/* Makes TypeError the pending error. Returns -1. */
static int refuse(const char *message) {
  TVMFFIErrorSetRaisedFromCStr("TypeError", message);
  return -1;
}

/* Gives out a reference that the caller has as a number (opaque_value.c). */
static int adopt(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  if (n != 1 || args->type_index != kTVMFFIInt) return refuse("expected a pointer");
  TVMFFIObject *object = (TVMFFIObject *)(intptr_t)args->v_int64;
  *result = (TVMFFIAny){.type_index = object->type_index, .v_obj = object};
  return 0;
}

static int echo(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  return n == 1 ? TVMFFIAnyViewToOwnedAny(args, result) : refuse("expected one argument");
}

/* --- weak references ---------------------------------------------------------------------------------------------- */

/* For the leak report, which records objects by their pointers: a weak reference keeps the memory of the header. */

/* Takes a weak reference to an object that is alive. */
static int weak_take(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)result;
  if (n != 1 || args->type_index != kTVMFFIInt) return refuse("expected a pointer");
  fb_weak_take((TVMFFIObject *)(intptr_t)args->v_int64);
  return 0;
}

/* Returns the object of a weak reference, or None if it was destroyed. */
static int weak_get(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  if (n != 1 || args->type_index != kTVMFFIInt) return refuse("expected a pointer");
  TVMFFIObject *object = (TVMFFIObject *)(intptr_t)args->v_int64;
  if (fb_weak_lock(object)) *result = (TVMFFIAny){.type_index = object->type_index, .v_obj = object};
  return 0;
}

/* Releases a weak reference if the object was destroyed, or in any case if the second argument is true. Returns whether
 * the reference was released. */
static int weak_drop(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  if (n != 2 || args->type_index != kTVMFFIInt) return refuse("expected a pointer and a bool");
  TVMFFIObject *object = (TVMFFIObject *)(intptr_t)args->v_int64;
  bool is_dead = (uint32_t)fh_atomic_load_acquire_u64(&object->combined_ref_count) == 0;
  *result = (TVMFFIAny){.type_index = kTVMFFIBool, .v_int64 = is_dead || args[1].v_int64 != 0};
  if (result->v_int64 != 0) fb_weak_drop(object);
  return 0;
}

HPyDef_METH(fb_native_functions, "native_functions", HPyFunc_NOARGS,
            .doc = "The pointers to the binding's C functions of type TVMFFISafeCallType, by name.")
static HPy fb_native_functions_impl(HPyContext *ctx, HPy self) {
  static const struct {
    const char *name;
    TVMFFISafeCallType call;
  } functions[] = {
      {"adopt", adopt}, {"echo", echo}, {"weak_take", weak_take}, {"weak_get", weak_get}, {"weak_drop", weak_drop}};
  (void)self;
  HPy found = HPyDict_New(ctx);
  int rc = HPy_IsNull(found) ? -1 : 0;
  for (size_t i = 0; rc == 0 && i < sizeof(functions) / sizeof(*functions); ++i) {
    HPy address = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)functions[i].call);
    rc = HPy_IsNull(address) ? -1 : HPy_SetItem_s(ctx, found, functions[i].name, address);
    if (!HPy_IsNull(address)) HPy_Close(ctx, address);
  }
  if (rc == 0) return found;
  if (!HPy_IsNull(found)) HPy_Close(ctx, found);
  return HPy_NULL;
}
