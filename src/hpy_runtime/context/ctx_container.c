/* Context entries: list, tuple, dict, slice. Types are checked by a flag, which includes subclasses. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

static int list_check(CTX, HPy h) { return type_has_flag(type_of(to_py(h)), TYPE_FLAG_LIST_SUBCLASS); }

/* PyList_New makes a list of nulls, which Python code must never see. The extension may expose the list before it has
 * set all items, so they are initialised with None. */
static HPy list_new(CTX, HPy_ssize_t n_items) {
  PyObject *list = PyList_New(n_items);
  if (list == NULL) return HPy_NULL;
  for (HPy_ssize_t i = 0; i < n_items; ++i) {
    Py_IncRef(&_Py_NoneStruct);
    PyList_SetItem(list, i, &_Py_NoneStruct);
  }
  return to_hpy(list);
}

static int dict_check(CTX, HPy h) { return type_has_flag(type_of(to_py(h)), TYPE_FLAG_DICT_SUBCLASS); }

/* Whether the handle is a dict; raises SystemError if not, like CPython's functions. The own check of CPython's
 * functions does not suffice: free-threaded 3.13 locks the object before it checks whether the object is a dict. */
static bool expect_dict(HPy h, const char *entry) {
  if (!HPy_IsNull(h) && type_has_flag(type_of(to_py(h)), TYPE_FLAG_DICT_SUBCLASS)) return true;
  if (HPy_IsNull(h))
    PyErr_Format(PyExc_SystemError, "%s expects a dict, got a null handle", entry);
  else
    PyErr_Format(PyExc_SystemError, "%s expects a dict, got %R", entry, type_of(to_py(h)));
  return false;
}
static HPy dict_keys(CTX, HPy h) { return expect_dict(h, "HPyDict_Keys") ? to_hpy(PyDict_Keys(to_py(h))) : HPy_NULL; }
static HPy dict_copy(CTX, HPy h) { return expect_dict(h, "HPyDict_Copy") ? to_hpy(PyDict_Copy(to_py(h))) : HPy_NULL; }

static int tuple_check(CTX, HPy h) { return type_has_flag(type_of(to_py(h)), TYPE_FLAG_TUPLE_SUBCLASS); }

/* Borrows the items, like all handle arguments. */
static HPy tuple_from_array(CTX, HPy items[], HPy_ssize_t n_items) {
  PyObject *tuple = PyTuple_New(n_items);
  if (tuple == NULL) return HPy_NULL;
  for (HPy_ssize_t i = 0; i < n_items; ++i) {
    Py_IncRef(to_py(items[i]));
    PyTuple_SetItem(tuple, i, to_py(items[i])); /* steals the reference; cannot fail on a fresh tuple */
  }
  return to_hpy(tuple);
}

static int slice_unpack(CTX, HPy slice, HPy_ssize_t *start, HPy_ssize_t *stop, HPy_ssize_t *step) {
  if (type_of(to_py(slice)) != &PySlice_Type) { /* slice cannot be subclassed; CPython's function does not check */
    PyErr_Format(PyExc_SystemError, "HPySlice_Unpack expects a slice, got %R", type_of(to_py(slice)));
    return -1;
  }
  return PySlice_Unpack(to_py(slice), start, stop, step);
}

void fhpy_ctx_container_fill(HPyContext *ctx) {
  ctx->ctx_List_Check = list_check;
  ctx->ctx_List_New = list_new;
  ctx->ctx_Dict_Check = dict_check;
  ctx->ctx_Dict_Keys = dict_keys;
  ctx->ctx_Dict_Copy = dict_copy;
  ctx->ctx_Tuple_Check = tuple_check;
  ctx->ctx_Tuple_FromArray = tuple_from_array;
  ctx->ctx_Slice_Unpack = slice_unpack;
}

/* --- builders ---------------------------------------------------------------------------------------------------- */

/* Context entries: ListBuilder and TupleBuilder. A builder is the unfinished list or tuple itself, so Build is free.
 *
 * If the list or tuple could not be made, the builder is 0: Set and Cancel ignore it, Build raises MemoryError. New
 * raises nothing, because the calls that make the items must not run with a raised exception. */

/* Returns the word of a new builder, which steals the list or tuple; 0 for NULL. */
static intptr_t take_started(PyObject *made) {
  if (made == NULL) PyErr_Clear();
  return (intptr_t)made;
}

/* Returns the finished list or tuple, owned by the caller; NULL with MemoryError raised for 0. */
static PyObject *take_built(intptr_t builder) {
  if (builder == 0) PyErr_NoMemory();
  return (PyObject *)builder;
}

/* Lists and tuples with the layout that layout.c measures. Used only if fhpy_layout.list_items and tuple_items equal
 * these offsets. */
typedef struct {
  Py_ssize_t refcount;
  PyObject *type;
  size_t n_items;
} PlainHead;
typedef struct {
  PlainHead head;
  PyObject **items;
} PlainList;
typedef struct {
  PlainHead head;
  PyObject *items[];
} PlainTuple;

static bool can_fill_lists(void) { return fhpy_layout.list_items == offsetof(PlainList, items); }

/* The functions below steal n items, also on failure. */

static PyObject *list_of(const HPy *items, HPy_ssize_t n) {
  PyObject *made = PyList_New(n);
  if (made == NULL) {
    for (HPy_ssize_t i = 0; i < n; ++i) drop_reference(to_py(items[i]));
  } else if (can_fill_lists()) {
    if (n != 0) memcpy(((PlainList *)made)->items, items, (size_t)n * sizeof(*items)); /* the references move */
  } else {
    for (HPy_ssize_t i = 0; i < n; ++i) PyList_SetItem(made, i, to_py(items[i]));
  }
  return made;
}

static PyObject *tuple_of(const HPy *items, HPy_ssize_t n) {
  PyObject *made = PyTuple_New(n);
  if (made == NULL) {
    for (HPy_ssize_t i = 0; i < n; ++i) drop_reference(to_py(items[i]));
  } else if (fhpy_layout.tuple_items != 0) {
    if (n != 0) memcpy((char *)made + fhpy_layout.tuple_items, items, (size_t)n * sizeof(*items));
  } else {
    for (HPy_ssize_t i = 0; i < n; ++i) PyTuple_SetItem(made, i, to_py(items[i]));
  }
  return made;
}

static PyObject *set_of(const HPy *items, HPy_ssize_t n) {
  PyObject *made = PySet_New(NULL);
  int rc = made != NULL ? 0 : -1;
  for (HPy_ssize_t i = 0; rc == 0 && i < n; ++i) rc = PySet_Add(made, to_py(items[i]));
  for (HPy_ssize_t i = 0; i < n; ++i) drop_reference(to_py(items[i]));
  if (rc == 0 || made == NULL) return made;
  drop_reference(made);
  return NULL;
}

static PyObject *dict_of(const HPy *items, HPy_ssize_t n) {
  PyObject *made = PyDict_New();
  int rc = made != NULL ? 0 : -1;
  for (HPy_ssize_t i = 0; rc == 0 && i + 1 < n; i += 2) rc = PyDict_SetItem(made, to_py(items[i]), to_py(items[i + 1]));
  for (HPy_ssize_t i = 0; i < n; ++i) drop_reference(to_py(items[i]));
  if (rc == 0 || made == NULL) return made;
  drop_reference(made);
  return NULL;
}

HPy fhpy_ctx_container_take(int kind, const HPy *items, HPy_ssize_t n) {
  switch (kind) {
  case FHPY_LIST: return to_hpy(list_of(items, n));
  case FHPY_TUPLE: return to_hpy(tuple_of(items, n));
  case FHPY_SET: return to_hpy(set_of(items, n));
  default: return to_hpy(dict_of(items, n));
  }
}

int fhpy_ctx_container_next(HPy dict, HPy_ssize_t *position, HPy *key, HPy *value) {
  return PyDict_Next(to_py(dict), position, (PyObject **)(void *)&key->_i, (PyObject **)(void *)&value->_i);
}

#ifndef FHPY_PYPY
HPy_ssize_t fhpy_ctx_container_set_items(HPy set, HPy *items, HPy_ssize_t room) {
  PyObject *iterator = PyObject_Size(to_py(set)) <= room ? PyObject_GetIter(to_py(set)) : NULL, *item;
  HPy_ssize_t n = 0;
  for (; iterator != NULL && (item = PyIter_Next(iterator)) != NULL; ++n) {
    if (n < room) items[n] = to_hpy(item);
    drop_reference(item); /* the set has another one */
  }
  if (iterator == NULL || n > room || PyErr_Occurred() != NULL) n = -1;
  if (iterator != NULL) drop_reference(iterator);
  PyErr_Clear();
  return n;
}
#endif

/* Stores a new reference in an empty slot, without a call. Returns false for a filled slot or a null item; the
 * interpreter's function must then be called. Used only where the first word is the count. */
static inline bool fill_plain(PyObject **slot, PyObject *item) {
  if (*slot != NULL || item == NULL) return false;
  *slot = item;
  take_reference_by(FHPY_COUNT_WORD, item);
  return true;
}

static HPyListBuilder list_builder_new(CTX, HPy_ssize_t n_items) {
  return (HPyListBuilder){take_started(PyList_New(n_items))};
}
/* PyList_SetItem and PyTuple_SetItem steal the reference even if the index is out of range. HPy's Set cannot report
 * that error, so the exception stays raised for the caller's next check. */
static FH_NOINLINE void list_builder_set(CTX, HPyListBuilder builder, HPy_ssize_t i, HPy item) {
  if (builder._lst == 0) return;
  take_reference(to_py(item));
  PyList_SetItem((PyObject *)builder._lst, i, to_py(item));
}
/* The cast makes a negative index too large. */
static void plain_list_builder_set(HPyContext *ctx, HPyListBuilder builder, HPy_ssize_t i, HPy item) {
  PlainList *list = (PlainList *)builder._lst;
  if (list != NULL && (size_t)i < list->head.n_items && fill_plain(list->items + i, to_py(item))) return;
  list_builder_set(ctx, builder, i, item);
}
static HPy list_builder_build(CTX, HPyListBuilder builder) { return to_hpy(take_built(builder._lst)); }
static void list_builder_cancel(CTX, HPyListBuilder builder) { Py_DecRef((PyObject *)builder._lst); }

static HPyTupleBuilder tuple_builder_new(CTX, HPy_ssize_t n_items) {
  return (HPyTupleBuilder){take_started(PyTuple_New(n_items))};
}
static FH_NOINLINE void tuple_builder_set(CTX, HPyTupleBuilder builder, HPy_ssize_t i, HPy item) {
  if (builder._tup == 0) return;
  take_reference(to_py(item));
  PyTuple_SetItem((PyObject *)builder._tup, i, to_py(item));
}
static void plain_tuple_builder_set(HPyContext *ctx, HPyTupleBuilder builder, HPy_ssize_t i, HPy item) {
  PlainTuple *tuple = (PlainTuple *)builder._tup;
  if (tuple != NULL && (size_t)i < tuple->head.n_items && fill_plain(tuple->items + i, to_py(item))) return;
  tuple_builder_set(ctx, builder, i, item);
}
static HPy tuple_builder_build(CTX, HPyTupleBuilder builder) { return to_hpy(take_built(builder._tup)); }
static void tuple_builder_cancel(CTX, HPyTupleBuilder builder) { Py_DecRef((PyObject *)builder._tup); }

void fhpy_ctx_builder_fill(HPyContext *ctx) {
  bool counts_in_word = fhpy_layout.counting == FHPY_COUNT_WORD;
  bool fills_tuples = counts_in_word && fhpy_layout.tuple_items == offsetof(PlainTuple, items);
  ctx->ctx_ListBuilder_New = list_builder_new;
  ctx->ctx_ListBuilder_Set = counts_in_word && can_fill_lists() ? plain_list_builder_set : list_builder_set;
  ctx->ctx_ListBuilder_Build = list_builder_build;
  ctx->ctx_ListBuilder_Cancel = list_builder_cancel;
  ctx->ctx_TupleBuilder_New = tuple_builder_new;
  ctx->ctx_TupleBuilder_Set = fills_tuples ? plain_tuple_builder_set : tuple_builder_set;
  ctx->ctx_TupleBuilder_Build = tuple_builder_build;
  ctx->ctx_TupleBuilder_Cancel = tuple_builder_cancel;
}

/* --- trackers ---------------------------------------------------------------------------------------------------- */

/* Context entries: Tracker, a growing array of handles that are closed together. One thread uses a tracker at a time.
 * The debug context also uses these entries, so they never dereference a handle. */

typedef struct {
  size_t n_handles;
  size_t capacity; /* always more than n_handles */
  HPy *handles;
} Tracker;

static Tracker *get_tracker(HPyTracker t) { return (Tracker *)t._i; }

/* Returns a null tracker with an exception raised if memory is exhausted or the size is negative. */
static HPyTracker tracker_new(CTX, HPy_ssize_t n_expected) {
  if (n_expected < 0) {
    PyErr_Format(PyExc_ValueError, "HPyTracker_New expects a size of at least 0, got %zd", n_expected);
    return (HPyTracker){0};
  }
  Tracker *t = PyMem_Malloc(sizeof(Tracker));
  size_t capacity = (n_expected == 0 ? 4 : (size_t)n_expected) + 1;
  HPy *handles = PyMem_Calloc(capacity, sizeof(HPy));
  if (t == NULL || handles == NULL) {
    PyMem_Free(t), PyMem_Free(handles);
    PyErr_NoMemory();
    return (HPyTracker){0};
  }
  *t = (Tracker){0, capacity, handles};
  return (HPyTracker){(intptr_t)t};
}

/* The handle is stored before the array grows, so it is closed with the others even if Add fails. */
static int tracker_add(CTX, HPyTracker tracker, HPy h) {
  Tracker *t = get_tracker(tracker);
  t->handles[t->n_handles++] = h;
  if (t->n_handles < t->capacity) return 0;
  size_t capacity = t->capacity * 2;
  HPy *handles = PyMem_Realloc(t->handles, capacity * sizeof(HPy));
  if (handles == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  t->handles = handles;
  t->capacity = capacity;
  return 0;
}

static void tracker_forget_all(CTX, HPyTracker tracker) { get_tracker(tracker)->n_handles = 0; }

/* Closes through `ctx`: in debug mode these are handles of the debug context. */
static void tracker_close(HPyContext *ctx, HPyTracker tracker) {
  Tracker *t = get_tracker(tracker);
  if (t == NULL) return;
  for (size_t i = 0; i < t->n_handles; ++i) ctx->ctx_Close(ctx, t->handles[i]);
  PyMem_Free(t->handles);
  PyMem_Free(t);
}

void fhpy_ctx_tracker_fill(HPyContext *ctx) {
  ctx->ctx_Tracker_New = tracker_new;
  ctx->ctx_Tracker_Add = tracker_add;
  ctx->ctx_Tracker_ForgetAll = tracker_forget_all;
  ctx->ctx_Tracker_Close = tracker_close;
}
