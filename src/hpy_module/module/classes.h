/* The table of classes of native types, as functions of the module. */
#ifndef FFI_HPY_MODULE_CLASSES_H_
#define FFI_HPY_MODULE_CLASSES_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_classes_register, fb_classes_offer, fb_classes_find;

#endif /* FFI_HPY_MODULE_CLASSES_H_ */
