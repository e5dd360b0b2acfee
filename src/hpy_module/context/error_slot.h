/* The thread's native error: the slot in which native code leaves what went wrong.
 *
 * Each thread has its own slot, so nothing here is shared. What is in it is an error object, or an exception of ours
 * that nobody has asked for yet (core/object/error_deferred.h). An exception is made of an error, and an error of an
 * exception, in error/. */
#ifndef FFI_HPY_CONTEXT_ERROR_SLOT_H_
#define FFI_HPY_CONTEXT_ERROR_SLOT_H_

#include <stdbool.h>
#include <tvm/ffi/c_api.h>

#include "context.h"
#include "core/object/error_deferred.h"

/* What was in the slot: at most one of the two. */
typedef struct FbPendingError {
  TVMFFIObjectHandle error; /* owned */
  void *payload;            /* owned, with the operations given to fb_error_slot_init */
} FbPendingError;

/* To be called once during the import: what payloads of ours can do. */
void fb_error_slot_init(const fh_error_payload_operations *operations);
/* Whether the core takes payloads; another core than ours does not. */
bool fb_error_slot_takes_payloads(void);

/* Makes a payload with other operations the pending error; false if the core takes no payloads. */
bool fb_error_slot_put_payload(void *payload, const fh_error_payload_operations *operations);
/* The pending payload if it has those operations, else NULL. */
void *fb_error_slot_take_payload(const fh_error_payload_operations *operations);

/* Takes what is in the slot out of the way of code that may use it (destructors). The thread is attached: the core may
 * have to make an error object of another one's payload, by a callback into Python. */
FbPendingError fb_error_slot_take(HPyContext *ctx);
/* Puts it back, which is taken. Nothing is put where nothing was taken. */
void fb_error_slot_put(FbPendingError pending);

/* Takes the error object that is in the slot, or is made for the payload: owned, NULL if there is none. */
TVMFFIObjectHandle fb_error_slot_take_object(void);
/* Puts an error object back, which is taken; NULL is accepted. */
void fb_error_slot_put_object(TVMFFIObjectHandle error);
/* Drops what is in the slot. */
void fb_error_slot_clear(void);

#endif /* FFI_HPY_CONTEXT_ERROR_SLOT_H_ */
