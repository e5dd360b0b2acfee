/* harness.h - shared code of the core's tests. A test is TEST(name_that_is_a_sentence) { ... }; it registers itself.
 *
 * One program contains all tests. Without arguments it runs every test, with names only the named ones. After each test
 * no error may be pending, and the number of live memory blocks must be as before. A failed expectation ends the
 * program at that line, because later results would prove nothing. For --oom see test_sweep, for --pending
 * pending.h. */
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
/* Expects a byte array with exactly this text and a NUL after it. */
#define expect_text(got, wanted) test_text_at(__FILE__, __LINE__, got, wanted)
/* Takes the pending error. Expects this kind, and a message that contains `part`. */
#define expect_raised(kind, part) test_raised_at(__FILE__, __LINE__, kind, part)

/* ---- Tools ---- */

static inline TVMFFIByteArray text_of(const char *text) {
  TVMFFIByteArray bytes = {text, strlen(text)};
  return bytes;
}

/* Calls body(state) with its 1st, 2nd, 3rd ... allocation failing, until none is left to fail. With --oom each of these
 * calls is repeated with all later allocations failing, too. A call with a failed allocation must return nonzero with a
 * MemoryError pending, and must not change the number of live blocks. The last call must return 0 and free its memory.
 * The last line of the program shows the number of failures in all sweeps. */
void test_sweep(int (*body)(void *state), void *state);
/* A sweep that calls check(state) after each failure, when allocations succeed again, to check that nothing changed. */
void test_sweep_checked(int (*body)(void *state), void (*check)(void *state), void *state);

/* Runs body(state) in a child process, which must end by abort() after writing `part` to stderr. */
void test_aborts(void (*body)(void *state), void *state, const char *part);

/* Runs body(state, i) for i in 0..n_threads-1 on as many threads, which start together. */
void test_threads(int n_threads, void (*body)(void *state, int i), void *state);

/* Runs body(state) in a thread whose stack has 256 KiB. */
void test_small_stack(void (*body)(void *state), void *state);

/* Declares that this test leaves n blocks live, in addition to those that the core itself does not count
 * (fh_mem_keep). */
void test_keeps(int64_t n_blocks);
/* Numbers of blocks that calls keep live forever. */
enum {
  SETTER_BLOCKS = 2, /* a field with a setter of ffi.MakeFieldSetter: a Function and its state */
  INIT_BLOCKS = 2, /* ffi._RegisterFFIInit: __ffi_init__, a Function, and its state */
  RECORD_TYPE_BLOCKS = 6, /* fh_record_register: __ffi_init__, __ffi_new__, __ffi_shallow_copy__, each with a state */
  SYSTEM_MODULE_BLOCKS = 5, /* ffi.SystemLib of a new prefix: module, prefix, library, imports, functions of imports */
};
/* Like test_keeps, but fails at once, with the call `name`, unless there are exactly n_blocks more blocks than
 * `before`. */
void test_keeps_since(int64_t before, int64_t n_blocks, const char *name);

/* An object that counts its destruction: *ends += 1 on Strong. Type ffi.Object. */
TVMFFIObjectHandle test_object_new(int *ends);

/* A Function, never freed, that returns its first argument, or None without arguments. */
TVMFFIObjectHandle test_echo(void);

/* ---- Functions of clients that the core does not need ---- */

/* Adds a type with a dynamic index below that parent; its children overflow when its n_child_slots are used up. */
int32_t test_add_child(const char *type_key, int32_t parent_index, int32_t n_child_slots);
/* Finds a member of a type or of its nearest ancestor with a member of that name; NULL if there is none. */
const TVMFFIFieldInfo *test_find_field(const TVMFFITypeInfo *info, TVMFFIByteArray name);
const TVMFFIMethodInfo *test_find_method(const TVMFFITypeInfo *info, TVMFFIByteArray name);
/* Adds a strong reference to an object that the caller references weakly: returns 1, or 0 if the value is destroyed. */
int test_promote(void *obj);
/* A string or bytes in an object, whatever the length; the caller writes the content. */
void *test_long_form(size_t n_bytes, int32_t type_index);

static inline const TVMFFITypeAttrColumn *test_column(TVMFFIByteArray name) { return TVMFFIGetTypeAttrColumn(&name); }
static inline int test_set_global(TVMFFIByteArray name, TVMFFIObjectHandle function, int can_override) {
  return TVMFFIFunctionSetGlobal(&name, function, can_override);
}

#endif /* TEST_HARNESS_H_ */
