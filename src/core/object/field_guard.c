/* field_guard.c - 64 locks serve the guards of all objects, chosen by the address of the object. */
#include "field_guard.h"

#include "core/platform/shared.h"

FH_SHARED_LOCKS_OF_RANK(guards, FH_N_LOCKS_BY_ADDRESS, "guards", FH_RANK_GUARD);

/* Of the host; a release store that pairs with the acquire load of wait_for. */
static void *waiting;

void fh_field_guard_set_waiting(const fh_field_guard_waiting *functions) {
  fh_atomic_store_release_ptr(&waiting, (void *)(uintptr_t)functions);
}

/* The part of try_to_lock that follows the mutex, for a writer that finds the lock open. */
static FH_NOINLINE int try_to_close(fh_shared *lock) {
  if (fh_shared_close(lock, 0)) return 1;
  fh_mutex_unlock(&lock->lock);
  return 0;
}

static inline int try_to_lock(fh_shared *lock, fh_guard_use use) {
  if (FH_UNLIKELY(!fh_mutex_try_lock(&lock->lock))) return 0;
  if (use == FH_GUARD_READ) {
    fh_shared_count_read(lock);
    return 1;
  }
  lock->n_reads = 0;
  /* relaxed: written under the mutex only */
  return FH_LIKELY(!fh_atomic_load_relaxed_i32(&lock->is_open)) || try_to_close(lock);
}

/* Enters if no other thread is in the way. A reader notes the lock in its thread's record; unlike a reader of
 * fh_shared_read it may begin other uses before it ends this one. */
static inline fh_guard_state try_to_enter(fh_shared *lock, fh_guard_use use, fh_uses *mine) {
  /* relaxed: a hint, which spares a note */
  if (use == FH_GUARD_READ && fh_atomic_load_relaxed_i32(&lock->is_open) && mine->n < FH_USES_MAX) {
    uint32_t n = mine->n;
    mine->n = n + 1;
    fh_atomic_store_release_ptr(&mine->slots[n], lock); /* as in fh_uses_begin */
    fh_barrier_light();
    /* acquire: pairs with fh_shared_count_read, which comes after the writers before */
    if (FH_LIKELY(fh_atomic_load_acquire_i32(&lock->is_open))) return FH_GUARD_NOTED;
    fh_uses_end(lock);
  }
  return try_to_lock(lock, use) ? FH_GUARD_LOCKED : FH_GUARD_WITHOUT;
}

/* Waits until the threads that are inside have left. The guard is not entered yet, because a thread that takes the
 * interpreter back at the end of the process does not return. */
static FH_NOINLINE void wait_for(fh_shared *lock) {
  /* acquire: pairs with fh_field_guard_set_waiting */
  const fh_field_guard_waiting *host = (const fh_field_guard_waiting *)fh_atomic_load_acquire_ptr(&waiting);
  void *state = host != NULL ? host->begin() : NULL;
  fh_shared_write(lock);
  fh_shared_write_end(lock);
  if (state != NULL) host->end(state);
}

/* The thread's record; NULL without memory, and when the thread is ending: then it goes on without the guard. */
static inline fh_uses *record_of_thread(void) {
  fh_uses *mine = fh_uses_mine;
  return FH_LIKELY(mine != NULL) ? mine : fh_uses_make();
}

static inline fh_guard_state enter(fh_shared *lock, fh_guard_use use, fh_uses *mine) {
  fh_guard_state state;
  if (FH_UNLIKELY(mine == NULL)) return FH_GUARD_WITHOUT;
  while (FH_UNLIKELY((state = try_to_enter(lock, use, mine)) == FH_GUARD_WITHOUT)) {
    if (mine->n_guards != 0) return state;
    wait_for(lock);
  }
  mine->n_guards += 1;
  return state;
}

static inline void leave(fh_shared *lock, fh_guard_state state, fh_uses *mine) {
  if (FH_UNLIKELY(state == FH_GUARD_WITHOUT)) return;
  mine->n_guards -= 1;
  if (state == FH_GUARD_LOCKED) {
    fh_mutex_unlock(&lock->lock);
    return;
  }
  uint32_t n = mine->n;
  if (FH_UNLIKELY(mine->slots[n - 1] != lock)) {
    fh_uses_end(lock);
    return;
  }
  fh_atomic_store_release_ptr(&mine->slots[n - 1], NULL); /* pairs with fh_shared_close */
  mine->n = n - 1;
}

fh_guard_state fh_field_guard_enter(const void *object, fh_guard_use use) {
  return enter(fh_shared_of(guards, object), use, record_of_thread());
}

void fh_field_guard_leave(const void *object, fh_guard_state state) {
  leave(fh_shared_of(guards, object), state, fh_uses_mine);
}

int fh_field_guard_is_inside(void) { return fh_uses_mine != NULL && fh_uses_mine->n_guards != 0; }

int fh_field_guard_get(TVMFFIFieldGetter getter, TVMFFIObject *object, int64_t offset, TVMFFIAny *out) {
  fh_shared *lock = fh_shared_of(guards, object);
  fh_uses *mine = record_of_thread();
  fh_guard_state state = enter(lock, FH_GUARD_READ, mine);
  int rc = getter((char *)object + offset, out);
  leave(lock, state, mine);
  return rc;
}

int fh_field_guard_set(TVMFFIFieldSetter setter, TVMFFIObject *object, int64_t offset, const TVMFFIAny *value) {
  fh_shared *lock = fh_shared_of(guards, object);
  fh_uses *mine = record_of_thread();
  fh_guard_state state = enter(lock, FH_GUARD_WRITE, mine);
  int rc = setter((char *)object + offset, value);
  leave(lock, state, mine);
  return rc;
}
