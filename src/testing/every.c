/* every.c - testing.SchemaAllTypes: a field of every type, and methods over containers. */
#include <stdlib.h>

#include "tables.h"

typedef struct {
  TVMFFIObject header;
  uint8_t v_bool;
  int64_t v_int;
  double v_float;
  DLDevice v_device;
  DLDataType v_dtype;
  TVMFFIAny v_string, v_bytes, v_opt_int, v_opt_str;
  void *v_arr_int, *v_arr_str, *v_map_str_int, *v_map_str_arr_int;
  TVMFFIAny v_variant;
  void *v_opt_arr_variant;
} every;

#define MORE ",\"bool_attr\":true,\"int_attr\":1,\"str_attr\":\"hello\""
#define FIELD(name, type, value, doc, more) \
  {#name, FT_FIELD_##type, offsetof(every, name), FT_WRITABLE, value, doc, more}

static const ft_field fields[] = {
    FIELD(v_bool, bool, NULL, "bool field", MORE),
    FIELD(v_int, i64, "0", "int field", NULL),
    FIELD(v_float, f64, "0.0", "float field", NULL),
    FIELD(v_device, device, NULL, "device field", NULL),
    FIELD(v_dtype, dtype, NULL, "dtype field", NULL),
    FIELD(v_string, str, "\"s\"", "string field", NULL),
    FIELD(v_bytes, bytes, NULL, "bytes field", NULL),
    FIELD(v_opt_int, opt_int, NULL, "optional int", NULL),
    FIELD(v_opt_str, opt_str, NULL, "optional str", NULL),
    FIELD(v_arr_int, arr_int, NULL, "array<int>", NULL),
    FIELD(v_arr_str, arr_str, NULL, "array<str>", NULL),
    FIELD(v_map_str_int, map_str_int, NULL, "map<str,int>", NULL),
    FIELD(v_map_str_arr_int, map_str_arr_int, NULL, "map<str,array<int>>", NULL),
    FIELD(v_variant, variant, NULL, "variant<str,array<int>,map<str,int>>", NULL),
    FIELD(v_opt_arr_variant, opt_arr_variant, NULL, "optional<array<variant<int,str>>>", NULL),
};

static void begin_every(void *object) {
  static const DLDataType float32 = {kDLFloat, 32, 1};
  every *made = (every *)object;
  TVMFFIByteArray text = {"v", 1};
  made->v_bool = 1;
  made->v_device = TVMFFIDLDeviceFromIntPair(kDLCPU, 0);
  made->v_dtype = float32;
  (void)TVMFFIStringFromByteArray(&text, &made->v_variant); /* a short string needs no memory */
}

static ft_class every_class;

FT_CALL(make_with) {
  TVMFFIObjectHandle made;
  ft_accepted text = {args[2], 0};
  if (ft_object_new(&every_class, &made) != 0) return -1;
  ((every *)made)->v_int = args[0].v_int64;
  ((every *)made)->v_float = args[1].v_float64;
  *result = ft_object(made);
  if (ft_field_put(FT_STORE_ANY, &((every *)made)->v_string, &text) == 0) return 0;
  ft_drop(result);
  return -1;
}

FT_CALL(add_int) {
  *result = ft_int(((const every *)(const void *)args[0].v_obj)->v_int + args[1].v_int64);
  return 0;
}

static int no_memory(void) { return ft_no_memory("a container"); }

/* Makes an Array of the items of `head` followed by the items of `tail`. */
static int concat(const TVMFFIAny *head, int64_t n_head, const TVMFFIAny *tail, int64_t n_tail, TVMFFIAny *result) {
  TVMFFIAny *items = (TVMFFIAny *)malloc(sizeof(*items) * (size_t)(n_head + n_tail + 1));
  if (items == NULL) return no_memory();
  for (int64_t i = 0; i < n_head; ++i) items[i] = head[i];
  for (int64_t i = 0; i < n_tail; ++i) items[n_head + i] = tail[i];
  int rc = ft_core_call(FT_ARRAY, items, (int32_t)(n_head + n_tail), result);
  free(items);
  return rc;
}

FT_CALL(append_int) {
  const TVMFFISeqCell *cell = ft_value_items(&args[1]);
  return concat((const TVMFFIAny *)cell->data, cell->size, &args[2], 1, result);
}

FT_CALL(maybe_concat) {
  ft_buffer text = {NULL, 0, 0, 0};
  TVMFFIByteArray part;
  bool is_there = false;
  for (int32_t i = 1; i < n_args; ++i) {
    if (!ft_value_bytes(&args[i], &part)) continue;
    ft_buffer_add(&text, part.data, part.size);
    is_there = true;
  }
  TVMFFIByteArray whole = {ft_buffer_text(&text), text.size};
  int rc = text.is_cut ? no_memory() : is_there ? TVMFFIStringFromByteArray(&whole, result) : 0;
  ft_buffer_free(&text);
  return rc;
}

/* Adds one pair of the right mapping to the Dict `into`, which has the pairs of the left mapping. */
static int merge_pair(TVMFFIAny into, const TVMFFIAny *key, const TVMFFIAny *value) {
  TVMFFIAny query[3] = {into, *key, *value}, found, both;
  if (ft_core_call(FT_DICT_COUNT, query, 2, &found) != 0) return -1;
  if (found.v_int64 == 0) return ft_core_do(FT_DICT_SET, query, 3);
  if (ft_core_call(FT_DICT_GET, query, 2, &found) != 0) return -1;
  const TVMFFISeqCell *head = ft_value_items(&found), *tail = ft_value_items(value);
  int rc = concat((const TVMFFIAny *)head->data, head->size, (const TVMFFIAny *)tail->data, tail->size, &both);
  ft_drop(&found);
  if (rc != 0) return -1;
  query[2] = both;
  rc = ft_core_do(FT_DICT_SET, query, 3);
  ft_drop(&both);
  return rc;
}

static int merge_into(TVMFFIAny into, const TVMFFIAny *mapping) {
  ft_walk walk;
  TVMFFIAny key, value;
  int rc = ft_walk_begin(mapping, &walk);
  while (rc == 0) {
    int step = ft_walk_next(&walk, &key, &value);
    if (step <= 0) {
      rc = step;
      break;
    }
    rc = merge_pair(into, &key, &value);
    ft_drop(&key);
    ft_drop(&value);
  }
  ft_walk_end(&walk);
  return rc;
}

FT_CALL(merge_map) {
  ft_accepted merged;
  TVMFFIAny dict;
  if (ft_core_call(FT_DICT, NULL, 0, &dict) != 0) return -1;
  int rc = merge_into(dict, &args[1]);
  if (rc == 0) rc = merge_into(dict, &args[2]);
  if (rc == 0) {
    const ft_type *type = &ft_field_type_of(FT_FIELD_map_any)->type;
    rc = ft_accept(type, &dict, &merged) == FT_YES ? 0 : -1;
    if (rc == 0) *result = merged.value;
  }
  ft_drop(&dict);
  return rc;
}

#define METHOD(name, signature, is_static, doc, more) \
  {#name, "testing.SchemaAllTypes." #name, signature, name, is_static, doc, more}

static const ft_method methods[] = {
    METHOD(add_int, "(0: testing.SchemaAllTypes, 1: int) -> int", 0, "add int method", MORE),
    METHOD(append_int, "(0: testing.SchemaAllTypes, 1: Array<int>, 2: int) -> Array<int>", 0, "append int to array",
           NULL),
    METHOD(maybe_concat, "(0: testing.SchemaAllTypes, 1: Optional<str>, 2: Optional<str>) -> Optional<str>", 0,
           "optional concat", NULL),
    METHOD(merge_map,
           "(0: testing.SchemaAllTypes, 1: Map<str, Array<int>>, 2: Map<str, Array<int>>) -> Map<str, Array<int>>", 0,
           "merge maps", NULL),
    METHOD(make_with, "(0: int, 1: float, 2: str) -> testing.SchemaAllTypes", 1, "Constructor with subset of fields",
           NULL),
};

static ft_class every_class = {
    .key = "testing.SchemaAllTypes",
    .size = sizeof(every),
    .traits = FT_COPY,
    FT_FIELDS(fields),
    FT_METHODS(methods),
    .begin = begin_every,
};

static ft_class *const classes[] = {&every_class};
const ft_classes ft_every_classes = {classes, FT_COUNT(classes)};
