/* A universal HPy module that makes every mistake with handles that debug mode detects: see test_debug.py. */
#include <alloca.h>
#include <hpy.h>
#include <string.h>

static HPy none(HPyContext *ctx) { return HPy_Dup(ctx, ctx->h_None); }

/* ---- mistakes ---- */

HPyDef_METH(leak, "leak", HPyFunc_O)
static HPy leak_impl(HPyContext *ctx, HPy self, HPy arg) { return (void)self, HPy_Dup(ctx, arg), none(ctx); }

static HPy leaked; /* set by leak_new, for close_leaked */
HPyDef_METH(leak_new, "leak_new", HPyFunc_NOARGS)
static HPy leak_new_impl(HPyContext *ctx, HPy self) {
  (void)self;
  leaked = HPyList_New(ctx, 2);
  return none(ctx);
}
HPyDef_METH(close_leaked, "close_leaked", HPyFunc_NOARGS)
static HPy close_leaked_impl(HPyContext *ctx, HPy self) { return (void)self, HPy_Close(ctx, leaked), none(ctx); }
HPyDef_METH(use_leaked, "use_leaked", HPyFunc_NOARGS)
static HPy use_leaked_impl(HPyContext *ctx, HPy self) { return (void)self, HPy_Repr(ctx, leaked); }

HPyDef_METH(close_twice, "close_twice", HPyFunc_NOARGS)
static HPy close_twice_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPy h = HPyList_New(ctx, 0);
  HPy_Close(ctx, h);
  HPy_Close(ctx, h);
  return none(ctx);
}

HPyDef_METH(use_after_close, "use_after_close", HPyFunc_NOARGS)
static HPy use_after_close_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPy h = HPyList_New(ctx, 0);
  HPy_Close(ctx, h);
  return HPy_Repr(ctx, h);
}

HPyDef_METH(return_closed, "return_closed", HPyFunc_NOARGS)
static HPy return_closed_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPy h = HPyList_New(ctx, 0);
  HPy_Close(ctx, h);
  return h;
}

HPyDef_METH(close_argument, "close_argument", HPyFunc_O)
static HPy close_argument_impl(HPyContext *ctx, HPy self, HPy arg) {
  return (void)self, HPy_Close(ctx, arg), none(ctx);
}
HPyDef_METH(return_argument, "return_argument", HPyFunc_VARARGS)
static HPy return_argument_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)ctx, (void)self, (void)nargs;
  return args[0];
}
HPyDef_METH(close_constant, "close_constant", HPyFunc_NOARGS)
static HPy close_constant_impl(HPyContext *ctx, HPy self) {
  return (void)self, HPy_Close(ctx, ctx->h_SliceType), none(ctx);
}
HPyDef_METH(return_constant, "return_constant", HPyFunc_NOARGS)
static HPy return_constant_impl(HPyContext *ctx, HPy self) { return (void)self, ctx->h_True; }

HPyDef_METH(use_pointer, "use_pointer", HPyFunc_NOARGS)
static HPy use_pointer_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPy h = {(intptr_t)ctx};
  return HPy_Repr(ctx, h);
}

/* ---- builders ---- */

HPyDef_METH(build_twice, "build_twice", HPyFunc_NOARGS)
static HPy build_twice_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyListBuilder b = HPyListBuilder_New(ctx, 0);
  HPy_Close(ctx, HPyListBuilder_Build(ctx, b));
  return HPyListBuilder_Build(ctx, b);
}
HPyDef_METH(set_after_cancel, "set_after_cancel", HPyFunc_O)
static HPy set_after_cancel_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyTupleBuilder b = HPyTupleBuilder_New(ctx, 1);
  HPyTupleBuilder_Cancel(ctx, b);
  HPyTupleBuilder_Set(ctx, b, 0, arg);
  HPyErr_Clear(ctx);
  return none(ctx);
}
HPyDef_METH(cancel_after_build, "cancel_after_build", HPyFunc_NOARGS)
static HPy cancel_after_build_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyTupleBuilder b = HPyTupleBuilder_New(ctx, 0);
  HPy_Close(ctx, HPyTupleBuilder_Build(ctx, b));
  HPyTupleBuilder_Cancel(ctx, b);
  return none(ctx);
}
HPyDef_METH(cancel_twice, "cancel_twice", HPyFunc_NOARGS)
static HPy cancel_twice_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyListBuilder b = HPyListBuilder_New(ctx, 2);
  HPyListBuilder_Cancel(ctx, b);
  HPyListBuilder_Cancel(ctx, b);
  return none(ctx);
}
HPyDef_METH(set_after_build, "set_after_build", HPyFunc_O)
static HPy set_after_build_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyListBuilder b = HPyListBuilder_New(ctx, 1);
  HPyListBuilder_Set(ctx, b, 0, arg);
  HPy list = HPyListBuilder_Build(ctx, b);
  HPyListBuilder_Set(ctx, b, 0, self);
  return list;
}
HPyDef_METH(set_out_of_range, "set_out_of_range", HPyFunc_O)
static HPy set_out_of_range_impl(HPyContext *ctx, HPy self, HPy index) {
  (void)self;
  HPyListBuilder b = HPyListBuilder_New(ctx, 1);
  HPyListBuilder_Set(ctx, b, 0, index);
  HPyListBuilder_Set(ctx, b, HPyLong_AsSsize_t(ctx, index), index);
  return HPyListBuilder_Build(ctx, b);
}
HPyDef_METH(build_unfinished, "build_unfinished", HPyFunc_O)
static HPy build_unfinished_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyTupleBuilder b = HPyTupleBuilder_New(ctx, 3);
  HPyTupleBuilder_Set(ctx, b, 1, arg);
  return HPyTupleBuilder_Build(ctx, b);
}
HPyDef_METH(set_null, "set_null", HPyFunc_O)
static HPy set_null_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyListBuilder b = HPyListBuilder_New(ctx, 1);
  HPyListBuilder_Set(ctx, b, 0, HPy_NULL);
  HPyListBuilder_Set(ctx, b, 0, arg);
  return HPyListBuilder_Build(ctx, b);
}
HPyDef_METH(builder_as_handle, "builder_as_handle", HPyFunc_NOARGS)
static HPy builder_as_handle_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyListBuilder b = HPyListBuilder_New(ctx, 1);
  HPy h = {b._lst};
  HPy result = HPy_Repr(ctx, h);
  HPyListBuilder_Cancel(ctx, b);
  return result;
}
HPyDef_METH(handle_as_builder, "handle_as_builder", HPyFunc_O)
static HPy handle_as_builder_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyTupleBuilder b = {arg._i};
  HPyTupleBuilder_Set(ctx, b, 0, arg);
  return none(ctx);
}
HPyDef_METH(forget_builder, "forget_builder", HPyFunc_NOARGS)
static HPy forget_builder_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyTupleBuilder_New(ctx, 3);
  return none(ctx);
}
HPyDef_METH(build, "build", HPyFunc_O)
static HPy build_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyTupleBuilder t = HPyTupleBuilder_New(ctx, 2);
  HPyListBuilder l = HPyListBuilder_New(ctx, 1), cancelled = HPyListBuilder_New(ctx, 3);
  HPyListBuilder_Set(ctx, cancelled, 1, arg);
  HPyListBuilder_Cancel(ctx, cancelled);
  HPyListBuilder_Set(ctx, l, 0, arg);
  HPy list = HPyListBuilder_Build(ctx, l);
  HPyTupleBuilder_Set(ctx, t, 0, list);
  HPyTupleBuilder_Set(ctx, t, 1, arg);
  HPy_Close(ctx, list);
  return HPyTupleBuilder_Build(ctx, t);
}

/* ---- trackers ---- */

HPyDef_METH(close_tracker_twice, "close_tracker_twice", HPyFunc_NOARGS)
static HPy close_tracker_twice_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyTracker t = HPyTracker_New(ctx, 0);
  HPyTracker_Close(ctx, t);
  HPyTracker_Close(ctx, t);
  return none(ctx);
}
HPyDef_METH(add_to_closed_tracker, "add_to_closed_tracker", HPyFunc_O)
static HPy add_to_closed_tracker_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyTracker t = HPyTracker_New(ctx, 0);
  HPyTracker_Close(ctx, t);
  return HPyTracker_Add(ctx, t, arg) < 0 ? HPy_NULL : none(ctx);
}
HPyDef_METH(forget_all_of_closed_tracker, "forget_all_of_closed_tracker", HPyFunc_NOARGS)
static HPy forget_all_of_closed_tracker_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyTracker t = HPyTracker_New(ctx, 0);
  HPyTracker_Close(ctx, t);
  HPyTracker_ForgetAll(ctx, t);
  return none(ctx);
}
HPyDef_METH(use_null_tracker, "use_null_tracker", HPyFunc_NOARGS)
static HPy use_null_tracker_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyTracker t = {0};
  HPyTracker_ForgetAll(ctx, t);
  HPyTracker_Close(ctx, t); /* this is allowed */
  return none(ctx);
}
HPyDef_METH(track_closed, "track_closed", HPyFunc_O)
static HPy track_closed_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyTracker t = HPyTracker_New(ctx, 0);
  HPy h = HPy_Dup(ctx, arg);
  HPyTracker_Add(ctx, t, h);
  HPy_Close(ctx, h);
  HPyTracker_Close(ctx, t);
  return none(ctx);
}
HPyDef_METH(forget_tracker, "forget_tracker", HPyFunc_NOARGS)
static HPy forget_tracker_impl(HPyContext *ctx, HPy self) { return (void)self, HPyTracker_New(ctx, 1), none(ctx); }

/* ---- texts: modes are 0 str, 1 bytes, 2 bytes without a check, 3 type ---- */

static const char *text_of(HPyContext *ctx, HPy h, HPy mode) {
  switch (HPyLong_AsLong(ctx, mode)) {
  case 0: return HPyUnicode_AsUTF8AndSize(ctx, h, NULL);
  case 1: return HPyBytes_AsString(ctx, h);
  case 2: return HPyBytes_AS_STRING(ctx, h);
  default: return HPyType_GetName(ctx, h);
  }
}

/* None if two calls return different pointers */
HPyDef_METH(text, "text", HPyFunc_VARARGS)
static HPy text_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPy h = HPy_Dup(ctx, args[0]);
  const char *text = text_of(ctx, h, args[1]);
  int is_stable = text != NULL && text == text_of(ctx, h, args[1]);
  HPy result = text == NULL ? HPy_NULL : is_stable ? HPyUnicode_FromString(ctx, text) : none(ctx);
  HPy_Close(ctx, h);
  return result;
}
HPyDef_METH(text_after_close, "text_after_close", HPyFunc_VARARGS)
static HPy text_after_close_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPy h = HPy_Dup(ctx, args[0]);
  const char *text = text_of(ctx, h, args[1]);
  HPy_Close(ctx, h);
  return HPyUnicode_FromString(ctx, text);
}
HPyDef_METH(write_text, "write_text", HPyFunc_VARARGS)
static HPy write_text_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  ((char *)(intptr_t)text_of(ctx, args[0], args[1]))[0] = 'w';
  return none(ctx);
}
static const char *kept_text;
HPyDef_METH(keep_text, "keep_text", HPyFunc_VARARGS)
static HPy keep_text_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  kept_text = text_of(ctx, args[0], args[1]);
  return none(ctx);
}
HPyDef_METH(use_kept_text, "use_kept_text", HPyFunc_NOARGS)
static HPy use_kept_text_impl(HPyContext *ctx, HPy self) { return (void)self, HPyUnicode_FromString(ctx, kept_text); }

/* ---- entries that do not check their arguments ---- */

HPyDef_METH(type_check, "type_check", HPyFunc_VARARGS)
static HPy type_check_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  return HPyBool_FromBool(ctx, HPy_TypeCheck(ctx, args[0], nargs > 1 ? args[1] : HPy_NULL));
}
HPyDef_METH(is_subtype, "is_subtype", HPyFunc_VARARGS)
static HPy is_subtype_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  return HPyBool_FromBool(ctx, HPyType_IsSubtype(ctx, args[0], args[1]));
}
HPyDef_METH(substring, "substring", HPyFunc_O)
static HPy substring_impl(HPyContext *ctx, HPy self, HPy arg) {
  return (void)self, HPyUnicode_Substring(ctx, arg, 1, 3);
}

static HPy kept;
HPyDef_METH(keep_argument, "keep_argument", HPyFunc_O)
static HPy keep_argument_impl(HPyContext *ctx, HPy self, HPy arg) { return (void)self, kept = arg, none(ctx); }
HPyDef_METH(use_kept, "use_kept", HPyFunc_NOARGS)
static HPy use_kept_impl(HPyContext *ctx, HPy self) { return (void)self, HPy_Repr(ctx, kept); }

/* ---- correct uses ---- */

/* track(o): opens handles and closes them with a tracker */
HPyDef_METH(track, "track", HPyFunc_O)
static HPy track_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPyTracker t = HPyTracker_New(ctx, 1);
  HPy repr = HPy_NULL;
  for (int i = 0; i < 10; ++i) {
    repr = HPy_Repr(ctx, arg);
    HPyTracker_Add(ctx, t, repr);
  }
  HPy result = HPy_Dup(ctx, repr);
  HPyTracker_Close(ctx, t);
  return result;
}

/* call(f, a, names, value): f(a, name=value) */
HPyDef_METH(call, "call", HPyFunc_VARARGS)
static HPy call_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self, (void)nargs;
  HPy with_value[] = {args[1], args[3]};
  return HPy_Call(ctx, args[0], with_value, 1, args[2]);
}

HPyDef_METH(variable, "variable", HPyFunc_O)
static HPy variable_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  HPy var = HPyContextVar_New(ctx, "variable", arg), value = HPy_NULL;
  HPyContextVar_Get(ctx, var, HPy_NULL, &value);
  HPy_Close(ctx, var);
  return value;
}

/* churn(n): opens and closes n handles, so that records are reused */
HPyDef_METH(churn, "churn", HPyFunc_O)
static HPy churn_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  long n = HPyLong_AsLong(ctx, arg);
  for (long i = 0; i < n; ++i) HPy_Close(ctx, HPy_Dup(ctx, self));
  return none(ctx);
}

HPyDef_METH(context_name, "context_name", HPyFunc_NOARGS)
static HPy context_name_impl(HPyContext *ctx, HPy self) { return (void)self, HPyUnicode_FromString(ctx, ctx->name); }

/* ---- a type ---- */

typedef struct {
  int number;
} Thing;
HPyType_HELPERS(Thing)
HPyDef_SLOT(Thing_new, HPy_tp_new)
static HPy Thing_new_impl(HPyContext *ctx, HPy cls, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  Thing *data;
  HPy h = HPy_New(ctx, cls, &data);
  if (!HPy_IsNull(h) && nargs > 0) data->number = (int)HPyLong_AsLong(ctx, args[0]);
  return h;
}
HPyDef_SLOT(Thing_repr, HPy_tp_repr)
static HPy Thing_repr_impl(HPyContext *ctx, HPy self) {
  HPy_Dup(ctx, self);
  return HPyUnicode_FromString(ctx, "Thing");
}
HPyDef_GET(Thing_number, "number")
static HPy Thing_number_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  HPy_Dup(ctx, self);
  return HPyLong_FromLong(ctx, Thing_AsStruct(ctx, self)->number);
}
HPyDef_METH(Thing_struct_of_closed, "struct_of_closed", HPyFunc_NOARGS)
static HPy Thing_struct_of_closed_impl(HPyContext *ctx, HPy self) {
  HPy h = HPy_Dup(ctx, self);
  HPy_Close(ctx, h);
  return HPyLong_FromLong(ctx, Thing_AsStruct(ctx, h)->number);
}
HPyDef_METH(struct_of, "struct_of", HPyFunc_O)
static HPy struct_of_impl(HPyContext *ctx, HPy self, HPy arg) {
  return (void)self, HPyLong_FromLong(ctx, Thing_AsStruct(ctx, arg)->number);
}
static HPyDef *Thing_defines[] = {&Thing_new, &Thing_repr, &Thing_number, &Thing_struct_of_closed, NULL};
static HPyType_Spec Thing_spec = {.name = "debug_probe.Thing",
                                  .basicsize = sizeof(Thing),
                                  .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
                                  .builtin_shape = Thing_SHAPE,
                                  .defines = Thing_defines};

HPyDef_SLOT(exec, HPy_mod_exec)
static int exec_impl(HPyContext *ctx, HPy module) {
  HPy type = HPyType_FromSpec(ctx, &Thing_spec, NULL);
  if (HPy_IsNull(type)) return -1;
  int rc = HPy_SetAttr_s(ctx, module, "Thing", type);
  HPy_Close(ctx, type);
  return rc;
}

static HPyDef *defines[] = {&exec,
                            &leak,
                            &leak_new,
                            &close_leaked,
                            &use_leaked,
                            &close_twice,
                            &use_after_close,
                            &return_closed,
                            &close_argument,
                            &return_argument,
                            &close_constant,
                            &return_constant,
                            &use_pointer,
                            &keep_argument,
                            &use_kept,
                            &track,
                            &call,
                            &variable,
                            &churn,
                            &context_name,
                            &build_twice,
                            &set_after_cancel,
                            &forget_builder,
                            &build,
                            &cancel_after_build,
                            &cancel_twice,
                            &set_after_build,
                            &set_out_of_range,
                            &build_unfinished,
                            &set_null,
                            &builder_as_handle,
                            &handle_as_builder,
                            &close_tracker_twice,
                            &add_to_closed_tracker,
                            &forget_all_of_closed_tracker,
                            &use_null_tracker,
                            &track_closed,
                            &forget_tracker,
                            &text,
                            &text_after_close,
                            &write_text,
                            &keep_text,
                            &use_kept_text,
                            &type_check,
                            &is_subtype,
                            &substring,
                            &struct_of,
                            NULL};
static HPyModuleDef debug_probe_def = {.defines = defines};
HPy_MODINIT(debug_probe, debug_probe_def)
