/* pool.h - small blocks for mem.c, which any thread may free. The file has functions where FH_POOL is defined.
 *
 * Each thread has its own heap; each chunk of a heap holds blocks of one size. So making a block, and freeing it on the
 * thread that made it, takes no lock and no atomic operation. A block that another thread frees goes to a list in its
 * chunk. A heap collects these lists before it asks for another chunk, and when its thread ends. The heap of a thread
 * that has ended serves the next new thread; until then each freed block is collected at once, under a lock. Empty
 * chunks return to pages.h.
 *
 * A block begins 8 bytes after a multiple of 16, a block of malloc at a multiple of 16: fh_pool_has distinguishes them
 * by that.
 *
 * README.md has measurements of the pool, with the command that repeats them. */
#pragma once

#include "pages.h"

#ifdef FH_PAGES
#define FH_POOL 1

#define FH_POOL_MAX_BYTES 512

/* A block of n_bytes, from 1 to FH_POOL_MAX_BYTES, 8-byte aligned. NULL without memory, in a thread that is ending, and
 * under tools that watch malloc: the caller then calls malloc. */
void *fh_pool_alloc(size_t n_bytes);
void fh_pool_free(void *block);

/* Whether the pool made the block; a block of malloc must be 16-byte aligned. */
static inline bool fh_pool_has(const void *block) { return ((uintptr_t)block & 15) == 8; }
/* The usable size of a block of the pool. */
size_t fh_pool_block_bytes(const void *block);
#endif
