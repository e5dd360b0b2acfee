/* Debug mode: lists of open and closed handles, for Python and for the end of the process. */
#ifndef FFI_HPY_RUNTIME_DEBUG_LIST_H_
#define FFI_HPY_RUNTIME_DEBUG_LIST_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Returns a list of tuples, one for each handle, builder and tracker with a serial number greater than `since`:
 *   (serial, kind, word, opener, closer, object, bytes of kept strings, native stack)
 * kind, opener, closer and stack are str; closer and object are None if there is none. The object of a builder is its
 * type. Open: the handles that the extension must close, in the order of opening. Closed: the handles that are not
 * forgotten, in the order of closing. NULL with an exception raised. */
PyObject *fhpy_debug_list_open(uint64_t since);
PyObject *fhpy_debug_list_closed(uint64_t since);
/* Writes the open handles to stderr, if there are any. Handles that another running thread has opened are omitted,
 * because they may be in use. */
void fhpy_debug_list_report(void);

#endif /* FFI_HPY_RUNTIME_DEBUG_LIST_H_ */
