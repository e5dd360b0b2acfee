/* repr.c - the readable text of any value. */
#include "repr.h"

#include <stdlib.h>

#include "bigint.h"
#include "device.h"
#include "dtype.h"
#include "error.h"
#include "function.h"
#include "globals.h"
#include "hashmap.h"
#include "mem.h"
#include "reflect.h"
#include "seq.h"
#include "str.h"
#include "stripe.h"
#include "tensor.h"
#include "text.h"
#include "type.h"

#define MAX_DEPTH (1 << 20)

/* An object that is being written: its children, and how many of them are done. */
typedef struct {
  TVMFFIObject *obj;
  TVMFFIAny *children; /* owned; of a map: key, value, key, value */
  const TVMFFIFieldInfo **fields; /* one per child, NULL unless it is a reflected object */
  int64_t n_children;
  int64_t n_done;
} frame;

typedef struct {
  fh_hashmap_object *open; /* addresses of the objects being written, to find cycles */
  int with_address;
} printer;

static int print_any(printer *p, const TVMFFIAny *value, fh_text *text);

/* ---- Values without children ---- */

static int add_address(const printer *p, const void *obj, fh_text *text) {
  return p->with_address ? fh_text_add_format(text, "@0x%llx", (unsigned long long)(uintptr_t)obj) : 0;
}

static int add_dtype(DLDataType dtype, fh_text *text) {
  TVMFFIAny name;
  TVMFFIByteArray content;
  if (fh_dtype_print(dtype, &name) != 0) return -1;
  int rc = fh_str_content(&name, &content) ? fh_text_add(text, content.data, content.size) : 0;
  fh_any_drop(&name);
  return rc;
}

static int add_device(DLDevice device, fh_text *text) {
  char buffer[FH_DEVICE_TEXT_MAX];
  fh_device_print(device, buffer);
  return fh_text_add_cstr(text, buffer);
}

static int add_ints(const int64_t *ints, int64_t n, fh_text *text) {
  for (int64_t i = 0; i < n; ++i) {
    if (fh_text_add_format(text, "%s%lld", i == 0 ? "" : ", ", (long long)ints[i]) != 0) return -1;
  }
  return 0;
}

static int add_tensor(const printer *p, TVMFFIObject *obj, fh_text *text) {
  const DLTensor *tensor = TVMFFITensorGetDLTensorPtr(obj);
  if (add_dtype(tensor->dtype, text) != 0 || fh_text_add_cstr(text, "[") != 0) return -1;
  if (add_ints(tensor->shape, tensor->ndim, text) != 0 || fh_text_add_cstr(text, "]@") != 0) return -1;
  return add_device(tensor->device, text) != 0 ? -1 : add_address(p, obj, text);
}

static int add_shape(TVMFFIObject *obj, fh_text *text) {
  const TVMFFIShapeCell *cell = TVMFFIShapeGetCellPtr(obj);
  if (fh_text_add_cstr(text, "Shape(") != 0 || add_ints(cell->data, (int64_t)cell->size, text) != 0) return -1;
  return fh_text_add_cstr(text, ")");
}

/* An Enum: its type and the name of the variant, a string value at offset 32. */
static int add_enum(const printer *p, TVMFFIObject *obj, fh_text *text) {
  TVMFFIByteArray name;
  const TVMFFIAny *cell = (const TVMFFIAny *)(const void *)((const char *)obj + 32);
  if (fh_text_add_cstr(text, fh_type_name(obj->type_index)) != 0) return -1;
  if (!fh_str_content(cell, &name)) name = fh_base_bytes("?");
  if (fh_text_add_cstr(text, ".") != 0 || fh_text_add(text, name.data, name.size) != 0) return -1;
  return add_address(p, obj, text);
}

static int add_plain(const TVMFFIAny *value, fh_text *text) {
  TVMFFIByteArray content;
  switch (value->type_index) {
  case kTVMFFINone: return fh_text_add_cstr(text, "None");
  case kTVMFFIBool: return fh_text_add_cstr(text, value->v_int64 ? "True" : "False");
  case kTVMFFIInt: return fh_text_add_format(text, "%lld", (long long)value->v_int64);
  case kTVMFFIFloat: return fh_text_add_format(text, "%g", value->v_float64);
  case kTVMFFIDataType: return add_dtype(value->v_dtype, text);
  case kTVMFFIDevice: return add_device(value->v_device, text);
  default: break;
  }
  if (fh_str_content(value, &content)) return fh_text_add_quoted(text, content);
  if (fh_bytes_content(value, &content)) return fh_text_add_bytes(text, content);
  return fh_text_add_cstr(text, fh_type_name(value->type_index));
}

/* ---- Hooks: __ffi_repr__(object, fn_repr) ---- */

/* What fn_repr refers to; the printer is gone once the hook has returned. */
typedef struct {
  printer *p;
} callback;

static int callback_call(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  printer *p = ((const callback *)self)->p;
  fh_text text = {NULL, 0, 0};
  if (fh_function_check_count("__ffi_repr__.fn_repr", n_args, 1) != 0) return -1;
  if (p == NULL) return fh_error_raise(FH_RUNTIME_ERROR, "Expected fn_repr to be called while its __ffi_repr__ runs");
  int rc = print_any(p, &args[0], &text);
  if (rc == 0) rc = fh_str_new(text.data, text.n_bytes, result);
  fh_text_free(&text);
  return rc;
}

static int add_by_hook(printer *p, const TVMFFIAny *hook, TVMFFIObject *obj, fh_text *text) {
  TVMFFIObjectHandle fn_repr;
  TVMFFIByteArray content;
  TVMFFIAny result;
  callback *back = (callback *)fh_mem_alloc(sizeof *back);
  if (back == NULL) return fh_error_raise_no_memory();
  back->p = p;
  if (fh_function_new(back, callback_call, fh_mem_free, &fn_repr) != 0) {
    fh_mem_free(back);
    return -1;
  }
  TVMFFIAny args[2] = {fh_any_object(obj), fh_any_object(fn_repr)};
  int rc = fh_function_call(hook->v_obj, args, 2, &result);
  back->p = NULL;
  fh_object_release(fn_repr);
  if (rc != 0) return -1;
  if (fh_str_content(&result, &content)) {
    rc = fh_text_add(text, content.data, content.size);
  } else {
    rc = fh_error_raise(FH_TYPE_ERROR, "Expected __ffi_repr__ of `%s` to return `str` but got `%s`",
                        fh_type_name(obj->type_index), fh_type_name(result.type_index));
  }
  fh_any_drop(&result);
  return rc;
}

/* ---- Objects with children ---- */

static int take_pairs(const fh_hashmap_object *map, frame *f) {
  int64_t n = fh_hashmap_size(map);
  f->children = (TVMFFIAny *)fh_mem_alloc((size_t)n * 2 * sizeof *f->children);
  if (f->children == NULL) return fh_error_raise_no_memory();
  uint64_t position = fh_hashmap_begin(map);
  for (fh_hashmap_pair *pair; f->n_children < 2 * n && (pair = fh_hashmap_at(map, position)) != NULL;) {
    fh_any_copy(&pair->key, &f->children[f->n_children++]);
    fh_any_copy(&pair->value, &f->children[f->n_children++]);
    position = fh_hashmap_next(map, position);
  }
  return 0;
}

static int count_field(void *state, const TVMFFIFieldInfo *field) {
  FH_UNUSED(field);
  *(int64_t *)state += 1;
  return 0;
}

/* A field that a subclass declares again shows once, where it was first. */
static int take_field(void *state, const TVMFFIFieldInfo *field) {
  frame *f = (frame *)state;
  if (field->flags & kTVMFFIFieldFlagBitMaskReprOff) return 0;
  for (int64_t i = 0; i < f->n_children; ++i) {
    if (fh_str_same(f->fields[i]->name, field->name)) return 0;
  }
  if (f->n_done == 0) return 0; /* one that came after counting */
  f->n_done -= 1;
  if (fh_reflect_get(field, f->obj, &f->children[f->n_children]) != 0) return -1;
  f->fields[f->n_children++] = field;
  return 0;
}

static int take_fields(frame *f) {
  const TVMFFITypeInfo *info = fh_type_find(f->obj->type_index);
  int64_t n = 0;
  if (info == NULL) return 0;
  fh_reflect_each_field(info, count_field, &n);
  f->children = (TVMFFIAny *)fh_mem_alloc((size_t)n * sizeof *f->children);
  f->fields = (const TVMFFIFieldInfo **)fh_mem_alloc((size_t)n * sizeof *f->fields);
  if (f->children == NULL || f->fields == NULL) return fh_error_raise_no_memory();
  f->n_done = n; /* room left, while collecting */
  int rc = fh_reflect_each_field(info, take_field, f);
  f->n_done = 0;
  return rc == 0 ? 0 : -1;
}

static int open_frame(printer *p, const TVMFFIAny *value, frame *f) {
  fh_hashmap_pair mark = {fh_any_ptr(value->v_obj), fh_any_none()}, old;
  memset(f, 0, sizeof *f);
  if (fh_hashmap_set(p->open, &mark, FH_HASHMAP_NO_HOOKS, &old) != 0) return -1;
  f->obj = value->v_obj;
  fh_object_retain(f->obj);
  int rc;
  if (fh_seq_is(value) || fh_hashmap_is(value)) {
    fh_stripe_lock(f->obj);
    rc = fh_seq_is(value) ? fh_seq_copy_items((const fh_seq_object *)f->obj, &f->children, &f->n_children)
                          : take_pairs((const fh_hashmap_object *)f->obj, f);
    fh_stripe_unlock(f->obj);
  } else {
    rc = take_fields(f);
  }
  return rc;
}

static void close_frame(printer *p, frame *f) {
  TVMFFIAny mark = fh_any_ptr(f->obj);
  fh_hashmap_pair old;
  fh_hashmap_erase(p->open, &mark, FH_HASHMAP_NO_HOOKS, &old);
  fh_seq_drop_items(f->children, f->n_children);
  fh_mem_free((void *)f->fields);
  fh_object_release(f->obj);
}

static int add_opening(printer *p, const frame *f, fh_text *text) {
  switch (f->obj->type_index) {
  case kTVMFFIArray: return fh_text_add_cstr(text, "(");
  case kTVMFFIList: return fh_text_add_cstr(text, "[");
  case kTVMFFIMap:
  case kTVMFFIDict: return fh_text_add_cstr(text, "{");
  default: break;
  }
  if (fh_text_add_cstr(text, fh_type_name(f->obj->type_index)) != 0 || add_address(p, f->obj, text) != 0) return -1;
  return f->n_children != 0 ? fh_text_add_cstr(text, "(") : 0;
}

static int add_closing(printer *p, const frame *f, fh_text *text) {
  const char *closing = "";
  switch (f->obj->type_index) {
  case kTVMFFIArray: closing = f->n_children == 1 ? ",)" : ")"; break;
  case kTVMFFIList: closing = "]"; break;
  case kTVMFFIMap:
  case kTVMFFIDict: closing = "}"; break;
  default: return f->n_children != 0 ? fh_text_add_cstr(text, ")") : 0;
  }
  return fh_text_add_cstr(text, closing) != 0 ? -1 : add_address(p, f->obj, text);
}

/* What stands before the next child. */
static int add_separator(const frame *f, fh_text *text) {
  int is_map = f->obj->type_index == kTVMFFIMap || f->obj->type_index == kTVMFFIDict;
  if (f->n_done != 0 && fh_text_add_cstr(text, is_map && f->n_done % 2 != 0 ? ": " : ", ") != 0) return -1;
  if (f->fields == NULL) return 0;
  const TVMFFIByteArray name = f->fields[f->n_done]->name;
  return fh_text_add(text, name.data, name.size) != 0 ? -1 : fh_text_add_cstr(text, "=");
}

/* ---- The loop ---- */

/* Writes a value that needs no frame: 1, 0 if it needs one, -1. */
static int print_leaf(printer *p, const TVMFFIAny *value, fh_text *text) {
  fh_hashmap_pair *mark;
  if (!fh_any_is_object(value)) return add_plain(value, text) != 0 ? -1 : 1;
  TVMFFIObject *obj = value->v_obj;
  TVMFFIAny key = fh_any_ptr(obj);
  if (fh_hashmap_find(p->open, &key, FH_HASHMAP_NO_HOOKS, &mark) == 1) {
    return fh_text_add_cstr(text, "...") != 0 || add_address(p, obj, text) != 0 ? -1 : 1;
  }
  if (obj == fh_globals_missing()) return fh_text_add_cstr(text, "<MISSING>") != 0 ? -1 : 1;
  if (obj == fh_globals_kwargs()) return fh_text_add_cstr(text, "<KWARGS>") != 0 ? -1 : 1;
  switch (value->type_index) {
  case kTVMFFIStr:
  case kTVMFFIBytes: return add_plain(value, text) != 0 ? -1 : 1;
  case kTVMFFITensor: return add_tensor(p, obj, text) != 0 ? -1 : 1;
  case kTVMFFIShape: return add_shape(obj, text) != 0 ? -1 : 1;
  case kTVMFFIBigInt: {
    const fh_bigint_object *big = (const fh_bigint_object *)obj;
    return fh_text_add_bigint(text, big->words, big->n_words) != 0 ? -1 : 1;
  }
  default: break;
  }
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_REPR), value->type_index);
  if (hook != NULL && hook->type_index == kTVMFFIFunction) {
    fh_hashmap_pair open = {key, fh_any_none()}, old;
    if (fh_hashmap_set(p->open, &open, FH_HASHMAP_NO_HOOKS, &old) != 0) return -1;
    int rc = add_by_hook(p, hook, obj, text);
    fh_hashmap_erase(p->open, &key, FH_HASHMAP_NO_HOOKS, &old);
    return rc != 0 ? -1 : 1;
  }
  int32_t enum_index = fh_type_find_key(FH_LITERAL("ffi.Enum"));
  if (enum_index >= 0 && fh_type_is_instance(value->type_index, enum_index)) {
    return add_enum(p, obj, text) != 0 ? -1 : 1;
  }
  return 0;
}

typedef struct {
  frame *frames;
  int64_t n;
  int64_t capacity;
} frame_stack;

static int push(printer *p, frame_stack *stack, const TVMFFIAny *value, fh_text *text) {
  if (stack->n == MAX_DEPTH) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a value nested at most %d deep", MAX_DEPTH);
  }
  if (stack->n == stack->capacity) {
    int64_t capacity = stack->capacity * 2 + 8;
    frame *frames = (frame *)fh_mem_realloc(stack->frames, (size_t)capacity * sizeof *frames);
    if (frames == NULL) return fh_error_raise_no_memory();
    stack->frames = frames;
    stack->capacity = capacity;
  }
  frame *f = &stack->frames[stack->n];
  int rc = open_frame(p, value, f);
  if (f->obj == NULL) return -1;
  stack->n += 1; /* from here on closed by who owns the stack */
  return rc != 0 ? -1 : add_opening(p, f, text);
}

static int run(printer *p, frame_stack *stack, fh_text *text) {
  while (stack->n != 0) {
    frame *f = &stack->frames[stack->n - 1];
    if (f->n_done == f->n_children) {
      if (add_closing(p, f, text) != 0) return -1;
      close_frame(p, f);
      stack->n -= 1;
      continue;
    }
    if (add_separator(f, text) != 0) return -1;
    const TVMFFIAny *child = &f->children[f->n_done++];
    int done = print_leaf(p, child, text);
    if (done < 0 || (done == 0 && push(p, stack, child, text) != 0)) return -1;
  }
  return 0;
}

static int print_any(printer *p, const TVMFFIAny *value, fh_text *text) {
  frame_stack stack = {NULL, 0, 0};
  int done = print_leaf(p, value, text);
  if (done != 0) return done < 0 ? -1 : 0;
  int rc = push(p, &stack, value, text);
  if (rc == 0) rc = run(p, &stack, text);
  while (stack.n > 0) close_frame(p, &stack.frames[--stack.n]);
  fh_mem_free(stack.frames);
  return rc;
}

int fh_repr_print(const TVMFFIAny *value, TVMFFIAny *out) {
  fh_text text = {NULL, 0, 0};
  const char *setting = getenv("TVM_FFI_REPR_WITH_ADDR");
  printer p = {fh_hashmap_new(kTVMFFIDict, 0), setting != NULL && strcmp(setting, "1") == 0};
  if (p.open == NULL) return -1;
  int rc = print_any(&p, value, &text);
  if (rc == 0) rc = fh_str_new(text.data, text.n_bytes, out);
  fh_text_free(&text);
  fh_object_release(p.open);
  return rc;
}
