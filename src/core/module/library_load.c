/* library_load.c - libraries whose initialisation fails.
 *
 * A library's initialisers run within dlopen, which they cannot make fail, and an exception must not leave them. So the
 * C++ headers catch the exception and report it here, through the global function ffi_hpy.fail_load, and the load in
 * progress on that thread fails with it. */
#include "library_load.h"
#include "core/object/error.h"
#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "library.h"

/* A load in progress on this thread, on the stack of fh_library_load. Initialisers may load further libraries, so the
 * loads form a list, the innermost first. */
typedef struct load {
  struct load *outer;
  int has_failed;
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

static int is_broken(const void *library) {
  fh_mutex_lock(&lock);
  const broken *at = all_broken;
  while (at != NULL && at->library != library) at = at->next;
  fh_mutex_unlock(&lock);
  return at != NULL;
}

/* 0, or -1 without memory. */
static int add_broken(void *library) {
  broken *added = (broken *)fh_mem_alloc(sizeof *added);
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
  current->has_failed = 1;
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
  void *library = fh_library_open(path);
  /* Also if opening has failed: no pointer to this frame may remain. */
  innermost = current.outer;
  if (library != NULL && check_loaded(&current, library, path) != 0) library = NULL;
  fh_mem_free(current.reason);
  return library;
}
