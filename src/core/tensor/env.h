/* env.h - the environment of a call: streams and tensor allocators per thread, the host language's signals. */
#pragma once

#include "core/platform/base.h"

#include <tvm/ffi/extra/c_env_api.h>

void fh_env_init(void);
