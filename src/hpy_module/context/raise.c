/* Exceptions: raising the binding's own, cutting text for messages, and saving the raised exception. */
#include "raise.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/platform/system.h"

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

/* --- the raised exception ----------------------------------------------------------------------------------------- */

/* The raised exception, read by the extension, or by the interpreter's functions PyErr_Occurred, PyErr_Fetch and
 * PyErr_Restore, which exist under every context. */

void *(*fb_raised_ask)(void);
/* Written together with fb_raised_ask; NULL with the extension, and if the interpreter does not have them. */
static void (*fetch)(void **, void **, void **);
static void (*restore)(void *, void *, void *);

static void *ask_context(void) { return HPyErr_Occurred(fb_ctx) ? fb_ctx : NULL; }
static void *ask_nothing(void) { return NULL; }

/* Finds the three functions whose names begin with `prefix`. Returns whether all exist. */
static bool find_functions(const char *prefix) {
  static const char *const names[] = {"Err_Occurred", "Err_Fetch", "Err_Restore"};
  void *found[3];
  for (int i = 0; i < 3; ++i) {
    char name[32];
    snprintf(name, sizeof(name), "%s%s", prefix, names[i]);
    found[i] = fh_loader_find_anywhere(name);
    if (found[i] == NULL) return false;
  }
  memcpy(&fb_raised_ask, &found[0], sizeof(found[0]));
  memcpy(&fetch, &found[1], sizeof(found[1]));
  memcpy(&restore, &found[2], sizeof(found[2]));
  return true;
}

void fb_raised_init(void) {
  if (fb_ext != NULL) {
    fb_raised_ask = fb_ext->error_occurred;
  } else if (fb_context_is_pypy) { /* the C API of PyPy has its own raised exception, separate from HPy's */
    fb_raised_ask = ask_context;
  } else if (!find_functions("PyPy") && !find_functions("Py")) {
    fb_raised_ask = ask_nothing;
  }
}

bool fb_raised_can_take(void) { return fb_ext != NULL || fetch != NULL; }

void fb_raised_take_one(FbRaised *out) {
  out->is_one = fb_raised_can_take();
  if (fb_ext != NULL) {
    out->exception = fb_ext->error_take(fb_ctx);
  } else if (fetch != NULL) {
    fetch(&out->parts[0], &out->parts[1], &out->parts[2]);
  }
}

void fb_raised_put_one(const FbRaised *raised) {
  /* Code that calls Python usually reports such an exception itself, as ctypes does. */
  if (FH_UNLIKELY(fb_raised_is()) && fb_context_is_lasting) HPyErr_WriteUnraisable(fb_ctx, HPy_NULL);
  if (fb_ext != NULL) {
    fb_ext->error_restore(fb_ctx, raised->exception);
    HPy_Close(fb_ctx, raised->exception);
  } else {
    restore(raised->parts[0], raised->parts[1], raised->parts[2]);
  }
}
