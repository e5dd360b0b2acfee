/* The scan for the cffi backend, whose wrappers only Python code knows (ffi_hpy/_pypy/object/cycles.py).
 *
 * A closed group is a group of native objects to which only the wrappers that the caller has found refer, and the group
 * itself. Both functions keep the GIL, so no other thread of Python changes an object in between. */
#include "closed.h"

#include <stdlib.h>

#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "proven.h"

/* Reads the arguments: a pointer to pointers of objects, and numbers. Returns 0, or -1 with an exception raised. */
static int read_args(HPyContext *ctx, const HPy *args, size_t nargs, size_t wanted, TVMFFIObject ***objects,
                     int64_t *numbers) {
  if (nargs != wanted) {
    fb_raise(ctx, ctx->h_TypeError, "expected %zu arguments, got %zu", wanted, nargs);
    return -1;
  }
  *objects = HPyLong_AsVoidPtr(ctx, args[0]);
  for (size_t i = 1; i < nargs; ++i) numbers[i - 1] = HPyLong_AsLongLong(ctx, args[i]);
  return HPyErr_Occurred(ctx) ? -1 : 0;
}

/* Marks the groups with a function or one of the first `n_first` objects. The mark is n_seen of the representative,
 * which no other code uses without wrappers among the roots. */
static void mark_relevant(FbScan *scan, TVMFFIObject *const *objects, int64_t n_first) {
  for (uint32_t i = 0; i < scan->n_nodes; ++i) {
    uint8_t kind = scan->nodes[i].kind;
    if (kind != FB_HOLDER_FUNCTION && kind != FB_HOLDER_PYTHON) continue;
    if (!scan->nodes[i].is_held) scan->nodes[fb_scan_group(scan, i)].n_seen = 1;
  }
  for (int64_t i = 0; i < n_first; ++i) {
    uint32_t number = fb_scan_find(scan, objects[i]);
    if (number != FB_SCAN_NONE) scan->nodes[fb_scan_group(scan, number)].n_seen = 1;
  }
}

/* Numbers the objects of relevant groups in the path, from 1. Returns the number of words that write_words needs. */
static size_t number_objects(FbScan *scan) {
  size_t n_words = 1;
  uint32_t n = 0;
  for (uint32_t i = 0; i < scan->n_nodes; ++i) {
    const FbScanNode *node = &scan->nodes[i];
    scan->path[i] = 0;
    if (node->is_held || scan->nodes[fb_scan_group(scan, i)].n_seen == 0) continue;
    scan->path[i] = ++n;
    n_words += 2 + node->n_edges;
  }
  return n_words;
}

/* Writes the number of objects; and of each its pointer, the number of its references, and the positions of their
 * targets, from 0. The pointer of a value that std::shared_ptr share is 0. */
static void write_words(FbScan *scan, int64_t *words) {
  int64_t *next = words + 1;
  words[0] = 0;
  for (uint32_t i = 0; i < scan->n_nodes; ++i) {
    const FbScanNode *node = &scan->nodes[i];
    if (scan->path[i] == 0) continue;
    ++words[0];
    int64_t *head = next;
    next += 2;
    head[0] = node->shared != NULL ? 0 : (int64_t)(intptr_t)node->object;
    for (uint32_t k = 0; k < node->n_edges; ++k) {
      uint32_t target = scan->path[fb_scan_edges(scan, i)[k]];
      if (target != 0) *next++ = (int64_t)target - 1; /* references to objects that are held do not matter */
    }
    head[1] = next - head - 2;
  }
}

FB_METHOD(fb_closed_find, "closed_groups",
          "The graph of the native objects that only the given wrappers, and others of the graph, refer to.") {
  TVMFFIObject **objects;
  int64_t numbers[3];
  if (read_args(ctx, args, nargs, 4, &objects, numbers) != 0) return HPy_NULL;
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  FbPendingError pending = fb_error_slot_take(ctx);
  FbScan scan = {0};
  const FbScanRoots roots = {.orphans = objects,
                             .n_orphans = (uint32_t)numbers[1],
                             .n_preserved = (uint32_t)numbers[0],
                             .is_busy = numbers[2] != 0};
  fb_scan_fill(&scan, &roots);
  int64_t *words = NULL;
  if (!scan.has_failed && scan.path != NULL) {
    mark_relevant(&scan, objects, numbers[0]);
    words = malloc(number_objects(&scan) * sizeof(*words));
    if (words != NULL) write_words(&scan, words);
  }
  fb_scan_free(&scan);
  fb_error_slot_put(pending);
  fb_thread_leave_held(&outer);
  return HPyLong_FromLongLong(ctx, (int64_t)(intptr_t)words);
}

FB_METHOD(fb_closed_break, "closed_break",
          "Break the cycles of native objects that only the given wrappers, which are garbage, keep alive.") {
  TVMFFIObject **objects;
  int64_t n;
  if (read_args(ctx, args, nargs, 2, &objects, &n) != 0) return HPy_NULL;
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  FbPendingError pending = fb_error_slot_take(ctx);
  FbScan scan = {0};
  const FbScanRoots roots = {.orphans = objects, .n_orphans = (uint32_t)n};
  fb_scan_fill(&scan, &roots);
  fb_proven_retain(&scan);
  uint32_t n_dead = 0;
  for (uint32_t i = 0; i < scan.n_nodes; ++i) {
    if (fb_proven_is_dead(&scan.nodes[i])) scan.path[n_dead++] = i;
  }
  fb_proven_cut(&scan, n_dead);
  fb_scan_free(&scan);
  fb_error_slot_clear();
  fb_error_slot_put(pending);
  fb_thread_leave_held(&outer);
  return HPy_Dup(ctx, ctx->h_None);
}
