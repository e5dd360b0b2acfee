/* graph_leaf.c - nodes of a graph that refer to no others: one switch by type for each direction. The data of a graph
 * is foreign, so each reader checks the type of its data. */
#include "graph.h"

#include "base64.h"
#include "core/container/list.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/str.h"
#include "core/object/text.h"
#include "core/object/type.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

#define INVALID "Invalid JSON Object Graph"

int32_t fh_graph_leaf_type(int32_t type_index) {
  return type_index == kTVMFFISmallStr ? kTVMFFIStr : type_index == kTVMFFISmallBytes ? kTVMFFIBytes : type_index;
}

/* ---- Checked access to JSON values ---- */

int fh_graph_raise_convert(const TVMFFIAny *value, const char *expected) {
  return fh_error_raise(FH_TYPE_ERROR, "Cannot convert from type `%s` to `%s`", fh_type_name(value->type_index),
                        expected);
}

int fh_graph_to_int(const TVMFFIAny *value, int64_t *out) {
  if (value->type_index != kTVMFFIInt && value->type_index != kTVMFFIBool) return fh_graph_raise_convert(value, "int");
  *out = value->v_int64;
  return 0;
}

int fh_graph_to_text(const TVMFFIAny *value, TVMFFIByteArray *out) {
  return fh_str_content(value, out) ? 0 : fh_graph_raise_convert(value, "str");
}

int fh_graph_to_array(const TVMFFIAny *value, TVMFFIAny *out) {
  *out = fh_any_none();
  if (value->type_index == kTVMFFIArray) {
    fh_any_copy(value, out);
    return 0;
  }
  if (value->type_index != kTVMFFIList) return fh_graph_raise_convert(value, "Array<Any>");
  fh_seq_object *array = fh_list_copy((const fh_seq_object *)(const void *)value->v_obj, kTVMFFIArray);
  *out = fh_any_object(array);
  return array != NULL ? 0 : -1;
}

const TVMFFIAny *fh_graph_items(const TVMFFIAny *array, int64_t *n) {
  const fh_seq_object *seq = (const fh_seq_object *)(const void *)array->v_obj;
  *n = fh_seq_size(seq);
  return fh_seq_items(seq);
}

/* ---- Writing ---- */

/* Makes an owned Array of integers; *out is None on -1. */
static int make_ints(const int64_t *ints, size_t n, TVMFFIAny *out) {
  fh_seq_object *array = fh_seq_new_array((int64_t)n);
  *out = fh_any_object(array);
  if (array == NULL) return -1;
  for (size_t i = 0; i < n; ++i) fh_seq_items(array)[i] = fh_any_int(ints[i]);
  array->cell.size = (int64_t)n;
  return 0;
}

/* A decimal string, because the reader of JSON makes a float of a number beyond 64 bits. */
static int make_bigint(const TVMFFIObject *obj, TVMFFIAny *out) {
  const fh_bigint_object *big = (const fh_bigint_object *)(const void *)obj;
  fh_text text = {NULL, 0, 0};
  int rc = fh_text_add_bigint(&text, big->words, big->n_words);
  if (rc == 0) rc = fh_str_new(text.data, text.n_bytes, out);
  fh_text_free(&text);
  return rc;
}

int fh_graph_leaf_write(const TVMFFIAny *value, TVMFFIAny *data) {
  TVMFFIByteArray bytes;
  *data = fh_any_none();
  switch (fh_graph_leaf_type(value->type_index)) {
  case kTVMFFINone: return 1;
  case kTVMFFIBool:
  case kTVMFFIInt:
  case kTVMFFIFloat:
  case kTVMFFIStr: fh_any_copy(value, data); return 1;
  case kTVMFFIDataType: return fh_dtype_print(value->v_dtype, data) == 0 ? 1 : -1;
  case kTVMFFIDevice: {
    int64_t ints[] = {value->v_device.device_type, value->v_device.device_id};
    return make_ints(ints, 2, data) == 0 ? 1 : -1;
  }
  case kTVMFFIBytes: return fh_bytes_content(value, &bytes) && fh_base64_encode(bytes, data) == 0 ? 1 : -1;
  case kTVMFFIBigInt: return make_bigint(value->v_obj, data) == 0 ? 1 : -1;
  case kTVMFFIShape: {
    const TVMFFIShapeCell *cell = TVMFFIShapeGetCellPtr(value->v_obj);
    return make_ints(cell->data, cell->size, data) == 0 ? 1 : -1;
  }
  default: return 0;
  }
}

/* ---- Reading ---- */

/* [type, id]. A number that does not fit a DLDevice is refused, not truncated. */
static int read_device(const TVMFFIAny *data, TVMFFIAny *out) {
  int64_t n, type = 0, id = 0;
  const TVMFFIAny *items = fh_graph_items(data, &n);
  if (n != 2) {
    return fh_error_raise(FH_VALUE_ERROR,
                          INVALID ": Device data must be an array of [device_type, device_id], got %lld element(s)",
                          (long long)n);
  }
  if (fh_graph_to_int(&items[0], &type) != 0 || fh_graph_to_int(&items[1], &id) != 0) return -1;
  if (type < INT32_MIN || type > INT32_MAX || id < INT32_MIN || id > INT32_MAX) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": expected numbers of 32 bits for a Device but got [%lld, %lld]",
                          (long long)type, (long long)id);
  }
  DLDevice device;
  device.device_type = (DLDeviceType)type;
  device.device_id = (int32_t)id;
  *out = fh_any_device(device);
  return 0;
}

/* Any integers, negative ones too: a Shape does not restrict its numbers. */
static int read_shape(const TVMFFIAny *data, TVMFFIAny *out) {
  int64_t n;
  const TVMFFIAny *items = fh_graph_items(data, &n);
  fh_shape_object *shape = fh_shape_new(NULL, (size_t)n);
  if (shape == NULL) return -1;
  for (int64_t i = 0; i < n; ++i) {
    if (fh_graph_to_int(&items[i], &shape->dims[i]) == 0) continue;
    fh_object_release(shape);
    return -1;
  }
  *out = fh_any_object(shape);
  return 0;
}

/* A Device or a Shape, from an Array or a List of integers. */
static int read_from_array(int32_t type_index, const TVMFFIAny *data, TVMFFIAny *out) {
  TVMFFIAny array;
  if (fh_graph_to_array(data, &array) != 0) return -1;
  int rc = type_index == kTVMFFIDevice ? read_device(&array, out) : read_shape(&array, out);
  fh_any_drop(&array);
  return rc;
}

/* A string itself, or a value that is written as a string: base64, decimal digits, the name of a data type. */
static int read_from_text(int32_t type_index, const TVMFFIAny *data, TVMFFIAny *out) {
  TVMFFIByteArray text;
  DLDataType dtype;
  if (fh_graph_to_text(data, &text) != 0) return -1;
  switch (type_index) {
  case kTVMFFIStr: fh_any_copy(data, out); return 0;
  case kTVMFFIBytes: return fh_base64_decode(text, out);
  case kTVMFFIBigInt: return fh_bigint_from_decimal(text, out);
  default: break;
  }
  if (fh_dtype_parse(text, &dtype) != 0) return -1;
  *out = fh_any_dtype(dtype);
  return 0;
}

static int read_int(const TVMFFIAny *data, TVMFFIAny *out) {
  int64_t number = 0;
  if (fh_graph_to_int(data, &number) != 0) return -1;
  *out = fh_any_int(number);
  return 0;
}

static int read_bool(const TVMFFIAny *data, TVMFFIAny *out) {
  if (data->type_index != kTVMFFIInt && data->type_index != kTVMFFIBool) return fh_graph_raise_convert(data, "bool");
  *out = fh_any_bool(data->v_int64 != 0);
  return 0;
}

/* JSON has one type of number: a float without a fraction may have been written as an integer. */
static int read_float(const TVMFFIAny *data, TVMFFIAny *out) {
  bool is_int = data->type_index == kTVMFFIInt || data->type_index == kTVMFFIBool;
  if (!is_int && data->type_index != kTVMFFIFloat) return fh_graph_raise_convert(data, "float");
  *out = is_int ? fh_any_float((double)data->v_int64) : *data;
  return 0;
}

int fh_graph_leaf_read(int32_t type_index, const TVMFFIAny *data, TVMFFIAny *out) {
  int rc;
  *out = fh_any_none();
  switch (type_index) {
  case kTVMFFINone: return 1;
  case kTVMFFIBool: rc = read_bool(data, out); break;
  case kTVMFFIInt: rc = read_int(data, out); break;
  case kTVMFFIFloat: rc = read_float(data, out); break;
  case kTVMFFIDataType:
  case kTVMFFIStr:
  case kTVMFFIBytes:
  case kTVMFFIBigInt: rc = read_from_text(type_index, data, out); break;
  case kTVMFFIDevice:
  case kTVMFFIShape: rc = read_from_array(type_index, data, out); break;
  default: return 0;
  }
  return rc == 0 ? 1 : -1;
}
