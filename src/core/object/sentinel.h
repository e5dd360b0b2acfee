/* sentinel.h - MISSING and KWARGS: two objects that are compared by address and mean something as arguments or
 * results. */
#ifndef FH_SENTINEL_H_
#define FH_SENTINEL_H_

#include "object.h"

/* "No value given", and "keyword arguments follow": both borrowed, made while the library is loaded, never freed. */
TVMFFIObject *fh_sentinel_missing(void);
TVMFFIObject *fh_sentinel_kwargs(void);

/* For the load-time constructor. Without memory they stay NULL, with a MemoryError pending. */
void fh_sentinel_init(void);

#endif /* FH_SENTINEL_H_ */
