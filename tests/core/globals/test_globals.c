/* test_globals.c - the ffi.* functions about values, functions, types and objects. */
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/opaque.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

#include "core/object/any_own.h"
#include "core/object/object_new.h"
#include "support/calls.h"

TEST(values_are_made_and_shown) {
  TVMFFIByteArray bytes = {"a\0\"\x7f\xff", 5};
  TVMFFIAny view = fh_any_none();
  view.type_index = kTVMFFIByteArrayPtr;
  view.v_ptr = &bytes;
  expect_repr(view, "b\"a\\x00\\x22\\x7f\\xff\"");
  TVMFFIAny made = call_ok("ffi.Bytes", ARGS(raw("text as bytes")));
  expect_int(made.type_index, kTVMFFIBytes);
  fh_any_drop(&made);
  expect_str(call_ok("ffi.String", ARGS(raw("text longer than seven"))), "text longer than seven");
  expect_call_raises("TypeError", "argument #0 when calling: `ffi.String`. Expected `str` but got `int`", "ffi.String",
                     ARGS(i64(1)));
  expect_repr(raw("q\"\\\n\t\r\x01 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xc3"),
              "\"q\\\"\\\\\\n\\t\\r\\x01 \\u00e9 \\u20ac \\U0001f600 \\xc3\"");
  expect_repr(fh_any_none(), "None");
  expect_repr(fh_any_bool(1), "True");
  expect_repr(fh_any_float(0.1), "0.1");
  expect_repr(fh_any_float(1e20), "1e+20");
  expect_repr(fh_any_dtype((DLDataType){kDLFloat, 32, 1}), "float32");
  expect_repr(obj(fh_sentinel_kwargs()), "<KWARGS>");
}

TEST(big_integers_are_shown_in_decimal) {
  int64_t words[2] = {0, 1}, negative[2] = {-1, -2}, lowest[2] = {0, INT64_MIN};
  struct {
    const void *words;
    const char *text;
  } cases[] = {{words, "18446744073709551616"},
               {negative, "-18446744073709551617"},
               {lowest, "-170141183460469231731687303715884105728"}};
  for (int i = 0; i < 3; ++i) {
    TVMFFIByteArray content = {(const char *)cases[i].words, 16};
    TVMFFIAny big;
    expect_int(TVMFFIBigIntFromByteArray(&content, &big), 0);
    expect_repr(big, cases[i].text);
    fh_any_drop(&big);
  }
}

TEST(cycles_and_depth_are_shown_without_recursion) {
  TVMFFIAny list = call_ok("ffi.List", NO_ARGS);
  call_int("ffi.ListAppend", ARGS(list, list));
  call_int("ffi.ListAppend", ARGS(list, i64(1)));
  expect_repr(list, "[..., 1]");
  call_int("ffi.ListClear", ARGS(list));
  for (int i = 0; i < 50000; ++i) {
    TVMFFIAny outer = call_ok("ffi.List", ARGS(list));
    fh_any_drop(&list);
    list = outer;
  }
  TVMFFIAny text = call_ok("ffi.ReprPrint", ARGS(list));
  expect_int((int64_t)fh_str_object_bytes(text.v_obj).size, 100002);
  fh_any_drop(&text);
  fh_any_drop(&list);
}

TEST(global_functions_are_listed_and_removed) {
  TVMFFIObjectHandle echo = test_echo();
  int64_t before = fh_mem_live_blocks();
  expect_int(test_set_global(text_of("test.listed"), echo, 0), 0);
  TVMFFIAny names = call_ok("ffi.FunctionListGlobalNamesFunctor", NO_ARGS), arg = i64(-1), n, name;
  expect_int(fh_function_call(names.v_obj, &arg, 1, &n), 0);
  int found = 0;
  for (int64_t i = 0; i < n.v_int64; ++i) {
    TVMFFIByteArray text;
    arg = i64(i);
    expect_int(fh_function_call(names.v_obj, &arg, 1, &name), 0);
    found += fh_str_content(&name, &text) && fh_span_is(text, "test.listed");
    fh_any_drop(&name);
  }
  expect_int(found, 1);
  arg = n;
  expect_int(fh_function_call(names.v_obj, &arg, 1, &name), -1);
  expect_raised("IndexError", "out of bounds");
  fh_any_drop(&names);
  expect_str(call_ok("ffi.GetGlobalFuncMetadata", ARGS(raw("test.listed"))), "");
  expect_int(call_int("ffi.FunctionRemoveGlobal", ARGS(raw("test.listed"))), 1);
  expect_int(call_int("ffi.FunctionRemoveGlobal", ARGS(raw("test.listed"))), 0);
  expect_call_raises("RuntimeError", "test.listed", "ffi.GetGlobalFuncMetadata", ARGS(raw("test.listed")));
  expect_int(fh_mem_live_blocks(), before);
}

static int n_deleted;
static int plus(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)n;
  *result = i64(args[0].v_int64 + *(int *)self);
  return 0;
}
static void delete_plus(void *self) { n_deleted += *(int *)self; }
TEST(functions_are_made_from_c_pointers) {
  int seven = 7;
  TVMFFIAny func = call_ok("ffi.FunctionFromExternC", ARGS(fh_any_ptr(&seven), fh_any_ptr((void *)(uintptr_t)plus),
                                                           fh_any_ptr((void *)(uintptr_t)delete_plus))),
            arg = i64(1), result;
  expect_int(fh_function_call(func.v_obj, &arg, 1, &result), 0);
  expect_int(result.v_int64, 8);
  fh_any_drop(&func);
  expect_int(n_deleted, 7);
}

TEST(type_keys_are_listed) {
  TVMFFIAny keys = call_ok("ffi.GetRegisteredTypeKeys", NO_ARGS);
  expect_int(call_int("ffi.ArrayContains", ARGS(keys, raw("ffi.Map"))), 1);
  expect_int(call_int("ffi.ArrayContains", ARGS(keys, raw("int"))), 1);
  fh_any_drop(&keys);
}

/* ---- A type with fields: int a; Any b = "b default"; keyword-only float c = factory() ; Any hidden (no init) ---- */

typedef struct {
  TVMFFIObject header;
  int64_t a;
  TVMFFIAny b;
  double c;
  TVMFFIAny hidden;
} point;

static void delete_point(void *self, int flags) {
  point *p = (point *)self;
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) {
    fh_any_drop(&p->b);
    fh_any_drop(&p->hidden);
  }
  fh_object_delete_plain(self, flags);
}
static int32_t point_type;
static int new_point(TVMFFIObjectHandle *out) {
  *out = fh_object_new(sizeof(point), point_type, delete_point);
  return *out == NULL ? -1 : 0;
}
static int convert(void *wanted, const TVMFFIAny *view, TVMFFIAny *out) {
  int32_t type_index = (int32_t)(intptr_t)wanted;
  if (type_index >= 0 && view->type_index != type_index) {
    return fh_error_raise(FH_TYPE_ERROR, "Expected `%s`\nbut got `%s`", fh_type_name(type_index),
                          fh_type_name(view->type_index));
  }
  return fh_any_own(view, out);
}
static int make_default(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args;
  expect_int(n, 0);
  *result = fh_any_float(2.5);
  return 0;
}

static void add_field(int32_t owner, const char *name, int32_t type_index, int64_t offset, int64_t size, int64_t flags,
                      TVMFFIAny default_value) {
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
  TVMFFIAny setter = call_ok("ffi.MakeFieldSetter", ARGS(i64(type_index), fh_any_ptr((void *)(intptr_t)type_index),
                                                         i64((int64_t)(uintptr_t)convert)));
  field.name = text_of(name);
  field.getter = (TVMFFIFieldGetter)(uintptr_t)call_int("ffi.MakeFieldGetter", ARGS(i64(type_index)));
  field.setter = setter.v_obj;
  field.flags = flags | kTVMFFIFieldFlagBitSetterIsFunctionObj | kTVMFFIFieldFlagBitMaskWritable;
  field.offset = offset;
  field.size = size;
  field.alignment = 8;
  field.default_value_or_factory = default_value;
  field.field_static_type_index = type_index;
  expect_int(TVMFFITypeRegisterField(owner, &field), 0);
  fh_any_drop(&setter);
}

static void register_point(void) {
  if (point_type != 0) return;
  TVMFFITypeMetadata metadata = {{NULL, 0}, new_point, sizeof(point), kTVMFFISEqHashKindUnsupported};
  TVMFFIObjectHandle factory;
  TVMFFIAny text;
  point_type = test_add_child("test.Point", kTVMFFIObject, 0);
  expect(point_type > 0);
  expect_int(TVMFFITypeRegisterMetadata(point_type, &metadata), 0);
  expect_int(fh_str_from_cstr("b default", &text), 0);
  expect_int(TVMFFIFunctionCreate(NULL, make_default, NULL, &factory), 0);
  add_field(point_type, "b", kTVMFFIAny, offsetof(point, b), 16, kTVMFFIFieldFlagBitMaskHasDefault, text);
  add_field(point_type, "a", kTVMFFIInt, offsetof(point, a), 8, 0, fh_any_none());
  add_field(point_type, "c", kTVMFFIFloat, offsetof(point, c), 8,
            kTVMFFIFieldFlagBitMaskHasDefault | kTVMFFIFieldFlagBitMaskDefaultFromFactory |
                kTVMFFIFieldFlagBitMaskKwOnly,
            obj(factory));
  add_field(point_type, "hidden", kTVMFFIAny, offsetof(point, hidden), 16,
            kTVMFFIFieldFlagBitMaskInitOff | kTVMFFIFieldFlagBitMaskReprOff, fh_any_none());
  fh_any_drop(&text);
  fh_object_release(factory);
  call_int("ffi._RegisterFFIInit", ARGS(i64(point_type)));
  test_keeps(4 * SETTER_BLOCKS + INIT_BLOCKS + 2); /* 2: the default value of b, and the factory of c */
}

static int construct(const TVMFFIAny *args, int32_t n, TVMFFIAny *out) {
  TVMFFIByteArray name = text_of("__ffi_init__");
  register_point();
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(&name);
  expect(column != NULL && point_type < column->size);
  return fh_function_call(column->data[point_type].v_obj, args, n, out);
}
#define expect_no_point(part, ...)                 \
  do {                                             \
    TVMFFIAny none;                                \
    expect_int(construct(__VA_ARGS__, &none), -1); \
    expect_raised("TypeError", part);              \
  } while (0)

TEST(constructor_binds_positions_and_keywords) {
  TVMFFIAny p, kwargs = obj(fh_sentinel_kwargs());
  expect_int(construct(ARGS(i64(1), raw("two")), &p), 0); /* a is first because it has no default */
  expect_repr(p, "test.Point(b=\"two\", a=1, c=2.5)");
  fh_any_drop(&p);
  expect_int(construct(ARGS(i64(1), kwargs, raw("c"), fh_any_float(4), raw("b"), i64(9)), &p), 0);
  expect_repr(p, "test.Point(b=9, a=1, c=4)");
  fh_any_drop(&p);
  expect_int(construct(ARGS(kwargs, raw("a"), i64(3)), &p), 0);
  expect_repr(p, "test.Point(b=\"b default\", a=3, c=2.5)");
  fh_any_drop(&p);
}

/* A class that is registered before its parent has fields, because C++ initializes source files in any order. */
static int32_t late_type;
static int new_late(TVMFFIObjectHandle *out) {
  *out = fh_object_new(sizeof(point), late_type, delete_point);
  return *out == NULL ? -1 : 0;
}

TEST(constructor_takes_the_fields_that_are_registered_later) {
  TVMFFITypeMetadata metadata = {{NULL, 0}, new_late, sizeof(point), kTVMFFISEqHashKindUnsupported};
  TVMFFIByteArray name = text_of("__ffi_init__");
  TVMFFIAny made;
  int32_t parent_type = test_add_child("test.LateParent", kTVMFFIObject, 0);
  late_type = test_add_child("test.Late", parent_type, 0);
  expect_int(TVMFFITypeRegisterMetadata(late_type, &metadata), 0);
  add_field(late_type, "c", kTVMFFIFloat, offsetof(point, c), 8, 0, fh_any_none());
  call_int("ffi._RegisterFFIInit", ARGS(i64(late_type)));
  TVMFFIObjectHandle init = TVMFFIGetTypeAttrColumn(&name)->data[late_type].v_obj;
  expect_int(fh_function_call(init, ARGS(fh_any_float(1.5)), &made), 0);
  fh_any_drop(&made);
  add_field(parent_type, "a", kTVMFFIInt, offsetof(point, a), 8, 0, fh_any_none());
  add_field(parent_type, "b", kTVMFFIAny, offsetof(point, b), 16, 0, fh_any_none());
  expect_int(fh_function_call(init, ARGS(i64(3), i64(4), fh_any_float(2.5)), &made), 0);
  expect_repr(made, "test.Late(a=3, b=4, c=2.5)");
  fh_any_drop(&made);
  expect_int(fh_function_call(init, ARGS(i64(3)), &made), -1);
  expect_raised("TypeError", "test.Late.__ffi_init__() missing required argument: 'b'");
  test_keeps(3 * SETTER_BLOCKS + INIT_BLOCKS + 1); /* 1: the state of the __ffi_init__ with all fields */
}

static void construct_late(void *init, int i) {
  TVMFFIAny made;
  expect_int(fh_function_call((TVMFFIObjectHandle)init, ARGS(i64(i), i64(4), fh_any_float(2.5)), &made), 0);
  fh_any_drop(&made);
}

TEST(constructor_is_renewed_by_whichever_thread_is_first) {
  TVMFFITypeMetadata metadata = {{NULL, 0}, new_late, sizeof(point), kTVMFFISEqHashKindUnsupported};
  int32_t parent_type = test_add_child("test.SharedParent", kTVMFFIObject, 0);
  TVMFFIByteArray name = text_of("__ffi_init__");
  late_type = test_add_child("test.Shared", parent_type, 0);
  expect_int(TVMFFITypeRegisterMetadata(late_type, &metadata), 0);
  call_int("ffi._RegisterFFIInit", ARGS(i64(late_type)));
  add_field(late_type, "c", kTVMFFIFloat, offsetof(point, c), 8, 0, fh_any_none());
  add_field(parent_type, "a", kTVMFFIInt, offsetof(point, a), 8, 0, fh_any_none());
  add_field(parent_type, "b", kTVMFFIAny, offsetof(point, b), 16, 0, fh_any_none());
  test_threads(8, construct_late, TVMFFIGetTypeAttrColumn(&name)->data[late_type].v_obj);
  test_keeps(3 * SETTER_BLOCKS + INIT_BLOCKS + 1); /* 1: the state of the __ffi_init__ with all fields */
}

TEST(constructor_errors_name_the_fault) {
  TVMFFIAny kwargs = obj(fh_sentinel_kwargs());
  expect_no_point("test.Point.__ffi_init__() takes at most 2 positional argument(s), but 3 were given",
                  ARGS(i64(1), i64(2), i64(3)));
  expect_no_point("test.Point.__ffi_init__() missing required argument: 'a'", NO_ARGS);
  expect_no_point("got an unexpected keyword argument 'hidden'", ARGS(i64(1), kwargs, raw("hidden"), i64(2)));
  expect_no_point("got multiple values for argument 'a'", ARGS(i64(1), kwargs, raw("a"), i64(2)));
  expect_no_point("expected a value for every keyword", ARGS(i64(1), kwargs, raw("a")));
  expect_no_point("expected a keyword of type `str` but got `int`", ARGS(kwargs, i64(1), i64(2)));
  expect_no_point("test.Point.__ffi_init__() field 'a':\n  Expected `int`\n  but got `float`", ARGS(fh_any_float(1)));
}

TEST(objects_are_made_from_names_and_values) {
  register_point();
  TVMFFIAny p =
      call_ok("ffi.MakeObjectFromPackedArgs", ARGS(raw("test.Point"), raw("a"), i64(5), raw("hidden"), i64(6)));
  expect_repr(p, "test.Point(b=\"b default\", a=5, c=2.5)");
  expect_int(((point *)p.v_obj)->hidden.v_int64, 6);
  fh_any_drop(&p);
  const char *name = "ffi.MakeObjectFromPackedArgs";
  expect_call_raises("TypeError", "Required field `a` not set in type `test.Point`", name, ARGS(i64(point_type)));
  expect_call_raises("TypeError", "does not have field `z`", name,
                     ARGS(i64(point_type), raw("z"), i64(1), raw("a"), i64(1), raw("hidden"), i64(1)));
  expect_call_raises("RuntimeError", "Cannot find type `test.Nothing`", name, ARGS(raw("test.Nothing")));
  expect_call_raises("RuntimeError", "Cannot find a type with index 12345678", name, ARGS(i64(12345678)));
  expect_call_raises("RuntimeError", "has no creator and no __ffi_new__", name, ARGS(raw("ffi.Map")));
  expect_call_raises("TypeError", "pairs of name and value", name, NO_ARGS);
}

/* ---- A class that redeclares a field of its parent at another offset ---- */

typedef struct {
  TVMFFIObject header;
  int64_t parent_x, parent_z, x, y;
} again;
static int32_t again_type;
static int new_again(TVMFFIObjectHandle *out) {
  again *made = (again *)fh_object_new(sizeof(*made), again_type, fh_object_delete_plain);
  if (made != NULL) made->parent_x = made->parent_z = made->x = made->y = -1;
  *out = made;
  return made == NULL ? -1 : 0;
}
static void register_again(void) {
  if (again_type != 0) return;
  TVMFFITypeMetadata metadata = {{NULL, 0}, new_again, sizeof(again), kTVMFFISEqHashKindUnsupported};
  int32_t parent = test_add_child("test.AgainParent", kTVMFFIObject, 1);
  again_type = test_add_child("test.Again", parent, 0);
  expect_int(TVMFFITypeRegisterMetadata(again_type, &metadata), 0);
  add_field(parent, "x", kTVMFFIInt, offsetof(again, parent_x), 8, 0, fh_any_none());
  add_field(parent, "z", kTVMFFIInt, offsetof(again, parent_z), 8, kTVMFFIFieldFlagBitMaskHasDefault, i64(9));
  add_field(again_type, "x", kTVMFFIInt, offsetof(again, x), 8, 0, fh_any_none());
  add_field(again_type, "y", kTVMFFIInt, offsetof(again, y), 8, 0, fh_any_none());
  call_int("ffi._RegisterFFIInit", ARGS(i64(again_type)));
  test_keeps(4 * SETTER_BLOCKS + INIT_BLOCKS);
}
static void expect_again(TVMFFIAny made, int64_t parent_x, int64_t parent_z, int64_t x, int64_t y) {
  const again *got = (const again *)made.v_obj;
  expect_int(got->parent_x, parent_x);
  expect_int(got->parent_z, parent_z);
  expect_int(got->x, x);
  expect_int(got->y, y);
  fh_any_drop(&made);
}

TEST(a_pair_goes_to_the_field_that_the_subclass_declared_again) {
  register_again();
  TVMFFIAny type = i64(again_type), x = raw("x"), y = raw("y");
  const char *name = "ffi.MakeObjectFromPackedArgs";
  expect_again(call_ok(name, ARGS(type, x, i64(1), y, i64(2))), -1, 9, 1, 2);
  expect_again(call_ok(name, ARGS(type, raw("z"), i64(3), y, i64(2), x, i64(1))), -1, 3, 1, 2);
  /* two fields of one name: the parent's comes first */
  expect_again(call_ok(name, ARGS(type, x, i64(1), y, i64(2), x, i64(5))), 1, 9, 5, 2);
  expect_call_raises("TypeError", "does not have field `x`", name,
                     ARGS(type, x, i64(1), x, i64(2), x, i64(3), y, i64(2)));
  expect_call_raises("TypeError", "Required field `x` not set in type `test.Again`", name, ARGS(type, y, i64(2)));
  expect_call_raises("TypeError", "Required field `y` not set in type `test.Again`", name, ARGS(type, x, i64(1)));
}

TEST(a_constructor_has_one_parameter_for_a_field_that_is_declared_again) {
  register_again();
  TVMFFIByteArray name = text_of("__ffi_init__");
  const TVMFFIAny *init = fh_reflect_attr(test_column(name), again_type);
  TVMFFIAny kwargs = obj(fh_sentinel_kwargs()), x = raw("x"), y = raw("y"), made;
  expect_int(fh_function_call(init->v_obj, ARGS(i64(1), i64(2), i64(3)), &made), 0);
  expect_again(made, -1, 3, 1, 2);
  expect_int(fh_function_call(init->v_obj, ARGS(kwargs, y, i64(2), x, i64(1)), &made), 0);
  expect_again(made, -1, 9, 1, 2);
  expect_int(fh_function_call(init->v_obj, ARGS(i64(1)), &made), -1);
  expect_raised("TypeError", "test.Again.__ffi_init__() missing required argument: 'y'");
  expect_int(fh_function_call(init->v_obj, ARGS(i64(1), i64(1), i64(2), i64(3)), &made), -1);
  expect_raised("TypeError", "takes at most 3 positional argument(s), but 4 were given");
}

TEST(field_accessors_refuse_impossible_types) {
  expect_call_raises("ValueError", "Expected the type index of a readable field but got 13", "ffi.MakeFieldGetter",
                     ARGS(i64(13)));
  expect_call_raises("ValueError", "Expected the type index of a writable field but got 9", "ffi.MakeFieldSetter",
                     ARGS(i64(9), i64(0), i64(8)));
  expect_call_raises("ValueError", "Expected a function to convert values but got NULL", "ffi.MakeFieldSetter",
                     ARGS(i64(1), i64(0), i64(0)));
}

static int use_values(void *state) {
  TVMFFIAny p, text;
  (void)state;
  if (construct(ARGS(i64(1), raw("a long enough text")), &p) != 0) return -1;
  int rc = call_n("ffi.ReprPrint", ARGS(p), &text);
  if (rc == 0) fh_any_drop(&text);
  fh_any_drop(&p);
  if (rc != 0) return -1;
  rc = call_n("ffi.MakeObjectFromPackedArgs", ARGS(raw("test.Point"), raw("a"), i64(5), raw("hidden"), i64(6)), &p);
  if (rc == 0) fh_any_drop(&p);
  if (rc == 0) rc = call_n("ffi.FunctionListGlobalNamesFunctor", NO_ARGS, &p);
  if (rc == 0) fh_any_drop(&p);
  return rc;
}
TEST(globals_survive_missing_memory) {
  register_point();
  test_sweep(use_values, NULL);
}
