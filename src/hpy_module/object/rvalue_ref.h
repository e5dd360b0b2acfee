/* ObjectRValueRef: an argument whose object the callee may move out of its wrapper. */
#ifndef FFI_HPY_OBJECT_RVALUE_REF_H_
#define FFI_HPY_OBJECT_RVALUE_REF_H_

#include "identity.h"

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

#endif /* FFI_HPY_OBJECT_RVALUE_REF_H_ */
