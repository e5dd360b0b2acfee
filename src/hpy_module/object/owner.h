/* The struct of the second object, which has the handle cell of a wrapper on PyPy 7.3: see FbObject. */
#ifndef FFI_HPY_OBJECT_OWNER_H_
#define FFI_HPY_OBJECT_OWNER_H_

#include "handle_cell.h"

typedef struct FbOwner {
  FbHandleCell cell;
  struct FbWeak *weak; /* identity_weak.h */
  const char *name;    /* the name of a Function, from fb_function_name_take, or NULL */
} FbOwner;

#endif /* FFI_HPY_OBJECT_OWNER_H_ */
