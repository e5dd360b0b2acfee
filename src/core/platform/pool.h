/* pool.h - small blocks for mem.c, which may be freed by any thread. They exist where FH_POOL is defined.
 *
 * Each thread has a heap of its own, whose chunks hold blocks of one size each, so that neither making nor freeing a
 * block takes a lock or an atomic operation. A block that another thread frees goes to a list that its chunk has for
 * that; the heap takes such blocks back before it asks for another chunk, and when its thread ends. The heap of a thread
 * that ended serves the next thread that needs one; until then it takes back each block at once, under a lock. Empty
 * chunks go back to pages.h.
 *
 * A block begins 8 bytes behind a multiple of 16, where malloc has none: that tells them apart. */
#ifndef FH_POOL_H_
#define FH_POOL_H_

#include "pages.h"

#ifdef FH_PAGES
#define FH_POOL 1

#define FH_POOL_MAX_BYTES 512

/* A block of n_bytes, from 1 to FH_POOL_MAX_BYTES, 8-byte aligned. NULL when there is none to have: without
 * memory, in a thread that is ending, and under tools that watch malloc; the caller asks malloc then. */
void *fh_pool_alloc(size_t n_bytes);
void fh_pool_free(void *block);

/* Whether the block is the pool's; else it must be 16-byte aligned. */
static inline int fh_pool_has(const void *block) { return ((uintptr_t)block & 15) == 8; }
/* How many bytes it has room for. */
size_t fh_pool_block_bytes(const void *block);
#endif

#endif /* FH_POOL_H_ */
