/* Containers that are rebuilt, unless they fit as they are. */
#include "schema_container.h"

#include <stdlib.h>

#include "core_function.h"
#include "error.h"

static FbCoreFunction make_array = {.name = "ffi.Array"}, make_list = {.name = "ffi.List"},
                      make_map = {.name = "ffi.Map"}, make_dict = {.name = "ffi.Dict"},
                      map_size = {.name = "ffi.MapSize"}, map_iterate = {.name = "ffi.MapForwardIterFunctor"},
                      repr = {.name = "ffi.ReprPrint"};

static bool is_object(const TVMFFIAny *value) { return value->type_index >= kTVMFFIStaticObjectBegin; }
static void drop(TVMFFIAny *value) {
  if (is_object(value)) TVMFFIObjectDecRef(value->v_obj);
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

/* --- native containers ---------------------------------------------------------------------------------------------------- */

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
  if (fit == FB_FIT)
    fit = changed ? fb_schema_build(schema, &values, out, fault) : fb_schema_own(schema, view, out, fault);
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
  if (view->type_index == type_index) return fb_schema_own(schema, view, out, fault);
  fb_schema_refuse_view(schema, view, fault);
  return fb_schema_convert_by_type(type_index, view, out, fault);
}

static FbFit fit_sequence(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  if (view->type_index != kTVMFFIArray && view->type_index != kTVMFFIList)
    return fb_schema_refuse_view(schema, view, fault);
  if (view->type_index == schema->type_index && takes_anything(schema)) return fb_schema_own(schema, view, out, fault);
  TVMFFIAny array;
  FbFit fit = snapshot(schema, view, kTVMFFIArray, &array, fault);
  if (fit != FB_FIT) return fit;
  const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(array.v_obj + 1);
  if (schema->op == FB_SCHEMA_TUPLE && cell->size != schema->n_args) {
    fit = fb_schema_refuse_length(schema, fault, fb_schema_name_of(view, fault), cell->size);
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
  if (view->type_index != kTVMFFIMap && view->type_index != kTVMFFIDict)
    return fb_schema_refuse_view(schema, view, fault);
  if (view->type_index == schema->type_index && takes_anything(schema)) return fb_schema_own(schema, view, out, fault);
  TVMFFIAny map;
  FbFit fit = snapshot(schema, view, kTVMFFIMap, &map, fault);
  if (fit != FB_FIT) return fit;
  FbValues pairs = {0};
  fit = read_pairs(&map, &pairs) == 0 ? rebuild(schema, view, pairs.data, pairs.n, out, fault)
                                      : fb_schema_refuse_because(schema, view, fault);
  fb_values_end(&pairs);
  drop(&map);
  return fit;
}

FbFit fb_schema_fit_container(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault) {
  if (schema->op == FB_SCHEMA_MAPPING) return fit_mapping(schema, view, out, fault);
  return fit_sequence(schema, view, out, fault);
}
