/* field_memory.h - the memory of fields whose layout a binding chose: plain data of its C type (a bool is 1 byte), an
 * object as a pointer that may be NULL, anything else as an Any.
 *
 * Threads may read and write such a field at the same time: each function here does so in one step. Ints, floats, bools
 * and opaque pointers are single words, which are loaded and stored atomically. The bytes of any other field are copied
 * under the lock for its address. Under that lock at most a reference is counted: a value is converted before, and the
 * former value is dropped afterwards.
 *
 * The binding compiles this file, too, for a process whose core is not this one. */
#ifndef FH_FIELD_MEMORY_H_
#define FH_FIELD_MEMORY_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/ffi/c_api.h>

/* The getter for fields of a static type; NULL for a type that fields cannot have. */
TVMFFIFieldGetter fh_field_memory_getter(int32_t type_index);
/* Reads as the getter does: *out is owned. Fields can have the type. */
static inline void fh_field_memory_read(const void *field, int32_t type_index, TVMFFIAny *out) {
  (void)fh_field_memory_getter(type_index)((void *)(uintptr_t)field, out);
}
/* Writes an owned value, which has the form that fields of the static type have: for an object type None or an object.
 * *value becomes the former value, for the caller to drop. */
void fh_field_memory_exchange(void *field, int32_t type_index, TVMFFIAny *value);
/* As the getter, and as fh_field_memory_exchange, where the caller keeps other threads away: it holds the lock of an
 * interpreter, or makes the object. Fields can have the type. */
void fh_field_memory_read_alone(const void *field, int32_t type_index, TVMFFIAny *out);
void fh_field_memory_exchange_alone(void *field, int32_t type_index, TVMFFIAny *value);

/* A copy of all fields of an object. It may hold a lock from one field to the next: until fh_field_memory_copy_end
 * nothing is released and nothing foreign runs. */
typedef struct {
  void *lock, *note; /* private; zeroed at first */
} fh_field_memory_copying;
/* Copies a field into the memory of another object, which is empty and not shared yet. */
void fh_field_memory_copy(fh_field_memory_copying *copying, const void *from, void *to, int32_t type_index,
                          size_t n_bytes);
void fh_field_memory_copy_end(fh_field_memory_copying *copying);

#endif /* FH_FIELD_MEMORY_H_ */
