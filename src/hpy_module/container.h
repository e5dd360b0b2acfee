/* Python containers as native ones. */
#ifndef FFI_HPY_MODULE_CONTAINER_H_
#define FFI_HPY_MODULE_CONTAINER_H_

#include "convert.h"

/* A new ffi.Array with the converted items of a list or tuple. *out is owned. Returns 0, or -1 with an exception. */
int fb_array_from_sequence(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out);
/* A new ffi.Map with the converted items of a dict. */
int fb_map_from_mapping(HPyContext *ctx, HPy value, FbArgs *args, TVMFFIObject **out);
/* A new container of that type (kTVMFFIArray, List, Map, Dict) from a list or tuple, or from anything with items(). */
int fb_container_make(HPyContext *ctx, int32_t type_index, HPy value, const char *callee, TVMFFIObject **out);
/* The one optional argument of a container's class, `name`, given by position or keyword: new handle; HPy_NULL if there is
 * none, or with TypeError raised. `callee` is for messages. */
HPy fb_container_argument(HPyContext *ctx, const char *callee, const char *name, const HPy *args, HPy_ssize_t nargs,
                          HPy kw);
/* The list of a mapping's items() as they are now. */
HPy fb_mapping_pairs(HPyContext *ctx, HPy value);

#endif /* FFI_HPY_MODULE_CONTAINER_H_ */
