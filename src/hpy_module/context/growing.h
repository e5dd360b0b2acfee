/* Arrays of malloc() that grow by one item at a time. */
#pragma once

#include <stdlib.h>

#include "core/platform/base.h"

/* Returns an array with room for an item after its first n: the array itself or, if *room is n, a larger one, and its
 * size in *room. If memory is exhausted, returns NULL, and the array and *room are as before. */
FH_INLINE void *fb_growing_reserve(void *array, size_t n, size_t *room, size_t item_size) {
  if (FH_LIKELY(n < *room)) return array;
  size_t larger = *room == 0 ? 64 : 2 * *room;
  void *grown = realloc(array, larger * item_size);
  if (grown != NULL) *room = larger;
  return grown;
}
