/* Debug mode: the records of handles, for the files that keep, list and decorate them. */
#ifndef FFI_HPY_RUNTIME_DEBUG_RECORD_H_
#define FFI_HPY_RUNTIME_DEBUG_RECORD_H_

#include "debug.h"

/* RETURNED: closed, because the function returned it, or its call ended. */
typedef enum { RECORD_NEW, RECORD_OPEN, RECORD_CLOSED, RECORD_RETURNED } FhpyRecordState;

/* What is known about a handle, and after it about the next one that has the same record. */
typedef struct {
  void *object;             /* owned while open; what it is depends on the kind */
  const char *opener;       /* the function that ran, or NULL; names live for ever */
  const char *closer;       /* the same, once closed */
  uint64_t serial;          /* counts handles */
  unsigned long thread;     /* that opened it, as threading.get_ident() counts them */
  struct FhpyText *texts;   /* that were handed out for it */
  struct FhpyTrace *trace;  /* of its opening, or NULL */
  uint32_t use;             /* counts the handles of this record, from 1 */
  int32_t number, next;     /* its own; in the list that it is in while closed */
  FhpyHandleKind kind;
  FhpyRecordState state;
} FhpyRecord;

static inline bool debug_is_handle(FhpyHandleKind kind) { return kind <= HANDLE_CONSTANT; }

/* ---- copies of texts (debug_text.c). Not synchronised: those of a record are guarded by its lock. ---- */

typedef struct FhpyText {
  struct FhpyText *next;
  char *bytes; /* on pages of their own */
  size_t byte_size;
} FhpyText;

/* A copy that can be read only, or NULL if there is no memory. */
FhpyText *fhpy_debug_text_new(const char *bytes, size_t byte_size);
/* The rest is about a whole list; NULL is the empty one. */
void fhpy_debug_text_hide(FhpyText *list); /* reading them faults from now on */
void fhpy_debug_text_free(FhpyText *list);
size_t fhpy_debug_text_size(const FhpyText *list);
const FhpyText *fhpy_debug_text_find(const FhpyText *list, const char *bytes, size_t byte_size);

/* ---- native stacks (debug_trace.c). To be freed with free(). ---- */

/* The calling thread's, or NULL: none is wanted, the platform has no way, or there is no memory. */
struct FhpyTrace *fhpy_debug_trace_new(size_t n_frames);
struct FhpyTrace *fhpy_debug_trace_copy(const struct FhpyTrace *trace);
/* A str with a line for each frame, the innermost first; empty for NULL. NULL with an exception raised. */
PyObject *fhpy_debug_trace_text(const struct FhpyTrace *trace);

/* ---- copies of records (debug_handle.c) ---- */

typedef enum { LIST_OPEN, LIST_CLOSED } FhpyRecordList;

typedef struct {
  FhpyRecord record; /* its trace is the copy's own, its texts are not to be touched */
  PyObject *object;  /* a reference; NULL for what is no handle of an object, and for what is closed */
  size_t n_text_bytes;
} FhpyRecordCopy;

/* What is open and the extension's to close, in the order of opening; or what is closed and still known, in the order of
 * closing. Those with a serial number greater than `since`. For fhpy_debug_free_copies(); NULL: no memory. */
FhpyRecordCopy *fhpy_debug_copy(FhpyRecordList which, uint64_t since, size_t *n_copies);
void fhpy_debug_free_copies(FhpyRecordCopy *copies, size_t n_copies);
/* The word that the extension has. */
HPy fhpy_debug_word(const FhpyRecord *r);

#endif /* FFI_HPY_RUNTIME_DEBUG_RECORD_H_ */
