/* PyErr_Format for PyPy 8, whose own ends the process when the text cannot be made: a class that %R shows may have a
 * metaclass whose __repr__ raises. As on CPython, that exception stays. */
#include "cpython_abi.h"

#ifdef FHPY_PYPY
#include <stdarg.h>

extern PyObject *PyPyUnicode_FromFormatV(const char *, va_list);

PyObject *PyErr_Format(PyObject *class, const char *format, ...) {
  va_list args;
  va_start(args, format);
  PyObject *text = PyPyUnicode_FromFormatV(format, args);
  va_end(args);
  if (text != NULL) PyErr_SetObject(class, text);
  Py_DecRef(text);
  return NULL;
}

#endif /* FHPY_PYPY */
