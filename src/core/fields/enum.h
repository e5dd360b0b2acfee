/* enum.h - ffi.Enum, ffi.IntEnum, ffi.StrEnum: singletons with an integer and a string; ffi.EnumState: all singletons
 * of one class. */
#pragma once

#include "core/object/any.h"

/* 48 bytes; fields of subclasses follow. */
typedef struct {
  TVMFFIObject header;
  int64_t int_index;
  TVMFFIAny str_index;
} fh_enum_object;

/* The value of a class's __ffi_enum__: 48 bytes. */
typedef struct {
  TVMFFIObject header;
  TVMFFIObject *entries; /* List of the singletons in order */
  TVMFFIObject *indexes; /* Dict from integers and strings to singletons */
  TVMFFIObject *attrs; /* Dict from names to Dicts from singletons to values */
} fh_enum_state_object;

/* Registers the four types. */
void fh_enum_init(void);
