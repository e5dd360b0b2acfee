/* test_chains.c - destroying long chains of objects, each the only owner of the next, works on a small stack: one test
 * for each type of this library that can own another object. */
#include "core/fields/access_path.h"
#include "core/module/library_module.h"
#include "core/module/module.h"
#include "core/structural/operations.h"
#include "core/structural/visitor.h"

#include "support/records.h"

enum { N_LINKS = 200000 };

/* Wraps an owned value in a new object, which then is the only owner of the value. */
typedef TVMFFIAny (*wrapper)(TVMFFIAny inner);

static void build_and_drop(void *wrap) {
  TVMFFIAny value = none();
  for (int i = 0; i < N_LINKS; ++i) value = (*(wrapper *)wrap)(value);
  fh_any_drop(&value);
}

static void expect_chain_ends(wrapper wrap) { test_small_stack(build_and_drop, &wrap); }

/* Makes `outer`, which references `inner`, the only owner of `inner`. */
static TVMFFIAny only_owner(TVMFFIAny outer, TVMFFIAny inner) {
  expect(fh_any_is_object(&outer));
  fh_any_drop(&inner);
  return outer;
}

/* ---- Containers, records ---- */

static TVMFFIAny in_array(TVMFFIAny inner) { return make_array(inner); }
static TVMFFIAny in_list(TVMFFIAny inner) { return make_seq(kTVMFFIList, &inner, 1); }
static TVMFFIAny in_map(TVMFFIAny inner) { return make_map(i64(1), inner); }
static TVMFFIAny in_dict(TVMFFIAny inner) { return make_pairs(kTVMFFIDict, ARGS(i64(1), inner)); }
static TVMFFIAny in_record(TVMFFIAny inner) {
  int32_t type_index = record_type("test.ChainRecord", kTVMFFISEqHashKindTreeNode, 0, 0);
  return record_of(type_index, none(), inner);
}

TEST(chains_of_arrays_end_on_a_small_stack) { expect_chain_ends(in_array); }
TEST(chains_of_lists_end_on_a_small_stack) { expect_chain_ends(in_list); }
TEST(chains_of_maps_end_on_a_small_stack) { expect_chain_ends(in_map); }
TEST(chains_of_dicts_end_on_a_small_stack) { expect_chain_ends(in_dict); }
TEST(chains_of_records_end_on_a_small_stack) { expect_chain_ends(in_record); }

/* ---- Tensors ---- */

static DLTensor a_number(void) {
  static float data[1];
  static int64_t shape[1] = {1}, strides[1] = {1};
  DLTensor tensor = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, strides, 0};
  return tensor;
}

static TVMFFIAny first_tensor(void) {
  static DLManagedTensor exported;
  TVMFFIObjectHandle tensor;
  exported.dl_tensor = a_number();
  expect_int(TVMFFITensorFromDLPack(&exported, 0, 0, &tensor), 0);
  return obj(tensor);
}

static TVMFFIAny viewed(TVMFFIAny inner) {
  if (!fh_any_is_object(&inner)) return first_tensor();
  DLTensor like = a_number();
  TVMFFIObjectHandle view;
  expect_int(TVMFFITensorCreateUnsafeView(inner.v_obj, &like, &view), 0);
  return only_owner(obj(view), inner);
}

static TVMFFIAny by_dlpack(TVMFFIAny inner) {
  if (!fh_any_is_object(&inner)) return first_tensor();
  DLManagedTensor *exported;
  TVMFFIObjectHandle tensor;
  expect_int(TVMFFITensorToDLPack(inner.v_obj, &exported), 0);
  expect_int(TVMFFITensorFromDLPack(exported, 0, 0, &tensor), 0);
  return only_owner(obj(tensor), inner);
}

static TVMFFIAny by_versioned_dlpack(TVMFFIAny inner) {
  if (!fh_any_is_object(&inner)) return first_tensor();
  DLManagedTensorVersioned *exported;
  TVMFFIObjectHandle tensor;
  expect_int(TVMFFITensorToDLPackVersioned(inner.v_obj, &exported), 0);
  expect_int(TVMFFITensorFromDLPackVersioned(exported, 0, 0, &tensor), 0);
  return only_owner(obj(tensor), inner);
}

TEST(chains_of_views_of_tensors_end_on_a_small_stack) { expect_chain_ends(viewed); }
TEST(chains_of_tensors_that_were_exported_to_one_another_end_on_a_small_stack) {
  expect_chain_ends(by_dlpack);
  expect_chain_ends(by_versioned_dlpack);
}

/* ---- Errors, paths, keys, interrupts ---- */

static TVMFFIAny caused(TVMFFIAny cause) {
  TVMFFIByteArray kind = text_of("ValueError"), none_bytes = text_of("");
  TVMFFIObjectHandle error, of = fh_any_is_object(&cause) ? cause.v_obj : NULL;
  expect_int(TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &none_bytes, &none_bytes, of, NULL, &error), 0);
  return only_owner(obj(error), cause);
}

static TVMFFIAny in_context(TVMFFIAny context) {
  TVMFFIByteArray kind = text_of("ValueError"), none_bytes = text_of("");
  TVMFFIObjectHandle error, of = fh_any_is_object(&context) ? context.v_obj : NULL;
  expect_int(TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &none_bytes, &none_bytes, NULL, of, &error), 0);
  return only_owner(obj(error), context);
}

static TVMFFIAny extended(TVMFFIAny path) {
  if (!fh_any_is_object(&path)) return obj(fh_access_path_root());
  TVMFFIAny key = i64(0);
  return only_owner(obj(fh_access_path_extend((fh_access_path_object *)path.v_obj, FH_ACCESS_ARRAY_ITEM, &key)), path);
}

static TVMFFIAny interrupted(TVMFFIAny inner) { return only_owner(obj(fh_visit_interrupt_new(&inner)), inner); }

/* A new key is made for 0 and then gets its content, so that no hash of the whole chain is computed. */
static TVMFFIAny keyed(TVMFFIAny inner) {
  TVMFFIAny zero = i64(0);
  fh_structural_key_object *key = fh_structural_key_new(&zero);
  expect(key != NULL);
  key->key = inner;
  return obj(key);
}

TEST(chains_of_causes_end_on_a_small_stack) { expect_chain_ends(caused); }
TEST(chains_of_contexts_of_errors_end_on_a_small_stack) { expect_chain_ends(in_context); }
TEST(chains_of_access_paths_end_on_a_small_stack) { expect_chain_ends(extended); }
TEST(chains_of_visit_interrupts_end_on_a_small_stack) { expect_chain_ends(interrupted); }
TEST(chains_of_structural_keys_end_on_a_small_stack) { expect_chain_ends(keyed); }

/* ---- Modules ---- */

static void *find_nothing(const void *state, const char *name) {
  (void)state, (void)name;
  return NULL;
}
static void *find_code(const void *state, const char *name) {
  (void)state, (void)name;
  return (void *)(uintptr_t)find_code; /* never called */
}
static const fh_library_symbols symbols = {find_nothing, find_code, NULL};

/* Imports from the first module on, so that the search for a cycle sees only one module. */
static void import_and_drop(void *unused) {
  TVMFFIAny first, last;
  (void)unused;
  expect_int(fh_library_module_new(&symbols, NULL, &first), 0);
  last = first;
  for (int i = 0; i < N_LINKS; ++i) {
    TVMFFIAny next;
    expect_int(fh_library_module_new(&symbols, NULL, &next), 0);
    expect_int(fh_module_import(last.v_obj, next.v_obj), 0);
    last = next;
    fh_any_drop(&next); /* the previous module keeps it */
  }
  fh_any_drop(&first);
}

/* A Function of a module keeps the module, whose imports keep the previous Function. */
static void borrow_and_drop(void *unused) {
  TVMFFIAny func = none(), name = raw("f");
  (void)unused;
  for (int i = 0; i < N_LINKS; ++i) {
    TVMFFIAny module;
    expect_int(fh_library_module_new(&symbols, NULL, &module), 0);
    fh_seq_object *imports = as_seq(make_array(func));
    fh_object_release(((fh_module_object *)module.v_obj)->imports);
    ((fh_module_object *)module.v_obj)->imports = imports;
    expect_int(fh_module_get_function(module.v_obj, &name, 0, &func), 0);
    fh_any_drop(&module); /* the Function keeps it */
  }
  fh_any_drop(&func);
}

TEST(chains_of_imported_modules_end_on_a_small_stack) { test_small_stack(import_and_drop, NULL); }
TEST(chains_of_functions_that_keep_their_modules_end_on_a_small_stack) { test_small_stack(borrow_and_drop, NULL); }
