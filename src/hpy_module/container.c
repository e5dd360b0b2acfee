/* list, tuple and dict become ffi.Array and ffi.Map through the core's own constructor functions. */
#include "container.h"

#include <stdlib.h>

#include "core_function.h"

enum { STACK_ITEMS = 16 };

static FbCoreFunction new_array = {.name = "ffi.Array"}, new_list = {.name = "ffi.List"};
static FbCoreFunction new_map = {.name = "ffi.Map"}, new_dict = {.name = "ffi.Dict"};

/* Arguments of a constructor call: a view and room for a temporary for each item. */
typedef struct Items {
  TVMFFIAny *views;
  FbTemp *temps;
  TVMFFIAny stack_views[STACK_ITEMS];
  FbTemp stack_temps[STACK_ITEMS];
} Items;

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

static void items_end(Items *items, FbArgs *inner) {
  fb_args_end(inner);
  if (items->views != items->stack_views) free(items->views);
}

static int construct(HPyContext *ctx, FbCoreFunction *constructor, const Items *items, HPy_ssize_t n,
                     TVMFFIObject **out) {
  TVMFFIAny result;
  if (fb_core_function_run(ctx, constructor, items->views, (int32_t)n, &result) != 0) return -1;
  *out = result.v_obj;
  return 0;
}

/* The same argument for messages, one level deeper. */
static FbArgs inner_args(const FbArgs *outer, Items *items) {
  return (FbArgs){.temps = items->temps,
                  .depth = outer->depth,
                  .position = outer->position,
                  .callee = outer->callee,
                  .scope = outer->scope};
}

/* Converts an item of a container. What becomes of it must not depend on the Python value: converting the next one may run
 * Python code, which may drop this one. */
static int convert_item(HPyContext *ctx, HPy item, TVMFFIAny *out, FbArgs *inner) {
  int n_temps = inner->n_temps;
  int rc = fb_convert_arg(ctx, item, out, inner);
  if (rc == 0) fb_args_own_last(inner, n_temps, out);
  return rc;
}

static int from_sequence(HPyContext *ctx, FbCoreFunction *constructor, HPy value, FbArgs *args, TVMFFIObject **out) {
  HPy_ssize_t n = HPy_Length(ctx, value);
  Items items;
  if (n < 0 || items_begin(ctx, &items, n) != 0) return -1;
  FbArgs inner = inner_args(args, &items);
  int rc = 0;
  for (HPy_ssize_t i = 0; rc == 0 && i < n; i++) {
    HPy item = HPy_GetItem_i(ctx, value, i); /* IndexError if the list shrinks meanwhile */
    if (HPy_IsNull(item)) {
      rc = -1;
      break;
    }
    rc = convert_item(ctx, item, &items.views[i], &inner);
    HPy_Close(ctx, item);
  }
  if (rc == 0) rc = construct(ctx, constructor, &items, n, out);
  items_end(&items, &inner);
  return rc;
}

HPy fb_mapping_pairs(HPyContext *ctx, HPy value) {
  HPy items_method = HPy_GetAttr_s(ctx, value, "items");
  HPy view = HPy_IsNull(items_method) ? HPy_NULL : fb_call(ctx, items_method, NULL, 0, HPy_NULL);
  HPy pairs = HPy_IsNull(view) ? HPy_NULL : fb_call_one(ctx, ctx->h_ListType, view);
  if (!HPy_IsNull(items_method)) HPy_Close(ctx, items_method);
  if (!HPy_IsNull(view)) HPy_Close(ctx, view);
  return pairs;
}

static int from_mapping(HPyContext *ctx, FbCoreFunction *constructor, HPy value, FbArgs *args, TVMFFIObject **out) {
  HPy pairs = fb_mapping_pairs(ctx, value); /* keys and values alternate in what is made of them */
  if (HPy_IsNull(pairs)) return -1;
  HPy_ssize_t n = HPy_Length(ctx, pairs);
  Items items;
  if (n < 0 || items_begin(ctx, &items, 2 * n) != 0) {
    HPy_Close(ctx, pairs);
    return -1;
  }
  FbArgs inner = inner_args(args, &items);
  int rc = 0;
  for (HPy_ssize_t i = 0; rc == 0 && i < 2 * n; i++) {
    HPy pair = HPy_GetItem_i(ctx, pairs, i / 2);
    HPy item = HPy_IsNull(pair) ? HPy_NULL : HPy_GetItem_i(ctx, pair, i % 2);
    rc = HPy_IsNull(item) ? -1 : convert_item(ctx, item, &items.views[i], &inner);
    if (!HPy_IsNull(item)) HPy_Close(ctx, item);
    if (!HPy_IsNull(pair)) HPy_Close(ctx, pair);
  }
  if (rc == 0) rc = construct(ctx, constructor, &items, 2 * n, out);
  items_end(&items, &inner);
  HPy_Close(ctx, pairs);
  return rc;
}

int fb_array_from_sequence(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out) {
  return from_sequence(ctx, &new_array, value, args, out);
}

int fb_map_from_mapping(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out) {
  return from_mapping(ctx, &new_map, value, args, out);
}

int fb_container_make(HPyContext *ctx, int32_t type_index, HPy value, const char *callee, TVMFFIObject **out) {
  FbArgs args = {.position = 0, .callee = callee};
  switch (type_index) {
  case kTVMFFIArray: return from_sequence(ctx, &new_array, value, &args, out);
  case kTVMFFIList: return from_sequence(ctx, &new_list, value, &args, out);
  case kTVMFFIMap: return from_mapping(ctx, &new_map, value, &args, out);
  default: return from_mapping(ctx, &new_dict, value, &args, out);
  }
}

HPy fb_container_argument(HPyContext *ctx, const char *callee, const char *name, const HPy *args, HPy_ssize_t nargs,
                          HPy kw) {
  HPy_ssize_t n_keywords = HPy_IsNull(kw) ? 0 : HPy_Length(ctx, kw);
  if (n_keywords < 0) return HPy_NULL;
  if (nargs + n_keywords > 1) {
    return fb_raise(ctx, ctx->h_TypeError, "%s() takes at most one argument, got %zd", callee, nargs + n_keywords);
  }
  if (nargs == 1) return HPy_Dup(ctx, args[0]);
  if (n_keywords == 0) return HPy_NULL;
  HPy value = HPy_GetItem_s(ctx, kw, name);
  if (!HPy_IsNull(value) || !HPyErr_ExceptionMatches(ctx, ctx->h_KeyError)) return value;
  HPyErr_Clear(ctx);
  return fb_raise(ctx, ctx->h_TypeError, "%s() takes no keyword argument but '%s'", callee, name);
}
