/* Debug mode: lookup, transfer and closing of handles by entries. A mistake is reported.
 *
 * Any attached thread may call these functions. A null handle corresponds to a null object. */
#pragma once

#include "debug_record.h"

/* Returns "handle", "builder" or "tracker". */
const char *fhpy_debug_handle_noun(FhpyHandleKind kind);

/* Returns the object of an open handle, borrowed. A handle that is not open is reported; if the report returns, the
 * result is None. `entry` names the called entry of the context. */
PyObject *fhpy_debug_handle_get(HPy h, const char *entry);
/* Returns the object of a builder's or tracker's word, borrowed. NULL for a null word, and for any other word after a
 * report. */
void *fhpy_debug_handle_get_as(HPy word, FhpyHandleKind kind, const char *entry);
/* Like fhpy_debug_handle_get_as, and closes the word: the caller owns the result. */
void *fhpy_debug_handle_take_as(HPy word, FhpyHandleKind kind, const char *entry);
/* Closes a handle that the extension owns; reports any other. */
void fhpy_debug_handle_close(HPy h);
/* Closes a handle that an extension has forgotten; false without such an open handle. */
bool fhpy_debug_handle_close_forgotten(HPy h);
/* Closes an argument when its call returns. */
void fhpy_debug_handle_close_argument(HPy h);
/* Closes a handle that a function of the extension returned. Returns the object, owned. */
PyObject *fhpy_debug_handle_take(HPy h);

static inline HPy debug_unwrap(HPy h, const char *entry) { return to_hpy(fhpy_debug_handle_get(h, entry)); }
static inline HPy debug_wrap(HPy object) { return fhpy_debug_record_open(to_py(object), HANDLE_OWNED); }
