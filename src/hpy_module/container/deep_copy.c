/* Deep copies: one call of a function of the core, which traverses the fields and items and all objects reachable from
 * them without recursion. */
#include "deep_copy.h"

#include "container.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"

/* --- the memo ----------------------------------------------------------------------------------------------------- */

/* The memo of the copy.deepcopy() that the core's call on this thread belongs to. The core has the package copy the
 * Python objects inside of native ones (_values/standard.py). Empty while Python code copies such an object. */
static FH_THREAD_LOCAL FbRef memo_of_thread;

FB_METHOD_O(fb_deep_copy_swap_memo, "_swap_memo", memo,
            "_swap_memo($self, memo, /)\n--\n\n"
            "Replace the memo of the deep copy that runs on this thread, and return the former memo.") {
  FbRef former = memo_of_thread;
  memo_of_thread = (FbRef){0};
  if (!fb_context_is_same(ctx, memo, ctx->h_None)) fb_ref_store(ctx, &memo_of_thread, memo);
  HPy result = HPy_IsNull(former.handle) ? HPy_Dup(ctx, ctx->h_None) : fb_ref_load(ctx, &former);
  fb_ref_clear(ctx, &former);
  return result;
}

/* copy.deepcopy() appends the original to a list after every __deepcopy__, so that the original outlives the memo; the
 * memo has the list under its own id. If the list does not exist, deepcopy() learns this by an exception, which takes
 * longer than the copy of a small object. Therefore an empty memo, which belongs to a copy that begins here, gets the
 * list beforehand. Only where handles are object pointers, which are the ids. Returns 0, or -1 with an exception
 * raised. */
static int prepare_memo(HPyContext *ctx, HPy memo) {
  if (fb_context_tuple_items == 0) return 0;
  HPy key = HPyLong_FromSize_t(ctx, (size_t)memo._i), kept = HPyList_New(ctx, 0);
  int rc = HPy_IsNull(key) || HPy_IsNull(kept) ? -1 : HPy_SetItem(ctx, memo, key, kept);
  if (!HPy_IsNull(key)) HPy_Close(ctx, key);
  if (!HPy_IsNull(kept)) HPy_Close(ctx, kept);
  return rc;
}

/* --- the copy ----------------------------------------------------------------------------------------------------- */

static HPy copy_with(HPyContext *ctx, HPy self, HPy memo) {
  static FbCoreFunction function = {"ffi.DeepCopy", NULL};
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIObject, 0);
  if (cell == NULL) return HPy_NULL;
  fb_identity_share(ctx, self, cell); /* hooks may keep references, and returning the object later must yield self */
  FbRef outer_memo = memo_of_thread;
  memo_of_thread = (FbRef){0};
  fb_ref_store(ctx, &memo_of_thread, memo);
  TVMFFIAny arg = fb_core_function_object(cell->handle), result;
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  int rc = fb_core_function_call(&function, &arg, 1, &result);
  fb_thread_leave_held(&outer);
  fb_ref_clear(ctx, &memo_of_thread);
  memo_of_thread = outer_memo;
  fb_handle_cell_unuse(cell);
  return rc == 0 ? fb_result_make(ctx, &result) : fb_error_raise_pending(ctx, function.name);
}

/* --- copies of containers ----------------------------------------------------------------------------------------- */

/* dataclasses.asdict() and astuple() copy a container by copy.deepcopy(), without a memo, and expect its plain form. If
 * the module dataclasses called copy.deepcopy(), the method _copy_plain looks at the callers
 * (ffi_hpy/_containers/standard_copy.py). */

/* All are written once during the import. */
static FbRef find_caller;     /* sys._getframemodulename, or sys._getframe where that does not exist */
static bool finds_frames;     /* whether it is sys._getframe */
static FbRef globals_of_frame, name_of_module, dataclasses; /* names */

/* Stores an interned str. Returns 0, or -1 with an exception raised. */
static int keep_name(HPyContext *ctx, HPy sys, FbRef *ref, const char *text) {
  HPy args[2] = {sys, HPyUnicode_FromString(ctx, text)}, name = HPyUnicode_FromString(ctx, "intern");
  bool is_made = !HPy_IsNull(args[1]) && !HPy_IsNull(name);
  HPy interned = is_made ? fb_call_method(ctx, name, args, 2) : HPy_NULL;
  if (!HPy_IsNull(args[1])) HPy_Close(ctx, args[1]);
  if (!HPy_IsNull(name)) HPy_Close(ctx, name);
  if (HPy_IsNull(interned)) return -1;
  fb_ref_store(ctx, ref, interned);
  HPy_Close(ctx, interned);
  return 0;
}

static int keep_functions(HPyContext *ctx, HPy sys) {
  HPy found = fb_attr_find(ctx, sys, "_getframemodulename");
  finds_frames = HPy_IsNull(found) && !HPyErr_Occurred(ctx);
  if (finds_frames) found = HPy_GetAttr_s(ctx, sys, "_getframe");
  if (HPy_IsNull(found)) return -1;
  fb_ref_store(ctx, &find_caller, found);
  HPy_Close(ctx, found);
  bool is_kept = keep_name(ctx, sys, &globals_of_frame, "f_globals") == 0 &&
                 keep_name(ctx, sys, &name_of_module, "__name__") == 0 &&
                 keep_name(ctx, sys, &dataclasses, "dataclasses") == 0;
  return is_kept ? 0 : -1;
}

int fb_deep_copy_init(HPyContext *ctx) {
  HPy sys = HPyImport_ImportModule(ctx, "sys");
  if (HPy_IsNull(sys)) return -1;
  int rc = keep_functions(ctx, sys);
  HPy_Close(ctx, sys);
  return rc;
}

/* Returns the name of a frame's module, and steals the frame. */
static HPy name_of_frame(HPyContext *ctx, HPy frame) {
  HPy key = fb_ref_borrow(ctx, &globals_of_frame);
  HPy globals = HPy_GetAttr(ctx, frame, key);
  fb_ref_return(ctx, key);
  HPy_Close(ctx, frame);
  if (HPy_IsNull(globals)) return globals;
  key = fb_ref_borrow(ctx, &name_of_module);
  HPy name = HPy_GetItem(ctx, globals, key);
  fb_ref_return(ctx, key);
  HPy_Close(ctx, globals);
  return name;
}

/* Whether the caller of copy.deepcopy(), which called this method, is of the module dataclasses. */
static bool is_for_dataclasses(HPyContext *ctx) {
  HPy depth = HPyLong_FromLong(ctx, 1), name = HPy_NULL;
  if (!HPy_IsNull(depth)) {
    HPy function = fb_ref_borrow(ctx, &find_caller);
    name = fb_call_one(ctx, function, depth);
    fb_ref_return(ctx, function);
    HPy_Close(ctx, depth);
  }
  if (finds_frames && !HPy_IsNull(name)) name = name_of_frame(ctx, name);
  int is_theirs = -1;
  if (!HPy_IsNull(name)) {
    HPy wanted = fb_ref_borrow(ctx, &dataclasses);
    is_theirs = HPy_RichCompareBool(ctx, name, wanted, HPy_EQ);
    fb_ref_return(ctx, wanted);
    HPy_Close(ctx, name);
  }
  if (is_theirs < 0) HPyErr_Clear(ctx); /* no caller, or one without a name */
  return is_theirs > 0;
}

/* --- the methods -------------------------------------------------------------------------------------------------- */

static HPy deep_copy(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, bool is_container) {
  if (nargs > 1) return fb_raise(ctx, ctx->h_TypeError, "a deep copy takes a memo at most, got %zu arguments", nargs);
  HPy memo = nargs == 0 || fb_context_is_same(ctx, args[0], ctx->h_None) ? HPy_NULL : args[0];
  if (HPy_IsNull(memo)) {
    HPy own = HPyDict_New(ctx);
    HPy copy = HPy_IsNull(own) ? HPy_NULL : copy_with(ctx, self, own);
    if (!HPy_IsNull(own)) HPy_Close(ctx, own);
    return copy;
  }
  HPy_ssize_t n_known = HPyDict_Check(ctx, memo) ? HPy_Length(ctx, memo) : 1;
  if (n_known < 0) return HPy_NULL; /* a subclass of dict may raise in `__len__` */
  if (n_known == 0) {               /* the copy begins here */
    if (is_container && FH_UNLIKELY(is_for_dataclasses(ctx))) {
      HPy plain = fb_rare_call(ctx, self, "_copy_plain", HPy_NULL, HPy_NULL);
      if (HPy_IsNull(plain) || !fb_context_is_same(ctx, plain, ctx->h_None)) return plain;
      HPy_Close(ctx, plain);
    }
    if (prepare_memo(ctx, memo) != 0) return HPy_NULL;
  }
  return copy_with(ctx, self, memo);
}

FB_METHOD(fb_deep_copy_object, "_deep_copy",
          "_deep_copy($self, memo=None, /)\n--\n\n"
          "A new object whose fields are deep copies. The `memo` is for Python objects inside.") {
  return deep_copy(ctx, self, args, nargs, false);
}

FB_METHOD(fb_deep_copy_container, "__deepcopy__",
          "__deepcopy__($self, memo=None, /)\n--\n\nA new container with deep copies of the items.") {
  return deep_copy(ctx, self, args, nargs, true);
}
