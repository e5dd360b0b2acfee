/* The string data of instances of str subclasses, on PyPy.
 *
 * For the C part of such an instance cpyext copies the string data to memory that it never frees. This tp_dealloc of
 * the class frees it: it takes the copy out of the struct, so that nothing else frees it, deallocates the instance as
 * usual, and frees the copy. A plain str has its data within the struct. The offsets are those of the macros in
 * cpyext's headers. */
#include "pypy_text.h"

#ifdef FHPY_PYPY
#include <stdlib.h>

#include "hpy_runtime/abi/layout.h"

typedef struct {
  char header[24];
  Py_ssize_t n_chars, hash;
  unsigned char interned, kind, is_compact, is_ascii, is_ready; /* is_compact: the data is within the struct */
  void *wide;
  Py_ssize_t n_utf8;
  void *utf8;
  Py_ssize_t n_wide;
  void *text;
} Text;
_Static_assert(sizeof(Text) == 88, "cpyext's PyUnicodeObject");

static dealloc_fn dealloc_of_str; /* written before any class has dealloc_with_text */

static void dealloc_with_text(PyObject *self) {
  Text *struct_of = (Text *)(void *)self;
  void *own = struct_of->is_compact || struct_of->text == struct_of->wide ? NULL : struct_of->text;
  if (own != NULL) {
    struct_of->text = NULL;
    if (struct_of->utf8 == own) struct_of->utf8 = NULL;
  }
  dealloc_of_str(self);
  free(own);
}

void fhpy_pypy_text_free_with(PyObject *type) {
  ptrdiff_t offset = fhpy_layout.member_offset[MEMBER_DEALLOC];
  Py_ssize_t byte_size = fhpy_layout_get_basicsize(type);
  if (byte_size < 0) PyErr_Clear();
  if (type == &PyUnicode_Type || offset == 0 || byte_size != (Py_ssize_t)sizeof(Text)) return;
  dealloc_fn *of_str = (dealloc_fn *)(void *)((char *)&PyUnicode_Type + offset);
  dealloc_fn *of_type = (dealloc_fn *)(void *)((char *)type + offset);
  if (*of_type != *of_str) return;
  dealloc_of_str = *of_str;
  *of_type = dealloc_with_text;
}

#endif /* FHPY_PYPY */
