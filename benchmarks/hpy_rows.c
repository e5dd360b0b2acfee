/* The functions that benchmarks/hpy.py times, as an HPy universal module. capi_rows.c has the same functions. */
#include <alloca.h>
#include <hpy.h>

HPyDef_METH(noargs, "noargs", HPyFunc_NOARGS)
static HPy noargs_impl(HPyContext *ctx, HPy self) { return (void)self, HPy_Dup(ctx, ctx->h_None); }

HPyDef_METH(onearg, "onearg", HPyFunc_O)
static HPy onearg_impl(HPyContext *ctx, HPy self, HPy arg) { return (void)self, HPy_Dup(ctx, arg); }

HPyDef_METH(varargs, "varargs", HPyFunc_VARARGS)
static HPy varargs_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  return (void)self, HPy_Dup(ctx, args[nargs - 1]);
}

HPyDef_METH(keywords, "keywords", HPyFunc_KEYWORDS)
static HPy keywords_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  (void)self;
  return HPy_Dup(ctx, HPy_IsNull(kwnames) ? ctx->h_None : args[nargs]);
}

HPyDef_METH(get_attr, "get_attr", HPyFunc_VARARGS)
static HPy get_attr_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  return (void)self, (void)nargs, HPy_GetAttr(ctx, args[0], args[1]);
}

HPyDef_METH(get_attr_s, "get_attr_s", HPyFunc_O)
static HPy get_attr_s_impl(HPyContext *ctx, HPy self, HPy arg) { return (void)self, HPy_GetAttr_s(ctx, arg, "number"); }

HPyDef_METH(get_item, "get_item", HPyFunc_VARARGS)
static HPy get_item_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  return (void)self, (void)nargs, HPy_GetItem(ctx, args[0], args[1]);
}

HPyDef_METH(get_item_i, "get_item_i", HPyFunc_O)
static HPy get_item_i_impl(HPyContext *ctx, HPy self, HPy arg) { return (void)self, HPy_GetItem_i(ctx, arg, 1); }

HPyDef_METH(build_list, "build_list", HPyFunc_O)
static HPy build_list_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyListBuilder builder = HPyListBuilder_New(ctx, 10);
  for (int i = 0; i < 10; i++) HPyListBuilder_Set(ctx, builder, i, arg);
  return HPyListBuilder_Build(ctx, builder);
}

HPyDef_METH(append_list, "append_list", HPyFunc_O)
static HPy append_list_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPy list = HPyList_New(ctx, 0);
  for (int i = 0; i < 10; i++) HPyList_Append(ctx, list, arg);
  return list;
}

HPyDef_METH(echo_long, "echo_long", HPyFunc_O)
static HPy echo_long_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  int64_t v = HPyLong_AsInt64_t(ctx, arg);
  if (v == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  return HPyLong_FromInt64_t(ctx, v);
}

HPyDef_METH(echo_text, "echo_text", HPyFunc_O)
static HPy echo_text_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPy_ssize_t byte_len;
  const char *text = HPyUnicode_AsUTF8AndSize(ctx, arg, &byte_len);
  return text == NULL ? HPy_NULL : HPyUnicode_FromString(ctx, text);
}

/* ---- types: without and with references to trace ---- */

typedef struct {
  int64_t number;
} Plain;

HPyDef_SLOT(plain_new, HPy_tp_new)
static HPy plain_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw;
  Plain *plain;
  HPy h = _HPy_New(ctx, type, (void **)&plain);
  if (!HPy_IsNull(h)) plain->number = 7;
  return h;
}
HPyDef_MEMBER(plain_number, "number", HPyMember_LONGLONG, offsetof(Plain, number))

    static HPyDef *plain_defines[] = {&plain_new, &plain_number, NULL};
static HPyType_Spec plain_spec = {
    .name = "rows.Plain",
    .basicsize = sizeof(Plain),
    .flags = HPy_TPFLAGS_DEFAULT,
    .builtin_shape = HPyType_BuiltinShape_Object,
    .defines = plain_defines,
};

typedef struct {
  HPyField value;
} Traced;

HPyDef_SLOT(traced_new, HPy_tp_new)
static HPy traced_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw;
  Traced *traced;
  HPy h = _HPy_New(ctx, type, (void **)&traced);
  if (!HPy_IsNull(h)) HPyField_Store(ctx, h, &traced->value, ctx->h_None);
  return h;
}
HPyDef_SLOT(traced_traverse, HPy_tp_traverse)
static int traced_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((Traced *)self)->value);
  return 0;
}

static HPyDef *traced_defines[] = {&traced_new, &traced_traverse, NULL};
static HPyType_Spec traced_spec = {
    .name = "rows.Traced",
    .basicsize = sizeof(Traced),
    .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_HAVE_GC,
    .builtin_shape = HPyType_BuiltinShape_Object,
    .defines = traced_defines,
};

static int add_type(HPyContext *ctx, HPy module, const char *name, HPyType_Spec *spec) {
  HPy type = HPyType_FromSpec(ctx, spec, NULL);
  if (HPy_IsNull(type)) return -1;
  int rc = HPy_SetAttr_s(ctx, module, name, type);
  HPy_Close(ctx, type);
  return rc;
}

HPyDef_SLOT(exec, HPy_mod_exec)
static int exec_impl(HPyContext *ctx, HPy module) {
  if (add_type(ctx, module, "Plain", &plain_spec) < 0) return -1;
  return add_type(ctx, module, "Traced", &traced_spec);
}

static HPyDef *defines[] = {&noargs,     &onearg,      &varargs,   &keywords,  &get_attr, &get_attr_s, &get_item,
                            &get_item_i, &append_list, &echo_long, &echo_text, &exec,     &build_list, NULL};
static HPyModuleDef rows_def = {.doc = "the timed functions", .defines = defines};
HPy_MODINIT(rows, rows_def)
