/* Parts of types that cpyext lacks, on PyPy: structs of their own, metaclasses, and the end of instances of str. */
#include "pypy_type.h"

/* --- structs ------------------------------------------------------------------------------------------------------ */

/* The structs of types, on PyPy: a hash table from the pointer of a type to its block. */

#ifdef FHPY_PYPY

typedef struct Block {
  PyObject *type;
  struct Block *next;
  _Alignas(16) char data[];
} Block;

enum { N_BUCKETS = 1024 };
static Block *buckets[N_BUCKETS]; /* guarded by the GIL */

/* Returns the link to the block of a type, or the final link of its bucket. */
static Block **find_block(PyObject *type) {
  Block **at = &buckets[((uintptr_t)type >> 4) % N_BUCKETS];
  while (*at != NULL && (*at)->type != type) at = &(*at)->next;
  return at;
}

void *fhpy_pypy_struct_find(PyObject *type) {
  Block *block = *find_block(type);
  return block != NULL ? block->data : NULL;
}

void *fhpy_pypy_struct_add(PyObject *type, size_t byte_size) {
  Block *block = PyMem_Calloc(1, sizeof(Block) + byte_size);
  if (block == NULL) Py_FatalError("ffi_hpy._hpy: no memory for the struct of a type with a metaclass");
  block->type = type;
  *find_block(type) = block;
  return block->data;
}

void fhpy_pypy_struct_end(PyObject *type) {
  Block **at = find_block(type), *block = *at;
  if (block == NULL) return;
  *at = block->next;
  PyMem_Free(block);
}

#endif /* FHPY_PYPY */

/* --- layout ------------------------------------------------------------------------------------------------------ */

/* Makes a class with one slot, as a base for a type with a struct (pypy_type.h explains the reason). */

#ifdef FHPY_PYPY
#include <stdbool.h>
#include <stdio.h>

/* Makes a slot name that no other class has; a class with the same name would have an equal layout. */
static void make_name(char *name, size_t size) {
  static uint64_t n_names; /* guarded by the GIL */
  uint64_t mixed = ((uint64_t)(uintptr_t)&n_names ^ (uint64_t)(uintptr_t)name << 20) + ++n_names;
  snprintf(name, size, "_%016llx", (unsigned long long)(mixed * UINT64_C(0x9e3779b97f4a7c15)));
}

/* {"__slots__": name, "__module__": "ffi_hpy._hpy"} */
static PyObject *make_namespace(PyObject *name) {
  PyObject *dict = PyDict_New(), *slots = PyUnicode_FromString("__slots__"), *key = PyUnicode_FromString("__module__");
  PyObject *module = PyUnicode_FromString("ffi_hpy._hpy");
  bool complete = dict != NULL && slots != NULL && key != NULL && module != NULL &&
                  PyDict_SetItem(dict, slots, name) == 0 && PyDict_SetItem(dict, key, module) == 0;
  Py_DecRef(slots), Py_DecRef(key), Py_DecRef(module);
  if (complete) return dict;
  Py_DecRef(dict);
  return NULL;
}

/* The slot is deleted from the class again, which leaves the layout unchanged. */
static PyObject *make_class(PyObject *bases) {
  char text[32];
  make_name(text, sizeof(text));
  PyObject *name = PyUnicode_FromString(text), *title = PyUnicode_FromString("_Layout");
  PyObject *namespace = name != NULL ? make_namespace(name) : NULL;
  PyObject *args[] = {title, bases, namespace};
  PyObject *class = title != NULL && namespace != NULL ? PyObject_VectorcallDict(&PyType_Type, args, 3, NULL) : NULL;
  if (class != NULL &&
      (PyObject_SetAttr(class, name, NULL) < 0 || PyObject_SetAttrString(class, "__slots__", NULL) < 0)) {
    Py_DecRef(class);
    class = NULL;
  }
  Py_DecRef(namespace), Py_DecRef(title), Py_DecRef(name);
  return class;
}

PyObject *fhpy_pypy_layout_make_bases(PyObject *bases) {
  PyObject *class = make_class(bases);
  PyObject *tuple = class != NULL ? PyTuple_New(1) : NULL;
  if (tuple != NULL)
    PyTuple_SetItem(tuple, 0, class);
  else
    Py_DecRef(class);
  return tuple;
}

#endif /* FHPY_PYPY */

/* --- metaclasses -------------------------------------------------------------------------------------------------- */

/* Types with a metaclass, on PyPy.
 *
 * In cpyext only a static type can have a metaclass: memory that the extension fills, from which PyType_Ready makes a
 * type of the class in its header. Here there is only a specification, and a type has many slots. Therefore the type is
 * made twice: first with class `type`, from the specification; then as a copy of the first, in memory that the
 * metaclass allocates, without the parts that belong only to the first.
 *
 * The offsets are part of cpyext's ABI: every extension with static types is compiled with them. */

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

/* Fills the memory of `copy` after the header. The tables of slots are inside a type object, so pointers to the tables
 * of `first` become pointers to the tables of `copy`. */
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

/* --- subclasses of str -------------------------------------------------------------------------------------------- */

/* The string data of instances of str subclasses, on PyPy.
 *
 * For the C part of such an instance cpyext copies the string data to memory that it never frees. This tp_dealloc of
 * the class frees it: it takes the copy out of the struct, so that nothing else frees it, deallocates the instance as
 * usual, and frees the copy. A plain str has its data within the struct. The offsets are from the macros in cpyext's
 * headers. */

#ifdef FHPY_PYPY
#include <stdlib.h>

#include "hpy_runtime/abi/layout.h"

typedef struct {
  char header[24];
  Py_ssize_t n_chars, hash;
  unsigned char interned, kind, is_compact, is_ascii, is_ready; /* is_compact: the data is within the struct */
  void *wide;
  Py_ssize_t n_utf8;
  void *utf8;
  Py_ssize_t n_wide;
  void *text;
} Text;
_Static_assert(sizeof(Text) == 88, "cpyext's PyUnicodeObject");

static dealloc_fn dealloc_of_str; /* written before any class has dealloc_with_text */

static void dealloc_with_text(PyObject *self) {
  Text *struct_of = (Text *)(void *)self;
  void *own = struct_of->is_compact || struct_of->text == struct_of->wide ? NULL : struct_of->text;
  if (own != NULL) {
    struct_of->text = NULL;
    if (struct_of->utf8 == own) struct_of->utf8 = NULL;
  }
  dealloc_of_str(self);
  free(own);
}

void fhpy_pypy_text_free_with(PyObject *type) {
  ptrdiff_t offset = fhpy_layout.member_offset[MEMBER_DEALLOC];
  Py_ssize_t byte_size = fhpy_layout_get_basicsize(type);
  if (byte_size < 0) PyErr_Clear();
  if (type == &PyUnicode_Type || offset == 0 || byte_size != (Py_ssize_t)sizeof(Text)) return;
  dealloc_fn *of_str = (dealloc_fn *)(void *)((char *)&PyUnicode_Type + offset);
  dealloc_fn *of_type = (dealloc_fn *)(void *)((char *)type + offset);
  if (*of_type != *of_str) return;
  dealloc_of_str = *of_str;
  *of_type = dealloc_with_text;
}

#endif /* FHPY_PYPY */
