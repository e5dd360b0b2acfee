/* str_build.h - a string that is written piece by piece into the block of its String object, without a copy at the
 * end. */
#ifndef FH_STR_BUILD_H_
#define FH_STR_BUILD_H_

#include "str.h"

/* A string under construction. All zero is an empty one. The caller ends it with fh_str_build_finish or
 * fh_str_build_free. */
typedef struct {
  fh_str_object *str; /* the block that becomes the object; NULL while it has no room */
  size_t n_bytes;
  size_t room;
} fh_str_build;

/* The slow part of fh_str_build_reserve. */
int fh_str_build_grow(fh_str_build *build, size_t n_more);

/* Makes room for n_more bytes, at least one; -1 with a MemoryError pending. */
static inline int fh_str_build_reserve(fh_str_build *build, size_t n_more) {
  return FH_LIKELY(build->room - build->n_bytes >= n_more) ? 0 : fh_str_build_grow(build, n_more);
}
/* The place of the next byte; there must be room. The writer adds the number of written bytes to n_bytes. */
static inline char *fh_str_build_end(const fh_str_build *build) { return build->str->content + build->n_bytes; }

int fh_str_build_add(fh_str_build *build, const char *data, size_t n_bytes);

/* Returns the string as an owned value and empties the build, also on -1. `type_index`: kTVMFFIStr or kTVMFFIBytes. */
int fh_str_build_finish(fh_str_build *build, int32_t type_index, TVMFFIAny *out);
void fh_str_build_free(fh_str_build *build);

#endif /* FH_STR_BUILD_H_ */
