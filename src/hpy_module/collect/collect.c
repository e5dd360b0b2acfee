/* The binding's part of a collection.
 *
 * The interpreter's collector subtracts, for each object of a collection, the references from objects of the collection
 * from its reference count, and then marks everything that is reachable from an object with references left. A Python
 * object that a native object owns has one reference that belongs to no Python object. If the native object is proven
 * (scan.h), that reference can be subtracted: the native object lives only as long as some wrappers. This reference is
 * subtracted when the collector has counted all wrappers of the native object's group, because a wrapper that takes no
 * part in the collection may be alive. A wrapper that is reached reaches every Python object behind its native object.
 *
 * An interpreter collects in two passes: finalizers of unreachable objects run after the first, and may change
 * anything. The second pass counts the unreachable objects again. The second pass begins when a wrapper is counted that
 * was counted before, and has its own scan, in which only wrappers that were unreachable may refer to native objects.
 * From then on the proven objects are retained, because the interpreter clears Python objects in any order, and
 * wrappers may end before their group is cleared.
 *
 * Everything here runs on the thread that collects. Without a GIL, other threads are stopped while it counts and marks,
 * but not while finalizers run. */
#include "collect.h"

#include <stdlib.h>

#include "core/platform/system.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/function/callback.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/preserve.h"
#include "proven.h"

static struct {
  uint64_t thread; /* the thread that collects; 0: none */
  uint8_t is_filled; /* until the next collection begins */
  uint8_t asks; /* FHPY_ASKS_... */
  FbScan scan;
  /* Orphans, each with a weak reference, and the first n_locked with a strong one, too. */
  TVMFFIObject **orphans;
  uint32_t n_orphans, n_locked;
  uint32_t n_garbage; /* so many of the first are garbage, without any wrapper */
} state;

static bool is_collecting(void) {
  uint64_t thread = fh_atomic_load_relaxed(&state.thread);
  return thread != 0 && thread == fh_thread_id();
}

static void swap(TVMFFIObject **orphans, uint32_t a, uint32_t b) {
  TVMFFIObject *orphan = orphans[a];
  orphans[a] = orphans[b];
  orphans[b] = orphan;
}

/* Takes strong references to the orphans that are alive, and moves these to the front. */
static void lock_orphans(void) {
  state.n_orphans = fb_orphan_take(&state.orphans);
  state.n_locked = state.n_garbage = 0;
  for (uint32_t i = 0; i < state.n_orphans; ++i) {
    if (fb_weak_lock(state.orphans[i])) swap(state.orphans, i, state.n_locked++);
  }
}

/* Moves to the front the orphans to which only proven native objects without wrappers refer. */
static void find_garbage(void) {
  for (uint32_t i = 0; i < state.n_locked; ++i) {
    uint32_t number = fb_scan_find(&state.scan, state.orphans[i]);
    if (number == FB_SCAN_NONE || state.scan.nodes[number].is_held) continue;
    if (state.scan.nodes[fb_scan_group(&state.scan, number)].n_wrappers != 0) continue;
    swap(state.orphans, i, state.n_garbage++);
  }
}

static void fill(const FbScan *former, FbScan *scan) {
  const FbScanRoots roots = {true, former, state.orphans, state.n_locked};
  fb_scan_fill(scan, &roots);
}

/* Makes the collector call the finalizers of wrappers that it may find unreachable. The collector calls no function
 * twice, but counts the call that let the native object own the wrapper. */
static void expect_finalizers(void) {
  for (uint32_t i = 0; i < state.scan.n_nodes; ++i) {
    const FbScanNode *node = &state.scan.nodes[i];
    if (node->n_owned != 0 && !node->is_held) (void)fb_ext->end_resume(fb_identity_wrapper(node->cell));
  }
}

static void ensure_filled(void) {
  if (state.is_filled) return;
  state.is_filled = true;
  lock_orphans();
  fill(NULL, &state.scan);
  fh_atomic_store_relaxed(&state.asks, (uint8_t)FHPY_ASKS_FLAGGED); /* the scan has flagged its wrappers */
  find_garbage();
  expect_finalizers();
}

static FbHandleCell *cell_of(HPy self) { return (FbHandleCell *)((char *)self._i + fb_context_data_offset); }

/* Returns the number of the wrapper's node, or FB_SCAN_NONE. */
static uint32_t node_of(HPy self) {
  const FbHandleCell *cell = cell_of(self);
  const TVMFFIObject *object = fh_atomic_load_relaxed(&cell->handle);
  uint32_t number = object == NULL ? FB_SCAN_NONE : fb_scan_find(&state.scan, object);
  return number != FB_SCAN_NONE && state.scan.nodes[number].cell == cell ? number : FB_SCAN_NONE;
}

typedef int (*Visit)(void *object, void *arg);

static int visit_owned(const FbScanNode *node, Visit visit, void *arg) {
  int rc = node->owner == NULL ? 0 : visit((void *)node->owner->ref.handle._i, arg);
  for (uint8_t i = 0; rc == 0 && i < node->n_owned; ++i) rc = visit((void *)fb_identity_wrapper(node->cell)._i, arg);
  return rc;
}

/* Records that the collector has counted or reached a wrapper. Returns the representative of its group if that was the
 * last wrapper of the group, otherwise NULL. */
static FbScanNode *see(uint32_t number) {
  FbScanNode *node = &state.scan.nodes[number];
  if (node->is_held || node->is_seen || node->is_live || !fb_scan_counts(node)) return NULL;
  FbScanNode *group = &state.scan.nodes[fb_scan_group(&state.scan, number)];
  return ++group->n_seen == group->n_wrappers ? group : NULL;
}

static int count(HPy self, Visit visit, void *arg) {
  uint32_t number = node_of(self);
  if (number == FB_SCAN_NONE) return 0;
  if (state.scan.nodes[number].is_seen) { /* the second pass begins */
    FbScan fresh = {0};
    fill(&state.scan, &fresh);
    fb_proven_release(&state.scan);
    fb_scan_free(&state.scan);
    state.scan = fresh;
    fb_proven_retain(&state.scan);
    if ((number = node_of(self)) == FB_SCAN_NONE) return 0;
  }
  FbScanNode *group = see(number);
  state.scan.nodes[number].is_seen = true;
  if (group == NULL) return 0;
  uint32_t each = number;
  do {
    int rc = visit_owned(&state.scan.nodes[each], visit, arg);
    if (rc != 0) return rc;
    each = state.scan.nodes[each].next_in_group;
  } while (each != number);
  return 0;
}

static int reach(HPy self, Visit visit, void *arg) {
  FbScan *scan = &state.scan;
  uint32_t number = node_of(self);
  if (number == FB_SCAN_NONE) return 0;
  (void)see(number);
  scan->nodes[number].is_live = true;
  if (scan->nodes[number].is_held || scan->nodes[number].is_reached) return 0;
  /* A node is marked when it is put on the path, so the path has room for all of them. */
  uint32_t n = 0;
  scan->path[n++] = number;
  scan->nodes[number].is_reached = true;
  int rc = 0;
  while (n != 0 && rc == 0) {
    number = scan->path[--n];
    for (uint32_t i = 0; i < scan->nodes[number].n_edges; ++i) {
      FbScanNode *target = &scan->nodes[fb_scan_edges(scan, number)[i]];
      if (target->is_held || target->is_reached) continue;
      target->is_reached = true;
      scan->path[n++] = (uint32_t)(target - scan->nodes);
    }
    rc = visit_owned(&scan->nodes[number], visit, arg);
  }
  return rc;
}

/* Returns the owner of the callable behind a wrapper of a Function, or NULL. A Function keeps its handle. */
static FbPyOwner *owner_of_callable(HPy self) {
  TVMFFIObject *object = fh_atomic_load_acquire(&cell_of(self)->handle); /* as in fb_handle_cell_get */
  bool is_function = object != NULL && object->type_index == kTVMFFIFunction;
  return is_function ? fb_callback_owner(object) : NULL;
}

/* Whether only its wrapper refers to an object. relaxed: in that case only code with the wrapper changes the count. */
static bool is_single(HPy self) {
  return fh_atomic_load_relaxed(&cell_of(self)->handle->combined_ref_count) == FB_ONLY_REFERENCE;
}

/* For wrappers that are not in the scan. The callable of a Function that only its wrapper refers to is like a reference
 * of the wrapper itself. Programs may have many such Functions. */
static int visit_callable(HPy self, int purpose, Visit visit, void *arg) {
  const FbPyOwner *owner = owner_of_callable(self);
  if (owner == NULL || HPy_IsNull(owner->ref.handle)) return 0;
  return purpose != FHPY_TRAVERSE_COUNT || is_single(self) ? visit((void *)owner->ref.handle._i, arg) : 0;
}

static int traverse(HPy self, int purpose, Visit visit, void *arg) {
  bool collects = is_collecting(); /* else another thread may ask for the references of an object */
  if (collects) ensure_filled();
  bool is_scanned = collects && (fh_atomic_load_relaxed(&cell_of(self)->flags) & FB_CELL_SCANNED) != 0;
  if (!is_scanned) return visit_callable(self, purpose, visit, arg);
  return purpose == FHPY_TRAVERSE_COUNT ? count(self, visit, arg) : reach(self, visit, arg);
}

/* --- clearing ----------------------------------------------------------------------------------------------------- */

/* Puts into the path the numbers of a group's nodes to which no live wrapper refers. Returns how many there are. */
static uint32_t find_dead(FbScan *scan, uint32_t number) {
  uint32_t n = 0, each = number;
  do {
    if (fb_proven_is_dead(&scan->nodes[each])) scan->path[n++] = each;
    each = scan->nodes[each].next_in_group;
  } while (each != number);
  return n;
}

/* Breaks the cycles of a group that is garbage, whose objects are retained, and releases these. The scan stays as it
 * is: only counting fills it again. */
static void clear_group(FbScan *scan, uint32_t number) {
  HPyContext *ctx = fb_ctx;
  uint32_t n = find_dead(scan, number);
  for (uint32_t i = 0; i < n; ++i) {
    const FbScanNode *node = &scan->nodes[scan->path[i]];
    if (node->owner != NULL) HPy_Close(ctx, fb_py_owner_exchange(ctx, node->owner, ctx->h_None));
    bool owns_wrapper = node->cell != NULL && fb_identity_is_preserved(node->object);
    HPy wrapper = owns_wrapper ? fb_identity_resume(node->object, FB_RESUME_SHARE) : HPy_NULL;
    if (!HPy_IsNull(wrapper)) HPy_Close(ctx, wrapper); /* it ends, or has other references */
  }
  fb_proven_cut(scan, n);
}

/* Returns the group of a wrapper that the collector found unreachable, together with its native object; NULL for any
 * other wrapper. */
static FbScanNode *garbage_group(HPy self, uint32_t *number) {
  *number = is_collecting() && state.is_filled ? node_of(self) : FB_SCAN_NONE;
  if (*number == FB_SCAN_NONE) return NULL;
  const FbScanNode *node = &state.scan.nodes[*number];
  if (node->is_held || !node->is_seen || node->is_live || node->is_reached) return NULL;
  FbScanNode *group = &state.scan.nodes[fb_scan_group(&state.scan, *number)];
  return group->is_cleared || group->n_seen == group->n_wrappers ? group : NULL;
}

static FbGarbage what_garbage(FbHandleCell *cell) {
  uint32_t number;
  const FbScanNode *group = garbage_group(fb_identity_wrapper(cell), &number);
  return group == NULL ? FB_NO_GARBAGE : group->is_cleared ? FB_GARBAGE_CLEARED : FB_GARBAGE_FOUND;
}

static void clear_once(FbScanNode *group, uint32_t number) {
  if (group->is_cleared) return;
  group->is_cleared = true;
  FbPendingError pending = fb_error_slot_take(fb_ctx);
  FbRaised raised;
  fb_raised_take(&raised);
  clear_group(&state.scan, number);
  fb_error_slot_clear();
  fb_raised_put(&raised);
  fb_error_slot_put(pending);
}

static void clear(HPy self) {
  uint32_t number;
  FbScanNode *group = garbage_group(self, &number);
  if (group != NULL) clear_once(group, number);
  FbPyOwner *owner = group == NULL ? owner_of_callable(self) : NULL;
  if (owner != NULL && is_single(self)) HPy_Close(fb_ctx, fb_py_owner_exchange(fb_ctx, owner, fb_ctx->h_None));
}

/* Clears the groups that are garbage and that the collector did not clear. The wrappers of such a group end before the
 * collector comes to them, if other garbage is cleared first. The native objects would be orphans, which wait for
 * another collection, and no object would lead to values of std::shared_ptr. */
static void clear_others(void) {
  for (uint32_t i = 0; i < state.scan.n_nodes; ++i) {
    const FbScanNode *node = &state.scan.nodes[i];
    if (!node->is_retained || !fb_proven_is_dead(node)) continue;
    FbScanNode *group = &state.scan.nodes[fb_scan_group(&state.scan, i)];
    if (group->n_wrappers != 0 && group->n_seen == group->n_wrappers) clear_once(group, i);
  }
}

/* --- orphans ------------------------------------------------------------------------------------------------------ */

/* Ends the orphans that are garbage, after another proof, because finalizers have run in between. No other code changes
 * them, because no other code refers to them. */
static void clear_garbage(void) {
  FbScan scan = {0};
  const FbScanRoots roots = {.orphans = state.orphans, .n_orphans = state.n_garbage};
  fb_scan_fill(&scan, &roots);
  fb_proven_retain(&scan);
  for (uint32_t i = 0; i < state.n_garbage; ++i) {
    uint32_t number = fb_scan_find(&scan, state.orphans[i]);
    if (number == FB_SCAN_NONE || scan.nodes[number].is_held) continue;
    FbScanNode *group = &scan.nodes[fb_scan_group(&scan, number)];
    if (!group->is_cleared) clear_group(&scan, number);
    group->is_cleared = true;
  }
  fb_proven_release(&scan);
  fb_scan_free(&scan);
}

/* Releases the orphans. The next collection looks again at the orphans that are alive and refer to other objects. If
 * the collector has met no wrapper, which is so if all are frozen, there was no scan: all that are alive wait. */
static void end_orphans(void) {
  if (!state.is_filled) lock_orphans();
  if (state.n_garbage != 0) clear_garbage();
  for (uint32_t i = 0; i < state.n_orphans; ++i) {
    TVMFFIObject *orphan = state.orphans[i];
    if (i < state.n_locked) {
      uint32_t number = fb_scan_find(&state.scan, orphan);
      const FbScanNode *node = number == FB_SCAN_NONE ? NULL : &state.scan.nodes[number];
      bool waits = i >= state.n_garbage && node != NULL && (node->n_edges != 0 || !node->is_read);
      if (waits || !state.is_filled) fb_orphan_note(orphan);
      TVMFFIObjectDecRef(orphan);
    }
    fb_weak_drop(orphan);
  }
  free(state.orphans);
  state.orphans = NULL;
  state.n_orphans = state.n_locked = state.n_garbage = 0;
}

static void phase(int begins, int generation) {
  enum { ALL = 2 };
  if (begins) {
    state.is_filled = false;
    fh_atomic_store_relaxed(&state.thread, generation == ALL ? fh_thread_id() : 0);
    fh_atomic_store_relaxed(&state.asks, (uint8_t)(generation == ALL ? FHPY_ASKS_ALWAYS : FHPY_ASKS_NEVER));
  } else if (is_collecting()) {
    clear_others();
    fh_atomic_store_relaxed(&state.thread, 0);
    fh_atomic_store_relaxed(&state.asks, (uint8_t)FHPY_ASKS_NEVER);
    fb_proven_release(&state.scan);
    end_orphans();
    fb_scan_free(&state.scan);
  }
}

void fb_collect_init(void) {
  static FhpyCollector functions = {.traverse = traverse, .clear = clear, .phase = phase, .asks = &state.asks};
  if (!fb_context_collects) return;
  functions.flags_offset = fb_context_data_offset + (ptrdiff_t)offsetof(FbHandleCell, flags);
  functions.flag = FB_CELL_SCANNED;
  fb_preserve_garbage = what_garbage;
  fb_ext->collect_begin(&functions);
}
