/* test_structural_hash.c - the structural hash. */
#include "core/structural/operations.h"

#include "core/object/error.h"
#include "support/callbacks.h"
#include "support/records.h"

#define PAIR record_type("test.s_hash.Pair", kTVMFFISEqHashKindTreeNode, 0, 0)
#define TREE record_type("test.s_hash.Tree", kTVMFFISEqHashKindTreeNode, 0, kTVMFFIFieldFlagBitMaskSEqHashIgnore)
#define VAR record_type("test.s_hash.Var", kTVMFFISEqHashKindFreeVar, 0, kTVMFFIFieldFlagBitMaskSEqHashIgnore)
#define DAG record_type("test.s_hash.Dag", kTVMFFISEqHashKindDAGNode, 0, 0)
#define LAMBDA \
  record_type("test.s_hash.Lambda", kTVMFFISEqHashKindTreeNode, kTVMFFIFieldFlagBitMaskSEqHashDefPattern, 0)

/* Returns the hash of a value and steals the value. */
static int64_t hash_of(TVMFFIAny value) {
  uint64_t hash;
  expect_int(fh_structural_hash(&value, 0, 0, &hash), 0);
  drop(value);
  return (int64_t)hash;
}

static TVMFFIAny var(const char *name) { return record_of(VAR, i64(0), str(name)); }

TEST(the_hash_of_plain_values_is_the_same_in_every_process) {
  /* the hashes of the reference implementation */
  expect_int(hash_of(i64(1)), 2654435835);
  expect_int(hash_of(make_array(i64(1), i64(2))), 2823322240268045181);
  TVMFFIAny bytes;
  expect_int(fh_bytes_new("ab", 2, &bytes), 0);
  expect_int(hash_of(bytes), 2654461713);
  expect_int(fh_bytes_new("abcdefghij", 10, &bytes), 0);
  expect_int(hash_of(bytes), 3873208476);
  expect_int(hash_of(fh_any_float(strtod("nan", NULL))), 9221120239695526522);
  expect_int(hash_of(fh_any_float(-strtod("nan", NULL))), 9221120239695526522);
}

TEST(the_hash_of_a_type_key_is_the_same_in_every_process) {
  expect_int(fh_type_find(kTVMFFIArray)->type_key_hash, (int64_t)0x811300c104284401u);
  expect_int(fh_type_find(kTVMFFIInt)->type_key_hash, (int64_t)0xaed305094b3d4a9fu);
  expect_int(fh_type_find(kTVMFFIByteArrayPtr)->type_key_hash, (int64_t)0x32519e4e9ab631a9u);
}

TEST(equal_values_have_equal_hashes) {
  expect_int(hash_of(make_map(str("a"), i64(1), str("b"), i64(2))),
             hash_of(make_map(str("b"), i64(2), str("a"), i64(1))));
  expect(hash_of(make_map(str("a"), i64(1))) != hash_of(make_map(str("a"), i64(2))));
  expect(hash_of(make_list(i64(1))) != hash_of(make_array(i64(1))));
  expect(hash_of(make_array(i64(1), i64(2))) != hash_of(make_array(i64(2), i64(1))));
  expect_int(hash_of(record_of(TREE, i64(1), str("x"))), hash_of(record_of(TREE, i64(1), str("y"))));
  expect(hash_of(record_of(PAIR, i64(1), i64(2))) != hash_of(record_of(TREE, i64(1), i64(2))));
  TVMFFIAny heap = obj(test_long_form(2, kTVMFFIBytes)), small;
  memcpy((char *)(uintptr_t)fh_str_object_bytes(heap.v_obj).data, "ab", 2);
  expect_int(fh_bytes_new("ab", 2, &small), 0);
  expect_int(hash_of(heap), hash_of(small));
}

TEST(large_maps_hash_the_same_in_any_order) {
  enum { N = 60 };
  TVMFFIAny up[2 * N], down[2 * N];
  for (int i = 0; i < N; ++i) {
    char name[24];
    snprintf(name, sizeof(name), "%d is the key", i * 7919);
    up[2 * i] = str(name);
    up[2 * i + 1] = i64(i);
    down[2 * (N - 1 - i)] = str(name);
    down[2 * (N - 1 - i) + 1] = i64(i);
  }
  expect_int(hash_of(make_pairs(kTVMFFIDict, up, 2 * N)), hash_of(make_pairs(kTVMFFIDict, down, 2 * N)));
}

TEST(variables_hash_by_where_they_are_defined) {
  TVMFFIAny x = var("x"), y = var("y");
  int64_t by_x = hash_of(record_of(LAMBDA, again(x), make_array(again(x), i64(1))));
  expect_int(by_x, hash_of(record_of(LAMBDA, again(y), make_array(again(y), i64(1)))));
  expect(by_x != hash_of(record_of(LAMBDA, again(y), make_array(again(x), i64(1)))));
  expect(hash_of(again(x)) != hash_of(again(y)));
  uint64_t mapped_x, mapped_y;
  expect_int(fh_structural_hash(&x, 1, 0, &mapped_x), 0);
  expect_int(fh_structural_hash(&y, 1, 0, &mapped_y), 0);
  expect_int(mapped_x, mapped_y);
  drop(x);
  drop(y);
}

TEST(a_key_that_was_met_before_counts_with_its_value) {
  TVMFFIAny x = var("x"), y = var("y");
  int64_t one = hash_of(record_of(LAMBDA, again(x), make_map(again(x), i64(1))));
  expect_int(one, hash_of(record_of(LAMBDA, again(y), make_map(again(y), i64(1)))));
  expect(one != hash_of(record_of(LAMBDA, again(x), make_map(again(x), i64(2)))));
  drop(x);
  drop(y);
}

TEST(sharing_of_graph_nodes_counts) {
  TVMFFIAny node = record_of(DAG, i64(1), i64(2));
  int64_t shared = hash_of(make_array(again(node), again(node)));
  expect(shared != hash_of(make_array(again(node), record_of(DAG, i64(1), i64(2)))));
  TVMFFIAny other = record_of(DAG, i64(1), i64(2));
  expect_int(shared, hash_of(make_array(again(other), again(other))));
  drop(node);
  drop(other);
}

TEST(content_of_a_shared_container_is_numbered_once) {
  for (int type = 0; type < 3; ++type) {
    TVMFFIAny node = record_of(DAG, i64(1), none()), held = again(node);
    TVMFFIAny held_by_test = type == 0   ? make_array(node)
                             : type == 1 ? make_seq(kTVMFFIList, &node, 1)
                                         : make_map(i64(1), node);
    int64_t wanted = hash_of(make_array(again(held_by_test), held_by_test));
    drop(held);
    node = record_of(DAG, i64(1), none());
    TVMFFIAny container = type == 0   ? make_array(node)
                          : type == 1 ? make_seq(kTVMFFIList, &node, 1)
                                      : make_map(i64(1), node);
    expect_int(hash_of(make_array(again(container), container)), wanted);
  }
}

/* A key without a hash at the first visit that has one at the second: the hashes are those of the reference. */
TEST(a_shared_map_with_an_object_as_key_is_hashed_each_time) {
  TVMFFIAny node = record_of(DAG, i64(1), none()), map = make_map(again(node), i64(2)), inner = make_array(again(map));
  int64_t once = hash_of(make_array(again(map), again(node), i64(0)));
  int64_t twice = hash_of(make_array(again(map), again(node), again(map)));
  int64_t within = hash_of(make_array(again(inner), again(node), again(inner)));
  TVMFFIAny other = make_map(again(node), i64(2)), inner_other = make_array(again(other));
  expect(once != twice);
  expect_int(twice, hash_of(make_array(again(map), again(node), other)));
  expect_int(within, hash_of(make_array(again(inner), again(node), inner_other)));
  drop_all_of(node, map, inner);
}

/* Each level holds the next level twice: 2^200 paths, 200 objects. */
static TVMFFIAny doubled(int type) {
  TVMFFIAny at = i64(1);
  for (int i = 0; i < 200; ++i) {
    at = type == 0   ? make_array(again(at), at)
         : type == 1 ? make_list(again(at), at)
                     : make_map(i64(0), again(at), i64(1), at);
  }
  return at;
}
TEST(shared_containers_are_hashed_once) {
  for (int type = 0; type < 3; ++type) expect_int(hash_of(doubled(type)), hash_of(doubled(type)));
}

TEST(values_nested_deeply_are_hashed) {
  expect_int(hash_of(nest(kTVMFFIArray, 300000, i64(1))), hash_of(nest(kTVMFFIArray, 300000, i64(1))));
  uint64_t hash;
  TVMFFIAny too_deep = nest(kTVMFFIArray, (1 << 20) + 2, i64(1));
  expect_int(fh_structural_hash(&too_deep, 0, 0, &hash), -1);
  expect_raised("ValueError", "nested at most");
  drop(too_deep);
}

TEST(types_without_a_kind_have_no_hash) {
  TVMFFIAny value = make_array(again(obj(test_echo())));
  uint64_t hash;
  expect_int(fh_structural_hash(&value, 0, 0, &hash), -1);
  expect_raised("TypeError",
                "Type metadata is not set for type `ffi.Function`, so StructuralHash is not supported for this type");
  drop(value);
}

/* ---- __s_hash__ ---- */

/* Hashes only `a`, as a definition, twice. */
static int hash_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  expect_int(n_args, 3);
  TVMFFIAny back[] = {as_record(args[0])->a, args[1], i64(kTVMFFIDefRegionKindPattern)};
  if (fh_function_call(args[2].v_obj, back, 3, result) != 0) return -1;
  back[1] = *result;
  return fh_function_call(args[2].v_obj, back, 3, result);
}
static int text_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  *result = str("no hash, but a text of some length");
  return 0;
}
/* Calls back for its own object. */
static int endless_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(n_args);
  TVMFFIAny back[] = {args[0], args[1], i64(0)};
  return fh_function_call(args[2].v_obj, back, 3, result);
}

static int32_t hooked_type(const char *key, TVMFFISafeCallType hook) {
  int is_new = fh_type_find_key(text_of(key)) < 0;
  int32_t type_index = record_type(key, kTVMFFISEqHashKindTreeNode, 0, 0);
  if (is_new) node_add_hook(type_index, "__s_hash__", hook);
  return type_index;
}

TEST(a_hook_hashes_its_fields_by_calling_back) {
  int32_t type = hooked_type("test.s_hash.Hooked", hash_hook);
  TVMFFIAny x = var("x"), y = var("y");
  expect_int(hash_of(record_of(type, again(x), i64(1))), hash_of(record_of(type, again(y), i64(2))));
  expect(hash_of(record_of(type, i64(1), i64(1))) != hash_of(record_of(type, i64(2), i64(1))));
  expect_int(hash_of(record_of(type, record_of(type, make_list(i64(3)), none()), none())),
             hash_of(record_of(type, record_of(type, make_list(i64(3)), none()), none())));
  drop(x);
  drop(y);
}

TEST(a_fault_of_a_hash_hook_is_an_error) {
  static const struct {
    const char *key;
    TVMFFISafeCallType hook;
    const char *kind, *part;
  } cases[] = {
      {"test.s_hash.Failing", failing_hook, "KeyError", "from the hook"},
      {"test.s_hash.Text", text_hook, "TypeError", "Expected __s_hash__ of `test.s_hash.Text` to return `int` but got"},
      {"test.s_hash.Endless", endless_hook, "ValueError", "hooks"},
  };
  for (size_t i = 0; i < FH_COUNT_OF(cases); ++i) {
    TVMFFIAny value = make_list(make_map(i64(1), record_of(hooked_type(cases[i].key, cases[i].hook), i64(1), none())));
    uint64_t hash;
    expect_int(fh_structural_hash(&value, 0, 0, &hash), -1);
    expect_raised(cases[i].kind, cases[i].part);
    drop(value);
  }
}

static int sweep(void *value) {
  uint64_t hash;
  return fh_structural_hash((const TVMFFIAny *)value, 0, 0, &hash);
}

TEST(hashing_without_memory_is_an_error) {
  int32_t type = hooked_type("test.s_hash.Hooked", hash_hook);
  TVMFFIAny x = var("x"), node = record_of(DAG, i64(1), i64(2));
  TVMFFIAny value = make_array(record_of(LAMBDA, again(x), make_dict(again(x), make_list(again(node), again(node)))),
                               record_of(type, again(x), none()), make_map(str("b"), i64(1), str("a"), i64(2)));
  test_sweep(sweep, &value);
  drop_all_of(x, node, value);
}

typedef struct {
  TVMFFIAny value;
  uint64_t hash;
} known_hash;

static void hash_shared(void *state, int i) {
  const known_hash *known = (const known_hash *)state;
  FH_UNUSED(i);
  for (int n = 0; n < 200; ++n) {
    uint64_t hash;
    expect_int(fh_structural_hash(&known->value, 0, 0, &hash), 0);
    expect_int(hash, known->hash);
  }
}

TEST(threads_hash_one_value_at_the_same_time) {
  known_hash known = {make_array(make_list(i64(1), record_of(PAIR, i64(1), i64(2))), make_map(i64(1), str("x"))), 0};
  expect_int(fh_structural_hash(&known.value, 0, 0, &known.hash), 0);
  test_threads(4, hash_shared, &known);
  drop(known.value);
}
