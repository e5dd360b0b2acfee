/* Makes a class with one slot, as a base for a type with a struct (pypy_layout.h explains the reason). */
#include "pypy_layout.h"

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
