/* The attribute tables in a type's note. In HPy, offsets are counted from the struct; in the interpreter, from the
 * object. */
#include "type_parts.h"

#include <string.h>

#ifdef FHPY_PYPY
/* cpyext has no members of type HPyMember_NONE, so they become descriptors. */
static bool is_descriptor(const HPyMember *m) { return m->type == HPyMember_NONE; }

static PyObject *get_none(FH_MAYBE_UNUSED PyObject *self, FH_MAYBE_UNUSED void *name) {
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}
static int refuse_none(PyObject *self, FH_MAYBE_UNUSED PyObject *value, void *name) {
  PyErr_Format(PyExc_TypeError, "member '%s' of %R is None always", (const char *)name, type_of(self));
  return -1;
}
static PyGetSetDef make_descriptor(const HPyMember *m) {
  return (PyGetSetDef){m->name, (void *)get_none, m->readonly ? NULL : (void *)refuse_none, m->doc,
                       (void *)(uintptr_t)m->name};
}
#else
static bool is_descriptor(const HPyMember *m) { return (void)m, false; }
static PyGetSetDef make_descriptor(const HPyMember *m) { return (void)m, (PyGetSetDef){0}; }
#endif

size_t fhpy_type_members_count(const HPyType_Spec *spec) {
  return fhpy_methods_count(spec->defines, HPyDef_Kind_Member);
}

size_t fhpy_type_members_count_getset(const HPyType_Spec *spec) {
  size_t n = fhpy_methods_count(spec->defines, HPyDef_Kind_GetSet);
  for (HPyDef **d = spec->defines; d != NULL && *d != NULL; ++d)
    n += (*d)->kind == HPyDef_Kind_Member && is_descriptor(&(*d)->member);
  return n;
}

/* HPy's member types have the interpreter's numbers, and a field is an object pointer. Therefore the interpreter's own
 * descriptors, which are safe without the GIL, serve all of them. */
static int fill_member(FhpyType *note, const HPyType_Spec *spec, const HPyMember *m, bool has_call_slot,
                       PyMemberDef *out) {
  if (spec->basicsize == 0) {
    PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': member '%s' needs a basicsize that is not 0", spec->name,
                 m->name);
    return -1;
  }
  Py_ssize_t offset = note->data_offset + m->offset;
  if (strcmp(m->name, "__vectorcalloffset__") == 0) {
    if (has_call_slot) {
      PyErr_Format(PyExc_TypeError,
                   "HPyType_FromSpec of '%s': HPy_tp_call and a member '__vectorcalloffset__' exclude each other",
                   spec->name);
      return -1;
    }
    note->vectorcall_offset = offset;
  }
  *out = (PyMemberDef){m->name, (int)m->type, offset, m->readonly ? MEMBER_READONLY : 0, m->doc};
  return 0;
}

int fhpy_type_members_fill(FhpyType *note, const HPyType_Spec *spec, bool has_call_slot) {
  PyMemberDef *member = note->members;
  PyGetSetDef *getset = note->getset;
  for (HPyDef **d = spec->defines; d != NULL && *d != NULL; ++d) {
    if ((*d)->kind == HPyDef_Kind_GetSet) {
      const HPyGetSet *g = &(*d)->getset;
      *getset++ = (PyGetSetDef){g->name, (void *)g->getter_cpy_trampoline, (void *)g->setter_cpy_trampoline, g->doc,
                                g->closure};
    } else if ((*d)->kind == HPyDef_Kind_Member && is_descriptor(&(*d)->member)) {
      *getset++ = make_descriptor(&(*d)->member);
    } else if ((*d)->kind == HPyDef_Kind_Member) {
      if (fill_member(note, spec, &(*d)->member, has_call_slot, member) < 0) return -1;
      ++member;
    }
  }
  return 0;
}

/* --- methods ----------------------------------------------------------------------------------------------------- */

/* Converts HPyDef lists to the interpreter's method tables. */

size_t fhpy_methods_count(HPyDef *const *defines, HPyDef_Kind kind) {
  size_t n = 0;
  for (; defines != NULL && *defines != NULL; ++defines) n += (*defines)->kind == kind;
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
  for (; defines != NULL && *defines != NULL; ++defines) {
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
