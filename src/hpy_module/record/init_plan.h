/* The initialisation plan of a type, read from the registry once. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "field.h"

/* The initial value of a field without an argument. */
typedef enum FbInitial {
  FB_INITIAL_NOTHING,        /* an argument is required; with init=False the field stays empty */
  FB_INITIAL_READY_VALUE,    /* `ready`, plain data or a string: the same value for every object */
  FB_INITIAL_PYTHON_VALUE,   /* field->initial, converted for each object, because the result may be mutable */
  FB_INITIAL_PYTHON_FACTORY, /* the return value of field->initial() */
  FB_INITIAL_NATIVE_VALUE,   /* the registry's default, passed to the setter */
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
  FbInitSlot *slots; /* of all fields, the root's first; if a name is defined again, only the last definition counts */
  int32_t *positional; /* slots in the order of positional arguments: arguments without default first */
  char *callee; /* "key.__ffi_init__", the name of the native constructor in messages */
  char *about_argument, *about_default; /* the beginning of a message about a field; in the same block */
  FbRef missing; /* this object as an argument means "not given" */
} FbInitPlan;

FH_INLINE bool fb_init_plan_has_flag(const FbInitSlot *slot, int64_t flag) { return (slot->info->flags & flag) != 0; }
/* Compares all bytes of the names; a name may contain dots and NULs. */
FH_INLINE bool fb_init_plan_is_named(const FbInitSlot *slot, const char *name, size_t byte_len) {
  return slot->info->name.size == byte_len && memcmp(slot->info->name.data, name, byte_len) == 0;
}
FH_INLINE bool fb_init_plan_takes_argument(const FbInitSlot *slot) {
  return !fb_init_plan_has_flag(slot, kTVMFFIFieldFlagBitMaskInitOff);
}
FH_INLINE bool fb_init_plan_is_positional(const FbInitSlot *slot) {
  return fb_init_plan_takes_argument(slot) && !fb_init_plan_has_flag(slot, kTVMFFIFieldFlagBitMaskKwOnly);
}

/* Fills a zero-initialised plan with the current fields of the type. Returns 0, or -1 with an exception raised:
 * TypeError for a type without allocator. The caller must end the plan also after a failure. */
int fb_init_plan_make(HPyContext *ctx, FbInitPlan *plan, const TVMFFITypeInfo *type);
/* Frees the plan without a call of the interpreter, so the names are leaked: a plan belongs to a class, and classes of
 * native types live as long as the process. */
void fb_init_plan_end(FbInitPlan *plan);
