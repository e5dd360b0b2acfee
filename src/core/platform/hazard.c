/* hazard.c - the heavy side of the barrier, which calls the system, and the hazard pointers. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall */
#endif
#include "hazard.h"

#include <stdlib.h>

#include "fork.h"
#include "system.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/membarrier.h, which old systems do not have. */
enum { PRIVATE_EXPEDITED = 1 << 3, REGISTER_PRIVATE_EXPEDITED = 1 << 4 };

#ifdef SYS_membarrier
static long ask(int command) { return syscall(SYS_membarrier, command, 0, 0); }
#else
static long ask(int command) { return FH_UNUSED(command), -1; }
#endif

int32_t fh_barrier_is_one_sided;

/* Once per process; each binary that compiles this file registers separately. */
static void register_process(void) { fh_barrier_is_one_sided = ask(REGISTER_PRIVATE_EXPEDITED) == 0; }

FH_CONSTRUCTOR(fh_barrier_load) { register_process(); }
/* The child is another process. The child has one thread, whose stores no other thread must see. */
FH_FORK_CHILD(register_process);

void fh_barrier_heavy(void) {
  fh_atomic_fence_seq_cst();
  int32_t state = fh_atomic_load_relaxed_i32(&fh_barrier_is_one_sided);
  if (state == 0 || (state == 1 && ask(PRIVATE_EXPEDITED) == 0)) return;
  /* A sandbox that the process has entered since refuses the call. From now on the light side uses fences; a store that
   * was made without a fence is visible long before a millisecond has passed. All threads that call this in that time
   * wait. */
  fh_atomic_store_relaxed_i32(&fh_barrier_is_one_sided, FH_BARRIER_CHANGES);
  fh_clock_sleep(1000000);
  fh_atomic_store_relaxed_i32(&fh_barrier_is_one_sided, 0);
}

#elif defined(_WIN32)
#include "windows_api.h"

int32_t fh_barrier_is_one_sided = 1;

void fh_barrier_heavy(void) {
  fh_atomic_fence_seq_cst();
  FlushProcessWriteBuffers();
}

#else
int32_t fh_barrier_is_one_sided;

void fh_barrier_heavy(void) { fh_atomic_fence_seq_cst(); }
#endif

/* --- hazard pointers --------------------------------------------------------------------------------------------- */

/* The hazard pointers of all threads, and the scan of them.
 *
 * Records are never freed: a thread that ends leaves its record to the next one that begins. */

FH_STATIC_ASSERT(sizeof(fh_hazard_record) % 64 == 0, "threads write records that share no cache line");

FH_THREAD_LOCAL fh_hazard_record *fh_hazard_mine;
static FH_THREAD_LOCAL bool is_ending;

static fh_hazard_record *records; /* grows at its head, by compare and swap */
FH_ONCE(ready, "ends of users");
static fh_tls at_end; /* stores a thread's record */

static void FH_TLS_CALLBACK end_of_thread(void *value) {
  fh_hazard_record *record = value;
  is_ending = true;
  fh_hazard_mine = NULL;
  /* Remaining uses end here: no code of the thread runs after this that needs them. */
  for (uint32_t i = 0; i < FH_HAZARD_MAX; ++i) fh_atomic_store_release_ptr(&record->slots[i], NULL);
  record->n = record->n_guards = 0;
  fh_atomic_exchange_release_u32(&record->is_taken, 0); /* pairs with take_spare */
}

static void make_ready(void) { (void)fh_tls_new(&at_end, end_of_thread); }

/* The other threads' uses do not exist in the child. */
static void forget_other_threads(void) {
  for (fh_hazard_record *each = records; each != NULL; each = each->next) {
    if (each == fh_hazard_mine) continue;
    for (uint32_t i = 0; i < FH_HAZARD_MAX; ++i) each->slots[i] = NULL;
    each->n = each->n_guards = 0;
    each->is_taken = 0;
  }
}
FH_FORK_CHILD(forget_other_threads);

static fh_hazard_record *first_record(void) {
  return fh_atomic_load_acquire_ptr((void *const *)&records); /* pairs with add */
}

/* The record of a thread that has ended; NULL if there is none. */
static fh_hazard_record *take_spare(void) {
  for (fh_hazard_record *each = first_record(); each != NULL; each = each->next) {
    uint32_t is_taken = 0;
    /* acquire: pairs with end_of_thread */
    if (fh_atomic_cas_acquire_u32(&each->is_taken, &is_taken, 1)) return each;
  }
  return NULL;
}

static fh_hazard_record *add(void) {
  /* Aligned to cache lines. The block is never freed, so its address need not be stored. */
  char *block = calloc(1, sizeof(fh_hazard_record) + 63);
  if (block == NULL) return NULL;
  fh_hazard_record *record = (fh_hazard_record *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
  record->is_taken = 1;
  record->next = first_record();
  /* seq_cst, and so a release: pairs with first_record */
  while (!fh_atomic_cas_seq_cst_ptr((void **)&records, (void **)&record->next, record)) {
  }
  return record;
}

fh_hazard_record *fh_hazard_make(void) {
  if (is_ending) return NULL;
  fh_once_run(&ready, make_ready);
  fh_hazard_record *record = take_spare();
  if (record == NULL && (record = add()) == NULL) return NULL;
  if (fh_tls_set(&at_end, record) != 0) { /* the end of the thread would not be noticed */
    fh_atomic_exchange_release_u32(&record->is_taken, 0);
    return NULL;
  }
  /* The record is taken before the thread reads whether something is closed: pairs with the fence of fh_hazard_look. */
  fh_atomic_fence_seq_cst();
  fh_hazard_mine = record;
  return record;
}

FH_NOINLINE bool fh_hazard_end_any(const void *address) {
  fh_hazard_record *mine = fh_hazard_mine;
  for (uint32_t i = mine->n; i > 0; --i) {
    if (mine->slots[i - 1] != address) continue;
    fh_atomic_store_release_ptr(&mine->slots[i - 1], NULL); /* pairs with fh_hazard_find */
    while (mine->n > 0 && mine->slots[mine->n - 1] == NULL) mine->n -= 1;
    return true;
  }
  return false;
}

static bool is_in(fh_hazard_record *record, const void *address) {
  for (uint32_t i = 0; i < FH_HAZARD_MAX; ++i) {
    /* acquire: pairs with the stores that end uses */
    if (fh_atomic_load_acquire_ptr(&record->slots[i]) == address) return true;
  }
  return false;
}

void fh_hazard_each(void (*each)(void *arg, const void *address), void *arg) {
  for (fh_hazard_record *record = first_record(); record != NULL; record = record->next) {
    for (uint32_t i = 0; i < FH_HAZARD_MAX; ++i) {
      const void *address = fh_atomic_load_acquire_ptr(&record->slots[i]); /* pairs with the stores that end uses */
      if (address != NULL) each(arg, address);
    }
  }
}

bool fh_hazard_find(const void *address) {
  fh_hazard_record *mine = fh_hazard_mine;
  if (mine != NULL && is_in(mine, address)) return true; /* the most probable record */
  for (fh_hazard_record *each = first_record(); each != NULL; each = each->next) {
    if (each != mine && is_in(each, address)) return true;
  }
  return false;
}

/* Whether any other thread has a record. */
static bool has_others(void) {
  for (fh_hazard_record *each = first_record(); each != NULL; each = each->next) {
    if (each != fh_hazard_mine && fh_atomic_load_relaxed_u32(&each->is_taken)) return true;
  }
  return false;
}

bool fh_hazard_look(const void *address) {
  /* A thread that takes its record after this fence sees the caller's writes (fh_hazard_make). */
  fh_atomic_fence_seq_cst();
  if (has_others()) fh_barrier_heavy();
  return fh_hazard_find(address);
}

/* --- reader-biased locks ------------------------------------------------------------------------------------------ */

void fh_shared_count_read(fh_shared *lock) {
  if (++lock->n_reads < FH_SHARED_READS) return;
  /* From here on other readers may enter without the mutex, which does not affect this reader. release: pairs with
   * fh_shared_read */
  fh_atomic_store_release_i32(&lock->is_open, 1);
}

FH_NOINLINE void fh_shared_read_closed(fh_shared *lock) {
  fh_mutex_lock(&lock->lock);
  fh_shared_count_read(lock);
}

FH_NOINLINE bool fh_shared_close(fh_shared *lock, bool may_wait) {
  fh_atomic_store_relaxed_i32(&lock->is_open, 0); /* before fh_hazard_look, which orders this store */
  if (!fh_hazard_look(lock)) return true;
  if (!may_wait) {
    /* Opens the lock again; no thread reads under a closed lock without the mutex. release: as in
     * fh_shared_count_read */
    fh_atomic_store_release_i32(&lock->is_open, 1);
    return false;
  }
  /* A reader is inside for a few instructions: parking would take longer. */
  while (fh_hazard_find(lock)) fh_thread_yield();
  return true;
}
