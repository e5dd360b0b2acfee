/* The thread's native error: the slot in which native code leaves what went wrong.
 *
 * Each thread has its own slot, so nothing here is shared. An exception is made of an error, and an error of an
 * exception, one folder up (error/). */
#ifndef FFI_HPY_CONTEXT_ERROR_SLOT_H_
#define FFI_HPY_CONTEXT_ERROR_SLOT_H_

#include <stdbool.h>
#include <tvm/ffi/c_api.h>

/* Takes the error out of the way of code that may use the slot (destructors): owned, NULL if there is none. */
TVMFFIObjectHandle fb_error_slot_take(void);
/* Puts an error back, which is taken; NULL is accepted. */
void fb_error_slot_put(TVMFFIObjectHandle error);
/* Drops the error that is in the slot, if there is one. */
void fb_error_slot_clear(void);

#endif /* FFI_HPY_CONTEXT_ERROR_SLOT_H_ */
