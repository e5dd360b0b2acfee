/* Debug mode: the records of handles.
 *
 * A handle's word consists, from the lowest bit, of a 1, which no pointer has; the record's number, 31 bits; and the
 * use number, 32 bits. Records are in blocks that are allocated on demand and never freed. A closed record is appended
 * to the list `known`. When that list is longer than the limit, its first record is forgotten and moves to `unused`,
 * from which new handles take their records. So opening and closing a handle without strings take constant time.
 *
 * `records_lock` guards the records with their texts and traces, the lists, the limits and the counters. The only
 * Python function called under it is Py_IncRef. */
#include "debug_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/fork.h"
#include "core/platform/system.h"
#include "debug_report.h"

/* --- strings ------------------------------------------------------------------------------------------------------ */

/* Copies of strings that become unreadable when their handle is closed.
 *
 * The data of a str or bytes, and the name of a type, live as long as the object, and other code may keep the object
 * alive long after the extension has closed its handle. So reading such data too late usually works. A copy has its own
 * memory pages, which are read-only, and unreadable once the handle is closed: the process then ends with SIGSEGV at
 * the mistake itself. `records_lock` guards the lists of copies, which belong to records; NULL is the empty list. */

typedef struct FhpyText {
  struct FhpyText *next;
  char *bytes; /* on its own pages */
  size_t byte_size;
} FhpyText;

/* Makes a copy; NULL if memory is exhausted. */
static FhpyText *text_new(const char *bytes, size_t byte_size) {
  FhpyText *text = malloc(sizeof(FhpyText));
  if (text == NULL) return NULL;
  char *copy = fh_shield_new(byte_size);
  if (copy == NULL) {
    free(text);
    return NULL;
  }
  memcpy(copy, bytes, byte_size);
  fh_shield_no_write(copy, byte_size);
  *text = (FhpyText){NULL, copy, byte_size};
  return text;
}

static void texts_hide(FhpyText *list) {
  for (; list != NULL; list = list->next) fh_shield_no_access(list->bytes, list->byte_size);
}

static void texts_free(FhpyText *list) {
  while (list != NULL) {
    FhpyText *next = list->next;
    fh_shield_free(list->bytes, list->byte_size);
    free(list);
    list = next;
  }
}

static size_t texts_size(const FhpyText *list) {
  size_t n = 0;
  for (; list != NULL; list = list->next) n += list->byte_size;
  return n;
}

static const FhpyText *texts_find(const FhpyText *list, const char *bytes, size_t byte_size) {
  while (list != NULL && (list->byte_size != byte_size || memcmp(list->bytes, bytes, byte_size) != 0))
    list = list->next;
  return list;
}

/* --- native stacks ------------------------------------------------------------------------------------------------ */

/* The native stack at the opening of a handle, on systems that support it. A trace is freed with free(). */

enum { MAX_FRAMES = 256, OWN_FRAMES = 1 }; /* the innermost frame, trace_new itself, is omitted */

typedef struct FhpyTrace {
  size_t n_frames;
  void *frames[];
} FhpyTrace;

/* Makes a trace of these frames; NULL if memory is exhausted. A trace has addresses only, which become text when a list
 * is made, which never happens for most handles. */
static FhpyTrace *make_trace(void *const *frames, size_t n_frames) {
  FhpyTrace *trace = malloc(sizeof(FhpyTrace) + n_frames * sizeof(void *));
  if (trace == NULL) return NULL;
  trace->n_frames = n_frames;
  memcpy(trace->frames, frames, n_frames * sizeof(void *));
  return trace;
}

/* Returns the calling thread's stack, at most n_frames of it. NULL for 0 frames, and where make_trace returns NULL. */
static FH_NOINLINE FhpyTrace *trace_new(size_t n_frames) {
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

static FhpyTrace *trace_copy(const FhpyTrace *trace) {
  return trace != NULL ? make_trace(trace->frames, trace->n_frames) : NULL;
}

/* --- records ------------------------------------------------------------------------------------------------------ */

/* Room for 2^26 handles that are open or not forgotten. A record never moves. */
enum { BLOCK_RECORDS = 4096, N_BLOCKS = 1 << 14 };
enum { NO_RECORD = -1 };

typedef struct {
  int32_t first, last;
  size_t n_records;
} List;

FH_LOCK(records_lock, "debug records", FH_RANK_PLAIN);
static FhpyRecord *blocks[N_BLOCKS];
static int32_t n_records;
static List known = {NO_RECORD, NO_RECORD, 0}, unused = {NO_RECORD, NO_RECORD, 0};
/* The serial number of the latest handle. */
static uint64_t n_opened;
static size_t n_kept_bytes; /* of the strings of known records */
static FhpyDebugLimits limits = {.n_closed = 4096, .n_text_bytes = 16 << 20};
static uint64_t n_frames_wanted; /* copy of limits.n_frames, read without the lock when a handle is opened */

/* Returns the record with a number less than n_records. */
static FhpyRecord *record_at(int32_t i) { return &blocks[i / BLOCK_RECORDS][i % BLOCK_RECORDS]; }

HPy fhpy_debug_record_word(const FhpyRecord *r) {
  return (HPy){(intptr_t)((uint64_t)r->use << 32 | (uint64_t)(uint32_t)r->number << 1 | 1)};
}

/* ---- under the lock ---- */

/* Appends a record to a list. */
static void append_record(List *list, FhpyRecord *r) {
  r->next = NO_RECORD;
  if (list->n_records++ == 0)
    list->first = r->number;
  else
    record_at(list->last)->next = r->number;
  list->last = r->number;
}

/* Removes the first record of a list; NULL if the list is empty. */
static FhpyRecord *take_first(List *list) {
  if (list->n_records == 0) return NULL;
  FhpyRecord *r = record_at(list->first);
  list->first = r->next;
  --list->n_records;
  return r;
}

/* Returns a record for a new handle: a forgotten record, or else a new one. NULL if memory is exhausted. A record has
 * the number of its last use, 0 for a new record. */
static FhpyRecord *take_unused(void) {
  FhpyRecord *r = take_first(&unused);
  if (r != NULL) return r;
  if (n_records == BLOCK_RECORDS * N_BLOCKS) return NULL;
  FhpyRecord **block = &blocks[n_records / BLOCK_RECORDS];
  if (*block == NULL) *block = calloc(BLOCK_RECORDS, sizeof(FhpyRecord));
  if (*block == NULL) return NULL;
  r = record_at(n_records);
  r->number = n_records++;
  return r;
}

static void drop_texts(FhpyRecord *r) {
  texts_free(r->texts);
  r->texts = NULL;
}

/* Forgets the oldest closed handles beyond the limit. The records of these handles may then be reused. */
static void forget_oldest(void) {
  while (known.n_records > limits.n_closed) {
    FhpyRecord *r = take_first(&known);
    n_kept_bytes -= texts_size(r->texts);
    drop_texts(r);
    free(r->trace);
    r->trace = NULL;
    append_record(&unused, r);
  }
}

/* Makes the strings of a closed record unreadable, or frees them if they would exceed the limit. */
static void hide_texts(FhpyRecord *r) {
  size_t byte_size = texts_size(r->texts);
  if (n_kept_bytes + byte_size > limits.n_text_bytes) {
    drop_texts(r);
    return;
  }
  n_kept_bytes += byte_size;
  texts_hide(r->texts);
}

static int32_t index_of(HPy h) { return (int32_t)((uint32_t)(uint64_t)h._i >> 1); }

/* Returns the record of a handle that is or was open; NULL for a word that never was a handle. If the record has been
 * reused since, it has no facts about the handle. */
static FhpyRecord *find_record(HPy h) {
  int32_t i = index_of(h);
  if ((h._i & 1) == 0 || i >= n_records) return NULL;
  FhpyRecord *r = record_at(i);
  return debug_record_use(h) == 0 || debug_record_use(h) > r->use ? NULL : r;
}

static bool is_open(const FhpyRecord *r, HPy h) {
  return r != NULL && r->state == RECORD_OPEN && r->use == debug_record_use(h);
}

/* Closes an open record. The caller has copied it before, and owns its object from here on. */
static void close_record(FhpyRecord *r, FhpyRecordState state) {
  r->object = NULL;
  r->state = state;
  r->closer = fhpy_debug_name_running;
  hide_texts(r);
  append_record(&known, r);
  forget_oldest();
}

/* ---- one handle ---- */

HPy fhpy_debug_record_open(void *object, FhpyHandleKind kind) {
  if (object == NULL) return HPy_NULL;
  /* Taken before the lock, because walking the stack takes long and may allocate. */
  struct FhpyTrace *trace = kind != HANDLE_CONSTANT ? trace_new(fh_atomic_load_relaxed_u64(&n_frames_wanted)) : NULL;
  fh_mutex_lock(&records_lock);
  FhpyRecord *r = take_unused();
  HPy h = HPy_NULL;
  if (r != NULL) {
    *r = (FhpyRecord){.object = object,
                      .opener = fhpy_debug_name_running,
                      .serial = ++n_opened,
                      .thread = PyThread_get_thread_ident(),
                      .trace = trace,
                      .use = r->use % UINT32_MAX + 1, /* never 0, so a word with use 0 is not a handle */
                      .number = r->number,
                      .kind = kind,
                      .state = RECORD_OPEN};
    h = fhpy_debug_record_word(r);
  }
  fh_mutex_unlock(&records_lock);
  if (HPy_IsNull(h)) Py_FatalError("ffi_hpy debug mode: no memory for another handle");
  return h;
}

FhpyRecordAnswer fhpy_debug_record_ask(HPy h, int ended, FhpyRecordState state) {
  FhpyRecordAnswer answer = {.is_known = false};
  fh_mutex_lock(&records_lock);
  FhpyRecord *r = find_record(h);
  answer.is_known = r != NULL;
  answer.is_open = is_open(r, h);
  if (answer.is_known) answer.record = *r;
  answer.is_done = answer.is_open && (int)answer.record.kind == ended;
  if (answer.is_done) close_record(r, state);
  fh_mutex_unlock(&records_lock);
  return answer;
}

uint64_t fhpy_debug_record_serial(void) {
  fh_mutex_lock(&records_lock);
  uint64_t n = n_opened;
  fh_mutex_unlock(&records_lock);
  return n;
}

/* ---- limits and texts ---- */

FhpyDebugLimits fhpy_debug_record_get_limits(void) {
  fh_mutex_lock(&records_lock);
  FhpyDebugLimits result = limits;
  fh_mutex_unlock(&records_lock);
  return result;
}

void fhpy_debug_record_set_limits(FhpyDebugLimits new_limits) {
  fh_mutex_lock(&records_lock);
  limits.n_closed = new_limits.n_closed;
  limits.n_text_bytes = new_limits.n_text_bytes;
  limits.n_frames = new_limits.n_frames;
  fh_atomic_store_release_u64(&n_frames_wanted, new_limits.n_frames);
  forget_oldest();
  fh_mutex_unlock(&records_lock);
}

const char *fhpy_debug_record_keep_text(HPy h, const char *text, size_t byte_size) {
  if (text == NULL) return NULL;
  fh_mutex_lock(&records_lock);
  FhpyRecord *r = find_record(h);
  const FhpyText *kept = is_open(r, h) ? texts_find(r->texts, text, byte_size) : NULL;
  fh_mutex_unlock(&records_lock);
  if (kept != NULL) return kept->bytes; /* the copy lives as long as the handle, which the caller keeps open */
  /* The copy is made without the lock, so the record is looked up again afterwards. Two threads may keep a copy
   * each. */
  FhpyText *made = text_new(text, byte_size);
  if (made == NULL) return text;
  fh_mutex_lock(&records_lock);
  r = find_record(h);
  bool is_kept = is_open(r, h);
  if (is_kept) {
    made->next = r->texts;
    r->texts = made;
  }
  fh_mutex_unlock(&records_lock);
  if (is_kept) return made->bytes;
  texts_free(made); /* h is not open; the caller has reported that */
  return text;
}

/* ---- copies, which callers use without the lock ---- */

/* Whether the extension must close the handle: an argument belongs to its call, a constant to the context. */
static bool is_listed(const FhpyRecord *r, uint64_t since) {
  return r->state == RECORD_OPEN && r->kind != HANDLE_ARGUMENT && r->kind != HANDLE_CONSTANT && r->serial > since;
}

static int compare_serials(const void *a, const void *b) {
  uint64_t x = ((const FhpyRecordCopy *)a)->record.serial, y = ((const FhpyRecordCopy *)b)->record.serial;
  return (x > y) - (x < y);
}

/* Copies a record with its trace. The copy takes a reference to an object, because the handle may be closed once the
 * lock is released. */
static void copy_record(FhpyRecordCopy *copy, const FhpyRecord *r) {
  *copy = (FhpyRecordCopy){*r, NULL, texts_size(r->texts)};
  copy->record.trace = trace_copy(r->trace);
  if (r->state != RECORD_OPEN || r->kind != HANDLE_OWNED) return;
  copy->object = r->object;
  Py_IncRef(copy->object); /* runs no Python code */
}

/* Open handles are not in a list, so this checks every record. */
static size_t copy_open(FhpyRecordCopy *copies, uint64_t since) {
  size_t n = 0;
  for (int32_t i = 0; i < n_records; ++i)
    if (is_listed(record_at(i), since)) copy_record(&copies[n++], record_at(i));
  return n;
}

static size_t copy_closed(FhpyRecordCopy *copies, uint64_t since) {
  size_t n = 0;
  const FhpyRecord *r = known.n_records > 0 ? record_at(known.first) : NULL;
  for (; r != NULL; r = r->next != NO_RECORD ? record_at(r->next) : NULL)
    if (r->serial > since) copy_record(&copies[n++], r);
  return n;
}

FhpyRecordCopy *fhpy_debug_record_copy(FhpyRecordList which, uint64_t since, size_t *n_copies) {
  fh_mutex_lock(&records_lock);
  size_t n_at_most = which == LIST_CLOSED ? known.n_records : (size_t)n_records - known.n_records - unused.n_records;
  FhpyRecordCopy *copies = malloc((n_at_most + 1) * sizeof(FhpyRecordCopy));
  size_t n = 0;
  if (copies != NULL) n = which == LIST_CLOSED ? copy_closed(copies, since) : copy_open(copies, since);
  fh_mutex_unlock(&records_lock);
  if (which == LIST_OPEN && copies != NULL) qsort(copies, n, sizeof(FhpyRecordCopy), compare_serials);
  *n_copies = n;
  return copies;
}

void fhpy_debug_record_free_copies(FhpyRecordCopy *copies, size_t n_copies) {
  for (size_t i = 0; i < n_copies; ++i) {
    free(copies[i].record.trace);
    Py_DecRef(copies[i].object);
  }
  free(copies);
}
