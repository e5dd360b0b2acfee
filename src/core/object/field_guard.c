/* field_guard.c - 64 locks serve the guards of all objects, chosen by the address of the object. */
#include "field_guard.h"

#include "core/platform/shared.h"

FH_SHARED_LOCKS_OF_RANK(guards, FH_N_LOCKS_BY_ADDRESS, "guards", FH_RANK_GUARD);

static FH_THREAD_LOCAL int n_inside; /* guards that the thread is inside */

/* Of the host; a release store that pairs with the acquire load of wait_for. */
static void *waiting;

void fh_field_guard_set_waiting(const fh_field_guard_waiting *functions) {
  fh_atomic_store_release_ptr(&waiting, (void *)(uintptr_t)functions);
}

/* Enters if no other thread is in the way. */
static fh_guard_state try_to_enter(fh_shared *lock, fh_guard_use use) {
  if (use == FH_GUARD_READ && fh_shared_read_open(lock)) return FH_GUARD_NOTED;
  if (!fh_mutex_try_lock(&lock->lock)) return FH_GUARD_WITHOUT;
  if (use == FH_GUARD_READ) {
    fh_shared_count_read(lock);
    return FH_GUARD_LOCKED;
  }
  lock->n_reads = 0;
  /* relaxed: written under the mutex only */
  if (!fh_atomic_load_relaxed_i32(&lock->is_open) || fh_shared_close(lock, 0)) return FH_GUARD_LOCKED;
  fh_mutex_unlock(&lock->lock);
  return FH_GUARD_WITHOUT;
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

fh_guard_state fh_field_guard_enter(const void *object, fh_guard_use use) {
  fh_shared *lock = fh_shared_of(guards, object);
  fh_guard_state state;
  while (FH_UNLIKELY((state = try_to_enter(lock, use)) == FH_GUARD_WITHOUT)) {
    if (n_inside != 0) return state;
    wait_for(lock);
  }
  n_inside += 1;
  return state;
}

void fh_field_guard_leave(const void *object, fh_guard_state state) {
  fh_shared *lock = fh_shared_of(guards, object);
  if (FH_UNLIKELY(state == FH_GUARD_WITHOUT)) return;
  n_inside -= 1;
  if (state == FH_GUARD_NOTED) {
    fh_uses_end(lock); /* pairs with fh_shared_close */
  } else {
    fh_mutex_unlock(&lock->lock);
  }
}

int fh_field_guard_get(TVMFFIFieldGetter getter, TVMFFIObject *object, int64_t offset, TVMFFIAny *out) {
  fh_guard_state state = fh_field_guard_enter(object, FH_GUARD_READ);
  int rc = getter((char *)object + offset, out);
  fh_field_guard_leave(object, state);
  return rc;
}

int fh_field_guard_set(TVMFFIFieldSetter setter, TVMFFIObject *object, int64_t offset, const TVMFFIAny *value) {
  fh_guard_state state = fh_field_guard_enter(object, FH_GUARD_WRITE);
  int rc = setter((char *)object + offset, value);
  fh_field_guard_leave(object, state);
  return rc;
}
