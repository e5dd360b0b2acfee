/* error_deferred.h - pending errors that become error objects only when native code asks for them.
 *
 * If a binding's exception leaves a callback, the binding stores the exception itself on the thread, as a payload that
 * is opaque to the core. If the exception returns to the binding before native code asked for the error, the binding
 * takes the payload back unchanged, and no error object, no message and no backtrace are made. For native code that
 * takes the pending error, the payload's owner makes an error object at that moment.
 *
 * A binding finds these functions by the global function "ffi_hpy.error_deferral.3", which returns the address of the
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
  /* Returns another payload for the same exception, on any thread; NULL if that is not possible. `copy` itself NULL:
   * native code that takes the pending error gets an error object at once. */
  void *(*copy)(const void *payload);
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

/* Errors that C++ holds while it unwinds the stack (ffi_hpy_bind_api.hold_error): an error object, or an object with a
 * payload, which becomes an error object if C++ asks for it. Threads may share both. */

/* Takes the pending error: *out is owned, NULL if there is none. */
void fh_error_hold(TVMFFIObjectHandle *out);
/* The error object of what fh_error_hold returned, borrowed. May run any code. Hold no lock. */
TVMFFIObjectHandle fh_error_of_held(TVMFFIObjectHandle held);
/* Makes it the pending error again; NULL leaves none pending. The caller keeps the reference. Hold no lock. */
void fh_error_restore(TVMFFIObjectHandle held);
