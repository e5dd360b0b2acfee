/* Which native types hold references to other objects. */
#ifndef FFI_HPY_OBJECT_HOLDER_H_
#define FFI_HPY_OBJECT_HOLDER_H_

#include <ffi_hpy/c_bind.h>

#include "hpy_module/context/context.h"

/* How the collector finds the references of an object. */
typedef enum FbHolderKind {
  FB_HOLDER_NONE, /* the object has none, or none that can be found */
  FB_HOLDER_FIELDS, /* reflected fields */
  FB_HOLDER_SEQUENCE,
  FB_HOLDER_MAPPING,
  FB_HOLDER_FUNCTION, /* perhaps a Python callable */
  FB_HOLDER_PYTHON, /* an ffi.OpaquePyObject */
  FB_HOLDER_ERROR, /* the cause, and the context, which may carry an exception of Python */
  FB_HOLDER_SHARED, /* no object: a C++ value that std::shared_ptr share */
} FbHolderKind;

/* The struct ReferenceVisitor of the C++ headers. A slot is the address of the reference, or NULL if only one part of
 * the object leads to the reference. */
typedef struct FbReferenceVisitor {
  void (*visit)(void *arg, TVMFFIObject *target, const void *slot);
  void *arg;
  /* Unless NULL: members lose their references to this function, which releases them later. release: NULL for an
   * object. */
  void (*take)(void *arg, void *former, void (*release)(void *former));
  /* For a std::shared_ptr. `make` makes the description of the value that is counted at `block`; NULL if memory is
   * exhausted. */
  void (*share)(void *arg, const void *block, const void *pointer, ffi_hpy_shared *(*make)(const void *pointer));
} FbReferenceVisitor;
/* An author's function that visits references in members without reflection. */
typedef void (*FbHolderTraverse)(TVMFFIObject *self, const FbReferenceVisitor *visitor);
/* Returns the function that a type itself has; NULL if there is none. */
FbHolderTraverse fb_holder_traverse(int32_t type_index);

/* Reads the reflection. Any thread may call it. */
FbHolderKind fb_holder_kind(int32_t type_index);
/* Whether a field may have a reference that matters: by its static type, and unless it is a property, whose size is one
 * byte and whose getter is a function (core/bind/instance.c). */
FH_INLINE bool fb_holder_is_field(const TVMFFIFieldInfo *field) {
  int32_t index = field->field_static_type_index;
  if (field->size < (int64_t)sizeof(void *)) return false;
  return index == kTVMFFIAny || index == kTVMFFIObject || index == kTVMFFIFunction || index >= kTVMFFIArray;
}

#endif /* FFI_HPY_OBJECT_HOLDER_H_ */
