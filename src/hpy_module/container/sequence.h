/* CSequence and CList, the base classes of the package's Array and List. */
#ifndef FFI_HPY_CONTAINER_SEQUENCE_H_
#define FFI_HPY_CONTAINER_SEQUENCE_H_

#include "hpy_module/context/context.h"

/* Make the types. Return new handles. Instances have an ffi.Array or an ffi.List. */
HPy fb_sequence_type_new(HPyContext *ctx, HPy base);
HPy fb_sequence_list_type_new(HPyContext *ctx, HPy sequence);

#endif /* FFI_HPY_CONTAINER_SEQUENCE_H_ */
