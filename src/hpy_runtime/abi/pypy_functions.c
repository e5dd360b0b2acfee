/* Replacements for functions of cpyext that differ from CPython's in the arguments they accept or the results they
 * return.
 *
 * pypy_names.h maps CPython's names to these functions, so no other file of the runtime depends on the difference. */
#include "layout.h"

#ifdef FHPY_PYPY

/* ---- int: cpyext converts any object by __int__ and __index__ ---- */

extern PyObject *PyExc_IndexError;
extern unsigned long long PyPyLong_AsUnsignedLongLong(PyObject *);
extern Py_ssize_t PyPyLong_AsSsize_t(PyObject *);

static bool expect_int(PyObject *o) {
  if (type_has_flag(type_of(o), TYPE_FLAG_LONG_SUBCLASS)) return true;
  PyErr_Format(PyExc_TypeError, "an integer is required, got %R", type_of(o));
  return false;
}

unsigned long long PyLong_AsUnsignedLongLong(PyObject *o) {
  return expect_int(o) ? PyPyLong_AsUnsignedLongLong(o) : (unsigned long long)-1;
}

Py_ssize_t PyLong_AsSsize_t(PyObject *o) { return expect_int(o) ? PyPyLong_AsSsize_t(o) : -1; }

/* cpyext's function raises ValueError for a negative number */
size_t PyLong_AsSize_t(PyObject *o) { return (size_t)PyLong_AsUnsignedLongLong(o); }
_Static_assert(sizeof(size_t) == sizeof(unsigned long long), "PyLong_AsSize_t converts 64 bits");

/* ---- numbers ---- */

extern PyObject *PyPyNumber_InPlacePower(PyObject *, PyObject *, PyObject *);
extern PyObject *PyNumber_Power(PyObject *, PyObject *, PyObject *);
extern PyObject *PyNumber_InPlacePower(PyObject *, PyObject *, PyObject *); /* ctx_number.c has its own declaration */

/* cpyext's function refuses a modulus. CPython first calls __ipow__, without the modulus, and then pow(). */
PyObject *PyNumber_InPlacePower(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus == &_Py_NoneStruct) return PyPyNumber_InPlacePower(a, b, modulus);
  PyObject *in_place = PyObject_GetAttrString(type_of(a), "__ipow__");
  if (in_place == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
    PyErr_Clear();
    return PyNumber_Power(a, b, modulus);
  }
  PyObject *const args[] = {a, b};
  PyObject *result = PyObject_VectorcallDict(in_place, args, 2, NULL);
  Py_DecRef(in_place);
  if (result != &_Py_NotImplementedStruct) return result;
  Py_DecRef(result);
  return PyNumber_Power(a, b, modulus);
}

/* ---- str: cpyext accepts arguments that CPython refuses, and ends the process for NULL ---- */

extern PyObject *PyPyUnicode_FromEncodedObject(PyObject *, const char *, const char *);
extern PyObject *PyPyUnicode_Substring(PyObject *, Py_ssize_t, Py_ssize_t);

PyObject *PyUnicode_FromEncodedObject(PyObject *o, const char *encoding, const char *errors) {
  if (o != NULL) return PyPyUnicode_FromEncodedObject(o, encoding, errors);
  PyErr_SetString(PyExc_SystemError, "PyUnicode_FromEncodedObject expects an object, got NULL");
  return NULL;
}

PyObject *PyUnicode_Substring(PyObject *o, Py_ssize_t start, Py_ssize_t end) {
  if (start >= 0 && end >= 0) return PyPyUnicode_Substring(o, start, end);
  PyErr_SetString(PyExc_IndexError, "string index out of range");
  return NULL;
}

/* ---- capsules: cpyext writes the destructor into any object ---- */

extern int PyPyCapsule_SetDestructor(PyObject *, capsule_destructor);

int PyCapsule_SetDestructor(PyObject *o, capsule_destructor destructor) {
  if (type_of(o) == &PyCapsule_Type) return PyPyCapsule_SetDestructor(o, destructor);
  PyErr_Format(PyExc_ValueError, "PyCapsule_SetDestructor expects a capsule, got %R", type_of(o));
  return -1;
}

/* ---- missing from cpyext ---- */

int64_t fhpy_pypy_functions_interpreter_id(void *interpreter) { return (void)interpreter, 0; }

#endif /* FHPY_PYPY */
