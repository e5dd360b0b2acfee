/* Conversion of Python values by a schema.
 *
 * Numbers, lists, tuples, mappings and the names of devices are converted in this file, item by item, so that messages
 * name Python's types and positions. Every other value is converted like an argument of a call, and the result is
 * converted as a native value (convert.c). First of all, protocols replace an object by another value. */
#include "convert.h"

#include "hpy_module/container/container.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/error/translate.h"
#include "mismatch.h"
#include "source.h"

static FbConverted convert(HPyContext *ctx, const FbSchema *schema, FbSource *source, TVMFFIAny *out,
                           FbMismatch *mismatch);

/* --- containers --------------------------------------------------------------------------------------------------- */

/* Prepends "key 'a': " or "value for key 'a': " to the mismatch, with at most 200 bytes of the key's repr. Returns
 * FB_MISMATCH, or FB_RAISED for an interruption. */
static FbConverted at_pair(HPyContext *ctx, FbMismatch *mismatch, HPy key, bool is_value) {
  if (mismatch == NULL) return FB_MISMATCH;
  const char *what = is_value ? "value for key" : "key";
  HPy text = HPy_Repr(ctx, key);
  HPy_ssize_t n;
  const char *data = HPy_IsNull(text) ? NULL : fb_text_get(ctx, text, &n);
  if (!fb_error_forget(ctx)) return FB_RAISED; /* otherwise the key has no repr */
  if (data == NULL) {
    fb_mismatch_prefix(mismatch, "%s: ", what);
  } else {
    char shown[201];
    fb_mismatch_prefix(mismatch, "%s %s: ", what, fb_cut_copy(shown, sizeof(shown), data, (size_t)n));
  }
  if (!HPy_IsNull(text)) HPy_Close(ctx, text);
  return FB_MISMATCH;
}

/* Converts the i'th item, and appends the result to `values`, which has room. Also applies the protocols of an item. */
static FbConverted convert_item(HPyContext *ctx, const FbSchema *schema, int64_t i, HPy item, FbValues *values,
                                FbMismatch *mismatch) {
  FbConverted result =
      fb_convert_python_value(ctx, fb_convert_container_item(schema, i), item, &values->data[values->n], mismatch);
  if (result == FB_CONVERTED) ++values->n;
  return result;
}

/* Makes the container of its values, unless `result` is a failure of one of them. Ends `values`. */
static FbConverted build(HPyContext *ctx, const FbSchema *schema, FbValues *values, FbConverted result, TVMFFIAny *out,
                         FbMismatch *mismatch) {
  if (result == FB_CONVERTED)
    result = fb_source_from_native(ctx, fb_convert_container_build(schema, values, out, mismatch));
  if (result == FB_CONVERTED) {
    fb_values_end(values);
  } else {
    fb_values_abandon(values);
  }
  return result;
}

/* Converts the items of a list or tuple, or of a snapshot of `source`. */
static FbConverted convert_items(HPyContext *ctx, const FbSchema *schema, const FbSource *source, HPy sequence,
                                 TVMFFIAny *out, FbMismatch *mismatch) {
  /* The length is read once, because converting an item may run code that changes the list. A list that grows is
   * truncated at that length, and a list that shrinks is refused. */
  HPy_ssize_t n = HPy_Length(ctx, sequence);
  if (n < 0) return fb_source_refuse_because(ctx, schema, source, mismatch);
  if (schema->op == FB_SCHEMA_TUPLE && n != schema->n_args) {
    char name[FB_SOURCE_NAME];
    return fb_refuse_length(schema, mismatch, fb_source_describe(ctx, source, name), n);
  }
  FbValues values;
  if (fb_values_begin(&values, n) != 0) return fb_source_from_native(ctx, fb_refuse_no_memory());
  FbConverted result = FB_CONVERTED;
  for (HPy_ssize_t i = 0; result == FB_CONVERTED && i < n; ++i) {
    HPy item = HPy_GetItem_i(ctx, sequence, i); /* IndexError if the list has shrunk */
    if (HPy_IsNull(item)) {
      result = fb_source_refuse_because(ctx, schema, source, mismatch);
      break;
    }
    result = convert_item(ctx, schema, i, item, &values, mismatch);
    if (result == FB_MISMATCH) fb_mismatch_prefix(mismatch, "element [%lld]: ", (long long)i);
    HPy_Close(ctx, item);
  }
  return build(ctx, schema, &values, result, out, mismatch);
}

static FbConverted convert_sequence(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                    FbMismatch *mismatch) {
  if (!fb_context_free_threaded) return convert_items(ctx, schema, source, source->value, out, mismatch);
  HPy copy = fb_container_snapshot(ctx, source->value);
  if (HPy_IsNull(copy) && HPyErr_Occurred(ctx)) return fb_source_refuse_because(ctx, schema, source, mismatch);
  FbConverted result = convert_items(ctx, schema, source, HPy_IsNull(copy) ? source->value : copy, out, mismatch);
  if (!HPy_IsNull(copy)) HPy_Close(ctx, copy);
  return result;
}

/* Converts the key and the value of an entry: usually a tuple of two, but the items() of a foreign mapping may return
 * any value. */
static FbConverted convert_pair(HPyContext *ctx, const FbSchema *schema, HPy pair, FbValues *values,
                                FbMismatch *mismatch) {
  HPy key = HPy_GetItem_i(ctx, pair, 0);
  HPy value = HPy_IsNull(key) ? HPy_NULL : HPy_GetItem_i(ctx, pair, 1);
  FbConverted result = FB_RAISED;
  if (!HPy_IsNull(value)) {
    result = convert_item(ctx, schema, 0, key, values, mismatch);
    if (result == FB_MISMATCH) result = at_pair(ctx, mismatch, key, false);
    if (result == FB_CONVERTED) {
      result = convert_item(ctx, schema, 1, value, values, mismatch);
      if (result == FB_MISMATCH) result = at_pair(ctx, mismatch, key, true);
    }
    HPy_Close(ctx, value);
  }
  if (!HPy_IsNull(key)) HPy_Close(ctx, key);
  return result;
}

static FbConverted convert_mapping(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                   FbMismatch *mismatch) {
  /* A list of the current entries, because converting an entry may run code that changes the mapping. */
  HPy pairs = fb_container_pairs(ctx, source->value);
  if (HPy_IsNull(pairs)) return fb_source_refuse_because(ctx, schema, source, mismatch);
  HPy_ssize_t n = HPy_Length(ctx, pairs);
  FbValues values;
  FbConverted result = n < 0 ? FB_RAISED : FB_CONVERTED;
  if (result == FB_CONVERTED && fb_values_begin(&values, 2 * n) != 0)
    result = fb_source_from_native(ctx, fb_refuse_no_memory());
  if (result != FB_CONVERTED) {
    HPy_Close(ctx, pairs);
    return result;
  }
  for (HPy_ssize_t i = 0; result == FB_CONVERTED && i < n; ++i) {
    HPy pair = HPy_GetItem_i(ctx, pairs, i);
    result = HPy_IsNull(pair) ? FB_RAISED : convert_pair(ctx, schema, pair, &values, mismatch);
    if (!HPy_IsNull(pair)) HPy_Close(ctx, pair);
  }
  HPy_Close(ctx, pairs);
  return build(ctx, schema, &values, result, out, mismatch);
}

/* --- other values ------------------------------------------------------------------------------------------------- */

/* Makes Device(name), by the class that the package selected. The message of a mismatch shows the name; the exception,
 * which would say the same, is dropped. */
static FbConverted convert_device_name(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                       FbMismatch *mismatch) {
  HPy cls = fb_hook_get(ctx, FB_HOOK_DEVICE_CLASS);
  HPy device = HPy_IsNull(cls) ? HPy_NULL : fb_call_one(ctx, cls, source->value);
  if (!HPy_IsNull(cls)) HPy_Close(ctx, cls);
  if (HPy_IsNull(device)) {
    char name[FB_SOURCE_NAME] = "with lone surrogates";
    FbConverted taken = fb_mismatch_take_python(ctx, NULL, "", "");
    if (taken != FB_MISMATCH || mismatch == NULL) return taken;
    HPy_ssize_t n;
    const char *text = fb_text_get(ctx, source->value, &n);
    if (text == NULL) HPyErr_Clear(ctx);
    if (text != NULL) fb_cut_copy(name, sizeof(name), text, (size_t)n);
    return fb_mismatch_set(mismatch, "expected %s, got invalid device string '%s'", schema->name, name);
  }
  int rc = fb_argument_convert_owned(ctx, device, out, "Device");
  HPy_Close(ctx, device);
  return rc == 0 ? FB_CONVERTED : FB_RAISED;
}

/* Whether an array that is not a tensor is refused for NumPy's reason: a schema without tensors refuses each array. */
static bool wants_tensor(const FbSchema *schema) {
  return schema->op == FB_SCHEMA_ANY || schema->op == FB_SCHEMA_OBJECT || schema->op == FB_SCHEMA_INSTANCE;
}

/* Converts a value like an argument into source->packed. Where the context cannot return a raised exception as a value,
 * kinds whose conversion runs Python code are first converted to an object by the package, in a guarded call. */
static FbConverted pack(HPyContext *ctx, const FbSchema *schema, FbSource *source, FbMismatch *mismatch) {
  HPy value = source->value, made = HPy_NULL;
  FbConverted failed = FB_CONVERTED;
  bool is_array = source->kind == FB_TYPE_KIND_DLPACK || source->kind == FB_TYPE_KIND_EXCHANGE;
  bool has_reason = !is_array || wants_tensor(schema);
  /* These kinds are the last ones of FbTypeTag: containers, arrays, converters. */
  if (FH_UNLIKELY(fb_ext == NULL) && source->kind >= FB_TYPE_KIND_SEQUENCE) {
    HPy convert = fb_hook_get(ctx, FB_HOOK_CONVERT);
    if (HPy_IsNull(convert)) return FB_RAISED;
    /* The message comes first: fb_source_call appends the reason. */
    fb_source_refuse(ctx, schema, source, mismatch);
    made = fb_source_call(ctx, convert, &value, 1, has_reason ? mismatch : NULL, &failed);
    HPy_Close(ctx, convert);
    if (HPy_IsNull(made)) return failed;
    value = made;
  }
  int rc = fb_argument_convert_owned(ctx, value, &source->packed, "a value");
  if (!HPy_IsNull(made)) HPy_Close(ctx, made);
  source->is_packed = rc == 0;
  if (rc == 0) return FB_CONVERTED;
  if (has_reason) return fb_source_refuse_because(ctx, schema, source, mismatch);
  failed = fb_mismatch_take_python(ctx, NULL, "", "");
  return failed == FB_MISMATCH ? fb_source_refuse(ctx, schema, source, mismatch) : failed;
}

/* Converts a value by its ordinary conversion, which happens once even if many arguments of a union are tried. During
 * the check messages name the Python value and not its converted form. */
static FbConverted convert_packed(HPyContext *ctx, const FbSchema *schema, FbSource *source, TVMFFIAny *out,
                                  FbMismatch *mismatch) {
  if (!source->is_packed) {
    FbConverted packed = pack(ctx, schema, source, mismatch);
    if (packed != FB_CONVERTED) return packed;
  }
  char name[FB_SOURCE_NAME];
  if (mismatch != NULL) mismatch->given = fb_source_describe(ctx, source, name);
  FbConverted result = fb_convert_packed(schema, &source->packed, out, mismatch);
  if (mismatch != NULL) mismatch->given = NULL;
  return FH_LIKELY(result != FB_RAISED) ? result : fb_source_from_native(ctx, result);
}

static bool takes_numbers(const FbSchema *schema) {
  return schema->op == FB_SCHEMA_INT || schema->op == FB_SCHEMA_FLOAT;
}

/* Like convert_union of convert.c: in order, without messages, and ended by a failure other than a mismatch. An object
 * that no type takes as it is may be a number by its methods. A number gets the message of the type of numbers whose
 * range it is outside of. An object is asked again for that message, after all types have refused it. */
static FbConverted convert_union(HPyContext *ctx, const FbSchema *schema, FbSource *source, TVMFFIAny *out,
                                 FbMismatch *mismatch) {
  unsigned protocols = source->protocols, as_numbers = protocols & (FB_PROTOCOL_INDEX | FB_PROTOCOL_FLOAT);
  FbConverted result = FB_MISMATCH;
  source->protocols -= as_numbers;
  for (int32_t i = 0; result == FB_MISMATCH && i < schema->n_args; ++i) {
    result = convert(ctx, schema->args[i], source, out, NULL);
  }
  source->protocols = protocols;
  for (int32_t i = 0; as_numbers != 0 && result == FB_MISMATCH && i < schema->n_args; ++i) {
    if (takes_numbers(schema->args[i])) result = convert(ctx, schema->args[i], source, out, NULL);
  }
  if (result != FB_MISMATCH) return result;
  bool is_int_or_float = source->kind == FB_TYPE_KIND_INT || source->kind == FB_TYPE_KIND_FLOAT;
  bool is_number = mismatch != NULL && (as_numbers != 0 || is_int_or_float);
  for (int32_t i = 0; is_number && i < schema->n_args; ++i) {
    if (!takes_numbers(schema->args[i])) continue;
    result = convert(ctx, schema->args[i], source, out, mismatch);
    if (result != FB_MISMATCH || mismatch->is_outside_range) return result;
  }
  return fb_source_refuse(ctx, schema, source, mismatch);
}

/* Converts the value that the package's check returns. A check of sequences leaves lists and native objects as they
 * are. */
static FbConverted convert_checked(HPyContext *ctx, const FbSchema *schema, FbSource *source, TVMFFIAny *out,
                                   FbMismatch *mismatch) {
  const FbSchema *inner = schema->args[0];
  if (inner->op == FB_SCHEMA_SEQUENCE && (source->kind == FB_TYPE_KIND_SEQUENCE || source->kind == FB_TYPE_KIND_OBJECT))
    return convert(ctx, inner, source, out, mismatch);
  HPy check = fb_hook_get(ctx, FB_HOOK_CHECK_ANNOTATED);
  HPy number = HPy_IsNull(check) ? HPy_NULL : HPyLong_FromInt32_t(ctx, -1 - schema->type_index);
  FbConverted result = FB_RAISED;
  if (!HPy_IsNull(number)) {
    /* The message comes first: fb_source_call appends the reason. */
    fb_source_refuse(ctx, schema, source, mismatch);
    HPy args[] = {number, source->value};
    HPy made = fb_source_call(ctx, check, args, 2, mismatch, &result);
    if (!HPy_IsNull(made)) {
      result = fb_convert_python_value(ctx, inner, made, out, mismatch);
      HPy_Close(ctx, made);
    }
    HPy_Close(ctx, number);
  }
  if (!HPy_IsNull(check)) HPy_Close(ctx, check);
  return result;
}

/* Dispatches the pairs of schema and kind that are converted in this file; all others leave the switch. */
static FbConverted convert(HPyContext *ctx, const FbSchema *schema, FbSource *source, TVMFFIAny *out,
                           FbMismatch *mismatch) {
  FbTypeTag kind = source->kind;
  switch (schema->op) {
  case FB_SCHEMA_INT:
  case FB_SCHEMA_FLOAT:
  case FB_SCHEMA_BOOL:
    if (kind == FB_TYPE_KIND_INT || kind == FB_TYPE_KIND_FLOAT)
      return fb_source_number_convert(ctx, schema, source, out, mismatch);
    if (FH_UNLIKELY(fb_source_number_is_given(schema, source)))
      return fb_source_number_ask(ctx, schema, source, out, mismatch);
    break;
  case FB_SCHEMA_INT_ENUM: /* singletons have integers of 64 bits, so no BigInt is made */
    if (kind == FB_TYPE_KIND_INT && !source->is_packed) {
      FbConverted result = fb_source_number_convert(ctx, schema, source, &source->packed, mismatch);
      /* An int without a member is a TypeError, however large it is. */
      if (result == FB_MISMATCH && mismatch != NULL) mismatch->is_outside_range = false;
      if (result != FB_CONVERTED) return result;
      source->is_packed = true;
    }
    break;
  case FB_SCHEMA_DEVICE:
    if (kind == FB_TYPE_KIND_STR) return convert_device_name(ctx, schema, source, out, mismatch);
    break;
  case FB_SCHEMA_SEQUENCE:
  case FB_SCHEMA_TUPLE:
    if (kind == FB_TYPE_KIND_SEQUENCE) return convert_sequence(ctx, schema, source, out, mismatch);
    break;
  case FB_SCHEMA_MAPPING:
    if (kind == FB_TYPE_KIND_MAPPING || (source->protocols & FB_PROTOCOL_MAPPING) != 0)
      return convert_mapping(ctx, schema, source, out, mismatch);
    break;
  case FB_SCHEMA_OPTIONAL:
    if (kind == FB_TYPE_KIND_NONE) return fb_convert_put(out, kTVMFFINone, 0);
    return convert(ctx, schema->args[0], source, out, mismatch);
  case FB_SCHEMA_UNION: return convert_union(ctx, schema, source, out, mismatch);
  case FB_SCHEMA_CHECKED: return convert_checked(ctx, schema, source, out, mismatch);
  default: break;
  }
  return convert_packed(ctx, schema, source, out, mismatch);
}

/* Converts, and releases the packed value, which the result has retained where necessary. */
static FbConverted convert_source(HPyContext *ctx, const FbSchema *schema, FbSource *source, TVMFFIAny *out,
                                  FbMismatch *mismatch) {
  FbConverted result = convert(ctx, schema, source, out, mismatch);
  if (source->is_packed) fb_drop_any(&source->packed, result == FB_CONVERTED ? 0 : FB_DROP_UNKNOWN);
  return result;
}

FbConverted fb_convert_python_value(HPyContext *ctx, const FbSchema *schema, HPy value, TVMFFIAny *out,
                                    FbMismatch *mismatch) {
  FbSource source = {.value = value};
  HPy held = HPy_NULL;
  source.kind = fb_type_tag_with_protocols(ctx, value, &source.protocols);
  if (FH_UNLIKELY(source.kind == FB_TYPE_KIND_UNKNOWN)) return fb_source_refuse_because(ctx, schema, &source, mismatch);
  if (FH_UNLIKELY(source.protocols != 0)) {
    FbConverted followed = fb_source_protocol_follow(ctx, schema, &source, &held, mismatch);
    if (followed != FB_CONVERTED) return followed;
  }
  FbConverted result = convert_source(ctx, schema, &source, out, mismatch);
  if (FH_UNLIKELY(!HPy_IsNull(held))) HPy_Close(ctx, held);
  return result;
}

/* Returns the Python value of a view. The cffi backend stores its own Python objects in native objects and returns
 * their value: the hook is set only with that backend. */
static HPy value_of(HPyContext *ctx, const TVMFFIAny *view) {
  HPy value = fb_result_of_view(ctx, view);
  if (HPy_IsNull(value) || view->type_index != kTVMFFIOpaquePyObject || fb_hook_current(FB_HOOK_OPAQUE_VALUE) == NULL)
    return value;
  HPy inner = fb_hook_call(ctx, FB_HOOK_OPAQUE_VALUE, &value, 1);
  HPy_Close(ctx, value);
  return inner;
}

/* Converts a Python object for native code: attaches the thread, converts the object, and makes an exception the
 * pending native error. */
static FbConverted convert_attached(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out,
                                    FbMismatch *mismatch) {
  FbThread attach;
  if (fb_thread_attach(&attach) != 0) {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a value cannot be converted: the interpreter is going away");
    return FB_RAISED;
  }
  HPyContext *ctx = attach.ctx;
  FbRaised raised; /* native code that leaves an interrupted call may have an exception raised */
  fb_raised_take(&raised);
  uint64_t began = fb_error_moment();
  HPy value = value_of(ctx, view);
  FbConverted result = HPy_IsNull(value) ? FB_RAISED : fb_convert_python_value(ctx, schema, value, out, mismatch);
  if (!HPy_IsNull(value)) HPy_Close(ctx, value);
  /* Only the extension returns the exception; elsewhere the error only says that there was an exception. */
  if (result == FB_RAISED && fb_ext != NULL) {
    fb_translate_raised(ctx, began);
  } else if (result == FB_RAISED) {
    HPyErr_Clear(ctx);
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a value cannot be converted: Python code raised an exception");
  }
  fb_raised_put(&raised);
  fb_thread_detach(&attach);
  return result;
}

void fb_convert_python_init(void) { fb_convert_attached = convert_attached; }
