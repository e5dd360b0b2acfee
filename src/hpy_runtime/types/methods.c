/* Converts HPyDef lists to the interpreter's method tables. */
#include "methods.h"

size_t fhpy_methods_count(HPyDef *const *defines, HPyDef_Kind kind) {
  size_t n = 0;
  for (; defines != NULL && *defines != NULL; defines++) n += (*defines)->kind == kind;
  return n;
}

/* Returns the interpreter's flags for a signature; 0 if no method can have the signature. */
static int method_flags(HPyFunc_Signature signature) {
  switch (signature) {
  case HPyFunc_VARARGS: return METH_FASTCALL;
  case HPyFunc_KEYWORDS: return METH_FASTCALL | METH_KEYWORDS;
  case HPyFunc_NOARGS: return METH_NOARGS;
  case HPyFunc_O: return METH_O;
  default: return 0;
  }
}

int fhpy_methods_fill(PyMethodDef *methods, HPyDef *const *defines) {
  for (; defines != NULL && *defines != NULL; defines++) {
    if ((*defines)->kind != HPyDef_Kind_Meth) continue;
    const HPyMeth *m = &(*defines)->meth;
    int flags = method_flags(m->signature);
    if (flags == 0) {
      PyErr_SetString(PyExc_ValueError, "Unsupported HPyMeth signature");
      return -1;
    }
    *methods++ = (PyMethodDef){m->name, (void *)m->cpy_trampoline, flags, m->doc};
  }
  return 0;
}
