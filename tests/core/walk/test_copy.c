/* test_copy.c - deep copies, and the destruction of deeply nested values. */
#include "core/walk/nested.h"

#include "core/object/error.h"
#include "core/object/object.h"
#include "core/walk/walk.h"
#include "support/harness.h"
#include "support/nodes.h"

static TVMFFIAny copy_of(TVMFFIAny value) { return call_ok("ffi.DeepCopy", ARGS(value)); }

static TVMFFIAny item(TVMFFIAny seq, int64_t i) { return fh_seq_items(as_seq(seq))[i]; }
static TVMFFIAny value_of(TVMFFIAny map, TVMFFIAny key) {
  fh_hashmap_pair *pair;
  expect_int(fh_hashmap_find(as_map(map), &key, FH_HASHMAP_HOOKS, &pair), 1);
  return pair->value;
}

/* Expects that the copy of a value has the same repr and is another object. Steals the value. */
static void expect_copied_at(int line, TVMFFIAny value) {
  TVMFFIByteArray content;
  TVMFFIAny text = call_ok("ffi.ReprPrint", ARGS(value)), copy = copy_of(value);
  if (copy.v_obj == value.v_obj) test_fail(__FILE__, line, "the copy is the original");
  fh_any_drop(&value);
  expect(fh_str_content(&text, &content));
  expect_str_at(line, call_ok("ffi.ReprPrint", ARGS(copy)), content.data);
  drop_all_of(text, copy);
}
#define expect_copied(value) expect_copied_at(__LINE__, value)

TEST(every_kind_of_container_is_copied) {
  int32_t type_index = plain_node_type();
  expect_copied(make_array(i64(1), raw("a longer text than seven"), none(), f64(2.5)));
  expect_copied(make_list(i64(1), make_list(i64(2)), make_array(make_list(none()))));
  expect_copied(make_map(i64(1), make_list(i64(2)), raw("k"), none()));
  expect_copied(
      make_dict(i64(5), i64(6), i64(4), i64(3), i64(2), make_map(i64(1), i64(1)), i64(7), i64(8), i64(9), i64(0)));
  expect_copied(make_node(type_index, make_array(i64(1)), make_node(type_index, none(), none(), 7), 8));
  expect_copied(make_seq(kTVMFFIArray, NULL, 0));
  expect_copied(make_seq(kTVMFFIList, NULL, 0));
  expect_copied(make_pairs(kTVMFFIMap, NULL, 0));
  expect_copied(make_pairs(kTVMFFIDict, NULL, 0));
}

static void expect_itself(TVMFFIAny value) {
  TVMFFIAny copy = copy_of(value);
  expect(fh_any_same(&value, &copy));
  drop_all_of(copy, value);
}

TEST(an_immutable_value_is_its_own_copy) {
  expect_itself(i64(5));
  expect_itself(none());
  expect_itself(f64(1.5));
  expect_itself(call_ok("ffi.String", ARGS(raw("a longer text than seven"))));
  expect_itself(call_ok("ffi.Shape", ARGS(i64(1), i64(2))));
}

TEST(raw_text_is_copied_to_an_owned_string) {
  TVMFFIAny copy = copy_of(raw("short"));
  expect_int(copy.type_index, kTVMFFISmallStr);
  expect_str(copy, "short");
}

TEST(an_enum_variant_is_its_own_copy) {
  int32_t parent = fh_type_find_key(text_of("ffi.Enum"));
  if (parent < 0) parent = test_add_child("ffi.Enum", kTVMFFIObject, 4);
  int32_t type_index = test_add_child("test.copy.Colour", parent, 0);
  TVMFFIAny red = make_node(type_index, i64(0), none(), 0);
  TVMFFIAny list = make_list(again(red)), copy = copy_of(list);
  expect(item(copy, 0).v_obj == red.v_obj);
  drop_all_of(list, copy, red);
}

TEST(a_copy_does_not_change_with_its_original) {
  TVMFFIAny inner = make_list(i64(1)), outer = make_array(again(inner)), copy = copy_of(outer);
  call_int("ffi.ListAppend", ARGS(inner, i64(2)));
  expect_repr(copy, "([1],)");
  drop_all_of(inner, outer, copy);
}

TEST(a_shared_value_is_copied_once) {
  TVMFFIAny shared = make_node(plain_node_type(), i64(1), none(), 0);
  TVMFFIAny text = call_ok("ffi.String", ARGS(raw("a text of some length")));
  TVMFFIAny value = make_array(again(shared), make_map(i64(0), again(shared)), make_dict(again(shared), again(text)),
                               make_node(plain_node_type(), again(shared), make_list(again(shared)), 0));
  TVMFFIAny copy = copy_of(value);
  TVMFFIObject *once = item(copy, 0).v_obj;
  expect(once != shared.v_obj);
  expect(value_of(item(copy, 1), i64(0)).v_obj == once);
  expect(value_of(item(copy, 2), item(copy, 0)).v_obj == text.v_obj);
  expect(as_node(item(copy, 3))->left.v_obj == once);
  expect(item(as_node(item(copy, 3))->right, 0).v_obj == once);
  drop_all_of(value, copy, shared, text);
}

TEST(a_shared_container_of_plain_values_is_copied_once) {
  TVMFFIAny array = make_array(i64(1), raw("a text of some length")), list = make_list(i64(2)),
            map = make_map(i64(3), i64(4)), dict = make_dict(i64(5), i64(6));
  TVMFFIAny inner = make_list(again(array), again(list), again(map), again(dict));
  TVMFFIAny value = make_array(again(array), again(list), again(map), again(dict), again(inner));
  TVMFFIAny copy = copy_of(value);
  for (int64_t i = 0; i < 4; ++i) {
    expect(item(copy, i).v_obj != item(value, i).v_obj);
    expect(item(item(copy, 4), i).v_obj == item(copy, i).v_obj);
  }
  drop_all_of(value, copy, array, list, map, dict, inner);
}

TEST(the_copy_of_a_list_of_plain_values_changes_alone) {
  TVMFFIAny list = make_list(i64(1)), copy = copy_of(list);
  call_int("ffi.ListAppend", ARGS(copy, i64(2)));
  expect_repr(list, "[1]");
  expect_repr(copy, "[1, 2]");
  drop_all_of(list, copy);
}

/* ---- Cycles ---- */

TEST(a_list_and_a_dict_that_hold_themselves_are_copied) {
  TVMFFIAny list = make_list(i64(1)), dict = make_dict(i64(1), again(list));
  call_int("ffi.ListAppend", ARGS(list, list));
  call_int("ffi.DictSetItem", ARGS(dict, i64(2), dict));
  TVMFFIAny copy = copy_of(dict), inner = value_of(copy, i64(1));
  expect(copy.v_obj != dict.v_obj && inner.v_obj != list.v_obj);
  expect(value_of(copy, i64(2)).v_obj == copy.v_obj);
  expect(item(inner, 1).v_obj == inner.v_obj);
  call_int("ffi.ListClear", ARGS(list));
  call_int("ffi.ListClear", ARGS(inner));
  call_int("ffi.DictClear", ARGS(dict));
  call_int("ffi.DictClear", ARGS(copy));
  drop_all_of(list, dict, copy);
}

TEST(a_cycle_through_an_array_or_a_map_leads_back_to_the_copy) {
  int32_t type_index = plain_node_type();
  TVMFFIAny of_array = make_node(type_index, none(), none(), 1), of_map = make_node(type_index, none(), none(), 2);
  TVMFFIAny array = make_array(i64(7), again(of_array)), map = make_map(again(of_map), again(of_map));
  as_node(of_array)->left = again(array);
  as_node(of_map)->left = again(map);
  TVMFFIAny array_copy = copy_of(array), map_copy = copy_of(map), node_copy = copy_of(of_array);
  expect(item(array_copy, 1).v_obj != of_array.v_obj);
  expect(as_node(item(array_copy, 1))->left.v_obj == array_copy.v_obj);
  expect_int(item(array_copy, 0).v_int64, 7);
  expect_int(fh_seq_size(as_seq(array_copy)), 2);
  const fh_hashmap_pair *pair = fh_hashmap_at(as_map(map_copy), fh_hashmap_begin(as_map(map_copy)));
  expect(pair->key.v_obj == pair->value.v_obj && pair->key.v_obj != of_map.v_obj);
  expect(as_node(pair->key)->left.v_obj == map_copy.v_obj);
  expect(item(as_node(node_copy)->left, 1).v_obj == node_copy.v_obj);
  fh_any_drop(&as_node(of_array)->left);
  fh_any_drop(&as_node(of_map)->left);
  fh_any_drop(&as_node(item(array_copy, 1))->left);
  fh_any_drop(&as_node(pair->key)->left);
  fh_any_drop(&as_node(node_copy)->left);
  drop_all_of(of_array, of_map, array, map, array_copy, map_copy, node_copy);
}

/* Expects that two values have one shape: an object that occurs several times in `from` does so in `copy`, and the
 * values share no container. */
static void expect_same_shape(TVMFFIAny from, TVMFFIAny copy) {
  fh_walk walk;
  fh_memo images = {NULL, 0, 0, 0}, originals = {NULL, 0, 0, 0};
  TVMFFIAny a = from, b = copy;
  fh_walk_init(&walk, FH_WALK_PLAIN, 0, 0);
  for (fh_walk_step step = FH_WALK_CHILD; step != FH_WALK_END || fh_walk_depth(&walk) != 0;) {
    expect(step == FH_WALK_CHILD || step == FH_WALK_END);
    if (step == FH_WALK_END) {
      fh_walk_pop(&walk);
    } else if (!fh_any_is_object(&a)) {
      expect(fh_any_same(&a, &b));
    } else {
      const uint64_t *image = fh_memo_find(&images, a.v_obj, NULL), *original = fh_memo_find(&originals, b.v_obj, NULL);
      expect(a.type_index == b.type_index && a.v_obj != b.v_obj);
      expect(image == NULL ? original == NULL : *image == (uintptr_t)b.v_obj && *original == (uintptr_t)a.v_obj);
      if (image == NULL) {
        expect_int(fh_memo_put(&images, a.v_obj, NULL, (uintptr_t)b.v_obj), 0);
        expect_int(fh_memo_put(&originals, b.v_obj, NULL, (uintptr_t)a.v_obj), 0);
        expect_int(fh_walk_push_pair(&walk, &a, &b), 0);
      }
    }
    if (fh_walk_depth(&walk) != 0)
      step = fh_walk_next_pair(&walk, &a, &b);
    else
      break;
  }
  fh_walk_free(&walk);
  fh_memo_free(&images);
  fh_memo_free(&originals);
}

/* Empties the Lists and nodes, because cycles pass through these. */
static void unknot(TVMFFIAny value) {
  if (value.type_index == kTVMFFIList) call_int("ffi.ListClear", ARGS(value));
  if (value.type_index != plain_node_type()) return;
  fh_any_drop(&as_node(value)->left);
  fh_any_drop(&as_node(value)->right);
}

/* Unknots a value and everything below it. */
static void unknot_all(TVMFFIAny value) {
  TVMFFIAny todo[2000], child;
  int n = 0, n_done = 0;
  fh_walk walk;
  fh_memo seen = {NULL, 0, 0, 0};
  todo[n++] = again(value);
  for (; n_done < n; ++n_done) {
    fh_walk_init(&walk, FH_WALK_PLAIN, 0, 0);
    expect_int(fh_walk_push(&walk, &todo[n_done]), 0);
    while (fh_walk_next(&walk, &child) == FH_WALK_CHILD) {
      if (!fh_any_is_object(&child) || fh_memo_find(&seen, child.v_obj, NULL) != NULL) continue;
      expect_int(fh_memo_put(&seen, child.v_obj, NULL, 0), 0);
      todo[n++] = again(child);
    }
    fh_walk_free(&walk);
  }
  for (int i = 0; i < n; ++i) unknot(todo[i]);
  drop_values(todo, n);
  fh_memo_free(&seen);
}

TEST(random_graphs_are_copied_with_their_shape) {
  enum { N = 12, N_KNOTS = 8 };
  uint32_t state = 1;
  for (int round = 0; round < 400; ++round) {
    TVMFFIAny made[N];
    for (int i = 0; i < N; ++i) {
      uint32_t r = (state = state * 1664525u + 1013904223u) >> 16;
      TVMFFIAny other = i != 0 ? again(made[r / 8 % (uint32_t)i]) : i64(i);
      switch (r % 4) {
      case 0: made[i] = make_array(i64(i), other); break;
      case 1: made[i] = make_list(other); break;
      case 2: made[i] = make_map(i64(i), other); break;
      default: made[i] = make_node(plain_node_type(), other, none(), i); break;
      }
    }
    TVMFFIAny knots[N_KNOTS];
    for (int i = 0; i < N_KNOTS; ++i) {
      uint32_t r = (state = state * 1664525u + 1013904223u) >> 16;
      TVMFFIAny to = made[r / N % N];
      knots[i] = made[r % N];
      fh_object_weak_retain(knots[i].v_obj);
      if (knots[i].type_index == kTVMFFIList) expect_int(fh_seq_push(as_seq(knots[i]), again(to)), 0);
      if (knots[i].type_index == plain_node_type()) expect_int(node_set_any(&as_node(knots[i])->right, &to), 0);
    }
    drop_values(made, N - 1); /* some values lose all references but one */
    TVMFFIAny root = made[N - 1], copy = copy_of(root);
    expect_same_shape(root, copy);
    unknot_all(copy);
    for (int i = 0; i < N_KNOTS; ++i) {
      if (test_promote(knots[i].v_obj)) {
        unknot(knots[i]);
        fh_object_release(knots[i].v_obj);
      }
      fh_object_weak_release(knots[i].v_obj);
    }
    drop_all_of(copy, root);
  }
}

/* ---- Refusals ---- */

TEST(a_value_without_a_shallow_copy_is_refused) {
  TVMFFIAny function = obj(test_echo()), list = make_list(make_map(i64(1), again(function)));
  expect_call_raises("InternalError",
                     "Cannot deep copy object of type \"ffi.Function\" because it is not copy-constructible",
                     "ffi.DeepCopy", ARGS(function));
  expect_call_raises("InternalError", "\"ffi.Function\"", "ffi.DeepCopy", ARGS(list));
  expect_call_raises("TypeError", "Expected 1 but got 0 arguments", "ffi.DeepCopy", NO_ARGS);
  fh_any_drop(&list);
}

static int copy_to_int(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args;
  *result = fh_any_int(1);
  return 0;
}

static int copy_fails(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  return fh_error_raise("ValueError", "no copies today");
}

TEST(a_shallow_copy_of_another_type_or_with_an_error_is_refused) {
  int32_t wrong = node_type("test.copy.Wrong", 0, 0, 0), failing = node_type("test.copy.Failing", 0, 0, 0);
  node_add_hook(wrong, "__ffi_shallow_copy__", copy_to_int);
  node_add_hook(failing, "__ffi_shallow_copy__", copy_fails);
  TVMFFIAny a = make_list(make_node(wrong, none(), none(), 0)), b = make_list(make_node(failing, none(), none(), 0));
  expect_call_raises("TypeError", "to return `test.copy.Wrong` but got `int`", "ffi.DeepCopy", ARGS(a));
  expect_call_raises("ValueError", "no copies today", "ffi.DeepCopy", ARGS(b));
  drop_all_of(a, b);
}

static int copy_it(void *value) {
  TVMFFIAny copy;
  if (fh_copy_deep((const TVMFFIAny *)value, &copy) != 0) return -1;
  fh_any_drop(&copy);
  return 0;
}

TEST(a_copy_survives_missing_memory) {
  TVMFFIAny shared = make_list(i64(1), make_dict(i64(1), make_array(i64(2))));
  TVMFFIAny value =
      make_array(again(shared), make_map(i64(3), again(shared), i64(4), none(), i64(5), none(), i64(6), none()),
                 make_node(plain_node_type(), shared, make_list(none()), 0), nest(kTVMFFIList, 20, none()));
  test_sweep(copy_it, &value);
  fh_any_drop(&value);
}

/* ---- Depth ---- */

static const int64_t MILLION = 1000000;

TEST(lists_a_million_deep_are_copied_and_released) {
  TVMFFIAny list = nest(kTVMFFIList, MILLION, i64(7)), copy = copy_of(list), at = copy;
  int64_t depth = 0;
  for (; at.type_index == kTVMFFIList; at = item(at, 0)) ++depth;
  expect_int(depth, MILLION);
  expect_int(at.v_int64, 7);
  drop_all_of(list, copy);
}

TEST(a_value_nested_deeper_than_the_limit_is_refused) {
  TVMFFIAny array = nest(kTVMFFIArray, 1050000, i64(7)), other = nest(kTVMFFIArray, 1050000, i64(7));
  expect_call_raises("ValueError", "nested at most 1048576 deep", "ffi.DeepCopy", ARGS(array));
  expect_call_raises("ValueError", "nested at most 1048576 deep", "ffi.ReprPrint", ARGS(array));
  expect_call_raises("ValueError", "nested at most 1048576 deep", "ffi.ContainerFindFirstNonCPUDevice", ARGS(array));
  expect_call_raises("ValueError", "nested at most 1048576 deep", "ffi.RecursiveHash", ARGS(array));
  expect_call_raises("ValueError", "nested at most 1048576 deep", "ffi.RecursiveEq", ARGS(array, other));
  expect_call_raises("ValueError", "nested at most 1048576 deep", "ffi.RecursiveGe", ARGS(array, other));
  drop_all_of(array, other);
}

TEST(maps_and_errors_a_million_deep_are_released) {
  int ends = 0;
  TVMFFIAny map = obj(test_object_new(&ends));
  TVMFFIObject *first = fh_error_new(text_of("ValueError"), text_of("m"), text_of(""), NULL, NULL), *error = first;
  fh_object_weak_retain(first);
  for (int64_t i = 0; i < MILLION; ++i) {
    map = i % 2 ? make_map(i64(0), map) : make_dict(i64(0), make_list(map));
    TVMFFIObject *cause = error;
    error = fh_error_new(text_of("ValueError"), text_of("m"), text_of(""), cause, NULL);
    fh_object_release(cause);
  }
  fh_any_drop(&map);
  expect_int(ends, 1);
  fh_object_release(error);
  expect_int(test_promote(first), 0);
  fh_object_weak_release(first);
}

/* ---- Deferred destruction ---- */

TEST(deferred_objects_are_destroyed_when_the_release_returns) {
  int ends = 0;
  TVMFFIAny deep = nest(kTVMFFIList, 10000, obj(test_object_new(&ends)));
  fh_any_drop(&deep);
  expect_int(ends, 1);
}

TEST(a_weak_reference_to_a_deferred_object_stays_valid) {
  TVMFFIAny inner = make_list(i64(1));
  fh_object_weak_retain(inner.v_obj);
  TVMFFIAny deep = nest(kTVMFFIList, 1000, inner);
  fh_any_drop(&deep);
  expect_int(test_promote(inner.v_obj), 0);
  expect_int(inner.v_obj->type_index, kTVMFFIList);
  fh_object_weak_release(inner.v_obj);
}

/* A client's objects, between ours, drop their contents themselves. */
TEST(clients_objects_between_ours_end_at_once) {
  int ends = 0, side_ends = 0;
  TVMFFIAny value = obj(test_object_new(&ends));
  for (int i = 0; i < 300; ++i) {
    TVMFFIAny side = nest(kTVMFFIArray, 500, obj(test_object_new(&side_ends)));
    value = make_list(make_node(plain_node_type(), value, side, i));
  }
  fh_any_drop(&value);
  expect_int(ends, 1);
  expect_int(side_ends, 300);
}

static void nest_and_drop(void *unused, int i) {
  (void)unused;
  int ends = 0;
  TVMFFIAny value = nest(i % 2 ? kTVMFFIList : kTVMFFIArray, 30000, obj(test_object_new(&ends)));
  fh_any_drop(&value);
  expect_int(ends, 1);
}

TEST(threads_release_deep_values_each_by_itself) { test_threads(4, nest_and_drop, NULL); }
