/* Debug mode: lists of open and of closed handles, for Python and for the end of the process. */
#ifndef FFI_HPY_RUNTIME_DEBUG_LIST_H_
#define FFI_HPY_RUNTIME_DEBUG_LIST_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* A list of tuples, one for each handle, builder and tracker with a serial number greater than `since`:
 *   (serial, kind, word, opener, closer, object, bytes of kept texts, native stack)
 * kind, opener, closer and stack are str; closer and object are None if there is none. The object of a builder is its
 * type. Open: those that the extension has to close, in the order of opening. Closed: those that are not forgotten, in
 * the order of closing. NULL with an exception raised. */
PyObject *fhpy_debug_list_open(uint64_t since);
PyObject *fhpy_debug_list_closed(uint64_t since);
/* Writes to stderr what is open, if anything is. Handles that another running thread has opened are left out, since
 * they may be in use. */
void fhpy_debug_list_report(void);

#endif /* FFI_HPY_RUNTIME_DEBUG_LIST_H_ */
