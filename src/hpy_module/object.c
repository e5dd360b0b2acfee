/* CObject and the table of classes. */
#include "object.h"

#include <stdlib.h>

#include "convert.h"
#include "core/platform/sync.h"
#include "dataclass.h"
#include "error.h"
#include "function.h"
#include "function_name.h"
#include "hooks.h"
#include "identity.h"
#include "type.h"
#include "value.h"

FB_OBJECT_NEW(object)

static FbCell owner_type; /* written once during the import */
bool fb_object_has_owner, fb_free_threaded;

/* --- handles -------------------------------------------------------------------------------------------------------- */

bool fb_object_check(HPyContext *ctx, HPy h) {
  if (fb_ext != NULL) {
    const FbKindEntry *entry = fb_kind_find(h);
    if (entry != NULL) return entry->kind == FB_KIND_OBJECT;
  }
  HPy type = fb_cell_load(ctx, &object_type);
  bool is_object = HPy_TypeCheck(ctx, h, type);
  HPy_Close(ctx, type);
  return is_object;
}

bool fb_object_derives(TVMFFIObject *handle, int32_t type_index, int32_t depth) {
  if (type_index == kTVMFFIObject) return true;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(handle->type_index);
  return info != NULL && info->type_depth > depth && info->type_ancestors[depth]->type_index == type_index;
}

TVMFFIObject *fb_object_take(HPyContext *ctx, HPy h) {
  FbPlace *place = fb_object_check(ctx, h) ? fb_object_place(ctx, h) : NULL;
  if (place == NULL || !fb_place_use(place)) return NULL;
  TVMFFIObject *handle = place->handle;
  if (handle != NULL) {
    fb_identity_hand_out(ctx, h, place);
    TVMFFIObjectIncRef(handle);
  }
  fb_place_unuse(place);
  return handle;
}

/* Whether the __new__ of its class made a CObject. */
static bool is_made(HPyContext *ctx, HPy self) {
  if (fb_object_has_owner) return fb_object_struct(ctx, self) != NULL;
  return atomic_load_explicit(&fb_object_place(ctx, self)->listing, memory_order_relaxed) != FB_UNMADE;
}

HPy fb_object_raise_no_handle(HPyContext *ctx, HPy self) {
  char name[128];
  if (!is_made(ctx, self)) return fb_type_raise_unmade(ctx, self);
  return fb_raise(ctx, ctx->h_ValueError, "this %s has no native object: it was moved away or never initialised",
                  fb_type_name(ctx, self, name, sizeof(name)));
}

FbPlace *fb_object_begin_failed(HPyContext *ctx, HPy self, FbPlace *place) {
  char name[128];
  if (place == NULL || place->handle == NULL) {
    fb_object_raise_no_handle(ctx, self);
  } else {
    fb_raise(ctx, ctx->h_TypeError, "the native object of this %s is of another type (index %d)",
             fb_type_name(ctx, self, name, sizeof(name)), (int)place->handle->type_index);
  }
  if (place != NULL) fb_place_unuse(place);
  return NULL;
}

int32_t fb_place_settle(FbPlace *place) {
  int32_t n;
  while ((n = atomic_load_explicit((_Atomic(int32_t) *)&place->n_uses, memory_order_relaxed)) == FB_PLACE_MOVING) {
    fh_thread_yield();
  }
  return n;
}

/* Makes an unused place MOVING or LENT. False if a call uses it. */
static bool place_claim(FbPlace *place, int32_t state) {
  if (!fb_free_threaded) {
    if (place->n_uses != 0) return false;
    place->n_uses = state;
    return true;
  }
  int32_t n = 0;
  while (!atomic_compare_exchange_weak_explicit((_Atomic(int32_t) *)&place->n_uses, &n, state, memory_order_acquire,
                                                memory_order_relaxed)) {
    if (n == FB_PLACE_MOVING) n = fb_place_settle(place);
    if (n != 0) return false;
  }
  return true;
}

void fb_place_release(FbPlace *place) {
  atomic_store_explicit((_Atomic(int32_t) *)&place->n_uses, 0, memory_order_release); /* pairs with fb_place_use */
}

static int raise_in_use(HPyContext *ctx) {
  fb_raise(ctx, ctx->h_RuntimeError, "the native object cannot be moved away while a call uses it");
  return -1;
}

/* Gives a CObject, where it needs one, the owner that its handle will be in. */
static int owner_make(HPyContext *ctx, HPy self) {
  HPy type = fb_cell_load(ctx, &owner_type);
  FbOwner *data;
  HPy owner = HPy_New(ctx, type, &data);
  HPy_Close(ctx, type);
  if (HPy_IsNull(owner)) return -1;
  FbObject *object = fb_object_struct(ctx, self);
  HPyField_Store(ctx, self, &object->owner_field, owner);
  object->owner = &data->place;
  HPy_Close(ctx, owner);
  return 0;
}

/* The place of a CObject, made if need be; NULL with an exception raised. */
static FbPlace *place_make(HPyContext *ctx, HPy self) {
  if (FB_UNLIKELY(!is_made(ctx, self))) {
    fb_type_raise_unmade(ctx, self);
    return NULL;
  }
  FbPlace *place = fb_object_place(ctx, self);
  return place != NULL || owner_make(ctx, self) != 0 ? place : fb_object_place(ctx, self);
}

/* Whether self is an instance of the class that stands for the type of an object: only then is it what others expect who
 * get it for that object. */
static bool fits(HPyContext *ctx, HPy self, TVMFFIObject *handle);
/* Whether it is of that very class. False also where that cannot be told quickly. */
static bool is_exact(HPy self, const TVMFFIObject *handle);

FB_INLINE void set_listing(FbPlace *place, FbListing listing) {
  atomic_store_explicit(&place->listing, (uint8_t)listing, memory_order_relaxed); /* the claim of the place orders it */
}

/* After a place got a handle: lists self if others have references to the object, who may come with it at any time. The
 * place is claimed or in use. Returns the wrapper that was listed before (new handle), or HPy_NULL. */
static HPy list_if_shared(HPyContext *ctx, HPy self, FbPlace *place) {
  if (place->handle == NULL || !fits(ctx, self, place->handle)) return HPy_NULL;
  set_listing(place, FB_UNLISTED);
  return fb_identity_is_shared(place->handle) ? fb_identity_list(ctx, self, place) : HPy_NULL;
}

/* Lists the wrapper of a claimed place, if it can be listed, and releases the place. Without a GIL the place is released
 * after the listing: a thread that meets a claim waits for it, while one that meets a use would be refused. With a GIL it is
 * released first: a use is enough there, and listing may run Python code (identity_weak.c). */
static void listing_begin(HPyContext *ctx, HPy self, FbPlace *place) {
  if (!fb_free_threaded) {
    fb_place_release(place);
    if (!fb_place_use(place)) return;
  }
  HPy other = list_if_shared(ctx, self, place);
  if (fb_free_threaded) {
    fb_place_release(place);
  } else {
    fb_place_unuse(place);
  }
  if (!HPy_IsNull(other)) HPy_Close(ctx, other); /* which may run anything, too */
}

/* Whether self is a Function, which is called without another look at its handle, and the handle is no function's. */
static bool is_misplaced(HPyContext *ctx, HPy self, const TVMFFIObject *handle) {
  if (handle->type_index == kTVMFFIFunction || is_exact(self, handle) || !fb_function_check(ctx, self)) return false;
  fb_raise(ctx, ctx->h_TypeError, "a Function can take over the handle of a function only");
  return true;
}

int fb_object_put(HPyContext *ctx, HPy self, TVMFFIObject *handle) {
  FbPlace *place = is_misplaced(ctx, self, handle) ? NULL : place_make(ctx, self);
  if (place == NULL || (!place_claim(place, FB_PLACE_MOVING) && raise_in_use(ctx) != 0)) {
    TVMFFIObjectDecRef(handle);
    return -1;
  }
  fb_identity_unlist_own(place);
  TVMFFIObject *old = place->handle;
  place->handle = handle;
  set_listing(place, FB_UNLISTABLE);
  listing_begin(ctx, self, place);
  if (old != NULL) TVMFFIObjectDecRef(old);
  return 0;
}

/* --- the table of classes --------------------------------------------------------------------------------------------- */

enum { N_FIRST = 1024, CHUNK_SIZE = 256, N_CHUNKS = 1024, N_CLASSES = N_FIRST + CHUNK_SIZE * N_CHUNKS };

/* Cells are complete before they are published and never freed: a class that was replaced may be in use. The first types
 * have their slots at hand, chunks for more are made as they come. */
typedef _Atomic(FbCell *) ClassSlot;
static ClassSlot first_slots[N_FIRST];
static _Atomic(ClassSlot *) chunks[N_CHUNKS];

static FB_NOINLINE ClassSlot *chunk_slot(int32_t index) {
  if (index < 0 || index >= N_CLASSES) return NULL;
  index -= N_FIRST;
  ClassSlot *chunk = atomic_load_explicit(&chunks[index / CHUNK_SIZE], memory_order_acquire); /* pairs with slot_make */
  return chunk == NULL ? NULL : &chunk[index % CHUNK_SIZE];
}

FB_INLINE ClassSlot *slot_find(int32_t index) {
  return FB_LIKELY((uint32_t)index < N_FIRST) ? &first_slots[index] : chunk_slot(index);
}

static ClassSlot *slot_make(int32_t index) {
  if (index < 0 || index >= N_CLASSES || slot_find(index) != NULL) return slot_find(index);
  ClassSlot *fresh = calloc(CHUNK_SIZE, sizeof(*fresh)), *expected = NULL;
  if (fresh == NULL) return NULL;
  /* Release: the chunk's zeros are visible to whoever finds it (acquire, in chunk_slot). */
  if (!atomic_compare_exchange_strong_explicit(&chunks[(index - N_FIRST) / CHUNK_SIZE], &expected, fresh,
                                               memory_order_release, memory_order_relaxed)) {
    free(fresh);
  }
  return slot_find(index);
}

FB_INLINE const FbCell *class_cell(int32_t index) {
  ClassSlot *slot = slot_find(index);
  return slot == NULL ? NULL : atomic_load_explicit(slot, memory_order_acquire); /* pairs with fb_class_store */
}

/* With replaces false a class that is there stays. */
static int class_store(HPyContext *ctx, int32_t index, HPy cls, bool replaces) {
  ClassSlot *slot = slot_make(index);
  FbCell *cell = slot == NULL ? NULL : calloc(1, sizeof(*cell));
  if (cell == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  fb_cell_store(ctx, cell, cls);
  FbCell *none = NULL;
  if (replaces) {
    atomic_store_explicit(slot, cell, memory_order_release); /* pairs with class_cell */
  } else if (!atomic_compare_exchange_strong_explicit(slot, &none, cell, memory_order_release, memory_order_relaxed)) {
    fb_cell_clear(ctx, cell);
    free(cell);
  }
  return 0;
}

int fb_class_store(HPyContext *ctx, int32_t index, HPy cls) { return class_store(ctx, index, cls, true); }

static bool is_exact(HPy self, const TVMFFIObject *handle) {
  const FbCell *cell = class_cell(handle->type_index);
  return cell != NULL && fb_ext != NULL && fb_kind_type(self) == cell->handle._i;
}

static bool fits(HPyContext *ctx, HPy self, TVMFFIObject *handle) {
  const FbCell *cell = class_cell(handle->type_index);
  if (cell == NULL) return false;
  if (FB_LIKELY(is_exact(self, handle))) return true;
  HPy cls = fb_cell_borrow(ctx, cell);
  bool is_instance = HPy_TypeCheck(ctx, self, cls);
  fb_cell_return(ctx, cls);
  return is_instance;
}

/* --- wrapping --------------------------------------------------------------------------------------------------------- */

/* Whose wrapper is asked for. */
typedef enum Wanted { WANTED_LISTED, WANTED_MOVABLE, WANTED_APART } Wanted;

FB_INLINE HPy wrap_new(HPyContext *ctx, HPy cls, TVMFFIObject *handle) {
  FbObject *object;
  HPy h = HPy_New(ctx, cls, &object);
  if (FB_UNLIKELY(HPy_IsNull(h))) {
    TVMFFIObjectDecRef(handle);
    return h;
  }
  if (FB_UNLIKELY(fb_object_has_owner)) {
    if (owner_make(ctx, h) != 0) {
      TVMFFIObjectDecRef(handle);
      HPy_Close(ctx, h);
      return HPy_NULL;
    }
    object = (FbObject *)fb_object_struct(ctx, h)->owner;
  }
  object->place.handle = handle;
  set_listing(&object->place, FB_UNLISTED);
  return h;
}

/* The same, for an object that others have, too: it is listed, unless another has come first, which is returned then. */
static HPy wrap_listed(HPyContext *ctx, HPy cls, TVMFFIObject *handle) {
  HPy h = wrap_new(ctx, cls, handle);
  if (FB_UNLIKELY(HPy_IsNull(h))) return h;
  HPy other = fb_identity_list(ctx, h, fb_object_place(ctx, h));
  if (FB_LIKELY(HPy_IsNull(other))) return h;
  HPy_Close(ctx, h);
  return other;
}

static FB_NOINLINE HPy wrap_unregistered(HPyContext *ctx, TVMFFIObject *handle, bool is_shared) {
  HPy index = HPyLong_FromInt32_t(ctx, handle->type_index);
  HPy cls = HPy_IsNull(index) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_CLASS_FOR_TYPE_INDEX, &index, 1);
  if (!HPy_IsNull(index)) HPy_Close(ctx, index);
  if (HPy_IsNull(cls)) {
    TVMFFIObjectDecRef(handle);
    return HPy_NULL;
  }
  HPy result = is_shared ? wrap_listed(ctx, cls, handle) : wrap_new(ctx, cls, handle);
  HPy_Close(ctx, cls);
  return result;
}

/* Whether a call uses a wrapper, so that it cannot be moved away. */
static bool is_used(HPyContext *ctx, HPy h) {
  FbPlace *place = fb_object_place(ctx, h);
  /* relaxed: a hint for callbacks of that call, which run on its thread or were told by it */
  return atomic_load_explicit((_Atomic(int32_t) *)&place->n_uses, memory_order_relaxed) != 0;
}

FB_INLINE HPy wrap(HPyContext *ctx, TVMFFIObject *handle, Wanted wanted) {
  bool is_shared = wanted != WANTED_APART && fb_identity_is_shared(handle);
  if (is_shared) {
    HPy found = fb_identity_find(ctx, handle);
    if (!HPy_IsNull(found)) {
      if (FB_LIKELY(wanted != WANTED_MOVABLE || !is_used(ctx, found))) {
        TVMFFIObjectDecRef(handle);
        return found;
      }
      HPy_Close(ctx, found);
      is_shared = false;
    }
  }
  const FbCell *cell = class_cell(handle->type_index);
  if (FB_UNLIKELY(cell == NULL)) return wrap_unregistered(ctx, handle, is_shared);
  HPy cls = fb_cell_borrow(ctx, cell);
  HPy result = is_shared ? wrap_listed(ctx, cls, handle) : wrap_new(ctx, cls, handle);
  fb_cell_return(ctx, cls);
  return result;
}

HPy fb_object_wrap(HPyContext *ctx, TVMFFIObject *handle) { return wrap(ctx, handle, WANTED_LISTED); }
HPy fb_object_wrap_apart(HPyContext *ctx, TVMFFIObject *handle) { return wrap(ctx, handle, WANTED_APART); }
HPy fb_object_wrap_movable(HPyContext *ctx, TVMFFIObject *handle) { return wrap(ctx, handle, WANTED_MOVABLE); }

/* --- CObject ------------------------------------------------------------------------------------------------------------ */

HPyDef_SLOT(object_destroy, HPy_tp_destroy)
static void object_destroy_impl(void *self) {
  FbPlace *place = self; /* an FbObject begins with it, and so does an owner */
  fb_identity_unlist_own(place);
  if (place->handle != NULL) TVMFFIObjectDecRef(place->handle);
}

HPyDef_SLOT(object_traverse, HPy_tp_traverse)
static int object_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((FbObject *)self)->owner_field);
  return 0;
}

static HPy bool_result(HPyContext *ctx, bool value) { return HPy_Dup(ctx, value ? ctx->h_True : ctx->h_False); }

HPyDef_SLOT(object_compare, HPy_tp_richcompare)
static HPy object_compare_impl(HPyContext *ctx, HPy self, HPy other, HPy_RichCmpOp op) {
  if ((op != HPy_EQ && op != HPy_NE) || !fb_object_check(ctx, other)) return HPy_Dup(ctx, ctx->h_NotImplemented);
  bool same = fb_object_get(ctx, self) == fb_object_get(ctx, other);
  return bool_result(ctx, same == (op == HPy_EQ));
}

HPyDef_SLOT(object_hash, HPy_tp_hash)
static HPy_hash_t object_hash_impl(HPyContext *ctx, HPy self) {
  uintptr_t address = (uintptr_t)fb_object_get(ctx, self);
  return (HPy_hash_t)(address >> 4); /* the low bits are alignment; the result is never -1 */
}

HPyDef_METH(object_same_as, "same_as", HPyFunc_O, .doc = "Whether both own the same native object.")
static HPy object_same_as_impl(HPyContext *ctx, HPy self, HPy other) {
  return bool_result(ctx, fb_object_check(ctx, other) && fb_object_get(ctx, self) == fb_object_get(ctx, other));
}

HPyDef_METH(object_is, "is_", HPyFunc_O, .doc = "Same as same_as().")
static HPy object_is_impl(HPyContext *ctx, HPy self, HPy other) { return object_same_as_impl(ctx, self, other); }

HPyDef_METH(object_chandle, "__chandle__", HPyFunc_NOARGS, .doc = "Address of the native object, 0 if there is none.")
static HPy object_chandle_impl(HPyContext *ctx, HPy self) {
  TVMFFIObject *handle = fb_object_take(ctx, self); /* others may turn up with the address from now on */
  HPy address = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)handle);
  if (handle != NULL) TVMFFIObjectDecRef(handle);
  return address;
}

HPyDef_METH(object_ctypes_handle, "__ctypes_handle__", HPyFunc_NOARGS,
            .doc = "Address of the native object as ctypes.c_void_p; its value is None if there is none.")
static HPy object_ctypes_handle_impl(HPyContext *ctx, HPy self) {
  TVMFFIObject *handle = fb_object_take(ctx, self); /* as above */
  HPy address = fb_opaque_ptr_result(ctx, handle);
  if (handle != NULL) TVMFFIObjectDecRef(handle);
  return address;
}

HPyDef_GET(object_id, "id_", .doc = "Address of the native object, 0 if there is none.")
static HPy object_id_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return object_chandle_impl(ctx, self);
}

HPyDef_METH(object_type_index, "__type_index__", HPyFunc_NOARGS, .doc = "Type index of the native object.")
static HPy object_type_index_impl(HPyContext *ctx, HPy self) {
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFIObject, 0);
  if (place == NULL) return HPy_NULL;
  HPy index = HPyLong_FromInt32_t(ctx, place->handle->type_index);
  fb_place_unuse(place);
  return index;
}

HPyDef_METH(object_use_count, "__use_count__", HPyFunc_NOARGS, .doc = "Strong references to the native object.")
static HPy object_use_count_impl(HPyContext *ctx, HPy self) {
  TVMFFIObject *handle = fb_object_take(ctx, self);
  if (handle == NULL) return HPyLong_FromInt32_t(ctx, 0);
  /* A snapshot, without our own: other threads may change it at any time. */
  uint64_t count = atomic_load_explicit((_Atomic(uint64_t) *)&handle->combined_ref_count, memory_order_relaxed) - 1;
  TVMFFIObjectDecRef(handle);
  return HPyLong_FromUInt64_t(ctx, count & UINT32_MAX);
}

HPyDef_METH(object_move, "_move", HPyFunc_NOARGS, .doc = "Mark the object for a call that may take its handle away.")
static HPy object_move_impl(HPyContext *ctx, HPy self);

/* A function may be running, and calls do not count their callee: that would cost each of them. */
static HPy refuse_function(HPyContext *ctx) {
  return fb_raise(ctx, ctx->h_TypeError, "the handle of a Function cannot be moved away");
}

/* Gives a Function without a handle, which nobody calls yet, that of a function; takes it. */
static HPy function_put(HPyContext *ctx, HPy self, TVMFFIObject *handle) {
  if (handle == NULL) return fb_object_raise_no_handle(ctx, self);
  bool is_function = handle->type_index == kTVMFFIFunction;
  FbPlace *place = place_make(ctx, self);
  TVMFFIObject *nothing = NULL;
  /* Release: pairs with whoever hands the Function to another thread. Of two that come here one is refused. */
  if (is_function && place != NULL &&
      atomic_compare_exchange_strong_explicit((_Atomic(TVMFFIObject *) *)&place->handle, &nothing, handle,
                                              memory_order_release, memory_order_relaxed)) {
    fb_place_use(place); /* nobody moves or lends the handle of a Function */
    HPy other = list_if_shared(ctx, self, place);
    fb_place_unuse(place);
    if (!HPy_IsNull(other)) HPy_Close(ctx, other);
    return HPy_Dup(ctx, ctx->h_None);
  }
  TVMFFIObjectDecRef(handle);
  if (place == NULL) return HPy_NULL;
  return is_function ? refuse_function(ctx)
                     : fb_raise(ctx, ctx->h_TypeError, "a Function can take over the handle of a function only");
}

/* Moves what is in `from` (nothing, if that is NULL) into `to`, another place, which stays claimed; *old is what was there.
 * False, and nothing done, if a call uses one of them. No thread stops in between: it calls nothing of the interpreter's. */
static bool place_move(FbPlace *from, FbPlace *to, TVMFFIObject **old) {
  /* In the order of their addresses: two threads that move both ways do not wait for each other. */
  FbPlace *first = from == NULL || (uintptr_t)to < (uintptr_t)from ? to : from, *second = first == to ? from : to;
  if (!place_claim(first, FB_PLACE_MOVING)) return false;
  if (second != NULL && !place_claim(second, FB_PLACE_MOVING)) {
    fb_place_release(first);
    return false;
  }
  fb_identity_unlist_own(to);
  set_listing(to, FB_UNLISTABLE);
  *old = to->handle;
  to->handle = from == NULL ? NULL : from->handle;
  if (from != NULL) {
    fb_identity_unlist(from);
    from->handle = NULL;
    fb_place_release(from);
  }
  return true;
}

HPyDef_METH(object_move_from, "__move_handle_from__", HPyFunc_O, .doc = "Take over the handle of another object.")
static HPy object_move_from_impl(HPyContext *ctx, HPy self, HPy other) {
  if (!fb_object_check(ctx, other)) {
    char given[128];
    return fb_raise(ctx, ctx->h_TypeError, "__move_handle_from__() argument must be a CObject, not %s",
                    fb_type_name(ctx, other, given, sizeof(given)));
  }
  if (fb_function_check(ctx, self)) return function_put(ctx, self, fb_object_take(ctx, other)); /* which keeps it */
  if (fb_function_check(ctx, other)) return refuse_function(ctx);
  if (fb_is(ctx, self, other)) return HPy_Dup(ctx, ctx->h_None);
  FbPlace *from = fb_object_place(ctx, other), *to = place_make(ctx, self);
  if (to == NULL) return HPy_NULL;
  TVMFFIObject *old;
  if (!place_move(from, to, &old)) {
    raise_in_use(ctx);
    return HPy_NULL;
  }
  listing_begin(ctx, self, to);
  if (old != NULL) TVMFFIObjectDecRef(old);
  return HPy_Dup(ctx, ctx->h_None);
}

HPyDef_METH(object_init_by, "__init_handle_by_constructor__", HPyFunc_VARARGS,
            .doc = "Take over the handle of the object that a native function returns.")
static HPy object_init_by_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  if (nargs == 0 || !fb_function_check(ctx, args[0])) {
    return fb_raise(ctx, ctx->h_TypeError, "__init_handle_by_constructor__() argument 1 must be a Function");
  }
  TVMFFIAny made;
  if (fb_function_call_raw(ctx, args[0], args + 1, nargs - 1, &made) != 0) return HPy_NULL;
  if (made.type_index < kTVMFFIStaticObjectBegin) {
    return fb_raise(ctx, ctx->h_TypeError, "%s() must return an object, it returned a value of type index %d",
                    fb_function_name(ctx, args[0]), (int)made.type_index);
  }
  if (fb_function_check(ctx, self)) return function_put(ctx, self, made.v_obj);
  return fb_object_put(ctx, self, made.v_obj) == 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL;
}

/* Adds what an instance with an owner needs to a spec with room for it, unless an import that failed has done so. */
static void adapt(HPyType_Spec *spec) {
  if (!fb_object_has_owner) return;
  if (spec->basicsize < FB_OBJECT_MAX_SIZE) spec->basicsize = FB_OBJECT_MAX_SIZE;
  HPyDef **end = spec->defines;
  while (*end != NULL && *end != &object_traverse) end++;
  *end = &object_traverse;
  spec->flags |= HPy_TPFLAGS_HAVE_GC;
}

HPy fb_object_derive(HPyContext *ctx, HPyType_Spec *spec, HPy base, FbCell *cell) {
  bool is_larger = spec->basicsize > (int)sizeof(FbObject);
  adapt(spec);
  HPy type = is_larger ? fb_type_new_larger(ctx, spec, base) : fb_type_new(ctx, spec, base);
  if (!HPy_IsNull(type)) fb_cell_store(ctx, cell, type);
  return type;
}

HPyDef_SLOT(owner_destroy, HPy_tp_destroy)
static void owner_destroy_impl(void *self) {
  object_destroy_impl(self);
  fb_function_name_give(((FbOwner *)self)->name);
}

static int owner_type_init(HPyContext *ctx) {
  static HPyDef *defines[] = {&owner_destroy, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core._Owner",
      .basicsize = sizeof(FbOwner),
      .flags = HPy_TPFLAGS_DEFAULT,
      .defines = defines,
  };
  HPy type = fb_type_new(ctx, &spec, HPy_NULL);
  if (HPy_IsNull(type)) return -1;
  fb_cell_store(ctx, &owner_type, type);
  HPy_Close(ctx, type);
  return 0;
}

HPy fb_object_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&object_new,
                              &object_compare,
                              &object_hash,
                              &object_same_as,
                              &object_is,
                              &object_chandle,
                              &object_ctypes_handle,
                              &object_id,
                              &object_move,
                              &object_move_from,
                              &object_init_by,
                              &object_type_index,
                              &object_use_count,
                              &fb_dataclass_eq,
                              &fb_dataclass_ne,
                              &fb_dataclass_lt,
                              &fb_dataclass_le,
                              &fb_dataclass_gt,
                              &fb_dataclass_ge,
                              &fb_dataclass_hash,
                              &fb_dataclass_repr,
                              &fb_dataclass_copy,
                              &fb_dataclass_deep_copy,
                              NULL,
                              NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.CObject",
      .basicsize = sizeof(FbObject),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbObject),
      .defines = defines,
      .doc = "Base of everything that owns a handle of a native object.",
  };
  /* our debug mode does not tell; what is right without the GIL is right with it */
  fb_free_threaded = fb_ext != NULL ? fb_ext->free_threaded : fb_contexts_are_lasting && !fb_is_pypy;
  fb_object_has_owner = fb_is_pypy;
  if ((fb_object_has_owner && owner_type_init(ctx) != 0) || fb_identity_init(ctx) != 0) return HPy_NULL;
  if (!fb_object_has_owner) defines[sizeof(defines) / sizeof(defines[0]) - 2] = &object_destroy;
  adapt(&spec);
  HPy type = fb_type_new(ctx, &spec, HPy_NULL);
  if (!HPy_IsNull(type)) fb_cell_store(ctx, &object_type, type);
  return type;
}

/* --- ObjectRValueRef ---------------------------------------------------------------------------------------------------- */

typedef struct RValueRef {
  HPyField object; /* a CObject */
} RValueRef;

HPyType_HELPERS(RValueRef)

static FbCell rvalue_ref_type;

HPyDef_SLOT(rvalue_traverse, HPy_tp_traverse)
static int rvalue_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((RValueRef *)self)->object);
  return 0;
}

HPyDef_SLOT(rvalue_new, HPy_tp_new)
static HPy rvalue_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs != 1 || !fb_object_check(ctx, args[0])) {
    return fb_raise(ctx, ctx->h_TypeError, "ObjectRValueRef() takes one argument, a CObject");
  }
  if (fb_function_check(ctx, args[0])) return refuse_function(ctx);
  void *ref;
  HPy h = fb_type_make(ctx, type, &rvalue_ref_type, &ref);
  if (!HPy_IsNull(h)) HPyField_Store(ctx, h, &((RValueRef *)ref)->object, args[0]);
  return h;
}

static HPy object_move_impl(HPyContext *ctx, HPy self) {
  HPy type = fb_cell_load(ctx, &rvalue_ref_type);
  HPy ref = rvalue_new_impl(ctx, type, &self, 1, HPy_NULL);
  HPy_Close(ctx, type);
  return ref;
}

FbPlace *fb_rvalue_ref_begin(HPyContext *ctx, HPy ref) {
  const RValueRef *data = RValueRef_AsStruct(ctx, ref);
  if (data == NULL || HPyField_IsNull(data->object)) {
    fb_type_raise_unmade(ctx, ref);
    return NULL;
  }
  HPy object = HPyField_Load(ctx, ref, data->object);
  FbPlace *place = fb_object_place(ctx, object);
  if (place != NULL && !place_claim(place, FB_PLACE_LENT)) {
    raise_in_use(ctx);
    place = NULL;
  } else if (place != NULL && place->handle != NULL) {
    fb_identity_unlist(place); /* the callee may take the handle, and whatever comes back is apart from this wrapper */
  } else {
    if (place != NULL) fb_place_release(place);
    fb_object_raise_no_handle(ctx, object);
    place = NULL;
  }
  HPy_Close(ctx, object); /* ref keeps it alive */
  return place;
}

HPy fb_rvalue_ref_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&rvalue_new, &rvalue_traverse, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.ObjectRValueRef",
      .basicsize = sizeof(RValueRef),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_HAVE_GC,
      .builtin_shape = SHAPE(RValueRef),
      .defines = defines,
      .doc = "An object marked by _move(): passing it to a call lets the callee take the handle.",
  };
  HPy type = fb_type_new(ctx, &spec, HPy_NULL);
  if (!HPy_IsNull(type)) fb_cell_store(ctx, &rvalue_ref_type, type);
  return type;
}

/* --- OpaquePyObject ------------------------------------------------------------------------------------------------------ */

/* Layout of an ffi.OpaquePyObject after its header. The deleter tells whose Python object it is. */
typedef struct OpaqueCell {
  void *handle;
  void (*deleter)(void *handle);
} OpaqueCell;

HPy fb_opaque_unwrap(HPyContext *ctx, TVMFFIObject *handle) {
  const OpaqueCell *cell = (const OpaqueCell *)(handle + 1);
  return cell->deleter == fb_hold_drop ? fb_cell_load(ctx, &((FbHold *)cell->handle)->cell) : HPy_NULL;
}

FB_OBJECT_NEW(opaque)

HPyDef_SLOT(opaque_init, HPy_tp_init)
static int opaque_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs != 1) {
    fb_raise(ctx, ctx->h_TypeError, "OpaquePyObject() takes one argument, got %zd", nargs);
    return -1;
  }
  FbHold *hold = fb_hold_new(ctx, args[0]);
  if (hold == NULL) return -1;
  TVMFFIObjectHandle made = NULL;
  if (TVMFFIObjectCreateOpaque(hold, kTVMFFIOpaquePyObject, fb_hold_drop, &made) != 0) {
    fb_hold_drop(hold);
    fb_error_raise_pending(ctx, "OpaquePyObject");
    return -1;
  }
  return fb_object_put(ctx, self, made);
}

HPyDef_METH(opaque_pyobject, "pyobject", HPyFunc_NOARGS, .doc = "The Python object inside.")
static HPy opaque_pyobject_impl(HPyContext *ctx, HPy self) {
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFIOpaquePyObject, 1);
  if (place == NULL) return HPy_NULL;
  HPy inside = fb_opaque_unwrap(ctx, place->handle);
  fb_place_unuse(place);
  if (!HPy_IsNull(inside)) return inside;
  return fb_raise(ctx, ctx->h_TypeError, "this OpaquePyObject was made by another Python binding");
}

HPy fb_opaque_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {&opaque_new, &opaque_init, &opaque_pyobject, NULL, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.OpaquePyObject",
      .basicsize = sizeof(FbObject),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbObject),
      .defines = defines,
      .doc = "A Python object held by native code.",
  };
  return fb_object_derive(ctx, &spec, base, &opaque_type);
}

/* --- class_register, class_offer, class_find ---------------------------------------------------------------------------- */

/* 1 if a type of the binding is in cls.__mro__, 0 if not or if cls is no class, -1 with an exception raised. */
static int derives_from(HPyContext *ctx, HPy cls, const FbCell *type) {
  if (!HPy_TypeCheck(ctx, cls, ctx->h_TypeType)) return 0;
  HPy mro = HPy_GetAttr_s(ctx, cls, "__mro__");
  if (HPy_IsNull(mro)) return -1;
  HPy base = fb_cell_load(ctx, type);
  int found = HPy_Contains(ctx, mro, base);
  HPy_Close(ctx, base);
  HPy_Close(ctx, mro);
  return found;
}

/* Stores args[1] for the type index args[0]: that index, -1 with an exception raised. */
static int32_t store_args(HPyContext *ctx, const char *name, const HPy *args, size_t nargs, bool replaces) {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "%s() takes 2 arguments, got %zu", name, nargs), -1;
  int32_t index = HPyLong_AsInt32_t(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return -1;
  int derives = derives_from(ctx, args[1], &object_type);
  int is_function = derives > 0 && index != kTVMFFIFunction ? derives_from(ctx, args[1], &fb_function_type) : 0;
  if (derives < 0 || is_function < 0) return -1;
  if (derives == 0) return fb_raise(ctx, ctx->h_TypeError, "%s() argument 2 must derive from CObject", name), -1;
  if (is_function != 0) {
    return fb_raise(ctx, ctx->h_TypeError, "a class that derives from Function is for functions only"), -1;
  }
  if (index < 0 || index >= N_CLASSES) return fb_raise(ctx, ctx->h_ValueError, "%d is no type index", (int)index), -1;
  return class_store(ctx, index, args[1], replaces) == 0 ? index : -1;
}

HPyDef_METH(fb_class_register, "class_register", HPyFunc_VARARGS,
            .doc = "Native objects of a type become instances of a class from now on.")
static HPy fb_class_register_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  return store_args(ctx, "class_register", args, nargs, true) >= 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL;
}

HPyDef_METH(
    fb_class_offer, "class_offer", HPyFunc_VARARGS,
    .doc = "As class_register() for a type that has no class. The class that counts, which may be another thread's.")
static HPy fb_class_offer_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  int32_t index = store_args(ctx, "class_offer", args, nargs, false);
  return index >= 0 ? fb_cell_load(ctx, class_cell(index)) : HPy_NULL;
}

HPyDef_METH(fb_class_find, "class_find", HPyFunc_O, .doc = "The class registered for a type index, or None.")
static HPy fb_class_find_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  int32_t index = HPyLong_AsInt32_t(ctx, arg);
  if (index == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  const FbCell *cell = class_cell(index);
  return cell == NULL ? HPy_Dup(ctx, ctx->h_None) : fb_cell_load(ctx, cell);
}
