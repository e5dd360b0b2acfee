/* str_build.h - text that is written piece by piece into the String object it will be: nothing is copied at the end. */
#ifndef FH_STR_BUILD_H_
#define FH_STR_BUILD_H_

#include "str.h"

/* A text in the making. All zero is an empty one. Ended by fh_str_build_finish or fh_str_build_free. */
typedef struct {
  fh_str_object *str; /* a block that becomes the object in the end; NULL while there is no room */
  size_t n_bytes;
  size_t room;
} fh_str_build;

/* The slow part of fh_str_build_reserve. */
int fh_str_build_grow(fh_str_build *build, size_t n_more);

/* Room for n_more bytes, at least one; -1 with a MemoryError pending. */
static inline int fh_str_build_reserve(fh_str_build *build, size_t n_more) {
  return FH_LIKELY(build->room - build->n_bytes >= n_more) ? 0 : fh_str_build_grow(build, n_more);
}
/* Where the next byte goes; there must be room. The writer adds to n_bytes what it has written. */
static inline char *fh_str_build_end(const fh_str_build *build) { return build->str->content + build->n_bytes; }

int fh_str_build_add(fh_str_build *build, const char *data, size_t n_bytes);

/* The text as an owned value; the build is empty again, also on -1. `type_index`: kTVMFFIStr or kTVMFFIBytes. */
int fh_str_build_finish(fh_str_build *build, int32_t type_index, TVMFFIAny *out);
void fh_str_build_free(fh_str_build *build);

#endif /* FH_STR_BUILD_H_ */
