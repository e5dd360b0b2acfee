/* env.h - the environment of a call: streams and tensor allocators per thread, the host language's signals. */
#ifndef FH_ENV_H_
#define FH_ENV_H_

#include "core/platform/base.h"

#include <tvm/ffi/extra/c_env_api.h>

void fh_env_init(void);

#endif /* FH_ENV_H_ */
