/* Native objects as Python objects: the registered wrapper, or a new instance of the class of the type. */
#include "wrap.h"

#include "class_table.h"
#include "core/platform/atomic.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/hook.h"
#include "identity.h"
#include "object.h"
#include "preserve.h"
#include "recorded.h"

bool (*fb_wrap_other)(HPyContext *ctx, TVMFFIObject *handle, HPy *out);
ffi_hpy_instance *(*fb_wrap_instance_of)(const TVMFFIAny *value);

/* The wrapper that the caller wants: see wrap.h. */
typedef enum Wanted { WANTED_LISTED, WANTED_MOVABLE, WANTED_APART } Wanted;

/* Makes an instance of a class; `known`: the class in the table of classes, or NULL. */
FH_INLINE HPy instance_new(HPyContext *ctx, HPy cls, const FbRef *known, FbObject **object) {
  if (known == NULL || !fb_class_table_is_short(known)) return HPy_New(ctx, cls, object);
  HPy h = fb_ext->short_new(cls);
  if (FH_UNLIKELY(HPy_IsNull(h))) return h;
  *object = fb_object_struct(ctx, h);
  **object = (FbObject){.cell = {.handle = NULL}}; /* the collector may read it as soon as it sees the object */
  fb_ext->short_track(h);
  return h;
}

/* Makes an unregistered instance of cls (see instance_new). Steals the handle, also on failure. */
FH_INLINE HPy wrap_new(HPyContext *ctx, HPy cls, const FbRef *known, TVMFFIObject *handle) {
  FbObject *object;
  HPy h = instance_new(ctx, cls, known, &object);
  if (FH_UNLIKELY(HPy_IsNull(h))) {
    fb_drop_object(handle, -1);
    return h;
  }
  /* Where wrappers have an owner (see FbObject), the cell is in the owner. */
  if (FH_UNLIKELY(fb_object_has_owner)) {
    if (fb_object_make_owner(ctx, h) != 0) {
      fb_drop_object(handle, -1);
      HPy_Close(ctx, h);
      return HPy_NULL;
    }
    object = (FbObject *)fb_object_struct(ctx, h)->owner;
  }
  object->cell.handle = handle;
  fb_handle_cell_set_listing(&object->cell, FB_UNLISTED);
  if (FH_LIKELY(!fb_recorded_is_on()) || fb_recorded_add(ctx, h) == 0) return h;
  HPy_Close(ctx, h); /* drops the handle */
  return HPy_NULL;
}

/* Makes a registered wrapper for an object to which other code has references: a new wrapper, or the wrapper that
 * another thread has registered since the lookup. */
static HPy wrap_listed(HPyContext *ctx, HPy cls, const FbRef *known, TVMFFIObject *handle) {
  HPy h = wrap_new(ctx, cls, known, handle);
  if (FH_UNLIKELY(HPy_IsNull(h))) return h;
  /* With the only reference it is registered because it may hold others. Without a GIL another thread may have found an
   * object of a bound class by its C++ value since then, and made a wrapper. */
  if (!fb_context_free_threaded && !fb_identity_is_shared(handle)) {
    fb_identity_list_first(ctx, h, fb_object_cell(ctx, h));
    return h;
  }
  HPy other = fb_identity_list(ctx, h, fb_object_cell(ctx, h));
  if (FH_LIKELY(HPy_IsNull(other))) return h;
  if (FH_UNLIKELY(!fb_handle_cell_give_again(fb_object_cell(ctx, other), handle))) {
    HPy_Close(ctx, other); /* it is being removed from the map: h stays unregistered */
    return h;
  }
  /* Releases the reference that h owns; `other` has its own. No code has seen h, so its __del__ must not run. */
  fb_identity_end_unseen(fb_object_cell(ctx, h));
  HPy_Close(ctx, h);
  return other;
}

/* Like wrap(), for a type without a class: the package makes a class, or imports the module with the class. Steals the
 * handle. */
static FH_NOINLINE HPy wrap_unregistered(HPyContext *ctx, TVMFFIObject *handle, bool is_shared) {
  bool (*other)(HPyContext *, TVMFFIObject *, HPy *) = fh_atomic_load_acquire(&fb_wrap_other); /* as it is set */
  HPy value;
  if (other != NULL && other(ctx, handle, &value)) return value;
  HPy index = HPyLong_FromInt32_t(ctx, handle->type_index);
  HPy cls = HPy_IsNull(index) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_CLASS_FOR_TYPE_INDEX, &index, 1);
  if (!HPy_IsNull(index)) HPy_Close(ctx, index);
  if (HPy_IsNull(cls)) {
    fb_drop_object(handle, -1);
    return HPy_NULL;
  }
  HPy result = is_shared ? wrap_listed(ctx, cls, NULL, handle) : wrap_new(ctx, cls, NULL, handle);
  HPy_Close(ctx, cls);
  return result;
}

/* Whether an object is one of a bound class. Functions of bound libraries do not take arguments by moving a handle, and
 * Python code compares their arguments by identity. */
static bool is_bound(TVMFFIObject *handle) {
  ffi_hpy_instance *(*instance_of)(const TVMFFIAny *) = fh_atomic_load_acquire(&fb_wrap_instance_of); /* as it is set */
  TVMFFIAny view = {.type_index = handle->type_index, .v_obj = handle};
  return instance_of != NULL && instance_of(&view) != NULL;
}

/* Whether a wrapper is registered although the caller has the only reference: see wrap_listed. */
FH_INLINE bool is_listed_at_once(const FbRef *cls, TVMFFIObject *handle, Wanted wanted) {
  if (wanted == WANTED_LISTED) return fb_class_table_holds(cls, handle->type_index);
  return wanted == WANTED_MOVABLE && FH_UNLIKELY(fb_context_free_threaded) && is_bound(handle);
}

/* Whether a registered wrapper may be returned again although a call may move its handle away: a wrapper of a Python
 * subclass differs from a new one, which would have neither its class nor its attributes. Records the return. */
FH_INLINE bool is_given_again(HPyContext *ctx, HPy found, TVMFFIObject *handle) {
  FbHandleCell *cell = fb_object_cell(ctx, found);
  bool is_fit = !fb_handle_cell_is_used(cell) || fb_class_table_is_subclass(ctx, found, handle) ||
                fb_preserve_has_state(found) || is_bound(handle);
  return FH_LIKELY(is_fit && fb_handle_cell_give_again(cell, handle));
}

/* Whether wrap_made_short makes the instances of a class. */
FH_INLINE bool makes_short(const FbRef *known) { return fb_class_table_is_short(known) && !fb_recorded_is_on(); }

/* Makes an instance of the class in the table of classes for an object with one reference, which it steals, also on
 * failure. short_new makes instances of the class. */
FH_INLINE HPy wrap_made_short(HPyContext *ctx, const FbRef *known, TVMFFIObject *handle) {
  HPy h = fb_ext->short_new(known->handle);
  if (FH_UNLIKELY(HPy_IsNull(h))) {
    fb_drop_object(handle, -1);
    return h;
  }
  FbHandleCell *cell = &((FbObject *)((char *)h._i + fb_context_data_offset))->cell;
  *cell = (FbHandleCell){.handle = handle, .listing = FB_UNLISTED};
  fb_ext->short_track(h);
  if (fb_class_table_holds(known, handle->type_index)) fb_identity_list_first(ctx, h, cell);
  return h;
}

FH_INLINE HPy wrap(HPyContext *ctx, TVMFFIObject *handle, Wanted wanted) {
  /* A registered wrapper owns a reference. So if the caller has the only reference, the object has no registered
   * wrapper and needs no lookup; the new wrapper is not registered until the object is shared. */
  bool is_shared = wanted != WANTED_APART && fb_identity_is_shared(handle);
  if (is_shared && wanted == WANTED_MOVABLE) {
    HPy found = fb_preserve_trade(handle);
    if (FH_UNLIKELY(!HPy_IsNull(found))) return found;
    found = fb_identity_find(ctx, handle);
    if (!HPy_IsNull(found)) {
      if (is_given_again(ctx, found, handle)) {
        TVMFFIObjectDecRef(handle);
        return found;
      }
      /* the registered wrapper stays registered; the new wrapper is an additional one */
      HPy_Close(ctx, found);
      is_shared = false;
    }
  } else if (is_shared) {
    HPy found = FH_LIKELY(!fb_identity_expects_none(handle)) ? fb_identity_trade(ctx, handle) : HPy_NULL;
    if (HPy_IsNull(found)) found = fb_preserve_trade(handle);
    if (!HPy_IsNull(found)) return found;
  }
  const FbRef *cell = fb_class_table_find(handle->type_index);
  if (FH_UNLIKELY(cell == NULL)) return wrap_unregistered(ctx, handle, is_shared);
  /* without a GIL another thread may have found the object by its C++ value since then, see wrap_listed */
  if (wanted == WANTED_LISTED && !is_shared && !fb_context_free_threaded && makes_short(cell)) {
    return wrap_made_short(ctx, cell, handle);
  }
  HPy cls = fb_ref_borrow(ctx, cell);
  is_shared = is_shared || is_listed_at_once(cell, handle, wanted);
  HPy result = is_shared ? wrap_listed(ctx, cls, cell, handle) : wrap_new(ctx, cls, cell, handle);
  fb_ref_return(ctx, cls);
  return result;
}

HPy fb_wrap_made(HPyContext *ctx, HPy cls, TVMFFIObject *handle) {
  const FbRef *known = fb_class_table_find(handle->type_index);
  bool is_exact = known != NULL && known->handle._i == cls._i;
  if (FH_LIKELY(is_exact && makes_short(known) && !fb_identity_is_shared(handle)))
    return wrap_made_short(ctx, known, handle);
  bool is_listed = is_exact && (fb_identity_is_shared(handle) || fb_class_table_holds(known, handle->type_index));
  HPy h = wrap_new(ctx, cls, is_exact ? known : NULL, handle);
  if (HPy_IsNull(h)) return h;
  FbHandleCell *cell = fb_object_cell(ctx, h);
  if (FH_UNLIKELY(!is_exact && !fb_class_table_fits(ctx, h, handle))) {
    fb_handle_cell_set_listing(cell, FB_UNLISTABLE);
  } else if (is_listed && !fb_identity_is_shared(handle)) {
    fb_identity_list_first(ctx, h, cell);
  } else if (is_listed) {
    HPy other = fb_identity_list(ctx, h, cell);
    if (FH_UNLIKELY(!HPy_IsNull(other))) HPy_Close(ctx, other);
  }
  return h;
}

HPy fb_wrap_find(HPyContext *ctx, TVMFFIObject *handle) {
  if (!fb_context_free_threaded || fb_identity_expects_none(handle)) return HPy_NULL;
  HPy found = fb_identity_find(ctx, handle);
  if (HPy_IsNull(found) || fb_handle_cell_give_again(fb_object_cell(ctx, found), handle)) return found;
  HPy_Close(ctx, found);
  return HPy_NULL;
}

HPy fb_wrap_object(HPyContext *ctx, TVMFFIObject *handle) { return wrap(ctx, handle, WANTED_LISTED); }
HPy fb_wrap_apart(HPyContext *ctx, TVMFFIObject *handle) { return wrap(ctx, handle, WANTED_APART); }
HPy fb_wrap_movable(HPyContext *ctx, TVMFFIObject *handle) { return wrap(ctx, handle, WANTED_MOVABLE); }

HPy fb_wrap_known(HPyContext *ctx, TVMFFIObject *handle) {
  /* as in wrap(), a preserved wrapper comes first, which needs a reference to the object */
  if (!fb_identity_is_shared(handle) || fb_identity_is_preserved(handle)) return HPy_NULL;
  HPy found = fb_identity_find(ctx, handle);
  if (HPy_IsNull(found) || is_given_again(ctx, found, handle)) return found;
  HPy_Close(ctx, found);
  return HPy_NULL;
}
