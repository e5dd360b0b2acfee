/* Array and List. An Array is immutable and read in place. A List is read and changed by the core's functions, one call
 * per operation, each one step under the core's lock. Operations that read many items of a List copy the List first.
 *
 * These functions handle positions that are plain ints and have an item. Methods of the package's classes handle all
 * other keys and raise the errors (container.h). */
#include "container.h"
#include "deep_copy.h"

#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/args.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/object/object_type.h"
#include "iterate.h"

static FbCoreFunction list_size = {.name = "ffi.ListSize"}, list_get = {.name = "ffi.ListGetItem"},
                      list_set = {.name = "ffi.ListSetItem"}, list_append = {.name = "ffi.ListAppend"},
                      to_array = {.name = "__ffi_convert__", .type_index = kTVMFFIArray};

/* --- the native object -------------------------------------------------------------------------------------------- */

/* Returns the table under which self was returned, or NULL. self must have an object. */
FH_INLINE const DLPackExchangeAPI *exchange_of(HPyContext *ctx, HPy self) {
  return fb_exchange_number_find(fb_object_cell(ctx, self));
}

FH_INLINE const TVMFFISeqCell *cell_of(const TVMFFIObject *array) { return (const TVMFFISeqCell *)(array + 1); }
FH_INLINE bool is_array(const TVMFFIObject *handle) { return handle->type_index == kTVMFFIArray; }

/* Returns the current number of items; -1 with an exception raised. */
static int64_t size_of(HPyContext *ctx, TVMFFIObject *handle) {
  if (is_array(handle)) return cell_of(handle)->size;
  TVMFFIAny arg = fb_core_function_object(handle), size;
  return fb_core_function_run(ctx, &list_size, &arg, 1, &size) != 0 ? -1 : size.v_int64;
}

/* Returns an Array with the items of self, owned: its own Array, or a copy made in one step. NULL with an exception
 * raised. */
static TVMFFIObject *array_take(HPyContext *ctx, HPy self) {
  TVMFFIObject *handle = fb_use_take(ctx, self, kTVMFFIArray, kTVMFFIList);
  if (handle == NULL || is_array(handle)) return handle;
  TVMFFIAny arg = fb_core_function_object(handle), copy;
  int rc = fb_core_function_run(ctx, &to_array, &arg, 1, &copy);
  fb_drop_object(handle, rc);
  return rc == 0 ? copy.v_obj : NULL;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

HPyDef_SLOT(sequence_length, HPy_mp_length)
static HPy_ssize_t sequence_length_impl(HPyContext *ctx, HPy self) {
  FbHandleCell *cell = fb_use_begin(ctx, self, kTVMFFIArray, kTVMFFIList);
  if (cell == NULL) return -1;
  int64_t size = size_of(ctx, cell->handle); /* runs no code that could move the handle */
  fb_handle_cell_unuse(cell);
  return (HPy_ssize_t)size;
}

/* Returns a pointer to item i of an Array, counted from the end if negative; NULL if there is none. */
FH_INLINE const TVMFFIAny *array_place(const TVMFFIObject *handle, int64_t i) {
  const TVMFFISeqCell *cell = cell_of(handle);
  int64_t position = i < 0 ? i + cell->size : i;
  if (FH_UNLIKELY(position < 0 || position >= cell->size)) return NULL;
  return (const TVMFFIAny *)cell->data + position;
}

/* Copies item i of an Array. *out is owned. Returns false if there is none. */
FH_INLINE bool array_item(const TVMFFIObject *handle, int64_t i, TVMFFIAny *out) {
  const TVMFFIAny *place = array_place(handle, i);
  if (FH_UNLIKELY(place == NULL)) return false;
  *out = *place;
  if (out->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(out->v_obj);
  return true;
}

/* Like fb_iterate_find, for item i of an Array. */
FH_INLINE HPy array_item_find(HPyContext *ctx, HPy self, const TVMFFIObject *handle, int64_t i) {
  const TVMFFIAny *place = array_place(handle, i);
  return place == NULL ? HPy_NULL : fb_iterate_find(ctx, place, exchange_of(ctx, self));
}

/* Like array_item, for a List. The core counts positions from the start only, so a negative one needs the length, which
 * is a separate step. Returns false without an exception if the item does not exist, and with one if the call fails. */
FH_INLINE bool list_item(HPyContext *ctx, TVMFFIObject *handle, int64_t i, TVMFFIAny *out) {
  TVMFFIObject *get = fb_core_function_find(&list_get);
  if (FH_UNLIKELY(i < 0)) {
    int64_t size = size_of(ctx, handle);
    if (size < 0) return false;
    i += size;
  }
  TVMFFIAny args[2] = {fb_core_function_object(handle), fb_core_function_int(i)};
  if (FH_LIKELY(get != NULL && !fb_thread_saves_state())) {
    if (FH_LIKELY(fb_core_function_call_handle(get, args, 2, out) == 0)) return true;
    fb_error_slot_clear();
    return false;
  }
  if (fb_core_function_run(ctx, &list_get, args, 2, out) == 0) return true;
  if (HPyErr_ExceptionMatches(ctx, ctx->h_IndexError)) HPyErr_Clear(ctx);
  return false;
}

/* Reads an item. A use of the cell protects the sequence; with a reference, threads that share the sequence would
 * contend for its count. The item is in *value, or, if that is HPy_NULL, in *out, owned. Returns false if the item or
 * the sequence does not exist, with an exception only if a call fails. */
FH_INLINE bool item_in_place(HPyContext *ctx, HPy self, int64_t i, HPy *value, TVMFFIAny *out) {
  FbHandleCell *cell = fb_object_cell(ctx, self);
  if (FH_UNLIKELY(cell == NULL || !fb_handle_cell_use(cell))) return false;
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  bool found = false;
  *value = HPy_NULL;
  if (handle != NULL && is_array(handle)) {
    if (FH_UNLIKELY(fb_context_free_threaded)) *value = array_item_find(ctx, self, handle, i);
    found = !HPy_IsNull(*value) || array_item(handle, i, out);
  } else if (handle != NULL && handle->type_index == kTVMFFIList) {
    found = list_item(ctx, handle, i, out);
  }
  fb_handle_cell_unuse(cell);
  return found;
}

HPyDef_SLOT(sequence_item, HPy_mp_subscript)
static HPy sequence_item_impl(HPyContext *ctx, HPy self, HPy key) {
  int64_t i;
  HPy value;
  TVMFFIAny item;
  if (FH_LIKELY(fb_container_int(ctx, key, &i)) && FH_LIKELY(item_in_place(ctx, self, i, &value, &item))) {
    if (FH_UNLIKELY(!HPy_IsNull(value))) return value;
    return fb_iterate_item(ctx, &item, exchange_of(ctx, self));
  }
  return HPyErr_Occurred(ctx) ? HPy_NULL : fb_rare_call(ctx, self, "_get_rare", key, HPy_NULL);
}

FB_METHOD_NOARGS(sequence_iter, "__iter__", "Over the items; of a List over those that are there now.") {
  TVMFFIObject *array = array_take(ctx, self);
  return array == NULL ? HPy_NULL : fb_iterate_array(ctx, array, exchange_of(ctx, self));
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
  return HPy_IsNull(items) ? -1 : fb_container_fill(ctx, self, type_index, items, name);
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

/* Calls a function of the core for a List with a position, unless it is NULL, and a value. Returns 0; 1 without an
 * exception if the position has no item; -1 with an exception raised. */
static int list_change(HPyContext *ctx, HPy self, FbCoreFunction *change, const int64_t *position, HPy value) {
  FbTemp temp;
  FbArgs converted = {.temps = &temp, .position = -1, .callee = change->name};
  TVMFFIAny args[3], nothing;
  int32_t n = position == NULL ? 1 : 2;
  int rc = fb_argument_convert(ctx, value, &args[n], &converted);
  /* The object is read after the conversion, which may run Python code that gives self another handle. */
  TVMFFIObject *handle = rc == 0 ? fb_use_take(ctx, self, kTVMFFIArray, kTVMFFIList) : NULL;
  if (FH_LIKELY(handle != NULL)) {
    args[0] = fb_core_function_object(handle);
    if (position != NULL) args[1] = fb_core_function_int(*position);
    rc = fb_core_function_run(ctx, change, args, n + 1, &nothing);
    if (FH_UNLIKELY(rc != 0) && position != NULL && HPyErr_ExceptionMatches(ctx, ctx->h_IndexError)) {
      HPyErr_Clear(ctx);
      rc = 1;
    }
    fb_drop_object(handle, rc);
  } else {
    rc = -1;
  }
  fb_args_end(&converted, rc);
  return rc;
}

HPyDef_SLOT(list_assign, HPy_mp_ass_subscript)
static int list_assign_impl(HPyContext *ctx, HPy self, HPy key, HPy value) {
  int64_t i;
  if (HPy_IsNull(value)) return fb_rare_run(ctx, self, "_delete", key, HPy_NULL); /* `del` */
  if (FH_UNLIKELY(!fb_container_int(ctx, key, &i) || i < 0)) return fb_rare_run(ctx, self, "_set_rare", key, value);
  int rc = list_change(ctx, self, &list_set, &i, value);
  return FH_LIKELY(rc <= 0) ? rc : fb_rare_run(ctx, self, "_refuse", key, HPy_NULL);
}

FB_METHOD_O(list_append_method, "append", value,
            "append($self, value, /)\n--\n\n"
            "Put an item at the end.\n\n"
            "Args:\n"
            "    value: the item, which is converted as an argument of a call.") {
  return list_change(ctx, self, &list_append, NULL, value) != 0 ? HPy_NULL : HPy_Dup(ctx, ctx->h_None);
}

/* --- types -------------------------------------------------------------------------------------------------------- */

FB_OBJECT_CLASS(sequence)

HPy fb_sequence_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {
      &sequence_new, &array_init, &sequence_length, &sequence_item, &sequence_iter, &fb_deep_copy_container,
      NULL,          NULL};
  return fb_object_type_plain(ctx, "ffi_hpy._core.CSequence", "Reading of native sequences.", defines, base,
                              &sequence_type);
}

FB_OBJECT_CLASS(list)

HPy fb_sequence_list_type_new(HPyContext *ctx, HPy sequence) {
  static HPyDef *defines[] = {&list_new, &list_init, &list_assign, &list_append_method, NULL, NULL};
  return fb_object_type_plain(ctx, "ffi_hpy._core.CList", "Changes of native sequences.", defines, sequence,
                              &list_type);
}
