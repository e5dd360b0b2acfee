/* test_fork.c - forks while other threads use everything: no child hangs, and each child can use everything. */
#include "core/platform/fork.h"

#include "core/module/library_module.h"
#include "core/object/error.h"
#include "core/platform/atomic.h"
#include "core/platform/mem.h"
#include "support/calls.h"

#if !defined(_WIN32) /* Windows has no fork */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_BUSY = 3, N_CHILDREN = 60 };
enum { CHILD_SECONDS = 60 }; /* far more than a slow machine needs: only a child that hangs takes this long */

/* ---- One use of everything that takes a lock, is counted, or is created once ---- */

static TVMFFIAny list, dict, importer, imported;
static int made;

static int make_slowly(void **result) {
  usleep(100);
  *result = &made;
  return 0;
}
static int end(void *handle) { return handle == &made ? 0 : -1; }

static void use_functions(int64_t number) {
  char text[32];
  snprintf(text, sizeof(text), "test.fork.%d", (int)(number % 7));
  TVMFFIByteArray name = text_of(text);
  TVMFFIObjectHandle found = NULL;
  expect_int(TVMFFIFunctionSetGlobal(&name, test_echo(), 1), 0);
  expect_int(TVMFFIFunctionGetGlobal(&name, &found), 0);
  fh_object_release(found);
  (void)call_int("ffi.FunctionRemoveGlobal", ARGS(raw(text)));
}

static void use_containers(int64_t number) {
  (void)call_int("ffi.ListAppend", ARGS(list, i64(number)));
  if (call_int("ffi.ListSize", ARGS(list)) > 100) (void)call_int("ffi.ListClear", ARGS(list));
  (void)call_int("ffi.DictSetItem", ARGS(dict, i64(number % 50), i64(number)));
  (void)call_int("ffi.DictSize", ARGS(dict));
  TVMFFIAny shown = call_ok("ffi.ReprPrint", ARGS(list));
  fh_any_drop(&shown);
}

static void use_types(int64_t number) {
  TVMFFIByteArray key = text_of("test.fork.Type"), name = text_of("test_fork_attribute");
  int32_t index = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, kTVMFFIObject);
  TVMFFIAny value = i64(number);
  expect(index > 0);
  if (TVMFFITypeRegisterAttr(index, &name, &value) != 0) expect_raised("RuntimeError", "test_fork_attribute");
}

static void use_handles(int64_t number) {
  static void *handles[3];
  void **handle = &handles[number % 3];
  expect_int(TVMFFIHandleInitOnce(handle, make_slowly), 0);
  expect_int(TVMFFIHandleDeinitOnce(handle, end), 0);
}

static void use_json(int64_t number) {
  TVMFFIAny array = call_ok("ffi.Array", ARGS(i64(number), fh_any_float(0.25)));
  TVMFFIAny text = call_ok("ffi.json.Stringify", ARGS(array));
  TVMFFIAny back = call_ok("ffi.json.Parse", ARGS(text));
  fh_any_drop(&array);
  fh_any_drop(&text);
  fh_any_drop(&back);
}

static void use_modules(int64_t number) {
  if (number % 16 == 0) (void)call_int("ffi.ModuleClearImports", ARGS(importer));
  (void)call_int("ffi.ModuleImportModule", ARGS(importer, imported));
}

static void use_all(int64_t number) {
  use_functions(number);
  use_containers(number);
  use_types(number);
  use_handles(number);
  use_json(number);
  use_modules(number);
}

/* ---- Busy threads, and forks at the same time ---- */

static int32_t is_over;

static void *stay_busy(void *raw_number) {
  for (int64_t number = (int64_t)(intptr_t)raw_number; !fh_atomic_load_acquire_i32(&is_over); ++number) use_all(number);
  return NULL;
}

/* In the child: takes every lock. SIGALRM ends a child that hangs. */
static void be_a_child(void) {
  signal(SIGALRM, SIG_DFL);
  alarm(CHILD_SECONDS);
  for (int64_t number = 0; number < 20; ++number) use_all(number);
  _exit(0);
}

static void fork_children(int n) {
  for (int i = 0; i < n; ++i) {
    pid_t child = fork();
    if (child == 0) be_a_child();
    int status;
    expect(child > 0);
    expect_int(waitpid(child, &status, 0), child);
    if (status != 0) test_fail(__FILE__, __LINE__, "child %d of %d ended with status %d", i, n, status);
    usleep(200);
  }
}

static void set_up(void) {
  list = call_ok("ffi.List", NO_ARGS);
  dict = call_ok("ffi.Dict", NO_ARGS);
  importer = call_ok("ffi.SystemLib", ARGS(raw("test_fork_importer_")));
  imported = call_ok("ffi.SystemLib", ARGS(raw("test_fork_imported_")));
}

static void tear_down(void) {
  (void)call_int("ffi.ModuleClearImports", ARGS(importer));
  fh_any_drop(&list);
  fh_any_drop(&dict);
  fh_any_drop(&importer);
  fh_any_drop(&imported);
}

TEST(children_of_fork_use_everything_while_threads_of_the_parent_do) {
#if defined(__SANITIZE_ADDRESS__)
  const int n_busy = 0; /* GCC's AddressSanitizer does not reset the locks of its allocator in the child */
#else
  const int n_busy = N_BUSY;
#endif
  pthread_t threads[N_BUSY];
  set_up();
  is_over = 0;
  for (int i = 0; i < n_busy; ++i) {
    expect_int(pthread_create(&threads[i], NULL, stay_busy, (void *)(intptr_t)(1000 * i)), 0);
  }
  fork_children(N_CHILDREN);
  fh_atomic_store_release_i32(&is_over, 1);
  for (int i = 0; i < n_busy; ++i) expect_int(pthread_join(threads[i], NULL), 0);
  tear_down();
  test_keeps(2 * SYSTEM_MODULE_BLOCKS); /* the importer and the imported */
}

#endif

/* ---- Refusals of the test build ---- */

static fh_mutex undeclared;
static void take_undeclared(void *unused) {
  (void)unused;
  fh_mutex_lock(&undeclared);
}
TEST(a_lock_that_fork_does_not_know_is_caught) { test_aborts(take_undeclared, NULL, "not declared by fork.h"); }

FH_LOCK(first, "first", FH_RANK_PLAIN);
FH_LOCK(second, "second", FH_RANK_PLAIN);
static void take_both(void *unused) {
  (void)unused;
  fh_mutex_lock(&first);
  fh_mutex_lock(&second);
}
TEST(two_locks_of_one_rank_are_caught) { test_aborts(take_both, NULL, "the lock second is taken while"); }

#if !defined(_WIN32)
static void fork_with_a_lock(void *unused) {
  (void)unused;
  fh_mutex_lock(&first);
  if (fork() == 0) _exit(0);
}
TEST(forking_with_a_lock_held_is_caught) { test_aborts(fork_with_a_lock, NULL, "fork runs while this thread holds 1"); }
#endif
