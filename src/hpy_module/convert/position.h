/* Keys of container[key]: indices and slices. */
#ifndef FFI_HPY_CONVERT_POSITION_H_
#define FFI_HPY_CONVERT_POSITION_H_

#include "hpy_module/context/context.h"

typedef enum FbPosition {
  FB_POSITION_NONE, /* an exception is raised: TypeError, or an exception of an __index__ */
  FB_POSITION_INDEX,
  FB_POSITION_BEYOND, /* an int beyond 64 bits */
  FB_POSITION_SLICE,
} FbPosition;

/* Classifies `key`. An index is stored in *index; negative indices stay negative. The TypeError message begins with the
 * class name of `self`. */
FbPosition fb_position_of(HPyContext *ctx, HPy self, HPy key, int64_t *index);
/* Converts an int to *out, clamped to 64 bits. Returns 0, or -1 with an exception raised: TypeError if `number` is
 * neither an int nor has __index__. */
int fb_position_of_number(HPyContext *ctx, HPy number, int64_t *out);
/* Raises IndexError because the position is outside of `size` items. Returns HPy_NULL. */
HPy fb_position_refuse(HPyContext *ctx, HPy self, HPy key, int64_t size);

/* n positions: first, first + step, ... */
typedef struct FbRange {
  int64_t first, step, n;
} FbRange;

/* Resolves a slice against `size` items. Returns 0, or -1 with an exception raised. */
int fb_position_of_slice(HPyContext *ctx, HPy slice, int64_t size, FbRange *out);

#endif /* FFI_HPY_CONVERT_POSITION_H_ */
