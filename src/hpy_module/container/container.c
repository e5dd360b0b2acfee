/* list, tuple and dict become ffi.Array and ffi.Map (or List and Dict) through the core's constructor functions, which
 * take all items as arguments of one call. Each item becomes a view, like an argument, possibly with a temporary, and
 * the constructor retains the items that it stores. */
#include "container.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/object/recorded.h"
#include "hpy_module/object/transfer.h"

/* For containers with more items, views and temporaries are on the heap. */
enum { STACK_ITEMS = 16 };

static FbCoreFunction new_array = {.name = "ffi.Array"}, new_list = {.name = "ffi.List"};
static FbCoreFunction new_map = {.name = "ffi.Map"}, new_dict = {.name = "ffi.Dict"};

/* The arguments of a constructor call: a view and room for a temporary per item. */
typedef struct Items {
  TVMFFIAny *views;
  FbTemp *temps;
  TVMFFIAny stack_views[STACK_ITEMS];
  FbTemp stack_temps[STACK_ITEMS];
} Items;

/* Allocates room for n items: on the stack, or in one block on the heap. Returns 0, or -1 with MemoryError raised. */
static int items_begin(HPyContext *ctx, Items *items, HPy_ssize_t n) {
  items->views = items->stack_views;
  items->temps = items->stack_temps;
  if (n <= STACK_ITEMS) return 0;
  items->views = calloc((size_t)n, sizeof(items->views[0]) + sizeof(items->temps[0]));
  if (items->views == NULL || n > INT32_MAX) {
    free(items->views);
    HPyErr_NoMemory(ctx);
    return -1;
  }
  items->temps = (FbTemp *)(items->views + n);
  return 0;
}

/* Releases the temporaries, like fb_args_end, and frees the room. */
static void items_end(Items *items, FbArgs *inner, int rc) {
  fb_args_end(inner, rc);
  if (items->views != items->stack_views) free(items->views);
}

/* Calls a constructor with the first n views. Returns 0, or -1 with an exception raised. */
static int construct(HPyContext *ctx, FbCoreFunction *constructor, const Items *items, HPy_ssize_t n,
                     TVMFFIObject **out) {
  TVMFFIAny result;
  if (fb_core_function_run(ctx, constructor, items->views, (int32_t)n, &result) != 0) return -1;
  if (FH_UNLIKELY(fb_recorded_is_on()) && fb_recorded_tell(ctx, result.v_obj) != 0) {
    fb_drop_object(result.v_obj, FB_DROP_UNKNOWN);
    return -1;
  }
  *out = result.v_obj;
  return 0;
}

/* Messages about an inner value name the argument that contains it. */
static FbArgs inner_args(const FbArgs *outer, Items *items) {
  return (FbArgs){.temps = items->temps,
                  .depth = outer->depth,
                  .reads = outer->reads,
                  .position = outer->position,
                  .callee = outer->callee,
                  .scope = outer->scope,
                  .function = outer->function};
}

/* Converts an item of a container. The result must not depend on the Python value: converting the next item may run
 * Python code, which may drop this value. */
static int convert_item(HPyContext *ctx, HPy item, TVMFFIAny *out, FbArgs *inner) {
  int64_t number;
  if (FH_LIKELY(fb_ext != NULL) && fb_immediate_read(item, out)) return 0; /* the usual items of a long list */
  if (fb_container_int(ctx, item, &number)) {
    *out = fb_core_function_int(number);
    return 0;
  }
  int n_temps = inner->n_temps;
  int rc = fb_argument_convert(ctx, item, out, inner);
  if (rc == 0) fb_args_own_last(inner, n_temps, out);
  return rc;
}

/* Whether a value is exactly a dict. A subclass may override items(). HPy 0.9 has no handle of the type dict, so the
 * type word is read from an instance. False without the extension, which reads the type word. */
static bool is_plain_dict(HPyContext *ctx, HPy value) {
  static intptr_t dict_type; /* relaxed: each thread writes the same value */
  intptr_t wanted, type;
  if (fb_ext == NULL) return false;
  wanted = fh_atomic_load_relaxed(&dict_type);
  if (FH_UNLIKELY(wanted == 0)) {
    HPy dict = HPyDict_New(ctx);
    if (HPy_IsNull(dict)) return HPyErr_Clear(ctx), false;
    memcpy(&wanted, (const char *)dict._i + fb_context_type_offset, sizeof(wanted));
    HPy_Close(ctx, dict);
    fh_atomic_store_relaxed(&dict_type, wanted);
  }
  memcpy(&type, (const char *)value._i + fb_context_type_offset, sizeof(type));
  return type == wanted;
}

/* Whether a value is exactly a list. */
static bool is_plain_list(HPyContext *ctx, HPy value) {
  if (FH_LIKELY(fb_ext != NULL)) return fb_type_tag_type(value) == ctx->h_ListType._i;
  HPy type = HPy_Type(ctx, value);
  bool is_list = HPy_Is(ctx, type, ctx->h_ListType);
  HPy_Close(ctx, type);
  return is_list;
}

HPy fb_container_snapshot(HPyContext *ctx, HPy value) {
  if (is_plain_list(ctx, value)) return fb_call_one(ctx, ctx->h_TupleType, value);
  if (!is_plain_dict(ctx, value)) return HPy_NULL;
  HPy type = HPy_Type(ctx, value);
  HPy copy = fb_call_one(ctx, type, value);
  HPy_Close(ctx, type);
  return copy;
}

/* Converts a container of Python. Returns 0, or -1 with an exception raised. */
typedef int (*Conversion)(HPyContext *ctx, FbCoreFunction *constructor, HPy value, FbArgs *args, TVMFFIObject **out);

/* Without a GIL, converts the snapshot of a list or dict, because another thread may change the value during that. */
static FH_NOINLINE int from_snapshot(HPyContext *ctx, Conversion convert, FbCoreFunction *constructor, HPy value,
                                     FbArgs *args, TVMFFIObject **out) {
  HPy copy = fb_container_snapshot(ctx, value);
  if (HPy_IsNull(copy)) return HPyErr_Occurred(ctx) ? -1 : convert(ctx, constructor, value, args, out);
  int rc = convert(ctx, constructor, copy, args, out);
  HPy_Close(ctx, copy);
  return rc;
}

/* Opens handles of the keys and values of a dict, and stores each in the place of its view. *n_taken counts the open
 * handles, also on failure. Returns 0, or -1 with an exception raised. */
static int take_pairs(HPyContext *ctx, HPy dict, HPy keys, HPy_ssize_t n, TVMFFIAny *views, HPy_ssize_t *n_taken) {
  for (HPy_ssize_t i = 0; i < n; ++i) {
    HPy key = HPy_GetItem_i(ctx, keys, i);
    if (HPy_IsNull(key)) return -1;
    views[(*n_taken)++].v_int64 = key._i;
    HPy value = HPy_GetItem(ctx, dict, key);
    if (HPy_IsNull(value)) return -1;
    views[(*n_taken)++].v_int64 = value._i;
  }
  return 0;
}

/* Like from_mapping, without a tuple per entry. All handles are opened first, because converting a value may run Python
 * code that changes the dict. PyPy 7.3 displaces the entry HPyDict_Keys (context.h), but this function requires the
 * extension (is_plain_dict). */
static int from_dict(HPyContext *ctx, FbCoreFunction *constructor, HPy dict, FbArgs *args, TVMFFIObject **out) {
  HPy keys = HPyDict_Keys(ctx, dict);
  if (HPy_IsNull(keys)) return -1;
  HPy_ssize_t n = HPy_Length(ctx, keys), n_taken = 0;
  Items items;
  if (n < 0 || items_begin(ctx, &items, 2 * n) != 0) {
    HPy_Close(ctx, keys);
    return -1;
  }
  FbArgs inner = inner_args(args, &items);
  int rc = take_pairs(ctx, dict, keys, n, items.views, &n_taken);
  for (HPy_ssize_t i = 0; i < n_taken; ++i) {
    HPy taken = {(intptr_t)items.views[i].v_int64};
    if (rc == 0) rc = convert_item(ctx, taken, &items.views[i], &inner);
    HPy_Close(ctx, taken);
  }
  if (rc == 0) rc = construct(ctx, constructor, &items, 2 * n, out);
  items_end(&items, &inner, rc);
  HPy_Close(ctx, keys);
  return rc;
}

/* Returns item i of a list or tuple, borrowed, without a call; HPy_NULL without an exception if that is not possible,
 * or if a list has shrunk. */
FH_INLINE HPy item_in_place(HPyContext *ctx, HPy sequence, HPy_ssize_t i) {
  if (FH_UNLIKELY(fb_ext == NULL)) return HPy_NULL;
  intptr_t type = fb_type_tag_type(sequence);
  if (type == ctx->h_TupleType._i && fb_context_tuple_items != 0) return fb_tuple_item(sequence, i);
  if (type != ctx->h_ListType._i || fb_context_list_items == 0) return HPy_NULL;
  size_t n;
  const HPy *items;
  memcpy(&n, (const char *)sequence._i + fb_context_list_items - sizeof(n), sizeof(n));
  memcpy(&items, (const char *)sequence._i + fb_context_list_items, sizeof(items));
  return (size_t)i < n ? items[i] : HPy_NULL;
}

/* The length is read once, because converting an item may run Python code that changes the list. */
static int convert_sequence(HPyContext *ctx, FbCoreFunction *constructor, HPy value, FbArgs *args, TVMFFIObject **out) {
  HPy_ssize_t n = HPy_Length(ctx, value);
  Items items;
  if (n < 0 || items_begin(ctx, &items, n) != 0) return -1;
  FbArgs inner = inner_args(args, &items);
  int rc = 0;
  for (HPy_ssize_t i = 0; rc == 0 && i < n; ++i) {
    HPy borrowed = item_in_place(ctx, value, i);
    if (FH_LIKELY(!HPy_IsNull(borrowed)) && fb_immediate_read(borrowed, &items.views[i])) continue;
    HPy item = HPy_GetItem_i(ctx, value, i); /* IndexError if the list has shrunk */
    if (HPy_IsNull(item)) {
      rc = -1;
      break;
    }
    rc = convert_item(ctx, item, &items.views[i], &inner);
    HPy_Close(ctx, item);
  }
  if (rc == 0) rc = construct(ctx, constructor, &items, n, out);
  items_end(&items, &inner, rc);
  return rc;
}

FH_INLINE int from_sequence(HPyContext *ctx, FbCoreFunction *constructor, HPy value, FbArgs *args, TVMFFIObject **out) {
  if (FH_UNLIKELY(fb_context_free_threaded)) return from_snapshot(ctx, convert_sequence, constructor, value, args, out);
  return convert_sequence(ctx, constructor, value, args, out);
}

HPy fb_container_pairs(HPyContext *ctx, HPy value) {
  HPy items_method = HPy_GetAttr_s(ctx, value, "items");
  HPy view = HPy_IsNull(items_method) ? HPy_NULL : fb_call(ctx, items_method, NULL, 0, HPy_NULL);
  HPy pairs = HPy_IsNull(view) ? HPy_NULL : fb_call_one(ctx, ctx->h_ListType, view);
  if (!HPy_IsNull(items_method)) HPy_Close(ctx, items_method);
  if (!HPy_IsNull(view)) HPy_Close(ctx, view);
  return pairs;
}

/* 1 or 0; -1 with an exception raised, because a subclass of tuple may raise in `__len__`. */
static int is_pair(HPyContext *ctx, HPy value) {
  if (!HPyTuple_Check(ctx, value) && !HPyList_Check(ctx, value)) return 0;
  HPy_ssize_t n = HPy_Length(ctx, value);
  return n < 0 ? -1 : n == 2;
}

/* Converts any mapping by its items(). The constructor gets alternating keys and values. If items() has something other
 * than pairs, and `has_others` is not NULL, sets it and returns -1 without an error. */
static int from_mapping(HPyContext *ctx, FbCoreFunction *constructor, HPy value, FbArgs *args, TVMFFIObject **out,
                        bool *has_others) {
  if (is_plain_dict(ctx, value)) {
    if (FH_UNLIKELY(fb_context_free_threaded)) return from_snapshot(ctx, from_dict, constructor, value, args, out);
    return from_dict(ctx, constructor, value, args, out);
  }
  HPy pairs = fb_container_pairs(ctx, value);
  if (HPy_IsNull(pairs)) return -1;
  HPy_ssize_t n = HPy_Length(ctx, pairs);
  Items items;
  if (n < 0 || items_begin(ctx, &items, 2 * n) != 0) {
    HPy_Close(ctx, pairs);
    return -1;
  }
  FbArgs inner = inner_args(args, &items);
  int rc = 0;
  for (HPy_ssize_t i = 0; rc == 0 && i < 2 * n; ++i) {
    HPy pair = HPy_GetItem_i(ctx, pairs, i / 2);
    int may_read = HPy_IsNull(pair) ? -1 : has_others == NULL ? 1 : is_pair(ctx, pair);
    if (may_read == 0) *has_others = true;
    HPy item = may_read == 1 ? HPy_GetItem_i(ctx, pair, i % 2) : HPy_NULL;
    rc = HPy_IsNull(item) ? -1 : convert_item(ctx, item, &items.views[i], &inner);
    if (!HPy_IsNull(item)) HPy_Close(ctx, item);
    if (!HPy_IsNull(pair)) HPy_Close(ctx, pair);
  }
  if (rc == 0) rc = construct(ctx, constructor, &items, 2 * n, out);
  items_end(&items, &inner, rc);
  HPy_Close(ctx, pairs);
  return rc;
}

/* The two FbConversions: they make an immutable container as a temporary of the call. */
static int sequence_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  TVMFFIObject *made;
  if (from_sequence(ctx, &new_array, value, args, &made) != 0) return -1;
  if (!is_plain_list(ctx, value) && HPyTuple_Check(ctx, value)) made->__padding = FFI_HPY_MADE_OF_TUPLE;
  return fb_args_view(args, made, out);
}

static int mapping_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  TVMFFIObject *made;
  bool has_others = false;
  int rc = from_mapping(ctx, &new_map, value, args, &made, &has_others);
  if (has_others)
    return fb_argument_keep(ctx, value, out, args); /* the function refuses the object by its own message */
  return rc == 0 ? fb_args_view(args, made, out) : -1;
}

void fb_container_init(void) {
  fb_argument_set_conversion(FB_TYPE_KIND_SEQUENCE, sequence_argument);
  fb_argument_set_conversion(FB_TYPE_KIND_MAPPING, mapping_argument);
}

int fb_container_fill(HPyContext *ctx, HPy self, int32_t type_index, HPy value, const char *callee) {
  FbArgs args = {.position = 0, .callee = callee}; /* messages say "callee() argument 1" */
  TVMFFIObject *made;
  int rc;
  switch (type_index) {
  case kTVMFFIArray: rc = from_sequence(ctx, &new_array, value, &args, &made); break;
  case kTVMFFIList: rc = from_sequence(ctx, &new_list, value, &args, &made); break;
  case kTVMFFIMap: rc = from_mapping(ctx, &new_map, value, &args, &made, NULL); break;
  default: rc = from_mapping(ctx, &new_dict, value, &args, &made, NULL); break;
  }
  HPy_Close(ctx, value);
  return rc == 0 ? fb_transfer_put(ctx, self, made) : -1;
}

HPy fb_container_argument(HPyContext *ctx, const char *callee, const char *name, const HPy *args, HPy_ssize_t nargs,
                          HPy kw) {
  const FbKeywords keywords = {callee, &name, 1, NULL};
  HPy given;
  return fb_keywords_bind_dict(ctx, &keywords, 0, args, nargs, kw, &given) == 0 ? given : HPy_NULL;
}

/* --- calls of the package ---------------------------------------------------------------------------------------- */

HPy fb_rare_call(HPyContext *ctx, HPy self, const char *method, HPy key, HPy value) {
  HPy name = HPyUnicode_FromString(ctx, method);
  if (HPy_IsNull(name)) return HPy_NULL;
  HPy args[3] = {self, key, value};
  HPy result = fb_call_method(ctx, name, args, HPy_IsNull(key) ? 1 : HPy_IsNull(value) ? 2 : 3);
  HPy_Close(ctx, name);
  return result;
}

int fb_rare_run(HPyContext *ctx, HPy self, const char *method, HPy key, HPy value) {
  HPy result = fb_rare_call(ctx, self, method, key, value);
  if (HPy_IsNull(result)) return -1;
  HPy_Close(ctx, result);
  return 0;
}

/* --- uses of the native object ----------------------------------------------------------------------------------- */

FbHandleCell *fb_use_refuse(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  fb_handle_cell_unuse(cell);
  fb_rare_run(ctx, self, "_refuse_object", HPy_NULL, HPy_NULL);
  return NULL;
}
