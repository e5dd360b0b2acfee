/* test_walk.c - the traversal of values. */
#include "core/walk/walk.h"

#include "core/object/error.h"
#include "support/harness.h"
#include "support/nodes.h"

/* ---- One side: the order of events as text ---- */

/* Writes ( before a value, its number for an int, ) after a value, and * for a value that is being visited already. */
static int trace(TVMFFIAny root, int64_t skip_flags, char *text) {
  fh_walk walk;
  TVMFFIAny child = root;
  fh_walk_step step = FH_WALK_CHILD;
  fh_walk_init(&walk, FH_WALK_CYCLES, skip_flags, 0);
  do {
    if (step == FH_WALK_END) {
      strcat(text, ")");
      fh_walk_pop(&walk);
    } else if (!fh_any_is_object(&child)) {
      sprintf(text + strlen(text), "%lld ", (long long)child.v_int64);
    } else if (fh_walk_is_open(&walk, child.v_obj, NULL)) {
      strcat(text, "*");
    } else {
      strcat(text, "(");
      if (fh_walk_push(&walk, &child) != 0) step = FH_WALK_ERROR;
    }
    if (step != FH_WALK_ERROR && fh_walk_depth(&walk) != 0)
      step = fh_walk_next(&walk, &child);
    else
      break;
  } while (step != FH_WALK_ERROR);
  fh_walk_free(&walk);
  return step == FH_WALK_ERROR ? -1 : 0;
}

static void expect_trace_at(int line, TVMFFIAny value, int64_t skip_flags, const char *wanted) {
  char text[500] = "";
  if (trace(value, skip_flags, text) != 0) test_fail(__FILE__, line, "the walk failed");
  if (strcmp(text, wanted) != 0) test_fail(__FILE__, line, "got %s, wanted %s", text, wanted);
  fh_any_drop(&value);
}
#define expect_trace(value, wanted) expect_trace_at(__LINE__, value, 0, wanted)

TEST(every_kind_of_container_gives_its_children_in_order) {
  expect_trace(make_array(i64(1), make_list(i64(2), i64(3)), i64(4)), "(1 (2 3 )4 )");
  expect_trace(make_map(i64(1), i64(2), i64(3), make_array(i64(4))), "(1 2 3 (4 ))");
  expect_trace(make_dict(i64(1), i64(2), i64(3), make_list(i64(4))), "(1 2 3 (4 ))");
  expect_trace(make_map(i64(5), i64(6), i64(4), i64(3), i64(2), i64(1), i64(7), i64(8), i64(9), i64(0)),
               "(5 6 4 3 2 1 7 8 9 0 )");
  expect_trace(make_seq(kTVMFFIArray, NULL, 0), "()");
  expect_trace(make_pairs(kTVMFFIDict, NULL, 0), "()");
  int32_t type_index = plain_node_type();
  expect_trace(make_node(type_index, i64(1), make_node(type_index, i64(2), none(), 3), 4), "(1 (2 0 3 )4 )");
}

TEST(fields_with_an_unwanted_flag_are_left_out) {
  int32_t type_index = node_type("test.walk.Flags", kTVMFFIFieldFlagBitMaskReprOff, kTVMFFIFieldFlagBitMaskHashOff, 0);
  TVMFFIAny value = make_node(type_index, i64(1), i64(2), 3);
  expect_trace_at(__LINE__, again(value), kTVMFFIFieldFlagBitMaskReprOff, "(2 3 )");
  expect_trace_at(__LINE__, again(value), kTVMFFIFieldFlagBitMaskHashOff | kTVMFFIFieldFlagBitMaskReprOff, "(3 )");
  expect_trace(value, "(1 2 3 )");
}

TEST(a_field_that_a_subclass_declares_again_at_the_same_place_is_visited_once) {
  int32_t parent = node_type("test.walk.Parent", 0, 0, 0);
  int32_t child = test_add_child("test.walk.Child", parent, 0);
  node_add_field(child, "right", (int64_t)offsetof(node, right), kTVMFFIAny, 0);
  node_add_field(child, "tag", (int64_t)offsetof(node, left), kTVMFFIAny,
                 0); /* at another offset it is a different field */
  expect_trace(make_node(child, i64(1), i64(2), 3), "(1 2 3 1 )");
}

TEST(a_container_in_itself_is_seen_to_be_open) {
  TVMFFIAny list = make_list(i64(1));
  expect_int(fh_seq_push(as_seq(list), again(list)), 0);
  expect_int(fh_seq_push(as_seq(list), make_array(again(list))), 0);
  expect_trace(again(list), "(1 *(*))");
  call_int("ffi.ListClear", ARGS(list));
  fh_any_drop(&list);
}

TEST(a_shared_value_that_is_not_open_is_entered_again) {
  TVMFFIAny shared = make_list(i64(1));
  expect_trace(make_array(again(shared), shared), "((1 )(1 ))");
}

/* ---- Labels ---- */

TEST(labels_name_the_way_to_a_child) {
  fh_walk walk;
  TVMFFIAny child, root = make_list(i64(0), make_map(i64(7), make_node(plain_node_type(), none(), i64(5), 6)));
  fh_walk_init(&walk, FH_WALK_PLAIN, 0, 0);
  expect_int(fh_walk_push(&walk, &root), 0);
  expect_int(fh_walk_label_of(&walk, fh_walk_at(&walk, 0)).place, FH_WALK_AT_NOTHING);
  expect_int(fh_walk_next(&walk, &child), FH_WALK_CHILD);
  expect_int(fh_walk_next(&walk, &child), FH_WALK_CHILD);
  expect_int(fh_walk_push(&walk, &child), 0);
  expect_int(fh_walk_next(&walk, &child), FH_WALK_CHILD);
  expect_int(fh_walk_label_of(&walk, fh_walk_at(&walk, 1)).place, FH_WALK_AT_KEY);
  expect_int(fh_walk_next(&walk, &child), FH_WALK_CHILD);
  expect_int(fh_walk_push(&walk, &child), 0);
  expect_int(fh_walk_next(&walk, &child), FH_WALK_CHILD);
  expect_int(fh_walk_next(&walk, &child), FH_WALK_CHILD);
  fh_walk_label item = fh_walk_label_of(&walk, fh_walk_at(&walk, 0));
  fh_walk_label value = fh_walk_label_of(&walk, fh_walk_at(&walk, 1));
  fh_walk_label field = fh_walk_label_of(&walk, fh_walk_at(&walk, 2));
  expect_int(item.place, FH_WALK_AT_ITEM);
  expect_int(item.index, 1);
  expect_int(value.place, FH_WALK_AT_VALUE);
  expect_int(value.key.v_int64, 7);
  expect_int(field.place, FH_WALK_AT_FIELD);
  expect_text(field.field->name, "right");
  fh_walk_free(&walk);
  fh_any_drop(&root);
}

/* ---- Two sides ---- */

/* Walks two values as a pair, steals them, and writes a:b, a: or :b for each step. */
static void expect_pairs_at(int line, TVMFFIAny a, TVMFFIAny b, const char *wanted) {
  char text[500] = "";
  fh_walk walk;
  TVMFFIAny left, right;
  fh_walk_init(&walk, FH_WALK_PLAIN, 0, 8);
  if (fh_walk_push_pair(&walk, &a, &b) != 0) test_fail(__FILE__, line, "push failed");
  expect_int(*(int64_t *)fh_walk_data(fh_walk_top(&walk)), 0);
  for (fh_walk_step step; (step = fh_walk_next_pair(&walk, &left, &right)) != FH_WALK_END;) {
    if (step == FH_WALK_ERROR) test_fail(__FILE__, line, "step failed");
    if (step != FH_WALK_ONLY_RIGHT) sprintf(text + strlen(text), "%d", (int)left.v_int64);
    strcat(text, ":");
    if (step != FH_WALK_ONLY_LEFT) sprintf(text + strlen(text), "%d", (int)right.v_int64);
    strcat(text, " ");
  }
  if (strcmp(text, wanted) != 0) test_fail(__FILE__, line, "got %s, wanted %s", text, wanted);
  fh_walk_free(&walk);
  fh_any_drop(&a);
  fh_any_drop(&b);
}
#define expect_pairs(a, b, wanted) expect_pairs_at(__LINE__, a, b, wanted)

TEST(two_values_give_the_children_that_belong_together) {
  expect_pairs(make_array(i64(1), i64(2)), make_array(i64(3), i64(4)), "1:3 2:4 ");
  expect_pairs(make_list(i64(1), i64(2)), make_list(i64(3), i64(4)), "1:3 2:4 ");
  expect_pairs(make_array(i64(1), i64(2)), make_list(i64(3)), "1:3 2: ");
  expect_pairs(make_list(i64(1)), make_array(i64(3), i64(4)), "1:3 :4 ");
  expect_pairs(make_map(i64(1), i64(10), i64(2), i64(20)), make_map(i64(2), i64(21), i64(1), i64(11)), "10:11 20:21 ");
  expect_pairs(make_dict(i64(1), i64(10), i64(2), i64(20)), make_dict(i64(2), i64(21), i64(3), i64(31)), "10: 20:21 ");
  expect_pairs(make_map(i64(1), i64(10)), make_dict(i64(1), i64(11)), "10:11 ");
  int32_t type_index = plain_node_type();
  expect_pairs(make_node(type_index, i64(1), i64(2), 3), make_node(type_index, i64(4), i64(5), 6), "1:4 2:5 3:6 ");
}

/* ---- Depth, failures, threads ---- */

TEST(a_walk_deeper_than_its_limit_is_a_value_error) {
  fh_walk walk;
  TVMFFIAny list = make_list(none());
  fh_walk_init(&walk, FH_WALK_PLAIN, 0, 0);
  for (int i = 0; i < FH_WALK_MAX_DEPTH; ++i) expect_int(fh_walk_push_mark(&walk, list.v_obj, NULL), 0);
  expect_int(fh_walk_push(&walk, &list), -1);
  expect_raised("ValueError", "Expected a value nested at most 1048576 deep");
  fh_walk_free(&walk);
  fh_any_drop(&list);
}

TEST(containers_end_however_deep_they_are_before_the_release_returns) {
  int ends = 0;
  for (int32_t type = kTVMFFIArray; type <= kTVMFFIList; type += kTVMFFIList - kTVMFFIArray) {
    TVMFFIAny middle = nest(type, 500000, obj(test_object_new(&ends)));
    TVMFFIObject *weak = middle.v_obj;
    fh_object_weak_retain(weak);
    TVMFFIAny value = nest(type, 500000, make_map(i64(1), middle));
    fh_any_drop(&value);
    expect_int(test_promote(weak), 0);
    fh_object_weak_release(weak);
  }
  expect_int(ends, 2);
}

TEST(containers_end_without_memory_too) {
  int ends = 0;
  TVMFFIAny value = nest(kTVMFFIArray, 1000, obj(test_object_new(&ends)));
  fh_mem_fail_nth(1);
  fh_any_drop(&value);
  expect(!fh_mem_has_failed()); /* it needs no memory */
  fh_mem_fail_nth(0);
  expect_int(ends, 1);
}

TEST(hooks_that_call_back_too_deep_are_a_value_error) {
  fh_walk walk;
  fh_walk_init(&walk, FH_WALK_PLAIN, 0, 0);
  for (int i = 0; i < FH_WALK_MAX_HOOKS; ++i) expect_int(fh_walk_enter_hook(&walk), 0);
  expect_int(fh_walk_enter_hook(&walk), -1);
  expect_raised("ValueError", "hooks to call back");
  fh_walk_leave_hook(&walk);
  expect_int(fh_walk_enter_hook(&walk), 0);
  fh_walk_free(&walk);
}

static int get_nothing(void *field, TVMFFIAny *result) {
  (void)field, (void)result;
  return fh_error_raise("AttributeError", "nothing there");
}

TEST(a_getter_s_error_ends_the_walk) {
  int32_t type_index = node_type("test.walk.Getter", 0, 0, 0);
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
  field.name = text_of("nothing");
  field.offset = offsetof(node, tag);
  field.getter = get_nothing;
  field.field_static_type_index = kTVMFFIAny;
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  node_add_hook(type_index, "__ffi_shallow_copy__", node_copy);
  TVMFFIAny a = make_list(make_node(type_index, make_list(i64(1)), none(), 0));
  TVMFFIAny b = make_list(make_node(type_index, make_list(i64(1)), none(), 0));
  expect_call_raises("AttributeError", "nothing there", "ffi.ReprPrint", ARGS(a));
  expect_call_raises("AttributeError", "nothing there", "ffi.DeepCopy", ARGS(a));
  expect_call_raises("AttributeError", "nothing there", "ffi.RecursiveHash", ARGS(a));
  expect_call_raises("AttributeError", "nothing there", "ffi.RecursiveEq", ARGS(a, b));
  expect_call_raises("AttributeError", "nothing there", "ffi.RecursiveGt", ARGS(a, b));
  drop_all_of(a, b);
}

static int trace_nested(void *value) {
  char text[200] = "";
  return trace(*(TVMFFIAny *)value, 0, text);
}

TEST(a_walk_survives_missing_memory) {
  TVMFFIAny inner = make_dict(i64(1), make_list(i64(2), nest(kTVMFFIList, 20, i64(1))));
  TVMFFIAny value = make_array(again(inner), inner, make_node(plain_node_type(), make_map(i64(3), i64(4)), none(), 0));
  test_sweep(trace_nested, &value);
  fh_any_drop(&value);
}

/* Two threads change a List and a Dict while other threads walk them. */
typedef struct {
  TVMFFIAny list, dict, root;
} changing;

static void walk_or_change(void *state, int i) {
  changing *c = (changing *)state;
  for (int n = 0; n < 300; ++n) {
    if (i == 0) {
      call_int("ffi.ListAppend", ARGS(c->list, raw("a text of some length")));
      if (n % 7 == 6) call_int("ffi.ListClear", ARGS(c->list));
    } else if (i == 1) {
      TVMFFIAny value = make_list(i64(n));
      call_int("ffi.DictSetItem", ARGS(c->dict, i64(n % 9), value));
      fh_any_drop(&value);
      if (n % 11 == 10) call_int("ffi.DictClear", ARGS(c->dict));
    } else {
      TVMFFIAny text = call_ok("ffi.ReprPrint", ARGS(c->root));
      fh_any_drop(&text);
    }
  }
}

TEST(containers_are_walked_while_other_threads_change_them) {
  changing c = {make_seq(kTVMFFIList, NULL, 0), make_pairs(kTVMFFIDict, NULL, 0), none()};
  c.root = make_array(again(c.list), again(c.dict));
  test_threads(4, walk_or_change, &c);
  drop_all_of(c.list, c.dict, c.root);
}
