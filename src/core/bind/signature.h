/* signature.h - the text and the metadata of a bound function. */
#ifndef FH_SIGNATURE_H_
#define FH_SIGNATURE_H_

#include <ffi_hpy/c_bind.h>

#include "core/object/text.h"

/* Adds the signature in Python's words, such as `add(a: int, b: int = 1) -> int`. `params` are n_params of the spec.
 * Like all functions here, returns 0, or -1 with a MemoryError pending. */
int fh_signature_add_text(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params);
/* Adds the name of parameter i of n_params: without a name "arg", or "arg0", "arg1" and so on if the caller passes
 * several. */
int fh_signature_add_name(fh_text *text, const ffi_hpy_param *params, uint32_t n_params, uint32_t i);
/* Adds the metadata (JSON), with the signature. */
int fh_signature_add_metadata(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params,
                              const char *signature);

#endif /* FH_SIGNATURE_H_ */
