/* Native threads: attaches threads that the interpreter did not create, and refuses them during finalization.
 *
 * The functions are entries of the extension; extension.h has their contracts. Any thread may call them, attached or
 * not. */
#pragma once

#include "core/platform/unwind.h"

/* Stores the interpreter to which threads are attached. Called once, during the import of ffi_hpy._hpy, from the main
 * interpreter. */
void fhpy_threads_measure(void);

int fhpy_threads_state(void **state);
int fhpy_threads_attach(void);
void fhpy_threads_detach(int token);
void fhpy_threads_close(void);
int fhpy_threads_is_finalizing(void);

/* HPy_ReenterPythonExecution: reacquires the GIL on the thread that released it. A thread that the interpreter ends at
 * this point blocks forever, and does not unwind the extension's frames (unwind.h). */
void fhpy_threads_reenter(void *state);
