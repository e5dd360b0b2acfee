/* pages.c - chunks of memory directly from the system.
 *
 * An area is 2 MiB at a multiple of that: one huge page, on machines whose huge pages have that size. An area is cut
 * into 32 chunks. A chunk is taken, or free with memory (`used`), or free without memory; two masks of the area store
 * that. The areas with a free chunk form a list. A full area is in no list: the owner of a chunk knows its area.
 *
 * Only pool.c takes chunks, one for many blocks, so a single lock is sufficient. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* madvise, MAP_ANONYMOUS */
#endif
#include "pages.h"

#ifdef FH_PAGES
#include <stdlib.h>
#include <sys/mman.h>

#include "fork.h"

#define AREA_BYTES ((size_t)1 << 21) /* a huge page */
FH_STATIC_ASSERT(AREA_BYTES / FH_PAGES_CHUNK == 32, "each chunk has a bit in a mask");

#define MAX_USED 64     /* free chunks that still have their memory: 4 MiB */
#define N_SMALL_AREAS 4 /* of small pages: a process with little memory gets no huge page */

struct fh_pages_area {
  fh_pages_area *next, *previous; /* in the list of areas with a free chunk */
  char *base; /* the first chunk; never changes */
  uint32_t taken; /* a bit for each chunk, as in `used` */
  uint32_t used;  /* free, was taken before, and still has its memory */
};

FH_LOCK(pages_lock, "pages", FH_RANK_PAGES);
/* Under the lock: */
static fh_pages_area *with_room;     /* the areas with a free chunk */
/* number of areas; numbers of bits in `taken` and in `used` of all areas together */
static int n_areas, n_taken, n_used;

#ifdef FH_TEST
int fh_pages_n_taken(void) {
  fh_mutex_lock(&pages_lock);
  int n = n_taken;
  fh_mutex_unlock(&pages_lock);
  return n;
}
#endif

/* ---- Areas; all under the lock ---- */

/* AREA_BYTES at a multiple of that; NULL if the system refuses. mmap only guarantees the alignment of small pages, so
 * twice as much is mapped, and the parts before and after the aligned part are unmapped. */
static char *map_area(void) {
  char *mapped = (char *)mmap(NULL, 2 * AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return NULL;
  size_t n_before = (size_t)(-(uintptr_t)mapped & (AREA_BYTES - 1));
  if (n_before != 0) (void)munmap(mapped, n_before);
  (void)munmap(mapped + n_before + AREA_BYTES, AREA_BYTES - n_before);
  return mapped + n_before;
}

static void link_area(fh_pages_area *area) {
  area->previous = NULL;
  area->next = with_room;
  if (with_room != NULL) with_room->previous = area;
  with_room = area;
}

static void unlink_area(fh_pages_area *area) {
  if (area->next != NULL) area->next->previous = area->previous;
  if (area->previous != NULL)
    area->previous->next = area->next;
  else
    with_room = area->next;
}

/* Adds an area to the list, or does nothing without memory. The function uses calloc, because mem.c depends on this
 * file: its small blocks are in the chunks that are made here. */
static void add_area(void) {
  fh_pages_area *area = (fh_pages_area *)calloc(1, sizeof(*area));
  if (area == NULL) return;
  area->base = map_area();
  if (area->base == NULL) {
    free(area);
    return;
  }
  (void)madvise(area->base, AREA_BYTES, n_areas < N_SMALL_AREAS ? MADV_NOHUGEPAGE : MADV_HUGEPAGE); /* only advice */
  n_areas += 1;
  link_area(area);
}

/* Unmaps an area without a taken chunk. Such an area is in the list, because all its chunks are free. */
static void end_area(fh_pages_area *area) {
  unlink_area(area);
  n_areas -= 1;
  n_used -= __builtin_popcount(area->used);
  (void)munmap(area->base, AREA_BYTES);
  free(area);
}

/* Returns the memory of all free chunks to the system; the chunks keep their addresses. The list contains all of them:
 * an area that is not in it has no free chunk. */
static void end_used(void) {
  for (fh_pages_area *area = with_room; area != NULL; area = area->next) {
    for (uint32_t left = area->used; left != 0; left &= left - 1) {
      char *chunk = area->base + (size_t)__builtin_ctz(left) * FH_PAGES_CHUNK;
      (void)madvise(chunk, FH_PAGES_CHUNK, MADV_DONTNEED);
    }
    area->used = 0;
  }
  n_used = 0;
}

/* Rounds inwards to whole huge pages: the pages at both ends may contain other memory as well. */
void fh_pages_advise(void *block, size_t n_bytes) {
  uintptr_t first = ((uintptr_t)block + AREA_BYTES - 1) & ~(uintptr_t)(AREA_BYTES - 1);
  uintptr_t end = ((uintptr_t)block + n_bytes) & ~(uintptr_t)(AREA_BYTES - 1);
  if (first < end) (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
}

/* ---- Chunks ---- */

/* Under the lock; the area has a free chunk. */
static void *take_chunk(fh_pages_area *area) {
  uint32_t from = area->used != 0 ? area->used : ~area->taken;
  int i = __builtin_ctz(from); /* a used chunk first, because it has its memory already */
  uint32_t bit = (uint32_t)1 << i;
  n_used -= (area->used & bit) != 0;
  area->used &= ~bit;
  area->taken |= bit;
  n_taken += 1;
  if (area->taken == UINT32_MAX) unlink_area(area);
  return area->base + (size_t)i * FH_PAGES_CHUNK;
}

void *fh_pages_new(fh_pages_area **area) {
  fh_mutex_lock(&pages_lock);
  if (with_room == NULL) add_area();
  *area = with_room;
  void *chunk = *area != NULL ? take_chunk(*area) : NULL;
  fh_mutex_unlock(&pages_lock);
  return chunk;
}

void fh_pages_free(void *chunk, fh_pages_area *area) {
  uint32_t bit = (uint32_t)1 << (((char *)chunk - area->base) / (ptrdiff_t)FH_PAGES_CHUNK);
  fh_mutex_lock(&pages_lock);
  if (area->taken == UINT32_MAX) link_area(area); /* it was full until now */
  area->taken &= ~bit;
  area->used |= bit;
  n_taken -= 1;
  n_used += 1;
  /* One area stays, so that a program that repeatedly creates and drops its last object does not map and unmap an area
   * each time. */
  if (area->taken == 0 && n_areas > 1)
    end_area(area);
  else if (n_used > MAX_USED)
    end_used();
  fh_mutex_unlock(&pages_lock);
}
#endif
