/* value.c - values, errors, string buffers, and the core's functions that this library calls. */
#include "value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_PARTS 16

/* ---- Values ---- */

bool ft_value_bytes(const TVMFFIAny *value, TVMFFIByteArray *out) {
  switch (value->type_index) {
  case kTVMFFISmallStr:
  case kTVMFFISmallBytes: *out = TVMFFISmallBytesGetContentByteArray(value); return true;
  case kTVMFFIStr:
  case kTVMFFIBytes: *out = *TVMFFIBytesGetByteArrayPtr(value->v_obj); return true;
  case kTVMFFIRawStr: *out = ft_text(value->v_c_str); return true;
  case kTVMFFIByteArrayPtr: *out = *(const TVMFFIByteArray *)value->v_ptr; return true;
  default: return false;
  }
}

bool ft_value_is_instance(int32_t type_index, int32_t wanted) {
  if (type_index == wanted || wanted == kTVMFFIObject) return type_index >= kTVMFFIStaticObjectBegin;
  if (type_index < wanted) return false; /* a descendant has a higher index */
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  const TVMFFITypeInfo *ancestor = TVMFFIGetTypeInfo(wanted);
  if (info == NULL || ancestor == NULL || info->type_depth <= ancestor->type_depth) return false;
  return info->type_ancestors[ancestor->type_depth] == ancestor;
}

const TVMFFISeqCell *ft_value_items(const TVMFFIAny *sequence) {
  return (const TVMFFISeqCell *)(const void *)((const char *)sequence->v_obj + sizeof(TVMFFIObject));
}

int ft_raise(const char *kind, ...) {
  const char *parts[MAX_PARTS];
  int32_t n_parts = 0;
  va_list rest;
  va_start(rest, kind);
  for (const char *part = va_arg(rest, const char *); part != NULL && n_parts < MAX_PARTS;
       part = va_arg(rest, const char *)) {
    parts[n_parts++] = part;
  }
  va_end(rest);
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, n_parts);
  return -1;
}

int ft_no_memory(const char *what) { return ft_raise("MemoryError", "Out of memory for ", what, (char *)NULL); }

/* ---- String buffers ---- */

void ft_buffer_add(ft_buffer *buffer, const char *data, size_t size) {
  if (buffer->size + size + 1 > buffer->capacity) {
    size_t capacity = (buffer->size + size + 1) * 2;
    char *grown = buffer->is_cut ? NULL : (char *)realloc(buffer->data, capacity);
    if (grown == NULL) {
      buffer->is_cut = 1;
      return;
    }
    buffer->data = grown;
    buffer->capacity = capacity;
  }
  memcpy(buffer->data + buffer->size, data, size);
  buffer->size += size;
  buffer->data[buffer->size] = '\0';
}

void ft_buffer_add_escaped(ft_buffer *buffer, const char *data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '"' || data[i] == '\\') ft_buffer_put(buffer, "\\");
    ft_buffer_add(buffer, data + i, 1);
  }
}

void ft_buffer_free(ft_buffer *buffer) {
  free(buffer->data);
  memset(buffer, 0, sizeof(*buffer));
}

/* ---- The core's functions ---- */

static const char *const core_names[FT_CORE_COUNT] = {
    [FT_ARRAY] = "ffi.Array",
    [FT_LIST] = "ffi.List",
    [FT_MAP] = "ffi.Map",
    [FT_DICT] = "ffi.Dict",
    [FT_MAP_SIZE] = "ffi.MapSize",
    [FT_DICT_SIZE] = "ffi.DictSize",
    [FT_MAP_WALK] = "ffi.MapForwardIterFunctor",
    [FT_DICT_WALK] = "ffi.DictForwardIterFunctor",
    [FT_LIST_APPEND] = "ffi.ListAppend",
    [FT_DICT_SET] = "ffi.DictSetItem",
    [FT_DICT_GET] = "ffi.DictGetItem",
    [FT_DICT_COUNT] = "ffi.DictCount",
    [FT_REGISTER_INIT] = "ffi._RegisterFFIInit",
    [FT_VISIT] = "ffi.StructuralVisitorVisit",
    [FT_VISIT_IN_REGION] = "ffi.StructuralVisitorWithDefRegionKind",
};

/* Written once, when the library is loaded; never freed. */
static TVMFFIObjectHandle core_functions[FT_CORE_COUNT];

int ft_value_load(void) {
  for (int i = 0; i < FT_CORE_COUNT; ++i) {
    TVMFFIByteArray name = ft_text(core_names[i]);
    if (TVMFFIFunctionGetGlobal(&name, &core_functions[i]) != 0) return -1;
    if (core_functions[i] == NULL) return ft_raise("RuntimeError", "the core has no ", core_names[i], (char *)NULL);
  }
  return 0;
}

int ft_core_call(ft_core which, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  *result = ft_none();
  return TVMFFIFunctionCall(core_functions[which], (TVMFFIAny *)args, n_args, result);
}

int ft_core_do(ft_core which, const TVMFFIAny *args, int32_t n_args) {
  TVMFFIAny result;
  if (ft_core_call(which, args, n_args, &result) != 0) return -1;
  ft_drop(&result);
  return 0;
}

/* ---- Pairs ---- */

/* The commands that are the argument of the core's iteration function. */
enum { STEP_KEY = 0, STEP_VALUE = 1, STEP_ON = 2 };

int ft_walk_begin(const TVMFFIAny *mapping, ft_walk *walk) {
  bool is_map = mapping->type_index == kTVMFFIMap;
  TVMFFIAny size;
  memset(walk, 0, sizeof(*walk));
  if (ft_core_call(is_map ? FT_MAP_SIZE : FT_DICT_SIZE, mapping, 1, &size) != 0) return -1;
  walk->n_left = size.v_int64;
  return ft_core_call(is_map ? FT_MAP_WALK : FT_DICT_WALK, mapping, 1, &walk->step);
}

static int step(ft_walk *walk, int64_t what, TVMFFIAny *result) {
  TVMFFIAny argument = ft_int(what);
  *result = ft_none();
  return TVMFFIFunctionCall(walk->step.v_obj, &argument, 1, result);
}

int ft_walk_next(ft_walk *walk, TVMFFIAny *key, TVMFFIAny *value) {
  TVMFFIAny has_more;
  if (walk->n_left == 0) return 0;
  if (step(walk, STEP_KEY, key) != 0) return -1;
  if (step(walk, STEP_VALUE, value) != 0 || step(walk, STEP_ON, &has_more) != 0) {
    ft_drop(key);
    ft_drop(value);
    return -1;
  }
  ft_drop(&has_more);
  walk->n_left -= 1;
  return 1;
}

void ft_walk_end(ft_walk *walk) { ft_drop(&walk->step); }
