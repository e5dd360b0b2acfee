/* members.c - lookup of fields and methods of one type by name. A few are compared one by one; for many there is a
 * table of the first member of each name, so that the time of a lookup does not grow with their number. */
#include "members.h"

#include <stddef.h>

#include "core/platform/mem.h"
#include "core/platform/span.h"

enum { FEW_MEMBERS = 16 };

/* The first member of a name, for the table. */
typedef struct {
  fh_name_entry by_name; /* first: the table returns a pointer to it */
  int32_t number;
} member_name;

/* Fields and methods begin with their names. */
static TVMFFIByteArray name_at(const void *members, size_t member_bytes, int32_t i) {
  return *(const TVMFFIByteArray *)(const void *)((const char *)members + (size_t)i * member_bytes);
}
FH_STATIC_ASSERT(offsetof(TVMFFIFieldInfo, name) == 0 && offsetof(TVMFFIMethodInfo, name) == 0, "see name_at");

int32_t fh_members_find(const fh_name_table *table, const void *members, int32_t n, size_t member_bytes,
                        TVMFFIByteArray name) {
  if (n > FEW_MEMBERS) {
    const member_name *found = (const member_name *)(const void *)fh_name_find(table, name);
    /* a member that is newer than n is not published yet */
    return found != NULL && found->number < n ? found->number : -1;
  }
  for (int32_t i = 0; i < n; ++i) {
    if (fh_span_same(name_at(members, member_bytes, i), name)) return i;
  }
  return -1;
}

int fh_members_add(fh_name_table *table, const void *members, int32_t n, size_t member_bytes, TVMFFIByteArray name) {
  if (n < FEW_MEMBERS) return 0;
  for (int32_t i = n == FEW_MEMBERS ? 0 : n; i <= n; ++i) {
    TVMFFIByteArray own = i < n ? name_at(members, member_bytes, i) : name;
    if (fh_name_find(table, own) != NULL) continue; /* an overload, or the second try after a try without memory */
    member_name *made = fh_name_reserve(table) == 0 ? (member_name *)fh_mem_calloc(1, sizeof *made) : NULL;
    if (made == NULL) return -1;
    fh_mem_keep(made);
    made->by_name.name = own;
    made->number = i;
    fh_name_put(table, &made->by_name);
  }
  return 0;
}
