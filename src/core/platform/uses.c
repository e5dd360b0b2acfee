/* uses.c - the hazard pointers of all threads, and the scan of them.
 *
 * Records are never freed: a thread that ends leaves its record to the next one that begins. */
#include "uses.h"

#include <stdlib.h>

#include "fork.h"
#include "thread.h"

FH_STATIC_ASSERT(sizeof(fh_uses) % 64 == 0, "threads write records that share no cache line");

FH_THREAD_LOCAL fh_uses *fh_uses_mine;
static FH_THREAD_LOCAL int is_ending;

static fh_uses *records; /* grows at its head, by compare and swap */
FH_ONCE(ready, "ends of users");
static fh_tls at_end; /* stores a thread's record */

static void FH_TLS_CALLBACK end_of_thread(void *value) {
  fh_uses *record = value;
  is_ending = 1;
  fh_uses_mine = NULL;
  /* Remaining uses end here: no code of the thread runs after this that needs them. */
  for (uint32_t i = 0; i < FH_USES_MAX; ++i) fh_atomic_store_release_ptr(&record->slots[i], NULL);
  record->n = record->n_guards = 0;
  fh_atomic_exchange_release_u32(&record->is_taken, 0); /* pairs with take_spare */
}

static void make_ready(void) { (void)fh_tls_new(&at_end, end_of_thread); }

/* The other threads' uses do not exist in the child. */
static void forget_other_threads(void) {
  for (fh_uses *each = records; each != NULL; each = each->next) {
    if (each == fh_uses_mine) continue;
    for (uint32_t i = 0; i < FH_USES_MAX; ++i) each->slots[i] = NULL;
    each->n = each->n_guards = 0;
    each->is_taken = 0;
  }
}
FH_FORK_CHILD(forget_other_threads);

static fh_uses *first_record(void) { return fh_atomic_load_acquire_ptr((void *const *)&records); /* pairs with add */ }

/* The record of a thread that has ended; NULL if there is none. */
static fh_uses *take_spare(void) {
  for (fh_uses *each = first_record(); each != NULL; each = each->next) {
    uint32_t is_taken = 0;
    /* acquire: pairs with end_of_thread */
    if (fh_atomic_cas_acquire_u32(&each->is_taken, &is_taken, 1)) return each;
  }
  return NULL;
}

static fh_uses *add(void) {
  /* Aligned to cache lines. The block is never freed, so its address need not be stored. */
  char *block = calloc(1, sizeof(fh_uses) + 63);
  if (block == NULL) return NULL;
  fh_uses *record = (fh_uses *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
  record->is_taken = 1;
  record->next = first_record();
  /* seq_cst, and so a release: pairs with first_record */
  while (!fh_atomic_cas_seq_cst_ptr((void **)&records, (void **)&record->next, record)) {
  }
  return record;
}

fh_uses *fh_uses_make(void) {
  if (is_ending) return NULL;
  fh_once_run(&ready, make_ready);
  fh_uses *record = take_spare();
  if (record == NULL && (record = add()) == NULL) return NULL;
  if (fh_tls_set(&at_end, record) != 0) { /* the end of the thread would not be noticed */
    fh_atomic_exchange_release_u32(&record->is_taken, 0);
    return NULL;
  }
  /* The record is taken before the thread reads whether something is closed: pairs with the fence of fh_uses_look. */
  fh_atomic_fence_seq_cst();
  fh_uses_mine = record;
  return record;
}

FH_NOINLINE int fh_uses_end_any(const void *address) {
  fh_uses *mine = fh_uses_mine;
  for (uint32_t i = mine->n; i > 0; --i) {
    if (mine->slots[i - 1] != address) continue;
    fh_atomic_store_release_ptr(&mine->slots[i - 1], NULL); /* pairs with fh_uses_find */
    while (mine->n > 0 && mine->slots[mine->n - 1] == NULL) mine->n -= 1;
    return 1;
  }
  return 0;
}

static int is_in(fh_uses *record, const void *address) {
  for (uint32_t i = 0; i < FH_USES_MAX; ++i) {
    /* acquire: pairs with the stores that end uses */
    if (fh_atomic_load_acquire_ptr(&record->slots[i]) == address) return 1;
  }
  return 0;
}

int fh_uses_find(const void *address) {
  fh_uses *mine = fh_uses_mine;
  if (mine != NULL && is_in(mine, address)) return 1; /* the most probable record */
  for (fh_uses *each = first_record(); each != NULL; each = each->next) {
    if (each != mine && is_in(each, address)) return 1;
  }
  return 0;
}

/* Whether any other thread has a record. */
static int has_others(void) {
  for (fh_uses *each = first_record(); each != NULL; each = each->next) {
    if (each != fh_uses_mine && fh_atomic_load_relaxed_u32(&each->is_taken)) return 1;
  }
  return 0;
}

int fh_uses_look(const void *address) {
  /* A thread that takes its record after this fence sees the caller's writes (fh_uses_make). */
  fh_atomic_fence_seq_cst();
  if (has_others()) fh_barrier_heavy();
  return fh_uses_find(address);
}
