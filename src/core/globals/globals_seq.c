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

/* Heads of functions whose first argument is an Array, `seq`, or a List, `list`. */
#define ARRAY(...) FH_GLOBAL_OF(fh_seq_object, seq, kTVMFFIArray, __VA_ARGS__)
#define LIST(...) FH_GLOBAL_OF(fh_seq_object, list, kTVMFFIList, __VA_ARGS__)

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
FH_GLOBAL_OPEN(array_new, "ffi.Array", "ffi.Function") {
  return fh_any_give_object(fh_seq_from_views(kTVMFFIArray, args, n_args), result);
}

/* ffi.ArrayGetItem(array, i) -> item. IndexError. */
ARRAY(array_get_item, "ffi.ArrayGetItem", 2, "Any(ffi.Array, int)") {
  int64_t i;
  if (fh_function_arg_int(name, args, 1, &i) != 0 || fh_seq_check_index(seq, i) != 0) return -1;
  fh_any_copy(&fh_seq_items(seq)[i], result);
  return 0;
}

/* ffi.ArraySize(array) -> int */
ARRAY(array_size, "ffi.ArraySize", 1, "int(ffi.Array)") {
  *result = fh_any_int(fh_seq_size(seq));
  return 0;
}

/* ffi.ArrayContains(array, value) -> bool. The value is converted to an owned one first, so that strings of any form
 * are compared by content. */
ARRAY(array_contains, "ffi.ArrayContains", 2, "bool(ffi.Array, Any)") {
  TVMFFIAny value;
  if (fh_any_own(&args[1], &value) != 0) return -1;
  int rc = contains(fh_seq_items(seq), fh_seq_size(seq), &value, result);
  fh_any_drop(&value);
  return rc;
}

/* ---- Lists ---- */

/* ffi.List(item...) -> List */
FH_GLOBAL_OPEN(list_new, "ffi.List", "ffi.Function") {
  return fh_any_give_object(fh_seq_from_views(kTVMFFIList, args, n_args), result);
}

/* ffi.ListGetItem(list, i) -> item. IndexError. */
LIST(list_get_item, "ffi.ListGetItem", 2, "Any(ffi.List, int)") {
  int64_t i;
  if (fh_function_arg_int(name, args, 1, &i) != 0) return -1;
  return fh_list_get(list, i, result);
}

/* ffi.ListSetItem(list, i, item). IndexError. */
LIST(list_set_item, "ffi.ListSetItem", 3, "None(ffi.List<Any>, int, Any)") {
  int64_t i;
  TVMFFIAny item;
  if (fh_function_arg_int(name, args, 1, &i) != 0 || fh_any_own(&args[2], &item) != 0) return -1;
  return fh_list_set(list, i, item);
}

/* ffi.ListSize(list) -> int */
LIST(list_size, "ffi.ListSize", 1, "int(ffi.List)") {
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
LIST(list_contains, "ffi.ListContains", 2, "bool(ffi.List, Any)") {
  TVMFFIAny value;
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
LIST(list_append, "ffi.ListAppend", 2, "None(ffi.List<Any>, Any)") {
  TVMFFIAny item;
  if (fh_any_own(&args[1], &item) != 0) return -1;
  return fh_list_append(list, item);
}

/* ffi.ListInsert(list, i, item): before position i, or at the end if i is the size. IndexError. */
LIST(list_insert, "ffi.ListInsert", 3, "None(ffi.List<Any>, int, Any)") {
  int64_t i;
  TVMFFIAny item;
  if (fh_function_arg_int(name, args, 1, &i) != 0 || fh_any_own(&args[2], &item) != 0) return -1;
  return fh_list_insert(list, i, item);
}

/* ffi.ListPop(list, i) -> the removed item. IndexError. */
LIST(list_pop, "ffi.ListPop", 2, "Any(ffi.List<Any>, int)") {
  int64_t i;
  return fh_function_arg_int(name, args, 1, &i) != 0 ? -1 : fh_list_take(list, i, result);
}

/* ffi.ListErase(list, i). IndexError. */
LIST(list_erase, "ffi.ListErase", 2, "None(ffi.List<Any>, int)") {
  int64_t i;
  TVMFFIAny old;
  if (fh_function_arg_int(name, args, 1, &i) != 0 || fh_list_take(list, i, &old) != 0) return -1;
  fh_any_drop(&old);
  return 0;
}

/* ffi.ListEraseRange(list, first, last): the items from `first` up to, not including, `last`. IndexError. */
LIST(list_erase_range, "ffi.ListEraseRange", 3, "None(ffi.List<Any>, int, int)") {
  int64_t first, last;
  if (fh_function_arg_int(name, args, 1, &first) != 0 || fh_function_arg_int(name, args, 2, &last) != 0) return -1;
  return fh_list_splice(list, first, last, NULL, 0);
}

/* ffi.ListReplaceSlice(list, first, last, items): replaces that range by the items of a sequence. IndexError. */
LIST(list_replace_slice, "ffi.ListReplaceSlice", 4, "None(ffi.List<Any>, int, int, ffi.List<Any>)") {
  int64_t first, last, n;
  TVMFFIAny *items;
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
LIST(list_assign_slice, "ffi_hpy.ListAssignSlice", 5, NULL) {
  fh_list_slice slice;
  TVMFFIAny *items;
  int64_t n;
  if (arg_slice(name, args, &slice) != 0) return -1;
  if (!fh_seq_is(&args[4])) return fh_function_raise_type(name, 4, "ffi.List", &args[4]);
  if (fh_list_copy_items((const fh_seq_object *)args[4].v_obj, &items, &n) != 0) return -1;
  return fh_list_replace_slice(list, &slice, items, n);
}

/* ffi_hpy.ListEraseSlice(list, start, stop, step): del list[start:stop:step], in one step. */
LIST(list_erase_slice, "ffi_hpy.ListEraseSlice", 4, NULL) {
  fh_list_slice slice;
  if (arg_slice(name, args, &slice) != 0) return -1;
  return fh_list_erase_slice(list, &slice);
}

/* ffi_hpy.ListEraseSame(list, i, array) -> whether the item at i was array[i], which it removes then. IndexError for
 * the Array only. */
LIST(list_erase_same, "ffi_hpy.ListEraseSame", 3, NULL) {
  TVMFFIObject *array;
  int64_t i;
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
FH_GLOBAL(seq_holds, "ffi_hpy.SeqHolds", 2, NULL) {
  const int64_t most = INT64_C(1) << 53; /* below this limit a float represents each integer exactly */
  TVMFFIAny value;
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
LIST(list_reverse, "ffi.ListReverse", 1, "None(ffi.List<Any>)") {
  fh_list_reverse(list);
  return 0;
}

/* ffi.ListClear(list) */
LIST(list_clear, "ffi.ListClear", 1, "None(ffi.List<Any>)") { return fh_list_clear(list); }

/* ffi.ListReserve(list, capacity): makes room for `capacity` items in all. MemoryError. */
LIST(list_reserve, "ffi.ListReserve", 2, "None(ffi.List<Any>, int)") {
  int64_t capacity;
  if (fh_function_arg_int(name, args, 1, &capacity) != 0) return -1;
  return fh_list_reserve(list, capacity);
}

const fh_globals_item fh_globals_seq[] = {&array_new,
                                          &array_get_item,
                                          &array_size,
                                          &array_contains,
                                          &list_new,
                                          &list_get_item,
                                          &list_set_item,
                                          &list_size,
                                          &list_contains,
                                          &list_append,
                                          &list_insert,
                                          &list_pop,
                                          &list_erase,
                                          &list_erase_range,
                                          &list_replace_slice,
                                          &list_assign_slice,
                                          &list_erase_slice,
                                          &list_erase_same,
                                          &seq_holds,
                                          &list_reverse,
                                          &list_clear,
                                          &list_reserve,
                                          NULL};
