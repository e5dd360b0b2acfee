/* aligned_pages.c - replaces src/core/platform/pages.c in a library that pool.py compares: chunks come from
 * aligned_alloc, without a request for huge pages. */
#include "core/platform/pages.h"

#include <stdlib.h>

void *fh_pages_new(fh_pages_area **area) {
  *area = NULL;
  return aligned_alloc(FH_PAGES_CHUNK, FH_PAGES_CHUNK);
}

void fh_pages_free(void *chunk, fh_pages_area *area) {
  (void)area;
  free(chunk);
}

void fh_pages_advise(void *block, size_t n_bytes) { (void)block, (void)n_bytes; }
