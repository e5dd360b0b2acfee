/* Array and List. An Array is immutable and read in place. A List is read and changed by the core's functions, one call
 * per operation, each one step under the core's lock. Operations that read many items of a List copy the List first.
 *
 * The core accepts only positions that count from the start. A negative position needs the length, which is a separate
 * step; if another thread shortens the list in between, the core raises IndexError and the operation is repeated. */
#include "sequence.h"

#include "container.h"
#include "hpy_module/context/attr.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/exchange_number.h"
#include "hpy_module/convert/position.h"
#include "hpy_module/object/object_type.h"
#include "hpy_module/object/transfer.h"
#include "iterate.h"

static FbCoreFunction list_size = {.name = "ffi.ListSize"}, list_get = {.name = "ffi.ListGetItem"},
                      list_set = {.name = "ffi.ListSetItem"}, list_append = {.name = "ffi.ListAppend"},
                      list_insert = {.name = "ffi.ListInsert"}, list_pop = {.name = "ffi.ListPop"},
                      list_erase = {.name = "ffi.ListErase"},
                      to_array = {.name = "__ffi_convert__", .type_index = kTVMFFIArray};

/* --- the native object -------------------------------------------------------------------------------------------- */

/* Returns the table under which self was returned, or NULL. self must have an object. */
FH_INLINE const DLPackExchangeAPI *exchange_of(HPyContext *ctx, HPy self) {
  return fb_exchange_number_find(fb_object_cell(ctx, self));
}

/* Begins a use of the ffi.Array or ffi.List of self; NULL with ValueError or TypeError raised. The type is checked each
 * time, because a class may be given the handle of any object. */
static FbHandleCell *sequence_begin(HPyContext *ctx, HPy self) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIObject, 0);
  if (FH_UNLIKELY(cell == NULL)) return NULL;
  TVMFFIObject *handle = cell->handle;
  if (FH_LIKELY(handle->type_index == kTVMFFIArray || handle->type_index == kTVMFFIList)) return cell;
  char name[128];
  fb_raise(ctx, ctx->h_TypeError, "the native object of this %s is not an Array or List (its type index is %d)",
           fb_attr_type_name(ctx, self, name, sizeof(name)), (int)handle->type_index);
  fb_handle_cell_unuse(cell);
  return NULL;
}

/* Returns the ffi.Array or ffi.List of self, owned: a reference in place of a use of the cell, so that Python code may
 * still move the handle during the operation. Fails like sequence_begin. */
static TVMFFIObject *sequence_take(HPyContext *ctx, HPy self) {
  FbHandleCell *cell = sequence_begin(ctx, self);
  if (FH_UNLIKELY(cell == NULL)) return NULL;
  TVMFFIObject *handle = cell->handle;
  TVMFFIObjectIncRef(handle);
  fb_handle_cell_unuse(cell);
  return handle;
}

FH_INLINE const TVMFFISeqCell *cell_of(const TVMFFIObject *array) { return (const TVMFFISeqCell *)(array + 1); }
FH_INLINE bool is_array(const TVMFFIObject *handle) { return handle->type_index == kTVMFFIArray; }

/* Returns the current number of items; -1 with an exception raised. */
static int64_t size_of(HPyContext *ctx, TVMFFIObject *handle) {
  if (is_array(handle)) return cell_of(handle)->size;
  TVMFFIAny arg = fb_core_function_object(handle), size;
  return fb_core_function_run(ctx, &list_size, &arg, 1, &size) != 0 ? -1 : size.v_int64;
}

/* Returns an Array with the items of `handle`, which is stolen: the same Array, or a copy made in one step. NULL with
 * an exception raised. */
static TVMFFIObject *fixed(HPyContext *ctx, TVMFFIObject *handle) {
  if (handle == NULL || is_array(handle)) return handle;
  TVMFFIAny arg = fb_core_function_object(handle), copy;
  int rc = fb_core_function_run(ctx, &to_array, &arg, 1, &copy);
  fb_drop_object(handle, rc);
  return rc == 0 ? copy.v_obj : NULL;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

HPyDef_SLOT(sequence_length, HPy_mp_length)
static HPy_ssize_t sequence_length_impl(HPyContext *ctx, HPy self) {
  FbHandleCell *cell = sequence_begin(ctx, self);
  if (cell == NULL) return -1;
  int64_t size = size_of(ctx, cell->handle); /* runs no code that could move the handle */
  fb_handle_cell_unuse(cell);
  return (HPy_ssize_t)size;
}

/* The meaning of a position of a List: an item, or a gap between items. A gap beyond either end is clamped to that
 * end. */
typedef enum Place { AT_ITEM, AT_GAP } Place;

/* Calls a function of the core for the List in args[0]. The Python position `wanted` becomes args[1]. Arguments are
 * converted before, so no Python code runs here that could raise its own IndexError. Returns 0; 1 if the item does not
 * exist; -1 with an exception raised. */
static int list_run_at(HPyContext *ctx, FbCoreFunction *function, TVMFFIAny *args, int32_t n, int64_t wanted,
                       Place place, TVMFFIAny *out) {
  for (;;) {
    /* INT64_MAX: the length does not matter. */
    bool needs_size = wanted < 0 || place == AT_GAP;
    int64_t size = needs_size ? size_of(ctx, args[0].v_obj) : INT64_MAX;
    if (size < 0) return -1;
    int64_t position = wanted < 0 ? wanted + size : wanted;
    if (place == AT_GAP) position = position < 0 ? 0 : position > size ? size : position;
    if (position < 0) return 1;
    args[1] = fb_core_function_int(position);
    if (fb_core_function_run(ctx, function, args, n, out) == 0) return 0;
    if (!HPyErr_ExceptionMatches(ctx, ctx->h_IndexError)) return -1;
    HPyErr_Clear(ctx);
    if (!needs_size) return 1;
    /* another thread has shortened the list: try again */
  }
}

/* Calls `get` (read or pop) for item i of a List; a negative i counts from the end. *out is owned. Returns like
 * list_run_at. */
static int list_item(HPyContext *ctx, FbCoreFunction *get, TVMFFIObject *handle, int64_t i, TVMFFIAny *out) {
  TVMFFIAny args[2] = {fb_core_function_object(handle)};
  return list_run_at(ctx, get, args, 2, i, AT_ITEM, out);
}

/* Returns a pointer to item i of an Array; NULL if there is none. */
FH_INLINE const TVMFFIAny *array_place(const TVMFFIObject *handle, int64_t i) {
  const TVMFFISeqCell *cell = cell_of(handle);
  int64_t position = i < 0 ? i + cell->size : i;
  if (FH_UNLIKELY(position < 0 || position >= cell->size)) return NULL;
  return (const TVMFFIAny *)cell->data + position;
}

/* Like list_item, for an Array; never returns -1. */
static int array_item(const TVMFFIObject *handle, int64_t i, TVMFFIAny *out) {
  const TVMFFIAny *place = array_place(handle, i);
  if (FH_UNLIKELY(place == NULL)) return 1;
  *out = *place;
  if (out->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(out->v_obj);
  return 0;
}

/* Reads an item of a List at a non-negative position; returns like array_item. Never raises: if the core lacks the
 * function, or the item does not exist, list_item asks again. */
FH_INLINE int list_item_in_place(TVMFFIObject *handle, int64_t i, TVMFFIAny *out) {
  if (i < 0 || handle->type_index != kTVMFFIList || fb_thread_needs_brackets()) return 1;
  TVMFFIObject *get = fb_core_function_find(&list_get);
  if (FH_UNLIKELY(get == NULL)) return 1;
  TVMFFIAny args[2] = {fb_core_function_object(handle), fb_core_function_int(i)};
  if (FH_LIKELY(fb_core_function_call_handle(get, args, 2, out) == 0)) return 0;
  fb_error_slot_clear();
  return 1;
}

/* Like fb_iterate_find, for item i of an Array. */
FH_INLINE HPy array_item_find(HPyContext *ctx, HPy self, const TVMFFIObject *handle, int64_t i) {
  const TVMFFIAny *place = array_place(handle, i);
  return place == NULL ? HPy_NULL : fb_iterate_find(ctx, place, exchange_of(ctx, self));
}

/* The fast path to an item: a use of the cell protects the sequence. A reference would make threads that share the
 * sequence contend for its count. The item is in *value, or, if that is HPy_NULL, in *out, owned. Returns false without
 * an exception if the position or the object does not exist. */
FH_INLINE bool item_in_place(HPyContext *ctx, HPy self, int64_t i, HPy *value, TVMFFIAny *out) {
  FbHandleCell *cell = fb_object_cell(ctx, self);
  if (FH_UNLIKELY(cell == NULL || !fb_handle_cell_use(cell))) return false;
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  bool found = false;
  *value = HPy_NULL;
  if (handle != NULL && is_array(handle)) {
    if (FH_UNLIKELY(fb_context_free_threaded)) *value = array_item_find(ctx, self, handle, i);
    found = !HPy_IsNull(*value) || array_item(handle, i, out) == 0;
  } else if (handle != NULL) {
    found = list_item_in_place(handle, i, out) == 0;
  }
  fb_handle_cell_unuse(cell);
  return found;
}

/* Returns the items of a slice as a Python list. Steals `handle`. */
static HPy slice_list(HPyContext *ctx, TVMFFIObject *handle, HPy slice, const DLPackExchangeAPI *exchange) {
  FbRange range;
  TVMFFIObject *array = fixed(ctx, handle);
  if (array == NULL) return HPy_NULL;
  HPy list = HPy_NULL;
  if (fb_position_of_slice(ctx, slice, cell_of(array)->size, &range) == 0) {
    list = fb_iterate_list(ctx, cell_of(array)->data, range.first, range.step, range.n, exchange);
  }
  fb_drop_object(array, HPy_IsNull(list));
  return list;
}

HPyDef_SLOT(sequence_item, HPy_mp_subscript)
static HPy sequence_item_impl(HPyContext *ctx, HPy self, HPy key) {
  int64_t i;
  FbPosition position = fb_position_of(ctx, self, key, &i);
  if (FH_UNLIKELY(position == FB_POSITION_NONE)) return HPy_NULL;
  HPy value;
  TVMFFIAny item;
  if (FH_LIKELY(position == FB_POSITION_INDEX) && item_in_place(ctx, self, i, &value, &item)) {
    if (FH_UNLIKELY(!HPy_IsNull(value))) return value;
    return fb_iterate_item(ctx, &item, exchange_of(ctx, self));
  }
  TVMFFIObject *handle = sequence_take(ctx, self);
  if (FH_UNLIKELY(handle == NULL)) return HPy_NULL;
  if (FH_UNLIKELY(position == FB_POSITION_SLICE)) return slice_list(ctx, handle, key, exchange_of(ctx, self));
  /* A List, or an Array without such a position. */
  int rc = position == FB_POSITION_BEYOND ? 1
           : is_array(handle)             ? array_item(handle, i, &item)
                                          : list_item(ctx, &list_get, handle, i, &item);
  int64_t size = rc == 1 ? size_of(ctx, handle) : 0;
  fb_drop_object(handle, rc);
  if (FH_LIKELY(rc == 0)) return fb_iterate_item(ctx, &item, exchange_of(ctx, self));
  return rc == 1 && size >= 0 ? fb_position_refuse(ctx, self, key, size) : HPy_NULL;
}

HPyDef_METH(sequence_iter, "__iter__", HPyFunc_NOARGS,
            .doc = "Over the items; of a List over those that are there now.")
static HPy sequence_iter_impl(HPyContext *ctx, HPy self) {
  TVMFFIObject *array = fixed(ctx, sequence_take(ctx, self));
  return array == NULL ? HPy_NULL : fb_iterate_array(ctx, array, 1, exchange_of(ctx, self));
}

/* Overrides the method of collections.abc.Sequence, which is a generator: threads must not share a generator. */
HPyDef_METH(sequence_reversed, "__reversed__", HPyFunc_NOARGS, .doc = "As __iter__, from the end.")
static HPy sequence_reversed_impl(HPyContext *ctx, HPy self) {
  TVMFFIObject *array = fixed(ctx, sequence_take(ctx, self));
  return array == NULL ? HPy_NULL : fb_iterate_array(ctx, array, -1, exchange_of(ctx, self));
}

/* --- in ----------------------------------------------------------------------------------------------------------- */

/* The searched value, if it can be compared with plain items without Python: an exact int or str. Items are then
 * compared in place, without a conversion to Python values. */
typedef struct Needle {
  enum { NEEDLE_OTHER, NEEDLE_INT, NEEDLE_TEXT } kind;
  int64_t number;
  const char *text;
  HPy_ssize_t byte_len;
} Needle;

/* The string is valid as long as the value. Never raises: other values are left to Python. */
static Needle needle_of(HPyContext *ctx, HPy value) {
  Needle needle = {.kind = NEEDLE_OTHER};
  if (fb_ext == NULL) return needle;
  if (fb_type_kind_type(value) == ctx->h_LongType._i) {
    const int64_t most = INT64_C(1) << 53; /* below this limit a float represents each integer exactly */
    needle.number = HPyLong_AsInt64_t(ctx, value);
    if (needle.number > -most && needle.number < most && !(needle.number == -1 && HPyErr_Occurred(ctx))) {
      needle.kind = NEEDLE_INT;
    }
  } else if (fb_type_kind_type(value) == ctx->h_UnicodeType._i) {
    needle.text = fb_text_get(ctx, value, &needle.byte_len);
    if (needle.text != NULL) needle.kind = NEEDLE_TEXT;
  }
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  return needle;
}

/* Whether an item equals the needle by Python's rules (1 == True == 1.0): 1, 0, or -1 if only Python can decide. */
static int equals(const Needle *needle, const TVMFFIAny *item) {
  const TVMFFIByteArray *bytes;
  bool is_text = needle->kind == NEEDLE_TEXT;
  switch (item->type_index) {
  case kTVMFFIInt:
  case kTVMFFIBool: return !is_text && item->v_int64 == needle->number;
  case kTVMFFIFloat: return !is_text && item->v_float64 == (double)needle->number;
  case kTVMFFINone: return 0;
  case kTVMFFISmallStr:
    return is_text && item->small_str_len == (size_t)needle->byte_len &&
           memcmp(item->v_bytes, needle->text, item->small_str_len) == 0;
  case kTVMFFIStr:
    bytes = (const TVMFFIByteArray *)(item->v_obj + 1);
    return is_text && bytes->size == (size_t)needle->byte_len && memcmp(bytes->data, needle->text, bytes->size) == 0;
  default: return -1;
  }
}

HPyDef_SLOT(sequence_contains, HPy_sq_contains)
static int sequence_contains_impl(HPyContext *ctx, HPy self, HPy value) {
  TVMFFIObject *array = fixed(ctx, sequence_take(ctx, self));
  if (array == NULL) return -1;
  const TVMFFISeqCell *cell = cell_of(array);
  Needle needle = needle_of(ctx, value);
  int found = needle.kind == NEEDLE_OTHER ? -1 : 0;
  for (int64_t i = 0; found == 0 && i < cell->size; i++) found = equals(&needle, (const TVMFFIAny *)cell->data + i);
  /* Python compares with all items, and by identity before ==, like its own `in`. */
  if (found < 0) {
    HPy list = fb_iterate_list(ctx, cell->data, 0, 1, cell->size, exchange_of(ctx, self));
    found = HPy_IsNull(list) ? -1 : HPy_Contains(ctx, list, value);
    if (!HPy_IsNull(list)) HPy_Close(ctx, list);
  }
  fb_drop_object(array, found < 0);
  return found;
}

/* --- construction ------------------------------------------------------------------------------------------------- */

/* Makes self's object from the argument of Array(...) or List(...), if any. */
static int sequence_init(HPyContext *ctx, HPy self, int32_t type_index, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  const char *name = type_index == kTVMFFIArray ? "Array" : "List";
  HPy given = fb_container_argument(ctx, name, "input_list", args, nargs, kw);
  if (HPy_IsNull(given) && HPyErr_Occurred(ctx)) return -1;
  /* A list or tuple is used directly; any other iterable is converted to a list. */
  bool is_plain = !HPy_IsNull(given) && (HPyList_Check(ctx, given) || HPyTuple_Check(ctx, given));
  HPy items = HPy_IsNull(given) ? HPyTuple_FromArray(ctx, NULL, 0)
              : is_plain        ? HPy_Dup(ctx, given)
                                : fb_call_one(ctx, ctx->h_ListType, given);
  if (!HPy_IsNull(given)) HPy_Close(ctx, given);
  if (HPy_IsNull(items)) return -1;
  TVMFFIObject *made;
  int rc = fb_container_make(ctx, type_index, items, name, &made);
  HPy_Close(ctx, items);
  return rc == 0 ? fb_transfer_put(ctx, self, made) : -1;
}

HPyDef_SLOT(array_init, HPy_tp_init)
static int array_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  return sequence_init(ctx, self, kTVMFFIArray, args, nargs, kw);
}

/* Overrides array_init, which CList would inherit. */
HPyDef_SLOT(list_init, HPy_tp_init)
static int list_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  return sequence_init(ctx, self, kTVMFFIList, args, nargs, kw);
}

/* --- changing a List ---------------------------------------------------------------------------------------------- */

/* The position of a change. A NULL pointer means the end. */
typedef struct Spot {
  Place place;
  int64_t wanted; /* a Python position */
  HPy key; /* `wanted` as the caller gave it, for the message of an IndexError */
} Spot;

/* Calls a function of the core for a List with a position, unless `spot` is NULL, and with the value, unless that is
 * HPy_NULL. Returns 0, or -1 with an exception raised. */
static int list_change(HPyContext *ctx, HPy self, FbCoreFunction *change, const Spot *spot, HPy value) {
  FbTemp temp;
  FbArgs converted = {.temps = &temp, .position = -1, .callee = change->name};
  TVMFFIAny args[3], nothing;
  int32_t n = spot == NULL ? 1 : 2;
  if (!HPy_IsNull(value) && fb_argument_convert(ctx, value, &args[n++], &converted) != 0) {
    fb_args_end(&converted, -1);
    return -1;
  }
  /* The object is read after the conversion, which may run Python code that gives self another handle. */
  TVMFFIObject *handle = sequence_take(ctx, self);
  int rc = -1;
  if (handle != NULL) {
    args[0] = fb_core_function_object(handle);
    rc = spot == NULL ? fb_core_function_run(ctx, change, args, n, &nothing)
                      : list_run_at(ctx, change, args, n, spot->wanted, spot->place, &nothing);
    int64_t size = rc == 1 ? size_of(ctx, handle) : -1;
    if (size >= 0) fb_position_refuse(ctx, self, spot->key, size);
    fb_drop_object(handle, rc);
  }
  fb_args_end(&converted, rc);
  return rc == 0 ? 0 : -1;
}

/* Slices are rare, so Python methods handle them: self._set_slice(slice, values) and self._del_slice(slice). */
static int change_slice(HPyContext *ctx, HPy self, HPy slice, HPy value) {
  bool is_deletion = HPy_IsNull(value);
  HPy name = HPyUnicode_FromString(ctx, is_deletion ? "_del_slice" : "_set_slice");
  if (HPy_IsNull(name)) return -1;
  HPy args[3] = {self, slice, value};
  HPy result = fb_call_method(ctx, name, args, is_deletion ? 2 : 3);
  HPy_Close(ctx, name);
  if (HPy_IsNull(result)) return -1;
  HPy_Close(ctx, result);
  return 0;
}

HPyDef_SLOT(list_assign, HPy_mp_ass_subscript)
static int list_assign_impl(HPyContext *ctx, HPy self, HPy key, HPy value) {
  int64_t i;
  switch (fb_position_of(ctx, self, key, &i)) {
  case FB_POSITION_NONE: return -1;
  case FB_POSITION_SLICE: return change_slice(ctx, self, key, value);
  case FB_POSITION_BEYOND: {
    HPy_ssize_t size = sequence_length_impl(ctx, self);
    if (size >= 0) fb_position_refuse(ctx, self, key, size);
    return -1;
  }
  default: {
    Spot spot = {AT_ITEM, i, key};
    return list_change(ctx, self, HPy_IsNull(value) ? &list_erase : &list_set, &spot, value);
  }
  }
}

HPyDef_METH(list_append_method, "append", HPyFunc_O,
            .doc = "append($self, value, /)\n--\n\n"
                   "Put an item at the end.\n\n"
                   "Args:\n"
                   "    value: the item, which is converted as an argument of a call.")
static HPy list_append_method_impl(HPyContext *ctx, HPy self, HPy value) {
  return list_change(ctx, self, &list_append, NULL, value) != 0 ? HPy_NULL : HPy_Dup(ctx, ctx->h_None);
}

static const char *const index_value[] = {"index", "value"}; /* the arguments of insert(), and the argument of pop() */

HPyDef_METH(list_insert_method, "insert", HPyFunc_KEYWORDS,
            .doc = "insert($self, index, value)\n--\n\n"
                   "Put an item before another one.\n\n"
                   "Args:\n"
                   "    index: the position of the other one; negative counts from the end, and what is beyond\n"
                   "        either end means that end.\n"
                   "    value: the item, which is converted as an argument of a call.")
static HPy list_insert_method_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  static const FbKeywords keywords = {"insert", index_value, 2, NULL};
  HPy given[2];
  if (fb_keywords_bind(ctx, &keywords, 2, args, nargs, kwnames, given) != 0) return HPy_NULL;
  Spot spot = {.place = AT_GAP, .key = given[0]};
  if (fb_position_of_number(ctx, given[0], &spot.wanted) != 0) return HPy_NULL;
  return list_change(ctx, self, &list_insert, &spot, given[1]) != 0 ? HPy_NULL : HPy_Dup(ctx, ctx->h_None);
}

HPyDef_METH(list_pop_method, "pop", HPyFunc_KEYWORDS,
            .doc = "pop($self, index=-1)\n--\n\n"
                   "Remove and return an item.\n\n"
                   "Args:\n"
                   "    index: its position, by default the last; negative counts from the end.\n\n"
                   "Raises:\n"
                   "    IndexError: if there is none.")
static HPy list_pop_method_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  static const FbKeywords keywords = {"pop", index_value, 1, NULL};
  HPy given;
  if (fb_keywords_bind(ctx, &keywords, 0, args, nargs, kwnames, &given) != 0) return HPy_NULL;
  int64_t wanted = -1;
  if (!HPy_IsNull(given) && fb_position_of_number(ctx, given, &wanted) != 0) return HPy_NULL;
  TVMFFIObject *handle = sequence_take(ctx, self);
  if (handle == NULL) return HPy_NULL;
  TVMFFIAny item;
  int rc = list_item(ctx, &list_pop, handle, wanted, &item);
  /* Only for the message. */
  int64_t size = rc == 1 ? size_of(ctx, handle) : 0;
  fb_drop_object(handle, rc);
  if (rc == 0) return fb_iterate_item(ctx, &item, exchange_of(ctx, self));
  if (rc < 0 || size < 0) return HPy_NULL;
  if (size == 0) return fb_raise(ctx, ctx->h_IndexError, "pop from empty List");
  return fb_raise(ctx, ctx->h_IndexError, "List index %lld is out of range for %lld items", (long long)wanted,
                  (long long)size);
}

/* --- types -------------------------------------------------------------------------------------------------------- */

static FbRef sequence_type; /* written once during the import */

FB_OBJECT_NEW(sequence, sequence_type)

HPy fb_sequence_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {&sequence_new,
                              &array_init,
                              &sequence_length,
                              &sequence_item,
                              &sequence_contains,
                              &sequence_iter,
                              &sequence_reversed,
                              NULL,
                              NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.CSequence",
      .basicsize = sizeof(FbObject),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbObject),
      .defines = defines,
      .doc = "Reading of native sequences.",
  };
  return fb_object_type_derive(ctx, &spec, base, &sequence_type);
}

static FbRef list_type; /* written once during the import */

FB_OBJECT_NEW(list, list_type)

HPy fb_sequence_list_type_new(HPyContext *ctx, HPy sequence) {
  static HPyDef *defines[] = {&list_new,           &list_init,       &list_assign, &list_append_method,
                              &list_insert_method, &list_pop_method, NULL,         NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.CList",
      .basicsize = sizeof(FbObject),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbObject),
      .defines = defines,
      .doc = "Changes of native sequences.",
  };
  return fb_object_type_derive(ctx, &spec, sequence, &list_type);
}
