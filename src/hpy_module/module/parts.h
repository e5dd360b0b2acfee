/* The table of classes of native types, as functions of the module. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

extern HPyDef fb_classes_register, fb_classes_offer, fb_classes_made;

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Numbers of the ABI and of the binding as attributes of the module, for the package. */

/* Sets the numbers as attributes of the module. Returns 0, or -1 with an exception raised. */
int fb_constants_add(HPyContext *ctx, HPy module);

/* --- registries -------------------------------------------------------------------------------------------------- */

/* The core's registries as functions of the module: types, attribute columns, global functions. */

extern HPyDef fb_registry_type_index, fb_registry_type_info, fb_registry_type_attr, fb_registry_get_global,
    fb_registry_global_metadata, fb_registry_set_global;
