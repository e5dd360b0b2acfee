/* members.h - lookup of fields and methods of one type by name, for reflect.c, which publishes them. */
#ifndef FH_MEMBERS_H_
#define FH_MEMBERS_H_

#include "name.h"

/* The position of the first of n published members that has the name, -1 if there is none. `members` are structs that
 * begin with their names. Lock-free. */
int32_t fh_members_find(const fh_name_table *table, const void *members, int32_t n, size_t member_bytes,
                        TVMFFIByteArray name);
/* Runs before member n, of that name, is published, under the lock of the list: makes the table if there are many
 * members now, and adds the name. -1 without memory, with no error pending, and then the name is not in the table. */
int fh_members_add(fh_name_table *table, const void *members, int32_t n, size_t member_bytes, TVMFFIByteArray name);

#endif /* FH_MEMBERS_H_ */
