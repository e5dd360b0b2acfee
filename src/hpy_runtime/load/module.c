/* The extension module ffi_hpy._hpy: its entry points, and the functions load and check_file. One binary serves every
 * CPython (cpython_abi.h).
 *
 * Up to 3.14 the interpreter calls PyInit__hpy, which returns a PyModuleDef. The PyModuleDef is the only struct of this
 * file with an object header, and is defined for both header layouts of the released versions. From 3.15 on the
 * interpreter calls PyModExport__hpy (PEP 793) and needs no PyModuleDef. */
#include <stdio.h>
#include <string.h>

#include "hpy_runtime/context/context.h"
#include "load.h"
#include "module_debug.h"

/* Reads the only keyword of load(), debug or trace: debug=None and trace=False leave *mode unchanged. Returns 0, or -1
 * with an exception raised. */
static int read_mode(PyObject *value, PyObject *names, FhpyMode *mode) {
  const char *keyword = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, 0), NULL);
  if (keyword == NULL) return -1;
  bool is_trace = strcmp(keyword, "trace") == 0;
  if (PyTuple_Size(names) != 1 || (!is_trace && strcmp(keyword, "debug") != 0)) {
    PyErr_SetString(PyExc_TypeError, "load() has one keyword argument, debug or trace");
    return -1;
  }
  if (value == &_Py_NoneStruct) return 0;
  int is_wanted = PyObject_IsTrue(value);
  if (is_trace && is_wanted > 0) *mode = MODE_TRACE;
  if (!is_trace) *mode = is_wanted > 0 ? MODE_DEBUG : MODE_PLAIN;
  return is_wanted < 0 ? -1 : 0;
}

/* load(name, path, spec=None, *, debug=None, trace=False), with one of debug and trace */
static PyObject *load(FH_MAYBE_UNUSED PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
  if (nargs < 2 || nargs > 3) {
    PyErr_Format(PyExc_TypeError, "load() expects name, path and optionally spec, got %zd arguments", nargs);
    return NULL;
  }
  /* The values of keywords follow the positional arguments. */
  FhpyMode mode = MODE_DEFAULT;
  if (names != NULL && PyTuple_Size(names) > 0 && read_mode(args[nargs], names, &mode) < 0) return NULL;
  const char *name = PyUnicode_AsUTF8AndSize(args[0], NULL);
  PyObject *path = name != NULL ? PyUnicode_EncodeFSDefault(args[1]) : NULL;
  const char *path_text = path != NULL ? PyBytes_AsString(path) : NULL;
  PyObject *spec = nargs == 3 && args[2] != &_Py_NoneStruct ? args[2] : NULL;
  PyObject *module = path_text != NULL ? fhpy_load_module(name, path_text, spec, mode) : NULL;
  Py_DecRef(path);
  return module;
}

static const char load_doc[] =
    "load(name, path, spec=None, *, debug=None, trace=False)\n--\n\n"
    "Load the HPy universal module `name` from the shared object `path` (both str) and return it, executed.\n\n"
    "The file's entry points end in the last component of name; the name of the file has the ABI tag: module.hpy0.so.\n"
    "From spec, a ModuleSpec, __spec__, __loader__ and __package__ are set before the module runs.\n"
    "With debug the module gets a context that notices misused handles: see ffi_hpy.hpy_debug. None stands for the "
    "mode\n"
    "in which the file was loaded before, or else the mode that FFI_HPY_DEBUG in the environment names (1 or 0).\n"
    "With trace the module gets a context that counts the calls of each function of HPy. The two modes exclude each\n"
    "other.\n"
    "sys.modules is not touched.\n"
    "Raises ImportError for a file that is not such a module or was loaded in another mode, RuntimeError for a file "
    "that\n"
    "needs another HPy ABI version.";

/* check_file(path) */
static PyObject *check_file(FH_MAYBE_UNUSED PyObject *self, PyObject *path) {
  PyObject *bytes = PyUnicode_EncodeFSDefault(path);
  const char *text = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
  int rc = text != NULL ? fhpy_load_file_check(text) : -1;
  Py_DecRef(bytes);
  if (rc < 0) return NULL;
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

static const char check_file_doc[] =
    "check_file(path)\n--\n\n"
    "Raise ImportError if the file at `path`, a str, is truncated, damaged or not a library. The system's loader would "
    "map\n"
    "as many pages as the headers declare, and the process would end at the first use of a page that the file lacks.";

static PyMethodDef methods[] = {{"load", (void *)load, METH_FASTCALL | METH_KEYWORDS, load_doc},
                                {"check_file", (void *)check_file, METH_O, check_file_doc},
                                {0}};

static int set_text(PyObject *module, const char *name, const char *text) {
  PyObject *value = PyUnicode_FromString(text);
  int rc = value != NULL ? PyObject_SetAttrString(module, name, value) : -1;
  Py_DecRef(value);
  return rc;
}

/* The process has one context, and native threads are attached to the main interpreter. Therefore a sub-interpreter is
 * refused. */
static int check_interpreter(void) {
  int64_t number = PyInterpreterState_GetID(PyInterpreterState_Get());
  if (number == 0) return 0;
  if (number > 0) {
    PyErr_Format(PyExc_ImportError,
                 "this is sub-interpreter %lld of the process, and module ffi_hpy._hpy can be "
                 "loaded in the main interpreter only",
                 (long long)number);
  }
  return -1;
}

/* The module's exec slot: makes the context, and adds context_name and the functions of the modes. */
static int exec_module(PyObject *module) {
  if (check_interpreter() < 0) return -1;
  HPyContext *ctx = fhpy_context_get();
  if (ctx == NULL || set_text(module, "context_name", ctx->name) < 0 || fhpy_module_trace_exec(module) < 0) return -1;
  return fhpy_module_debug_exec(module);
}

static const char module_doc[] = "The HPy 0.9 universal runtime of ffi_hpy.";

/* ---- 3.9 to 3.14 ---- */

enum { MOD_EXEC = 2, MOD_MULTIPLE_INTERPRETERS = 3, MOD_GIL = 4 };
/* Value of MOD_MULTIPLE_INTERPRETERS that allows every interpreter to import the module. exec_module then refuses a
 * sub-interpreter with a message that explains the reason. */
#define ANY_INTERPRETER ((void *)2)
#define NOT_USED ((void *)1) /* value of MOD_GIL */

/* One list for each range of versions, because an unknown slot is an error: 3.12 added multiple_interpreters, 3.13
 * added gil. */
static PyModuleDef_Slot slots_39[] = {{MOD_EXEC, (void *)exec_module}, {0, NULL}};
static PyModuleDef_Slot slots_312[] = {
    {MOD_EXEC, (void *)exec_module}, {MOD_MULTIPLE_INTERPRETERS, ANY_INTERPRETER}, {0, NULL}};
static PyModuleDef_Slot slots_313[] = {
    {MOD_EXEC, (void *)exec_module}, {MOD_MULTIPLE_INTERPRETERS, ANY_INTERPRETER}, {MOD_GIL, NOT_USED}, {0, NULL}};

typedef struct {
  void *init;
  Py_ssize_t index;
  void *copy;
  const char *name, *doc;
  Py_ssize_t size;
  PyMethodDef *methods;
  PyModuleDef_Slot *slots;
  void *traverse, *clear, *free;
} ModuleDefBody;

static struct { /* PyModuleDef of a build with a GIL */
  intptr_t refcount;
#ifdef FHPY_PYPY
  intptr_t link;
#endif
  void *type;
  ModuleDefBody body;
} def_gil;

static struct { /* PyModuleDef of a free-threaded build, 3.13 and 3.14 */
  uintptr_t thread_id;
  uint16_t flags;
  uint8_t mutex, gc_bits;
  uint32_t refcount_local;
  intptr_t refcount_shared;
  void *type;
  ModuleDefBody body;
} def_free_threaded;

FH_EXPORT PyObject *PyInit__hpy(void) {
  if (fhpy_windows_names_find() < 0 || fhpy_layout_check_header() < 0) return NULL;
  const char *version = Py_GetVersion();
  int minor = 0;
  sscanf(version, "3.%d", &minor);
  ModuleDefBody body = {.name = "_hpy",
                        .doc = module_doc,
                        .methods = methods,
                        .slots = minor >= 13   ? slots_313
                                 : minor == 12 ? slots_312
                                               : slots_39};
  /* A definition that an earlier import has filled is not changed, because the interpreter may use it already. */
  if (strstr(version, "free-threading") != NULL) {
    if (def_free_threaded.body.name != NULL) return PyModuleDef_Init(&def_free_threaded);
    def_free_threaded.refcount_local = UINT32_MAX; /* immortal */
    def_free_threaded.body = body;
    return PyModuleDef_Init(&def_free_threaded);
  }
  if (def_gil.body.name != NULL) return PyModuleDef_Init(&def_gil);
  def_gil.refcount = 1;
  def_gil.body = body;
  return PyModuleDef_Init(&def_gil);
}

/* ---- 3.15: the structs and numbers of its headers that the export needs ---- */

typedef struct { /* on 64 bits */
  uint16_t id, flags;
  uint32_t reserved;
  void *value;
} PySlot;

typedef struct {
  uint8_t major, minor;
  uint16_t flags;
  uint32_t build_version, abi_version;
} PyABIInfo;

enum { SLOT_STATIC = 2, SLOT_INTPTR = 4 };
enum {
  EXPORT_EXEC = 85,
  EXPORT_MULTIPLE_INTERPRETERS = 86,
  EXPORT_GIL = 87,
  EXPORT_NAME = 100,
  EXPORT_DOC = 101,
  EXPORT_METHODS = 103,
  EXPORT_ABI = 109
};
enum { ABI_STABLE = 1, ABI_GIL = 2, ABI_FREE_THREADED = 4 };

FH_EXPORT PySlot *PyModExport__hpy(void) {
  if (fhpy_windows_names_find() < 0) return NULL;
  static PyABIInfo abi = {1, 0, ABI_STABLE | ABI_GIL | ABI_FREE_THREADED, 0x030f0000, 0x030f0000};
  static PySlot slots[] = {{EXPORT_ABI, SLOT_STATIC, 0, &abi},
                           {EXPORT_NAME, SLOT_STATIC, 0, "_hpy"},
                           {EXPORT_DOC, SLOT_STATIC, 0, (void *)(uintptr_t)module_doc},
                           {EXPORT_METHODS, SLOT_STATIC, 0, methods},
                           {EXPORT_EXEC, 0, 0, (void *)exec_module},
                           {EXPORT_MULTIPLE_INTERPRETERS, SLOT_INTPTR, 0, ANY_INTERPRETER},
                           {EXPORT_GIL, SLOT_INTPTR, 0, NOT_USED},
                           {0}};
  return slots;
}
