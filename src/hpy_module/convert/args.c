/* Arguments of a native call: ownership, and their names in messages. */
#include "args.h"

#include <stdio.h>

void (*fb_args_release_borrowed)(TVMFFIObject *object);

const char *fb_args_where(const FbArgs *args, char *buffer, size_t size) {
  if (args->position < 0) {
    snprintf(buffer, size, "%s", args->callee);
  } else if (*args->callee) {
    snprintf(buffer, size, "%s() argument %d", args->callee, args->position + 1);
  } else {
    snprintf(buffer, size, "argument %d of a native function", args->position + 1);
  }
  return buffer;
}

void fb_args_own_last(FbArgs *args, int n_temps, TVMFFIAny *out) {
  if (args->n_temps == n_temps) return;
  uintptr_t tag = args->temps[n_temps].tagged & FB_TEMP_TAGS;
  if (tag == FB_TEMP_BORROWED) args->temps[n_temps].tagged -= tag; /* it is owned */
  if (tag == 0 || tag == FB_TEMP_BORROWED) return;
  FbHandleCell *cell = (FbHandleCell *)(args->temps[n_temps].tagged - tag);
  TVMFFIObject *handle = cell->handle;
  if (tag == FB_TEMP_MOVE) {
    cell->handle = NULL;
    fb_handle_cell_release(cell);
  } else {
    TVMFFIObjectIncRef(handle);
    fb_handle_cell_unuse(cell);
  }
  args->temps[n_temps].object = handle;
  out->type_index = handle->type_index;
  out->zero_padding = 0;
  out->v_obj = handle;
}
