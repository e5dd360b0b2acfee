/* Calls of native functions from Python. */
#pragma once

#include "function_struct.h"

/* Installs the vectorcall entry, if the context supports it. Called once, before the type is made. */
void fb_function_call_set_vectorcall(void);
/* Applies fb_function_struct_last_release and fb_thread_has_cffi_backend to later calls. Only during the import. */
void fb_function_call_settle(void);

/* Lets calls of a Function keep the GIL. A new Function of a bound library gets a shorter path. Returns 0, or -1 with
 * an exception raised. */
int fb_function_call_keep(HPyContext *ctx, HPy self, FbFunction *function);

/* Enables deferred reference counting for a new Function after some calls, where the interpreter supports it. */
void fb_function_call_count(FbFunction *function);

/* Calls a Function and keeps the GIL. *result is owned. Returns 0, or -1 with an exception raised. */
int fb_function_call_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, TVMFFIAny *result);

/* Calls a Function with an object whose type has the kind FB_TYPE_KIND_OBJECT. Returns a new handle, or HPy_NULL with
 * an exception raised. Requires the extension. */
HPy fb_function_call_object(HPy function, HPy object);
