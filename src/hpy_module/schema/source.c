/* Messages about Python values that do not match, and calls of Python code whose exceptions become part of a mismatch.
 *
 * If the mismatch is NULL, the caller does not read the message (a union tries its arguments without messages), and
 * none is made. */
#include "source.h"

#include <math.h>

#include "convert.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/error/error.h"
#include "hpy_module/error/translate.h"
#include "hpy_module/object/object.h"
#include "mismatch.h"

/* Values of a kind with one native form have the name that schemas use. A number of another class, such as numpy.int64,
 * has the qualified name of its class, and a native object its type key. */
const char *fb_source_describe(HPyContext *ctx, const FbSource *source, char *buffer) {
  if (source->is_packed && (source->protocols & FB_PROTOCOL_WRAPPER) != 0) return fb_refuse_describe(&source->packed);
  switch (source->kind) {
  case FB_TYPE_KIND_NONE: return "None";
  case FB_TYPE_KIND_BOOL: return "bool";
  case FB_TYPE_KIND_STR: return "str";
  case FB_TYPE_KIND_BYTES: return "bytes";
  case FB_TYPE_KIND_INT:
    if (HPy_TypeCheck(ctx, source->value, ctx->h_LongType)) return "int";
    break;
  case FB_TYPE_KIND_FLOAT:
    if (HPy_TypeCheck(ctx, source->value, ctx->h_FloatType)) return "float";
    break;
  case FB_TYPE_KIND_OBJECT: {
    TVMFFIObject *handle = fb_object_take(ctx, source->value);
    if (handle == NULL) break;
    TVMFFIAny view = {.type_index = handle->type_index};
    const char *name = fb_refuse_describe(&view);
    fb_cut_copy(buffer, FB_SOURCE_NAME, name, strlen(name));
    TVMFFIObjectDecRef(handle);
    return buffer;
  }
  default: break;
  }
  return fb_attr_full_type_name(ctx, source->value, buffer, FB_SOURCE_NAME);
}

FbConverted fb_source_refuse(HPyContext *ctx, const FbSchema *schema, const FbSource *source, FbMismatch *mismatch) {
  char name[FB_SOURCE_NAME];
  return mismatch == NULL ? FB_MISMATCH : fb_refuse_value(schema, mismatch, fb_source_describe(ctx, source, name));
}

FbConverted fb_source_refuse_because(HPyContext *ctx, const FbSchema *schema, const FbSource *source,
                                     FbMismatch *mismatch) {
  /* The exception is saved while the message is made: describing a value looks up attributes, which would clear the
   * exception. The exception is raised again so that fb_mismatch_take_python can classify the failure. */
  HPy exception = mismatch != NULL && fb_ext != NULL ? fb_ext->error_take(ctx) : HPy_NULL;
  if (!HPy_IsNull(exception)) {
    fb_source_refuse(ctx, schema, source, mismatch);
    fb_ext->error_restore(ctx, exception);
    HPy_Close(ctx, exception);
    return fb_mismatch_take_python(ctx, mismatch, ": ", "");
  }
  /* Without the extension the reason is lost, and the message is only "expected X, got Y". */
  FbConverted taken = fb_mismatch_take_python(ctx, mismatch, ": ", "");
  return taken == FB_MISMATCH ? fb_source_refuse(ctx, schema, source, mismatch) : taken;
}

FbConverted fb_source_from_native(HPyContext *ctx, FbConverted result) {
  if (FH_UNLIKELY(result == FB_RAISED)) fb_error_raise_pending(ctx, "a conversion");
  return result;
}

HPy fb_source_call(HPyContext *ctx, HPy callable, const HPy *argv, size_t n, FbMismatch *mismatch,
                   FbConverted *failed) {
  HPy result;
  if (fb_ext != NULL) {
    result = fb_call(ctx, callable, argv, n, HPy_NULL);
    if (HPy_IsNull(result)) *failed = fb_mismatch_take_python(ctx, mismatch, ": ", "");
    return result;
  }
  /* Without the extension the package's guard catches the exception and returns it as a native Error. As the pending
   * error it is handled like errors of native conversions. */
  FbGuarded state = fb_guard_call(ctx, callable, argv, n, &result);
  if (state == FB_GUARDED_RETURNED) return result;
  *failed = FB_RAISED;
  if (state == FB_GUARDED_FAILED) {
    fb_translate_set(ctx, result);
    *failed = fb_source_from_native(ctx, fb_mismatch_take_native(ctx, mismatch, ": ", ""));
    HPy_Close(ctx, result);
  }
  return HPy_NULL;
}

/* --- protocols ---------------------------------------------------------------------------------------------------- */

/* Protocols: methods by which an object returns another value, which schemas convert in its place.
 *
 * Each step replaces the value by the result of a protocol method: __tvm_ffi_object__(), else __tvm_ffi_value__(), else
 * asobject() of an ObjectConvertible. The steps end at a type without protocols. The protocols of a type are determined
 * once (classify_with_protocols in ffi_hpy/_convert.py); native objects have none. */

/* Ends a cycle of objects that return each other. */
enum { MOST_STEPS = 64 };

/* FB_MISMATCH for a __tvm_ffi_value__() that returns the value itself or fails. The message describes the value and not
 * the failure, and names the schema inside of an Optional. */
static FbConverted refuse_stalled(HPyContext *ctx, const FbSchema *schema, const FbSource *source,
                                  FbMismatch *mismatch) {
  char name[FB_SOURCE_NAME];
  while (schema->op == FB_SCHEMA_OPTIONAL) schema = schema->args[0];
  fb_attr_type_name(ctx, source->value, name, FB_SOURCE_NAME);
  if (schema->op != FB_SCHEMA_ANY) return fb_refuse_value(schema, mismatch, name);
  return fb_mismatch_set(mismatch, "failed to convert %s from %s", schema->name, name);
}

/* Calls value.method(). Returns a new handle, or HPy_NULL and the outcome in *failed. The method may convert values and
 * so call this function again. Where the context does not check its stack, the guard refuses calls that are nested too
 * deep. */
static HPy call_method(HPyContext *ctx, const char *method, const FbSource *source, FbMismatch *mismatch,
                       FbConverted *failed) {
  HPy bound = HPy_GetAttr_s(ctx, source->value, method), result = HPy_NULL;
  if (HPy_IsNull(bound)) {
    *failed = fb_mismatch_take_python(ctx, mismatch, ": ", "");
  } else if (!fb_guard_enter(ctx)) {
    *failed = FB_RAISED;
  } else {
    result = fb_source_call(ctx, bound, NULL, 0, mismatch, failed);
    fb_guard_leave();
  }
  if (!HPy_IsNull(bound)) HPy_Close(ctx, bound);
  return result;
}

/* Whether h is a native object: a wrapper of the binding, or another binding's wrapper (FB_PROTOCOL_WRAPPER). */
static bool is_object(HPyContext *ctx, HPy h) {
  unsigned protocols = 0;
  if (fb_object_check(ctx, h)) return true;
  if (fb_type_tag_with_protocols(ctx, h, &protocols) == FB_TYPE_KIND_UNKNOWN) {
    HPyErr_Clear(ctx); /* the message does not depend on the reason */
    return false;
  }
  return (protocols & FB_PROTOCOL_WRAPPER) != 0;
}

/* Makes one step: returns a new handle of the replacement, or HPy_NULL with the outcome in *failed. The outcome is
 * FB_CONVERTED if the method returned the value itself, which is then converted unchanged; only __tvm_ffi_value__() may
 * not return the value itself. */
static HPy step(HPyContext *ctx, const FbSchema *schema, const FbSource *source, FbMismatch *mismatch,
                FbConverted *failed) {
  char name[FB_SOURCE_NAME], given[FB_SOURCE_NAME];
  /* asobject() must return a native object; the other two may return any value. */
  bool is_value = (source->protocols & (FB_PROTOCOL_OBJECT | FB_PROTOCOL_VALUE)) == FB_PROTOCOL_VALUE;
  const char *method = (source->protocols & FB_PROTOCOL_OBJECT) != 0 ? "__tvm_ffi_object__" : "asobject";
  if (is_value) method = "__tvm_ffi_value__";
  fb_mismatch_set(mismatch, "%s() failed for %s", method, fb_attr_type_name(ctx, source->value, name, FB_SOURCE_NAME));
  HPy inner = call_method(ctx, method, source, mismatch, failed);
  if (HPy_IsNull(inner)) {
    if (is_value && *failed == FB_MISMATCH) refuse_stalled(ctx, schema, source, mismatch);
    return inner;
  }
  *failed = FB_CONVERTED;
  if (fb_context_is_same(ctx, inner, source->value)) {
    if (is_value) *failed = refuse_stalled(ctx, schema, source, mismatch);
  } else if (is_value || (source->protocols & FB_PROTOCOL_OBJECT) != 0 || is_object(ctx, inner)) {
    return inner;
  } else {
    *failed = fb_mismatch_set(mismatch, "asobject() of %s returned %s, not an object", name,
                              fb_attr_type_name(ctx, inner, given, FB_SOURCE_NAME));
  }
  HPy_Close(ctx, inner);
  return HPy_NULL;
}

FbConverted fb_source_protocol_follow(HPyContext *ctx, const FbSchema *schema, FbSource *source, HPy *held,
                                      FbMismatch *mismatch) {
  *held = HPy_NULL;
  FbConverted converted = FB_CONVERTED;
  for (int i = 0; (source->protocols & FB_PROTOCOL_STEPS) != 0; ++i) {
    if (i > MOST_STEPS) {
      converted = fb_mismatch_set(mismatch, "infinite __tvm_ffi_value__ cycle detected");
      break;
    }
    HPy inner = step(ctx, schema, source, mismatch, &converted);
    if (HPy_IsNull(inner)) break;
    /* *held is the only open handle: the last value, which `source` borrows. */
    if (!HPy_IsNull(*held)) HPy_Close(ctx, *held);
    *held = source->value = inner;
    source->kind = fb_type_tag_with_protocols(ctx, inner, &source->protocols);
    if (source->kind == FB_TYPE_KIND_UNKNOWN) {
      converted = fb_source_refuse_because(ctx, schema, source, mismatch);
      break;
    }
  }
  if (converted == FB_CONVERTED || HPy_IsNull(*held)) return converted;
  HPy_Close(ctx, *held);
  *held = HPy_NULL;
  return converted;
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Conversion of Python numbers by schemas of int, float and bool.
 *
 * A value that is exactly an int (or, for a float schema, a float) is read directly, without Python code. A number of
 * another class (an IntEnum, numpy.int64) is first converted by int() or float(). That call may run code of the class,
 * and may fail. */

static const char float_range[] = "float range [-1.7976931348623157e+308, 1.7976931348623157e+308]";

/* FB_MISMATCH with the first 100 digits in the message. `noun` is for the number. A schema's int is an int64; only as
 * an argument of a call does a larger int become a BigInt. */
static FbConverted out_of_range(HPyContext *ctx, const char *noun, HPy number, const char *range,
                                FbMismatch *mismatch) {
  HPy text = mismatch == NULL ? HPy_NULL : HPy_Str(ctx, number);
  HPy_ssize_t n;
  const char *digits = HPy_IsNull(text) ? NULL : fb_text_get(ctx, text, &n);
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx); /* Python refuses to print an int with thousands of digits */
  char shown[101] = "with very many digits";
  if (digits != NULL) fb_cut_copy(shown, sizeof(shown), digits, (size_t)n);
  const char *rest = digits != NULL && (size_t)n >= sizeof(shown) ? "..." : "";
  fb_mismatch_set(mismatch, "%s %s%s out of %s", noun, shown, rest, range);
  if (!HPy_IsNull(text)) HPy_Close(ctx, text);
  return FB_MISMATCH;
}

/* Whether the value has exactly the given type, so that reading it runs no other code. */
FH_INLINE bool is_exactly(HPyContext *ctx, HPy value, HPy type) {
  if (FH_LIKELY(fb_ext != NULL)) return fb_type_tag_type(value) == type._i;
  HPy own = HPy_Type(ctx, value);
  bool is_same = HPy_Is(ctx, own, type);
  HPy_Close(ctx, own);
  return is_same;
}

/* The three readers get an int, or read_float a float. */
static FbConverted read_int(HPyContext *ctx, HPy number, TVMFFIAny *out, FbMismatch *mismatch) {
  int64_t value = HPyLong_AsInt64_t(ctx, number);
  if (FH_LIKELY(value != -1 || !HPyErr_Occurred(ctx))) return fb_convert_put(out, kTVMFFIInt, value);
  HPyErr_Clear(ctx); /* OverflowError */
  out_of_range(ctx, "integer", number, "int64 range [-9223372036854775808, 9223372036854775807]", mismatch);
  return fb_mismatch_is_outside_range(mismatch);
}

static FbConverted read_bool(HPyContext *ctx, HPy number, TVMFFIAny *out, FbMismatch *mismatch) {
  int64_t value = HPyLong_AsInt64_t(ctx, number);
  if (FH_LIKELY(value == 0 || value == 1)) return fb_convert_put(out, kTVMFFIBool, value);
  if (value == -1) HPyErr_Clear(ctx); /* perhaps OverflowError */
  return out_of_range(ctx, "integer", number, FB_SCHEMA_BOOL_RANGE, mismatch);
}

static FbConverted read_float(HPyContext *ctx, HPy number, TVMFFIAny *out, FbMismatch *mismatch) {
  double value = HPyFloat_AsDouble(ctx, number);
  /* Only an int can fail, with OverflowError if it is beyond the range of a double. */
  if (FH_UNLIKELY(value == -1.0) && HPyErr_Occurred(ctx)) {
    HPyErr_Clear(ctx);
    out_of_range(ctx, "integer", number, float_range, mismatch);
    return fb_mismatch_is_outside_range(mismatch);
  }
  fb_convert_put(out, kTVMFFIFloat, 0);
  out->v_float64 = value;
  return FB_CONVERTED;
}

/* Checks a value whose float is infinite: FB_MISMATCH if the value itself is finite. A number must equal the infinite
 * float. An object that has only the methods of numbers need not know how to compare, so the object is refused only if
 * it says that it is nearer to 0. */
static FH_NOINLINE FbConverted check_infinite(HPyContext *ctx, const FbSchema *schema, const FbSource *source,
                                              HPy infinity, bool is_positive, FbMismatch *mismatch) {
  bool is_number = source->kind == FB_TYPE_KIND_FLOAT;
  HPy_RichCmpOp op = is_number ? HPy_EQ : is_positive ? HPy_LT : HPy_GT;
  int answer = HPy_RichCompareBool(ctx, source->value, infinity, op);
  if (answer < 0) {
    if (is_number || !HPyErr_ExceptionMatches(ctx, ctx->h_TypeError))
      return fb_source_refuse_because(ctx, schema, source, mismatch);
    HPyErr_Clear(ctx);
    return FB_CONVERTED;
  }
  if ((answer == 1) == is_number) return FB_CONVERTED;
  out_of_range(ctx, "number", source->value, float_range, mismatch);
  return fb_mismatch_is_outside_range(mismatch);
}

typedef FbConverted (*Read)(HPyContext *, HPy, TVMFFIAny *, FbMismatch *);

/* Reads the number that a value of another class gives. */
static FbConverted read_given(HPyContext *ctx, Read read, HPy number, const FbSchema *schema, const FbSource *source,
                              TVMFFIAny *out, FbMismatch *mismatch) {
  FbConverted converted = read(ctx, number, out, mismatch);
  if (converted != FB_CONVERTED || out->type_index != kTVMFFIFloat || FH_LIKELY(!isinf(out->v_float64)))
    return converted;
  return check_infinite(ctx, schema, source, number, out->v_float64 > 0, mismatch);
}

/* Reads callable(value), for numbers of other classes. `name` is the callable's name in the message, which is set
 * before the call because fb_source_call appends the reason to it. */
static FH_NOINLINE FbConverted convert(HPyContext *ctx, const char *name, HPy callable, Read read,
                                       const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                       FbMismatch *mismatch) {
  char given[FB_SOURCE_NAME];
  FbConverted converted = FB_CONVERTED;
  fb_mismatch_set(mismatch, "%s() failed for %s", name,
                  fb_attr_full_type_name(ctx, source->value, given, FB_SOURCE_NAME));
  HPy number = fb_source_call(ctx, callable, &source->value, 1, mismatch, &converted);
  if (HPy_IsNull(number)) return converted;
  converted = read_given(ctx, read, number, schema, source, out, mismatch);
  HPy_Close(ctx, number);
  return converted;
}

bool fb_source_number_is_given(const FbSchema *schema, const FbSource *source) {
  if (FH_LIKELY((source->protocols & (FB_PROTOCOL_INDEX | FB_PROTOCOL_FLOAT)) == 0)) return false;
  return schema->op == FB_SCHEMA_FLOAT || (schema->op == FB_SCHEMA_INT && (source->protocols & FB_PROTOCOL_INDEX) != 0);
}

/* Asks for the int where that is possible: the message about an int outside the range of a float shows its digits. */
FbConverted fb_source_number_ask(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                 FbMismatch *mismatch) {
  bool is_int = schema->op == FB_SCHEMA_INT || (source->protocols & FB_PROTOCOL_FLOAT) == 0;
  HPy number = is_int ? HPy_Index(ctx, source->value) : HPy_Float(ctx, source->value);
  if (HPy_IsNull(number)) return fb_source_refuse_because(ctx, schema, source, mismatch);
  Read read = schema->op == FB_SCHEMA_INT ? read_int : read_float;
  FbConverted converted = read_given(ctx, read, number, schema, source, out, mismatch);
  HPy_Close(ctx, number);
  return converted;
}

FbConverted fb_source_number_convert(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                     FbMismatch *mismatch) {
  HPy value = source->value;
  bool is_int = is_exactly(ctx, value, ctx->h_LongType);
  switch (schema->op) {
  case FB_SCHEMA_INT:
  case FB_SCHEMA_INT_ENUM:
    if (FH_LIKELY(is_int)) return read_int(ctx, value, out, mismatch);
    /* int() would truncate a float, so a float is refused even if it is whole. */
    if (source->kind == FB_TYPE_KIND_FLOAT) return fb_source_refuse(ctx, schema, source, mismatch);
    return convert(ctx, "int", ctx->h_LongType, read_int, schema, source, out, mismatch);
  case FB_SCHEMA_BOOL:
    if (is_int) return read_bool(ctx, value, out, mismatch);
    if (source->kind == FB_TYPE_KIND_FLOAT) return fb_source_refuse(ctx, schema, source, mismatch);
    /* bool() may fail, and hides a number outside the range. */
    FbConverted truth = convert(ctx, "bool", ctx->h_BoolType, read_bool, schema, source, out, mismatch);
    return truth == FB_CONVERTED ? convert(ctx, "int", ctx->h_LongType, read_bool, schema, source, out, mismatch)
                                 : truth;
  default:
    if (is_int || is_exactly(ctx, value, ctx->h_FloatType)) return read_float(ctx, value, out, mismatch);
    return convert(ctx, "float", ctx->h_FloatType, read_float, schema, source, out, mismatch);
  }
}
