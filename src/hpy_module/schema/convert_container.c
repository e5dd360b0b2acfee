/* Conversion of native containers by their schema.
 *
 * Every item is converted into an array of owned values. If the container is of the schema's type and each item is
 * unchanged, the result is the container itself, so that it stays shared with its other owners. Otherwise the core
 * makes a new container from the array. A List or a Dict is converted from a snapshot. */
#include "convert.h"

#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/core_function.h"
#include "mismatch.h"

/* Functions of the core, looked up at first use. */
static FbCoreFunction make_array = {.name = "ffi.Array"}, make_list = {.name = "ffi.List"},
                      make_map = {.name = "ffi.Map"}, make_dict = {.name = "ffi.Dict"},
                      map_size = {.name = "ffi.MapSize"}, map_iterate = {.name = "ffi.MapForwardIterFunctor"},
                      repr = {.name = "ffi.ReprPrint"};

FbConverted fb_convert_container_build(const FbSchema *schema, const FbValues *values, TVMFFIAny *out,
                                       FbMismatch *mismatch) {
  FbCoreFunction *make = &make_array;
  if (schema->type_index == kTVMFFIList) make = &make_list;
  if (schema->type_index == kTVMFFIMap) make = &make_map;
  if (schema->type_index == kTVMFFIDict) make = &make_dict;
  if (fb_core_function_call(make, values->data, values->n, out) == 0) return FB_CONVERTED;
  fb_mismatch_set(mismatch, "expected %s, got values that cannot be put into one", schema->name);
  return fb_mismatch_take_native(NULL, mismatch, ": ", "");
}

/* --- native containers -------------------------------------------------------------------------------------------- */

/* Prepends "key 'a': " or "value for key 'a': " to the mismatch. The core prints strings between double quotes; they
 * become single quotes, like Python's, unless the string contains some. A key that cannot be printed is omitted. */
static FbConverted at_pair(FbMismatch *mismatch, const TVMFFIAny *key, bool is_value) {
  if (mismatch == NULL) return FB_MISMATCH;
  const char *what = is_value ? "value for key" : "key";
  TVMFFIAny text;
  if (fb_core_function_call(&repr, key, 1, &text) != 0) {
    fb_error_slot_clear();
    return fb_mismatch_prefix(mismatch, "%s: ", what);
  }
  /* A short string is inside `text`, so `data` must not outlive this function. */
  const TVMFFIByteArray small = {text.v_bytes, text.small_str_len};
  const TVMFFIByteArray *bytes = fb_convert_is_object(&text) ? (const TVMFFIByteArray *)(text.v_obj + 1) : &small;
  size_t size = bytes->size;
  bool is_quoted = size >= 2 && bytes->data[0] == '"' && memchr(bytes->data, '\'', size) == NULL;
  const char *data = bytes->data + is_quoted;
  int n = (int)fb_cut_length(data, size - 2 * is_quoted, 200);
  fb_mismatch_prefix(mismatch, is_quoted ? "%s '%.*s': " : "%s %.*s: ", what, n, data);
  fb_any_drop(&text);
  return FB_MISMATCH;
}

/* Converts one item. `given` names the origin of the container and not of an item, so it is cleared during the
 * conversion. */
static FbConverted convert_item(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbMismatch *mismatch) {
  if (mismatch == NULL) return fb_convert_view(schema, view, out, NULL);
  const char *given = mismatch->given;
  mismatch->given = NULL;
  FbConverted converted = fb_convert_view(schema, view, out, mismatch);
  mismatch->given = given;
  return converted;
}

/* Whether two values have the same bits. zero_padding is also the length of a short string. */
static bool is_same(const TVMFFIAny *a, const TVMFFIAny *b) {
  return a->type_index == b->type_index && a->zero_padding == b->zero_padding && a->v_uint64 == b->v_uint64;
}

/* Converts n values that do not change during the call; *changed tells whether a result differs from its value. The
 * caller ends `values`, also after a failure. */
static FbConverted convert_values(const FbSchema *schema, const TVMFFIAny *views, int64_t n, FbValues *values,
                                  bool *changed, FbMismatch *mismatch) {
  if (fb_values_begin(values, n) != 0) return fb_refuse_no_memory();
  for (int64_t i = 0; i < n; ++i) {
    FbConverted converted = convert_item(fb_convert_container_item(schema, i), &views[i], &values->data[i], mismatch);
    if (converted == FB_CONVERTED) {
      *changed = *changed || !is_same(&views[i], &values->data[i]);
      ++values->n;
      continue;
    }
    if (converted == FB_RAISED) return converted;
    if (schema->op == FB_SCHEMA_MAPPING) return at_pair(mismatch, &views[i & ~INT64_C(1)], (i & 1) != 0);
    return fb_mismatch_prefix(mismatch, "element [%lld]: ", (long long)i);
  }
  return FB_CONVERTED;
}

/* Converts the items at `views` of the container `view`. */
static FbConverted rebuild(const FbSchema *schema, const TVMFFIAny *view, const TVMFFIAny *views, int64_t n,
                           TVMFFIAny *out, FbMismatch *mismatch) {
  FbValues values = {0};
  bool changed = view->type_index != schema->type_index;
  FbConverted converted = convert_values(schema, views, n, &values, &changed, mismatch);
  if (converted == FB_CONVERTED)
    converted = changed ? fb_convert_container_build(schema, &values, out, mismatch)
                        : fb_convert_own(schema, view, out, mismatch);
  fb_values_end(&values);
  return converted;
}

/* Whether a container of the schema's type matches with any items. A tuple does not, because its length must match. */
static bool takes_anything(const FbSchema *schema) {
  for (int32_t i = 0; i < schema->n_args; ++i) {
    if (schema->args[i]->op != FB_SCHEMA_ANY) return false;
  }
  return schema->op != FB_SCHEMA_TUPLE;
}

/* Returns an Array or Map with the contents of a container, owned: other threads may change a List or a Dict at any
 * time. */
static FbConverted snapshot(const FbSchema *schema, const TVMFFIAny *view, int32_t type_index, TVMFFIAny *out,
                            FbMismatch *mismatch) {
  if (view->type_index == type_index) return fb_convert_own(schema, view, out, mismatch);
  /* The built-in types copy a container under its lock, so the copy is a consistent snapshot. The message is made
   * first, because a failure of the conversion is appended to it. */
  fb_refuse_view(schema, view, mismatch);
  return fb_convert_by_type(type_index, view, out, mismatch);
}

static FbConverted convert_sequence(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out,
                                    FbMismatch *mismatch) {
  if (view->type_index != kTVMFFIArray && view->type_index != kTVMFFIList)
    return fb_refuse_view(schema, view, mismatch);
  if (view->type_index == schema->type_index && takes_anything(schema))
    return fb_convert_own(schema, view, out, mismatch);
  TVMFFIAny array;
  FbConverted converted = snapshot(schema, view, kTVMFFIArray, &array, mismatch);
  if (converted != FB_CONVERTED) return converted;
  const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(array.v_obj + 1);
  if (schema->op == FB_SCHEMA_TUPLE && cell->size != schema->n_args) {
    converted = fb_refuse_length(schema, mismatch, fb_refuse_name_of(view, mismatch), cell->size);
  } else if (schema->type_index == kTVMFFIArray && takes_anything(schema)) {
    *out = array; /* a List that becomes an Array: the copy is the result */
    return FB_CONVERTED;
  } else {
    converted = rebuild(schema, view, cell->data, cell->size, out, mismatch);
  }
  fb_any_drop(&array);
  return converted;
}

/* Fills `pairs` with owned keys and values of a Map, by the core's iteration function. Returns 0, or -1 with a native
 * error pending; the caller ends `pairs`. A Map is immutable, so its size equals the number of entries. */
static int read_pairs(const TVMFFIAny *map, FbValues *pairs) {
  enum { GET_KEY = 0, GET_VALUE = 1, ADVANCE = 2 };
  TVMFFIAny n, iterator, command = {.type_index = kTVMFFIInt}, more = {0};
  if (fb_core_function_call(&map_size, map, 1, &n) != 0) return -1;
  if (fb_values_begin(pairs, 2 * n.v_int64) != 0) {
    fb_refuse_no_memory();
    return -1;
  }
  if (fb_core_function_call(&map_iterate, map, 1, &iterator) != 0) return -1;
  int rc = 0;
  for (int64_t i = 0; rc == 0 && i < n.v_int64; ++i) {
    for (int64_t what = GET_KEY; rc == 0 && what <= GET_VALUE; ++what) {
      pairs->data[pairs->n] = (TVMFFIAny){0};
      command.v_int64 = what;
      rc = TVMFFIFunctionCall(iterator.v_obj, &command, 1, &pairs->data[pairs->n]);
      if (rc == 0) ++pairs->n;
    }
    command.v_int64 = ADVANCE;
    if (rc == 0) rc = TVMFFIFunctionCall(iterator.v_obj, &command, 1, &more);
  }
  fb_any_drop(&iterator);
  return rc;
}

static FbConverted convert_mapping(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out,
                                   FbMismatch *mismatch) {
  if (view->type_index != kTVMFFIMap && view->type_index != kTVMFFIDict) return fb_refuse_view(schema, view, mismatch);
  if (view->type_index == schema->type_index && takes_anything(schema))
    return fb_convert_own(schema, view, out, mismatch);
  TVMFFIAny map;
  FbConverted converted = snapshot(schema, view, kTVMFFIMap, &map, mismatch);
  if (converted != FB_CONVERTED) return converted;
  FbValues pairs = {0};
  converted = read_pairs(&map, &pairs) == 0 ? rebuild(schema, view, pairs.data, pairs.n, out, mismatch)
                                            : fb_refuse_because(schema, view, mismatch);
  fb_values_end(&pairs);
  fb_any_drop(&map);
  return converted;
}

static FbConverted convert_container(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out,
                                     FbMismatch *mismatch) {
  if (schema->op == FB_SCHEMA_MAPPING) return convert_mapping(schema, view, out, mismatch);
  return convert_sequence(schema, view, out, mismatch);
}

void fb_convert_container_init(void) { fb_convert_container = convert_container; }
