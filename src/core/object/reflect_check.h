/* reflect_check.h - checks of what a client declares of a type: names, offsets and sizes in the object, functions.
 *
 * They come before anything is copied. Each gives 0, or -1 with a ValueError or TypeError that names the member. */
#ifndef FH_REFLECT_CHECK_H_
#define FH_REFLECT_CHECK_H_

#include "any.h"

int fh_reflect_check_field(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field);
int fh_reflect_check_method(const TVMFFITypeInfo *type, const TVMFFIMethodInfo *method);
/* Also that the fields which the type has already lie within its size. */
int fh_reflect_check_metadata(const TVMFFITypeInfo *type, const TVMFFITypeMetadata *metadata);

#endif /* FH_REFLECT_CHECK_H_ */
