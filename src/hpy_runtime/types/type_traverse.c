/* The functions that the garbage collector calls for instances of HPy types.
 *
 * For an instance of a class made in Python, the interpreter's subtype_traverse and subtype_clear call the functions
 * below once. Therefore these always process the whole chain of bases, which type.c describes. */
#include "type_traverse.h"

#include "type.h"

typedef struct {
  visit_fn visit;
  void *arg;
} Visitor;

static int visit_field(HPyField *field, void *arg) {
  const Visitor *v = arg;
  return field->_i == 0 ? 0 : v->visit((PyObject *)field->_i, v->arg);
}

/* For a call through a trampoline, whose visitor takes objects and not fields. */
int fhpy_type_traverse_struct(PyObject *self, HPyFunc_traverseproc traverse, visit_fn visit, void *arg) {
  const FhpyType *note = type_nearest_note(type_of(self));
  Visitor v = {visit, arg};
  return traverse(type_struct(self, note), visit_field, &v);
}

/* Returns the first base above the last HPy type: object, or the built-in type of the instance's shape. */
static PyObject *foreign_base(PyObject *type) {
  PyObject *result = type;
  for (; type != NULL; type = type_base(type))
    if (type_note(type) != NULL) result = type_base_known(type);
  return result;
}

int fhpy_type_traverse(PyObject *self, visit_fn visit, void *arg) {
  Visitor v = {visit, arg};
  for (PyObject *type = type_of(self); type != NULL; type = type_base(type)) {
    const FhpyType *note = type_note(type);
    if (note == NULL || note->traverse == NULL) continue;
    int rc = note->traverse(type_struct(self, note), visit_field, &v);
    if (rc != 0) return rc;
  }
  /* An instance owns a reference to its heap type. It is visited if that type is a class made in Python, because such
   * classes may be short-lived. An HPy type lives as long as its module, and HPy's own tests expect gc.get_referents()
   * to list fields only. Not visiting is safe: the collector then assumes a reference to the type from outside. */
  PyObject *type = type_of(self);
  if (type_note(type) == NULL) {
    int rc = visit(type, arg);
    if (rc != 0) return rc;
  }
  traverse_fn above = (traverse_fn)type_member(foreign_base(type), MEMBER_TRAVERSE);
  return above == NULL ? 0 : above(self, visit, arg);
}

int fhpy_type_traverse_clear(PyObject *self) {
  for (PyObject *type = type_of(self); type != NULL; type = type_base(type)) {
    const FhpyType *note = type_note(type);
    if (note != NULL) fhpy_type_clear_fields(self, note);
  }
  clear_fn above = (clear_fn)type_member(foreign_base(type_of(self)), MEMBER_CLEAR);
  return above == NULL ? 0 : above(self);
}
