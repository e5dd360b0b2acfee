/* The thread's native error. */
#include "error_slot.h"

#include <stddef.h>

TVMFFIObjectHandle fb_error_slot_take(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  return error;
}

void fb_error_slot_put(TVMFFIObjectHandle error) {
  if (error == NULL) return;
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
}

void fb_error_slot_clear(void) {
  TVMFFIObjectHandle error = fb_error_slot_take();
  if (error != NULL) TVMFFIObjectDecRef(error);
}
