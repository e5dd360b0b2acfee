/* Conversion of Python containers to native containers. */
#ifndef FFI_HPY_CONTAINER_CONTAINER_H_
#define FFI_HPY_CONTAINER_CONTAINER_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Registers the conversions of list, tuple and mapping arguments to ffi.Array and ffi.Map (convert/argument.h). */
void fb_container_init(void);

/* Makes a container of the given type (kTVMFFIArray, List, Map, Dict) from a list or tuple, or from any object with
 * items(). */
int fb_container_make(HPyContext *ctx, int32_t type_index, HPy value, const char *callee, TVMFFIObject **out);
/* Returns the single optional argument of a container's class, `name`, given by position or keyword: a new handle;
 * HPy_NULL if it is not given, or with TypeError raised. `callee` is for messages. */
HPy fb_container_argument(HPyContext *ctx, const char *callee, const char *name, const HPy *args, HPy_ssize_t nargs,
                          HPy kw);
/* Returns a list of a mapping's current items(). */
HPy fb_container_pairs(HPyContext *ctx, HPy value);

#endif /* FFI_HPY_CONTAINER_CONTAINER_H_ */
