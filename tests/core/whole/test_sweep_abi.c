/* test_sweep_abi.c - every exported function with its n-th allocation failing, for each n.
 *
 * run.py writes exported_names.h from the public headers; a function without a row in the table fails the test. */
#include "core/module/library_module.h"
#include "core/module/module_virtual.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "support/calls.h"

static const char *const exported_names[] = {
#include "exported_names.h"
};

static int n_calls; /* makes new names */
static TVMFFIByteArray fresh_name(void) {
  static char name[64];
  snprintf(name, sizeof(name), "test.sweep_abi.name%d", ++n_calls);
  return text_of(name);
}

static int drop(int rc, TVMFFIAny *value) {
  if (rc == 0) fh_any_drop(value);
  return rc;
}
static int release(int rc, TVMFFIObjectHandle *object) {
  if (rc == 0) fh_object_release(*object);
  return rc;
}

/* ---- Objects and functions ---- */

static int get_version(void *unused) {
  (void)unused;
  TVMFFIVersion version;
  TVMFFIGetVersion(&version);
  return 0;
}
static int inc_and_dec_ref(void *unused) {
  (void)unused;
  return TVMFFIObjectIncRef(test_echo()) | TVMFFIObjectDecRef(test_echo());
}
static void end_nothing(void *handle) { (void)handle; }
static int create_opaque(void *unused) {
  (void)unused;
  TVMFFIObjectHandle object;
  return release(TVMFFIObjectCreateOpaque(&n_calls, kTVMFFIOpaquePyObject, end_nothing, &object), &object);
}
static int allocate_custom(void *unused) {
  (void)unused;
  TVMFFICustomAllocator *allocator = TVMFFIGetCustomAllocator();
  void *space = allocator->allocate(100, 64, kTVMFFIObject, allocator->context);
  if (space == NULL) return fh_error_raise_no_memory(); /* the allocator raises no error; its callers do */
  ((TVMFFIObjectAllocHeader *)space)[-1].delete_space(space);
  return TVMFFISetCustomAllocator(allocator);
}
static int answer(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n;
  *result = i64(1);
  return 0;
}
static int create_function(void *unused) {
  (void)unused;
  TVMFFIObjectHandle function;
  return release(TVMFFIFunctionCreate(NULL, answer, end_nothing, &function), &function);
}
static int get_global(void *unused) {
  (void)unused;
  TVMFFIByteArray name = text_of("ffi.Array");
  TVMFFIObjectHandle function;
  return release(TVMFFIFunctionGetGlobal(&name, &function), &function);
}
static int set_global(void *unused) {
  (void)unused;
  TVMFFIByteArray name = fresh_name();
  return TVMFFIFunctionSetGlobal(&name, test_echo(), 0);
}
static int set_global_from_info(void *unused) {
  (void)unused;
  TVMFFIMethodInfo info;
  memset(&info, 0, sizeof(info));
  info.name = fresh_name();
  info.doc = text_of("a doc text");
  info.method = obj(test_echo());
  return TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0);
}
static int call_function(void *unused) {
  (void)unused;
  TVMFFIAny result = fh_any_none(), text = raw("a text of some length");
  return drop(TVMFFIFunctionCall(test_echo(), &text, 1, &result), &result);
}
static int own_view(void *unused) {
  (void)unused;
  TVMFFIAny view = raw("a text of some length"), owned;
  return drop(TVMFFIAnyViewToOwnedAny(&view, &owned), &owned);
}

/* ---- Errors: raising one without memory leaves a MemoryError, creating one leaves no error ---- */

static int take_raised(const char *kind) {
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  if (fh_span_is(TVMFFIErrorGetCellPtr(error)->kind, kind)) return release(0, &error);
  TVMFFIErrorSetRaised(error);
  fh_object_release(error);
  return -1;
}
static int raise_text(void *unused) {
  (void)unused;
  TVMFFIErrorSetRaisedFromCStr("ValueError", "a message of some length");
  return take_raised("ValueError");
}
static int raise_parts(void *unused) {
  (void)unused;
  const char *parts[] = {"a message ", "of some length"};
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 2);
  return take_raised("ValueError");
}
static int take_created(int rc, TVMFFIObjectHandle error) {
  if (rc == 0) return release(0, &error);
  expect(!fh_error_is_pending());
  return fh_error_raise_no_memory();
}
static int create_error(void *unused) {
  (void)unused;
  TVMFFIByteArray text = text_of("a text of some length");
  TVMFFIObjectHandle error;
  int rc = TVMFFIErrorCreate(&text, &text, &text, &error);
  return take_created(rc, error);
}
static int create_error_with_cause(void *unused) {
  (void)unused;
  TVMFFIByteArray text = text_of("a text of some length");
  TVMFFIObjectHandle cause, error;
  if (TVMFFIErrorCreate(&text, &text, &text, &cause) != 0) return fh_error_raise_no_memory();
  int rc = TVMFFIErrorCreateWithCauseAndExtraContext(&text, &text, &text, cause, test_echo(), &error);
  fh_object_release(cause);
  return take_created(rc, error);
}
static int trace(void *unused) {
  (void)unused;
  return TVMFFIBacktrace("file.c", 3, "function", 0)->size > 0 ? 0 : fh_error_raise_no_memory();
}

/* ---- Tensors ---- */

static int64_t dims[2] = {2, 3}, strides[2] = {3, 1};
static float elements[6];
static const DLTensor described = {elements, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, dims, strides, 0};
static DLManagedTensor managed = {{elements, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, dims, NULL, 0}, NULL, NULL};
static DLManagedTensorVersioned versioned = {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
                                             NULL,
                                             NULL,
                                             0,
                                             {elements, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, dims, NULL, 0}};

static int from_dlpack(void *unused) {
  (void)unused;
  TVMFFIObjectHandle tensor;
  return release(TVMFFITensorFromDLPack(&managed, 0, 1, &tensor), &tensor);
}
static int from_versioned(void *unused) {
  (void)unused;
  TVMFFIObjectHandle tensor;
  return release(TVMFFITensorFromDLPackVersioned(&versioned, 0, 1, &tensor), &tensor);
}
/* The tensor that the next three functions use. The tensor is made before allocations fail. */
static TVMFFIObjectHandle source;
static int to_dlpack(void *unused) {
  (void)unused;
  DLManagedTensor *out;
  int rc = TVMFFITensorToDLPack(source, &out);
  if (rc == 0) out->deleter(out);
  return rc;
}
static int to_versioned(void *unused) {
  (void)unused;
  DLManagedTensorVersioned *out;
  int rc = TVMFFITensorToDLPackVersioned(source, &out);
  if (rc == 0) out->deleter(out);
  return rc;
}
static int view_tensor(void *unused) {
  (void)unused;
  TVMFFIObjectHandle view;
  return release(TVMFFITensorCreateUnsafeView(source, &described, &view), &view);
}
static int give_versioned(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                          void (*raise)(void *error_ctx, const char *kind, const char *message)) {
  (void)prototype, (void)error_ctx, (void)raise;
  *out = &versioned;
  return 0;
}
static int alloc_tensor(void *unused) {
  (void)unused;
  DLTensor prototype = described;
  DLPackManagedTensorAllocator before;
  TVMFFIObjectHandle tensor;
  if (TVMFFIEnvSetDLPackManagedTensorAllocator(give_versioned, 0, &before) != 0) return -1;
  expect(TVMFFIEnvGetDLPackManagedTensorAllocator() == give_versioned);
  int rc = TVMFFIEnvTensorAlloc(&prototype, &tensor);
  expect_int(TVMFFIEnvSetDLPackManagedTensorAllocator(before, 0, NULL), 0);
  return release(rc, &tensor);
}

/* ---- Values ---- */

static int new_text(void *unused) {
  (void)unused;
  TVMFFIByteArray text = text_of("a text of some length");
  TVMFFIAny value;
  return drop(TVMFFIStringFromByteArray(&text, &value), &value);
}
static int new_bytes(void *unused) {
  (void)unused;
  TVMFFIByteArray text = text_of("a text of some length");
  TVMFFIAny value;
  return drop(TVMFFIBytesFromByteArray(&text, &value), &value);
}
static int new_big_int(void *unused) {
  (void)unused;
  int64_t words[2] = {0, 1};
  TVMFFIByteArray content = {(const char *)words, sizeof(words)};
  TVMFFIAny value;
  int rc = TVMFFIBigIntFromByteArray(&content, &value);
  if (rc == 0) expect_int(TVMFFIBigIntGetContentByteArray(&value).size, sizeof(words));
  return drop(rc, &value);
}
static int parse_dtype(void *unused) {
  (void)unused;
  TVMFFIByteArray good = text_of("float32x4");
  DLDataType dtype;
  return TVMFFIDataTypeFromString(&good, &dtype);
}
static int print_dtype(void *unused) {
  (void)unused;
  DLDataType dtype = {kDLFloat8_e4m3fn, 8, 16};
  TVMFFIAny text;
  return drop(TVMFFIDataTypeToString(&dtype, &text), &text);
}

/* ---- Types: registrations stay ---- */

static int32_t fresh_type(void) {
  TVMFFIByteArray key = fresh_name();
  return TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, kTVMFFIObject);
}
static int add_type(void *unused) {
  (void)unused;
  return fresh_type() > 0 ? 0 : -1;
}
static int find_type(void *unused) {
  (void)unused;
  TVMFFIByteArray key = text_of("ffi.String");
  int32_t type_index;
  int rc = TVMFFITypeKeyToIndex(&key, &type_index);
  expect(TVMFFIGetTypeInfo(type_index) != NULL);
  return rc;
}
static int get_field(void *field, TVMFFIAny *out) {
  *out = i64(*(int64_t *)field);
  return 0;
}
static int add_field(void *unused) {
  (void)unused;
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
  field.name = field.doc = fresh_name();
  field.metadata = text_of("{}");
  field.flags = kTVMFFIFieldFlagBitMaskHasDefault;
  field.default_value_or_factory = raw("a default of some length");
  field.getter = get_field;
  int32_t type_index = fresh_type();
  return type_index > 0 ? TVMFFITypeRegisterField(type_index, &field) : -1;
}
static int add_method(void *unused) {
  (void)unused;
  TVMFFIMethodInfo method;
  memset(&method, 0, sizeof(method));
  method.name = method.doc = fresh_name();
  method.method = obj(test_echo());
  int32_t type_index = fresh_type();
  return type_index > 0 ? TVMFFITypeRegisterMethod(type_index, &method) : -1;
}
static int add_metadata(void *unused) {
  (void)unused;
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.doc = text_of("a doc text");
  int32_t type_index = fresh_type();
  return type_index > 0 ? TVMFFITypeRegisterMetadata(type_index, &metadata) : -1;
}
static int add_attr(void *unused) {
  (void)unused;
  TVMFFIByteArray name = fresh_name();
  TVMFFIAny value = raw("a value of some length");
  if (TVMFFITypeRegisterAttr(kTVMFFIStr, &name, &value) != 0) return -1;
  expect(TVMFFIGetTypeAttrColumn(&name)->size > kTVMFFIStr);
  return 0;
}

/* ---- Once, environment, modules ---- */

static int make_handle(void **result) { return TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, result); }
static int end_handle(void *handle) { return TVMFFIObjectDecRef(handle); }
static int init_once(void *unused) {
  (void)unused;
  void *handle = NULL;
  int rc = TVMFFIHandleInitOnce(&handle, make_handle);
  return rc | TVMFFIHandleDeinitOnce(&handle, end_handle);
}
static int set_stream(void *unused) {
  (void)unused;
  TVMFFIStreamHandle before;
  int32_t device_id = 100 + ++n_calls; /* the thread's list keeps an entry for it */
  if (TVMFFIEnvSetStream(kDLCUDA, device_id, &n_calls, &before) != 0) return -1;
  expect(TVMFFIEnvGetStream(kDLCUDA, device_id) == &n_calls);
  return 0;
}
static int check_signals(void *unused) {
  (void)unused;
  return TVMFFIEnvCheckSignals();
}
static int register_c_api(void *unused) {
  (void)unused;
  return TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", NULL);
}
static int register_context_symbol(void *unused) {
  (void)unused;
  return TVMFFIEnvModRegisterContextSymbol(fresh_name().data, &n_calls);
}
static int register_system_symbol(void *unused) {
  (void)unused;
  return TVMFFIEnvModRegisterSystemLibSymbol(fresh_name().data, &n_calls);
}
static void *find_symbol(const void *state, const char *symbol) { return (void)state, (void)symbol, NULL; }
static void *find_function(const void *state, const char *name) {
  (void)state;
  return strcmp(name, "imported") == 0 ? (void *)(uintptr_t)answer : NULL;
}
static const fh_library_symbols library = {find_symbol, find_function, NULL};
static int look_up_import(void *unused) {
  (void)unused;
  TVMFFIAny module, imported, nothing;
  TVMFFIObjectHandle function;
  if (fh_library_module_new(&library, NULL, &module) != 0) return -1;
  if (fh_library_module_new(&library, NULL, &imported) != 0) {
    fh_any_drop(&module);
    return -1;
  }
  int rc = call_n("ffi.ModuleImportModule", ARGS(module, imported), &nothing);
  if (rc == 0) rc = TVMFFIEnvModLookupFromImports(fh_module_this(module.v_obj), "imported", &function); /* borrowed */
  fh_any_drop(&module);
  fh_any_drop(&imported);
  return rc;
}

/* ---- The table ---- */

static const struct {
  const char *name;
  int (*body)(void *unused);
  int keeps; /* blocks that stay forever: the entry of a global function, the value of a field or attribute */
} rows[] = {
    {"TVMFFIGetVersion", get_version, 0},
    {"TVMFFIObjectIncRef", inc_and_dec_ref, 0},
    {"TVMFFIObjectDecRef", inc_and_dec_ref, 0},
    {"TVMFFIObjectCreateOpaque", create_opaque, 0},
    {"TVMFFIGetCustomAllocator", allocate_custom, 0},
    {"TVMFFISetCustomAllocator", allocate_custom, 0},
    {"TVMFFITypeKeyToIndex", find_type, 0},
    {"TVMFFIFunctionCreate", create_function, 0},
    {"TVMFFIFunctionGetGlobal", get_global, 0},
    {"TVMFFIAnyViewToOwnedAny", own_view, 0},
    {"TVMFFIFunctionCall", call_function, 0},
    {"TVMFFIErrorMoveFromRaised", raise_text, 0},
    {"TVMFFIErrorSetRaised", raise_text, 0},
    {"TVMFFIErrorSetRaisedFromCStr", raise_text, 0},
    {"TVMFFIErrorSetRaisedFromCStrParts", raise_parts, 0},
    {"TVMFFIErrorCreate", create_error, 0},
    {"TVMFFIErrorCreateWithCauseAndExtraContext", create_error_with_cause, 0},
    {"TVMFFITensorFromDLPack", from_dlpack, 0},
    {"TVMFFITensorToDLPack", to_dlpack, 0},
    {"TVMFFITensorFromDLPackVersioned", from_versioned, 0},
    {"TVMFFITensorToDLPackVersioned", to_versioned, 0},
    {"TVMFFITensorCreateUnsafeView", view_tensor, 0},
    {"TVMFFIStringFromByteArray", new_text, 0},
    {"TVMFFIBytesFromByteArray", new_bytes, 0},
    {"TVMFFIBigIntFromByteArray", new_big_int, 0},
    {"TVMFFIBigIntGetContentByteArray", new_big_int, 0},
    {"TVMFFIDataTypeFromString", parse_dtype, 0},
    {"TVMFFIDataTypeToString", print_dtype, 0},
    {"TVMFFIFunctionSetGlobal", set_global, 1},
    {"TVMFFIFunctionSetGlobalFromMethodInfo", set_global_from_info, 1},
    {"TVMFFITypeRegisterField", add_field, 1},
    {"TVMFFITypeRegisterMethod", add_method, 0},
    {"TVMFFITypeRegisterMetadata", add_metadata, 0},
    {"TVMFFITypeRegisterAttr", add_attr, 1},
    {"TVMFFIGetTypeAttrColumn", add_attr, 1},
    {"TVMFFIBacktrace", trace, 0},
    {"TVMFFITypeGetOrAllocIndex", add_type, 0},
    {"TVMFFIGetTypeInfo", find_type, 0},
    {"TVMFFIHandleInitOnce", init_once, 0},
    {"TVMFFIHandleDeinitOnce", init_once, 0},
    {"TVMFFIEnvSetStream", set_stream, 0},
    {"TVMFFIEnvGetStream", set_stream, 0},
    {"TVMFFIEnvSetDLPackManagedTensorAllocator", alloc_tensor, 0},
    {"TVMFFIEnvGetDLPackManagedTensorAllocator", alloc_tensor, 0},
    {"TVMFFIEnvTensorAlloc", alloc_tensor, 0},
    {"TVMFFIEnvCheckSignals", check_signals, 0},
    {"TVMFFIEnvRegisterCAPI", register_c_api, 0},
    {"TVMFFIEnvModLookupFromImports", look_up_import, 0},
    {"TVMFFIEnvModRegisterContextSymbol", register_context_symbol, 0},
    {"TVMFFIEnvModRegisterSystemLibSymbol", register_system_symbol, 0},
};

static void sweep_row(size_t i) {
  int64_t before = fh_mem_live_blocks();
  fprintf(stderr, "  %s\n", rows[i].name); /* before the row runs, so that the last line names the row that crashed */
  test_sweep(rows[i].body, NULL);
  test_keeps_since(before, rows[i].keeps, rows[i].name);
}

TEST(every_exported_function_survives_missing_memory) {
  expect_int(TVMFFITensorFromDLPack(&managed, 0, 0, &source), 0);
  for (size_t n = 0; n < FH_COUNT_OF(exported_names); ++n) {
    size_t i = 0;
    while (i < FH_COUNT_OF(rows) && strcmp(rows[i].name, exported_names[n]) != 0) ++i;
    if (i == FH_COUNT_OF(rows)) test_fail(__FILE__, __LINE__, "no row for %s", exported_names[n]);
    sweep_row(i);
  }
  expect_int(FH_COUNT_OF(exported_names), FH_COUNT_OF(rows));
  fh_object_release(source);
}
