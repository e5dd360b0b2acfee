/* backtrace.h - the text of the frames above a point, most recent call first.
 *
 * By default it has one frame, the one that the caller names, or none if that lies in the C++ headers that every call
 * goes through: walking the native stack costs microseconds, and errors are also control flow. With
 * TVM_FFI_NATIVE_BACKTRACE=1 in the environment the native frames follow, by their dynamic symbols. TVM_TRACEBACK_LIMIT
 * bounds the number of frames; anything but a number from 0 up counts as not set (512). */
#ifndef FH_BACKTRACE_H_
#define FH_BACKTRACE_H_

/* For the load-time constructor. */
void fh_backtrace_init(void);

/* Names the library through which another language calls in, by one of its functions. A backtrace ends there: the
 * frames beyond are in that language's own traceback. NULL: there is no such library. */
void fh_backtrace_set_boundary(void *function);

#endif /* FH_BACKTRACE_H_ */
