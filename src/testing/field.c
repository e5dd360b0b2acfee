/* field.c - reads and writes fields by their type. */
#include "field.h"

static ft_field_type types[FT_FIELD_COUNT];
/* The initial values of container fields. All objects share them, because an Array and a Map are immutable. */
static TVMFFIAny empty_array, empty_map;

const ft_field_type *ft_field_type_of(ft_field_id id) { return &types[id]; }

/* ---- Reading ---- */

static int get_i64(void *at, TVMFFIAny *out) {
  *out = ft_int(*(int64_t *)at);
  return 0;
}

static int get_i32(void *at, TVMFFIAny *out) {
  *out = ft_int(*(int32_t *)at);
  return 0;
}

static int get_float(double number, TVMFFIAny *out) {
  *out = ft_none();
  out->type_index = kTVMFFIFloat;
  out->v_float64 = number;
  return 0;
}

static int get_f64(void *at, TVMFFIAny *out) { return get_float(*(double *)at, out); }
static int get_f32(void *at, TVMFFIAny *out) { return get_float((double)*(float *)at, out); }

static int get_bool(void *at, TVMFFIAny *out) {
  *out = ft_bool(*(uint8_t *)at);
  return 0;
}

static int get_device(void *at, TVMFFIAny *out) {
  *out = ft_none();
  out->type_index = kTVMFFIDevice;
  out->v_device = *(DLDevice *)at;
  return 0;
}

static int get_dtype(void *at, TVMFFIAny *out) {
  *out = ft_none();
  out->type_index = kTVMFFIDataType;
  out->v_dtype = *(DLDataType *)at;
  return 0;
}

static int get_any(void *at, TVMFFIAny *out) {
  *out = *(TVMFFIAny *)at;
  return ft_is_object(out) ? TVMFFIObjectIncRef(out->v_obj) : 0;
}

static int get_object(void *at, TVMFFIAny *out) {
  *out = ft_object(*(void **)at);
  return ft_is_object(out) ? TVMFFIObjectIncRef(out->v_obj) : 0;
}

/* ---- Writing ---- */

/* Makes the accepted value owned: views of strings and bytes are copied, other values are retained. */
static int own(ft_accepted *accepted) {
  TVMFFIAny owned;
  if (accepted->is_owned) return 0;
  if (TVMFFIAnyViewToOwnedAny(&accepted->value, &owned) != 0) return -1;
  accepted->value = owned;
  accepted->is_owned = 1;
  return 0;
}

int ft_field_put(ft_store store, void *at, ft_accepted *accepted) {
  const TVMFFIAny *value = &accepted->value;
  TVMFFIAny before = ft_none();
  switch (store) {
  case FT_STORE_I64: *(int64_t *)at = value->v_int64; return 0;
  case FT_STORE_I32: *(int32_t *)at = (int32_t)value->v_int64; return 0;
  case FT_STORE_F64: *(double *)at = value->v_float64; return 0;
  case FT_STORE_F32: *(float *)at = (float)value->v_float64; return 0;
  case FT_STORE_BOOL: *(uint8_t *)at = value->v_int64 != 0; return 0;
  case FT_STORE_DEVICE: *(DLDevice *)at = value->v_device; return 0;
  case FT_STORE_DTYPE: *(DLDataType *)at = value->v_dtype; return 0;
  case FT_STORE_ANY:
    if (own(accepted) != 0) return -1;
    before = *(TVMFFIAny *)at;
    *(TVMFFIAny *)at = *value;
    break;
  case FT_STORE_OBJECT:
    if (own(accepted) != 0) return -1;
    before = ft_object(*(void **)at);
    *(void **)at = ft_is_object(value) ? value->v_obj : NULL;
    break;
  }
  accepted->is_owned = 0;
  ft_drop(&before);
  return 0;
}

static int set(const ft_field_type *field, void *at, const TVMFFIAny *value) {
  ft_accepted accepted;
  ft_buffer text = {NULL, 0, 0, 0};
  ft_verdict verdict = ft_accept(&field->type, value, &accepted);
  if (verdict == FT_FAILED) return -1;
  if (verdict == FT_YES) {
    int rc = ft_field_put(field->store, at, &accepted);
    ft_accepted_drop(&accepted);
    return rc;
  }
  ft_buffer_put(&text, "Cannot convert from type `");
  ft_accept_explain(&field->type, value, &text);
  ft_buffer_put(&text, "` to `");
  ft_type_print(field->type.kind == FT_OPTIONAL && field->type.args[0].kind == FT_OBJECT ? &field->type.args[0]
                                                                                         : &field->type,
                &text);
  (void)ft_raise("TypeError", ft_buffer_text(&text), "`", (char *)NULL);
  ft_buffer_free(&text);
  return -1;
}

/* ---- The table ---- */

#define FT_SETTER(id, text) \
  static int set_##id(void *at, const TVMFFIAny *value) { return set(&types[FT_FIELD_##id], at, value); }
FT_FIELD_TYPES(FT_SETTER)
#undef FT_SETTER

static const struct {
  const char *text;
  TVMFFIFieldSetter setter;
} rows[] = {
#define FT_ROW(id, text) {text, set_##id},
    FT_FIELD_TYPES(FT_ROW)
#undef FT_ROW
};

static const struct {
  int64_t size;
  TVMFFIFieldGetter getter;
} stores[] = {
    [FT_STORE_I64] = {8, get_i64},     [FT_STORE_I32] = {4, get_i32},   [FT_STORE_F64] = {8, get_f64},
    [FT_STORE_F32] = {4, get_f32},     [FT_STORE_BOOL] = {1, get_bool}, [FT_STORE_DEVICE] = {8, get_device},
    [FT_STORE_DTYPE] = {4, get_dtype}, [FT_STORE_ANY] = {16, get_any},  [FT_STORE_OBJECT] = {8, get_object},
};

static ft_store store_of(ft_field_id id, const ft_type *type) {
  switch (type->kind) {
  case FT_INT: return id == FT_FIELD_i32 ? FT_STORE_I32 : FT_STORE_I64;
  case FT_FLOAT: return id == FT_FIELD_f32 ? FT_STORE_F32 : FT_STORE_F64;
  case FT_BOOL: return FT_STORE_BOOL;
  case FT_DEVICE: return FT_STORE_DEVICE;
  case FT_DTYPE: return FT_STORE_DTYPE;
  case FT_OBJECT:
  case FT_SEQUENCE:
  case FT_MAPPING: return FT_STORE_OBJECT;
  case FT_OPTIONAL: return store_of(id, &type->args[0]) == FT_STORE_OBJECT ? FT_STORE_OBJECT : FT_STORE_ANY;
  default: return FT_STORE_ANY;
  }
}

int ft_field_load(void) {
  for (int i = 0; i < FT_FIELD_COUNT; ++i) {
    ft_field_type *field = &types[i];
    if (ft_type_read(rows[i].text, &field->type) != 0) return -1;
    field->store = store_of((ft_field_id)i, &field->type);
    field->size = stores[field->store].size;
    field->getter = stores[field->store].getter;
    field->setter = rows[i].setter;
  }
  if (ft_core_call(FT_ARRAY, NULL, 0, &empty_array) != 0) return -1;
  return ft_core_call(FT_MAP, NULL, 0, &empty_map);
}

void ft_field_begin(const ft_field_type *field, void *at) {
  TVMFFIAny *empty = field->type.kind == FT_SEQUENCE ? &empty_array : &empty_map;
  switch (field->type.kind) {
  case FT_STR: ((TVMFFIAny *)at)->type_index = kTVMFFISmallStr; break;
  case FT_BYTES: ((TVMFFIAny *)at)->type_index = kTVMFFISmallBytes; break;
  case FT_SEQUENCE:
  case FT_MAPPING:
    (void)TVMFFIObjectIncRef(empty->v_obj);
    *(void **)at = empty->v_obj;
    break;
  default: break;
  }
}
