/* test_access_path.c - AccessPath, AccessStep, and properties that all built-in types with fields share. */
#include "core/fields/access_path.h"

#include "core/object/error.h"
#include "core/object/reflect.h"
#include "support/records.h"

#define PATH_KEY "ffi.reflection.AccessPath"

static TVMFFIObjectHandle method_of(const char *key, const char *name) {
  const TVMFFITypeInfo *info = fh_type_find(fh_type_find_key(text_of(key)));
  const TVMFFIMethodInfo *method = test_find_method(info, text_of(name));
  if (method == NULL) test_fail(__FILE__, __LINE__, "the method %s.%s does not exist", key, name);
  return method->method.v_obj;
}

static TVMFFIAny call_method(const char *name, const TVMFFIAny *args, int32_t n) {
  TVMFFIAny result;
  expect_int(fh_function_call(method_of(PATH_KEY, name), args, n, &result), 0);
  return result;
}
static int64_t ask(const char *name, TVMFFIAny a, TVMFFIAny b) { return call_method(name, ARGS(a, b)).v_int64; }

/* Extends a path and steals it. */
static TVMFFIAny by(const char *name, TVMFFIAny path, TVMFFIAny key) {
  TVMFFIAny longer = call_method(name, ARGS(path, key));
  drop(path);
  return longer;
}
static TVMFFIAny root(void) { return call_method("_root", NULL, 0); }

TEST(a_path_shows_its_steps) {
  TVMFFIAny path = by("_map_item", by("_array_item", by("_attr", root(), raw("body")), i64(3)), raw("key"));
  expect_repr(path, "<root>.body[3][\"key\"]");
  TVMFFIAny missing =
      by("_attr_missing", by("_array_item_missing", by("_map_item_missing", root(), i64(1)), i64(2)), raw("x"));
  expect_repr(missing, "<root>[<missing:1>][<missing:2>][<missing:\"x\">]");
  TVMFFIAny steps = call_method("_to_steps", ARGS(path));
  expect_int(call_int("ffi.ArraySize", ARGS(steps)), 3);
  TVMFFIAny again_path = call_method("_extend", ARGS(missing, fh_seq_items(as_seq(steps))[0]));
  expect_repr(again_path, "<root>[<missing:1>][<missing:2>][<missing:\"x\">].body");
  TVMFFIAny empty = root();
  expect_repr(empty, "<root>");
  drop_all_of(path, missing, steps, again_path, empty);
}

TEST(paths_are_compared_step_by_step) {
  TVMFFIAny a = by("_array_item", by("_attr", root(), raw("f")), i64(1));
  TVMFFIAny b = by("_array_item", by("_attr", root(), raw("f")), i64(1));
  TVMFFIAny c = by("_array_item", by("_attr", root(), raw("f")), i64(2));
  TVMFFIAny shorter = by("_attr", root(), raw("f")), other = by("_map_item", root(), raw("f")), empty = root();
  expect_int(ask("_path_equal", a, b), 1);
  expect_int(ask("_path_equal", a, c), 0);
  expect_int(ask("_path_equal", a, shorter), 0);
  expect_int(ask("_path_equal", shorter, other), 0);
  expect_int(ask("_is_prefix_of", shorter, a), 1);
  expect_int(ask("_is_prefix_of", a, shorter), 0);
  expect_int(ask("_is_prefix_of", other, a), 0);
  expect_int(ask("_is_prefix_of", empty, a), 1);
  expect_int(ask("_is_prefix_of", empty, empty), 1);
  drop_all_of(a, b, c, shorter, other, empty);
}

TEST(methods_of_paths_check_their_arguments) {
  TVMFFIAny path = root(), result;
  expect_int(fh_function_call(method_of(PATH_KEY, "_attr"), ARGS(path, i64(1)), &result), -1);
  expect_raised("TypeError", "Expected `str` but got `int`");
  expect_int(fh_function_call(method_of(PATH_KEY, "_array_item"), ARGS(path, raw("x")), &result), -1);
  expect_raised("TypeError", "Expected `int` but got `const char*`");
  expect_int(fh_function_call(method_of(PATH_KEY, "_extend"), ARGS(path, path), &result), -1);
  expect_raised("TypeError", "Expected `ffi.reflection.AccessStep` but got `ffi.reflection.AccessPath`");
  expect_int(fh_function_call(method_of(PATH_KEY, "_root"), ARGS(path), &result), -1);
  expect_raised("TypeError", "Expected 0 but got 1 arguments");
  expect_int(fh_function_call(method_of(PATH_KEY, "_to_steps"), ARGS(i64(1)), &result), -1);
  expect_raised("TypeError", "Expected `ffi.reflection.AccessPath` but got `int`");
  drop(path);
}

TEST(a_long_path_ends_without_recursion) {
  TVMFFIAny a = root(), b = root();
  for (int i = 0; i < 300000; ++i) {
    a = by("_array_item", a, i64(i));
    b = by("_array_item", b, i64(i));
  }
  expect_int(ask("_path_equal", a, b), 1);
  drop_all_of(a, b);
}

TEST(a_path_that_is_made_up_does_no_harm) {
  TVMFFIAny path = call_ok("ffi.MakeObjectFromPackedArgs",
                           ARGS(raw(PATH_KEY), raw("parent"), none(), raw("step"), none(), raw("depth"), i64(5)));
  TVMFFIAny other = by("_attr", root(), raw("f"));
  expect_repr(path, "<root>");
  expect_int(ask("_is_prefix_of", path, other), 0);
  expect_int(ask("_is_prefix_of", other, path), 0);
  expect_call_raises("TypeError", "Cannot convert from type `int` to `Optional<ffi.reflection.AccessPath>`",
                     "ffi.MakeObjectFromPackedArgs",
                     ARGS(raw(PATH_KEY), raw("parent"), i64(1), raw("step"), none(), raw("depth"), i64(0)));
  drop_all_of(path, other);
}

/* ---- Fields, creation and copies of every built-in type ---- */

static const struct {
  const char *key, *shown;
} types[] = {
    {"ffi.Enum", "ffi.Enum."},
    {"ffi.IntEnum", "ffi.IntEnum."},
    {"ffi.StrEnum", "ffi.StrEnum."},
    {"ffi.EnumState", "ffi.EnumState(entries=[], indexes={}, attrs={})"},
    {PATH_KEY, "<root>"},
    {"ffi.StructuralKey", "ffi.StructuralKey(key=None, hash_i64=0)"},
    {"ffi.VisitInterrupt", "ffi.VisitInterrupt(value=None)"},
    {"ffi.VisitErrorContext", "ffi.VisitErrorContext(reverse_visit_pattern=[], prev_error_context=None)"},
};

static TVMFFIObjectHandle attr_of(const char *key, const char *name) {
  const TVMFFIAny *attr = fh_reflect_attr(test_column(text_of(name)), fh_type_find_key(text_of(key)));
  if (attr == NULL) test_fail(__FILE__, __LINE__, "%s has no %s", key, name);
  return attr->v_obj;
}

TEST(built_in_types_are_made_and_copied) {
  for (size_t i = 0; i < FH_COUNT_OF(types); ++i) {
    TVMFFIAny made, copy;
    expect_int(fh_function_call(attr_of(types[i].key, "__ffi_new__"), NULL, 0, &made), 0);
    expect_repr(made, types[i].shown);
    expect_int(fh_function_call(attr_of(types[i].key, "__ffi_shallow_copy__"), &made, 1, &copy), 0);
    expect(copy.v_obj != made.v_obj);
    expect_repr(copy, types[i].shown);
    drop(copy);
    expect_int(fh_function_call(attr_of(types[i].key, "__ffi_shallow_copy__"), ARGS(i64(1)), &copy), -1);
    expect_raised("TypeError", types[i].key);
    drop(made);
  }
}

TEST(a_copy_of_a_visitor_or_mutator_is_refused) {
  TVMFFIAny nothing = i64(1), copy;
  expect_int(fh_function_call(attr_of("ffi.StructuralVisitor", "__ffi_shallow_copy__"), &nothing, 1, &copy), -1);
  expect_raised("TypeError", "`ffi.StructuralVisitor`");
  expect_int(fh_function_call(attr_of("ffi.StructuralMutator", "__ffi_shallow_copy__"), &nothing, 1, &copy), -1);
  expect_raised("TypeError", "`ffi.StructuralMutator`");
}

TEST(fields_of_built_in_types_accept_matching_values) {
  TVMFFIAny step = call_ok("ffi.MakeObjectFromPackedArgs", ARGS(raw("ffi.reflection.AccessStep"), raw("kind"), i64(1),
                                                                raw("key"), raw("a key that is long")));
  const fh_access_step_object *fields = (const fh_access_step_object *)(void *)step.v_obj;
  expect_int(fields->kind, FH_ACCESS_ARRAY_ITEM);
  expect_int(fields->key.type_index, kTVMFFIStr);
  expect_call_raises("TypeError", "Cannot convert from type `float` to `int`", "ffi.MakeObjectFromPackedArgs",
                     ARGS(raw("ffi.reflection.AccessStep"), raw("kind"), f64(1), raw("key"), i64(1)));
  expect_call_raises("ValueError", "Expected an integer of 32 bits but got 1099511627776",
                     "ffi.MakeObjectFromPackedArgs",
                     ARGS(raw("ffi.reflection.AccessStep"), raw("kind"), i64((int64_t)1 << 40), raw("key"), i64(1)));
  drop(step);
}

TEST(an_enum_state_takes_singletons_only) {
  TVMFFIAny one = call_ok("ffi.MakeObjectFromPackedArgs",
                          ARGS(raw("ffi.Enum"), raw("_int_index"), i64(7), raw("_str_index"), raw("seven")));
  expect_repr(one, "ffi.Enum.seven");
  TVMFFIAny entries = make_array(again(one)), numbers = make_list(i64(1)), empty = make_pairs(kTVMFFIDict, NULL, 0);
  TVMFFIAny indexes = make_map(i64(7), again(one)),
            columns = make_dict(raw("color"), make_dict(again(one), raw("red")));
  TVMFFIAny state = call_ok("ffi.MakeObjectFromPackedArgs", ARGS(raw("ffi.EnumState"), raw("entries"), entries,
                                                                 raw("indexes"), indexes, raw("attrs"), columns));
  expect_repr(state, "ffi.EnumState(entries=[ffi.Enum.seven], indexes={7: ffi.Enum.seven}, "
                     "attrs={\"color\": {ffi.Enum.seven: \"red\"}})");
  expect_call_raises("TypeError", "to `List<ffi.Object>`", "ffi.MakeObjectFromPackedArgs",
                     ARGS(raw("ffi.EnumState"), raw("entries"), numbers, raw("indexes"), empty, raw("attrs"), empty));
  TVMFFIAny plain = make_map(i64(1), i64(2));
  expect_call_raises("TypeError", "to `Dict<Any, ffi.Object>`", "ffi.MakeObjectFromPackedArgs",
                     ARGS(raw("ffi.EnumState"), raw("entries"), entries, raw("indexes"), plain, raw("attrs"), empty));
  expect_call_raises("TypeError", "to `Dict<str, Dict<ffi.Object, Any>>`", "ffi.MakeObjectFromPackedArgs",
                     ARGS(raw("ffi.EnumState"), raw("entries"), entries, raw("indexes"), empty, raw("attrs"), indexes));
  drop(plain);
  TVMFFIAny nothing = make_list(fh_any_none()),
            with_none = call_ok("ffi.MakeObjectFromPackedArgs", ARGS(raw("ffi.EnumState"), raw("entries"), nothing,
                                                                     raw("indexes"), empty, raw("attrs"), empty));
  expect_repr(with_none, "ffi.EnumState(entries=[None], indexes={}, attrs={})");
  drop_all_of(nothing, with_none);
  expect_call_raises("TypeError", "Cannot convert from type `int` to `str`", "ffi.MakeObjectFromPackedArgs",
                     ARGS(raw("ffi.Enum"), raw("_int_index"), i64(7), raw("_str_index"), i64(7)));
  drop_all_of(one, entries, numbers, empty, indexes, columns, state);
}

static int make_all(void *unused) {
  FH_UNUSED(unused);
  fh_access_path_object *path = fh_access_path_root();
  TVMFFIAny name = raw("a name that needs an object"), made, copy;
  if (path == NULL) return -1;
  fh_access_path_object *longer = fh_access_path_extend(path, FH_ACCESS_ATTR, &name);
  fh_object_release(path);
  if (longer == NULL) return -1;
  TVMFFIAny value = obj(longer);
  int rc = call_n("ffi.ReprPrint", &value, 1, &made);
  drop(made);
  drop(value);
  for (size_t i = 0; i < FH_COUNT_OF(types) && rc == 0; ++i) {
    rc = fh_function_call(attr_of(types[i].key, "__ffi_new__"), NULL, 0, &made);
    if (rc != 0) break;
    rc = fh_function_call(attr_of(types[i].key, "__ffi_shallow_copy__"), &made, 1, &copy);
    drop(copy);
    drop(made);
  }
  return rc;
}

TEST(built_in_types_without_memory_are_errors) { test_sweep(make_all, NULL); }
