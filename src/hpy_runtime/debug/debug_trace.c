/* Debug mode: the native stack at which a handle was opened, by backtrace() of the C library where it has that. */
#include "debug_trace.h"

#include <stdlib.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#define HAS_FRAMES 1
#include <execinfo.h>
#endif
#endif

enum { MAX_FRAMES = 256, OWN_FRAMES = 1 }; /* the innermost frame, fhpy_debug_trace_new itself, is left out */

typedef struct FhpyTrace {
  size_t n_frames;
  void *frames[];
} FhpyTrace;

/* A trace of these frames, or NULL without memory. It has addresses only; they become text when a list is made, which
 * most handles never see. */
static FhpyTrace *make_trace(void *const *frames, size_t n_frames) {
  FhpyTrace *trace = malloc(sizeof(FhpyTrace) + n_frames * sizeof(void *));
  if (trace == NULL) return NULL;
  trace->n_frames = n_frames;
  memcpy(trace->frames, frames, n_frames * sizeof(void *));
  return trace;
}

#ifdef HAS_FRAMES

FhpyTrace *fhpy_debug_trace_new(size_t n_frames) {
  if (n_frames == 0) return NULL;
  void *frames[MAX_FRAMES];
  int n = backtrace(frames, n_frames < MAX_FRAMES - OWN_FRAMES ? (int)n_frames + OWN_FRAMES : MAX_FRAMES);
  return n > OWN_FRAMES ? make_trace(frames + OWN_FRAMES, (size_t)n - OWN_FRAMES) : NULL;
}

PyObject *fhpy_debug_trace_text(const FhpyTrace *trace) {
  char **lines = trace != NULL ? backtrace_symbols(trace->frames, (int)trace->n_frames) : NULL;
  PyObject *text = PyUnicode_FromString("");
  for (size_t i = 0; lines != NULL && text != NULL && i < trace->n_frames; i++) {
    PyObject *longer = PyUnicode_FromFormat("%U%s\n", text, lines[i]);
    Py_DecRef(text);
    text = longer;
  }
  free(lines);
  return text;
}

#else

FhpyTrace *fhpy_debug_trace_new(size_t n_frames) { return (void)n_frames, NULL; }
PyObject *fhpy_debug_trace_text(const FhpyTrace *trace) { return (void)trace, PyUnicode_FromString(""); }

#endif

FhpyTrace *fhpy_debug_trace_copy(const FhpyTrace *trace) {
  return trace != NULL ? make_trace(trace->frames, trace->n_frames) : NULL;
}
