/* json.h - values to JSON text, and JSON text to values. */
#pragma once

#include "core/object/any.h"
#include "core/object/str.h"
#include "core/platform/base.h"

/* Writes None, Bool, Int, Float, strings, Array, List, and Map with string keys; returns an owned string value.
 * ValueError for anything else, for a List that contains itself, for strings that are not UTF-8 and for more than
 * FH_WALK_MAX_DEPTH nested containers. An indent of 0 puts all on one line; otherwise every item has its own line,
 * after `indent` spaces for each enclosing container (none if negative). Floats have a point or an exponent below 2^53,
 * and 17 digits; NaN, Infinity and -Infinity are written by these names. "/" and control characters are escaped. */
int fh_json_write(const TVMFFIAny *value, int32_t indent, TVMFFIAny *out);

/* --- parsing ----------------------------------------------------------------------------------------------------- */

/* Makes None, Bool, Int, Float, strings, Arrays, and Maps from strings in order; of equal keys the last one counts.
 * Numbers without point and exponent are Int, or Float if 64 bits are too few. Extensions of JSON: NaN, Infinity,
 * -Infinity, a sign "+", leading zeros, a point at either end of a number. Runs no foreign code.
 *
 * ValueError for anything else, for input that is not UTF-8, numbers beyond double and more than FH_JSON_MAX_DEPTH
 * nested containers; its message ends with "line 1 column 2 (char 1)": columns and chars are bytes, line and column
 * count from 1. */
int fh_json_parse(TVMFFIByteArray text, TVMFFIAny *out);

/* --- strings ----------------------------------------------------------------------------------------------------- */

/* Strings inside JSON, for json_parse.c only. */

#define FH_JSON_SHARED_STRINGS 256 /* a power of two */

/* An error in the input, and its place. */
typedef struct {
  const char *what;
  const char *at;
} fh_json_error;

/* Strings of one input that occurred before, so that equal keys are one object. All zero is an empty table. */
typedef struct {
  struct {
    uint64_t hash;      /* of a content that occurred once already */
    fh_str_object *str; /* owned; NULL until the content has occurred twice */
  } entries[FH_JSON_SHARED_STRINGS];
} fh_json_strings;

/* Reads the string whose content begins at *at, after the opening quote, and moves *at past the closing quote. 0 with
 * an owned value; 1 with *error set and no error pending; -1 with a MemoryError pending. */
int fh_json_string_read(fh_json_strings *strings, const char **at, const char *end, TVMFFIAny *out,
                        fh_json_error *error);
void fh_json_strings_free(fh_json_strings *strings);

/* --- classes of bytes -------------------------------------------------------------------------------------------- */

/* Classification of bytes for the reader and the writer of JSON. */

/* Maximum number of nested containers; more are a ValueError. */
#define FH_JSON_MAX_DEPTH (1 << 20)

/* The top bit of every byte of a word. */
#define FH_JSON_TOPS UINT64_C(0x8080808080808080)
#define FH_JSON_ONES UINT64_C(0x0101010101010101)

/* Marks are top bits of the bytes of a word. A byte above a marked one may be marked in error: only the lowest mark,
 * and the presence of any mark, are reliable. */
static inline uint64_t fh_json_zero_bytes(uint64_t word) { return (word - FH_JSON_ONES) & ~word & FH_JSON_TOPS; }
static inline uint64_t fh_json_equal_bytes(uint64_t word, unsigned char c) {
  return fh_json_zero_bytes(word ^ (FH_JSON_ONES * c));
}

static inline uint64_t fh_json_load(const char *p) {
  uint64_t word;
  memcpy(&word, p, sizeof(word));
  return word;
}

/* Marks of bytes that strings must escape, or that are not ASCII: control characters, quote, backslash. */
static inline uint64_t fh_json_special_bytes(uint64_t word) {
  uint64_t below_space = (word - FH_JSON_ONES * 0x20) & ~word;
  return ((below_space | word) & FH_JSON_TOPS) | fh_json_equal_bytes(word, '"') | fh_json_equal_bytes(word, '\\');
}

/* The number of bytes of a word from memory before the first marked byte; there must be a mark. 0 is a safe answer if
 * the first byte is unknown. */
static inline size_t fh_json_bytes_before(uint64_t marks) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return (size_t)__builtin_ctzll(marks) / 8;
#else
  FH_UNUSED(marks);
  return 0;
#endif
}
