/* FieldSlot: a reflected field as a Python object, which where possible is a descriptor. */
#ifndef FFI_HPY_MODULE_FIELD_SLOT_H_
#define FFI_HPY_MODULE_FIELD_SLOT_H_

#include "field.h"

/* The field of a FieldSlot; NULL with TypeError raised for any other object. */
const FbField *fb_field_slot_get(HPyContext *ctx, HPy slot);

HPy fb_field_slot_type_new(HPyContext *ctx);

extern HPyDef fb_field_descriptor;

#endif /* FFI_HPY_MODULE_FIELD_SLOT_H_ */
