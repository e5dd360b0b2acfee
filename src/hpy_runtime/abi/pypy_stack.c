/* The remaining C stack of a thread, on PyPy. */
#include "pypy_stack.h"

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
  uintptr_t end;    /* lowest address; 0: unknown */
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
