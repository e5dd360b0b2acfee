/* bigint.c - integers beyond 64 bits: import, export, hash and equality for maps. */
#include "bigint.h"

#include "error.h"
#include "mem.h"
#include "str.h"

FH_STATIC_ASSERT(offsetof(fh_bigint_object, words) == 32, "the words follow the count");

static int64_t word_at(const char *data, size_t i) {
  int64_t word;
  memcpy(&word, data + i * sizeof word, sizeof word); /* the input need not be aligned */
  return word;
}

int TVMFFIBigIntFromByteArray(const TVMFFIByteArray *input, TVMFFIAny *out) {
  TVMFFIAny result = fh_any_none(); /* *out is written last: it may hold the input's bytes */
  size_t n_words = input->size / sizeof(int64_t);
  if (input->size % sizeof(int64_t) != 0) {
    *out = result;
    return fh_error_raise(FH_VALUE_ERROR, "Expected whole 64-bit words for a BigInt but got %zu bytes", input->size);
  }
  while (n_words > 1 && word_at(input->data, n_words - 1) == (word_at(input->data, n_words - 2) < 0 ? -1 : 0)) {
    --n_words;
  }
  if (n_words <= 1) {
    *out = fh_any_int(n_words == 0 ? 0 : word_at(input->data, 0));
    return 0;
  }
  size_t content_bytes = n_words * sizeof(int64_t);
  fh_bigint_object *big =
      (fh_bigint_object *)fh_object_new(sizeof *big + content_bytes, kTVMFFIBigInt, fh_object_delete_plain);
  if (big != NULL) {
    big->n_words = n_words;
    memcpy(big->words, input->data, content_bytes);
    result = fh_any_object(big);
  }
  *out = result;
  return big != NULL ? 0 : -1;
}

TVMFFIByteArray TVMFFIBigIntGetContentByteArray(const TVMFFIAny *value) {
  TVMFFIByteArray content = {NULL, 0};
  if (value->type_index == kTVMFFIInt) {
    content.data = (const char *)&value->v_int64;
    content.size = sizeof value->v_int64;
  } else if (value->type_index == kTVMFFIBigInt) {
    const fh_bigint_object *big = (const fh_bigint_object *)(const void *)value->v_obj;
    content.data = (const char *)big->words;
    content.size = big->n_words * sizeof(int64_t);
  }
  return content;
}

/* ---- Hooks, in the native convention of the attribute columns (see any.c): the result is a value ---- */

static TVMFFIAny any_hash(const TVMFFIAny *value) {
  TVMFFIByteArray content = TVMFFIBigIntGetContentByteArray(value);
  return fh_any_int((int64_t)fh_str_hash(content.data, content.size));
}

static TVMFFIAny any_equal(const TVMFFIAny *a, const TVMFFIAny *b) {
  return fh_any_bool(fh_str_same(TVMFFIBigIntGetContentByteArray(a), TVMFFIBigIntGetContentByteArray(b)));
}

void fh_bigint_init(void) {
  TVMFFIByteArray hash_name = FH_LITERAL("__any_hash__"), equal_name = FH_LITERAL("__any_equal__");
  TVMFFIAny hash = fh_any_ptr((void *)(uintptr_t)&any_hash), equal = fh_any_ptr((void *)(uintptr_t)&any_equal);
  TVMFFITypeMetadata metadata = {.total_size = sizeof(fh_bigint_object)};
  TVMFFITypeRegisterMetadata(kTVMFFIBigInt, &metadata);
  TVMFFITypeRegisterAttr(kTVMFFIBigInt, &hash_name, &hash);
  TVMFFITypeRegisterAttr(kTVMFFIBigInt, &equal_name, &equal);
}
