/* bigint.c - integers beyond 64 bits: import, export, decimal strings, hash and equality for maps.
 *
 * Each integer has only one form: Int if it fits, else the fewest words. So equality and hash use the bytes of the
 * words. Clients implement arithmetic. */
#include "bigint.h"

#include "core/platform/mem.h"
#include "error.h"
#include "object_new.h"
#include "reflect.h"
#include "str.h"
#include "text.h"

FH_STATIC_ASSERT(offsetof(fh_bigint_object, words) == 32, "the words follow the count");

static int64_t word_at(const char *data, size_t i) {
  int64_t word;
  memcpy(&word, data + i * sizeof(word), sizeof(word)); /* the input need not be aligned */
  return word;
}

int TVMFFIBigIntFromByteArray(const TVMFFIByteArray *input, TVMFFIAny *out) {
  TVMFFIAny result = fh_any_none(); /* *out is written last: it may hold the input's bytes */
  size_t n_words = input->size / sizeof(int64_t);
  if (fh_str_check_bytes("the words of a BigInt", *input) != 0) {
    *out = result;
    return -1;
  }
  if (input->size % sizeof(int64_t) != 0) {
    *out = result;
    return fh_error_raise(FH_VALUE_ERROR, "Expected whole 64-bit words for a BigInt but got %zu bytes", input->size);
  }
  /* A last word that only repeats the sign of the word before it is redundant. */
  while (n_words > 1 && word_at(input->data, n_words - 1) == (word_at(input->data, n_words - 2) < 0 ? -1 : 0)) {
    --n_words;
  }
  if (n_words <= 1) {
    *out = fh_any_int(n_words == 0 ? 0 : word_at(input->data, 0));
    return 0;
  }
  size_t content_bytes = n_words * sizeof(int64_t);
  fh_bigint_object *big =
      (fh_bigint_object *)fh_object_new(sizeof(*big) + content_bytes, kTVMFFIBigInt, fh_object_delete_plain);
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
    content.size = sizeof(value->v_int64);
  } else if (value->type_index == kTVMFFIBigInt) {
    const fh_bigint_object *big = (const fh_bigint_object *)(const void *)value->v_obj;
    content.data = (const char *)big->words;
    content.size = big->n_words * sizeof(int64_t);
  }
  return content;
}

/* ---- Decimal strings ---- */

#define GROUP_DIGITS 9

/* words = words * factor + addend; words are of 32 bits, least significant first. The result must fit: a carry out of
 * the last word is lost. */
static void multiply_add(uint32_t *words, size_t n_words, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (size_t i = 0; i < n_words; ++i) {
    carry += (uint64_t)words[i] * factor;
    words[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* Two's complement: inverts all words and adds one. */
static void negate(uint32_t *words, size_t n_words) {
  uint64_t carry = 1;
  for (size_t i = 0; i < n_words; ++i) {
    carry += words[i] ^ 0xffffffffu;
    words[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* Makes words of the digits by Horner's scheme, 9 digits at a time: the first group has the remaining digits. A group
 * is less than 2^30, so n groups fit n words, and each step changes only that many. Quadratic in the number of
 * digits. */
static void read_digits(const char *digits, size_t n, uint32_t *words) {
  size_t n_used = 1;
  for (size_t i = 0; i < n; ++n_used) {
    uint32_t group = 0, factor = 1;
    size_t end = i + (n - i) % GROUP_DIGITS;
    if (end == i) end = i + GROUP_DIGITS;
    for (; i < end; ++i, factor *= 10) group = group * 10 + (uint32_t)(digits[i] - '0');
    multiply_add(words, n_used, factor, group);
  }
}

int fh_bigint_from_decimal(TVMFFIByteArray text, TVMFFIAny *out) {
  size_t first = text.size != 0 && (text.data[0] == '-' || text.data[0] == '+');
  size_t n_digits = text.size - first;
  *out = fh_any_none();
  for (size_t i = first; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') n_digits = 0;
  }
  if (n_digits == 0) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a decimal integer but got `%.*s`",
                          text.size < 64 ? (int)text.size : 64, text.data != NULL ? text.data : "");
  }
  size_t n_words = (n_digits / GROUP_DIGITS + 3) / 2 * 2 + 2; /* number of 32-bit words; even, with room for the sign */
  uint32_t *words = (uint32_t *)fh_mem_calloc(n_words, sizeof(*words));
  int64_t *wide = (int64_t *)fh_mem_calloc(n_words / 2, sizeof(*wide));
  int rc = words == NULL || wide == NULL ? fh_error_raise_no_memory() : 0;
  if (rc == 0) {
    read_digits(text.data + first, n_digits, words);
    if (text.data[0] == '-') negate(words, n_words);
    /* combined by value, because the byte order decides the order of two halves in a word */
    for (size_t i = 0; i < n_words / 2; ++i) wide[i] = (int64_t)((uint64_t)words[2 * i + 1] << 32 | words[2 * i]);
    TVMFFIByteArray content = {(const char *)wide, n_words / 2 * sizeof(*wide)};
    rc = TVMFFIBigIntFromByteArray(&content, out);
  }
  fh_mem_free(words);
  fh_mem_free(wide);
  return rc;
}

/* ---- Hooks, in the native convention that any_hash.c calls: the result is a value ---- */

static TVMFFIAny any_hash(const TVMFFIAny *value) {
  TVMFFIByteArray content = TVMFFIBigIntGetContentByteArray(value);
  return fh_any_int((int64_t)fh_span_hash(content.data, content.size));
}

static TVMFFIAny any_equal(const TVMFFIAny *a, const TVMFFIAny *b) {
  return fh_any_bool(fh_span_same(TVMFFIBigIntGetContentByteArray(a), TVMFFIBigIntGetContentByteArray(b)));
}

/* Runs in the load-time constructor. If memory runs out, a registration is missing and a MemoryError is pending. */
int fh_bigint_raise_argument(const char *name, int32_t i, const TVMFFIAny *got) {
  enum { MOST_WORDS = 64 }; /* the digits of more words take long */
  const fh_bigint_object *big = (const fh_bigint_object *)(const void *)got->v_obj;
  fh_text text = {0};
  int rc = big->n_words <= MOST_WORDS
               ? fh_text_add_bigint(&text, big->words, big->n_words)
               : fh_text_add_format(&text, "an integer of more than %zu bits", (big->n_words - 1) * 64);
  if (rc == 0) {
    (void)fh_error_raise("OverflowError",
                         "Value out of range on argument #%d when calling: `%s`. Expected `int` but got %.*s, which is "
                         "outside the range %lld to %lld",
                         (int)i, name, (int)text.n_bytes, text.data, (long long)INT64_MIN, (long long)INT64_MAX);
  }
  fh_text_free(&text);
  return -1;
}

void fh_bigint_init(void) {
  TVMFFIByteArray hash_name = FH_LITERAL("__any_hash__"), equal_name = FH_LITERAL("__any_equal__");
  TVMFFIAny hash = fh_any_ptr((void *)(uintptr_t)&any_hash), equal = fh_any_ptr((void *)(uintptr_t)&any_equal);
  TVMFFITypeMetadata metadata = {.total_size = sizeof(fh_bigint_object)};
  TVMFFITypeRegisterMetadata(kTVMFFIBigInt, &metadata);
  TVMFFITypeRegisterAttr(kTVMFFIBigInt, &hash_name, &hash);
  TVMFFITypeRegisterAttr(kTVMFFIBigInt, &equal_name, &equal);
  (void)fh_reflect_set_final(kTVMFFIBigInt, 1);
}
