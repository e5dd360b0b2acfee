/* test_structural_visit.c - walks and visits with callbacks, visitors, contexts of errors. */
#include "core/structural/operations.h"

#include "core/object/error.h"
#include "core/object/object_new.h"
#include "core/object/text.h"
#include "core/structural/visit_context.h"
#include "support/callbacks.h"
#include "support/records.h"

#define PAIR record_type("test.visit.Pair", kTVMFFISEqHashKindTreeNode, 0, 0)
#define VAR record_type("test.visit.Var", kTVMFFISEqHashKindFreeVar, 0, kTVMFFIFieldFlagBitMaskSEqHashIgnore)
#define LAMBDA record_type("test.visit.Lambda", kTVMFFISEqHashKindTreeNode, kTVMFFIFieldFlagBitMaskSEqHashDefPattern, 0)
#define LET record_type("test.visit.Let", kTVMFFISEqHashKindTreeNode, kTVMFFIFieldFlagBitMaskSEqHashDefSimple, 0)

/* The record of the callbacks. */
static fh_text trace;

static void note(const TVMFFIAny *value) {
  TVMFFIAny shown = call_ok("ffi.ReprPrint", value, 1);
  TVMFFIByteArray content;
  expect(fh_str_content(&shown, &content));
  if (trace.n_bytes != 0) fh_text_add_cstr(&trace, "|");
  fh_text_add(&trace, content.data, content.size);
  drop(shown);
}

static void expect_trace_at(int line, const char *wanted) {
  if (trace.n_bytes != strlen(wanted) || (trace.n_bytes != 0 && memcmp(trace.data, wanted, trace.n_bytes) != 0)) {
    test_fail(__FILE__, line, "the trace is \"%.*s\", not \"%s\"", (int)trace.n_bytes, trace.data, wanted);
  }
  fh_text_free(&trace);
  memset(&trace, 0, sizeof(trace));
}
#define expect_trace(wanted) expect_trace_at(__LINE__, wanted)

/* ---- Callbacks ---- */

static int see(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  note(&args[0]);
  if (n_args == 2) note(&args[1]);
  *result = *(const TVMFFIAny *)self;
  return 0;
}
static int stop(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(n_args);
  *result = obj(fh_visit_interrupt_new(&args[0]));
  return 0;
}
static int descend(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  expect_int(n_args, 2);
  note(&args[0]);
  TVMFFIAny pass[] = {args[1], args[0]};
  return call_n("ffi.StructuralVisitorDefaultVisit", pass, 2, result);
}

/* Walks a root; steals the two lists but not the root. */
static TVMFFIAny walk_with(TVMFFIAny root, TVMFFIAny plain, TVMFFIAny with_region, int order) {
  TVMFFIAny result = call_ok("ffi.StructuralWalk", ARGS(root, plain, with_region, i64(order)));
  drop(plain);
  drop(with_region);
  return result;
}
static void see_all(TVMFFIAny root, int order) {
  TVMFFIAny result =
      walk_with(root, make_array(callback_entry(kTVMFFIAny, function_of(see, NULL))), no_entries(), order);
  expect_int(result.type_index, kTVMFFINone);
}

TEST(a_walk_meets_every_value_but_none_and_keys) {
  TVMFFIAny root = make_array(i64(1), make_map(str("k"), make_list(i64(2), none())), record_of(PAIR, i64(3), str("x")));
  see_all(root, 0);
  expect_trace("(1, {\"k\": [2, None]}, test.visit.Pair(a=3, b=\"x\"))|1|{\"k\": [2, None]}|[2, None]|2|"
               "test.visit.Pair(a=3, b=\"x\")|3|\"x\"");
  see_all(root, 1);
  expect_trace("1|2|[2, None]|{\"k\": [2, None]}|3|\"x\"|test.visit.Pair(a=3, b=\"x\")|"
               "(1, {\"k\": [2, None]}, test.visit.Pair(a=3, b=\"x\"))");
  drop(root);
}

TEST(the_first_callback_for_a_type_is_called) {
  TVMFFIAny root = make_array(str("s"), str("a longer string"), i64(1), make_list(fh_any_bool(1)));
  drop(walk_with(root,
                 make_array(callback_entry(kTVMFFIStr, function_of(see, NULL)),
                            callback_entry(kTVMFFIObject, function_of(see, NULL))),
                 make_array(callback_entry(kTVMFFIAny, function_of(see, NULL))), 0));
  expect_trace("(\"s\", \"a longer string\", 1, [True])|\"s\"|\"a longer string\"|1|0|[True]|True|0");
  drop(root);
}

TEST(a_callback_may_skip_the_parts_of_a_value) {
  static TVMFFIAny skip = {.type_index = kTVMFFIInt, .v_int64 = 1};
  TVMFFIAny root = make_array(make_list(i64(1)), i64(2));
  drop(walk_with(root,
                 make_array(callback_entry(kTVMFFIList, function_of(see, &skip)),
                            callback_entry(kTVMFFIInt, function_of(see, NULL))),
                 no_entries(), 0));
  expect_trace("[1]|2");
  drop(root);
}

TEST(a_callback_may_stop_the_walk) {
  TVMFFIAny root = make_array(make_list(i64(1), f64(2)), i64(3));
  for (int order = 0; order < 2; ++order) {
    TVMFFIAny result = walk_with(root,
                                 make_array(callback_entry(kTVMFFIFloat, function_of(stop, NULL)),
                                            callback_entry(kTVMFFIInt, function_of(see, NULL))),
                                 no_entries(), order);
    expect_repr(result, "ffi.VisitInterrupt(value=2)");
    expect_trace("1");
    drop(result);
  }
  drop(root);
}

TEST(callbacks_get_the_definition_region) {
  TVMFFIAny x = record_of(VAR, i64(5), none());
  TVMFFIAny root = make_array(record_of(LAMBDA, again(x), i64(1)), record_of(LET, again(x), i64(2)), again(x));
  drop(walk_with(
      root, no_entries(),
      make_array(callback_entry(kTVMFFIInt, function_of(see, NULL)), callback_entry(VAR, function_of(see, NULL))), 1));
  expect_trace("5|1|test.visit.Var(a=5, b=None)|1|1|0|5|0|test.visit.Var(a=5, b=None)|2|2|0|"
               "5|0|test.visit.Var(a=5, b=None)|0");
  drop_all_of(root, x);
}

TEST(a_wrong_result_of_a_callback_is_an_error) {
  static TVMFFIAny wrong = {.type_index = kTVMFFIFloat, .v_float64 = 1};
  TVMFFIAny root = make_array(i64(1)), callbacks = make_array(callback_entry(kTVMFFIInt, function_of(see, &wrong)));
  TVMFFIAny none_at_all = no_entries(), bad = make_array(make_array(i64(1))), not_a_list = i64(3);
  expect_call_raises("TypeError", "but got `float`", "ffi.StructuralWalk", ARGS(root, callbacks, none_at_all, i64(0)));
  expect_call_raises("TypeError", "but got `float`", "ffi.StructuralVisit", ARGS(root, callbacks));
  expect_trace("1|1|ffi.StructuralVisitor");
  expect_call_raises("TypeError", "Expected `Array<Tuple<int, ffi.Function>>` but item 0 is none", "ffi.StructuralWalk",
                     ARGS(root, callbacks, bad, i64(0)));
  expect_call_raises("TypeError", "Expected `Array<Tuple<int, ffi.Function>>` but got `int`", "ffi.StructuralVisit",
                     ARGS(root, not_a_list));
  TVMFFIAny beyond = make_array(make_array(i64((INT64_C(1) << 32) + kTVMFFIStr), function_of(see, &wrong)));
  expect_call_raises("ValueError", "Expected a type index but got 4294967361", "ffi.StructuralWalk",
                     ARGS(root, none_at_all, beyond, i64(0)));
  drop_all_of(root, callbacks, none_at_all, bad, beyond);
}

TEST(a_visit_leaves_the_descent_to_its_callbacks) {
  TVMFFIAny root = make_array(i64(1), make_list(i64(2)), make_map(i64(0), make_array(i64(3))));
  TVMFFIAny callbacks = make_array(callback_entry(kTVMFFIArray, function_of(descend, NULL)),
                                   callback_entry(kTVMFFIList, function_of(see, NULL)),
                                   callback_entry(kTVMFFIInt, function_of(see, NULL)));
  drop(call_ok("ffi.StructuralVisit", ARGS(root, callbacks)));
  expect_trace("(1, [2], {0: (3,)})|1|ffi.StructuralVisitor|[2]|ffi.StructuralVisitor|(3,)|3|ffi.StructuralVisitor");
  drop_all_of(root, callbacks);
}

TEST(deep_values_are_walked) {
  TVMFFIAny deep = nest(kTVMFFIArray, 200000, i64(1));
  TVMFFIAny result = walk_with(deep, make_array(callback_entry(kTVMFFIInt, function_of(stop, NULL))), no_entries(), 1);
  expect_repr(result, "ffi.VisitInterrupt(value=1)");
  drop_all_of(result, deep);
}

/* ---- Hooks: __s_visit__ ---- */

/* Visits only `b`, as a pattern. */
static TVMFFIAny native_hook(fh_visitor_object *visitor, TVMFFIAny value) {
  int32_t before = visitor->region;
  visitor->region = kTVMFFIDefRegionKindPattern;
  TVMFFIAny result = visitor->table->visit(visitor, as_record(value)->b);
  visitor->region = before;
  return result;
}
static int function_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  expect_int(n_args, 2);
  TVMFFIAny pass[] = {args[0], as_record(args[1])->a};
  return call_n("ffi.StructuralVisitorVisit", pass, 2, result);
}

static int32_t native_type(void) {
  int is_new = fh_type_find_key(text_of("test.visit.Native")) < 0;
  int32_t type_index = record_type("test.visit.Native", kTVMFFISEqHashKindTreeNode, 0, 0);
  TVMFFIByteArray name = text_of("__s_visit__");
  TVMFFIAny hook = fh_any_ptr((void *)(uintptr_t)&native_hook);
  if (is_new) expect_int(TVMFFITypeRegisterAttr(type_index, &name, &hook), 0);
  return type_index;
}
static int32_t hooked_type(const char *key, TVMFFISafeCallType hook) {
  int is_new = fh_type_find_key(text_of(key)) < 0;
  int32_t type_index = record_type(key, kTVMFFISEqHashKindTreeNode, 0, 0);
  if (is_new) node_add_hook(type_index, "__s_visit__", hook);
  return type_index;
}

TEST(hooks_choose_the_parts_to_visit) {
  int32_t type = hooked_type("test.visit.Hooked", function_hook);
  TVMFFIAny root = make_array(record_of(native_type(), i64(1), make_list(i64(2))), record_of(type, i64(3), i64(4)));
  drop(walk_with(root, no_entries(), make_array(callback_entry(kTVMFFIInt, function_of(see, NULL))), 1));
  expect_trace("2|1|3|0");
  TVMFFIAny stopping = make_array(callback_entry(kTVMFFIInt, function_of(stop, NULL)));
  TVMFFIAny result = call_ok("ffi.StructuralVisit", ARGS(root, stopping));
  expect_repr(result, "ffi.VisitInterrupt(value=2)");
  drop_all_of(root, result, stopping);
}

/* ---- A visitor of another maker ---- */

typedef struct {
  fh_visitor_object base;
  int64_t sum, limit;
} summing;

static TVMFFIAny sum_visit(fh_visitor_object *visitor, TVMFFIAny value) {
  summing *s = (summing *)visitor;
  if (value.type_index == kTVMFFIInt) s->sum += value.v_int64;
  if (s->sum > s->limit) return obj(fh_visit_interrupt_new(&value));
  return fh_visitor_default(visitor, value);
}
static const fh_visitor_table sum_table = {sum_visit};

static TVMFFIAny new_summing(int64_t limit) {
  summing *s = (summing *)fh_object_new(sizeof(*s), fh_visitor_type(), fh_object_delete_plain);
  s->base.table = &sum_table;
  s->limit = limit;
  return obj(s);
}

TEST(containers_and_fields_are_visited_for_visitors_of_others) {
  TVMFFIAny visitor = new_summing(1000), strict = new_summing(3);
  TVMFFIAny root = make_array(i64(1), make_list(i64(2)), make_map(i64(50), i64(4)), make_dict(i64(60), i64(8)),
                              record_of(PAIR, i64(16), i64(32)), record_of(native_type(), i64(100), i64(64)));
  drop(call_ok("ffi.StructuralVisitorVisit", ARGS(visitor, root)));
  expect_int(((summing *)(void *)visitor.v_obj)->sum, 127);
  TVMFFIAny result = call_ok("ffi.StructuralVisitorDefaultVisit", ARGS(strict, root));
  expect_repr(result, "ffi.VisitInterrupt(value=4)");
  drop_all_of(visitor, strict, root, result);
}

TEST(a_field_that_is_declared_again_is_visited_once_for_visitors_of_others) {
  int32_t child = test_add_child("test.visit.Repeating", plain_node_type(), 0);
  node_add_field(child, "left", (int64_t)offsetof(node, left), kTVMFFIAny, 0);
  TVMFFIAny visitor = new_summing(1000), root = make_node(child, i64(1), i64(2), 4);
  drop(call_ok("ffi.StructuralVisitorVisit", ARGS(visitor, root)));
  expect_int(((summing *)(void *)visitor.v_obj)->sum, 7);
  drop_all_of(visitor, root);
}

static int tell_region(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  TVMFFIAny visitor = obj(self);
  return call_n("ffi.StructuralVisitorDefRegionKind", &visitor, 1, result);
}
static int enter_simple(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  TVMFFIAny inner = function_of(tell_region, self);
  TVMFFIAny pass[] = {obj(self), i64(kTVMFFIDefRegionKindSimple), inner};
  int rc = call_n("ffi.StructuralVisitorWithDefRegionKind", pass, 3, result);
  drop(inner);
  return rc;
}

TEST(regions_are_entered_for_a_call) {
  TVMFFIAny visitor = new_summing(1), tell = function_of(tell_region, visitor.v_obj);
  TVMFFIAny nested_enter = function_of(enter_simple, visitor.v_obj);
  const char *name = "ffi.StructuralVisitorWithDefRegionKind";
  expect_int(call_int(name, ARGS(visitor, i64(2), tell)), 2);
  expect_int(call_int(name, ARGS(visitor, i64(0), nested_enter)), 2);
  expect_int(call_int(name, ARGS(visitor, i64(1), nested_enter)), 1); /* a pattern includes everything inside */
  expect_int(call_int("ffi.StructuralVisitorDefRegionKind", ARGS(visitor)), 0);
  expect_call_raises("ValueError", "but got 3", name, ARGS(visitor, i64(3), tell));
  expect_call_raises("TypeError", "Expected `ffi.StructuralVisitor` but got `int`", name, ARGS(i64(1), i64(1), tell));
  drop_all_of(visitor, tell, nested_enter);
}

/* ---- The place of an error ---- */

/* Takes the pending error and returns its context, owned. */
static TVMFFIAny take_context(void) {
  TVMFFIObject *error = fh_error_take();
  expect(error != NULL);
  TVMFFIAny context = again(obj(TVMFFIErrorGetCellPtr(error)->extra_context));
  fh_object_release(error);
  return context;
}

TEST(an_error_has_the_objects_it_came_through) {
  TVMFFIAny inner = record_of(PAIR, f64(1), none()), root = record_of(PAIR, i64(0), make_list(again(inner))), result;
  TVMFFIAny callbacks = make_array(callback_entry(kTVMFFIFloat, function_of(failing_callback, NULL))),
            others = no_entries();
  for (int order = 0; order < 3; ++order) {
    int rc = order < 2 ? call_n("ffi.StructuralWalk", ARGS(root, callbacks, others, i64(order)), &result)
                       : call_n("ffi.StructuralVisit", ARGS(root, callbacks), &result);
    expect_int(rc, -1);
    TVMFFIAny context = take_context();
    const fh_visit_context_object *fields = (const fh_visit_context_object *)(void *)context.v_obj;
    const fh_seq_object *pattern = (const fh_seq_object *)(const void *)fields->pattern;
    expect_int(fh_seq_size(pattern), 3);
    expect(fh_seq_items(pattern)[0].v_obj == inner.v_obj && fh_seq_items(pattern)[2].v_obj == root.v_obj);
    TVMFFIAny paths = call_ok("ffi.VisitErrorContext.FindAccessPaths", ARGS(root, context, fh_any_bool(0)));
    expect_repr(paths, "(<root>.b[0],)");
    drop_all_of(context, paths);
  }
  drop_all_of(inner, root, callbacks, others);
}

static TVMFFIAny context_of(TVMFFIAny objects) {
  TVMFFIAny context =
      call_ok("ffi.MakeObjectFromPackedArgs", ARGS(raw("ffi.VisitErrorContext"), raw("reverse_visit_pattern"), objects,
                                                   raw("prev_error_context"), none()));
  drop(objects);
  return context;
}

TEST(paths_are_found_where_the_objects_lie_inside_each_other) {
  TVMFFIAny leaf = record_of(PAIR, i64(1), none()), mid = record_of(PAIR, again(leaf), make_map(str("k"), again(leaf)));
  TVMFFIAny root = record_of(PAIR, again(mid), make_array(again(leaf))), stranger = record_of(PAIR, none(), none());
  TVMFFIAny full = context_of(make_list(again(leaf), again(leaf), again(mid), again(root)));
  TVMFFIAny any_leaf = context_of(make_list(again(leaf))), broken = context_of(make_list(again(stranger), again(mid)));
  const char *name = "ffi.VisitErrorContext.FindAccessPaths";
  TVMFFIAny found[] = {
      call_ok(name, ARGS(root, full, fh_any_bool(0))),     call_ok(name, ARGS(root, any_leaf, fh_any_bool(0))),
      call_ok(name, ARGS(root, broken, fh_any_bool(0))),   call_ok(name, ARGS(root, broken, fh_any_bool(1))),
      call_ok(name, ARGS(leaf, any_leaf, fh_any_bool(0))),
  };
  expect_repr(found[0], "(<root>.a.a, <root>.a.b[\"k\"])");
  expect_repr(found[1], "(<root>.a.a, <root>.a.b[\"k\"], <root>.b[0])");
  expect_repr(found[2], "()");
  expect_repr(found[3], "(<root>.a.a, <root>.a.b[\"k\"])");
  expect_repr(found[4], "(<root>,)");
  drop_values(found, FH_COUNT_OF(found));
  drop_all_of(leaf, mid, root, stranger, full, any_leaf, broken);
}

TEST(a_context_keeps_the_earlier_context_of_the_error) {
  TVMFFIAny carried = make_list(i64(1)), value = make_list(i64(2));
  TVMFFIByteArray kind = text_of("ValueError"), message = text_of("m"), nothing = text_of("");
  fh_error_put(fh_error_new(kind, message, nothing, NULL, carried.v_obj));
  fh_visit_context_note(&value);
  fh_visit_context_note(&(TVMFFIAny){.type_index = kTVMFFIInt});
  TVMFFIAny context = take_context();
  expect_repr(context, "ffi.VisitErrorContext(reverse_visit_pattern=[[2]], prev_error_context=[1])");
  fh_error_raise_no_memory(); /* all threads share this error */
  fh_visit_context_note(&value);
  expect(TVMFFIErrorGetCellPtr(fh_error_take())->extra_context == NULL);
  drop_all_of(carried, value, context);
}

static int quiet(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  FH_UNUSED(result);
  return 0;
}

static int visit_all(void *state) {
  const TVMFFIAny *values = (const TVMFFIAny *)state; /* root, callbacks, none, context */
  TVMFFIAny result;
  if (call_n("ffi.StructuralWalk", ARGS(values[0], values[1], values[2], i64(0)), &result) != 0) return -1;
  if (call_n("ffi.StructuralVisit", ARGS(values[0], values[2]), &result) != 0) return -1;
  if (call_n("ffi.VisitErrorContext.FindAccessPaths", ARGS(values[0], values[3], fh_any_bool(1)), &result) != 0)
    return -1;
  drop(result);
  return 0;
}

TEST(visiting_without_memory_is_an_error) {
  int32_t type = hooked_type("test.visit.Hooked", function_hook);
  TVMFFIAny inner = record_of(PAIR, i64(1), i64(2));
  TVMFFIAny values[] = {
      record_of(PAIR, make_dict(i64(1), make_list(again(inner))), make_array(record_of(type, i64(1), none()))),
      make_array(callback_entry(kTVMFFIAny, function_of(quiet, NULL))), no_entries(),
      context_of(make_list(again(inner)))};
  test_sweep(visit_all, values);
  drop(inner);
  drop_values(values, FH_COUNT_OF(values));
}
