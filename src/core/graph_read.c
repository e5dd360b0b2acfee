/* graph_read.c - the value of a graph of JSON values, without recursion.
 *
 * A node that refers to others has a frame while they are read. Whenever its frame is on top it goes on as far as nodes
 * have values; the first that has none gets a frame of its own, and the question is asked again after that. */
#include "graph_read.h"

#include "base64.h"
#include "bigint.h"
#include "create.h"
#include "dtype.h"
#include "error.h"
#include "graph_type.h"
#include "hashmap.h"
#include "mem.h"
#include "seq.h"
#include "str.h"
#include "stripe.h"
#include "tensor.h"
#include "type.h"

#define INVALID "Invalid JSON Object Graph"
#define N_KEYS 16 /* a power of two */

typedef struct {
  int64_t node;
  TVMFFIAny data;     /* owned: Array, or of an object Map or Dict */
  TVMFFIObject *made; /* owned; what becomes the node's value */
  int64_t n_done;     /* items of `data` */
  TVMFFIAny key;      /* owned: of the pair that is going on, when n_done is odd */
  fh_reflect_cursor cursor;     /* of an object */
  const TVMFFIFieldInfo *field; /* the one that is going on, or NULL */
} frame;

typedef enum { UNREAD, OPEN, READ } node_state;

typedef struct {
  fh_seq_object *nodes; /* borrowed */
  TVMFFIAny *values;    /* owned, one per node */
  unsigned char *states;
  frame *frames;
  size_t n_frames, n_frames_room;
  TVMFFIAny type_name, data_name; /* the keys of a node, short text */
  struct {
    TVMFFIAny key; /* owned, so that its bytes say which text it is */
    const TVMFFITypeInfo *info;
  } types[N_KEYS]; /* type keys that came up lately */
} reader;

/* ---- JSON values as what they should be ---- */

static int raise_convert(const TVMFFIAny *value, const char *expected) {
  return fh_error_raise(FH_TYPE_ERROR, "Cannot convert from type `%s` to `%s`", fh_type_name(value->type_index),
                        expected);
}

static int to_int(const TVMFFIAny *value, int64_t *out) {
  if (value->type_index != kTVMFFIInt && value->type_index != kTVMFFIBool) return raise_convert(value, "int");
  *out = value->v_int64;
  return 0;
}

static int to_text(const TVMFFIAny *value, TVMFFIByteArray *out) {
  return fh_str_content(value, out) ? 0 : raise_convert(value, "str");
}

/* An owned Array; of a List, what it has now. */
static int to_array(const TVMFFIAny *value, TVMFFIAny *out) {
  *out = fh_any_none();
  if (value->type_index == kTVMFFIArray) {
    fh_any_copy(value, out);
    return 0;
  }
  if (value->type_index != kTVMFFIList) return raise_convert(value, "Array<Any>");
  const fh_seq_object *list = (const fh_seq_object *)(const void *)value->v_obj;
  fh_stripe_lock(list);
  fh_seq_object *array = fh_seq_from_views(kTVMFFIArray, fh_seq_items(list), fh_seq_size(list));
  fh_stripe_unlock(list);
  *out = fh_any_object(array);
  return array != NULL ? 0 : -1;
}

static const TVMFFIAny *items_of(const TVMFFIAny *array, int64_t *n) {
  const fh_seq_object *seq = (const fh_seq_object *)(const void *)array->v_obj;
  *n = fh_seq_size(seq);
  return fh_seq_items(seq);
}

/* An owned copy of a key's value: 1, or 0, or -1. */
static int get(const TVMFFIAny *map, const TVMFFIAny *key, TVMFFIAny *out) {
  return fh_hashmap_get((const fh_hashmap_object *)(const void *)map->v_obj, key, out);
}

/* ---- Nodes without references to others ---- */

static int read_device(const TVMFFIAny *data, TVMFFIAny *out) {
  int64_t n, type = 0, id = 0;
  const TVMFFIAny *items = items_of(data, &n);
  if (n != 2) {
    return fh_error_raise(FH_VALUE_ERROR,
                          INVALID ": Device data must be an array of [device_type, device_id], got %lld element(s)",
                          (long long)n);
  }
  if (to_int(&items[0], &type) != 0 || to_int(&items[1], &id) != 0) return -1;
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

static int read_shape(const TVMFFIAny *data, TVMFFIAny *out) {
  int64_t n;
  const TVMFFIAny *items = items_of(data, &n);
  fh_shape_object *shape = fh_shape_new(NULL, (size_t)n);
  if (shape == NULL) return -1;
  for (int64_t i = 0; i < n; ++i) {
    if (to_int(&items[i], &shape->dims[i]) == 0) continue;
    fh_object_release(shape);
    return -1;
  }
  *out = fh_any_object(shape);
  return 0;
}

static int read_from_array(int32_t type_index, const TVMFFIAny *data, TVMFFIAny *out) {
  TVMFFIAny array;
  if (to_array(data, &array) != 0) return -1;
  int rc = type_index == kTVMFFIDevice ? read_device(&array, out) : read_shape(&array, out);
  fh_any_drop(&array);
  return rc;
}

static int read_from_text(int32_t type_index, const TVMFFIAny *data, TVMFFIAny *out) {
  TVMFFIByteArray text;
  DLDataType dtype;
  if (to_text(data, &text) != 0) return -1;
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

/* Plain data of a static type: a node's, or a field's that is written in place. */
static int read_plain(int32_t type_index, const TVMFFIAny *data, TVMFFIAny *out) {
  int64_t number = 0;
  *out = fh_any_none();
  switch (type_index) {
  case kTVMFFINone: return 0;
  case kTVMFFIFloat:
    if (data->type_index == kTVMFFIFloat) {
      *out = *data;
      return 0;
    }
    if (data->type_index != kTVMFFIInt && data->type_index != kTVMFFIBool) return raise_convert(data, "float");
    *out = fh_any_float((double)data->v_int64);
    return 0;
  case kTVMFFIDataType: return read_from_text(type_index, data, out);
  default: break;
  }
  if (type_index == kTVMFFIBool && data->type_index != kTVMFFIInt && data->type_index != kTVMFFIBool) {
    return raise_convert(data, "bool");
  }
  if (to_int(data, &number) != 0) return -1;
  *out = type_index == kTVMFFIBool ? fh_any_bool(number != 0) : fh_any_int(number);
  return 0;
}

static int read_enum(const TVMFFITypeInfo *info, fh_graph_form form, const TVMFFIAny *data, TVMFFIAny *out) {
  TVMFFIByteArray text;
  int64_t number = 0;
  if (form == FH_GRAPH_STR_ENUM) return to_text(data, &text) != 0 ? -1 : fh_graph_enum_find(info, data, out);
  if (to_int(data, &number) != 0) return -1;
  TVMFFIAny index = fh_any_int(number);
  return fh_graph_enum_find(info, &index, out);
}

/* ---- Frames ---- */

static void close_frame(frame *f) {
  fh_any_drop(&f->data);
  fh_any_drop(&f->key);
  fh_object_release(f->made);
}

/* Takes `data`, also on failure. `made` is new and may be NULL, with an error pending. */
static int open_frame(reader *r, int64_t node, TVMFFIAny data, void *made, const TVMFFITypeInfo *info) {
  frame f;
  memset(&f, 0, sizeof f);
  f.node = node;
  f.data = data;
  f.made = (TVMFFIObject *)made;
  f.cursor.info = info;
  int rc = made != NULL ? 0 : -1;
  if (rc == 0 && r->n_frames == r->n_frames_room) {
    size_t room = r->n_frames_room * 2 + 16;
    frame *frames = (frame *)fh_mem_realloc(r->frames, room * sizeof *frames);
    rc = frames != NULL ? 0 : fh_error_raise_no_memory();
    if (rc == 0) {
      r->frames = frames;
      r->n_frames_room = room;
    }
  }
  if (rc != 0) {
    close_frame(&f);
    return -1;
  }
  r->states[node] = OPEN;
  r->frames[r->n_frames++] = f;
  return 0;
}

static int open_container(reader *r, int64_t node, int32_t type_index, const TVMFFIAny *data) {
  TVMFFIAny array;
  int64_t n;
  void *made;
  if (to_array(data, &array) != 0) return -1;
  items_of(&array, &n);
  if (type_index == kTVMFFIArray) {
    made = fh_seq_new_array(n);
  } else if (type_index == kTVMFFIList) {
    made = fh_seq_new_list(n);
  } else if (n % 2 == 0) {
    made = fh_hashmap_new(type_index, (uint64_t)n / 2);
  } else {
    made = NULL;
    fh_error_raise(FH_VALUE_ERROR,
                   INVALID ": Map/Dict data must contain an even number of [key, value] entries, got %lld",
                   (long long)n);
  }
  return open_frame(r, node, array, made, NULL);
}

/* An object by its hook, its enum, or its fields: 1 with its value, 0 if it has a frame now, -1. */
static int begin_object(reader *r, int64_t node, const TVMFFITypeInfo *info, const TVMFFIAny *data, TVMFFIAny *out) {
  const TVMFFIAny *hook;
  TVMFFIAny fields;
  fh_graph_form form = fh_graph_form_of(info, FH_ATTR_DATA_FROM_JSON, &hook);
  switch (form) {
  case FH_GRAPH_INT_ENUM:
  case FH_GRAPH_STR_ENUM: return read_enum(info, form, data, out) == 0 ? 1 : -1;
  case FH_GRAPH_HOOK: return fh_graph_call_hook(hook, "__data_from_json__", data, out) == 0 ? 1 : -1;
  case FH_GRAPH_UNABLE:
    return fh_error_raise(
        FH_TYPE_ERROR, "Type `%.*s` does not support reflection creation (no native creator or __ffi_new__ type attr)",
        FH_BYTES_ARGS(info->type_key));
  default: break;
  }
  if (!fh_hashmap_is(data)) return raise_convert(data, "Map<Any, Any>");
  fh_any_copy(data, &fields);
  return open_frame(r, node, fields, fh_create_empty(info), info);
}

/* ---- Nodes ---- */

static int find_type(reader *r, const TVMFFIAny *key, const TVMFFITypeInfo **out) {
  TVMFFIByteArray text;
  if (to_text(key, &text) != 0) return -1;
  size_t i = (size_t)(key->v_uint64 * UINT64_C(0x9e3779b97f4a7c15) >> 60) & (N_KEYS - 1);
  if (!fh_any_same(&r->types[i].key, key)) {
    int32_t type_index = fh_type_find_key(text);
    if (type_index < 0) return fh_error_raise(FH_TYPE_ERROR, "Cannot find type `%.*s`", FH_BYTES_ARGS(text));
    fh_any_drop(&r->types[i].key);
    fh_any_copy(key, &r->types[i].key);
    r->types[i].info = fh_type_find(type_index);
  }
  *out = r->types[i].info;
  return 0;
}

/* 1 with the value of a node, 0 if it has a frame now, -1. `data` is NULL when the node has none. */
static int begin_data(reader *r, int64_t node, const TVMFFITypeInfo *info, const TVMFFIAny *data, TVMFFIAny *out) {
  *out = fh_any_none();
  if (info->type_index == kTVMFFINone) return 1;
  if (data == NULL) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": expected `data` in node %lld of type `%.*s`", (long long)node,
                          FH_BYTES_ARGS(info->type_key));
  }
  switch (info->type_index) {
  case kTVMFFIBool:
  case kTVMFFIInt:
  case kTVMFFIFloat:
  case kTVMFFIDataType: return read_plain(info->type_index, data, out) == 0 ? 1 : -1;
  case kTVMFFIStr:
  case kTVMFFIBytes:
  case kTVMFFIBigInt: return read_from_text(info->type_index, data, out) == 0 ? 1 : -1;
  case kTVMFFIDevice:
  case kTVMFFIShape: return read_from_array(info->type_index, data, out) == 0 ? 1 : -1;
  case kTVMFFIArray:
  case kTVMFFIList:
  case kTVMFFIMap:
  case kTVMFFIDict: return open_container(r, node, info->type_index, data);
  default: return begin_object(r, node, info, data, out);
  }
}

static int begin_node(reader *r, int64_t node, TVMFFIAny *out) {
  const TVMFFIAny *json = &fh_seq_items(r->nodes)[node];
  const TVMFFITypeInfo *info = NULL;
  TVMFFIAny key, data;
  if (!fh_hashmap_is(json)) return raise_convert(json, "Map<Any, Any>");
  int has_key = get(json, &r->type_name, &key);
  if (has_key < 0) return -1;
  if (has_key == 0) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": expected `type` in node %lld", (long long)node);
  }
  int rc = find_type(r, &key, &info);
  fh_any_drop(&key);
  if (rc != 0) return -1;
  int has_data = get(json, &r->data_name, &data);
  if (has_data < 0) return -1;
  rc = begin_data(r, node, info, has_data ? &data : NULL, out);
  fh_any_drop(&data);
  return rc;
}

static void keep(reader *r, int64_t node, TVMFFIAny value) {
  r->values[node] = value;
  r->states[node] = READ;
}

/* 1 with the value of the node that `index` names, borrowed; 0 if it has to be read first and has a frame now; -1. */
static int need(reader *r, const TVMFFIAny *index, TVMFFIAny *out) {
  int64_t node = 0;
  if (to_int(index, &node) != 0) return -1;
  if (node < 0 || node >= fh_seq_size(r->nodes)) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": invalid node index %lld", (long long)node);
  }
  if (r->states[node] == OPEN) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": node %lld refers to itself", (long long)node);
  }
  if (r->states[node] == UNREAD) {
    int rc = begin_node(r, node, out);
    if (rc != 1) return rc;
    keep(r, node, *out);
  }
  *out = r->values[node];
  return 1;
}

/* ---- Going on with the innermost frame: 1 at its end, 0 if another frame comes first, -1 ---- */

static int add_items(reader *r) {
  frame *f = &r->frames[r->n_frames - 1];
  int64_t n;
  const TVMFFIAny *items = items_of(&f->data, &n);
  while (f->n_done < n) {
    TVMFFIAny item, owned;
    int rc = need(r, &items[f->n_done], &item);
    if (rc != 1) return rc;
    fh_any_copy(&item, &owned);
    if (fh_seq_push((fh_seq_object *)(void *)f->made, owned) != 0) return -1;
    f->n_done += 1;
  }
  return 1;
}

static int add_pairs(reader *r) {
  frame *f = &r->frames[r->n_frames - 1];
  int64_t n;
  const TVMFFIAny *items = items_of(&f->data, &n);
  while (f->n_done < n) {
    TVMFFIAny item;
    int rc = need(r, &items[f->n_done], &item);
    if (rc != 1) return rc;
    if (f->n_done % 2 == 0) {
      fh_any_copy(&item, &f->key);
    } else {
      if (fh_hashmap_set_views((fh_hashmap_object *)(void *)f->made, &f->key, &item) != 0) return -1;
      fh_any_drop(&f->key);
    }
    f->n_done += 1;
  }
  return 1;
}

static int set_field(reader *r, const frame *f, const TVMFFIAny *json) {
  TVMFFIAny value;
  if (!fh_graph_is_inline(f->field)) {
    int rc = need(r, json, &value);
    if (rc != 1) return rc;
  } else if (read_plain(f->field->field_static_type_index, json, &value) != 0) {
    return -1;
  }
  return fh_reflect_set(f->field, f->made, &value) == 0 ? 1 : -1;
}

static int set_missing(const frame *f) {
  if (f->field->flags & kTVMFFIFieldFlagBitMaskHasDefault)
    return fh_create_set_default(f->field, f->made) == 0 ? 1 : -1;
  return fh_error_raise(FH_TYPE_ERROR, "Required field `%.*s` not set in type `%.*s`", FH_BYTES_ARGS(f->field->name),
                        FH_BYTES_ARGS(f->cursor.info->type_key));
}

static int set_fields(reader *r) {
  frame *f = &r->frames[r->n_frames - 1];
  while (f->field != NULL || (f->field = fh_reflect_next_field(&f->cursor)) != NULL) {
    TVMFFIAny name, json;
    if (fh_str_from_bytes(f->field->name, &name) != 0) return -1;
    int rc = get(&f->data, &name, &json);
    fh_any_drop(&name);
    if (rc == 1) {
      rc = set_field(r, f, &json);
      fh_any_drop(&json);
    } else if (rc == 0) {
      rc = set_missing(f);
    }
    if (rc != 1) return rc;
    f->field = NULL;
  }
  return 1;
}

static int go_on(reader *r) {
  const frame *f = &r->frames[r->n_frames - 1];
  if (f->cursor.info != NULL) return set_fields(r);
  return f->made->type_index == kTVMFFIMap || f->made->type_index == kTVMFFIDict ? add_pairs(r) : add_items(r);
}

/* ---- The graph ---- */

static int run(reader *r, const TVMFFIAny *root_index, TVMFFIAny *out) {
  TVMFFIAny root;
  int rc = need(r, root_index, &root);
  while (rc >= 0 && r->n_frames != 0) {
    rc = go_on(r);
    if (rc != 1) continue;
    frame *f = &r->frames[--r->n_frames];
    keep(r, f->node, fh_any_object(f->made));
    f->made = NULL;
    close_frame(f);
  }
  if (rc < 0) return -1;
  int64_t node = root_index->v_int64;
  fh_any_copy(&r->values[node], out);
  return 0;
}

static int read_nodes(const TVMFFIAny *root_index, const TVMFFIAny *nodes, TVMFFIAny *out) {
  reader r;
  memset(&r, 0, sizeof r);
  r.nodes = (fh_seq_object *)(void *)nodes->v_obj;
  size_t n = (size_t)fh_seq_size(r.nodes);
  r.values = (TVMFFIAny *)fh_mem_calloc(n, sizeof *r.values);
  r.states = (unsigned char *)fh_mem_calloc(n, 1);
  int rc = r.values == NULL || r.states == NULL ? fh_error_raise_no_memory() : 0;
  fh_str_from_cstr("type", &r.type_name);
  fh_str_from_cstr("data", &r.data_name);
  if (rc == 0) rc = run(&r, root_index, out);
  while (r.n_frames != 0) close_frame(&r.frames[--r.n_frames]);
  for (size_t i = 0; r.values != NULL && i < n; ++i) fh_any_drop(&r.values[i]);
  for (size_t i = 0; i < N_KEYS; ++i) fh_any_drop(&r.types[i].key);
  fh_mem_free(r.frames);
  fh_mem_free(r.values);
  fh_mem_free(r.states);
  return rc;
}

/* An entry of the graph, owned, which must have that type. */
static int get_entry(const TVMFFIAny *graph, const char *name, int32_t type_index, const char *what, TVMFFIAny *out) {
  TVMFFIAny key;
  *out = fh_any_none();
  if (fh_str_from_cstr(name, &key) != 0) return -1;
  int rc = get(graph, &key, out);
  fh_any_drop(&key);
  if (rc < 0) return -1;
  if (rc == 1 && out->type_index == type_index) return 0;
  fh_any_drop(out);
  return fh_error_raise(FH_VALUE_ERROR, INVALID ", expected `%s` %s field", name, what);
}

int fh_graph_read(const TVMFFIAny *graph, TVMFFIAny *out) {
  TVMFFIAny root_index, nodes = fh_any_none();
  *out = fh_any_none();
  if (graph->type_index != kTVMFFIMap) return fh_error_raise(FH_VALUE_ERROR, INVALID ", expected an object");
  int rc = get_entry(graph, "root_index", kTVMFFIInt, "integer", &root_index);
  if (rc == 0) rc = get_entry(graph, "nodes", kTVMFFIArray, "array", &nodes);
  if (rc == 0) rc = read_nodes(&root_index, &nodes, out);
  fh_any_drop(&nodes);
  return rc;
}
