/* From Python values. */
#include "schema_value.h"

#include "container.h"
#include "error.h"
#include "hooks.h"
#include "text.h"

/* A value and what is known of it. */
typedef struct Source {
  HPy value;       /* borrowed */
  FbKind kind;
  bool is_mapping; /* collections.abc.Mapping, of any kind */
  bool is_packed;
  TVMFFIAny packed; /* owned */
} Source;

enum { NAME_SIZE = 128 };

static FbFit fit(HPyContext *ctx, const FbSchema *schema, Source *source, TVMFFIAny *out, FbFault *fault);

/* --- messages ----------------------------------------------------------------------------------------------------------- */

static const char *describe(HPyContext *ctx, const Source *source, char *buffer) {
  switch (source->kind) {
  case FB_KIND_NONE: return "None";
  case FB_KIND_BOOL: return "bool";
  case FB_KIND_STR: return "str";
  case FB_KIND_BYTES: return "bytes";
  case FB_KIND_INT:
    if (HPy_TypeCheck(ctx, source->value, ctx->h_LongType)) return "int";
    break;
  case FB_KIND_FLOAT:
    if (HPy_TypeCheck(ctx, source->value, ctx->h_FloatType)) return "float";
    break;
  case FB_KIND_OBJECT: {
    TVMFFIObject *handle = fb_object_take(ctx, source->value);
    if (handle == NULL) break;
    TVMFFIAny view = {.type_index = handle->type_index};
    snprintf(buffer, NAME_SIZE, "%s", fb_schema_describe(&view));
    TVMFFIObjectDecRef(handle);
    return buffer;
  }
  default: break;
  }
  return fb_type_name(ctx, source->value, buffer, NAME_SIZE);
}

static FbFit refuse(HPyContext *ctx, const FbSchema *schema, const Source *source, FbFault *fault) {
  char name[NAME_SIZE];
  return fault == NULL ? FB_MISFIT : fb_schema_refuse(schema, fault, describe(ctx, source, name));
}

/* For the raised exception. */
static FbFit refuse_because(HPyContext *ctx, const FbSchema *schema, const Source *source, FbFault *fault) {
  HPy exception = fault != NULL && fb_ext != NULL ? fb_ext->error_take(ctx) : HPy_NULL;
  if (!HPy_IsNull(exception)) { /* aside, while others are raised and cleared */
    refuse(ctx, schema, source, fault);
    fb_ext->error_restore(ctx, exception);
    HPy_Close(ctx, exception);
    return fb_fault_take_python(ctx, fault, ": ");
  }
  FbFit taken = fb_fault_take_python(ctx, fault, ": ");
  return taken == FB_MISFIT ? refuse(ctx, schema, source, fault) : taken;
}

/* The result of a native conversion as one of Python's. */
static FbFit from_native(HPyContext *ctx, FbFit result) {
  if (FB_UNLIKELY(result == FB_RAISED)) fb_error_raise_pending(ctx, "a conversion");
  return result;
}

/* --- numbers ------------------------------------------------------------------------------------------------------------ */

/* callable(value), a number type's; HPy_NULL and the fault said, or an exception raised, in *failed. */
static HPy number_call(HPyContext *ctx, const char *name, HPy callable, const Source *source, FbFault *fault,
                       FbFit *failed) {
  char given[NAME_SIZE];
  fb_fault_set(fault, "%s() failed for %s", name, fb_type_name(ctx, source->value, given, NAME_SIZE));
  if (fb_ext != NULL) {
    HPy number = fb_call_one(ctx, callable, source->value);
    if (HPy_IsNull(number)) *failed = fb_fault_take_python(ctx, fault, ": ");
    return number;
  }
  HPy tuple = HPyTuple_FromArray(ctx, (HPy[]){source->value}, 1), answer = HPy_NULL, ok = HPy_NULL, result = HPy_NULL;
  if (!HPy_IsNull(tuple)) answer = fb_hook_call(ctx, FB_HOOK_CALL_GUARDED, (HPy[]){callable, tuple}, 2);
  if (!HPy_IsNull(answer)) ok = HPy_GetItem_i(ctx, answer, 0);
  if (!HPy_IsNull(ok)) result = HPy_GetItem_i(ctx, answer, 1);
  if (!HPy_IsNull(result) && !HPy_Is(ctx, ok, ctx->h_True)) {
    fb_error_set_pending(ctx, result);
    *failed = from_native(ctx, fb_fault_take_native(fault, ": ", ""));
    HPy_Close(ctx, result);
    result = HPy_NULL;
  } else if (HPy_IsNull(result)) {
    *failed = FB_RAISED;
  }
  if (!HPy_IsNull(ok)) HPy_Close(ctx, ok);
  if (!HPy_IsNull(answer)) HPy_Close(ctx, answer);
  if (!HPy_IsNull(tuple)) HPy_Close(ctx, tuple);
  return result;
}

static FbFit put(TVMFFIAny *out, int32_t type_index, int64_t payload) {
  *out = (TVMFFIAny){.type_index = type_index};
  out->v_int64 = payload;
  return FB_FIT;
}

static FbFit beyond_int64(HPyContext *ctx, HPy number, FbFault *fault) {
  HPy text = fault == NULL ? HPy_NULL : HPy_Str(ctx, number);
  HPy_ssize_t n;
  const char *digits = HPy_IsNull(text) ? NULL : fb_text_get(ctx, text, &n);
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx); /* the interpreter prints no int of that many digits */
  fb_fault_set(fault, "integer %s%.100s%s out of int64 range [-9223372036854775808, 9223372036854775807]",
               digits == NULL ? "with very many digits" : "", digits == NULL ? "" : digits,
               digits != NULL && n > 100 ? "..." : "");
  if (!HPy_IsNull(text)) HPy_Close(ctx, text);
  return FB_MISFIT;
}

static FbFit int_of(HPyContext *ctx, const Source *source, TVMFFIAny *out, FbFault *fault) {
  int64_t number = HPyLong_AsInt64_t(ctx, source->value);
  if (FB_LIKELY(number != -1 || !HPyErr_Occurred(ctx))) return put(out, kTVMFFIInt, number);
  HPyErr_Clear(ctx);
  if (HPy_TypeCheck(ctx, source->value, ctx->h_LongType)) return beyond_int64(ctx, source->value, fault);
  FbFit failed = FB_FIT;
  HPy made = number_call(ctx, "int", ctx->h_LongType, source, fault, &failed); /* an Integral without __index__ */
  if (HPy_IsNull(made)) return failed;
  number = HPyLong_AsInt64_t(ctx, made);
  bool is_beyond = number == -1 && HPyErr_Occurred(ctx);
  if (is_beyond) {
    HPyErr_Clear(ctx);
    failed = beyond_int64(ctx, made, fault);
  }
  HPy_Close(ctx, made);
  return is_beyond ? failed : put(out, kTVMFFIInt, number);
}

static FbFit bool_of(HPyContext *ctx, const Source *source, TVMFFIAny *out, FbFault *fault) {
  if (HPy_TypeCheck(ctx, source->value, ctx->h_LongType)) {
    int truth = HPy_IsTrue(ctx, source->value);
    if (truth >= 0) return put(out, kTVMFFIBool, truth);
    HPyErr_Clear(ctx);
  }
  FbFit failed = FB_FIT;
  HPy made = number_call(ctx, "bool", ctx->h_BoolType, source, fault, &failed);
  if (HPy_IsNull(made)) return failed;
  bool truth = fb_is(ctx, made, ctx->h_True);
  HPy_Close(ctx, made);
  return put(out, kTVMFFIBool, truth);
}

static FbFit float_of(HPyContext *ctx, const Source *source, TVMFFIAny *out, FbFault *fault) {
  double number = HPyFloat_AsDouble(ctx, source->value);
  if (FB_UNLIKELY(number == -1.0) && HPyErr_Occurred(ctx)) {
    HPyErr_Clear(ctx);
    FbFit failed = FB_FIT;
    HPy made = number_call(ctx, "float", ctx->h_FloatType, source, fault, &failed);
    if (HPy_IsNull(made)) return failed;
    number = HPyFloat_AsDouble(ctx, made);
    HPy_Close(ctx, made);
  }
  put(out, kTVMFFIFloat, 0);
  out->v_float64 = number;
  return FB_FIT;
}

static FbFit fit_number(HPyContext *ctx, const FbSchema *schema, const Source *source, TVMFFIAny *out, FbFault *fault) {
  if (source->kind == FB_KIND_FLOAT && schema->op != FB_SCHEMA_FLOAT) return refuse(ctx, schema, source, fault);
  switch (schema->op) {
  case FB_SCHEMA_INT: return int_of(ctx, source, out, fault);
  case FB_SCHEMA_BOOL: return bool_of(ctx, source, out, fault);
  default: return float_of(ctx, source, out, fault);
  }
}

/* --- containers ---------------------------------------------------------------------------------------------------------- */

/* "key 'a': " or "value for key 'a': " in front of the fault. */
static FbFit at_pair(HPyContext *ctx, FbFault *fault, HPy key, bool is_value) {
  if (fault == NULL) return FB_MISFIT;
  const char *what = is_value ? "value for key" : "key";
  HPy text = HPy_Repr(ctx, key);
  HPy_ssize_t n;
  const char *data = HPy_IsNull(text) ? NULL : fb_text_get(ctx, text, &n);
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx); /* a key that cannot be shown */
  if (data == NULL) {
    fb_fault_prefix(fault, "%s: ", what);
  } else {
    fb_fault_prefix(fault, "%s %.200s: ", what, data);
  }
  if (!HPy_IsNull(text)) HPy_Close(ctx, text);
  return FB_MISFIT;
}

/* Fits one item; what is said of the container does not hold for it. */
static FbFit fit_item(HPyContext *ctx, const FbSchema *schema, int64_t i, HPy item, FbValues *values, FbFault *fault) {
  FbFit result = fb_schema_fit_value(ctx, fb_schema_item(schema, i), item, &values->data[values->n], fault);
  if (result == FB_FIT) values->n++;
  return result;
}

static FbFit build(HPyContext *ctx, const FbSchema *schema, FbValues *values, FbFit result, TVMFFIAny *out,
                   FbFault *fault) {
  if (result == FB_FIT) result = from_native(ctx, fb_schema_build(schema, values, out, fault));
  fb_values_end(values);
  return result;
}

static FbFit fit_sequence(HPyContext *ctx, const FbSchema *schema, const Source *source, TVMFFIAny *out,
                          FbFault *fault) {
  HPy_ssize_t n = HPy_Length(ctx, source->value);
  if (n < 0) return refuse_because(ctx, schema, source, fault);
  if (schema->op == FB_SCHEMA_TUPLE && n != schema->n_args) {
    char name[NAME_SIZE];
    return fb_schema_refuse_length(schema, fault, describe(ctx, source, name), n);
  }
  FbValues values;
  if (fb_values_begin(&values, n) != 0) return from_native(ctx, fb_schema_no_memory());
  FbFit result = FB_FIT;
  for (HPy_ssize_t i = 0; result == FB_FIT && i < n; i++) {
    HPy item = HPy_GetItem_i(ctx, source->value, i); /* IndexError if the list shrinks meanwhile */
    if (HPy_IsNull(item)) {
      result = refuse_because(ctx, schema, source, fault);
      break;
    }
    result = fit_item(ctx, schema, i, item, &values, fault);
    if (result == FB_MISFIT) fb_fault_prefix(fault, "element [%lld]: ", (long long)i);
    HPy_Close(ctx, item);
  }
  return build(ctx, schema, &values, result, out, fault);
}

static FbFit fit_pair(HPyContext *ctx, const FbSchema *schema, HPy pair, FbValues *values, FbFault *fault) {
  HPy key = HPy_GetItem_i(ctx, pair, 0);
  HPy value = HPy_IsNull(key) ? HPy_NULL : HPy_GetItem_i(ctx, pair, 1);
  FbFit result = FB_RAISED;
  if (!HPy_IsNull(value)) {
    result = fit_item(ctx, schema, 0, key, values, fault);
    if (result == FB_MISFIT) at_pair(ctx, fault, key, false);
    if (result == FB_FIT) {
      result = fit_item(ctx, schema, 1, value, values, fault);
      if (result == FB_MISFIT) at_pair(ctx, fault, key, true);
    }
    HPy_Close(ctx, value);
  }
  if (!HPy_IsNull(key)) HPy_Close(ctx, key);
  return result;
}

static FbFit fit_mapping(HPyContext *ctx, const FbSchema *schema, const Source *source, TVMFFIAny *out,
                         FbFault *fault) {
  HPy pairs = fb_mapping_pairs(ctx, source->value);
  if (HPy_IsNull(pairs)) return refuse_because(ctx, schema, source, fault);
  HPy_ssize_t n = HPy_Length(ctx, pairs);
  FbValues values;
  FbFit result = n < 0 ? FB_RAISED : FB_FIT;
  if (result == FB_FIT && fb_values_begin(&values, 2 * n) != 0) result = from_native(ctx, fb_schema_no_memory());
  if (result != FB_FIT) {
    HPy_Close(ctx, pairs);
    return result;
  }
  for (HPy_ssize_t i = 0; result == FB_FIT && i < n; i++) {
    HPy pair = HPy_GetItem_i(ctx, pairs, i);
    result = HPy_IsNull(pair) ? FB_RAISED : fit_pair(ctx, schema, pair, &values, fault);
    if (!HPy_IsNull(pair)) HPy_Close(ctx, pair);
  }
  HPy_Close(ctx, pairs);
  return build(ctx, schema, &values, result, out, fault);
}

/* --- everything else -------------------------------------------------------------------------------------------------------- */

static FbFit fit_device_name(HPyContext *ctx, const FbSchema *schema, const Source *source, TVMFFIAny *out,
                             FbFault *fault) {
  HPy cls = fb_hook_get(ctx, FB_HOOK_DEVICE_CLASS);
  HPy device = HPy_IsNull(cls) ? HPy_NULL : fb_call_one(ctx, cls, source->value);
  if (!HPy_IsNull(cls)) HPy_Close(ctx, cls);
  if (HPy_IsNull(device)) {
    char name[NAME_SIZE] = "";
    FbFit taken = fb_fault_take_python(ctx, NULL, "");
    if (taken != FB_MISFIT || fault == NULL) return taken;
    HPy_ssize_t n;
    const char *text = fb_text_get(ctx, source->value, &n);
    if (text == NULL) HPyErr_Clear(ctx);
    snprintf(name, sizeof(name), "%s", text == NULL ? "with lone surrogates" : text);
    return fb_fault_set(fault, "expected %s, got invalid device string '%s'", schema->name, name);
  }
  int rc = fb_convert_owned(ctx, device, out, "Device");
  HPy_Close(ctx, device);
  return rc == 0 ? FB_FIT : FB_RAISED;
}

/* By the ordinary conversion, which happens once however many schemas are tried. */
static FbFit fit_packed(HPyContext *ctx, const FbSchema *schema, Source *source, TVMFFIAny *out, FbFault *fault) {
  if (!source->is_packed) {
    if (fb_convert_owned(ctx, source->value, &source->packed, "a value") != 0) {
      return refuse_because(ctx, schema, source, fault);
    }
    source->is_packed = true;
  }
  char name[NAME_SIZE];
  if (fault != NULL) fault->given = describe(ctx, source, name);
  FbFit result = from_native(ctx, fb_schema_fit_packed(schema, &source->packed, out, fault));
  if (fault != NULL) fault->given = NULL;
  return result;
}

static FbFit fit_union(HPyContext *ctx, const FbSchema *schema, Source *source, TVMFFIAny *out, FbFault *fault) {
  for (int32_t i = 0; i < schema->n_args; i++) {
    FbFit result = fit(ctx, schema->args[i], source, out, NULL);
    if (result != FB_MISFIT) return result;
  }
  return refuse(ctx, schema, source, fault);
}

static FbFit fit(HPyContext *ctx, const FbSchema *schema, Source *source, TVMFFIAny *out, FbFault *fault) {
  FbKind kind = source->kind;
  switch (schema->op) {
  case FB_SCHEMA_INT:
  case FB_SCHEMA_FLOAT:
  case FB_SCHEMA_BOOL:
    if (kind == FB_KIND_INT || kind == FB_KIND_FLOAT) return fit_number(ctx, schema, source, out, fault);
    break;
  case FB_SCHEMA_DEVICE:
    if (kind == FB_KIND_STR) return fit_device_name(ctx, schema, source, out, fault);
    break;
  case FB_SCHEMA_SEQUENCE:
  case FB_SCHEMA_TUPLE:
    if (kind == FB_KIND_SEQUENCE) return fit_sequence(ctx, schema, source, out, fault);
    break;
  case FB_SCHEMA_MAPPING:
    if (kind == FB_KIND_MAPPING || source->is_mapping) return fit_mapping(ctx, schema, source, out, fault);
    break;
  case FB_SCHEMA_OPTIONAL:
    if (kind == FB_KIND_NONE) return put(out, kTVMFFINone, 0);
    return fit(ctx, schema->args[0], source, out, fault);
  case FB_SCHEMA_UNION: return fit_union(ctx, schema, source, out, fault);
  default: break;
  }
  return fit_packed(ctx, schema, source, out, fault);
}

static FbFit fit_source(HPyContext *ctx, const FbSchema *schema, Source *source, TVMFFIAny *out, FbFault *fault) {
  FbFit result = fit(ctx, schema, source, out, fault);
  if (source->is_packed && source->packed.type_index >= kTVMFFIStaticObjectBegin) {
    TVMFFIObjectDecRef(source->packed.v_obj);
  }
  return result;
}

/* --- protocols: what an object says stands for it, which schemas see instead ---------------------------------------------- */

/* What the hook `unwrap` finds out about a value: see _type_schema.py. */
enum { UNWRAP_SAME, UNWRAP_INNER, UNWRAP_STALLED, UNWRAP_FAILED };

static FbFit refuse_stalled(HPyContext *ctx, const FbSchema *schema, HPy value, FbFault *fault) {
  char name[NAME_SIZE];
  while (schema->op == FB_SCHEMA_OPTIONAL) schema = schema->args[0];
  fb_type_name(ctx, value, name, NAME_SIZE);
  if (schema->op != FB_SCHEMA_ANY) return fb_schema_refuse(schema, fault, name);
  return fb_fault_set(fault, "failed to convert %s from %s", schema->name, name);
}

static FbFit fit_unwrapped(HPyContext *ctx, const FbSchema *schema, long state, HPy found, Source *source,
                           TVMFFIAny *out, FbFault *fault) {
  HPy_ssize_t n;
  const char *text;
  switch (state) {
  case UNWRAP_STALLED: return refuse_stalled(ctx, schema, found, fault);
  case UNWRAP_FAILED:
    text = fb_text_get(ctx, found, &n);
    if (text == NULL) HPyErr_Clear(ctx);
    return fb_fault_set(fault, "%s", text == NULL ? "a protocol failed" : text);
  case UNWRAP_INNER: {
    HPy converter = HPy_NULL;
    source->value = found;
    source->kind = fb_kind_of(ctx, found, &converter);
    if (!HPy_IsNull(converter)) HPy_Close(ctx, converter);
    if (source->kind == FB_KIND_UNKNOWN) return fb_fault_take_python(ctx, fault, ": ");
    break;
  }
  default: break;
  }
  return fit_source(ctx, schema, source, out, fault);
}

static FB_NOINLINE FbFit fit_with_protocols(HPyContext *ctx, const FbSchema *schema, Source *source, TVMFFIAny *out,
                                            FbFault *fault) {
  HPy answer = fb_hook_call(ctx, FB_HOOK_UNWRAP, &source->value, 1);
  HPy parts[3] = {HPy_NULL, HPy_NULL, HPy_NULL}; /* state, value or text, whether the value is a mapping */
  bool complete = !HPy_IsNull(answer);
  for (int i = 0; complete && i < 3; i++) complete = !HPy_IsNull(parts[i] = HPy_GetItem_i(ctx, answer, i));
  FbFit result = FB_RAISED;
  if (complete) {
    source->is_mapping = fb_is(ctx, parts[2], ctx->h_True);
    result = fit_unwrapped(ctx, schema, HPyLong_AsLong(ctx, parts[0]), parts[1], source, out, fault);
  }
  for (int i = 0; i < 3; i++) {
    if (!HPy_IsNull(parts[i])) HPy_Close(ctx, parts[i]);
  }
  if (!HPy_IsNull(answer)) HPy_Close(ctx, answer);
  return result;
}

FbFit fb_schema_fit_value(HPyContext *ctx, const FbSchema *schema, HPy value, TVMFFIAny *out, FbFault *fault) {
  HPy converter = HPy_NULL;
  Source source = {.value = value, .kind = fb_kind_of(ctx, value, &converter)};
  if (FB_UNLIKELY(!HPy_IsNull(converter))) HPy_Close(ctx, converter);
  if (FB_UNLIKELY(source.kind == FB_KIND_UNKNOWN)) return refuse_because(ctx, schema, &source, fault);
  if (FB_LIKELY(source.kind != FB_KIND_CONVERTER && source.kind != FB_KIND_DLPACK && source.kind != FB_KIND_EXCHANGE)) {
    return fit_source(ctx, schema, &source, out, fault);
  }
  return fit_with_protocols(ctx, schema, &source, out, fault);
}

FbFit fb_schema_fit_attached(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  FbAttach attach;
  if (fb_attach(&attach) != 0) {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a value cannot be converted: the interpreter is going away");
    return FB_RAISED;
  }
  HPyContext *ctx = attach.ctx;
  HPy value = fb_convert_view(ctx, view);
  FbFit result = HPy_IsNull(value) ? FB_RAISED : fb_schema_fit_value(ctx, schema, value, out, fault);
  if (!HPy_IsNull(value)) HPy_Close(ctx, value);
  if (result == FB_RAISED && fb_ext != NULL) {
    fb_error_from_raised(ctx);
  } else if (result == FB_RAISED) {
    HPyErr_Clear(ctx);
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a value cannot be converted: Python code raised an exception");
  }
  fb_detach(&attach);
  return result;
}
