/* library_blob.h - modules embedded in a library. */
#ifndef FH_LIBRARY_BLOB_H_
#define FH_LIBRARY_BLOB_H_

#include "core/object/any.h"

/* Makes the modules that `blob` describes and gives the root of their tree. Where the blob says that the library itself is
 * among them, new_own(state) makes that one: owned, or NULL with an error pending. */
int fh_library_blob_load(const char *blob, TVMFFIObject *(*new_own)(void *state), void *state, TVMFFIAny *out);

#endif /* FH_LIBRARY_BLOB_H_ */
