/* Protocols: methods by which an object returns another value, which schemas convert in its place. */
#ifndef FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_
#define FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_

#include "source.h"

/* Replaces the source by the result of its protocols, until its type has none. FB_FIT: unless `*held` is HPy_NULL, the
 * caller closes it after the use of the source. */
FbFit fb_source_protocol_follow(HPyContext *ctx, const FbSchema *schema, FbSource *source, HPy *held,
                                FbMismatch *mismatch);

#endif /* FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_ */
