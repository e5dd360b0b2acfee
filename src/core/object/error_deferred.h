/* error_deferred.h - pending errors that become error objects only when native code asks for them.
 *
 * A binding whose exception leaves a callback puts the exception itself on the thread, as a payload that the core does
 * not look into. If the exception comes back to the binding with nobody having asked, the binding takes the payload as
 * it is, and no error object, no message and no backtrace are made. Native code that takes the pending error gets an
 * object, which the payload's owner makes at that moment.
 *
 * A binding finds the two functions by the global function "ffi_hpy.error_deferral", which returns the address of the
 * core's fh_error_deferral; a core that has no such function gets error objects at once. */
#ifndef FH_ERROR_DEFERRED_H_
#define FH_ERROR_DEFERRED_H_

#include <tvm/ffi/c_api.h>

/* What the owner of payloads can do with them; both end the payload. They are called on the thread that it pends on,
 * and may run any code. Nothing is pending when `make` runs. When `drop` runs, an error that took the payload's
 * place may be pending, and must stay. */
typedef struct {
  TVMFFIObject *(*make)(void *payload); /* an error object, a new reference; NULL without memory */
  void (*drop)(void *payload); /* nobody wants it: another error took its place, it was cleared, or the thread ends */
} fh_error_payload_operations;

typedef struct {
  /* Makes `payload` the pending error of the thread, in place of the one before. Hold no lock. */
  void (*set)(void *payload, const fh_error_payload_operations *operations);
  /* The pending payload, if it has those operations: it is the caller's, and nothing is pending any more. Else NULL. */
  void *(*take)(const fh_error_payload_operations *operations);
} fh_error_deferral;

extern const fh_error_deferral fh_error_deferred;

#endif /* FH_ERROR_DEFERRED_H_ */
