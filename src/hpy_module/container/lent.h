/* Arguments of Functions of bound libraries (ffi_hpy/bind.h), for the duration of a call.
 *
 * The casters of such a library only read strings and containers while the call lasts. An argument that consists of
 * plain values therefore becomes a native object in a block that the next call uses again. */
#ifndef FFI_HPY_CONTAINER_LENT_H_
#define FFI_HPY_CONTAINER_LENT_H_

#include <ffi_hpy/c_bind.h>

#include "hpy_module/object/type_tag.h"

/* The function behind each Function of a bound library; NULL until the first of them is imported. Set once, with
 * release. */
extern FB_HIDDEN TVMFFISafeCallType fb_lent_callee;

/* ffi_hpy_bind_api.function_refuse. Set before fb_lent_callee. */
extern FB_HIDDEN int (*fb_lent_refuse)(const ffi_hpy_first_overload *self, const TVMFFIAny *args, TVMFFIAny *result,
                                       int rc);

/* Sets fb_lent_callee, fb_lent_refuse, the type indices of containers by kFfiHpy*, and the class set. Called once.
 * Returns 0, or -1 with an exception raised. */
int fb_lent_enable(HPyContext *ctx, const ffi_hpy_bind_api *api, const int32_t *types, HPy set_class);

/* Makes *out the value of a member of an enum, of a callable, or of a str, list, tuple, dict or set of plain values:
 * None, bools, numbers, and such strings and containers again. Returns false without an exception for every other value
 * and without memory. If *out is an object, the caller ends it by fb_lent_end. Requires the extension. */
bool fb_lent_read(HPyContext *ctx, HPy value, TVMFFIAny *out);
/* Like fb_lent_read, for a member of an enum, or a callable, which becomes a Function. `entry`: that of its type. */
bool fb_lent_read_known(HPyContext *ctx, HPy value, const FbTypeTagEntry *entry, TVMFFIAny *out);

/* The least type word of str, list, tuple and dict, and the distance to the largest. Set like fb_lent_callee. */
extern FB_HIDDEN uintptr_t fb_lent_first_type, fb_lent_type_span;

/* Whether a value may be a str, list, tuple or dict itself: the structs of an interpreter's own classes lie
 * together, and classes on the heap lie elsewhere. */
FH_INLINE bool fb_lent_may_be_builtin(HPy value) {
  return (uintptr_t)fb_type_tag_type(value) - fb_lent_first_type <= fb_lent_type_span;
}

/* Makes a Function of a callable; NULL with an exception raised. The second function ends such a Function while the
 * caller still has the callable, and only if native code has kept no reference. Written once during the import. */
extern FB_HIDDEN TVMFFIObject *(*fb_lent_callback_new)(HPyContext *ctx, HPy callable);
extern FB_HIDDEN void (*fb_lent_callback_end)(TVMFFIObject *function);

/* Destroys an object, while the caller still has the argument that the object was read from. An error may be pending,
 * and stays so. */
void fb_lent_end(TVMFFIObject *object);

#endif /* FFI_HPY_CONTAINER_LENT_H_ */
