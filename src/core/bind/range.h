/* range.h - the numbers that a parameter of a bound function accepts. */
#ifndef FH_RANGE_H_
#define FH_RANGE_H_

#include <ffi_hpy/c_bind.h>

#include "core/object/text.h"

/* The bits of ffi_hpy_param.flags for the bits kFfiHpyType* of a parameter. */
uint32_t fh_range_flags(uint8_t type_flags);
/* Their inverse. */
uint8_t fh_range_type_flags(const ffi_hpy_param *param);
/* Whether an argument is a number outside of the range of the parameter. */
bool fh_range_excludes(const ffi_hpy_param *param, const TVMFFIAny *arg);
/* Adds "300, which is outside the range -128 to 127", or "outside the range of a float". */
int fh_range_add_text(fh_text *text, const ffi_hpy_param *param, const TVMFFIAny *arg);
/* OverflowError if the default of a parameter of a function is outside its range. */
int fh_range_check_default(const char *function, const ffi_hpy_param *param);

#endif /* FH_RANGE_H_ */
