/* Signals that arrive while native code runs: what TVMFFIEnvCheckSignals asks. */
#ifndef FFI_HPY_ERROR_SIGNALS_H_
#define FFI_HPY_ERROR_SIGNALS_H_

/* Registers the binding with the core, so that native code which asks learns of a waiting signal: its handler runs, and
 * an exception of the handler (KeyboardInterrupt) stays raised on the thread until the native call returns. */
void fb_signals_connect(void);

#endif /* FFI_HPY_ERROR_SIGNALS_H_ */
