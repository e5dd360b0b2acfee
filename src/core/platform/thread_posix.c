/* thread_posix.c - the stack of a thread, from the thread libraries of Linux and macOS. Empty on Windows. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* pthread_getattr_np */
#endif
#include "thread.h"

#if defined(__linux__)
int fh_thread_stack(uintptr_t *end, size_t *n_bytes) {
  pthread_attr_t attributes;
  void *lowest;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  int is_known = pthread_attr_getstack(&attributes, &lowest, n_bytes) == 0;
  if (is_known) *end = (uintptr_t)lowest;
  pthread_attr_destroy(&attributes);
  return is_known;
}

#elif defined(__APPLE__)
int fh_thread_stack(uintptr_t *end, size_t *n_bytes) {
  *n_bytes = pthread_get_stacksize_np(pthread_self());
  *end = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - *n_bytes; /* macOS returns the highest address */
  return 1;
}
#endif
