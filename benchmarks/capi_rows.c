/* The functions of hpy_rows.c, written with the CPython C API of one version. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

static PyObject *noargs(PyObject *self, PyObject *ignored) {
  (void)self, (void)ignored;
  Py_RETURN_NONE;
}
static PyObject *onearg(PyObject *self, PyObject *arg) { return (void)self, Py_NewRef(arg); }
static PyObject *varargs(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  return (void)self, Py_NewRef(args[nargs - 1]);
}
static PyObject *keywords(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  return (void)self, Py_NewRef(kwnames == NULL ? Py_None : args[nargs]);
}
static PyObject *get_attr(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  return (void)self, (void)nargs, PyObject_GetAttr(args[0], args[1]);
}
static PyObject *get_attr_s(PyObject *self, PyObject *arg) { return (void)self, PyObject_GetAttrString(arg, "number"); }
static PyObject *get_item(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  return (void)self, (void)nargs, PyObject_GetItem(args[0], args[1]);
}
static PyObject *get_item_i(PyObject *self, PyObject *arg) { return (void)self, PySequence_GetItem(arg, 1); }
static PyObject *build_list(PyObject *self, PyObject *arg) {
  (void)self;
  PyObject *list = PyList_New(10);
  for (int i = 0; list != NULL && i < 10; i++) PyList_SET_ITEM(list, i, Py_NewRef(arg));
  return list;
}
static PyObject *append_list(PyObject *self, PyObject *arg) {
  (void)self;
  PyObject *list = PyList_New(0);
  for (int i = 0; list != NULL && i < 10; i++) PyList_Append(list, arg);
  return list;
}
static PyObject *echo_long(PyObject *self, PyObject *arg) {
  (void)self;
  long long v = PyLong_AsLongLong(arg);
  if (v == -1 && PyErr_Occurred()) return NULL;
  return PyLong_FromLongLong(v);
}
static PyObject *echo_text(PyObject *self, PyObject *arg) {
  (void)self;
  Py_ssize_t byte_len;
  const char *text = PyUnicode_AsUTF8AndSize(arg, &byte_len);
  return text == NULL ? NULL : PyUnicode_FromString(text);
}

typedef struct {
  PyObject_HEAD long long number;
} Plain;

static PyObject *plain_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  (void)args, (void)kw;
  Plain *plain = (Plain *)type->tp_alloc(type, 0);
  if (plain != NULL) plain->number = 7;
  return (PyObject *)plain;
}
static void plain_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}
static PyMemberDef plain_members[] = {{"number", T_LONGLONG, offsetof(Plain, number), 0, NULL}, {0}};
static PyType_Slot plain_slots[] = {
    {Py_tp_new, plain_new}, {Py_tp_dealloc, plain_dealloc}, {Py_tp_members, plain_members}, {0, NULL}};
static PyType_Spec plain_spec = {"rows.Plain", sizeof(Plain), 0, Py_TPFLAGS_DEFAULT, plain_slots};

typedef struct {
  PyObject_HEAD PyObject *value;
} Traced;

static PyObject *traced_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  (void)args, (void)kw;
  Traced *traced = (Traced *)type->tp_alloc(type, 0);
  if (traced != NULL) traced->value = Py_NewRef(Py_None);
  return (PyObject *)traced;
}
static int traced_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((Traced *)self)->value);
  return 0;
}
static int traced_clear(PyObject *self) {
  Py_CLEAR(((Traced *)self)->value);
  return 0;
}
static void traced_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  traced_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}
static PyType_Slot traced_slots[] = {{Py_tp_new, traced_new},
                                     {Py_tp_dealloc, traced_dealloc},
                                     {Py_tp_traverse, traced_traverse},
                                     {Py_tp_clear, traced_clear},
                                     {0, NULL}};
static PyType_Spec traced_spec = {"rows.Traced", sizeof(Traced), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                  traced_slots};

static PyMethodDef methods[] = {
    {"noargs", noargs, METH_NOARGS, NULL},
    {"onearg", onearg, METH_O, NULL},
    {"varargs", (PyCFunction)(void (*)(void))varargs, METH_FASTCALL, NULL},
    {"keywords", (PyCFunction)(void (*)(void))keywords, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"get_attr", (PyCFunction)(void (*)(void))get_attr, METH_FASTCALL, NULL},
    {"get_attr_s", get_attr_s, METH_O, NULL},
    {"get_item", (PyCFunction)(void (*)(void))get_item, METH_FASTCALL, NULL},
    {"get_item_i", get_item_i, METH_O, NULL},
    {"build_list", build_list, METH_O, NULL},
    {"append_list", append_list, METH_O, NULL},
    {"echo_long", echo_long, METH_O, NULL},
    {"echo_text", echo_text, METH_O, NULL},
    {0}};

static int exec_rows(PyObject *module) {
  PyObject *plain = PyType_FromSpec(&plain_spec), *traced = PyType_FromSpec(&traced_spec);
  if (plain == NULL || traced == NULL) return -1;
  if (PyModule_AddObject(module, "Plain", plain) < 0) return -1;
  return PyModule_AddObject(module, "Traced", traced);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, exec_rows}, {0, NULL}};
static PyModuleDef rows_def = {
    PyModuleDef_HEAD_INIT, "rows", "the timed functions", 0, methods, slots, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_rows(void) { return PyModuleDef_Init(&rows_def); }
