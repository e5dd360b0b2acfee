/* Debug mode: the native stack at the opening of a handle, on systems that support it. */
#include "debug_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/system.h"

enum { MAX_FRAMES = 256, OWN_FRAMES = 1 }; /* the innermost frame, fhpy_debug_trace_new itself, is omitted */

typedef struct FhpyTrace {
  size_t n_frames;
  void *frames[];
} FhpyTrace;

/* Makes a trace of these frames; NULL if memory is exhausted. It has addresses only; they become text when a list is
 * made, which never happens for most handles. */
static FhpyTrace *make_trace(void *const *frames, size_t n_frames) {
  FhpyTrace *trace = malloc(sizeof(FhpyTrace) + n_frames * sizeof(void *));
  if (trace == NULL) return NULL;
  trace->n_frames = n_frames;
  memcpy(trace->frames, frames, n_frames * sizeof(void *));
  return trace;
}

FH_NOINLINE FhpyTrace *fhpy_debug_trace_new(size_t n_frames) {
  if (n_frames == 0) return NULL;
  void *frames[MAX_FRAMES];
  int n = fh_loader_frames(frames, n_frames < MAX_FRAMES - OWN_FRAMES ? (int)n_frames + OWN_FRAMES : MAX_FRAMES);
  return n > OWN_FRAMES ? make_trace(frames + OWN_FRAMES, (size_t)n - OWN_FRAMES) : NULL;
}

/* Formats one frame like glibc's backtrace_symbols: file(function+0x12) [0x7f0123456789]. Returns a new reference, or
 * NULL with an exception raised. */
static PyObject *text_of_frame(void *address) {
  fh_loader_place place;
  if (!fh_loader_place_of(address, &place)) return PyUnicode_FromFormat("[%p]\n", address);
  const char *name = place.name != NULL ? place.name : "";
  size_t offset = (size_t)((char *)address - (char *)(place.name != NULL ? place.start : place.base));
  char number[32];
  snprintf(number, sizeof(number), "%llx", (unsigned long long)offset);
  return PyUnicode_FromFormat("%s(%s+0x%s) [%p]\n", place.file, name, number, address);
}

PyObject *fhpy_debug_trace_text(const FhpyTrace *trace) {
  PyObject *text = PyUnicode_FromString("");
  for (size_t i = 0; trace != NULL && text != NULL && i < trace->n_frames; ++i) {
    PyObject *line = text_of_frame(trace->frames[i]);
    PyObject *longer = line != NULL ? PyUnicode_FromFormat("%U%U", text, line) : NULL;
    Py_DecRef(text), Py_DecRef(line);
    text = longer;
  }
  return text;
}

FhpyTrace *fhpy_debug_trace_copy(const FhpyTrace *trace) {
  return trace != NULL ? make_trace(trace->frames, trace->n_frames) : NULL;
}
