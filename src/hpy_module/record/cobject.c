/* The class CObject: the methods of every wrapper, for all native types. The methods cover identity (comparison and
 * hash by pointer), the pointer itself, and moves of a handle between wrappers. Methods over fields get their Python
 * names from the package. The names between double underscores are tvm_ffi's. */
#include "core/platform/atomic.h"
#include "field.h"
#include "hpy_module/container/deep_copy.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/function/function.h"
#include "hpy_module/function/function_call.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/object_type.h"
#include "hpy_module/object/transfer.h"
#include "hpy_module/object/type_tag.h"
#include "record.h"

/* --- shallow copies ----------------------------------------------------------------------------------------------- */

/* A shallow copy calls the type's own function. Deep copies: container/deep_copy.c. */

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
FB_METHOD_NOARGS(fb_dataclass_copy, "_shallow_copy",
                 "_shallow_copy($self, /)\n--\n\n"
                 "A new object with the same values in its fields. TypeError where the "
                 "type cannot be copied.") {
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

/* --- the class ---------------------------------------------------------------------------------------------------- */

FB_OBJECT_NEW(object, fb_own_class_object)

static HPy bool_result(HPyContext *ctx, bool value) { return HPy_Dup(ctx, value ? ctx->h_True : ctx->h_False); }

/* As object.__ne__: the negation of the __eq__ of the object's class. */
static HPy object_differs(HPyContext *ctx, HPy self, HPy other) {
  HPy type = HPy_Type(ctx, self), compare = HPy_GetAttr_s(ctx, type, "__eq__"), result = HPy_NULL;
  if (!HPy_IsNull(compare)) {
    HPy args[2] = {self, other};
    result = HPy_Call(ctx, compare, args, 2, HPy_NULL);
    HPy_Close(ctx, compare);
  }
  HPy_Close(ctx, type);
  if (HPy_IsNull(result) || HPy_Is(ctx, result, ctx->h_NotImplemented)) return result;
  int equal = HPy_IsTrue(ctx, result);
  HPy_Close(ctx, result);
  return equal < 0 ? HPy_NULL : bool_result(ctx, !equal);
}

/* Two wrappers of one object are equal. Only the pointers are compared and no object is read, so no use of the cells
 * begins. */
HPyDef_SLOT(object_compare, HPy_tp_richcompare)
static HPy object_compare_impl(HPyContext *ctx, HPy self, HPy other, HPy_RichCmpOp op) {
  if (op == HPy_NE) return object_differs(ctx, self, other);
  if (op != HPy_EQ || !fb_object_check(ctx, other)) return HPy_Dup(ctx, ctx->h_NotImplemented);
  return bool_result(ctx, fb_object_get(ctx, self) == fb_object_get(ctx, other));
}

HPyDef_SLOT(object_hash, HPy_tp_hash)
static HPy_hash_t object_hash_impl(HPyContext *ctx, HPy self) {
  uintptr_t address = (uintptr_t)fb_object_get(ctx, self);
  return (HPy_hash_t)(address >> 4); /* the low bits are alignment; the result is never -1 */
}

FB_METHOD_NOARGS(object_chandle, "__chandle__", "Address of the native object, 0 if there is none.") {
  /* registers self, so that a caller who returns this pointer gets self */
  TVMFFIObject *handle = fb_object_take(ctx, self);
  HPy address = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)handle);
  fb_drop_object(handle, HPy_IsNull(address));
  return address;
}

/* A use of the cell protects the object while its header is read. */
FB_METHOD_NOARGS(object_type_index, "__type_index__", "Type index of the native object.") {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIObject, 0);
  if (cell == NULL) return HPy_NULL;
  HPy index = HPyLong_FromInt32_t(ctx, cell->handle->type_index);
  fb_handle_cell_unuse(cell);
  return index;
}

FB_METHOD_NOARGS(object_use_count, "__use_count__", "Strong references to the native object.") {
  TVMFFIObject *handle = fb_object_take(ctx, self);
  if (handle == NULL) return HPyLong_FromInt32_t(ctx, 0);
  /* A snapshot without this function's own reference: other threads may change the count at any time. */
  uint64_t count = fh_atomic_load_relaxed(&handle->combined_ref_count) - 1;
  TVMFFIObjectDecRef(handle);
  return HPyLong_FromUInt64_t(ctx, count & UINT32_MAX);
}

FB_METHOD_NOARGS(object_move, "_move", "Mark the object for a call that may take its handle away.") {
  return fb_rvalue_ref_new(ctx, self);
}

static bool is_function(HPyContext *ctx, HPy h) { return fb_own_class_check(ctx, h, &fb_own_class_function); }

/* Returns None, or HPy_NULL if rc is not 0. */
static HPy none_if(HPyContext *ctx, int rc) { return rc == 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL; }

FB_METHOD_O(object_move_from, "__move_handle_from__", other,
            "__move_handle_from__($self, other, /)\n--\n\nTake over the handle of another object.") {
  if (!fb_object_check(ctx, other)) {
    char given[128];
    return fb_raise(ctx, ctx->h_TypeError, "__move_handle_from__() argument must be a CObject, not %s",
                    fb_attr_type_name(ctx, other, given, sizeof(given)));
  }
  if (is_function(ctx, self)) { /* self gets its own reference: the handle of a Function is never moved away */
    return none_if(ctx, fb_transfer_put_function(ctx, self, fb_object_take(ctx, other)));
  }
  if (is_function(ctx, other)) return fb_transfer_refuse_function(ctx);
  /* Nothing to move. A move claims both cells; a second claim of one cell would fail, or wait forever without a GIL. */
  if (fb_context_is_same(ctx, self, other)) return HPy_Dup(ctx, ctx->h_None);
  return none_if(ctx, fb_transfer_move(ctx, self, other));
}

FB_METHOD(object_init_by, "__init_handle_by_constructor__",
          "Take over the handle of the object that a native function returns.") {
  if (nargs == 0 || !is_function(ctx, args[0])) {
    return fb_raise(ctx, ctx->h_TypeError, "__init_handle_by_constructor__() argument 1 must be a Function");
  }
  if (fb_hook_current(FB_HOOK_OBJECT_REPLACED) != NULL && fb_object_get(ctx, self) != NULL) {
    HPy done = fb_hook_call(ctx, FB_HOOK_OBJECT_REPLACED, &self, 1);
    if (HPy_IsNull(done)) return HPy_NULL;
    HPy_Close(ctx, done);
  }
  /* The function runs with the GIL held. A result that is not an object owns nothing, so nothing is released. */
  TVMFFIAny made;
  if (fb_function_call_raw(ctx, args[0], args + 1, nargs - 1, &made) != 0) return HPy_NULL;
  if (made.type_index < kTVMFFIStaticObjectBegin) {
    return fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_AN_OBJECT, fb_function_name(ctx, args[0]),
                    (int)made.type_index);
  }
  /* A Function gets a handle once and keeps it; any other wrapper may replace its handle. */
  return none_if(ctx, is_function(ctx, self) ? fb_transfer_put_function(ctx, self, made.v_obj)
                                             : fb_transfer_put(ctx, self, made.v_obj));
}

/* The last but one entry of `defines` is room for the slot that fb_object_type_base appends. */
HPy fb_cobject_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&object_new,
                              &object_compare,
                              &object_hash,
                              &object_chandle,
                              &object_move,
                              &object_move_from,
                              &object_init_by,
                              &object_type_index,
                              &object_use_count,
                              &fb_dataclass_copy,
                              &fb_deep_copy_object,
                              &fb_deep_copy_swap_memo,
                              NULL,
                              NULL};
  static HPyType_Spec spec =
      FB_TYPE_SPEC(FbObject, "CObject", HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE, defines,
                   "CObject(*args, **kwargs)\n--\n\nBase of everything that owns a handle of a native object.");
  return fb_object_type_base(ctx, &spec);
}
