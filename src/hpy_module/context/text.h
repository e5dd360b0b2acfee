/* Text between Python and UTF-8. */
#ifndef FFI_HPY_CONTEXT_TEXT_H_
#define FFI_HPY_CONTEXT_TEXT_H_

#include "context.h"

/* UTF-8 of a str, valid as long as h lives, with a NUL behind it. NULL with UnicodeEncodeError raised if it has lone
 * surrogates. */
const char *fb_text_get(HPyContext *ctx, HPy h, HPy_ssize_t *byte_len);
/* Raises UnicodeEncodeError for a str that fb_text_get refuses. Its message begins with `where` ("f() argument 1") if
 * that is not NULL; then a UnicodeEncodeError that is raised already is replaced. Any other exception that is raised
 * stays. Returns -1. */
int fb_text_refuse(HPyContext *ctx, HPy h, const char *where);

/* As fb_text_get, for an argument that must be a str: else TypeError "`what` must be str, not X". */
const char *fb_text_arg(HPyContext *ctx, HPy h, const char *what, HPy_ssize_t *byte_len);

/* Whether a text of known length, which may have NULs inside, is a C string. */
FH_INLINE bool fb_text_is(const char *text, HPy_ssize_t byte_len, const char *wanted) {
  return strlen(wanted) == (size_t)byte_len && memcmp(text, wanted, (size_t)byte_len) == 0;
}

/* To be called with each class that native code meets or makes instances of. Without that call PyPy 8 never frees the
 * text of the instances of a class derived from str. */
void fb_text_class_made(HPy cls);

/* To be called once during the import, after fb_context_init. */
void fb_text_init(void);
/* A str from UTF-8 of known length, which may contain NUL and, replaced by U+FFFD, malformed bytes. The byte behind the
 * last one must be readable. */
HPy fb_text_new(HPyContext *ctx, const char *data, size_t byte_len);

#endif /* FFI_HPY_CONTEXT_TEXT_H_ */
