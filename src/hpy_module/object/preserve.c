/* The finalization of a wrapper with state, and the deleter of native objects that own their wrapper. */
#include "preserve.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/py_owner.h"
#include "identity.h"
#include "object.h"

/* --- orphans ------------------------------------------------------------------------------------------------------ */

/* The set of orphans: hash tables by address, with open addressing and linear probing. Items are only removed all at
 * once. */

typedef struct Table {
  TVMFFIObject **slots; /* NULL: free */
  uint32_t n, n_slots; /* n_slots: 0 or a power of two, at least 2 * n */
} Table;

static Table tables[FH_N_LOCKS_BY_ADDRESS];
FH_LOCKS(locks, FH_N_LOCKS_BY_ADDRESS, "orphans");

static TVMFFIObject **probe(const Table *table, const TVMFFIObject *object) {
  size_t i = (size_t)((uint64_t)(uintptr_t)object >> 4);
  for (;; ++i) {
    TVMFFIObject **slot = &table->slots[i & (table->n_slots - 1)];
    if (*slot == NULL || *slot == object) return slot;
  }
}

static bool grow(Table *table) {
  Table larger = {NULL, table->n, table->n_slots == 0 ? 16 : 2 * table->n_slots};
  larger.slots = calloc(larger.n_slots, sizeof(TVMFFIObject *));
  if (larger.slots == NULL) return false;
  for (uint32_t i = 0; i < table->n_slots; ++i) {
    if (table->slots[i] != NULL) *probe(&larger, table->slots[i]) = table->slots[i];
  }
  free(table->slots);
  *table = larger;
  return true;
}

void fb_orphan_note(TVMFFIObject *object) {
  if (FH_UNLIKELY(fb_object_is_shared_ptrs(object))) return;
  Table *table = &tables[fh_fork_number_of(object)];
  fh_mutex *lock = fh_fork_lock_of(locks, object);
  fh_mutex_lock(lock);
  if (2 * table->n < table->n_slots || grow(table)) {
    TVMFFIObject **slot = probe(table, object);
    if (*slot == NULL) {
      fb_weak_take(object); /* the caller's reference keeps it alive */
      *slot = object;
      ++table->n;
    }
  }
  fh_mutex_unlock(lock);
}

uint32_t fb_orphan_take(TVMFFIObject ***out) {
  size_t n_room = 0;
  uint32_t n = 0;
  *out = NULL;
  for (size_t i = 0; i < FH_N_LOCKS_BY_ADDRESS; ++i) n_room += fh_atomic_load_relaxed(&tables[i].n);
  TVMFFIObject **all = n_room == 0 ? NULL : malloc(n_room * sizeof(TVMFFIObject *));
  if (all == NULL) return 0;
  for (size_t i = 0; i < FH_N_LOCKS_BY_ADDRESS; ++i) {
    Table *table = &tables[i];
    fh_mutex_lock(&locks[i].lock);
    if (n + table->n <= n_room) {
      for (uint32_t k = 0; k < table->n_slots; ++k) {
        if (table->slots[k] != NULL) all[n++] = table->slots[k];
      }
      free(table->slots);
      *table = (Table){0};
    }
    fh_mutex_unlock(&locks[i].lock);
  }
  *out = all;
  return n;
}

/* --- wrappers with state ------------------------------------------------------------------------------------------ */

FbGarbage (*fb_preserve_garbage)(FbHandleCell *cell);

/* A wrapper whose end this thread has begun. */
typedef struct Ending {
  FbHandleCell *cell;
  bool has_returned; /* the release of its native reference was the last one, and it has the object again */
  struct Ending *outer;
} Ending;

static FH_THREAD_LOCAL Ending *innermost;

HPy fb_preserve_trade(TVMFFIObject *handle) {
  return fb_identity_is_preserved(handle) ? fb_identity_resume(handle, FB_RESUME_TRADE) : HPy_NULL;
}

bool fb_preserve_has_state(HPy self) { return fb_identity_deleter != NULL && fb_ext->end_is_watched(self) != 0; }

/* Python code uses a preserved wrapper. The caller has a reference to it. */
static void resume(FbHandleCell *cell) {
  HPy self = fb_identity_resume(cell->handle, FB_RESUME_TRY);
  if (!HPy_IsNull(self)) HPy_Close(fb_ctx, self);
}

/* --- the deleter -------------------------------------------------------------------------------------------------- */

/* The deleter has a strong reference to the object, which becomes the wrapper's. */
static void release_wrapper(HPyContext *ctx, void *object) {
  HPy self = fb_identity_resume(object, FB_RESUME_END);
  if (HPy_IsNull(self)) { /* a moved wrapper, or one that another thread has just got */
    TVMFFIObjectDecRef(object);
    return;
  }
  const FbHandleCell *cell = fb_object_cell(ctx, self);
  for (Ending *each = innermost; each != NULL; each = each->outer) each->has_returned |= each->cell == cell;
  HPy_Close(ctx, self);
}

/* Native code has released the last strong reference. The count is restored before anything else, so that only code
 * that runs between the release and this function sees an object without one: FB_RESUME_TRY waits for it. The weak
 * reference is for the caller, which releases the one that belonged to the strong references. */
static void delete_preserved(void *self, int flags) {
  (void)flags; /* Strong only: the state PRESERVED has a weak reference */
  TVMFFIObject *object = self;
  (void)fh_atomic_add_seq_cst(&object->combined_ref_count, FB_ONLY_REFERENCE);
  fb_py_owner_call(object, release_wrapper);
}

/* --- moves -------------------------------------------------------------------------------------------------------- */

FbPreserved *fb_preserve_offer(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  if (!fb_preserve_has_state(self)) return NULL;
  fb_identity_share(ctx, self, cell);
  FbPreserved *preserved = malloc(sizeof(*preserved));
  if (preserved != NULL && fb_identity_preserve(cell, preserved, true)) return preserved;
  free(preserved);
  return NULL;
}

/* --- the finalization of a wrapper -------------------------------------------------------------------------------- */

/* Lets the native object own the wrapper, whose end has begun on this thread. Returns false if the wrapper owns the
 * object's only reference, and if it cannot be preserved. */
static bool preserve(FbHandleCell *cell) {
  TVMFFIObject *handle = cell->handle;
  while (fb_handle_cell_listing(cell) == FB_LISTED && fb_identity_is_held(handle)) {
    FbPreserved *preserved = malloc(sizeof(*preserved));
    if (preserved == NULL || !fb_identity_preserve(cell, preserved, false)) {
      free(preserved);
      return false;
    }
    Ending ending = {cell, false, innermost};
    innermost = &ending;
    TVMFFIObjectDecRef(handle);
    innermost = ending.outer;
    if (!ending.has_returned) return true;
  }
  return false;
}

/* Asked by the interpreter before it destroys anything of an instance, and again after __del__. If __del__ resurrects
 * the wrapper, the next share registers it again, and lets it end again. */
static int keeps(HPy self) {
  FbHandleCell *cell = fb_object_cell(fb_ctx, self);
  FbGarbage garbage = fb_preserve_garbage == NULL ? FB_NO_GARBAGE : fb_preserve_garbage(cell);
  bool was_finalized = (fh_atomic_load_relaxed(&cell->flags) & FB_CELL_FINALIZED) != 0;
  bool may_live = garbage == FB_NO_GARBAGE || (garbage == FB_GARBAGE_FOUND && was_finalized);
  if (may_live && preserve(cell)) return FHPY_END_KEPT;
  /* Garbage stays registered until it is destroyed, because the collector has not finished with it. */
  return fb_identity_finalize(cell, garbage == FB_NO_GARBAGE) ? FHPY_END_PROCEEDS : FHPY_END_FINALIZE;
}

/* --- collections of garbage --------------------------------------------------------------------------------------- */

/* The collector does not see the native references to the object of a wrapper. The collector would take a wrapper that
 * refers to itself for garbage, clear the weak references to it, and finalize the objects that it refers to. Therefore
 * this file holds, for the time of a collection, each wrapper with state whose object native code holds.
 *
 * The addresses of these objects are noted when a wrapper is registered. Like the objects of the collector they are in
 * generations, so that a collection of young objects looks at young wrappers only. An address stays noted after the end
 * of the object; then the instance map has no entry for it, or one of another wrapper. */

enum { N_GENERATIONS = 3, FIRST_SIZE = 1024 };

typedef struct Noted {
  TVMFFIObject **items;
  size_t n, capacity;
} Noted;

/* Without a GIL. Only realloc is called under it. */
FH_LOCK(noted_lock, "noted wrappers", FH_RANK_PLAIN);
static Noted generations[N_GENERATIONS];
static Noted held; /* by the collection in progress: wrappers */
static bool has_callback; /* whether the collector calls note_collection, or this file is asking for that */

static void lock_noted(void) {
  if (FH_UNLIKELY(fb_context_free_threaded)) fh_mutex_lock(&noted_lock);
}
static void unlock_noted(void) {
  if (FH_UNLIKELY(fb_context_free_threaded)) fh_mutex_unlock(&noted_lock);
}

static Noted take(Noted *noted) {
  lock_noted();
  Noted taken = *noted;
  *noted = (Noted){0};
  unlock_noted();
  return taken;
}

/* Returns whether the array was full and has grown. If memory is exhausted, the item is not added. */
static bool add(Noted *noted, void *item) {
  lock_noted();
  bool is_full = noted->n == noted->capacity;
  if (is_full) {
    size_t capacity = noted->capacity == 0 ? FIRST_SIZE : 2 * noted->capacity;
    TVMFFIObject **items = realloc(noted->items, capacity * sizeof(*items));
    if (items != NULL) *noted = (Noted){items, noted->n, capacity};
  }
  if (noted->n < noted->capacity) noted->items[noted->n++] = item;
  bool has_grown = is_full && noted->capacity > FIRST_SIZE;
  unlock_noted();
  return has_grown;
}

/* Moves a generation to another one, without repetitions and addresses without a wrapper. */
static void move_generation(int from, int to, bool holds) {
  Noted taken = take(&generations[from]);
  size_t n = 0;
  for (size_t i = 0; i < taken.n; ++i) {
    if (fb_identity_note(taken.items[i], false)) taken.items[n++] = taken.items[i];
  }
  for (size_t i = 0; i < n; ++i) {
    if (fb_identity_note(taken.items[i], true)) (void)add(&generations[to], taken.items[i]);
    HPy wrapper = holds ? fb_identity_hold(taken.items[i]) : HPy_NULL;
    if (!HPy_IsNull(wrapper)) (void)add(&held, (void *)wrapper._i);
  }
  free(taken.items);
}

static void note_collection(int begins, int generation) {
  if (begins) {
    for (int i = generation; i >= 0; --i) move_generation(i, i + 1 < N_GENERATIONS ? i + 1 : i, true);
    return;
  }
  Noted taken = take(&held);
  for (size_t i = 0; i < taken.n; ++i) {
    HPy wrapper = {(intptr_t)taken.items[i]};
    fb_identity_end_hold(fb_object_cell(fb_ctx, wrapper));
    HPy_Close(fb_ctx, wrapper);
  }
  free(taken.items);
}

static void note_registered(TVMFFIObject *handle) {
  if (add(&generations[0], handle)) move_generation(0, 0, false);
  if (fh_atomic_load_relaxed(&has_callback)) return;
  fh_atomic_store_relaxed(&has_callback, true);
  (void)fb_ext->collection_watch(note_collection);
}

/* --- init --------------------------------------------------------------------------------------------------------- */

void fb_preserve_watch(HPy cls, bool only_with_state) {
  if (fb_identity_deleter != NULL) (void)fb_ext->end_watch(cls, keeps, only_with_state);
}

void fb_preserve_init(void) {
  if (!fb_identity_is_kept || fb_ext == NULL || !FHPY_EXTENSION_HAS(fb_ext, end_resume) || fb_ext->end_watch == NULL)
    return;
  fb_identity_deleter = delete_preserved;
  fb_identity_registered = note_registered;
  fb_handle_cell_resume = resume;
}
