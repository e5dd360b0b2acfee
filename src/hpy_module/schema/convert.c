/* Validates and converts native values by a schema; used by native setters and as the last step of an assignment from
 * Python.
 *
 * fb_convert_view is the entry. The conversion makes owned values of forms that exist only in arguments, leaves values
 * that need Python to fb_convert_attached, and passes all others to fb_convert_packed, a switch over the operation of
 * the schema. Recursion follows the schema, whose depth is limited (FB_SCHEMA_DEPTH_LIMIT). The caller owns the result,
 * also if it is the view itself. */
#include "convert.h"

#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/object/class_table.h"
#include "mismatch.h"

static FbCoreFunction dict_find = {.name = "ffi.DictGetItemOrMissing"};

FbConverter fb_convert_container, fb_convert_attached;

/* --- objects ------------------------------------------------------------------------------------------------------ */

FbConverted fb_convert_own(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  return TVMFFIAnyViewToOwnedAny(view, out) == 0 ? FB_CONVERTED : fb_refuse_because(schema, view, mismatch);
}

/* Whether a value is an object of the schema's type or a subtype. The ancestors of a type are an array by depth, so
 * only the entry at the depth of the schema's type is compared. */
static bool is_instance(const FbSchema *schema, const TVMFFIAny *value) {
  if (!fb_convert_is_object(value)) return false;
  if (value->type_index == schema->type_index || schema->type_index == kTVMFFIObject) return true;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(value->type_index);
  int32_t depth = schema->type_depth;
  return info != NULL && info->type_depth > depth && info->type_ancestors[depth]->type_index == schema->type_index;
}

FbConverted fb_convert_by_type(int32_t type_index, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  const TVMFFIAny *convert = fb_type_attr_find(type_index, &(TVMFFIByteArray){"__ffi_convert__", 15});
  if (convert == NULL || convert->type_index != kTVMFFIFunction) return FB_MISMATCH;
  TVMFFIAny arg = *view; /* a copy, because the call's arguments are not const */
  *out = (TVMFFIAny){0};
  if (TVMFFIFunctionCall(convert->v_obj, &arg, 1, out) == 0) return FB_CONVERTED;
  return fb_mismatch_take_native(NULL, mismatch, "\n  __ffi_convert__ failed:\n", "    ");
}

/* An instance stays unchanged; any other value is passed to the hook of the schema's type. Hooks are foreign code, so
 * their results are checked, too. */
static FbConverted convert_object(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  if (is_instance(schema, view)) return fb_convert_own(schema, view, out, mismatch);
  /* The message is made before the hook runs, because the reason of a failing hook is appended to it. */
  fb_refuse_view(schema, view, mismatch);
  if (schema->op == FB_SCHEMA_INSTANCE) return FB_MISMATCH;
  TVMFFIAny made;
  FbConverted converted = fb_convert_by_type(schema->type_index, view, &made, mismatch);
  if (converted != FB_CONVERTED) return converted;
  if (is_instance(schema, &made)) {
    *out = made;
    return FB_CONVERTED;
  }
  fb_any_drop(&made);
  return FB_MISMATCH;
}

/* Returns the Dict from integers and names to the singletons of an enum type, owned; false if the type has none (yet).
 * The Dict is the field `indexes` of the type's ffi.EnumState. The field is found by reflection, because the binding
 * does not know the layout of that type. */
static bool enum_indexes(int32_t type_index, TVMFFIAny *out) {
  const TVMFFIAny *state = fb_type_attr_find(type_index, &(TVMFFIByteArray){"__ffi_enum__", 12});
  if (state == NULL || !fb_convert_is_object(state)) return false;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(state->type_index);
  for (int32_t i = 0; info != NULL && i < info->num_fields; ++i) {
    const TVMFFIFieldInfo *field = &info->fields[i];
    if (field->name.size != strlen("indexes") || memcmp(field->name.data, "indexes", field->name.size) != 0) continue;
    *out = (TVMFFIAny){0};
    if (field->getter((char *)state->v_obj + field->offset, out) == 0) return true;
    fb_error_slot_clear();
    return false;
  }
  return false;
}

/* An integer or a string becomes its singleton. Every other value is converted as an object, and so is an integer or
 * string without a singleton. */
static FbConverted convert_enum(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  int32_t index = view->type_index;
  bool is_int = index == kTVMFFIInt || index == kTVMFFIBool, is_str = index == kTVMFFISmallStr || index == kTVMFFIStr;
  TVMFFIAny args[2];
  if ((schema->op == FB_SCHEMA_INT_ENUM ? is_int : is_str) && enum_indexes(schema->type_index, &args[0])) {
    args[1] = *view;
    if (is_int) args[1].type_index = kTVMFFIInt; /* True means 1 here, but is another key of a Dict */
    TVMFFIAny found;
    int rc = fb_core_function_call(&dict_find, args, 2, &found);
    fb_any_drop(&args[0]);
    if (rc != 0) return fb_refuse_because(schema, view, mismatch);
    /* For a missing key the core returns an object of another type. */
    if (is_instance(schema, &found)) {
      *out = found;
      return FB_CONVERTED;
    }
    fb_any_drop(&found);
  }
  return convert_object(schema, view, out, mismatch);
}

/* --- plain values ------------------------------------------------------------------------------------------------- */

/* The implicit conversions of the ABI: any number becomes a float, a bool an int, 0 and 1 a bool, and a float becomes
 * nothing else. The 0 or 1 of a bool is in v_int64, like the value of an int. */
static FbConverted convert_number(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  bool is_int = view->type_index == kTVMFFIInt || view->type_index == kTVMFFIBool;
  if (!is_int && (view->type_index != kTVMFFIFloat || schema->op != FB_SCHEMA_FLOAT)) {
    return fb_refuse_view(schema, view, mismatch);
  }
  switch (schema->op) {
  case FB_SCHEMA_INT: return fb_convert_put(out, kTVMFFIInt, view->v_int64);
  case FB_SCHEMA_BOOL:
    if (view->v_int64 == 0 || view->v_int64 == 1) return fb_convert_put(out, kTVMFFIBool, view->v_int64);
    return fb_mismatch_set(mismatch, "integer %lld out of %s", (long long)view->v_int64, FB_SCHEMA_BOOL_RANGE);
  default: break;
  }
  fb_convert_put(out, kTVMFFIFloat, 0);
  out->v_float64 = is_int ? (double)view->v_int64 : view->v_float64;
  return FB_CONVERTED;
}

static FbConverted convert_text(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  bool is_str = view->type_index == kTVMFFISmallStr || view->type_index == kTVMFFIStr;
  bool is_bytes = view->type_index == kTVMFFISmallBytes || view->type_index == kTVMFFIBytes;
  if (schema->op == FB_SCHEMA_STR ? is_str : is_bytes) return fb_convert_own(schema, view, out, mismatch);
  return fb_refuse_view(schema, view, mismatch);
}

/* Converts a data type, or its name. */
static FbConverted convert_dtype(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  if (view->type_index == kTVMFFIDataType) return fb_convert_own(schema, view, out, mismatch);
  TVMFFIByteArray text = {view->v_bytes, view->small_str_len}; /* a short string is inside the value */
  if (view->type_index == kTVMFFIStr) {
    text = *(const TVMFFIByteArray *)(view->v_obj + 1);
  } else if (view->type_index != kTVMFFISmallStr) {
    return fb_refuse_view(schema, view, mismatch);
  }
  fb_convert_put(out, kTVMFFIDataType, 0);
  if (TVMFFIDataTypeFromString(&text, &out->v_dtype) == 0) return FB_CONVERTED;
  fb_error_slot_clear();
  int n = (int)fb_cut_length(text.data, text.size, 200);
  return fb_mismatch_set(mismatch, "expected %s, got invalid dtype string '%.*s'", schema->name, n, text.data);
}

/* Converts a pointer; None becomes NULL. */
static FbConverted convert_address(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out,
                                   FbMismatch *mismatch) {
  if (view->type_index == kTVMFFINone) return fb_convert_put(out, kTVMFFIOpaquePtr, 0);
  return view->type_index == kTVMFFIOpaquePtr ? fb_convert_own(schema, view, out, mismatch)
                                              : fb_refuse_view(schema, view, mismatch);
}

/* Tries the arguments in order and without messages, because the message is about the union. The first match is used; a
 * failure other than a mismatch ends the search. A large integer gets the message of the type of numbers whose range it
 * is outside of. */
static FbConverted convert_union(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  for (int32_t i = 0; i < schema->n_args; ++i) {
    FbConverted converted = fb_convert_view(schema->args[i], view, out, NULL);
    if (converted != FB_MISMATCH) return converted;
  }
  bool is_large = mismatch != NULL && view->type_index == kTVMFFIBigInt;
  for (int32_t i = 0; is_large && i < schema->n_args; ++i) {
    if (schema->args[i]->op != FB_SCHEMA_INT && schema->args[i]->op != FB_SCHEMA_FLOAT) continue;
    FbConverted converted = fb_convert_view(schema->args[i], view, out, mismatch);
    if (converted != FB_MISMATCH || mismatch->is_outside_range) return converted;
  }
  return fb_refuse_view(schema, view, mismatch);
}

/* Whether the conversion of the value needs Python. */
static bool is_pythons(const FbSchema *schema, const TVMFFIAny *view) {
  switch (schema->op) {
  case FB_SCHEMA_ANY:
  case FB_SCHEMA_OPTIONAL:
  case FB_SCHEMA_UNION: return false; /* one of their arguments will check */
  case FB_SCHEMA_CHECKED: /* checks of sequences are about Python objects only */
    if (schema->args[0]->op != FB_SCHEMA_SEQUENCE) return true;
    break;
  case FB_SCHEMA_DEVICE: /* the package's class Device knows the names of devices */
    if (view->type_index == kTVMFFISmallStr || view->type_index == kTVMFFIStr) return true;
    break;
  case FB_SCHEMA_FLOAT:
  case FB_SCHEMA_BOOL:
  case FB_SCHEMA_INT: /* float() accepts ints beyond 64 bits; the messages of the others show the digits */
    if (view->type_index == kTVMFFIBigInt) return true;
    break;
  default: break;
  }
  /* A Python object may have protocols, or be a number of a class unknown to native code. The object stays unchanged if
   * the schema is for Python objects. */
  return view->type_index == kTVMFFIOpaquePyObject && !is_instance(schema, view);
}

FbConverted fb_convert_packed(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  switch (schema->op) {
  case FB_SCHEMA_ANY: return fb_convert_own(schema, view, out, mismatch);
  case FB_SCHEMA_NONE:
    return view->type_index == kTVMFFINone ? fb_convert_put(out, kTVMFFINone, 0)
                                           : fb_refuse_view(schema, view, mismatch);
  case FB_SCHEMA_INT:
  case FB_SCHEMA_FLOAT:
  case FB_SCHEMA_BOOL: return convert_number(schema, view, out, mismatch);
  case FB_SCHEMA_STR:
  case FB_SCHEMA_BYTES: return convert_text(schema, view, out, mismatch);
  case FB_SCHEMA_DEVICE:
    return view->type_index == kTVMFFIDevice ? fb_convert_own(schema, view, out, mismatch)
                                             : fb_refuse_view(schema, view, mismatch);
  case FB_SCHEMA_DTYPE: return convert_dtype(schema, view, out, mismatch);
  case FB_SCHEMA_OPAQUE_PTR: return convert_address(schema, view, out, mismatch);
  case FB_SCHEMA_OBJECT:
  case FB_SCHEMA_INSTANCE: return convert_object(schema, view, out, mismatch);
  case FB_SCHEMA_INT_ENUM:
  case FB_SCHEMA_STR_ENUM: return convert_enum(schema, view, out, mismatch);
  case FB_SCHEMA_SEQUENCE:
  case FB_SCHEMA_TUPLE:
  case FB_SCHEMA_MAPPING: return fb_convert_container(schema, view, out, mismatch);
  case FB_SCHEMA_OPTIONAL:
    if (view->type_index == kTVMFFINone) return fb_convert_put(out, kTVMFFINone, 0);
    return fb_convert_view(schema->args[0], view, out, mismatch);
  case FB_SCHEMA_UNION: return convert_union(schema, view, out, mismatch);
  case FB_SCHEMA_CHECKED: return fb_convert_view(schema->args[0], view, out, mismatch);
  default: return fb_refuse_view(schema, view, mismatch);
  }
}

FbConverted fb_convert_view(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  switch (view->type_index) {
  case kTVMFFIRawStr:
  case kTVMFFIByteArrayPtr:
  case kTVMFFIObjectRValueRef: { /* forms that exist only in arguments; an rvalue reference loses its object */
    TVMFFIAny owned;
    FbConverted converted = fb_convert_own(schema, view, &owned, mismatch);
    if (converted != FB_CONVERTED) return converted;
    converted = fb_convert_view(schema, &owned, out, mismatch);
    fb_any_drop(&owned);
    return converted;
  }
  case kTVMFFIDLTensorPtr: return fb_refuse_view(schema, view, mismatch); /* its memory is borrowed for a call */
  default: break;
  }
  if (is_pythons(schema, view)) return fb_convert_attached(schema, view, out, mismatch);
  return fb_convert_packed(schema, view, out, mismatch);
}

int fb_convert_for_setter(void *schema, const TVMFFIAny *view, TVMFFIAny *out) {
  FbMismatch mismatch = {0};
  FbConverted converted = fb_convert_view(schema, view, out, &mismatch);
  /* A mismatch without a message: memory was exhausted. */
  if (converted == FB_MISMATCH && mismatch.text == NULL) converted = fb_refuse_no_memory();
  if (converted == FB_MISMATCH)
    TVMFFIErrorSetRaisedFromCStr(mismatch.is_outside_range ? "OverflowError" : "TypeError", mismatch.text);
  fb_mismatch_end(&mismatch);
  return converted == FB_CONVERTED ? 0 : -1;
}
