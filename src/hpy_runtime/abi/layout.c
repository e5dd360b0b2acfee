/* Measures the running interpreter: version, sizes, offsets. */
#include "layout.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/platform/system.h"

/* --- functions of some versions ----------------------------------------------------------------------------------- */

/* Looks up the functions of layout.h among the global symbols of the process. */

FhpyOptional fhpy_optional;

#ifdef FHPY_PYPY
/* Py... is exported as PyPy..., and _Py... as _PyPy... */
static void *find_function(const char *name) {
  char prefixed[80];
  bool is_private = name[0] == '_';
  snprintf(prefixed, sizeof(prefixed), "%sPy%s", is_private ? "_" : "", name + is_private);
  return fh_loader_find_anywhere(prefixed);
}
#else
static void *find_function(const char *name) { return fh_loader_find_anywhere(name); }
#endif

static void find_optional(void) {
#define FIND(name) *(void **)&fhpy_optional.name = find_function(#name)
  FIND(PyType_FromMetaclass);
  FIND(PyObject_Vectorcall);
  FIND(PyErr_GetRaisedException);
  FIND(PyErr_SetRaisedException);
  FIND(Py_IsFinalizing);
  FIND(_Py_IsFinalizing);
  FIND(PyThreadState_GetUnchecked);
  FIND(_PyThreadState_UncheckedGet);
#ifndef FHPY_PYPY /* cpyext's function prints a warning; PyPy calls HPy_tp_finalize itself, as __del__ */
  FIND(PyObject_CallFinalizerFromDealloc);
  FIND(PyObject_CallFinalizer);
  FIND(PyUnicode_New);
#endif
  FIND(PyMethod_New);
  FIND(PyContextVar_New);
  FIND(PyContextVar_Get);
  FIND(PyContextVar_Set);
  FIND(PyObject_Dump);
  FIND(_PyObject_Dump);
  FIND(PyInterpreterState_ThreadHead);
  FIND(PyThreadState_Next);
  FIND(PyUnstable_Object_EnableDeferredRefcount);
  FIND(PyUnstable_EnableTryIncRef);
#undef FIND
}

/* --- layouts ------------------------------------------------------------------------------------------------------ */

FhpyLayout fhpy_layout;

static const int member_slot[MEMBER_COUNT] = {
    [MEMBER_BASE] = SLOT_TP_BASE,         [MEMBER_DEALLOC] = SLOT_TP_DEALLOC, [MEMBER_METHODS] = SLOT_TP_METHODS,
    [MEMBER_FINALIZE] = SLOT_TP_FINALIZE, [MEMBER_NEW] = SLOT_TP_NEW,         [MEMBER_INIT] = SLOT_TP_INIT,
    [MEMBER_TRAVERSE] = SLOT_TP_TRAVERSE, [MEMBER_CLEAR] = SLOT_TP_CLEAR,     [MEMBER_CALL] = SLOT_TP_CALL,
    [MEMBER_ITERNEXT] = SLOT_TP_ITERNEXT,
};

#ifdef FHPY_PYPY
/* Types of PyPy have no __basicsize__. The offset of the member is part of cpyext's ABI. */
Py_ssize_t fhpy_layout_get_basicsize(PyObject *type) {
  enum { BASICSIZE_OFFSET = 40 };
  return *(const Py_ssize_t *)(const void *)((const char *)type + BASICSIZE_OFFSET);
}

/* A PyPy whose objects have a header of another size also has the size of `object` at another offset. */
int fhpy_layout_check_header(void) {
  enum { HEADER_SIZE = 24 };
  Py_ssize_t size = fhpy_layout_get_basicsize(&PyBaseObject_Type);
  if (size == HEADER_SIZE) return 0;
  PyErr_Format(PyExc_ImportError, "ffi_hpy._hpy expects objects of PyPy with a header of %d bytes, got %zd",
               HEADER_SIZE, size);
  return -1;
}
#else
int fhpy_layout_check_header(void) { return 0; } /* CPython's headers are measured */

Py_ssize_t fhpy_layout_get_basicsize(PyObject *type) {
  PyObject *size = PyObject_GetAttrString(type, "__basicsize__");
  if (size == NULL) return -1;
  Py_ssize_t result = PyLong_AsSsize_t(size);
  Py_DecRef(size);
  return result;
}
#endif

void *fhpy_layout_get_slot(PyObject *type, TypeMember member) {
  /* Before 3.10 PyType_GetSlot refuses static types. On those versions every member is found, so this code is not
   * reached. */
  return PyType_GetSlot(type, member_slot[member]);
}

/* Functions of the probe type, which are never called, because the type has no instances. The bodies of the functions
 * differ, so that no linker merges them. */
static int unused_count;
static void probe_dealloc(PyObject *o) { (void)o, unused_count += 1; }
static void probe_finalize(PyObject *o) { (void)o, unused_count += 2; }
static PyObject *probe_new(PyObject *t, PyObject *a, PyObject *k) { return (void)a, (void)k, unused_count += 3, t; }
static int probe_init(PyObject *o, PyObject *a, PyObject *k) { return (void)o, (void)a, (void)k, unused_count += 4; }
static int probe_traverse(PyObject *o, visit_fn v, void *a) { return (void)o, (void)v, (void)a, unused_count += 5; }
static int probe_clear(PyObject *o) { return (void)o, unused_count += 6; }
static PyObject *probe_call(PyObject *o, PyObject *a, PyObject *k) { return (void)a, (void)k, unused_count += 7, o; }
static PyObject *probe_iternext(PyObject *o) { return unused_count += 8, o; }
static PyMethodDef probe_methods[] = {{0}};

/* Returns the offset of the only word of `o` that equals `word`, or 0. */
static ptrdiff_t find_word(const void *o, size_t byte_size, const void *word) {
  ptrdiff_t found = 0;
  for (size_t at = 0; at + sizeof(void *) <= byte_size; at += sizeof(void *)) {
    if (*(const void *const *)((const char *)o + at) != word) continue;
    if (found != 0) return 0;
    found = (ptrdiff_t)at;
  }
  return found;
}

/* Returns the offset of tp_flags: the only offset at which the probe type has its flags, provided that four types with
 * other flags have theirs at this offset, too. 0 if there is none. */
static ptrdiff_t find_flags(const PyObject *probe, size_t byte_size) {
  PyObject *const others[] = {&PyType_Type, &PyLong_Type, &PyList_Type, &PyBaseObject_Type};
  ptrdiff_t found = find_word(probe, byte_size, (void *)(uintptr_t)PyType_GetFlags((PyObject *)(uintptr_t)probe));
  for (int i = 0; found != 0 && i < 4; ++i)
    if (*(unsigned long *)((char *)others[i] + found) != PyType_GetFlags(others[i])) return 0;
  return found;
}

/* Returns the offset of tp_vectorcall: that of the vectorcall word in instances of `type`, which follows tp_dealloc in
 * `type`. list has such a function, and object has none. 0 if that is not so. */
static ptrdiff_t find_type_vectorcall(Py_ssize_t byte_size) {
  ptrdiff_t at = fhpy_layout.member_offset[MEMBER_DEALLOC];
  if (at == 0 || !type_has_flag(&PyType_Type, TYPE_FLAG_HAVE_VECTORCALL)) return 0;
  ptrdiff_t found = *(Py_ssize_t *)(void *)((char *)&PyType_Type + at + (ptrdiff_t)sizeof(dealloc_fn));
  bool fits = found > at && found <= byte_size - (Py_ssize_t)sizeof(void *) && found % (ptrdiff_t)sizeof(void *) == 0;
  bool is_there = fits && *(void **)(void *)((char *)&PyList_Type + found) != NULL &&
                  *(void **)(void *)((char *)&PyBaseObject_Type + found) == NULL;
  return is_there ? found : 0;
}

/* Makes a type whose members have known values, and searches the type for these values. The base type is also made
 * here, so that its pointer can be searched. */
static int measure_type_members(void) {
  Py_ssize_t type_size = fhpy_layout_get_basicsize(&PyType_Type);
  if (type_size < 0) return -1;
  static PyType_Slot base_slots[] = {{0, NULL}};
  static PyType_Spec base_spec = {"ffi_hpy._hpy._probe_base", 0, 0, (1u << 18) | (1u << 10), base_slots};
  static PyType_Slot slots[] = {{SLOT_TP_DEALLOC, probe_dealloc},   {SLOT_TP_METHODS, probe_methods},
                                {SLOT_TP_FINALIZE, probe_finalize}, {SLOT_TP_NEW, probe_new},
                                {SLOT_TP_INIT, probe_init},         {SLOT_TP_TRAVERSE, probe_traverse},
                                {SLOT_TP_CLEAR, probe_clear},       {SLOT_TP_CALL, probe_call},
                                {SLOT_TP_ITERNEXT, probe_iternext}, {0, NULL}};
  static PyType_Spec spec = {"ffi_hpy._hpy._probe", 0, 0, (1u << 18) | (1u << 14), slots};
  PyObject *base = PyType_FromSpecWithBases(&base_spec, NULL);
  if (base == NULL) return -1;
  PyObject *bases = PyTuple_New(1);
  if (bases == NULL || PyTuple_SetItem(bases, 0, base) < 0) return -1;
  PyObject *probe = PyType_FromSpecWithBases(&spec, bases);
  Py_DecRef(bases);
  if (probe == NULL) return -1;
  const void *words[MEMBER_COUNT] = {
      [MEMBER_BASE] = base,
      [MEMBER_DEALLOC] = (void *)probe_dealloc,
      [MEMBER_METHODS] = probe_methods,
      [MEMBER_FINALIZE] = (void *)probe_finalize,
      [MEMBER_NEW] = (void *)probe_new,
      [MEMBER_INIT] = (void *)probe_init,
      [MEMBER_TRAVERSE] = (void *)probe_traverse,
      [MEMBER_CLEAR] = (void *)probe_clear,
      [MEMBER_CALL] = (void *)probe_call,
      [MEMBER_ITERNEXT] = (void *)probe_iternext,
  };
  for (int m = 0; m < MEMBER_COUNT; ++m) fhpy_layout.member_offset[m] = find_word(probe, (size_t)type_size, words[m]);
  fhpy_layout.flags_offset = find_flags(probe, (size_t)type_size);
  fhpy_layout.type_vectorcall = find_type_vectorcall(type_size);
  Py_DecRef(probe);
  return 0;
}

static int measure_sizes(void) {
  /* the order of HPyType_BuiltinShape, with the dict of HPy's master (appended.h) */
  PyObject *const shapes[] = {&PyBaseObject_Type, &PyType_Type,  &PyLong_Type, &PyFloat_Type,
                              &PyUnicode_Type,    &PyTuple_Type, &PyList_Type, &PyDict_Type};
  for (int i = 0; i < 8; ++i) {
    Py_ssize_t size = fhpy_layout_get_basicsize(shapes[i]);
    if (size < 0) return -1;
    if (i == 0) fhpy_layout.header_size = (size_t)size;
    fhpy_layout.data_offset[i] = (size + 15) & ~(Py_ssize_t)15; /* the largest alignment that a C struct may need */
  }
  return 0;
}

#ifndef FHPY_PYPY
/* Whether the lower half of an object's first word counts references, and has its highest bit set in immortal objects,
 * which releases leave unchanged. An object made for the purpose shows it. Returns -1 with an exception raised on
 * failure. */
static int counts_in_half(void) {
  const uint32_t immortal = UINT32_C(1) << 31;
  if (fhpy_layout.minor < 12 || (*(const uint32_t *)(const void *)&_Py_NoneStruct & immortal) == 0) return 0;
  PyObject *probe = PyObject_CallObject(&PyBaseObject_Type, NULL);
  if (probe == NULL) return -1;
  uint32_t *count = (uint32_t *)(void *)probe;
  bool begins_with_one = *count == 1;
  Py_IncRef(probe);
  bool is_counted = begins_with_one && *count == 2;
  Py_DecRef(probe);
  if (is_counted) {
    *count = immortal;
    Py_DecRef(probe);
    is_counted = *count == immortal;
    *count = 1;
  }
  Py_DecRef(probe);
  return is_counted;
}

/* Finds the way to count references. Returns 0, or -1 with an exception raised. */
static int find_counting(void) {
  bool checks_counts = find_function("_Py_NegativeRefcount") != NULL;
  if (fhpy_layout.free_threaded || checks_counts || fhpy_layout.header_size != 2 * sizeof(void *)) return 0;
  int is_half = counts_in_half();
  if (fhpy_layout.minor <= 11)
    fhpy_layout.counting = FHPY_COUNT_WORD;
  else if (is_half > 0)
    fhpy_layout.counting = FHPY_COUNT_HALF;
  return is_half < 0 ? -1 : 0;
}

/* Finds the pointer to the items of a list. The items are read and written in place where no other thread runs Python
 * code, as extensions built for these released versions do. A list begins with the header and the number of items; its
 * size shows that only the pointer and the capacity follow. */
static int find_list_items(void) {
  Py_ssize_t after = (Py_ssize_t)(fhpy_layout.header_size + sizeof(Py_ssize_t));
  Py_ssize_t size = fhpy_layout_get_basicsize(&PyList_Type);
  if (size < 0) return -1;
  if (size == after + (Py_ssize_t)(sizeof(void *) + sizeof(Py_ssize_t))) fhpy_layout.list_items = after;
  return 0;
}

/* Finds the items of a tuple, which never change. The items should follow the fixed part of a tuple; a tuple made for
 * the purpose confirms it. */
static int find_tuple_items(void) {
  enum { N_ITEMS = 3 };
  Py_ssize_t size = fhpy_layout_get_basicsize(&PyTuple_Type);
  PyObject *probe = size < 0 ? NULL : PyTuple_New(N_ITEMS);
  if (probe == NULL) return -1;
  PyObject *const items[N_ITEMS] = {(PyObject *)&PyTuple_Type, (PyObject *)&PyList_Type,
                                    (PyObject *)&PyBaseObject_Type};
  for (int i = 0; i < N_ITEMS; ++i) {
    Py_IncRef(items[i]);
    if (PyTuple_SetItem(probe, i, items[i]) < 0) return Py_DecRef(probe), -1;
  }
  const char *body = (const char *)probe;
  if (*(const Py_ssize_t *)(const void *)(body + fhpy_layout.header_size) == N_ITEMS &&
      memcmp(body + size, items, sizeof(items)) == 0)
    fhpy_layout.tuple_items = size;
  Py_DecRef(probe);
  return 0;
}

/* Finds the bytes of an ASCII str, which are also its UTF-8, in a str made by PyUnicode_New. From 3.14 on, decoding is
 * as fast. */
static int find_ascii_data(void) {
  enum { N_BYTES = 20, MOST = 0x7f, MOST_BEFORE = 256 };
  if (fhpy_optional.PyUnicode_New == NULL || fhpy_layout.minor >= 14) return 0;
  PyObject *probe = fhpy_optional.PyUnicode_New(N_BYTES, MOST);
  if (probe == NULL) return -1;
  Py_ssize_t byte_len = 0;
  const char *data = PyUnicode_AsUTF8AndSize(probe, &byte_len), *body = (const char *)probe;
  if (data > body && data - body <= MOST_BEFORE && byte_len == N_BYTES) fhpy_layout.ascii_data = data - body;
  Py_DecRef(probe);
  return data == NULL ? -1 : 0;
}
#endif

int fhpy_layout_measure(void) {
  const char *version = Py_GetVersion();
  if (sscanf(version, "3.%d", &fhpy_layout.minor) != 1 || fhpy_layout.minor < 9) {
    PyErr_Format(PyExc_ImportError, "ffi_hpy._hpy needs CPython 3.9 or newer, this is %s", version);
    return -1;
  }
  fhpy_layout.free_threaded = strstr(version, "free-threading") != NULL;
  find_optional();
  if (measure_sizes() < 0) return -1;
#ifdef FHPY_PYPY
  fhpy_layout.counting = FHPY_COUNT_WORD;
#else
  if (find_counting() < 0 || find_tuple_items() < 0 || find_ascii_data() < 0 ||
      (!fhpy_layout.free_threaded && find_list_items() < 0))
    return -1;
#endif
  PyObject *o = PyObject_CallObject(&PyBaseObject_Type, NULL);
  if (o == NULL) return -1;
  fhpy_layout.type_offset = find_word(o, fhpy_layout.header_size, &PyBaseObject_Type);
  Py_DecRef(o);
  if (fhpy_layout.type_offset == 0) {
    PyErr_Format(PyExc_ImportError, "ffi_hpy._hpy: no type pointer in the %zu byte object header of CPython %s",
                 fhpy_layout.header_size, version);
    return -1;
  }
  return measure_type_members();
}

/* --- ints --------------------------------------------------------------------------------------------------------- */

/* Measures the layout of small values.
 *
 * Two layouts of int are known; a layout is used if every sample reads back its value. A float is a header and a
 * double; this layout is used if it fits every sample. */

FhpyValues fhpy_value_layout;

#ifdef FHPY_PYPY

int fhpy_value_layout_measure(void) { return 0; } /* cpyext's objects do not contain their values */

#else

/* --- int ---------------------------------------------------------------------------------------------------------- */

enum { DIGIT_BITS = 30 };
#define MOST_OF_ONE_DIGIT ((1ll << DIGIT_BITS) - 1)

/* One digit each; the larger ones show that a digit has 30 bits. */
static const long long of_one_digit[] = {0,
                                         1,
                                         2,
                                         -1,
                                         -2,
                                         5,
                                         -5,
                                         -6,
                                         256,
                                         257,
                                         -257,
                                         32767,
                                         32768,
                                         -65536,
                                         1000003,
                                         0x2aaaaaaa,
                                         MOST_OF_ONE_DIGIT,
                                         -MOST_OF_ONE_DIGIT};
static const long long of_more[] = {
    MOST_OF_ONE_DIGIT + 1, -MOST_OF_ONE_DIGIT - 1, 1ll << 45, -(1ll << 59), 1ll << 60, INT64_MAX, INT64_MIN};

/* Whether an int reads as expected. Returns -1 with an exception raised on failure. */
static int reads_int(const FhpyValues *values, long long number, bool has_one_digit) {
  PyObject *object = PyLong_FromLongLong(number);
  if (object == NULL) return -1;
  int64_t seen;
  bool is_read = fhpy_values_read_int(values, object, &seen);
  Py_DecRef(object);
  return is_read == has_one_digit && (!is_read || seen == number);
}

/* Returns 1 if all samples read as expected, 0 if not, -1 with an exception raised. */
static int reads_ints(const FhpyValues *values) {
  int is_right = 1;
  for (size_t i = 0; is_right > 0 && i < sizeof(of_one_digit) / sizeof(of_one_digit[0]); ++i)
    is_right = reads_int(values, of_one_digit[i], true);
  for (size_t i = 0; is_right > 0 && i < sizeof(of_more) / sizeof(of_more[0]); ++i)
    is_right = reads_int(values, of_more[i], false);
  return is_right;
}

/* Up to 3.11 the word is the number of digits, negative for a negative int. From 3.12 on the number of digits is above
 * three bits; the lowest two of these are 0 for a positive int, 1 for zero, 2 for a negative int. */
static int measure_int(FhpyValues *values) {
  FhpyValues counted = {.int_bias = 1, .int_last = 2, .int_sign = {-1, 0, 1}};
  FhpyValues tagged = {.int_last = FHPY_INT_STATES - 1};
  for (int i = 0; i < FHPY_INT_STATES; ++i) tagged.int_sign[i] = (int8_t)(1 - (i & 3));
  FhpyValues *const known[] = {&counted, &tagged};
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    known[i]->int_word = (ptrdiff_t)fhpy_layout.header_size;
    int is_right = reads_ints(known[i]);
    if (is_right < 0) return -1;
    if (is_right == 0) continue;
    *values = *known[i];
    return 0;
  }
  return 0;
}

/* --- float -------------------------------------------------------------------------------------------------------- */

static const double floats[] = {0.0, -0.0, 1.0, -1.5, 3.141592653589793, 5e-324, -1.7976931348623157e308, 1e100};

/* Returns 1 if all samples read as expected, 0 if not, -1 with an exception raised. */
static int reads_floats(const FhpyValues *values) {
  for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); ++i) {
    PyObject *object = PyFloat_FromDouble(floats[i]);
    if (object == NULL) return -1;
    double seen = fhpy_values_read_float(values, object);
    Py_DecRef(object);
    if (memcmp(&seen, &floats[i], sizeof(seen)) != 0) return 0;
  }
  return 1;
}

static int measure_float(FhpyValues *values) {
  values->float_word = (ptrdiff_t)fhpy_layout.header_size;
  int is_right = reads_floats(values);
  if (is_right <= 0) values->float_word = 0;
  return is_right < 0 ? -1 : 0;
}

/* --- None, True, False -------------------------------------------------------------------------------------------- */

/* Whether an incref leaves the header of `o` unchanged. */
static bool is_immortal(PyObject *o) {
  char before[64];
  if (fhpy_layout.header_size > sizeof(before)) return false;
  memcpy(before, o, fhpy_layout.header_size);
  Py_IncRef(o);
  bool is_same = memcmp(before, o, fhpy_layout.header_size) == 0;
  Py_DecRef(o);
  return is_same;
}

/* Returns 1 if all constants are immortal, 0 if not, -1 with an exception raised. */
static int are_immortal(void) {
  PyObject *const singletons[] = {&_Py_NoneStruct, &_Py_TrueStruct, &_Py_FalseStruct};
  bool is_so = fhpy_layout.minor >= 12;
  for (int i = 0; i < 3; ++i) is_so = is_so && is_immortal(singletons[i]);
  for (long number = -5; is_so && number <= 256; ++number) {
    PyObject *o = PyLong_FromLong(number);
    if (o == NULL) return -1;
    is_so = is_immortal(o);
    Py_DecRef(o);
  }
  return is_so;
}

int fhpy_value_layout_measure(void) {
  FhpyValues values = {0};
  if (measure_int(&values) < 0 || measure_float(&values) < 0) return -1;
  int is_immortal = are_immortal();
  if (is_immortal < 0) return -1;
  values.constants_are_immortal = is_immortal != 0;
  values.constants_are_counted = fhpy_layout.counting == FHPY_COUNT_WORD && !values.constants_are_immortal;
  fhpy_value_layout = values;
  return 0;
}

#endif
