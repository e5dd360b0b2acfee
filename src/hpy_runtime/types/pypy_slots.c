/* The checks of CPython's wrappers of slots, for PyPy. */
#include "pypy_slots.h"

#ifdef FHPY_PYPY
#include <string.h>

#include "hpy_runtime/abi/handle.h" /* the numbers of slots, which are the interpreter's, too */

/* ---- receivers ---- */

/* Whether the receiver of a slot may be the second operand. */
static bool is_operator(int slot) {
  return (slot >= HPy_nb_absolute && slot <= HPy_nb_xor) || slot == HPy_nb_matrix_multiply ||
         slot == HPy_nb_inplace_matrix_multiply;
}

static const FhpySlot *find_slot(PyObject *type, HPyCFunction func) {
  const FhpyType *note = type_note(type);
  for (size_t i = 0; note != NULL && i < note->n_slots; ++i)
    if (note->slots[i].impl == func) return &note->slots[i];
  return NULL;
}

/* Returns the slot with the function func of a type or one of its bases; NULL if there is none. */
static const FhpySlot *lookup_slot(PyObject *type, HPyCFunction func) {
  for (PyObject *t = type; t != NULL; t = type_base(t)) {
    const FhpySlot *slot = find_slot(t, func);
    if (slot != NULL) return slot;
  }
  /* A class may have several bases. The chain above follows the base with the struct; slots may also come from the
   * others. */
  PyObject *mro = PyObject_GetAttrString(type, "__mro__");
  const FhpySlot *slot = NULL;
  if (mro == NULL) PyErr_Clear();
  for (Py_ssize_t i = 0; mro != NULL && slot == NULL && i < PyTuple_Size(mro); ++i)
    slot = find_slot(PyTuple_GetItem(mro, i), func);
  Py_DecRef(mro);
  return slot;
}

/* A cached result: a slot's function, and the type of an accepted receiver. An entry stays valid: PyPy never frees such
 * a type (collection.c), and assigned bases must have the same struct. */
typedef struct Fitting {
  HPyCFunction func;
  PyObject *type;
} Fitting;

enum { N_FITTING = 64 };

static Fitting *find_place(HPyCFunction func, PyObject *type) {
  static Fitting places[N_FITTING]; /* guarded by the GIL */
  return &places[((uintptr_t)func >> 4 ^ (uintptr_t)type >> 5) % N_FITTING];
}

/* Whether a slot's function may be called with these operands. The receiver of an operator may be the second
 * operand. */
static bool is_receiver_fit(PyObject *const *operands, bool has_second, HPyCFunction func) {
  PyObject *type = type_of(operands[0]);
  Fitting *place = find_place(func, type);
  if (place->type == type && place->func == func) return true;
  if (lookup_slot(type, func) != NULL) {
    *place = (Fitting){func, type};
    return true;
  }
  if (PyType_IsSubtype(type, &PyModule_Type)) return true; /* a module's HPy_mod_exec */
  const FhpySlot *slot = has_second ? lookup_slot(type_of(operands[1]), func) : NULL;
  return slot != NULL && is_operator(slot->slot);
}

/* Writes the result of a failure into packed arguments. */
static void write_failure(HPyFunc_Signature sig, void *args) {
  switch (sig) {
#define OBJECT(sig, function_type, call) \
  case HPyFunc_##sig: ((_HPyFunc_args_##sig *)args)->result = NULL; return;
#define VALUE(sig, function_type, call) \
  case HPyFunc_##sig: ((_HPyFunc_args_##sig *)args)->result = -1; return;
#define VOID(sig, function_type, call)
#include "hpy_runtime/types/trampoline_shapes.def"
    VALUE(INITPROC, , )
    VALUE(GETBUFFERPROC, , )
  default: return;
  }
}

/* ---- negative indices ---- */

/* CPython and PyPy 8 add the length of a sequence to a negative index before they call sq_item or sq_ass_item. PyPy 7.3
 * passes the index on unchanged, except in PySequence_GetItem and similar functions, which the runtime never calls for
 * an HPy type. The first negative index measures the behaviour of the interpreter: the last item of a sequence made for
 * the purpose is read, and its slot records the index. */

static Py_ssize_t probed; /* guarded by the GIL */

static PyObject *probe_item(PyObject *self, Py_ssize_t index) {
  probed = index;
  Py_IncRef(self);
  return self;
}
static Py_ssize_t probe_length(PyObject *self) { return (void)self, 1; }

/* Returns 1 if the interpreter passes negative indices on unchanged, 0 if not, -1 with an exception raised.
 * PySequence_GetItem cannot be used, because it adds the length itself. */
static int measure(void) {
  static PyType_Slot slots[] = {{HPy_sq_item, (void *)probe_item}, {HPy_sq_length, (void *)probe_length}, {0, NULL}};
  static PyType_Spec spec = {"ffi_hpy._hpy._probe_sequence", 0, 0, HPy_TPFLAGS_DEFAULT, slots};
  PyObject *type = PyType_FromSpecWithBases(&spec, NULL);
  PyObject *sequence = type != NULL ? PyObject_CallObject(type, NULL) : NULL;
  PyObject *index = sequence != NULL ? PyLong_FromLong(-1) : NULL;
  PyObject *last = index != NULL ? PyObject_GetItem(sequence, index) : NULL;
  int answer = last == NULL ? -1 : probed < 0;
  Py_DecRef(last), Py_DecRef(index), Py_DecRef(sequence), Py_DecRef(type);
  return answer;
}

/* Adds the length of a sequence to the negative index of a slot call, if the interpreter has not. Returns false with an
 * exception raised on failure. Requires the GIL. */
static bool add_length(PyObject *sequence, Py_ssize_t *index) {
  static int is_left = -1; /* guarded by the GIL */
  if (is_left < 0) is_left = measure();
  if (is_left == 0) return true;
  Py_ssize_t n_items = is_left < 0 ? -1 : PyObject_Size(sequence);
  if (n_items < 0) return false;
  *index += n_items;
  return true;
}

static bool has_length(PyObject *type) {
  const FhpyType *note;
  for (; type != NULL; type = type_base(type))
    if ((note = type_note(type)) != NULL)
      for (size_t i = 0; i < note->n_slots; ++i)
        if (note->slots[i].slot == HPy_sq_length) return true;
  return false;
}

/* Adds the length to a negative index, unless the interpreter has done so, for the two slots for which CPython does so.
 * Returns false with an exception raised on failure. */
static bool resolve_index(PyObject *self, HPyCFunction func, Py_ssize_t *index) {
  if (*index >= 0) return true;
  const FhpySlot *slot = lookup_slot(type_of(self), func);
  bool is_item = slot != NULL && (slot->slot == HPy_sq_item || slot->slot == HPy_sq_ass_item);
  return !is_item || !has_length(type_of(self)) || add_length(self, index);
}

static bool resolve_indices(HPyFunc_Signature sig, HPyCFunction func, void *args) {
  switch (sig) {
  case HPyFunc_SSIZEARGFUNC: {
    _HPyFunc_args_SSIZEARGFUNC *a = args;
    return resolve_index((PyObject *)a->arg0, func, &a->arg1);
  }
  case HPyFunc_SSIZEOBJARGPROC: {
    _HPyFunc_args_SSIZEOBJARGPROC *a = args;
    return resolve_index((PyObject *)a->arg0, func, &a->arg1);
  }
  default: return true;
  }
}

/* ---- the check ---- */

bool fhpy_pypy_slots_refuse(HPyFunc_Signature sig, HPyCFunction func, void *args) {
  switch (sig) {
  case HPyFunc_UNARYFUNC:
  case HPyFunc_BINARYFUNC:
  case HPyFunc_TERNARYFUNC:
  case HPyFunc_INQUIRY:
  case HPyFunc_LENFUNC:
  case HPyFunc_SSIZEARGFUNC:
  case HPyFunc_SSIZESSIZEARGFUNC:
  case HPyFunc_SSIZEOBJARGPROC:
  case HPyFunc_SSIZESSIZEOBJARGPROC:
  case HPyFunc_OBJOBJARGPROC:
  case HPyFunc_OBJOBJPROC:
  case HPyFunc_REPRFUNC:
  case HPyFunc_HASHFUNC:
  case HPyFunc_RICHCMPFUNC:
  case HPyFunc_INITPROC:
  case HPyFunc_GETBUFFERPROC: break;
  /* methods and attributes, which cpyext checks, and functions that only the interpreter calls */
  default: return false;
  }
  PyObject *const *operands = args; /* the receiver comes first in all of them */
  bool has_second = sig == HPyFunc_BINARYFUNC || sig == HPyFunc_TERNARYFUNC;
  if (is_receiver_fit(operands, has_second, func)) {
    if (resolve_indices(sig, func, args)) return false;
    write_failure(sig, args);
    return true;
  }
  PyErr_Format(PyExc_TypeError, "a slot of another class was called with %R", type_of(operands[0]));
  write_failure(sig, args);
  return true;
}

/* ---- descriptors ---- */

/* Returns the note of self's type, or of a base, with tp_descr_get; NULL with TypeError raised. */
static const FhpyType *find_descriptor(PyObject *self) {
  for (PyObject *type = type_of(self); type != NULL; type = type_base(type)) {
    const FhpyType *note = type_note(type);
    if (note != NULL && note->descr_get != NULL) return note;
  }
  PyErr_Format(PyExc_TypeError, "a descriptor's slot was called with %R", type_of(self));
  return NULL;
}

PyObject *fhpy_pypy_slots_descr_get(PyObject *self, PyObject *object, PyObject *type) {
  const FhpyType *note = find_descriptor(self);
  return note == NULL ? NULL : note->descr_get(self, object, type);
}

int fhpy_pypy_slots_descr_set(PyObject *self, PyObject *object, PyObject *value) {
  const FhpyType *note = find_descriptor(self);
  return note == NULL ? -1 : note->descr_set(self, object, value);
}

/* ---- __new__ ---- */

static PyObject *make_tuple(PyObject *const *values, Py_ssize_t n) {
  PyObject *tuple = PyTuple_New(n);
  for (Py_ssize_t i = 0; tuple != NULL && i < n; ++i) {
    Py_IncRef(values[i]);
    PyTuple_SetItem(tuple, i, values[i]);
  }
  return tuple;
}

/* *dict is NULL if there are no keywords. */
static int make_keywords(PyObject *const *values, PyObject *names, PyObject **dict) {
  *dict = NULL;
  Py_ssize_t n = names == NULL ? 0 : PyTuple_Size(names);
  if (n == 0) return 0;
  *dict = PyDict_New();
  for (Py_ssize_t i = 0; *dict != NULL && i < n; ++i) {
    if (PyDict_SetItem(*dict, PyTuple_GetItem(names, i), values[i]) == 0) continue;
    Py_DecRef(*dict);
    *dict = NULL;
  }
  return *dict == NULL ? -1 : 0;
}

/* type.__new__(cls, ...) with CPython's check: cls must be a class that derives from the type. */
static PyObject *call_new(PyObject *type, PyObject *const *args, Py_ssize_t n, PyObject *names) {
  PyObject *cls = n > 0 ? args[0] : NULL;
  if (cls == NULL) {
    PyErr_Format(PyExc_TypeError, "__new__ of %R needs a class, got no arguments", type);
    return NULL;
  }
  if (!is_type(cls)) {
    PyErr_Format(PyExc_TypeError, "__new__ of %R needs a class, got %R", type, type_of(cls));
    return NULL;
  }
  if (cls != type && !PyType_IsSubtype(cls, type)) {
    PyErr_Format(PyExc_TypeError, "__new__ of %R is not for %R, which does not derive from it", type, cls);
    return NULL;
  }
  PyObject *keywords, *result = NULL, *rest = make_tuple(args + 1, n - 1);
  if (rest != NULL && make_keywords(args + n, names, &keywords) == 0) {
    result = ((new_fn)type_member(type, MEMBER_NEW))(cls, rest, keywords);
    Py_DecRef(keywords);
  }
  Py_DecRef(rest);
  return result;
}

int fhpy_pypy_slots_set_new(PyObject *type) {
  static PyMethodDef def = {"__new__", (void *)call_new, METH_FASTCALL | METH_KEYWORDS,
                            "Create and return a new object."};
  PyObject *function = PyCFunction_NewEx(&def, type, NULL);
  int rc = function == NULL ? -1 : PyObject_SetAttrString(type, "__new__", function);
  Py_DecRef(function);
  return rc;
}

#endif /* FHPY_PYPY */
