/* Values on their way into native code and back. */
#include "convert.h"

#include "bigint.h"
#include "container.h"
#include "dlpack.h"
#include "error.h"
#include "hooks.h"
#include "identity.h"
#include "tensor.h"
#include "text.h"
#include "value.h"

enum { DEPTH_LIMIT = 256, SMALL_SIZE = 7 };

/* --- into native code ------------------------------------------------------------------------------------------------- */

/* "f() argument 2" for a message; positions count from 1 there, as Python's own do. */
static const char *where(const FbArgs *args, char *buffer, size_t size) {
  if (args->position < 0) {
    snprintf(buffer, size, "%s", args->callee);
  } else if (*args->callee) {
    snprintf(buffer, size, "%s() argument %d", args->callee, args->position + 1);
  } else {
    snprintf(buffer, size, "argument %d of a native function", args->position + 1);
  }
  return buffer;
}

/* Takes `handle` as a temporary and makes *out a view of it. */
FB_INLINE int temp_view(TVMFFIObject *handle, TVMFFIAny *out, FbArgs *args) {
  args->temps[args->n_temps++].object = handle;
  out->type_index = handle->type_index;
  out->zero_padding = 0;
  out->v_uint64 = 0;
  out->v_obj = handle;
  return 0;
}

/* The same for an owned value that may be no object. */
static int temp_view_any(const TVMFFIAny *owned, TVMFFIAny *out, FbArgs *args) {
  if (owned->type_index >= kTVMFFIStaticObjectBegin) return temp_view(owned->v_obj, out, args);
  *out = *owned;
  return 0;
}

/* What is no int of 64 bits: a larger one becomes a BigInt, for others the exception says where. */
static FB_NOINLINE int other_int_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  char place[256], given[128];
  if (HPyErr_ExceptionMatches(ctx, ctx->h_OverflowError)) {
    TVMFFIAny made;
    HPyErr_Clear(ctx);
    if (fb_bigint_from_python(ctx, value, &made, args->callee) != 0) return -1;
    return temp_view_any(&made, out, args);
  }
  if (HPyErr_ExceptionMatches(ctx, ctx->h_TypeError)) {
    HPyErr_Clear(ctx);
    fb_raise(ctx, ctx->h_TypeError, "%s: expected an int, got %s", where(args, place, sizeof(place)),
             fb_type_name(ctx, value, given, sizeof(given)));
  }
  return -1;
}

typedef int (*FromBytes)(const TVMFFIByteArray *, TVMFFIAny *);

/* Text or bytes: up to 7 bytes fit into the value itself. */
static int bytes_arg(HPyContext *ctx, const char *data, HPy_ssize_t n, int32_t small_index, FromBytes from_bytes,
                     TVMFFIAny *out, FbArgs *args) {
  if (n <= SMALL_SIZE) {
    out->type_index = small_index;
    out->small_str_len = (uint32_t)n;
    out->v_uint64 = 0;
    memcpy(out->v_bytes, data, (size_t)n);
    return 0;
  }
  TVMFFIByteArray bytes = {data, (size_t)n};
  TVMFFIAny made;
  if (from_bytes(&bytes, &made) != 0) {
    fb_error_raise_pending(ctx, args->callee);
    return -1;
  }
  return temp_view_any(&made, out, args);
}

static int plain_str_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  HPy_ssize_t n;
  const char *data = fb_text_get(ctx, value, &n);
  if (FB_UNLIKELY(data == NULL)) {
    char place[256];
    return fb_text_refuse(ctx, value, where(args, place, sizeof(place)));
  }
  return bytes_arg(ctx, data, n, kTVMFFISmallStr, TVMFFIStringFromByteArray, out, args);
}

static int bytes_value_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  const char *data = HPyBytes_AsString(ctx, value);
  if (data == NULL) return -1;
  return bytes_arg(ctx, data, HPyBytes_Size(ctx, value), kTVMFFISmallBytes, TVMFFIBytesFromByteArray, out, args);
}

/* PyPy makes a copy for whoever asks for the bytes and frees it when the handle is closed; but not for handles that are
 * arguments. So it gets one of its own: all is copied before it ends. */
static int str_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  if (FB_LIKELY(!fb_is_pypy)) return plain_str_arg(ctx, value, out, args);
  HPy own = HPy_Dup(ctx, value);
  int rc = plain_str_arg(ctx, own, out, args);
  HPy_Close(ctx, own);
  return rc;
}

static int bytes_object_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  if (FB_LIKELY(!fb_is_pypy)) return bytes_value_arg(ctx, value, out, args);
  HPy own = HPy_Dup(ctx, value);
  int rc = bytes_value_arg(ctx, own, out, args);
  HPy_Close(ctx, own);
  return rc;
}

static int object_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  FbPlace *place = fb_object_place(ctx, value);
  if (FB_UNLIKELY(place == NULL || !fb_place_use(place))) {
    fb_object_raise_no_handle(ctx, value);
    return -1;
  }
  args->temps[args->n_temps++].tagged = (uintptr_t)place + FB_TEMP_USE;
  TVMFFIObject *handle = place->handle;
  if (FB_UNLIKELY(handle == NULL)) {
    fb_object_raise_no_handle(ctx, value);
    return -1;
  }
  fb_identity_hand_out(ctx, value, place);
  out->type_index = handle->type_index;
  out->zero_padding = 0;
  out->v_uint64 = 0;
  out->v_obj = handle;
  const DLPackExchangeAPI *exchange = fb_exchange_of(place);
  if (FB_LIKELY(exchange == NULL) || args->scope == NULL) return 0;
  return fb_scope_add_container(ctx, args->scope, exchange, handle);
}

static int rvalue_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  FbPlace *place = fb_rvalue_ref_begin(ctx, value);
  if (place == NULL) return -1;
  args->temps[args->n_temps++].tagged = (uintptr_t)place + FB_TEMP_MOVE;
  out->type_index = kTVMFFIObjectRValueRef;
  out->zero_padding = 0;
  out->v_uint64 = 0;
  out->v_ptr = &place->handle;
  return 0;
}

void fb_args_own_last(FbArgs *args, int n_temps, TVMFFIAny *out) {
  if (args->n_temps == n_temps) return;
  uintptr_t tag = args->temps[n_temps].tagged & FB_TEMP_TAGS;
  if (tag == FB_TEMP_LENT) args->temps[n_temps].tagged -= tag; /* it is owned */
  if (tag == 0 || tag == FB_TEMP_LENT) return;
  FbPlace *place = (FbPlace *)(args->temps[n_temps].tagged - tag);
  TVMFFIObject *handle = place->handle;
  if (tag == FB_TEMP_MOVE) {
    place->handle = NULL;
    fb_place_release(place);
  } else {
    TVMFFIObjectIncRef(handle);
    fb_place_unuse(place);
  }
  args->temps[n_temps].object = handle;
  out->type_index = handle->type_index;
  out->zero_padding = 0;
  out->v_obj = handle;
}

static int converted_arg(HPyContext *ctx, HPy converter, HPy value, TVMFFIAny *out, FbArgs *args) {
  HPy converted = fb_call_one(ctx, converter, value);
  HPy_Close(ctx, converter);
  if (HPy_IsNull(converted)) return -1;
  int n_temps = args->n_temps;
  int rc = fb_convert_arg(ctx, converted, out, args);
  if (rc == 0) fb_args_own_last(args, n_temps, out); /* the wrapper may end with `converted` */
  HPy_Close(ctx, converted);
  return rc;
}

static FB_NOINLINE int too_deep(HPyContext *ctx, const FbArgs *args) {
  char place[256];
  fb_raise(ctx, ctx->h_ValueError, "%s: nested more than %d deep (does it contain itself?)",
           where(args, place, sizeof(place)), DEPTH_LIMIT);
  return -1;
}

static int exchange_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  const DLPackExchangeAPI *exchange = fb_kind_exchange(ctx, value);
  TVMFFIObject *made;
  if (FB_UNLIKELY(exchange == NULL || fb_exchange_tensor(ctx, value, exchange, &made) != 0)) return -1;
  if (args->scope != NULL && FB_UNLIKELY(fb_scope_add_tensor(ctx, args->scope, exchange, made) != 0)) {
    TVMFFIObjectDecRef(made);
    return -1;
  }
  temp_view(made, out, args);
  args->temps[args->n_temps - 1].tagged += FB_TEMP_LENT;
  return 0;
}

static int producer_arg(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out) {
  if (fb_dlpack_from_producer(ctx, value, 0, false, out) != 0) return -1;
  if (args->scope == NULL || fb_scope_add_producer(ctx, args->scope, value, *out) == 0) return 0;
  TVMFFIObjectDecRef(*out);
  return -1;
}

/* Kinds whose conversion runs other conversions or Python code. */
static FB_NOINLINE int compound_arg(HPyContext *ctx, FbKind kind, HPy converter, HPy value, TVMFFIAny *out,
                                    FbArgs *args) {
  TVMFFIObject *made = NULL;
  if (args->depth >= DEPTH_LIMIT) {
    if (kind == FB_KIND_CONVERTER) HPy_Close(ctx, converter);
    return too_deep(ctx, args);
  }
  args->depth++;
  int rc = -1;
  switch (kind) {
  case FB_KIND_SEQUENCE: rc = fb_array_from_sequence(ctx, value, args, &made); break;
  case FB_KIND_MAPPING: rc = fb_map_from_mapping(ctx, value, args, &made); break;
  case FB_KIND_DLPACK: rc = producer_arg(ctx, value, args, &made); break;
  case FB_KIND_CONVERTER: rc = converted_arg(ctx, converter, value, out, args); break;
  default: break;
  }
  args->depth--;
  return rc == 0 && made != NULL ? temp_view(made, out, args) : rc;
}

FB_INLINE int pod_arg(TVMFFIAny *out, int32_t type_index, int64_t payload) {
  out->type_index = type_index;
  out->zero_padding = 0;
  out->v_int64 = payload;
  return 0;
}

static int data_type_arg(HPyContext *ctx, HPy value, TVMFFIAny *out) {
  const DLDataType *dtype = fb_data_type_get(ctx, value);
  if (FB_UNLIKELY(dtype == NULL)) return -1;
  pod_arg(out, kTVMFFIDataType, 0);
  out->v_dtype = *dtype;
  return 0;
}

static int device_arg(HPyContext *ctx, HPy value, TVMFFIAny *out) {
  const DLDevice *device = fb_device_get(ctx, value);
  if (FB_UNLIKELY(device == NULL)) return -1;
  pod_arg(out, kTVMFFIDevice, 0);
  out->v_device = *device;
  return 0;
}

static int opaque_ptr_arg(HPyContext *ctx, HPy value, TVMFFIAny *out) {
  void *const *address = fb_opaque_ptr_get(ctx, value);
  if (FB_UNLIKELY(address == NULL)) return -1;
  pod_arg(out, kTVMFFIOpaquePtr, 0);
  out->v_ptr = *address;
  return 0;
}

int fb_convert_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  HPy converter = HPy_NULL;
  FbKind kind = fb_kind_of(ctx, value, &converter);
  switch (kind) {
  case FB_KIND_NONE: return pod_arg(out, kTVMFFINone, 0);
  case FB_KIND_BOOL: return pod_arg(out, kTVMFFIBool, fb_is(ctx, value, ctx->h_True));
  case FB_KIND_INT: {
    int64_t number = HPyLong_AsInt64_t(ctx, value);
    if (FB_UNLIKELY(number == -1) && HPyErr_Occurred(ctx)) return other_int_arg(ctx, value, out, args);
    return pod_arg(out, kTVMFFIInt, number);
  }
  case FB_KIND_FLOAT: {
    double number = HPyFloat_AsDouble(ctx, value);
    if (FB_UNLIKELY(number == -1.0) && HPyErr_Occurred(ctx)) return -1;
    pod_arg(out, kTVMFFIFloat, 0);
    out->v_float64 = number;
    return 0;
  }
  case FB_KIND_STR: return str_arg(ctx, value, out, args);
  case FB_KIND_BYTES: return bytes_object_arg(ctx, value, out, args);
  case FB_KIND_OBJECT: return object_arg(ctx, value, out, args);
  case FB_KIND_RVALUE_REF: return rvalue_arg(ctx, value, out, args);
  case FB_KIND_DATA_TYPE: return data_type_arg(ctx, value, out);
  case FB_KIND_DEVICE: return device_arg(ctx, value, out);
  case FB_KIND_OPAQUE_PTR: return opaque_ptr_arg(ctx, value, out);
  case FB_KIND_EXCHANGE: return exchange_arg(ctx, value, out, args);
  case FB_KIND_UNKNOWN: return -1;
  default: return compound_arg(ctx, kind, converter, value, out, args);
  }
}

int fb_convert_owned(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee) {
  FbTemp temp;
  FbArgs args = {.temps = &temp, .position = -1, .callee = callee};
  TVMFFIAny view;
  int rc = fb_convert_arg(ctx, value, &view, &args);
  if (rc == 0) fb_args_own_last(&args, 0, &view);
  if (rc == 0 && args.n_temps == 1) {
    *out = view; /* the temporary changes hands */
    return 0;
  }
  if (rc == 0 && TVMFFIAnyViewToOwnedAny(&view, out) != 0) {
    fb_error_raise_pending(ctx, callee);
    rc = -1;
  }
  fb_args_end(&args);
  return rc;
}

/* --- out of native code ----------------------------------------------------------------------------------------------- */

/* Passes a str or bytes (taken) through the class that the package wraps such values in. */
static HPy wrapped(HPyContext *ctx, FbHook hook, HPy plain) {
  if (HPy_IsNull(plain)) return plain;
  HPy result = fb_hook_call(ctx, hook, &plain, 1);
  HPy_Close(ctx, plain);
  return result;
}

/* The package's Shape of a native one, which is taken. */
static HPy shape_result(HPyContext *ctx, TVMFFIObject *handle) {
  const TVMFFIShapeCell *shape = (const TVMFFIShapeCell *)(handle + 1);
  HPy parts[2] = {fb_int_tuple(ctx, shape->data, (int32_t)shape->size), HPy_NULL};
  if (HPy_IsNull(parts[0])) {
    TVMFFIObjectDecRef(handle);
    return HPy_NULL;
  }
  parts[1] = fb_object_wrap(ctx, handle);
  HPy result = HPy_IsNull(parts[1]) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_SHAPE_CLASS, parts, 2);
  if (!HPy_IsNull(parts[1])) HPy_Close(ctx, parts[1]);
  HPy_Close(ctx, parts[0]);
  return result;
}

static HPy object_result(HPyContext *ctx, TVMFFIObject *handle, HPy (*wrap)(HPyContext *, TVMFFIObject *)) {
  const TVMFFIByteArray *bytes = (const TVMFFIByteArray *)(handle + 1);
  HPy result;
  switch (handle->type_index) {
  case kTVMFFIStr: result = wrapped(ctx, FB_HOOK_STRING_CLASS, fb_text_new(ctx, bytes->data, bytes->size)); break;
  case kTVMFFIBytes:
    result = wrapped(ctx, FB_HOOK_BYTES_CLASS, HPyBytes_FromStringAndSize(ctx, bytes->data, (HPy_ssize_t)bytes->size));
    break;
  case kTVMFFIShape: return shape_result(ctx, handle);
  case kTVMFFIBigInt: result = fb_bigint_to_python(ctx, handle); break;
  case kTVMFFIOpaquePyObject:
    result = fb_opaque_unwrap(ctx, handle);
    if (HPy_IsNull(result)) return wrap(ctx, handle);
    break;
  default: return wrap(ctx, handle);
  }
  TVMFFIObjectDecRef(handle);
  return result;
}

HPy fb_object_result(HPyContext *ctx, TVMFFIObject *handle) { return object_result(ctx, handle, fb_object_wrap); }

static HPy borrowed_result(HPyContext *ctx, const DLTensor *tensor) {
  TVMFFIObject *handle = fb_dlpack_borrow(ctx, tensor);
  return handle == NULL ? HPy_NULL : fb_object_wrap(ctx, handle);
}

HPy fb_convert_rare(HPyContext *ctx, const TVMFFIAny *value) {
  const TVMFFIByteArray *bytes = value->v_ptr;
  switch (value->type_index) {
  case kTVMFFISmallStr: return fb_text_new(ctx, value->v_bytes, value->small_str_len);
  case kTVMFFISmallBytes: return HPyBytes_FromStringAndSize(ctx, value->v_bytes, value->small_str_len);
  case kTVMFFIRawStr: return fb_text_new(ctx, value->v_c_str, strlen(value->v_c_str));
  case kTVMFFIByteArrayPtr: return HPyBytes_FromStringAndSize(ctx, bytes->data, (HPy_ssize_t)bytes->size);
  case kTVMFFIOpaquePtr: return fb_opaque_ptr_result(ctx, value->v_ptr);
  case kTVMFFIDataType: return fb_data_type_result(ctx, value->v_dtype);
  case kTVMFFIDevice: return fb_device_result(ctx, value->v_device);
  case kTVMFFIDLTensorPtr: return borrowed_result(ctx, value->v_ptr);
  default:
    return fb_raise(ctx, ctx->h_TypeError,
                    "native code returned a value of type index %d, which has no "
                    "Python form",
                    (int)value->type_index);
  }
}

/* The owned value of a view. 0, or -1 with an exception raised. */
static int view_retain(HPyContext *ctx, const TVMFFIAny *view, TVMFFIAny *out) {
  *out = *view;
  if (view->type_index == kTVMFFIObjectRValueRef) {
    if (TVMFFIAnyViewToOwnedAny(view, out) == 0) return 0;
    fb_error_raise_pending(ctx, "callback");
    return -1;
  }
  if (view->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(view->v_obj);
  return 0;
}

HPy fb_convert_view(HPyContext *ctx, const TVMFFIAny *view) {
  TVMFFIAny value;
  if (view_retain(ctx, view, &value) != 0) return HPy_NULL;
  if (view->type_index < kTVMFFIStaticObjectBegin) return fb_convert_result(ctx, &value);
  return object_result(ctx, value.v_obj, fb_object_wrap_movable);
}

HPy fb_convert_view_for(HPyContext *ctx, const TVMFFIAny *view, const DLPackExchangeAPI *exchange) {
  TVMFFIAny value;
  return view_retain(ctx, view, &value) == 0 ? fb_exchange_result(ctx, &value, exchange, true) : HPy_NULL;
}

HPyDef_METH(fb_convert, "convert", HPyFunc_O, .doc = "The value after a trip to native code and back.")
static HPy fb_convert_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  TVMFFIAny value;
  if (fb_convert_owned(ctx, arg, &value, "convert") != 0) return HPy_NULL;
  return fb_convert_result(ctx, &value);
}
