/* The file of an HPy universal module: checks it, opens it, checks its ABI version, and gives it its context for the
 * life of the process. */
#include "load_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/module/library_file.h"
#include "core/platform/fork.h"
#include "core/platform/system.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/debug/debug_context.h"
#include "hpy_runtime/debug/debug_report.h"
#include "hpy_runtime/trace/trace.h"

typedef struct {
  uint32_t (*major)(void);
  uint32_t (*minor)(void);
  void (*set_context)(HPyContext *);
  HPyModuleDef *(*init)(void);
} EntryPoints;

/* Returns the pointer of the symbol `prefix` + `short_name`. NULL if there is none, or if the name does not fit into
 * the buffer. */
static void *get_symbol(void *library, const char *prefix, const char *short_name) {
  char symbol[256];
  int n = snprintf(symbol, sizeof(symbol), "%s%s", prefix, short_name);
  return n > 0 && (size_t)n < sizeof(symbol) ? fh_loader_find(library, symbol) : NULL;
}

/* Like get_symbol, with ImportError raised for NULL. The message identifies an extension for the CPython ABI. */
static void *find_entry_point(void *library, const char *prefix, const char *short_name, const char *path) {
  void *entry = get_symbol(library, prefix, short_name);
  if (entry == NULL && get_symbol(library, "PyInit_", short_name) != NULL)
    PyErr_Format(PyExc_ImportError,
                 "%s is built for the CPython ABI: it defines PyInit_%s, and not %s%s as an HPy universal "
                 "module does",
                 path, short_name, prefix, short_name);
  else if (entry == NULL)
    PyErr_Format(PyExc_ImportError, "%s does not define %s%s: not an HPy universal module named '%s'", path, prefix,
                 short_name, short_name);
  return entry;
}

/* Fills *entries. Returns 0, or -1 with ImportError raised. */
static int find_entry_points(void *library, const char *short_name, const char *path, EntryPoints *entries) {
  void *found[4];
  const char *const prefixes[4] = {"get_required_hpy_major_version_", "get_required_hpy_minor_version_",
                                   "HPyInitGlobalContext_", "HPyInit_"};
  for (int i = 0; i < 4; ++i)
    if ((found[i] = find_entry_point(library, prefixes[i], short_name, path)) == NULL) return -1;
  memcpy(entries, found, sizeof(found)); /* ISO C has no cast from an object pointer to a function pointer */
  return 0;
}

/* Returns the ABI version in the file's name: 0 for module.hpy0.so and for module.hpy0-cp311.so; -1 if there is
 * none. */
static long find_abi_tag(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *tag = strstr(slash != NULL ? slash : path, ".hpy");
  if (tag == NULL || tag[4] < '0' || tag[4] > '9') return -1;
  return strtol(tag + 4, NULL, 10);
}

/* Refuses a file that needs another major version or a later minor version, and a file whose name has another version.
 * Returns 0, or -1 with RuntimeError raised. HPy's own tests check the messages. */
static int check_version(const EntryPoints *entries, const char *short_name, const char *path) {
  unsigned major = entries->major(), minor = entries->minor();
  if (major != HPY_ABI_VERSION || minor > HPY_ABI_VERSION_MINOR) {
    PyErr_Format(PyExc_RuntimeError,
                 "HPy extension module '%s' requires unsupported version of the HPy runtime. Requested "
                 "version: %u.%u. Current HPy version: %u.%u.",
                 short_name, major, minor, HPY_ABI_VERSION, HPY_ABI_VERSION_MINOR);
    return -1;
  }
  long tag = find_abi_tag(path);
  if (tag == -1) {
    PyErr_Format(PyExc_RuntimeError,
                 "HPy extension module '%s' at path '%s': could not find HPy ABI tag encoded in the "
                 "filename. The extension claims to be compiled with HPy ABI version: %u.%u.",
                 short_name, path, major, minor);
    return -1;
  }
  if (tag != (long)major) {
    PyErr_Format(
        PyExc_RuntimeError,
        "HPy extension module '%s' at path '%s': mismatch between the HPy ABI tag encoded in "
        "the filename and the major version requested by the HPy extension itself. Major version tag parsed from "
        "filename: %ld. Requested version: %u.%u.",
        short_name, path, tag, major, minor);
    return -1;
  }
  return 0;
}

/* A loaded file, and its mode. `library` is the system's handle, which is equal for each load of a file. The list only
 * grows. */
typedef struct LoadedFile {
  void *library;
  FhpyMode mode;
  struct LoadedFile *next;
} LoadedFile;

static LoadedFile *loaded_files; /* guarded by loaded_lock */
FH_LOCK(loaded_lock, "loaded files", FH_RANK_PLAIN);

int fhpy_load_file_wants_debug(void) {
  const char *value = getenv("FFI_HPY_DEBUG");
  if (value == NULL || value[0] == '\0' || strcmp(value, "0") == 0) return 0;
  if (strcmp(value, "1") == 0) return 1;
  PyErr_Format(PyExc_ImportError, "FFI_HPY_DEBUG='%s' is unknown; use '1', '0', or nothing", value);
  return -1;
}

/* Gives the library the requested mode *mode if it has none yet; MODE_DEFAULT accepts any existing mode. *mode becomes
 * the library's mode. Returns 0, or -1 with ImportError raised if the library has another mode. */
static int claim_mode(void *library, const char *path, FhpyMode *mode) {
  /* Allocated before the lock is taken, because nothing may be called under the lock. */
  LoadedFile *claim = malloc(sizeof(LoadedFile)), *known;
  if (claim == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  int is_debug = *mode == MODE_DEFAULT ? fhpy_load_file_wants_debug() : 0;
  if (is_debug < 0) {
    free(claim);
    return -1;
  }
  FhpyMode wanted = *mode != MODE_DEFAULT ? *mode : is_debug ? MODE_DEBUG : MODE_PLAIN;
  fh_mutex_lock(&loaded_lock);
  for (known = loaded_files; known != NULL && known->library != library;) known = known->next;
  if (known == NULL) {
    *claim = (LoadedFile){library, wanted, loaded_files};
    known = loaded_files = claim;
    claim = NULL;
  }
  fh_mutex_unlock(&loaded_lock);
  free(claim);
  if (*mode == MODE_DEFAULT) wanted = known->mode;
  *mode = known->mode;
  if (known->mode == wanted) return 0;
  static const char *const words[] = {"without debug mode", "in debug mode", "in trace mode"};
  PyErr_Format(PyExc_ImportError, "%s was loaded %s before, and cannot be loaded %s", path, words[known->mode],
               words[wanted]);
  return -1;
}

/* The system's loader trusts the file's headers. It maps pages that a truncated file does not have, and the process
 * crashes when such a page is used. */
int fhpy_load_file_check(const char *path) {
  char reason[FH_LIBRARY_FILE_REASON];
  if (!fh_library_file_refuse(path, reason)) return 0;
  PyErr_Format(PyExc_ImportError, "cannot load %s: it %s", path, reason);
  return -1;
}

int fhpy_load_file_open(FhpyLoadFile *file, const char *short_name, const char *path, FhpyMode mode) {
  if (fhpy_load_file_check(path) < 0) return -1;
  /* Never closed, not even after an error, because types and methods may refer to its functions forever. */
  char reason[FH_LOADER_REASON];
  void *library = fh_loader_open(path, FH_LOADER_LOCAL, reason, sizeof(reason));
  if (library == NULL) {
    PyErr_Format(PyExc_ImportError, "cannot load %s: %s", path, reason);
    return -1;
  }
  EntryPoints entries;
  if (find_entry_points(library, short_name, path, &entries) < 0 || check_version(&entries, short_name, path) < 0)
    return -1;
  if (claim_mode(library, path, &mode) < 0) return -1;
  file->ctx = mode == MODE_DEBUG   ? fhpy_debug_context_get()
              : mode == MODE_TRACE ? fhpy_trace_context_get()
                                   : fhpy_context_get();
  if (file->ctx == NULL) return -1;
  /* The extension stores the context in a variable. A later load of the file stores the same context again. */
  entries.set_context(file->ctx);
  file->def = entries.init();
  if (file->def == NULL && !PyErr_Occurred())
    PyErr_Format(PyExc_SystemError, "HPyInit_%s of %s returned no module definition and raised nothing", short_name,
                 path);
  /* Reports of debug mode name the extension's functions. */
  if (file->def != NULL && mode == MODE_DEBUG) fhpy_debug_name_defines(short_name, file->def->defines);
  return file->def != NULL ? 0 : -1;
}
