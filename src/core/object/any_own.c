/* any_own.c - conversion of views to owned values, for every argument that is stored. The frequent case, a type that
 * owned values have too, is inline in the header. */
#include "any_own.h"

#include "error.h"
#include "str.h"

FH_STATIC_ASSERT(sizeof(TVMFFIAny) == 16, "the cell is part of the ABI");

/* Moves the object out of the slot that an rvalue reference points to. */
static int own_rvalue(const TVMFFIAny *view, TVMFFIAny *out) {
  TVMFFIObject **slot = (TVMFFIObject **)view->v_ptr;
  TVMFFIObject *obj = *slot;
  if (obj == NULL) {
    *out = fh_any_none();
    return fh_error_raise(FH_INTERNAL_ERROR, "Expected an object in the rvalue reference but it was taken already");
  }
  *slot = NULL; /* the caller has given the reference away: a second conversion of this view fails */
  *out = fh_any_object(obj); /* with the slot's reference */
  return 0;
}

int fh_any_own_view_only(const TVMFFIAny *view, TVMFFIAny *out) {
  TVMFFIByteArray content;
  switch (view->type_index) {
  case kTVMFFIRawStr: fh_str_content(view, &content); return fh_str_new(content.data, content.size, out);
  case kTVMFFIByteArrayPtr: fh_bytes_content(view, &content); return fh_bytes_new(content.data, content.size, out);
  default: return own_rvalue(view, out);
  }
}

int TVMFFIAnyViewToOwnedAny(const TVMFFIAny *any_view, TVMFFIAny *out) { return fh_any_own(any_view, out); }
