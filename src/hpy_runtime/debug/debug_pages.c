/* Debug mode: copies of strings that become unreadable when their handle is closed.
 *
 * The data of a str or bytes, and the name of a type, live as long as the object, and other code may keep the object
 * alive long after the extension has closed its handle. So reading such data too late usually works. A copy has its own
 * memory pages, which are read-only, and unreadable once the handle is closed: the process then ends with SIGSEGV at
 * the mistake itself. */
#include "debug_pages.h"

#include <stdlib.h>
#include <string.h>

#include "core/platform/system.h"

FhpyText *fhpy_debug_pages_new(const char *bytes, size_t byte_size) {
  FhpyText *text = malloc(sizeof(FhpyText));
  if (text == NULL) return NULL;
  char *copy = fh_shield_new(byte_size);
  if (copy == NULL) {
    free(text);
    return NULL;
  }
  memcpy(copy, bytes, byte_size);
  fh_shield_no_write(copy, byte_size);
  *text = (FhpyText){NULL, copy, byte_size};
  return text;
}

void fhpy_debug_pages_hide(FhpyText *list) {
  for (; list != NULL; list = list->next) fh_shield_no_access(list->bytes, list->byte_size);
}

void fhpy_debug_pages_free(FhpyText *list) {
  while (list != NULL) {
    FhpyText *next = list->next;
    fh_shield_free(list->bytes, list->byte_size);
    free(list);
    list = next;
  }
}

size_t fhpy_debug_pages_size(const FhpyText *list) {
  size_t n = 0;
  for (; list != NULL; list = list->next) n += list->byte_size;
  return n;
}

const FhpyText *fhpy_debug_pages_find(const FhpyText *list, const char *bytes, size_t byte_size) {
  while (list != NULL && (list->byte_size != byte_size || memcmp(list->bytes, bytes, byte_size) != 0))
    list = list->next;
  return list;
}
