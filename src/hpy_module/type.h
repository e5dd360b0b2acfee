/* Making the binding's types, also where an HPy implementation has gaps. */
#ifndef FFI_HPY_MODULE_TYPE_H_
#define FFI_HPY_MODULE_TYPE_H_

#include "context.h"

/* As HPyType_FromSpec, with a base class or HPy_NULL. On PyPy 7.3 attributes with a getter become properties: its own drop
 * the exceptions that getters and setters raise, and abort where there is no setter. */
HPy fb_type_new(HPyContext *ctx, HPyType_Spec *spec, HPy base);

/* What a property calls. The closure must live for good. */
typedef struct FbAccess {
  HPyFunc_getter get;
  HPyFunc_setter set; /* NULL: read-only */
  void *closure;
} FbAccess;

/* property(get, set) for instances of `type`; anything else is a TypeError. */
HPy fb_property_new(HPyContext *ctx, HPy type, const char *name, FbAccess access);

/* Registers what properties are made of. Returns 0, or -1 with an exception raised. */
int fb_type_init(HPyContext *ctx);

#endif /* FFI_HPY_MODULE_TYPE_H_ */
