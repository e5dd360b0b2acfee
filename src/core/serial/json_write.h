/* json_write.h - values to JSON text. */
#ifndef FH_JSON_WRITE_H_
#define FH_JSON_WRITE_H_

#include "core/object/any.h"

/* None, Bool, Int, Float, text, Array, List, and Map with keys of text, as an owned string value; ValueError for
 * anything else, for a List that contains itself, for text that is not UTF-8 and for more than FH_WALK_MAX_DEPTH
 * containers within one another. An indent of 0 puts all on one line; otherwise every item has its line, behind
 * `indent` spaces for each container around it (none if negative). Floats have a point or an exponent below 2^53, and
 * 17 digits; NaN, Infinity and -Infinity are written so. "/" is escaped, and so are control characters. */
int fh_json_write(const TVMFFIAny *value, int32_t indent, TVMFFIAny *out);

#endif /* FH_JSON_WRITE_H_ */
