/* Shared functions of the classes of plain values (DataType, Device, OpaquePtr). */
#ifndef FFI_HPY_VALUE_PLAIN_H_
#define FFI_HPY_VALUE_PLAIN_H_

#include "hpy_module/context/ref.h"

/* Returns `data`, the struct of h, which begins with the value; NULL with TypeError raised if h has no struct. */
const void *fb_plain_expect(HPyContext *ctx, HPy h, const void *data);

/* Reads the argument as an int in [low, high]; otherwise sets *ok to false with an exception raised. */
int64_t fb_plain_int(HPyContext *ctx, HPy h, const char *what, int64_t low, int64_t high, bool *ok);

/* Whether a comparison is == or != with an instance of the class in *own. */
bool fb_plain_is_equality(HPyContext *ctx, HPy other, HPy_RichCmpOp op, const FbRef *own);
/* Returns the result of such a comparison. */
HPy fb_plain_equality(HPyContext *ctx, bool same, HPy_RichCmpOp op);

#endif /* FFI_HPY_VALUE_PLAIN_H_ */
