/* harness.c - the core's test program: main, expectations, threads, the allocation-failure sweep. */
#include "support/calls.h"

#include <pthread.h>
#include <stdarg.h>

#include "core/module/module.h"
#include "core/object/any.h"
#include "core/object/error.h"
#include "core/object/object_new.h"
#include "core/object/reflect.h"
#include "core/object/str.h"
#include "core/platform/mem.h"
#include "core/platform/sync.h"
#include "support/system.h"

static test_case *all_tests;
static int64_t n_kept;
static int is_oom_run;
static int64_t n_sweeps, n_failures; /* failed allocations that were handled */

void test_add(test_case *test) {
  test_case **at = &all_tests;
  while (*at != NULL && (strcmp((*at)->file, test->file) <= 0)) at = &(*at)->next; /* by file, then by line */
  test->next = *at;
  *at = test;
}

/* ---- Expectations ---- */

void test_fail(const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "%s:%d: expectation failed: ", file, line);
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  if (fh_error_is_pending()) {
    TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(fh_error_take());
    fprintf(stderr, "  pending: %s: %s\n", cell->kind.data, cell->message.data);
  }
  exit(1);
}

void test_int_at(const char *file, int line, const char *text, int64_t got, int64_t wanted) {
  if (got != wanted) test_fail(file, line, "%s is %lld, not %lld", text, (long long)got, (long long)wanted);
}

void test_text_at(const char *file, int line, TVMFFIByteArray got, const char *wanted) {
  size_t n = strlen(wanted);
  if (got.size != n || memcmp(got.data, wanted, n) != 0) {
    test_fail(file, line, "got \"%.*s\", not \"%s\"", (int)got.size, got.data, wanted);
  }
  if (got.data[n] != '\0') test_fail(file, line, "no NUL behind \"%s\"", wanted);
}

void test_raised_at(const char *file, int line, const char *kind, const char *part) {
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) test_fail(file, line, "no error is pending, expected %s: %s", kind, part);
  TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error);
  if (strcmp(cell->kind.data, kind) != 0 || strstr(cell->message.data, part) == NULL) {
    test_fail(file, line, "raised %s: %s\n  expected %s: ...%s...", cell->kind.data, cell->message.data, kind, part);
  }
  TVMFFIObjectDecRef(error);
}

/* ---- Tools ---- */

void test_keeps(int64_t n_blocks) { n_kept += n_blocks; }

void test_keeps_since(int64_t before, int64_t n_blocks, const char *name) {
  int64_t grown = fh_mem_live_blocks() - before - n_blocks;
  if (grown != 0) test_fail(__FILE__, __LINE__, "%s leaves %lld more blocks live", name, (long long)grown);
  test_keeps(n_blocks);
}

/* Calls body with its n-th allocation failing, or with `and_on` also all later ones. Returns 0 if there are fewer. */
static int call_failing(int (*body)(void *state), void *state, int64_t n, int and_on) {
  int64_t live = fh_mem_live_blocks();
  (and_on ? fh_mem_fail_from : fh_mem_fail_nth)(n);
  int result = body(state);
  int has_failed = fh_mem_has_failed();
  fh_mem_fail_nth(0);
  if (!has_failed) {
    if (result != 0) test_fail(__FILE__, __LINE__, "failed although no allocation did");
    return 0;
  }
  n_failures += 1;
  if (result == 0) test_fail(__FILE__, __LINE__, "succeeded although allocation %lld failed", (long long)n);
  expect_raised("MemoryError", "Out of memory");
  if (fh_mem_live_blocks() != live) {
    test_fail(__FILE__, __LINE__, "allocation %lld failed and %lld blocks leaked", (long long)n,
              (long long)(fh_mem_live_blocks() - live));
  }
  return 1;
}

void test_sweep_checked(int (*body)(void *state), void (*check)(void *state), void *state) {
  n_sweeps += 1;
  for (int64_t n = 1;; ++n) {
    for (int and_on = is_oom_run; and_on >= 0; --and_on) {
      if (!call_failing(body, state, n, and_on)) return;
      if (check != NULL) check(state);
    }
  }
}

void test_sweep(int (*body)(void *state), void *state) { test_sweep_checked(body, NULL, state); }

void test_aborts(void (*body)(void *state), void *state, const char *part) {
  char said[4096];
  int has_aborted = test_system_aborts(body, state, said, sizeof(said));
  if (has_aborted < 0 || (has_aborted && strstr(said, part) != NULL)) return;
  test_fail(__FILE__, __LINE__, "expected a process to abort with \"%s\" but it %s: %s", part,
            has_aborted ? "aborted" : "did not", said);
}

/* A barrier, because macOS has no pthread_barrier_t. */
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t all_there;
  int n_missing;
} barrier;

static void barrier_wait(barrier *start) {
  pthread_mutex_lock(&start->lock);
  if (--start->n_missing == 0) pthread_cond_broadcast(&start->all_there);
  while (start->n_missing > 0) pthread_cond_wait(&start->all_there, &start->lock);
  pthread_mutex_unlock(&start->lock);
}

typedef struct {
  barrier *start;
  void (*body)(void *state, int i);
  void *state;
  int i;
} thread_args;

static void *thread_main(void *raw) {
  thread_args *args = (thread_args *)raw;
  barrier_wait(args->start);
  args->body(args->state, args->i);
  return NULL;
}

void test_threads(int n_threads, void (*body)(void *state, int i), void *state) {
  barrier start = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, n_threads};
  pthread_t *threads = (pthread_t *)calloc((size_t)n_threads, sizeof(*threads));
  thread_args *args = (thread_args *)calloc((size_t)n_threads, sizeof(*args));
  for (int i = 0; i < n_threads; ++i) {
    thread_args each = {&start, body, state, i};
    args[i] = each;
    expect_int(pthread_create(&threads[i], NULL, thread_main, &args[i]), 0);
  }
  for (int i = 0; i < n_threads; ++i) pthread_join(threads[i], NULL);
  free(threads);
  free(args);
}

typedef struct {
  void (*body)(void *state);
  void *state;
} small_args;

static void *small_main(void *raw) {
  small_args *args = (small_args *)raw;
  args->body(args->state);
  return NULL;
}

void test_small_stack(void (*body)(void *state), void *state) {
  small_args args = {body, state};
  pthread_attr_t attributes;
  pthread_t thread;
  expect_int(pthread_attr_init(&attributes), 0);
  expect_int(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  expect_int(pthread_create(&thread, &attributes, small_main, &args), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
}

typedef struct {
  TVMFFIObject header;
  int *ends;
} counted_object;

static void counted_delete(void *self, int flags) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) ++*((counted_object *)self)->ends;
  fh_object_delete_plain(self, flags);
}

TVMFFIObjectHandle test_object_new(int *ends) {
  counted_object *object = (counted_object *)fh_object_new(sizeof(*object), kTVMFFIObject, counted_delete);
  if (object != NULL) object->ends = ends;
  return object;
}

static int echo(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  return n_args > 0 ? TVMFFIAnyViewToOwnedAny(&args[0], result) : 0;
}

TVMFFIObjectHandle test_echo(void) {
  static struct {
    TVMFFIObject header;
    TVMFFIFunctionCell cell;
  } function = {{FH_OBJECT_BOTH_ONE, kTVMFFIFunction, 0, {NULL}}, {echo, NULL}};
  return &function;
}

/* ---- Functions of clients ---- */

int32_t test_add_child(const char *type_key, int32_t parent_index, int32_t n_child_slots) {
  const TVMFFITypeInfo *parent = TVMFFIGetTypeInfo(parent_index);
  TVMFFIByteArray key = text_of(type_key);
  int32_t depth = parent != NULL ? parent->type_depth + 1 : 0;
  return TVMFFITypeGetOrAllocIndex(&key, -1, depth, n_child_slots, 1, parent_index);
}

const TVMFFIFieldInfo *test_find_field(const TVMFFITypeInfo *info, TVMFFIByteArray name) {
  const TVMFFIFieldInfo *found = NULL; /* the last match wins: the root's fields come first */
  fh_reflect_cursor cursor = fh_reflect_fields(info);
  for (const TVMFFIFieldInfo *field; (field = fh_reflect_next_field(&cursor)) != NULL;) {
    if (fh_span_same(field->name, name)) found = field;
  }
  return found;
}

const TVMFFIMethodInfo *test_find_method(const TVMFFITypeInfo *info, TVMFFIByteArray name) {
  for (int32_t depth = info->type_depth; depth >= 0; --depth) {
    const TVMFFITypeInfo *at = depth == info->type_depth ? info : info->type_ancestors[depth];
    /* acquire: pairs with the release stores of the thread that registers a method. The count is read first, so that
     * the list is at least as long */
    int32_t n_methods = fh_atomic_load_acquire_i32(&at->num_methods);
    const TVMFFIMethodInfo *methods =
        (const TVMFFIMethodInfo *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&at->methods);
    for (int32_t i = 0; i < n_methods; ++i) {
      if (fh_span_same(methods[i].name, name)) return &methods[i];
    }
  }
  return NULL;
}

int test_promote(void *obj) {
  uint64_t *count = &((TVMFFIObject *)obj)->combined_ref_count;
  uint64_t seen = fh_atomic_load_relaxed_u64(count); /* a guess; the exchange checks it */
  while ((seen & FH_OBJECT_STRONG_MASK) != 0) {
    if (fh_atomic_cas_relaxed_u64(count, &seen, seen + FH_OBJECT_STRONG_ONE)) return 1;
  }
  return 0;
}

void *test_long_form(size_t n_bytes, int32_t type_index) {
  fh_str_object *str = (fh_str_object *)fh_mem_alloc(sizeof(*str) + n_bytes + 1);
  expect(str != NULL);
  fh_str_object_init(str, n_bytes, type_index);
  return str;
}

/* ---- Running ---- */

/* Creates all that the process or its main thread creates at first use and then keeps. Otherwise the block count of a
 * test would depend on the order of the tests. */
static void make_what_stays(void) {
  int marker;
  (void)TVMFFIBacktrace("file", 1, "function", 0); /* the buffer of the backtrace */
  expect_int(TVMFFIEnvSetStream(kDLCUDA, 0, &marker, NULL), 0);
  expect_int(TVMFFIEnvSetStream(kDLCUDA, 0, NULL, NULL), 0); /* the list of streams */
  fh_module_object module;
  memset(&module, 0, sizeof(module));
  fh_object_init(&module.header, kTVMFFIModule, NULL);
  call_int("ffi.ModuleGlobalsAdd", ARGS(obj(&module)));
  call_int("ffi.ModuleGlobalsRemove", ARGS(obj(&module))); /* the Map of the modules that stay loaded */
}

static void run_test(const test_case *test) {
  int64_t live = fh_mem_live_blocks();
  n_kept = 0;
  test_system_begin(test->name);
  test->run();
  if (fh_error_is_pending()) test_fail(test->file, 0, "%s leaves an error pending", test->name);
  int64_t grown = fh_mem_live_blocks() - live - n_kept;
  if (grown != 0) test_fail(test->file, 0, "%s leaves %lld more blocks live", test->name, (long long)grown);
}

static int is_wanted(const test_case *test, int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], test->name) == 0) return 1;
  }
  return argc <= 1;
}

/* Removes the first argument if it is this option. */
static int take_option(int *argc, char ***argv, const char *name) {
  if (*argc < 2 || strcmp((*argv)[1], name) != 0) return 0;
  *argc -= 1;
  *argv += 1;
  return 1;
}

/* Removes the first two arguments if they are --apart and a number; see test_system_aborts. */
static void take_apart(int *argc, char ***argv) {
  if (*argc < 3 || !take_option(argc, argv, "--apart")) return;
  test_system_apart(atoi((*argv)[1]));
  *argc -= 1;
  *argv += 1;
}

int main(int argc, char **argv) {
  int n_run = 0;
  is_oom_run = take_option(&argc, &argv, "--oom");
  if (take_option(&argc, &argv, "--pending")) test_pending_run();
  take_apart(&argc, &argv);
  make_what_stays();
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (test_case *test = all_tests; test != NULL; test = test->next) printf("%s\n", test->name);
    return 0;
  }
  for (test_case *test = all_tests; test != NULL; test = test->next) {
    if (!is_wanted(test, argc, argv)) continue;
    fprintf(stderr, "%s\n", test->name); /* before the test runs: the last line names the test that crashed */
    run_test(test);
    ++n_run;
  }
  if (n_run < argc - 1 || n_run == 0) {
    fprintf(stderr, "no test of that name\n");
    return 2;
  }
  test_pending_check();
  printf("%d passed, %lld failing allocations in %lld sweeps\n", n_run, (long long)n_failures, (long long)n_sweeps);
  return 0;
}
