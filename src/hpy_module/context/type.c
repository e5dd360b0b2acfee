/* The binding's types: HPyType_FromSpec, and workarounds for PyPy 7.3 (type.h explains them). */
#include "type.h"

#include <assert.h>

#include "call.h"
#include "property.h"

static HPy from_spec(HPyContext *ctx, HPyType_Spec *spec, HPy base) {
  HPyType_SpecParam params[] = {{HPyType_SpecParam_Base, base}, {0}};
  return HPyType_FromSpec(ctx, spec, HPy_IsNull(base) ? NULL : params);
}

/* Adds an attribute of a spec to the finished type as a property. Returns 0, or -1 with an exception raised. */
static int add_property(HPyContext *ctx, HPy type, const HPyGetSet *def) {
  /* HPy's headers store all C functions of a definition as one type, HPyCFunction. */
  FbAccess access = {
      .get = (HPyFunc_getter)def->getter_impl, .set = (HPyFunc_setter)def->setter_impl, .closure = def->closure};
  HPy property = fb_property_new(ctx, type, def->name, access);
  if (HPy_IsNull(property)) return -1;
  int rc = HPy_SetAttr_s(ctx, type, def->name, property);
  HPy_Close(ctx, property);
  return rc;
}

/* Includes the final NULL; the longest spec, CObject's, has 24. */
enum { MOST_DEFINES = 32 };

/* For PyPy 7.3: makes the type of a spec with properties in place of its getters and setters (see fb_type_new). They
 * are added to the finished type, because each refers to it. */
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
  if (fb_property_refuse_subclasses(ctx, type, spec->name) == 0) return type;
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

int fb_type_init(HPyContext *ctx) {
  /* The accessor's type has no attributes, so it can be made before properties exist. */
  HPy type =
      fb_context_is_pypy ? larger_new(ctx, &fb_property_spec, HPy_NULL) : from_spec(ctx, &fb_property_spec, HPy_NULL);
  if (HPy_IsNull(type)) return -1;
  fb_ref_store(ctx, &fb_property_accessor, type); /* with_flags makes an instance */
  type = fb_context_is_pypy ? with_flags(ctx, &fb_property_spec, type) : type;
  if (HPy_IsNull(type)) return -1;
  HPy_Close(ctx, type);
  return 0;
}
