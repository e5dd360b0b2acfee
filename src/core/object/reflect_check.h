/* reflect_check.h - checks of what a client declares of a type: names, offsets and sizes in the object, functions.
 *
 * Those of one declaration come before anything is copied. Each gives 0, or -1 with a ValueError or TypeError that names
 * the member. That fields lie within the object depends on two declarations, which two threads may make at one time: it
 * is looked at under the lock, when either is published, and raised after it. */
#ifndef FH_REFLECT_CHECK_H_
#define FH_REFLECT_CHECK_H_

#include "any.h"

int fh_reflect_check_field(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field);
int fh_reflect_check_method(const TVMFFITypeInfo *type, const TVMFFIMethodInfo *method);
int fh_reflect_check_metadata(const TVMFFITypeInfo *type, const TVMFFITypeMetadata *metadata);

/* Whether a field that was checked lies within objects of that many bytes. Always in those of no known size (0). */
int fh_reflect_is_inside(const TVMFFIFieldInfo *field, int32_t total_size);
/* Raises the ValueError of a field that does not. Always -1. Hold no lock. */
FH_COLD int fh_reflect_raise_outside(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field, int32_t total_size);

#endif /* FH_REFLECT_CHECK_H_ */
