/* Native types: their attributes, the references in their objects, and their classes. */
#pragma once

#include <ffi_hpy/c_bind.h>
#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/context.h"
#include "type_tag.h"

/* --- attributes of types ------------------------------------------------------------------------------------------ */

/* Attribute columns of types, read without a call into the core. */

/* Returns a type's own value in an attribute column, borrowed for good; NULL if there is none. Callable from any
 * thread, attached or not. */
const TVMFFIAny *fb_type_attr_find(int32_t type_index, const TVMFFIByteArray *name);

/* Like fb_type_attr_find, for a column at hand. Columns live as long as the process. */
const TVMFFIAny *fb_type_attr_in(const TVMFFITypeAttrColumn *column, int32_t type_index);

/* --- types that hold references ----------------------------------------------------------------------------------- */

/* Which native types hold references to other objects. */

/* How the collector finds the references of an object. */
typedef enum FbHolderKind {
  FB_HOLDER_NONE, /* the object has none, or none that can be found */
  FB_HOLDER_FIELDS, /* reflected fields alone */
  FB_HOLDER_MEMBERS, /* those, and members that functions of authors visit */
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

/* The words of an object in which its members have references. All the words are 0 if there are no references, for any
 * C++ type: a reference is a pointer. */
enum { FB_HOLDER_MAX_WORDS = 8 };
typedef struct FbHolderLayout {
  bool is_known; /* otherwise only a visit of all members tells */
  bool is_bound; /* the object is a ffi_hpy_instance, and its class tells whether the value may have references */
  uint8_t n;
  struct FbHolderWord {
    uint16_t at; /* in words */
    bool is_any; /* it begins a TVMFFIAny, whose type tells */
  } words[FB_HOLDER_MAX_WORDS];
} FbHolderLayout;
/* The getter of fields that are a TVMFFIAny, and the core's functions for bound classes; NULL until they are known. */
extern FB_HIDDEN TVMFFIFieldGetter fb_holder_any_getter;
extern FB_HIDDEN const ffi_hpy_bind_api *fb_holder_bound;
/* Fills in the layout of a type that fb_holder_kind has told. */
void fb_holder_layout(int32_t type_index, FbHolderKind kind, FbHolderLayout *out);
/* Whether an object has no references at all. Calls no code of libraries, and takes no lock. */
bool fb_holder_is_empty(const FbHolderLayout *layout, const TVMFFIObject *object);

/* --- classes ------------------------------------------------------------------------------------------------------ */

/* The table from a native type index to its Python class. Readers take no lock. */

/* The classes of the first types are in one array; chunks for later types are allocated on demand. A class is complete
 * before it is published, and never freed: a replaced class may still be in use. */
enum { FB_CLASS_TABLE_FIRST = 1024, FB_CLASS_TABLE_MAX = FB_CLASS_TABLE_FIRST + 256 * 1024 };
typedef FbRef *FbClassSlot;
extern FbClassSlot fb_class_table_first[FB_CLASS_TABLE_FIRST];

/* Returns the slot of a later type; NULL if the slot does not exist (yet) or `index` is not a type index. */
FbClassSlot *fb_class_table_later(int32_t index);

/* The entry that a slot leads to. The class is the first member, so a pointer to it is a pointer to the entry. */
typedef struct FbClassEntry {
  FbRef cls;
  const struct FbClassEntry *former; /* of the class that this one has replaced; NULL if there was none */
  uint8_t holds; /* 0: unknown; 1: objects of the type hold no others; 2: they may */
  bool is_short; /* fb_ext->short_new makes wrappers */
} FbClassEntry;
bool fb_class_table_find_holds(FbClassEntry *entry, int32_t index);
/* Whether objects of a type whose class is at hand may hold others, so that a collection begins at their wrappers. Such
 * a wrapper is registered in the instance map when it is made. */
FH_INLINE bool fb_class_table_holds(const FbRef *cls, int32_t index) {
  FbClassEntry *entry = (FbClassEntry *)(uintptr_t)cls;
  uint8_t holds = fh_atomic_load_relaxed(&entry->holds); /* relaxed: the word is all there is */
  return FH_LIKELY(holds != 0) ? holds == 2 : fb_class_table_find_holds(entry, index);
}

/* Whether fb_ext->short_new makes the instances of a class in the table. */
FH_INLINE bool fb_class_table_is_short(const FbRef *cls) { return ((const FbClassEntry *)cls)->is_short; }

/* Returns the class of a type index, valid for good; NULL if there is none. */
FH_INLINE const FbRef *fb_class_table_find(int32_t index) {
  FbClassSlot *slot =
      FH_LIKELY((uint32_t)index < FB_CLASS_TABLE_FIRST) ? &fb_class_table_first[index] : fb_class_table_later(index);
  /* acquire: pairs with fb_class_table_store */
  return slot == NULL ? NULL : fh_atomic_load_acquire(slot);
}

/* Makes cls (derived from CObject) the class of a type index. If `replaces` is false, an existing class stays. Returns
 * 0, or -1 with an exception raised. */
int fb_class_table_store(HPyContext *ctx, int32_t index, HPy cls, bool replaces);

/* Whether the exact class of `self` is the class of the object's type. False also if this is not quick to determine. */
FH_INLINE bool fb_class_table_is_exact(HPy self, const TVMFFIObject *handle) {
  const FbRef *cls = fb_class_table_find(handle->type_index);
  return cls != NULL && fb_ext != NULL && fb_type_tag_type(self) == cls->handle._i;
}
/* Whether the class of `self` is not the class of the object's type. */
bool fb_class_table_is_subclass(HPyContext *ctx, HPy self, const TVMFFIObject *handle);
/* The slow part of fb_class_table_fits. */
bool fb_class_table_is_instance(HPyContext *ctx, HPy self, const TVMFFIObject *handle);
/* Whether `self` is an instance of the class of the object's type, or of a subclass of a class that this one has
 * replaced. Only such a wrapper may be registered in the instance map: code that receives the object expects that
 * class, and an instance of the subclass has attributes that must not be lost. */
FH_INLINE bool fb_class_table_fits(HPyContext *ctx, HPy self, const TVMFFIObject *handle) {
  return FH_LIKELY(fb_class_table_is_exact(self, handle)) || fb_class_table_is_instance(ctx, self, handle);
}
