/* The functions that replace some of cpyext's, on PyPy. */
#pragma once

#include <stdbool.h>

#include "cpython_abi.h"

/* --- the stack ---------------------------------------------------------------------------------------------------- */

/* Checks whether a thread has enough C stack to run Python code. Called before each call into the interpreter.
 *
 * CPython makes this check itself. On PyPy some functions of cpyext must not fail, and end the process if the stack is
 * exhausted within them. */

#ifdef FHPY_PYPY
/* Returns false with RecursionError raised. */
bool fhpy_pypy_stack_has_room(void);
#else
static inline bool fhpy_pypy_stack_has_room(void) { return true; }
#endif
