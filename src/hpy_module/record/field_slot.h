/* FieldSlot: a reflected field as a Python object, a descriptor where possible. */
#ifndef FFI_HPY_RECORD_FIELD_SLOT_H_
#define FFI_HPY_RECORD_FIELD_SLOT_H_

#include "hpy_module/context/context.h"

HPy fb_field_slot_type_new(HPyContext *ctx);

#endif /* FFI_HPY_RECORD_FIELD_SLOT_H_ */
