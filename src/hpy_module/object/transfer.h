/* Moves handles into and out of wrappers. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"
#include "identity.h"

/* Replaces the handle of a CObject. Steals `handle`, also on failure. Returns 0, or -1 with an exception raised. */
int fb_transfer_put(HPyContext *ctx, HPy self, TVMFFIObject *handle);
/* Sets the handle of a Function that has none and therefore is not called yet. Steals `handle`, also on failure. NULL
 * and handles of other types are refused. Returns 0, or -1 with an exception raised. */
int fb_transfer_put_function(HPyContext *ctx, HPy self, TVMFFIObject *handle);
/* Moves the handle of `other` (a CObject, but not a Function) to `self`, which drops its old handle. Returns 0, or -1
 * with an exception raised. */
int fb_transfer_move(HPyContext *ctx, HPy self, HPy other);
/* Raises the TypeError for moving the handle of a Function away. The function may be running: calls do not count a use
 * of their callee, because that would slow each call down. Returns HPy_NULL. */
HPy fb_transfer_refuse_function(HPyContext *ctx);

/* --- rvalue references -------------------------------------------------------------------------------------------- */

/* ObjectRValueRef: an argument whose object the callee may move out of its wrapper. */

/* Makes an ObjectRValueRef to a CObject. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_rvalue_ref_new(HPyContext *ctx, HPy object);

/* Returns the object of an ObjectRValueRef as a new handle, or HPy_NULL with an exception raised. */
HPy fb_rvalue_ref_load(HPyContext *ctx, HPy ref);

/* The result of an offer. STAYS: the wrapper was returned more than once (fb_handle_cell_is_repeated), and keeps its
 * handle. FAILED: an exception is raised, because the handle is missing, or a call uses it. */
typedef enum FbRValueOffer { FB_RVALUE_OFFERED, FB_RVALUE_STAYS, FB_RVALUE_FAILED } FbRValueOffer;

/* Offers the handle of an object to a call. If *offer is not NULL, offer->offered is the word for the callee, and
 * fb_identity_end_offer ends the offer. Otherwise the word is the handle of *cell, and fb_handle_cell_release ends the
 * offer. */
FbRValueOffer fb_rvalue_ref_begin(HPyContext *ctx, HPy object, FbHandleCell **cell, FbPreserved **offer);

/* Makes the class ObjectRValueRef. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_rvalue_ref_type_new(HPyContext *ctx);
