/* Types of the binding, and properties made of methods. */
#include "type.h"

#include "hold.h"

/* --- properties ----------------------------------------------------------------------------------------------------------- */

typedef struct Accessor {
  FbAccess access;
  FbCell type;      /* instances of it are what `access` can be called with; kept for good */
  const char *name; /* for messages; lives for good */
} Accessor;

HPyType_HELPERS(Accessor)

static FbCell accessor_type; /* written once during the import */

/* property() hands over whatever it is asked for. Returns the accessor, or NULL with TypeError raised. */
static const Accessor *accessor_for(HPyContext *ctx, HPy self, HPy object) {
  const Accessor *accessor = Accessor_AsStruct(ctx, self);
  HPy type = fb_cell_borrow(ctx, &accessor->type);
  bool fits = HPy_TypeCheck(ctx, object, type);
  fb_cell_return(ctx, type);
  if (fits) return accessor;
  char given[128];
  fb_raise(ctx, ctx->h_TypeError, "attribute '%s' is not for a '%s' object", accessor->name,
           fb_type_name(ctx, object, given, sizeof(given)));
  return NULL;
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

/* property(*parts), all of which are taken; HPy_NULL if one of them is. */
static HPy call_property(HPyContext *ctx, HPy *parts, size_t n) {
  bool complete = true;
  for (size_t i = 0; i < n; i++) complete = complete && !HPy_IsNull(parts[i]);
  HPy builtins = complete ? HPyImport_ImportModule(ctx, "builtins") : HPy_NULL;
  HPy property = HPy_IsNull(builtins) ? HPy_NULL : HPy_GetAttr_s(ctx, builtins, "property");
  HPy result = HPy_IsNull(property) ? HPy_NULL : fb_call(ctx, property, parts, n, HPy_NULL);
  if (!HPy_IsNull(property)) HPy_Close(ctx, property);
  if (!HPy_IsNull(builtins)) HPy_Close(ctx, builtins);
  for (size_t i = 0; i < n; i++) {
    if (!HPy_IsNull(parts[i])) HPy_Close(ctx, parts[i]);
  }
  return result;
}

HPy fb_property_new(HPyContext *ctx, HPy type, const char *name, FbAccess access) {
  HPy cls = fb_cell_load(ctx, &accessor_type);
  Accessor *data;
  HPy accessor = HPy_New(ctx, cls, &data);
  HPy_Close(ctx, cls);
  if (HPy_IsNull(accessor)) return accessor;
  data->access = access;
  data->name = name;
  fb_cell_store(ctx, &data->type, type);
  HPy parts[2] = {HPy_GetAttr_s(ctx, accessor, "get"), HPy_NULL};
  if (!HPy_IsNull(parts[0]) && access.set != NULL) parts[1] = HPy_GetAttr_s(ctx, accessor, "set");
  HPy_Close(ctx, accessor);
  return call_property(ctx, parts, access.set == NULL ? 1 : 2);
}

int fb_type_init(HPyContext *ctx) {
  static HPyDef *defines[] = {&accessor_get, &accessor_set, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core._Accessor",
      .basicsize = sizeof(Accessor),
      .flags = HPy_TPFLAGS_DEFAULT,
      .builtin_shape = SHAPE(Accessor),
      .defines = defines,
  };
  HPy type = HPyType_FromSpec(ctx, &spec, NULL);
  if (HPy_IsNull(type)) return -1;
  fb_cell_store(ctx, &accessor_type, type);
  HPy_Close(ctx, type);
  return 0;
}

/* --- types ------------------------------------------------------------------------------------------------------------------ */

static HPy from_spec(HPyContext *ctx, HPyType_Spec *spec, HPy base) {
  HPyType_SpecParam params[] = {{HPyType_SpecParam_Base, base}, {0}};
  return HPyType_FromSpec(ctx, spec, HPy_IsNull(base) ? NULL : params);
}

static int add_property(HPyContext *ctx, HPy type, const HPyGetSet *def) {
  FbAccess access = {
      .get = (HPyFunc_getter)def->getter_impl, .set = (HPyFunc_setter)def->setter_impl, .closure = def->closure};
  HPy property = fb_property_new(ctx, type, def->name, access);
  if (HPy_IsNull(property)) return -1;
  int rc = HPy_SetAttr_s(ctx, type, def->name, property);
  HPy_Close(ctx, property);
  return rc;
}

enum { MOST_DEFINES = 32 };

HPy fb_type_new(HPyContext *ctx, HPyType_Spec *spec, HPy base) {
  if (!fb_is_pypy) return from_spec(ctx, spec, base);
  HPyDef *rest[MOST_DEFINES], *attributes[MOST_DEFINES];
  size_t n_rest = 0, n_attributes = 0;
  for (HPyDef **def = spec->defines; *def != NULL && n_rest + n_attributes + 1 < MOST_DEFINES; def++) {
    /* A name like __name__ would be set on the type's type; such an attribute stays as it is. */
    if ((*def)->kind == HPyDef_Kind_GetSet && strncmp((*def)->getset.name, "__", 2) != 0) {
      attributes[n_attributes++] = *def;
    } else {
      rest[n_rest++] = *def;
    }
  }
  rest[n_rest] = NULL;
  HPyType_Spec plain = *spec;
  plain.defines = rest;
  HPy type = from_spec(ctx, &plain, base);
  for (size_t i = 0; !HPy_IsNull(type) && i < n_attributes; i++) {
    if (add_property(ctx, type, &attributes[i]->getset) != 0) {
      HPy_Close(ctx, type);
      return HPy_NULL;
    }
  }
  return type;
}
