/* Debug mode: lookup, transfer and closing of handles by entries, and the texts of reports. */
#include "debug_handle.h"

#include <stdio.h>

#include "debug_report.h"

/* ---- reports: made from a copy of the record and without a lock, because the hook runs Python code ---- */

static const char *const nouns[] = {
    [HANDLE_OWNED] = "handle",         [HANDLE_ARGUMENT] = "handle",       [HANDLE_CONSTANT] = "handle",
    [HANDLE_LIST_BUILDER] = "builder", [HANDLE_TUPLE_BUILDER] = "builder", [HANDLE_TRACKER] = "tracker",
};

const char *fhpy_debug_handle_noun(FhpyHandleKind kind) { return nouns[kind]; }

/* Either the word never was a handle, or its record has been reused since, or the record still names the function that
 * closed it. */
static void report_not_open(const FhpyRecord *r, bool is_known, HPy h, FhpyHandleKind wanted, const char *did) {
  const char *running = debug_words(fhpy_debug_name_running);
  if (!is_known)
    fhpy_debug_report("%s %s %#llx, which is not a %s of this context", running, did, (unsigned long long)h._i,
                      nouns[wanted]);
  else if (r->use != debug_record_use(h))
    fhpy_debug_report("%s %s a %s that was closed (%#llx, too long ago to know more)", running, did, nouns[wanted],
                      (unsigned long long)h._i);
  else
    fhpy_debug_report("%s %s %s #%llu, which was closed\n  opened by %s%s\n  closed by %s%s", running, did,
                      nouns[r->kind], (unsigned long long)r->serial, debug_words(r->opener),
                      r->kind == HANDLE_ARGUMENT ? " (its argument)" : "", debug_words(r->closer),
                      r->state == RECORD_RETURNED ? " (when it returned)" : "");
}

/* The handle is open, but its kind is not accepted by the entry, or the extension may not close it. */
static void report_wrong_kind(const FhpyRecord *r, const char *did) {
  static const char *const kinds[] = {
      [HANDLE_OWNED] = "of an object",
      [HANDLE_ARGUMENT] = "which is an argument and belongs to the caller",
      [HANDLE_CONSTANT] = "which is a constant of the context",
      [HANDLE_LIST_BUILDER] = "of a list",
      [HANDLE_TUPLE_BUILDER] = "of a tuple",
      [HANDLE_TRACKER] = "which is a tracker",
  };
  fhpy_debug_report("%s %s %s #%llu, %s", debug_words(fhpy_debug_name_running), did, nouns[r->kind],
                    (unsigned long long)r->serial, kinds[r->kind]);
}

/* Reports a word that is not an open handle of the wanted kind. `did` describes its use. */
static void report_answer(const FhpyRecordAnswer *answer, HPy h, FhpyHandleKind wanted, const char *did) {
  if (answer->is_open)
    report_wrong_kind(&answer->record, did);
  else
    report_not_open(&answer->record, answer->is_known, h, wanted, did);
}

enum { DID_SIZE = 80 };

/* Reports a word that was passed to an entry. */
static void report_passed(const FhpyRecordAnswer *answer, HPy h, FhpyHandleKind wanted, const char *entry) {
  char did[DID_SIZE];
  snprintf(did, sizeof(did), "passed to %s", entry);
  report_answer(answer, h, wanted, did);
}

/* ---- uses ---- */

/* Kinds up to HANDLE_CONSTANT have an object; the other kinds are builders and trackers. */
static bool is_handle(FhpyHandleKind kind) { return kind <= HANDLE_CONSTANT; }

PyObject *fhpy_debug_handle_get(HPy h, const char *entry) {
  if (HPy_IsNull(h)) return NULL;
  FhpyRecordAnswer answer = fhpy_debug_record_ask(h, NO_KIND, RECORD_OPEN);
  if (answer.is_open && is_handle(answer.record.kind)) return answer.record.object;
  report_passed(&answer, h, HANDLE_OWNED, entry);
  return &_Py_NoneStruct;
}

void *fhpy_debug_handle_get_as(HPy word, FhpyHandleKind kind, const char *entry) {
  if (HPy_IsNull(word)) return NULL;
  FhpyRecordAnswer answer = fhpy_debug_record_ask(word, NO_KIND, RECORD_OPEN);
  if (answer.is_open && answer.record.kind == kind) return answer.record.object;
  report_passed(&answer, word, kind, entry);
  return NULL;
}

void *fhpy_debug_handle_take_as(HPy word, FhpyHandleKind kind, const char *entry) {
  if (HPy_IsNull(word)) return NULL;
  FhpyRecordAnswer answer = fhpy_debug_record_ask(word, (int)kind, RECORD_CLOSED);
  if (answer.is_done) return answer.record.object;
  report_passed(&answer, word, kind, entry);
  return NULL;
}

void fhpy_debug_handle_close(HPy h) {
  if (HPy_IsNull(h)) return;
  FhpyRecordAnswer answer = fhpy_debug_record_ask(h, HANDLE_OWNED, RECORD_CLOSED);
  if (answer.is_done)
    Py_DecRef(answer.record.object);
  else
    report_answer(&answer, h, HANDLE_OWNED, "closed");
}

/* The record names ffi_hpy.hpy_debug.close as the closer, not a running function of the extension. */
bool fhpy_debug_handle_close_forgotten(HPy h) {
  const char *outer = fhpy_debug_name_running;
  fhpy_debug_name_running = "ffi_hpy.hpy_debug.close";
  FhpyRecordAnswer answer = fhpy_debug_record_ask(h, HANDLE_OWNED, RECORD_CLOSED);
  fhpy_debug_name_running = outer;
  if (answer.is_done) Py_DecRef(answer.record.object);
  return answer.is_done;
}

void fhpy_debug_handle_close_argument(HPy h) {
  if (HPy_IsNull(h)) return;
  /* The result is always an open argument, because nothing else closes an argument. */
  FhpyRecordAnswer answer = fhpy_debug_record_ask(h, HANDLE_ARGUMENT, RECORD_RETURNED);
  Py_DecRef(answer.record.object);
}

PyObject *fhpy_debug_handle_take(HPy h) {
  if (HPy_IsNull(h)) return NULL;
  FhpyRecordAnswer answer = fhpy_debug_record_ask(h, HANDLE_OWNED, RECORD_RETURNED);
  if (answer.is_done) return answer.record.object;
  /* A returned argument or constant has an object, which the caller still gets. For any other word the caller gets
   * None. */
  bool has_object = answer.is_open && is_handle(answer.record.kind);
  report_answer(&answer, h, HANDLE_OWNED, has_object ? "returned without HPy_Dup" : "returned");
  PyObject *o = has_object ? answer.record.object : &_Py_NoneStruct;
  Py_IncRef(o);
  return o;
}
