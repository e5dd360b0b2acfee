/* module_virtual.h - the virtual table of ffi.Module as the C++ ABI of the platform lays it out. For module*.c and
 * library_module.c only.
 *
 * If a C++ member function returns an object with a destructor, its caller passes the address for the object. The
 * address is a hidden first argument on most systems, follows `this` on Windows, and is in register x8 on AArch64. */
#pragma once

#include "core/object/any.h"

/* In the order of the table. */
typedef enum {
  FH_SLOT_KIND,           /* const char* () */
  FH_SLOT_PROPERTY_MASK,  /* int () */
  FH_SLOT_GET_FUNCTION,   /* Optional<Function> (const String&): 8 bytes, NULL for none */
  FH_SLOT_IMPLEMENTS,     /* bool (const String&) */
  FH_SLOT_DOC,            /* Optional<String> (const String&): 16 bytes, None for none */
  FH_SLOT_METADATA,       /* Optional<String> (const String&) */
  FH_SLOT_WRITE,          /* void (const String&, const String&) */
  FH_SLOT_WRITE_FORMATS,  /* Array<String> (): 8 bytes */
  FH_SLOT_SAVE_TO_BYTES,  /* Bytes (): 16 bytes */
  FH_SLOT_SOURCE,         /* String (const String&): 16 bytes */
  FH_SLOT_IMPORT,         /* void (const Module&) */
  FH_SLOT_CLEAR_IMPORTS,  /* void () */
  FH_SLOT_COUNT
} fh_module_slot;

/* A table in memory: C++ programs read run-time type information from the two words before the first function. */
typedef struct {
  intptr_t offset_to_top;
  const void *type_info; /* NULL: typeid and dynamic_cast do not work for modules with this table */
  void (*slots[FH_SLOT_COUNT])(void);
} fh_module_table;

typedef void (*fh_module_code)(void);

/* FH_RETURNING(name, self, ret, arg) { body }: a function with the calling convention of a function that returns an
 * object into `ret`. `arg` is its only argument, or undefined. */
#if defined(_WIN32)
#define FH_RETURNING(name, self, ret, arg) \
  static void *name(FH_MAYBE_UNUSED void *self, void *ret, FH_MAYBE_UNUSED const void *arg)
#define FH_RETURNING_END(ret) return ret
#elif defined(__aarch64__)
#define FH_TEXT_(x) #x
#define FH_TEXT(x) FH_TEXT_(x)
/* x8 becomes the eighth argument; hint #34 is a branch target marker where the system checks for one */
#define FH_RETURNING(name, self, ret, arg)                                                                             \
  void name(void);                                                                                                     \
  __asm__(".text\n.balign 4\n" FH_TEXT(__USER_LABEL_PREFIX__) #name                                                    \
          ":\n  hint #34\n  mov x7, x8\n  b " FH_TEXT(__USER_LABEL_PREFIX__) #name "_body\n");                         \
  static void name##_plainly(void *ret, void *self, const void *arg);                                                  \
  __attribute__((used, visibility("hidden"))) void name##_body(void *self, const void *arg, long u2, long u3, long u4, \
                                                               long u5, long u6, void *ret);                           \
  void name##_body(void *self, const void *arg, long u2, long u3, long u4, long u5, long u6, void *ret) {              \
    (void)u2, (void)u3, (void)u4, (void)u5, (void)u6;                                                                  \
    name##_plainly(ret, self, arg);                                                                                    \
  }                                                                                                                    \
  static void name##_plainly(void *ret, FH_MAYBE_UNUSED void *self, FH_MAYBE_UNUSED const void *arg)
#define FH_RETURNING_END(ret) return
#else
#define FH_RETURNING(name, self, ret, arg) \
  static void *name(void *ret, FH_MAYBE_UNUSED void *self, FH_MAYBE_UNUSED const void *arg)
#define FH_RETURNING_END(ret) return ret
#endif

/* Calls a function of that convention; the object is built in the first bytes of *out. */
typedef struct {
  TVMFFIAny value;
  TVMFFIAny rest; /* makes it so large that every ABI returns it through memory */
} fh_module_returned;

static inline void fh_module_call_returning(fh_module_code code, void *self, const void *arg, fh_module_returned *out) {
#if defined(_WIN32)
  ((void *(*)(void *, void *, const void *))code)(self, out, arg);
#else
  *out = ((fh_module_returned (*)(void *, const void *))code)(self, arg);
#endif
}

/* Conversions between C++ ModuleObj* and handle. */
#define FH_MODULE_OFFSET 8
static inline void *fh_module_this(void *handle) { return (char *)handle - FH_MODULE_OFFSET; }
static inline TVMFFIObject *fh_module_handle(void *self) {
  return (TVMFFIObject *)(void *)((char *)self + FH_MODULE_OFFSET);
}
static inline fh_module_code const *fh_module_slots(void *handle) {
  return *(fh_module_code const *const *)fh_module_this(handle);
}

/* --- operations -------------------------------------------------------------------------------------------------- */

/* The operations on modules of one implementation. */

/* As the functions of module.h, for one module and without its imports. */
typedef struct {
  int (*kind)(TVMFFIObject *module, TVMFFIAny *out);
  int (*property_mask)(TVMFFIObject *module, int64_t *out);
  int (*function)(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);
  int (*implements)(TVMFFIObject *module, const TVMFFIAny *name, int *out);
  int (*doc)(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);
  int (*metadata)(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);
  int (*write)(TVMFFIObject *module, const TVMFFIAny *file, const TVMFFIAny *format);
  int (*write_formats)(TVMFFIObject *module, TVMFFIAny *out);
  int (*source)(TVMFFIObject *module, const TVMFFIAny *format, TVMFFIAny *out);
  int (*import)(TVMFFIObject *module, TVMFFIObject *other);
  int (*clear_imports)(TVMFFIObject *module);
} fh_module_operations;

/* --- modules of other libraries ---------------------------------------------------------------------------------- */

/* Modules of other libraries: calls through their virtual tables. */

extern const fh_module_operations fh_module_virtual;
