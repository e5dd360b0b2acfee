/* base64.c - base64 encoding of bytes, with padding (RFC 4648). Used for the bytes in graphs of JSON values. */
#include "base64.h"

#include "core/object/error.h"
#include "core/object/str.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* ---- Encoding ---- */

/* Up to three bytes as four characters. */
static void encode_group(const unsigned char *in, size_t n, char *out) {
  uint32_t bits = (uint32_t)in[0] << 16 | (n > 1 ? (uint32_t)in[1] << 8 : 0) | (n > 2 ? in[2] : 0);
  out[0] = alphabet[bits >> 18];
  out[1] = alphabet[bits >> 12 & 63];
  out[2] = n > 1 ? alphabet[bits >> 6 & 63] : '=';
  out[3] = n > 2 ? alphabet[bits & 63] : '=';
}

int fh_base64_encode(TVMFFIByteArray bytes, TVMFFIAny *out) {
  fh_str_build build = {NULL, 0, 0};
  const unsigned char *in = (const unsigned char *)bytes.data;
  *out = fh_any_none();
  /* Up to this size the number of characters, four for three bytes, cannot overflow. */
  if (bytes.size > SIZE_MAX / 8) return fh_error_raise_no_memory();
  size_t n_chars = (bytes.size + 2) / 3 * 4;
  /* One more byte, because a reservation needs at least one. */
  if (fh_str_build_reserve(&build, n_chars + 1) != 0) return -1;
  char *to = fh_str_build_end(&build);
  for (size_t n_left = bytes.size; n_left != 0; to += 4) {
    size_t n = n_left < 3 ? n_left : 3;
    encode_group(in, n, to);
    in += n;
    n_left -= n;
  }
  build.n_bytes = n_chars;
  return fh_str_build_finish(&build, kTVMFFIStr, out);
}

/* ---- Decoding ---- */

/* The six bits of a character, 64 for a character outside of the alphabet. */
static uint32_t value_of(unsigned char c) {
  if (c >= 'A' && c <= 'Z') return c - (uint32_t)'A';
  if (c >= 'a' && c <= 'z') return c - (uint32_t)'a' + 26;
  if (c >= '0' && c <= '9') return c - (uint32_t)'0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : 64;
}

static int raise_character(TVMFFIByteArray text, size_t i) {
  return fh_error_raise(FH_VALUE_ERROR, "Expected a base64 character but got byte 0x%02x at position %zu",
                        (unsigned char)text.data[i], i);
}

/* Writes the bytes of all characters before the padding. Bits that are already written leave `bits` at its top. The
 * lowest bits of the last character before padding are ignored. */
static int decode_into(TVMFFIByteArray text, size_t n_padding, fh_str_build *build) {
  size_t n_chars = text.size - n_padding;
  uint32_t bits = 0;
  char *to = fh_str_build_end(build);
  for (size_t i = 0; i < n_chars; ++i) {
    uint32_t value = value_of((unsigned char)text.data[i]);
    if (value > 63) return raise_character(text, i);
    bits = bits << 6 | value;
    /* The first character of a group gives only 6 bits, which is less than a byte; each later one completes one more
     * byte. */
    if (i % 4 != 0) *to++ = (char)(bits >> (6 - i % 4 * 2));
  }
  build->n_bytes = (size_t)(to - fh_str_build_end(build));
  return 0;
}

int fh_base64_decode(TVMFFIByteArray text, TVMFFIAny *out) {
  fh_str_build build = {NULL, 0, 0};
  size_t n_padding = 0;
  *out = fh_any_none();
  if (text.size % 4 != 0) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected base64 in groups of 4 characters but got %zu characters",
                          text.size);
  }
  /* Only the last two characters may be padding; decode_into refuses "=" anywhere else. */
  while (n_padding < 2 && n_padding < text.size && text.data[text.size - 1 - n_padding] == '=') ++n_padding;
  if (fh_str_build_reserve(&build, text.size / 4 * 3 + 1) != 0) return -1;
  if (decode_into(text, n_padding, &build) != 0) {
    fh_str_build_free(&build);
    return -1;
  }
  return fh_str_build_finish(&build, kTVMFFIBytes, out);
}
