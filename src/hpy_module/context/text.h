/* Conversion between str and UTF-8. */
#pragma once

#include "context.h"

/* Returns the UTF-8 of a str, NUL-terminated, valid as long as h lives. NULL with UnicodeEncodeError raised if the str
 * has lone surrogates. */
const char *fb_text_get(HPyContext *ctx, HPy h, HPy_ssize_t *byte_len);
/* Raises UnicodeEncodeError for a str that fb_text_get refuses. If `where` ("f() argument 1") is not NULL, the message
 * begins with it, and a UnicodeEncodeError that is already raised is replaced. Any other raised exception stays.
 * Returns -1. */
int fb_text_refuse(HPyContext *ctx, HPy h, const char *where);

/* Like fb_text_get, for an argument that must be a str; raises TypeError "`what` must be str, not X" otherwise. */
const char *fb_text_arg(HPyContext *ctx, HPy h, const char *what, HPy_ssize_t *byte_len);

/* Whether a string of known length, which may contain NULs, equals a C string. */
FH_INLINE bool fb_text_is(const char *text, HPy_ssize_t byte_len, const char *wanted) {
  return strlen(wanted) == (size_t)byte_len && memcmp(text, wanted, (size_t)byte_len) == 0;
}

/* Called for each class that native code sees or instantiates. Without this call PyPy 8 never frees the string data of
 * instances of a str subclass. */
void fb_text_class_made(HPy cls);

/* Called once during the import, after fb_context_init. */
void fb_text_init(void);
/* Makes a str from UTF-8 of known length. The data may contain NULs, and malformed bytes, which become U+FFFD. The byte
 * after the last one must be readable. */
HPy fb_text_new(HPyContext *ctx, const char *data, size_t byte_len);
