/* call.h - calls global functions by name through the C ABI, and throws their errors. */
#pragma once

#include "shapes.h"

namespace fx {

using tvm::ffi::Any;
using tvm::ffi::Error;
using tvm::ffi::ObjectRef;
using tvm::ffi::String;

inline TVMFFIAny view_of(const Any &value) { return value.view(); }
inline TVMFFIAny view_of(const ObjectRef &object) { return object.view(); }
TVMFFIAny view_of(bool value);
/* Makes a view of an object from its handle, which must not be null. */
TVMFFIAny view_of_handle(const void *handle);

/* Calls a global function. Throws the error that it raises, or a RuntimeError if it is not registered. */
Any call(const char *name, const TVMFFIAny *args, int32_t n_args);

template <int n> Any call(const char *name, const TVMFFIAny (&args)[n]) { return call(name, args, n); }

/* These three convert the result of the function `name`. All three throw TypeError if the result has another type. */
String to_text(const char *name, Any value); /* accepts None */
/* Returns an object of exactly that type, or null for None. */
ObjectRef to_object(const char *name, Any value, int32_t type_index);
int64_t to_int(const char *name, const Any &value); /* an int or a bool */

/* Throws an error of the given kind. The message is the concatenation of the parts. */
[[noreturn]] void raise_parts(const char *kind, const char **parts, int32_t n_parts);
template <typename... Parts> [[noreturn]] void raise(const char *kind, Parts... parts) {
  const char *all[] = {parts...};
  raise_parts(kind, all, sizeof...(parts));
}
/* Throws the pending error, or a RuntimeError if there is none. */
[[noreturn]] void raise_pending();

} // namespace fx
