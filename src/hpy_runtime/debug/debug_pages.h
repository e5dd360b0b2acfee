/* Debug mode: copies of strings, each on its own memory pages, which can be made unreadable.
 *
 * Nothing here is synchronised: the copies belong to records, and the lock of debug_record.c guards them. */
#ifndef FFI_HPY_RUNTIME_DEBUG_PAGES_H_
#define FFI_HPY_RUNTIME_DEBUG_PAGES_H_

#include <stddef.h>

typedef struct FhpyText {
  struct FhpyText *next;
  char *bytes; /* on its own pages */
  size_t byte_size;
} FhpyText;

/* Makes a read-only copy; NULL if memory is exhausted. */
FhpyText *fhpy_debug_pages_new(const char *bytes, size_t byte_size);
/* The other functions take a whole list; NULL is the empty list. */
void fhpy_debug_pages_hide(FhpyText *list); /* after this, reading a copy ends the process */
void fhpy_debug_pages_free(FhpyText *list);
size_t fhpy_debug_pages_size(const FhpyText *list);
const FhpyText *fhpy_debug_pages_find(const FhpyText *list, const char *bytes, size_t byte_size);

#endif /* FFI_HPY_RUNTIME_DEBUG_PAGES_H_ */
