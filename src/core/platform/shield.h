/* shield.h - whole pages of memory whose read or write access can be removed. */
#ifndef FH_SHIELD_H_
#define FH_SHIELD_H_

#include "base.h"

/* Zeroed pages for n_bytes; NULL without memory. The other functions expect the same number of bytes. */
void *fh_shield_new(size_t n_bytes);
void fh_shield_free(void *pages, size_t n_bytes);
/* A later write (fh_shield_no_access: also a read) there ends the process. */
void fh_shield_no_write(void *pages, size_t n_bytes);
void fh_shield_no_access(void *pages, size_t n_bytes);

#endif /* FH_SHIELD_H_ */
