/* C functions of type TVMFFISafeCallType, of which the package makes Functions: the parts of an ffi.Error, and the
 * argument itself as the result. They use no Python, so calls of them are as fast with the cffi backend, and an object
 * in an argument stays in use during the call.
 *
 * The cell after the header of an ffi.Error is part of the ABI. Its texts never change, except the backtrace. */
#include "native.h"

#include <stdlib.h>

#include "hpy_module/error/error.h"
#include "hpy_module/object/object.h"

/* Makes TypeError the pending error. Returns -1. */
static int refuse(const char *message) {
  TVMFFIErrorSetRaisedFromCStr("TypeError", message);
  return -1;
}

static bool is_error(const TVMFFIAny *value) {
  if (value->type_index == kTVMFFIError) return true;
  return value->type_index >= kTVMFFIStaticObjectBegin && fb_object_derives(value->v_obj, kTVMFFIError, 1);
}

/* The cell of the error in args[0]; NULL with an error pending if there is none. */
static const TVMFFIErrorCell *cell_of(const TVMFFIAny *args, int32_t n) {
  if (n >= 1 && is_error(args)) return TVMFFIErrorGetCellPtr(args->v_obj);
  refuse("expected an Error");
  return NULL;
}

static int error_kind(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  const TVMFFIErrorCell *cell = cell_of(args, n);
  return cell == NULL ? -1 : TVMFFIStringFromByteArray(&cell->kind, result);
}

static int error_message(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  const TVMFFIErrorCell *cell = cell_of(args, n);
  return cell == NULL ? -1 : TVMFFIStringFromByteArray(&cell->message, result);
}

static int error_backtrace(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  const TVMFFIErrorCell *cell = cell_of(args, n);
  if (cell == NULL) return -1;
  fb_error_lock_backtraces();
  int rc = TVMFFIStringFromByteArray(&cell->backtrace, result);
  fb_error_unlock_backtraces();
  return rc;
}

/* Stores an object that may be NULL, with a reference of its own. */
static int put_object(TVMFFIObjectHandle object, TVMFFIAny *result) {
  if (object == NULL) return 0; /* the caller's result is None */
  TVMFFIObjectIncRef(object);
  *result = (TVMFFIAny){.type_index = ((TVMFFIObject *)object)->type_index, .v_obj = object};
  return 0;
}

static int error_cause(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  const TVMFFIErrorCell *cell = cell_of(args, n);
  return cell == NULL ? -1 : put_object(cell->cause_chain, result);
}

static int error_extra_context(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  const TVMFFIErrorCell *cell = cell_of(args, n);
  return cell == NULL ? -1 : put_object(cell->extra_context, result);
}

/* Reads a str. Returns false with an error pending if the value is of another type. */
static bool read_text(const TVMFFIAny *value, TVMFFIByteArray *out) {
  if (value->type_index == kTVMFFISmallStr) {
    *out = (TVMFFIByteArray){value->v_bytes, value->small_str_len};
  } else if (value->type_index == kTVMFFIStr) {
    *out = *TVMFFIBytesGetByteArrayPtr(value->v_obj);
  } else {
    refuse("expected a str");
    return false;
  }
  return true;
}

/* (error, text, is_appended) */
static int error_update_backtrace(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)result;
  TVMFFIByteArray text;
  if (cell_of(args, n) == NULL || n != 3 || !read_text(&args[1], &text)) return -1;
  fb_error_update_backtrace(args->v_obj, &text, args[2].v_int64 != 0);
  return 0;
}

/* (kind, message, backtrace, cause or None, context or None) -> error */
static int error_new(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  TVMFFIByteArray texts[3];
  if (n != 5) return refuse("expected five arguments");
  for (int i = 0; i < 3; i++) {
    if (!read_text(&args[i], &texts[i])) return -1;
  }
  if (args[3].type_index != kTVMFFINone && !is_error(&args[3])) {
    return refuse("Error() argument 'cause' must be an Error or None");
  }
  TVMFFIObjectHandle parts[2], made;
  for (int i = 0; i < 2; i++) parts[i] = args[3 + i].type_index == kTVMFFINone ? NULL : args[3 + i].v_obj;
  if (TVMFFIErrorCreateWithCauseAndExtraContext(&texts[0], &texts[1], &texts[2], parts[0], parts[1], &made) != 0) {
    return -1;
  }
  *result = (TVMFFIAny){.type_index = kTVMFFIError, .v_obj = made};
  return 0;
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

HPyDef_METH(fb_native_functions, "native_functions", HPyFunc_NOARGS,
            .doc = "The pointers to the binding's C functions of type TVMFFISafeCallType, by name.")
static HPy fb_native_functions_impl(HPyContext *ctx, HPy self) {
  static const struct {
    const char *name;
    TVMFFISafeCallType call;
  } functions[] = {{"adopt", adopt},
                   {"echo", echo},
                   {"error_backtrace", error_backtrace},
                   {"error_cause", error_cause},
                   {"error_extra_context", error_extra_context},
                   {"error_kind", error_kind},
                   {"error_message", error_message},
                   {"error_new", error_new},
                   {"error_update_backtrace", error_update_backtrace}};
  (void)self;
  HPy found = HPyDict_New(ctx);
  int rc = HPy_IsNull(found) ? -1 : 0;
  for (size_t i = 0; rc == 0 && i < sizeof(functions) / sizeof(*functions); i++) {
    HPy address = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)functions[i].call);
    rc = HPy_IsNull(address) ? -1 : HPy_SetItem_s(ctx, found, functions[i].name, address);
    if (!HPy_IsNull(address)) HPy_Close(ctx, address);
  }
  if (rc == 0) return found;
  if (!HPy_IsNull(found)) HPy_Close(ctx, found);
  return HPy_NULL;
}
