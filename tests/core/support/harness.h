/* harness.h - what the core's tests share. A test is TEST(name_that_is_a_sentence) { ... }; no list names it.
 *
 * All tests are in one program. Without arguments it runs every test, with names only those. After each test no error
 * may be pending, and as many memory blocks must live as before. A failed expectation ends the program at that line,
 * because the state after it proves nothing. For --oom see test_sweep, for --pending pending.h. */
#ifndef TEST_HARNESS_H_
#define TEST_HARNESS_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

#include "exported_calls.h"

typedef struct test_case {
  const char *name, *file;
  void (*run)(void);
  struct test_case *next;
} test_case;

void test_add(test_case *test);

#define TEST(test_name)                                              \
  static void test_name(void);                                       \
  __attribute__((constructor)) static void test_name##_add(void) {   \
    static test_case test = {#test_name, __FILE__, test_name, NULL}; \
    test_add(&test);                                                 \
  }                                                                  \
  static void test_name(void)

/* ---- Expectations ---- */

void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4), noreturn));
void test_int_at(const char *file, int line, const char *text, int64_t got, int64_t wanted);
void test_text_at(const char *file, int line, TVMFFIByteArray got, const char *wanted);
void test_raised_at(const char *file, int line, const char *kind, const char *part);

#define expect(cond) ((cond) ? (void)0 : test_fail(__FILE__, __LINE__, "%s", #cond))
#define expect_int(got, wanted) test_int_at(__FILE__, __LINE__, #got, (int64_t)(got), (int64_t)(wanted))
/* A byte array holds exactly this text, with a NUL behind it. */
#define expect_text(got, wanted) test_text_at(__FILE__, __LINE__, got, wanted)
/* Takes the pending error. It is of that kind, and its message contains that part. */
#define expect_raised(kind, part) test_raised_at(__FILE__, __LINE__, kind, part)

/* ---- Tools ---- */

static inline TVMFFIByteArray text_of(const char *text) {
  TVMFFIByteArray bytes = {text, strlen(text)};
  return bytes;
}

/* Calls body(state) with its 1st, 2nd, 3rd ... allocation failing, until none is left to fail. With --oom each of these
 * calls is made twice: the second time all later allocations fail, too. A call that fails must return nonzero with a
 * MemoryError pending, and leave as many blocks live as there were. The last call must return 0, and clean up after
 * itself. The last line of the program says how many failures all sweeps have gone through. */
void test_sweep(int (*body)(void *state), void *state);
/* A sweep that calls check(state) after each failure, when allocations succeed again, to see that nothing changed. */
void test_sweep_checked(int (*body)(void *state), void (*check)(void *state), void *state);

/* Runs body(state) in a child process, which must end by abort() after writing `part` to stderr. */
void test_aborts(void (*body)(void *state), void *state, const char *part);

/* Runs body(state, i) for i in 0..n_threads-1 on as many threads, which start together. */
void test_threads(int n_threads, void (*body)(void *state, int i), void *state);

/* Runs body(state) in a thread whose stack has 256 KiB. */
void test_small_stack(void (*body)(void *state), void *state);

/* This test makes n blocks live that stay, beyond those that the core itself takes out of the count (fh_mem_keep). */
void test_keeps(int64_t n_blocks);
/* What calls make live for ever. */
enum {
  SETTER_BLOCKS = 2, /* a field with a setter of ffi.MakeFieldSetter: a Function and its state */
  INIT_BLOCKS = 2, /* ffi._RegisterFFIInit: __ffi_init__, which is a Function, and its state */
  RECORD_TYPE_BLOCKS = 6, /* fh_record_register: __ffi_init__, __ffi_new__, __ffi_shallow_copy__, each with a state */
  SYSTEM_MODULE_BLOCKS = 5, /* ffi.SystemLib of a new prefix: module, prefix, library, imports, functions of imports */
};
/* As test_keeps, but fails at once, for the call `name`, unless there are exactly so many more blocks than `before`. */
void test_keeps_since(int64_t before, int64_t n_blocks, const char *name);

/* An object whose end is counted: *ends += 1 on Strong. Type ffi.Object. */
TVMFFIObjectHandle test_object_new(int *ends);

/* A Function, never freed, that returns its first argument (None without). */
TVMFFIObjectHandle test_echo(void);

/* ---- What the core need not have, and clients do for themselves ---- */

/* A type of a dynamic index below that parent; one that overflows when its n_child_slots are used up. */
int32_t test_add_child(const char *type_key, int32_t parent_index, int32_t n_child_slots);
/* A member of a type or of its nearest ancestor that has one of that name; NULL if none does. */
const TVMFFIFieldInfo *test_find_field(const TVMFFITypeInfo *info, TVMFFIByteArray name);
const TVMFFIMethodInfo *test_find_method(const TVMFFITypeInfo *info, TVMFFIByteArray name);
/* Adds a strong reference to an object of which the caller has a weak one: 1, or 0 when the value has ended. */
int test_promote(void *obj);
/* Text or bytes in an object, whatever their length; the caller writes the content. */
void *test_long_form(size_t n_bytes, int32_t type_index);

static inline const TVMFFITypeAttrColumn *test_column(TVMFFIByteArray name) { return TVMFFIGetTypeAttrColumn(&name); }
static inline int test_set_global(TVMFFIByteArray name, TVMFFIObjectHandle function, int can_override) {
  return TVMFFIFunctionSetGlobal(&name, function, can_override);
}

#endif /* TEST_HARNESS_H_ */
