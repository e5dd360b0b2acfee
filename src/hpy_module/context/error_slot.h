/* The thread's native error: the slot in which native code stores its error.
 *
 * Each thread has its own slot, so nothing here is shared. The slot has an error object, or an exception of ours for
 * which no error object has been requested yet (core/object/error_deferred.h). error/ converts between errors and
 * exceptions. */
#pragma once

#include <stdbool.h>
#include <tvm/ffi/c_api.h>

#include "context.h"
#include "core/object/error_deferred.h"

/* The contents of the slot: at most one of the two members is set. */
typedef struct FbPendingError {
  TVMFFIObjectHandle error; /* owned */
  void *payload;            /* owned, with the operations given to fb_error_slot_init */
} FbPendingError;

/* Called once during the import: sets the operations of our payloads. */
void fb_error_slot_init(const fh_error_payload_operations *operations);
/* Whether the core accepts payloads; a core other than ours does not. */
bool fb_error_slot_takes_payloads(void);

/* Makes a payload with other operations the pending error. Returns false if the core does not accept payloads. */
bool fb_error_slot_put_payload(void *payload, const fh_error_payload_operations *operations);
/* Takes the pending payload if it has these operations; otherwise returns NULL. */
void *fb_error_slot_take_payload(const fh_error_payload_operations *operations);

/* Takes the contents of the slot, so that other code (destructors) may use the slot. The thread is attached: for a
 * foreign payload the core may have to make an error object by a callback into Python. */
FbPendingError fb_error_slot_take(HPyContext *ctx);
/* Takes the contents of a slot in which the caller knows of an error. */
FbPendingError fb_error_slot_take_pending(HPyContext *ctx);
/* Puts the contents back, and steals them. Does nothing if the contents are empty. */
void fb_error_slot_put(FbPendingError pending);

/* Takes the error object in the slot, or the error object of the payload. Owned; NULL if the slot is empty. */
TVMFFIObjectHandle fb_error_slot_take_object(void);
/* Puts an error object back, and steals it. NULL is accepted. */
void fb_error_slot_put_object(TVMFFIObjectHandle error);
/* Clears the slot. */
void fb_error_slot_clear(void);
