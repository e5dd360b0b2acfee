/* Messages about Python values that do not match, and calls of Python code whose exceptions become part of a mismatch.
 *
 * If the mismatch is NULL, the caller does not read the message (a union tries its arguments without messages), and
 * none is made. */
#include "source.h"

#include "hpy_module/context/call.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/error/error.h"
#include "hpy_module/error/translate.h"
#include "hpy_module/object/object.h"
#include "refuse.h"

/* Values of a kind with one native form have the name that schemas use. A number of another class, such as numpy.int64,
 * has the name of its class, and a native object its type key. */
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
  return fb_attr_type_name(ctx, source->value, buffer, FB_SOURCE_NAME);
}

FbConverted fb_source_refuse(HPyContext *ctx, const FbSchema *schema, const FbSource *source, FbMismatch *mismatch) {
  char name[FB_SOURCE_NAME];
  return mismatch == NULL ? FB_MISMATCH : fb_refuse_value(schema, mismatch, fb_source_describe(ctx, source, name));
}

FbConverted fb_source_refuse_because(HPyContext *ctx, const FbSchema *schema, const FbSource *source,
                                     FbMismatch *mismatch) {
  /* The exception is saved while the message is made: describing a value looks up attributes, which would clear the
   * exception. It is raised again so that fb_mismatch_take_python can classify the failure. */
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
