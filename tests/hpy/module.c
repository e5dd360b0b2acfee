/* The universal module NAME with a constant `origin` and a function that leaks a handle; macros turn it into one of the
 * modules that must be refused. */
#include <hpy.h>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

#ifdef CPYTHON_ONLY
HPy_EXPORTED_SYMBOL void *JOIN(PyInit_, NAME)(void) { return NULL; }
#else

HPyDef_SLOT(exec, HPy_mod_exec)
static int exec_impl(HPyContext *ctx, HPy module) {
#ifdef RAISING
  HPyErr_SetString(ctx, ctx->h_KeyError, "from exec");
  return -1;
#else
  HPy h = HPyUnicode_FromString(ctx, TEXT(NAME));
  int rc = HPy_SetAttr_s(ctx, module, "origin", h);
  HPy_Close(ctx, h);
  return rc;
#endif
}

HPyDef_METH(leak, "leak", HPyFunc_O)
static HPy leak_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self, (void)HPy_Dup(ctx, arg);
  return HPy_Dup(ctx, ctx->h_None);
}

#ifdef STRAY_SLOT
static HPyDef stray = {.kind = HPyDef_Kind_Slot, .slot = {.slot = (HPySlot_Slot)STRAY_SLOT}};
static HPyDef *defines[] = {&exec, &leak, &stray, NULL};
#else
static HPyDef *defines[] = {&exec, &leak, NULL};
#endif

/* the beginning of an interpreter's description of a method */
static struct {
  const char *name;
  void *rest[3];
} legacy_methods[] = {
#ifdef LEGACY_METHOD
    {.name = "old"},
#endif
    {NULL},
};

static HPyModuleDef definition = {
    .doc = "a module for tests", .defines = defines, .legacy_methods = (cpy_PyMethodDef *)(void *)legacy_methods};

#ifdef NEWER_ABI
#undef HPY_ABI_VERSION
#define HPY_ABI_VERSION 7
#endif

#ifdef NO_INIT
/* the definitions of HPy_MODINIT without HPyInit_ */
HPyContext *_ctx_for_trampolines;
HPy_EXPORTED_SYMBOL uint32_t JOIN(get_required_hpy_major_version_, NAME)(void) { return 0; }
HPy_EXPORTED_SYMBOL uint32_t JOIN(get_required_hpy_minor_version_, NAME)(void) { return 0; }
HPy_EXPORTED_SYMBOL void JOIN(HPyInitGlobalContext_, NAME)(HPyContext *ctx) {
  (void)definition;
  _ctx_for_trampolines = ctx;
}
#else
#define DEFINE(name) HPy_MODINIT(name, definition)
DEFINE(NAME)
#endif

#endif
