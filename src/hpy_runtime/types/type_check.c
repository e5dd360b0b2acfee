/* The features of an HPyType_Spec that this runtime supports. */
#include "type_parts.h"

#include "hpy_runtime/api/appended.h"
#include "pypy_type.h"
#include "type.h"

bool fhpy_type_check_has_slot(const HPyType_Spec *spec, HPySlot_Slot slot) {
  for (HPyDef **d = spec->defines; d != NULL && *d != NULL; ++d)
    if ((*d)->kind == HPyDef_Kind_Slot && (*d)->slot.slot == slot) return true;
  return false;
}

/* ---- slots ---- */

/* Whether HPy, or the extension (the last two), has a slot of that number. The numbers are the interpreter's, without
 * the slots for which HPy has no function. */
static bool is_type_slot(int slot) {
  if (slot >= HPy_bf_getbuffer && slot <= HPy_sq_repeat) return true; /* the buffer, mapping, number, sequence slots */
  switch (slot) {
  case HPy_nb_matrix_multiply:
  case HPy_nb_inplace_matrix_multiply:
  case HPy_tp_call:
  case HPy_tp_hash:
  case HPy_tp_init:
  case HPy_tp_new:
  case HPy_tp_repr:
  case HPy_tp_richcompare:
  case HPy_tp_str:
  case HPy_tp_traverse:
  case HPy_tp_finalize:
  case HPy_tp_destroy:
  case FHPY_TP_DESCR_GET:
  case FHPY_TP_DESCR_SET: return true;
  default: return false;
  }
}

/* Refuses a slot that is not a type slot, and a duplicate slot. */
static int check_slots(const HPyType_Spec *spec) {
  for (HPyDef **d = spec->defines; d != NULL && *d != NULL; ++d) {
    if ((*d)->kind < HPyDef_Kind_Slot || (*d)->kind > HPyDef_Kind_GetSet) {
      PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': HPy 0.9 has no HPyDef of kind %d", spec->name,
                   (int)(*d)->kind);
      return -1;
    }
    if ((*d)->kind != HPyDef_Kind_Slot) continue;
    int slot = (int)(*d)->slot.slot;
    if (slot == HPy_mod_create || slot == HPy_mod_exec) {
      PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': slot %d is a module's, not a type's", spec->name, slot);
      return -1;
    }
    if (!is_type_slot(slot)) {
      PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': HPy 0.9 has no slot %d", spec->name, slot);
      return -1;
    }
    for (HPyDef **e = spec->defines; e != d; ++e) {
      if ((*e)->kind != HPyDef_Kind_Slot || (int)(*e)->slot.slot != slot) continue;
      PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': slot %d is given twice", spec->name, slot);
      return -1;
    }
  }
  return 0;
}

/* ---- legacy ---- */

/* HPy's own tests check this message. */
static int check_legacy_slots(const HPyType_Spec *spec) {
  const PyType_Slot *slots = spec->legacy_slots;
  if (slots != NULL && spec->builtin_shape != HPyType_BuiltinShape_Legacy) {
    PyErr_SetString(PyExc_TypeError,
                    "cannot specify .legacy_slots without setting .builtin_shape=HPyType_BuiltinShape_Legacy");
    return -1;
  }
  if (slots == NULL || slots[0].slot == 0) return 0;
  PyErr_Format(PyExc_TypeError,
               "HPyType_FromSpec of '%s': legacy slot %d is written for one interpreter's C API, and this runtime "
               "loads universal code",
               spec->name, slots[0].slot);
  return -1;
}

/* Only types without a struct may have the legacy shape. HPy_tp_call is refused for them, because its vectorcall word
 * would follow the struct. */
static int check_legacy(const HPyType_Spec *spec) {
  if (check_legacy_slots(spec) < 0) return -1;
  if (spec->builtin_shape != HPyType_BuiltinShape_Legacy) return 0;
  if (spec->basicsize != 0) {
    PyErr_Format(PyExc_TypeError,
                 "HPyType_FromSpec of '%s': HPyType_BuiltinShape_Legacy with basicsize %d is a struct that begins with "
                 "one interpreter's object header; universal code can have it with basicsize 0 only",
                 spec->name, spec->basicsize);
    return -1;
  }
  if (!fhpy_type_check_has_slot(spec, HPy_tp_call)) return 0;
  PyErr_Format(
      PyExc_TypeError,
      "HPyType_FromSpec of '%s': HPy_tp_call needs a struct, which HPyType_BuiltinShape_Legacy with basicsize 0 "
      "does not have",
      spec->name);
  return -1;
}

/* ---- all checks ---- */

int fhpy_type_check_spec(const HPyType_Spec *spec) {
  if (spec->name == NULL) {
    PyErr_SetString(PyExc_SystemError, "HPyType_FromSpec expects a name, got NULL");
    return -1;
  }
  if (spec->builtin_shape < HPyType_BuiltinShape_Legacy || spec->builtin_shape > FHPY_BUILTIN_SHAPE_DICT) {
    PyErr_Format(PyExc_ValueError, "HPyType_FromSpec of '%s': no builtin_shape is %d", spec->name,
                 (int)spec->builtin_shape);
    return -1;
  }
  if (spec->basicsize < 0 || spec->itemsize < 0) {
    PyErr_Format(PyExc_ValueError, "HPyType_FromSpec of '%s' expects sizes of 0 or more, got basicsize %d, itemsize %d",
                 spec->name, spec->basicsize, spec->itemsize);
    return -1;
  }
  if (check_legacy(spec) < 0 || check_slots(spec) < 0) return -1;
  if ((spec->flags & HPy_TPFLAGS_HAVE_GC) && !fhpy_type_check_has_slot(spec, HPy_tp_traverse)) {
    PyErr_Format(PyExc_ValueError, "HPyType_FromSpec of '%s': HPy_TPFLAGS_HAVE_GC needs an HPy_tp_traverse slot",
                 spec->name);
    return -1;
  }
  if (fhpy_type_check_has_slot(spec, HPy_tp_call) && spec->itemsize != 0) {
    PyErr_Format(PyExc_TypeError, "HPyType_FromSpec of '%s': HPy_tp_call cannot be used with an itemsize (%d)",
                 spec->name, spec->itemsize);
    return -1;
  }
#ifdef FHPY_PYPY
  return fhpy_pypy_meta_check(spec, fhpy_type_check_has_slot(spec, HPy_tp_call));
#else
  return 0;
#endif
}

/* HPy's own tests check this message. */
int fhpy_type_check_bases(const HPyType_Spec *spec, PyObject *bases) {
  if (spec->builtin_shape != HPyType_BuiltinShape_Legacy) return 0;
  for (Py_ssize_t i = 0; i < PyTuple_Size(bases); ++i) {
    const FhpyType *note = type_nearest_note(PyTuple_GetItem(bases, i));
    if (note == NULL || note->shape == HPyType_BuiltinShape_Legacy) continue;
    PyErr_SetString(PyExc_TypeError, "A legacy type should not inherit its memory layout from a pure type");
    return -1;
  }
  return 0;
}
