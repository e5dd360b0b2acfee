/* A universal HPy module with types whose slots return the index of their call: see test_sequence.py. */
#include <alloca.h>
#include <hpy.h>

typedef struct {
  HPy_ssize_t stored;
} Sequence;
HPyType_HELPERS(Sequence)

HPyDef_SLOT(new, HPy_tp_new)
static HPy new_impl(HPyContext *ctx, HPy cls, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw;
  Sequence *data;
  return HPy_New(ctx, cls, &data);
}
HPyDef_SLOT(length, HPy_sq_length)
static HPy_ssize_t length_impl(HPyContext *ctx, HPy self) { return (void)ctx, (void)self, 10; }
HPyDef_SLOT(failing_length, HPy_sq_length)
static HPy_ssize_t failing_length_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyErr_SetString(ctx, ctx->h_OSError, "no length");
  return -1;
}
HPyDef_SLOT(item, HPy_sq_item)
static HPy item_impl(HPyContext *ctx, HPy self, HPy_ssize_t index) {
  return (void)self, HPyLong_FromSsize_t(ctx, index);
}
HPyDef_SLOT(store, HPy_sq_ass_item)
static int store_impl(HPyContext *ctx, HPy self, HPy_ssize_t index, HPy value) {
  Sequence_AsStruct(ctx, self)->stored = HPy_IsNull(value) ? -index : index;
  return 0;
}
HPyDef_SLOT(repeat, HPy_sq_repeat)
static HPy repeat_impl(HPyContext *ctx, HPy self, HPy_ssize_t times) {
  return (void)self, HPyLong_FromSsize_t(ctx, times);
}
HPyDef_GET(stored, "stored")
static HPy stored_get(HPyContext *ctx, HPy self, void *closure) {
  return (void)closure, HPyLong_FromSsize_t(ctx, Sequence_AsStruct(ctx, self)->stored);
}

HPyDef_METH(get, "get", HPyFunc_VARARGS)
static HPy get_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  return HPy_GetItem_i(ctx, args[0], HPyLong_AsSsize_t(ctx, args[1]));
}

HPyDef_SLOT(exec, HPy_mod_exec)
static int exec_impl(HPyContext *ctx, HPy module) {
  static HPyDef *whole[] = {&new, &length, &item, &store, &repeat, &stored, NULL}, *endless[] = {&item, NULL},
                *failing[] = {&failing_length, &item, NULL};
  static HPyType_Spec specs[] = {
      {.name = "sequence.Whole",
       .basicsize = sizeof(Sequence),
       .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
       .defines = whole},
      {.name = "sequence.Endless", .defines = endless},
      {.name = "sequence.Failing", .defines = failing},
  };
  const char *names[] = {"Whole", "Endless", "Failing"};
  int rc = 0;
  for (int i = 0; rc == 0 && i < 3; ++i) {
    HPy type = HPyType_FromSpec(ctx, &specs[i], NULL);
    rc = HPy_IsNull(type) ? -1 : HPy_SetAttr_s(ctx, module, names[i], type);
    HPy_Close(ctx, type);
  }
  return rc;
}

static HPyDef *defines[] = {&exec, &get, NULL};
static HPyModuleDef sequence_def = {.doc = "sequences", .defines = defines};
HPy_MODINIT(sequence, sequence_def)
