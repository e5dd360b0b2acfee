/* Which native types hold references to other objects, and the classes of such types, whose instances the garbage
 * collector tracks. */
#ifndef FFI_HPY_OBJECT_HOLDER_H_
#define FFI_HPY_OBJECT_HOLDER_H_

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/context.h"

/* How the collector finds the references of an object. */
typedef enum FbHolderKind {
  FB_HOLDER_NONE, /* the object has none, or none that can be found */
  FB_HOLDER_FIELDS, /* reflected fields */
  FB_HOLDER_SEQUENCE,
  FB_HOLDER_MAPPING,
  FB_HOLDER_FUNCTION, /* perhaps a Python callable */
  FB_HOLDER_PYTHON, /* an ffi.OpaquePyObject */
} FbHolderKind;

/* Reads the reflection. Any thread may call it. */
FbHolderKind fb_holder_kind(int32_t type_index);
/* Whether a field of that static type may have a reference that matters. */
FH_INLINE bool fb_holder_is_field(const TVMFFIFieldInfo *field) {
  int32_t index = field->field_static_type_index;
  return index == kTVMFFIAny || index == kTVMFFIObject || index == kTVMFFIFunction || index >= kTVMFFIArray;
}

/* Prepares a class for the collector. With `holds`, its instances become tracked, if none was made yet. */
void fb_holder_adopt(HPy cls, bool holds);
/* Prepares the class of a native type, as its fields require. */
void fb_holder_adopt_for(HPy cls, int32_t type_index);

void fb_holder_note_slow(HPy cls);
/* Called before an instance of a class is made that may not be registered yet: the class then stays untracked. */
FH_INLINE void fb_holder_note(HPy cls) {
  if (FH_LIKELY(fb_context_collect_offset != 0) &&
      FH_UNLIKELY(*(void *const *)(const void *)((const char *)cls._i + fb_context_collect_offset) == NULL)) {
    fb_holder_note_slow(cls);
  }
}

/* Whether the collector tracks instances of a class. */
FH_INLINE bool fb_holder_is_tracked(HPy cls) {
  /* relaxed: the flag is set before the class is published */
  return fb_context_collect_offset != 0 &&
         (fh_atomic_load_relaxed_u64((const uint64_t *)(const void *)((const char *)cls._i + fb_context_flags_offset)) &
          FHPY_TYPE_IS_TRACKED) != 0;
}

#endif /* FFI_HPY_OBJECT_HOLDER_H_ */
