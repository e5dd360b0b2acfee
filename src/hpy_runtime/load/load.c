/* Loads an HPy universal module: from the definition in its file to the executed module.
 *
 * The definition is checked first. Then either HPy_mod_create makes an object in place of the module, or the module is
 * made here: with its methods, its attributes and, last, its exec slots. */
#include "load.h"

#include <string.h>

#include "hpy_runtime/context/context.h"
#include "hpy_runtime/types/type_members.h"

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

/* Adds the module's methods. Their table is never freed once it is in use, because function objects point into it; the
 * library is never closed either. After a failure of PyModule_AddFunctions some functions may exist, so the table is
 * kept in that case, too. */
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
  FhpyLoadFile file;
  if (fhpy_load_file_open(&file, dot != NULL ? dot + 1 : name, path, mode) < 0) return NULL;
  return make_module(file.ctx, file.def, name, path, spec);
}
