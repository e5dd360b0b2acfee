/* api.h - the table of functions for libraries that are bound with ffi_hpy/bind.h. */
#pragma once

#include <ffi_hpy/c_bind.h>

#include "core/platform/base.h"

extern const ffi_hpy_bind_api fh_api_table;
