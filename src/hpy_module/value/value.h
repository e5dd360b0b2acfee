/* The kinds of values in this folder, for the folders above. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"
#include "hpy_module/convert/args.h"

/* --- plain values ------------------------------------------------------------------------------------------------- */

/* The class PlainValue, the base of the package's classes for values of one word: data types, devices, pointers. */

/* Converts a device to the class that the package selected. Returns a new handle, or HPy_NULL with an exception
 * raised. */
HPy fb_plain_of_device(HPyContext *ctx, DLDevice device);
/* Converts a pointer to the package's class. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_plain_of_pointer(HPyContext *ctx, void *address);

/* Makes the class, and registers the conversions of its instances and of native devices and pointers. Returns a new
 * handle, or HPy_NULL with an exception raised. */
HPy fb_plain_type_new(HPyContext *ctx);

/* --- data types --------------------------------------------------------------------------------------------------- */

/* Data types: results, and names. */

/* Converts a data type to the package's class. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_data_type_result(HPyContext *ctx, DLDataType dtype);

/* Registers the conversion of native data types. Called once during the import. */
void fb_data_type_init(void);

extern HPyDef fb_data_type_parse, fb_data_type_name;

/* --- Python objects ----------------------------------------------------------------------------------------------- */

/* Python objects as native values: ffi.OpaquePyObject. */

/* Registers the conversion of Python objects without another native form. Called once during the import. */
void fb_opaque_value_init(void);

/* Returns a new native object that owns a Python object; NULL with an exception raised. */
TVMFFIObject *fb_opaque_value_new(HPyContext *ctx, HPy value);
/* The FbConversion of Python objects without another native form. */
int fb_opaque_value_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

extern HPyDef fb_opaque_value_hold;

/* --- members of enums --------------------------------------------------------------------------------------------- */

/* Members of bound enums as native values. */

void fb_member_init(void);

/* Returns the native object of a member, borrowed: it lasts as long as the process. NULL for other values. */
TVMFFIObject *fb_member_find(HPy value);

extern HPyDef fb_member_register;

/* --- Error -------------------------------------------------------------------------------------------------------- */

/* The class Error: a native error as a value; it is not an exception class. */

HPy fb_error_type_new(HPyContext *ctx, HPy base);

/* --- CAny --------------------------------------------------------------------------------------------------------- */

/* CAny: a Python object that owns a native value. */

/* Makes a CAny of an owned value. Steals the value, also on failure (HPy_NULL with an exception raised). */
HPy fb_cany_new(HPyContext *ctx, TVMFFIAny *value);

extern HPyDef fb_cany_value;

/* New handle. */
HPy fb_cany_type_new(HPyContext *ctx);

/* --- native functions --------------------------------------------------------------------------------------------- */

/* Native functions of the binding, for the package. */

extern HPyDef fb_native_functions;
