/* str_build.c - a string that is written piece by piece into the block of its String object. The block grows by half,
 * so growing copies O(n) bytes for a string of n. The header of the object is written last. */
#include "str_build.h"

#include "core/platform/mem.h"
#include "error.h"

#define MIN_ROOM 64
#define HEAD_BYTES (sizeof(fh_str_object) + 1) /* the header, and the NUL at the end */

/* Resizes the block to hold `room` bytes of content. -1 with a MemoryError pending. */
static int set_room(fh_str_build *build, size_t room) {
  fh_str_object *str = (fh_str_object *)fh_mem_realloc(build->str, HEAD_BYTES + room);
  if (str == NULL) return fh_error_raise_no_memory();
  build->str = str;
  build->room = room;
  return 0;
}

int fh_str_build_grow(fh_str_build *build, size_t n_more) {
  /* so that no sum wraps around */
  if (n_more > SIZE_MAX / 4 || build->n_bytes > SIZE_MAX / 4) return fh_error_raise_no_memory();
  size_t wanted = build->n_bytes + n_more, longer = build->room + build->room / 2 + MIN_ROOM;
  return set_room(build, longer > wanted ? longer : wanted);
}

int fh_str_build_add(fh_str_build *build, const char *data, size_t n_bytes) {
  if (fh_str_build_reserve(build, n_bytes) != 0) return -1;
  if (n_bytes != 0) memcpy(fh_str_build_end(build), data, n_bytes);
  build->n_bytes += n_bytes;
  return 0;
}

int fh_str_build_finish(fh_str_build *build, int32_t type_index, TVMFFIAny *out) {
  int rc;
  if (build->n_bytes <= FH_STR_SMALL_MAX) { /* a short string has no object */
    const char *data = build->str != NULL ? build->str->content : "";
    rc = type_index == kTVMFFIStr ? fh_str_new(data, build->n_bytes, out) : fh_bytes_new(data, build->n_bytes, out);
    fh_str_build_free(build);
    return rc;
  }
  *out = fh_any_none();
  rc = set_room(build, build->n_bytes); /* shrinks the block to the size of the string, which may live long */
  if (rc == 0) {
    fh_str_object_init(build->str, build->n_bytes, type_index);
    *out = fh_any_object(build->str);
    build->str = NULL;
  }
  fh_str_build_free(build);
  return rc;
}

void fh_str_build_free(fh_str_build *build) {
  fh_mem_free(build->str);
  memset(build, 0, sizeof *build);
}
