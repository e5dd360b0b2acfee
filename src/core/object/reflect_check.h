/* reflect_check.h - checks of a client's declarations: names, offsets and sizes in the object, functions.
 *
 * All checks of one declaration run before anything is copied: 0, or -1 with a ValueError or TypeError that names the
 * member. Whether fields lie within the object depends on two declarations, so that check runs under the lock. */
#ifndef FH_REFLECT_CHECK_H_
#define FH_REFLECT_CHECK_H_

#include "any.h"

int fh_reflect_check_field(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field);
int fh_reflect_check_method(const TVMFFITypeInfo *type, const TVMFFIMethodInfo *method);
int fh_reflect_check_metadata(const TVMFFITypeInfo *type, const TVMFFITypeMetadata *metadata);

/* Whether a checked field lies within objects of that many bytes; true if the size is unknown (0). */
int fh_reflect_is_inside(const TVMFFIFieldInfo *field, int32_t total_size);
/* Raises the ValueError for a field outside the object. Always -1. */
FH_COLD int fh_reflect_raise_outside(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field, int32_t total_size);

/* Whether a checked field is an Optional of an object, stored as an Any instead of a pointer: only the C++ headers of
 * 0.1.13 to 0.1.13.post1 use that layout, and bindings without C++ code. */
int fh_reflect_is_withdrawn(const TVMFFIFieldInfo *field);

#endif /* FH_REFLECT_CHECK_H_ */
