/* The binding's part of the leak report: it tells the package about each wrapper that gets an object, and lists the
 * registered wrappers. The package does the rest. */
#include "recorded.h"

#include <stdlib.h>

#include "hpy_module/context/raise.h"
#include "identity.h"
#include "object.h"

int fb_recorded_tell(HPyContext *ctx, const TVMFFIObject *object) {
  /* A wrapper may be made while an exception is raised, which the hook must not see. */
  FbRaised raised;
  fb_raised_take(&raised);
  HPy pointer = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)object);
  HPy answer = HPy_IsNull(pointer) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_OBJECT_MADE, &pointer, 1);
  if (!HPy_IsNull(pointer)) HPy_Close(ctx, pointer);
  if (!HPy_IsNull(answer)) HPy_Close(ctx, answer);
  int rc = HPy_IsNull(answer) && !raised.is_one ? -1 : 0;
  fb_raised_put(&raised);
  return rc;
}

int fb_recorded_add(HPyContext *ctx, HPy wrapper) {
  FbHandleCell *cell = fb_object_cell(ctx, wrapper);
  if (cell == NULL || !fb_handle_cell_use(cell)) return 0;
  int rc = 0;
  if (fb_handle_cell_get(cell) != NULL) {
    fb_identity_share(ctx, wrapper, cell);
    rc = fb_recorded_tell(ctx, fb_handle_cell_get(cell));
  }
  fb_handle_cell_unuse(cell);
  return rc;
}

FB_METHOD_NOARGS(fb_recorded_wrappers, "wrappers", "The registered wrappers, in a list.") {
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
