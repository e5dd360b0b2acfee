/* The binding's types, their properties, and checks of their instances. */
#include "type.h"

#include <assert.h>

#include "call.h"
#include "messages.h"
#include "raise.h"

/* --- instances ---------------------------------------------------------------------------------------------------- */

/* Checks that an instance was made by the __new__ of its class. */

/* Writes the name of a class to buffer, "?" if it has no name. Never fails, and clears any raised exception. */
static void name_of(HPyContext *ctx, HPy cls, char *buffer, size_t size) {
  HPy name = fb_attr_find(ctx, cls, "__name__");
  HPy_ssize_t n;
  const char *text = HPy_IsNull(name) ? NULL : HPyUnicode_AsUTF8AndSize(ctx, name, &n);
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  fb_cut_copy(buffer, size, text == NULL ? "?" : text, text == NULL ? 1 : (size_t)n);
  if (!HPy_IsNull(name)) HPy_Close(ctx, name);
}

/* CPython makes this check before it calls a tp_new, PyPy 7.3 does not. The first message is CPython's. */
int fb_instance_check_new(HPyContext *ctx, HPy cls, const FbRef *own) {
  HPy type = fb_ref_borrow(ctx, own);
  int (*is_subtype)(HPyContext *, HPy, HPy);
  FB_LATE(ctx, ctx_Type_IsSubtype, is_subtype);
  /* ctx_Type_IsSubtype requires a type, and cls may be any object. */
  bool is_type = HPy_TypeCheck(ctx, cls, ctx->h_TypeType);
  bool fits = is_type && is_subtype(ctx, cls, type);
  if (!fits) {
    char name[128], given[128];
    name_of(ctx, type, name, sizeof(name));
    if (is_type) {
      name_of(ctx, cls, given, sizeof(given));
      fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_A_SUBTYPE, name, given, given, name);
    } else {
      fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_A_TYPE, name, fb_attr_type_name(ctx, cls, given, sizeof(given)));
    }
  }
  fb_ref_return(ctx, type);
  return fits ? 0 : -1;
}

HPy fb_instance_raise_unmade(HPyContext *ctx, HPy h) {
  char name[128];
  return fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_FROM_NEW, fb_attr_type_name(ctx, h, name, sizeof(name)));
}

/* --- properties --------------------------------------------------------------------------------------------------- */

/* Properties, and __init_subclass__ of types on PyPy 7.3.
 *
 * A property is Python's property around bound methods of an _Accessor: an object with the C functions and the type
 * whose instances they accept. Exceptions propagate; PyPy's own getters and setters of an HPy type drop them (type.h).
 * The __init_subclass__ of a type that refuses subclasses is made in the same way. */

/* The data of one attribute, or of one __init_subclass__. Filled by accessor_make. */
/* The functions of a property. The closure must stay valid for the life of the process. */
typedef struct Access {
  HPyFunc_getter get;
  HPyFunc_setter set; /* NULL: read-only */
  void *closure;
} Access;

typedef struct Accessor {
  Access access;
  FbRef type;      /* `access` accepts only instances of this type; never released */
  const char *name; /* for messages; valid for the life of the process */
} Accessor;

HPyType_HELPERS(Accessor)

static FbRef accessor_type;

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

FB_METHOD_O(accessor_get, "get", object, "Value of the attribute of an object.") {
  const Accessor *accessor = accessor_for(ctx, self, object);
  return accessor == NULL ? HPy_NULL : accessor->access.get(ctx, object, accessor->access.closure);
}

FB_METHOD(accessor_set, "set", "Set the attribute of an object.") {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "set() takes 2 arguments, got %zu", nargs);
  const Accessor *accessor = accessor_for(ctx, self, args[0]);
  if (accessor == NULL || accessor->access.set(ctx, args[0], args[1], accessor->access.closure) != 0) return HPy_NULL;
  return HPy_Dup(ctx, ctx->h_None);
}

/* Called as __init_subclass__ with any arguments of the class statement, which it ignores. */
FB_METHOD(accessor_refuse, "refuse", "TypeError for a derived class.") {
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
static HPy accessor_make(HPyContext *ctx, HPy type, const char *name, Access access) {
  HPy cls = fb_ref_load(ctx, &accessor_type);
  Accessor *data;
  HPy accessor = HPy_New(ctx, cls, &data);
  HPy_Close(ctx, cls);
  if (HPy_IsNull(accessor)) return accessor;
  data->access = access;
  data->name = name;
  fb_ref_store(ctx, &data->type, type);
  return accessor;
}

/* Makes property(get, set) for instances of `type`; other objects raise TypeError. */
static HPy property_new(HPyContext *ctx, HPy type, const char *name, Access access) {
  HPy accessor = accessor_make(ctx, type, name, access);
  if (HPy_IsNull(accessor)) return accessor;
  HPy parts[2] = {HPy_GetAttr_s(ctx, accessor, "get"), HPy_NULL};
  /* A read-only attribute is a property with a getter only. */
  if (!HPy_IsNull(parts[0]) && access.set != NULL) parts[1] = HPy_GetAttr_s(ctx, accessor, "set");
  HPy_Close(ctx, accessor);
  return call_builtin(ctx, "property", parts, access.set == NULL ? 1 : 2);
}

/* Gives a type an __init_subclass__ that raises TypeError. Returns 0, or -1 with an exception raised. */
static int refuse_subclasses(HPyContext *ctx, HPy type, const char *name) {
  HPy accessor = accessor_make(ctx, type, name, (Access){0});
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

static HPyType_Spec accessor_spec = FB_TYPE_SPEC(Accessor, "_Accessor", HPy_TPFLAGS_DEFAULT, defines, NULL);

/* --- types -------------------------------------------------------------------------------------------------------- */

/* The binding's types: HPyType_FromSpec, and workarounds for PyPy 7.3 (type.h explains them). */

static HPy from_spec(HPyContext *ctx, HPyType_Spec *spec, HPy base) {
  HPyType_SpecParam params[] = {{HPyType_SpecParam_Base, base}, {0}};
  return HPyType_FromSpec(ctx, spec, HPy_IsNull(base) ? NULL : params);
}

/* Adds an attribute of a spec to the finished type as a property. Returns 0, or -1 with an exception raised. */
static int add_property(HPyContext *ctx, HPy type, const HPyGetSet *def) {
  /* HPy's headers store all C functions of a definition as one type, HPyCFunction. */
  Access access = {
      .get = (HPyFunc_getter)def->getter_impl, .set = (HPyFunc_setter)def->setter_impl, .closure = def->closure};
  HPy property = property_new(ctx, type, def->name, access);
  if (HPy_IsNull(property)) return -1;
  int rc = HPy_SetAttr_s(ctx, type, def->name, property);
  HPy_Close(ctx, property);
  return rc;
}

/* Includes the final NULL; the longest spec, CObject's, has 24. */
enum { MOST_DEFINES = 32 };

/* For PyPy 7.3: makes the type of a spec with properties in place of its getters and setters (see fb_type_new). The
 * properties are added to the finished type, because each refers to it. */
static HPy with_properties(HPyContext *ctx, HPyType_Spec *spec, HPy base) {
  HPyDef *rest[MOST_DEFINES], *attributes[MOST_DEFINES];
  size_t n_rest = 0, n_attributes = 0;
  HPyDef **def = spec->defines;
  for (; *def != NULL && n_rest + n_attributes + 1 < MOST_DEFINES; ++def) {
    /* Setting __name__ or a similar name on a type would set the metatype's attribute, so such attributes stay as they
     * are. */
    if ((*def)->kind == HPyDef_Kind_GetSet && strncmp((*def)->getset.name, "__", 2) != 0) {
      attributes[n_attributes++] = *def;
    } else {
      rest[n_rest++] = *def;
    }
  }
  assert(*def == NULL);
  rest[n_rest] = NULL;
  HPyType_Spec plain = *spec;
  plain.defines = rest;
  HPy type = from_spec(ctx, &plain, base);
  for (size_t i = 0; !HPy_IsNull(type) && i < n_attributes; ++i) {
    if (add_property(ctx, type, &attributes[i]->getset) != 0) {
      HPy_Close(ctx, type);
      return HPy_NULL;
    }
  }
  return type;
}

/* Makes builtins.type("_Layout", (base,), {"__slots__": name}), a class that is visible only in __mro__. The slot's
 * descriptor is removed again, which leaves the layout unchanged. PyPy compares layouts by the names of their slots. */
static HPy slotted_new(HPyContext *ctx, const char *name, HPy base) {
  HPy parts[3] = {HPyUnicode_FromString(ctx, "_Layout"), HPyTuple_FromArray(ctx, &base, 1), HPyDict_New(ctx)};
  HPy slot = HPyUnicode_FromString(ctx, name), module = HPyUnicode_FromString(ctx, "ffi_hpy._core"), cls = HPy_NULL;
  bool complete = !HPy_IsNull(slot) && !HPy_IsNull(module);
  for (int i = 0; i < 3; ++i) complete = complete && !HPy_IsNull(parts[i]);
  if (complete && HPy_SetItem_s(ctx, parts[2], "__slots__", slot) == 0 &&
      HPy_SetItem_s(ctx, parts[2], "__module__", module) == 0) {
    cls = fb_call(ctx, ctx->h_TypeType, parts, 3, HPy_NULL);
  }
  if (!HPy_IsNull(cls) && (HPy_DelAttr_s(ctx, cls, name) != 0 || HPy_DelAttr_s(ctx, cls, "__slots__") != 0)) {
    HPy_Close(ctx, cls);
    cls = HPy_NULL;
  }
  for (int i = 0; i < 3; ++i) {
    if (!HPy_IsNull(parts[i])) HPy_Close(ctx, parts[i]);
  }
  if (!HPy_IsNull(slot)) HPy_Close(ctx, slot);
  if (!HPy_IsNull(module)) HPy_Close(ctx, module);
  return cls;
}

/* Steals and returns the new type. Subclasses are refused unless the type's flags allow them. */
static HPy with_flags(HPyContext *ctx, const HPyType_Spec *spec, HPy type) {
  if (HPy_IsNull(type) || (spec->flags & HPy_TPFLAGS_BASETYPE) != 0) return type;
  if (refuse_subclasses(ctx, type, spec->name) == 0) return type;
  HPy_Close(ctx, type);
  return HPy_NULL;
}

/* Makes the first type with a given struct, derived from a class with a slot. The slot has the name of the type without
 * its module, which is unique among the binding's types. */
static HPy larger_new(HPyContext *ctx, HPyType_Spec *spec, HPy base) {
  const char *dot = strrchr(spec->name, '.');
  HPy slotted = slotted_new(ctx, dot + 1, HPy_IsNull(base) ? ctx->h_BaseObjectType : base);
  if (HPy_IsNull(slotted)) return slotted;
  HPy type = with_properties(ctx, spec, slotted);
  HPy_Close(ctx, slotted);
  return type;
}

HPy fb_type_new_larger(HPyContext *ctx, HPyType_Spec *spec, HPy base) {
  if (!fb_context_is_pypy) return from_spec(ctx, spec, base);
  return with_flags(ctx, spec, larger_new(ctx, spec, base));
}

HPy fb_type_new(HPyContext *ctx, HPyType_Spec *spec, HPy base) {
  if (!fb_context_is_pypy) return from_spec(ctx, spec, base);
  return with_flags(ctx, spec, HPy_IsNull(base) ? larger_new(ctx, spec, base) : with_properties(ctx, spec, base));
}

HPy fb_type_new_root(HPyContext *ctx, HPyType_Spec *spec, FbRef *own) {
  HPy type = fb_type_new(ctx, spec, HPy_NULL);
  if (!HPy_IsNull(type)) fb_ref_store(ctx, own, type);
  return type;
}

int fb_type_init(HPyContext *ctx) {
  /* The accessor's type has no attributes, so it can be made before properties exist. */
  HPy type = fb_context_is_pypy ? larger_new(ctx, &accessor_spec, HPy_NULL) : from_spec(ctx, &accessor_spec, HPy_NULL);
  if (HPy_IsNull(type)) return -1;
  fb_ref_store(ctx, &accessor_type, type); /* with_flags makes an instance */
  type = fb_context_is_pypy ? with_flags(ctx, &accessor_spec, type) : type;
  if (HPy_IsNull(type)) return -1;
  HPy_Close(ctx, type);
  return 0;
}
