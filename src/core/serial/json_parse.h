/* json_parse.h - JSON text to values. */
#ifndef FH_JSON_PARSE_H_
#define FH_JSON_PARSE_H_

#include "core/object/any.h"

/* Makes None, Bool, Int, Float, strings, Arrays, and Maps from strings in order; of equal keys the last one counts.
 * Numbers without point and exponent are Int, or Float if 64 bits are too few. Extensions of JSON: NaN, Infinity,
 * -Infinity, a sign "+", leading zeros, a point at either end of a number. Runs no foreign code.
 *
 * ValueError for anything else, for input that is not UTF-8, numbers beyond double and more than FH_JSON_MAX_DEPTH
 * nested containers; its message ends with "line 1 column 2 (char 1)": columns and chars are bytes, line and column
 * count from 1. */
int fh_json_parse(TVMFFIByteArray text, TVMFFIAny *out);

#endif /* FH_JSON_PARSE_H_ */
