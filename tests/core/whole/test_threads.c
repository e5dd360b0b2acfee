/* test_threads.c - operations that several threads may run at once. Each test has writers and readers, for
 * ThreadSanitizer. */
#include "core/container/hashmap.h"
#include "core/module/library_module.h"
#include "core/module/module.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "support/calls.h"

enum { N_THREADS = 4, N_ROUNDS = 400 };

/* Pseudo-random numbers, the same in each run. */
static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* A call that may only fail because the container has become shorter or lost a key. */
static void try_call(const char *name, const TVMFFIAny *args, int32_t n) {
  TVMFFIAny result;
  if (call_n(name, args, n, &result) == 0) {
    fh_any_drop(&result);
    return;
  }
  TVMFFIObject *error = fh_error_take();
  TVMFFIByteArray kind = TVMFFIErrorGetCellPtr(error)->kind;
  expect(fh_span_is(kind, "IndexError") || fh_span_is(kind, "KeyError"));
  fh_object_release(error);
}

/* ---- Containers ---- */

static void use_list(void *state, int thread) {
  TVMFFIAny list = *(TVMFFIAny *)state, text = raw("a text longer than seven");
  uint32_t random = (uint32_t)thread;
  for (int round = 0; round < N_ROUNDS; ++round) {
    TVMFFIAny i = i64(next_random(&random) % 8), j = i64(next_random(&random) % 12);
    switch (next_random(&random) % 14) {
    case 0:
    case 1: try_call("ffi.ListAppend", ARGS(list, text)); break;
    case 2: try_call("ffi.ListInsert", ARGS(list, i, text)); break;
    case 3: try_call("ffi.ListSetItem", ARGS(list, i, text)); break;
    case 4: try_call("ffi.ListGetItem", ARGS(list, i)); break;
    case 5: try_call("ffi.ListPop", ARGS(list, i)); break;
    case 6: try_call("ffi.ListErase", ARGS(list, i)); break;
    case 7: try_call("ffi.ListEraseRange", ARGS(list, i, j)); break;
    case 8: try_call("ffi.ListReplaceSlice", ARGS(list, i, j, list)); break;
    case 9: try_call("ffi.ListReverse", ARGS(list)); break;
    case 10: try_call("ffi.ListContains", ARGS(list, text)); break;
    case 11: try_call("ffi.ListReserve", ARGS(list, j)); break;
    case 12: try_call("ffi.ReprPrint", ARGS(list)); break;
    default: try_call(call_int("ffi.ListSize", ARGS(list)) > 50 ? "ffi.ListClear" : "ffi.ListSize", ARGS(list)); break;
    }
  }
}

TEST(every_list_function_is_safe_from_many_threads) {
  TVMFFIAny list = call_ok("ffi.List", NO_ARGS);
  test_threads(N_THREADS, use_list, &list);
  fh_any_drop(&list);
}

static void iterate(TVMFFIAny dict) {
  TVMFFIAny it = call_ok("ffi.DictForwardIterFunctor", ARGS(dict));
  for (int n = 0; n < 10; ++n) {
    for (int command = 0; command < 3; ++command) {
      TVMFFIAny argument = i64(command), result;
      if (fh_function_call(it.v_obj, &argument, 1, &result) == 0) {
        fh_any_drop(&result);
      } else {
        expect_raised("IndexError", "past the end");
      }
    }
  }
  fh_any_drop(&it);
}

static void use_dict(void *state, int thread) {
  TVMFFIAny dict = *(TVMFFIAny *)state, text = raw("a text longer than seven");
  uint32_t random = (uint32_t)thread;
  for (int round = 0; round < N_ROUNDS; ++round) {
    TVMFFIAny key = i64(next_random(&random) % 40);
    switch (next_random(&random) % 10) {
    case 0:
    case 1: try_call("ffi.DictSetItem", ARGS(dict, key, text)); break;
    case 2: try_call("ffi.DictSetItem", ARGS(dict, text, key)); break;
    case 3: try_call("ffi.DictGetItem", ARGS(dict, key)); break;
    case 4: try_call("ffi.DictGetItemOrMissing", ARGS(dict, text)); break;
    case 5: try_call("ffi.DictErase", ARGS(dict, key)); break;
    case 6: try_call("ffi.DictCount", ARGS(dict, key)); break;
    case 7: try_call("ffi.ReprPrint", ARGS(dict)); break;
    case 8: iterate(dict); break;
    default: try_call(round % 50 == 0 ? "ffi.DictClear" : "ffi.DictSize", ARGS(dict)); break;
    }
  }
}

TEST(every_dict_function_is_safe_from_many_threads) {
  TVMFFIAny dict = call_ok("ffi.Dict", NO_ARGS);
  test_threads(N_THREADS, use_dict, &dict);
  expect(fh_hashmap_is_valid((fh_hashmap_object *)dict.v_obj));
  fh_any_drop(&dict);
}

static void use_constants(void *state, int thread) {
  TVMFFIAny *shared = (TVMFFIAny *)state; /* an Array, and a Map made of it */
  (void)thread;
  for (int round = 0; round < N_ROUNDS; ++round) {
    TVMFFIAny array = call_ok("ffi.MapGetItem", ARGS(shared[1], raw("a key longer than seven")));
    expect(array.v_obj == shared[0].v_obj);
    try_call("ffi.ArrayContains", ARGS(array, raw("a text longer than seven")));
    try_call("ffi.ReprPrint", ARGS(shared[1]));
    fh_any_drop(&array);
  }
}

TEST(arrays_and_maps_are_read_by_many_threads) {
  TVMFFIAny shared[2];
  shared[0] = call_ok("ffi.Array", ARGS(raw("a text longer than seven"), i64(1)));
  shared[1] = call_ok("ffi.Map", ARGS(raw("a key longer than seven"), shared[0]));
  test_threads(N_THREADS, use_constants, shared);
  expect_int(fh_object_use_count(shared[0].v_obj), 2);
  fh_any_drop(&shared[1]);
  fh_any_drop(&shared[0]);
}

/* ---- Registries: every thread writes, and all threads read the others' entries ---- */

static int read_nothing(void *field, TVMFFIAny *out) {
  (void)field;
  *out = fh_any_none();
  return 0;
}

static int32_t shared_type(void) { return test_add_child("test.threads.Shared", kTVMFFIObject, 0); }

static void declare_members(int32_t type_index, int thread, int n) {
  char name[40];
  TVMFFIFieldInfo field;
  TVMFFIMethodInfo method;
  memset(&field, 0, sizeof(field));
  memset(&method, 0, sizeof(method));
  snprintf(name, sizeof(name), "member_%d_%d", thread, n);
  field.name = method.name = text_of(name);
  field.getter = read_nothing;
  method.method = obj(test_echo());
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  expect_int(TVMFFITypeRegisterMethod(type_index, &method), 0);
}

static void give_attribute(int thread, int n) {
  char column[40], key[40];
  snprintf(column, sizeof(column), "test.threads.column%d", n);
  snprintf(key, sizeof(key), "test.threads.Type%d_%d", thread, n);
  TVMFFIByteArray name = text_of(column);
  TVMFFIAny value = i64(thread + 1);
  int32_t type_index = test_add_child(key, kTVMFFIObject, 0);
  expect_int(TVMFFITypeRegisterAttr(type_index, &name, &value), 0);
  expect_int(fh_reflect_attr(TVMFFIGetTypeAttrColumn(&name), type_index)->v_int64, thread + 1);
}

/* Checks that all members that any thread has declared so far are complete. */
static void read_members(int32_t type_index, int n) {
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  for (int thread = 0; thread < N_THREADS; ++thread) {
    char name[40];
    snprintf(name, sizeof(name), "member_%d_%d", thread, n);
    const TVMFFIFieldInfo *field = test_find_field(info, text_of(name));
    const TVMFFIMethodInfo *method = test_find_method(info, text_of(name));
    expect(field == NULL || field->getter == read_nothing);
    expect(method == NULL || method->method.v_obj == test_echo());
  }
  TVMFFIAny keys = call_ok("ffi.GetRegisteredTypeKeys", NO_ARGS);
  fh_any_drop(&keys);
}

enum { N_MEMBERS = 60 };

static void declare_and_read(void *unused, int thread) {
  int32_t type_index = shared_type();
  (void)unused;
  for (int n = 0; n < N_MEMBERS; ++n) {
    declare_members(type_index, thread, n);
    give_attribute(thread, n);
    read_members(type_index, n);
  }
}

TEST(many_threads_declare_types_members_and_columns) {
  test_threads(N_THREADS, declare_and_read, NULL);
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(shared_type());
  expect_int(info->num_fields, N_THREADS * N_MEMBERS);
  expect_int(info->num_methods, N_THREADS * N_MEMBERS);
}

static void use_globals(void *unused, int thread) {
  (void)unused;
  for (int n = 0; n < N_MEMBERS; ++n) {
    char name[40];
    TVMFFIAny names;
    snprintf(name, sizeof(name), "test.threads.global%d", n); /* shared by all threads */
    TVMFFIByteArray text = text_of(name);
    expect_int(TVMFFIFunctionSetGlobal(&text, test_echo(), 1), 0);
    names = call_ok("ffi.FunctionListGlobalNamesFunctor", NO_ARGS);
    fh_any_drop(&names);
    if (call_n("ffi.GetGlobalFuncMetadata", ARGS(raw(name)), &names) == 0) {
      fh_any_drop(&names);
    } else {
      expect_raised("RuntimeError", "but there is none");
    }
    if (thread == 0) call_int("ffi.FunctionRemoveGlobal", ARGS(raw(name)));
  }
}

TEST(many_threads_name_list_and_remove_global_functions) {
  test_threads(N_THREADS, use_globals, NULL);
  for (int n = 0; n < N_MEMBERS; ++n) {
    char name[40];
    snprintf(name, sizeof(name), "test.threads.global%d", n);
    fh_global_remove(text_of(name));
  }
}

/* ---- First use ---- */

static int make_object(void **result) {
  static int ends;
  *result = test_object_new(&ends);
  return *result != NULL ? 0 : -1;
}
static void *handles[N_ROUNDS];

static void use_handles(void *unused, int thread) {
  (void)unused, (void)thread;
  for (int n = 0; n < N_ROUNDS; ++n) {
    expect_int(TVMFFIHandleInitOnce(&handles[n], make_object), 0);
    expect_int(fh_object_type_index(handles[n]), kTVMFFIObject);
    TVMFFIObjectIncRef(handles[n]);
    TVMFFIObjectDecRef(handles[n]);
  }
}

TEST(many_threads_use_the_same_handles_first) {
  test_threads(N_THREADS, use_handles, NULL);
  for (int n = 0; n < N_ROUNDS; ++n) {
    expect_int(fh_object_use_count(handles[n]), 1); /* the handle was created once */
    TVMFFIObjectDecRef(handles[n]);
  }
}

/* ---- Modules ---- */

static int answer(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n;
  *result = i64(7);
  return 0;
}
static void *find_symbol(const void *state, const char *symbol) { return (void)state, (void)symbol, NULL; }
static void *find_function(const void *state, const char *name) {
  return strcmp(name, (const char *)state) == 0 ? (void *)(uintptr_t)answer : NULL;
}
static const fh_library_symbols library = {find_symbol, find_function, NULL};
static TVMFFIAny new_module(const char *function) {
  TVMFFIAny module;
  expect_int(fh_library_module_new(&library, (void *)(uintptr_t)function, &module), 0);
  return module;
}

static void use_module(void *state, int thread) {
  TVMFFIAny module = *(TVMFFIAny *)state;
  for (int round = 0; round < N_ROUNDS / 4; ++round) {
    if (thread == 0) {
      TVMFFIAny other = new_module("imported");
      try_call("ffi.ModuleImportModule", ARGS(module, other));
      fh_any_drop(&other);
      if (round % 5 == 4) try_call("ffi.ModuleClearImports", ARGS(module));
    }
    TVMFFIAny own = call_ok("ffi.ModuleGetFunction", ARGS(module, raw("own"), fh_any_bool(1)));
    TVMFFIAny imported = call_ok("ffi.ModuleGetFunction", ARGS(module, raw("imported"), fh_any_bool(1)));
    expect_int(fh_function_call_drop(own.v_obj, NULL, 0), 0);
    if (fh_any_is_object(&imported)) expect_int(fh_function_call_drop(imported.v_obj, NULL, 0), 0);
    fh_any_drop(&own);
    fh_any_drop(&imported);
    try_call("ffi.ModuleGlobalsAdd", ARGS(module));
    try_call("ffi.ModuleGlobalsRemove", ARGS(module));
  }
}

TEST(a_module_is_asked_by_many_threads_while_one_imports) {
  TVMFFIAny module = new_module("own");
  int64_t before = fh_mem_live_blocks();
  test_threads(N_THREADS, use_module, &module);
  try_call("ffi.ModuleClearImports", ARGS(module));
  expect_int(fh_mem_live_blocks(), before);
  fh_any_drop(&module);
}

enum { N_IMPORTS = 500 };

static void import_again_and_again(void *state, int thread) {
  const TVMFFIAny *modules = (const TVMFFIAny *)state;
  (void)thread;
  for (int n = 0; n < N_IMPORTS; ++n) call_int("ffi.ModuleImportModule", modules, 2);
}

TEST(no_import_of_many_threads_is_lost) {
  TVMFFIAny modules[2] = {new_module("own"), new_module("imported")};
  test_threads(N_THREADS, import_again_and_again, modules);
  fh_seq_object *imports = fh_module_imports((fh_module_object *)modules[0].v_obj);
  expect_int(fh_seq_size(imports), N_THREADS * N_IMPORTS);
  fh_object_release(imports);
  fh_any_drop(&modules[0]);
  fh_any_drop(&modules[1]);
}

typedef struct {
  TVMFFIAny modules[N_THREADS];
  int is_refused[N_THREADS];
} ring;

static void import_the_next(void *state, int thread) {
  ring *r = (ring *)state;
  TVMFFIAny nothing;
  TVMFFIAny args[2] = {r->modules[thread], r->modules[(thread + 1) % N_THREADS]};
  r->is_refused[thread] = call_n("ffi.ModuleImportModule", args, 2, &nothing) != 0;
  if (r->is_refused[thread]) expect_raised("RuntimeError", "does not import this one");
}

/* A module that imports other modules, so that a search in it takes some time. */
static TVMFFIAny new_importer(void) {
  TVMFFIAny module = new_module("own");
  for (int i = 0; i < 20; ++i) {
    TVMFFIAny other = new_module("imported");
    call_int("ffi.ModuleImportModule", ARGS(module, other));
    fh_any_drop(&other);
  }
  return module;
}

TEST(of_modules_that_import_one_another_in_a_ring_one_is_refused) {
  for (int round = 0; round < N_ROUNDS / 2; ++round) {
    ring r;
    int n_refused = 0;
    for (int i = 0; i < N_THREADS; ++i) r.modules[i] = new_importer();
    test_threads(N_THREADS, import_the_next, &r);
    for (int i = 0; i < N_THREADS; ++i) n_refused += r.is_refused[i];
    expect_int(n_refused, 1);
    for (int i = 0; i < N_THREADS; ++i) fh_any_drop(&r.modules[i]);
  }
}

static void use_system_library(void *unused, int thread) {
  (void)unused;
  for (int n = 0; n < N_MEMBERS; ++n) {
    char symbol[60], context[40];
    snprintf(symbol, sizeof(symbol), "__tvm_ffi_threads%d_answer", n);
    snprintf(context, sizeof(context), "test_threads_context%d_%d", thread, n);
    expect_int(TVMFFIEnvModRegisterSystemLibSymbol(symbol, (void *)(uintptr_t)answer), 0);
    expect_int(TVMFFIEnvModRegisterContextSymbol(context, handles), 0);
    snprintf(symbol, sizeof(symbol), "threads%d_", n);
    TVMFFIAny module = call_ok("ffi.SystemLib", ARGS(raw(symbol)));
    TVMFFIAny function = call_ok("ffi.ModuleGetFunction", ARGS(module, raw("answer"), fh_any_bool(0)));
    expect_int(fh_function_call_drop(function.v_obj, NULL, 0), 0);
    fh_any_drop(&function);
    fh_any_drop(&module);
  }
}

TEST(many_threads_fill_and_ask_the_system_library) {
  test_threads(N_THREADS, use_system_library, NULL);
  test_keeps(N_MEMBERS * SYSTEM_MODULE_BLOCKS); /* all threads get the same modules */
}
