/* Makes a type with a given metaclass.
 *
 * From 3.12 on PyType_FromMetaclass does so. 3.9, 3.10 and 3.11 can make types of class `type` from a specification,
 * and classes with a metaclass from Python dictionaries. They cannot do both at once, and a type object cannot be given
 * a larger metaclass afterwards. They allocate the new type with type.__basicsize__ bytes, then write its class, then
 * place the member table after that many bytes. Therefore `type` gets the basicsize of the metaclass for the duration
 * of one call; afterwards the class is written. The result is byte for byte the result of PyType_FromMetaclass.
 *
 * This is sound because these three versions are released and have a GIL: the offset of the word cannot change any more
 * (and is checked), and no Python code runs during the call while the collector is off.
 *
 * PyPy has its own implementation: pypy_meta.h. */
#include "type_meta.h"

#include "hpy_runtime/abi/layout.h"
#include "hpy_runtime/lifetime/collection.h"
#include "pypy_meta.h"

#ifndef FHPY_PYPY
enum { BASICSIZE_OFFSET = 32 }; /* offset of tp_basicsize in 3.9, 3.10, 3.11 on 64 bits */
#endif

/* Returns the most derived class among metaclass, which may be NULL, and the classes of the bases. Borrowed; NULL with
 * TypeError raised. */
static PyObject *find_winner(PyObject *metaclass, PyObject *bases) {
  PyObject *winner = metaclass != NULL ? metaclass : &PyType_Type;
  for (Py_ssize_t i = 0; i < PyTuple_Size(bases); ++i) {
    PyObject *class = type_of(PyTuple_GetItem(bases, i));
    if (PyType_IsSubtype(winner, class)) continue;
    if (!PyType_IsSubtype(class, winner)) {
      PyErr_Format(PyExc_TypeError, "metaclass conflict: %R is not derived from %R, the metaclass of base %R", winner,
                   class, PyTuple_GetItem(bases, i));
      return NULL;
    }
    winner = class;
  }
  return winner;
}

#ifdef FHPY_PYPY
/* Whether the metaclass has its own __new__: 1, 0, or -1 with an exception raised. On PyPy the slot is not sufficient,
 * because types in C do not inherit it. */
static int has_own_new(PyObject *metaclass) {
  PyObject *plain = PyObject_GetAttrString(&PyType_Type, "__new__");
  PyObject *own = plain != NULL ? PyObject_GetAttrString(metaclass, "__new__") : NULL;
  int rc = own != NULL ? PyObject_RichCompareBool(own, plain, EQUAL) : -1;
  Py_DecRef(own), Py_DecRef(plain);
  return rc < 0 ? -1 : !rc;
}

static PyObject *make_without_function(PyObject *metaclass, PyType_Spec *spec, PyObject *bases) {
  return fhpy_pypy_meta_make(metaclass, spec, bases);
}
#else
static int has_own_new(PyObject *metaclass) {
  return type_member(metaclass, MEMBER_NEW) != type_member(&PyType_Type, MEMBER_NEW);
}

static PyObject *make_without_function(PyObject *metaclass, PyType_Spec *spec, PyObject *bases) {
  Py_ssize_t *type_basicsize = (Py_ssize_t *)(void *)((char *)&PyType_Type + BASICSIZE_OFFSET);
  Py_ssize_t plain = fhpy_layout_get_basicsize(&PyType_Type), larger = fhpy_layout_get_basicsize(metaclass);
  if (plain < 0 || larger < 0) return NULL;
  if (fhpy_layout.minor > 11 || *type_basicsize != plain) {
    PyErr_Format(PyExc_SystemError,
                 "cannot make '%s' with metaclass %R: this interpreter has no PyType_FromMetaclass and "
                 "an unknown layout",
                 spec->name, metaclass);
    return NULL;
  }
  int was_collecting = fhpy_collection_call("isenabled");
  if (was_collecting < 0 || fhpy_collection_call("disable") < 0) return NULL;
  *type_basicsize = larger;
  PyObject *type = PyType_FromSpecWithBases(spec, bases);
  *type_basicsize = plain;
  if (type != NULL) {
    Py_IncRef(metaclass); /* an instance owns its heap class; `type`, which it replaces, is static and not counted */
    *(PyObject **)((char *)type + fhpy_layout.type_offset) = metaclass;
    PyType_Modified(type);
  }
  if (was_collecting) {
    PyObject *exc_type, *exc_value, *exc_traceback;
    PyErr_Fetch(&exc_type, &exc_value, &exc_traceback);
    if (fhpy_collection_call("enable") < 0) PyErr_Clear(); /* "disable" has succeeded, so this does not fail */
    PyErr_Restore(exc_type, exc_value, exc_traceback);
  }
  return type;
}

#endif /* FHPY_PYPY */

PyObject *fhpy_type_meta_make(PyObject *metaclass, PyType_Spec *spec, PyObject *bases) {
  metaclass = find_winner(metaclass, bases);
  if (metaclass == NULL) return NULL;
  if (metaclass == &PyType_Type) return PyType_FromSpecWithBases(spec, bases);
  /* also a rule of PyType_FromMetaclass: the effect of such a tp_new on its result cannot be reproduced here */
  int has_own = has_own_new(metaclass);
  if (has_own < 0) return NULL;
  if (has_own) {
    PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': metaclass %R has its own __new__, which is not supported",
                 spec->name, metaclass);
    return NULL;
  }
  if (fhpy_optional.PyType_FromMetaclass != NULL)
    return fhpy_optional.PyType_FromMetaclass(metaclass, NULL, spec, bases);
  return make_without_function(metaclass, spec, bases);
}
