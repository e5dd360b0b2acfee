/* test_structural_mutate.c - maps and mutations with callbacks, mutators, hooks. */
#include "core/structural/operations.h"

#include "core/object/error.h"
#include "core/object/object_new.h"
#include "core/object/reflect.h"
#include "support/callbacks.h"
#include "support/records.h"

#define PAIR record_type("test.mutate.Pair", kTVMFFISEqHashKindTreeNode, 0, 0)
#define TREE record_type("test.mutate.Tree", kTVMFFISEqHashKindTreeNode, 0, kTVMFFIFieldFlagBitMaskSEqHashIgnore)
#define VAR record_type("test.mutate.Var", kTVMFFISEqHashKindFreeVar, 0, 0)
#define DAG record_type("test.mutate.Dag", kTVMFFISEqHashKindDAGNode, 0, 0)
#define LAMBDA \
  record_type("test.mutate.Lambda", kTVMFFISEqHashKindTreeNode, kTVMFFIFieldFlagBitMaskSEqHashDefPattern, 0)

/* ---- Callbacks ---- */

static int add_one(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  *result = i64(args[0].v_int64 + 1 + (n_args == 2 && args[1].type_index == kTVMFFIInt ? 100 * args[1].v_int64 : 0));
  return 0;
}
static int keep(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  *result = fh_mutator_unchanged();
  return 0;
}
static int give_replacement(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  *result = again(*(const TVMFFIAny *)self);
  return 0;
}
static int descend(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  expect(n_args >= 2);
  TVMFFIAny pass[] = {args[1], args[0]};
  return call_n("ffi.StructuralMutatorDefaultMutate", pass, 2, result);
}
static int tell_mode(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  expect_int(n_args, 3);
  *(int64_t *)self = args[2].v_int64;
  *result = again(args[0]);
  return 0;
}

/* Maps a root and steals it (it may be the only reference); steals the callbacks. */
static TVMFFIAny map_with(TVMFFIAny root, TVMFFIAny plain, TVMFFIAny with_region, int order) {
  TVMFFIAny moved = fh_any_none();
  TVMFFIObject *slot = root.v_obj;
  moved.type_index = kTVMFFIObjectRValueRef;
  moved.v_ptr = &slot;
  TVMFFIAny result =
      call_ok("ffi.StructuralMap", ARGS(fh_any_is_object(&root) ? moved : root, plain, with_region, i64(order)));
  drop(plain);
  drop(with_region);
  return result;
}
static TVMFFIAny increase(TVMFFIAny root, int order) {
  return map_with(root, make_array(callback_entry(kTVMFFIInt, function_of(add_one, NULL))), no_entries(), order);
}
static void expect_increased(TVMFFIAny root, const char *wanted) {
  for (int order = 0; order < 2; ++order) {
    TVMFFIAny mapped = increase(again(root), order);
    expect_repr(mapped, wanted);
    drop(mapped);
  }
  drop(root);
}

TEST(a_map_copies_changed_values) {
  TVMFFIAny root =
      make_array(i64(1), str("a"), make_list(i64(2)), make_map(i64(3), i64(4)), record_of(PAIR, i64(5), none()));
  expect_increased(again(root), "(2, \"a\", [3], {3: 5}, test.mutate.Pair(a=6, b=None))");
  expect_repr(root, "(1, \"a\", [2], {3: 4}, test.mutate.Pair(a=5, b=None))");
  drop(root);
  expect_increased(make_dict(str("k"), i64(1), str("l"), str("x"), str("m"), i64(2)),
                   "{\"k\": 2, \"l\": \"x\", \"m\": 3}");
  expect_increased(record_of(TREE, i64(1), i64(1)), "test.mutate.Tree(a=2, b=1)");
  expect_increased(i64(1), "2");
}

TEST(an_unchanged_value_stays_the_same_object) {
  TVMFFIAny root = make_array(make_list(str("a")), record_of(PAIR, str("b"), none()), make_map(i64(1), str("c")));
  TVMFFIAny mapped = increase(again(root), 0);
  expect(mapped.v_obj == root.v_obj);
  drop(mapped);
  TVMFFIAny callbacks = make_array(callback_entry(kTVMFFIAny, function_of(keep, NULL)));
  mapped = map_with(again(root), again(callbacks), again(callbacks), 1);
  expect(mapped.v_obj == root.v_obj);
  drop_all_of(mapped, root, callbacks);
}

/* Returns another object with the same string, as a language with its own strings does. */
static int copy_text(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *out) {
  TVMFFIByteArray content;
  (void)self;
  (void)n_args;
  expect(fh_str_content(&args[0], &content));
  return fh_str_new(content.data, content.size, out);
}

TEST(text_that_becomes_the_same_text_is_unchanged) {
  TVMFFIAny root = make_array(str("short"), str("longer than the small form"));
  for (int order = 0; order < 2; ++order) {
    TVMFFIAny callbacks = make_array(callback_entry(kTVMFFIStr, function_of(copy_text, NULL)));
    TVMFFIAny mapped = map_with(again(root), callbacks, no_entries(), order);
    expect(mapped.v_obj == root.v_obj);
    drop(mapped);
  }
  drop(root);
}

TEST(containers_without_another_owner_change_in_place) {
  TVMFFIAny inner = make_list(i64(1)), shared = make_list(i64(2));
  TVMFFIObject *inner_list = inner.v_obj, *shared_list = shared.v_obj;
  TVMFFIAny root = make_array(inner, again(shared), make_dict(i64(0), make_array(i64(3))));
  TVMFFIObject *root_array = root.v_obj;
  TVMFFIAny mapped = increase(root, 1);
  expect(mapped.v_obj == root_array);
  expect(fh_seq_items(as_seq(mapped))[0].v_obj == inner_list);
  expect(fh_seq_items(as_seq(mapped))[1].v_obj != shared_list);
  expect_repr(mapped, "([2], [3], {0: (4,)})");
  expect_repr(shared, "[2]");
  drop_all_of(mapped, shared);
}

/* Maps `root`, which has no other reference, while `seen` has a weak reference. `seen` must not change. */
static TVMFFIAny increase_with_weak(TVMFFIAny root, TVMFFIObject *seen, int order) {
  fh_object_weak_retain(seen);
  TVMFFIAny mapped = increase(root, order);
  fh_object_weak_release(seen);
  return mapped;
}

TEST(a_changed_value_with_a_weak_reference_is_copied) {
  for (int order = 0; order < 2; ++order) {
    TVMFFIAny root = make_array(i64(1)), outer = make_array(make_list(i64(1)));
    TVMFFIObject *array = root.v_obj, *outer_array = outer.v_obj;
    TVMFFIObject *inner_list = fh_seq_items(as_seq(outer))[0].v_obj;
    fh_object_weak_retain(array); /* the memory stays allocated, so that no other object gets its address */
    fh_object_weak_retain(inner_list);
    TVMFFIAny mapped = increase_with_weak(root, array, order);
    expect(mapped.v_obj != array);
    expect_repr(mapped, "(2,)");
    drop(mapped);
    mapped = increase_with_weak(outer, inner_list, order);
    expect(mapped.v_obj == outer_array); /* has no other reference */
    expect(fh_seq_items(as_seq(mapped))[0].v_obj != inner_list);
    expect_repr(mapped, "([2],)");
    drop(mapped);
    fh_object_weak_release(array);
    fh_object_weak_release(inner_list);
  }
}

TEST(a_callback_before_the_contents_puts_something_in_their_place) {
  TVMFFIAny replacement = make_array(i64(7)), nothing = none();
  TVMFFIAny mapped = map_with(make_array(str("s"), fh_any_bool(1)),
                              make_array(callback_entry(kTVMFFIStr, function_of(give_replacement, &replacement)),
                                         callback_entry(kTVMFFIInt, function_of(add_one, NULL)),
                                         callback_entry(kTVMFFIBool, function_of(give_replacement, &nothing))),
                              no_entries(), 0);
  expect_repr(mapped, "((8,), None)"); /* the replacement's contents are mapped, too */
  expect_repr(replacement, "(7,)");
  drop(mapped);
  mapped = map_with(make_array(str("s")),
                    make_array(callback_entry(kTVMFFIStr, function_of(give_replacement, &replacement)),
                               callback_entry(kTVMFFIInt, function_of(add_one, NULL))),
                    no_entries(), 1);
  expect_repr(mapped, "((7,),)"); /* called after the contents, so its result is not mapped again */
  drop_all_of(mapped, replacement);
}

TEST(a_variable_s_uses_follow_its_definition) {
  TVMFFIAny x = record_of(VAR, i64(1), str("x")), y = record_of(VAR, i64(5), str("y"));
  TVMFFIAny root = record_of(LAMBDA, again(x), make_array(again(x), again(y)));
  TVMFFIAny mapped = increase(again(root), 1);
  expect_repr(mapped, "test.mutate.Lambda(a=test.mutate.Var(a=2, b=\"x\"), "
                      "b=(test.mutate.Var(a=2, b=\"x\"), test.mutate.Var(a=5, b=\"y\")))");
  const record_object *lambda = as_record(mapped);
  expect(lambda->a.v_obj == fh_seq_items(as_seq(lambda->b))[0].v_obj);
  expect(lambda->a.v_obj != x.v_obj);
  drop_all_of(x, y, root, mapped);
}

TEST(a_shared_graph_node_is_mapped_once) {
  TVMFFIAny node = record_of(DAG, i64(1), none()), root = make_array(again(node), make_list(again(node)));
  TVMFFIAny mapped = increase(again(root), 0);
  const TVMFFIAny *items = fh_seq_items(as_seq(mapped));
  expect(items[0].v_obj == fh_seq_items(as_seq(items[1]))[0].v_obj);
  expect_repr(items[0], "test.mutate.Dag(a=2, b=None)");
  drop_all_of(node, root, mapped);
}

TEST(callbacks_of_a_map_get_the_region) {
  TVMFFIAny mapped = map_with(record_of(LAMBDA, i64(1), i64(1)), no_entries(),
                              make_array(callback_entry(kTVMFFIInt, function_of(add_one, NULL))), 0);
  expect_repr(mapped, "test.mutate.Lambda(a=102, b=2)");
  drop(mapped);
}

TEST(a_mutation_leaves_recursion_to_its_callbacks) {
  int64_t mode = -1;
  TVMFFIAny root = make_array(make_list(i64(1)), i64(2), make_map(i64(0), i64(3)));
  TVMFFIAny callbacks = make_array(make_array(i64(kTVMFFIArray), function_of(descend, NULL), fh_any_bool(0)),
                                   make_array(i64(kTVMFFIInt), function_of(add_one, NULL), fh_any_bool(0)),
                                   make_array(i64(kTVMFFIList), function_of(tell_mode, &mode), fh_any_bool(1)));
  TVMFFIAny mutated = call_ok("ffi.StructuralMutate", ARGS(root, callbacks));
  expect_repr(mutated, "([1], 3, {0: 4})");
  expect_int(mode, 0);
  drop(mutated);
  TVMFFIAny list = make_list(i64(1)), moved = none();
  moved.type_index = kTVMFFIObjectRValueRef;
  moved.v_ptr = &list.v_obj;
  drop(call_ok("ffi.StructuralMutate", ARGS(moved, callbacks)));
  expect_int(mode, 1);
  drop_all_of(root, callbacks);
}

TEST(deep_values_are_mapped) {
  TVMFFIAny deep = nest(kTVMFFIArray, 200000, i64(1)), mapped = increase(again(deep), 1), same = increase(deep, 0);
  int is_equal = 0;
  TVMFFIAny result = call_ok("ffi.StructuralEqual", ARGS(mapped, same, fh_any_bool(0), fh_any_bool(0)));
  is_equal = (int)result.v_int64;
  expect_int(is_equal, 1);
  drop_all_of(mapped, same);
}

/* ---- Errors ---- */

static int read_only_type(void) {
  int32_t type_index = fh_type_find_key(text_of("test.mutate.ReadOnly"));
  TVMFFIFieldInfo field;
  if (type_index >= 0) return type_index;
  type_index = test_add_child("test.mutate.ReadOnly", kTVMFFIObject, 0);
  memset(&field, 0, sizeof(field));
  field.name = text_of("a");
  field.size = sizeof(TVMFFIAny);
  field.offset = (int64_t)offsetof(record_object, a);
  field.field_static_type_index = kTVMFFIAny;
  expect_int(fh_field_getter(kTVMFFIAny, &field.getter), 0);
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  expect_int(fh_record_register(type_index, sizeof(record_object)), 0);
  test_keeps(RECORD_TYPE_BLOCKS);
  return type_index;
}

TEST(mutating_an_immutable_value_is_an_error) {
  int32_t read_only = read_only_type();
  TVMFFIAny callbacks = make_array(callback_entry(kTVMFFIInt, function_of(add_one, NULL))), others = no_entries();
  TVMFFIAny function = make_array(again(obj(test_echo()))), fixed = record_of(read_only, i64(1), none());
  expect_call_raises("TypeError", "__ffi_shallow_copy__ must be an ffi.Function", "ffi.StructuralMap",
                     ARGS(function, callbacks, others, i64(0)));
  expect_call_raises("TypeError",
                     "Cannot structurally mutate field `a` of type `test.mutate.ReadOnly` because it does not define",
                     "ffi.StructuralMap", ARGS(fixed, callbacks, others, i64(0)));
  drop_all_of(callbacks, others, function, fixed);
}

TEST(a_failed_mutation_changes_nothing) {
  TVMFFIAny root = make_list(i64(1), make_list(i64(2), f64(3)));
  TVMFFIAny callbacks = make_array(make_array(i64(kTVMFFIInt), function_of(add_one, NULL), fh_any_bool(0)),
                                   make_array(i64(kTVMFFIFloat), function_of(failing_callback, NULL), fh_any_bool(0)));
  TVMFFIAny moved = none(), second = again(root);
  moved.type_index = kTVMFFIObjectRValueRef;
  moved.v_ptr = &second.v_obj;
  expect_call_raises("KeyError", "from the callback", "ffi.StructuralMutate", ARGS(moved, callbacks));
  expect_repr(root, "[1, [2, 3]]");
  drop_all_of(root, callbacks);
}

/* ---- Hooks and mutators of other makers ---- */

/* Doubles `a` in place; calls the mutator to mutate `b`. */
static TVMFFIAny native_hook(fh_mutator_object *mutator, TVMFFIAny value) {
  TVMFFIAny changed = mutator->table->mutate(mutator, as_record(value)->b);
  if (changed.type_index == kTVMFFIError) return changed;
  if (changed.type_index == kTVMFFIUnchanged) changed = again(as_record(value)->b);
  return record_of(value.type_index, i64(2 * as_record(value)->a.v_int64), changed);
}

static int32_t native_type(void) {
  int is_new = fh_type_find_key(text_of("test.mutate.Native")) < 0;
  int32_t type_index = record_type("test.mutate.Native", kTVMFFISEqHashKindTreeNode, 0, 0);
  TVMFFIByteArray name = text_of("__s_mutate__");
  TVMFFIAny hook = fh_any_ptr((void *)(uintptr_t)&native_hook);
  if (is_new) expect_int(TVMFFITypeRegisterAttr(type_index, &name, &hook), 0);
  return type_index;
}

TEST(a_hook_makes_the_changed_copy) {
  expect_increased(make_array(record_of(native_type(), i64(4), make_list(i64(1)))),
                   "(test.mutate.Native(a=8, b=[2]),)");
}

typedef struct {
  fh_mutator_object base;
  int64_t n_inplace, n_ints;
} increasing;

static TVMFFIAny increase_value(fh_mutator_object *mutator, TVMFFIAny value) {
  TVMFFIAny out;
  if (value.type_index == kTVMFFIInt) {
    ((increasing *)mutator)->n_ints += 1;
    return i64(value.v_int64 + 1);
  }
  if (value.type_index == kTVMFFIFloat) {
    fh_error_raise("KeyError", "from the mutator");
    return fh_mutator_make_result(-1, none());
  }
  return fh_mutator_make_result(fh_mutator_default(mutator, &value, &out), out);
}
static TVMFFIAny increase_in_place(fh_mutator_object *mutator, TVMFFIAny value) {
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_S_INPLACE), value.type_index);
  TVMFFIAny out = none();
  ((increasing *)mutator)->n_inplace += 1;
  if (hook == NULL) return increase_value(mutator, value);
  return fh_mutator_make_result(fh_mutator_call_hook(hook, mutator, &value, &out), out);
}
static TVMFFIAny remap_nothing(fh_mutator_object *mutator, TVMFFIAny var) {
  FH_UNUSED(mutator);
  FH_UNUSED(var);
  return none();
}
static TVMFFIAny remap_never(fh_mutator_object *mutator, TVMFFIAny var, TVMFFIAny mapped) {
  FH_UNUSED(mapped);
  return remap_nothing(mutator, var);
}
static const fh_mutator_table increasing_table = {increase_value, increase_in_place, remap_nothing, remap_never};

static TVMFFIAny new_increasing(void) {
  increasing *m = (increasing *)fh_object_new(sizeof(*m), fh_mutator_type(), fh_object_delete_plain);
  m->base.table = &increasing_table;
  return obj(m);
}

TEST(containers_and_fields_are_mutated_for_mutators_of_others) {
  TVMFFIAny mutator = new_increasing();
  TVMFFIAny root =
      make_array(i64(1), make_list(i64(2)), make_map(i64(0), i64(3), i64(1), str("s")), make_dict(i64(0), i64(4)),
                 record_of(PAIR, i64(5), str("a longer text")), record_of(VAR, i64(6), none()), str("x"));
  TVMFFIAny mutated = call_ok("ffi.StructuralMutatorMutate", ARGS(mutator, root));
  const char *wanted = "(2, [3], {0: 4, 1: \"s\"}, {0: 5}, test.mutate.Pair(a=6, b=\"a longer text\"), "
                       "test.mutate.Var(a=6, b=None), \"x\")";
  expect_repr(mutated, wanted);
  expect_int(((increasing *)(void *)mutator.v_obj)->n_inplace, 0);
  TVMFFIObject *before = root.v_obj;
  TVMFFIAny said = increase_in_place((fh_mutator_object *)(void *)mutator.v_obj, root);
  expect_int(said.type_index, kTVMFFIUnchanged);
  expect(root.v_obj == before);
  expect_repr(root, wanted);
  expect(((increasing *)(void *)mutator.v_obj)->n_inplace > 3);
  TVMFFIAny weakly_shared = make_array(make_list(i64(1)));
  TVMFFIObject *inner = fh_seq_items(as_seq(weakly_shared))[0].v_obj;
  fh_object_weak_retain(inner);
  drop(increase_in_place((fh_mutator_object *)(void *)mutator.v_obj, weakly_shared));
  expect(fh_seq_items(as_seq(weakly_shared))[0].v_obj != inner);
  fh_object_weak_release(inner);
  expect_repr(weakly_shared, "([2],)");
  drop(weakly_shared);
  TVMFFIAny bad = make_array(i64(1), make_map(i64(1), record_of(PAIR, make_list(f64(1)), none())));
  expect_call_raises("KeyError", "from the mutator", "ffi.StructuralMutatorMutate", ARGS(mutator, bad));
  expect_call_raises("KeyError", "from the mutator", "ffi.StructuralMutatorDefaultMutate", ARGS(mutator, bad));
  drop_all_of(mutator, root, mutated, bad);
}

TEST(a_field_that_is_declared_again_is_mutated_once_for_mutators_of_others) {
  int32_t child = test_add_child("test.mutate.Repeating", plain_node_type(), 0);
  node_add_field(child, "left", (int64_t)offsetof(node, left), kTVMFFIAny, 0);
  node_add_hook(child, "__ffi_shallow_copy__", node_copy);
  TVMFFIAny mutator = new_increasing(), root = make_node(child, i64(1), i64(2), 4);
  TVMFFIAny mutated = call_ok("ffi.StructuralMutatorMutate", ARGS(mutator, root));
  expect_repr(mutated, "test.mutate.Repeating(left=2, right=3, tag=5)");
  expect_int(((increasing *)(void *)mutator.v_obj)->n_ints, 3);
  drop_all_of(mutator, root, mutated);
}

/* A mutator that a callback keeps longer than its call. */
static TVMFFIAny kept_mutator;
static int keep_mutator(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(n_args);
  kept_mutator = again(args[1]);
  *result = again(args[0]);
  return 0;
}

TEST(a_mutator_works_when_its_mutation_is_over) {
  TVMFFIAny callbacks = make_array(make_array(i64(kTVMFFIStr), function_of(keep_mutator, NULL), fh_any_bool(0)),
                                   make_array(i64(kTVMFFIInt), function_of(add_one, NULL), fh_any_bool(0)));
  TVMFFIAny var = make_list(i64(1)), root = make_array(i64(1));
  drop(call_ok("ffi.StructuralMutate", ARGS(raw("x"), callbacks)));
  TVMFFIAny mutated = call_ok("ffi.StructuralMutatorMutate", ARGS(kept_mutator, root));
  expect_repr(mutated, "(2,)");
  const char *get = "ffi.StructuralMutatorVarRemapGet", *set = "ffi.StructuralMutatorVarRemapSet";
  expect_int(call_ok(get, ARGS(kept_mutator, var)).type_index, kTVMFFINone);
  drop(call_ok(set, ARGS(kept_mutator, var, raw("a text that is long"))));
  drop(call_ok(set, ARGS(kept_mutator, var, raw("another long text"))));
  expect_str(call_ok(get, ARGS(kept_mutator, var)), "another long text");
  expect_call_raises("TypeError", "Variable-remap key must be an object-backed value", get, ARGS(kept_mutator, i64(1)));
  expect_int(call_int("ffi.StructuralMutatorDefRegionKind", ARGS(kept_mutator)), 0);
  drop_all_of(callbacks, var, root, mutated, kept_mutator);
}

/* ---- Without memory ---- */

static int mutate_all(void *state) {
  const TVMFFIAny *values = (const TVMFFIAny *)state; /* root, callbacks, none, a mutator of another maker */
  TVMFFIAny result;
  for (int order = 0; order < 2; ++order) {
    if (call_n("ffi.StructuralMap", ARGS(values[0], values[1], values[2], i64(order)), &result) != 0) return -1;
    drop(result);
  }
  if (call_n("ffi.StructuralMutatorMutate", ARGS(values[3], values[0]), &result) != 0) return -1;
  drop(result);
  return 0;
}

TEST(mutating_without_memory_is_an_error) {
  TVMFFIAny x = record_of(VAR, i64(1), none()), node = record_of(DAG, i64(1), none());
  TVMFFIAny values[] = {
      make_array(record_of(LAMBDA, again(x), make_list(again(x), again(node))), make_dict(i64(1), again(node)),
                 make_map(i64(1), i64(2), i64(3), i64(4), i64(5), i64(6), i64(7), i64(8), i64(9), i64(10))),
      make_array(callback_entry(kTVMFFIInt, function_of(add_one, NULL))), no_entries(), new_increasing()};
  test_sweep(mutate_all, values);
  drop_all_of(x, node);
  drop_values(values, FH_COUNT_OF(values));
}
