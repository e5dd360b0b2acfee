/* A universal HPy module for features that HPy's own test suite does not cover: see test_hpy_runtime.py. */
#include <alloca.h>
#include <hpy.h>
#include <string.h>

#include "../../src/hpy_runtime/api/extension.h"

static HPyGlobal remembered;
static int destroyed[3]; /* base, derived, callable */

/* ---- functions in each signature ---- */

HPyDef_METH(nop, "nop", HPyFunc_NOARGS)
static HPy nop_impl(HPyContext *ctx, HPy self) { return (void)self, HPy_Dup(ctx, ctx->h_None); }

HPyDef_METH(same, "same", HPyFunc_O)
static HPy same_impl(HPyContext *ctx, HPy self, HPy arg) { return (void)self, HPy_Dup(ctx, arg); }

HPyDef_METH(add_one, "add_one", HPyFunc_O)
static HPy add_one_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  int64_t v = HPyLong_AsInt64_t(ctx, arg);
  if (v == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  return HPyLong_FromInt64_t(ctx, v + 1);
}

HPyDef_METH(pack, "pack", HPyFunc_VARARGS)
static HPy pack_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  HPyTupleBuilder b = HPyTupleBuilder_New(ctx, (HPy_ssize_t)nargs);
  for (size_t i = 0; i < nargs; ++i) HPyTupleBuilder_Set(ctx, b, (HPy_ssize_t)i, args[i]);
  return HPyTupleBuilder_Build(ctx, b);
}

HPyDef_METH(pack_all, "pack_all", HPyFunc_KEYWORDS)
static HPy pack_all_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  (void)self;
  HPy_ssize_t n_kw = HPy_IsNull(kwnames) ? 0 : HPy_Length(ctx, kwnames);
  HPyListBuilder b = HPyListBuilder_New(ctx, (HPy_ssize_t)nargs + n_kw);
  for (HPy_ssize_t i = 0; i < (HPy_ssize_t)nargs + n_kw; ++i) HPyListBuilder_Set(ctx, b, i, args[i]);
  return HPyListBuilder_Build(ctx, b);
}

/* call_with(f, a, b=name) -> f(a, name=b), through HPy_Call */
HPyDef_METH(call_with, "call_with", HPyFunc_VARARGS)
static HPy call_with_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs; /* f, a, b, names */
  return HPy_Call(ctx, args[0], args + 1, 1, nargs > 3 ? args[3] : HPy_NULL);
}

HPyDef_METH(upper, "upper", HPyFunc_O)
static HPy upper_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPy name = HPyUnicode_FromString(ctx, "upper");
  HPy result = HPy_CallMethod(ctx, name, &arg, 1, HPy_NULL);
  HPy_Close(ctx, name);
  return result;
}

/* ---- globals ---- */

HPyDef_METH(remember, "remember", HPyFunc_O)
static HPy remember_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyGlobal_Store(ctx, &remembered, arg);
  return HPy_Dup(ctx, ctx->h_None);
}
HPyDef_METH(recall, "recall", HPyFunc_NOARGS)
static HPy recall_impl(HPyContext *ctx, HPy self) { return (void)self, HPyGlobal_Load(ctx, remembered); }

/* ---- the extension ---- */

HPyDef_METH(extension, "extension", HPyFunc_O)
static HPy extension_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  const FhpyExtension *x = fhpy_extension_find(ctx);
  if (x == NULL) return HPy_Dup(ctx, ctx->h_None);
  HPy type = HPy_Type(ctx, arg);
  bool word_is_type = *(intptr_t *)((char *)arg._i + x->type_offset) == type._i;
  HPy_Close(ctx, type);
  return HPyBool_FromBool(ctx, word_is_type && x->byte_size == sizeof(FhpyExtension) && !x->is_finalizing());
}

/* catch(f): calls f and takes its exception; restores the exception if there is a second argument */
HPyDef_METH(catch, "catch", HPyFunc_VARARGS)
static HPy catch_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  const FhpyExtension *x = fhpy_extension_find(ctx);
  HPy result = HPy_Call(ctx, args[0], NULL, 0, HPy_NULL);
  if (!HPy_IsNull(result)) return result;
  HPy error = x->error_take(ctx);
  if (HPyErr_Occurred(ctx)) HPy_FatalError(ctx, "error_take left an exception");
  if (nargs < 2) return error;
  x->error_restore(ctx, error);
  HPy_Close(ctx, error);
  return HPy_NULL;
}

HPyDef_METH(attach_twice, "attach_twice", HPyFunc_NOARGS)
static HPy attach_twice_impl(HPyContext *ctx, HPy self) {
  (void)self;
  const FhpyExtension *x = fhpy_extension_find(ctx);
  HPyThreadState state = HPy_LeavePythonExecution(ctx);
  int outer = x->thread_attach(), inner = x->thread_attach();
  HPy one = HPyLong_FromInt64_t(ctx, outer >= 0 && inner >= 0);
  x->thread_detach(inner), x->thread_detach(outer);
  HPy_ReenterPythonExecution(ctx, state);
  return one;
}

/* The results of thread_state for this thread: attached, after leave(), after reenter(). */
HPyDef_METH(thread_states, "thread_states", HPyFunc_NOARGS)
static HPy thread_states_impl(HPyContext *ctx, HPy self) {
  (void)self;
  const FhpyExtension *x = fhpy_extension_find(ctx);
  void *state = NULL, *unused = NULL;
  int before = x->thread_state(&unused);
  void *left = x->leave();
  int between = x->thread_state(&state);
  x->reenter(between == FHPY_THREAD_DETACHED ? state : left);
  int after = x->thread_state(&unused);
  return HPyLong_FromLong(ctx, 100 * before + 10 * between + after);
}

static HPy closure_get(HPy self, void *closure) {
  (void)self;
  return (HPy){(*(intptr_t (**)(long))closure)(42)};
}
static intptr_t (*make_long)(long);
static HPyContext *context;
static intptr_t make_long_with_context(long v) { return HPyLong_FromLong(context, v)._i; }

HPyDef_METH(add_getset, "add_getset", HPyFunc_O)
static HPy add_getset_impl(HPyContext *ctx, HPy self, HPy type) {
  (void)self;
  context = ctx, make_long = make_long_with_context;
  FhpyGetSet def = {"answer", closure_get, NULL, "the answer", &make_long};
  return fhpy_extension_find(ctx)->getset_new(ctx, type, &def);
}

/* add_descriptor(): an instance of a type with the descriptor slots. Reading returns the value that was last assigned
 * to any object, and None at first and after a deletion. */
static cpy_PyObject *descr_get(cpy_PyObject *self, cpy_PyObject *object, cpy_PyObject *type) {
  (void)type;
  HPy result = object == NULL ? HPy_Dup(context, (HPy){(intptr_t)self}) : HPyGlobal_Load(context, remembered);
  return (cpy_PyObject *)result._i;
}
static int descr_set(cpy_PyObject *self, cpy_PyObject *object, cpy_PyObject *value) {
  (void)self, (void)object;
  HPyGlobal_Store(context, &remembered, value == NULL ? context->h_None : (HPy){(intptr_t)value});
  return 0;
}
static HPyDef descr_get_slot = {.kind = HPyDef_Kind_Slot, .slot = {.slot = (HPySlot_Slot)FHPY_TP_DESCR_GET}};
static HPyDef descr_set_slot = {.kind = HPyDef_Kind_Slot, .slot = {.slot = (HPySlot_Slot)FHPY_TP_DESCR_SET}};

HPyDef_METH(add_descriptor, "add_descriptor", HPyFunc_NOARGS)
static HPy add_descriptor_impl(HPyContext *ctx, HPy self) {
  (void)self;
  static HPyDef *slots[] = {&descr_get_slot, &descr_set_slot, NULL};
  HPyType_Spec spec = {
      .name = "probe.Descriptor", .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE, .defines = slots};
  context = ctx;
  descr_get_slot.slot.cpy_trampoline = (cpy_PyCFunction)(void (*)(void))descr_get;
  descr_set_slot.slot.cpy_trampoline = (cpy_PyCFunction)(void (*)(void))descr_set;
  return HPyType_FromSpec(ctx, &spec, NULL);
}

/* ---- a base type, and a derived type in HPy with a larger struct, each with a destroy function ---- */

typedef struct {
  HPyField value;
  long number;
} Base;
typedef struct {
  Base base;
  char text[40];
} Derived;
HPyType_HELPERS(Base)
HPyType_HELPERS(Derived)

HPyDef_SLOT(Base_new, HPy_tp_new)
static HPy Base_new_impl(HPyContext *ctx, HPy cls, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  Base *data;
  HPy h = HPy_New(ctx, cls, &data);
  if (HPy_IsNull(h)) return h;
  if (data->number != 0 || data->value._i != 0) HPy_FatalError(ctx, "HPy_New did not zero the struct");
  data->number = 7;
  if (nargs > 0) HPyField_Store(ctx, h, &data->value, args[0]);
  return h;
}
HPyDef_SLOT(Base_traverse, HPy_tp_traverse)
static int Base_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((Base *)self)->value);
  return 0;
}
HPyDef_SLOT(Base_destroy, HPy_tp_destroy)
static void Base_destroy_impl(void *self) {
  Base *b = self;
  destroyed[0] += b->number == 7 || b->number == 8;
  b->number = 0;
}
HPyDef_MEMBER(Base_number, "number", HPyMember_LONG, offsetof(Base, number))
    HPyDef_MEMBER(Base_value, "value", HPyMember_OBJECT, offsetof(Base, value)) HPyDef_GETSET(Base_double, "double")
static HPy Base_double_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return HPyLong_FromInt64_t(ctx, 2 * Base_AsStruct(ctx, self)->number);
}
static int Base_double_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  (void)closure;
  if (HPy_IsNull(value)) {
    HPyErr_SetString(ctx, ctx->h_TypeError, "double cannot be deleted");
    return -1;
  }
  int64_t v = HPyLong_AsInt64_t(ctx, value);
  if (v == -1 && HPyErr_Occurred(ctx)) return -1;
  Base_AsStruct(ctx, self)->number = v / 2;
  return 0;
}
static HPyDef *Base_defines[] = {&Base_new,   &Base_traverse, &Base_destroy, &Base_number,
                                 &Base_value, &Base_double,   NULL};
static HPyType_Spec Base_spec = {.name = "probe.Base",
                                 .basicsize = sizeof(Base),
                                 .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE | HPy_TPFLAGS_HAVE_GC,
                                 .builtin_shape = Base_SHAPE,
                                 .defines = Base_defines,
                                 .doc = "the base"};

HPyDef_SLOT(Derived_destroy, HPy_tp_destroy)
static void Derived_destroy_impl(void *self) { /* before Base's */
  Base *b = self;
  destroyed[1] += b->number == 7;
  b->number = 8;
}
static HPyDef *Derived_defines[] = {&Derived_destroy, NULL};
static HPyType_Spec Derived_spec = {.name = "probe.Derived",
                                    .basicsize = sizeof(Derived),
                                    .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
                                    .builtin_shape = Derived_SHAPE,
                                    .defines = Derived_defines};

/* ---- callables: by tp_call, extended in HPy with a struct that covers the base's vectorcall word ---- */

typedef struct {
  int64_t start;
} Adder;
typedef struct {
  Adder adder;
  int64_t more[6];
} BigAdder;
HPyType_HELPERS(Adder)
HPyType_HELPERS(BigAdder)

HPyDef_SLOT(Adder_call, HPy_tp_call)
static HPy Adder_call_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  (void)kwnames;
  int64_t sum = Adder_AsStruct(ctx, self)->start;
  for (size_t i = 0; i < nargs; ++i) {
    int64_t v = HPyLong_AsInt64_t(ctx, args[i]);
    if (v == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
    sum += v;
  }
  return HPyLong_FromInt64_t(ctx, sum);
}
HPyDef_CALL_FUNCTION(Adder_negate) static HPy
    Adder_negate_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  (void)self, (void)kwnames, (void)nargs;
  return HPy_Negative(ctx, args[0]);
}
HPyDef_METH(Adder_set_negate, "set_negate", HPyFunc_NOARGS)
static HPy Adder_set_negate_impl(HPyContext *ctx, HPy self) {
  if (HPy_SetCallFunction(ctx, self, &Adder_negate) < 0) return HPy_NULL;
  return HPy_Dup(ctx, ctx->h_None);
}
HPyDef_SLOT(Adder_init, HPy_tp_init)
static int Adder_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs > 0) Adder_AsStruct(ctx, self)->start = HPyLong_AsInt64_t(ctx, args[0]);
  return HPyErr_Occurred(ctx) ? -1 : 0;
}
HPyDef_SLOT(Adder_destroy, HPy_tp_destroy)
static void Adder_destroy_impl(void *self) { (void)self, destroyed[2]++; }
static HPyDef *Adder_defines[] = {&Adder_call, &Adder_init, &Adder_set_negate, &Adder_destroy, NULL};
static HPyType_Spec Adder_spec = {.name = "probe.Adder",
                                  .basicsize = sizeof(Adder),
                                  .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
                                  .builtin_shape = Adder_SHAPE,
                                  .defines = Adder_defines};

HPyDef_METH(BigAdder_fill, "fill", HPyFunc_NOARGS)
static HPy BigAdder_fill_impl(HPyContext *ctx, HPy self) {
  BigAdder *b = BigAdder_AsStruct(ctx, self);
  memset(b->more, 0xff, sizeof(b->more));
  return HPy_Dup(ctx, ctx->h_None);
}
static HPyDef *BigAdder_defines[] = {&BigAdder_fill, NULL};
static HPyType_Spec BigAdder_spec = {.name = "probe.BigAdder",
                                     .basicsize = sizeof(BigAdder),
                                     .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
                                     .builtin_shape = BigAdder_SHAPE,
                                     .defines = BigAdder_defines};

/* the plain instance, for measuring allocation */
HPyDef_METH(make_adder, "make_adder", HPyFunc_O)
static HPy make_adder_impl(HPyContext *ctx, HPy self, HPy type) {
  (void)self;
  Adder *data;
  return HPy_New(ctx, type, &data);
}

/* ---- a metaclass with a struct, and types made with it ---- */

typedef struct {
  long tag, spare[3];
} Meta;
HPyType_HELPERS(Meta, HPyType_BuiltinShape_Type)

HPyDef_METH(Meta_get_tag, "get_tag", HPyFunc_NOARGS)
static HPy Meta_get_tag_impl(HPyContext *ctx, HPy self) { return HPyLong_FromLong(ctx, Meta_AsStruct(ctx, self)->tag); }
HPyDef_METH(Meta_set_tag, "set_tag", HPyFunc_O)
static HPy Meta_set_tag_impl(HPyContext *ctx, HPy self, HPy v) {
  Meta_AsStruct(ctx, self)->tag = HPyLong_AsLong(ctx, v);
  return HPy_Dup(ctx, ctx->h_None);
}
static HPyDef *Meta_defines[] = {&Meta_get_tag, &Meta_set_tag, NULL};
static HPyType_Spec Meta_spec = {.name = "probe.Meta",
                                 .basicsize = sizeof(Meta),
                                 .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
                                 .builtin_shape = Meta_SHAPE,
                                 .defines = Meta_defines};

/* make_type(metaclass, bases): an Adder-like type */
HPyDef_METH(make_type, "make_type", HPyFunc_VARARGS)
static HPy make_type_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPyType_SpecParam params[] = {{HPyType_SpecParam_Metaclass, args[0]},
                                {HPyType_SpecParam_BasesTuple, args[1]},
                                {(HPyType_SpecParam_Kind)0, HPy_NULL}};
  return HPyType_FromSpec(ctx, &Adder_spec, params);
}
/* make_on(base, basicsize, destroys): a type on top of any base */
HPyDef_METH(make_on, "make_on", HPyFunc_VARARGS)
static HPy make_on_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPyType_SpecParam params[] = {{HPyType_SpecParam_Base, args[0]}, {(HPyType_SpecParam_Kind)0, HPy_NULL}};
  HPyType_Spec spec = Derived_spec;
  spec.name = "probe.OnTop";
  spec.basicsize = (int)HPyLong_AsLong(ctx, args[1]);
  if (!HPy_IsTrue(ctx, args[2])) spec.defines = NULL;
  return HPyType_FromSpec(ctx, &spec, params);
}

/* ---- a buffer ---- */

typedef struct {
  char bytes[4];
} Quad;
HPyType_HELPERS(Quad)
HPyDef_SLOT(Quad_getbuffer, HPy_bf_getbuffer)
static int Quad_getbuffer_impl(HPyContext *ctx, HPy self, HPy_buffer *view, int flags) {
  (void)flags;
  static HPy_ssize_t shape[1] = {4}, strides[1] = {1};
  *view = (HPy_buffer){.buf = Quad_AsStruct(ctx, self)->bytes,
                       .obj = HPy_Dup(ctx, self),
                       .len = 4,
                       .itemsize = 1,
                       .ndim = 1,
                       .format = "b",
                       .shape = shape,
                       .strides = strides};
  return 0;
}
HPyDef_SLOT(Quad_length, HPy_sq_length)
static HPy_ssize_t Quad_length_impl(HPyContext *ctx, HPy self) { return (void)ctx, (void)self, 4; }
HPyDef_SLOT(Quad_bool, HPy_nb_bool)
static int Quad_bool_impl(HPyContext *ctx, HPy self) { return Quad_AsStruct(ctx, self)->bytes[0] != 0; }
HPyDef_SLOT(Quad_subscript, HPy_mp_subscript)
static HPy Quad_subscript_impl(HPyContext *ctx, HPy self, HPy key) {
  HPy_ssize_t i = HPyLong_AsSsize_t(ctx, key);
  if (i == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  if (i < 0 || i > 3) {
    HPyErr_SetString(ctx, ctx->h_IndexError, "expected 0 to 3");
    return HPy_NULL;
  }
  return HPyLong_FromLong(ctx, Quad_AsStruct(ctx, self)->bytes[i]);
}
static HPyDef *Quad_defines[] = {&Quad_getbuffer, &Quad_length, &Quad_bool, &Quad_subscript, NULL};
static HPyType_Spec Quad_spec = {.name = "probe.Quad",
                                 .basicsize = sizeof(Quad),
                                 .flags = HPy_TPFLAGS_DEFAULT,
                                 .builtin_shape = Quad_SHAPE,
                                 .defines = Quad_defines};

/* ---- the module ---- */

HPyDef_METH(destroyed_counts, "destroyed_counts", HPyFunc_NOARGS)
static HPy destroyed_counts_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyTupleBuilder b = HPyTupleBuilder_New(ctx, 3);
  for (int i = 0; i < 3; ++i) {
    HPy n = HPyLong_FromLong(ctx, destroyed[i]);
    HPyTupleBuilder_Set(ctx, b, i, n);
    HPy_Close(ctx, n);
  }
  return HPyTupleBuilder_Build(ctx, b);
}

static int add_type(HPyContext *ctx, HPy module, const char *name, HPyType_Spec *spec, HPy base) {
  HPyType_SpecParam params[] = {{HPyType_SpecParam_Base, base}, {(HPyType_SpecParam_Kind)0, HPy_NULL}};
  HPy type = HPyType_FromSpec(ctx, spec, HPy_IsNull(base) ? NULL : params);
  if (HPy_IsNull(type)) return -1;
  int rc = HPy_SetAttr_s(ctx, module, name, type);
  HPy_Close(ctx, type);
  return rc;
}

static int add_derived(HPyContext *ctx, HPy module, const char *name, HPyType_Spec *spec, const char *base_name) {
  HPy base = HPy_GetAttr_s(ctx, module, base_name);
  int rc = HPy_IsNull(base) ? -1 : add_type(ctx, module, name, spec, base);
  HPy_Close(ctx, base);
  return rc;
}

HPyDef_SLOT(exec, HPy_mod_exec)
static int exec_impl(HPyContext *ctx, HPy module) {
  HPyGlobal_Store(ctx, &remembered, ctx->h_None);
  if (add_type(ctx, module, "Base", &Base_spec, HPy_NULL) < 0) return -1;
  if (add_derived(ctx, module, "Derived", &Derived_spec, "Base") < 0) return -1;
  if (add_type(ctx, module, "Adder", &Adder_spec, HPy_NULL) < 0) return -1;
  if (add_derived(ctx, module, "BigAdder", &BigAdder_spec, "Adder") < 0) return -1;
  if (add_type(ctx, module, "Quad", &Quad_spec, HPy_NULL) < 0) return -1;
  return add_type(ctx, module, "Meta", &Meta_spec, ctx->h_TypeType);
}

static HPyDef *defines[] = {&exec,         &nop,           &same,       &add_one,
                            &pack,         &pack_all,      &call_with,  &upper,
                            &remember,     &recall,        &extension,  &catch,
                            &attach_twice, &thread_states, &add_getset, &add_descriptor,
                            &make_adder,   &make_type,     &make_on,    &destroyed_counts,
                            NULL};
static HPyGlobal *globals[] = {&remembered, NULL};
static HPyModuleDef probe_def = {.doc = "a probe", .defines = defines, .globals = globals};
HPy_MODINIT(probe, probe_def)
