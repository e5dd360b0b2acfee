/* str.c - strings and bytes: creation and content. Both differ only in their type indices, so they share the code. */
#include "str.h"

#include "core/platform/mem.h"
#include "error.h"

FH_STATIC_ASSERT(offsetof(fh_str_object, bytes) == 24, "the byte array follows the header");
FH_STATIC_ASSERT(offsetof(fh_str_object, content) == 40, "the content follows the ABI's 40 bytes");

void fh_str_object_init(fh_str_object *str, size_t n_bytes, int32_t type_index) {
  fh_object_init(&str->header, type_index, fh_object_delete_plain);
  str->bytes.data = str->content;
  str->bytes.size = n_bytes;
  str->content[n_bytes] = '\0';
}

/* Makes an object for a content of that length, which the caller writes. NULL without memory, with no error pending. */
static fh_str_object *new_object(size_t n_bytes, int32_t type_index) {
  if (n_bytes > SIZE_MAX - sizeof(fh_str_object) - 1) return NULL; /* the sum below would wrap around */
  /* not fh_object_new: the content need not be zeroed first */
  fh_str_object *str = (fh_str_object *)fh_mem_alloc(sizeof(*str) + n_bytes + 1);
  if (str != NULL) fh_str_object_init(str, n_bytes, type_index);
  return str;
}

/* Makes a value with that content: small in the cell itself, or an object. 0, or -1 without memory, with no error
 * pending. */
static int make_text(const char *data, size_t n_bytes, int32_t small_index, int32_t object_index, TVMFFIAny *out) {
  if (n_bytes <= FH_STR_SMALL_MAX) {
    /* Unused bytes are 0, because equality compares all 16. Built outside of *out, because `data` may point into it. */
    TVMFFIAny small = fh_any_none();
    small.type_index = small_index;
    small.small_str_len = (uint32_t)n_bytes;
    if (n_bytes != 0) memcpy(small.v_bytes, data, n_bytes);
    *out = small;
    return 0;
  }
  fh_str_object *str = new_object(n_bytes, object_index);
  if (str == NULL) {
    *out = fh_any_none();
    return -1;
  }
  memcpy(str->content, data, n_bytes); /* fh_str_object_init has written the NUL */
  *out = fh_any_object(str);
  return 0;
}

int fh_str_try_new(const char *data, size_t n_bytes, TVMFFIAny *out) {
  return make_text(data, n_bytes, kTVMFFISmallStr, kTVMFFIStr, out);
}

int fh_str_new(const char *data, size_t n_bytes, TVMFFIAny *out) {
  return fh_str_try_new(data, n_bytes, out) == 0 ? 0 : fh_error_raise_no_memory();
}

/* Bytes with a description: `data` begins behind an empty head, so it differs from `content`, and the description
 * follows the NUL of the data. The head keeps the data aligned. */
#define DESCRIBED_HEAD 8

int fh_bytes_new_described(TVMFFIByteArray data, TVMFFIByteArray description, TVMFFIAny *out) {
  *out = fh_any_none();
  if (data.size > SIZE_MAX / 2 || description.size > SIZE_MAX / 4) return fh_error_raise_no_memory();
  size_t n_bytes = DESCRIBED_HEAD + data.size + 1 + description.size;
  fh_str_object *str = new_object(n_bytes, kTVMFFIBytes);
  if (str == NULL) return fh_error_raise_no_memory();
  char *place = str->content + DESCRIBED_HEAD;
  memset(str->content, 0, DESCRIBED_HEAD);
  str->bytes.data = place;
  str->bytes.size = data.size;
  str->header.__padding = FFI_HPY_MADE_OF_MEMORYVIEW;
  if (data.size != 0) memcpy(place, data.data, data.size);
  place[data.size] = '\0';
  if (description.size != 0) memcpy(place + data.size + 1, description.data, description.size);
  *out = fh_any_object(str);
  return 0;
}

const char *fh_bytes_description(const TVMFFIAny *any) {
  if (any->type_index != kTVMFFIBytes) return NULL;
  const fh_str_object *str = (const fh_str_object *)(const void *)any->v_obj;
  if (str->header.deleter != fh_object_delete_plain || str->bytes.data == str->content) return NULL;
  return str->bytes.data + str->bytes.size + 1;
}

int fh_bytes_new(const char *data, size_t n_bytes, TVMFFIAny *out) {
  int rc = make_text(data, n_bytes, kTVMFFISmallBytes, kTVMFFIBytes, out);
  return rc == 0 ? 0 : fh_error_raise_no_memory();
}

bool fh_str_content(const TVMFFIAny *any, TVMFFIByteArray *out) {
  switch (any->type_index) {
  case kTVMFFISmallStr: *out = TVMFFISmallBytesGetContentByteArray(any); return true;
  case kTVMFFIStr: *out = fh_str_object_bytes(any->v_obj); return true;
  case kTVMFFIRawStr: *out = fh_base_bytes(any->v_c_str); return true;
  default: return false;
  }
}

bool fh_bytes_content(const TVMFFIAny *any, TVMFFIByteArray *out) {
  switch (any->type_index) {
  case kTVMFFISmallBytes: *out = TVMFFISmallBytesGetContentByteArray(any); return true;
  case kTVMFFIBytes: *out = fh_str_object_bytes(any->v_obj); return true;
  case kTVMFFIByteArrayPtr: *out = *(const TVMFFIByteArray *)any->v_ptr; return true;
  default: return false;
  }
}

/* ---- Checks ---- */

int fh_str_refuse_bytes(const char *what, TVMFFIByteArray bytes) {
  return fh_error_raise(FH_VALUE_ERROR, "Expected %s but got NULL as its %zu bytes", what, bytes.size);
}

/* The limit also makes the casts to int safe in messages that contain a name. */
int fh_str_check_name(const char *what, TVMFFIByteArray name) {
  enum { MAX_BYTES = 1 << 20 };
  if (fh_str_check_bytes(what, name) != 0) return -1;
  if (name.size == 0) return fh_error_raise(FH_VALUE_ERROR, "Expected %s but got an empty text", what);
  if (name.size > MAX_BYTES) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected %s of at most %d bytes but got %zu", what, MAX_BYTES, name.size);
  }
  const char *nul = (const char *)memchr(name.data, '\0', name.size);
  if (nul == NULL) return 0;
  /* the message shows the NUL, and the bytes after it up to the next NUL */
  size_t n_before = (size_t)(nul - name.data);
  return fh_error_raise(FH_VALUE_ERROR, "Expected %s without a NUL but got `%.*s\\0%.*s`", what, (int)n_before,
                        name.data, (int)(name.size - n_before - 1), nul + 1);
}

/* The ABI's functions write *out on failure, too. */
static int refuse_text(const char *what, TVMFFIByteArray bytes, TVMFFIAny *out) {
  *out = fh_any_none();
  return fh_str_refuse_bytes(what, bytes);
}

int TVMFFIStringFromByteArray(const TVMFFIByteArray *input, TVMFFIAny *out) {
  if (FH_UNLIKELY(input->data == NULL && input->size != 0)) return refuse_text("a text", *input, out);
  return fh_str_new(input->data, input->size, out);
}

int TVMFFIBytesFromByteArray(const TVMFFIByteArray *input, TVMFFIAny *out) {
  if (FH_UNLIKELY(input->data == NULL && input->size != 0)) return refuse_text("bytes", *input, out);
  return fh_bytes_new(input->data, input->size, out);
}

void fh_str_delete_plain(void *self, int flags) { fh_object_delete_plain(self, flags); }

int fh_str_new_plain(const TVMFFIByteArray *text, TVMFFIAny *out) {
  if (TVMFFIStringFromByteArray(text, out) != 0) return -1;
  if (out->type_index == kTVMFFIStr) out->v_obj->deleter = fh_str_delete_plain;
  return 0;
}

int fh_bytes_new_plain(const TVMFFIByteArray *bytes, TVMFFIAny *out) {
  if (TVMFFIBytesFromByteArray(bytes, out) != 0) return -1;
  if (out->type_index == kTVMFFIBytes) out->v_obj->deleter = fh_str_delete_plain;
  return 0;
}

/* --- strings that are written piece by piece --------------------------------------------------------------------- */

/* A string that is written piece by piece into the block of its String object. The block grows by half,
 * so growing copies O(n) bytes for a string of n. The header of the object is written last. */

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
  memset(build, 0, sizeof(*build));
}
