/* pages.h - chunks of memory directly from the system, for pool.c, and huge pages. The file has functions where
 * FH_PAGES is defined: on 64-bit Linux, unless FH_NO_POOL is defined (benchmarks/pool.py).
 *
 * A chunk has FH_PAGES_CHUNK bytes and begins at a multiple of that. Chunks are cut from areas, so that a large heap
 * consists of huge pages where the system has them: filling the heap causes fewer page faults, and reading it fewer TLB
 * misses. A freed chunk keeps its memory and serves the next call. When many free chunks have memory, the system gets
 * the memory of all of them back; an area without a used chunk is returned as a whole. */
#pragma once

#include "base.h"

#if defined(__linux__) && defined(__GNUC__) && UINTPTR_MAX == UINT64_MAX && !defined(FH_NO_POOL)
#define FH_PAGES 1

#define FH_PAGES_CHUNK ((size_t)1 << 16)

typedef struct fh_pages_area fh_pages_area;

/* Returns a chunk with undefined contents, and the area it belongs to; NULL when the system is out of memory. Any
 * thread. */
void *fh_pages_new(fh_pages_area **area);
void fh_pages_free(void *chunk, fh_pages_area *area);

/* Advises the system to use huge pages for a large block of another allocator. */
#define FH_PAGES_LARGE ((size_t)1 << 22)
void fh_pages_advise(void *block, size_t n_bytes);

#ifdef FH_TEST
/* Number of taken chunks. */
int fh_pages_n_taken(void);
#endif
#endif
