/* Conversion of native values to Python values, except the most common ones, which fb_result_make converts inline.
 *
 * All functions steal their value, also on failure; the functions for views are at the end of the file. Objects of four
 * built-in types are unwrapped (str, bytes, large ints, Python objects). Other folders convert some more
 * (fb_result_set). All other objects get a wrapper. */
#include "result.h"

#include "bigint.h"
#include "core/platform/atomic.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object.h"

/* By type index; NULL if fb_result_set was not called. Written during the import, read without a lock. */
static FbResult results[kTVMFFIDynObjectBegin];

void fb_result_set(int32_t type_index, FbResult result) { results[type_index] = result; }

void (*fb_result_str_deleter)(void *self, int flags);

/* Passes a str or bytes (stolen) through the class in which the package wraps such values. */
static HPy in_class(HPyContext *ctx, FbHook hook, HPy plain) {
  if (HPy_IsNull(plain)) return plain;
  HPy result = fb_hook_call(ctx, hook, &plain, 1);
  HPy_Close(ctx, plain);
  return result;
}

/* Converts an object and steals the handle. `wrap` makes the wrapper of an object that is not unwrapped. */
static HPy object_result(HPyContext *ctx, TVMFFIObject *handle, HPy (*wrap)(HPyContext *, TVMFFIObject *)) {
  /* the struct of strings and bytes, which follows the header */
  const TVMFFIByteArray *bytes = (const TVMFFIByteArray *)(handle + 1);
  HPy result;
  switch (handle->type_index) {
  case kTVMFFIStr:
    result = fb_text_new(ctx, bytes->data, bytes->size);
    if (handle->deleter != fh_atomic_load_relaxed(&fb_result_str_deleter)) {
      result = in_class(ctx, FB_HOOK_STRING_CLASS, result);
    }
    break;
  case kTVMFFIBytes:
    result = HPyBytes_FromStringAndSize(ctx, bytes->data, (HPy_ssize_t)bytes->size);
    if (handle->deleter != fh_atomic_load_relaxed(&fb_result_str_deleter)) {
      result = in_class(ctx, FB_HOOK_BYTES_CLASS, result);
    }
    break;
  case kTVMFFIBigInt: result = fb_bigint_to_python(ctx, handle); break;
  case kTVMFFIOpaquePyObject:
    result = fb_opaque_take(ctx, handle);
    /* a Python object of another binding, which this binding cannot unwrap */
    return HPy_IsNull(result) ? wrap(ctx, handle) : result;
  default:
    if (handle->type_index >= kTVMFFIDynObjectBegin || results[handle->type_index] == NULL) return wrap(ctx, handle);
    return results[handle->type_index](ctx, &(TVMFFIAny){.type_index = handle->type_index, .v_obj = handle});
  }
  TVMFFIObjectDecRef(handle);
  return result;
}

HPy fb_result_of_object(HPyContext *ctx, TVMFFIObject *handle) { return object_result(ctx, handle, fb_wrap_object); }

HPy fb_result_make_rare(HPyContext *ctx, const TVMFFIAny *value) {
  /* A short string becomes a plain str, and short bytes become plain bytes: only objects pass through the package's
   * classes. */
  const TVMFFIByteArray *bytes = value->v_ptr;
  switch (value->type_index) {
  case kTVMFFISmallStr: return fb_text_new(ctx, value->v_bytes, value->small_str_len);
  case kTVMFFISmallBytes: return HPyBytes_FromStringAndSize(ctx, value->v_bytes, value->small_str_len);
  case kTVMFFIRawStr: return fb_text_new(ctx, value->v_c_str, strlen(value->v_c_str));
  case kTVMFFIByteArrayPtr: /* empty bytes may have no data pointer */
    return HPyBytes_FromStringAndSize(ctx, bytes->size == 0 ? "" : bytes->data, (HPy_ssize_t)bytes->size);
  default: break;
  }
  if (value->type_index >= 0 && results[value->type_index] != NULL) return results[value->type_index](ctx, value);
  return fb_raise(ctx, ctx->h_TypeError, "native code returned a value of type index %d, which has no Python form",
                  (int)value->type_index);
}

int fb_result_retain(HPyContext *ctx, const TVMFFIAny *view, TVMFFIAny *out) {
  /* Views of strings and bytes (kTVMFFIRawStr, kTVMFFIByteArrayPtr) stay views: the caller uses the value only while
   * the memory of the view is valid. */
  *out = *view;
  if (view->type_index == kTVMFFIObjectRValueRef) {
    /* The caller offers an object: this call moves the object out of the caller's slot. */
    if (TVMFFIAnyViewToOwnedAny(view, out) == 0) return 0;
    fb_error_raise_pending(ctx, "callback");
    return -1;
  }
  if (view->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(view->v_obj);
  return 0;
}

HPy fb_result_of_view(HPyContext *ctx, const TVMFFIAny *view) {
  TVMFFIAny value;
  HPy known = view->type_index >= kTVMFFIDynObjectBegin ? fb_wrap_known(ctx, view->v_obj) : HPy_NULL;
  if (!HPy_IsNull(known)) return known;
  if (fb_result_retain(ctx, view, &value) != 0) return HPy_NULL;
  if (view->type_index < kTVMFFIStaticObjectBegin) return fb_result_make(ctx, &value);
  /* A callback may move its argument away; that is impossible for a wrapper that a call uses. */
  return object_result(ctx, value.v_obj, fb_wrap_movable);
}
