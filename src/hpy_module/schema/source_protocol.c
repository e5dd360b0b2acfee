/* Protocols: what an object says stands for it, which schemas see instead.
 *
 * Each step puts what a protocol method gives in the place of the value: __tvm_ffi_object__(), else
 * __tvm_ffi_value__(), else asobject() of an ObjectConvertible. It goes on until a type has none of them. Which ones a
 * type has is found out once per type (classify_with_protocols in ffi_hpy/_convert.py); native objects have none. */
#include "source_protocol.h"

#include "hpy_module/context/attr.h"
#include "hpy_module/error/guard.h"
#include "hpy_module/object/object.h"
#include "refuse.h"

/* Ends the walk over objects that stand for each other in a circle. */
enum { MOST_STEPS = 64 };

/* For a __tvm_ffi_value__() that gives the value itself or fails: FB_MISFIT. The message describes the value and not
 * what went wrong, and names the schema inside of an Optional. */
static FbFit refuse_stalled(HPyContext *ctx, const FbSchema *schema, const FbSource *source, FbMismatch *mismatch) {
  char name[FB_SOURCE_NAME];
  while (schema->op == FB_SCHEMA_OPTIONAL) schema = schema->args[0];
  fb_attr_type_name(ctx, source->value, name, FB_SOURCE_NAME);
  if (schema->op != FB_SCHEMA_ANY) return fb_refuse_value(schema, mismatch, name);
  return fb_mismatch_set(mismatch, "failed to convert %s from %s", schema->name, name);
}

/* value.method(): a new handle, or HPy_NULL and the outcome in *failed. The method may convert values and so come back
 * here. Where the context does not look after its stack, the guard refuses calls that are nested too deep. */
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

/* Whether h is a native object: a wrapper of the binding's, or one that says so (FB_PROTOCOL_WRAPPER). */
static bool is_object(HPyContext *ctx, HPy h) {
  unsigned protocols = 0;
  if (fb_object_check(ctx, h)) return true;
  if (fb_type_kind_with_protocols(ctx, h, &protocols) == FB_TYPE_KIND_UNKNOWN) {
    HPyErr_Clear(ctx); /* what is said of it does not depend on why */
    return false;
  }
  return (protocols & FB_PROTOCOL_WRAPPER) != 0;
}

/* One step: a new handle of what stands for the value, or HPy_NULL with the outcome in *failed. The outcome is FB_FIT
 * where the value stands for itself, so that it is converted as it is; only __tvm_ffi_value__() may not do that. */
static HPy step(HPyContext *ctx, const FbSchema *schema, const FbSource *source, FbMismatch *mismatch, FbFit *failed) {
  char name[FB_SOURCE_NAME], given[FB_SOURCE_NAME];
  /* asobject() has to give a native object; the other two may give anything. */
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
    /* *held is the one handle that is open: the last value, which `source` borrows. */
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
