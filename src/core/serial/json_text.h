/* json_text.h - what the reader and the writer of JSON know about bytes. */
#ifndef FH_JSON_TEXT_H_
#define FH_JSON_TEXT_H_

#include "core/platform/base.h"

/* Containers open at the same time; beyond it is a ValueError. */
#define FH_JSON_MAX_DEPTH (1 << 20)

/* The top bit of every byte of a word. */
#define FH_JSON_TOPS UINT64_C(0x8080808080808080)
#define FH_JSON_ONES UINT64_C(0x0101010101010101)

/* Marks are top bits of the bytes of a word. A byte above a marked one may be marked in error: only whether there is
 * any mark, and the lowest one, can be relied upon. */
static inline uint64_t fh_json_zero_bytes(uint64_t word) { return (word - FH_JSON_ONES) & ~word & FH_JSON_TOPS; }
static inline uint64_t fh_json_equal_bytes(uint64_t word, unsigned char c) {
  return fh_json_zero_bytes(word ^ (FH_JSON_ONES * c));
}

static inline uint64_t fh_json_load(const char *p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

/* Marks of bytes that cannot be part of a string as they are, or are not ASCII: control characters, quote,
 * backslash. */
static inline uint64_t fh_json_special_bytes(uint64_t word) {
  uint64_t below_space = (word - FH_JSON_ONES * 0x20) & ~word;
  return ((below_space | word) & FH_JSON_TOPS) | fh_json_equal_bytes(word, '"') | fh_json_equal_bytes(word, '\\');
}

/* How many bytes of a word from memory come before the first that is marked; there must be one. 0 is a safe answer
 * where it is not known which one is first. */
static inline size_t fh_json_bytes_before(uint64_t marks) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return (size_t)__builtin_ctzll(marks) / 8;
#else
  FH_UNUSED(marks);
  return 0;
#endif
}

#endif /* FH_JSON_TEXT_H_ */
