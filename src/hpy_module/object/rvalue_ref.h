/* ObjectRValueRef: an object that a call may take away from its wrapper. */
#ifndef FFI_HPY_OBJECT_RVALUE_REF_H_
#define FFI_HPY_OBJECT_RVALUE_REF_H_

#include "handle_cell.h"

/* A new ObjectRValueRef to a CObject: new handle, or HPy_NULL with an exception raised. */
HPy fb_rvalue_ref_new(HPyContext *ctx, HPy object);

/* The object of an ObjectRValueRef: new handle, or HPy_NULL with an exception raised. */
HPy fb_rvalue_ref_load(HPyContext *ctx, HPy ref);

/* What became of an offer. STAYS: the wrapper stands for several (fb_handle_cell_is_repeated), and keeps its handle.
 * FAILED: an exception is raised, because there is no handle (any more), or a call uses it. */
typedef enum FbRValueOffer { FB_RVALUE_OFFERED, FB_RVALUE_STAYS, FB_RVALUE_FAILED } FbRValueOffer;

/* Offers the handle of an object to a call, until fb_handle_cell_release of the cell in *out. */
FbRValueOffer fb_rvalue_ref_begin(HPyContext *ctx, HPy object, FbHandleCell **out);

/* The class ObjectRValueRef: new handle, or HPy_NULL with an exception raised. */
HPy fb_rvalue_ref_type_new(HPyContext *ctx);

#endif /* FFI_HPY_OBJECT_RVALUE_REF_H_ */
