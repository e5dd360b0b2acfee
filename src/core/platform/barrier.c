/* barrier.c - the heavy side of barrier.h, which calls the system. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall */
#endif
#include "barrier.h"

#include "clock.h"
#include "fork.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/membarrier.h, which old systems do not have. */
enum { PRIVATE_EXPEDITED = 1 << 3, REGISTER_PRIVATE_EXPEDITED = 1 << 4 };

#ifdef SYS_membarrier
static long ask(int command) { return syscall(SYS_membarrier, command, 0, 0); }
#else
static long ask(int command) { return FH_UNUSED(command), -1; }
#endif

int32_t fh_barrier_is_one_sided;

/* Once per process; each binary that compiles this file registers separately. */
static void register_process(void) { fh_barrier_is_one_sided = ask(REGISTER_PRIVATE_EXPEDITED) == 0; }

FH_CONSTRUCTOR(fh_barrier_load) { register_process(); }
/* The child is another process. It has one thread, whose stores no other thread must see. */
FH_FORK_CHILD(register_process);

void fh_barrier_heavy(void) {
  fh_atomic_fence_seq_cst();
  int32_t state = fh_atomic_load_relaxed_i32(&fh_barrier_is_one_sided);
  if (state == 0 || (state == 1 && ask(PRIVATE_EXPEDITED) == 0)) return;
  /* A sandbox that the process has entered since refuses the call. From now on the light side uses fences; a store that
   * was made without a fence is visible long before a millisecond has passed. All threads that call this in that time
   * wait. */
  fh_atomic_store_relaxed_i32(&fh_barrier_is_one_sided, FH_BARRIER_CHANGES);
  fh_clock_sleep(1000000);
  fh_atomic_store_relaxed_i32(&fh_barrier_is_one_sided, 0);
}

#elif defined(_WIN32)
#include "windows_api.h"

int32_t fh_barrier_is_one_sided = 1;

void fh_barrier_heavy(void) {
  fh_atomic_fence_seq_cst();
  FlushProcessWriteBuffers();
}

#else
int32_t fh_barrier_is_one_sided;

void fh_barrier_heavy(void) { fh_atomic_fence_seq_cst(); }
#endif
