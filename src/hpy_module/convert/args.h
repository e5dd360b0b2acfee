/* The arguments of one native call while they are converted, and what the call gives back when it is over. */
#ifndef FFI_HPY_CONVERT_ARGS_H_
#define FFI_HPY_CONVERT_ARGS_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/drop.h"
#include "hpy_module/object/handle_cell.h"
#include "scope.h"

/* What a native call must give back: an object made for it, or the use of one that a wrapper owns. */
typedef union FbTemp {
  TVMFFIObject *object; /* owned */
  /* The address of an FbHandleCell plus FB_TEMP_USE or FB_TEMP_MOVE, or of an owned object plus FB_TEMP_BORROWED. */
  uintptr_t tagged;
} FbTemp;

enum {
  FB_TEMP_USE = 1, /* a use of the cell */
  FB_TEMP_MOVE = 2, /* an offer of the cell's handle */
  FB_TEMP_BORROWED = 3, /* an object over a Python object that the caller keeps: fb_args_release_borrowed ends it */
  FB_TEMP_TAGS = 3,
};

typedef struct FbArgs {
  FbTemp *temps; /* room for one per argument */
  int n_temps;
  int depth; /* nesting of containers, converters */
  int position; /* 0-based, of the argument being converted, for messages; -1: a return value or a field */
  const char *callee; /* for messages, "" if unknown */
  FbScope *scope; /* of the call; NULL: what is converted is for no call */
} FbArgs;

/* The first ends an FB_TEMP_BORROWED, on the thread that made it; the second has it keep its Python object, after which
 * it is an owned object like any. Set once during the import, by the folder that makes them. */
extern void (*fb_args_release_borrowed)(TVMFFIObject *object);
extern void (*fb_args_keep_borrowed)(TVMFFIObject *object);

FH_INLINE void fb_args_end_temp(FbTemp temp, int rc) {
  FbHandleCell *cell = (FbHandleCell *)(temp.tagged & ~(uintptr_t)FB_TEMP_TAGS);
  switch (temp.tagged & FB_TEMP_TAGS) {
  case FB_TEMP_USE: fb_handle_cell_unuse(cell); break;
  case FB_TEMP_MOVE: fb_handle_cell_release(cell); break;
  case FB_TEMP_BORROWED: fb_args_release_borrowed((TVMFFIObject *)cell); break;
  default: fb_drop_object(temp.object, rc); break;
  }
}

void fb_args_end_raised(FbArgs *args);
/* Gives back the temporaries. `rc` is what the caller returns: nothing is raised if it is 0. */
FH_INLINE void fb_args_end(FbArgs *args, int rc) {
  if (FH_UNLIKELY(rc != 0)) {
    fb_args_end_raised(args);
    return;
  }
  for (int i = 0; i < args->n_temps; i++) fb_args_end_temp(args->temps[i], 0);
}

/* Takes `handle` as a temporary and makes *out a view of it. Returns 0. */
FH_INLINE int fb_args_view(FbArgs *args, TVMFFIObject *handle, TVMFFIAny *out) {
  args->temps[args->n_temps++].object = handle;
  *out = (TVMFFIAny){.type_index = handle->type_index, .v_obj = handle};
  return 0;
}
/* As fb_args_view, for an owned value that may be no object. Returns 0. */
FH_INLINE int fb_args_view_any(FbArgs *args, const TVMFFIAny *owned, TVMFFIAny *out) {
  if (owned->type_index >= kTVMFFIStaticObjectBegin) return fb_args_view(args, owned->v_obj, out);
  *out = *owned;
  return 0;
}

/* Makes what was converted last, adding a temporary at index n_temps or none, independent of the Python value. */
void fb_args_own_last(FbArgs *args, int n_temps, TVMFFIAny *out);

/* "f() argument 2", or what else is being converted, for a message. Returns buffer. Positions count from 1 there, as
 * Python's own do. */
const char *fb_args_where(const FbArgs *args, char *buffer, size_t size);

#endif /* FFI_HPY_CONVERT_ARGS_H_ */
