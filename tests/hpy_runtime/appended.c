/* A universal HPy module that uses the entries appended after 0.9.0: see test_appended.py. */
#include "../../src/hpy_runtime/api/appended.h"

#define ENTRY(ctx, name) (((const FhpyContext *)(const void *)(ctx))->name)

HPyDef_METH(is_found, "is_found", HPyFunc_NOARGS)
static HPy is_found_impl(HPyContext *ctx, HPy self) {
  (void)self;
  return HPyBool_FromBool(ctx, fhpy_appended_find(ctx) != NULL);
}

HPyDef_METH(dict_type, "dict_type", HPyFunc_NOARGS)
static HPy dict_type_impl(HPyContext *ctx, HPy self) { return (void)self, HPy_Dup(ctx, ENTRY(ctx, h_DictType)); }

static HPy none_or_error(HPyContext *ctx, int rc) { return rc < 0 ? HPy_NULL : HPy_Dup(ctx, ctx->h_None); }

/* (list, index, item) */
HPyDef_METH(insert, "insert", HPyFunc_VARARGS)
static HPy insert_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPy_ssize_t index = HPyLong_AsSsize_t(ctx, args[1]);
  return none_or_error(ctx, ENTRY(ctx, ctx_List_Insert)(ctx, args[0], index, args[2]));
}

/* (sequence, start, end), (sequence, start, end, value) */
HPyDef_METH(get_slice, "get_slice", HPyFunc_VARARGS)
static HPy get_slice_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPy_ssize_t start = HPyLong_AsSsize_t(ctx, args[1]), end = HPyLong_AsSsize_t(ctx, args[2]);
  return ENTRY(ctx, ctx_GetSlice)(ctx, args[0], start, end);
}

HPyDef_METH(set_slice, "set_slice", HPyFunc_VARARGS)
static HPy set_slice_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPy_ssize_t start = HPyLong_AsSsize_t(ctx, args[1]), end = HPyLong_AsSsize_t(ctx, args[2]);
  return none_or_error(ctx, ENTRY(ctx, ctx_SetSlice)(ctx, args[0], start, end, args[3]));
}

HPyDef_METH(del_slice, "del_slice", HPyFunc_VARARGS)
static HPy del_slice_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPy_ssize_t start = HPyLong_AsSsize_t(ctx, args[1]), end = HPyLong_AsSsize_t(ctx, args[2]);
  return none_or_error(ctx, ENTRY(ctx, ctx_DelSlice)(ctx, args[0], start, end));
}

HPyDef_METH(get_iter, "get_iter", HPyFunc_O)
static HPy get_iter_impl(HPyContext *ctx, HPy self, HPy arg) { return (void)self, ENTRY(ctx, ctx_GetIter)(ctx, arg); }

HPyDef_METH(is_iter, "is_iter", HPyFunc_O)
static HPy is_iter_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  return HPyBool_FromBool(ctx, ENTRY(ctx, ctx_Iter_Check)(ctx, arg));
}

/* next(iterator), "end" at the end */
HPyDef_METH(next, "next", HPyFunc_O)
static HPy next_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPy h = ENTRY(ctx, ctx_Iter_Next)(ctx, arg);
  if (!HPy_IsNull(h) || HPyErr_Occurred(ctx)) return h;
  return HPyUnicode_FromString(ctx, "end");
}

/* slice(start, stop, step); the last two may be left out */
HPyDef_METH(slice, "slice", HPyFunc_VARARGS)
static HPy slice_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  return ENTRY(ctx, ctx_Slice_New)(ctx, args[0], nargs > 1 ? args[1] : HPy_NULL, nargs > 2 ? args[2] : HPy_NULL);
}

/* ---- a type on top of dict ---- */

typedef struct {
  int64_t count;
  HPyField field;
} Counted;

HPyDef_SLOT(counted_traverse, HPy_tp_traverse)
static int counted_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((Counted *)self)->field);
  return 0;
}

HPyDef_METH(counted_hit, "hit", HPyFunc_O)
static HPy counted_hit_impl(HPyContext *ctx, HPy self, HPy value) {
  Counted *counted = ENTRY(ctx, ctx_AsStruct_Dict)(ctx, self);
  HPyField_Store(ctx, self, &counted->field, value);
  return HPyLong_FromInt64_t(ctx, ++counted->count);
}

static HPyDef *counted_defines[] = {&counted_traverse, &counted_hit, NULL};
static HPyType_Spec counted_spec = {
    .name = "appended.Counted",
    .basicsize = sizeof(Counted),
    .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE | HPy_TPFLAGS_HAVE_GC,
    .builtin_shape = FHPY_BUILTIN_SHAPE_DICT,
    .defines = counted_defines,
};

/* A Counted through HPy_New */
HPyDef_METH(make, "make", HPyFunc_O)
static HPy make_impl(HPyContext *ctx, HPy self, HPy type) {
  (void)self;
  void *data;
  HPy h = _HPy_New(ctx, type, &data);
  if (!HPy_IsNull(h)) ((Counted *)data)->count = 100;
  return h;
}

HPyDef_METH(shape, "shape", HPyFunc_O)
static HPy shape_impl(HPyContext *ctx, HPy self, HPy type) {
  (void)self;
  return HPyLong_FromInt64_t(ctx, _HPyType_GetBuiltinShape(ctx, type));
}

HPyDef_SLOT(exec, HPy_mod_exec)
static int exec_impl(HPyContext *ctx, HPy module) {
  HPyType_SpecParam params[] = {{HPyType_SpecParam_Base, ENTRY(ctx, h_DictType)}, {0}};
  HPy type = HPyType_FromSpec(ctx, &counted_spec, params);
  if (HPy_IsNull(type)) return -1;
  int rc = HPy_SetAttr_s(ctx, module, "Counted", type);
  HPy_Close(ctx, type);
  return rc;
}

static HPyDef *defines[] = {&is_found, &dict_type, &insert, &get_slice, &set_slice, &del_slice, &get_iter,
                            &is_iter,  &next,      &slice,  &make,      &shape,     &exec,      NULL};
static HPyModuleDef appended_def = {.doc = "the appended entries", .defines = defines};
HPy_MODINIT(appended, appended_def)
