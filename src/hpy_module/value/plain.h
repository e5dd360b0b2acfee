/* What the classes of plain values (DataType, Device, OpaquePtr) have in common. */
#ifndef FFI_HPY_VALUE_PLAIN_H_
#define FFI_HPY_VALUE_PLAIN_H_

#include "hpy_module/context/ref.h"

/* `data`, the struct of h, which begins with its value; NULL with TypeError raised if h has none. */
const void *fb_plain_expect(HPyContext *ctx, HPy h, const void *data);

/* The argument as an int in [low, high]; sets *ok to false with an exception raised otherwise. */
int64_t fb_plain_int(HPyContext *ctx, HPy h, const char *what, int64_t low, int64_t high, bool *ok);

/* Whether a comparison is == or != with an instance of the class in *own. */
bool fb_plain_is_equality(HPyContext *ctx, HPy other, HPy_RichCmpOp op, const FbRef *own);
/* The answer of such a comparison. */
HPy fb_plain_equality(HPyContext *ctx, bool same, HPy_RichCmpOp op);

#endif /* FFI_HPY_VALUE_PLAIN_H_ */
