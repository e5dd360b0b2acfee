/* Checks that an instance was made by the __new__ of its class. */
#include "instance.h"

#include "call.h"
#include "messages.h"
#include "raise.h"

/* Writes the name of a class to buffer, "?" if it has no name. Never fails, and clears any raised exception. */
static void name_of(HPyContext *ctx, HPy cls, char *buffer, size_t size) {
  HPy name = fb_attr_find(ctx, cls, "__name__");
  HPy_ssize_t n;
  const char *text = HPy_IsNull(name) ? NULL : HPyUnicode_AsUTF8AndSize(ctx, name, &n);
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  fb_cut_copy(buffer, size, text == NULL ? "?" : text, text == NULL ? 1 : (size_t)n);
  if (!HPy_IsNull(name)) HPy_Close(ctx, name);
}

/* CPython makes this check before it calls a tp_new, PyPy 7.3 does not. The first message is CPython's. */
int fb_instance_check_new(HPyContext *ctx, HPy cls, const FbRef *own) {
  HPy type = fb_ref_borrow(ctx, own);
  int (*is_subtype)(HPyContext *, HPy, HPy);
  FB_LATE(ctx, ctx_Type_IsSubtype, is_subtype);
  /* ctx_Type_IsSubtype requires a type, and cls may be any object. */
  bool is_type = HPy_TypeCheck(ctx, cls, ctx->h_TypeType);
  bool fits = is_type && is_subtype(ctx, cls, type);
  if (!fits) {
    char name[128], given[128];
    name_of(ctx, type, name, sizeof(name));
    if (is_type) {
      name_of(ctx, cls, given, sizeof(given));
      fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_A_SUBTYPE, name, given, given, name);
    } else {
      fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_A_TYPE, name, fb_attr_type_name(ctx, cls, given, sizeof(given)));
    }
  }
  fb_ref_return(ctx, type);
  return fits ? 0 : -1;
}

HPy fb_instance_raise_unmade(HPyContext *ctx, HPy h) {
  char name[128];
  return fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_FROM_NEW, fb_attr_type_name(ctx, h, name, sizeof(name)));
}
