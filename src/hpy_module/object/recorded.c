/* The binding's part of the leak report: it tells the package about each wrapper that gets an object, lists the
 * registered wrappers, and reads the callable of a callback. The package does the rest. */
#include "recorded.h"

#include <stdlib.h>

#include "hpy_module/context/raised.h"
#include "identity.h"
#include "object.h"

static HPy number_of(HPyContext *ctx, const void *pointer) {
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)pointer);
}

int fb_recorded_tell(HPyContext *ctx, const TVMFFIObject *object, const FbPyOwner *owner) {
  /* A wrapper may be made while an exception is raised, which the hook must not see. */
  FbRaised raised;
  fb_raised_take(&raised);
  HPy args[] = {number_of(ctx, object), number_of(ctx, owner)};
  bool has_args = !HPy_IsNull(args[0]) && !HPy_IsNull(args[1]);
  HPy answer = has_args ? fb_hook_call(ctx, FB_HOOK_OBJECT_MADE, args, 2) : HPy_NULL;
  if (!HPy_IsNull(args[0])) HPy_Close(ctx, args[0]);
  if (!HPy_IsNull(args[1])) HPy_Close(ctx, args[1]);
  if (!HPy_IsNull(answer)) HPy_Close(ctx, answer);
  int rc = HPy_IsNull(answer) && !raised.is_one ? -1 : 0;
  fb_raised_put(&raised);
  return rc;
}

int fb_recorded_add(HPyContext *ctx, HPy wrapper, const FbPyOwner *owner) {
  FbHandleCell *cell = fb_object_cell(ctx, wrapper);
  if (cell == NULL || !fb_handle_cell_use(cell)) return 0;
  int rc = 0;
  if (fb_handle_cell_get(cell) != NULL) {
    fb_identity_share(ctx, wrapper, cell);
    rc = fb_recorded_tell(ctx, fb_handle_cell_get(cell), owner);
  }
  fb_handle_cell_unuse(cell);
  return rc;
}

HPyDef_METH(fb_recorded_wrappers, "wrappers", HPyFunc_NOARGS, .doc = "The registered wrappers, in a list.")
static HPy fb_recorded_wrappers_impl(HPyContext *ctx, HPy self) {
  (void)self;
  size_t n = 0;
  HPy *found = fb_identity_all(ctx, &n);
  HPy list = found == NULL ? HPyErr_NoMemory(ctx) : HPyList_New(ctx, 0);
  int rc = HPy_IsNull(list) ? -1 : 0;
  for (size_t i = 0; i < n; ++i) {
    if (rc == 0) rc = HPyList_Append(ctx, list, found[i]);
    HPy_Close(ctx, found[i]);
  }
  free(found);
  if (rc == 0) return list;
  if (!HPy_IsNull(list)) HPy_Close(ctx, list);
  return HPy_NULL;
}

HPyDef_METH(fb_recorded_owned, "owned_object", HPyFunc_O,
            .doc = "The callable of a callback that is alive, from the pointer that the hook object_made got.")
static HPy fb_recorded_owned_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  uint64_t pointer = HPyLong_AsUInt64_t(ctx, arg);
  if (pointer == (uint64_t)-1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  return fb_ref_load(ctx, &((const FbPyOwner *)(uintptr_t)pointer)->ref);
}
