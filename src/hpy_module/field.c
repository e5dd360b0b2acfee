/* Reading and writing reflected fields. */
#include "field.h"

#include <stdlib.h>

#include "../core/sync.h"
#include "convert.h"
#include "define.h"
#include "error.h"

const char *fb_field_own_name(const FbField *field) { return strrchr(field->name, '.') + 1; }

/* --- laid out fields ---------------------------------------------------------------------------------------------------- */

/* Where threads run at the same time, each place of a laid out field has one of these locks, by the object's address. One
 * is held for a few instructions, in which nothing of the interpreter's is called. */
enum { N_LOCKS = 64 };
static struct {
  atomic_flag flag;
  char padding[63]; /* a cache line each */
} locks[N_LOCKS];

FB_INLINE atomic_flag *lock_of(const TVMFFIObject *object) {
  return &locks[((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 58].flag;
}

FB_INLINE void lock(const TVMFFIObject *object) {
  if (FB_LIKELY(!fb_free_threaded)) return;
  while (atomic_flag_test_and_set_explicit(lock_of(object), memory_order_acquire)) fh_thread_yield();
}

FB_INLINE void unlock(const TVMFFIObject *object) { /* release: pairs with the acquire in lock() */
  if (FB_UNLIKELY(fb_free_threaded)) atomic_flag_clear_explicit(lock_of(object), memory_order_release);
}

void fb_field_put(const FbField *field, TVMFFIObject *object, TVMFFIAny *value) {
  void *place = (char *)object + field->offset;
  TVMFFIAny old = {0};
  lock(object);
  switch (field->static_index) {
  case kTVMFFIInt: *(int64_t *)place = value->v_int64; break;
  case kTVMFFIFloat: *(double *)place = value->v_float64; break;
  case kTVMFFIBool: *(uint8_t *)place = value->v_int64 != 0; break;
  case kTVMFFIOpaquePtr: *(void **)place = value->type_index == kTVMFFINone ? NULL : value->v_ptr; break;
  case kTVMFFIDataType: *(DLDataType *)place = value->v_dtype; break;
  case kTVMFFIDevice: *(DLDevice *)place = value->v_device; break;
  case kTVMFFIAny:
    old = *(TVMFFIAny *)place;
    *(TVMFFIAny *)place = *value;
    break;
  default:
    old.v_obj = *(TVMFFIObject **)place;
    old.type_index = old.v_obj == NULL ? kTVMFFINone : old.v_obj->type_index;
    *(TVMFFIObject **)place = value->type_index == kTVMFFINone ? NULL : value->v_obj;
  }
  unlock(object);
  *value = old;
}

/* Whether an owned value has the form of the field's place. */
static bool fits(const FbField *field, const TVMFFIAny *value) {
  if (field->static_index == kTVMFFIAny || value->type_index == field->static_index) return true;
  if (field->static_index == kTVMFFIOpaquePtr) return value->type_index == kTVMFFINone;
  if (field->static_index < kTVMFFIStaticObjectBegin) return false;
  return value->type_index == kTVMFFINone || value->type_index >= kTVMFFIStaticObjectBegin;
}

static int convert_with(HPyContext *ctx, const FbField *field, HPy converter, HPy value, TVMFFIAny *out) {
  HPy converted = fb_call_one(ctx, converter, value);
  if (HPy_IsNull(converted)) return -1;
  int rc = fb_convert_owned(ctx, converted, out, field->name);
  HPy_Close(ctx, converted);
  return rc;
}

int fb_field_convert(HPyContext *ctx, const FbField *field, HPy value, TVMFFIAny *out) {
  HPy converter = fb_cell_borrow(ctx, &field->converter);
  int rc = HPy_IsNull(converter) ? fb_convert_owned(ctx, value, out, field->name)
                                 : convert_with(ctx, field, converter, value, out);
  if (!HPy_IsNull(converter)) fb_cell_return(ctx, converter);
  if (rc != 0 || fits(field, out)) return rc;
  fb_raise(ctx, ctx->h_TypeError, "%s: its schema made a value of type index %d for a place of type index %d",
           field->name, (int)out->type_index, (int)field->static_index);
  if (out->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(out->v_obj);
  return -1;
}

int fb_field_convert_native(void *self, const TVMFFIAny *view, TVMFFIAny *out) {
  const FbField *field = self;
  bool is_plain = field->static_index == kTVMFFIInt || field->static_index == kTVMFFIBool ||
                  field->static_index == kTVMFFIFloat;
  if (is_plain && view->type_index == field->static_index) {
    *out = *view;
    return 0;
  }
  if (HPy_IsNull(field->converter.handle)) return TVMFFIAnyViewToOwnedAny(view, out);
  FbAttach attach;
  if (fb_attach(&attach) != 0) {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a field was set after the interpreter began to exit");
    return -1;
  }
  HPy value = fb_convert_view(attach.ctx, view);
  int rc = HPy_IsNull(value) ? -1 : fb_field_convert(attach.ctx, field, value, out);
  if (rc != 0) fb_error_from_raised(attach.ctx);
  if (!HPy_IsNull(value)) HPy_Close(attach.ctx, value);
  fb_detach(&attach);
  return rc;
}

/* --- any field ---------------------------------------------------------------------------------------------------------- */

HPy fb_field_read(HPyContext *ctx, const FbField *field, TVMFFIObject *object) {
  TVMFFIAny value = {0};
  void *place = (char *)object + field->offset;
  int rc;
  if (field->is_laid_out) {
    lock(object);
    rc = field->getter(place, &value); /* the core's own, which copies */
    unlock(object);
  } else {
    rc = field->getter(place, &value);
  }
  if (FB_UNLIKELY(rc != 0)) return fb_error_raise_pending(ctx, field->name);
  return fb_convert_result(ctx, &value);
}

static int call_setter(const FbField *field, char *address, const TVMFFIAny *value) {
  if (field->setter_function == NULL) return field->setter(address, value);
  TVMFFIAny args[2] = {{.type_index = kTVMFFIOpaquePtr}, *value}, result = {0};
  args[0].v_ptr = address;
  int rc = TVMFFIFunctionCall(field->setter_function, args, 2, &result);
  if (rc == 0 && result.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(result.v_obj);
  return rc;
}

static int write_by_setter(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value) {
  FbTemp temp;
  FbArgs args = {.temps = &temp, .position = -1, .callee = field->name};
  TVMFFIAny view;
  int rc = fb_convert_arg(ctx, value, &view, &args);
  if (rc == 0 && call_setter(field, (char *)object + field->offset, &view) != 0) {
    TVMFFIObjectHandle error = fb_error_set_aside();
    fb_args_end(&args);
    fb_error_put_back(error);
    fb_error_raise_pending(ctx, field->name);
    return -1;
  }
  fb_args_end(&args);
  return rc;
}

int fb_field_write(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value) {
  if (!field->is_laid_out) {
    if (field->setter != NULL || field->setter_function != NULL) return write_by_setter(ctx, field, object, value);
    fb_raise(ctx, ctx->h_AttributeError, "%s cannot be set", field->name);
    return -1;
  }
  TVMFFIAny owned;
  if (fb_field_convert(ctx, field, value, &owned) != 0) return -1;
  fb_field_put(field, object, &owned);
  if (owned.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(owned.v_obj);
  return 0;
}

/* --- making them ---------------------------------------------------------------------------------------------------------- */

FbField *fb_field_new(HPyContext *ctx, const TVMFFITypeInfo *type, const TVMFFIByteArray *name) {
  size_t name_size = type->type_key.size + name->size + 2;
  FbField *field = calloc(1, sizeof(*field) + name_size);
  if (field == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  field->type_index = type->type_index;
  field->type_depth = type->type_depth;
  field->name = (char *)(field + 1);
  snprintf(field->name, name_size, "%.*s.%.*s", (int)type->type_key.size, type->type_key.data, (int)name->size,
           name->data);
  return field;
}

static const FbField *field_from_registry(HPyContext *ctx, const TVMFFITypeInfo *type, const TVMFFIFieldInfo *info) {
  FbField *field = fb_field_new(ctx, type, &info->name);
  if (field == NULL) return NULL;
  field->offset = info->offset;
  field->static_index = info->field_static_type_index;
  field->getter = info->getter;
  if (info->setter != NULL && (info->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) != 0) {
    TVMFFIObjectIncRef(info->setter);
    field->setter_function = info->setter;
  } else if (info->setter != NULL) {
    memcpy(&field->setter, &info->setter, sizeof(field->setter));
  }
  return field;
}

const FbField *fb_field_find(HPyContext *ctx, const TVMFFITypeInfo *type, int32_t which) {
  const FbField *defined = fb_define_find(type->type_index, which);
  return defined != NULL ? defined : field_from_registry(ctx, type, &type->fields[which]);
}
