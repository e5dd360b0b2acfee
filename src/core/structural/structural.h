/* structural.h - what structural equality, hash, visiting and mutation agree on: the kinds of types, definition regions,
 * leaves. For the structural_* files only.
 *
 * A type's kind (TVMFFISEqHashKind, in its metadata) says what its objects are compared by: tree nodes by their fields;
 * constant tree nodes too, and one object always equals itself; DAG nodes by fields and by being shared in the same way;
 * free variables by where they are defined; unique instances by identity.
 *
 * A region (TVMFFIDefRegionKind) says whether a free variable met there is a definition. A pattern region covers all
 * that is inside; a simple one the variable itself, whose fields are uses. Fields open regions by their flags, hooks by
 * what they pass on; inside a pattern region nothing else opens. */
#ifndef FH_STRUCTURAL_H_
#define FH_STRUCTURAL_H_

#include "core/container/hashmap.h"
#include "core/object/any.h"
#include "core/walk/walk.h"

/* The kind of an object's type; TypeError for a type that has no metadata or no kind. */
int fh_structural_kind(const TVMFFIObject *obj, int32_t *out);
/* The same, Unsupported instead of an error; the type may be NULL. */
int32_t fh_structural_kind_of(const TVMFFITypeInfo *info);
static inline int32_t fh_structural_find_kind(int32_t type_index) {
  return fh_structural_kind_of(fh_type_find(type_index));
}

/* The region inside `current` after entering `entered`. */
static inline int32_t fh_structural_enter(int32_t current, int32_t entered) {
  return current == kTVMFFIDefRegionKindPattern ? current : entered;
}
/* The region of a field's value. */
static inline int32_t fh_structural_field_region(int32_t current, int64_t field_flags) {
  const int64_t simple = kTVMFFIFieldFlagBitMaskSEqHashDefSimple, pattern = kTVMFFIFieldFlagBitMaskSEqHashDefPattern;
  if (!(field_flags & (simple | pattern))) return current;
  return fh_structural_enter(current, field_flags & simple ? kTVMFFIDefRegionKindSimple : kTVMFFIDefRegionKindPattern);
}
/* The region of an object's contents. */
static inline int32_t fh_structural_inner_region(int32_t current, int32_t kind) {
  int is_clamped = kind == kTVMFFISEqHashKindFreeVar && current == kTVMFFIDefRegionKindSimple;
  return is_clamped ? (int32_t)kTVMFFIDefRegionKindNone : current;
}
/* The region that a hook's callback asks for, an integer: None stays in the current one. ValueError for an unknown one. */
int fh_structural_arg_region(const char *name, const TVMFFIAny *args, int32_t i, int32_t current, int32_t *out);

/* Whether a mutation notes that an object of that kind, met in that region, became `result` (kTVMFFIUnchanged: itself). */
static inline int fh_structural_is_remapped(int32_t kind, int32_t region, const TVMFFIAny *result) {
  if (kind == kTVMFFISEqHashKindDAGNode) return 1;
  return kind == kTVMFFISEqHashKindFreeVar &&
         (region == kTVMFFIDefRegionKindPattern || result->type_index != kTVMFFIUnchanged);
}

/* Calls args[2], a Function, with *region entered as args[1] says; *region is as before afterwards. For a visitor's or
 * mutator's function WithDefRegionKind. */
int fh_structural_with_region(const char *name, const TVMFFIAny *args, int32_t *region, TVMFFIAny *result);

/* Who uses a visitor or mutator of ours: one thread at a time, which may come back into it. All zero is nobody. */
typedef struct {
  uint64_t thread; /* atomic; 0: nobody */
  uint32_t n_entries; /* how often that thread is inside; for it only */
} fh_structural_use;

/* RuntimeError that names `what` when another thread is inside. */
int fh_structural_use_begin(fh_structural_use *use, const char *what);
void fh_structural_use_end(fh_structural_use *use);

/* What to read of a map while foreign code runs: a Map itself, borrowed, or a copy of a Dict, which that code may
 * change; NULL with an error pending. Given back to fh_structural_end_map. */
fh_hashmap_object *fh_structural_read_map(TVMFFIObject *map);
static inline void fh_structural_end_map(const TVMFFIObject *map, fh_hashmap_object *read) {
  if (map->type_index == kTVMFFIDict) fh_object_release(read);
}

/* The number of bytes of a tensor's content, which must be contiguous and on the CPU: ValueError. */
int fh_structural_tensor_bytes(const DLTensor *tensor, const char **data, size_t *n_bytes);

#endif /* FH_STRUCTURAL_H_ */
