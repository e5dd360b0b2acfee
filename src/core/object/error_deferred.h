/* error_deferred.h - pending errors that become error objects only when native code asks for them.
 *
 * If a binding's exception leaves a callback, the binding stores the exception itself on the thread, as a payload that
 * is opaque to the core. If the exception returns to the binding before native code asked for the error, the binding
 * takes the payload back unchanged, and no error object, no message and no backtrace are made. For native code that
 * takes the pending error, the payload's owner makes an error object at that moment.
 *
 * A binding finds these functions by the global function "ffi_hpy.error_deferral.2", which returns the address of the
 * core's fh_error_deferral; with a core that has no such function, the binding makes error objects at once. */
#pragma once

#include <stdbool.h>
#include <tvm/ffi/c_api.h>

/* The operations on payloads, given by their owner; both consume the payload. The operations run on the thread on which
 * the payload is pending, and may run any code. No error is pending when `make` runs. When `drop` runs, an error that
 * replaced the payload may be pending, and must stay pending. */
typedef struct {
  TVMFFIObject *(*make)(void *payload); /* returns an error object, a new reference; NULL without memory */
  void (*drop)(void *payload); /* another error replaced the payload, it was cleared, or the thread ends */
} fh_error_payload_operations;

typedef struct {
  /* Makes `payload` the pending error of the thread and drops the earlier error. Hold no lock. */
  void (*set)(void *payload, const fh_error_payload_operations *operations);
  /* If the pending error is a payload with those operations, returns it to the caller and leaves no error pending. Else
   * NULL. */
  void *(*take)(const fh_error_payload_operations *operations);
  /* Whether an error or a payload is pending on the thread. */
  bool (*is_pending)(void);
} fh_error_deferral;

extern const fh_error_deferral fh_error_deferred;
