/* list, tuple and dict become ffi.Array and ffi.Map through the core's own constructor functions. */
#include "container.h"

#include <stdlib.h>

#include "error.h"

enum { STACK_ITEMS = 16 };

typedef struct Constructor {
  const char *name;
  _Atomic(TVMFFIObject *) function; /* found once, kept for good */
} Constructor;

static Constructor array_constructor = {.name = "ffi.Array"}, map_constructor = {.name = "ffi.Map"};

static TVMFFIObject *constructor_get(HPyContext *ctx, Constructor *self) {
  /* Acquire and release pair with each other: whoever sees the pointer sees the function. */
  TVMFFIObject *found = atomic_load_explicit(&self->function, memory_order_acquire);
  if (FB_LIKELY(found != NULL)) return found;
  TVMFFIByteArray name = {self->name, strlen(self->name)};
  TVMFFIObjectHandle fresh = NULL;
  if (TVMFFIFunctionGetGlobal(&name, &fresh) != 0) {
    fb_error_raise_pending(ctx, self->name);
    return NULL;
  }
  if (fresh == NULL) {
    fb_raise(ctx, ctx->h_RuntimeError, "the global function %s is missing from the core", self->name);
    return NULL;
  }
  TVMFFIObject *expected = NULL;
  if (!atomic_compare_exchange_strong_explicit(&self->function, &expected, fresh, memory_order_acq_rel,
                                               memory_order_acquire)) {
    TVMFFIObjectDecRef(fresh);
    return expected;
  }
  return fresh;
}

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

static int construct(HPyContext *ctx, Constructor *constructor, const Items *items, HPy_ssize_t n, TVMFFIObject **out) {
  TVMFFIObject *function = constructor_get(ctx, constructor);
  if (function == NULL) return -1;
  TVMFFIAny result = {0};
  const TVMFFIFunctionCell *cell = (const TVMFFIFunctionCell *)(function + 1);
  if (cell->safe_call(function, items->views, (int32_t)n, &result) != 0) {
    fb_error_raise_pending(ctx, constructor->name);
    return -1;
  }
  *out = result.v_obj;
  return 0;
}

/* The same argument for messages, one level deeper. */
static FbArgs inner_args(const FbArgs *outer, Items *items) {
  return (FbArgs){.temps = items->temps, .depth = outer->depth, .position = outer->position, .callee = outer->callee};
}

/* Converts an item of a container. What becomes of it must not depend on the Python value: converting the next one may run
 * Python code, which may drop this one. */
static int convert_item(HPyContext *ctx, HPy item, TVMFFIAny *out, FbArgs *inner) {
  int n_temps = inner->n_temps;
  int rc = fb_convert_arg(ctx, item, out, inner);
  if (rc == 0) fb_args_own_last(inner, n_temps, out);
  return rc;
}

/* Whether it is a dict and of no subclass, which may have other items than it holds. False where types have no address. */
static bool is_plain_dict(HPyContext *ctx, HPy value) {
  static _Atomic(intptr_t) dict_type; /* relaxed: each thread writes the same */
  intptr_t wanted, type;
  if (fb_ext == NULL) return false;
  wanted = atomic_load_explicit(&dict_type, memory_order_relaxed);
  if (FB_UNLIKELY(wanted == 0)) {
    HPy dict = HPyDict_New(ctx);
    if (HPy_IsNull(dict)) return HPyErr_Clear(ctx), false;
    memcpy(&wanted, (const char *)dict._i + fb_type_offset, sizeof(wanted));
    HPy_Close(ctx, dict);
    atomic_store_explicit(&dict_type, wanted, memory_order_relaxed);
  }
  memcpy(&type, (const char *)value._i + fb_type_offset, sizeof(type));
  return type == wanted;
}

/* The keys and values of a dict as handles in the places of their views; how many, in all cases. -1 with an exception. */
static int take_pairs(HPyContext *ctx, HPy dict, HPy keys, HPy_ssize_t n, TVMFFIAny *views, HPy_ssize_t *n_taken) {
  for (HPy_ssize_t i = 0; i < n; i++) {
    HPy key = HPy_GetItem_i(ctx, keys, i);
    if (HPy_IsNull(key)) return -1;
    views[(*n_taken)++].v_int64 = key._i;
    HPy value = HPy_GetItem(ctx, dict, key);
    if (HPy_IsNull(value)) return -1;
    views[(*n_taken)++].v_int64 = value._i;
  }
  return 0;
}

/* Without a tuple for each item. All are taken first: converting one may run Python code that changes the dict. */
static int map_from_dict(HPyContext *ctx, HPy dict, FbArgs *args, TVMFFIObject **out) {
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
  for (HPy_ssize_t i = 0; i < n_taken; i++) {
    HPy taken = {(intptr_t)items.views[i].v_int64};
    if (rc == 0) rc = convert_item(ctx, taken, &items.views[i], &inner);
    HPy_Close(ctx, taken);
  }
  if (rc == 0) rc = construct(ctx, &map_constructor, &items, 2 * n, out);
  items_end(&items, &inner);
  HPy_Close(ctx, keys);
  return rc;
}

int fb_array_from_sequence(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out) {
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
  if (rc == 0) rc = construct(ctx, &array_constructor, &items, n, out);
  items_end(&items, &inner);
  return rc;
}

int fb_map_from_mapping(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out) {
  if (is_plain_dict(ctx, value)) return map_from_dict(ctx, value, args, out);
  /* The items of list(value.items()): keys and values alternate. */
  HPy items_method = HPy_GetAttr_s(ctx, value, "items");
  HPy view = HPy_IsNull(items_method) ? HPy_NULL : fb_call(ctx, items_method, NULL, 0, HPy_NULL);
  HPy pairs = HPy_IsNull(view) ? HPy_NULL : fb_call_one(ctx, ctx->h_ListType, view);
  if (!HPy_IsNull(items_method)) HPy_Close(ctx, items_method);
  if (!HPy_IsNull(view)) HPy_Close(ctx, view);
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
  if (rc == 0) rc = construct(ctx, &map_constructor, &items, 2 * n, out);
  items_end(&items, &inner);
  HPy_Close(ctx, pairs);
  return rc;
}
