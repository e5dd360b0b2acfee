/* Python containers as native ones. */
#ifndef FFI_HPY_CONTAINER_CONTAINER_H_
#define FFI_HPY_CONTAINER_CONTAINER_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Enters how lists, tuples and mappings become arguments: as ffi.Array and ffi.Map (convert/argument.h). */
void fb_container_init(void);

/* A new container of that type (kTVMFFIArray, List, Map, Dict) from a list or tuple, or from anything with items(). */
int fb_container_make(HPyContext *ctx, int32_t type_index, HPy value, const char *callee, TVMFFIObject **out);
/* The one optional argument of a container's class, `name`, given by position or keyword: new handle; HPy_NULL if there
 * is none, or with TypeError raised. `callee` is for messages. */
HPy fb_container_argument(HPyContext *ctx, const char *callee, const char *name, const HPy *args, HPy_ssize_t nargs,
                          HPy kw);
/* The list of a mapping's items() as they are now. */
HPy fb_container_pairs(HPyContext *ctx, HPy value);

#endif /* FFI_HPY_CONTAINER_CONTAINER_H_ */
