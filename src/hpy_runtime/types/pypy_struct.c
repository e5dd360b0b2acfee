/* The structs of types, on PyPy: a hash table from the pointer of a type to its block. */
#include "pypy_struct.h"

#ifdef FHPY_PYPY

typedef struct Block {
  PyObject *type;
  struct Block *next;
  _Alignas(16) char data[];
} Block;

enum { N_BUCKETS = 1024 };
static Block *buckets[N_BUCKETS]; /* guarded by the GIL */

/* Returns the link to the block of a type, or the final link of its bucket. */
static Block **find_block(PyObject *type) {
  Block **at = &buckets[((uintptr_t)type >> 4) % N_BUCKETS];
  while (*at != NULL && (*at)->type != type) at = &(*at)->next;
  return at;
}

void *fhpy_pypy_struct_find(PyObject *type) {
  Block *block = *find_block(type);
  return block != NULL ? block->data : NULL;
}

void *fhpy_pypy_struct_add(PyObject *type, size_t byte_size) {
  Block *block = PyMem_Calloc(1, sizeof(Block) + byte_size);
  if (block == NULL) Py_FatalError("ffi_hpy._hpy: no memory for the struct of a type with a metaclass");
  block->type = type;
  *find_block(type) = block;
  return block->data;
}

void fhpy_pypy_struct_end(PyObject *type) {
  Block **at = find_block(type), *block = *at;
  if (block == NULL) return;
  *at = block->next;
  PyMem_Free(block);
}

#endif /* FHPY_PYPY */
