/* The type CAny: a native value that stays native while Python code has it, for example the result of a schema's
 * convert(). The package converts it to a Python value with cany_value(). */
#include "value.h"

#include <stdio.h>

#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"

typedef struct FbCAny {
  TVMFFIAny value; /* owned; never changes once other code has the instance */
} FbCAny;

HPyType_HELPERS(FbCAny)

static FbRef cany_type; /* written once during the import */

/* Makes an instance of cls with the value. Steals the value, also on failure. */
static HPy make(HPyContext *ctx, HPy cls, TVMFFIAny *value) {
  void *data;
  HPy h = fb_instance_make(ctx, cls, &cany_type, &data);
  if (HPy_IsNull(h)) {
    fb_drop_any(value, -1);
  } else {
    ((FbCAny *)data)->value = *value;
  }
  return h;
}

HPy fb_cany_new(HPyContext *ctx, TVMFFIAny *value) {
  HPy cls = fb_ref_borrow(ctx, &cany_type);
  HPy h = make(ctx, cls, value);
  fb_ref_return(ctx, cls);
  return h;
}

/* CAny(value). CAny() contains None. */
HPyDef_SLOT(cany_new, HPy_tp_new)
static HPy cany_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  static const char *const names[] = {"value"};
  static const FbKeywords keywords = {"CAny", names, 1, NULL};
  TVMFFIAny value = {0};
  HPy given;
  if (fb_keywords_bind_dict(ctx, &keywords, 0, args, nargs, kw, &given) != 0) return HPy_NULL;
  int rc = HPy_IsNull(given) ? 0 : fb_argument_convert_owned(ctx, given, &value, "CAny()");
  fb_keywords_close(ctx, &keywords, &given);
  return rc == 0 ? make(ctx, type, &value) : HPy_NULL;
}

/* An instance without a value is all zero, which is None. */
HPyDef_SLOT(cany_destroy, HPy_tp_destroy)
static void cany_destroy_impl(void *self) { fb_drop_any(&((FbCAny *)self)->value, FB_DROP_UNKNOWN); }

/* NULL with TypeError raised if the value is missing. */
static const TVMFFIAny *value_of(HPyContext *ctx, HPy h) {
  const FbCAny *data = FbCAny_AsStruct(ctx, h);
  if (data != NULL) return &data->value;
  fb_instance_raise_unmade(ctx, h);
  return NULL;
}

HPyDef_GET(cany_type_index, "type_index", .doc = "Type index of the value.")
static HPy cany_type_index_get(HPyContext *ctx, HPy self, FH_MAYBE_UNUSED void *closure) {
  const TVMFFIAny *value = value_of(ctx, self);
  return value == NULL ? HPy_NULL : HPyLong_FromInt32_t(ctx, value->type_index);
}

/* Shows numbers; for other values, which may be large, only the type index. */
HPyDef_SLOT(cany_repr, HPy_tp_repr)
static HPy cany_repr_impl(HPyContext *ctx, HPy self) {
  const TVMFFIAny *value = value_of(ctx, self);
  if (value == NULL) return HPy_NULL;
  char text[96];
  switch (value->type_index) {
  case kTVMFFINone: return HPyUnicode_FromString(ctx, "CAny(None)");
  case kTVMFFIInt: snprintf(text, sizeof(text), "CAny(int, %lld)", (long long)value->v_int64); break;
  case kTVMFFIBool: snprintf(text, sizeof(text), "CAny(bool, %s)", value->v_int64 != 0 ? "True" : "False"); break;
  case kTVMFFIFloat: snprintf(text, sizeof(text), "CAny(float, %.17g)", value->v_float64); break;
  default: snprintf(text, sizeof(text), "CAny(type_index=%d)", (int)value->type_index); break;
  }
  return HPyUnicode_FromString(ctx, text);
}

/* Converts a CAny to a Python value. A call returns short strings and bytes as str and bytes, and longer ones as the
 * package's String and Bytes; this function returns String and Bytes for all lengths. */
FB_METHOD_O(fb_cany_value, "cany_value", arg, "The Python value of a CAny.") {
  HPy cls = fb_ref_borrow(ctx, &cany_type);
  bool is_cany = HPy_TypeCheck(ctx, arg, cls);
  fb_ref_return(ctx, cls);
  /* cany_value is a function of the module and accepts any argument; only a CAny has the struct. */
  char given[128];
  if (!is_cany) {
    return fb_raise(ctx, ctx->h_TypeError, "expected a CAny, got %s",
                    fb_attr_type_name(ctx, arg, given, sizeof(given)));
  }
  const TVMFFIAny *value = value_of(ctx, arg);
  if (value == NULL) return HPy_NULL;
  /* A view: the CAny keeps its value. */
  HPy plain = fb_result_of_view(ctx, value);
  bool is_str = value->type_index == kTVMFFISmallStr;
  if (HPy_IsNull(plain) || (!is_str && value->type_index != kTVMFFISmallBytes)) return plain;
  HPy result = fb_hook_call(ctx, is_str ? FB_HOOK_STRING_CLASS : FB_HOOK_BYTES_CLASS, &plain, 1);
  HPy_Close(ctx, plain);
  return result;
}

HPy fb_cany_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&cany_new, &cany_destroy, &cany_type_index, &cany_repr, NULL};
  static HPyType_Spec spec =
      FB_TYPE_SPEC(FbCAny, "CAny", HPy_TPFLAGS_DEFAULT, defines,
                   "A native value of its own. CAny(value) converts a Python value as a call would.");
  return fb_type_new_root(ctx, &spec, &cany_type);
}
