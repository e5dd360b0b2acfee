/* FbFunction: the struct of a Function. Threads may set some of its words while other threads call the Function. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "hpy_module/object/object.h"

/* The GIL mode of a Function: the default of TVM_FFI_RELEASE_GIL_BY_DEFAULT, or the value of `release_gil`. A new
 * struct is all zero. The order lets one comparison decide whether a call releases the GIL. */
typedef enum FbGil {
  FB_GIL_RELEASE = -1,
  FB_GIL_DEFAULT = 0,
  FB_GIL_KEEP = 1,
  FB_GIL_KEEP_FOR_PYTHON = 2 /* keeps it, and gets Python objects: a list as itself, not as an Array */
} FbGil;

typedef struct FbFunction {
  FbObject base;
  /* Both words may be set while other threads call the Function. A reader gets the old or the new value; both are
   * valid. */
  const char *name; /* NULL: unknown; else `first_name`, or from fb_function_name_take */
  int32_t gil;      /* an FbGil; as wide as a register, so that a call reads it with one instruction */
  /* The number of calls until reference counting of the Function is deferred; 0: it stays as it is
   * (function_call.c). */
  uint8_t n_calls_counted;
  bool is_operator; /* a call with operands that do not fit returns NotImplemented; only of bound libraries */
  /* The number under which the package stores the author's metadata of the Function (function_metadata.py); 0: no
   * metadata. A reference in place of the number would make the struct of every object larger. */
  uint16_t about;
  /* The name by which the function was looked up, or NULL. Each Function has its own copy from malloc, so that threads
   * that look functions up share nothing. The copy stays when another name is set, because a call on another thread may
   * need it for a message. */
  char *first_name;
} FbFunction;

_Static_assert(sizeof(FbFunction) <= FB_OBJECT_MAX_SIZE, "the largest struct that begins with an FbObject");

/* The last FbGil with which a call releases the GIL. Written once during the import. */
extern FB_HIDDEN int32_t fb_function_struct_last_release;

/* Returns the struct of a Function; on PyPy 7.3 NULL for an object without a struct. */
FH_INLINE FbFunction *fb_function_struct(HPyContext *ctx, HPy h) { return (FbFunction *)fb_object_struct(ctx, h); }

/* Returns the name; "" if it is unknown or the struct is missing. */
FH_INLINE const char *fb_function_struct_name(FbFunction *function) {
  if (FH_UNLIKELY(function == NULL)) return "";
  const char *name = fh_atomic_load_acquire(&function->name); /* pairs with name_set (function.c) */
  return name == NULL ? "" : name;
}

/* The name at the beginning of a message. */
FH_INLINE const char *fb_function_struct_title(FbFunction *function) {
  const char *name = fb_function_struct_name(function);
  return *name ? name : "native function";
}

FH_INLINE bool fb_function_struct_releases_gil(FbFunction *function) {
  return fh_atomic_load_relaxed(&function->gil) <= fb_function_struct_last_release;
}
