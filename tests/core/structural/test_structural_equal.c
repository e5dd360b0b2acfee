/* test_structural_equal.c - structural equality, and the first difference between values. */
#include "core/structural/operations.h"

#include "core/object/error.h"
#include "core/object/object_new.h"
#include "core/tensor/tensor.h"
#include "support/callbacks.h"
#include "support/records.h"

#define TREE record_type("test.equal.Tree", kTVMFFISEqHashKindTreeNode, 0, kTVMFFIFieldFlagBitMaskSEqHashIgnore)
#define PAIR record_type("test.equal.Pair", kTVMFFISEqHashKindTreeNode, 0, 0)
#define VAR record_type("test.equal.Var", kTVMFFISEqHashKindFreeVar, 0, kTVMFFIFieldFlagBitMaskSEqHashIgnore)
#define DAG record_type("test.equal.Dag", kTVMFFISEqHashKindDAGNode, 0, 0)
#define CONST record_type("test.equal.Const", kTVMFFISEqHashKindConstTreeNode, 0, 0)
#define UNIQUE record_type("test.equal.Unique", kTVMFFISEqHashKindUniqueInstance, 0, 0)
/* a: parameters, defined by a pattern; b: body */
#define LAMBDA record_type("test.equal.Lambda", kTVMFFISEqHashKindTreeNode, kTVMFFIFieldFlagBitMaskSEqHashDefPattern, 0)
/* a: a variable, defined by a simple region; b: body */
#define LET record_type("test.equal.Let", kTVMFFISEqHashKindTreeNode, kTVMFFIFieldFlagBitMaskSEqHashDefSimple, 0)

static int same(TVMFFIAny a, TVMFFIAny b, int map_free_vars) {
  int is_equal;
  expect_int(fh_structural_equal(&a, &b, map_free_vars, 0, &is_equal), 0);
  return is_equal;
}

/* Returns whether two values are equal; steals both. */
static int equal(TVMFFIAny a, TVMFFIAny b) {
  int is_equal = same(a, b, 0);
  expect_int(same(b, a, 0), is_equal);
  drop(a);
  drop(b);
  return is_equal;
}

/* Expects these paths of the mismatch as one string; steals both values. */
static void expect_mismatch(TVMFFIAny a, TVMFFIAny b, const char *wanted) {
  TVMFFIAny paths;
  expect_int(fh_structural_mismatch(&a, &b, 0, 0, &paths), 0);
  drop(a);
  drop(b);
  expect_repr(paths, wanted);
  drop(paths);
}

static TVMFFIAny var(const char *name) { return record_of(VAR, i64(0), str(name)); }

TEST(plain_values_are_equal_by_type_and_content) {
  expect(equal(i64(1), i64(1)));
  expect(!equal(i64(1), i64(2)));
  expect(!equal(i64(1), fh_any_bool(1)));
  expect(!equal(i64(1), fh_any_float(1.0)));
  expect(equal(fh_any_none(), fh_any_none()));
  double nan = strtod("nan", NULL);
  expect(equal(fh_any_float(nan), fh_any_float(-nan)));
  expect(!equal(fh_any_float(0.0), fh_any_float(-0.0)));
}

TEST(text_in_a_cell_equals_text_in_an_object) {
  TVMFFIAny heap = obj(test_long_form(2, kTVMFFIStr)), heap_bytes = obj(test_long_form(2, kTVMFFIBytes));
  memcpy((char *)(uintptr_t)fh_str_object_bytes(heap.v_obj).data, "ab", 2);
  memcpy((char *)(uintptr_t)fh_str_object_bytes(heap_bytes.v_obj).data, "ab", 2);
  TVMFFIAny small_bytes;
  expect_int(fh_bytes_new("ab", 2, &small_bytes), 0);
  expect(equal(str("ab"), again(heap)));
  expect(!equal(str("ac"), again(heap)));
  expect(equal(again(small_bytes), again(heap_bytes)));
  expect(!equal(heap, heap_bytes));
  expect(equal(str("a text that is too long for a cell"), str("a text that is too long for a cell")));
}

TEST(containers_are_equal_by_their_items) {
  expect(equal(make_array(i64(1), str("x")), make_array(i64(1), str("x"))));
  expect(!equal(make_array(i64(1)), make_array(i64(1), i64(2))));
  expect(!equal(make_array(i64(1)), make_list(i64(1))));
  expect(equal(make_list(i64(1), make_list(i64(2))), make_list(i64(1), make_list(i64(2)))));
  expect(equal(make_map(str("a"), i64(1), str("b"), i64(2)), make_map(str("b"), i64(2), str("a"), i64(1))));
  expect(!equal(make_map(str("a"), i64(1)), make_map(str("a"), i64(2))));
  expect(!equal(make_map(str("a"), i64(1)), make_map(str("b"), i64(1))));
  expect(!equal(make_dict(i64(1), i64(2)), make_map(i64(1), i64(2))));
}

TEST(the_first_difference_is_told_as_two_paths) {
  expect_mismatch(make_array(i64(1), make_array(i64(2), i64(3))), make_array(i64(1), make_array(i64(2), i64(4))),
                  "(<root>[1][1], <root>[1][1])");
  expect_mismatch(make_array(i64(1), i64(2)), make_array(i64(1)), "(<root>[1], <root>[<missing:1>])");
  expect_mismatch(make_list(i64(1)), make_list(i64(1), i64(2)), "(<root>[<missing:1>], <root>[1])");
  expect_mismatch(make_map(str("k"), make_list(i64(1))), make_map(str("k"), make_list(i64(2))),
                  "(<root>[\"k\"][0], <root>[\"k\"][0])");
  expect_mismatch(make_map(str("k"), i64(1)), make_map(str("l"), i64(1)), "(<root>[\"k\"], <root>[<missing:\"k\">])");
  expect_mismatch(make_dict(i64(1), i64(1)), make_dict(i64(1), i64(1), i64(2), i64(2)),
                  "(<root>[<missing:2>], <root>[2])");
  expect_mismatch(record_of(PAIR, i64(1), make_array(i64(2))), record_of(PAIR, i64(1), make_array(i64(3))),
                  "(<root>.b[0], <root>.b[0])");
  expect_mismatch(i64(1), i64(2), "(<root>, <root>)");
  expect_mismatch(make_array(i64(1)), make_array(i64(1)), "None");
}

TEST(an_ignored_field_does_not_count) {
  expect(equal(record_of(TREE, i64(1), str("here")), record_of(TREE, i64(1), str("there"))));
  expect(!equal(record_of(TREE, i64(1), fh_any_none()), record_of(TREE, i64(2), fh_any_none())));
  expect(!equal(record_of(TREE, i64(1), fh_any_none()), record_of(PAIR, i64(1), fh_any_none())));
}

TEST(a_unique_instance_equals_itself_only) {
  TVMFFIAny one = record_of(UNIQUE, i64(1), i64(1));
  expect(equal(again(one), again(one)));
  expect(!equal(one, record_of(UNIQUE, i64(1), i64(1))));
}

TEST(a_constant_node_equals_itself_without_a_look_inside) {
  TVMFFIAny func = obj(test_echo()); /* has no structural kind, so a comparison of its contents would be an error */
  fh_object_retain(func.v_obj);
  TVMFFIAny one = record_of(CONST, func, i64(1));
  expect(equal(again(one), again(one)));
  TVMFFIAny other = record_of(CONST, again(func), i64(1));
  int is_equal;
  expect_int(fh_structural_equal(&one, &other, 0, 0, &is_equal), -1);
  expect_raised("TypeError", "is not set for type `ffi.Function`");
  drop(one);
  drop(other);
}

TEST(types_without_a_kind_are_refused) {
  TVMFFIAny a = obj(test_echo()), plain = obj(fh_object_new(24, kTVMFFIObject, fh_object_delete_plain));
  int is_equal;
  expect_int(fh_structural_equal(&a, &a, 0, 0, &is_equal), -1);
  expect_raised("TypeError",
                "Type metadata is not set for type `ffi.Function`, so StructuralHash is not supported for this type");
  expect_int(fh_structural_equal(&plain, &plain, 0, 0, &is_equal), -1);
  expect_raised("TypeError",
                "_type_s_eq_hash_kind is not set for type `ffi.Object`, so StructuralHash is not supported for this");
  drop(plain);
}

TEST(free_variables_are_equal_where_they_are_defined_alike) {
  TVMFFIAny x = var("x"), y = var("y"), z = var("z");
  expect(same(x, x, 0));
  expect(!same(x, y, 0));
  expect(same(x, y, 1));
  /* x => [x, x] equals y => [y, y] and not y => [y, z] */
  TVMFFIAny by_x = record_of(LAMBDA, again(x), make_array(again(x), again(x)));
  TVMFFIAny by_y = record_of(LAMBDA, again(y), make_array(again(y), again(y)));
  TVMFFIAny by_yz = record_of(LAMBDA, again(y), make_array(again(y), again(z)));
  expect(same(by_x, by_y, 0));
  expect(!same(by_x, by_yz, 0));
  /* one to one: [x, y] => ... is not [z, z] => ... */
  TVMFFIAny two = record_of(LAMBDA, make_array(again(x), again(y)), fh_any_none());
  TVMFFIAny twice = record_of(LAMBDA, make_array(again(z), again(z)), fh_any_none());
  expect(!same(two, twice, 0));
  expect(!same(twice, two, 0));
  TVMFFIAny all[] = {x, y, z, by_x, by_y, by_yz, two, twice};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) drop(all[i]);
}

TEST(keys_of_a_map_are_compared_as_their_counterparts) {
  TVMFFIAny x = var("x"), y = var("y");
  TVMFFIAny a = record_of(LAMBDA, again(x), make_map(again(x), i64(1))),
            b = record_of(LAMBDA, again(y), make_map(again(y), i64(1)));
  TVMFFIAny c = record_of(LAMBDA, again(y), make_map(again(x), i64(1)));
  expect(same(a, b, 0));
  expect(!same(a, c, 0));
  TVMFFIAny all[] = {x, y, a, b, c};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) drop(all[i]);
}

TEST(a_simple_definition_does_not_reach_into_the_variable) {
  /* a field of the variable holds another variable, which a pattern defines and a simple region only uses */
  TVMFFIAny inner_x = var("ix"), inner_y = var("iy");
  TVMFFIAny x = record_of(VAR, again(inner_x), fh_any_none()), y = record_of(VAR, again(inner_y), fh_any_none());
  TVMFFIAny by_x = record_of(LAMBDA, again(x), fh_any_none()), by_y = record_of(LAMBDA, again(y), fh_any_none());
  TVMFFIAny let_x = record_of(LET, again(x), fh_any_none()), let_y = record_of(LET, again(y), fh_any_none());
  TVMFFIAny same_inner = record_of(VAR, again(inner_x), fh_any_none());
  TVMFFIAny let_same = record_of(LET, again(same_inner), fh_any_none());
  expect(same(by_x, by_y, 0));
  expect(!same(let_x, let_y, 0));
  expect(same(let_x, let_same, 0));
  TVMFFIAny all[] = {inner_x, inner_y, x, y, by_x, by_y, let_x, let_y, same_inner, let_same};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) drop(all[i]);
}

TEST(graph_nodes_must_be_shared_alike) {
  TVMFFIAny one = record_of(DAG, i64(1), i64(2)), two = record_of(DAG, i64(1), i64(2));
  TVMFFIAny shared = make_array(again(one), again(one)), apart = make_array(again(one), again(two));
  TVMFFIAny shared_too = make_array(again(two), again(two));
  expect(same(shared, shared_too, 0));
  expect(!same(shared, apart, 0));
  expect(!same(apart, shared, 0));
  TVMFFIAny all[] = {one, two, shared, apart, shared_too};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) drop(all[i]);
}

/* Makes an object or container with one node; both have no other owner. Two results have equal contents. */
static TVMFFIAny around_dag(int form) {
  TVMFFIAny node = record_of(DAG, i64(1), none());
  switch (form) {
  case 0: return make_array(node);
  case 1: return make_list(node);
  case 2: return make_map(i64(1), node);
  default: return record_of(PAIR, node, none());
  }
}
TEST(content_of_a_shared_value_is_one_object) {
  for (int form = 0; form < 4; ++form) {
    TVMFFIAny once = around_dag(form), shared = make_array(again(once), once);
    TVMFFIAny apart = make_array(around_dag(form), around_dag(form)),
              apart_too = make_array(around_dag(form), around_dag(form));
    expect(!same(shared, apart, 0));
    expect(!same(apart, shared, 0));
    expect(same(apart, apart_too, 0));
    expect(same(shared, shared, 0));
    drop_all_of(shared, apart, apart_too);
  }
}

/* A key that maps to itself at the first visit and to another key at the second. */
TEST(a_shared_map_is_compared_again_when_its_key_is_bound) {
  TVMFFIAny x = record_of(DAG, i64(1), none()), y = record_of(DAG, i64(1), none());
  TVMFFIAny map = make_map(again(x), i64(1)), other = make_map(again(x), i64(1));
  TVMFFIAny a = make_array(again(map), again(x), again(map)), b = make_array(again(other), again(y), again(other));
  TVMFFIAny c = make_array(again(map), again(x)), d = make_array(again(other), again(y));
  expect(same(c, d, 0));
  expect(!same(a, b, 0));
  drop_all_of(x, y, map, other, a, b, c, d);
}

/* Each level holds the next level twice: 2^200 paths, 200 objects. */
static TVMFFIAny doubled(int form) {
  TVMFFIAny at = i64(1);
  for (int i = 0; i < 200; ++i) {
    TVMFFIAny two[] = {again(at), at};
    at = form == 0   ? make_array(two[0], two[1])
         : form == 1 ? make_list(two[0], two[1])
         : form == 2 ? make_map(i64(0), two[0], i64(1), two[1])
                     : record_of(PAIR, two[0], two[1]);
  }
  return at;
}
TEST(shared_values_are_compared_once) {
  for (int form = 0; form < 4; ++form) {
    TVMFFIAny a = doubled(form), b = doubled(form);
    expect(same(a, b, 0));
    drop_all_of(a, b);
  }
}

TEST(values_nested_deeply_are_compared) {
  TVMFFIAny a = nest(kTVMFFIArray, 200000, i64(1)), b = nest(kTVMFFIArray, 200000, i64(1)),
            c = nest(kTVMFFIArray, 200000, i64(2));
  expect(same(a, b, 0));
  expect(!same(a, c, 0));
  drop(a);
  drop(b);
  drop(c);
}

TEST(values_nested_without_end_are_refused) {
  TVMFFIAny a = make_list(i64(0)), b = make_list(i64(0)), item_a = again(a), item_b = again(b);
  int is_equal;
  fh_seq_swap((fh_seq_object *)(void *)a.v_obj, 0, &item_a);
  fh_seq_swap((fh_seq_object *)(void *)b.v_obj, 0, &item_b);
  expect_int(fh_structural_equal(&a, &b, 0, 0, &is_equal), -1);
  expect_raised("ValueError", "nested at most");
  TVMFFIAny zero = i64(0);
  fh_seq_swap((fh_seq_object *)(void *)a.v_obj, 0, &zero);
  drop(zero);
  zero = i64(0);
  fh_seq_swap((fh_seq_object *)(void *)b.v_obj, 0, &zero);
  drop(zero);
  drop(a);
  drop(b);
}

/* ---- __s_equal__ ---- */

static int n_hook_calls;

/* Compares a as a definition and b as a use of the definition. */
static int lambda_by_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  expect_int(n_args, 3);
  n_hook_calls += 1;
  record_object *left = as_record(args[0]), *right = as_record(args[1]);
  TVMFFIAny in_a[] = {left->a, right->a, i64(kTVMFFIDefRegionKindPattern), raw("a")};
  TVMFFIAny in_b[] = {left->b, right->b, i64(kTVMFFIDefRegionKindNone), raw("b")};
  if (fh_function_call(args[2].v_obj, in_a, 4, result) != 0) return -1;
  return result->v_int64 ? fh_function_call(args[2].v_obj, in_b, 4, result) : 0;
}

static int32_t hooked_type(const char *key, TVMFFISafeCallType hook) {
  int is_new = fh_type_find_key(text_of(key)) < 0;
  int32_t type_index = record_type(key, kTVMFFISEqHashKindTreeNode, 0, 0);
  if (is_new) node_add_hook(type_index, "__s_equal__", hook);
  return type_index;
}

TEST(a_hook_compares_its_fields_by_calling_back) {
  int32_t type = hooked_type("test.equal.Hooked", lambda_by_hook);
  TVMFFIAny x = var("x"), y = var("y");
  n_hook_calls = 0;
  expect(equal(record_of(type, again(x), make_array(again(x))), record_of(type, again(y), make_array(again(y)))));
  expect_int(n_hook_calls, 2);
  expect(!equal(record_of(type, again(x), make_array(again(x))), record_of(type, again(y), make_array(again(x)))));
  expect_mismatch(make_array(record_of(type, i64(0), make_array(i64(1)))),
                  make_array(record_of(type, i64(0), make_array(i64(2)))), "(<root>[0].b[0], <root>[0].b[0])");
  expect(equal(record_of(type, i64(1), record_of(type, i64(2), i64(3))),
               record_of(type, i64(1), record_of(type, i64(2), i64(3)))));
  drop(x);
  drop(y);
}

static int text_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  *result = str("not a bool but text of some length");
  return 0;
}
static int bad_region_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(n_args);
  TVMFFIAny back[] = {i64(1), i64(1), i64(7), raw("a")};
  return fh_function_call(args[2].v_obj, back, 4, result);
}
static TVMFFIAny kept_callback;
static int keeping_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(n_args);
  kept_callback = again(args[2]);
  *result = fh_any_bool(1);
  return 0;
}
/* Finds a difference and reports equality. */
static int forgiving_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(n_args);
  TVMFFIAny back[] = {i64(1), i64(2), i64(0), raw("a")};
  if (fh_function_call(args[2].v_obj, back, 4, result) != 0) return -1;
  *result = fh_any_bool(1);
  return 0;
}

TEST(a_fault_of_a_hook_is_an_error) {
  static const struct {
    const char *key;
    TVMFFISafeCallType hook;
    const char *kind, *part;
  } cases[] = {
      {"test.equal.Raising", failing_hook, "KeyError", "from the hook"},
      {"test.equal.Text", text_hook, "TypeError", "Expected __s_equal__ of `test.equal.Text` to return `bool` but got"},
      {"test.equal.Region", bad_region_hook, "ValueError", "Expected the kind of a definition region (0, 1 or 2) but"},
  };
  for (size_t i = 0; i < FH_COUNT_OF(cases); ++i) {
    int32_t type = hooked_type(cases[i].key, cases[i].hook);
    TVMFFIAny a = make_array(record_of(type, i64(1), i64(2))), b = make_array(record_of(type, i64(1), i64(2)));
    int is_equal;
    expect_int(fh_structural_equal(&a, &b, 0, 0, &is_equal), -1);
    expect_raised(cases[i].kind, cases[i].part);
    drop(a);
    drop(b);
  }
}

TEST(a_callback_that_a_hook_keeps_is_of_no_use_afterwards) {
  int32_t type = hooked_type("test.equal.Keeping", keeping_hook);
  TVMFFIAny a = record_of(type, i64(1), i64(2)), b = record_of(type, i64(1), i64(2));
  expect(same(a, b, 0));
  drop(a);
  drop(b);
  TVMFFIAny back[] = {i64(1), i64(1), i64(0), raw("a")}, result;
  expect_int(fh_function_call(kept_callback.v_obj, back, 4, &result), -1);
  expect_raised("RuntimeError", "callback");
  drop(kept_callback);
}

TEST(a_difference_that_a_hook_forgives_leaves_no_trace) {
  int32_t type = hooked_type("test.equal.Forgiving", forgiving_hook);
  expect_mismatch(make_array(record_of(type, i64(1), i64(1)), i64(5)),
                  make_array(record_of(type, i64(1), i64(1)), i64(6)), "(<root>[1], <root>[1])");
}

/* ---- Tensors ---- */

TEST(tensors_are_equal_by_shape_type_and_content) {
  int64_t shape[] = {2, 2}, strides[] = {1, 2};
  float data_a[] = {1, 2, 3, 4}, data_b[] = {1, 2, 3, 5};
  DLManagedTensor managed[3];
  TVMFFIAny tensors[3];
  for (int i = 0; i < 3; ++i) {
    memset(&managed[i], 0, sizeof(managed[i]));
    managed[i].dl_tensor.data = i == 1 ? data_b : data_a;
    managed[i].dl_tensor.device.device_type = kDLCPU;
    managed[i].dl_tensor.ndim = 2;
    managed[i].dl_tensor.dtype = (DLDataType){kDLFloat, 32, 1};
    managed[i].dl_tensor.shape = shape;
    if (i == 2) managed[i].dl_tensor.strides = strides;
    TVMFFIObjectHandle tensor;
    expect_int(TVMFFITensorFromDLPack(&managed[i], 0, 0, &tensor), 0);
    tensors[i] = obj(tensor);
  }
  int is_equal;
  expect(same(tensors[0], tensors[0], 0));
  expect(!same(tensors[0], tensors[1], 0));
  expect_int(fh_structural_equal(&tensors[0], &tensors[1], 0, 1, &is_equal), 0);
  expect_int(is_equal, 1);
  expect_int(fh_structural_equal(&tensors[0], &tensors[2], 0, 0, &is_equal), -1);
  expect_raised("ValueError", "Expected a contiguous tensor");
  for (int i = 0; i < 3; ++i) drop(tensors[i]);
}

/* ---- Without memory ---- */

static int sweep(void *state) {
  TVMFFIAny *values = (TVMFFIAny *)state, paths;
  if (fh_structural_mismatch(&values[0], &values[1], 0, 0, &paths) != 0) return -1;
  drop(paths);
  return 0;
}

TEST(comparing_without_memory_is_an_error) {
  int32_t type = hooked_type("test.equal.Hooked", lambda_by_hook);
  TVMFFIAny x = var("x"), y = var("y"), one = record_of(DAG, i64(1), i64(2)), two = record_of(DAG, i64(1), i64(2));
  TVMFFIAny values[2] = {
      make_array(record_of(LAMBDA, again(x), make_dict(again(x), make_list(again(one), again(one)), str("k"), i64(1))),
                 record_of(type, again(x), make_array(str("some text that needs an object"), again(x)))),
      make_array(record_of(LAMBDA, again(y), make_dict(again(y), make_list(again(two), again(two)), str("k"), i64(1))),
                 record_of(type, again(y), make_array(str("some text that needs an object"), again(x)))),
  };
  test_sweep(sweep, values);
  TVMFFIAny all[] = {x, y, one, two, values[0], values[1]};
  for (size_t i = 0; i < FH_COUNT_OF(all); ++i) drop(all[i]);
}
