/* Debug mode: copies of texts, each on memory pages of its own that can be made unreadable.
 *
 * Nothing here is synchronised: the copies belong to records, and the lock of debug_record.c guards them. */
#ifndef FFI_HPY_RUNTIME_DEBUG_PAGES_H_
#define FFI_HPY_RUNTIME_DEBUG_PAGES_H_

#include <stddef.h>

typedef struct FhpyText {
  struct FhpyText *next;
  char *bytes; /* on pages of their own */
  size_t byte_size;
} FhpyText;

/* A copy that can be read only, or NULL if there is no memory. */
FhpyText *fhpy_debug_pages_new(const char *bytes, size_t byte_size);
/* The other functions take a whole list; NULL is the empty one. */
void fhpy_debug_pages_hide(FhpyText *list); /* after this, reading a copy ends the process */
void fhpy_debug_pages_free(FhpyText *list);
size_t fhpy_debug_pages_size(const FhpyText *list);
const FhpyText *fhpy_debug_pages_find(const FhpyText *list, const char *bytes, size_t byte_size);

#endif /* FFI_HPY_RUNTIME_DEBUG_PAGES_H_ */
