/* repr.c - the readable representation of any value: (array,), [list], {key: value}, Type(field=value).
 *
 * All output goes into one growing string; the walk writes the parts before, between and after the children of an
 * object. An object that is open already is written as "...". With TVM_FFI_REPR_WITH_ADDR=1 in the environment, objects
 * have their address added. */
#include "nested.h"

#include <stdlib.h>

#include "core/fields/builtin.h"
#include "core/fields/enum.h"
#include "core/object/any_own.h"
#include "core/object/bigint.h"
#include "core/object/function.h"
#include "core/object/opaque.h"
#include "core/object/str.h"
#include "core/object/text.h"
#include "core/object/type.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

typedef struct {
  fh_walk walk;
  fh_text text;
  int with_address;
  /* The index of ffi.Enum. */
  int32_t enum_type; /* -1 while it is not registered */
} printer;

static int print_any(printer *p, const TVMFFIAny *value);

/* ---- Values without children ---- */

static int add_address(printer *p, const void *obj) {
  return p->with_address ? fh_text_add_format(&p->text, "@0x%llx", (unsigned long long)(uintptr_t)obj) : 0;
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

/* Data type, shape and device, as "float32[2, 3]@cpu:0"; no contents. */
static int add_tensor(printer *p, TVMFFIObject *obj) {
  fh_text *text = &p->text;
  const DLTensor *tensor = TVMFFITensorGetDLTensorPtr(obj);
  if (add_dtype(tensor->dtype, text) != 0 || fh_text_add_cstr(text, "[") != 0) return -1;
  if (add_ints(tensor->shape, tensor->ndim, text) != 0 || fh_text_add_cstr(text, "]@") != 0) return -1;
  return add_device(tensor->device, text) != 0 ? -1 : add_address(p, obj);
}

static int add_shape(TVMFFIObject *obj, fh_text *text) {
  const TVMFFIShapeCell *cell = TVMFFIShapeGetCellPtr(obj);
  if (fh_text_add_cstr(text, "Shape(") != 0 || add_ints(cell->data, (int64_t)cell->size, text) != 0) return -1;
  return fh_text_add_cstr(text, ")");
}

/* An Enum as "Type.name"; "?" if the cell holds no string. */
static int add_enum(printer *p, TVMFFIObject *obj) {
  fh_text *text = &p->text;
  TVMFFIByteArray name;
  TVMFFIAny cell = fh_builtin_get_any(&((const fh_enum_object *)obj)->str_index);
  if (!fh_str_content(&cell, &name)) name = fh_base_bytes("?");
  int rc = fh_text_add_cstr(text, fh_type_name(obj->type_index));
  if (rc == 0) rc = fh_text_add_cstr(text, ".");
  if (rc == 0) rc = fh_text_add(text, name.data, name.size);
  fh_any_drop(&cell);
  return rc != 0 ? -1 : add_address(p, obj);
}

/* Strings and bytes in quotes; a pointer, or a marker, as the name of its type. */
static int add_plain(const TVMFFIAny *value, fh_text *text) {
  TVMFFIByteArray content;
  switch (value->type_index) {
  case kTVMFFINone: return fh_text_add_cstr(text, "None");
  case kTVMFFIBool: return fh_text_add_cstr(text, value->v_int64 ? "True" : "False");
  case kTVMFFIInt: return fh_text_add_format(text, "%lld", (long long)value->v_int64);
  case kTVMFFIFloat: return fh_text_add_float(text, value->v_float64, 6);
  case kTVMFFIDataType: return add_dtype(value->v_dtype, text);
  case kTVMFFIDevice: return add_device(value->v_device, text);
  default: break;
  }
  if (fh_str_content(value, &content)) return fh_text_add_quoted(text, content);
  if (fh_bytes_content(value, &content)) return fh_text_add_bytes(text, content);
  return fh_text_add_cstr(text, fh_type_name(value->type_index));
}

/* ---- Hooks: __ffi_repr__(object, fn_repr) ---- */

/* fn_repr(value): returns the representation as a separate string. The output of the hook's caller is put aside during
 * the call. */
FH_CODE(repr_back) {
  printer *p = (printer *)self;
  fh_text outer = p->text;
  memset(&p->text, 0, sizeof(p->text));
  int rc = print_any(p, &args[0]);
  if (rc == 0) rc = fh_str_new(p->text.data, p->text.n_bytes, result);
  fh_text_free(&p->text);
  p->text = outer;
  return rc;
}

static int add_by_hook(printer *p, TVMFFIObject *hook, TVMFFIObject *obj) {
  TVMFFIByteArray content;
  TVMFFIAny result;
  if (fh_hook_call(&p->walk, hook, obj, NULL, repr_back, 1, p, &result) != 0) return -1;
  int rc = fh_str_content(&result, &content) ? fh_text_add(&p->text, content.data, content.size)
                                             : fh_hook_raise_result(FH_ATTR_REPR, obj, "str", &result);
  fh_any_drop(&result);
  return rc;
}

/* ---- Objects with children ---- */

/* Writes the part before the first child. For an object, add_separator writes the parenthesis before the first field,
 * so an object without fields is only its type's name. */
static int add_opening(printer *p, const TVMFFIObject *obj) {
  switch (obj->type_index) {
  case kTVMFFIArray: return fh_text_add_cstr(&p->text, "(");
  case kTVMFFIList: return fh_text_add_cstr(&p->text, "[");
  case kTVMFFIMap:
  case kTVMFFIDict: return fh_text_add_cstr(&p->text, "{");
  default: break;
  }
  return fh_text_add_cstr(&p->text, fh_type_name(obj->type_index)) != 0 ? -1 : add_address(p, obj);
}

/* Writes the part after the last child. A container's address is written here, an object's after its type's name. */
static int add_closing(printer *p, const fh_walk_frame *f) {
  const char *closing = "";
  switch (f->obj->type_index) {
  case kTVMFFIArray: closing = f->n_done == 1 ? ",)" : ")"; break;
  case kTVMFFIList: closing = "]"; break;
  case kTVMFFIMap:
  case kTVMFFIDict: closing = "}"; break;
  default: return f->n_done != 0 ? fh_text_add_cstr(&p->text, ")") : 0;
  }
  return fh_text_add_cstr(&p->text, closing) != 0 ? -1 : add_address(p, f->obj);
}

/* Writes the part before the child that was returned last; before a field, its name, too. */
static int add_separator(printer *p, const fh_walk_frame *f) {
  const char *separator = f->shape == FH_WALK_FIELDS ? "(" : "";
  if (f->n_done > 1) separator = f->shape == FH_WALK_PAIRS && f->n_done % 2 == 0 ? ": " : ", ";
  if (fh_text_add_cstr(&p->text, separator) != 0) return -1;
  if (f->shape != FH_WALK_FIELDS) return 0;
  TVMFFIByteArray name = fh_walk_label_of(&p->walk, f).field->name;
  return fh_text_add(&p->text, name.data, name.size) != 0 ? -1 : fh_text_add_cstr(&p->text, "=");
}

/* ---- The loop ---- */

/* Writes a value, or enters it if it has children. */
static int print_or_enter(printer *p, const TVMFFIAny *value) {
  fh_text *text = &p->text;
  if (!fh_any_is_object(value)) return add_plain(value, text);
  TVMFFIObject *obj = value->v_obj;
  if (fh_walk_is_open(&p->walk, obj, NULL)) return fh_text_add_cstr(text, "...") != 0 ? -1 : add_address(p, obj);
  if (obj == fh_sentinel_missing()) return fh_text_add_cstr(text, "<MISSING>");
  if (obj == fh_sentinel_kwargs()) return fh_text_add_cstr(text, "<KWARGS>");
  /* Objects whose contents this library reads directly. */
  switch (value->type_index) {
  case kTVMFFIStr:
  case kTVMFFIBytes: return add_plain(value, text);
  case kTVMFFITensor: return add_tensor(p, obj);
  case kTVMFFIShape: return add_shape(obj, text);
  case kTVMFFIBigInt: {
    const fh_bigint_object *big = (const fh_bigint_object *)obj;
    return fh_text_add_bigint(text, big->words, big->n_words);
  }
  default: break;
  }
  /* A hook comes before all forms below, including those of containers and enums. */
  TVMFFIObject *hook;
  if (fh_hook_find(FH_ATTR_REPR, value->type_index, &hook) != 0) return -1;
  if (hook != NULL) return add_by_hook(p, hook, obj);
  if (fh_type_is_instance(value->type_index, p->enum_type)) return add_enum(p, obj);
  return add_opening(p, obj) != 0 ? -1 : fh_walk_push(&p->walk, value);
}

/* Writes the entered values until `depth` frames are left. */
static int print_entered(printer *p, size_t depth) {
  TVMFFIAny child;
  while (fh_walk_depth(&p->walk) > depth) {
    switch (fh_walk_next(&p->walk, &child)) {
    case FH_WALK_CHILD:
      if (add_separator(p, fh_walk_top(&p->walk)) != 0 || print_or_enter(p, &child) != 0) return -1;
      break;
    case FH_WALK_END:
      if (add_closing(p, fh_walk_top(&p->walk)) != 0) return -1;
      fh_walk_pop(&p->walk);
      break;
    default: return -1;
    }
  }
  return 0;
}

/* Writes a value recursively, also for fn_repr. On -1 the walk is as deep as before. */
static int print_any(printer *p, const TVMFFIAny *value) {
  size_t depth = fh_walk_depth(&p->walk);
  if (print_or_enter(p, value) == 0 && print_entered(p, depth) == 0) return 0;
  fh_walk_unwind(&p->walk, depth);
  return -1;
}

int fh_repr_print(const TVMFFIAny *value, TVMFFIAny *out) {
  const char *setting = getenv("TVM_FFI_REPR_WITH_ADDR");
  printer p;
  TVMFFIAny root;
  if (fh_any_own(value, &root) != 0) return -1;
  fh_walk_init(&p.walk, FH_WALK_CYCLES, kTVMFFIFieldFlagBitMaskReprOff, 0);
  memset(&p.text, 0, sizeof(p.text));
  p.with_address = setting != NULL && strcmp(setting, "1") == 0;
  p.enum_type = fh_type_find_key(FH_LITERAL("ffi.Enum"));
  int rc = print_any(&p, &root);
  if (rc == 0) rc = fh_str_new(p.text.data, p.text.n_bytes, out);
  fh_text_free(&p.text);
  fh_walk_free(&p.walk);
  fh_any_drop(&root);
  return rc;
}
