/* Which Python class stands for a native type: by type index, read without a lock. */
#ifndef FFI_HPY_OBJECT_CLASS_TABLE_H_
#define FFI_HPY_OBJECT_CLASS_TABLE_H_

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "type_kind.h"

/* Classes of the first types are at hand; chunks for more are made as they come. A class is complete before it is
 * published and never freed: one that was replaced may be in use. */
enum { FB_CLASS_TABLE_FIRST = 1024, FB_CLASS_TABLE_MAX = FB_CLASS_TABLE_FIRST + 256 * 1024 };
typedef FbRef *FbClassSlot;
extern FbClassSlot fb_class_table_first[FB_CLASS_TABLE_FIRST];

/* The slot of a later type; NULL if it has none (yet), and for what is no type index. */
FbClassSlot *fb_class_table_later(int32_t index);

/* The class of a type index, for good; NULL if there is none. */
FH_INLINE const FbRef *fb_class_table_find(int32_t index) {
  FbClassSlot *slot =
      FH_LIKELY((uint32_t)index < FB_CLASS_TABLE_FIRST) ? &fb_class_table_first[index] : fb_class_table_later(index);
  /* acquire: pairs with fb_class_table_store */
  return slot == NULL ? NULL : fh_atomic_load_acquire(slot);
}

/* Makes cls, which derives from CObject, the class of a type index; with `replaces` false a class that is there stays.
 * Returns 0, or -1 with an exception raised. */
int fb_class_table_store(HPyContext *ctx, int32_t index, HPy cls, bool replaces);

/* Whether self is of the very class that stands for the type of an object. False also where that cannot be told
 * quickly. */
FH_INLINE bool fb_class_table_is_exact(HPy self, const TVMFFIObject *handle) {
  const FbRef *cls = fb_class_table_find(handle->type_index);
  return cls != NULL && fb_ext != NULL && fb_type_kind_type(self) == cls->handle._i;
}
/* Whether self is an instance of the class that stands for the type of an object. Only such a wrapper may be listed:
 * code that gets the object expects that class. */
bool fb_class_table_fits(HPyContext *ctx, HPy self, const TVMFFIObject *handle);

#endif /* FFI_HPY_OBJECT_CLASS_TABLE_H_ */
