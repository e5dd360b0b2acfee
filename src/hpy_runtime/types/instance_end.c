/* The end of instances of classes made in Python: a function that may keep an instance alive.
 *
 * The interpreter calls tp_finalize of a class before it destroys anything of an instance, both when the last reference
 * goes and when the collector finds an unreachable cycle. A watched class has `finalize` there, which asks `keeps`
 * first, and calls __del__ only if the instance really ends. The interpreter's own tp_finalize of a class with __del__
 * looks the method up and does nothing if there is none; a class made for the purpose shows that function.
 *
 * The interpreter marks an object of a GC-tracked type after tp_finalize has returned, and does not call tp_finalize of
 * a marked object again. An instance that was kept loses the mark before it is used again. Without a GIL another thread
 * may want to use the instance before the interpreter has set the mark; that thread waits until the interpreter has
 * merged the two reference counts, which is the last thing that it does with a kept instance. */
#include "instance_end.h"

#include <string.h>

#include "hpy_runtime/lifetime/watch.h"
#include "type_instance.h"

#ifdef FHPY_PYPY
/* PyPy has no tp_finalize for classes made in Python. */
int fhpy_instance_end_measure(void) { return 0; }
bool fhpy_instance_end_is_possible(void) { return false; }
bool fhpy_instance_end_watch(PyObject *type, int (*keeps)(HPy self), bool only_with_state) {
  return (void)type, (void)keeps, (void)only_with_state, false;
}
int fhpy_instance_end_is_watched(PyObject *o) { return (void)o, 0; }
intptr_t fhpy_instance_end_get_word(void) { return 0; }
bool fhpy_instance_end_resume(PyObject *o) { return (void)o, true; }
#else

/* Written once, during the import. */
static void (*call_del)(PyObject *);  /* the interpreter's tp_finalize of a class with __del__ */
static ptrdiff_t mark_offset;         /* of the byte with the mark, from the object */
static uint8_t mark;                  /* the bit of that byte; 0: unknown */
static int (*instance_keeps)(HPy self); /* set by the first fhpy_instance_end_watch */

enum { BEFORE = 2 * sizeof(void *) }; /* the two words of the collector before an object, with a GIL */

/* Finds the bit that PyObject_CallFinalizer sets in an object whose finalizer does nothing. */
static void find_mark(PyObject *o) {
  uint8_t before[BEFORE + 64];
  size_t in_front = fhpy_layout.free_threaded ? 0 : BEFORE, byte_size = in_front + fhpy_layout.header_size;
  const uint8_t *bytes = (const uint8_t *)o - in_front;
  if (byte_size > sizeof(before)) return;
  memcpy(before, bytes, byte_size);
  fhpy_optional.PyObject_CallFinalizer(o);
  int n_changed = 0;
  for (size_t i = 0; i < byte_size; ++i) {
    if (bytes[i] == before[i]) continue;
    ++n_changed;
    mark_offset = (ptrdiff_t)i - (ptrdiff_t)in_front;
    mark = bytes[i] ^ before[i];
  }
  if (n_changed != 1 || (mark & (mark - 1)) != 0) mark = 0;
}

int fhpy_instance_end_measure(void) {
  if (fhpy_layout.member_offset[MEMBER_FINALIZE] == 0 || fhpy_optional.PyObject_CallFinalizer == NULL ||
      !fhpy_watch_is_possible())
    return 0;
  PyObject *names = PyDict_New();
  /* any function that takes the object and does not change it */
  PyObject *function = names == NULL ? NULL : PyObject_GetAttrString(&PyBaseObject_Type, "__repr__");
  PyObject *key = function == NULL ? NULL : PyUnicode_FromString("__del__");
  int rc = key == NULL ? -1 : PyDict_SetItem(names, key, function);
  Py_DecRef(key), Py_DecRef(function);
  PyObject *args = rc < 0 ? NULL : PyTuple_New(3), *name = args == NULL ? NULL : PyUnicode_FromString("_probe_del");
  PyObject *bases = name == NULL ? NULL : PyTuple_New(0);
  if (bases == NULL) {
    Py_DecRef(name), Py_DecRef(args), Py_DecRef(names);
    return -1;
  }
  PyTuple_SetItem(args, 0, name), PyTuple_SetItem(args, 1, bases), PyTuple_SetItem(args, 2, names);
  PyObject *probe = PyObject_CallObject(&PyType_Type, args);
  PyObject *o = probe == NULL ? NULL : PyObject_CallObject(probe, NULL);
  if (o != NULL) {
    *(void **)&call_del = type_member(probe, MEMBER_FINALIZE);
    if (call_del != NULL) find_mark(o);
  }
  rc = o == NULL ? -1 : 0;
  Py_DecRef(o), Py_DecRef(probe), Py_DecRef(args);
  return rc;
}

bool fhpy_instance_end_is_possible(void) { return mark != 0; }

static void finalize(PyObject *self) {
  if (instance_keeps(to_hpy(self)) != FHPY_END_FINALIZE) return;
  call_del(self);
  (void)instance_keeps(to_hpy(self)); /* __del__ may have given the instance to other code */
}

/* Whether instances have attributes, slots or weak references, or the class has __del__. */
static bool has_state(PyObject *type) {
  if (fhpy_type_instance_adds(type)) return true;
  PyObject *method = PyObject_GetAttrString(type, "__del__");
  bool has_method = method != NULL;
  Py_DecRef(method);
  PyErr_Clear();
  return has_method;
}

bool fhpy_instance_end_watch(PyObject *type, int (*keeps)(HPy self), bool only_with_state) {
  if (!fhpy_instance_end_is_possible() || !is_type(type) || type_note(type) != NULL ||
      !type_has_flag(type, TYPE_FLAG_HEAPTYPE))
    return false;
  void **word = (void **)(void *)((char *)type + fhpy_layout.member_offset[MEMBER_FINALIZE]);
  /* relaxed, like the interpreter's own loads: the first caller passes the same function as all others */
  fh_atomic_store_relaxed((void **)(void *)&instance_keeps, (void *)keeps);
  if (!only_with_state || has_state(type)) {
    fh_atomic_store_release_ptr(word, (void *)finalize);
    return true;
  }
  if (type_member(type, MEMBER_FINALIZE) == (void *)finalize) fh_atomic_store_release_ptr(word, NULL);
  return false;
}

int fhpy_instance_end_is_watched(PyObject *o) {
  PyObject *type = type_of(o);
  if (type_member(type, MEMBER_FINALIZE) != (void *)finalize) return 0;
  return type_has_flag(type, TYPE_FLAG_HAVE_GC) ? 2 : 1;
}
intptr_t fhpy_instance_end_get_word(void) { return (intptr_t)finalize; }

bool fhpy_instance_end_resume(PyObject *o) {
  if (!fhpy_watch_is_merged(o)) return false;
  if (type_has_flag(type_of(o), TYPE_FLAG_HAVE_GC)) {
    uint8_t *byte = (uint8_t *)o + mark_offset;
    fh_atomic_store_relaxed_u8(byte, (uint8_t)(fh_atomic_load_relaxed_u8(byte) & ~mark));
  }
  return 1;
}
#endif
