/* members.h - lookup of fields and methods of one type by name, for reflect.c, which publishes them. */
#pragma once

#include "any.h"
#include "name.h"

/* The position of the first of n published members that has the name, -1 if there is none. `members` are structs that
 * begin with their names. Lock-free. */
int32_t fh_members_find(const fh_name_table *table, const void *members, int32_t n, size_t member_bytes,
                        TVMFFIByteArray name);
/* Runs before member n, of that name, is published, under the lock of the list: makes the table if there are many
 * members now, and adds the name. -1 without memory, with no error pending, and then the name is not in the table. */
int fh_members_add(fh_name_table *table, const void *members, int32_t n, size_t member_bytes, TVMFFIByteArray name);

/* --- checks of declarations -------------------------------------------------------------------------------------- */

/* Checks of a client's declarations: names, offsets and sizes in the object, functions.
 *
 * All checks of one declaration run before anything is copied: 0, or -1 with a ValueError or TypeError that names the
 * member. Whether fields lie within the object depends on two declarations, so that check runs under the lock. */

int fh_reflect_check_field(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field);
int fh_reflect_check_method(const TVMFFITypeInfo *type, const TVMFFIMethodInfo *method);
int fh_reflect_check_metadata(const TVMFFITypeInfo *type, const TVMFFITypeMetadata *metadata);

/* Whether a checked field lies within objects of that many bytes; true if the size is unknown (0). */
bool fh_reflect_is_inside(const TVMFFIFieldInfo *field, int32_t total_size);
/* Raises the ValueError for a field outside the object. Always -1. */
FH_COLD int fh_reflect_raise_outside(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field, int32_t total_size);

/* Whether a checked field is an Optional of an object, stored as an Any instead of a pointer: only the C++ headers of
 * 0.1.13 to 0.1.13.post1 use that layout, and bindings without C++ code. */
bool fh_reflect_is_withdrawn(const TVMFFIFieldInfo *field);
