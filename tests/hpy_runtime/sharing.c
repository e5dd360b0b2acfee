/* A universal HPy module whose objects several threads use at once: see test_sharing.py. */
#include <alloca.h>
#include <hpy.h>

static HPyGlobal shared;

HPyDef_METH(store, "store", HPyFunc_O)
static HPy store_impl(HPyContext *ctx, HPy self, HPy value) {
  (void)self;
  HPyGlobal_Store(ctx, &shared, value);
  return HPy_Dup(ctx, ctx->h_None);
}
HPyDef_METH(load, "load", HPyFunc_NOARGS)
static HPy load_impl(HPyContext *ctx, HPy self) { return (void)self, HPyGlobal_Load(ctx, shared); }

/* ---- an instance with a field ---- */

typedef struct {
  HPyField value;
} Cell;
HPyType_HELPERS(Cell)

HPyDef_SLOT(Cell_new, HPy_tp_new)
static HPy Cell_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  Cell *cell;
  HPy h = HPy_New(ctx, type, &cell);
  if (!HPy_IsNull(h)) HPyField_Store(ctx, h, &cell->value, nargs > 0 ? args[0] : ctx->h_None);
  return h;
}
HPyDef_SLOT(Cell_traverse, HPy_tp_traverse)
static int Cell_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((Cell *)self)->value);
  return 0;
}
HPyDef_METH(Cell_put, "put", HPyFunc_O)
static HPy Cell_put_impl(HPyContext *ctx, HPy self, HPy value) {
  HPyField_Store(ctx, self, &Cell_AsStruct(ctx, self)->value, value);
  return HPy_Dup(ctx, ctx->h_None);
}
HPyDef_METH(Cell_get, "get", HPyFunc_NOARGS)
static HPy Cell_get_impl(HPyContext *ctx, HPy self) {
  return HPyField_Load(ctx, self, Cell_AsStruct(ctx, self)->value);
}
static HPyDef *Cell_defines[] = {&Cell_new, &Cell_traverse, &Cell_put, &Cell_get, NULL};
static HPyType_Spec Cell_spec = {.name = "sharing.Cell",
                                 .basicsize = sizeof(Cell),
                                 .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_HAVE_GC,
                                 .builtin_shape = Cell_SHAPE,
                                 .defines = Cell_defines};

/* ---- an instance that is only a struct, counted until its destruction ---- */

typedef struct {
  int64_t tag, zeros[4];
} Plain;
HPyType_HELPERS(Plain)

static int n_plain; /* alive */

HPyDef_SLOT(Plain_new, HPy_tp_new)
static HPy Plain_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw;
  Plain *plain;
  HPy h = HPy_New(ctx, type, &plain);
  if (HPy_IsNull(h)) return h;
  for (int i = 0; i < 4; ++i)
    if (plain->tag != 0 || plain->zeros[i] != 0) HPy_FatalError(ctx, "HPy_New did not zero the struct");
  plain->tag = 7;
  for (int i = 0; i < 4; ++i) plain->zeros[i] = -1; /* for the next object in this memory */
  __atomic_fetch_add(&n_plain, 1, __ATOMIC_RELAXED);
  return h;
}
HPyDef_SLOT(Plain_destroy, HPy_tp_destroy)
static void Plain_destroy_impl(void *self) {
  if (((Plain *)self)->tag == 7) __atomic_fetch_sub(&n_plain, 1, __ATOMIC_RELAXED);
}
static HPyDef *Plain_defines[] = {&Plain_new, &Plain_destroy, NULL};
static HPyType_Spec Plain_spec = {.name = "sharing.Plain",
                                  .basicsize = sizeof(Plain),
                                  .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
                                  .builtin_shape = Plain_SHAPE,
                                  .defines = Plain_defines};

HPyDef_METH(make_type, "make_type", HPyFunc_NOARGS)
static HPy make_type_impl(HPyContext *ctx, HPy self) { return (void)self, HPyType_FromSpec(ctx, &Plain_spec, NULL); }

HPyDef_METH(plain_alive, "plain_alive", HPyFunc_NOARGS)
static HPy plain_alive_impl(HPyContext *ctx, HPy self) {
  return (void)self, HPyLong_FromLong(ctx, __atomic_load_n(&n_plain, __ATOMIC_RELAXED));
}

/* ---- builders and trackers ---- */

/* gather(*items) -> ([*items], (*items)); writes each slot twice, and cancels a builder of each kind */
HPyDef_METH(gather, "gather", HPyFunc_VARARGS)
static HPy gather_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  HPy_ssize_t n = (HPy_ssize_t)nargs;
  HPyTracker tracker = HPyTracker_New(ctx, 1); /* grows */
  HPyListBuilder list = HPyListBuilder_New(ctx, n), given_up = HPyListBuilder_New(ctx, n);
  HPyTupleBuilder tuple = HPyTupleBuilder_New(ctx, n), given_up_too = HPyTupleBuilder_New(ctx, n);
  int rc = 0;
  for (HPy_ssize_t i = 0; i < n; ++i) {
    HPy item = HPy_Dup(ctx, args[i]);
    if (HPyTracker_Add(ctx, tracker, item) < 0) rc = -1;
    HPyListBuilder_Set(ctx, list, i, args[n - 1 - i]);
    HPyListBuilder_Set(ctx, list, i, item);
    HPyTupleBuilder_Set(ctx, tuple, i, args[n - 1 - i]);
    HPyTupleBuilder_Set(ctx, tuple, i, item);
    if (i % 2) HPyListBuilder_Set(ctx, given_up, i, item);
    if (i % 2) HPyTupleBuilder_Set(ctx, given_up_too, i, item);
  }
  HPyTracker_Close(ctx, tracker);
  HPyListBuilder_Cancel(ctx, given_up);
  HPyTupleBuilder_Cancel(ctx, given_up_too);
  HPy a = HPyListBuilder_Build(ctx, list), b = HPyTupleBuilder_Build(ctx, tuple);
  HPy both = rc < 0 || HPy_IsNull(a) || HPy_IsNull(b) ? HPy_NULL : HPyTuple_Pack(ctx, 2, a, b);
  HPy_Close(ctx, a);
  HPy_Close(ctx, b);
  return both;
}

/* set_out_of_range(kind, index): sets an item beyond the size of a builder for two */
HPyDef_METH(set_out_of_range, "set_out_of_range", HPyFunc_VARARGS)
static HPy set_out_of_range_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  long index = HPyLong_AsLong(ctx, args[1]);
  if (HPy_Is(ctx, args[0], ctx->h_ListType)) {
    HPyListBuilder b = HPyListBuilder_New(ctx, 2);
    HPyListBuilder_Set(ctx, b, index, args[0]);
    HPyListBuilder_Cancel(ctx, b);
  } else {
    HPyTupleBuilder b = HPyTupleBuilder_New(ctx, 2);
    HPyTupleBuilder_Set(ctx, b, index, args[0]);
    HPyTupleBuilder_Cancel(ctx, b);
  }
  return HPyErr_Occurred(ctx) ? HPy_NULL : HPy_Dup(ctx, ctx->h_None);
}

/* ---- the module ---- */

static int add_type(HPyContext *ctx, HPy module, const char *name, HPyType_Spec *spec) {
  HPy type = HPyType_FromSpec(ctx, spec, NULL);
  if (HPy_IsNull(type)) return -1;
  int rc = HPy_SetAttr_s(ctx, module, name, type);
  HPy_Close(ctx, type);
  return rc;
}

HPyDef_SLOT(exec, HPy_mod_exec)
static int exec_impl(HPyContext *ctx, HPy module) {
  if (add_type(ctx, module, "Cell", &Cell_spec) < 0) return -1;
  return add_type(ctx, module, "Plain", &Plain_spec);
}

static HPyDef *defines[] = {&exec, &store, &load, &make_type, &plain_alive, &gather, &set_out_of_range, NULL};
static HPyGlobal *globals[] = {&shared, NULL};
static HPyModuleDef sharing_def = {.doc = "values that threads share", .defines = defines, .globals = globals};
HPy_MODINIT(sharing, sharing_def)
