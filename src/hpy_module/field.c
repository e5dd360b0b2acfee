/* Reflected fields as Python descriptors. */
#include "field.h"

#include <stdlib.h>

#include "convert.h"
#include "error.h"
#include "object.h"
#include "type.h"

/* What a descriptor needs of a field, copied from the registry. Lives as long as the process, as types do. */
typedef struct Field {
  int32_t type_index; /* the type that declares the field */
  int32_t type_depth;
  int64_t offset; /* bytes from the handle */
  TVMFFIFieldGetter getter;
  TVMFFIFieldSetter setter;     /* NULL if the setter is a Function or there is none */
  TVMFFIObject *setter_function; /* owned; NULL if there is none */
  char *name;                   /* "key.field", for messages */
} Field;

/* --- access ------------------------------------------------------------------------------------------------------------- */

FB_INLINE HPy field_read(HPyContext *ctx, const Field *field, HPy self) {
  FbPlace *place = fb_object_begin(ctx, self, field->type_index, field->type_depth);
  if (FB_UNLIKELY(place == NULL)) return HPy_NULL;
  TVMFFIAny value = {0};
  int rc = field->getter((char *)place->handle + field->offset, &value);
  fb_place_unuse(place);
  if (FB_UNLIKELY(rc != 0)) return fb_error_raise_pending(ctx, field->name);
  return fb_convert_result(ctx, &value);
}

static int call_setter(const Field *field, char *address, const TVMFFIAny *value) {
  if (field->setter == NULL && field->setter_function == NULL) {
    TVMFFIErrorSetRaisedFromCStr("AttributeError", "the field has no setter");
    return -1;
  }
  if (field->setter_function == NULL) return field->setter(address, value);
  TVMFFIAny args[2] = {{.type_index = kTVMFFIOpaquePtr}, *value}, result = {0};
  args[0].v_ptr = address;
  int rc = TVMFFIFunctionCall(field->setter_function, args, 2, &result);
  if (rc == 0 && result.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(result.v_obj);
  return rc;
}

static int field_write(HPyContext *ctx, const Field *field, HPy self, HPy value) {
  if (HPy_IsNull(value)) {
    fb_raise(ctx, ctx->h_AttributeError, "%s cannot be deleted", field->name);
    return -1;
  }
  FbTemp temp;
  FbArgs args = {.temps = &temp, .position = -1, .callee = field->name};
  TVMFFIAny view;
  int rc = fb_convert_arg(ctx, value, &view, &args); /* may run Python code: before the use begins */
  FbPlace *place = rc == 0 ? fb_object_begin(ctx, self, field->type_index, field->type_depth) : NULL;
  rc = -1;
  if (place != NULL) {
    rc = call_setter(field, (char *)place->handle + field->offset, &view);
    if (rc != 0) fb_error_raise_pending(ctx, field->name);
    fb_place_unuse(place);
  }
  fb_args_end(&args);
  return rc == 0 ? 0 : -1;
}

/* In the shape of extension.h. */
static HPy descriptor_get(HPy self, void *closure) { return field_read(fb_ctx, closure, self); }
static int descriptor_set(HPy self, HPy value, void *closure) { return field_write(fb_ctx, closure, self, value); }

/* In the shape of type.h. */
static HPy access_get(HPyContext *ctx, HPy self, void *closure) { return field_read(ctx, closure, self); }
static int access_set(HPyContext *ctx, HPy self, HPy value, void *closure) {
  return field_write(ctx, closure, self, value);
}

/* --- field_descriptor -------------------------------------------------------------------------------------------------- */

/* A copy that lives for good; NULL with MemoryError raised. */
static Field *field_new(HPyContext *ctx, const TVMFFITypeInfo *type, const TVMFFIFieldInfo *info) {
  size_t name_size = type->type_key.size + info->name.size + 2;
  Field *field = calloc(1, sizeof(*field) + name_size);
  if (field == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  *field = (Field){.type_index = type->type_index,
                   .type_depth = type->type_depth,
                   .offset = info->offset,
                   .getter = info->getter,
                   .name = (char *)(field + 1)};
  snprintf(field->name, name_size, "%.*s.%.*s", (int)type->type_key.size, type->type_key.data, (int)info->name.size,
           info->name.data);
  if (info->setter != NULL && (info->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) != 0) {
    TVMFFIObjectIncRef(info->setter);
    field->setter_function = info->setter;
  } else if (info->setter != NULL) {
    memcpy(&field->setter, &info->setter, sizeof(field->setter));
  }
  return field;
}

/* The field that two arguments name, type index and number among the own fields; NULL with an exception raised. */
static Field *field_arg(HPyContext *ctx, const HPy *args, const TVMFFIFieldInfo **info) {
  int32_t index = HPyLong_AsInt32_t(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return NULL;
  int32_t which = HPyLong_AsInt32_t(ctx, args[1]);
  if (which == -1 && HPyErr_Occurred(ctx)) return NULL;
  const TVMFFITypeInfo *type = TVMFFIGetTypeInfo(index);
  if (type == NULL) {
    fb_raise(ctx, ctx->h_ValueError, "no type is registered for index %d", (int)index);
    return NULL;
  }
  if (which < 0 || which >= type->num_fields) {
    fb_raise(ctx, ctx->h_IndexError, "type %.*s has %d fields of its own, got index %d", (int)type->type_key.size,
             type->type_key.data, (int)type->num_fields, (int)which);
    return NULL;
  }
  *info = &type->fields[which];
  return field_new(ctx, type, *info);
}

HPyDef_METH(fb_field_descriptor, "field_descriptor", HPyFunc_VARARGS,
            .doc = "A descriptor for one own field of a type.")
static HPy fb_field_descriptor_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 4) return fb_raise(ctx, ctx->h_TypeError, "field_descriptor() takes cls, index, field, writable");
  int writable = HPy_IsTrue(ctx, args[3]);
  if (writable < 0) return HPy_NULL;
  const TVMFFIFieldInfo *info;
  Field *field = field_arg(ctx, args + 1, &info);
  if (field == NULL) return HPy_NULL;
  bool can_write = writable && (field->setter != NULL || field->setter_function != NULL);
  const char *name = strrchr(field->name, '.') + 1;
  if (fb_ext == NULL) {
    return fb_property_new(ctx, args[0], name, (FbAccess){access_get, can_write ? access_set : NULL, field});
  }
  FhpyGetSet def = {.name = name,
                    .get = descriptor_get,
                    .set = can_write ? descriptor_set : NULL,
                    .doc = info->doc.data,
                    .closure = field};
  return fb_ext->getset_new(ctx, args[0], &def);
}

HPyDef_METH(fb_field_accessors, "field_accessors", HPyFunc_VARARGS,
            .doc = "The functions get(obj) and set(obj, value) of one own field of a type.")
static HPy fb_field_accessors_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "field_accessors() takes index, field");
  const TVMFFIFieldInfo *info;
  Field *field = field_arg(ctx, args, &info);
  if (field == NULL) return HPy_NULL;
  HPy cls = fb_object_type(ctx);
  HPy parts[2];
  HPy result = HPy_NULL;
  FbAccess access = {access_get, access_set, field};
  if (fb_accessors_new(ctx, cls, strrchr(field->name, '.') + 1, access, parts) == 0) {
    result = HPyTuple_FromArray(ctx, parts, 2);
    HPy_Close(ctx, parts[0]);
    HPy_Close(ctx, parts[1]);
  }
  HPy_Close(ctx, cls);
  return result;
}
