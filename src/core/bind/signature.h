/* signature.h - the parameters of bound functions in words: their ranges, their classes, and whole signatures. */
#pragma once

#include <ffi_hpy/c_bind.h>

#include "core/object/text.h"

/* --- ranges of numbers -------------------------------------------------------------------------------------------- */

/* The numbers that a parameter of a bound function accepts. */

/* The bits of ffi_hpy_param.flags for the bits kFfiHpyType* of a parameter. */
uint32_t fh_range_flags(uint8_t type_flags);
/* The inverse of fh_range_flags. */
uint8_t fh_range_type_flags(const ffi_hpy_param *param);
/* Whether a parameter is an integer or a float. */
bool fh_range_is_number(const ffi_hpy_param *param);
/* Whether an argument is a number outside of the range of the parameter. */
bool fh_range_excludes(const ffi_hpy_param *param, const TVMFFIAny *arg);
/* Whether the parameter is an enum and the argument an int, which then is not the number of a member. */
bool fh_range_is_of_enum(const ffi_hpy_param *param, const TVMFFIAny *arg);
/* Adds an int or float; of a very long int only its length, because its digits take quadratic time. */
int fh_range_add_number(fh_text *text, const TVMFFIAny *arg);
/* Adds "300, which is outside the range -128 to 127", or "1e+39, which is outside the range of a float". */
int fh_range_add_text(fh_text *text, const ffi_hpy_param *param, const TVMFFIAny *arg);
/* OverflowError if the default of a parameter of a function is outside its range. */
int fh_range_check_default(const char *function, const ffi_hpy_param *param);

/* --- classes of arguments ----------------------------------------------------------------------------------------- */

/* The class of an argument in Python's words, for messages. */

/* Adds the name of the class. Returns 0, or -1 with an error pending. */
int fh_argument_class_add(fh_text *text, const TVMFFIAny *arg);

/* --- signatures --------------------------------------------------------------------------------------------------- */

/* The text and the metadata of a bound function. */

/* Adds the signature in Python's words, such as `add(a: int, b: int = 1) -> int`. `params` are n_params of the spec.
 * Like all functions here, returns 0, or -1 with a MemoryError pending. */
int fh_signature_add_text(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params);
/* Adds the name of parameter i of n_params: without a name "arg", or "arg0", "arg1" and so on if the caller passes
 * several. */
int fh_signature_add_name(fh_text *text, const ffi_hpy_param *params, uint32_t n_params, uint32_t i);
/* Adds the metadata (JSON), with the signature. */
int fh_signature_add_metadata(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params,
                              const char *signature);
