/* Orders of arguments: made as the package describes them, and kept in lists that are only extended. */
#include "argument_order.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/hook.h"

/* An argument: the number of one that the call has, or else a default. */
typedef struct Place {
  HPy_ssize_t from; /* -1: value */
  HPy value;
} Place;

struct FbArgumentOrder {
  const FbArgumentOrder *next;
  uint16_t about; /* of the function (function_struct.h); 0: the order is for one call */
  size_t n_positional, n_names, n_places;
  HPy *names; /* interned; behind the places. Only in orders of `known` */
  Place places[];
};

/* Orders that last as long as the process, in lists by the number of the metadata. A reader takes no lock: a complete
 * order is put at the beginning of a list and stays there. Only where handles are object pointers, because a reader
 * compares the names by them. */
enum { N_LISTS = 128, MOST_EACH = 32 };
static const FbArgumentOrder *known[N_LISTS];

FH_INLINE bool fits(const FbArgumentOrder *order, uint16_t about, size_t n, HPy names, size_t n_names) {
  if (order->about != about || order->n_positional != n || order->n_names != n_names) return false;
  for (size_t i = 0; i < n_names; ++i) {
    if (order->names[i]._i != fb_tuple_item(names, (HPy_ssize_t)i)._i) return false;
  }
  return true;
}

/* The first order from `order` on for a call with n positional arguments and the names; NULL if there is none. */
static const FbArgumentOrder *find(const FbArgumentOrder *order, uint16_t about, size_t n, HPy names, size_t n_names) {
  while (order != NULL && !fits(order, about, n, names, n_names)) order = order->next;
  return order;
}

/* Makes an order as the package describes it: a tuple of numbers, and of tuples with a default. NULL with an exception
 * raised. */
static FbArgumentOrder *order_new(HPyContext *ctx, HPy described, size_t n_names) {
  HPy_ssize_t n = HPy_Length(ctx, described);
  if (n < 0) return NULL;
  FbArgumentOrder *order = calloc(1, sizeof(*order) + (size_t)n * sizeof(Place) + n_names * sizeof(HPy));
  if (order == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  order->n_places = (size_t)n;
  order->names = (HPy *)(order->places + n);
  for (HPy_ssize_t i = 0; i < n && !HPyErr_Occurred(ctx); ++i) {
    Place *place = &order->places[i];
    HPy item = HPy_GetItem_i(ctx, described, i);
    if (HPy_IsNull(item)) break;
    bool is_default = HPyTuple_Check(ctx, item);
    place->from = is_default ? -1 : HPyLong_AsSsize_t(ctx, item);
    if (is_default) place->value = HPy_GetItem_i(ctx, item, 0);
    HPy_Close(ctx, item);
  }
  if (!HPyErr_Occurred(ctx)) return order;
  fb_argument_order_end(ctx, order);
  return NULL;
}

/* Completes an order with its names and puts it into its list, unless the list has an equal one, or many of the same
 * function already. */
static void keep(HPyContext *ctx, FbArgumentOrder *order, uint16_t about, size_t n, HPy names) {
  const FbArgumentOrder **list = &known[about % N_LISTS], *first = fh_atomic_load_acquire(list); /* pairs with itself */
  size_t n_names = (size_t)HPy_Length(ctx, names), n_same = 0;
  if (find(first, about, n, names, n_names) != NULL) return;
  for (const FbArgumentOrder *each = first; each != NULL; each = each->next) n_same += each->about == about;
  if (n_same >= MOST_EACH) return;
  for (size_t i = 0; i < n_names; ++i) order->names[i] = HPy_GetItem_i(ctx, names, (HPy_ssize_t)i);
  for (size_t i = 0; i < order->n_places; ++i) {
    if (order->places[i].from < 0) fb_context_keep(order->places[i].value);
  }
  order->about = about;
  order->n_positional = n;
  order->n_names = n_names;
  order->next = first;
  while (!fh_atomic_cas_acq_rel(list, &order->next, order)) {
  }
}

FH_INLINE uint16_t read_about(const uint16_t *about) {
  return FH_LIKELY(about != NULL) ? fh_atomic_load_relaxed(about) : 0;
}

/* Asks the package. */
static FH_NOINLINE const FbArgumentOrder *order_made(HPyContext *ctx, HPy function, const uint16_t *at, size_t n,
                                                     HPy kwnames, HPy *mistake) {
  HPy parts[] = {function, HPyLong_FromSize_t(ctx, n), kwnames};
  HPy found = HPy_IsNull(parts[1]) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_ORDER_OF_ARGUMENTS, parts, 3);
  if (!HPy_IsNull(parts[1])) HPy_Close(ctx, parts[1]);
  if (HPy_IsNull(found)) return NULL;
  if (!HPyTuple_Check(ctx, found)) {
    *mistake = found;
    return NULL;
  }
  HPy names = HPy_GetItem_i(ctx, found, 0), described = HPy_GetItem_i(ctx, found, 1);
  FbArgumentOrder *order = NULL;
  if (!HPy_IsNull(names) && !HPy_IsNull(described)) {
    order = order_new(ctx, described, (size_t)HPy_Length(ctx, names));
    uint16_t about = read_about(at); /* the package may have set it just now */
    bool can_keep = fb_ext != NULL && fb_context_keeps_handles && fb_context_tuple_items != 0;
    if (order != NULL && can_keep && about != 0) keep(ctx, order, about, n, names);
  }
  if (!HPy_IsNull(names)) HPy_Close(ctx, names);
  if (!HPy_IsNull(described)) HPy_Close(ctx, described);
  HPy_Close(ctx, found);
  return order;
}

const FbArgumentOrder *fb_argument_order_get(HPyContext *ctx, HPy function, const uint16_t *at, size_t n, HPy kwnames,
                                             HPy *mistake) {
  *mistake = HPy_NULL;
  uint16_t about = read_about(at);
  const FbArgumentOrder *first = about == 0 ? NULL : fh_atomic_load_acquire(&known[about % N_LISTS]); /* see keep() */
  if (FH_LIKELY(first != NULL)) {
    const FbArgumentOrder *order = find(first, about, n, kwnames, (size_t)HPy_Length(ctx, kwnames));
    if (FH_LIKELY(order != NULL)) return order;
  }
  return order_made(ctx, function, at, n, kwnames, mistake);
}

void fb_argument_order_end(HPyContext *ctx, const FbArgumentOrder *order) {
  if (order->about != 0) return;
  for (size_t i = 0; i < order->n_places; ++i) {
    if (!HPy_IsNull(order->places[i].value)) HPy_Close(ctx, order->places[i].value);
  }
  free((void *)order);
}

size_t fb_argument_order_count(const FbArgumentOrder *order) { return order->n_places; }

void fb_argument_order_apply(const FbArgumentOrder *order, const HPy *argv, HPy *ordered) {
  for (size_t i = 0; i < order->n_places; ++i) {
    const Place *place = &order->places[i];
    ordered[i] = place->from < 0 ? place->value : argv[place->from];
  }
}
