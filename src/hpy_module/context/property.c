/* Properties, and __init_subclass__ of types on PyPy 7.3.
 *
 * A property is Python's property around bound methods of an _Accessor: an object with the C functions and the type
 * whose instances they accept. Exceptions propagate; PyPy's own getters and setters of an HPy type drop them (type.h).
 * The __init_subclass__ of a type that refuses subclasses is made in the same way. */
#include "property.h"

#include "call.h"
#include "instance.h"
#include "messages.h"
#include "raise.h"

/* The data of one attribute, or of one __init_subclass__. Filled by accessor_make. */
typedef struct Accessor {
  FbAccess access;
  FbRef type;      /* `access` accepts only instances of this type; never released */
  const char *name; /* for messages; valid for the life of the process */
} Accessor;

HPyType_HELPERS(Accessor)

FbRef fb_property_accessor;

/* Returns the accessor of `self` if its functions accept `object`; NULL with TypeError raised otherwise. property()
 * does not check the object that it passes on. An accessor without a name was not made by accessor_make. */
static const Accessor *accessor_for(HPyContext *ctx, HPy self, HPy object) {
  const Accessor *accessor = Accessor_AsStruct(ctx, self);
  if (accessor == NULL || accessor->name == NULL) {
    fb_instance_raise_unmade(ctx, self);
    return NULL;
  }
  HPy type = fb_ref_borrow(ctx, &accessor->type);
  bool fits = HPy_TypeCheck(ctx, object, type);
  fb_ref_return(ctx, type);
  if (fits) return accessor;
  char given[128];
  fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_OTHER_CLASS, accessor->name,
           fb_attr_type_name(ctx, object, given, sizeof(given)));
  return NULL;
}

/* Only accessor_make makes instances, by HPy_New, which does not call this function. */
HPyDef_SLOT(accessor_new, HPy_tp_new)
static HPy accessor_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)type, (void)args, (void)nargs, (void)kw;
  return fb_raise(ctx, ctx->h_TypeError, "an _Accessor cannot be made directly");
}

HPyDef_METH(accessor_get, "get", HPyFunc_O, .doc = "Value of the attribute of an object.")
static HPy accessor_get_impl(HPyContext *ctx, HPy self, HPy object) {
  const Accessor *accessor = accessor_for(ctx, self, object);
  return accessor == NULL ? HPy_NULL : accessor->access.get(ctx, object, accessor->access.closure);
}

HPyDef_METH(accessor_set, "set", HPyFunc_VARARGS, .doc = "Set the attribute of an object.")
static HPy accessor_set_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "set() takes 2 arguments, got %zu", nargs);
  const Accessor *accessor = accessor_for(ctx, self, args[0]);
  if (accessor == NULL || accessor->access.set(ctx, args[0], args[1], accessor->access.closure) != 0) return HPy_NULL;
  return HPy_Dup(ctx, ctx->h_None);
}

/* Called as __init_subclass__ with any arguments of the class statement, which it ignores. */
HPyDef_METH(accessor_refuse, "refuse", HPyFunc_VARARGS, .doc = "TypeError for a derived class.")
static HPy accessor_refuse_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)args, (void)nargs;
  const Accessor *accessor = Accessor_AsStruct(ctx, self);
  if (accessor == NULL || accessor->name == NULL) return fb_instance_raise_unmade(ctx, self);
  return fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_FINAL, accessor->name);
}

/* Calls builtins.name(*parts) and steals all parts. Returns HPy_NULL if one of them is HPy_NULL. */
static HPy call_builtin(HPyContext *ctx, const char *name, HPy *parts, size_t n) {
  bool complete = true;
  for (size_t i = 0; i < n; ++i) complete = complete && !HPy_IsNull(parts[i]);
  HPy builtins = complete ? HPyImport_ImportModule(ctx, "builtins") : HPy_NULL;
  HPy callable = HPy_IsNull(builtins) ? HPy_NULL : HPy_GetAttr_s(ctx, builtins, name);
  HPy result = HPy_IsNull(callable) ? HPy_NULL : fb_call(ctx, callable, parts, n, HPy_NULL);
  if (!HPy_IsNull(callable)) HPy_Close(ctx, callable);
  if (!HPy_IsNull(builtins)) HPy_Close(ctx, builtins);
  for (size_t i = 0; i < n; ++i) {
    if (!HPy_IsNull(parts[i])) HPy_Close(ctx, parts[i]);
  }
  return result;
}

/* Makes an accessor. Returns a new handle, or HPy_NULL with an exception raised. The accessor keeps `type` alive, and
 * an attribute of the type keeps the accessor alive; so the type is never freed, like all types of the binding. */
static HPy accessor_make(HPyContext *ctx, HPy type, const char *name, FbAccess access) {
  HPy cls = fb_ref_load(ctx, &fb_property_accessor);
  Accessor *data;
  HPy accessor = HPy_New(ctx, cls, &data);
  HPy_Close(ctx, cls);
  if (HPy_IsNull(accessor)) return accessor;
  data->access = access;
  data->name = name;
  fb_ref_store(ctx, &data->type, type);
  return accessor;
}

HPy fb_property_new(HPyContext *ctx, HPy type, const char *name, FbAccess access) {
  HPy accessor = accessor_make(ctx, type, name, access);
  if (HPy_IsNull(accessor)) return accessor;
  HPy parts[2] = {HPy_GetAttr_s(ctx, accessor, "get"), HPy_NULL};
  /* A read-only attribute is a property with a getter only. */
  if (!HPy_IsNull(parts[0]) && access.set != NULL) parts[1] = HPy_GetAttr_s(ctx, accessor, "set");
  HPy_Close(ctx, accessor);
  return call_builtin(ctx, "property", parts, access.set == NULL ? 1 : 2);
}

int fb_property_refuse_subclasses(HPyContext *ctx, HPy type, const char *name) {
  HPy accessor = accessor_make(ctx, type, name, (FbAccess){0});
  if (HPy_IsNull(accessor)) return -1;
  HPy refuse = HPy_GetAttr_s(ctx, accessor, "refuse");
  HPy_Close(ctx, accessor);
  HPy method = call_builtin(ctx, "classmethod", &refuse, 1);
  if (HPy_IsNull(method)) return -1;
  int rc = HPy_SetAttr_s(ctx, type, "__init_subclass__", method);
  HPy_Close(ctx, method);
  return rc;
}

static HPyDef *defines[] = {&accessor_new, &accessor_get, &accessor_set, &accessor_refuse, NULL};

HPyType_Spec fb_property_spec = {
    .name = "ffi_hpy._core._Accessor",
    .basicsize = sizeof(Accessor),
    .flags = HPy_TPFLAGS_DEFAULT,
    .builtin_shape = SHAPE(Accessor),
    .defines = defines,
};
