/* json_string.h - strings inside JSON, for json_parse.c only. */
#ifndef FH_JSON_STRING_H_
#define FH_JSON_STRING_H_

#include "core/object/str.h"

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

#endif /* FH_JSON_STRING_H_ */
