/* backtrace.h - the frames above a point as a string, most recent call first.
 *
 * By default a backtrace has one frame, which the caller names, or none if that frame lies in the C++ headers that
 * every call goes through: walking the native stack costs microseconds, and errors are also control flow. With
 * TVM_FFI_NATIVE_BACKTRACE=1 in the environment the native frames follow, by their dynamic symbols. TVM_TRACEBACK_LIMIT
 * limits the number of frames; any value but a number from 0 up counts as not set (512). */
#pragma once

/* For the load-time constructor. */
void fh_backtrace_init(void);

/* Tells the core, by one of its functions, the library through which another language calls in. A backtrace ends there:
 * the traceback of that language has the frames beyond. NULL: no such library. */
void fh_backtrace_set_boundary(void *function);
