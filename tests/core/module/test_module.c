/* test_module.c - modules over tables of symbols, shared libraries, embedded modules, imports. */
#include "core/module/library.h"
#include "core/module/library_module.h"
#include "core/module/module.h"
#include "core/module/module_virtual.h"
#include "core/object/error.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"
#include <tvm/ffi/extra/c_env_api.h>

#include "support/calls.h"
#include "support/system.h"

/* ---- A library in the test's memory ---- */

static void *context, *wanted_symbol, *blob;
static int n_library_ends;

static int twice(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  expect(self == NULL);
  expect_int(n, 1);
  *result = i64(args[0].v_int64 * 2);
  return 0;
}
static int give_doc(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n;
  return fh_str_from_cstr("doubles a number", result);
}
/* Calls `other`, which this function finds through its module. */
static int call_other(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  TVMFFIObjectHandle other;
  (void)self;
  if (TVMFFIEnvModLookupFromImports(context, "other", &other) != 0) return -1;
  return TVMFFIFunctionGetCellPtr(other)->safe_call(other, args, n, result);
}

static void *find_symbol(const void *state, const char *symbol) {
  if (strcmp(symbol, "__tvm_ffi__library_ctx") == 0) return &context;
  if (strcmp(symbol, "__tvm_ffi__library_bin") == 0) return blob;
  if (strcmp(symbol, "__tvm_ffi__doc_twice") == 0) return (void *)(uintptr_t)give_doc;
  if (strcmp(symbol, "test_wanted_symbol") == 0) return &wanted_symbol;
  (void)state;
  return NULL;
}
static void *find_function(const void *state, const char *name) {
  if (strcmp(name, (const char *)state) == 0) return (void *)(uintptr_t)twice;
  if (strcmp(name, "call_other") == 0) return (void *)(uintptr_t)call_other;
  return NULL;
}
static void end(void *state) {
  (void)state;
  n_library_ends += 1;
}
static const fh_library_symbols library = {find_symbol, find_function, end};

static TVMFFIAny new_module(const char *function_name) {
  TVMFFIAny module;
  expect_int(fh_library_module_new(&library, (void *)(uintptr_t)function_name, &module), 0);
  return module;
}
static TVMFFIAny get(TVMFFIAny module, const char *name, int query_imports) {
  return call_ok("ffi.ModuleGetFunction", ARGS(module, raw(name), fh_any_bool(query_imports)));
}
static int64_t call_with(TVMFFIAny func, int64_t value) {
  TVMFFIAny arg = i64(value), result = fh_any_none();
  expect_int(TVMFFIFunctionCall(func.v_obj, &arg, 1, &result), 0);
  return result.v_int64;
}

TEST(module_answers_match_its_symbols) {
  TVMFFIAny module = new_module("twice");
  expect_str(call_ok("ffi.ModuleGetKind", ARGS(module)), "library");
  expect_int(call_int("ffi.ModuleGetPropertyMask", ARGS(module)), 3);
  expect_int(call_int("ffi.ModuleImplementsFunction", ARGS(module, raw("twice"), fh_any_bool(0))), 1);
  expect_int(call_int("ffi.ModuleImplementsFunction", ARGS(module, raw("thrice"), fh_any_bool(1))), 0);
  expect_str(call_ok("ffi.ModuleGetFunctionDoc", ARGS(module, raw("twice"), fh_any_bool(0))), "doubles a number");
  expect_int(call_ok("ffi.ModuleGetFunctionMetadata", ARGS(module, raw("twice"), fh_any_bool(1))).type_index, 0);
  expect_int(get(module, "thrice", 1).type_index, kTVMFFINone);
  expect_str(call_ok("ffi.ModuleInspectSource", ARGS(module, raw(""))), "");
  TVMFFIAny formats = call_ok("ffi.ModuleGetWriteFormats", ARGS(module));
  expect_repr(formats, "()");
  fh_any_drop(&formats);
  expect_call_raises("RuntimeError", "does not support WriteToFile", "ffi.ModuleWriteToFile",
                     ARGS(module, raw("f"), raw("o")));
  expect_call_raises("TypeError", "argument #0 when calling: `ffi.ModuleGetKind`. Expected `ffi.Module`",
                     "ffi.ModuleGetKind", ARGS(i64(1)));
  fh_any_drop(&module);
}

TEST(module_lives_as_long_as_its_functions) {
  n_library_ends = 0;
  TVMFFIAny module = new_module("twice"), func = get(module, "twice", 0);
  expect(context == (char *)module.v_obj - 8);
  fh_any_drop(&module);
  expect_int(n_library_ends, 0);
  expect_int(call_with(func, 21), 42);
  fh_any_drop(&func);
  expect_int(n_library_ends, 1);
  expect(context == NULL);
}

TEST(module_asks_its_imports_in_order) {
  TVMFFIAny a = new_module("a"), b = new_module("b"), c = new_module("c");
  call_int("ffi.ModuleImportModule", ARGS(a, b));
  call_int("ffi.ModuleImportModule", ARGS(b, c));
  expect_int(get(a, "c", 0).type_index, kTVMFFINone);
  TVMFFIAny func = get(a, "c", 1);
  expect_int(call_with(func, 4), 8);
  fh_any_drop(&func);
  expect_int(call_int("ffi.ModuleImplementsFunction", ARGS(a, raw("c"), fh_any_bool(1))), 1);
  expect_call_raises("RuntimeError", "Expected a module that does not import this one", "ffi.ModuleImportModule",
                     ARGS(c, a));
  expect_call_raises("RuntimeError", "Expected a module that does not import this one", "ffi.ModuleImportModule",
                     ARGS(a, a));
  call_int("ffi.ModuleClearImports", ARGS(a));
  expect_int(get(a, "c", 1).type_index, kTVMFFINone);
  fh_any_drop(&a);
  fh_any_drop(&b);
  fh_any_drop(&c);
}

TEST(library_code_finds_functions_of_imports) {
  TVMFFIAny other = new_module("other"), module = new_module("twice"), func = get(module, "call_other", 0), result;
  TVMFFIAny arg = i64(5);
  expect_int(TVMFFIFunctionCall(func.v_obj, &arg, 1, &result), -1);
  expect_raised("RuntimeError", "Expected `other` in an imported module or as a global function but there is none");
  call_int("ffi.ModuleImportModule", ARGS(module, other));
  expect_int(call_with(func, 5), 10);
  call_int("ffi.ModuleClearImports", ARGS(module));
  expect_int(call_with(func, 6), 12); /* the library keeps the function that it has found */
  fh_any_drop(&func);
  fh_any_drop(&module);
  fh_any_drop(&other);
  TVMFFIObjectHandle none;
  expect_int(TVMFFIEnvModLookupFromImports(NULL, "other", &none), -1);
  expect_raised("RuntimeError", "its module is not loaded");
}

TEST(context_symbols_are_stored_into_libraries) {
  int wanted;
  expect_int(TVMFFIEnvModRegisterContextSymbol("test_wanted_symbol", &wanted), 0);
  TVMFFIAny module = new_module("twice");
  expect(wanted_symbol == &wanted);
  fh_any_drop(&module);
}

/* ---- Modules of other makers, here with a table like that of C++ ---- */

typedef struct {
  void (*const *slots)(void);
  fh_module_object base;
} foreign_module;

static int n_foreign_imports;
static const char *foreign_kind(void *self) { return ((foreign_module *)self)->slots != NULL ? "foreign" : NULL; }
static int foreign_mask(void *self) { return ((foreign_module *)self)->slots != NULL ? 5 : 0; }
static _Bool foreign_implements(void *self, const void *name) {
  TVMFFIByteArray text;
  return ((foreign_module *)self)->slots != NULL && fh_str_content((const TVMFFIAny *)name, &text) &&
         fh_span_is(text, "f");
}
FH_RETURNING(foreign_get, self, ret, name) {
  TVMFFIObjectHandle func = foreign_implements(self, name) ? test_echo() : NULL;
  if (func != NULL) fh_object_retain(func);
  memcpy(ret, &func, sizeof(func));
  FH_RETURNING_END(ret);
}
FH_RETURNING(foreign_source, self, ret, format) {
  TVMFFIAny text = *(const TVMFFIAny *)format;
  (void)self;
  if (fh_any_is_object(&text)) fh_object_retain(text.v_obj);
  memcpy(ret, &text, sizeof(text));
  FH_RETURNING_END(ret);
}
static void foreign_import(void *self, const void *other) {
  n_foreign_imports += ((foreign_module *)self)->slots != NULL && *(void *const *)other != NULL;
}
static void (*const foreign_slots[FH_SLOT_COUNT])(void) = {
    [FH_SLOT_KIND] = (fh_module_code)foreign_kind,        [FH_SLOT_PROPERTY_MASK] = (fh_module_code)foreign_mask,
    [FH_SLOT_GET_FUNCTION] = (fh_module_code)foreign_get, [FH_SLOT_IMPLEMENTS] = (fh_module_code)foreign_implements,
    [FH_SLOT_SOURCE] = (fh_module_code)foreign_source,    [FH_SLOT_IMPORT] = (fh_module_code)foreign_import,
};

/* Replaces the C++ side that catches exceptions. */
static int catcher_fails;
static int catch_cxx(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)result;
  expect_int(n, 2);
  if (catcher_fails) return fh_error_raise("ValueError", "it threw");
  ((void (*)(void *))(uintptr_t)args[0].v_ptr)(args[1].v_ptr);
  return 0;
}

static void use_foreign(TVMFFIAny module, TVMFFIAny other) {
  expect_str(call_ok("ffi.ModuleGetKind", ARGS(module)), "foreign");
  expect_int(call_int("ffi.ModuleGetPropertyMask", ARGS(module)), 5);
  expect_str(call_ok("ffi.ModuleInspectSource", ARGS(module, raw("a long source format"))), "a long source format");
  expect_int(call_int("ffi.ModuleImplementsFunction", ARGS(module, raw("f"), fh_any_bool(0))), 1);
  TVMFFIAny func = get(module, "f", 0);
  expect(func.v_obj == test_echo());
  fh_any_drop(&func);
  expect_int(get(module, "g", 0).type_index, kTVMFFINone);
  call_int("ffi.ModuleImportModule", ARGS(module, other));
}

TEST(modules_of_others_are_called_through_their_table) {
  foreign_module foreign = {foreign_slots, {{0}, NULL, NULL}};
  TVMFFIObjectHandle catcher;
  fh_object_init(&foreign.base.header, kTVMFFIModule, NULL);
  TVMFFIAny module = obj(&foreign.base), other = new_module("twice");
  use_foreign(module, other);
  expect_int(TVMFFIFunctionCreate(NULL, catch_cxx, NULL, &catcher), 0);
  expect_int(test_set_global(text_of("ffi_hpy.catch_cxx"), catcher, 1), 0);
  fh_object_release(catcher);
  use_foreign(module, other);
  expect_int(n_foreign_imports, 2);
  catcher_fails = 1;
  expect_call_raises("ValueError", "it threw", "ffi.ModuleGetKind", ARGS(module));
  expect_str(call_ok("ffi.ModuleGetKind", ARGS(other)),
             "library"); /* the core calls its own modules without the catcher */
  fh_global_remove(text_of("ffi_hpy.catch_cxx"));
  fh_any_drop(&other);
}

TEST(a_load_can_be_failed_only_where_there_is_one) {
  expect_int(call_int("ffi_hpy.fail_load", ARGS(raw("a reason"))), 0);
  expect_call_raises("TypeError", "Expected 1 but got 0 arguments", "ffi_hpy.fail_load", NO_ARGS);
  expect_call_raises("TypeError", "Expected `str` but got `int`", "ffi_hpy.fail_load", ARGS(i64(1)));
}

/* ---- The interface for libtvm_ffi_cxx.so ---- */

static int type_info, n_thrown;
static void throw_pending(void) { /* replaces C++ code that throws: takes the pending error */
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  expect(error != NULL);
  TVMFFIObjectDecRef(error);
  n_thrown += 1;
}
static TVMFFIAny address(void *p) { return fh_any_ptr(p); }
static void attach(void *info, void (*thrower)(void)) {
  TVMFFIAny nothing = call_ok("ffi_hpy.module_attach_cxx", ARGS(address(info), address((void *)(uintptr_t)thrower)));
  expect_int(nothing.type_index, kTVMFFINone);
}

TEST(library_modules_throw_through_their_table_when_somebody_can) {
  TVMFFIAny module = new_module("twice");
  void *self = fh_module_this(module.v_obj);
  fh_module_code const *slots = fh_module_slots(module.v_obj);
  const fh_module_table *table =
      (const fh_module_table *)(const void *)((const char *)slots - offsetof(fh_module_table, slots));
  void (*write)(void *, const void *, const void *) =
      (void (*)(void *, const void *, const void *))slots[FH_SLOT_WRITE];
  void (*import)(void *, const void *) = (void (*)(void *, const void *))slots[FH_SLOT_IMPORT];
  fh_module_returned bytes;
  attach(&type_info, throw_pending);
  expect(table->type_info == &type_info);
  n_thrown = 0;
  write(self, NULL, NULL);
  import(self, &module.v_obj);
  fh_module_call_returning(slots[FH_SLOT_SAVE_TO_BYTES], self, NULL, &bytes);
  expect_int(n_thrown, 3);
  attach(NULL, NULL);
  write(self, NULL, NULL);
  expect_raised("RuntimeError", "does not support WriteToFile");
  expect_int(n_thrown, 3);
  expect_call_raises("TypeError", "Expected 2 but got 0 arguments", "ffi_hpy.module_attach_cxx", NO_ARGS);
  expect_call_raises("TypeError", "argument #0", "ffi_hpy.module_attach_cxx", ARGS(i64(1), i64(2)));
  fh_any_drop(&module);
}

static void *formats_without_memory(TVMFFIObject *module) {
  fh_module_returned returned;
  fh_mem_fail_from(1);
  fh_module_call_returning(fh_module_slots(module)[FH_SLOT_WRITE_FORMATS], fh_module_this(module), NULL, &returned);
  fh_mem_fail_nth(0);
  void *formats; /* the C++ result is one pointer */
  memcpy(&formats, &returned, sizeof(formats));
  return formats;
}
TEST(a_library_module_without_memory_for_its_formats_throws_or_leaves_no_error) {
  TVMFFIAny module = new_module("twice");
  attach(&type_info, throw_pending);
  n_thrown = 0;
  expect(formats_without_memory(module.v_obj) == NULL);
  expect_int(n_thrown, 1);
  attach(NULL, NULL);
  expect(formats_without_memory(module.v_obj) == NULL); /* the harness checks that no error is pending */
  fh_any_drop(&module);
}

TEST(the_base_class_of_modules_imports_without_asking_their_table) {
  foreign_module foreign = {foreign_slots, {{0}, NULL, NULL}};
  fh_object_init(&foreign.base.header, kTVMFFIModule, NULL);
  TVMFFIAny module = obj(&foreign.base), other = new_module("twice");
  n_foreign_imports = 0;
  call_int("ffi_hpy.module_add_import", ARGS(module, other));
  expect_int(n_foreign_imports, 0);
  TVMFFIAny func = get(module, "twice", 1);
  expect_int(call_with(func, 4), 8);
  fh_any_drop(&func);
  expect_call_raises("RuntimeError", "Expected a module that does not import this one", "ffi_hpy.module_add_import",
                     ARGS(other, module));
  call_int("ffi_hpy.module_drop_imports", ARGS(module));
  expect_int(get(module, "twice", 1).type_index, kTVMFFINone);
  expect_call_raises("TypeError", "argument #1 when calling: `ffi_hpy.module_add_import`. Expected `ffi.Module`",
                     "ffi_hpy.module_add_import", ARGS(module, i64(1)));
  expect_call_raises("TypeError", "Expected `ffi.Module`", "ffi_hpy.module_drop_imports", ARGS(i64(1)));
  fh_object_release(foreign.base.imports);
  fh_any_drop(&other);
}

static int n_visited;
static int visit(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  TVMFFIByteArray name;
  (void)self, (void)result;
  expect_int(n, 2);
  expect(fh_str_content(&args[0], &name));
  if (fh_span_is(name, "test_refused_symbol")) return fh_error_raise("ValueError", "not this one");
  n_visited += fh_span_is(name, "test_visited_symbol") && args[1].v_ptr == &n_visited;
  return 0;
}
static int visit_all(void *visitor) {
  TVMFFIAny nothing;
  return call_n("ffi_hpy.visit_context_symbols", ARGS(obj(visitor)), &nothing);
}

TEST(context_symbols_are_visited) {
  TVMFFIObjectHandle visitor;
  expect_int(TVMFFIEnvModRegisterContextSymbol("test_visited_symbol", &n_visited), 0);
  expect_int(TVMFFIFunctionCreate(NULL, visit, NULL, &visitor), 0);
  test_sweep(visit_all, visitor);
  expect(n_visited >= 1);
  expect_int(TVMFFIEnvModRegisterContextSymbol("test_refused_symbol", &n_visited), 0);
  expect_int(visit_all(visitor), -1);
  expect_raised("ValueError", "not this one");
  fh_object_release(visitor);
  expect_call_raises("TypeError", "Expected `ffi.Function`", "ffi_hpy.visit_context_symbols", ARGS(i64(1)));
}

TEST(the_cxx_names_may_be_asked_for_anywhere) { /* this program has no library of the C++ names */
  call_int("ffi_hpy.load_cxx", NO_ARGS);
  call_int("ffi_hpy.load_cxx", NO_ARGS);
  expect_call_raises("TypeError", "Expected 0 but got 1 arguments", "ffi_hpy.load_cxx", ARGS(i64(1)));
}

/* ---- Embedded modules ---- */

static int load_embedded(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  TVMFFIByteArray content;
  (void)self, (void)n;
  expect(fh_bytes_content(&args[0], &content));
  expect_int((int64_t)content.size, 3);
  void *kept = blob;
  blob = NULL;
  *result = new_module("embedded");
  blob = kept;
  return 0;
}
static size_t put(unsigned char *at, uint64_t value) {
  for (int i = 0; i < 8; ++i) at[i] = (unsigned char)(value >> (8 * i));
  return 8;
}
static size_t put_text(unsigned char *at, const char *text) {
  put(at, strlen(text));
  memcpy(at + 8, text, strlen(text));
  return 8 + strlen(text);
}

TEST(embedded_modules_are_loaded_and_linked) {
  unsigned char bytes[256] = {0}, *p = bytes + 8;
  TVMFFIObjectHandle loader;
  p += put(p, 3), p += put(p, 0), p += put(p, 1), p += put(p, 1); /* module 0 imports one module, module 1 none */
  p += put(p, 1), p += put(p, 1);
  p += put_text(p, "_lib"), p += put_text(p, "testkind"), p += put_text(p, "abc");
  put(bytes, (uint64_t)(p - bytes - 8));
  blob = bytes;
  TVMFFIAny module;
  expect_int(fh_library_module_new(&library, (void *)(uintptr_t)"twice", &module), -1);
  expect_raised("RuntimeError", "expected a global function ffi.Module.load_from_bytes.testkind");
  expect_int(TVMFFIFunctionCreate(NULL, load_embedded, NULL, &loader), 0);
  expect_int(test_set_global(text_of("ffi.Module.load_from_bytes.testkind"), loader, 1), 0);
  fh_object_release(loader);
  module = new_module("twice");
  TVMFFIAny func = get(module, "embedded", 1);
  expect_int(call_with(func, 1), 2);
  fh_any_drop(&func);
  fh_any_drop(&module);
  fh_global_remove(text_of("ffi.Module.load_from_bytes.testkind"));
  for (uint64_t n = 0; n < (uint64_t)(p - bytes - 8);
       ++n) { /* a blob that is cut off at any byte is an error, and nothing beyond its end is read */
    put(bytes, n);
    expect_int(fh_library_module_new(&library, (void *)(uintptr_t)"twice", &module), -1);
    expect_raised("RuntimeError", "");
  }
  blob = NULL;
}

TEST(embedded_modules_that_claim_more_bytes_than_the_library_has_are_an_error) {
  static unsigned char bytes[64]; /* in a segment of this program, like an embedded blob in a segment of its library */
  static const uint64_t absurd[] = {UINT64_C(1) << 40, UINT64_MAX - 8, UINT64_MAX};
  TVMFFIAny module;
  blob = bytes;
  for (size_t i = 0; i < FH_COUNT_OF(absurd); ++i) {
    put(bytes, absurd[i]);
    expect_int(fh_library_module_new(&library, (void *)(uintptr_t)"absurd", &module), -1);
    expect_raised("RuntimeError", "are broken: they are longer than the library");
  }
  put(bytes, UINT64_C(1) << 40);
  expect(fh_loader_room(bytes) >= sizeof(bytes) && fh_loader_room(bytes) < UINT64_C(1) << 40);
  blob = NULL;
}

/* ---- Loading ---- */

TEST(loading_errors_name_the_fault) {
  expect_call_raises("RuntimeError", "Expected a file name with an extension but got nodot", "ffi.ModuleLoadFromFile",
                     ARGS(raw("nodot")));
  expect_call_raises("RuntimeError", "no loader for `.zzz` files is registered", "ffi.ModuleLoadFromFile",
                     ARGS(raw("a.zzz")));
  expect_call_raises("InternalError", "Cannot load library /nowhere/x.dylib", "ffi.ModuleLoadFromFile",
                     ARGS(raw("/nowhere/x.dylib")));
  expect_call_raises("TypeError", "Expected 1 but got 0 arguments", "ffi.ModuleLoadFromFile", NO_ARGS);
}

TEST(a_shared_library_loads) {
  TVMFFIAny module = call_ok("ffi.Module.load_from_file.so", ARGS(raw(TEST_SYSTEM_LIBRARY), raw("so")));
  expect_int(get(module, "no_such_function", 0).type_index, kTVMFFINone);
  call_int("ffi.ModuleGlobalsAdd", ARGS(module));
  call_int("ffi.ModuleGlobalsAdd", ARGS(module));
  call_int("ffi.ModuleGlobalsRemove", ARGS(module));
  call_int("ffi.ModuleGlobalsRemove", ARGS(module));
  fh_any_drop(&module);
}

TEST(system_library_finds_registered_symbols) {
  expect_int(TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_pre_sys", (void *)(uintptr_t)twice), 0);
  expect_int(TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_pre_sys", (void *)(uintptr_t)twice), 0);
  TVMFFIAny module = call_ok("ffi.SystemLib", ARGS(raw("pre_"))), again = call_ok("ffi.SystemLib", ARGS(raw("pre_")));
  TVMFFIAny plain = call_ok("ffi.SystemLib", NO_ARGS);
  expect(module.v_obj == again.v_obj);
  expect(module.v_obj != plain.v_obj);
  TVMFFIAny func = get(module, "sys", 0);
  expect_int(call_with(func, 3), 6);
  fh_any_drop(&func);
  func = get(plain, "pre_sys", 0);
  expect_int(call_with(func, 3), 6);
  fh_any_drop(&func);
  expect_int(get(plain, "sys", 0).type_index, kTVMFFINone);
  fh_any_drop(&module);
  fh_any_drop(&again);
  fh_any_drop(&plain);
  test_keeps(2 * SYSTEM_MODULE_BLOCKS); /* the module of "pre_", and the module without a prefix */
}

static int use_modules(void *state) {
  TVMFFIAny a, b, func = fh_any_none(), rest;
  (void)state;
  if (fh_library_module_new(&library, (void *)(uintptr_t)"a", &a) != 0) return -1;
  if (fh_library_module_new(&library, (void *)(uintptr_t)"b", &b) != 0) {
    fh_any_drop(&a);
    return -1;
  }
  int rc = call_n("ffi.ModuleImportModule", ARGS(a, b), &rest);
  if (rc == 0) rc = call_n("ffi.ModuleGetFunction", ARGS(a, raw("b"), fh_any_bool(1)), &func);
  fh_any_drop(&a);
  fh_any_drop(&b);
  fh_any_drop(&func);
  return rc;
}
TEST(modules_survive_missing_memory) { test_sweep(use_modules, NULL); }
