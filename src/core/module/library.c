/* library.c - opening the libraries of clients, and the error messages for libraries that cannot be opened.
 *
 * The core opens every library here: for a module (library.c), and before that libtvm_ffi_cxx, without which
 * compiled C++ clients do not find the ABI's C++ names. */
#include "library.h"

#include "core/object/error.h"
#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"
#include "library_file.h"

#if defined(__APPLE__)
#define CXX_NAME "libtvm_ffi_cxx.dylib"
#else
#define CXX_NAME "libtvm_ffi_cxx.so"
#endif

/* Takes no lock of the core, because the loader has one: a thread may call this from the initialisation of a library,
 * with the loader's lock, while another thread waits for that lock in fh_loader_open below. Opening the library twice
 * is harmless. Windows has no such library: C++ clients use only the headers there. */
void fh_library_load_cxx(void) {
  static int32_t is_done;
  char reason[FH_LIBRARY_FILE_REASON];
  fh_loader_place self;
  if (fh_atomic_load_acquire_i32(&is_done)) return; /* pairs with the store below */
  /* The folder of this library; the loader finds it by an address in this library. */
  bool is_known = fh_loader_place_of((void *)(uintptr_t)fh_library_load_cxx, &self);
  char *slash = is_known ? strrchr(self.file, '/') : NULL;
  if (slash != NULL && (size_t)(slash - self.file) + 1 + sizeof(CXX_NAME) <= sizeof(self.file)) {
    memcpy(slash + 1, CXX_NAME, sizeof(CXX_NAME));
    /* If it cannot be opened, a client that needs it fails to load, with its own error. */
    if (!fh_library_file_refuse(self.file, reason)) (void)fh_loader_open(self.file, FH_LOADER_GLOBAL, NULL, 0);
  }
  fh_atomic_store_release_i32(&is_done, 1); /* pairs with the load above; a thread that reads 1 finds the names */
}

/* Whether a name belongs to this ABI, C or C++. "3tvm3ffi" is the namespace in a mangled C++ name. */
static bool is_ours(const char *name, size_t length) {
  const char *space = strstr(name, "3tvm3ffi");
  return (length >= 6 && memcmp(name, "TVMFFI", 6) == 0) || (space != NULL && (size_t)(space - name) < length);
}

int fh_library_check_file(const char *path) {
  char reason[FH_LIBRARY_FILE_REASON];
  if (!fh_library_file_refuse(path, reason)) return 0;
  return fh_error_raise(FH_INTERNAL_ERROR, "Cannot load library %s: it %s", path, reason);
}

/* Opens a library with its symbols local to it. NULL with an InternalError pending, raised by fh_library_check_file or
 * with the system's message.
 *
 * Binds all functions at once. With lazy binding, a function of this ABI that does not exist here would end the process
 * at its first call. If another symbol is missing, the library is opened lazily after all: it may never call the
 * missing function. */
static void *open_library(const char *path) {
  char reason[FH_LOADER_REASON];
  if (fh_library_check_file(path) != 0) return NULL;
  fh_library_load_cxx();
  void *library = fh_loader_open(path, FH_LOADER_LOCAL, reason, sizeof(reason));
  if (library != NULL) return library;
  size_t length;
  const char *lacking = fh_loader_lacking(reason, &length);
  if (lacking != NULL && is_ours(lacking, length)) {
    fh_error_raise(FH_INTERNAL_ERROR,
                   "Cannot load library %s: it needs %.*s, which tvm-ffi %d.%d.%d does not have: was it "
                   "built against a newer version?",
                   path, (int)length, lacking, TVM_FFI_VERSION_MAJOR, TVM_FFI_VERSION_MINOR, TVM_FFI_VERSION_PATCH);
    return NULL;
  }
  library = fh_loader_open(path, FH_LOADER_LAZY, reason, sizeof(reason));
  if (library == NULL) fh_error_raise(FH_INTERNAL_ERROR, "Cannot load library %s: %s", path, reason);
  return library;
}

/* --- libraries whose initialisation fails ------------------------------------------------------------------------ */

/* Libraries whose initialisation fails.
 *
 * A library's initialisers run within dlopen, which they cannot make fail, and an exception must not leave them. So the
 * C++ headers catch the exception and report it here, through the global function ffi_hpy.fail_load, and the load in
 * progress on that thread fails with it. */

/* A load in progress on this thread, on the stack of fh_library_load. Initialisers may load further libraries, so the
 * loads form a list, the innermost first. */
typedef struct load {
  struct load *outer;
  bool has_failed;
  char *reason; /* the first reason; NULL without memory for it */
} load;

static FH_THREAD_LOCAL load *innermost;

/* A library whose initialisation failed stays mapped, because other code may hold its earlier registrations. If it is
 * opened again, the system returns the mapped library without initialising it, so this list records that it is
 * broken. */
typedef struct broken {
  struct broken *next;
  void *library;
} broken;

FH_LOCK(lock, "broken", FH_RANK_PLAIN);
static broken *all_broken; /* guarded by `lock`; entries are never freed */

static bool is_broken(const void *library) {
  fh_mutex_lock(&lock);
  const broken *at = all_broken;
  while (at != NULL && at->library != library) at = at->next;
  fh_mutex_unlock(&lock);
  return at != NULL;
}

/* 0, or -1 without memory. */
static int add_broken(void *library) {
  broken *added = (broken *)fh_mem_alloc(sizeof(*added));
  if (added == NULL) return -1;
  fh_mem_keep(added);
  added->library = library;
  fh_mutex_lock(&lock);
  added->next = all_broken;
  all_broken = added;
  fh_mutex_unlock(&lock);
  return 0;
}

/* Only stores the reason: an error that is raised within an initialiser could be replaced before the load ends. */
int fh_library_load_fail(TVMFFIByteArray reason) {
  load *current = innermost;
  if (current == NULL) return 0;
  if (!current->has_failed) current->reason = fh_mem_copy_text(reason.data, reason.size);
  current->has_failed = true;
  return 1;
}

/* 0, or -1 with an error pending if the library's initialisation failed, now or at an earlier load. */
static int check_loaded(const load *loaded, void *library, const char *path) {
  if (!loaded->has_failed && !is_broken(library)) return 0;
  if (loaded->has_failed && add_broken(library) != 0) return fh_error_raise_no_memory();
  /* Without a reason, either there was no memory for it, or the library failed in an earlier load. */
  const char *reason = loaded->reason != NULL ? loaded->reason
                       : loaded->has_failed   ? "out of memory"
                                              : "as it did before";
  return fh_error_raise(FH_RUNTIME_ERROR, "Cannot load library %s: its initialisation failed: %s", path, reason);
}

void *fh_library_load(const char *path) {
  load current = {innermost, 0, NULL};
  innermost = &current;
  void *library = open_library(path);
  /* Also if opening has failed: no pointer to this frame may remain. */
  innermost = current.outer;
  if (library != NULL && check_loaded(&current, library, path) != 0) library = NULL;
  fh_mem_free(current.reason);
  return library;
}
