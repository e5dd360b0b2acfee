/* Debug mode: the records of handles.
 *
 * A handle consists of the number of a record and its use number. Records are never freed, and a closed record is kept
 * for a long time before it is reused. So a stale handle is recognised without touching a freed object, and the report
 * can name the function that closed it.
 *
 * Any attached thread may call these functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "hpy_runtime/abi/cpython_abi.h"
#include "hpy_runtime/abi/handle.h"

typedef enum {
  HANDLE_OWNED,         /* the receiver closes it */
  HANDLE_ARGUMENT,      /* belongs to the call that passed it */
  HANDLE_CONSTANT,      /* a member of the context */
  HANDLE_LIST_BUILDER,  /* the word of a builder; its object is a Builder of debug_builder.c */
  HANDLE_TUPLE_BUILDER, /* the word of a builder, as above */
  HANDLE_TRACKER,       /* the word of a tracker; its object is the plain context's tracker */
} FhpyHandleKind;

/* RETURNED: closed because the function returned it, or because the call that passed it ended. */
typedef enum { RECORD_NEW, RECORD_OPEN, RECORD_CLOSED, RECORD_RETURNED } FhpyRecordState;

/* The facts about a handle. When the handle is forgotten, the record is reused for another handle. */
typedef struct {
  void *object;             /* owned while open; its type depends on the kind */
  const char *opener;       /* the extension's function that ran, or NULL; names are never freed */
  const char *closer;       /* the extension's function that ran when the handle was closed, or NULL */
  uint64_t serial;          /* consecutive number of the handle */
  unsigned long thread;     /* the thread that opened it, a threading.get_ident() */
  struct FhpyText *texts;   /* the copies that were returned for it */
  struct FhpyTrace *trace;  /* the stack at its opening, or NULL */
  uint32_t use;             /* consecutive number of the handle in this record, from 1 */
  int32_t number, next;     /* index of this record; of the next record in the list of closed records */
  FhpyHandleKind kind;
  FhpyRecordState state;
} FhpyRecord;

/* Returns a str with a line for each frame of a native stack, the innermost first; empty for NULL. NULL with an
 * exception raised. */
PyObject *fhpy_debug_trace_text(const struct FhpyTrace *trace);

/* Returns the use number in a handle's word. */
static inline uint32_t debug_record_use(HPy h) { return (uint32_t)((uint64_t)h._i >> 32); }

/* ---- one handle ---- */

/* Opens a handle. Steals a reference to the object, or to the object of the kind. If memory is exhausted, the process
 * ends. */
HPy fhpy_debug_record_open(void *object, FhpyHandleKind kind);

/* The result of a lookup of a handle. */
typedef struct {
  FhpyRecord record; /* a copy made before the handle was closed; its texts and trace must not be used */
  bool is_known;     /* the word is or was a handle */
  bool is_open;
  bool is_done; /* the lookup closed it */
} FhpyRecordAnswer;
enum { NO_KIND = -1 };
/* Looks a handle up. An open handle of kind `ended` is closed with the given state, and the caller then owns
 * record.object. NO_KIND closes nothing. */
FhpyRecordAnswer fhpy_debug_record_ask(HPy h, int ended, FhpyRecordState state);

/* Makes a copy, for the extension, of a string that belongs to the object of h. Writing to the copy ends the process.
 * Once h is closed, reading the copy also ends the process, as long as the limits allow to keep the copy. Returns NULL
 * for NULL, and the string itself if memory is exhausted. */
const char *fhpy_debug_record_keep_text(HPy h, const char *text, size_t byte_size);

/* ---- all handles ---- */

/* Limits for the records of closed handles, and for the stack. */
typedef struct {
  size_t n_closed;     /* number of closed handles that are recognised; the oldest is forgotten first */
  size_t n_text_bytes; /* bytes of the strings of closed handles */
  size_t n_frames;     /* frames of the native stack at each opening */
} FhpyDebugLimits;
FhpyDebugLimits fhpy_debug_record_get_limits(void);
void fhpy_debug_record_set_limits(FhpyDebugLimits limits);

/* Returns the number of handles opened so far; later handles have greater serial numbers. */
uint64_t fhpy_debug_record_serial(void);

typedef enum { LIST_OPEN, LIST_CLOSED } FhpyRecordList;

typedef struct {
  FhpyRecord record; /* its trace belongs to the copy; its texts must not be used */
  PyObject *object;  /* owned; NULL unless the record is an open handle of an object */
  size_t n_text_bytes;
} FhpyRecordCopy;

/* Copies the records with a serial number greater than `since`: the open handles that the extension must close, in the
 * order of opening; or the closed handles that are not forgotten, in the order of closing. Free the copies with
 * fhpy_debug_record_free_copies(). NULL if memory is exhausted. */
FhpyRecordCopy *fhpy_debug_record_copy(FhpyRecordList which, uint64_t since, size_t *n_copies);
void fhpy_debug_record_free_copies(FhpyRecordCopy *copies, size_t n_copies);
/* Returns the handle's word, as the extension sees it. */
HPy fhpy_debug_record_word(const FhpyRecord *r);
