/* Python values on their way into native code: arguments, fields, what a callback returns.
 *
 * Kinds that are converted here: None, bool, int, float, str, bytes, objects, what a converter returns. The conversion
 * of each other kind belongs to the folder that knows it, which enters it during the import. */
#ifndef FFI_HPY_CONVERT_ARGUMENT_H_
#define FFI_HPY_CONVERT_ARGUMENT_H_

#include <tvm/ffi/c_api.h>

#include "args.h"
#include "hpy_module/object/type_kind.h"

/* Makes *out a view of `value`: valid while `value` lives and until fb_args_end. Adds at most one temporary.
 * Returns 0, or -1 with an exception raised. */
typedef int (*FbConversion)(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

/* Enters the conversion of a kind. During the import only: calls read it without a lock. */
void fb_argument_set_conversion(FbTypeKind kind, FbConversion conversion);

/* The FbConversion of all kinds. */
int fb_argument_convert(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

/* For a value that is to be kept: *out is owned by the caller. `callee` is for messages. Returns 0, or -1 with an
 * exception raised. */
int fb_argument_convert_owned(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee);

#endif /* FFI_HPY_CONVERT_ARGUMENT_H_ */
