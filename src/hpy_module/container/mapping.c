/* Map and Dict, implemented by the core's functions, one call per operation. Keys compare by the core's rules, not by
 * Python's. Operations on a Dict are atomic with respect to each other, because each is one step under the core's lock.
 * Iteration over a Dict copies the Dict first. */
#include "container.h"
#include "deep_copy.h"

#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/convert/args.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/object/object_type.h"
#include "iterate.h"

/* The core's functions for one operation, on a Map and on a Dict. */
typedef struct Pair {
  FbCoreFunction map, dict;
} Pair;

static Pair size_functions = {{.name = "ffi.MapSize"}, {.name = "ffi.DictSize"}},
            count_functions = {{.name = "ffi.MapCount"}, {.name = "ffi.DictCount"}},
            get_functions = {{.name = "ffi.MapGetItemOrMissing"}, {.name = "ffi.DictGetItemOrMissing"}};
static FbCoreFunction dict_set = {.name = "ffi.DictSetItem"}, get_missing = {.name = "ffi.GetInvalidObject"},
                      to_map = {.name = "__ffi_convert__", .type_index = kTVMFFIMap};

/* --- the native object -------------------------------------------------------------------------------------------- */

/* Converts a value that self has, and steals it. A tensor becomes an array of another library if self was returned
 * under that library's exchange table. */
FH_INLINE HPy value_result(HPyContext *ctx, HPy self, TVMFFIAny *value) {
  return fb_iterate_item(ctx, value, fb_exchange_number_find(fb_object_cell(ctx, self)));
}

FH_INLINE FbCoreFunction *choose(Pair *functions, const TVMFFIObject *handle) {
  return handle->type_index == kTVMFFIMap ? &functions->map : &functions->dict;
}

/* Whether a key is looked up without hooks: true for a number or a string. Hooks are called only for two objects of one
 * type. An rvalue reference may refer to any object. */
FH_INLINE bool is_plain(const TVMFFIAny *key) {
  if (key->type_index >= kTVMFFIStaticObjectBegin) return key->type_index == kTVMFFIStr;
  return key->type_index != kTVMFFIObjectRValueRef;
}

/* Calls one of `functions`, which only read, with a plain key in args[1] or without a key. Such a call runs no code
 * that could move the handle, so a use of the cell suffices. Threads that share the mapping then do not contend for its
 * reference count. */
FH_INLINE int call_in_place(HPyContext *ctx, HPy self, Pair *functions, TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  FbHandleCell *cell = fb_use_begin(ctx, self, kTVMFFIMap, kTVMFFIDict);
  if (FH_UNLIKELY(cell == NULL)) return -1;
  args[0] = fb_core_function_object(cell->handle);
  int rc = fb_core_function_run(ctx, choose(functions, cell->handle), args, n, result);
  fb_handle_cell_unuse(cell);
  return rc;
}

/* Whether a key, the first argument that was converted, is an object made for this call. Identity cannot find such a
 * key. Tensors and objects of the core's own types have other rules. */
static bool is_made(const TVMFFIAny *key, const FbArgs *args) {
  if (args->n_temps == 0) return false;
  uintptr_t tag = args->temps[0].tagged & FB_TEMP_TAGS;
  if (tag != 0) return tag == FB_TEMP_OPAQUE;
  switch (key->type_index) {
  case kTVMFFIArray:
  case kTVMFFIMap:
  case kTVMFFIFunction:
  case kTVMFFIError:
  case kTVMFFIOpaquePyObject: return true;
  default: return false;
  }
}

enum { CALL_SEARCHES = 1 };

/* Calls `function` (or, if it is NULL, the function of `functions` for self's type) with self and, unless they are
 * HPy_NULL, key and value. *result is owned. Returns 0, -1 with an exception raised, or CALL_SEARCHES without a call if
 * `may_search` and identity cannot find the key. */
FH_INLINE int call_with(HPyContext *ctx, HPy self, FbCoreFunction *function, Pair *functions, HPy key, HPy value,
                        TVMFFIAny *result, bool may_search) {
  HPy given[2] = {key, value};
  FbTemp temps[2]; /* a conversion adds one temporary at most */
  FbArgs converted = {
      .temps = temps, .position = -1, .callee = function != NULL ? function->name : functions->map.name};
  TVMFFIAny args[3];
  int32_t n = 1;
  int rc = 0;
  /* Arguments are converted first: that may run Python code, which may give self another handle. */
  for (int i = 0; rc == 0 && i < 2 && !HPy_IsNull(given[i]); ++i) {
    rc = fb_argument_convert(ctx, given[i], &args[n++], &converted);
  }
  bool needs_no_hook = rc == 0 && (n == 1 || is_plain(&args[1]));
  if (FH_UNLIKELY(rc == 0 && !needs_no_hook) && may_search && is_made(&args[1], &converted)) {
    fb_args_end(&converted, 0);
    return CALL_SEARCHES;
  }
  bool is_in_place = needs_no_hook && function == NULL;
  TVMFFIObject *handle = rc == 0 && !is_in_place ? fb_use_take(ctx, self, kTVMFFIMap, kTVMFFIDict) : NULL;
  rc = is_in_place ? call_in_place(ctx, self, functions, args, n, result) : -1;
  if (handle != NULL) {
    args[0] = fb_core_function_object(handle);
    rc = fb_core_function_run(ctx, function != NULL ? function : choose(functions, handle), args, n, result);
    fb_drop_object(handle, rc);
  }
  fb_args_end(&converted, rc);
  return rc;
}

/* Whether a value is the core's marker for "no value"; the marker is then dropped. A lookup that returns the marker
 * needs only one step to find the key and its value. */
static bool is_missing(HPyContext *ctx, TVMFFIAny *value) {
  static TVMFFIObject *missing; /* lives as long as the core */
  if (FH_LIKELY(value->type_index != kTVMFFIObject)) return false;
  TVMFFIObject *mark = fh_atomic_load_acquire(&missing); /* pairs with the store below */
  TVMFFIAny fresh;
  if (mark == NULL && fb_core_function_run(ctx, &get_missing, NULL, 0, &fresh) == 0) {
    mark = fresh.v_obj;
    fh_atomic_store_release(&missing, mark);
    TVMFFIObjectDecRef(mark);
  }
  if (mark == NULL) HPyErr_Clear(ctx); /* a core without the marker does not use it */
  if (mark != value->v_obj) return false;
  TVMFFIObjectDecRef(value->v_obj);
  return true;
}

/* Raises KeyError(key). The exception object is made here: if the key itself were raised as value, a tuple would become
 * several arguments, and None no argument. */
static HPy raise_key(HPyContext *ctx, HPy key) {
  HPy error = fb_call_one(ctx, ctx->h_KeyError, key);
  if (HPy_IsNull(error)) return error;
  HPyErr_SetObject(ctx, ctx->h_KeyError, error);
  HPy_Close(ctx, error);
  return HPy_NULL;
}

/* The call for the key of self that equals a key, which the package's method `_own_key` finds. */
static FH_NOINLINE int call_with_own(HPyContext *ctx, HPy self, Pair *functions, HPy key, TVMFFIAny *result) {
  HPy own = fb_rare_call(ctx, self, "_own_key", key, HPy_NULL);
  if (HPy_IsNull(own)) return -1;
  int rc = call_with(ctx, self, NULL, functions, own, HPy_NULL, result, false);
  HPy_Close(ctx, own);
  return rc;
}

/* Like call_with, for functions that only read, and without CALL_SEARCHES. Each conversion of a tuple or of an object
 * of Python makes another native object, and native keys compare objects by identity: the key of self that equals such
 * a key replaces it. */
static int call(HPyContext *ctx, HPy self, Pair *functions, HPy key, TVMFFIAny *result) {
  int rc = call_with(ctx, self, NULL, functions, key, HPy_NULL, result, true);
  return FH_LIKELY(rc != CALL_SEARCHES) ? rc : call_with_own(ctx, self, functions, key, result);
}

/* Looks up a key. Returns 1, 0 if it is missing, or -1 with an exception raised. */
FH_INLINE int look_up(HPyContext *ctx, HPy self, HPy key, TVMFFIAny *value) {
  if (FH_UNLIKELY(call(ctx, self, &get_functions, key, value) != 0)) return -1;
  return !is_missing(ctx, value);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

HPyDef_SLOT(mapping_length, HPy_mp_length)
static HPy_ssize_t mapping_length_impl(HPyContext *ctx, HPy self) {
  TVMFFIAny size;
  return call(ctx, self, &size_functions, HPy_NULL, &size) != 0 ? -1 : (HPy_ssize_t)size.v_int64;
}

HPyDef_SLOT(mapping_item, HPy_mp_subscript)
static HPy mapping_item_impl(HPyContext *ctx, HPy self, HPy key) {
  TVMFFIAny value;
  int found = look_up(ctx, self, key, &value);
  if (FH_LIKELY(found == 1)) return value_result(ctx, self, &value);
  return found < 0 ? HPy_NULL : raise_key(ctx, key);
}

HPyDef_SLOT(mapping_contains, HPy_sq_contains)
static int mapping_contains_impl(HPyContext *ctx, HPy self, HPy key) {
  TVMFFIAny n;
  int rc = call(ctx, self, &count_functions, key, &n);
  return rc != 0 ? -1 : n.v_int64 != 0;
}

FB_METHOD_KEYWORDS(mapping_get, "get",
                   "get($self, key, default=None)\n--\n\n"
                   "Look up a value.\n\n"
                   "Args:\n"
                   "    key: the key to look up.\n"
                   "    default: the result if the key is missing.") {
  static const char *const names[] = {"key", "default"};
  static const FbKeywords keywords = {"get", names, 2, NULL};
  HPy given[2];
  TVMFFIAny value;
  int found =
      fb_keywords_bind(ctx, &keywords, 1, args, nargs, kwnames, given) != 0 ? -1 : look_up(ctx, self, given[0], &value);
  if (found < 0) return HPy_NULL;
  if (found == 1) return value_result(ctx, self, &value);
  return HPy_Dup(ctx, HPy_IsNull(given[1]) ? ctx->h_None : given[1]);
}

/* Makes an iterator over self. A Dict is first copied into a Map, in one step under the core's lock, and the iterator
 * keeps the Map. */
static HPy iterate(HPyContext *ctx, HPy self, FbPart part) {
  TVMFFIObject *handle = fb_use_take(ctx, self, kTVMFFIMap, kTVMFFIDict);
  if (handle == NULL) return HPy_NULL;
  TVMFFIAny map = fb_core_function_object(handle);
  if (handle->type_index == kTVMFFIDict) {
    TVMFFIAny dict = map;
    int rc = fb_core_function_run(ctx, &to_map, &dict, 1, &map);
    fb_drop_object(handle, rc);
    if (rc != 0) return HPy_NULL;
  }
  return fb_iterate_map(ctx, map.v_obj, part, fb_exchange_number_find(fb_object_cell(ctx, self)));
}

FB_METHOD_NOARGS(mapping_iter, "__iter__", "Over the keys; of a Dict over those that are there now.") {
  return iterate(ctx, self, FB_PART_KEYS);
}

FB_METHOD_NOARGS(mapping_iter_values, "_iter_values", "The same over the values.") {
  return iterate(ctx, self, FB_PART_VALUES);
}

FB_METHOD_NOARGS(mapping_iter_items, "_iter_items", "The same over pairs of key and value.") {
  return iterate(ctx, self, FB_PART_ITEMS);
}

/* --- construction ------------------------------------------------------------------------------------------------- */

/* Map(input_dict=None) and Dict(input_dict=None). Without an argument, or with None, the container is empty. */
static int mapping_init(HPyContext *ctx, HPy self, int32_t type_index, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  const char *name = type_index == kTVMFFIMap ? "Map" : "Dict";
  HPy given = fb_container_argument(ctx, name, "input_dict", args, nargs, kw);
  if (HPy_IsNull(given) && HPyErr_Occurred(ctx)) return -1;
  bool is_empty = HPy_IsNull(given) || HPy_Is(ctx, given, ctx->h_None);
  HPy entries = is_empty ? HPyDict_New(ctx) : HPy_Dup(ctx, given);
  if (!HPy_IsNull(given)) HPy_Close(ctx, given);
  return HPy_IsNull(entries) ? -1 : fb_container_fill(ctx, self, type_index, entries, name);
}

HPyDef_SLOT(map_init, HPy_tp_init)
static int map_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  return mapping_init(ctx, self, kTVMFFIMap, args, nargs, kw);
}

/* Overrides map_init, which CDict would inherit. */
HPyDef_SLOT(dict_init, HPy_tp_init)
static int dict_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  return mapping_init(ctx, self, kTVMFFIDict, args, nargs, kw);
}

/* --- changing a Dict ---------------------------------------------------------------------------------------------- */

HPyDef_SLOT(dict_assign, HPy_mp_ass_subscript)
static int dict_assign_impl(HPyContext *ctx, HPy self, HPy key, HPy value) {
  TVMFFIAny nothing;
  if (HPy_IsNull(value)) return fb_rare_run(ctx, self, "_delete", key, HPy_NULL); /* `del` */
  int rc = call_with(ctx, self, &dict_set, NULL, key, value, &nothing, true);
  return FH_LIKELY(rc != CALL_SEARCHES) ? rc : fb_rare_run(ctx, self, "_put_searched", key, value);
}

/* --- types -------------------------------------------------------------------------------------------------------- */

FB_OBJECT_CLASS(mapping)

HPy fb_mapping_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {
      &mapping_new, &map_init,     &mapping_length,      &mapping_item,       &mapping_contains,
      &mapping_get, &mapping_iter, &mapping_iter_values, &mapping_iter_items, &fb_deep_copy_container,
      NULL,         NULL};
  return fb_object_type_plain(ctx, "ffi_hpy._core.CMapping", "Reading of native mappings.", defines, base,
                              &mapping_type);
}

FB_OBJECT_CLASS(dict)

HPy fb_mapping_dict_type_new(HPyContext *ctx, HPy mapping) {
  static HPyDef *defines[] = {&dict_new, &dict_init, &dict_assign, NULL, NULL};
  return fb_object_type_plain(ctx, "ffi_hpy._core.CDict", "Changes of native mappings.", defines, mapping, &dict_type);
}
