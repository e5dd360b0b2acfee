/* Replacements for functions of cpyext that end the process, or that differ from CPython's, on PyPy. */
#include "pypy_functions.h"

#include "cpython_abi.h"
#include "layout.h"

/* --- the stack ---------------------------------------------------------------------------------------------------- */

/* The remaining C stack of a thread, on PyPy. */

#ifdef FHPY_PYPY
#include "core/platform/system.h"

extern PyObject *PyExc_RecursionError;

/* Py_EnterRecursiveCall compares the stack pointer with the end of the interpreter's 768 KB of stack and refuses when a
 * sixteenth is left, which is too late for functions of cpyext. Therefore it is called from a deeper frame: 160 KB
 * suffice in 8.0.1; 64 KB do not suffice if Python calls itself between calls of native code. Py_LeaveRecursiveCall is
 * not needed, because cpyext's does nothing. */
enum { ROOM = 160 * 1024 };
static __attribute__((noinline)) bool ask_from_below(void) {
  char room[ROOM];
  __asm__ volatile("" : : "r"(room) : "memory"); /* keeps the compiler from removing `room` */
  return Py_EnterRecursiveCall(" in a call of native code") == 0;
}

typedef struct {
  uintptr_t end; /* lowest address; 0: unknown */
  uintptr_t spared; /* bytes at the end that are reserved for the called function */
} Stack;

static Stack find_stack(void) {
  Stack stack = {0};
  size_t size;
  if (fh_thread_stack(&stack.end, &size)) stack.spared = size / 4 < ROOM / 2 ? size / 4 : ROOM / 2;
  return stack;
}

/* A thread may have less stack than the interpreter assumes. Near the end of such a stack the interpreter's check is
 * skipped, and the remaining stack decides. */
bool fhpy_pypy_stack_has_room(void) {
  static _Thread_local Stack stack;
  static _Thread_local bool is_known;
  if (!is_known) stack = find_stack(), is_known = true;
  uintptr_t left = (uintptr_t)__builtin_frame_address(0) - stack.end;
  if (left > 2 * ROOM) return ask_from_below();
  if (left > stack.spared) return true;
  PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the thread's stack ends");
  return false;
}

#endif /* FHPY_PYPY */

/* --- functions ---------------------------------------------------------------------------------------------------- */

/* Replacements for functions of cpyext that differ from CPython's in the arguments they accept or the results they
 * return.
 *
 * pypy_names.h maps CPython's names to these functions, so no other file of the runtime depends on the difference. */

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
extern PyObject *PyNumber_InPlacePower(PyObject *, PyObject *, PyObject *); /* ctx_value.c has its own declaration */

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
