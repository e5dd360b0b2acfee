/* Debug mode: handles and their records.
 *
 * A handle's word is, from the lowest bit: a 1, which no pointer has; the record's number, 31 bits; the number of the
 * record's use, 32 bits. Records are in blocks that are made when needed and stay. A closed record goes to the end of
 * the list of free ones and is taken from its front only when N_QUARANTINED others are behind it.
 *
 * `lock` guards the records, the list and the counters.
 */
#include <stdio.h>
#include <stdlib.h>

#include "debug.h"

enum { BLOCK_RECORDS = 4096, N_BLOCKS = 1 << 14, N_QUARANTINED = 4096 };
enum { NO_RECORD = -1 };

typedef enum { RECORD_NEW, RECORD_OPEN, RECORD_CLOSED, RECORD_RETURNED } RecordState;

typedef struct {
  PyObject *object;   /* owned while open */
  const char *opener; /* the function that ran, or NULL; names live for ever */
  const char *closer; /* the same, once closed */
  uint64_t serial;    /* counts handles */
  uint32_t use;       /* counts the handles of this record, from 1 */
  int32_t next_free;
  FhpyHandleKind kind;
  RecordState state; /* RETURNED: closed, because the function returned it, or its call ended */
} Record;

_Thread_local const char *fhpy_debug_running;

static int lock;
static Record *blocks[N_BLOCKS];
static int32_t n_records, n_free, first_free = NO_RECORD, last_free = NO_RECORD;
static uint64_t n_opened;

static Record *record_at(int32_t i) { return &blocks[i / BLOCK_RECORDS][i % BLOCK_RECORDS]; }

static HPy make_handle(int32_t i, uint32_t use) {
  return (HPy){(intptr_t)((uint64_t)use << 32 | (uint64_t)(uint32_t)i << 1 | 1)};
}
static uint32_t use_of(HPy h) { return (uint32_t)((uint64_t)h._i >> 32); }

/* ---- under the lock ---- */

/* A record to be used, or NO_RECORD if there is no memory. */
static int32_t take_free(void) {
  if (n_free > N_QUARANTINED) {
    int32_t i = first_free;
    first_free = record_at(i)->next_free;
    n_free--;
    return i;
  }
  if (n_records == BLOCK_RECORDS * N_BLOCKS) return NO_RECORD;
  Record **block = &blocks[n_records / BLOCK_RECORDS];
  if (*block == NULL) *block = calloc(BLOCK_RECORDS, sizeof(Record));
  return *block == NULL ? NO_RECORD : n_records++;
}

static void give_free(int32_t i) {
  record_at(i)->next_free = NO_RECORD;
  if (n_free++ == 0)
    first_free = i;
  else
    record_at(last_free)->next_free = i;
  last_free = i;
}

static int32_t index_of(HPy h) { return (int32_t)((uint32_t)(uint64_t)h._i >> 1); }

/* The record that the handle is or was of; NULL if it cannot be one of ours. */
static Record *find(HPy h) {
  int32_t i = index_of(h);
  if ((h._i & 1) == 0 || i >= n_records) return NULL;
  Record *r = record_at(i);
  return use_of(h) == 0 || use_of(h) > r->use ? NULL : r;
}

static bool is_open(const Record *r, HPy h) { return r != NULL && r->state == RECORD_OPEN && r->use == use_of(h); }

/* Closes an open record and returns its object. */
static PyObject *finish(Record *r, HPy h, RecordState state) {
  PyObject *o = r->object;
  r->object = NULL;
  r->state = state;
  r->closer = fhpy_debug_running;
  give_free(index_of(h));
  return o;
}

/* ---- reports: from a copy of the record, without the lock ---- */

static const char *text_of(const char *function) {
  return function != NULL ? function : "native code that no HPy function runs";
}

static void report_not_open(const Record *r, bool is_known, HPy h, const char *did) {
  const char *running = text_of(fhpy_debug_running);
  if (!is_known)
    fhpy_debug_report("%s %s %#llx, which is no handle of this context", running, did, (unsigned long long)h._i);
  else if (r->use != use_of(h))
    fhpy_debug_report("%s %s a handle that was closed (handle %#llx, too long ago to know more)", running, did,
                      (unsigned long long)h._i);
  else
    fhpy_debug_report("%s %s handle #%llu, which was closed\n  opened by %s%s\n  closed by %s%s", running, did,
                      (unsigned long long)r->serial, text_of(r->opener),
                      r->kind == HANDLE_ARGUMENT ? " (its argument)" : "", text_of(r->closer),
                      r->state == RECORD_RETURNED ? " (when it returned)" : "");
}

static void report_wrong_kind(const Record *r, const char *did) {
  static const char *const kinds[] = {
      [HANDLE_OWNED] = "which is no builder",
      [HANDLE_ARGUMENT] = "which is an argument and belongs to the caller",
      [HANDLE_CONSTANT] = "which is a constant of the context",
      [HANDLE_BUILDER] = "which is a builder",
  };
  fhpy_debug_report("%s %s handle #%llu, %s", text_of(fhpy_debug_running), did, (unsigned long long)r->serial,
                    kinds[r->kind]);
}

/* ---- the functions of debug.h ---- */

HPy fhpy_debug_open(PyObject *o, FhpyHandleKind kind) {
  if (o == NULL) return HPy_NULL;
  spin_acquire(&lock);
  int32_t i = take_free();
  HPy h = HPy_NULL;
  if (i != NO_RECORD) {
    Record *r = record_at(i);
    *r = (Record){o, fhpy_debug_running, NULL, ++n_opened, r->use + 1, NO_RECORD, kind, RECORD_OPEN};
    h = make_handle(i, r->use);
  }
  spin_release(&lock);
  if (HPy_IsNull(h)) Py_FatalError("ffi_hpy debug mode: no memory for another handle");
  return h;
}

/* What was asked of a handle. */
typedef struct {
  Record record; /* a copy, from before */
  bool is_known, is_open;
  bool is_done; /* it was closed */
} Look;

/* Looks a handle up. If it is open and of kind `ended`, it is closed, and the reference to record.object the caller's. */
static Look look_up(HPy h, int ended, RecordState state) {
  Look look = {.is_known = false};
  spin_acquire(&lock);
  Record *r = find(h);
  look.is_known = r != NULL;
  look.is_open = is_open(r, h);
  if (look.is_known) look.record = *r;
  look.is_done = look.is_open && (int)look.record.kind == ended;
  if (look.is_done) finish(r, h, state);
  spin_release(&lock);
  return look;
}

/* Reports a handle that is not what was expected. */
static void report(const Look *look, HPy h, const char *did) {
  if (look->is_open)
    report_wrong_kind(&look->record, did);
  else
    report_not_open(&look->record, look->is_known, h, did);
}

enum { NO_KIND = -1, DID_SIZE = 80 };

static PyObject *get(HPy h, bool wants_builder, const char *entry) {
  if (HPy_IsNull(h)) return NULL;
  Look look = look_up(h, NO_KIND, RECORD_OPEN);
  if (look.is_open && (look.record.kind == HANDLE_BUILDER) == wants_builder) return look.record.object;
  char did[DID_SIZE];
  snprintf(did, sizeof did, "passed to %s", entry);
  report(&look, h, did);
  return &_Py_NoneStruct;
}

PyObject *fhpy_debug_get(HPy h, const char *entry) { return get(h, false, entry); }
PyObject *fhpy_debug_get_builder(HPy h, const char *entry) { return get(h, true, entry); }

PyObject *fhpy_debug_take_builder(HPy h, const char *entry) {
  if (HPy_IsNull(h)) return NULL;
  Look look = look_up(h, HANDLE_BUILDER, RECORD_CLOSED);
  if (look.is_done) return look.record.object;
  char did[DID_SIZE];
  snprintf(did, sizeof did, "passed to %s", entry);
  report(&look, h, did);
  return NULL;
}

void fhpy_debug_close(HPy h) {
  if (HPy_IsNull(h)) return;
  Look look = look_up(h, HANDLE_OWNED, RECORD_CLOSED);
  if (look.is_done)
    Py_DecRef(look.record.object);
  else
    report(&look, h, "closed");
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
  bool has_object = look.is_open && look.record.kind != HANDLE_BUILDER;
  report(&look, h, has_object ? "returned without HPy_Dup" : "returned");
  PyObject *o = has_object ? look.record.object : &_Py_NoneStruct;
  Py_IncRef(o);
  return o;
}

uint64_t fhpy_debug_serial(void) {
  spin_acquire(&lock);
  uint64_t n = n_opened;
  spin_release(&lock);
  return n;
}

/* ---- listing ---- */

static bool is_listed(const Record *r, uint64_t since) {
  return r->state == RECORD_OPEN && (r->kind == HANDLE_OWNED || r->kind == HANDLE_BUILDER) && r->serial > since;
}

static int compare_serials(const void *a, const void *b) {
  uint64_t x = ((const Record *)a)->serial, y = ((const Record *)b)->serial;
  return (x > y) - (x < y);
}

/* Copies of the records, each with a reference to its object. NULL: no memory. */
static Record *copy_open(uint64_t since, size_t *n_copies) {
  size_t n = 0, i_copy = 0;
  spin_acquire(&lock);
  for (int32_t i = 0; i < n_records; i++) n += is_listed(record_at(i), since);
  Record *copies = malloc((n + 1) * sizeof(Record));
  for (int32_t i = 0; copies != NULL && i < n_records; i++) {
    if (!is_listed(record_at(i), since)) continue;
    Record *copy = &copies[i_copy++];
    *copy = *record_at(i);
    if (copy->kind == HANDLE_BUILDER) copy->object = type_of(copy->object); /* nobody may see an unfinished object */
    Py_IncRef(copy->object); /* runs no foreign code */
  }
  spin_release(&lock);
  if (copies != NULL) qsort(copies, i_copy, sizeof(Record), compare_serials);
  *n_copies = i_copy;
  return copies;
}

/* Takes over the reference of the copy. */
static PyObject *describe(const Record *copy) {
  PyObject *row = PyTuple_New(3);
  PyObject *serial = PyLong_FromUnsignedLongLong(copy->serial), *opener = PyUnicode_FromString(text_of(copy->opener));
  if (row == NULL || serial == NULL || opener == NULL) {
    Py_DecRef(row), Py_DecRef(serial), Py_DecRef(opener), Py_DecRef(copy->object);
    return NULL;
  }
  PyTuple_SetItem(row, 0, serial), PyTuple_SetItem(row, 1, opener), PyTuple_SetItem(row, 2, copy->object);
  return row;
}

PyObject *fhpy_debug_list_open(uint64_t since) {
  PyObject *list = PyList_New(0);
  if (list == NULL) return NULL;
  size_t n;
  Record *copies = copy_open(since, &n);
  if (copies == NULL) {
    Py_DecRef(list);
    return PyErr_NoMemory();
  }
  bool is_good = true;
  for (size_t i = 0; i < n; i++) {
    PyObject *row = describe(&copies[i]);
    is_good = is_good && row != NULL && PyList_Append(list, row) == 0;
    Py_DecRef(row);
  }
  free(copies);
  if (is_good) return list;
  Py_DecRef(list);
  return NULL;
}
