/* Protocols: methods by which an object returns another value, which schemas convert in its place.
 *
 * Each step replaces the value by the result of a protocol method: __tvm_ffi_object__(), else __tvm_ffi_value__(), else
 * asobject() of an ObjectConvertible. The steps end at a type without protocols. The protocols of a type are determined
 * once (classify_with_protocols in ffi_hpy/_convert.py); native objects have none. */
#include "source_protocol.h"

#include "hpy_module/context/attr.h"
#include "hpy_module/error/guard.h"
#include "hpy_module/object/object.h"
#include "refuse.h"

/* Ends a cycle of objects that return each other. */
enum { MOST_STEPS = 64 };

/* FB_MISFIT for a __tvm_ffi_value__() that returns the value itself or fails. The message describes the value and not
 * the failure, and names the schema inside of an Optional. */
static FbFit refuse_stalled(HPyContext *ctx, const FbSchema *schema, const FbSource *source, FbMismatch *mismatch) {
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
                       FbFit *failed) {
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
  if (fb_type_kind_with_protocols(ctx, h, &protocols) == FB_TYPE_KIND_UNKNOWN) {
    HPyErr_Clear(ctx); /* the message does not depend on the reason */
    return false;
  }
  return (protocols & FB_PROTOCOL_WRAPPER) != 0;
}

/* Makes one step: returns a new handle of the replacement, or HPy_NULL with the outcome in *failed. The outcome is
 * FB_FIT if the method returned the value itself, which is then converted unchanged; only __tvm_ffi_value__() may not
 * return the value itself. */
static HPy step(HPyContext *ctx, const FbSchema *schema, const FbSource *source, FbMismatch *mismatch, FbFit *failed) {
  char name[FB_SOURCE_NAME], given[FB_SOURCE_NAME];
  /* asobject() must return a native object; the other two may return any value. */
  bool is_value = (source->protocols & (FB_PROTOCOL_OBJECT | FB_PROTOCOL_VALUE)) == FB_PROTOCOL_VALUE;
  const char *method = (source->protocols & FB_PROTOCOL_OBJECT) != 0 ? "__tvm_ffi_object__" : "asobject";
  if (is_value) method = "__tvm_ffi_value__";
  fb_mismatch_set(mismatch, "%s() failed for %s", method, fb_attr_type_name(ctx, source->value, name, FB_SOURCE_NAME));
  HPy inner = call_method(ctx, method, source, mismatch, failed);
  if (HPy_IsNull(inner)) {
    if (is_value && *failed == FB_MISFIT) refuse_stalled(ctx, schema, source, mismatch);
    return inner;
  }
  *failed = FB_FIT;
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

FbFit fb_source_protocol_follow(HPyContext *ctx, const FbSchema *schema, FbSource *source, HPy *held,
                                FbMismatch *mismatch) {
  *held = HPy_NULL;
  FbFit fit = FB_FIT;
  for (int i = 0; (source->protocols & FB_PROTOCOL_STEPS) != 0; i++) {
    if (i > MOST_STEPS) {
      fit = fb_mismatch_set(mismatch, "infinite __tvm_ffi_value__ cycle detected");
      break;
    }
    HPy inner = step(ctx, schema, source, mismatch, &fit);
    if (HPy_IsNull(inner)) break;
    /* *held is the only open handle: the last value, which `source` borrows. */
    if (!HPy_IsNull(*held)) HPy_Close(ctx, *held);
    *held = source->value = inner;
    source->kind = fb_type_kind_with_protocols(ctx, inner, &source->protocols);
    if (source->kind == FB_TYPE_KIND_UNKNOWN) {
      fit = fb_source_refuse_because(ctx, schema, source, mismatch);
      break;
    }
  }
  if (fit == FB_FIT || HPy_IsNull(*held)) return fit;
  HPy_Close(ctx, *held);
  *held = HPy_NULL;
  return fit;
}
