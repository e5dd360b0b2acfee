/* CMapping and CDict: what Map and Dict of the package are made of. */
#ifndef FFI_HPY_CONTAINER_MAPPING_H_
#define FFI_HPY_CONTAINER_MAPPING_H_

#include "hpy_module/context/context.h"

/* Type objects, new handles. Instances have an ffi.Map or an ffi.Dict. */
HPy fb_mapping_type_new(HPyContext *ctx, HPy base);
HPy fb_mapping_dict_type_new(HPyContext *ctx, HPy mapping);

#endif /* FFI_HPY_CONTAINER_MAPPING_H_ */
