/* Python containers as native ones. */
#ifndef FFI_HPY_MODULE_CONTAINER_H_
#define FFI_HPY_MODULE_CONTAINER_H_

#include "convert.h"

/* A new ffi.Array with the converted items of a list or tuple. *out is owned. Returns 0, or -1 with an exception. */
int fb_array_from_sequence(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out);
/* A new ffi.Map with the converted items of a dict. */
int fb_map_from_mapping(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out);
/* The list of a mapping's items() as they are now. */
HPy fb_mapping_pairs(HPyContext *ctx, HPy value);

#endif /* FFI_HPY_MODULE_CONTAINER_H_ */
