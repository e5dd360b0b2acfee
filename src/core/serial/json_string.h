/* json_string.h - the strings of JSON text, for json_parse.c only. */
#ifndef FH_JSON_STRING_H_
#define FH_JSON_STRING_H_

#include "core/object/str.h"

#define FH_JSON_SHARED_STRINGS 256 /* a power of two */

/* What is wrong in a text, and where. */
typedef struct {
  const char *what;
  const char *at;
} fh_json_error;

/* Strings of one text that came up before, so that equal keys are one object. All zero is an empty one. */
typedef struct {
  struct {
    uint64_t hash;      /* of a content that came once already */
    fh_str_object *str; /* owned; NULL until it has come twice */
  } entries[FH_JSON_SHARED_STRINGS];
} fh_json_strings;

/* Reads the string whose content begins at *at, behind the opening quote, and moves *at behind the closing one. 0 with
 * an owned value; 1 with *error set and nothing pending; -1 with a MemoryError pending. */
int fh_json_string_read(fh_json_strings *strings, const char **at, const char *end, TVMFFIAny *out,
                        fh_json_error *error);
void fh_json_strings_free(fh_json_strings *strings);

#endif /* FH_JSON_STRING_H_ */
