/* field_guard.c - the guards of all objects, which share 64 locks; the address of an object selects its lock. */
#include "field_guard.h"

#include "core/platform/hazard.h"

FH_SHARED_LOCKS_OF_RANK(guards, FH_N_LOCKS_BY_ADDRESS, "guards", FH_RANK_GUARD);

/* Functions of the host; a release store that pairs with the acquire load of wait_for. */
static void *waiting;

void fh_field_guard_set_waiting(const fh_field_guard_waiting *functions) {
  fh_atomic_store_release_ptr(&waiting, (void *)(uintptr_t)functions);
}

/* The part of try_to_lock after the mutex is taken, for a writer that finds the lock open. */
static FH_NOINLINE bool try_to_close(fh_shared *lock) {
  if (fh_shared_close(lock, 0)) return true;
  fh_mutex_unlock(&lock->lock);
  return false;
}

static inline bool try_to_lock(fh_shared *lock, fh_guard_use use) {
  if (FH_UNLIKELY(!fh_mutex_try_lock(&lock->lock))) return false;
  if (use == FH_GUARD_READ) {
    fh_shared_count_read(lock);
    return true;
  }
  lock->n_reads = 0;
  /* relaxed: written under the mutex only */
  return FH_LIKELY(!fh_atomic_load_relaxed_i32(&lock->is_open)) || try_to_close(lock);
}

/* Enters as a reader if the lock is open; sets a hazard pointer of the thread. In contrast to fh_shared_read, the
 * reader may begin other uses before it ends this one. */
static inline bool note(fh_shared *lock, fh_hazard_record *mine) {
  uint32_t n = mine->n;
  /* relaxed: a hint, which saves a hazard pointer */
  if (FH_UNLIKELY(!fh_atomic_load_relaxed_i32(&lock->is_open)) || FH_UNLIKELY(n == FH_HAZARD_MAX)) return false;
  mine->n = n + 1;
  fh_atomic_store_release_ptr(&mine->slots[n], lock); /* as in fh_hazard_begin */
  fh_barrier_light();
  /* acquire: pairs with fh_shared_count_read, which follows the earlier writers */
  if (FH_LIKELY(fh_atomic_load_acquire_i32(&lock->is_open))) return true;
  fh_hazard_end(lock);
  return false;
}

static inline void end_note(fh_shared *lock, fh_hazard_record *mine) {
  uint32_t n = mine->n;
  if (FH_UNLIKELY(mine->slots[n - 1] != lock)) { /* another use that began inside is still active */
    fh_hazard_end(lock);
    return;
  }
  fh_atomic_store_release_ptr(&mine->slots[n - 1], NULL); /* pairs with fh_shared_close */
  mine->n = n - 1;
}

/* Enters unless another thread is in the way. */
static inline fh_guard_state try_to_enter(fh_shared *lock, fh_guard_use use, fh_hazard_record *mine) {
  if (use == FH_GUARD_READ && note(lock, mine)) return FH_GUARD_NOTED;
  return try_to_lock(lock, use) ? FH_GUARD_LOCKED : FH_GUARD_WITHOUT;
}

/* Waits until the threads inside have left. The guard is not entered yet, because at the end of the process a thread
 * that reacquires the GIL does not return. */
static FH_NOINLINE void wait_for(fh_shared *lock) {
  /* acquire: pairs with fh_field_guard_set_waiting */
  const fh_field_guard_waiting *host = (const fh_field_guard_waiting *)fh_atomic_load_acquire_ptr(&waiting);
  void *state = host != NULL ? host->begin() : NULL;
  fh_shared_write(lock);
  fh_shared_write_end(lock);
  if (state != NULL) host->end(state);
}

static fh_guard_state enter(fh_shared *lock, fh_guard_use use) {
  fh_hazard_record *mine = fh_hazard_mine != NULL ? fh_hazard_mine : fh_hazard_make();
  fh_guard_state state;
  if (mine == NULL) return FH_GUARD_WITHOUT; /* without memory, or the thread is ending */
  while ((state = try_to_enter(lock, use, mine)) == FH_GUARD_WITHOUT) {
    if (mine->n_guards != 0) return state;
    wait_for(lock);
  }
  mine->n_guards += 1;
  return state;
}

static void leave(fh_shared *lock, fh_guard_state state) {
  if (state == FH_GUARD_WITHOUT) return;
  fh_hazard_mine->n_guards -= 1;
  if (state == FH_GUARD_NOTED) {
    end_note(lock, fh_hazard_mine);
  } else {
    fh_mutex_unlock(&lock->lock);
  }
}

fh_guard_state fh_field_guard_enter(const void *object, fh_guard_use use) {
  return enter(fh_shared_of(guards, object), use);
}
void fh_field_guard_leave(const void *object, fh_guard_state state) { leave(fh_shared_of(guards, object), state); }

int fh_field_guard_is_inside(void) { return fh_hazard_mine != NULL && fh_hazard_mine->n_guards != 0; }

static FH_NOINLINE int get_slowly(TVMFFIFieldGetter getter, fh_shared *lock, void *field, TVMFFIAny *out) {
  fh_guard_state state = enter(lock, FH_GUARD_READ);
  int rc = getter(field, out);
  leave(lock, state);
  return rc;
}

static FH_NOINLINE int set_slowly(TVMFFIFieldSetter setter, fh_shared *lock, void *field, const TVMFFIAny *value) {
  fh_guard_state state = enter(lock, FH_GUARD_WRITE);
  int rc = setter(field, value);
  leave(lock, state);
  return rc;
}

/* These two repeat the code for the state without contention: every walk reads fields here. */
int fh_field_guard_get(TVMFFIFieldGetter getter, TVMFFIObject *object, int64_t offset, TVMFFIAny *out) {
  fh_shared *lock = fh_shared_of(guards, object);
  void *field = (char *)object + offset;
  fh_hazard_record *mine = fh_hazard_mine;
  if (FH_UNLIKELY(mine == NULL) || FH_UNLIKELY(!note(lock, mine))) return get_slowly(getter, lock, field, out);
  mine->n_guards += 1;
  int rc = getter(field, out);
  mine->n_guards -= 1;
  end_note(lock, mine);
  return rc;
}

int fh_field_guard_set(TVMFFIFieldSetter setter, TVMFFIObject *object, int64_t offset, const TVMFFIAny *value) {
  fh_shared *lock = fh_shared_of(guards, object);
  void *field = (char *)object + offset;
  fh_hazard_record *mine = fh_hazard_mine;
  if (FH_UNLIKELY(mine == NULL) || FH_UNLIKELY(!try_to_lock(lock, FH_GUARD_WRITE))) {
    return set_slowly(setter, lock, field, value);
  }
  mine->n_guards += 1;
  int rc = setter(field, value);
  mine->n_guards -= 1;
  fh_mutex_unlock(&lock->lock);
  return rc;
}
