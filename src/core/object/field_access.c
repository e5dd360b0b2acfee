/* field_access.c - copies of objects that threads share, and the table for bindings. */
#include "field_access.h"

#include "field_memory.h"
#include "function.h"
#include "reflect.h"
#include "type.h"

/* Whether another thread may be inside a setter of the object. */
static int has_guarded_field(const TVMFFIObject *object) {
  fh_reflect_cursor cursor = fh_reflect_fields(fh_type_find(object->type_index));
  for (const TVMFFIFieldInfo *field; (field = fh_reflect_next_field(&cursor)) != NULL;) {
    if (fh_field_guard_is_for(field)) return 1;
  }
  return 0;
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
    .set_waiting = fh_field_guard_set_waiting,
};
