/* test_testing.c - the testing library as a client of the core: under sanitizers, in threads, without memory.
 *
 * tests/python/modules/test_testing_library.py tests its functions and types from Python. */
#include "core/platform/mem.h"
#include "testing/tables.h"

#include "support/calls.h"

/* ---- Making values ---- */

/* Blocks that the library keeps live forever, because the registries keep them. */
enum {
  OF_FUNCTIONS = 160 * 2, /* functions, methods and hooks: a Function, and its callee (ft_function) */
  OF_GLOBALS = 59, /* entries in the table of global functions */
  OF_TYPES = 238, /* parts of signatures, and of types like Array<int> */
  OF_NAMES = 124, /* names and signatures that start with a type's key */
  OF_INITS = 20 * INIT_BLOCKS, /* types whose constructor the core makes from their fields */
  OF_FIELDS = 2, /* the empty Array and Map that are initial values of fields */
  OF_VARIANTS = 9, /* testing.TestEnumVariant: two variants, and the tables for finding them */
  LIBRARY_BLOCKS = OF_FUNCTIONS + OF_GLOBALS + OF_TYPES + OF_NAMES + OF_INITS + OF_FIELDS + OF_VARIANTS,
};

static void load(void) {
  int is_first = ft_load();
  expect(is_first >= 0);
  if (is_first) test_keeps(LIBRARY_BLOCKS);
}

static TVMFFIAny attr(const char *key, const char *name) {
  TVMFFIByteArray key_text = text_of(key), name_text = text_of(name);
  int32_t index;
  expect_int(TVMFFITypeKeyToIndex(&key_text, &index), 0);
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(&name_text);
  expect(column != NULL && index < column->size);
  return column->data[index];
}

static int call_attr(const char *key, const char *name, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  *result = fh_any_none();
  return TVMFFIFunctionCall(attr(key, name).v_obj, (TVMFFIAny *)args, n, result);
}

static TVMFFIAny make(const char *key, const TVMFFIAny *args, int32_t n) {
  TVMFFIAny made;
  expect_int(call_attr(key, "__ffi_init__", args, n, &made), 0);
  return made;
}

static TVMFFIAny boolean(int truth) {
  TVMFFIAny value = i64(truth);
  value.type_index = kTVMFFIBool;
  return value;
}

/* ---- Loading ---- */

TEST(the_testing_library_registers_itself_once) {
  load();
  int64_t live = fh_mem_live_blocks();
  expect_int(ft_load(), 0);
  expect_int(fh_mem_live_blocks(), live);
  expect_int(call_int("testing.add_one", ARGS(i64(41))), 42);
}

TEST(an_object_of_the_testing_library_is_destroyed_with_its_contents) {
  load();
  int ends = 0;
  TVMFFIAny held = obj(test_object_new(&ends)), made = make("testing.TestDeepCopyEdges", ARGS(held, held)), copy;
  fh_any_drop(&held);
  expect_int(call_attr("testing.TestDeepCopyEdges", "__ffi_shallow_copy__", &made, 1, &copy), 0);
  fh_any_drop(&made);
  expect_int(ends, 0);
  fh_any_drop(&copy);
  expect_int(ends, 1);
}

TEST(a_value_in_an_any_field_is_released_when_it_is_replaced) {
  load();
  int ends = 0;
  TVMFFIAny held = obj(test_object_new(&ends)), made = make("testing.TestDeepCopyEdges", ARGS(held, held));
  fh_any_drop(&held);
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(made.type_index);
  TVMFFIAny nothing = fh_any_none();
  for (int32_t i = 0; i < info->num_fields; ++i) {
    TVMFFIFieldSetter set = (TVMFFIFieldSetter)(uintptr_t)info->fields[i].setter;
    expect_int(ends, 0);
    expect_int(set((char *)made.v_obj + info->fields[i].offset, &nothing), 0);
  }
  expect_int(ends, 1);
  fh_any_drop(&made);
}

/* ---- Without memory ---- */

typedef struct {
  const char *name; /* of a global function, or of a type whose attribute `attr` is the function */
  const char *attr;
  const TVMFFIAny *args;
  int32_t n_args;
} job;

static int run_job(void *state) {
  const job *what = (const job *)state;
  TVMFFIAny result;
  int rc = what->attr == NULL ? call_n(what->name, what->args, what->n_args, &result)
                              : call_attr(what->name, what->attr, what->args, what->n_args, &result);
  expect(rc == 0 || !fh_any_is_object(&result));
  if (rc == 0) fh_any_drop(&result);
  return rc;
}

static void sweep(const char *name, const char *attr_name, const TVMFFIAny *args, int32_t n_args) {
  job what = {name, attr_name, args, n_args};
  test_sweep(run_job, &what);
}

TEST(conversions_of_containers_without_memory) {
  load();
  TVMFFIAny text = call_ok("ffi.String", ARGS(raw("a text that is not small")));
  TVMFFIAny truths = call_ok("ffi.Array", ARGS(boolean(1), boolean(0), i64(3), fh_any_none()));
  TVMFFIAny numbers = call_ok("ffi.List", ARGS(boolean(1), i64(2)));
  TVMFFIAny map = call_ok("ffi.Map", ARGS(raw("k"), numbers, text, numbers));
  TVMFFIAny dict = call_ok("ffi.Dict", ARGS(raw("k"), boolean(1), text, i64(2)));
  sweep("testing.schema_arr_map_opt", NULL, ARGS(truths, map, text));
  sweep("testing.schema_arr_map_opt", NULL, ARGS(truths, map, raw("another text that is not small")));
  sweep("testing.schema_id_arr_int", NULL, ARGS(numbers));
  sweep("testing.schema_id_map_str_int", NULL, ARGS(dict));
  sweep("testing.schema_id_dict_str_int", NULL, ARGS(dict));
  sweep("testing.schema_variant_mix", NULL, ARGS(numbers));
  sweep("testing.schema_id_string", NULL, ARGS(raw("a text that is not small")));
  fh_any_drop(&text), fh_any_drop(&truths), fh_any_drop(&numbers), fh_any_drop(&map), fh_any_drop(&dict);
}

TEST(containers_of_the_testing_library_without_memory) {
  load();
  sweep("testing.make_nested_array_with_tensor", NULL, ARGS(fh_any_none()));
  sweep("testing.make_nested_map_with_tensor", NULL, ARGS(fh_any_none(), fh_any_none()));
  sweep("testing.make_array_with_mixed", NULL, ARGS(fh_any_none(), i64(1)));
  sweep("testing.make_map_with_tensor", NULL, ARGS(fh_any_none()));
  sweep("testing.make_dict_with_tensor", NULL, ARGS(fh_any_none()));
  sweep("testing.make_list_with_tensor", NULL, ARGS(fh_any_none(), i64(1)));
}

TEST(objects_of_the_testing_library_without_memory) {
  load();
  TVMFFIAny text = call_ok("ffi.String", ARGS(raw("a text that is not small")));
  TVMFFIAny map = call_ok("ffi.Map", ARGS(i64(1), i64(2))), array = call_ok("ffi.Array", ARGS(i64(1)));
  TVMFFIAny derived = make("testing.TestObjectDerived", ARGS(map, array));
  sweep("testing.TestIntPair", "__ffi_init__", ARGS(i64(1), i64(2)));
  sweep("testing.TestCompare", "__ffi_init__", ARGS(i64(1), text, i64(2)));
  sweep("testing.TestCompare", "__ffi_init__", ARGS(i64(1), raw("another text that is not small"), i64(2)));
  sweep("testing.TestObjectDerived", "__ffi_init__", ARGS(map, array));
  sweep("testing.TestObjectDerived", "__ffi_new__", NO_ARGS);
  sweep("testing.TestObjectDerived", "__ffi_shallow_copy__", ARGS(derived));
  sweep("testing.TestCxxClassDerivedDerived", "__ffi_init__", ARGS(i64(1), i64(2), i64(3), boolean(1), i64(4), text));
  sweep("testing.make_unregistered_object", NULL, NO_ARGS);
  sweep("testing.make_visit_region_graph", NULL, ARGS(boolean(1)));
  sweep("ffi.DeepCopy", NULL, ARGS(derived));
  fh_any_drop(&text), fh_any_drop(&map), fh_any_drop(&array), fh_any_drop(&derived);
}

static int merge(void *state) {
  const TVMFFIAny *both = (const TVMFFIAny *)state;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(both[0].type_index);
  TVMFFIAny result;
  for (int32_t i = 0; i < info->num_methods; ++i) {
    if (strcmp(info->methods[i].name.data, "merge_map") != 0) continue;
    result = fh_any_none();
    if (TVMFFIFunctionCall(info->methods[i].method.v_obj, (TVMFFIAny *)both, 3, &result) != 0) return -1;
    fh_any_drop(&result);
  }
  return 0;
}

TEST(methods_over_maps_without_memory) {
  load();
  const TVMFFITypeInfo *info;
  TVMFFIByteArray key = text_of("testing.SchemaAllTypes");
  int32_t index;
  expect_int(TVMFFITypeKeyToIndex(&key, &index), 0);
  info = TVMFFIGetTypeInfo(index);
  TVMFFIAny args[3] = {fh_any_none(), fh_any_none(), fh_any_none()};
  TVMFFIAny make_args[3] = {i64(1), i64(2), raw("a text that is not small")};
  for (int32_t i = 0; i < info->num_methods; ++i) {
    if (strcmp(info->methods[i].name.data, "make_with") != 0) continue;
    expect_int(TVMFFIFunctionCall(info->methods[i].method.v_obj, make_args, 3, &args[0]), 0);
  }
  TVMFFIAny one = call_ok("ffi.Array", ARGS(i64(1))), two = call_ok("ffi.Array", ARGS(i64(2), i64(3)));
  args[1] = call_ok("ffi.Map", ARGS(raw("k"), one, raw("a key that is not a small text"), two));
  args[2] = call_ok("ffi.Map", ARGS(raw("k"), two, raw("l"), one));
  test_sweep(merge, args);
  fh_any_drop(&one), fh_any_drop(&two);
  for (int i = 0; i < 3; ++i) fh_any_drop(&args[i]);
}

/* A refused call fails with its own error, or with a MemoryError if that error finds no memory. */
static void refuse_without_memory(const char *name, const TVMFFIAny *args, int32_t n_args) {
  for (int64_t n = 1;; ++n) {
    int64_t live = fh_mem_live_blocks();
    TVMFFIAny result;
    TVMFFIObjectHandle error;
    fh_mem_fail_nth(n);
    int rc = call_n(name, args, n_args, &result), is_over = !fh_mem_has_failed();
    fh_mem_fail_nth(0);
    expect_int(rc, -1);
    TVMFFIErrorMoveFromRaised(&error);
    expect(error != NULL);
    const char *kind = TVMFFIErrorGetCellPtr(error)->kind.data;
    expect(strcmp(kind, "TypeError") == 0 || (!is_over && strcmp(kind, "MemoryError") == 0));
    (void)TVMFFIObjectDecRef(error);
    expect_int(fh_mem_live_blocks(), live);
    if (is_over) return;
  }
}

TEST(refusals_of_the_testing_library_without_memory) {
  load();
  TVMFFIAny inner = call_ok("ffi.Array", ARGS(i64(1), raw("x")));
  TVMFFIAny map = call_ok("ffi.Map", ARGS(raw("k"), inner));
  refuse_without_memory("testing.add_one", ARGS(raw("x")));
  refuse_without_memory("testing.add_one", NO_ARGS);
  refuse_without_memory("testing.schema_arr_map_opt", ARGS(inner, map, fh_any_none()));
  refuse_without_memory("testing.schema_id_map_str_int", ARGS(map));
  refuse_without_memory("testing.schema_id_variant_int_str", ARGS(map));
  fh_any_drop(&inner), fh_any_drop(&map);
}

/* ---- Threads ---- */

typedef struct {
  TVMFFIAny array, map, pair;
} shared;

static void use(void *state, int thread) {
  const shared *all = (const shared *)state;
  for (int i = 0; i < 200; ++i) {
    TVMFFIAny copy;
    expect_int(call_attr("testing.TestIntPair", "__ffi_shallow_copy__", &all->pair, 1, &copy), 0);
    expect_int(call_int("testing.TestIntPairSum", ARGS(copy)), 7);
    fh_any_drop(&copy);
    TVMFFIAny converted = call_ok("testing.schema_id_arr_int", ARGS(all->array));
    fh_any_drop(&converted);
    converted = call_ok("testing.schema_id_dict_str_int", ARGS(all->map));
    fh_any_drop(&converted);
    expect_int(call_int("testing.schema_id_int", ARGS(i64(thread))), thread);
    TVMFFIAny variant = call_ok("testing.enum_variant_get", ARGS(raw(thread % 2 ? "Alpha" : "Beta")));
    fh_any_drop(&variant);
  }
}

TEST(threads_share_the_objects_of_the_testing_library) {
  load();
  shared all;
  all.array = call_ok("ffi.Array", ARGS(boolean(1), i64(2)));
  all.map = call_ok("ffi.Map", ARGS(raw("k"), boolean(1)));
  all.pair = make("testing.TestIntPair", ARGS(i64(3), i64(4)));
  test_threads(4, use, &all);
  fh_any_drop(&all.array), fh_any_drop(&all.map), fh_any_drop(&all.pair);
}
