/* Threads of native making: how they are attached to the interpreter, and kept out of it when it ends.
 *
 * The functions are entries of the extension; what they promise is said there (extension.h). They may be called by any
 * thread, attached or not. */
#ifndef FFI_HPY_RUNTIME_THREADS_H_
#define FFI_HPY_RUNTIME_THREADS_H_

/* Notes the interpreter that threads are attached to. Called once, while importing, from the main interpreter. */
void fhpy_threads_measure(void);

int fhpy_threads_attach(void);
void fhpy_threads_detach(int token);
void fhpy_threads_close(void);
int fhpy_threads_is_finalizing(void);

#endif /* FFI_HPY_RUNTIME_THREADS_H_ */
