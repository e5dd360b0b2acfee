/* Native threads: how threads that the interpreter did not make are attached to it, and kept out of it when it ends.
 *
 * The functions are entries of the extension, whose header has their contracts (extension.h). Any thread may call them,
 * attached or not. */
#ifndef FFI_HPY_RUNTIME_THREADS_H_
#define FFI_HPY_RUNTIME_THREADS_H_

/* Stores the interpreter that threads are attached to. Called once, while ffi_hpy._hpy is imported, from the main
 * interpreter. */
void fhpy_threads_measure(void);

int fhpy_threads_state(void **state);
int fhpy_threads_attach(void);
void fhpy_threads_detach(int token);
void fhpy_threads_close(void);
int fhpy_threads_is_finalizing(void);

#endif /* FFI_HPY_RUNTIME_THREADS_H_ */
