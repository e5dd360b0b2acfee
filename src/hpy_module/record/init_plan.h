/* What the initialisation of a type's objects takes, read from the registry once. */
#ifndef FFI_HPY_RECORD_INIT_PLAN_H_
#define FFI_HPY_RECORD_INIT_PLAN_H_

#include <tvm/ffi/c_api.h>

#include "field.h"

/* What a field is given that no argument is for. */
typedef enum FbInitial {
  FB_INITIAL_NOTHING,        /* an argument is required; with init=False the field stays empty */
  FB_INITIAL_READY_VALUE,    /* `ready`, which is plain data or text: the same for every object */
  FB_INITIAL_PYTHON_VALUE,   /* field->initial, converted for each object: what becomes of it may be mutable */
  FB_INITIAL_PYTHON_FACTORY, /* the value that field->initial() returns */
  FB_INITIAL_NATIVE_VALUE,   /* the registry's, through the setter */
  FB_INITIAL_NATIVE_FACTORY
} FbInitial;

/* One field of the objects. */
typedef struct FbInitSlot {
  const FbField *field;
  const TVMFFIFieldInfo *info;
  FbRef name; /* a str, interned */
  TVMFFIAny ready;
  FbInitial initial;
} FbInitSlot;

/* Constant once it is made. */
typedef struct FbInitPlan {
  const TVMFFITypeInfo *type;
  TVMFFIObject *allocate; /* __ffi_new__; owned; NULL: the type has a creator */
  int32_t n_slots;
  int32_t n_positional;
  FbInitSlot *slots; /* of all fields, the root's first; a name that is defined again counts for the last one only */
  int32_t *positional; /* slots in the order of positional arguments: those without default first */
  char *callee; /* "key.__ffi_init__", as the native constructor calls itself in messages */
  char *about_argument, *about_default; /* what begins the message about a field; in the same block */
  FbRef missing; /* an argument that is this very object counts as not given */
} FbInitPlan;

FH_INLINE bool fb_init_plan_has_flag(const FbInitSlot *slot, int64_t flag) { return (slot->info->flags & flag) != 0; }
/* Compares the bytes of the names: what is in a name, a dot or a NUL, does not matter. */
FH_INLINE bool fb_init_plan_is_named(const FbInitSlot *slot, const char *name, size_t byte_len) {
  return slot->info->name.size == byte_len && memcmp(slot->info->name.data, name, byte_len) == 0;
}
FH_INLINE bool fb_init_plan_takes_argument(const FbInitSlot *slot) {
  return !fb_init_plan_has_flag(slot, kTVMFFIFieldFlagBitMaskInitOff);
}
FH_INLINE bool fb_init_plan_is_positional(const FbInitSlot *slot) {
  return fb_init_plan_takes_argument(slot) && !fb_init_plan_has_flag(slot, kTVMFFIFieldFlagBitMaskKwOnly);
}

/* Fills a zero-initialised plan with the fields that the type has now. Returns 0, or -1 with an exception raised:
 * TypeError for a type that has no allocator. A plan that failed is to be ended, too. */
int fb_init_plan_make(HPyContext *ctx, FbInitPlan *plan, const TVMFFITypeInfo *type);
/* Calls nothing of the interpreter's, so the names stay: a plan belongs to a class, and classes of native types live as
 * long as the process. */
void fb_init_plan_end(FbInitPlan *plan);

#endif /* FFI_HPY_RECORD_INIT_PLAN_H_ */
