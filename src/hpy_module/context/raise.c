/* The binding's own exceptions. A message that is longer than the buffer is truncated: names in it may have any
 * length. */
#include "raise.h"

#include <stdarg.h>
#include <stdio.h>

HPy fb_raise(HPyContext *ctx, HPy h_type, const char *format, ...) {
  char message[1024];
  va_list list;
  va_start(list, format);
  fb_cut_end(message, sizeof(message), vsnprintf(message, sizeof(message), format, list));
  va_end(list);
  HPyErr_SetString(ctx, h_type, message);
  return HPy_NULL;
}

/* --- cutting text ------------------------------------------------------------------------------------------------ */

/* Truncates UTF-8 between characters: a byte 10xxxxxx continues a character, any other byte begins one. */

FH_INLINE bool goes_on(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

const char *fb_cut_copy(char *buffer, size_t size, const char *text, size_t byte_len) {
  size_t n = 0;
  for (size_t i = 0, next; i < byte_len; i = next) {
    for (next = i + 1; next < byte_len && goes_on(text[next]); ++next) {
    }
    const char *piece = text[i] == 0 ? "\\x00" : text + i;
    size_t piece_len = text[i] == 0 ? 4 : next - i;
    if (n + piece_len >= size) break;
    memcpy(buffer + n, piece, piece_len);
    n += piece_len;
  }
  buffer[n] = 0;
  return buffer;
}

size_t fb_cut_length(const char *text, size_t byte_len, size_t most) {
  if (byte_len <= most) return byte_len;
  while (most > 0 && goes_on(text[most])) --most;
  return most;
}

void fb_cut_end(char *buffer, size_t size, int n) {
  if (n < 0 || (size_t)n < size) return; /* nothing was truncated */
  /* The last byte before the NUL may belong to an incomplete character. */
  size_t start = size - 1;
  while (start > 0 && goes_on(buffer[start - 1])) --start;
  if (start == 0) return;
  unsigned char first = (unsigned char)buffer[start - 1];
  size_t wanted = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (size - start < wanted) buffer[start - 1] = 0;
}
