/* Arguments of a native call: ownership of their temporaries, and their names in messages. */
#include "args.h"

#include <stdio.h>

#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"

void (*fb_args_release_borrowed)(TVMFFIObject *object);
void (*fb_args_keep_borrowed)(TVMFFIObject *object);

void fb_args_end_kept(FbPreserved *offer, int rc) {
  TVMFFIObject *left = fb_identity_end_offer(offer);
  if (left != NULL) fb_drop_object(left, rc);
}

void fb_args_end_raised(FbArgs *args) {
  for (int i = 0; i < args->n_temps; ++i) fb_args_end_temp(args->temps[i], FB_DROP_UNKNOWN);
}

const char *fb_args_where(const FbArgs *args, char *buffer, size_t size) {
  int n;
  if (args->position < 0) {
    n = snprintf(buffer, size, "%s", args->callee);
  } else if (*args->callee) {
    n = snprintf(buffer, size, "%s() argument %d", args->callee, args->position + 1);
  } else {
    n = snprintf(buffer, size, FB_MESSAGE_ARGUMENT, args->position + 1);
  }
  fb_cut_end(buffer, size, n);
  return buffer;
}

void fb_args_own_last(FbArgs *args, int n_temps, TVMFFIAny *out) {
  if (args->n_temps == n_temps) return;
  /* There is a temporary. It is either an object made for the value, which is owned already, or a cell. Of a cell, the
   * temporary takes over the object before the use or the offer of the cell ends. */
  uintptr_t tag = args->temps[n_temps].tagged & FB_TEMP_TAGS;
  if (tag == FB_TEMP_BORROWED) {
    args->temps[n_temps].tagged -= tag;
    fb_args_keep_borrowed(args->temps[n_temps].object);
  }
  if (tag == 0 || tag == FB_TEMP_BORROWED) return;
  if (tag == FB_TEMP_MOVE_KEPT) {
    FbPreserved *offer = (FbPreserved *)(args->temps[n_temps].tagged - tag);
    TVMFFIObject *offered = offer->offered;
    offer->offered = NULL; /* like a callee that consumes the handle */
    (void)fb_identity_end_offer(offer);
    args->temps[n_temps].object = offered;
    fb_put_object(out, offered);
    return;
  }
  FbHandleCell *cell = (FbHandleCell *)(args->temps[n_temps].tagged - tag);
  TVMFFIObject *handle = cell->handle;
  if (tag == FB_TEMP_MOVE) {
    /* like a callee that consumes the handle */
    cell->handle = NULL;
    fb_handle_cell_release(cell);
  } else {
    TVMFFIObjectIncRef(handle);
    fb_handle_cell_unuse(cell);
  }
  args->temps[n_temps].object = handle;
  /* *out was already a view of this object, or an rvalue reference to the cell's handle. */
  fb_put_object(out, handle);
}
