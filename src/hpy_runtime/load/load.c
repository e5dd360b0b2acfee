/* Loading an HPy universal module: the file, its entry points, its module definition. */
#include "load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/module/library_file.h"
#include "core/platform/fork.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/debug/debug_context.h"
#include "hpy_runtime/debug/debug_name.h"
#include "hpy_runtime/types/methods.h"

/* ---- the file ---- */

typedef struct {
  uint32_t (*major)(void);
  uint32_t (*minor)(void);
  void (*set_context)(HPyContext *);
  HPyModuleDef *(*init)(void);
} EntryPoints;

static void *get_symbol(void *library, const char *prefix, const char *short_name) {
  char symbol[256];
  int n = snprintf(symbol, sizeof symbol, "%s%s", prefix, short_name);
  return n > 0 && (size_t)n < sizeof symbol ? dlsym(library, symbol) : NULL;
}

static void *find_entry(void *library, const char *prefix, const char *short_name, const char *path) {
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

static int find_entries(void *library, const char *short_name, const char *path, EntryPoints *entries) {
  void *found[4];
  const char *const prefixes[4] = {"get_required_hpy_major_version_", "get_required_hpy_minor_version_",
                                   "HPyInitGlobalContext_", "HPyInit_"};
  for (int i = 0; i < 4; i++)
    if ((found[i] = find_entry(library, prefixes[i], short_name, path)) == NULL) return -1;
  memcpy(entries, found, sizeof found); /* four pointers each */
  return 0;
}

/* Builds of HPy modules name their ABI in the file: module.hpy0.so, module.hpy0-cp311.so. Returns the number, or -1. */
static long find_abi_tag(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *tag = strstr(slash != NULL ? slash : path, ".hpy");
  if (tag == NULL || tag[4] < '0' || tag[4] > '9') return -1;
  return strtol(tag + 4, NULL, 10);
}

/* HPy's own tests compare the text of these three. */
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

/* The files that were loaded, with their modes. The list only grows. */
typedef struct LoadedFile {
  void *library;
  bool is_debug;
  struct LoadedFile *next;
} LoadedFile;

static LoadedFile *loaded_files; /* guarded by loaded_lock */
FH_LOCK(loaded_lock, "loaded files", FH_RANK_PLAIN);

int fhpy_load_wants_debug(void) {
  const char *value = getenv("FFI_HPY_DEBUG");
  if (value == NULL || value[0] == '\0' || strcmp(value, "0") == 0) return 0;
  if (strcmp(value, "1") == 0) return 1;
  PyErr_Format(PyExc_ImportError, "FFI_HPY_DEBUG='%s' is unknown; use '1', '0', or nothing", value);
  return -1;
}

/* Settles the library's mode: 1 for debug, 0, or -1 with ImportError raised if it has the other one already. */
static int claim_mode(void *library, const char *path, FhpyMode mode) {
  LoadedFile *claim = malloc(sizeof(LoadedFile)), *known;
  if (claim == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  int is_debug = mode == MODE_DEFAULT ? fhpy_load_wants_debug() : mode == MODE_DEBUG;
  if (is_debug < 0) {
    free(claim);
    return -1;
  }
  fh_mutex_lock(&loaded_lock);
  for (known = loaded_files; known != NULL && known->library != library;) known = known->next;
  if (known == NULL) {
    *claim = (LoadedFile){library, is_debug, loaded_files};
    loaded_files = claim;
  }
  fh_mutex_unlock(&loaded_lock);
  if (known == NULL) return is_debug;
  free(claim);
  if (known->is_debug == is_debug || mode == MODE_DEFAULT) return known->is_debug;
  PyErr_Format(PyExc_ImportError, "%s was loaded %s debug mode before, and cannot be loaded %s it", path,
               is_debug ? "without" : "in", is_debug ? "in" : "without");
  return -1;
}

int fhpy_load_check_file(const char *path) {
  char reason[FH_LIBRARY_FILE_REASON];
  if (!fh_library_file_refuse(path, reason)) return 0;
  PyErr_Format(PyExc_ImportError, "cannot load %s: it %s", path, reason);
  return -1;
}

/* A library that is opened, and the context that it has. */
typedef struct {
  HPyModuleDef *def;
  HPyContext *ctx;
} OpenFile;

/* 0, or -1 with an exception raised. */
static int open_file(OpenFile *file, const char *short_name, const char *path, FhpyMode mode) {
  if (fhpy_load_check_file(path) < 0) return -1;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* never closed: its functions are everywhere */
  if (library == NULL) {
    PyErr_Format(PyExc_ImportError, "cannot load %s: %s", path, dlerror());
    return -1;
  }
  EntryPoints entries;
  if (find_entries(library, short_name, path, &entries) < 0 || check_version(&entries, short_name, path) < 0) return -1;
  int is_debug = claim_mode(library, path, mode);
  if (is_debug < 0) return -1;
  file->ctx = is_debug ? fhpy_debug_context_get() : fhpy_context_get();
  if (file->ctx == NULL) return -1;
  entries.set_context(file->ctx);
  file->def = entries.init();
  if (file->def == NULL && !PyErr_Occurred())
    PyErr_Format(PyExc_SystemError, "HPyInit_%s of %s returned no module definition and raised nothing", short_name,
                 path);
  if (file->def != NULL && is_debug) fhpy_debug_name_defines(short_name, file->def->defines);
  return file->def != NULL ? 0 : -1;
}

/* ---- the definition ---- */

static int count_slots(const HPyModuleDef *def, const char *name, HPySlot_Slot slot) {
  int n = 0;
  for (HPyDef **d = def->defines; d != NULL && *d != NULL; d++) {
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

static int check_definition(const HPyModuleDef *def, const char *name) {
  if (def->size != 0) {
    PyErr_Format(PyExc_SystemError,
                 def->size < 0 ? "HPy does not permit HPyModuleDef.size < 0 (module '%s')"
                               : "module '%s' expects HPyModuleDef.size 0, because HPy 0.9 has no module "
                                 "state, got %zd",
                 name, def->size);
    return -1;
  }
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
  if (n_create == 0) return 0;
  size_t n_defines = 0;
  while (def->defines[n_defines] != NULL) n_defines++;
  if (n_defines > 1) {
    PyErr_Format(PyExc_SystemError,
                 "HPyModuleDef defines a HPy_mod_create slot, which must be alone, got %zu definitions: what it "
                 "creates is not a module they could be put in (module '%s')",
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

/* Slots are called as a trampoline calls, which serves both contexts. */

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

/* What importlib sets on a module before it runs it; done here because exec slots may look. */
static int set_import_attributes(PyObject *module, PyObject *spec) {
  static const char *const from_spec[][2] = {{"loader", "__loader__"}, {"parent", "__package__"}};
  if (PyObject_SetAttrString(module, "__spec__", spec) < 0) return -1;
  for (int i = 0; i < 2; i++) {
    PyObject *value = PyObject_GetAttrString(spec, from_spec[i][0]);
    if (value == NULL) {
      PyErr_Clear(); /* an object that only resembles a ModuleSpec */
      continue;
    }
    int rc = PyObject_SetAttrString(module, from_spec[i][1], value);
    Py_DecRef(value);
    if (rc < 0) return -1;
  }
  return 0;
}

static int set_file(PyObject *module, const char *path) {
  PyObject *file = PyUnicode_DecodeFSDefault(path);
  int rc = file != NULL ? PyObject_SetAttrString(module, "__file__", file) : -1;
  Py_DecRef(file);
  return rc;
}

/* The table lives as long as the process, as the library does: functions point into it. */
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

static int run_exec_slots(HPyContext *ctx, PyObject *module, const HPyModuleDef *def, const char *name) {
  for (HPyDef **d = def->defines; d != NULL && *d != NULL; d++) {
    if ((*d)->kind != HPyDef_Kind_Slot || (*d)->slot.slot != HPy_mod_exec) continue;
    _HPyFunc_args_INQUIRY call = {.arg0 = (cpy_PyObject *)module};
    ctx->ctx_CallRealFunctionFromTrampoline(ctx, HPyFunc_INQUIRY, (*d)->slot.impl, &call);
    int rc = call.result;
    if (rc != 0 && !PyErr_Occurred())
      PyErr_Format(PyExc_SystemError, "an exec slot of module '%s' failed (%d) without raising an exception", name, rc);
    if (rc == 0 && PyErr_Occurred()) /* the exception that it left is more useful than one about leaving it */
      rc = -1;
    if (rc != 0) return -1;
  }
  return 0;
}

static PyObject *make_module(HPyContext *ctx, const HPyModuleDef *def, const char *name, const char *path,
                             PyObject *spec) {
  if (check_definition(def, name) < 0) return NULL;
  for (HPyDef **d = def->defines; d != NULL && *d != NULL; d++)
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
  const char *dot = strrchr(name, '.');
  OpenFile file;
  if (open_file(&file, dot != NULL ? dot + 1 : name, path, mode) < 0) return NULL;
  return make_module(file.ctx, file.def, name, path, spec);
}
