/* HPyType_FromSpec: makes the interpreter's type from HPy's description of a type. The function checks the description,
 * allocates and fills the type's metadata, assembles the interpreter's slots, and makes the type connected to the
 * metadata. */
#include "type_spec.h"

#include <string.h>

#include "hpy_runtime/api/extension.h"
#include "pypy_slots.h"
#include "pypy_type.h"
#include "type_instance.h"
#include "type_parts.h"

/* ---- the note ---- */

enum { N_EXTRA_METHODS = 2 }; /* the end of the list, and on PyPy __call__ */

#ifdef FHPY_PYPY
#define SLOT_ROOM(n) ((n) * sizeof(FhpySlot))
#else
#define SLOT_ROOM(n) ((n) * 0)
#endif

/* Allocates the note and all its tables as one block: the note with its methods, then members (one may be added),
 * getset, on PyPy slots, and the name. */
static FhpyType *allocate_note(const HPyType_Spec *spec) {
  size_t methods = (fhpy_methods_count(spec->defines, HPyDef_Kind_Meth) + N_EXTRA_METHODS) * sizeof(PyMethodDef);
  size_t members = (fhpy_type_members_count(spec) + 2) * sizeof(PyMemberDef);
  size_t getset = (fhpy_type_members_count_getset(spec) + 1) * sizeof(PyGetSetDef);
  size_t slots = SLOT_ROOM(fhpy_methods_count(spec->defines, HPyDef_Kind_Slot));
  size_t name = strlen(spec->name) + 1;
  FhpyType *note = PyMem_Calloc(1, offsetof(FhpyType, methods) + methods + members + getset + slots + name);
  if (note == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  char *at = (char *)note->methods + methods;
  note->members = (PyMemberDef *)(void *)at;
  note->getset = (PyGetSetDef *)(void *)(at + members);
#ifdef FHPY_PYPY
  note->slots = (FhpySlot *)(void *)(at + members + getset);
#endif
  note->name = at + members + getset + slots;
  memcpy(note->name, spec->name, name);
  note->shape = spec->builtin_shape;
  /* the legacy shape has no struct (type_parts.h): HPy_AsStruct_Legacy returns the object itself */
  note->data_offset =
      spec->builtin_shape == HPyType_BuiltinShape_Legacy ? 0 : fhpy_layout.data_offset[spec->builtin_shape];
  return note;
}

/* Determines the offset of an instance's vectorcall function, and the size of an instance.
 *
 * The word follows the struct. A type that extends the struct of a callable base gets its own word after its larger
 * struct, because the base's word is now inside the struct; a class made in Python adds its members after the word and
 * inherits it. */
static Py_ssize_t place_vectorcall(FhpyType *note, const HPyType_Spec *spec, const FhpyTypeBases *bases) {
  Py_ssize_t size = spec->basicsize == 0 ? 0 : note->data_offset + spec->basicsize;
#ifdef FHPY_PYPY
  note->struct_size = spec->basicsize;
  if (spec->builtin_shape == HPyType_BuiltinShape_Type) return 0; /* the struct is outside: pypy_type.h */
#endif
  if (note->vectorcall_offset != 0) return size; /* the extension has placed it */
  bool is_callable = bases->callable != NULL;
  if (is_callable) note->vectorcall = bases->callable->vectorcall;
  for (HPyDef **d = spec->defines; d != NULL && *d != NULL; ++d) {
    if ((*d)->kind != HPyDef_Kind_Slot || (*d)->slot.slot != HPy_tp_call) continue;
    note->vectorcall = (vectorcall_fn)(void (*)(void))(*d)->slot.cpy_trampoline;
    is_callable = true;
  }
  if (!is_callable) return size;
  if (size == 0 && bases->callable != NULL) {
    note->vectorcall_offset = bases->callable->vectorcall_offset;
  } else {
    if (size == 0) size = bases->basicsize;
    note->vectorcall_offset = (size + 7) & ~(Py_ssize_t)7;
    size = note->vectorcall_offset + (Py_ssize_t)sizeof(void *);
  }
#ifndef FHPY_PYPY
  PyMemberDef *last = note->members + fhpy_type_members_count(spec);
  *last = (PyMemberDef){"__vectorcalloffset__", MEMBER_SSIZE, note->vectorcall_offset, MEMBER_READONLY, NULL};
#endif
  return size;
}

/* Makes the interpreter call the function in the vectorcall word. */
static void make_callable(FhpyType *note, const HPyType_Spec *spec, PyType_Slot **out) {
#ifdef FHPY_PYPY
  (void)out;
  note->methods[fhpy_methods_count(spec->defines, HPyDef_Kind_Meth)] =
      (PyMethodDef){"__call__", (void *)fhpy_type_instance_call, METH_FASTCALL | METH_KEYWORDS, NULL};
#else
  (void)note, (void)spec;
  *(*out)++ = (PyType_Slot){SLOT_TP_CALL, (void *)PyVectorcall_Call};
#endif
}

/* ---- slots ---- */

enum { N_EXTRA_SLOTS = 10 };

/* Returns the function for the interpreter's slot, for one of the extension's slots. */
static void *slot_function(FhpyType *note, const HPySlot *s) {
#ifdef FHPY_PYPY
  note->slots[note->n_slots++] = (FhpySlot){(int)s->slot, s->impl};
  if ((int)s->slot == FHPY_TP_DESCR_GET) {
    memcpy(&note->descr_get, &s->cpy_trampoline, sizeof(note->descr_get));
    return (void *)fhpy_pypy_slots_descr_get;
  }
  if ((int)s->slot == FHPY_TP_DESCR_SET) {
    memcpy(&note->descr_set, &s->cpy_trampoline, sizeof(note->descr_set));
    return (void *)fhpy_pypy_slots_descr_set;
  }
#else
  (void)note;
#endif
  return (void *)s->cpy_trampoline;
}

static PyType_Slot *make_slots(FhpyType *note, const HPyType_Spec *spec, bool is_guest, bool use_gc) {
  PyType_Slot *slots =
      PyMem_Calloc(fhpy_methods_count(spec->defines, HPyDef_Kind_Slot) + N_EXTRA_SLOTS, sizeof(PyType_Slot));
  if (slots == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  PyType_Slot *out = slots;
  for (HPyDef **d = spec->defines; d != NULL && *d != NULL; ++d) {
    if ((*d)->kind != HPyDef_Kind_Slot) continue;
    const HPySlot *s = &(*d)->slot;
    switch ((int)s->slot) {
    case HPy_tp_destroy: note->destroy = (HPyFunc_destroyfunc)(void (*)(void))s->impl; break;
    case HPy_tp_traverse: note->traverse = (HPyFunc_traverseproc)(void (*)(void))s->impl; break;
    case HPy_tp_call: break; /* place_vectorcall */
    default: *out++ = (PyType_Slot){(int)s->slot, slot_function(note, s)};
    }
  }
  if (!is_guest) *out++ = (PyType_Slot){SLOT_TP_DEALLOC, (void *)fhpy_type_dealloc};
  *out++ = (PyType_Slot){SLOT_TP_METHODS, note->methods};
  if (note->members[0].name != NULL) *out++ = (PyType_Slot){SLOT_TP_MEMBERS, note->members};
  if (note->getset[0].name != NULL) *out++ = (PyType_Slot){SLOT_TP_GETSET, note->getset};
  if (spec->doc != NULL) *out++ = (PyType_Slot){SLOT_TP_DOC, (void *)(uintptr_t)spec->doc};
  if (use_gc) {
    *out++ = (PyType_Slot){SLOT_TP_TRAVERSE, (void *)fhpy_type_traverse};
    *out++ = (PyType_Slot){SLOT_TP_CLEAR, (void *)fhpy_type_traverse_clear};
  }
  if (note->vectorcall_offset != 0) {
    make_callable(note, spec, &out);
    if (note->vectorcall != NULL && !fhpy_type_check_has_slot(spec, HPy_tp_new))
      *out++ = (PyType_Slot){SLOT_TP_NEW, (void *)fhpy_type_instance_new_callable};
  }
  return slots;
}

/* Decides whether instances can be made and deallocated by the fast paths of type_instance.c and type.c. */
static void find_shortcuts(FhpyType *note, const HPyType_Spec *spec, PyObject *bases, Py_ssize_t basicsize,
                           bool use_gc) {
  note->is_gc = use_gc;
  PyObject *base = PyTuple_Size(bases) == 1 ? PyTuple_GetItem(bases, 0) : NULL;
  const FhpyType *above = base == NULL ? NULL : type_note(base);
  bool is_single = base == &PyBaseObject_Type;
  const FhpyType *above_ends_as = above == NULL ? NULL : above->ends_as;
  bool is_chain = is_single || above_ends_as != NULL, adds = note->traverse != NULL || note->destroy != NULL;
  if (is_chain) note->ends_as = is_single || adds ? note : above_ends_as;
  if (note->ends_as == note) note->ends_next = above_ends_as;
  /* any other flag may give instances memory that basicsize does not include */
  unsigned long harmless = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE;
  size_t size_above = is_single ? fhpy_layout.header_size : above == NULL ? 0 : above->plain_size;
  if (size_above != 0 && !use_gc && spec->itemsize == 0 && (spec->flags & ~harmless) == 0)
    note->plain_size = basicsize == 0 ? size_above : (size_t)basicsize;
}

#ifdef FHPY_PYPY
/* Makes the interpreter's type, with its own layout if it has a struct (pypy_type.h). With a metaclass no class is
 * inserted, because the metaclass would observe its creation. */
static PyObject *make_from(PyType_Spec *spec, const FhpyTypeParameters *params, bool has_own_layout) {
  has_own_layout = has_own_layout && params->metaclass == NULL;
  for (Py_ssize_t i = 0; i < PyTuple_Size(params->bases); ++i)
    has_own_layout = has_own_layout && type_of(PyTuple_GetItem(params->bases, i)) == &PyType_Type;
  PyObject *bases = has_own_layout ? fhpy_pypy_layout_make_bases(params->bases) : params->bases;
  if (bases == params->bases) Py_IncRef(bases);
  PyObject *type = bases == NULL ? NULL : fhpy_type_meta_make(params->metaclass, spec, bases);
  Py_DecRef(bases);
  for (const PyType_Slot *slot = spec->slots; type != NULL && slot->slot != 0; ++slot) {
    if (slot->slot != SLOT_TP_NEW || fhpy_pypy_slots_set_new(type) == 0) continue;
    Py_DecRef(type);
    type = NULL;
  }
  return type;
}
#else
static PyObject *make_from(PyType_Spec *spec, const FhpyTypeParameters *params, bool has_own_layout) {
  (void)has_own_layout; /* CPython compares layouts by size */
  return fhpy_type_meta_make(params->metaclass, spec, params->bases);
}
#endif

static PyObject *make_type(FhpyType *note, const HPyType_Spec *spec, const FhpyTypeParameters *params) {
  FhpyTypeBases bases;
  if (fhpy_type_check_bases(spec, params->bases) < 0) return NULL;
  if (fhpy_type_bases_describe(params->bases, spec->builtin_shape, &bases) < 0 ||
      fhpy_type_bases_check_foreign(spec, &bases) < 0)
    return NULL;
  if (fhpy_methods_fill(note->methods, spec->defines) < 0) return NULL;
  if (fhpy_type_members_fill(note, spec, fhpy_type_check_has_slot(spec, HPy_tp_call)) < 0) return NULL;
  Py_ssize_t basicsize = place_vectorcall(note, spec, &bases);
  bool is_guest = bases.foreign != NULL;
  bool use_gc = !is_guest && (bases.has_gc || (spec->flags & HPy_TPFLAGS_HAVE_GC) != 0);
  PyType_Slot *slots = make_slots(note, spec, is_guest, use_gc);
  if (slots == NULL) return NULL;
  unsigned flags =
      (unsigned)spec->flags & ~(unsigned)(is_guest ? TYPE_FLAG_HAVE_GC : 0); /* a guest inherits the flag */
  if (use_gc) flags |= (unsigned)TYPE_FLAG_HAVE_GC;
  find_shortcuts(note, spec, params->bases, basicsize, use_gc);
#ifndef FHPY_PYPY /* make_callable */
  if (note->vectorcall_offset != 0) flags |= (unsigned)TYPE_FLAG_HAVE_VECTORCALL;
#endif
  PyType_Spec cpython_spec = {note->name, (int)basicsize, spec->itemsize, flags, slots};
  bool has_own_layout = spec->builtin_shape == HPyType_BuiltinShape_Object && basicsize > bases.basicsize;
  PyObject *type = make_from(&cpython_spec, params, has_own_layout);
  PyMem_Free(slots);
  if (type != NULL && is_guest) fhpy_type_add_guest(note);
  return type;
}

PyObject *fhpy_type_spec_make(HPyType_Spec *spec, HPyType_SpecParam *params) {
  FhpyTypeParameters parameters;
  if (fhpy_type_check_spec(spec) < 0 || fhpy_type_bases_get_parameters(spec, params, &parameters) < 0) return NULL;
  PyObject *type = NULL;
  FhpyType *note = allocate_note(spec);
  if (note != NULL) {
    type = make_type(note, spec, &parameters);
    if (type != NULL) defer_references(type);
#ifndef FHPY_PYPY /* on PyPy the unfinished type may live until the next collection */
    if (type == NULL) PyMem_Free(note); /* no object points to it */
#endif
  }
  Py_DecRef(parameters.bases);
  return type;
}
