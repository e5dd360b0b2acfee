/* test_sweep_globals.c - every ffi.* function with its n-th allocation failing, for each n.
 *
 * The registry provides the list of functions: a function without a row in the table fails the test. A row has a letter
 * for each argument (see new_argument). A call that fails must not change its arguments. */
#include "core/container/seq.h"
#include "core/module/library_module.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

#include "core/object/any_hash.h"
#include "core/object/any_own.h"
#include "core/object/object_new.h"
#include "support/calls.h"
#include "support/system.h"

typedef struct {
  const char *name;
  const char *args;  /* one letter for each */
  const char *error; /* part of the error message of a call with enough memory, NULL if that call succeeds */
  int keeps;         /* number of blocks that a successful call keeps live forever */
  const char *undo;  /* a function of the first argument to call afterwards, or NULL */
} row;

static const row rows[] = {
    {"ffi.Array", "sla", NULL, 0, NULL},
    {"ffi.ArrayGetItem", "a0", NULL, 0, NULL},
    {"ffi.ArraySize", "a", NULL, 0, NULL},
    {"ffi.ArrayContains", "as", NULL, 0, NULL},
    {"ffi.List", "slasss", NULL, 0, NULL},
    {"ffi.ListGetItem", "l0", NULL, 0, NULL},
    {"ffi.ListSetItem", "l0s", NULL, 0, NULL},
    {"ffi.ListSize", "l", NULL, 0, NULL},
    {"ffi.ListContains", "ls", NULL, 0, NULL},
    {"ffi.ListAppend", "ls", NULL, 0, NULL},
    {"ffi.ListInsert", "l1s", NULL, 0, NULL},
    {"ffi.ListPop", "l0", NULL, 0, NULL},
    {"ffi.ListErase", "l0", NULL, 0, NULL},
    {"ffi.ListEraseRange", "l13", NULL, 0, NULL},
    {"ffi.ListReplaceSlice", "l12l", NULL, 0, NULL},
    {"ffi_hpy.ListAssignSlice", "l121l", NULL, 0, NULL},
    {"ffi_hpy.ListEraseSlice", "l092", NULL, 0, NULL},
    {"ffi_hpy.ListEraseSame", "l0a", NULL, 0, NULL},
    {"ffi_hpy.SeqHolds", "ls", NULL, 0, NULL},
    {"ffi.ListReverse", "l", NULL, 0, NULL},
    {"ffi.ListClear", "l", NULL, 0, NULL},
    {"ffi.ListReserve", "l9", NULL, 0, NULL},
    {"ffi.Map", "ks0s1s2s3s", NULL, 0, NULL},
    {"ffi.MapSize", "m", NULL, 0, NULL},
    {"ffi.MapCount", "mk", NULL, 0, NULL},
    {"ffi.MapGetItem", "mk", NULL, 0, NULL},
    {"ffi.MapGetItemOrMissing", "ms", NULL, 0, NULL},
    {"ffi.MapForwardIterFunctor", "m", NULL, 0, NULL},
    {"ffi.Dict", "ks0s1s2s3s", NULL, 0, NULL},
    {"ffi.DictSize", "d", NULL, 0, NULL},
    {"ffi.DictCount", "dk", NULL, 0, NULL},
    {"ffi.DictGetItem", "dk", NULL, 0, NULL},
    {"ffi.DictGetItemOrMissing", "ds", NULL, 0, NULL},
    {"ffi.DictSetItem", "dss", NULL, 0, NULL},
    {"ffi.DictErase", "dk", NULL, 0, NULL},
    {"ffi_hpy.DictPop", "dk", NULL, 0, NULL},
    {"ffi_hpy.DictSetDefault", "dks", NULL, 0, NULL},
    {"ffi_hpy.DictPutSearched", "dmas1", NULL, 0, NULL},
    {"ffi.DictClear", "d", NULL, 0, NULL},
    {"ffi.DictForwardIterFunctor", "d", NULL, 0, NULL},
    {"ffi.String", "s", NULL, 0, NULL},
    {"ffi.Bytes", "s", NULL, 0, NULL},
    {"ffi_hpy.BytesDescribed", "ss", NULL, 0, NULL},
    {"ffi_hpy.BytesDescription", "s", NULL, 0, NULL},
    {"ffi.Shape", "23", NULL, 0, NULL},
    {"ffi.GetInvalidObject", "", NULL, 0, NULL},
    {"ffi.GetKwargsObject", "", NULL, 0, NULL},
    {"ffi.ReprPrint", "d", NULL, 0, NULL},
    {"ffi.FunctionListGlobalNamesFunctor", "", NULL, 0, NULL},
    {"ffi.FunctionRemoveGlobal", "s", NULL, 0, NULL},
    {"ffi.GetGlobalFuncMetadata", "g", NULL, 0, NULL},
    {"ffi.FunctionFromExternC", "nFn", NULL, 0, NULL},
    {"ffi.GetRegisteredTypeKeys", "", NULL, 0, NULL},
    {"ffi.MakeObjectFromPackedArgs", "pfs", NULL, 0, NULL},
    {"ffi._RegisterFFIInit", "p", NULL, INIT_BLOCKS, NULL},
    {"ffi.MakeFieldGetter", "1", NULL, 0, NULL},
    {"ffi.MakeFieldSetter", "10C", NULL, 0, NULL},
    {"ffi.DeepCopy", "V", NULL, 0, NULL},
    {"ffi.RecursiveEq", "VV", NULL, 0, NULL},
    {"ffi_hpy.LooseEq", "VV", NULL, 0, NULL},
    {"ffi.RecursiveLt", "OO", NULL, 0, NULL},
    {"ffi.RecursiveLe", "OO", NULL, 0, NULL},
    {"ffi.RecursiveGt", "OO", NULL, 0, NULL},
    {"ffi.RecursiveGe", "OO", NULL, 0, NULL},
    {"ffi.RecursiveHash", "V", NULL, 0, NULL},
    {"ffi.ContainerFindFirstNonCPUDevice", "V", NULL, 0, NULL},
    {"ffi.StructuralEqual", "VV00", NULL, 0, NULL},
    {"ffi.GetFirstStructuralMismatch", "OX00", NULL, 0, NULL},
    {"ffi.StructuralHash", "V00", NULL, 0, NULL},
    {"ffi.StructuralKey", "V", NULL, 0, NULL},
    {"ffi.StructuralKeyEqual", "KK", NULL, 0, NULL},
    {"ffi.StructuralWalk", "Vwe0", NULL, 0, NULL},
    {"ffi.StructuralVisit", "Vv", NULL, 0, NULL},
    {"ffi.VisitInterrupt", "s", NULL, 0, NULL},
    {"ffi.StructuralVisitorVisit", "Vv", NULL, 0, NULL},
    {"ffi.StructuralVisitorDefaultVisit", "Vv", NULL, 0, NULL},
    {"ffi.StructuralVisitorDefRegionKind", "Vv", NULL, 0, NULL},
    {"ffi.StructuralVisitorWithDefRegionKind", "Vv", NULL, 0, NULL},
    {"ffi.VisitErrorContext.FindAccessPaths", "OE1", NULL, 0, NULL},
    {"ffi.StructuralMap", "Vie0", NULL, 0, NULL},
    {"ffi.StructuralMutate", "Vu", NULL, 0, NULL},
    {"ffi.StructuralMutatorMutate", "Vu", NULL, 0, NULL},
    {"ffi.StructuralMutatorDefaultMutate", "Vu", NULL, 0, NULL},
    {"ffi.StructuralMutatorVarRemapGet", "Vu", NULL, 0, NULL},
    {"ffi.StructuralMutatorVarRemapSet", "Vu", NULL, 0, NULL},
    {"ffi.StructuralMutatorDefRegionKind", "Vu", NULL, 0, NULL},
    {"ffi.StructuralMutatorWithDefRegionKind", "Vu", NULL, 0, NULL},
    {"ffi._PyClassRegisterTypeAttrColumns", "rz", NULL, RECORD_TYPE_BLOCKS, NULL},
    {"ffi.json.Parse", "j", NULL, 0, NULL},
    {"ffi.json.Stringify", "J2", NULL, 0, NULL},
    {"ffi.ToJSONGraph", "Pm", NULL, 0, NULL},
    {"ffi.ToJSONGraphString", "Pn", NULL, 0, NULL},
    {"ffi.FromJSONGraph", "G", NULL, 0, NULL},
    {"ffi.FromJSONGraphString", "H", NULL, 0, NULL},
    {"ffi.ModuleLoadFromFile", "x", NULL, 0, NULL},
    {"ffi.Module.load_from_file.so", "Ls", NULL, 0, NULL},
    {"ffi.SystemLib", "s", NULL, SYSTEM_MODULE_BLOCKS, NULL},
    {"ffi.ModuleGetFunction", "Mct", NULL, 0, NULL},
    {"ffi.ModuleImplementsFunction", "Mct", NULL, 0, NULL},
    {"ffi.ModuleGetFunctionMetadata", "Mct", NULL, 0, NULL},
    {"ffi.ModuleGetFunctionDoc", "Mct", NULL, 0, NULL},
    {"ffi.ModuleGetKind", "M", NULL, 0, NULL},
    {"ffi.ModuleGetPropertyMask", "M", NULL, 0, NULL},
    {"ffi.ModuleInspectSource", "Ms", NULL, 0, NULL},
    {"ffi.ModuleGetWriteFormats", "M", NULL, 0, NULL},
    {"ffi.ModuleWriteToFile", "Mss", "does not support WriteToFile", 0, NULL},
    {"ffi.ModuleImportModule", "MM", NULL, 0, NULL},
    {"ffi.ModuleClearImports", "M", NULL, 0, NULL},
    {"ffi.ModuleGlobalsAdd", "M", NULL, 0, "ffi.ModuleGlobalsRemove"},
    {"ffi.ModuleGlobalsRemove", "M", NULL, 0, NULL},
};

/* ---- The arguments ---- */

#define KEY "a key of some length"
#define TEXT "another text of some length"
#define FUNCTION_NAME "a_function_with_a_long_name"
#define GLOBAL_NAME "test.sweep.with_metadata"
#define LOADER_NAME "ffi.Module.load_from_file.sweep"

typedef struct {
  TVMFFIObject header;
  TVMFFIAny field;
} point;

static void delete_point(void *self, int flags) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) fh_any_drop(&((point *)self)->field);
  fh_object_delete_plain(self, flags);
}
static int32_t point_type;
static int create_point(TVMFFIObjectHandle *out) {
  *out = fh_object_new(sizeof(point), point_type, delete_point);
  return *out != NULL ? 0 : -1;
}
static int get_field(void *field, TVMFFIAny *out) {
  fh_any_copy((const TVMFFIAny *)field, out);
  return 0;
}
static int set_field(void *field, const TVMFFIAny *value) {
  TVMFFIAny owned;
  if (fh_any_own(value, &owned) != 0) return -1;
  fh_any_drop((TVMFFIAny *)field);
  *(TVMFFIAny *)field = owned;
  return 0;
}
static int convert_field(void *converter, const TVMFFIAny *value, TVMFFIAny *out) {
  (void)converter;
  return fh_any_own(value, out);
}

static int answer(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n;
  return fh_str_from_cstr("an answer of some length", result);
}
static void *find_symbol(const void *state, const char *symbol) {
  (void)state;
  int is_text =
      strcmp(symbol, "__tvm_ffi__metadata_" FUNCTION_NAME) == 0 || strcmp(symbol, "__tvm_ffi__doc_" FUNCTION_NAME) == 0;
  return is_text ? (void *)(uintptr_t)answer : NULL;
}
static void *find_function(const void *state, const char *name) {
  (void)state;
  return strcmp(name, FUNCTION_NAME) == 0 ? (void *)(uintptr_t)answer : NULL;
}
static const fh_library_symbols library = {find_symbol, find_function, NULL};

static int load_sweep(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n;
  return fh_library_module_new(&library, NULL, result);
}

/* Registers the things that arguments name: a type with a field, a global function with metadata, a loader. */
static void register_once(void) {
  TVMFFIFieldInfo field;
  TVMFFITypeMetadata metadata;
  TVMFFIMethodInfo info;
  memset(&field, 0, sizeof(field));
  memset(&metadata, 0, sizeof(metadata));
  memset(&info, 0, sizeof(info));
  point_type = test_add_child("test.sweep.Point", kTVMFFIObject, 0);
  field.name = text_of("field");
  field.flags = kTVMFFIFieldFlagBitMaskWritable;
  field.size = sizeof(TVMFFIAny);
  field.alignment = 8;
  field.offset = offsetof(point, field);
  field.getter = get_field;
  field.setter = (void *)(uintptr_t)set_field;
  field.field_static_type_index = kTVMFFIAny;
  metadata.creator = create_point;
  metadata.total_size = sizeof(point);
  metadata.structural_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  expect_int(TVMFFITypeRegisterField(point_type, &field), 0);
  expect_int(TVMFFITypeRegisterMetadata(point_type, &metadata), 0);
  info.name = text_of(GLOBAL_NAME);
  info.metadata = text_of("{\"type_schema\": \"{}\"}");
  info.method = obj(test_echo());
  expect_int(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), 0);
  expect_int(fh_global_add(LOADER_NAME, load_sweep, NULL), 0);
  test_keeps(1); /* the entry of the global function; the loader's entry is removed at the end */
}

static TVMFFIAny new_module(void) {
  TVMFFIAny module;
  expect_int(fh_library_module_new(&library, NULL, &module), 0);
  return module;
}

/* Puts a value inside n Lists, each with `beside` next to it. */
static TVMFFIAny nest(TVMFFIAny value, TVMFFIAny beside, int n) {
  for (; n > 0; --n) {
    TVMFFIAny outer = call_ok("ffi.List", ARGS(value, beside));
    fh_any_drop(&value);
    value = outer;
  }
  fh_any_drop(&beside);
  return value;
}

static TVMFFIAny new_argument(char letter);

/* A value deeper and wider than any buffer on the stack. */
static TVMFFIAny new_nested(void) {
  TVMFFIAny many[100];
  for (int i = 0; i < 100; ++i) many[i] = new_argument("almd"[i % 4]);
  TVMFFIAny wide = call_ok("ffi.Array", many, 100);
  for (int i = 0; i < 100; ++i) fh_any_drop(&many[i]);
  return nest(wide, new_argument('m'), 100);
}

static const char json[] =
    "[{\"a key longer than seven\": [1, -2.5e3, \"a \\u00e9 text \\ud83d\\ude00\\n\", null, true], \"k\": {}},"
    " [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"deep\"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]], 0.1, \"\", []]";

/* Objects with a field, one of them twice, next to nested values. */
static TVMFFIAny new_objects(void) {
  TVMFFIAny type = i64(point_type), field = raw("field"), nested = new_nested();
  TVMFFIAny one = call_ok("ffi.MakeObjectFromPackedArgs", ARGS(type, field, raw(TEXT)));
  TVMFFIAny two = call_ok("ffi.MakeObjectFromPackedArgs", ARGS(type, field, one));
  TVMFFIAny all = call_ok("ffi.Array", ARGS(one, two, one, nested));
  fh_any_drop(&one);
  fh_any_drop(&two);
  fh_any_drop(&nested);
  return all;
}

/* Returns the result of a function for an argument and None. */
static TVMFFIAny made_by(const char *name, TVMFFIAny argument, int32_t n_args) {
  TVMFFIAny result = call_ok(name, (TVMFFIAny[]){argument, fh_any_none()}, n_args);
  fh_any_drop(&argument);
  return result;
}

/* ---- Visits and mutations: the functions of visitors and mutators are called inside one, for each List ---- */

static const char *outer_of(const char *name) {
  if (strncmp(name, "ffi.StructuralVisitor", 21) == 0) return "ffi.StructuralVisit";
  if (strncmp(name, "ffi.StructuralMutator", 21) == 0) return "ffi.StructuralMutate";
  return name;
}

static const char *inner; /* the function to call there */
static int n_inner_calls;

/* A callback that receives a value and a visitor or mutator. */
static int call_inner(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  n_inner_calls += 1;
  expect(n == 2);
  TVMFFIAny answer_func = fh_any_object(test_echo()), value = args[0], owner = args[1], more = i64(1);
  int is_single = strstr(inner, "VisitorVisit") != NULL || strstr(inner, "MutatorMutate") != NULL;
  if (strstr(inner, "WithDefRegionKind") != NULL) return call_n(inner, ARGS(owner, more, answer_func), result);
  if (strstr(inner, "DefRegionKind") != NULL) {
    if (call_n(inner, ARGS(owner), result) != 0) return -1;
    *result = fh_any_none(); /* a number would have a meaning for the visitor or mutator */
    return 0;
  }
  if (strstr(inner, "RemapSet") != NULL) return call_n(inner, ARGS(owner, value, value), result);
  return call_n(inner, ARGS(owner, is_single ? more : value), result);
}

static int say_nothing(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n, (void)result;
  return 0;
}
static int fail_here(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n, (void)result;
  return fh_error_raise(FH_VALUE_ERROR, "not here");
}
static int add_one(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)n;
  *result = i64(args[0].v_int64 + 1);
  return 0;
}

/* An Array of one entry: a type, a Function, and for mutations a flag for more arguments. */
static TVMFFIAny new_callbacks(int32_t type_index, TVMFFISafeCallType call, int is_marked) {
  TVMFFIObjectHandle func;
  expect_int(TVMFFIFunctionCreate(NULL, call, NULL, &func), 0);
  TVMFFIAny parts[3] = {i64(type_index), obj(func), fh_any_bool(0)};
  TVMFFIAny entry = call_ok("ffi.Array", parts, 2 + is_marked), all = call_ok("ffi.Array", ARGS(entry));
  fh_object_release(func);
  fh_any_drop(&entry);
  return all;
}

/* The context of an error deep inside a value of new_argument('O'). */
static TVMFFIAny new_context(void) {
  TVMFFIAny value = new_argument('O'), callbacks = new_callbacks(kTVMFFIArray, fail_here, 0), unused;
  expect_int(call_n("ffi.StructuralVisit", ARGS(value, callbacks), &unused), -1);
  TVMFFIObject *error = fh_error_take();
  TVMFFIAny context = fh_any_none(), view = fh_any_object(TVMFFIErrorGetCellPtr(error)->extra_context);
  fh_any_copy(&view, &context);
  fh_object_release(error);
  fh_any_drop(&value);
  fh_any_drop(&callbacks);
  return context;
}

/* ---- One owned argument, or a view of static data. */
static TVMFFIAny new_argument(char letter) {
  switch (letter) {
  case 'n': return fh_any_none();
  case 't': return fh_any_bool(1);
  case 's': return raw(TEXT);
  case 'k': return raw(KEY);
  case 'a': return call_ok("ffi.Array", ARGS(raw(KEY), i64(2)));
  case 'l': return call_ok("ffi.List", ARGS(raw(KEY), i64(2), raw(TEXT), fh_any_none())); /* full: it must grow */
  case 'm': return call_ok("ffi.Map", ARGS(raw(KEY), raw(TEXT), i64(2), i64(3)));
  case 'd': return call_ok("ffi.Dict", ARGS(raw(KEY), raw(TEXT), i64(2), i64(3), i64(4), i64(5), i64(6), i64(7)));
  case 'V': return new_nested();
  case 'O': return nest(new_argument('a'), new_argument('l'), 100); /* Lists are ordered, unlike Maps */
  case 'P': return new_objects();
  case 'j': return raw(json);
  case 'J': return made_by("ffi.json.Parse", raw(json), 1);
  case 'G': return made_by("ffi.ToJSONGraph", new_objects(), 2);
  case 'H': return made_by("ffi.ToJSONGraphString", new_objects(), 2);
  case 'X': return nest(new_argument('l'), new_argument('l'), 100);
  case 'K': return made_by("ffi.StructuralKey", new_nested(), 1);
  case 'e': return call_ok("ffi.Array", NO_ARGS);
  case 'z': return i64(64);
  case 'w': return new_callbacks(kTVMFFIAny, say_nothing, 0);
  case 'v': return new_callbacks(kTVMFFIList, call_inner, 0);
  case 'i': return new_callbacks(kTVMFFIInt, add_one, 0);
  case 'u': return new_callbacks(kTVMFFIList, call_inner, 1);
  case 'E': return new_context();
  case 'r': return i64(test_add_child("test.sweep.Record", kTVMFFIObject, 0));
  case 'g': return raw(GLOBAL_NAME);
  case 'p': return i64(point_type);
  case 'f': return raw("field");
  case 'F': return fh_any_ptr((void *)(uintptr_t)answer);
  case 'C': return fh_any_ptr((void *)(uintptr_t)convert_field);
  case 'x': return raw("a_file.sweep");
  case 'L': return raw(TEST_SYSTEM_LIBRARY);
  case 'M': return new_module();
  case 'c': return raw(FUNCTION_NAME);
  default: expect(letter >= '0' && letter <= '9'); return i64(letter - '0');
  }
}

/* ---- The sweep ---- */

typedef struct {
  const row *row;
  TVMFFIAny args[16];
  TVMFFIAny shown[16]; /* their reprs before the call */
  int32_t n_args;
} trial;

/* An expected error of the row counts as a success, because the call had enough memory. */
static int is_expected_error(const char *part) {
  TVMFFIObject *error = part != NULL ? fh_error_take() : NULL;
  if (error == NULL) return 0;
  if (strstr(TVMFFIErrorGetCellPtr(error)->message.data, part) != NULL) {
    fh_object_release(error);
    return 1;
  }
  fh_error_put(error);
  return 0;
}

static int call_row(void *state) {
  trial *t = (trial *)state;
  TVMFFIAny result;
  inner = t->row->name;
  if (strcmp(inner, "ffi.StructuralVisit") == 0) inner = "ffi.StructuralVisitorDefaultVisit";
  if (strcmp(inner, "ffi.StructuralMutate") == 0) inner = "ffi.StructuralMutatorDefaultMutate";
  int rc = call_n(outer_of(t->row->name), t->args, t->n_args, &result);
  if (rc == 0 && t->row->error != NULL) test_fail(__FILE__, __LINE__, "%s should fail", t->row->name);
  if (rc != 0 && fh_any_is_object(&result)) test_fail(__FILE__, __LINE__, "%s fails with a result", t->row->name);
  fh_any_drop(&result);
  return rc != 0 && !is_expected_error(t->row->error) ? -1 : 0;
}

static void expect_unchanged(void *state) {
  trial *t = (trial *)state;
  for (int32_t i = 0; i < t->n_args; ++i) {
    TVMFFIAny now = call_ok("ffi.ReprPrint", &t->args[i], 1);
    int equal;
    expect_int(fh_any_equal(&now, &t->shown[i], &equal), 0);
    if (!equal) test_fail(__FILE__, __LINE__, "%s failed and changed argument %d", t->row->name, (int)i);
    fh_any_drop(&now);
  }
}

static void sweep_row(const row *row) {
  fprintf(stderr, "  %s\n", row->name); /* before the row runs, so that the last line names the row that crashed */
  trial t = {row, {{0}}, {{0}}, (int32_t)strlen(row->args)};
  int64_t before = fh_mem_live_blocks();
  for (int32_t i = 0; i < t.n_args; ++i) {
    t.args[i] = new_argument(row->args[i]);
    t.shown[i] = call_ok("ffi.ReprPrint", &t.args[i], 1);
  }
  n_inner_calls = 0;
  test_sweep_checked(call_row, expect_unchanged, &t);
  expect((strpbrk(row->args, "vu") != NULL) == (n_inner_calls > 0));
  if (row->undo != NULL) call_int(row->undo, &t.args[0], 1);
  for (int32_t i = 0; i < t.n_args; ++i) {
    fh_any_drop(&t.args[i]);
    fh_any_drop(&t.shown[i]);
  }
  test_keeps_since(before, row->keeps, row->name);
}

static const row *find_row(TVMFFIByteArray name) {
  for (size_t i = 0; i < FH_COUNT_OF(rows); ++i) {
    if (fh_span_is(name, rows[i].name)) return &rows[i];
  }
  return NULL;
}

TEST(every_global_function_survives_missing_memory) {
  TVMFFIAny *names;
  int64_t n_names;
  size_t n_swept = 0;
  expect_int(fh_global_names(&names, &n_names), 0);
  register_once();
  for (int64_t i = 0; i < n_names; ++i) {
    TVMFFIByteArray name;
    expect(fh_str_content(&names[i], &name));
    const row *row = find_row(name);
    if (row == NULL && (name.size < 4 || memcmp(name.data, "ffi.", 4) != 0)) continue;
    if (row == NULL) test_fail(__FILE__, __LINE__, "no row for %.*s", FH_BYTES_ARGS(name));
    sweep_row(row);
    n_swept += 1;
  }
  expect_int(n_swept, FH_COUNT_OF(rows));
  fh_seq_drop_items(names, n_names);
  expect_int(fh_global_remove(text_of(LOADER_NAME)), 1);
}
