/* Conversion of Python values to native values.
 *
 * fb_argument_convert is one switch over the kind of the value's type. Small values fit into the TVMFFIAny: None,
 * numbers of up to 64 bits, str and bytes of up to 7 bytes, data types, devices, pointers. Any other value is an
 * object: either borrowed from a wrapper, whose cell counts the use, or made for the call. */
#include "argument.h"

#include "args.h"
#include "bigint.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/transfer.h"
#include "immediate.h"

#include <math.h>

/* The nesting limit for values, and the number of string bytes that fit into a TVMFFIAny. */
enum { DEPTH_LIMIT = 256, SMALL_SIZE = 7 };

/* Conversions of other folders; NULL for the kinds that this file converts. Written during the import, read without a
 * lock. */
static FbConversion conversions[FB_N_TYPE_KINDS];

void fb_argument_set_conversion(FbTypeTag kind, FbConversion conversion) { conversions[kind] = conversion; }

static HPy replaced_converter; /* HPy_NULL without the extension, where a handle does not identify the object */

void fb_argument_replace_converter(HPyContext *ctx, HPy converter, FbConversion conversion) {
  if (fb_ext != NULL && HPy_IsNull(replaced_converter)) replaced_converter = HPy_Dup(ctx, converter);
  fb_argument_set_conversion(FB_TYPE_KIND_CONVERTER, conversion);
}

FbConversion fb_argument_replacement(const FbTypeTagEntry *entry) {
  bool is_replaced = entry->kind == FB_TYPE_KIND_CONVERTER && !HPy_IsNull(replaced_converter) &&
                     entry->converter.handle._i == replaced_converter._i;
  return is_replaced ? conversions[FB_TYPE_KIND_CONVERTER] : NULL;
}

/* Handles a value that HPyLong_AsInt64_t refused, with the exception raised. OverflowError: a larger int becomes a
 * BigInt. TypeError of a value that is not a number: replaced by a TypeError that names the argument. Any other
 * exception stays, also a TypeError of a number's own __index__. */
static FH_NOINLINE int other_int_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  char position[256], given[128];
  if (HPyErr_ExceptionMatches(ctx, ctx->h_OverflowError)) {
    TVMFFIAny made;
    HPyErr_Clear(ctx);
    if (fb_bigint_from_python(ctx, value, &made, args->callee) != 0) return -1;
    return fb_args_view_any(args, &made, out);
  }
  if (HPyErr_ExceptionMatches(ctx, ctx->h_TypeError) && !HPyNumber_Check(ctx, value)) {
    HPyErr_Clear(ctx);
    fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_AN_INT, fb_args_where(args, position, sizeof(position)),
             fb_attr_type_name(ctx, value, given, sizeof(given)));
  }
  return -1;
}

/* Handles a number of another class whose float is infinite: OverflowError if the number itself is finite. */
static FH_NOINLINE int infinite_float_arg(HPyContext *ctx, HPy value, double number, TVMFFIAny *out, FbArgs *args) {
  HPy infinity = HPyFloat_FromDouble(ctx, number);
  if (HPy_IsNull(infinity)) return -1;
  int is_infinite = HPy_RichCompareBool(ctx, value, infinity, HPy_EQ);
  HPy_Close(ctx, infinity);
  if (is_infinite > 0) fb_put_float(out, number);
  if (is_infinite != 0) return is_infinite > 0 ? 0 : -1;
  HPy text = HPy_Str(ctx, value);
  if (HPy_IsNull(text)) return -1;
  char position[256];
  const char *shown = HPyUnicode_AsUTF8AndSize(ctx, text, NULL);
  if (shown != NULL)
    fb_raise(ctx, ctx->h_OverflowError, FB_MESSAGE_NOT_A_FLOAT, fb_args_where(args, position, sizeof(position)), shown);
  HPy_Close(ctx, text);
  return -1;
}

/* TVMFFIStringFromByteArray or TVMFFIBytesFromByteArray: makes an owned value. */
typedef int (*FromBytes)(const TVMFFIByteArray *, TVMFFIAny *);

/* Converts str or bytes data: up to 7 bytes fit into the value itself. */
static int bytes_arg(HPyContext *ctx, const char *data, HPy_ssize_t n, int32_t small_index, FromBytes from_bytes,
                     TVMFFIAny *out, FbArgs *args) {
  if (n <= SMALL_SIZE) {
    out->type_index = small_index;
    out->small_str_len = (uint32_t)n;
    /* The bytes after the string are 0, because values are compared as 16 bytes (c_api.h). */
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
  return fb_args_view_any(args, &made, out);
}

static int plain_str_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  HPy_ssize_t n;
  const char *data = fb_text_get(ctx, value, &n);
  if (FH_UNLIKELY(data == NULL)) {
    char position[256];
    if (fb_args_are_for_library(args) && HPyErr_ExceptionMatches(ctx, ctx->h_UnicodeEncodeError)) {
      HPyErr_Clear(ctx);
      return conversions[FB_TYPE_KIND_OPAQUE](ctx, value, out, args);
    }
    return fb_text_refuse(ctx, value, fb_args_where(args, position, sizeof(position)));
  }
  return bytes_arg(ctx, data, n, kTVMFFISmallStr, TVMFFIStringFromByteArray, out, args);
}

static int bytes_value_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  const char *data = HPyBytes_AsString(ctx, value);
  if (data == NULL) return -1;
  return bytes_arg(ctx, data, HPyBytes_Size(ctx, value), kTVMFFISmallBytes, TVMFFIBytesFromByteArray, out, args);
}

/* PyPy copies the string for the caller and frees the copy when the handle is closed, but never for handles that are
 * arguments. Therefore this function asks through a duplicate handle; the string is in the native value before the
 * duplicate is closed. bytes_object_arg does the same. */
static int str_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  if (FH_LIKELY(!fb_context_is_pypy)) return plain_str_arg(ctx, value, out, args);
  HPy own = HPy_Dup(ctx, value);
  int rc = plain_str_arg(ctx, own, out, args);
  HPy_Close(ctx, own);
  return rc;
}

static int bytes_object_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  if (FH_LIKELY(!fb_context_is_pypy)) return bytes_value_arg(ctx, value, out, args);
  HPy own = HPy_Dup(ctx, value);
  int rc = bytes_value_arg(ctx, own, out, args);
  HPy_Close(ctx, own);
  return rc;
}

static int object_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

static FH_NOINLINE int lacking_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  return fb_object_complete(ctx, value) == 0 ? object_arg(ctx, value, out, args) : -1;
}

static int object_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  FbHandleCell *cell = fb_object_cell(ctx, value);
  if (FH_UNLIKELY(cell == NULL || !fb_handle_cell_use(cell))) return lacking_arg(ctx, value, out, args);
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  if (FH_UNLIKELY(handle == NULL)) {
    fb_handle_cell_unuse(cell);
    return lacking_arg(ctx, value, out, args);
  }
  /* Recorded before anything can fail, so that fb_args_end ends the use. */
  args->temps[args->n_temps++].tagged = (uintptr_t)cell + FB_TEMP_USE;
  /* From here on native code has the object, and may return it. */
  fb_identity_share(ctx, value, cell);
  fb_put_object(out, handle);
  const DLPackExchangeAPI *exchange = fb_exchange_number_find(cell);
  if (FH_LIKELY(exchange == NULL) || args->scope == NULL) return 0;
  return fb_scope_add_container(ctx, args->scope, exchange, handle);
}

/* The callee sees a word with the handle, and consumes the handle by storing NULL there (c_api.h). An object with
 * several wrappers cannot be moved out of all of them. Such an object is passed like any other object, which a callee
 * with an rvalue parameter also accepts. */
static int offered_arg(HPyContext *ctx, HPy object, TVMFFIAny *out, FbArgs *args) {
  FbHandleCell *cell;
  FbPreserved *kept;
  FbRValueOffer offer = fb_rvalue_ref_begin(ctx, object, &cell, &kept);
  if (offer == FB_RVALUE_FAILED) return -1;
  if (offer == FB_RVALUE_STAYS) return object_arg(ctx, object, out, args);
  args->temps[args->n_temps++].tagged =
      kept != NULL ? (uintptr_t)kept + FB_TEMP_MOVE_KEPT : (uintptr_t)cell + FB_TEMP_MOVE;
  *out = (TVMFFIAny){.type_index = kTVMFFIObjectRValueRef, .v_ptr = kept != NULL ? &kept->offered : &cell->handle};
  return 0;
}

static int rvalue_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  HPy object = fb_rvalue_ref_load(ctx, value);
  if (HPy_IsNull(object)) return -1;
  int rc = offered_arg(ctx, object, out, args);
  HPy_Close(ctx, object); /* the ObjectRValueRef keeps it alive */
  return rc;
}

/* Calls the type's converter (stolen) and converts the converter's result in place of the value. */
static int converted_arg(HPyContext *ctx, HPy converter, HPy value, TVMFFIAny *out, FbArgs *args) {
  bool is_replaced = !HPy_IsNull(replaced_converter) && converter._i == replaced_converter._i;
  HPy converted = is_replaced ? HPy_NULL : fb_call_one(ctx, converter, value);
  HPy_Close(ctx, converter);
  if (is_replaced) return conversions[FB_TYPE_KIND_CONVERTER](ctx, value, out, args);
  if (HPy_IsNull(converted)) return -1;
  int n_temps = args->n_temps;
  int rc = fb_argument_convert(ctx, converted, out, args);
  /* the object that `out` views may be freed together with `converted` */
  if (rc == 0) fb_args_own_last(args, n_temps, out);
  HPy_Close(ctx, converted);
  return rc;
}

static FH_NOINLINE int too_deep(HPyContext *ctx, const FbArgs *args) {
  char position[256];
  fb_raise(ctx, ctx->h_ValueError, FB_MESSAGE_TOO_DEEP, fb_args_where(args, position, sizeof(position)), DEPTH_LIMIT);
  return -1;
}

/* Handles kinds whose conversion runs other conversions or Python code. The depth is limited, because a list may
 * contain itself and a converter may return a value that needs a converter again. */
static FH_NOINLINE int nested_arg(HPyContext *ctx, FbTypeTag kind, HPy converter, HPy value, TVMFFIAny *out,
                                  FbArgs *args) {
  if (args->depth >= DEPTH_LIMIT) {
    if (kind == FB_TYPE_KIND_CONVERTER) HPy_Close(ctx, converter);
    return too_deep(ctx, args);
  }
  ++args->depth;
  int rc = kind == FB_TYPE_KIND_CONVERTER ? converted_arg(ctx, converter, value, out, args)
                                          : conversions[kind](ctx, value, out, args);
  --args->depth;
  return rc;
}

FH_INLINE int pod_arg(TVMFFIAny *out, int32_t type_index, int64_t payload) {
  fb_put(out, type_index, payload);
  return 0;
}

int fb_argument_convert(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  HPy converter = HPy_NULL;
  FbTypeTag kind = fb_type_tag_of(ctx, value, &converter);
  switch (kind) {
  case FB_TYPE_KIND_NONE: return pod_arg(out, kTVMFFINone, 0);
  case FB_TYPE_KIND_BOOL: return pod_arg(out, kTVMFFIBool, fb_context_is_same(ctx, value, ctx->h_True));
  case FB_TYPE_KIND_INT: {
    if (FH_LIKELY(fb_ext != NULL) && FH_LIKELY(fb_immediate_int(value, out))) return 0;
    /* Integers of other classes also come here and are converted by their __index__. */
    int64_t number = HPyLong_AsInt64_t(ctx, value);
    if (FH_UNLIKELY(number == -1) && HPyErr_Occurred(ctx)) return other_int_arg(ctx, value, out, args);
    return pod_arg(out, kTVMFFIInt, number);
  }
  case FB_TYPE_KIND_FLOAT: {
    if (FH_LIKELY(fb_ext != NULL) && FH_LIKELY(fb_immediate_float(value, out))) return 0;
    /* Numbers of other classes also come here and are converted by their __float__. */
    double number = HPyFloat_AsDouble(ctx, value);
    if (FH_UNLIKELY(number == -1.0) && HPyErr_Occurred(ctx)) return -1;
    if (FH_UNLIKELY(isinf(number))) return infinite_float_arg(ctx, value, number, out, args);
    fb_put_float(out, number);
    return 0;
  }
  case FB_TYPE_KIND_STR: return str_arg(ctx, value, out, args);
  case FB_TYPE_KIND_BYTES: return bytes_object_arg(ctx, value, out, args);
  case FB_TYPE_KIND_OBJECT: return object_arg(ctx, value, out, args);
  case FB_TYPE_KIND_RVALUE_REF: return rvalue_arg(ctx, value, out, args);
  case FB_TYPE_KIND_UNKNOWN: return -1;
  case FB_TYPE_KIND_SEQUENCE:
  case FB_TYPE_KIND_MAPPING:
  case FB_TYPE_KIND_DLPACK:
  case FB_TYPE_KIND_CONVERTER: return nested_arg(ctx, kind, converter, value, out, args);
  default: return conversions[kind](ctx, value, out, args);
  }
}

/* Whether a number or a text is an object of another class than that of its kind, which a copy would not have. */
static bool is_derived(HPyContext *ctx, HPy value, FbTypeTag kind) {
  HPy exact = kind == FB_TYPE_KIND_INT     ? ctx->h_LongType
              : kind == FB_TYPE_KIND_FLOAT ? ctx->h_FloatType
              : kind == FB_TYPE_KIND_STR   ? ctx->h_UnicodeType
              : kind == FB_TYPE_KIND_BYTES ? ctx->h_BytesType
                                           : HPy_NULL;
  if (HPy_IsNull(exact)) return false;
  HPy type = HPy_Type(ctx, value);
  bool is_exact = HPy_Is(ctx, type, exact);
  HPy_Close(ctx, type);
  return !is_exact;
}

int fb_argument_keep(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  HPy converter = HPy_NULL;
  FbTypeTag kind = fb_type_tag_of(ctx, value, &converter);
  if (kind == FB_TYPE_KIND_CONVERTER) HPy_Close(ctx, converter);
  bool is_native = kind <= FB_TYPE_KIND_RVALUE_REF || kind == FB_TYPE_KIND_MEMBER;
  if (is_native && !is_derived(ctx, value, kind)) return fb_argument_convert(ctx, value, out, args);
  return conversions[FB_TYPE_KIND_OPAQUE](ctx, value, out, args);
}

/* Makes an owned value from the view that a conversion makes. */
FH_INLINE int own_converted(HPyContext *ctx, FbConversion convert, HPy value, TVMFFIAny *out, const char *callee) {
  FbTemp temp;
  FbArgs args = {.temps = &temp, .position = -1, .callee = callee};
  TVMFFIAny view;
  int rc = convert(ctx, value, &view, &args);
  if (rc == 0) fb_args_own_last(&args, 0, &view);
  if (rc == 0 && args.n_temps == 1) {
    *out = view; /* the temporary becomes *out */
    return 0;
  }
  /* Without a temporary the core makes an owned value from the view, in most cases by copying it. */
  if (rc == 0 && TVMFFIAnyViewToOwnedAny(&view, out) != 0) {
    fb_error_raise_pending(ctx, callee);
    rc = -1;
  }
  fb_args_end(&args, rc);
  return rc;
}

int fb_argument_convert_owned(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee) {
  return own_converted(ctx, fb_argument_convert, value, out, callee);
}

/* Stored once, before the first bound library is imported. */
static FbRef pointer_class;

void fb_argument_set_pointer_class(HPyContext *ctx, HPy cls) {
  if (HPy_IsNull(pointer_class.handle) && pointer_class.global._i == 0) fb_ref_store(ctx, &pointer_class, cls);
}

static bool is_pointer(HPyContext *ctx, HPy value) {
  HPy cls = fb_ref_borrow(ctx, &pointer_class);
  bool is_one = fb_ext != NULL ? fb_type_tag_type(value) == cls._i : HPy_TypeCheck(ctx, value, cls);
  fb_ref_return(ctx, cls);
  return is_one;
}

int fb_argument_keep_owned(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee) {
  const FbTypeTagEntry *entry = fb_ext == NULL ? NULL : fb_type_tag_find(value);
  if (FH_UNLIKELY(is_pointer(ctx, value))) return fb_argument_convert_owned(ctx, value, out, callee);
  if (entry != NULL && entry->kind > FB_TYPE_KIND_RVALUE_REF && entry->kind != FB_TYPE_KIND_MEMBER) {
    TVMFFIObject *made = fb_opaque_new(ctx, value);
    if (FH_LIKELY(made != NULL)) return fb_put_object(out, made), 0;
    if (!HPyErr_Occurred(ctx)) fb_error_raise_pending(ctx, callee);
    return -1;
  }
  int rc = own_converted(ctx, fb_argument_keep, value, out, callee);
  if (FH_LIKELY(rc == 0) || !HPyUnicode_Check(ctx, value) || !HPyErr_ExceptionMatches(ctx, ctx->h_UnicodeEncodeError))
    return rc;
  HPyErr_Clear(ctx); /* lone surrogates: the object itself is passed */
  return own_converted(ctx, conversions[FB_TYPE_KIND_OPAQUE], value, out, callee);
}

int fb_argument_convert_refused(HPyContext *ctx, HPy callee, HPy value, TVMFFIAny *out, FbArgs *args) {
  FbRaised refusal, reason; /* the reason of the package takes the place of the refusal */
  if (!HPyErr_ExceptionMatches(ctx, ctx->h_BufferError) || !fb_raised_can_take()) return -1;
  fb_raised_take(&refusal);
  HPy name = HPy_IsNull(callee) ? HPyUnicode_FromString(ctx, args->callee) : HPy_Dup(ctx, callee);
  HPy parts[] = {name, HPyLong_FromInt32_t(ctx, args->position), value};
  bool is_complete = !HPy_IsNull(name) && !HPy_IsNull(parts[1]);
  HPy answer = is_complete ? fb_hook_call(ctx, FB_HOOK_REPLACE_REFUSED, parts, 3) : HPy_NULL;
  for (int i = 0; i < 2; ++i) {
    if (!HPy_IsNull(parts[i])) HPy_Close(ctx, parts[i]);
  }
  fb_raised_take(&reason);
  fb_raised_put(&refusal);
  if (HPy_IsNull(answer)) {
    HPyErr_Clear(ctx);
    fb_raised_put(&reason);
    return -1;
  }
  int rc = -1;
  if (!fb_context_is_same(ctx, answer, ctx->h_None)) {
    HPyErr_Clear(ctx);
    args->reads = fb_context_is_same(ctx, answer, ctx->h_True);
    int n_temps = args->n_temps;
    rc = fb_argument_convert(ctx, args->reads ? value : answer, out, args);
    if (rc == 0 && !args->reads) fb_args_own_last(args, n_temps, out); /* the answer ends here */
    args->reads = false;
  }
  HPy_Close(ctx, answer);
  return rc;
}
