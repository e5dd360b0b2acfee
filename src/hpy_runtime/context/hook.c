/* Calls Python callbacks for events in native code. */
#include "hook.h"

#include <errno.h>

void fhpy_hook_call(PyObject *hook, const char *text) {
  int error_number = errno;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject *args = PyTuple_New(1), *message = PyUnicode_FromString(text);
  PyObject *result = NULL;
  if (args != NULL && message != NULL) {
    PyTuple_SetItem(args, 0, message);
    message = NULL; /* the tuple has stolen it */
    result = PyObject_CallObject(hook, args);
  }
  if (result == NULL) PyErr_WriteUnraisable(hook);
  Py_DecRef(result), Py_DecRef(args), Py_DecRef(message);
  PyErr_Restore(type, value, traceback);
  errno = error_number;
}
