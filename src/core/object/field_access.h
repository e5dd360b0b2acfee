/* field_access.h - functions by which a binding reads, writes and copies objects that threads share.
 *
 * A binding finds the table by the global function "ffi_hpy.field_access", which returns the address of the core's
 * fh_field_access_table. */
#pragma once

#include "field_guard.h"

typedef struct {
  /* fh_field_memory_getter and fh_field_memory_exchange: for an inline field, whose layout a binding chose. */
  TVMFFIFieldGetter (*getter)(int32_t type_index);
  void (*exchange)(void *field, int32_t type_index, TVMFFIAny *value);
  /* fh_field_guard_get and fh_field_guard_set: for fields for which fh_field_guard_is_for is true. */
  int (*get)(TVMFFIFieldGetter getter, TVMFFIObject *object, int64_t offset, TVMFFIAny *out);
  int (*set)(TVMFFIFieldSetter setter, TVMFFIObject *object, int64_t offset, const TVMFFIAny *value);
  /* fh_field_access_copy */
  int (*copy)(TVMFFIObject *function, TVMFFIObject *object, TVMFFIAny *out);
  int (*is_inside)(void); /* fh_field_guard_is_inside */
  void (*set_waiting)(const fh_field_guard_waiting *functions);
} fh_field_access;

extern const fh_field_access fh_field_access_table;

/* Calls the __ffi_shallow_copy__ of an object, which is a Function: the caller owns *out. 0, or -1 with an error
 * pending. Hold no lock. */
int fh_field_access_copy(TVMFFIObject *function, TVMFFIObject *object, TVMFFIAny *out);
