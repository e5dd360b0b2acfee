/* What stands between the brackets of container[...]: positions and slices. */
#ifndef FFI_HPY_CONVERT_POSITION_H_
#define FFI_HPY_CONVERT_POSITION_H_

#include "hpy_module/context/context.h"

typedef enum FbPosition {
  FB_POSITION_NONE, /* an exception is raised: TypeError, or that of an __index__ */
  FB_POSITION_INDEX,
  FB_POSITION_BEYOND, /* an int beyond 64 bits */
  FB_POSITION_SLICE,
} FbPosition;

/* Which of them `key` is; an index is in *index, negative ones as they are. The message of the TypeError begins with
 * the name of self's class. */
FbPosition fb_position_of(HPyContext *ctx, HPy self, HPy key, int64_t *index);
/* The value of an int; the nearest of 64 bits for one that is beyond these. Returns 0, or -1 with an exception raised:
 * TypeError for what is no int and has no __index__. */
int fb_position_of_number(HPyContext *ctx, HPy number, int64_t *out);
/* Raises IndexError: the position is not one of `size` items. Returns HPy_NULL. */
HPy fb_position_refuse(HPyContext *ctx, HPy self, HPy key, int64_t size);

/* n positions: first, first + step, ... */
typedef struct FbRange {
  int64_t first, step, n;
} FbRange;

/* What a slice means for that many items. Returns 0, or -1 with an exception raised. */
int fb_position_of_slice(HPyContext *ctx, HPy slice, int64_t size, FbRange *out);

#endif /* FFI_HPY_CONVERT_POSITION_H_ */
