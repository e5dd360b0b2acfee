/* structural_key.h - ffi.StructuralKey: a value that maps compare by structural equality. */
#ifndef FH_STRUCTURAL_KEY_H_
#define FH_STRUCTURAL_KEY_H_

#include "core/object/any.h"

typedef struct {
  TVMFFIObject header;
  TVMFFIAny key;
  int64_t hash; /* the structural hash of `key` */
} fh_structural_key_object;

/* Makes a key: a new reference, NULL with an error pending. */
fh_structural_key_object *fh_structural_key_new(const TVMFFIAny *key);
/* Whether two keys are equal; compares the hashes first. */
int fh_structural_key_equal(const fh_structural_key_object *a, const fh_structural_key_object *b, int *out);
int32_t fh_structural_key_type(void);

void fh_structural_key_init(void);

#endif /* FH_STRUCTURAL_KEY_H_ */
