/* A universal HPy module whose function make(name) calls HPyType_FromSpec with the specification `name`: see
 * test_specs.py. */
#include <alloca.h>
#include <hpy.h>
#include <string.h>

typedef struct {
  HPyField value;
  long number;
} Pair;
HPyType_HELPERS(Pair)

static int finalized;

HPyDef_SLOT(Pair_traverse, HPy_tp_traverse)
static int Pair_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((Pair *)self)->value);
  return 0;
}
HPyDef_SLOT(Pair_finalize, HPy_tp_finalize)
static void Pair_finalize_impl(HPyContext *ctx, HPy self) { (void)ctx, (void)self, finalized++; }
HPyDef_SLOT(Pair_repr, HPy_tp_repr)
static HPy Pair_repr_impl(HPyContext *ctx, HPy self) { return (void)self, HPyUnicode_FromString(ctx, "a pair"); }
HPyDef_SLOT(Pair_call, HPy_tp_call)
static HPy Pair_call_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  (void)self, (void)args, (void)kwnames;
  return HPyLong_FromSize_t(ctx, nargs);
}
HPyDef_MEMBER(Pair_value, "value", HPyMember_OBJECT, offsetof(Pair, value))
    HPyDef_MEMBER(Pair_none, "none", HPyMember_NONE, 0)
        HPyDef_MEMBER(Pair_none_readonly, "none_readonly", HPyMember_NONE, 0, .readonly = 1)
            HPyDef_MEMBER(Pair_vectorcall, "__vectorcalloffset__", HPyMember_HPYSSIZET, offsetof(Pair, number),
                          .readonly = 1) HPyDef_METH(Pair_is_struct, "is_struct", HPyFunc_NOARGS)
static HPy Pair_is_struct_impl(HPyContext *ctx, HPy self) {
  return HPyBool_FromBool(ctx, _HPy_AsStruct_Legacy(ctx, self) == (void *)self._i);
}
HPyDef_SLOT(exec, HPy_mod_exec)
static int exec_impl(HPyContext *ctx, HPy module) { return (void)ctx, (void)module, 0; }

/* an entry of a list of legacy slots: a slot number and a pointer; {0, NULL} ends the list */
typedef struct {
  int slot;
  void *function;
} LegacySlot;
static LegacySlot legacy_repr[] = {{66, (void *)Pair_repr_trampoline}, {0, NULL}}, legacy_none[] = {{0, NULL}};

/* make(name, base=None): name is an addition to or a change of a good specification */
HPyDef_METH(make, "make", HPyFunc_VARARGS)
static HPy make_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  HPyDef changed_slot = Pair_repr, changed_kind = Pair_repr;
  HPyDef *defines[8] = {NULL};
  HPyType_Spec spec = {.name = "specs.Made",
                       .basicsize = sizeof(Pair),
                       .defines = defines,
                       .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE};
  const char *name = HPyUnicode_AsUTF8AndSize(ctx, args[0], NULL);
#define IS(text) (strcmp(name, text) == 0)
  if (IS("good")) defines[0] = &Pair_traverse, defines[1] = &Pair_value, spec.flags |= HPy_TPFLAGS_HAVE_GC;
  if (IS("finalized")) defines[0] = &Pair_finalize;
  if (IS("none members")) defines[0] = &Pair_none, defines[1] = &Pair_none_readonly;
  if (IS("no name")) spec.name = NULL;
  if (IS("unknown shape")) spec.builtin_shape = (HPyType_BuiltinShape)42;
  if (IS("negative basicsize")) spec.basicsize = -1;
  if (IS("negative itemsize")) spec.itemsize = -1;
  if (IS("member without struct")) spec.basicsize = 0, defines[0] = &Pair_value;
  if (IS("slot twice")) defines[0] = &Pair_repr, defines[1] = &Pair_value, defines[2] = &Pair_repr;
  if (IS("module slot")) defines[0] = &exec;
  if (IS("unknown kind")) changed_kind.kind = (HPyDef_Kind)9, defines[0] = &changed_kind;
  if (strncmp(name, "slot=", 5) == 0) {
    changed_slot.slot.slot = (HPySlot_Slot)HPyLong_AsLong(ctx, args[1]);
    defines[0] = &changed_slot;
    nargs = 1;
  }
  if (strncmp(name, "shape=", 6) == 0) {
    spec.builtin_shape = (HPyType_BuiltinShape)HPyLong_AsLong(ctx, args[1]);
    nargs = 1;
  }
  if (IS("gc without traverse")) spec.flags |= HPy_TPFLAGS_HAVE_GC;
  if (IS("call with items")) defines[0] = &Pair_call, spec.itemsize = 8;
  if (IS("call and offset")) defines[0] = &Pair_call, defines[1] = &Pair_vectorcall;
  if (strncmp(name, "legacy", 6) == 0) {
    spec.builtin_shape = HPyType_BuiltinShape_Legacy;
    spec.basicsize = 0;
    defines[0] = &Pair_is_struct, defines[1] = &Pair_repr;
  }
  if (IS("legacy with struct")) spec.basicsize = 32;
  if (IS("legacy with slots")) spec.legacy_slots = legacy_repr;
  if (IS("legacy with no slots")) spec.legacy_slots = legacy_none;
  if (IS("legacy with call")) defines[1] = &Pair_call;
  if (IS("pure with legacy slots")) spec.legacy_slots = legacy_repr;
  if (IS("metaclass with member")) spec.builtin_shape = HPyType_BuiltinShape_Type, defines[0] = &Pair_none;
  if (IS("metaclass with call")) spec.builtin_shape = HPyType_BuiltinShape_Type, defines[0] = &Pair_call;
  HPyType_SpecParam params[] = {{HPyType_SpecParam_Base, nargs > 1 ? args[1] : HPy_NULL},
                                {(HPyType_SpecParam_Kind)0, HPy_NULL}};
  return HPyType_FromSpec(ctx, &spec, nargs > 1 ? params : NULL);
}

HPyDef_METH(shape_of, "shape_of", HPyFunc_O)
static HPy shape_of_impl(HPyContext *ctx, HPy self, HPy type) {
  (void)self;
  return HPyLong_FromLong(ctx, _HPyType_GetBuiltinShape(ctx, type));
}

/* make_and_drop(type): an instance that Python never sees */
HPyDef_METH(make_and_drop, "make_and_drop", HPyFunc_O)
static HPy make_and_drop_impl(HPyContext *ctx, HPy self, HPy type) {
  (void)self;
  Pair *data;
  HPy h = HPy_New(ctx, type, &data);
  if (HPy_IsNull(h)) return h;
  HPy_Close(ctx, h);
  return HPy_Dup(ctx, ctx->h_None);
}
static Pair *get_struct(HPyContext *ctx, HPy h, long shape) {
  static void *(*const functions[])(HPyContext *, HPy) = {
      _HPy_AsStruct_Object,  _HPy_AsStruct_Type,  _HPy_AsStruct_Long, _HPy_AsStruct_Float,
      _HPy_AsStruct_Unicode, _HPy_AsStruct_Tuple, _HPy_AsStruct_List};
  return functions[shape](ctx, h);
}

/* make_with(type, number): an instance by HPy_New; number_of(instance, shape) */
HPyDef_METH(make_with, "make_with", HPyFunc_VARARGS)
static HPy make_with_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  Pair *data;
  HPy h = HPy_New(ctx, args[0], &data);
  if (!HPy_IsNull(h)) data->number += HPyLong_AsLong(ctx, args[1]);
  return h;
}
HPyDef_METH(number_of, "number_of", HPyFunc_VARARGS)
static HPy number_of_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  return HPyLong_FromLong(ctx, get_struct(ctx, args[0], HPyLong_AsLong(ctx, args[1]))->number);
}
HPyDef_METH(generic_new, "generic_new", HPyFunc_O)
static HPy generic_new_impl(HPyContext *ctx, HPy self, HPy type) {
  return (void)self, HPyType_GenericNew(ctx, type, NULL, 0, HPy_NULL);
}

HPyDef_METH(finalized_count, "finalized_count", HPyFunc_NOARGS)
static HPy finalized_count_impl(HPyContext *ctx, HPy self) { return (void)self, HPyLong_FromLong(ctx, finalized); }

static HPyDef *defines[] = {&make,      &shape_of,    &make_and_drop,   &make_with,
                            &number_of, &generic_new, &finalized_count, NULL};
static HPyModuleDef specs_def = {.doc = "types from specifications", .defines = defines};
HPy_MODINIT(specs, specs_def)
