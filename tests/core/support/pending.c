/* pending.c - errors that are pending when a function is called. */
#include "support/pending.h"

#include "core/container/stripe.h"
#include "core/module/module.h"
#include "core/object/error.h"
#include "core/object/type.h"
#include "core/platform/sync.h"
#include "support/calls.h"

static int is_pending_run;
static uint64_t n_made, n_ended;          /* destroyed and created error contexts, on all threads */
static FH_THREAD_LOCAL int
    is_taking_locks; /* this thread is inside take_locks, whose calls begin without a pending error */

/* The blocks come from malloc, because tests count the core's blocks. */
typedef struct {
  TVMFFIObject header;
  TVMFFIErrorCell cell;
} pending_error;

static int init_nothing(void **result) {
  static int nothing;
  *result = &nothing;
  return 0;
}

/* Takes every lock that a call can reach, one after the other. */
static void take_locks(void) {
  static fh_module_object no_module = {{FH_OBJECT_BOTH_ONE, kTVMFFIModule, 0, {NULL}}, NULL, NULL};
  TVMFFIAny module = fh_any_object(&no_module), nothing;
  void *handle = NULL;
  for (uintptr_t i = 0; i < 128; ++i) { /* enough addresses for each of the 64 stripes */
    fh_stripe_lock((void *)i);
    fh_stripe_unlock((void *)i);
  }
  fh_type_lock();
  fh_type_unlock();
  (void)fh_global_remove(FH_LITERAL("test.pending.nothing"));
  (void)fh_module_imports(&no_module);
  (void)TVMFFIHandleInitOnce(&handle, init_nothing);
  (void)call_n("ffi.ModuleGlobalsRemove", &module, 1, &nothing);
}

static void delete_counted(void *self, int flags) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) {
    is_taking_locks = 1;
    take_locks();
    is_taking_locks = 0;
    (void)fh_atomic_add_relaxed_u64(&n_ended, 1); /* a statistic, read after the threads have been joined */
  }
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) free(self);
}

static void delete_error(void *self, int flags) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) fh_object_release(((pending_error *)self)->cell.extra_context);
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) free(self);
}

static void keep_backtrace(TVMFFIObjectHandle self, const TVMFFIByteArray *added, int32_t update_mode) {
  (void)self, (void)added, (void)update_mode;
}

static TVMFFIObject *error_new(void) {
  TVMFFIObject *counted = (TVMFFIObject *)malloc(sizeof(*counted));
  pending_error *error = (pending_error *)calloc(1, sizeof(*error));
  expect(counted != NULL && error != NULL);
  fh_object_init(counted, kTVMFFIObject, delete_counted);
  fh_object_init(&error->header, kTVMFFIError, delete_error);
  error->cell.kind = FH_LITERAL("PendingError");
  error->cell.message = FH_LITERAL("pending since before the call");
  error->cell.backtrace = FH_LITERAL("");
  error->cell.update_backtrace = keep_backtrace;
  error->cell.extra_context = counted;
  (void)fh_atomic_add_relaxed_u64(&n_made, 1); /* as in delete_counted */
  return &error->header;
}

void test_pending_run(void) { is_pending_run = 1; }

void test_pending_check(void) {
  if (n_made != n_ended || (is_pending_run && n_made == 0)) {
    test_fail(__FILE__, __LINE__, "of %llu pending errors %llu have ended", (unsigned long long)n_made,
              (unsigned long long)n_ended);
  }
}

int test_pending_begin(void) {
  if (fh_sync_n_held != 0) return 0; /* the test makes calls with a lock held */
  if (!is_pending_run || is_taking_locks || fh_error_is_pending()) return 0;
  fh_error_put(error_new());
  return 1;
}

void test_pending_end(const int *has_begun) {
  TVMFFIObject *error = *has_begun ? fh_error_take() : NULL;
  if (error != NULL && error->deleter == delete_error) {
    fh_object_release(error);
  } else if (error != NULL) {
    fh_error_put(error);
  }
}
