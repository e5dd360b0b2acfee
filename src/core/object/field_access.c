/* field_access.c - copies of objects that threads share, and the table for bindings. */
#include "field_access.h"

#include "any.h"
#include "core/platform/atomic.h"
#include "field_memory.h"
#include "function.h"
#include "type.h"

/* Whether another thread may be inside a setter of the object: because of its type's own fields, or because of an
 * ancestor's fields, which may have been registered later. */
static bool has_guarded_field(const TVMFFIObject *object) {
  const fh_type_entry *entry = fh_type_entry_find(object->type_index);
  if (entry == NULL) return false;
  for (int32_t depth = entry->info.type_depth; depth > 0; --depth) {
    /* relaxed: see field_add of reflect.c */
    if (fh_atomic_load_relaxed_i32(&entry->has_guarded_field)) return true;
    entry = fh_type_entry_find(entry->info.type_ancestors[depth - 1]->type_index);
  }
  return false;
}

int fh_field_access_copy(TVMFFIObject *function, TVMFFIObject *object, TVMFFIAny *out) {
  TVMFFIAny view = fh_any_object(object);
  if (!has_guarded_field(object)) return fh_function_call(function, &view, 1, out);
  fh_guard_state state = fh_field_guard_enter(object, FH_GUARD_READ);
  int rc = fh_function_call(function, &view, 1, out);
  fh_field_guard_leave(object, state);
  return rc;
}

const fh_field_access fh_field_access_table = {
    .getter = fh_field_memory_getter,
    .exchange = fh_field_memory_exchange,
    .get = fh_field_guard_get,
    .set = fh_field_guard_set,
    .copy = fh_field_access_copy,
    .is_inside = fh_field_guard_is_inside,
    .set_waiting = fh_field_guard_set_waiting,
};
