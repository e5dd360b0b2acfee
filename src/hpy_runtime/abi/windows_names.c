/* windows_names.h: the jumps, and the lookup. Empty on other systems. */
#include "windows_names.h"

#if defined(_WIN32)
#include <stddef.h>
#include <stdio.h>

#include "core/platform/system.h"

FhpyWindowsObjects fhpy_windows_objects;

/* Each function has a word with its pointer, fhpy_at_<name>, and a symbol <name>, which jumps to that pointer and
 * leaves all arguments in place. */
#if defined(__aarch64__)
#define JUMP(name) \
  "adrp x16, fhpy_at_" #name "\nldr x16, [x16, :lo12:fhpy_at_" #name "]\nbr x16\n" /* x16 is reserved for such jumps */
#else
#define JUMP(name) "jmpq *fhpy_at_" #name "(%rip)\n"
#endif
#define FUNCTION(name)  \
  void *fhpy_at_##name; \
  __asm__(".text\n.globl " #name "\n.p2align 4\n" #name ":\n" JUMP(name));
#define EXCEPTION(name) void *name;
#define OBJECT(name)
#include "interpreter_names.def"
#undef FUNCTION
#undef EXCEPTION
#undef OBJECT

typedef enum { A_FUNCTION, AN_EXCEPTION, AN_OBJECT } kind;

static const struct {
  const char *name;
  kind kind;
  void *to;
} all[] = {
#define FUNCTION(name) {#name, A_FUNCTION, &fhpy_at_##name},
#define EXCEPTION(name) {#name, AN_EXCEPTION, &name},
#define OBJECT(name) {#name, AN_OBJECT, &fhpy_windows_objects.name##_at},
#include "interpreter_names.def"
};

/* Finds the interpreter's library by a name that is not stable and therefore not in python3.dll. */
static void *find_interpreter(void) {
  void *function = fh_loader_find_anywhere("PyObject_VectorcallDict");
  fh_loader_place place;
  return function != NULL && fh_loader_place_of(function, &place) ? place.base : NULL;
}

extern void PyErr_SetString(void *, const char *);

static int refuse(const char *lacking) {
  char text[200];
  snprintf(text, sizeof(text), "ffi_hpy needs %s, which this interpreter does not have", lacking);
  if (fhpy_at_PyErr_SetString != NULL && PyExc_ImportError != NULL)
    PyErr_SetString(PyExc_ImportError, text);
  else
    fprintf(stderr, "%s\n", text);
  return -1;
}

int fhpy_windows_names_find(void) {
  void *interpreter = find_interpreter();
  const char *lacking = interpreter == NULL ? "CPython" : NULL;
  for (size_t i = 0; interpreter != NULL && i < sizeof(all) / sizeof(all[0]); ++i) {
    void *found = fh_loader_find(interpreter, all[i].name);
    if (found == NULL)
      lacking = all[i].name;
    else
      *(void **)all[i].to = all[i].kind == AN_EXCEPTION ? *(void **)found : found;
  }
  return lacking == NULL ? 0 : refuse(lacking);
}
#endif
