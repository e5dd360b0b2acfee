/* library_blob.h - modules embedded in a library. */
#ifndef FH_LIBRARY_BLOB_H_
#define FH_LIBRARY_BLOB_H_

#include "core/object/any.h"

/* Makes the modules that `blob` describes; *out becomes the root of their tree, owned. The blob may name the library
 * itself as one of them: new_own(state) makes that module and returns an owned reference, or NULL with an error
 * pending. */
int fh_library_blob_load(const char *blob, TVMFFIObject *(*new_own)(void *state), void *state, TVMFFIAny *out);

#endif /* FH_LIBRARY_BLOB_H_ */
