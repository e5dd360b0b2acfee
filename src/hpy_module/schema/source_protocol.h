/* Protocols: what an object says stands for it, which schemas see instead. */
#ifndef FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_
#define FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_

#include "source.h"

/* Puts in the source's place what the protocols of its type give, until there are none. FB_FIT: `*held` is to be closed
 * when the source is done with, unless it is HPy_NULL. */
FbFit fb_source_protocol_follow(HPyContext *ctx, const FbSchema *schema, FbSource *source, HPy *held,
                                FbMismatch *mismatch);

#endif /* FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_ */
