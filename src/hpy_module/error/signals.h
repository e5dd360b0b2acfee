/* Signals that arrive while native code runs: the answer to TVMFFIEnvCheckSignals. */
#ifndef FFI_HPY_ERROR_SIGNALS_H_
#define FFI_HPY_ERROR_SIGNALS_H_

/* Registers the binding with the core, so that a native call of TVMFFIEnvCheckSignals runs the handler of a waiting
 * signal. An exception of the handler (KeyboardInterrupt) stays raised on the thread until the native call returns. */
void fb_signals_connect(void);

#endif /* FFI_HPY_ERROR_SIGNALS_H_ */
