/* guard.h - recognises libraries whose layouts this core does not share, by what they register.
 *
 * A library says nowhere which version it was compiled for. What it registers shows some of it: sizes of fields,
 * indices of built-in types, and flags and kinds that have no meaning here. A layout that is known to be another one is
 * refused: the load in progress fails. Where no load of ours is in progress, and for what may be harmless, there is a
 * line on stderr, one for each library. Either names the library, which is the one that has the code at `caller`. Hold
 * no lock: stderr and the refusal may run code of others. */
#ifndef FH_GUARD_H_
#define FH_GUARD_H_

#include "core/platform/loader.h"

/* Where the function that is being run returns to. */
#if defined(_MSC_VER)
#include <intrin.h>
#define FH_GUARD_CALLER() _ReturnAddress()
#else
#define FH_GUARD_CALLER() __builtin_return_address(0)
#endif

/* A type that a library gives a static index; the index that it has here, -1 if it was refused; and the type that had
 * the static index before, NULL if none had. */
void fh_guard_type(TVMFFIByteArray type_key, int32_t static_index, int32_t type_index, const TVMFFITypeInfo *holder,
                   void *caller);
/* What a type registers, before it is published. */
void fh_guard_field(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field, void *caller);
void fh_guard_metadata(const TVMFFITypeInfo *type, const TVMFFITypeMetadata *metadata, void *caller);

/* What is said of a library of the withdrawn versions, before and after what shows it. */
#define FH_GUARD_WITHDRAWN "was compiled with headers of apache-tvm-ffi 0.1.13 to 0.1.13.post1, which were withdrawn: "
#define FH_GUARD_COMPILE_ANEW "; compile it with those of another version"

/* A field whose size is that of the withdrawn versions (fh_reflect_is_withdrawn); its getter tells the library. */
void fh_guard_withdrawn(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field);

/* The file name, for messages, of the library that has an address; "a library" where that is not known, and place->base
 * is NULL. As long as `place`. */
const char *fh_guard_library(const void *address, fh_loader_place *place);

/* What refuses: fails the load in progress on this thread with that reason, or gives 0 if there is none. Set once, by
 * the load-time constructor. */
void fh_guard_set_refuse(int (*refuse)(TVMFFIByteArray reason));

#endif /* FH_GUARD_H_ */
