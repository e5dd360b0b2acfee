/* base64.h - encodes bytes as a string of 64 characters and padding, and decodes it. */
#ifndef TVM_FFI_EXTRA_BASE64_H_
#define TVM_FFI_EXTRA_BASE64_H_

#include <tvm/ffi/error.h>
#include <tvm/ffi/string.h>

#include <string>

namespace tvm::ffi {
namespace detail {

/** The 6 bits of a base64 character, -1 for any other character. */
inline int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

} // namespace detail

/** Four characters for each three bytes; the last group is padded with "=". */
inline String Base64Encode(TVMFFIByteArray bytes) {
  constexpr const char *kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size; i += 3) {
    size_t n = std::min<size_t>(bytes.size - i, 3);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < n ? static_cast<unsigned char>(bytes.data[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) text.push_back(j <= n ? kDigits[group >> (18 - 6 * j) & 63] : '=');
  }
  return String(std::move(text));
}
/** Encodes bytes as base64, with padding. */
inline String Base64Encode(const Bytes &data) { return Base64Encode(TVMFFIByteArray{data.data(), data.size()}); }

/** ValueError if the length of the string is not a multiple of 4, or if it has other characters. */
inline Bytes Base64Decode(TVMFFIByteArray text) {
  if (text.size % 4 != 0) {
    TVM_FFI_THROW(ValueError) << "Expected base64 in groups of 4 characters but got " << text.size << " characters";
  }
  size_t n_padding = 0;
  while (n_padding < 2 && n_padding < text.size && text.data[text.size - 1 - n_padding] == '=') ++n_padding;
  std::string bytes;
  bytes.reserve(text.size / 4 * 3);
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size - n_padding; ++i) {
    int digit = detail::Base64Digit(text.data[i]);
    if (digit < 0) {
      TVM_FFI_THROW(ValueError) << "Expected a base64 character but got byte "
                                << static_cast<int>(static_cast<unsigned char>(text.data[i])) << " at position " << i;
    }
    bits = bits << 6 | static_cast<uint32_t>(digit);
    /* The first digit of a group only begins a byte; each later digit completes one. */
    if (i % 4 != 0) bytes.push_back(static_cast<char>(bits >> (6 - 2 * (i % 4)) & 0xff));
  }
  return Bytes(std::move(bytes));
}
/** Decodes base64. */
inline Bytes Base64Decode(const String &text) { return Base64Decode(TVMFFIByteArray{text.data(), text.size()}); }

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_BASE64_H_ */
