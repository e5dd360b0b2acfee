/* Types with a metaclass, on PyPy.
 *
 * In cpyext only a static type can have a metaclass: memory that the extension fills, from which PyType_Ready makes a
 * type of the class in its header. Here there is only a specification, and a type has many slots. Therefore the type is
 * made twice: first with class `type`, from the specification; then as a copy of the first, in memory that the
 * metaclass allocates, without the parts that belong only to the first.
 *
 * The offsets are part of cpyext's ABI: every extension with static types is compiled with them. */
#include "pypy_meta.h"

#ifdef FHPY_PYPY
#include <string.h>

extern int PyType_Ready(PyObject *);

/* ---- making ---- */

/* The words of a type object that are not copied unchanged. */
enum {
  WORD_GETATTRO = 152 / 8,
  WORD_SETATTRO = 160 / 8,
  WORD_FLAGS = 176 / 8,
  WORD_BASE = 264 / 8,
  WORD_DICT = 272 / 8,
  WORD_INIT = 304 / 8,
  WORD_BASES = 344 / 8,
  WORD_MRO = 352 / 8,
  WORD_CACHE = 360 / 8,
  WORD_SUBCLASSES = 368 / 8,
  WORD_WEAKLIST = 376 / 8,
  WORD_NAME = 856 / 8,
  WORD_QUALNAME = 872 / 8,
  WORD_MODULE = 880 / 8,
  N_WORDS = 888 / 8,
};
#define TYPE_FLAG_READY (1ul << 12)

/* Clears the slots of the copy that the first type has inherited, because PyType_Ready would show them as attributes of
 * the copy itself. Of the slots that HPy has, only tp_init is affected. */
static void forget_inherited(uintptr_t *copy, const PyType_Slot *slots) {
  copy[WORD_GETATTRO] = copy[WORD_SETATTRO] = 0;
  for (; slots->slot != 0; ++slots)
    if (slots->slot == SLOT_TP_INIT) return;
  copy[WORD_INIT] = 0;
}

/* Fills the memory of `copy` after the header. The tables of slots are inside a type object, so pointers to those of
 * `first` become pointers to those of `copy`. */
static void copy_body(PyObject *first, PyObject *copy, const PyType_Slot *slots) {
  const uintptr_t *from = (const uintptr_t *)(void *)first;
  uintptr_t *to = (uintptr_t *)(void *)copy;
  for (size_t i = fhpy_layout.header_size / 8; i < N_WORDS; ++i) {
    bool is_within = from[i] >= (uintptr_t)from && from[i] < (uintptr_t)(from + N_WORDS);
    to[i] = is_within ? from[i] - (uintptr_t)from + (uintptr_t)to : from[i];
  }
  static const int own[] = {WORD_DICT, WORD_MRO, WORD_CACHE, WORD_SUBCLASSES, WORD_WEAKLIST};
  for (int i = 0; i < 5; ++i) to[own[i]] = 0;
  static const int shared[] = {WORD_BASE, WORD_BASES, WORD_NAME, WORD_QUALNAME, WORD_MODULE};
  for (int i = 0; i < 5; ++i) Py_IncRef((PyObject *)to[shared[i]]);
  to[WORD_FLAGS] &= ~TYPE_FLAG_READY;
  forget_inherited(to, slots);
}

/* Releases the first type. References from its own C part back to it would keep it alive, and show it among the
 * subclasses of its bases, so they are removed first. */
static void drop_first(PyObject *first) {
  uintptr_t *words = (uintptr_t *)(void *)first;
  static const int circular[] = {WORD_DICT, WORD_MRO};
  for (int i = 0; i < 2; ++i) {
    Py_DecRef((PyObject *)words[circular[i]]);
    words[circular[i]] = 0;
  }
  Py_DecRef(first);
}

/* Makes the dict that PyType_Ready adds to the type's dict: __module__, which is not a slot. */
static PyObject *make_dict(PyObject *first) {
  PyObject *dict = PyDict_New();
  PyObject *key = dict != NULL ? PyUnicode_FromString("__module__") : NULL;
  PyObject *module = key != NULL ? PyObject_GetAttr(first, key) : NULL;
  int rc = module != NULL ? PyDict_SetItem(dict, key, module) : -1;
  Py_DecRef(module), Py_DecRef(key);
  if (rc == 0) return dict;
  Py_DecRef(dict);
  return NULL;
}

PyObject *fhpy_pypy_meta_make(PyObject *metaclass, PyType_Spec *spec, PyObject *bases) {
  if (fhpy_layout_get_basicsize(&PyType_Type) != N_WORDS * 8) {
    PyErr_Format(PyExc_SystemError, "cannot make '%s' with metaclass %R: this PyPy has an unknown layout of types",
                 spec->name, metaclass);
    return NULL;
  }
  PyObject *first = PyType_FromSpecWithBases(spec, bases);
  PyObject *dict = first != NULL ? make_dict(first) : NULL;
  PyObject *copy = dict != NULL ? PyType_GenericAlloc(metaclass, 0) : NULL;
  if (copy == NULL) {
    Py_DecRef(dict), Py_DecRef(first);
    return NULL;
  }
  copy_body(first, copy, spec->slots);
  ((uintptr_t *)(void *)copy)[WORD_DICT] = (uintptr_t)dict;
  drop_first(first);
  if (PyType_Ready(copy) == 0) return copy;
  Py_DecRef(copy);
  return NULL;
}

/* ---- checking ---- */

int fhpy_pypy_meta_check(const HPyType_Spec *spec, bool has_call_slot) {
  if (spec->builtin_shape != HPyType_BuiltinShape_Type) return 0;
  bool has_member = false;
  for (HPyDef **d = spec->defines; d != NULL && *d != NULL; ++d) has_member |= (*d)->kind == HPyDef_Kind_Member;
  if (!has_member && !has_call_slot) return 0;
  PyErr_Format(PyExc_TypeError,
               "HPyType_FromSpec of '%s': a metaclass with %s is not supported on PyPy, where classes have no room for "
               "it; %s",
               spec->name, has_member ? "members" : "HPy_tp_call",
               has_member ? "HPyDef_GETSET is supported" : "a method __call__ is supported");
  return -1;
}

#endif /* FHPY_PYPY */
