/* Native threads: how threads that the interpreter did not make are attached to it, and kept out of it when it ends.
 *
 * The functions are entries of the extension, whose header has their contracts (extension.h). Any thread may call them,
 * attached or not. */
#ifndef FFI_HPY_RUNTIME_THREADS_H_
#define FFI_HPY_RUNTIME_THREADS_H_

#include "core/platform/unwind.h"

/* Stores the interpreter that threads are attached to. Called once, while ffi_hpy._hpy is imported, from the main
 * interpreter. */
void fhpy_threads_measure(void);

int fhpy_threads_state(void **state);
int fhpy_threads_attach(void);
void fhpy_threads_detach(int token);
void fhpy_threads_close(void);
int fhpy_threads_is_finalizing(void);

/* Takes the interpreter back on the thread that gave it up: HPy_ReenterPythonExecution. A thread that an interpreter
 * ends there stays for ever, and does not unwind the extension's frames (unwind.h). */
void fhpy_threads_reenter(void *state);

#endif /* FFI_HPY_RUNTIME_THREADS_H_ */
