/* graph_read.c - the value of a graph of JSON values, without recursion.
 *
 * A node that refers to others has a frame while those are read. The frame on top continues until it needs such a node
 * without a value. That node gets a frame on top of it; when that frame is done, the first one requests the node again.
 * So each node is read at most once, and a node that is requested while its own frame is open refers to itself. */
#include "graph.h"

#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/fields/create.h"
#include "core/object/error.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

#define INVALID "Invalid JSON Object Graph"
#define N_KEYS 16 /* a power of two */

/* A node that is being read: its data, and the object under construction. */
typedef struct {
  int64_t node;
  TVMFFIAny data;     /* owned: an Array, or for an object a Map or Dict */
  TVMFFIObject *made; /* owned; becomes the node's value */
  int64_t n_done;     /* number of items of `data` done */
  TVMFFIAny key;      /* owned: key of the current pair, if n_done is odd */
  fh_reflect_cursor cursor;     /* for an object */
  const TVMFFIFieldInfo *field; /* the current field, or NULL */
} frame;

/* OPEN: the node has a frame; READ: it has a value. */
typedef enum { UNREAD, OPEN, READ } node_state;

typedef struct {
  fh_seq_object *nodes; /* borrowed */
  TVMFFIAny *values;    /* owned, one per node */
  unsigned char *states;
  frame *frames;
  size_t n_frames, n_frames_room;
  TVMFFIAny type_name, data_name; /* the keys of a node, short strings */
  struct {
    TVMFFIAny key; /* owned, so that another string cannot get the same address */
    const TVMFFITypeInfo *info;
  } types[N_KEYS]; /* recently used type keys */
} reader;

/* Returns an owned copy of a key's value: 1, or 0, or -1. */
static int get_entry_of(const TVMFFIAny *map, const TVMFFIAny *key, TVMFFIAny *out) {
  return fh_hashmap_get((const fh_hashmap_object *)(const void *)map->v_obj, key, out);
}

/* Finds the variant for an integer or a string: a new reference. */
static int read_enum(const TVMFFITypeInfo *info, fh_graph_form form, const TVMFFIAny *data, TVMFFIAny *out) {
  TVMFFIByteArray text;
  int64_t number = 0;
  if (form == FH_GRAPH_STR_ENUM) return fh_graph_to_text(data, &text) != 0 ? -1 : fh_graph_enum_find(info, data, out);
  if (fh_graph_to_int(data, &number) != 0) return -1;
  TVMFFIAny index = fh_any_int(number);
  return fh_graph_enum_find(info, &index, out);
}

/* ---- Frames ---- */

/* Drops the references of a frame; the caller removes it from the stack. */
static void close_frame(frame *f) {
  fh_any_drop(&f->data);
  fh_any_drop(&f->key);
  fh_object_release(f->made);
}

/* Steals `data`, also on failure. `made` is new and may be NULL, with an error pending. */
static int open_frame(reader *r, int64_t node, TVMFFIAny data, void *made, const TVMFFITypeInfo *info) {
  frame f;
  memset(&f, 0, sizeof(f));
  f.node = node;
  f.data = data;
  f.made = (TVMFFIObject *)made;
  f.cursor = fh_reflect_fields(info);
  int rc = made != NULL ? 0 : -1;
  if (rc == 0 && fh_mem_reserve((void **)&r->frames, &r->n_frames_room, r->n_frames, 1, sizeof(f)) != 0)
    rc = fh_error_raise_no_memory();
  if (rc != 0) {
    close_frame(&f);
    return -1;
  }
  r->states[node] = OPEN;
  r->frames[r->n_frames++] = f;
  return 0;
}

/* Opens an Array, List, Map or Dict from an array of node indices, whose number is known: the container is made with
 * room for all. A List as data is copied, because foreign code may change it while the nodes are read. */
static int open_container(reader *r, int64_t node, int32_t type_index, const TVMFFIAny *data) {
  TVMFFIAny array;
  int64_t n;
  void *made;
  if (fh_graph_to_array(data, &array) != 0) return -1;
  fh_graph_items(&array, &n);
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

static int raise_unable(const TVMFFITypeInfo *info) {
  return fh_error_raise(FH_TYPE_ERROR,
                        "Type `%.*s` does not support reflection creation (no native creator or __ffi_new__ type attr)",
                        FH_BYTES_ARGS(info->type_key));
}

/* Reads an object by its hook, as an enum, or by its fields: 1 with its value, 0 if it has a frame now, -1. */
static int begin_object(reader *r, int64_t node, const TVMFFITypeInfo *info, const TVMFFIAny *data, TVMFFIAny *out) {
  const TVMFFIAny *hook;
  TVMFFIAny fields;
  fh_graph_form form = fh_graph_form_of(info, FH_ATTR_DATA_FROM_JSON, &hook);
  switch (form) {
  case FH_GRAPH_INT_ENUM:
  case FH_GRAPH_STR_ENUM: return read_enum(info, form, data, out) == 0 ? 1 : -1;
  case FH_GRAPH_HOOK: return fh_graph_call_hook(hook, "__data_from_json__", data, out) == 0 ? 1 : -1;
  case FH_GRAPH_PYTHON: {
    int done = fh_graph_ask_python(info, false, data, out);
    return done != 0 ? done : raise_unable(info);
  }
  case FH_GRAPH_UNABLE: return raise_unable(info);
  default: break;
  }
  /* set_fields sets its fields one by one; until then the object is empty. */
  if (!fh_hashmap_is(data)) return fh_graph_raise_convert(data, "Map<Any, Any>");
  fh_any_copy(data, &fields);
  return open_frame(r, node, fields, fh_create_empty(info), info);
}

/* ---- Nodes ---- */

/* Finds the type of a key: -1 with a TypeError for an unknown one. Equal keys are usually one object (json_string.c
 * shares them), or are stored in the cell, so the cell's word finds most types without reading the string. The table is
 * direct-mapped. */
static int find_type(reader *r, const TVMFFIAny *key, const TVMFFITypeInfo **out) {
  TVMFFIByteArray text;
  if (fh_graph_to_text(key, &text) != 0) return -1;
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

/* 1 with the value of a node, 0 if it has a frame now, -1. `data` is NULL if the node has no data. */
static int begin_data(reader *r, int64_t node, const TVMFFITypeInfo *info, const TVMFFIAny *data, TVMFFIAny *out) {
  *out = fh_any_none();
  if (info->type_index == kTVMFFINone) return 1;
  if (data == NULL) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": expected `data` in node %lld of type `%.*s`", (long long)node,
                          FH_BYTES_ARGS(info->type_key));
  }
  int done = fh_graph_leaf_read(info->type_index, data, out);
  if (done != 0) return done;
  switch (info->type_index) {
  case kTVMFFIArray:
  case kTVMFFIList:
  case kTVMFFIMap:
  case kTVMFFIDict: return open_container(r, node, info->type_index, data);
  default: return begin_object(r, node, info, data, out);
  }
}

/* Reads a node by its entries "type" and "data"; the result is that of begin_data. The entries are owned copies,
 * because a node may be a Dict, which foreign code may change. */
static int begin_node(reader *r, int64_t node, TVMFFIAny *out) {
  const TVMFFIAny *json = &fh_seq_items(r->nodes)[node];
  const TVMFFITypeInfo *info = NULL;
  TVMFFIAny key, data;
  if (!fh_hashmap_is(json)) return fh_graph_raise_convert(json, "Map<Any, Any>");
  int has_key = get_entry_of(json, &r->type_name, &key);
  if (has_key < 0) return -1;
  if (has_key == 0) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": expected `type` in node %lld", (long long)node);
  }
  int rc = find_type(r, &key, &info);
  fh_any_drop(&key);
  if (rc != 0) return -1;
  int has_data = get_entry_of(json, &r->data_name, &data);
  if (has_data < 0) return -1;
  rc = begin_data(r, node, info, has_data ? &data : NULL, out);
  fh_any_drop(&data);
  return rc;
}

/* Steals the value. */
static void keep_value(reader *r, int64_t node, TVMFFIAny value) {
  r->values[node] = value;
  r->states[node] = READ;
}

/* 1 with the value of node `index`, borrowed; 0 if it must be read first and has a frame now; -1. */
static int get_or_open(reader *r, const TVMFFIAny *index, TVMFFIAny *out) {
  int64_t node = 0;
  if (fh_graph_to_int(index, &node) != 0) return -1;
  if (node < 0 || node >= fh_seq_size(r->nodes)) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": invalid node index %lld", (long long)node);
  }
  if (r->states[node] == OPEN) {
    return fh_error_raise(FH_VALUE_ERROR, INVALID ": node %lld refers to itself", (long long)node);
  }
  if (r->states[node] == UNREAD) {
    int rc = begin_node(r, node, out);
    if (rc != 1) return rc;
    keep_value(r, node, *out);
  }
  *out = r->values[node];
  return 1;
}

/* ---- Continuing with the innermost frame: 1 at its end, 0 if another frame comes first, -1. Opening that frame may
 * move all frames, so `f` is not used after a 0. Objects under construction are not shared yet, so Lists and Dicts are
 * filled without their locks ---- */

static int add_items(reader *r) {
  frame *f = &r->frames[r->n_frames - 1];
  int64_t n;
  const TVMFFIAny *items = fh_graph_items(&f->data, &n);
  while (f->n_done < n) {
    TVMFFIAny item, owned;
    int rc = get_or_open(r, &items[f->n_done], &item);
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
  const TVMFFIAny *items = fh_graph_items(&f->data, &n);
  while (f->n_done < n) {
    TVMFFIAny item;
    int rc = get_or_open(r, &items[f->n_done], &item);
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

/* Sets the current field: the value is in place, or in a node. */
static int set_field(reader *r, const frame *f, const TVMFFIAny *json) {
  TVMFFIAny value;
  if (!fh_graph_is_inline(f->field)) {
    int rc = get_or_open(r, json, &value);
    if (rc != 1) return rc;
  } else if (fh_graph_leaf_read(f->field->field_static_type_index, json, &value) != 1) {
    return -1;
  }
  return fh_reflect_set(f->field, f->made, &value) == 0 ? 1 : -1;
}

/* Sets a field that the graph does not have to its default, or raises a TypeError without one. */
static int set_missing(const frame *f) {
  if (f->field->flags & kTVMFFIFieldFlagBitMaskHasDefault)
    return fh_create_set_default(f->field, f->made) == 0 ? 1 : -1;
  return fh_error_raise(FH_TYPE_ERROR, "Required field `%.*s` not set in type `%.*s`", FH_BYTES_ARGS(f->field->name),
                        FH_BYTES_ARGS(f->cursor.info->type_key));
}

static int set_fields(reader *r) {
  frame *f = &r->frames[r->n_frames - 1];
  /* A field whose node had to be read first is still in f->field, and is looked up again. */
  while (f->field != NULL || (f->field = fh_reflect_next_field(&f->cursor)) != NULL) {
    TVMFFIAny name, json;
    if (fh_str_from_bytes(f->field->name, &name) != 0) return -1;
    int rc = get_entry_of(&f->data, &name, &json);
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

/* Only frames of objects have a cursor with a type. */
static int continue_frame(reader *r) {
  const frame *f = &r->frames[r->n_frames - 1];
  if (f->cursor.info != NULL) return set_fields(r);
  return f->made->type_index == kTVMFFIMap || f->made->type_index == kTVMFFIDict ? add_pairs(r) : add_items(r);
}

/* ---- The graph ---- */

/* Reads the root with all the nodes that it needs: *out is an owned copy of its value. */
static int read_root(reader *r, const TVMFFIAny *root_index, TVMFFIAny *out) {
  TVMFFIAny root;
  int rc = get_or_open(r, root_index, &root);
  while (rc >= 0 && r->n_frames != 0) {
    rc = continue_frame(r);
    if (rc != 1) continue;
    /* The object is the value of its node now. The frame below requests it when it continues. */
    frame *f = &r->frames[--r->n_frames];
    keep_value(r, f->node, fh_any_object(f->made));
    f->made = NULL;
    close_frame(f);
  }
  if (rc < 0) return -1;
  /* get_or_open has accepted the index. */
  int64_t node = root_index->v_int64;
  fh_any_copy(&r->values[node], out);
  return 0;
}

static int read_nodes(const TVMFFIAny *root_index, const TVMFFIAny *nodes, TVMFFIAny *out) {
  reader r;
  memset(&r, 0, sizeof(r));
  r.nodes = (fh_seq_object *)(void *)nodes->v_obj;
  size_t n = (size_t)fh_seq_size(r.nodes);
  r.values = (TVMFFIAny *)fh_mem_calloc(n, sizeof(*r.values));
  r.states = (unsigned char *)fh_mem_calloc(n, 1);
  int rc = r.values == NULL || r.states == NULL ? fh_error_raise_no_memory() : 0;
  fh_str_from_cstr("type", &r.type_name);
  fh_str_from_cstr("data", &r.data_name);
  if (rc == 0) rc = read_root(&r, root_index, out);
  /* Frames are left only after an error. */
  while (r.n_frames != 0) close_frame(&r.frames[--r.n_frames]);
  for (size_t i = 0; r.values != NULL && i < n; ++i) fh_any_drop(&r.values[i]);
  for (size_t i = 0; i < N_KEYS; ++i) fh_any_drop(&r.types[i].key);
  fh_mem_free(r.frames);
  fh_mem_free(r.values);
  fh_mem_free(r.states);
  return rc;
}

/* Returns an owned entry of the graph, which must have that type. */
static int get_entry(const TVMFFIAny *graph, const char *name, int32_t type_index, const char *what, TVMFFIAny *out) {
  TVMFFIAny key;
  *out = fh_any_none();
  if (fh_str_from_cstr(name, &key) != 0) return -1;
  int rc = get_entry_of(graph, &key, out);
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
