/* The binding's own classes that this folder recognises. Each is stored once, during the import. */
#ifndef FFI_HPY_OBJECT_OWN_CLASS_H_
#define FFI_HPY_OBJECT_OWN_CLASS_H_

#include "hpy_module/context/ref.h"

extern FbRef fb_own_class_object; /* CObject */
extern FbRef fb_own_class_function; /* Function */
extern FbRef fb_own_class_owner; /* of FbOwner (handle_cell.h); empty where CObjects have no owner */

/* Whether h is an instance of `own_class`. Never fails. */
bool fb_own_class_check(HPyContext *ctx, HPy h, const FbRef *own_class);

#endif /* FFI_HPY_OBJECT_OWN_CLASS_H_ */
