/* Moves handles into and out of wrappers.
 *
 * A cell is claimed while its handle changes, so that no call uses a handle that is dropped. A Function gets its handle
 * once, which needs no claim. The old object and another wrapper are released only after the cell is free again,
 * because destructors may run any code. */
#include "transfer.h"

#include "class_table.h"
#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/type.h"
#include "identity.h"
#include "object.h"
#include "preserve.h"
#include "recorded.h"
#include "type_tag.h"

/* Registers `self`, whose cell has just got a handle, if other code has references to the object and may pass the
 * object to Python at any time. The cell is claimed or in use. Returns the wrapper that was registered before (new
 * handle), or HPy_NULL. */
static HPy list_if_shared(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  if (cell->handle == NULL || !fb_class_table_fits(ctx, self, cell->handle)) return HPy_NULL;
  fb_handle_cell_set_listing(cell, FB_UNLISTED);
  int32_t index = cell->handle->type_index;
  bool is_listed = fb_identity_is_shared(cell->handle) || fb_class_table_holds(fb_class_table_find(index), index);
  return is_listed ? fb_identity_list(ctx, self, cell) : HPy_NULL;
}

/* Releases a claimed cell and registers its wrapper, if the wrapper can be registered.
 *
 * Without a GIL the registration comes first: a thread that finds the cell claimed waits, but a move that finds the
 * cell in use fails. With a GIL the release comes first, because registration may run Python code (identity_weak.c),
 * and a use is sufficient there. */
static void release_listed(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  if (!fb_context_free_threaded) {
    fb_handle_cell_release(cell);
    if (!fb_handle_cell_use(cell)) return;
  }
  HPy other = list_if_shared(ctx, self, cell);
  if (fb_context_free_threaded) {
    fb_handle_cell_release(cell);
  } else {
    fb_handle_cell_unuse(cell);
  }
  if (!HPy_IsNull(other)) HPy_Close(ctx, other); /* closing it may run any code, too */
}

/* The type index of the object, if the package has asked for wrappers that get a handle, and the class of the wrapper
 * is not the class of the type; otherwise 0. */
static int32_t watched_index(HPyContext *ctx, HPy self, const TVMFFIObject *handle) {
  bool is_watched = FH_UNLIKELY(fb_hook_current(FB_HOOK_SUBCLASS_MADE) != NULL) && handle != NULL &&
                    fb_class_table_is_subclass(ctx, self, handle);
  return is_watched ? handle->type_index : 0;
}

/* Does the same as the hook, which has told the class of the wrapper. */
static int connect(HPyContext *ctx, HPy self, const FbTypeTagEntry *entry) {
  if (HPy_IsNull(entry->connect.handle)) return 0;
  const HPy args[] = {self, entry->table.handle};
  HPy done = fb_call(ctx, entry->connect.handle, args, 2, HPy_NULL);
  if (HPy_IsNull(done)) return -1;
  HPy_Close(ctx, done);
  return 0;
}

/* Calls the hook. The result concerns other wrappers of the class: a Function and its second argument, which are called
 * in place of the hook, or False: nothing is to do. Returns 0, or -1 with an exception raised. */
static FH_NOINLINE int tell(HPyContext *ctx, HPy self, int32_t index) {
  const FbTypeTagEntry *entry = fb_ext == NULL ? NULL : fb_type_tag_find(self);
  /* acquire: pairs with fb_type_tag_connect */
  if (entry != NULL && fh_atomic_load_acquire(&entry->connected) == index) return connect(ctx, self, entry);
  HPy answer = fb_hook_call(ctx, FB_HOOK_SUBCLASS_MADE, &self, 1);
  if (HPy_IsNull(answer)) return -1;
  if (fb_ext != NULL && HPy_Is(ctx, answer, ctx->h_False)) {
    fb_type_tag_connect(ctx, self, index, HPy_NULL, HPy_NULL);
  } else if (fb_ext != NULL && HPyTuple_Check(ctx, answer)) {
    HPy function = HPy_GetItem_i(ctx, answer, 0), table = HPy_GetItem_i(ctx, answer, 1);
    bool has_both = !HPy_IsNull(function) && !HPy_IsNull(table);
    if (has_both) fb_type_tag_connect(ctx, self, index, function, table);
    if (!HPy_IsNull(function)) HPy_Close(ctx, function);
    if (!HPy_IsNull(table)) HPy_Close(ctx, table);
    if (!has_both) HPyErr_Clear(ctx);
  }
  HPy_Close(ctx, answer);
  return 0;
}

static void raise_no_function(HPyContext *ctx) { fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_FUNCTIONS_ONLY); }

/* Whether `self` is a Function and the handle is not a function's; raises TypeError in that case. The check is
 * necessary, because the call path does not check the type of a Function's handle. The exact class is compared first,
 * because that is quick: no subclass of Function is the class of another type (registry.c). */
static bool is_misplaced(HPyContext *ctx, HPy self, const TVMFFIObject *handle) {
  if (handle->type_index == kTVMFFIFunction || fb_class_table_is_exact(self, handle)) return false;
  if (!fb_own_class_check(ctx, self, &fb_own_class_function)) return false;
  raise_no_function(ctx);
  return true;
}

int fb_transfer_put(HPyContext *ctx, HPy self, TVMFFIObject *handle) {
  FbHandleCell *cell = is_misplaced(ctx, self, handle) ? NULL : fb_object_make_cell(ctx, self);
  if (cell == NULL || (!fb_handle_cell_claim(cell, FB_HANDLE_MOVING) && fb_object_raise_in_use(ctx) != 0)) {
    fb_drop_object(handle, -1);
    return -1;
  }
  int32_t watched = watched_index(ctx, self, handle);
  /* Before the old handle is replaced, because the old handle finds the entry. */
  fb_identity_unlist_own(cell);
  TVMFFIObject *old = cell->handle;
  /* Before the handle is stored: a thread that has begun a use of the empty cell gets the handle at once, and must not
   * register a wrapper that cannot be registered. */
  fb_handle_cell_set_listing(cell, FB_UNLISTABLE);
  fb_handle_cell_set_single(cell);
  fb_handle_cell_put(cell, handle);
  release_listed(ctx, self, cell);
  if (old != NULL) TVMFFIObjectDecRef(old);
  if (fb_recorded_is_on() && fb_recorded_add(ctx, self) != 0) return -1;
  return watched != 0 ? tell(ctx, self, watched) : 0;
}

HPy fb_transfer_refuse_function(HPyContext *ctx) { return fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_KEEPS_HANDLE); }

int fb_transfer_put_function(HPyContext *ctx, HPy self, TVMFFIObject *handle) {
  if (handle == NULL) {
    fb_object_raise_no_handle(ctx, self);
    return -1;
  }
  /* Without a claim: calls read the handle of a Function without a use (call_function in function_call.c). The handle
   * changes once, from NULL to its value. */
  bool is_function = handle->type_index == kTVMFFIFunction;
  FbHandleCell *cell = fb_object_make_cell(ctx, self);
  TVMFFIObject *nothing = NULL;
  /* Release: another thread that gets the Function sees the whole handle. If two threads come here, one is refused. */
  if (is_function && cell != NULL && fh_atomic_cas_release(&cell->handle, &nothing, handle)) {
    fb_handle_cell_use(cell); /* never refused: the cell of a Function is never claimed */
    HPy other = list_if_shared(ctx, self, cell);
    fb_handle_cell_unuse(cell);
    if (!HPy_IsNull(other)) HPy_Close(ctx, other);
    return fb_recorded_is_on() ? fb_recorded_add(ctx, self) : 0;
  }
  fb_drop_object(handle, FB_DROP_UNKNOWN);
  if (cell == NULL) return -1;
  if (is_function) {
    fb_transfer_refuse_function(ctx);
  } else {
    raise_no_function(ctx);
  }
  return -1;
}

/* Moves the handle of `from` (NULL: none) to `to`, another cell, which stays claimed. *old becomes the previous handle
 * of `to`. A wrapper that was returned more than once keeps its handle, and `to` gets a reference. Returns false
 * without a change if a call uses one of the cells. The function runs no code of the interpreter, so a thread that
 * waits for the cells never waits long. */
static bool cells_move(FbHandleCell *from, FbHandleCell *to, TVMFFIObject **old) {
  /* Claimed in the order of their addresses, so that two threads with opposite moves do not deadlock. */
  FbHandleCell *first = from == NULL || (uintptr_t)to < (uintptr_t)from ? to : from, *second = first == to ? from : to;
  if (!fb_handle_cell_claim(first, FB_HANDLE_MOVING)) return false;
  if (second != NULL && !fb_handle_cell_claim(second, FB_HANDLE_MOVING)) {
    fb_handle_cell_release(first);
    return false;
  }
  fb_identity_unlist_own(to);
  fb_handle_cell_set_listing(to, FB_UNLISTABLE);
  fb_handle_cell_set_single(to);
  *old = to->handle;
  fb_handle_cell_put(to, from == NULL ? NULL : from->handle);
  if (from != NULL) {
    /* Removes any registered wrapper of the object: from now on `to` is the cell to register. */
    fb_identity_unlist(from);
    if (!fb_handle_cell_is_repeated(from)) {
      from->handle = NULL;
    } else if (from->handle != NULL) {
      TVMFFIObjectIncRef(from->handle);
    }
    fb_handle_cell_release(from);
  }
  return true;
}

int fb_transfer_move(HPyContext *ctx, HPy self, HPy other) {
  FbHandleCell *from = fb_object_cell(ctx, other), *to = fb_object_make_cell(ctx, self);
  TVMFFIObject *old;
  if (to == NULL) return -1;
  if (!cells_move(from, to, &old)) return fb_object_raise_in_use(ctx);
  int32_t watched = watched_index(ctx, self, to->handle); /* the cell is still claimed */
  release_listed(ctx, self, to);
  if (old != NULL) TVMFFIObjectDecRef(old);
  return watched != 0 ? tell(ctx, self, watched) : 0;
}

/* --- rvalue references -------------------------------------------------------------------------------------------- */

/* The class ObjectRValueRef, the result of CObject._move(). As an argument it lets the callee consume the object's
 * handle, and leaves the wrapper without a handle. A field keeps the wrapper alive. */

typedef struct RValueRef {
  HPyField object; /* a CObject */
} RValueRef;

HPyType_HELPERS(RValueRef)

static FbRef rvalue_ref_type; /* written once during the import */

/* The field may close a cycle: a wrapper of a class made in Python has attributes, which may refer to this object. */
HPyDef_SLOT(rvalue_traverse, HPy_tp_traverse)
static int rvalue_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((RValueRef *)self)->object);
  return 0;
}

/* A Function is refused: calls do not count a use of their callee, so a move could not detect that the Function
 * runs. */
static HPy make(HPyContext *ctx, HPy type, HPy object) {
  if (!fb_object_check(ctx, object)) {
    char name[128];
    return fb_raise(ctx, ctx->h_TypeError, "ObjectRValueRef() expected a CObject, got %s",
                    fb_attr_type_name(ctx, object, name, sizeof(name)));
  }
  if (fb_own_class_check(ctx, object, &fb_own_class_function)) return fb_transfer_refuse_function(ctx);
  void *ref;
  HPy h = fb_instance_make(ctx, type, &rvalue_ref_type, &ref);
  if (!HPy_IsNull(h)) HPyField_Store(ctx, h, &((RValueRef *)ref)->object, object);
  return h;
}

HPyDef_SLOT(rvalue_new, HPy_tp_new)
static HPy rvalue_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  static const char *const names[] = {"obj"};
  static const FbKeywords keywords = {"ObjectRValueRef", names, 1, NULL};
  HPy object;
  if (fb_keywords_bind_dict(ctx, &keywords, 1, args, nargs, kw, &object) != 0) return HPy_NULL;
  HPy h = make(ctx, type, object);
  HPy_Close(ctx, object);
  return h;
}

HPy fb_rvalue_ref_new(HPyContext *ctx, HPy object) {
  HPy type = fb_ref_load(ctx, &rvalue_ref_type);
  HPy ref = make(ctx, type, object);
  HPy_Close(ctx, type);
  return ref;
}

HPy fb_rvalue_ref_load(HPyContext *ctx, HPy ref) {
  const RValueRef *data = RValueRef_AsStruct(ctx, ref);
  if (data != NULL && !HPyField_IsNull(data->object)) return HPyField_Load(ctx, ref, data->object);
  fb_instance_raise_unmade(ctx, ref);
  return HPy_NULL;
}

FbRValueOffer fb_rvalue_ref_begin(HPyContext *ctx, HPy object, FbHandleCell **out, FbPreserved **offer) {
  FbHandleCell *cell = *out = fb_object_cell(ctx, object);
  if (cell == NULL) {
    fb_object_raise_no_handle(ctx, object);
    return FB_RVALUE_FAILED;
  }
  if (fb_handle_cell_is_repeated(cell)) return FB_RVALUE_STAYS;
  if (!fb_handle_cell_claim(cell, FB_HANDLE_OFFERED)) {
    if (fb_handle_cell_is_repeated(cell)) return FB_RVALUE_STAYS; /* another thread has just received the wrapper */
    fb_object_raise_in_use(ctx);
    return FB_RVALUE_FAILED;
  }
  if (cell->handle == NULL) {
    fb_handle_cell_release(cell);
    fb_object_raise_no_handle(ctx, object);
    return FB_RVALUE_FAILED;
  }
  /* the callee may consume the handle; if it returns the object, an object without state gets another wrapper */
  *offer = fb_preserve_offer(ctx, object, cell);
  if (*offer == NULL) fb_identity_unlist(cell);
  return FB_RVALUE_OFFERED;
}

HPy fb_rvalue_ref_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&rvalue_new, &rvalue_traverse, NULL};
  static HPyType_Spec spec =
      FB_TYPE_SPEC(RValueRef, "ObjectRValueRef", HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_HAVE_GC, defines,
                   "An object marked by _move(): passing it to a call lets the callee take the handle.");
  return fb_type_new_root(ctx, &spec, &rvalue_ref_type);
}
