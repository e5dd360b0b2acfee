/* test_structural_threads.c - structural functions while other threads change the values. */
#include "support/records.h"

typedef struct {
  TVMFFIAny list, dict, root, callbacks, no_callbacks;
} changing;

static int add_one(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(n_args);
  *result = i64(args[0].v_int64 + 1);
  return 0;
}

static void change(const changing *c, int n) {
  TVMFFIAny value = make_list(i64(n), str("a text of some length"));
  call_int("ffi.ListAppend", ARGS(c->list, value));
  call_int("ffi.DictSetItem", ARGS(c->dict, i64(n % 9), value));
  if (n % 7 == 6) call_int("ffi.ListClear", ARGS(c->list));
  if (n % 11 == 10) call_int("ffi.DictClear", ARGS(c->dict));
  drop(value);
}

static void look(const changing *c) {
  TVMFFIAny off = fh_any_bool(0);
  drop(call_ok("ffi.StructuralHash", ARGS(c->root, off, off)));
  drop(call_ok("ffi.GetFirstStructuralMismatch", ARGS(c->root, c->root, off, off)));
  drop(call_ok("ffi.StructuralWalk", ARGS(c->root, c->callbacks, c->no_callbacks, i64(1))));
  drop(call_ok("ffi.StructuralMap", ARGS(c->root, c->callbacks, c->no_callbacks, i64(0))));
  drop(call_ok("ffi.StructuralKey", ARGS(c->root)));
}

static void change_or_look(void *state, int i) {
  const changing *c = (const changing *)state;
  for (int n = 0; n < 100; ++n) {
    if (i == 0) {
      change(c, n);
    } else {
      look(c);
    }
  }
}

TEST(containers_may_change_while_their_structure_is_looked_at) {
  changing c;
  c.list = make_seq(kTVMFFIList, NULL, 0);
  c.dict = make_pairs(kTVMFFIDict, NULL, 0);
  c.root = make_array(again(c.list), again(c.dict));
  c.callbacks = make_array(make_array(i64(kTVMFFIInt), function_of(add_one, NULL)));
  c.no_callbacks = make_seq(kTVMFFIArray, NULL, 0);
  test_threads(3, change_or_look, &c);
  drop_all_of(c.list, c.dict, c.root, c.callbacks, c.no_callbacks);
}

/* ---- Each thread has its own visitor or mutator, with shared callbacks ---- */

static void map_shared(void *state, int i) {
  const changing *c = (const changing *)state;
  for (int n = 0; n < 50; ++n) {
    TVMFFIAny mapped = call_ok("ffi.StructuralMap", ARGS(c->root, c->callbacks, c->no_callbacks, i64(i % 2)));
    expect_repr(mapped, "((2, 3), {\"k\": 4})");
    drop(mapped);
  }
}

TEST(threads_map_one_value_at_the_same_time) {
  changing c;
  c.root = make_array(make_array(i64(1), i64(2)), make_map(str("k"), i64(3)));
  c.callbacks = make_array(make_array(i64(kTVMFFIInt), function_of(add_one, NULL)));
  c.no_callbacks = make_seq(kTVMFFIArray, NULL, 0);
  test_threads(4, map_shared, &c);
  drop_all_of(c.root, c.callbacks, c.no_callbacks);
}

/* ---- One thread maps a value that it alone owns; another thread reaches the value through a weak reference ---- */

enum { N_ITEMS = 8 };

typedef struct {
  TVMFFIAny root, callbacks, no_callbacks;
  TVMFFIObject *weak; /* to the root */
} weakly_shared;

static void map_or_promote(void *state, int i) {
  weakly_shared *w = (weakly_shared *)state;
  if (i == 0) { /* map_shared steals the root, so the root may change in place */
    TVMFFIAny moved = fh_any_none();
    moved.type_index = kTVMFFIObjectRValueRef;
    moved.v_ptr = &w->root.v_obj;
    drop(call_ok("ffi.StructuralMap", ARGS(moved, w->callbacks, w->no_callbacks, i64(0))));
  } else if (test_promote(w->weak)) {
    for (int k = 0; k < N_ITEMS; ++k) expect_int(fh_seq_items((fh_seq_object *)(void *)w->weak)[k].v_int64, 1);
    fh_object_release(w->weak);
  }
}

TEST(an_array_does_not_change_for_a_thread_that_promotes_a_weak_reference) {
  weakly_shared w;
  w.callbacks = make_array(make_array(i64(kTVMFFIInt), function_of(add_one, NULL)));
  w.no_callbacks = make_seq(kTVMFFIArray, NULL, 0);
  for (int round = 0; round < 200; ++round) {
    w.root = make_array(i64(1), i64(1), i64(1), i64(1), i64(1), i64(1), i64(1), i64(1));
    w.weak = w.root.v_obj;
    fh_object_weak_retain(w.weak);
    test_threads(3, map_or_promote, &w);
    fh_object_weak_release(w.weak);
  }
  drop_all_of(w.callbacks, w.no_callbacks);
}

/* ---- A visitor or mutator belongs to one thread ---- */

static void use_elsewhere(void *state, int i) {
  TVMFFIAny user = obj(state);
  FH_UNUSED(i);
  int is_visitor = fh_type_find_key(text_of("ffi.StructuralVisitor")) == user.type_index;
  expect_call_raises("RuntimeError", "to be used by one thread at a time",
                     is_visitor ? "ffi.StructuralVisitorVisit" : "ffi.StructuralMutatorMutate", ARGS(user, i64(1)));
}

static int pass_to_another_thread(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  expect_int(n_args, 2);
  FH_UNUSED(result);
  test_threads(1, use_elsewhere, args[1].v_obj);
  return 0;
}

TEST(a_visitor_or_mutator_is_refused_to_another_thread) {
  TVMFFIAny visiting = make_array(make_array(i64(kTVMFFIInt), function_of(pass_to_another_thread, NULL)));
  TVMFFIAny mutating =
      make_array(make_array(i64(kTVMFFIInt), function_of(pass_to_another_thread, NULL), fh_any_bool(0)));
  TVMFFIAny root = make_array(i64(1));
  drop(call_ok("ffi.StructuralVisit", ARGS(root, visiting)));
  drop(call_ok("ffi.StructuralMutate", ARGS(root, mutating)));
  drop_all_of(visiting, mutating, root);
}
