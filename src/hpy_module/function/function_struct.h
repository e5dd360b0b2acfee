/* FbFunction: the struct of a Function, and the words in it that threads may set while others call it. */
#ifndef FFI_HPY_FUNCTION_FUNCTION_STRUCT_H_
#define FFI_HPY_FUNCTION_FUNCTION_STRUCT_H_

#include "core/platform/atomic.h"
#include "hpy_module/object/object.h"

/* What a Function does with the GIL: what TVM_FFI_RELEASE_GIL_BY_DEFAULT says, or what `release_gil` was set to. A new
 * struct is all zero. In this order one comparison tells which ones give it up. */
typedef enum FbGil { FB_GIL_RELEASE = -1, FB_GIL_DEFAULT = 0, FB_GIL_KEEP = 1 } FbGil;

typedef struct FbFunction {
  FbObject base;
  /* Both may be set while other threads call the Function: each is one word, of which the old and the new value are
   * right. */
  const char *name; /* NULL: unknown; else `first_name`, or from fb_function_name_take */
  int32_t gil;      /* an FbGil; as wide as a register, so that a call reads it in one step */
  /* Calls after which references to the Function are not counted any more; 0: it stays as it is (function_call.c). */
  uint16_t n_calls_counted;
  /* The number under which the package has noted what the Function's author says of it (ffi_hpy/_types/about.py); 0:
   * nothing is noted. A number fits where a reference would make the struct of every object larger. */
  uint16_t about;
  /* The name that it was looked up by, or NULL: from malloc, its own, so that threads that look functions up share
   * nothing. It stays when another name is set, because a call on another thread may need it for a message. */
  char *first_name;
} FbFunction;

_Static_assert(sizeof(FbFunction) <= FB_OBJECT_MAX_SIZE, "the largest struct that begins with an FbObject");

/* The last FbGil by which a call gives up the GIL. Written once during the import. */
extern FB_HIDDEN int32_t fb_function_struct_last_release;

/* The struct of a Function; on PyPy 7.3 NULL for an object that has none. */
FH_INLINE FbFunction *fb_function_struct(HPyContext *ctx, HPy h) { return (FbFunction *)fb_object_struct(ctx, h); }

/* "" if unknown, also without a struct. */
FH_INLINE const char *fb_function_struct_name(FbFunction *function) {
  if (FH_UNLIKELY(function == NULL)) return "";
  const char *name = fh_atomic_load_acquire(&function->name); /* pairs with name_set (function.c) */
  return name == NULL ? "" : name;
}

/* The name for messages that begin with it. */
FH_INLINE const char *fb_function_struct_title(FbFunction *function) {
  const char *name = fb_function_struct_name(function);
  return *name ? name : "native function";
}

FH_INLINE bool fb_function_struct_releases_gil(FbFunction *function) {
  return fh_atomic_load_relaxed(&function->gil) <= fb_function_struct_last_release;
}

#endif /* FFI_HPY_FUNCTION_FUNCTION_STRUCT_H_ */
