/* graph_write.c - any value as a graph of JSON values, on a walk.
 *
 * A value is first looked up in a table. A new value that refers to no others becomes a node at once; any other value
 * is opened on the walk, and its data is filled with the indices of its children's nodes. Such a value becomes a node
 * when it is closed, so nodes come after the nodes that they refer to. All values that may repeat are in one table,
 * compared like map keys. */
#include "graph.h"

#include "core/container/hashmap.h"
#include "core/container/memo.h"
#include "core/container/seq.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "core/walk/walk.h"

/* A field's name as the key that all objects of the type share. */
typedef struct {
  const TVMFFIFieldInfo *field;
  TVMFFIAny name;
} field_name;

/* Common properties of all nodes of one type, computed once per graph. */
typedef struct {
  const TVMFFITypeInfo *info;
  TVMFFIAny key; /* owned, like the names */
  fh_graph_form form;
  const TVMFFIAny *hook;
  field_name *names; /* in order of the walk, filled as fields occur */
  size_t n_names, n_names_room;
} type_plan;

/* The client's data of each frame of the walk: the node under construction. */
typedef struct {
  TVMFFIObject *data; /* owned: an Array or a Map */
  size_t plan;
  uint64_t hash;
  int64_t is_known_later; /* goes into `known` when it is complete */
} open_node;

typedef struct {
  fh_walk walk;
  fh_value_table known; /* values to indices of nodes */
  TVMFFIAny *nodes;     /* owned Maps */
  size_t n_nodes, n_nodes_room;
  type_plan *plans;
  size_t n_plans, n_plans_room;
  fh_memo plan_of; /* TypeInfo to index into plans */
  size_t last_plan;
  TVMFFIAny type_name, data_name; /* the keys of a node, short strings */
} writer;

/* ---- Plans ---- */

/* Makes room for one more item; updates *items and *room. */
static int reserve_item(void **items, size_t *room, size_t n_items, size_t item_bytes) {
  return fh_mem_reserve(items, room, n_items, 1, item_bytes) == 0 ? 0 : fh_error_raise_no_memory();
}

/* Finds or makes the plan for a type and returns its number: plans may move in memory, so they are identified by
 * number. The plan of the previous value is tried first. */
static int find_plan(writer *w, int32_t type_index, size_t *out) {
  *out = w->last_plan;
  if (w->n_plans != 0 && w->plans[w->last_plan].info->type_index == type_index) return 0;
  const TVMFFITypeInfo *info = fh_type_find(type_index);
  if (info == NULL) {
    return fh_error_raise(FH_TYPE_ERROR, "Expected a value of a registered type but got type index %d",
                          (int)type_index);
  }
  const uint64_t *found = fh_memo_find(&w->plan_of, info, NULL);
  if (found != NULL) {
    *out = w->last_plan = (size_t)*found;
    return 0;
  }
  if (reserve_item((void **)&w->plans, &w->n_plans_room, w->n_plans, sizeof(*w->plans)) != 0) return -1;
  type_plan *plan = &w->plans[w->n_plans];
  memset(plan, 0, sizeof(*plan));
  plan->info = info;
  plan->form = fh_graph_form_of(info, FH_ATTR_DATA_TO_JSON, &plan->hook);
  if (fh_str_from_bytes(info->type_key, &plan->key) != 0) return -1;
  if (fh_memo_put(&w->plan_of, info, NULL, w->n_plans) != 0) {
    fh_any_drop(&plan->key);
    return -1;
  }
  *out = w->last_plan = w->n_plans++;
  return 0;
}

/* The name of the i-th field of an object in order of the walk, as an owned value. All objects of a type have the same
 * fields in the same order, so the name usually exists already, and all nodes share one string. */
static int get_name(type_plan *plan, size_t i, const TVMFFIFieldInfo *field, TVMFFIAny *out) {
  if (i < plan->n_names && plan->names[i].field == field) {
    fh_any_copy(&plan->names[i].name, out);
    return 0;
  }
  if (fh_str_from_bytes(field->name, out) != 0) return -1;
  if (i != plan->n_names) return 0; /* the type has got a new field since */
  if (reserve_item((void **)&plan->names, &plan->n_names_room, i, sizeof(*plan->names)) != 0) {
    fh_any_drop(out);
    return -1;
  }
  plan->names[i].field = field;
  fh_any_copy(out, &plan->names[i].name);
  plan->n_names += 1;
  return 0;
}

static void free_plans(writer *w) {
  for (size_t i = 0; i < w->n_plans; ++i) {
    for (size_t k = 0; k < w->plans[i].n_names; ++k) fh_any_drop(&w->plans[i].names[k].name);
    fh_mem_free(w->plans[i].names);
    fh_any_drop(&w->plans[i].key);
  }
  fh_mem_free(w->plans);
  fh_memo_free(&w->plan_of);
}

/* ---- Nodes ---- */

/* Adds {"type": ..., "data": ...} and steals `data`, also on failure; data that is NULL is left out. */
static int add_node(writer *w, size_t plan, TVMFFIAny *data, int64_t *index) {
  TVMFFIAny key;
  fh_hashmap_object *node = NULL;
  int rc = reserve_item((void **)&w->nodes, &w->n_nodes_room, w->n_nodes, sizeof(*w->nodes));
  if (rc == 0) node = fh_hashmap_new(kTVMFFIMap, 2);
  if (node == NULL) {
    if (data != NULL) fh_any_drop(data);
    return -1;
  }
  fh_any_copy(&w->plans[plan].key, &key);
  fh_hashmap_add_new(node, &w->type_name, &key);
  if (data != NULL) fh_hashmap_add_new(node, &w->data_name, data);
  *index = (int64_t)w->n_nodes;
  w->nodes[w->n_nodes++] = fh_any_object(node);
  return 0;
}

static int raise_unable(int32_t type_index) {
  return fh_error_raise(FH_TYPE_ERROR,
                        "Type `%s` does not support ToJSONGraph (no native creator or __ffi_new__ type attr)",
                        fh_type_name(type_index));
}

/* The data of a value that refers to no other nodes: 1 with an owned *data, 0 if it refers to nodes, -1. */
static int make_data(const type_plan *plan, const TVMFFIAny *value, TVMFFIAny *data) {
  int done = fh_graph_leaf_write(value, data);
  if (done != 0 || fh_seq_is(value) || fh_hashmap_is(value)) return done;
  if (!fh_any_is_object(value)) {
    return fh_error_raise(FH_TYPE_ERROR, "Cannot serialize type `%s`", fh_type_name(value->type_index));
  }
  switch (plan->form) {
  case FH_GRAPH_INT_ENUM: *data = fh_graph_enum_int(value->v_obj); return 1;
  case FH_GRAPH_STR_ENUM: *data = fh_graph_enum_str(value->v_obj); return 1;
  case FH_GRAPH_HOOK: return fh_graph_call_hook(plan->hook, "__data_to_json__", value, data) == 0 ? 1 : -1;
  case FH_GRAPH_PYTHON:
    done = fh_graph_ask_python(plan->info, true, value, data);
    return done != 0 ? done : raise_unable(value->type_index);
  case FH_GRAPH_FIELDS: return 0;
  default: return raise_unable(value->type_index);
  }
}

/* ---- Objects with children ---- */

static const char *what_it_is(const TVMFFIAny *value) {
  return value->type_index == kTVMFFIList ? "a List" : value->type_index == kTVMFFIDict ? "a Dict" : "an object";
}

/* A Map with room for the names that earlier objects of the type had. */
static fh_hashmap_object *new_fields(const type_plan *plan) { return fh_hashmap_new(kTVMFFIMap, plan->n_names); }

/* Opens a value that refers to others. `node` has the results of find_or_open; its data is made here, a Map for fields,
 * otherwise an Array. ValueError for a value that is open already: a graph has no cycles. */
static int open_value(writer *w, const TVMFFIAny *value, const open_node *node) {
  if (fh_walk_is_open(&w->walk, value->v_obj, NULL)) {
    return fh_error_raise(FH_VALUE_ERROR, "Cycle detected during serialization: %s contains itself", what_it_is(value));
  }
  if (fh_walk_push(&w->walk, value) != 0) return -1;
  fh_walk_frame *f = fh_walk_top(&w->walk);
  void *data =
      f->shape == FH_WALK_FIELDS ? (void *)new_fields(&w->plans[node->plan]) : (void *)fh_seq_new_array(f->n_children);
  open_node *opened = (open_node *)fh_walk_data(f);
  *opened = *node;
  opened->data = (TVMFFIObject *)data;
  return data != NULL ? 0 : -1;
}

/* Steals an owned value that the innermost object refers to in the field or item that the walk returned last. */
static int put_into(writer *w, TVMFFIAny value) {
  fh_walk_frame *f = fh_walk_top(&w->walk);
  open_node *node = (open_node *)fh_walk_data(f);
  if (f->shape != FH_WALK_FIELDS) return fh_seq_push((fh_seq_object *)(void *)node->data, value);
  fh_hashmap_pair pair;
  fh_hashmap_rest rest;
  pair.value = value;
  const TVMFFIFieldInfo *field = fh_walk_label_of(&w->walk, f).field;
  if (get_name(&w->plans[node->plan], (size_t)f->n_done - 1, field, &pair.key) != 0) {
    fh_any_drop(&pair.value);
    return -1;
  }
  /* Names are strings, which need no hooks. */
  int rc = fh_hashmap_set((fh_hashmap_object *)(void *)node->data, &pair, FH_HASHMAP_NO_HOOKS, &rest);
  rc = fh_hashmap_finish(rc, &rest);
  if (rc != 0) fh_hashmap_drop_pair(&pair);
  return rc;
}

/* Whether a value may occur again. Plain data, strings and bytes are compared by content, and so are objects whose type
 * defines equality; any other object occurs again only if it has another reference (errors and functions pass the first
 * test as well, which only costs a lookup). A value that cannot occur again need not be looked up. */
static bool may_repeat(const writer *w, const TVMFFIAny *value) {
  if (value->type_index < kTVMFFIShape || fh_walk_depth(&w->walk) == 0) return true;
  if (fh_reflect_attr(fh_reflect_column(FH_ATTR_ANY_EQUAL), value->type_index) != NULL) return true;
  return fh_walk_is_shared(value->v_obj, fh_walk_gives_copies(fh_walk_top(&w->walk)));
}

/* 1 with the index of the value's node, 0 if it is open now, -1. */
static int find_or_open(writer *w, const TVMFFIAny *value, int64_t *index) {
  open_node node = {NULL, 0, 0, may_repeat(w, value)};
  TVMFFIAny data;
  if (node.is_known_later) {
    int found = fh_value_table_find(&w->known, value, &node.hash, index);
    if (found != 0) return found;
  }
  if (find_plan(w, fh_graph_leaf_type(value->type_index), &node.plan) != 0) return -1;
  int is_leaf = make_data(&w->plans[node.plan], value, &data);
  if (is_leaf < 0) return -1;
  if (is_leaf == 0) return open_value(w, value, &node);
  if (add_node(w, node.plan, value->type_index != kTVMFFINone ? &data : NULL, index) != 0) return -1;
  if (node.is_known_later && fh_value_table_add(&w->known, value, node.hash, *index) != 0) return -1;
  return 1;
}

/* The innermost object is complete: it becomes a node. */
static int close_top(writer *w, int64_t *index) {
  fh_walk_frame *f = fh_walk_top(&w->walk);
  open_node node = *(open_node *)fh_walk_data(f);
  /* add_node steals the data, also on failure, so free_writer must not find it. */
  ((open_node *)fh_walk_data(f))->data = NULL;
  TVMFFIAny data = fh_any_object(node.data), value = fh_any_object(f->obj);
  if (add_node(w, node.plan, &data, index) != 0) return -1;
  if (node.is_known_later && fh_value_table_add(&w->known, &value, node.hash, *index) != 0) return -1;
  fh_walk_pop(&w->walk);
  return 0;
}

/* ---- Fields ---- */

static int raise_field_type(const TVMFFIFieldInfo *field, const TVMFFIAny *value) {
  return fh_error_raise(FH_TYPE_ERROR, "Expected field `%.*s` to hold `%s` but got `%s`", FH_BYTES_ARGS(field->name),
                        fh_type_name(field->field_static_type_index), fh_type_name(value->type_index));
}

/* Writes the value of a field in place. A field with the static type None writes None; any other must hold exactly its
 * static type. */
static int put_inline(writer *w, const TVMFFIFieldInfo *field, const TVMFFIAny *value) {
  TVMFFIAny written = fh_any_none();
  if (field->field_static_type_index == kTVMFFINone) return put_into(w, written);
  if (value->type_index != field->field_static_type_index) return raise_field_type(field, value);
  return fh_graph_leaf_write(value, &written) == 1 ? put_into(w, written) : -1;
}

/* ---- The loop ---- */

/* A child of the innermost object: written in place, or as its index if it has a node. A child that was opened gets its
 * index later. */
static int add_child(writer *w, const TVMFFIAny *child) {
  const fh_walk_frame *f = fh_walk_top(&w->walk);
  int64_t index;
  if (f->shape == FH_WALK_FIELDS) {
    const TVMFFIFieldInfo *field = fh_walk_label_of(&w->walk, f).field;
    if (fh_graph_is_inline(field)) return put_inline(w, field, child);
  }
  int placed = find_or_open(w, child, &index);
  return placed == 1 ? put_into(w, fh_any_int(index)) : placed;
}

/* Makes all nodes that the root needs: -1 leaves open frames and nodes, for free_writer. */
static int write_nodes(writer *w, const TVMFFIAny *root, int64_t *root_index) {
  TVMFFIAny child;
  int placed = find_or_open(w, root, root_index);
  if (placed != 0) return placed == 1 ? 0 : -1;
  while (fh_walk_depth(&w->walk) != 0) {
    switch (fh_walk_next(&w->walk, &child)) {
    case FH_WALK_CHILD:
      if (add_child(w, &child) != 0) return -1;
      break;
    case FH_WALK_END:
      if (close_top(w, root_index) != 0) return -1;
      if (fh_walk_depth(&w->walk) != 0 && put_into(w, fh_any_int(*root_index)) != 0) return -1;
      break;
    default: return -1;
    }
  }
  return 0;
}

/* Makes {"root_index": ..., "nodes": [...], "metadata": ...}, an owned Map, and steals the nodes; -1 with an error
 * pending. */
static int make_result(writer *w, int64_t root_index, const TVMFFIAny *metadata, TVMFFIAny *out) {
  TVMFFIAny root = fh_any_int(root_index), root_name, nodes_name, metadata_name, nodes, owned;
  if (fh_str_from_cstr("root_index", &root_name) != 0) return -1;
  fh_hashmap_object *graph = fh_hashmap_new(kTVMFFIMap, 3);
  fh_seq_object *array = graph != NULL ? fh_seq_array_of(w->nodes, (int64_t)w->n_nodes) : NULL;
  if (array == NULL) {
    fh_any_drop(&root_name);
    fh_object_release(graph);
    return -1;
  }
  /* The Array owns the references now. */
  w->n_nodes = 0;
  nodes = fh_any_object(array);
  fh_str_from_cstr("nodes", &nodes_name); /* short strings need no memory */
  fh_hashmap_add_new(graph, &root_name, &root);
  fh_hashmap_add_new(graph, &nodes_name, &nodes);
  int rc = 0;
  if (metadata->type_index != kTVMFFINone) {
    rc = fh_str_from_cstr("metadata", &metadata_name);
    if (rc == 0 && (rc = fh_any_own(metadata, &owned)) != 0) fh_any_drop(&metadata_name);
    if (rc == 0) fh_hashmap_add_new(graph, &metadata_name, &owned);
  }
  if (rc == 0) {
    *out = fh_any_object(graph);
  } else {
    fh_object_release(graph);
  }
  return rc;
}

static void free_writer(writer *w) {
  for (size_t i = 0; i < fh_walk_depth(&w->walk); ++i) {
    fh_object_release(((open_node *)fh_walk_data(fh_walk_at(&w->walk, i)))->data);
  }
  fh_walk_free(&w->walk);
  fh_value_table_free(&w->known);
  free_plans(w);
  while (w->n_nodes != 0) fh_any_drop(&w->nodes[--w->n_nodes]);
  fh_mem_free(w->nodes);
}

int fh_graph_write(const TVMFFIAny *value, const TVMFFIAny *metadata, TVMFFIAny *out) {
  writer w;
  TVMFFIAny root;
  int64_t root_index = 0;
  *out = fh_any_none();
  if (fh_any_own(value, &root) != 0) return -1;
  memset(&w, 0, sizeof(w));
  fh_walk_init(&w.walk, FH_WALK_CYCLES, 0, sizeof(open_node));
  /* The cell holds up to 7 bytes, so this cannot fail, and no reference must be dropped. */
  fh_str_from_cstr("type", &w.type_name);
  fh_str_from_cstr("data", &w.data_name);
  int rc = write_nodes(&w, &root, &root_index);
  if (rc == 0) rc = make_result(&w, root_index, metadata, out);
  free_writer(&w);
  fh_any_drop(&root);
  return rc;
}
