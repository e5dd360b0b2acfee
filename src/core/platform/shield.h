/* shield.h - whole pages of memory, from which reading or writing can be taken away. */
#ifndef FH_SHIELD_H_
#define FH_SHIELD_H_

#include "base.h"

/* Pages for n_bytes, of zeros; NULL without memory. The other functions take the same number of bytes. */
void *fh_shield_new(size_t n_bytes);
void fh_shield_free(void *pages, size_t n_bytes);
/* From here on writing there ends the process, or even reading. */
void fh_shield_no_write(void *pages, size_t n_bytes);
void fh_shield_no_access(void *pages, size_t n_bytes);

#endif /* FH_SHIELD_H_ */
