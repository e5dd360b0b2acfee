/* library.c - dynamic libraries of the operating system: LoadLibrary on Windows, dlopen elsewhere.
 *
 * Every library that the core opens is opened here: by a module (library_load.c), and before it libtvm_ffi_cxx.so,
 * without which compiled C++ clients do not find the ABI's C++ names. */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include "library.h"

#include "core/object/error.h"
#include "core/platform/atomic.h"

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include "core/platform/mem.h"

void *fh_library_open(const char *path) {
  /* Paths are UTF-8 here and UTF-16 there. The first call gives the length, with the NUL. */
  int n = MultiByteToWideChar(CP_UTF8, 0, path, -1, NULL, 0);
  wchar_t *wide = n > 0 ? (wchar_t *)fh_mem_alloc((size_t)n * sizeof *wide) : NULL;
  if (wide == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, n);
  HMODULE library = LoadLibraryW(wide);
  /* At once, before freeing the text can change it. */
  DWORD code = GetLastError();
  fh_mem_free(wide);
  if (library == NULL) {
    fh_error_raise(FH_INTERNAL_ERROR, "Cannot load library %s: error %lu", path, (unsigned long)code);
  }
  return library;
}

int fh_library_check_file(const char *path) {
  FH_UNUSED(path);
  return 0;
}

void fh_library_load_cxx(void) {}

void *fh_library_find(void *library, const char *symbol) {
  return (void *)(uintptr_t)GetProcAddress((HMODULE)library, symbol);
}

#else
#include <dlfcn.h>

#include "library_file.h"

#define CXX_NAME "libtvm_ffi_cxx.so"

/* Without a lock of ours, because the loader has one: a thread may come here from the initialisation of a library, with
 * the loader's lock, while another thread is in the dlopen below and waits for that. Opening the library twice is
 * harmless. */
void fh_library_load_cxx(void) {
  static int32_t is_done;
  char path[4096], reason[FH_LIBRARY_FILE_REASON];
  Dl_info self;
  if (fh_atomic_load_acquire_i32(&is_done)) return; /* pairs with the store below */
  /* The folder of this library, asked of the loader by an address of ours. */
  int is_known = dladdr((void *)(uintptr_t)fh_library_load_cxx, &self) != 0 && self.dli_fname != NULL;
  const char *slash = is_known ? strrchr(self.dli_fname, '/') : NULL;
  size_t n_folder = slash != NULL ? (size_t)(slash - self.dli_fname) + 1 : 0;
  if (n_folder != 0 && n_folder + sizeof CXX_NAME <= sizeof path) {
    memcpy(path, self.dli_fname, n_folder);
    memcpy(path + n_folder, CXX_NAME, sizeof CXX_NAME);
    int is_open = !fh_library_file_refuse(path, reason) && dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL;
    if (!is_open) (void)dlerror(); /* forgotten: a client that needs it fails to load, with an error of its own */
  }
  fh_atomic_store_release_i32(&is_done, 1); /* pairs with the load above, after which the names are there */
}

/* The name of this ABI, C or C++, that the loader did not find: a pointer into its message, where a space or a comma
 * ends the name. NULL for other reasons. "3tvm3ffi" is the namespace in a mangled C++ name. The words are glibc's;
 * elsewhere the loader's message is given as it is. */
static const char *find_lacking(const char *reason) {
  static const char before[] = "undefined symbol: ";
  const char *found = reason != NULL ? strstr(reason, before) : NULL;
  const char *symbol = found != NULL ? found + sizeof before - 1 : NULL;
  return symbol != NULL && (strncmp(symbol, "TVMFFI", 6) == 0 || strstr(symbol, "3tvm3ffi") != NULL) ? symbol : NULL;
}

int fh_library_check_file(const char *path) {
  char reason[FH_LIBRARY_FILE_REASON];
  if (!fh_library_file_refuse(path, reason)) return 0;
  return fh_error_raise(FH_INTERNAL_ERROR, "Cannot load library %s: it %s", path, reason);
}

/* Binds all functions at once (RTLD_NOW). Bound lazily, a function of this ABI that does not exist here would end the
 * process at its first call. If something else is missing, the library is opened lazily after all: it may never call
 * what is missing. */
void *fh_library_open(const char *path) {
  if (fh_library_check_file(path) != 0) return NULL;
  fh_library_load_cxx();
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) return library;
  const char *reason = dlerror(), *lacking = find_lacking(reason);
  if (lacking != NULL) {
    fh_error_raise(FH_INTERNAL_ERROR,
                   "Cannot load library %s: it needs %.*s, which tvm-ffi %d.%d.%d does not have: was it "
                   "built against a newer version?",
                   path, (int)strcspn(lacking, " ,\t\n"), lacking, TVM_FFI_VERSION_MAJOR, TVM_FFI_VERSION_MINOR,
                   TVM_FFI_VERSION_PATCH);
    return NULL;
  }
  library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    reason = dlerror();
    fh_error_raise(FH_INTERNAL_ERROR, "Cannot load library %s: %s", path, reason != NULL ? reason : "no reason given");
  }
  return library;
}

void *fh_library_find(void *library, const char *symbol) { return dlsym(library, symbol); }
#endif

#if defined(__linux__)
#include <link.h>

/* What find_segment looks for, and what it has found. */
typedef struct {
  uintptr_t address;
  size_t room;
} segment_query;

/* Looks for the address in the segments of one library, or of the program. 1 ends the iteration. */
static int find_segment(struct dl_phdr_info *info, size_t n_bytes, void *state) {
  segment_query *at = (segment_query *)state;
  FH_UNUSED(n_bytes);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    /* An address before `begin` wraps around and is too large. */
    if (part->p_type != PT_LOAD || at->address - begin >= part->p_memsz) continue;
    at->room = part->p_memsz - (at->address - begin);
    return 1;
  }
  return 0;
}

size_t fh_library_room(const void *address) {
  segment_query at = {(uintptr_t)address, SIZE_MAX};
  (void)dl_iterate_phdr(find_segment, &at);
  return at.room;
}
#else
size_t fh_library_room(const void *address) {
  FH_UNUSED(address);
  return SIZE_MAX;
}
#endif
