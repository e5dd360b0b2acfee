/* The instance map: 4096 stripes by the pointer of the native object, each with open addressing, linear probing and its
 * own lock. Removal shifts the following entries back, so that there are no marks for deleted entries. A stripe doubles
 * when it is half full and shrinks when it is nearly empty.
 *
 * All objects in an area of 1 KiB are in one stripe, and neighbours in memory have neighbouring entries: a program that
 * makes many objects makes and drops neighbours one after the other, and with hundreds of thousands of objects an entry
 * outside of the processor's caches costs more than the rest of a wrapper. Allocators give each thread areas of its
 * own.
 *
 * The number of stripes suits threads with a hundred areas each: every stripe that two threads share moves between
 * their cores. fork takes the locks of all stripes, so more stripes would make fork slower.
 *
 * The first entry of a stripe is next to the stripe's lock, in the same cache line: threads that make and drop wrappers
 * of one object contend for that line only. */
#include "identity.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/platform/hazard.h"
#include "core/platform/system.h"
#include "hpy_module/context/drop.h"
#include "identity_weak.h"
#include "type_tag.h"

/* handle == NULL: free. The cell of an entry has the state FB_LISTED. The entry of an object that owns its wrapper has
 * the object's address plus 1, which the look-ups of hot paths do not find, and an FbPreserved. */
typedef struct Entry {
  TVMFFIObject *handle;
  union {
    FbHandleCell *cell;
    FbPreserved *preserved;
  };
} Entry;

enum { STRIPE_BITS = 12, AREA_BITS = 10, UNIT_BITS = 5, FEW = 2, FIRST_SIZE = 16 };

typedef struct Stripe {
  fh_shared lock; /* for one lookup or resize; no Python code runs under it */
  int32_t is_new; /* whether the object registered last had no other wrapper: a hint for fb_identity_expects_none */
  uint32_t mask, n;
  Entry *entries; /* a power of two, at least one of them free: `few`, or allocated */
  Entry few[FEW];
} Stripe;

static _Alignas(64) Stripe stripes[1 << STRIPE_BITS];
FH_FORK_LOCKS(stripes, "wrappers", &stripes[0].lock.lock, 1 << STRIPE_BITS, sizeof(Stripe), FH_RANK_PLAIN);
bool fb_identity_is_kept;
/* Both are written once during the import. */
static bool is_weak; /* whether this is PyPy 7.3 (identity_weak.c) */
static bool is_simple; /* whether the GIL is the lock, and an entry is a plain pointer */

static void keep_few(Stripe *stripe) {
  stripe->entries = stripe->few;
  stripe->mask = FEW - 1;
}

int fb_identity_init(HPyContext *ctx) {
  for (size_t i = 0; i < 1 << STRIPE_BITS; ++i) keep_few(&stripes[i]);
  is_weak = fb_context_is_pypy;
  fb_identity_is_kept =
      is_weak || (fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, reference_try) && fb_ext->reference_try != NULL);
  is_simple = fb_identity_is_kept && !is_weak && !fb_context_free_threaded;
  return is_weak ? fb_identity_weak_init(ctx) : 0;
}

/* --- stripes ------------------------------------------------------------------------------------------------------ */

/* The highest bits of an area's hash select the stripe, lower bits the place of the area in the stripe. One product
 * would preserve distances: areas that each of two threads fills in a row would share hardly any stripe, or nearly all.
 * With two products each pair of areas shares a stripe by chance only. */
FH_INLINE uint64_t hash_of_area(const TVMFFIObject *handle) {
  const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t product = ((uint64_t)(uintptr_t)handle >> AREA_BITS) * factor;
  return (product ^ product >> 32) * factor;
}
FH_INLINE size_t home_of(const Stripe *stripe, const TVMFFIObject *handle) {
  return (size_t)((hash_of_area(handle) >> 24) + ((uintptr_t)handle >> UNIT_BITS)) & stripe->mask;
}

FH_INLINE Stripe *stripe_of(const TVMFFIObject *handle) { return &stripes[hash_of_area(handle) >> (64 - STRIPE_BITS)]; }

/* Returns the locked stripe of an object. stripe_unlock releases the lock. */
FH_INLINE Stripe *stripe_lock(const TVMFFIObject *handle) {
  Stripe *stripe = stripe_of(handle);
  if (FH_UNLIKELY(fb_context_free_threaded)) fh_shared_write(&stripe->lock); /* else the GIL is the lock */
  return stripe;
}
FH_INLINE void stripe_unlock(Stripe *stripe) {
  if (FH_UNLIKELY(fb_context_free_threaded)) fh_shared_write_end(&stripe->lock);
}

/* Returns the index of the object's entry, or of the free entry at its place. */
FH_INLINE size_t probe_index(const Stripe *stripe, const TVMFFIObject *handle) {
  size_t i = home_of(stripe, handle);
  while (stripe->entries[i].handle != handle && stripe->entries[i].handle != NULL) i = (i + 1) & stripe->mask;
  return i;
}
FH_INLINE Entry *probe(const Stripe *stripe, const TVMFFIObject *handle) {
  return &stripe->entries[probe_index(stripe, handle)];
}
FH_INLINE Entry *find_entry(const Stripe *stripe, const TVMFFIObject *handle) {
  Entry *entry = probe(stripe, handle);
  return entry->handle != NULL ? entry : NULL;
}

/* Resizes the stripe; `size` must be sufficient. If memory is exhausted, the stripe stays as it is. */
static FH_NOINLINE void resize(Stripe *stripe, uint32_t size) {
  Entry *old = stripe->entries, *fresh = calloc(size, sizeof(*fresh));
  uint32_t old_size = stripe->mask + 1;
  if (fresh == NULL) return;
  stripe->entries = fresh;
  stripe->mask = size - 1;
  for (uint32_t i = 0; i < old_size; ++i) {
    if (old[i].handle != NULL) *probe(stripe, old[i].handle) = old[i];
    old[i] = (Entry){0};
  }
  if (old != stripe->few) free(old);
}

/* Whether one more entry leaves half of the stripe free. */
FH_INLINE bool has_room(const Stripe *stripe) { return 2 * stripe->n < stripe->mask; }

/* Whether a stripe is to shrink after the removal of an entry. Stripes of FIRST_SIZE stay, so that a few objects that
 * come and go allocate nothing: 1 MiB in all. */
FH_INLINE bool is_sparse(const Stripe *stripe) { return 16 * stripe->n + 2 * FIRST_SIZE - 1 <= stripe->mask; }

/* Makes room for one more entry. Returns false if memory is exhausted. */
FH_INLINE bool reserve(Stripe *stripe) {
  uint32_t size = stripe->mask + 1;
  if (FH_LIKELY(has_room(stripe))) return true;
  /* If the stripe cannot grow, it is filled further, as long as one entry stays free: probe() stops there. */
  resize(stripe, size == FEW ? FIRST_SIZE : 2 * size);
  return stripe->n < stripe->mask;
}

/* Moves the entries after a free entry that a lookup would no longer find, and shrinks the stripe. */
static FH_NOINLINE void close_gap(Stripe *stripe, size_t gap) {
  uint32_t mask = stripe->mask;
  for (size_t i = (gap + 1) & mask; stripe->entries[i].handle != NULL; i = (i + 1) & mask) {
    size_t home = home_of(stripe, stripe->entries[i].handle);
    /* An entry may stay in its place if its home is after the gap, modulo the size. */
    if (((i - home) & mask) < ((i - gap) & mask)) continue;
    stripe->entries[gap] = stripe->entries[i];
    gap = i;
  }
  stripe->entries[gap].handle = NULL;
  /* The stripe is then an eighth full at most, so it does not grow again soon. */
  if (is_sparse(stripe)) resize(stripe, (mask + 1) / 2);
}

/* Frees an entry. */
FH_INLINE void take_out(Stripe *stripe, size_t i) {
  stripe->entries[i].handle = NULL;
  --stripe->n;
  if (stripe->entries[(i + 1) & stripe->mask].handle != NULL || FH_UNLIKELY(is_sparse(stripe))) close_gap(stripe, i);
}

/* --- wrappers ----------------------------------------------------------------------------------------------------- */

/* Returns a new handle of an entry's wrapper, or HPy_NULL if the wrapper is being destroyed. The stripe is locked, so
 * the wrapper's memory is still valid: its destructor must remove the entry first. */
FH_INLINE HPy entry_load(HPyContext *ctx, const Entry *entry) {
  if (FH_UNLIKELY(is_weak)) return fb_identity_weak_load(ctx, entry->cell);
  HPy wrapper = fb_identity_wrapper(entry->cell);
  return fb_ext->reference_try(wrapper) ? wrapper : HPy_NULL;
}

/* Whether the wrapper has state, so that its end is watched (preserve.h). */
FH_INLINE bool is_watched(HPy self) {
  intptr_t word;
  if (fb_identity_deleter == NULL) return false;
  memcpy(&word, (const char *)fb_type_tag_type(self) + fb_ext->end_offset, sizeof(word));
  return word == fb_ext->end_word;
}

/* `again`: record that the wrapper is returned again. `is_owned`: the caller's reference is released if there is a
 * wrapper. */
FH_INLINE HPy find(HPyContext *ctx, TVMFFIObject *handle, bool again, bool is_owned) {
  if (FH_UNLIKELY(!fb_identity_is_kept)) return HPy_NULL;
  Stripe *stripe = stripe_of(handle);
  fh_shared_note note = FH_UNLIKELY(fb_context_free_threaded) ? fh_shared_read(&stripe->lock) : NULL;
  const Entry *entry = find_entry(stripe, handle);
  HPy found = HPy_NULL;
  if (entry != NULL) {
    /* The wrapper has its own reference as long as it is registered: a move removes the entry first. The caller's
     * reference is released before any other access: where threads share the object, its count has just been written,
     * and its cache line is probably still this thread's. But a wrapper with state may have begun its end on another
     * thread, which keeps the wrapper only if it sees another reference than the wrapper's. */
    bool is_early = is_owned && !(fb_context_free_threaded && is_watched(fb_identity_wrapper(entry->cell)));
    if (is_early) TVMFFIObjectDecRef(handle);
    if (!again || fb_handle_cell_give_again(entry->cell, handle)) found = entry_load(ctx, entry);
    if (is_early && HPy_IsNull(found)) TVMFFIObjectIncRef(handle);
    if (is_owned && !is_early && !HPy_IsNull(found)) TVMFFIObjectDecRef(handle);
  }
  if (FH_UNLIKELY(fb_context_free_threaded)) fh_shared_read_end(&stripe->lock, note);
  return found;
}

HPy fb_identity_find(HPyContext *ctx, TVMFFIObject *handle) { return find(ctx, handle, false, false); }

HPy fb_identity_trade(HPyContext *ctx, TVMFFIObject *handle) {
  if (FH_LIKELY(!is_weak)) return find(ctx, handle, true, true);
  HPy found = find(ctx, handle, true, false); /* calling a weak reference may let other threads run */
  if (!HPy_IsNull(found)) TVMFFIObjectDecRef(handle);
  return found;
}

bool fb_identity_expects_none(TVMFFIObject *handle) {
  /* relaxed: a hint */
  return fb_context_free_threaded && fh_atomic_load_relaxed_i32(&stripe_of(handle)->is_new) != 0;
}

/* Prepares the wrapper for registration. Called before the lock is taken. */
FH_INLINE bool prepare(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  if (FH_UNLIKELY(is_weak)) return fb_identity_weak_watch(ctx, self, cell) == 0;
  /* with a GIL reference_watch does nothing */
  if (FH_UNLIKELY(fb_context_free_threaded)) fb_ext->reference_watch(self);
  return true;
}

/* A thread that waits for another one yields first and then sleeps, up to a tenth of a second in all. Returns false
 * after that time. The thread detaches for that time, because the other one may have to wait for all threads. */
static bool wait_for_thread(int *n_waits) {
  enum { YIELDS = 100, SLEEPS = 1000, NANOSECONDS = 100000 };
  void *state = fb_ext->leave();
  if (*n_waits < YIELDS) {
    fh_thread_yield();
  } else {
    fh_clock_sleep(NANOSECONDS);
  }
  fb_ext->reenter(state);
  return ++*n_waits < YIELDS + SLEEPS;
}

/* Whether the wrapper of an entry, to which no reference can be taken, may still be preserved: without a GIL its thread
 * may be about to do that. The stripe is locked. */
FH_INLINE bool may_be_kept(const Entry *entry) {
  return FH_UNLIKELY(fb_context_free_threaded) && fb_identity_deleter != NULL &&
         fb_ext->end_is_watched(fb_identity_wrapper(entry->cell));
}

/* relaxed: written under the lock, or by the only thread that has the wrapper */
FH_INLINE uint8_t get_flags(const FbHandleCell *cell) { return fh_atomic_load_relaxed(&cell->flags); }
static void set_flags(FbHandleCell *cell, int flags) { fh_atomic_store_relaxed(&cell->flags, (uint8_t)flags); }

/* Sets the flag NOTED. Returns whether the caller must call fb_identity_registered after it has unlocked the stripe. */
static bool note(FbHandleCell *cell) {
  if (fb_ext->end_is_watched(fb_identity_wrapper(cell)) != 2) return false;
  set_flags(cell, get_flags(cell) | FB_CELL_NOTED);
  return true;
}

HPy fb_identity_list(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  TVMFFIObject *handle = cell->handle;
  if (FH_UNLIKELY(!fb_identity_is_kept || handle == NULL || !prepare(ctx, self, cell))) return HPy_NULL;
  if (FH_UNLIKELY(get_flags(cell) & FB_CELL_FINALIZED)) (void)fb_ext->end_resume(self); /* __del__ has resurrected it */
  HPy other = HPy_NULL;
  int n_waits = 0;
again:
  if (FH_UNLIKELY(fb_identity_is_preserved(handle))) {
    other = fb_identity_resume(handle, FB_RESUME_SHARE);
    if (!HPy_IsNull(other)) return other;
  }
  Stripe *stripe = stripe_lock(handle);
  if (FH_UNLIKELY(fb_identity_is_preserved(handle))) { /* without a GIL: since the check above */
    stripe_unlock(stripe);
    goto again;
  }
  Entry *entry = probe(stripe, handle);
  if (entry->handle == NULL) entry = reserve(stripe) ? probe(stripe, handle) : NULL;
  if (entry != NULL && entry->handle != NULL && entry->cell != cell) {
    other = entry_load(ctx, entry);
    if (FH_UNLIKELY(HPy_IsNull(other)) && may_be_kept(entry)) {
      stripe_unlock(stripe);
      if (wait_for_thread(&n_waits)) goto again;
      (void)stripe_lock(handle);
    }
    entry = probe(stripe, handle); /* a weak reference may have been called, which may let other threads run */
  }
  /* The entry is free, or belongs to a wrapper that is being destroyed, whose destructor removes only its own entry. */
  if (entry != NULL && HPy_IsNull(other)) {
    stripe->n += entry->handle == NULL;
    *entry = (Entry){.handle = handle, .cell = cell};
    fb_handle_cell_set_listing(cell, FB_LISTED);
  }
  fh_atomic_store_relaxed_i32(&stripe->is_new, HPy_IsNull(other));
  bool is_noted = FH_UNLIKELY(is_watched(self)) && entry != NULL && HPy_IsNull(other) && note(cell);
  stripe_unlock(stripe);
  if (FH_UNLIKELY(is_noted)) fb_identity_registered(handle);
  return other;
}

/* fb_identity_list_first, for a full stripe, and for a wrapper with state. */
static FH_NOINLINE void list_first(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  HPy other = fb_identity_list(ctx, self, cell);
  if (!HPy_IsNull(other)) HPy_Close(ctx, other);
}

/* Needs no stack frame. */
void fb_identity_list_first(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  Stripe *stripe = stripe_of(cell->handle);
  Entry *entry = FH_LIKELY(is_simple) ? probe(stripe, cell->handle) : NULL; /* else only under the lock */
  if (FH_UNLIKELY(entry == NULL || entry->handle != NULL || !has_room(stripe) || is_watched(self))) {
    list_first(ctx, self, cell);
    return;
  }
  ++stripe->n;
  *entry = (Entry){.handle = cell->handle, .cell = cell};
  fb_handle_cell_set_listing(cell, FB_LISTED);
}

/* --- preserved wrappers ------------------------------------------------------------------------------------------- */

void (*fb_identity_deleter)(void *self, int flags);

static FH_THREAD_LOCAL char this_thread; /* its address identifies the thread */

static TVMFFIObject *marked(const TVMFFIObject *handle) { return (TVMFFIObject *)((uintptr_t)handle | 1); }
static bool is_marked(const TVMFFIObject *handle) { return ((uintptr_t)handle & 1) != 0; }

bool fb_identity_preserve(FbHandleCell *cell, FbPreserved *preserved, bool is_moved) {
  TVMFFIObject *handle = cell->handle;
  HPy self = fb_identity_wrapper(cell);
  int32_t unused = 0;
  Stripe *stripe = stripe_lock(handle);
  Entry *entry = find_entry(stripe, handle);
  /* acquire: a use that has ended is complete (release in fb_handle_cell_unuse) */
  bool done = entry != NULL && entry->cell == cell &&
              (is_moved || fh_atomic_cas_acquire(&cell->n_uses, &unused, FB_HANDLE_PRESERVED));
  if (done) {
    if (fb_context_free_threaded) fb_ext->reference_watch(self); /* a finalizer ends the watch */
    done = fb_ext->reference_try(self) != 0; /* the reference that the native object owns */
    if (!done && !is_moved) fb_handle_cell_release(cell);
  }
  if (done) {
    *preserved = (FbPreserved){cell, handle->deleter, &this_thread, is_moved, handle, NULL, is_moved, false, true};
    if (is_moved) {
      preserved->offered = handle;
      fb_handle_cell_put(cell, NULL);
    }
    fh_atomic_store_relaxed(&handle->deleter, fb_identity_deleter);
    /* The weak reference makes the count differ from the count of an object with one owner, and its memory outlive the
     * last strong reference. */
    fb_weak_take(handle);
    *entry = (Entry){.handle = marked(handle), .preserved = preserved};
    fb_handle_cell_set_listing(cell, FB_PRESERVED);
  }
  stripe_unlock(stripe);
  return done;
}

/* Restores the header of a preserved object. The entry is for the wrapper again, or free. Returns whether the caller
 * must call fb_identity_registered after it has unlocked the stripe. */
static bool restore(Stripe *stripe, Entry *entry, TVMFFIObject *handle, bool is_listed) {
  FbPreserved *preserved = entry->preserved;
  fh_atomic_store_relaxed(&handle->deleter, preserved->deleter);
  fb_weak_drop(handle); /* not the last one: the strong references own another one */
  if (is_listed) {
    *entry = (Entry){.handle = handle, .cell = preserved->cell};
    fb_handle_cell_set_listing(preserved->cell, FB_LISTED);
    fb_handle_cell_set_single(preserved->cell);
  } else {
    if (fb_handle_cell_listing(preserved->cell) == FB_PRESERVED)
      fb_handle_cell_set_listing(preserved->cell, FB_UNLISTABLE);
    take_out(stripe, (size_t)(entry - stripe->entries));
  }
  bool is_noted = is_listed && note(preserved->cell);
  preserved->is_listed = false;
  if (!preserved->is_offered) free(preserved);
  return is_noted;
}

/* The state in which a look-up finds a moved wrapper. */
typedef enum Moved {
  MOVED_FILLED, /* the wrapper has got the object's handle again */
  MOVED_BUSY, /* a thread is about to give the wrapper a handle */
  MOVED_AWAY, /* the wrapper has another object, or the object ends */
} Moved;

/* Gives a moved wrapper its handle again. A callee may get the wrapper back during the call that offers it: then the
 * offer ends for the wrapper, and the callee's word is independent of it. The stripe is locked. */
static Moved fill(FbPreserved *preserved, FbResume how) {
  FbHandleCell *cell = preserved->cell;
  if (how == FB_RESUME_END || fb_handle_cell_listing(cell) != FB_PRESERVED || fb_handle_cell_get(cell) != NULL)
    return MOVED_AWAY;
  /* Acquire and release: like a move. */
  int32_t before = 0;
  bool is_claimed = !fh_atomic_cas_acquire(&cell->n_uses, &before, FB_HANDLE_MOVING);
  if (is_claimed && before != FB_HANDLE_OFFERED) return MOVED_BUSY;
  if (is_claimed && !preserved->is_offered) return MOVED_AWAY; /* another object of the wrapper is offered */
  preserved->is_given = is_claimed;
  fb_handle_cell_put(cell, preserved->handle);
  fb_handle_cell_release(cell);
  return MOVED_FILLED;
}

HPy fb_identity_resume(TVMFFIObject *handle, FbResume how) {
  for (int n_waits = 0;; (void)wait_for_thread(&n_waits)) {
    Stripe *stripe = stripe_lock(handle);
    Entry *entry = find_entry(stripe, marked(handle));
    if (entry == NULL) {
      stripe_unlock(stripe);
      return HPy_NULL;
    }
    FbPreserved *preserved = entry->preserved;
    FbHandleCell *cell = preserved->cell;
    HPy self = fb_identity_wrapper(cell);
    if (preserved->is_moved) {
      Moved moved = fill(preserved, how);
      if (moved == MOVED_FILLED && how == FB_RESUME_SHARE) TVMFFIObjectIncRef(handle);
      bool is_noted = moved != MOVED_BUSY && restore(stripe, entry, handle, moved == MOVED_FILLED);
      stripe_unlock(stripe);
      if (is_noted) fb_identity_registered(handle);
      if (moved == MOVED_FILLED) return self;
      if (moved == MOVED_AWAY) HPy_Close(fb_ctx, self);
      return HPy_NULL;
    }
    bool is_over = fb_ext->end_resume(self) != 0 || preserved->keeper == &this_thread;
    /* fb_weak_lock pairs with the thread that put the last reference back, after it read the deleter. The
     * memory is valid: the object is preserved, and the stripe is locked. */
    if (!is_over || (how == FB_RESUME_TRY && !fb_weak_lock(handle))) {
      stripe_unlock(stripe);
      continue;
    }
    if (how == FB_RESUME_SHARE) TVMFFIObjectIncRef(handle);
    bool is_noted = restore(stripe, entry, handle, true);
    fb_handle_cell_release(cell);
    stripe_unlock(stripe);
    if (is_noted) fb_identity_registered(handle);
    return self;
  }
}

TVMFFIObject *fb_identity_end_offer(FbPreserved *offer) {
  FbHandleCell *cell = offer->cell;
  TVMFFIObject *handle = offer->handle, *left = offer->offered;
  HPy self = HPy_NULL;
  bool is_noted = false;
  Stripe *stripe = stripe_lock(handle); /* the object may have ended */
  bool is_listed = offer->is_listed, is_given = offer->is_given;
  offer->is_offered = false;
  if (is_listed && left != NULL) {
    fb_handle_cell_put(cell, left);
    is_noted = restore(stripe, find_entry(stripe, marked(handle)), handle, true);
    self = fb_identity_wrapper(cell);
    left = NULL;
  }
  if (!is_given) fb_handle_cell_release(cell);
  stripe_unlock(stripe);
  if (!is_listed) free(offer);
  if (is_noted) fb_identity_registered(handle);
  if (!HPy_IsNull(self)) HPy_Close(fb_ctx, self);
  return left;
}

bool fb_identity_finalize(FbHandleCell *cell, bool is_unlisted) {
  if (is_unlisted && cell->handle != NULL) fb_identity_unlist_own(cell);
  int flags = get_flags(cell);
  set_flags(cell, flags | FB_CELL_FINALIZED);
  return (flags & FB_CELL_FINALIZED) != 0;
}

void fb_identity_end_unseen(FbHandleCell *cell) { set_flags(cell, get_flags(cell) | FB_CELL_FINALIZED); }

void (*fb_identity_registered)(TVMFFIObject *handle);

bool fb_identity_note(TVMFFIObject *handle, bool is_noted) {
  Stripe *stripe = stripe_lock(handle);
  Entry *entry = find_entry(stripe, handle);
  int flags = entry == NULL ? 0 : get_flags(entry->cell);
  bool changes = entry != NULL && ((flags & FB_CELL_NOTED) != 0) != is_noted;
  if (changes) set_flags(entry->cell, flags ^ FB_CELL_NOTED);
  stripe_unlock(stripe);
  return changes;
}

HPy fb_identity_hold(TVMFFIObject *handle) {
  HPy self = HPy_NULL;
  Stripe *stripe = stripe_lock(handle);
  Entry *entry = find_entry(stripe, handle);
  int flags = entry == NULL ? 0 : get_flags(entry->cell);
  if (entry != NULL && (flags & FB_CELL_HELD) == 0 && fb_identity_is_held(handle)) self = entry_load(fb_ctx, entry);
  if (!HPy_IsNull(self)) set_flags(entry->cell, flags | FB_CELL_HELD);
  stripe_unlock(stripe);
  return self;
}

void fb_identity_end_hold(FbHandleCell *cell) {
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  Stripe *stripe = stripe_lock(handle); /* of any object, if a thread has just moved the handle away */
  set_flags(cell, get_flags(cell) & ~FB_CELL_HELD);
  stripe_unlock(stripe);
}

static FH_NOINLINE void unlist(FbHandleCell *cell, bool any) {
  Stripe *stripe = stripe_lock(cell->handle);
  size_t i = probe_index(stripe, cell->handle);
  const Entry *entry = &stripe->entries[i];
  if (entry->handle != NULL && (any || entry->cell == cell)) {
    /* the registered wrapper may be another than the caller's */
    fb_handle_cell_set_listing(entry->cell, FB_UNLISTED);
    take_out(stripe, i);
  }
  stripe_unlock(stripe);
}

/* Ends a preserved wrapper of the object of another wrapper, if only that wrapper holds the object any more, and no
 * native code. The other wrapper takes its place. */
static void replace_preserved(HPyContext *ctx, TVMFFIObject *handle) {
  if (!fb_identity_is_preserved(handle) || fb_identity_is_held(handle)) return;
  HPy former = fb_identity_resume(handle, FB_RESUME_SHARE);
  if (HPy_IsNull(former)) return;
  FbHandleCell *cell = (FbHandleCell *)((char *)former._i + fb_context_data_offset);
  if (cell->handle == handle) unlist(cell, false);
  HPy_Close(ctx, former);
}

FH_NOINLINE void fb_identity_share_slow(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  if (fb_identity_is_kept && cell->handle != NULL) replace_preserved(ctx, cell->handle);
  HPy other = fb_identity_list(ctx, self, cell);
  if (!HPy_IsNull(other)) HPy_Close(ctx, other);
}

void fb_identity_unlist(FbHandleCell *cell) {
  if (fb_identity_is_kept && cell->handle != NULL) unlist(cell, true);
}

/* fb_identity_unlist_own where threads share the map, or its entries are not plain pointers. */
static FH_NOINLINE void unlist_own(FbHandleCell *cell) {
  if (is_weak) fb_identity_weak_forget(cell);
  if (fb_handle_cell_listing(cell) == FB_LISTED) unlist(cell, false);
}

void fb_identity_unlist_own(FbHandleCell *cell) {
  if (FH_UNLIKELY(!is_simple)) {
    unlist_own(cell);
  } else if (fb_handle_cell_listing(cell) == FB_LISTED) { /* else the object stayed with its creator */
    Stripe *stripe = stripe_of(cell->handle);
    size_t i = probe_index(stripe, cell->handle);
    if (FH_UNLIKELY(stripe->entries[i].handle == NULL || stripe->entries[i].cell != cell)) return;
    fb_handle_cell_set_listing(cell, FB_UNLISTED);
    take_out(stripe, i);
  }
}

void fb_identity_each(FbIdentityEach each, void *arg) {
  for (size_t i = 0; i < 1 << STRIPE_BITS; ++i) {
    Stripe *stripe = &stripes[i];
    if (fh_atomic_load_relaxed(&stripe->n) == 0) continue; /* other threads do not change it during a collection */
    fh_shared_note note = fb_context_free_threaded ? fh_shared_read(&stripe->lock) : NULL;
    for (uint32_t k = 0; stripe->n != 0 && k <= stripe->mask; ++k) {
      FH_PREFETCH(stripe->entries[k].cell); /* and the object: entries are far apart in memory */
      FH_PREFETCH(stripe->entries[k].handle);
    }
    for (uint32_t k = 0; stripe->n != 0 && k <= stripe->mask; ++k) {
      const Entry *entry = &stripe->entries[k];
      if (entry->handle == NULL) continue;
      bool is_preserved = is_marked(entry->handle);
      if (is_preserved && entry->preserved->is_moved) continue; /* the wrapper has no object now */
      FbHandleCell *cell = is_preserved ? entry->preserved->cell : entry->cell;
      each(arg, cell->handle, cell, is_preserved ? entry->preserved : NULL);
    }
    if (fb_context_free_threaded) fh_shared_read_end(&stripe->lock, note);
  }
}

HPy *fb_identity_all(HPyContext *ctx, size_t *n) {
  size_t room = 64;
  HPy *found = malloc(room * sizeof(*found));
  for (size_t i = 0; found != NULL && fb_identity_is_kept && i < 1 << STRIPE_BITS; ++i) {
    Stripe *stripe = &stripes[i];
    /* Enough room for the stripe, before its lock is taken: without the lock the number is a hint. */
    size_t most = *n + (size_t)fh_atomic_load_relaxed(&stripe->mask) + 1;
    if (most > room) {
      room = 2 * most;
      HPy *larger = realloc(found, room * sizeof(*found));
      if (larger == NULL) {
        while (*n > 0) HPy_Close(ctx, found[--*n]);
        free(found);
        return NULL;
      }
      found = larger;
    }
    if (FH_UNLIKELY(fb_context_free_threaded)) fh_shared_write(&stripe->lock);
    /* The entries may change on PyPy 7.3, where a weak reference may let other threads run. */
    for (size_t j = 0; j <= stripe->mask && *n < room; ++j) {
      Entry entry = stripe->entries[j];
      if (entry.handle != NULL && is_marked(entry.handle)) entry.cell = entry.preserved->cell;
      HPy wrapper = entry.handle == NULL ? HPy_NULL : entry_load(ctx, &entry);
      if (!HPy_IsNull(wrapper)) found[(*n)++] = wrapper;
    }
    stripe_unlock(stripe);
  }
  return found;
}
