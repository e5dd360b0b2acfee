/* C functions of type TVMFFISafeCallType, of which the package makes Functions. The functions use no Python, so calls
 * of them are as fast with the cffi backend. */
#include "value.h"

#include <stdlib.h>
#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/growing.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/object/preserve.h"

/* The head of such a function. */
#define CODE(function) \
  static int function(FH_MAYBE_UNUSED void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result)

/* Makes TypeError the pending error. Returns -1. */
static int refuse(const char *message) {
  TVMFFIErrorSetRaisedFromCStr("TypeError", message);
  return -1;
}

/* Gives out a reference that the caller has as a number (opaque_value.c). */
CODE(adopt) {
  if (n != 1 || args->type_index != kTVMFFIInt) return refuse("expected a pointer");
  TVMFFIObject *object = (TVMFFIObject *)(intptr_t)args->v_int64;
  *result = (TVMFFIAny){.type_index = object->type_index, .v_obj = object};
  return 0;
}

CODE(echo) { return n == 1 ? TVMFFIAnyViewToOwnedAny(args, result) : refuse("expected one argument"); }

/* --- weak references ---------------------------------------------------------------------------------------------- */

/* For the leak report, which records objects by their pointers: a weak reference keeps the memory of the header. */

/* Takes a weak reference to an object that is alive, unless the object would end with it. Returns whether it did. */
CODE(weak_take) {
  if (n != 1 || args->type_index != kTVMFFIInt) return refuse("expected a pointer");
  TVMFFIObject *object = (TVMFFIObject *)(intptr_t)args->v_int64;
  *result = (TVMFFIAny){.type_index = kTVMFFIBool, .v_int64 = !fb_object_is_shared_ptrs(object)};
  if (result->v_int64 != 0) fb_weak_take(object);
  return 0;
}

/* Returns the object of a weak reference, or None if it was destroyed. */
CODE(weak_get) {
  if (n != 1 || args->type_index != kTVMFFIInt) return refuse("expected a pointer");
  TVMFFIObject *object = (TVMFFIObject *)(intptr_t)args->v_int64;
  if (fb_weak_lock(object)) *result = (TVMFFIAny){.type_index = object->type_index, .v_obj = object};
  return 0;
}

/* Releases a weak reference if the object was destroyed, or in any case if the second argument is true. Returns whether
 * the reference was released. */
CODE(weak_drop) {
  if (n != 2 || args->type_index != kTVMFFIInt) return refuse("expected a pointer and a bool");
  TVMFFIObject *object = (TVMFFIObject *)(intptr_t)args->v_int64;
  bool is_dead = (uint32_t)fh_atomic_load_acquire_u64(&object->combined_ref_count) == 0;
  *result = (TVMFFIAny){.type_index = kTVMFFIBool, .v_int64 = is_dead || args[1].v_int64 != 0};
  if (result->v_int64 != 0) fb_weak_drop(object);
  return 0;
}

/* --- references in members ---------------------------------------------------------------------------------------- */

/* The objects that an author's functions visit (object/class_table.h), each slot once, and the counts of the values
 * that std::shared_ptr share. */
typedef struct Visited {
  TVMFFIAny *objects;
  const void **slots, **blocks;
  size_t n, room, n_blocks, block_room;
  bool has_failed;
} Visited;

static bool contains(const void *const *items, size_t n, const void *item) {
  while (n != 0) {
    if (items[--n] == item) return true;
  }
  return false;
}

static void note_object(void *arg, TVMFFIObject *target, const void *slot) {
  Visited *self = arg;
  if (self->has_failed || (slot != NULL && contains(self->slots, self->n, slot))) return;
  size_t room = self->room;
  void *objects = fb_growing_reserve(self->objects, self->n, &room, sizeof(*self->objects));
  if (objects != NULL) self->objects = objects;
  void *slots =
      objects == NULL ? NULL : fb_growing_reserve((void *)self->slots, self->n, &self->room, sizeof(*self->slots));
  if (slots == NULL) {
    self->has_failed = true;
    return;
  }
  self->slots = slots;
  self->slots[self->n] = slot;
  self->objects[self->n++] = (TVMFFIAny){.type_index = target->type_index, .v_obj = target};
}

static void note_shared(void *arg, const void *block, const void *pointer,
                        ffi_hpy_shared *(*make)(const void *pointer)) {
  Visited *self = arg;
  if (self->has_failed || contains(self->blocks, self->n_blocks, block)) return;
  void *blocks = fb_growing_reserve((void *)self->blocks, self->n_blocks, &self->block_room, sizeof(*self->blocks));
  if (blocks == NULL) {
    self->has_failed = true;
    return;
  }
  self->blocks = blocks;
  ffi_hpy_shared *shared = make(pointer);
  if (shared == NULL) return;
  self->blocks[self->n_blocks++] = block;
  shared->visit(shared, &(FbReferenceVisitor){note_object, self, NULL, note_shared});
  shared->free(shared);
}

/* Returns an Array of the objects that an object refers to by members other than fields. */
CODE(visited) {
  if (n != 1 || args->type_index != kTVMFFIInt) return refuse("expected a pointer");
  static FbCoreFunction new_array = {.name = "ffi.Array"};
  Visited found = {0};
  TVMFFIObject *object = (TVMFFIObject *)(intptr_t)args->v_int64;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(object->type_index);
  for (int32_t i = 0; i <= info->type_depth; ++i) {
    int32_t index = i == info->type_depth ? info->type_index : info->type_ancestors[i]->type_index;
    FbHolderTraverse traverse = fb_holder_traverse(index);
    if (traverse != NULL) traverse(object, &(FbReferenceVisitor){note_object, &found, NULL, note_shared});
  }
  int rc = fb_core_function_call(&new_array, found.objects, (int32_t)found.n, result);
  free(found.objects);
  free((void *)found.slots);
  free((void *)found.blocks);
  return rc;
}

/* --- keys of mappings --------------------------------------------------------------------------------------------- */

/* The cffi backend calls these functions without the GIL. */

/* Kinds of objects of which each conversion makes another one, so that identity never finds them. */
typedef enum KeyKind { KEY_OTHER, KEY_SEQUENCE, KEY_MAPPING, KEY_OPAQUE } KeyKind;

static KeyKind kind_of_key(const TVMFFIAny *key) {
  switch (key->type_index) {
  case kTVMFFIArray:
  case kTVMFFIList: return KEY_SEQUENCE;
  case kTVMFFIMap:
  case kTVMFFIDict: return KEY_MAPPING;
  case kTVMFFIOpaquePyObject: return KEY_OPAQUE;
  default: return KEY_OTHER;
  }
}

/* Looks for the key of a kind that `equal`, a Function, accepts, among the next n keys of a walk. *result is the key,
 * owned, if there is one. Returns 0, or -1 with an error pending. */
static int find_in_walk(TVMFFIObject *walk, int64_t n, KeyKind kind, TVMFFIObject *equal, TVMFFIAny *result) {
  enum { GET_KEY = 0, ADVANCE = 2 }; /* commands of ffi.MapForwardIterFunctor */
  TVMFFIAny get = fb_core_function_int(GET_KEY), advance = fb_core_function_int(ADVANCE);
  for (int64_t i = 0; i < n; ++i) {
    TVMFFIAny key, answer, more;
    if (fb_core_function_call_handle(walk, &get, 1, &key) != 0) return -1;
    int rc = 0;
    bool is_equal = false;
    if (kind_of_key(&key) == kind) {
      rc = fb_core_function_call_handle(equal, &key, 1, &answer);
      is_equal = rc == 0 && answer.v_int64 != 0;
    }
    if (is_equal) {
      *result = key;
      return 0;
    }
    fb_any_drop(&key);
    if (rc != 0 || fb_core_function_call_handle(walk, &advance, 1, &more) != 0) return -1;
  }
  return 0;
}

/* Returns the entries that a Map or Dict, args[0], has at one moment: a Map with the same objects as keys. */
CODE(entries) {
  static FbCoreFunction to_map = {.name = "__ffi_convert__", .type_index = kTVMFFIMap};
  return n == 1 ? fb_core_function_call(&to_map, args, 1, result) : refuse("expected a mapping");
}

/* Looks in a Map or Dict for a key of the kind of args[1] that args[2], a Function of one key, accepts. Returns the
 * key, or None. A key that is an OpaquePyObject is returned as a pointer that the caller owns, because Python would
 * receive the object inside. */
CODE(find_key) {
  static FbCoreFunction size_of = {.name = "ffi.MapSize"}, walk_of = {.name = "ffi.MapForwardIterFunctor"};
  if (n != 3 || args[2].type_index != kTVMFFIFunction) return refuse("expected a mapping, a key and a function");
  KeyKind kind = kind_of_key(&args[1]);
  if (kind == KEY_OTHER) return 0;
  TVMFFIAny map, size, walk;
  if (entries(NULL, args, 1, &map) != 0) return -1;
  int rc = fb_core_function_call(&size_of, &map, 1, &size);
  if (rc == 0) rc = fb_core_function_call(&walk_of, &map, 1, &walk);
  if (rc == 0) {
    rc = find_in_walk(walk.v_obj, size.v_int64, kind, args[2].v_obj, result);
    fb_any_drop(&walk);
  }
  fb_any_drop(&map);
  if (rc == 0 && result->type_index == kTVMFFIOpaquePyObject) {
    *result = fb_core_function_int((int64_t)(intptr_t)result->v_obj);
  }
  return rc;
}

FB_METHOD_NOARGS(fb_native_functions, "native_functions",
                 "The pointers to the binding's C functions of type TVMFFISafeCallType, by name.") {
  static const struct {
    const char *name;
    TVMFFISafeCallType call;
  } functions[] = {{"adopt", adopt},         {"echo", echo},       {"weak_take", weak_take}, {"weak_get", weak_get},
                   {"weak_drop", weak_drop}, {"visited", visited}, {"find_key", find_key},   {"entries", entries}};
  HPy found = HPyDict_New(ctx);
  int rc = HPy_IsNull(found) ? -1 : 0;
  for (size_t i = 0; rc == 0 && i < sizeof(functions) / sizeof(*functions); ++i) {
    HPy address = HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)functions[i].call);
    rc = HPy_IsNull(address) ? -1 : HPy_SetItem_s(ctx, found, functions[i].name, address);
    if (!HPy_IsNull(address)) HPy_Close(ctx, address);
  }
  if (rc == 0) return found;
  if (!HPy_IsNull(found)) HPy_Close(ctx, found);
  return HPy_NULL;
}
