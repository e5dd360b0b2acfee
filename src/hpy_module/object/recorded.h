/* Objects that the package records for its leak report (ffi_hpy/_leaks), while the hook object_made is set. */
#pragma once

#include "core/platform/atomic.h"
#include "hpy_module/context/hook.h"

/* relaxed: recording may begin and end at any time */
FH_INLINE bool fb_recorded_is_on(void) { return fh_atomic_load_relaxed(&fb_hook_records); }

/* Tells the hook about an object that the caller keeps alive. May run any code. Returns 0, or -1 with the exception of
 * a signal handler raised. */
int fb_recorded_tell(HPyContext *ctx, const TVMFFIObject *object);

/* Like fb_recorded_tell, for a wrapper that has just got its object. Registers the wrapper, so that the report finds
 * it. */
int fb_recorded_add(HPyContext *ctx, HPy wrapper);

extern HPyDef fb_recorded_wrappers;
