/* The structs of types, on PyPy: a hash table from the pointer of a type to its block. */
#include "pypy_struct.h"

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

/* Makes a class with one slot, as a base for a type with a struct (pypy_struct.h explains the reason). */

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
