/* json_text.h - classification of bytes for the reader and the writer of JSON. */
#ifndef FH_JSON_TEXT_H_
#define FH_JSON_TEXT_H_

#include "core/platform/base.h"

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
  memcpy(&word, p, sizeof word);
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

#endif /* FH_JSON_TEXT_H_ */
