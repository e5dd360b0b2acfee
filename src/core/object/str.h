/* str.h - strings and bytes: creation and content.
 *
 * (The name string.h belongs to the C library.) Up to 7 bytes live in the Any itself, more in an object with the
 * content after its header. Both are immutable, end with a NUL, and need not be UTF-8. */
#pragma once

#include "any.h"
#include "core/platform/span.h"

#define FH_STR_SMALL_MAX 7

/* ffi.String and ffi.Bytes: 40 bytes, then the content. */
typedef struct {
  TVMFFIObject header;
  /* points to `content` in objects of this library; in a client's objects it may point elsewhere */
  TVMFFIByteArray bytes;
  char content[];        /* not part of the ABI's 40 bytes, see the assert in str.c */
} fh_str_object;

/* Make owned values with a copy of the content. -1 with a MemoryError pending, and then *out is None. */
int fh_str_new(const char *data, size_t n_bytes, TVMFFIAny *out);
int fh_bytes_new(const char *data, size_t n_bytes, TVMFFIAny *out);
/* Makes a Bytes object, also for up to 7 bytes, that carries a description (the format and the extents of its items);
 * clients see bytes like any other. -1 with a MemoryError pending. */
int fh_bytes_new_described(TVMFFIByteArray data, TVMFFIByteArray description, TVMFFIAny *out);
/* The description of such bytes, borrowed, with a NUL at its end; NULL for any other value. */
const char *fh_bytes_description(const TVMFFIAny *any);
/* As fh_str_new, but with no error pending on failure: for callers that hold a lock. */
int fh_str_try_new(const char *data, size_t n_bytes, TVMFFIAny *out);
static inline int fh_str_from_cstr(const char *text, TVMFFIAny *out) { return fh_str_new(text, strlen(text), out); }
static inline int fh_str_from_bytes(TVMFFIByteArray text, TVMFFIAny *out) {
  return fh_str_new(text.data, text.size, out);
}
/* As fh_str_new and fh_bytes_new, for a value that becomes a str or bytes of Python itself, not of the package's
 * classes: an object has the deleter fh_str_delete_plain, by which bindings recognise it. */
int fh_str_new_plain(const TVMFFIByteArray *text, TVMFFIAny *out);
int fh_bytes_new_plain(const TVMFFIByteArray *bytes, TVMFFIAny *out);
void fh_str_delete_plain(void *self, int flags);
/* Turns a block from fh_mem_alloc into an object (kTVMFFIStr or kTVMFFIBytes) of n_bytes: writes the header and the
 * NUL, and keeps the content that the block has. Lengths up to 7 are allowed too. */
void fh_str_object_init(fh_str_object *str, size_t n_bytes, int32_t type_index);

/* The content of a string value (Str, SmallStr, RawStr): 1 and *out borrowed from the value, or 0 for anything else.
 * For small forms *out points into *any itself. */
bool fh_str_content(const TVMFFIAny *any, TVMFFIByteArray *out);
/* As fh_str_content, for a bytes value (Bytes, SmallBytes, ByteArrayPtr). */
bool fh_bytes_content(const TVMFFIAny *any, TVMFFIByteArray *out);
/* Content of a Str or Bytes object. */
static inline TVMFFIByteArray fh_str_object_bytes(const void *obj) { return ((const fh_str_object *)obj)->bytes; }

/* Refuses a NULL `data` with a nonzero size: 0, or -1 with a ValueError pending that names `what`. */
FH_COLD int fh_str_refuse_bytes(const char *what, TVMFFIByteArray bytes);
static inline int fh_str_check_bytes(const char *what, TVMFFIByteArray bytes) {
  return FH_LIKELY(bytes.data != NULL || bytes.size == 0) ? 0 : fh_str_refuse_bytes(what, bytes);
}
/* As fh_str_check_bytes, for a name or a path. The name also must not be empty, longer than 1 MiB, or contain a NUL, at
 * which readers of C strings would stop. */
int fh_str_check_name(const char *what, TVMFFIByteArray name);

/* --- strings that are written piece by piece --------------------------------------------------------------------- */

/* A string that is written piece by piece into the block of its String object, without a copy at the
 * end. */

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
