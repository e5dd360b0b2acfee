/* Reads the last item of a sequence made for the purpose, and records the index with which its slot is called. */
#include "pypy_index.h"

#ifdef FHPY_PYPY
#include "hpy_runtime/abi/handle.h" /* the numbers of slots, which are the interpreter's, too */

static Py_ssize_t probed; /* guarded by the GIL */

static PyObject *probe_item(PyObject *self, Py_ssize_t index) {
  probed = index;
  Py_IncRef(self);
  return self;
}
static Py_ssize_t probe_length(PyObject *self) { return (void)self, 1; }

/* Returns 1 if the interpreter passes negative indices on unchanged, 0 if not, -1 with an exception raised.
 * PySequence_GetItem cannot be used, because it adds the length itself. */
static int measure(void) {
  static PyType_Slot slots[] = {{HPy_sq_item, (void *)probe_item}, {HPy_sq_length, (void *)probe_length}, {0, NULL}};
  static PyType_Spec spec = {"ffi_hpy._hpy._probe_sequence", 0, 0, HPy_TPFLAGS_DEFAULT, slots};
  PyObject *type = PyType_FromSpecWithBases(&spec, NULL);
  PyObject *sequence = type != NULL ? PyObject_CallObject(type, NULL) : NULL;
  PyObject *index = sequence != NULL ? PyLong_FromLong(-1) : NULL;
  PyObject *last = index != NULL ? PyObject_GetItem(sequence, index) : NULL;
  int answer = last == NULL ? -1 : probed < 0;
  Py_DecRef(last), Py_DecRef(index), Py_DecRef(sequence), Py_DecRef(type);
  return answer;
}

bool fhpy_pypy_index_resolve(PyObject *sequence, Py_ssize_t *index) {
  static int is_left = -1; /* guarded by the GIL */
  if (is_left < 0) is_left = measure();
  if (is_left == 0) return true;
  Py_ssize_t n_items = is_left < 0 ? -1 : PyObject_Size(sequence);
  if (n_items < 0) return false;
  *index += n_items;
  return true;
}

#endif /* FHPY_PYPY */
