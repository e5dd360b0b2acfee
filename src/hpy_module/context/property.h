/* Properties made of C functions, and the accessor objects that they call. */
#ifndef FFI_HPY_CONTEXT_PROPERTY_H_
#define FFI_HPY_CONTEXT_PROPERTY_H_

#include "ref.h"

/* The functions of a property. The closure must stay valid for the life of the process. */
typedef struct FbAccess {
  HPyFunc_getter get;
  HPyFunc_setter set; /* NULL: read-only */
  void *closure;
} FbAccess;

/* Makes property(get, set) for instances of `type`; other objects raise TypeError. */
HPy fb_property_new(HPyContext *ctx, HPy type, const char *name, FbAccess access);

/* Gives a type an __init_subclass__ that raises TypeError. Returns 0, or -1 with an exception raised. */
int fb_property_refuse_subclasses(HPyContext *ctx, HPy type, const char *name);

/* The accessor type: its spec, from which fb_type_init makes the type, and the reference to the type. */
extern HPyType_Spec fb_property_spec;
extern FbRef fb_property_accessor;

#endif /* FFI_HPY_CONTEXT_PROPERTY_H_ */
