/* Copies, as methods of CObject. A shallow copy calls the type's own function; a deep copy is one call of a function of
 * the core, which traverses the fields and all objects reachable from them without recursion. */
#include "dataclass.h"

#include "core/platform/atomic.h"
#include "field.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/type_attr.h"

/* Returns the function that copies objects of a type, borrowed; NULL if there is none. */
static TVMFFIObject *find_copier(int32_t type_index) {
  static const TVMFFIByteArray name = {"__ffi_shallow_copy__", sizeof("__ffi_shallow_copy__") - 1};
  static const TVMFFITypeAttrColumn *known; /* constant once found, and equal for all threads */
  const TVMFFITypeAttrColumn *column = fh_atomic_load_acquire(&known);
  if (FH_UNLIKELY(column == NULL)) {
    column = TVMFFIGetTypeAttrColumn(&name);
    if (column == NULL) return NULL;
    fh_atomic_store_release(&known, column); /* pairs with the load above */
  }
  const TVMFFIAny *copier = fb_type_attr_in(column, type_index);
  return copier == NULL || copier->type_index != kTVMFFIFunction ? NULL : copier->v_obj;
}

/* __ffi_shallow_copy__ must be an attribute of the object's own type: an ancestor's function would copy only the
 * ancestor's fields. */
HPyDef_METH(fb_dataclass_copy, "_shallow_copy", HPyFunc_NOARGS,
            .doc = "_shallow_copy($self, /)\n--\n\n"
                   "A new object with the same values in its fields. TypeError where the "
                   "type cannot be copied.")
static HPy fb_dataclass_copy_impl(HPyContext *ctx, HPy self) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIObject, 0);
  if (cell == NULL) return HPy_NULL;
  TVMFFIObject *copier = find_copier(cell->handle->type_index);
  TVMFFIAny result = {0};
  FbThreadState outer;
  fb_identity_share(ctx, self, cell); /* hooks may keep references, and returning the object later must yield self */
  fb_thread_enter_held(ctx, &outer);
  int rc = copier == NULL ? 0 : fb_field_access->copy(copier, cell->handle, &result);
  fb_thread_leave_held(&outer);
  fb_handle_cell_unuse(cell);
  if (rc != 0) return fb_error_raise_pending(ctx, "__ffi_shallow_copy__");
  if (copier != NULL) return fb_result_make(ctx, &result);
  char name[128];
  return fb_raise(ctx, ctx->h_TypeError,
                  "Type `%s` does not support copy. The underlying C++ type is not copy-constructible.",
                  fb_attr_type_name(ctx, self, name, sizeof(name)));
}

/* copy.deepcopy() appends the original to a list after every __deepcopy__, so that the original outlives the memo; the
 * memo has the list under its own id. If the list does not exist, deepcopy() learns this by an exception, which takes
 * longer than the copy of a small object. Therefore an empty memo, which belongs to a copy that begins here, gets the
 * list beforehand. Only where handles are object pointers, which are the ids. Returns 0, or -1 with an exception
 * raised. */
static int prepare_memo(HPyContext *ctx, HPy memo) {
  if (fb_context_tuple_items == 0 || !HPyDict_Check(ctx, memo)) return 0;
  HPy_ssize_t n = HPy_Length(ctx, memo);
  if (n != 0) return n < 0 ? -1 : 0;
  HPy key = HPyLong_FromSize_t(ctx, (size_t)memo._i), kept = HPyList_New(ctx, 0);
  int rc = HPy_IsNull(key) || HPy_IsNull(kept) ? -1 : HPy_SetItem(ctx, memo, key, kept);
  if (!HPy_IsNull(key)) HPy_Close(ctx, key);
  if (!HPy_IsNull(kept)) HPy_Close(ctx, kept);
  return rc;
}

HPyDef_METH(fb_dataclass_deep_copy, "_deep_copy", HPyFunc_VARARGS,
            .doc = "_deep_copy($self, memo=None, /)\n--\n\n"
                   "A new object whose fields are deep copies. The `memo` "
                   "has no effect on native objects.")
static HPy fb_dataclass_deep_copy_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  static FbCoreFunction function = {"ffi.DeepCopy", NULL};
  if (nargs > 1) return fb_raise(ctx, ctx->h_TypeError, "a deep copy takes a memo at most, got %zu arguments", nargs);
  if (nargs == 1 && prepare_memo(ctx, args[0]) != 0) return HPy_NULL;
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIObject, 0);
  if (cell == NULL) return HPy_NULL;
  fb_identity_share(ctx, self, cell); /* as in a shallow copy */
  TVMFFIAny arg = {.type_index = cell->handle->type_index, .v_obj = cell->handle}, result;
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  int rc = fb_core_function_call(&function, &arg, 1, &result);
  fb_thread_leave_held(&outer);
  fb_handle_cell_unuse(cell);
  return rc == 0 ? fb_result_make(ctx, &result) : fb_error_raise_pending(ctx, function.name);
}
