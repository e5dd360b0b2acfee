/* any_own.h - conversion of views to owned values. */
#pragma once

#include "any.h"

/* Makes an owned value of any view, with the rules of TVMFFIAnyViewToOwnedAny. On -1 an error is pending and *out is
 * None. fh_any_own_view_only handles the types that only views have. */
int fh_any_own_view_only(const TVMFFIAny *view, TVMFFIAny *out);
static inline int fh_any_own(const TVMFFIAny *view, TVMFFIAny *out) {
  if (FH_UNLIKELY(fh_any_is_view_only(view))) return fh_any_own_view_only(view, out);
  fh_any_copy(view, out);
  return 0;
}
