/* json_write.h - values to JSON text. */
#ifndef FH_JSON_WRITE_H_
#define FH_JSON_WRITE_H_

#include "core/object/any.h"

/* Writes None, Bool, Int, Float, strings, Array, List, and Map with string keys; returns an owned string value.
 * ValueError for anything else, for a List that contains itself, for strings that are not UTF-8 and for more than
 * FH_WALK_MAX_DEPTH nested containers. An indent of 0 puts all on one line; otherwise every item has its own line,
 * after `indent` spaces for each enclosing container (none if negative). Floats have a point or an exponent below 2^53,
 * and 17 digits; NaN, Infinity and -Infinity are written by these names. "/" and control characters are escaped. */
int fh_json_write(const TVMFFIAny *value, int32_t indent, TVMFFIAny *out);

#endif /* FH_JSON_WRITE_H_ */
