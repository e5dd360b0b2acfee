/* field_memory.h - the memory of inline fields, whose layout a binding chose: plain data of its C type (a bool is 1
 * byte), an object as a pointer that may be NULL, anything else as an Any.
 *
 * Threads may read and write such a field at the same time: each function here is atomic. Ints, floats, bools and
 * opaque pointers are single words, which are loaded and stored atomically. The bytes of any other field are copied
 * under the lock for its address. Under that lock at most a reference count changes: a value is converted before, and
 * the former value is dropped afterwards.
 *
 * The binding compiles this file, too, for a process with another core. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tvm/ffi/c_api.h>

/* The getter for fields of a static type; NULL for a type that fields cannot have. */
TVMFFIFieldGetter fh_field_memory_getter(int32_t type_index);
/* Reads as the getter does: the caller owns *out. Requires that fields can have the type. */
static inline void fh_field_memory_read(const void *field, int32_t type_index, TVMFFIAny *out) {
  (void)fh_field_memory_getter(type_index)((void *)(uintptr_t)field, out);
}
/* Writes an owned value, which must have the form of fields of the static type: for an object type None or an object.
 * *value becomes the former value, which the caller drops. */
void fh_field_memory_exchange(void *field, int32_t type_index, TVMFFIAny *value);
/* As the getter, and as fh_field_memory_exchange, for a caller that excludes other threads: it holds the GIL, or is
 * making the object. Requires that fields can have the type. */
void fh_field_memory_read_alone(const void *field, int32_t type_index, TVMFFIAny *out);
void fh_field_memory_exchange_alone(void *field, int32_t type_index, TVMFFIAny *value);

/* State of copying all fields of an object. The copy may hold a lock from one field to the next: until
 * fh_field_memory_copy_end the caller releases no object and runs no foreign code. */
typedef struct {
  void *lock, *note; /* private; zeroed at first */
} fh_field_memory_copying;
/* Copies a field into the memory of another object, which is empty and not shared yet. */
void fh_field_memory_copy(fh_field_memory_copying *copying, const void *from, void *to, int32_t type_index,
                          size_t n_bytes);
void fh_field_memory_copy_end(fh_field_memory_copying *copying);
