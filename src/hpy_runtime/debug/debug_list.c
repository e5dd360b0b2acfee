/* Debug mode: lists of open and closed handles, for Python and for the end of the process.
 *
 * Records are copied under their lock and described from the copies, because making Python objects may run Python
 * code. */
#include "debug.h"

#include <stdio.h>

#include "debug_handle.h"
#include "debug_report.h"
#include "hpy_runtime/context/context.h"

/* Returns the object to show for a record, borrowed. A builder's sequence is unfinished and must not be seen by Python
 * code, so its type is shown. None for trackers and closed handles. */
static PyObject *value_of(const FhpyRecordCopy *copy) {
  if (copy->object != NULL) return copy->object;
  if (copy->record.kind == HANDLE_LIST_BUILDER) return &PyList_Type;
  return copy->record.kind == HANDLE_TUPLE_BUILDER ? &PyTuple_Type : &_Py_NoneStruct;
}

/* Returns a row of the list; NULL with an exception raised. If an item could not be made, the row and its items are
 * released; later items are released one by one. */
static PyObject *describe_record(const FhpyRecordCopy *copy) {
  const FhpyRecord *r = &copy->record;
  enum { N_ITEMS = 8 };
  PyObject *closer = r->state != RECORD_OPEN ? PyUnicode_FromString(debug_words(r->closer)) : &_Py_NoneStruct;
  if (closer == &_Py_NoneStruct) Py_IncRef(closer);
  PyObject *value = value_of(copy);
  Py_IncRef(value);
  PyObject *items[N_ITEMS] = {PyLong_FromUnsignedLongLong(r->serial),
                              PyUnicode_FromString(fhpy_debug_handle_noun(r->kind)),
                              PyLong_FromUnsignedLongLong((uint64_t)fhpy_debug_record_word(r)._i),
                              PyUnicode_FromString(debug_words(r->opener)),
                              closer,
                              value,
                              PyLong_FromSize_t(copy->n_text_bytes),
                              fhpy_debug_trace_text(r->trace)};
  PyObject *row = PyTuple_New(N_ITEMS);
  for (int i = 0; i < N_ITEMS; ++i) {
    if (row != NULL && items[i] != NULL) {
      PyTuple_SetItem(row, i, items[i]);
      continue;
    }
    Py_DecRef(items[i]), Py_DecRef(row);
    row = NULL;
  }
  return row;
}

/* A list of rows, or NULL with an exception raised. */
static PyObject *list_records(FhpyRecordList which, uint64_t since) {
  PyObject *rows = PyList_New(0);
  if (rows == NULL) return NULL;
  size_t n;
  FhpyRecordCopy *copies = fhpy_debug_record_copy(which, since, &n);
  if (copies == NULL) {
    Py_DecRef(rows);
    return PyErr_NoMemory();
  }
  bool is_good = true;
  for (size_t i = 0; i < n && is_good; ++i) {
    PyObject *row = describe_record(&copies[i]);
    is_good = row != NULL && PyList_Append(rows, row) == 0;
    Py_DecRef(row);
  }
  fhpy_debug_record_free_copies(copies, n);
  if (is_good) return rows;
  Py_DecRef(rows);
  return NULL;
}

PyObject *fhpy_debug_list_open(uint64_t since) { return list_records(LIST_OPEN, since); }
PyObject *fhpy_debug_list_closed(uint64_t since) { return list_records(LIST_CLOSED, since); }

/* Prints one line for a handle. Type_GetName of the plain context returns the name; its handles are object pointers. */
static void print_open(const FhpyRecordCopy *copy) {
  const FhpyRecord *r = &copy->record;
  HPyContext *real = &fhpy_context.base;
  const char *type = NULL;
  if (r->kind != HANDLE_TRACKER) {
    PyObject *value = value_of(copy);
    type = real->ctx_Type_GetName(real, to_hpy(r->kind == HANDLE_OWNED ? type_of(value) : value));
    if (type == NULL) PyErr_Clear();
  }
  fprintf(stderr, "  %s #%llu%s%s, opened by %s\n", fhpy_debug_handle_noun(r->kind), (unsigned long long)r->serial,
          type != NULL ? " of type " : "", type != NULL ? type : "", debug_words(r->opener));
}

/* Returns the identities of the running threads, as the keys of a dict; NULL without an exception on failure. */
static PyObject *find_threads(void) {
  PyObject *sys = PyImport_ImportModule("sys");
  PyObject *get = sys != NULL ? PyObject_GetAttrString(sys, "_current_frames") : NULL;
  PyObject *threads = get != NULL ? PyObject_CallObject(get, NULL) : NULL;
  Py_DecRef(get), Py_DecRef(sys);
  if (threads == NULL) PyErr_Clear();
  return threads;
}

/* Whether another thread opened the handle and still runs. If a later thread has the same identity as a thread that has
 * ended, a leaked handle is omitted from the report. */
static bool is_in_use(const FhpyRecord *r, PyObject *threads) {
  if (threads == NULL || r->thread == PyThread_get_thread_ident()) return false;
  PyObject *ident = PyLong_FromUnsignedLong(r->thread);
  int is_there = ident != NULL ? PySequence_Contains(threads, ident) : -1;
  Py_DecRef(ident);
  if (is_there < 0) PyErr_Clear();
  return is_there == 1;
}

void fhpy_debug_list_report(void) {
  enum { N_SHOWN = 20 };
  size_t n, n_left = 0;
  FhpyRecordCopy *copies = fhpy_debug_record_copy(LIST_OPEN, 0, &n);
  if (copies == NULL) {
    fputs("ffi_hpy debug mode: no memory to look for open handles at exit\n", stderr);
    return;
  }
  PyObject *threads = find_threads();
  FhpyRecordCopy *shown[N_SHOWN];
  for (size_t i = 0; i < n; ++i) {
    if (is_in_use(&copies[i].record, threads)) continue;
    if (n_left < N_SHOWN) shown[n_left] = &copies[i];
    ++n_left;
  }
  if (n_left > 0) fprintf(stderr, "ffi_hpy debug mode: %zu open at exit:\n", n_left);
  for (size_t i = 0; i < n_left && i < N_SHOWN; ++i) print_open(shown[i]);
  if (n_left > N_SHOWN) fprintf(stderr, "  and %zu more\n", n_left - N_SHOWN);
  fflush(stderr);
  Py_DecRef(threads);
  fhpy_debug_record_free_copies(copies, n);
}
