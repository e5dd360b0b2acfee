/* CMapping and CDict, the base classes of the package's Map and Dict. */
#ifndef FFI_HPY_CONTAINER_MAPPING_H_
#define FFI_HPY_CONTAINER_MAPPING_H_

#include "hpy_module/context/context.h"

/* Make the types. Return new handles. Instances have an ffi.Map or an ffi.Dict. */
HPy fb_mapping_type_new(HPyContext *ctx, HPy base);
HPy fb_mapping_dict_type_new(HPyContext *ctx, HPy mapping);

#endif /* FFI_HPY_CONTAINER_MAPPING_H_ */
