/* From native values. */
#include "schema_convert.h"

#include <stdlib.h>

#include "core_function.h"
#include "error.h"
#include "registry.h"
#include "schema_value.h"

static FbCoreFunction make_array = {.name = "ffi.Array"}, make_list = {.name = "ffi.List"},
                      make_map = {.name = "ffi.Map"}, make_dict = {.name = "ffi.Dict"},
                      map_size = {.name = "ffi.MapSize"}, map_iterate = {.name = "ffi.MapForwardIterFunctor"},
                      dict_find = {.name = "ffi.DictGetItemOrMissing"}, repr = {.name = "ffi.ReprPrint"};

static bool is_object(const TVMFFIAny *value) { return value->type_index >= kTVMFFIStaticObjectBegin; }
static void drop(TVMFFIAny *value) {
  if (is_object(value)) TVMFFIObjectDecRef(value->v_obj);
}

/* --- messages ----------------------------------------------------------------------------------------------------------- */

const char *fb_schema_describe(const TVMFFIAny *view) {
  switch (view->type_index) {
  case kTVMFFIDataType: return "dtype";
  case kTVMFFIOpaquePtr: return "ctypes.c_void_p";
  case kTVMFFIRawStr:
  case kTVMFFISmallStr:
  case kTVMFFIStr: return "str";
  case kTVMFFIByteArrayPtr:
  case kTVMFFISmallBytes:
  case kTVMFFIBytes: return "bytes";
  case kTVMFFIBigInt: return "int";
  default: break;
  }
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(view->type_index);
  return info == NULL ? "a value of unknown type" : info->type_key.data;
}

FbFit fb_schema_refuse(const FbSchema *schema, FbFault *fault, const char *given) {
  return fb_fault_set(fault, "expected %s, got %s", schema->name, given);
}

FbFit fb_schema_refuse_length(const FbSchema *schema, FbFault *fault, const char *given, int64_t n_given) {
  return fb_fault_set(fault, "expected %s of length %d, got %s of length %lld", schema->name, (int)schema->n_args,
                      given, (long long)n_given);
}

static const char *name_of(const TVMFFIAny *view, const FbFault *fault) {
  return fault != NULL && fault->given != NULL ? fault->given : fb_schema_describe(view);
}

static FbFit refuse(const FbSchema *schema, const TVMFFIAny *view, FbFault *fault) {
  return fault == NULL ? FB_MISFIT : fb_schema_refuse(schema, fault, name_of(view, fault));
}

/* What another conversion said was its reason. */
static FbFit refuse_because(const FbSchema *schema, const TVMFFIAny *view, FbFault *fault) {
  refuse(schema, view, fault);
  return fb_fault_take_native(fault, ": ", "");
}

FbFit fb_schema_no_memory(void) {
  TVMFFIErrorSetRaisedFromCStr("MemoryError", "out of memory");
  return FB_RAISED;
}

/* "key 'a': " or "value for key 'a': " in front of the fault. */
static FbFit at_pair(FbFault *fault, const TVMFFIAny *key, bool is_value) {
  if (fault == NULL) return FB_MISFIT;
  const char *what = is_value ? "value for key" : "key";
  TVMFFIAny text;
  if (fb_core_function_call(&repr, key, 1, &text) != 0) {
    fb_error_discard();
    return fb_fault_prefix(fault, "%s: ", what);
  }
  const TVMFFIByteArray small = {text.v_bytes, text.small_str_len};
  const TVMFFIByteArray *bytes = is_object(&text) ? (const TVMFFIByteArray *)(text.v_obj + 1) : &small;
  const char *data = bytes->data;
  int n = bytes->size > 200 ? 200 : (int)bytes->size;
  if (n >= 2 && data[0] == '"' && memchr(data, '\'', (size_t)n) == NULL) {
    fb_fault_prefix(fault, "%s '%.*s': ", what, n - 2, data + 1);
  } else {
    fb_fault_prefix(fault, "%s %.*s: ", what, n, data);
  }
  drop(&text);
  return FB_MISFIT;
}

/* --- values on their way into a container ------------------------------------------------------------------------------ */

int fb_values_begin(FbValues *values, int64_t n) {
  values->n = 0;
  values->data = n > INT32_MAX ? NULL : malloc((size_t)(n > 0 ? n : 1) * sizeof(values->data[0]));
  return values->data == NULL ? -1 : 0;
}

void fb_values_end(FbValues *values) {
  for (int32_t i = 0; i < values->n; i++) drop(&values->data[i]);
  free(values->data);
}

FbFit fb_schema_build(const FbSchema *schema, const FbValues *values, TVMFFIAny *out, FbFault *fault) {
  FbCoreFunction *make = &make_array;
  if (schema->type_index == kTVMFFIList) make = &make_list;
  if (schema->type_index == kTVMFFIMap) make = &make_map;
  if (schema->type_index == kTVMFFIDict) make = &make_dict;
  if (fb_core_function_call(make, values->data, values->n, out) == 0) return FB_FIT;
  fb_fault_set(fault, "expected %s, got values that cannot be put into one", schema->name);
  return fb_fault_take_native(fault, ": ", "");
}

/* --- objects ------------------------------------------------------------------------------------------------------------ */

static FbFit own(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  return TVMFFIAnyViewToOwnedAny(view, out) == 0 ? FB_FIT : refuse_because(schema, view, fault);
}

static bool is_instance(const FbSchema *schema, const TVMFFIAny *value) {
  if (!is_object(value)) return false;
  if (value->type_index == schema->type_index || schema->type_index == kTVMFFIObject) return true;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(value->type_index);
  int32_t depth = schema->type_depth;
  return info != NULL && info->type_depth > depth && info->type_ancestors[depth]->type_index == schema->type_index;
}

/* Asks a type's __ffi_convert__. FB_MISFIT and no word if it has none. */
static FbFit convert_by_type(int32_t type_index, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  const TVMFFIAny *convert = fb_type_attr_find(type_index, &(TVMFFIByteArray){"__ffi_convert__", 15});
  if (convert == NULL || convert->type_index != kTVMFFIFunction) return FB_MISFIT;
  TVMFFIAny arg = *view;
  *out = (TVMFFIAny){0};
  if (TVMFFIFunctionCall(convert->v_obj, &arg, 1, out) == 0) return FB_FIT;
  return fb_fault_take_native(fault, "\n  __ffi_convert__ failed:\n", "    ");
}

static FbFit fit_object(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  if (is_instance(schema, view)) return own(schema, view, out, fault);
  refuse(schema, view, fault);
  if (schema->op == FB_SCHEMA_INSTANCE) return FB_MISFIT;
  TVMFFIAny made;
  FbFit fit = convert_by_type(schema->type_index, view, &made, fault);
  if (fit != FB_FIT) return fit;
  if (is_instance(schema, &made)) {
    *out = made;
    return FB_FIT;
  }
  drop(&made);
  return FB_MISFIT;
}

/* The dict from payloads to singletons of an enum type, owned; false if there is none. */
static bool enum_indexes(int32_t type_index, TVMFFIAny *out) {
  const TVMFFIAny *state = fb_type_attr_find(type_index, &(TVMFFIByteArray){"__ffi_enum__", 12});
  if (state == NULL || !is_object(state)) return false;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(state->type_index);
  for (int32_t i = 0; info != NULL && i < info->num_fields; i++) {
    const TVMFFIFieldInfo *field = &info->fields[i];
    if (field->name.size != strlen("indexes") || memcmp(field->name.data, "indexes", field->name.size) != 0) continue;
    *out = (TVMFFIAny){0};
    if (field->getter((char *)state->v_obj + field->offset, out) == 0) return true;
    fb_error_discard();
    return false;
  }
  return false;
}

static FbFit fit_enum(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  int32_t index = view->type_index;
  bool is_int = index == kTVMFFIInt || index == kTVMFFIBool, is_str = index == kTVMFFISmallStr || index == kTVMFFIStr;
  TVMFFIAny args[2];
  if ((schema->op == FB_SCHEMA_INT_ENUM ? is_int : is_str) && enum_indexes(schema->type_index, &args[0])) {
    args[1] = *view;
    if (is_int) args[1].type_index = kTVMFFIInt;
    TVMFFIAny found;
    int rc = fb_core_function_call(&dict_find, args, 2, &found);
    drop(&args[0]);
    if (rc != 0) return refuse_because(schema, view, fault);
    if (is_instance(schema, &found)) {
      *out = found;
      return FB_FIT;
    }
    drop(&found);
  }
  return fit_object(schema, view, out, fault);
}

/* --- containers ---------------------------------------------------------------------------------------------------------- */

/* Fits one item. It describes itself, whatever the container was made from. */
static FbFit fit_item(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  if (fault == NULL) return fb_schema_fit(schema, view, out, NULL);
  const char *given = fault->given;
  fault->given = NULL;
  FbFit fit = fb_schema_fit(schema, view, out, fault);
  fault->given = given;
  return fit;
}

static bool is_same(const TVMFFIAny *a, const TVMFFIAny *b) {
  return a->type_index == b->type_index && a->zero_padding == b->zero_padding && a->v_uint64 == b->v_uint64;
}

/* Fits n values that nobody changes meanwhile; *changed tells whether one became something else. */
static FbFit fit_values(const FbSchema *schema, const TVMFFIAny *views, int64_t n, FbValues *values, bool *changed,
                        FbFault *fault) {
  if (fb_values_begin(values, n) != 0) return fb_schema_no_memory();
  for (int64_t i = 0; i < n; i++) {
    FbFit fit = fit_item(fb_schema_item(schema, i), &views[i], &values->data[i], fault);
    if (fit == FB_FIT) {
      *changed = *changed || !is_same(&views[i], &values->data[i]);
      values->n++;
      continue;
    }
    if (fit == FB_RAISED) return fit;
    if (schema->op == FB_SCHEMA_MAPPING) return at_pair(fault, &views[i & ~INT64_C(1)], (i & 1) != 0);
    return fb_fault_prefix(fault, "element [%lld]: ", (long long)i);
  }
  return FB_FIT;
}

static FbFit rebuild(const FbSchema *schema, const TVMFFIAny *view, const TVMFFIAny *views, int64_t n, TVMFFIAny *out,
                     FbFault *fault) {
  FbValues values = {0};
  bool changed = view->type_index != schema->type_index;
  FbFit fit = fit_values(schema, views, n, &values, &changed, fault);
  if (fit == FB_FIT) fit = changed ? fb_schema_build(schema, &values, out, fault) : own(schema, view, out, fault);
  fb_values_end(&values);
  return fit;
}

/* Whether all items fit by themselves. */
static bool takes_anything(const FbSchema *schema) {
  for (int32_t i = 0; i < schema->n_args; i++) {
    if (schema->args[i]->op != FB_SCHEMA_ANY) return false;
  }
  return schema->op != FB_SCHEMA_TUPLE;
}

/* An Array or Map with the contents of a container, owned: other threads may change a List or a Dict at any time. */
static FbFit snapshot(const FbSchema *schema, const TVMFFIAny *view, int32_t type_index, TVMFFIAny *out,
                      FbFault *fault) {
  if (view->type_index == type_index) return own(schema, view, out, fault);
  refuse(schema, view, fault);
  return convert_by_type(type_index, view, out, fault);
}

static FbFit fit_sequence(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  if (view->type_index != kTVMFFIArray && view->type_index != kTVMFFIList) return refuse(schema, view, fault);
  if (view->type_index == schema->type_index && takes_anything(schema)) return own(schema, view, out, fault);
  TVMFFIAny array;
  FbFit fit = snapshot(schema, view, kTVMFFIArray, &array, fault);
  if (fit != FB_FIT) return fit;
  const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(array.v_obj + 1);
  if (schema->op == FB_SCHEMA_TUPLE && cell->size != schema->n_args) {
    fit = fb_schema_refuse_length(schema, fault, name_of(view, fault), cell->size);
  } else if (schema->type_index == kTVMFFIArray && takes_anything(schema)) {
    *out = array; /* a List that is to be an Array */
    return FB_FIT;
  } else {
    fit = rebuild(schema, view, cell->data, cell->size, out, fault);
  }
  drop(&array);
  return fit;
}

/* Fills `pairs` with owned keys and values of a Map. 0, or -1 with a native error pending. */
static int read_pairs(const TVMFFIAny *map, FbValues *pairs) {
  enum { GET_KEY = 0, GET_VALUE = 1, ADVANCE = 2 };
  TVMFFIAny n, iterator, command = {.type_index = kTVMFFIInt}, more = {0};
  if (fb_core_function_call(&map_size, map, 1, &n) != 0) return -1;
  if (fb_values_begin(pairs, 2 * n.v_int64) != 0) {
    fb_schema_no_memory();
    return -1;
  }
  if (fb_core_function_call(&map_iterate, map, 1, &iterator) != 0) return -1;
  int rc = 0;
  for (int64_t i = 0; rc == 0 && i < n.v_int64; i++) {
    for (int64_t what = GET_KEY; rc == 0 && what <= GET_VALUE; what++) {
      pairs->data[pairs->n] = (TVMFFIAny){0};
      command.v_int64 = what;
      rc = TVMFFIFunctionCall(iterator.v_obj, &command, 1, &pairs->data[pairs->n]);
      if (rc == 0) pairs->n++;
    }
    command.v_int64 = ADVANCE;
    if (rc == 0) rc = TVMFFIFunctionCall(iterator.v_obj, &command, 1, &more);
  }
  drop(&iterator);
  return rc;
}

static FbFit fit_mapping(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  if (view->type_index != kTVMFFIMap && view->type_index != kTVMFFIDict) return refuse(schema, view, fault);
  if (view->type_index == schema->type_index && takes_anything(schema)) return own(schema, view, out, fault);
  TVMFFIAny map;
  FbFit fit = snapshot(schema, view, kTVMFFIMap, &map, fault);
  if (fit != FB_FIT) return fit;
  FbValues pairs = {0};
  fit = read_pairs(&map, &pairs) == 0 ? rebuild(schema, view, pairs.data, pairs.n, out, fault)
                                      : refuse_because(schema, view, fault);
  fb_values_end(&pairs);
  drop(&map);
  return fit;
}

/* --- plain values ---------------------------------------------------------------------------------------------------------- */

static FbFit put(TVMFFIAny *out, int32_t type_index, int64_t payload) {
  *out = (TVMFFIAny){.type_index = type_index};
  out->v_int64 = payload;
  return FB_FIT;
}

static FbFit fit_number(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  bool is_int = view->type_index == kTVMFFIInt || view->type_index == kTVMFFIBool;
  if (!is_int && (view->type_index != kTVMFFIFloat || schema->op != FB_SCHEMA_FLOAT)) {
    return refuse(schema, view, fault);
  }
  switch (schema->op) {
  case FB_SCHEMA_INT: return put(out, kTVMFFIInt, view->v_int64);
  case FB_SCHEMA_BOOL: return put(out, kTVMFFIBool, view->v_int64 != 0);
  default: break;
  }
  put(out, kTVMFFIFloat, 0);
  out->v_float64 = is_int ? (double)view->v_int64 : view->v_float64;
  return FB_FIT;
}

static FbFit fit_text(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  bool is_str = view->type_index == kTVMFFISmallStr || view->type_index == kTVMFFIStr;
  bool is_bytes = view->type_index == kTVMFFISmallBytes || view->type_index == kTVMFFIBytes;
  if (schema->op == FB_SCHEMA_STR ? is_str : is_bytes) return own(schema, view, out, fault);
  return refuse(schema, view, fault);
}

static FbFit fit_dtype(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  if (view->type_index == kTVMFFIDataType) return own(schema, view, out, fault);
  TVMFFIByteArray text = {view->v_bytes, view->small_str_len};
  if (view->type_index == kTVMFFIStr) {
    text = *(const TVMFFIByteArray *)(view->v_obj + 1);
  } else if (view->type_index != kTVMFFISmallStr) {
    return refuse(schema, view, fault);
  }
  put(out, kTVMFFIDataType, 0);
  if (TVMFFIDataTypeFromString(&text, &out->v_dtype) == 0) return FB_FIT;
  fb_error_discard();
  int n = text.size > 200 ? 200 : (int)text.size;
  return fb_fault_set(fault, "expected %s, got invalid dtype string '%.*s'", schema->name, n, text.data);
}

static FbFit fit_address(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  if (view->type_index == kTVMFFINone) return put(out, kTVMFFIOpaquePtr, 0);
  return view->type_index == kTVMFFIOpaquePtr ? own(schema, view, out, fault) : refuse(schema, view, fault);
}

static FbFit fit_union(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  for (int32_t i = 0; i < schema->n_args; i++) {
    FbFit fit = fb_schema_fit(schema->args[i], view, out, NULL);
    if (fit != FB_MISFIT) return fit;
  }
  return refuse(schema, view, fault);
}

/* Whether only Python can tell what the value is good for. */
static bool is_pythons(const FbSchema *schema, const TVMFFIAny *view) {
  switch (schema->op) {
  case FB_SCHEMA_ANY:
  case FB_SCHEMA_OPTIONAL:
  case FB_SCHEMA_UNION: return false; /* one of their parts will ask */
  case FB_SCHEMA_DEVICE:
    if (view->type_index == kTVMFFISmallStr || view->type_index == kTVMFFIStr) return true;
    break;
  case FB_SCHEMA_FLOAT:
  case FB_SCHEMA_BOOL:
  case FB_SCHEMA_INT:
    if (view->type_index == kTVMFFIBigInt) return true;
    break;
  default: break;
  }
  return view->type_index == kTVMFFIOpaquePyObject && !is_instance(schema, view);
}

FbFit fb_schema_fit_packed(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  switch (schema->op) {
  case FB_SCHEMA_ANY: return own(schema, view, out, fault);
  case FB_SCHEMA_NONE: return view->type_index == kTVMFFINone ? put(out, kTVMFFINone, 0) : refuse(schema, view, fault);
  case FB_SCHEMA_INT:
  case FB_SCHEMA_FLOAT:
  case FB_SCHEMA_BOOL: return fit_number(schema, view, out, fault);
  case FB_SCHEMA_STR:
  case FB_SCHEMA_BYTES: return fit_text(schema, view, out, fault);
  case FB_SCHEMA_DEVICE:
    return view->type_index == kTVMFFIDevice ? own(schema, view, out, fault) : refuse(schema, view, fault);
  case FB_SCHEMA_DTYPE: return fit_dtype(schema, view, out, fault);
  case FB_SCHEMA_OPAQUE_PTR: return fit_address(schema, view, out, fault);
  case FB_SCHEMA_OBJECT:
  case FB_SCHEMA_INSTANCE: return fit_object(schema, view, out, fault);
  case FB_SCHEMA_INT_ENUM:
  case FB_SCHEMA_STR_ENUM: return fit_enum(schema, view, out, fault);
  case FB_SCHEMA_SEQUENCE:
  case FB_SCHEMA_TUPLE: return fit_sequence(schema, view, out, fault);
  case FB_SCHEMA_MAPPING: return fit_mapping(schema, view, out, fault);
  case FB_SCHEMA_OPTIONAL:
    if (view->type_index == kTVMFFINone) return put(out, kTVMFFINone, 0);
    return fb_schema_fit(schema->args[0], view, out, fault);
  case FB_SCHEMA_UNION: return fit_union(schema, view, out, fault);
  default: return refuse(schema, view, fault);
  }
}

FbFit fb_schema_fit(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  switch (view->type_index) {
  case kTVMFFIRawStr:
  case kTVMFFIByteArrayPtr:
  case kTVMFFIObjectRValueRef: { /* forms that exist in arguments only */
    TVMFFIAny owned;
    FbFit fit = own(schema, view, &owned, fault);
    if (fit != FB_FIT) return fit;
    fit = fb_schema_fit(schema, &owned, out, fault);
    drop(&owned);
    return fit;
  }
  case kTVMFFIDLTensorPtr: return refuse(schema, view, fault); /* it cannot be kept */
  default: break;
  }
  if (is_pythons(schema, view)) return fb_schema_fit_attached(schema, view, out, fault);
  return fb_schema_fit_packed(schema, view, out, fault);
}

int fb_schema_convert(void *schema, const TVMFFIAny *view, TVMFFIAny *out) {
  FbFault fault = {0};
  FbFit fit = fb_schema_fit(schema, view, out, &fault);
  if (fit == FB_MISFIT && fault.text == NULL) fit = fb_schema_no_memory();
  if (fit == FB_MISFIT) TVMFFIErrorSetRaisedFromCStr("TypeError", fault.text);
  fb_fault_end(&fault);
  return fit == FB_FIT ? 0 : -1;
}
