/* library_load.h - opening of libraries whose initialisation may fail. */
#ifndef FH_LIBRARY_LOAD_H_
#define FH_LIBRARY_LOAD_H_

#include "core/platform/base.h"

/* Opens a library. NULL with an error pending if the library cannot be opened, or reports that its initialisation
 * failed. */
void *fh_library_load(const char *path);
/* Makes the load in progress on this thread fail; 0 if there is none. */
int fh_library_load_fail(TVMFFIByteArray reason);

#endif /* FH_LIBRARY_LOAD_H_ */
