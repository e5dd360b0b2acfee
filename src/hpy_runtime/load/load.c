/* Loads an HPy universal module: from the definition in its file to the executed module.
 *
 * The definition is checked first. Then either HPy_mod_create makes an object in place of the module, or the module is
 * made here: with its methods, its attributes and, last, its exec slots. */
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/module/library_file.h"
#include "core/platform/fork.h"
#include "core/platform/system.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/debug/debug.h"
#include "hpy_runtime/debug/debug_report.h"
#include "hpy_runtime/trace/trace.h"
#include "hpy_runtime/types/type_parts.h"

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* The file of an HPy universal module: checks it, opens it, checks its ABI version, and gives it its context for the
 * life of the process. */

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

/* The system's loader trusts the file's headers. The loader maps pages that a truncated file does not have, and the
 * process crashes when such a page is used. */
int fhpy_load_file_check(const char *path) {
  char reason[FH_LIBRARY_FILE_REASON];
  if (!fh_library_file_refuse(path, reason)) return 0;
  PyErr_Format(PyExc_ImportError, "cannot load %s: it %s", path, reason);
  return -1;
}

/* An open library, and its context. Both live as long as the process. */
typedef struct {
  HPyModuleDef *def;
  HPyContext *ctx;
} LoadFile;

/* Opens the file, gives it a context and gets its definition. The file name must have the ABI tag of HPy, as in
 * module.hpy0.so; the names of its entry points end in `short_name`. The context belongs to the file and not to a
 * module, so a file can be opened in one mode only. Returns 0, or -1 with an exception raised: ImportError for another
 * mode. */
static int open_file(LoadFile *file, const char *short_name, const char *path, FhpyMode mode) {
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

/* --- the module --------------------------------------------------------------------------------------------------- */

/* ---- the definition ---- */

/* Counts a slot in the definition; -1 with SystemError raised if the definition has a slot that is not a module
 * slot. */
static int count_slots(const HPyModuleDef *def, const char *name, HPySlot_Slot slot) {
  int n = 0;
  for (HPyDef **d = def->defines; d != NULL && *d != NULL; ++d) {
    if ((*d)->kind != HPyDef_Kind_Slot) continue;
    HPySlot_Slot s = (*d)->slot.slot;
    if (s != HPy_mod_create && s != HPy_mod_exec) {
      PyErr_Format(PyExc_SystemError,
                   "module '%s' expects slots HPy_mod_create and HPy_mod_exec in its HPyModuleDef, got slot %d", name,
                   (int)s);
      return -1;
    }
    n += s == slot;
  }
  return n;
}

/* Refuses a definition that HPy 0.9 does not allow, or that universal code cannot have. Returns 0, or -1 with
 * SystemError raised. */
static int check_definition(const HPyModuleDef *def, const char *name) {
  if (def->size != 0) {
    PyErr_Format(PyExc_SystemError,
                 def->size < 0 ? "HPy does not permit HPyModuleDef.size < 0 (module '%s')"
                               : "module '%s' expects HPyModuleDef.size 0, because HPy 0.9 has no module "
                                 "state, got %zd",
                 name, def->size);
    return -1;
  }
  /* An empty list defines nothing and is allowed. */
  const PyMethodDef *legacy = (const PyMethodDef *)def->legacy_methods;
  if (legacy != NULL && legacy->name != NULL) {
    PyErr_Format(PyExc_SystemError, "module '%s' defines the legacy method '%s', which a universal module cannot have",
                 name, legacy->name);
    return -1;
  }
  int n_create = count_slots(def, name, HPy_mod_create);
  if (n_create < 0) return -1;
  if (n_create > 1) {
    PyErr_Format(PyExc_SystemError, "module '%s' expects at most one HPy_mod_create slot in its HPyModuleDef, got %d",
                 name, n_create);
    return -1;
  }
  /* HPy_mod_create makes the object itself, so the definition may not contain anything that would have to be added to
   * it. */
  if (n_create == 0) return 0;
  size_t n_defines = 0;
  while (def->defines[n_defines] != NULL) ++n_defines;
  if (n_defines > 1) {
    PyErr_Format(
        PyExc_SystemError,
        "HPyModuleDef defines a HPy_mod_create slot, which must be alone, got %zu definitions: the object that it "
        "creates is not a module for them (module '%s')",
        n_defines, name);
    return -1;
  }
  if (def->doc != NULL || def->globals != NULL) {
    PyErr_Format(PyExc_SystemError,
                 "HPyModuleDef defines a HPy_mod_create slot, which expects doc and globals to be NULL "
                 "(module '%s')",
                 name);
    return -1;
  }
  return 0;
}

/* ---- the module ---- */

/* Slots are called through the context's entry for trampolines. In debug mode that entry converts their arguments to
 * debug handles. */

/* Calls HPy_mod_create, with None in place of a missing spec. The result replaces the module; owned, or NULL with an
 * exception raised. HPy does not allow it to be a module object of the interpreter. */
static PyObject *call_create(HPyContext *ctx, const HPySlot *slot, PyObject *spec) {
  _HPyFunc_args_UNARYFUNC call = {.arg0 = (cpy_PyObject *)(spec != NULL ? spec : &_Py_NoneStruct)};
  ctx->ctx_CallRealFunctionFromTrampoline(ctx, HPyFunc_MOD_CREATE, slot->impl, &call);
  PyObject *o = (PyObject *)call.result;
  if (o != NULL && PyType_IsSubtype(type_of(o), &PyModule_Type)) {
    PyErr_SetString(PyExc_SystemError, "HPy_mod_create slot returned a builtin module object. This is currently not "
                                       "supported.");
    Py_DecRef(o);
    return NULL;
  }
  if (o == NULL && !PyErr_Occurred())
    PyErr_SetString(PyExc_SystemError, "HPy_mod_create slot returned HPy_NULL and raised nothing");
  return o;
}

/* Sets the attributes that importlib sets on a module before it runs the module, because exec slots may read them. */
static int set_import_attributes(PyObject *module, PyObject *spec) {
  static const char *const from_spec[][2] = {{"loader", "__loader__"}, {"parent", "__package__"}};
  if (PyObject_SetAttrString(module, "__spec__", spec) < 0) return -1;
  for (int i = 0; i < 2; ++i) {
    PyObject *value = PyObject_GetAttrString(spec, from_spec[i][0]);
    if (value == NULL) {
      PyErr_Clear(); /* an object that is only similar to a ModuleSpec */
      continue;
    }
    int rc = PyObject_SetAttrString(module, from_spec[i][1], value);
    Py_DecRef(value);
    if (rc < 0) return -1;
  }
  return 0;
}

/* __file__ is a str, decoded like the interpreter's file names. */
static int set_file(PyObject *module, const char *path) {
  PyObject *file = PyUnicode_DecodeFSDefault(path);
  int rc = file != NULL ? PyObject_SetAttrString(module, "__file__", file) : -1;
  Py_DecRef(file);
  return rc;
}

/* Adds the module's methods. The table of methods is never freed once it is in use, because function objects point into
 * it; the library is never closed either. After a failure of PyModule_AddFunctions some functions may exist, so the
 * table is kept in that case, too. */
static int add_methods(PyObject *module, const HPyModuleDef *def) {
  size_t n = fhpy_methods_count(def->defines, HPyDef_Kind_Meth);
  PyMethodDef *methods = PyMem_Calloc(n + 1, sizeof(PyMethodDef));
  if (methods == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  if (fhpy_methods_fill(methods, def->defines) < 0) {
    PyMem_Free(methods);
    return -1;
  }
  return PyModule_AddFunctions(module, methods);
}

/* Runs the exec slots in the order of the definition. Returns 0, or -1 with an exception raised: if a slot fails
 * without an exception, a SystemError is raised. */
static int run_exec_slots(HPyContext *ctx, PyObject *module, const HPyModuleDef *def, const char *name) {
  for (HPyDef **d = def->defines; d != NULL && *d != NULL; ++d) {
    if ((*d)->kind != HPyDef_Kind_Slot || (*d)->slot.slot != HPy_mod_exec) continue;
    _HPyFunc_args_INQUIRY call = {.arg0 = (cpy_PyObject *)module};
    ctx->ctx_CallRealFunctionFromTrampoline(ctx, HPyFunc_INQUIRY, (*d)->slot.impl, &call);
    int rc = call.result;
    if (rc != 0 && !PyErr_Occurred())
      PyErr_Format(PyExc_SystemError, "an exec slot of module '%s' failed (%d) without raising an exception", name, rc);
    if (rc == 0 && PyErr_Occurred()) /* that exception is more useful than a SystemError about the mistake */
      rc = -1;
    if (rc != 0) return -1;
  }
  return 0;
}

/* Returns the executed module, owned; NULL with an exception raised. HPyModuleDef.globals needs no preparation: an
 * HPyGlobal is a word of the extension, and 0 until something is stored in it. */
static PyObject *make_module(HPyContext *ctx, const HPyModuleDef *def, const char *name, const char *path,
                             PyObject *spec) {
  if (check_definition(def, name) < 0) return NULL;
  for (HPyDef **d = def->defines; d != NULL && *d != NULL; ++d)
    if ((*d)->kind == HPyDef_Kind_Slot && (*d)->slot.slot == HPy_mod_create) return call_create(ctx, &(*d)->slot, spec);
  PyObject *name_object = PyUnicode_FromString(name);
  if (name_object == NULL) return NULL;
  PyObject *module = PyModule_NewObject(name_object);
  Py_DecRef(name_object);
  if (module == NULL) return NULL;
  if ((def->doc != NULL && PyModule_SetDocString(module, def->doc) < 0) || add_methods(module, def) < 0 ||
      set_file(module, path) < 0 || (spec != NULL && set_import_attributes(module, spec) < 0) ||
      run_exec_slots(ctx, module, def, name) < 0) {
    Py_DecRef(module);
    return NULL;
  }
  return module;
}

PyObject *fhpy_load_module(const char *name, const char *path, PyObject *spec, FhpyMode mode) {
  if (fhpy_context_get() == NULL) return NULL;
  /* The names of entry points contain the module name without its packages. */
  const char *dot = strrchr(name, '.');
  LoadFile file;
  if (open_file(&file, dot != NULL ? dot + 1 : name, path, mode) < 0) return NULL;
  return make_module(file.ctx, file.def, name, path, spec);
}
