/* mem.h - the only caller of malloc, with a pool of small blocks in front of it (pool.h). Every function may return
 * NULL without an error pending; the caller decides whether to raise one (fh_error_raise_no_memory).
 *
 * Memory rules: a block is freed by the function that matches its allocation. Memory that a client frees (List buffers)
 * comes with the deleter that the ABI stores next to it, so blocks never cross libraries. A block that lives as long as
 * the process (registry entries) is marked with fh_mem_keep and stays reachable from static data.
 *
 * The test build (FH_TEST defined) counts live blocks and can fail the n-th allocation; the controls at the end exist
 * only there, and malloc makes every block, so that sanitizers see each. Environment variables have no effect. */
#pragma once

#include "base.h"

/* 8-byte aligned; size 0 also gives a block. */
void *fh_mem_alloc(size_t n_bytes);
/* Zeroed; NULL also when n_items * item_bytes overflows. */
void *fh_mem_calloc(size_t n_items, size_t item_bytes);
/* On failure the old block stays valid. NULL acts as fh_mem_alloc. */
void *fh_mem_realloc(void *block, size_t n_bytes);
/* NULL does nothing. */
void fh_mem_free(void *block);

/* The slow part of fh_mem_reserve. */
int fh_mem_grow(void **items, size_t *room, size_t n_items, size_t n_more, size_t item_bytes);
/* Makes room for n_more items after the first n_items of an array; updates *items and *room, the number of items for
 * which the array has room. The array doubles, so growing copies O(n) items for an array of n. -1 without memory, with
 * the array unchanged. */
static inline int fh_mem_reserve(void **items, size_t *room, size_t n_items, size_t n_more, size_t item_bytes) {
  return FH_LIKELY(*room - n_items >= n_more) ? 0 : fh_mem_grow(items, room, n_items, n_more, item_bytes);
}

/* A copy with a NUL at the end. */
char *fh_mem_copy_text(const char *data, size_t n_bytes);

/* Marks a block as never freed: takes it out of the live count. Safe on NULL. */
void fh_mem_keep(const void *block);

/* A buffer that another one has replaced, with the function that frees it. That function may be a client's, and foreign
 * code must not run under a lock: a section under a lock puts the buffer aside, and its caller frees the buffer
 * afterwards. */
typedef struct {
  void *data;
  void (*deleter)(void *); /* NULL: no buffer is aside */
} fh_mem_aside;
#define FH_MEM_NONE_ASIDE {NULL, NULL}
/* Puts a buffer aside, or frees it at once if this library made it. There is room for one: only the first buffer of an
 * object can be a client's; this library makes its replacements. A NULL deleter does nothing. */
void fh_mem_put_aside(fh_mem_aside *aside, void *data, void (*deleter)(void *));
/* Frees the buffer that was put aside, if any. Hold no lock. */
void fh_mem_free_aside(fh_mem_aside *aside);

#ifdef FH_TEST
/* Blocks allocated, not freed and not kept. */
FH_EXPORT int64_t fh_mem_live_blocks(void);
/* The n-th allocation from now (1 is the next one) returns NULL, then all succeed again; 0 switches that off. Counts
 * the calling thread's allocations only. */
FH_EXPORT void fh_mem_fail_nth(int64_t n);
/* As fh_mem_fail_nth, but that allocation and all later ones return NULL, until fh_mem_fail_nth(0). */
FH_EXPORT void fh_mem_fail_from(int64_t n);
/* Whether the requested failure has happened. */
FH_EXPORT int fh_mem_has_failed(void);
#endif
