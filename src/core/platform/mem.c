/* mem.c - the only caller of malloc, and in the test build its live count and failure switch.
 *
 * A small block comes from the pool if possible, every other block from malloc. The address of a block shows whether
 * the pool made the block (fh_pool_has), so a block has no header. */
#include "mem.h"

#include "pool.h"
#include "sync.h"

#include <stdlib.h>

#ifdef FH_TEST
#include "atomic.h"

static uint64_t live_blocks;
static FH_THREAD_LOCAL int64_t fail_countdown; /* per thread, so that threads of a test do not disturb its count */
static FH_THREAD_LOCAL bool has_failed;
static FH_THREAD_LOCAL bool fails_on; /* whether all later allocations fail after the first failure */

static void count_block(int64_t change) {
  /* relaxed, pairs with nothing: a statistic, read after the threads have been joined */
  (void)fh_atomic_add_relaxed_u64(&live_blocks, (uint64_t)change);
}

/* Whether the next allocation must fail. Each call decrements the countdown; a countdown of 0 is off. */
static bool must_fail(void) {
  if (has_failed && fails_on) return true;
  if (fail_countdown == 0 || --fail_countdown != 0) return false;
  has_failed = true;
  return true;
}

int64_t fh_mem_live_blocks(void) { return (int64_t)fh_atomic_load_relaxed_u64(&live_blocks); }

void fh_mem_fail_nth(int64_t n) {
  fail_countdown = n;
  has_failed = false;
  fails_on = false;
}

void fh_mem_fail_from(int64_t n) {
  fh_mem_fail_nth(n);
  fails_on = true;
}

int fh_mem_has_failed(void) { return has_failed; }

#else
static void count_block(int64_t change) { FH_UNUSED(change); }
static bool must_fail(void) { return false; }
#endif

/* Counts a new block and returns it; NULL is an allocation that failed. */
static void *counted(void *block) {
  if (block != NULL) count_block(1);
  return block;
}

/* ---- Small blocks: from the pool if there is one. In the test build malloc makes them all, so that sanitizers see
 * each; the pool has its own tests. ---- */

#if defined(FH_POOL) && !defined(FH_TEST)
/* The minimum size for malloc. malloc may align smaller blocks to 8 bytes, and a block at 8 after a multiple of 16
 * would look like a block of the pool. */
#define MIN_BYTES 16

/* NULL if the caller must use malloc: for a large block, for a block of 0 bytes (0 - 1 is larger than any maximum), and
 * if the pool fails. */
static inline void *alloc_small(size_t n_bytes) {
  return n_bytes - 1 < FH_POOL_MAX_BYTES ? fh_pool_alloc(n_bytes) : NULL;
}
/* 0 for a block of malloc, which stays unchanged. */
static inline bool free_small(void *block) {
  if (!fh_pool_has(block)) return false;
  fh_pool_free(block);
  return true;
}
/* The size of a block of the pool; 0 for a block of malloc. */
static inline size_t small_bytes(const void *block) { return fh_pool_has(block) ? fh_pool_block_bytes(block) : 0; }

#else
#define MIN_BYTES 1

static inline void *alloc_small(FH_MAYBE_UNUSED size_t n_bytes) { return NULL; }
static inline bool free_small(FH_MAYBE_UNUSED void *block) { return false; }
static inline size_t small_bytes(FH_MAYBE_UNUSED const void *block) { return 0; }
#endif

/* Requests huge pages for a large block: filling it causes fewer page faults, and reading it fewer TLB misses. */
static inline void *advised(void *block, size_t n_bytes) {
#ifdef FH_PAGES
  if (FH_UNLIKELY(n_bytes >= FH_PAGES_LARGE) && block != NULL) fh_pages_advise(block, n_bytes);
#else
  FH_UNUSED(n_bytes);
#endif
  return block;
}

static inline size_t at_least_min(size_t n_bytes) { return n_bytes < MIN_BYTES ? MIN_BYTES : n_bytes; }

/* ---- Blocks ---- */

void *fh_mem_alloc(size_t n_bytes) {
  if (must_fail()) return NULL;
  void *block = alloc_small(n_bytes);
  return counted(block != NULL ? block : advised(malloc(at_least_min(n_bytes)), n_bytes));
}

void *fh_mem_calloc(size_t n_items, size_t item_bytes) {
  if (item_bytes != 0 && n_items > SIZE_MAX / item_bytes) return NULL;
  if (must_fail()) return NULL;
  size_t n_bytes = n_items * item_bytes;
  void *block = alloc_small(n_bytes);
  if (block != NULL) return counted(memset(block, 0, n_bytes));
  /* calloc and not malloc with memset: new memory from the system is zero already and need not be written. */
  return counted(advised(calloc(1, at_least_min(n_bytes)), n_bytes));
}

/* Moves the content of a block of the pool to a block of n_bytes. NULL without memory: then the old block stays. */
static void *move_small(void *block, size_t old_bytes, size_t n_bytes) {
  void *moved = fh_mem_alloc(n_bytes);
  if (moved == NULL) return NULL;
  memcpy(moved, block, old_bytes < n_bytes ? old_bytes : n_bytes);
  fh_mem_free(block);
  return moved;
}

void *fh_mem_realloc(void *block, size_t n_bytes) {
  if (block == NULL) return fh_mem_alloc(n_bytes);
  size_t old_bytes = small_bytes(block);
  /* The size of a block of the pool is fixed: a smaller size fits, a larger size moves the content. */
  if (old_bytes != 0) return n_bytes <= old_bytes ? block : move_small(block, old_bytes, n_bytes);
  if (must_fail()) return NULL;
  /* The number of blocks does not change. */
  return advised(realloc(block, at_least_min(n_bytes)), n_bytes);
}

void fh_mem_free(void *block) {
  if (block == NULL) return;
  count_block(-1);
  if (!free_small(block)) free(block);
}

int fh_mem_grow(void **items, size_t *room, size_t n_items, size_t n_more, size_t item_bytes) {
  size_t wanted = *room < 16 ? 16 : *room * 2;
  if (wanted - n_items < n_more) wanted = n_items + n_more;
  if (wanted < n_items || wanted > SIZE_MAX / item_bytes) return -1;
  void *longer = fh_mem_realloc(*items, wanted * item_bytes);
  if (longer == NULL) return -1;
  *items = longer;
  *room = wanted;
  return 0;
}

char *fh_mem_copy_text(const char *data, size_t n_bytes) {
  if (n_bytes == SIZE_MAX) return NULL; /* the sum below would wrap around */
  char *copy = (char *)fh_mem_alloc(n_bytes + 1);
  if (copy == NULL) return NULL;
  if (n_bytes != 0) memcpy(copy, data, n_bytes);
  copy[n_bytes] = '\0';
  return copy;
}

void fh_mem_keep(const void *block) {
  if (block != NULL) count_block(-1);
}

void fh_mem_put_aside(fh_mem_aside *aside, void *data, void (*deleter)(void *)) {
  /* Our own function runs no foreign code, so it may run under the caller's lock. */
  if (deleter == fh_mem_free) {
    fh_mem_free(data);
  } else if (deleter != NULL) {
    aside->data = data;
    aside->deleter = deleter;
  }
}

void fh_mem_free_aside(fh_mem_aside *aside) {
  if (aside->deleter == NULL) return;
  fh_sync_check_unlocked("a buffer's deleter");
  aside->deleter(aside->data);
}
