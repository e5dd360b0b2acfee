/* Debug mode: copies of texts that end with their handle.
 *
 * The text of a str or bytes, and the name of a type, live as long as the object, and others may keep the object alive
 * long after the extension has closed its handle. So reading such a text too late mostly works. A copy has memory pages
 * of its own, which are read-only, and unreadable once the handle is closed: the process then ends with SIGSEGV at the
 * very mistake. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "debug_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t round_to_pages(size_t byte_size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (byte_size + page - 1) / page * page;
}

FhpyText *fhpy_debug_pages_new(const char *bytes, size_t byte_size) {
  FhpyText *text = malloc(sizeof(FhpyText));
  if (text == NULL) return NULL;
  size_t n_mapped = round_to_pages(byte_size);
  char *copy = mmap(NULL, n_mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) {
    free(text);
    return NULL;
  }
  memcpy(copy, bytes, byte_size);
  mprotect(copy, n_mapped, PROT_READ);
  *text = (FhpyText){NULL, copy, byte_size};
  return text;
}

void fhpy_debug_pages_hide(FhpyText *list) {
  for (; list != NULL; list = list->next) mprotect(list->bytes, round_to_pages(list->byte_size), PROT_NONE);
}

void fhpy_debug_pages_free(FhpyText *list) {
  while (list != NULL) {
    FhpyText *next = list->next;
    munmap(list->bytes, round_to_pages(list->byte_size));
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
