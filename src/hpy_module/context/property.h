/* Properties made of C functions, and the accessor that they call. */
#ifndef FFI_HPY_CONTEXT_PROPERTY_H_
#define FFI_HPY_CONTEXT_PROPERTY_H_

#include "ref.h"

/* What a property calls. The closure must live for good. */
typedef struct FbAccess {
  HPyFunc_getter get;
  HPyFunc_setter set; /* NULL: read-only */
  void *closure;
} FbAccess;

/* property(get, set) for instances of `type`; anything else is a TypeError. */
HPy fb_property_new(HPyContext *ctx, HPy type, const char *name, FbAccess access);

/* Gives a type an __init_subclass__ that refuses. Returns 0, or -1 with an exception raised. */
int fb_property_refuse_subclasses(HPyContext *ctx, HPy type, const char *name);

/* The type that properties are made of: its spec, from which fb_type_init makes it, and where it is kept. */
extern HPyType_Spec fb_property_spec;
extern FbRef fb_property_accessor;

#endif /* FFI_HPY_CONTEXT_PROPERTY_H_ */
