/* PyErr_Format for PyPy. cpyext's own function ends the process if the message cannot be made, for example if %R shows
 * a class whose metaclass has a __repr__ that raises. Here that exception stays raised, as on CPython. */
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
