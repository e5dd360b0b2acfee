/* backtrace.h - the text of the frames above a point, most recent call first.
 *
 * By default that is the frame which the caller names, unless it lies in the ABI's C++ call glue: walking the native
 * stack costs microseconds, and errors are also control flow. With TVM_FFI_NATIVE_BACKTRACE=1 in the environment the
 * native frames follow, by their dynamic symbols. TVM_TRACEBACK_LIMIT bounds the number of frames; anything but a
 * number from 0 up counts as not set (512). */
#ifndef FH_BACKTRACE_H_
#define FH_BACKTRACE_H_

void fh_backtrace_init(void);

/* Names the library through which another language calls in, by a function of it: native frames are given up to there,
 * what lies beyond is in that language's own traceback. NULL: there is none. */
void fh_backtrace_set_boundary(void *function);

#endif /* FH_BACKTRACE_H_ */
