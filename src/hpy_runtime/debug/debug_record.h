/* Debug mode: the records of handles.
 *
 * A handle is the number of a record and the number of its use. Records are never freed, and a closed one is set aside
 * for long before it is used again. So a stale handle is recognised without touching an object that is gone, and the
 * report can say who closed it.
 *
 * Any attached thread may call these functions. */
#ifndef FFI_HPY_RUNTIME_DEBUG_RECORD_H_
#define FFI_HPY_RUNTIME_DEBUG_RECORD_H_

#include <stdbool.h>

#include "debug_pages.h"
#include "debug_trace.h"
#include "hpy_runtime/abi/handle.h"

typedef enum {
  HANDLE_OWNED,         /* whoever got it closes it */
  HANDLE_ARGUMENT,      /* belongs to the call that passed it */
  HANDLE_CONSTANT,      /* a member of the context */
  HANDLE_LIST_BUILDER,  /* the word of a builder; its object is a Builder of debug_builder.c */
  HANDLE_TUPLE_BUILDER, /* the word of a builder, as above */
  HANDLE_TRACKER,       /* the word of a tracker; its object is the real context's tracker */
} FhpyHandleKind;

/* RETURNED: closed because the function returned it, or because the call that passed it ended. */
typedef enum { RECORD_NEW, RECORD_OPEN, RECORD_CLOSED, RECORD_RETURNED } FhpyRecordState;

/* What is known about a handle. When it is forgotten, the record serves another handle. */
typedef struct {
  void *object;             /* owned while open; the kind tells what it is */
  const char *opener;       /* the extension's function that ran, or NULL; names are never freed */
  const char *closer;       /* the extension's function that ran at the closing, or NULL */
  uint64_t serial;          /* counts handles */
  unsigned long thread;     /* the one that opened it, a threading.get_ident() */
  struct FhpyText *texts;   /* the copies that were returned for it */
  struct FhpyTrace *trace;  /* where it was opened, or NULL */
  uint32_t use;             /* counts the handles of this record, from 1 */
  int32_t number, next;     /* of this record; of the next one in the list of closed records */
  FhpyHandleKind kind;
  FhpyRecordState state;
} FhpyRecord;

/* The number of a handle's use, which is in its word. */
static inline uint32_t debug_record_use(HPy h) { return (uint32_t)((uint64_t)h._i >> 32); }

/* ---- one handle ---- */

/* A new handle. Takes over a reference to the object, or what the kind says. Without memory the process ends. */
HPy fhpy_debug_record_open(void *object, FhpyHandleKind kind);

/* The answer to a look-up of a handle. */
typedef struct {
  FhpyRecord record; /* a copy from before it was closed; its texts and trace must not be touched */
  bool is_known;     /* the word is or was that of a handle */
  bool is_open;
  bool is_done; /* the look-up closed it */
} FhpyRecordAnswer;
enum { NO_KIND = -1 };
/* Looks a handle up. An open one of kind `ended` is closed with the given state, and record.object then belongs to the
 * caller. NO_KIND closes nothing. */
FhpyRecordAnswer fhpy_debug_record_ask(HPy h, int ended, FhpyRecordState state);

/* A copy of a text that belongs to the object of h, for the extension. Writing to the copy ends the process. Once h is
 * closed, so does reading it, as long as the limits let the copy be kept. NULL for NULL. The text itself if there is no
 * memory. */
const char *fhpy_debug_record_keep_text(HPy h, const char *text, size_t byte_size);

/* ---- all handles ---- */

/* How much is remembered of closed handles, and of the stack. */
typedef struct {
  size_t n_closed;     /* closed handles that are recognised; the oldest is forgotten first */
  size_t n_text_bytes; /* of the texts of closed handles */
  size_t n_frames;     /* of the native stack at each opening */
} FhpyDebugLimits;
FhpyDebugLimits fhpy_debug_record_get_limits(void);
void fhpy_debug_record_set_limits(FhpyDebugLimits limits);

/* The number of handles opened so far; serial numbers of later ones are greater. */
uint64_t fhpy_debug_record_serial(void);

typedef enum { LIST_OPEN, LIST_CLOSED } FhpyRecordList;

typedef struct {
  FhpyRecord record; /* its trace belongs to the copy; its texts must not be touched */
  PyObject *object;  /* owned; NULL unless the record is an open handle of an object */
  size_t n_text_bytes;
} FhpyRecordCopy;

/* Copies of the records with a serial number greater than `since`: those that are open and that the extension has to
 * close, in the order of opening; or those that are closed and not forgotten, in the order of closing. Free them with
 * fhpy_debug_record_free_copies(). NULL if there is no memory. */
FhpyRecordCopy *fhpy_debug_record_copy(FhpyRecordList which, uint64_t since, size_t *n_copies);
void fhpy_debug_record_free_copies(FhpyRecordCopy *copies, size_t n_copies);
/* The handle's word, as the extension has it. */
HPy fhpy_debug_record_word(const FhpyRecord *r);

#endif /* FFI_HPY_RUNTIME_DEBUG_RECORD_H_ */
