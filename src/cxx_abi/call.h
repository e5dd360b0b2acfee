/* call.h - from C++ to the C ABI: global functions called by name, their errors thrown. */
#ifndef FX_CALL_H_
#define FX_CALL_H_

#include "shapes.h"

namespace fx {

using tvm::ffi::Any;
using tvm::ffi::Error;
using tvm::ffi::ObjectRef;
using tvm::ffi::String;

inline TVMFFIAny view_of(const Any &value) { return value.view(); }
inline TVMFFIAny view_of(const ObjectRef &object) { return object.view(); }
TVMFFIAny view_of(bool value);
/* Of an object that is there, by its handle. */
TVMFFIAny view_of_handle(const void *handle);

/* Calls a global function. Throws the error it raises, or that it is not registered. */
Any call(const char *name, const TVMFFIAny *args, int32_t n_args);

template <int n> Any call(const char *name, const TVMFFIAny (&args)[n]) { return call(name, args, n); }

/* The result of the function `name` as what it must be; TypeError if it is something else. */
String to_text(const char *name, Any value); /* or None */
/* An object of a type that has no others below it, or None: no object. */
ObjectRef to_object(const char *name, Any value, int32_t type_index);
int64_t to_int(const char *name, const Any &value); /* an int or a bool */

/* Throws an error of that kind, its message the parts joined. */
[[noreturn]] void raise_parts(const char *kind, const char **parts, int32_t n_parts);
template <typename... Parts> [[noreturn]] void raise(const char *kind, Parts... parts) {
  const char *all[] = {parts...};
  raise_parts(kind, all, sizeof...(parts));
}
/* Throws the error that is pending. */
[[noreturn]] void raise_pending();

} // namespace fx

#endif /* FX_CALL_H_ */
