/* The bases and the metaclass of a new type. */
#include "type_parts.h"

#include "hpy_runtime/abi/layout.h"
#include "hpy_runtime/lifetime/collection.h"
#include "pypy_type.h"

/* Returns the built-in type of a shape, borrowed. The legacy shape has no struct, so its base is object. */
static PyObject *builtin_of_shape(HPyType_BuiltinShape shape) {
  PyObject *const builtins[] = {&PyBaseObject_Type, &PyType_Type,  &PyLong_Type, &PyFloat_Type,
                                &PyUnicode_Type,    &PyTuple_Type, &PyList_Type, &PyDict_Type};
  return shape == HPyType_BuiltinShape_Legacy ? &PyBaseObject_Type : builtins[shape];
}

/* ---- parameters ---- */

/* Counts the bases that are given individually, and finds the tuple of bases and the metaclass. */
static int scan_parameters(const char *name, HPyType_SpecParam *params, size_t *n_bases, PyObject **tuple,
                           PyObject **metaclass) {
  for (HPyType_SpecParam *p = params; p != NULL && p->kind != 0; ++p) {
    PyObject *o = to_py(p->object);
    switch ((int)p->kind) {
    case HPyType_SpecParam_Base: ++*n_bases; break;
    case HPyType_SpecParam_BasesTuple:
      if (*tuple != NULL) {
        PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': more than one HPyType_SpecParam_BasesTuple", name);
        return -1;
      }
      *tuple = o;
      break;
    case HPyType_SpecParam_Metaclass:
      if (*metaclass != NULL) {
        PyErr_Format(PyExc_ValueError, "HPyType_FromSpec of '%s': more than one HPyType_SpecParam_Metaclass", name);
        return -1;
      }
      if (!is_type(o) || !PyType_IsSubtype(o, &PyType_Type)) {
        PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s' expects a metaclass derived from type, got %R", name,
                     o);
        return -1;
      }
      *metaclass = o;
      break;
    default:
      PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': unknown HPyType_SpecParam kind %d", name, (int)p->kind);
      return -1;
    }
  }
  if (*n_bases > 0 && *tuple != NULL) {
    PyErr_Format(PyExc_TypeError,
                 "HPyType_FromSpec of '%s' expects HPyType_SpecParam_Base or HPyType_SpecParam_BasesTuple, "
                 "got both",
                 name);
    return -1;
  }
  return 0;
}

int fhpy_type_bases_get_parameters(const HPyType_Spec *spec, HPyType_SpecParam *params, FhpyTypeParameters *result) {
  size_t n_bases = 0;
  PyObject *tuple = NULL;
  *result = (FhpyTypeParameters){0};
  if (scan_parameters(spec->name, params, &n_bases, &tuple, &result->metaclass) < 0) return -1;
  if (tuple != NULL && PyTuple_Size(tuple) != 0) {
    if (PyErr_Occurred()) return -1; /* not a tuple */
    Py_IncRef(tuple);
    result->bases = tuple;
  } else {
    result->bases = PyTuple_New(n_bases > 0 ? (Py_ssize_t)n_bases : 1);
    if (result->bases == NULL) return -1;
    Py_ssize_t i = 0;
    for (HPyType_SpecParam *p = params; n_bases > 0 && p->kind != 0; ++p) {
      if (p->kind != HPyType_SpecParam_Base) continue;
      Py_IncRef(to_py(p->object));
      PyTuple_SetItem(result->bases, i++, to_py(p->object));
    }
    if (n_bases == 0) {
      PyObject *base = builtin_of_shape(spec->builtin_shape);
      Py_IncRef(base);
      PyTuple_SetItem(result->bases, 0, base);
    }
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(result->bases); ++i) {
    PyObject *base = PyTuple_GetItem(result->bases, i);
    if (is_type(base)) continue;
    PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': base %zd is %R, not a type", spec->name, i, base);
    Py_DecRef(result->bases);
    return -1;
  }
  return 0;
}

/* ---- the description of the bases ---- */

/* Returns the size of an instance of base as far as HPy knows it: up to the struct of the nearest HPy type, or the
 * built-in shape. */
static Py_ssize_t get_known_size(PyObject *base, HPyType_BuiltinShape shape) {
  for (PyObject *type = base; type != NULL; type = type_base(type))
    if (type_note(type) != NULL) return fhpy_layout_get_basicsize(type);
  return fhpy_layout_get_basicsize(builtin_of_shape(shape));
}

/* Whether instances of base are GC-tracked. A class made in Python lacks the flag of its base on PyPy 7.3. */
static bool is_collected(PyObject *base) {
  while (base != NULL && !type_has_flag(base, TYPE_FLAG_HAVE_GC)) base = type_base(base);
  return base != NULL;
}

int fhpy_type_bases_describe(PyObject *bases, HPyType_BuiltinShape shape, FhpyTypeBases *result) {
  *result = (FhpyTypeBases){0};
  for (Py_ssize_t i = 0; i < PyTuple_Size(bases); ++i) {
    PyObject *base = PyTuple_GetItem(bases, i);
    Py_ssize_t basicsize = fhpy_layout_get_basicsize(base), known = get_known_size(base, shape);
    if (basicsize < 0 || known < 0) return -1;
    if (basicsize > result->basicsize) result->basicsize = basicsize;
    if (is_collected(base)) result->has_gc = true;
    if (type_note(base) == NULL && type_has_flag(base, TYPE_FLAG_HEAPTYPE)) result->foreign = base;
    if (basicsize > known) result->enlarged = base;
    const FhpyType *note = type_nearest_note(base);
    if (note != NULL) result->has_hpy = true;
    if (note != NULL && note->vectorcall_offset != 0 && result->callable == NULL) result->callable = note;
  }
  return 0;
}

/* An HPy type may have a class made in Python as a base, with two exceptions: either both use the memory after the
 * built-in shape, or nothing would call the HPy type's own functions. */
int fhpy_type_bases_check_foreign(const HPyType_Spec *spec, const FhpyTypeBases *bases) {
  /* the struct of an HPy type begins directly after the built-in shape, where such a base has its own data */
  if (bases->enlarged != NULL && spec->basicsize != 0) {
    PyErr_Format(PyExc_TypeError,
                 "HPyType_FromSpec of '%s': a type with a struct (basicsize %d) cannot have the base %R, "
                 "whose instances hold more than HPy knows of",
                 spec->name, spec->basicsize, bases->enlarged);
    return -1;
  }
  /* only another base can call these functions: see FhpyType.next_guest */
  bool has_own_end = fhpy_type_check_has_slot(spec, HPy_tp_traverse) || fhpy_type_check_has_slot(spec, HPy_tp_destroy);
  if (bases->foreign != NULL && has_own_end && !(bases->has_hpy && bases->has_gc)) {
    PyErr_Format(PyExc_TypeError,
                 "HPyType_FromSpec of '%s': HPy_tp_traverse and HPy_tp_destroy with the base %R, which was "
                 "not made by HPyType_FromSpec, need another base that is garbage-collected and was",
                 spec->name, bases->foreign);
    return -1;
  }
  return 0;
}

/* --- metaclasses -------------------------------------------------------------------------------------------------- */

/* Makes a type with a given metaclass.
 *
 * From 3.12 on PyType_FromMetaclass does so. 3.9, 3.10 and 3.11 can make types of class `type` from a specification,
 * and classes with a metaclass from Python dictionaries. These releases cannot do both at once, and a type object
 * cannot be given a larger metaclass afterwards. These releases allocate the new type with type.__basicsize__ bytes,
 * then write its class, then place the member table after that many bytes. Therefore `type` gets the basicsize of the
 * metaclass for the duration of one call; afterwards the class is written. The result is byte for byte the result of
 * PyType_FromMetaclass.
 *
 * This is sound because these three versions are released and have a GIL: the offset of the word cannot change any more
 * (and is checked), and no Python code runs during the call while the collector is off.
 *
 * PyPy has its own implementation: pypy_type.h. */

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
