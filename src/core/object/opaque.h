/* opaque.h - MISSING and KWARGS, two objects that are compared by address and have a special meaning as arguments or
 * results. (opaque.c also has the objects that stand for a client's object, which the ABI declares.) */
#pragma once

#include "object.h"

/* "No value given", and "keyword arguments follow": borrowed references to objects that are made while the library is
 * loaded and never freed. */
TVMFFIObject *fh_sentinel_missing(void);
TVMFFIObject *fh_sentinel_kwargs(void);

/* For the load-time constructor. Without memory the sentinels stay NULL, with a MemoryError pending. */
void fh_sentinel_init(void);
