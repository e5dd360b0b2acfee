/* A library to preload that delays the binding: after it has released a reference to a chosen object, it waits for a
 * moment, in which other threads act. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { MICROSECONDS = 300000 };

static _Atomic(void *) chosen;
static atomic_bool is_waiting;

/* Chooses the object of the next wait. */
EXPORT void late_release_choose(void *object) { chosen = object; }
EXPORT int late_release_is_waiting(void) { return is_waiting; }

EXPORT int TVMFFIObjectDecRef(void *object) {
  void *core = dlopen("libtvm_ffi.so", RTLD_LAZY | RTLD_NOLOAD);
  int (*release)(void *);
  *(void **)&release = dlsym(core, "TVMFFIObjectDecRef");
  int result = release(object);
  dlclose(core);
  void *expected = object;
  if (object != NULL && atomic_compare_exchange_strong(&chosen, &expected, NULL)) {
    is_waiting = 1;
    usleep(MICROSECONDS);
    is_waiting = 0;
  }
  return result;
}
