/* thread_windows.c - the functions of thread.h for Windows. Empty elsewhere.
 *
 * The pointer with a destructor is fibre-local: only for fibre-local pointers the system calls a function at the end of
 * a thread, and a thread without fibres counts as one fibre. */
#include "thread.h"

#if defined(_WIN32)
#include "windows_api.h"

int fh_tls_new(fh_tls *tls, void(FH_TLS_CALLBACK *at_thread_end)(void *)) {
  tls->key = FlsAlloc(at_thread_end);
  tls->is_made = tls->key != FLS_OUT_OF_INDEXES;
  return tls->is_made ? 0 : -1;
}

int fh_tls_set(const fh_tls *tls, void *value) { return tls->is_made && FlsSetValue(tls->key, value) ? 0 : -1; }

void fh_thread_yield(void) { (void)SwitchToThread(); }

int fh_thread_stack(uintptr_t *end, size_t *n_bytes) {
  ULONG_PTR lowest, highest;
  GetCurrentThreadStackLimits(&lowest, &highest);
  *end = lowest;
  *n_bytes = highest - lowest;
  return 1;
}
#endif
