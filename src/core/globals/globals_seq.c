/* globals_seq.c - ffi.Array* and ffi.List*: this file checks arguments, seq.c and list.c do the work.
 *
 * Indices count from 0, and a negative one is an IndexError. Other threads may use a List, so each function on a List
 * is one step under its lock. */
#include "core/container/list.h"
#include "core/container/stripe.h"
#include "core/object/any_hash.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "globals_entry.h"

/* The sequence in args[0], after a check of the number of arguments. */
static int arg_seq(const char *name, const TVMFFIAny *args, int32_t n_args, int32_t n_expected, int32_t type_index,
                   fh_seq_object **seq) {
  TVMFFIObject *obj;
  if (fh_function_check_count(name, n_args, n_expected) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, type_index, &obj) != 0) return -1;
  *seq = (fh_seq_object *)obj;
  return 0;
}

/* Returns a new sequence as the result; NULL means that an error is pending. */
static int return_seq(fh_seq_object *seq, TVMFFIAny *result) {
  if (seq == NULL) return -1;
  *result = fh_any_object(seq);
  return 0;
}

/* Whether one of the items equals the owned value, as a bool. Equality is that of map keys (any_hash.h). */
static int contains(const TVMFFIAny *items, int64_t n, const TVMFFIAny *value, TVMFFIAny *result) {
  int equal = 0;
  for (int64_t i = 0; i < n && !equal; ++i) {
    if (fh_any_equal(&items[i], value, &equal) != 0) return -1;
  }
  *result = fh_any_bool(equal);
  return 0;
}

/* ---- Arrays: never changed, so no lock ---- */

/* ffi.Array(item...) -> Array */
FH_GLOBAL(array_new) { return return_seq(fh_seq_from_views(kTVMFFIArray, args, n_args), result); }

/* ffi.ArrayGetItem(array, i) -> item. IndexError. */
FH_GLOBAL(array_get_item) {
  fh_seq_object *seq;
  int64_t i;
  if (arg_seq("ffi.ArrayGetItem", args, n_args, 2, kTVMFFIArray, &seq) != 0) return -1;
  if (fh_function_arg_int("ffi.ArrayGetItem", args, 1, &i) != 0 || fh_seq_check_index(seq, i) != 0) return -1;
  fh_any_copy(&fh_seq_items(seq)[i], result);
  return 0;
}

/* ffi.ArraySize(array) -> int */
FH_GLOBAL(array_size) {
  fh_seq_object *seq;
  if (arg_seq("ffi.ArraySize", args, n_args, 1, kTVMFFIArray, &seq) != 0) return -1;
  *result = fh_any_int(fh_seq_size(seq));
  return 0;
}

/* ffi.ArrayContains(array, value) -> bool. The value is converted to an owned one first, so that strings of any form
 * are compared by content. */
FH_GLOBAL(array_contains) {
  fh_seq_object *seq;
  TVMFFIAny value;
  if (arg_seq("ffi.ArrayContains", args, n_args, 2, kTVMFFIArray, &seq) != 0) return -1;
  if (fh_any_own(&args[1], &value) != 0) return -1;
  int rc = contains(fh_seq_items(seq), fh_seq_size(seq), &value, result);
  fh_any_drop(&value);
  return rc;
}

/* ---- Lists ---- */

/* ffi.List(item...) -> List */
FH_GLOBAL(list_new) { return return_seq(fh_seq_from_views(kTVMFFIList, args, n_args), result); }

/* ffi.ListGetItem(list, i) -> item. IndexError. */
FH_GLOBAL(list_get_item) {
  fh_seq_object *list;
  int64_t i;
  if (arg_seq("ffi.ListGetItem", args, n_args, 2, kTVMFFIList, &list) != 0) return -1;
  if (fh_function_arg_int("ffi.ListGetItem", args, 1, &i) != 0) return -1;
  return fh_list_get(list, i, result);
}

/* ffi.ListSetItem(list, i, item). IndexError. */
FH_GLOBAL(list_set_item) {
  fh_seq_object *list;
  int64_t i;
  TVMFFIAny item;
  if (arg_seq("ffi.ListSetItem", args, n_args, 3, kTVMFFIList, &list) != 0) return -1;
  if (fh_function_arg_int("ffi.ListSetItem", args, 1, &i) != 0 || fh_any_own(&args[2], &item) != 0) return -1;
  return fh_list_set(list, i, item);
}

/* ffi.ListSize(list) -> int */
FH_GLOBAL(list_size) {
  fh_seq_object *list;
  if (arg_seq("ffi.ListSize", args, n_args, 1, kTVMFFIList, &list) != 0) return -1;
  *result = fh_any_int(fh_list_size(list));
  return 0;
}

/* As contains, on a copy of the items, so that hooks run without the lock. */
static int contains_copied(const fh_seq_object *list, const TVMFFIAny *value, TVMFFIAny *result) {
  TVMFFIAny *items;
  int64_t n;
  if (fh_list_copy_items(list, &items, &n) != 0) return -1;
  int rc = contains(items, n, value, result);
  fh_seq_drop_items(items, n);
  return rc;
}

/* ffi.ListContains(list, value) -> bool */
FH_GLOBAL(list_contains) {
  fh_seq_object *list;
  TVMFFIAny value;
  if (arg_seq("ffi.ListContains", args, n_args, 2, kTVMFFIList, &list) != 0) return -1;
  if (fh_any_own(&args[1], &value) != 0) return -1;
  int rc;
  /* Equality calls a hook only for two objects of one type. So the value's type decides whether a hook could run, and
   * raise; without a hook the List is searched in place, under its lock. */
  if (fh_reflect_attr(fh_reflect_column(FH_ATTR_ANY_EQUAL), value.type_index) != NULL) {
    rc = contains_copied(list, &value, result);
  } else {
    fh_shared_note note = fh_stripe_read(list);
    rc = contains(fh_seq_items(list), fh_seq_size(list), &value, result);
    fh_stripe_read_end(list, note);
  }
  fh_any_drop(&value);
  return rc;
}

/* ffi.ListAppend(list, item) */
FH_GLOBAL(list_append) {
  fh_seq_object *list;
  TVMFFIAny item;
  if (arg_seq("ffi.ListAppend", args, n_args, 2, kTVMFFIList, &list) != 0) return -1;
  if (fh_any_own(&args[1], &item) != 0) return -1;
  return fh_list_append(list, item);
}

/* ffi.ListInsert(list, i, item): before position i, or at the end if i is the size. IndexError. */
FH_GLOBAL(list_insert) {
  fh_seq_object *list;
  int64_t i;
  TVMFFIAny item;
  if (arg_seq("ffi.ListInsert", args, n_args, 3, kTVMFFIList, &list) != 0) return -1;
  if (fh_function_arg_int("ffi.ListInsert", args, 1, &i) != 0 || fh_any_own(&args[2], &item) != 0) return -1;
  return fh_list_insert(list, i, item);
}

/* The common part of ffi.ListPop and ffi.ListErase, which differ in the use of the item. */
static int take_item(const char *name, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *out) {
  fh_seq_object *list;
  int64_t i;
  if (arg_seq(name, args, n_args, 2, kTVMFFIList, &list) != 0) return -1;
  if (fh_function_arg_int(name, args, 1, &i) != 0) return -1;
  return fh_list_take(list, i, out);
}

/* ffi.ListPop(list, i) -> the removed item. IndexError. */
FH_GLOBAL(list_pop) { return take_item("ffi.ListPop", args, n_args, result); }

/* ffi.ListErase(list, i). IndexError. */
FH_GLOBAL(list_erase) {
  TVMFFIAny old;
  if (take_item("ffi.ListErase", args, n_args, &old) != 0) return -1;
  fh_any_drop(&old);
  return 0;
}

/* ffi.ListEraseRange(list, first, last): the items from `first` up to, not including, `last`. IndexError. */
FH_GLOBAL(list_erase_range) {
  const char *name = "ffi.ListEraseRange";
  fh_seq_object *list;
  int64_t first, last;
  if (arg_seq(name, args, n_args, 3, kTVMFFIList, &list) != 0) return -1;
  if (fh_function_arg_int(name, args, 1, &first) != 0 || fh_function_arg_int(name, args, 2, &last) != 0) return -1;
  return fh_list_splice(list, first, last, NULL, 0);
}

/* ffi.ListReplaceSlice(list, first, last, items): replaces that range by the items of a sequence. IndexError. */
FH_GLOBAL(list_replace_slice) {
  const char *name = "ffi.ListReplaceSlice";
  fh_seq_object *list;
  int64_t first, last, n;
  TVMFFIAny *items;
  if (arg_seq(name, args, n_args, 4, kTVMFFIList, &list) != 0) return -1;
  if (fh_function_arg_int(name, args, 1, &first) != 0 || fh_function_arg_int(name, args, 2, &last) != 0) return -1;
  if (!fh_seq_is(&args[3])) return fh_function_raise_type(name, 3, "ffi.List", &args[3]);
  /* a copy, also because it may be `list` itself */
  if (fh_list_copy_items((const fh_seq_object *)args[3].v_obj, &items, &n) != 0) return -1;
  int rc = fh_list_splice(list, first, last, items, n);
  fh_seq_drop_items(items, rc == 0 ? 0 : n);
  return rc;
}

/* The bounds and the step of a slice in args[1] to args[3]: ints with Python's meaning; the bounds may be None. */
static int arg_slice(const char *name, const TVMFFIAny *args, fh_list_slice *slice) {
  memset(slice, 0, sizeof(*slice));
  slice->has_start = args[1].type_index != kTVMFFINone;
  slice->has_stop = args[2].type_index != kTVMFFINone;
  if (slice->has_start && fh_function_arg_int(name, args, 1, &slice->start) != 0) return -1;
  if (slice->has_stop && fh_function_arg_int(name, args, 2, &slice->stop) != 0) return -1;
  if (fh_function_arg_int(name, args, 3, &slice->step) != 0) return -1;
  if (slice->step == 0) return fh_error_raise(FH_VALUE_ERROR, "slice step cannot be zero");
  if (slice->step == INT64_MIN) slice->step += 1; /* its negative is an int64 then, too; no List is that long */
  return 0;
}

/* ffi_hpy.ListAssignSlice(list, start, stop, step, items): list[start:stop:step] = items, in one step. Bounds that the
 * caller computes from the length are wrong once another thread has changed the List. ValueError. */
FH_GLOBAL(list_assign_slice) {
  const char *name = "ffi_hpy.ListAssignSlice";
  fh_seq_object *list;
  fh_list_slice slice;
  TVMFFIAny *items;
  int64_t n;
  if (arg_seq(name, args, n_args, 5, kTVMFFIList, &list) != 0 || arg_slice(name, args, &slice) != 0) return -1;
  if (!fh_seq_is(&args[4])) return fh_function_raise_type(name, 4, "ffi.List", &args[4]);
  if (fh_list_copy_items((const fh_seq_object *)args[4].v_obj, &items, &n) != 0) return -1;
  return fh_list_replace_slice(list, &slice, items, n);
}

/* ffi_hpy.ListEraseSlice(list, start, stop, step): del list[start:stop:step], in one step. */
FH_GLOBAL(list_erase_slice) {
  fh_seq_object *list;
  fh_list_slice slice;
  const char *name = "ffi_hpy.ListEraseSlice";
  if (arg_seq(name, args, n_args, 4, kTVMFFIList, &list) != 0 || arg_slice(name, args, &slice) != 0) return -1;
  return fh_list_erase_slice(list, &slice);
}

/* ffi_hpy.ListEraseSame(list, i, array) -> whether the item at i was array[i], which it removes then. IndexError for
 * the Array only. */
FH_GLOBAL(list_erase_same) {
  const char *name = "ffi_hpy.ListEraseSame";
  fh_seq_object *list;
  TVMFFIObject *array;
  int64_t i;
  if (arg_seq(name, args, n_args, 3, kTVMFFIList, &list) != 0) return -1;
  if (fh_function_arg_int(name, args, 1, &i) != 0) return -1;
  if (fh_function_arg_object(name, args, 2, kTVMFFIArray, &array) != 0) return -1;
  if (fh_seq_check_index((const fh_seq_object *)array, i) != 0) return -1;
  *result = fh_any_bool(fh_list_erase_same(list, i, &fh_seq_items((const fh_seq_object *)array)[i]));
  return 0;
}

/* Whether an item equals an int or a string as Python compares them (1 == True == 1.0): 1, 0, or -1 if only Python can
 * tell. */
static int equals_in_python(const TVMFFIAny *item, const TVMFFIAny *value) {
  bool is_int = value->type_index == kTVMFFIInt;
  int equal = 0;
  switch (item->type_index) {
  case kTVMFFINone: return 0;
  case kTVMFFIBool:
  case kTVMFFIInt: return is_int && item->v_int64 == value->v_int64;
  case kTVMFFIFloat: return is_int && item->v_float64 == (double)value->v_int64;
  case kTVMFFISmallStr:
  case kTVMFFIStr: return !is_int && fh_any_equal(item, value, &equal) == 0 && equal;
  default: return -1;
  }
}

/* ffi_hpy.SeqHolds(sequence, value) -> whether Python's `in` finds an int or a string in an Array or a List; None if
 * only Python can tell. */
FH_GLOBAL(seq_holds) {
  const char *name = "ffi_hpy.SeqHolds";
  const int64_t most = INT64_C(1) << 53; /* below this limit a float represents each integer exactly */
  TVMFFIAny value;
  if (fh_function_check_count(name, n_args, 2) != 0) return -1;
  if (!fh_seq_is(&args[0])) return fh_function_raise_type(name, 0, "ffi.List", &args[0]);
  if (fh_any_own(&args[1], &value) != 0) return -1;
  bool is_int = value.type_index == kTVMFFIInt && value.v_int64 > -most && value.v_int64 < most;
  bool is_text = value.type_index == kTVMFFISmallStr || value.type_index == kTVMFFIStr;
  int found = is_int || is_text ? 0 : -1;
  const fh_seq_object *seq = (const fh_seq_object *)(void *)args[0].v_obj;
  fh_shared_note note = fh_stripe_read(seq);
  for (int64_t i = 0; i < fh_seq_size(seq) && found == 0; ++i) found = equals_in_python(&fh_seq_items(seq)[i], &value);
  fh_stripe_read_end(seq, note);
  fh_any_drop(&value);
  if (found >= 0) *result = fh_any_bool(found);
  return 0;
}

/* ffi.ListReverse(list): in place. */
FH_GLOBAL(list_reverse) {
  fh_seq_object *list;
  if (arg_seq("ffi.ListReverse", args, n_args, 1, kTVMFFIList, &list) != 0) return -1;
  fh_list_reverse(list);
  return 0;
}

/* ffi.ListClear(list) */
FH_GLOBAL(list_clear) {
  fh_seq_object *list;
  if (arg_seq("ffi.ListClear", args, n_args, 1, kTVMFFIList, &list) != 0) return -1;
  return fh_list_clear(list);
}

/* ffi.ListReserve(list, capacity): makes room for `capacity` items in all. MemoryError. */
FH_GLOBAL(list_reserve) {
  fh_seq_object *list;
  int64_t capacity;
  if (arg_seq("ffi.ListReserve", args, n_args, 2, kTVMFFIList, &list) != 0) return -1;
  if (fh_function_arg_int("ffi.ListReserve", args, 1, &capacity) != 0) return -1;
  return fh_list_reserve(list, capacity);
}

const fh_globals_entry fh_globals_seq[] = {
    {"ffi.Array", array_new, "ffi.Function"},
    {"ffi.ArrayGetItem", array_get_item, "Any(ffi.Array, int)"},
    {"ffi.ArraySize", array_size, "int(ffi.Array)"},
    {"ffi.ArrayContains", array_contains, "bool(ffi.Array, Any)"},
    {"ffi.List", list_new, "ffi.Function"},
    {"ffi.ListGetItem", list_get_item, "Any(ffi.List, int)"},
    {"ffi.ListSetItem", list_set_item, "None(ffi.List<Any>, int, Any)"},
    {"ffi.ListSize", list_size, "int(ffi.List)"},
    {"ffi.ListContains", list_contains, "bool(ffi.List, Any)"},
    {"ffi.ListAppend", list_append, "None(ffi.List<Any>, Any)"},
    {"ffi.ListInsert", list_insert, "None(ffi.List<Any>, int, Any)"},
    {"ffi.ListPop", list_pop, "Any(ffi.List<Any>, int)"},
    {"ffi.ListErase", list_erase, "None(ffi.List<Any>, int)"},
    {"ffi.ListEraseRange", list_erase_range, "None(ffi.List<Any>, int, int)"},
    {"ffi.ListReplaceSlice", list_replace_slice, "None(ffi.List<Any>, int, int, ffi.List<Any>)"},
    {"ffi_hpy.ListAssignSlice", list_assign_slice, NULL},
    {"ffi_hpy.ListEraseSlice", list_erase_slice, NULL},
    {"ffi_hpy.ListEraseSame", list_erase_same, NULL},
    {"ffi_hpy.SeqHolds", seq_holds, NULL},
    {"ffi.ListReverse", list_reverse, "None(ffi.List<Any>)"},
    {"ffi.ListClear", list_clear, "None(ffi.List<Any>)"},
    {"ffi.ListReserve", list_reserve, "None(ffi.List<Any>, int)"},
    {NULL, NULL, NULL},
};
