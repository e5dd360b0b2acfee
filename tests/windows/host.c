/* host.c - a program in place of Python on Windows: it exports the names that the HPy runtime looks up, implements the
 * calls that the runtime's import makes before it returns its definition, and ends with the name of any other called
 * function.
 *
 *     host RUNTIME CORE BINDING    the paths of _hpy.pyd, tvm_ffi.dll and _core.hpy0.pyd
 *
 * Compiled with WITHOUT_PYTHON it exports no names, and the runtime must refuse it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define EXPORT __declspec(dllexport)

#ifndef WITHOUT_PYTHON
static void *answer(const char *function, void *argument) {
  if (strcmp(function, "Py_GetVersion") == 0) return "3.11.2 (a stand-in)";
  if (strcmp(function, "PyModuleDef_Init") == 0) return argument;
  fprintf(stderr, "%s is called\n", function);
  exit(1);
}

#define FUNCTION(name) \
  EXPORT void *name(void *argument) { return answer(#name, argument); }
#define EXCEPTION(name) EXPORT void *name = #name;
#define OBJECT(name) EXPORT char name[512];
#include "hpy_runtime/abi/interpreter_names.def"
#endif

static void check(int is_so, const char *what) {
  if (is_so) return;
  fprintf(stderr, "not so: %s (error %lu)\n", what, GetLastError());
  exit(1);
}

static HMODULE load(const wchar_t *path) {
  HMODULE library = LoadLibraryExW(path, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
  if (library == NULL) fprintf(stderr, "%ls: error %lu\n", path, GetLastError());
  check(library != NULL, "the library is loaded");
  return library;
}

/* The beginning of PyModuleDef in a build with the GIL. */
typedef struct {
  intptr_t refcount;
  void *type, *init;
  intptr_t index;
  void *copy;
  const char *name;
} definition;

static int check_runtime(const wchar_t *path) {
  definition *(*init)(void) = (definition * (*)(void))(void *)GetProcAddress(load(path), "PyInit__hpy");
  check(init != NULL, "the runtime exports PyInit__hpy");
  definition *made = init();
#ifdef WITHOUT_PYTHON
  check(made == NULL, "without Python the definition is missing");
#else
  check(made != NULL && strcmp(made->name, "_hpy") == 0, "the definition is that of _hpy");
  check(init() == made, "a second import gets the same definition");
#endif
  return 1;
}

typedef struct {
  uint32_t major, minor, patch;
} version;

/* The binding refers to tvm_ffi.dll without a folder, and must use the loaded one. */
static int check_binding(const wchar_t *core_path, const wchar_t *path) {
  HMODULE core = load(core_path), binding = load(path);
  void (*get_version)(version *) = (void (*)(version *))(void *)GetProcAddress(core, "TVMFFIGetVersion");
  uint32_t (*major)(void) = (uint32_t (*)(void))(void *)GetProcAddress(binding, "get_required_hpy_major_version__core");
  void *(*init)(void) = (void *(*)(void))(void *)GetProcAddress(binding, "HPyInit__core");
  version found = {0};
  check(get_version != NULL && major != NULL && init != NULL, "the entry points are exported");
  get_version(&found);
  check(found.minor == 1, "the core tells its version");
  check(major() == 0 && init() != NULL, "the binding is for HPy's ABI 0");
  return 1;
}

int wmain(int argc, wchar_t **argv) {
  check(argc == 4, "three paths are given");
  int n_passed = check_runtime(argv[1]) + check_binding(argv[2], argv[3]);
  printf("%d passed\n", n_passed);
  return 0;
}
