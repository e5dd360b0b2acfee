/* The scan for the cffi backend, as functions of the module. */
#pragma once

#include "hpy_module/context/context.h"

extern HPyDef fb_closed_find, fb_closed_break;
