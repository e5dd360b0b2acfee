/* Debug mode: handles and their records.
 *
 * A handle's word is, from the lowest bit: a 1, which no pointer has; the record's number, 31 bits; the number of the
 * record's use, 32 bits. Records are in blocks that are made when needed and stay. A closed record goes to the end of
 * the list `known`; when that is longer than the limit, the record at its front is forgotten and goes to `unused`, from
 * where new handles take it.
 *
 * `lock` guards the records with their texts and traces, the lists, the limits and the counters.
 */
#include <stdio.h>
#include <stdlib.h>

#include "debug_record.h"

enum { BLOCK_RECORDS = 4096, N_BLOCKS = 1 << 14 };
enum { NO_RECORD = -1 };

_Thread_local const char *fhpy_debug_running;

typedef struct {
  int32_t first, last;
  size_t n_records;
} List;

FH_LOCK(lock, "debug handle", FH_RANK_PLAIN);
static FhpyRecord *blocks[N_BLOCKS];
static int32_t n_records;
static List known = {NO_RECORD, NO_RECORD, 0}, unused = {NO_RECORD, NO_RECORD, 0};
static uint64_t n_opened;
static size_t n_kept_bytes; /* of the texts of known records */
static FhpyDebugLimits limits = {.n_closed = 4096, .n_text_bytes = 16 << 20};

static FhpyRecord *record_at(int32_t i) { return &blocks[i / BLOCK_RECORDS][i % BLOCK_RECORDS]; }

HPy fhpy_debug_word(const FhpyRecord *r) {
  return (HPy){(intptr_t)((uint64_t)r->use << 32 | (uint64_t)(uint32_t)r->number << 1 | 1)};
}
static uint32_t use_of(HPy h) { return (uint32_t)((uint64_t)h._i >> 32); }

/* ---- under the lock ---- */

static void append(List *list, FhpyRecord *r) {
  r->next = NO_RECORD;
  if (list->n_records++ == 0)
    list->first = r->number;
  else
    record_at(list->last)->next = r->number;
  list->last = r->number;
}

static FhpyRecord *take_first(List *list) {
  if (list->n_records == 0) return NULL;
  FhpyRecord *r = record_at(list->first);
  list->first = r->next;
  list->n_records--;
  return r;
}

/* A record to be used, or NULL if there is no memory. */
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
  fhpy_debug_text_free(r->texts);
  r->texts = NULL;
}

static void forget_oldest(void) {
  while (known.n_records > limits.n_closed) {
    FhpyRecord *r = take_first(&known);
    n_kept_bytes -= fhpy_debug_text_size(r->texts);
    drop_texts(r);
    free(r->trace);
    r->trace = NULL;
    append(&unused, r);
  }
}

/* The texts of a record that is closed: nobody may read them any more. */
static void hide_texts(FhpyRecord *r) {
  size_t byte_size = fhpy_debug_text_size(r->texts);
  if (n_kept_bytes + byte_size > limits.n_text_bytes) {
    drop_texts(r);
    return;
  }
  n_kept_bytes += byte_size;
  fhpy_debug_text_hide(r->texts);
}

static int32_t index_of(HPy h) { return (int32_t)((uint32_t)(uint64_t)h._i >> 1); }

/* The record that the handle is or was of; NULL if it cannot be one of ours. */
static FhpyRecord *find(HPy h) {
  int32_t i = index_of(h);
  if ((h._i & 1) == 0 || i >= n_records) return NULL;
  FhpyRecord *r = record_at(i);
  return use_of(h) == 0 || use_of(h) > r->use ? NULL : r;
}

static bool is_open(const FhpyRecord *r, HPy h) { return r != NULL && r->state == RECORD_OPEN && r->use == use_of(h); }

/* Closes an open record. */
static void finish(FhpyRecord *r, FhpyRecordState state) {
  r->object = NULL;
  r->state = state;
  r->closer = fhpy_debug_running;
  hide_texts(r);
  append(&known, r);
  forget_oldest();
}

/* ---- reports: from a copy of the record, without the lock ---- */

static const char *const nouns[] = {
    [HANDLE_OWNED] = "handle",         [HANDLE_ARGUMENT] = "handle",       [HANDLE_CONSTANT] = "handle",
    [HANDLE_LIST_BUILDER] = "builder", [HANDLE_TUPLE_BUILDER] = "builder", [HANDLE_TRACKER] = "tracker",
};

static void report_not_open(const FhpyRecord *r, bool is_known, HPy h, FhpyHandleKind wanted, const char *did) {
  const char *running = debug_words(fhpy_debug_running);
  if (!is_known)
    fhpy_debug_report("%s %s %#llx, which is no %s of this context", running, did, (unsigned long long)h._i,
                      nouns[wanted]);
  else if (r->use != use_of(h))
    fhpy_debug_report("%s %s a %s that was closed (%#llx, too long ago to know more)", running, did, nouns[wanted],
                      (unsigned long long)h._i);
  else
    fhpy_debug_report("%s %s %s #%llu, which was closed\n  opened by %s%s\n  closed by %s%s", running, did,
                      nouns[r->kind], (unsigned long long)r->serial, debug_words(r->opener),
                      r->kind == HANDLE_ARGUMENT ? " (its argument)" : "", debug_words(r->closer),
                      r->state == RECORD_RETURNED ? " (when it returned)" : "");
}

static void report_wrong_kind(const FhpyRecord *r, const char *did) {
  static const char *const kinds[] = {
      [HANDLE_OWNED] = "of an object",
      [HANDLE_ARGUMENT] = "which is an argument and belongs to the caller",
      [HANDLE_CONSTANT] = "which is a constant of the context",
      [HANDLE_LIST_BUILDER] = "of a list",
      [HANDLE_TUPLE_BUILDER] = "of a tuple",
      [HANDLE_TRACKER] = "which is a tracker",
  };
  fhpy_debug_report("%s %s %s #%llu, %s", debug_words(fhpy_debug_running), did, nouns[r->kind],
                    (unsigned long long)r->serial, kinds[r->kind]);
}

/* ---- the functions of debug.h ---- */

HPy fhpy_debug_open(void *object, FhpyHandleKind kind) {
  if (object == NULL) return HPy_NULL;
  struct FhpyTrace *trace =
      kind != HANDLE_CONSTANT ? fhpy_debug_trace_new(__atomic_load_n(&limits.n_frames, __ATOMIC_RELAXED)) : NULL;
  fh_mutex_lock(&lock);
  FhpyRecord *r = take_unused();
  HPy h = HPy_NULL;
  if (r != NULL) {
    *r = (FhpyRecord){.object = object,
                      .opener = fhpy_debug_running,
                      .serial = ++n_opened,
                      .thread = PyThread_get_thread_ident(),
                      .trace = trace,
                      .use = r->use % UINT32_MAX + 1, /* never 0 */
                      .number = r->number,
                      .kind = kind,
                      .state = RECORD_OPEN};
    h = fhpy_debug_word(r);
  }
  fh_mutex_unlock(&lock);
  if (HPy_IsNull(h)) Py_FatalError("ffi_hpy debug mode: no memory for another handle");
  return h;
}

/* What was asked of a handle. */
typedef struct {
  FhpyRecord record; /* a copy, from before */
  bool is_known, is_open;
  bool is_done; /* it was closed */
} Look;

/* Looks a handle up. If it is open and of kind `ended`, it is closed, and record.object the caller's. */
static Look look_up(HPy h, int ended, FhpyRecordState state) {
  Look look = {.is_known = false};
  fh_mutex_lock(&lock);
  FhpyRecord *r = find(h);
  look.is_known = r != NULL;
  look.is_open = is_open(r, h);
  if (look.is_known) look.record = *r;
  look.is_done = look.is_open && (int)look.record.kind == ended;
  if (look.is_done) finish(r, state);
  fh_mutex_unlock(&lock);
  return look;
}

/* Reports what is not the open handle of the wanted kind. */
static void report(const Look *look, HPy h, FhpyHandleKind wanted, const char *did) {
  if (look->is_open)
    report_wrong_kind(&look->record, did);
  else
    report_not_open(&look->record, look->is_known, h, wanted, did);
}

enum { NO_KIND = -1, DID_SIZE = 80 };

static void report_passed(const Look *look, HPy h, FhpyHandleKind wanted, const char *entry) {
  char did[DID_SIZE];
  snprintf(did, sizeof did, "passed to %s", entry);
  report(look, h, wanted, did);
}

PyObject *fhpy_debug_get(HPy h, const char *entry) {
  if (HPy_IsNull(h)) return NULL;
  Look look = look_up(h, NO_KIND, RECORD_OPEN);
  if (look.is_open && debug_is_handle(look.record.kind)) return look.record.object;
  report_passed(&look, h, HANDLE_OWNED, entry);
  return &_Py_NoneStruct;
}

void *fhpy_debug_get_as(HPy word, FhpyHandleKind kind, const char *entry) {
  if (HPy_IsNull(word)) return NULL;
  Look look = look_up(word, NO_KIND, RECORD_OPEN);
  if (look.is_open && look.record.kind == kind) return look.record.object;
  report_passed(&look, word, kind, entry);
  return NULL;
}

void *fhpy_debug_take_as(HPy word, FhpyHandleKind kind, const char *entry) {
  if (HPy_IsNull(word)) return NULL;
  Look look = look_up(word, (int)kind, RECORD_CLOSED);
  if (look.is_done) return look.record.object;
  report_passed(&look, word, kind, entry);
  return NULL;
}

void fhpy_debug_close(HPy h) {
  if (HPy_IsNull(h)) return;
  Look look = look_up(h, HANDLE_OWNED, RECORD_CLOSED);
  if (look.is_done)
    Py_DecRef(look.record.object);
  else
    report(&look, h, HANDLE_OWNED, "closed");
}

bool fhpy_debug_close_forgotten(HPy h) {
  const char *outer = fhpy_debug_running;
  fhpy_debug_running = "ffi_hpy.hpy_debug.close";
  Look look = look_up(h, HANDLE_OWNED, RECORD_CLOSED);
  fhpy_debug_running = outer;
  if (look.is_done) Py_DecRef(look.record.object);
  return look.is_done;
}

void fhpy_debug_close_argument(HPy h) {
  if (HPy_IsNull(h)) return;
  Look look = look_up(h, HANDLE_ARGUMENT, RECORD_RETURNED); /* nobody else could close it */
  Py_DecRef(look.record.object);
}

PyObject *fhpy_debug_take(HPy h) {
  if (HPy_IsNull(h)) return NULL;
  Look look = look_up(h, HANDLE_OWNED, RECORD_RETURNED);
  if (look.is_done) return look.record.object;
  bool has_object = look.is_open && debug_is_handle(look.record.kind);
  report(&look, h, HANDLE_OWNED, has_object ? "returned without HPy_Dup" : "returned");
  PyObject *o = has_object ? look.record.object : &_Py_NoneStruct;
  Py_IncRef(o);
  return o;
}

uint64_t fhpy_debug_serial(void) {
  fh_mutex_lock(&lock);
  uint64_t n = n_opened;
  fh_mutex_unlock(&lock);
  return n;
}

/* ---- limits and texts ---- */

FhpyDebugLimits fhpy_debug_get_limits(void) {
  fh_mutex_lock(&lock);
  FhpyDebugLimits result = limits;
  fh_mutex_unlock(&lock);
  return result;
}

void fhpy_debug_set_limits(FhpyDebugLimits new_limits) {
  fh_mutex_lock(&lock);
  limits.n_closed = new_limits.n_closed;
  limits.n_text_bytes = new_limits.n_text_bytes;
  __atomic_store_n(&limits.n_frames, new_limits.n_frames, __ATOMIC_RELAXED); /* fhpy_debug_open reads it unlocked */
  forget_oldest();
  fh_mutex_unlock(&lock);
}

const char *fhpy_debug_keep_text(HPy h, const char *text, size_t byte_size) {
  if (text == NULL) return NULL;
  fh_mutex_lock(&lock);
  FhpyRecord *r = find(h);
  const FhpyText *kept = is_open(r, h) ? fhpy_debug_text_find(r->texts, text, byte_size) : NULL;
  fh_mutex_unlock(&lock);
  if (kept != NULL) return kept->bytes; /* stays as long as the handle, which the caller has open */
  FhpyText *made = fhpy_debug_text_new(text, byte_size);
  if (made == NULL) return text;
  fh_mutex_lock(&lock);
  r = find(h);
  bool is_kept = is_open(r, h);
  if (is_kept) {
    made->next = r->texts;
    r->texts = made;
  }
  fh_mutex_unlock(&lock);
  if (is_kept) return made->bytes;
  fhpy_debug_text_free(made); /* what was asked about is no handle, which was reported */
  return text;
}

/* ---- copies ---- */

static bool is_listed(const FhpyRecord *r, uint64_t since) {
  return r->state == RECORD_OPEN && r->kind != HANDLE_ARGUMENT && r->kind != HANDLE_CONSTANT && r->serial > since;
}

static int compare_serials(const void *a, const void *b) {
  uint64_t x = ((const FhpyRecordCopy *)a)->record.serial, y = ((const FhpyRecordCopy *)b)->record.serial;
  return (x > y) - (x < y);
}

static void copy_record(FhpyRecordCopy *copy, const FhpyRecord *r) {
  *copy = (FhpyRecordCopy){*r, NULL, fhpy_debug_text_size(r->texts)};
  copy->record.trace = fhpy_debug_trace_copy(r->trace);
  if (r->state != RECORD_OPEN || r->kind != HANDLE_OWNED) return;
  copy->object = r->object;
  Py_IncRef(copy->object); /* runs no foreign code */
}

static size_t copy_open(FhpyRecordCopy *copies, uint64_t since) {
  size_t n = 0;
  for (int32_t i = 0; i < n_records; i++)
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

FhpyRecordCopy *fhpy_debug_copy(FhpyRecordList which, uint64_t since, size_t *n_copies) {
  fh_mutex_lock(&lock);
  size_t n_at_most = which == LIST_CLOSED ? known.n_records : (size_t)n_records - known.n_records - unused.n_records;
  FhpyRecordCopy *copies = malloc((n_at_most + 1) * sizeof(FhpyRecordCopy));
  size_t n = 0;
  if (copies != NULL) n = which == LIST_CLOSED ? copy_closed(copies, since) : copy_open(copies, since);
  fh_mutex_unlock(&lock);
  if (which == LIST_OPEN && copies != NULL) qsort(copies, n, sizeof(FhpyRecordCopy), compare_serials);
  *n_copies = n;
  return copies;
}

void fhpy_debug_free_copies(FhpyRecordCopy *copies, size_t n_copies) {
  for (size_t i = 0; i < n_copies; i++) {
    free(copies[i].record.trace);
    Py_DecRef(copies[i].object);
  }
  free(copies);
}
