/* library.c - dynamic libraries of the operating system. */
#include "library.h"

#include "error.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "mem.h"

void *fh_library_open(const char *path) {
  int n = MultiByteToWideChar(CP_UTF8, 0, path, -1, NULL, 0);
  wchar_t *wide = n > 0 ? (wchar_t *)fh_mem_alloc((size_t)n * sizeof *wide) : NULL;
  if (wide == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, n);
  HMODULE library = LoadLibraryW(wide);
  DWORD code = GetLastError();
  fh_mem_free(wide);
  if (library == NULL) {
    fh_error_raise(FH_INTERNAL_ERROR, "Cannot load library %s: error %lu", path, (unsigned long)code);
  }
  return library;
}

void *fh_library_find(void *library, const char *symbol) {
  return (void *)(uintptr_t)GetProcAddress((HMODULE)library, symbol);
}

#else
#include <dlfcn.h>

void *fh_library_open(const char *path) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    const char *reason = dlerror();
    fh_error_raise(FH_INTERNAL_ERROR, "Cannot load library %s: %s", path, reason != NULL ? reason : "no reason given");
  }
  return library;
}

void *fh_library_find(void *library, const char *symbol) { return dlsym(library, symbol); }
#endif
