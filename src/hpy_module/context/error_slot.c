/* The core's error slot of the thread, accessed by the ABI's functions and, where the core has them, by the functions
 * for payloads. */
#include "error_slot.h"

#include <stddef.h>
#include <string.h>

#include "thread.h"

/* Both are written once during the import. */
static const fh_error_deferral *core; /* NULL: the core accepts error objects only */
static const fh_error_payload_operations *own_operations;

void fb_error_slot_init(const fh_error_payload_operations *operations) {
  static const char name[] = "ffi_hpy.error_deferral.3";
  TVMFFIByteArray text = {name, sizeof(name) - 1};
  TVMFFIObjectHandle find = NULL;
  TVMFFIAny found = {0};
  own_operations = operations;
  /* Found by a global function and not as a symbol: the loaded core may be apache-tvm-ffi's, which exports nothing of
   * the kind. Such a core returns 0 with a NULL function, and leaves nothing in the slot. */
  if (TVMFFIFunctionGetGlobal(&text, &find) == 0 && find != NULL && TVMFFIFunctionCall(find, NULL, 0, &found) == 0) {
    core = found.v_ptr;
  } else {
    fb_error_slot_clear();
  }
  if (find != NULL) TVMFFIObjectDecRef(find);
}

bool fb_error_slot_takes_payloads(void) { return core != NULL; }

bool fb_error_slot_put_payload(void *payload, const fh_error_payload_operations *operations) {
  if (core == NULL) return false;
  core->set(payload, operations);
  return true;
}

void *fb_error_slot_take_payload(const fh_error_payload_operations *operations) {
  return core == NULL ? NULL : core->take(operations);
}

/* Takes a payload of ours first: taking an error object would make the core convert the payload. */
static FbPendingError take(void) {
  void *payload = core == NULL ? NULL : core->take(own_operations);
  return (FbPendingError){payload == NULL ? fb_error_slot_take_object() : NULL, payload};
}

FbPendingError fb_error_slot_take(HPyContext *ctx) {
  if (FH_LIKELY(core != NULL && !core->is_pending())) return (FbPendingError){NULL, NULL};
  return fb_error_slot_take_pending(ctx);
}

FbPendingError fb_error_slot_take_pending(HPyContext *ctx) {
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  FbPendingError pending = take();
  fb_thread_leave_held(&outer);
  return pending;
}

void fb_error_slot_put(FbPendingError pending) {
  if (pending.payload != NULL) {
    core->set(pending.payload, own_operations);
  } else {
    fb_error_slot_put_object(pending.error);
  }
}

TVMFFIObjectHandle fb_error_slot_take_object(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  return error;
}

void fb_error_slot_put_object(TVMFFIObjectHandle error) {
  if (error == NULL) return;
  /* stores its own reference */
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
}

void fb_error_slot_clear(void) {
  FbPendingError pending = take();
  if (pending.payload != NULL) {
    own_operations->drop(pending.payload);
  } else if (pending.error != NULL) {
    TVMFFIObjectDecRef(pending.error);
  }
}
