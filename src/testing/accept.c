/* accept.c - decides whether a type accepts a value, and converts the value. */
#include "accept.h"

#include <stdio.h>
#include <stdlib.h>

static ft_verdict accept_view(const TVMFFIAny *value, ft_accepted *out) {
  out->value = *value;
  out->is_owned = 0;
  return FT_YES;
}

static bool is_changed(const ft_accepted *accepted, const TVMFFIAny *value) {
  return accepted->is_owned || memcmp(&accepted->value, value, sizeof(*value)) != 0;
}

/* ---- Plain data ---- */

static ft_verdict accept_number(ft_kind kind, const TVMFFIAny *value, ft_accepted *out) {
  int32_t came = value->type_index;
  (void)accept_view(value, out);
  if (came != kTVMFFIInt && came != kTVMFFIBool && !(kind == FT_FLOAT && came == kTVMFFIFloat)) return FT_NO;
  if (kind == FT_INT) out->value = ft_int(value->v_int64);
  if (kind == FT_BOOL) out->value = ft_bool(value->v_int64 != 0);
  if (kind == FT_FLOAT && came != kTVMFFIFloat) {
    out->value.type_index = kTVMFFIFloat;
    out->value.v_float64 = (double)value->v_int64;
  }
  return FT_YES;
}

static ft_verdict accept_text(ft_kind kind, const TVMFFIAny *value, ft_accepted *out) {
  int32_t came = value->type_index;
  bool is_text = came == kTVMFFISmallStr || came == kTVMFFIStr || came == kTVMFFIRawStr;
  bool is_bytes = came == kTVMFFISmallBytes || came == kTVMFFIBytes || came == kTVMFFIByteArrayPtr;
  return (kind == FT_STR ? is_text : is_bytes) ? accept_view(value, out) : FT_NO;
}

static const struct {
  const char *name;
  DLDeviceType type;
} devices[] = {
    {"cpu", kDLCPU},       {"cuda", kDLCUDA},   {"opencl", kDLOpenCL}, {"vulkan", kDLVulkan},  {"metal", kDLMetal},
    {"mps", kDLMetal},     {"vpi", kDLVPI},     {"rocm", kDLROCM},     {"ext_dev", kDLExtDev}, {"hexagon", kDLHexagon},
    {"webgpu", kDLWebGPU}, {"wgpu", kDLWebGPU}, {"maia", kDLMAIA},     {"trn", kDLTrn},
};

/* `cuda`, `cuda:1` */
static ft_verdict accept_device(const TVMFFIAny *value, ft_accepted *out) {
  TVMFFIByteArray text;
  char copy[32], *colon, *behind = NULL;
  long index = 0;
  if (value->type_index == kTVMFFIDevice) return accept_view(value, out);
  if (accept_text(FT_STR, value, out) != FT_YES || !ft_value_bytes(value, &text)) return FT_NO;
  if (text.size >= sizeof(copy)) return FT_NO;
  memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  colon = strchr(copy, ':');
  if (colon != NULL) {
    *colon = '\0';
    if (colon[1] < '0' || colon[1] > '9') return FT_NO;
    index = strtol(colon + 1, &behind, 10);
    if (*behind != '\0' || index > INT32_MAX) return FT_NO;
  }
  for (int32_t i = 0; i < FT_COUNT(devices); ++i) {
    if (strcmp(copy, devices[i].name) != 0) continue;
    out->value = ft_none();
    out->value.type_index = kTVMFFIDevice;
    out->value.v_device = TVMFFIDLDeviceFromIntPair((int32_t)devices[i].type, (int32_t)index);
    return FT_YES;
  }
  return FT_NO;
}

static ft_verdict accept_dtype(const TVMFFIAny *value, ft_accepted *out) {
  TVMFFIByteArray text;
  if (value->type_index == kTVMFFIDataType) return accept_view(value, out);
  if (!ft_value_bytes(value, &text)) return FT_NO;
  out->is_owned = 0;
  out->value = ft_none();
  out->value.type_index = kTVMFFIDataType;
  return TVMFFIDataTypeFromString(&text, &out->value.v_dtype) == 0 ? FT_YES : FT_FAILED;
}

static ft_verdict accept_dltensor(const TVMFFIAny *value, ft_accepted *out) {
  if (value->type_index == kTVMFFIDLTensorPtr) return accept_view(value, out);
  if (value->type_index != kTVMFFITensor) return FT_NO;
  out->is_owned = 0;
  out->value = ft_none();
  out->value.type_index = kTVMFFIDLTensorPtr;
  out->value.v_ptr = TVMFFITensorGetDLTensorPtr(value->v_obj);
  return FT_YES;
}

/* ---- Containers ---- */

static ft_verdict no_memory(void) {
  (void)ft_no_memory("the items of a container");
  return FT_FAILED;
}

static void drop_all(ft_accepted *items, int64_t n_items) {
  for (int64_t i = 0; i < n_items; ++i) ft_accepted_drop(&items[i]);
  free(items);
}

/* Makes the container of the converted items and steals them. If no item changed and the given container has the right
 * type, returns the given container. */
static ft_verdict make_container(const ft_type *type, ft_core make, const TVMFFIAny *given, ft_accepted *items,
                                 int64_t n_items, int changed, ft_accepted *out) {
  ft_verdict verdict = FT_YES;
  if (!changed && given->type_index == type->type_index) {
    (void)accept_view(given, out);
  } else {
    TVMFFIAny *args = (TVMFFIAny *)malloc(sizeof(*args) * (size_t)(n_items + 1));
    verdict = args == NULL ? no_memory() : FT_YES;
    for (int64_t i = 0; args != NULL && i < n_items; ++i) args[i] = items[i].value;
    if (args != NULL && ft_core_call(make, args, (int32_t)n_items, &out->value) != 0) verdict = FT_FAILED;
    out->is_owned = 1;
    free(args);
  }
  drop_all(items, n_items);
  return verdict;
}

static ft_verdict accept_sequence(const ft_type *type, const TVMFFIAny *value, ft_accepted *out) {
  if (value->type_index != kTVMFFIArray && value->type_index != kTVMFFIList) return FT_NO;
  if (type->args[0].kind == FT_ANY && value->type_index == type->type_index) return accept_view(value, out);
  const TVMFFISeqCell *cell = ft_value_items(value);
  const TVMFFIAny *given = (const TVMFFIAny *)cell->data;
  int64_t n_items = cell->size;
  int changed = 0;
  ft_accepted *items = (ft_accepted *)malloc(sizeof(*items) * (size_t)(n_items + 1));
  if (items == NULL) return no_memory();
  for (int64_t i = 0; i < n_items; ++i) {
    ft_verdict verdict = ft_accept(&type->args[0], &given[i], &items[i]);
    if (verdict != FT_YES) {
      drop_all(items, i);
      return verdict;
    }
    changed |= is_changed(&items[i], &given[i]);
  }
  ft_core make = type->type_index == kTVMFFIArray ? FT_ARRAY : FT_LIST;
  return make_container(type, make, value, items, n_items, changed, out);
}

/* Converts one key or value of a mapping and steals it. */
static ft_verdict accept_part(const ft_type *type, TVMFFIAny *part, ft_accepted *out, int *changed) {
  ft_verdict verdict = ft_accept(type, part, out);
  if (verdict == FT_YES && !is_changed(out, part)) {
    out->is_owned = 1;
    return FT_YES;
  }
  *changed = 1;
  ft_drop(part);
  return verdict;
}

static ft_verdict accept_pairs(const ft_type *type, ft_walk *walk, ft_accepted *items, int64_t *n_items, int *changed) {
  TVMFFIAny key, value;
  ft_verdict verdict = FT_YES;
  int rc = 0;
  while (verdict == FT_YES && (rc = ft_walk_next(walk, &key, &value)) == 1) {
    verdict = accept_part(&type->args[0], &key, &items[*n_items], changed);
    if (verdict != FT_YES) {
      ft_drop(&value);
      return verdict;
    }
    *n_items += 1;
    verdict = accept_part(&type->args[1], &value, &items[*n_items], changed);
    if (verdict == FT_YES) *n_items += 1;
  }
  return rc == -1 ? FT_FAILED : verdict;
}

static ft_verdict accept_mapping(const ft_type *type, const TVMFFIAny *value, ft_accepted *out) {
  if (value->type_index != kTVMFFIMap && value->type_index != kTVMFFIDict) return FT_NO;
  bool is_open = type->args[0].kind == FT_ANY && type->args[1].kind == FT_ANY;
  if (is_open && value->type_index == type->type_index) return accept_view(value, out);
  ft_walk walk;
  ft_accepted *items = NULL;
  int64_t n_items = 0;
  int changed = 0;
  ft_verdict verdict = ft_walk_begin(value, &walk) == 0 ? FT_YES : FT_FAILED;
  if (verdict == FT_YES) {
    items = (ft_accepted *)malloc(sizeof(*items) * (size_t)(2 * walk.n_left + 1));
    verdict = items == NULL ? no_memory() : accept_pairs(type, &walk, items, &n_items, &changed);
  }
  ft_walk_end(&walk);
  if (verdict != FT_YES) {
    drop_all(items, n_items);
    return verdict;
  }
  ft_core make = type->type_index == kTVMFFIMap ? FT_MAP : FT_DICT;
  return make_container(type, make, value, items, n_items, changed, out);
}

/* ---- All types ---- */

/* Returns the first alternative that accepts the value without conversion, otherwise the first alternative that accepts
 * it. */
static ft_verdict accept_variant(const ft_type *type, const TVMFFIAny *value, ft_accepted *out) {
  ft_accepted found = {ft_none(), 0};
  bool is_found = false;
  for (int32_t i = 0; i < type->n_args; ++i) {
    ft_verdict verdict = ft_accept(&type->args[i], value, out);
    if (verdict == FT_FAILED) {
      ft_accepted_drop(&found);
      return FT_FAILED;
    }
    if (verdict == FT_NO) continue;
    if (!is_changed(out, value)) {
      ft_accepted_drop(&found);
      return FT_YES;
    }
    if (is_found) {
      ft_accepted_drop(out);
    } else {
      found = *out;
      is_found = true;
    }
  }
  *out = found;
  return is_found ? FT_YES : FT_NO;
}

ft_verdict ft_accept(const ft_type *type, const TVMFFIAny *value, ft_accepted *out) {
  if (type->takes_none && value->type_index == kTVMFFINone) return accept_view(value, out);
  switch (type->kind) {
  case FT_ANY: return accept_view(value, out);
  case FT_INT:
  case FT_BOOL:
  case FT_FLOAT: return accept_number(type->kind, value, out);
  case FT_STR:
  case FT_BYTES: return accept_text(type->kind, value, out);
  case FT_DEVICE: return accept_device(value, out);
  case FT_DTYPE: return accept_dtype(value, out);
  case FT_DLTENSOR: return accept_dltensor(value, out);
  case FT_OBJECT:
  case FT_CALLABLE:
    if (!ft_is_object(value) || !ft_value_is_instance(value->type_index, type->type_index)) return FT_NO;
    return accept_view(value, out);
  case FT_OPTIONAL:
    return value->type_index == kTVMFFINone ? accept_view(value, out) : ft_accept(&type->args[0], value, out);
  case FT_VARIANT: return accept_variant(type, value, out);
  case FT_SEQUENCE: return accept_sequence(type, value, out);
  case FT_MAPPING: return accept_mapping(type, value, out);
  case FT_VOID: break;
  }
  return FT_NO;
}

/* ---- Messages ---- */

static bool refuses(const ft_type *type, const TVMFFIAny *value) {
  ft_accepted accepted;
  ft_verdict verdict = ft_accept(type, value, &accepted);
  if (verdict == FT_YES) ft_accepted_drop(&accepted);
  return verdict == FT_NO;
}

/* Appends the word before `<` in the type's name. */
static void put_word(const ft_type *type, ft_buffer *out) { ft_buffer_add(out, type->name, strcspn(type->name, "<")); }

static bool explain_sequence(const ft_type *type, const TVMFFIAny *value, ft_buffer *out) {
  if (value->type_index != kTVMFFIArray && value->type_index != kTVMFFIList) return false;
  const TVMFFISeqCell *cell = ft_value_items(value);
  const TVMFFIAny *items = (const TVMFFIAny *)cell->data;
  for (int64_t i = 0; i < cell->size; ++i) {
    if (!refuses(&type->args[0], &items[i])) continue;
    char index[32];
    snprintf(index, sizeof(index), "[index %lld: ", (long long)i);
    put_word(type, out);
    ft_buffer_put(out, index);
    ft_accept_explain(&type->args[0], &items[i], out);
    ft_buffer_put(out, "]");
    return true;
  }
  return false;
}

static bool explain_pair(const ft_type *type, const TVMFFIAny *key, const TVMFFIAny *value, ft_buffer *out) {
  bool is_key = refuses(&type->args[0], key);
  if (!is_key && !refuses(&type->args[1], value)) return false;
  put_word(type, out);
  ft_buffer_put(out, is_key ? "[some key is " : "[K, some value is ");
  ft_accept_explain(&type->args[is_key ? 0 : 1], is_key ? key : value, out);
  ft_buffer_put(out, is_key ? ", V]" : "]");
  return true;
}

static bool explain_mapping(const ft_type *type, const TVMFFIAny *value, ft_buffer *out) {
  ft_walk walk;
  TVMFFIAny key, item;
  bool is_said = false;
  if (value->type_index != kTVMFFIMap && value->type_index != kTVMFFIDict) return false;
  if (ft_walk_begin(value, &walk) == 0) {
    while (!is_said && ft_walk_next(&walk, &key, &item) == 1) {
      is_said = explain_pair(type, &key, &item, out);
      ft_drop(&key);
      ft_drop(&item);
    }
  }
  ft_walk_end(&walk);
  return is_said;
}

void ft_accept_explain(const ft_type *type, const TVMFFIAny *value, ft_buffer *out) {
  if (type->kind == FT_OPTIONAL) {
    ft_accept_explain(&type->args[0], value, out);
    return;
  }
  if (type->kind == FT_SEQUENCE && explain_sequence(type, value, out)) return;
  if (type->kind == FT_MAPPING && explain_mapping(type, value, out)) return;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(value->type_index);
  ft_buffer_put(out, info != NULL ? info->type_key.data : "something else");
}
