/* The garbage collector, through the module gc: gc.callbacks, gc.collect(), and the functions that enable and disable
 * it. */
#include "collection.h"

/* Returns gc.<name>, or NULL with an exception raised. */
static PyObject *get_gc_attribute(const char *name) {
  PyObject *gc = PyImport_ImportModule("gc");
  PyObject *found = gc != NULL ? PyObject_GetAttrString(gc, name) : NULL;
  Py_DecRef(gc);
  return found;
}

bool fhpy_collection_watch(PyMethodDef *def) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject *function = PyCFunction_NewEx(def, NULL, NULL);
  PyObject *callbacks = function != NULL ? get_gc_attribute("callbacks") : NULL;
  bool is_watched = callbacks != NULL && PyList_Append(callbacks, function) == 0;
  Py_DecRef(callbacks), Py_DecRef(function);
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
  return is_watched;
}

bool fhpy_collection_begins(PyObject *args) {
  PyObject *phase = PyTuple_GetItem(args, 0); /* "start" or "stop" */
  const char *text = phase != NULL ? PyUnicode_AsUTF8AndSize(phase, NULL) : NULL;
  if (text == NULL) PyErr_Clear();
  return text != NULL && text[0] == 's' && text[1] == 't' && text[2] == 'a';
}

int fhpy_collection_call(const char *name) {
  PyObject *function = get_gc_attribute(name);
  PyObject *result = function != NULL ? PyObject_CallObject(function, NULL) : NULL;
  int rc = result != NULL ? PyObject_IsTrue(result) : -1;
  Py_DecRef(result), Py_DecRef(function);
  return rc;
}

void fhpy_collection_run(void) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  (void)fhpy_collection_call("collect");
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
}
