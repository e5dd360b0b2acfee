/* Conversion of Python values to native values: arguments, fields, return values of callbacks.
 *
 * This file converts None, bool, int, float, str, bytes, objects and the results of converters. Each other kind is
 * converted by the folder of that kind, which registers its conversion during the import. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "args.h"
#include "hpy_module/object/type_tag.h"

/* Makes *out a view of `value`: valid while `value` lives and until fb_args_end. Adds at most one temporary.
 * Returns 0, or -1 with an exception raised. */
typedef int (*FbConversion)(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

/* Registers the conversion of a kind. Only during the import: calls read the table without a lock. */
void fb_argument_set_conversion(FbTypeTag kind, FbConversion conversion);

/* Registers the conversion that has the effect of a converter of the package, without a call of Python. Only during the
 * import, like fb_argument_set_conversion, and only once; it keeps a reference. */
void fb_argument_replace_converter(HPyContext *ctx, HPy converter, FbConversion conversion);

/* Returns the conversion of a type whose converter has such a replacement; NULL for other types. The conversion owns
 * its result: it adds one temporary. */
FbConversion fb_argument_replacement(const FbTypeTagEntry *entry);

/* The FbConversion that dispatches on the kind of the value. */
int fb_argument_convert(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

/* The FbConversion of functions that take Python objects: None, bool, int, float, str, bytes and wrappers of native
 * objects become native values, any other object is passed itself. */
int fb_argument_keep(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

/* After fb_argument_convert has failed: if an array was refused, the package may allow that the callee only reads it
 * (ConstTensorView in C++), or return another value for the argument, such as a list of the elements. `callee` is a
 * Function; HPy_NULL: a field with the name args->callee. Returns 0, or -1 with the exception raised. */
int fb_argument_convert_refused(HPyContext *ctx, HPy callee, HPy value, TVMFFIAny *out, FbArgs *args);

/* Converts a value that outlives the call: the caller owns *out. `callee` is for messages. Returns 0, or -1 with an
 * exception raised. */
int fb_argument_convert_owned(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee);

/* Like fb_argument_convert_owned, by fb_argument_keep. A str without UTF-8 is passed itself, too. An instance of the
 * pointer class becomes a native pointer. */
int fb_argument_keep_owned(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee);
/* The class, ctypes.c_void_p, is set before the first call of fb_argument_keep_owned. */
void fb_argument_set_pointer_class(HPyContext *ctx, HPy cls);
