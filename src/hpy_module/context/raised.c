/* The raised exception, read by the extension, or by the interpreter's functions PyErr_Occurred, PyErr_Fetch and
 * PyErr_Restore, which exist under every context. */
#include "raised.h"

#include <stdio.h>

#include "core/platform/system.h"

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
