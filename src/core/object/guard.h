/* guard.h - recognises libraries with incompatible layouts by their registrations.
 *
 * A library does not contain the version that it was compiled for. The registrations of the library show some of that:
 * sizes of fields, indices of built-in types, and flags and enum values that are undefined here. A layout that is known
 * to differ is refused: the load in progress fails. If no load of this core is in progress, or if the difference may be
 * harmless, the core writes a line to stderr, once for each library. Both messages name the library that contains the
 * code at `caller`. Hold no lock: stderr and the refusal may run foreign code. */
#pragma once

#include "core/platform/system.h"

/* The return address of the running function. */
#if defined(_MSC_VER)
#include <intrin.h>
#define FH_GUARD_CALLER() _ReturnAddress()
#else
#define FH_GUARD_CALLER() __builtin_return_address(0)
#endif

/* Checks a type that a library registers with a static index. type_index: the type's index in this core, -1 if it was
 * refused. holder: the type that had the static index before, NULL if none had. */
void fh_guard_type(TVMFFIByteArray type_key, int32_t static_index, int32_t type_index, const TVMFFITypeInfo *holder,
                   void *caller);
/* Check the registrations of a type before they are published. */
void fh_guard_field(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field, void *caller);
void fh_guard_metadata(const TVMFFITypeInfo *type, const TVMFFITypeMetadata *metadata, void *caller);

/* The parts of the message for a library of the withdrawn versions, before and after the evidence. */
#define FH_GUARD_WITHDRAWN "was compiled with headers of apache-tvm-ffi 0.1.13 to 0.1.13.post1, which were withdrawn: "
#define FH_GUARD_COMPILE_AGAIN "; compile it with those of another version"

/* Reports a field with the size of the withdrawn versions (fh_reflect_is_withdrawn); the library is found by the
 * field's getter. */
void fh_guard_withdrawn(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field);

/* The file name, for messages, of the library that contains an address; "a library" if it is unknown, and place->base
 * is NULL then. Valid as long as `place`. */
const char *fh_guard_library(const void *address, fh_loader_place *place);

/* Sets the function that refuses a library: it fails the load in progress on this thread with that reason, or returns 0
 * without a load. Called once, by the load-time constructor. */
void fh_guard_set_refuse(int (*refuse)(TVMFFIByteArray reason));
