/* structural.h - common parts of structural equality, hash, visiting and mutation: the structural kinds of types,
 * definition regions, tensor contents. For the files of this folder, and for globals_structural.c.
 *
 * A type's structural kind (TVMFFISEqHashKind, in its metadata) determines the comparison of its objects. Tree nodes:
 * by their fields. Constant tree nodes: by their fields, but an object equals itself without comparing fields. DAG
 * nodes: by their fields, and both sides must share them in the same way. Free variables: by the place of their
 * definition. Unique instances: by identity.
 *
 * A region (TVMFFIDefRegionKind) determines whether a free variable in it is a definition. In a pattern region all
 * variables are definitions, at any depth; in a simple region only the variable itself is a definition, and variables
 * in its fields are uses. The flags of a field, and the arguments of a hook's callback, open a region; inside a pattern
 * region no other region opens. */
#pragma once

#include "core/container/hashmap.h"
#include "core/fields/access_path.h"
#include "core/object/any.h"
#include "core/walk/walk.h"

/* The structural kind of an object's type; TypeError for a type that has no metadata or no kind. */
int fh_structural_kind(const TVMFFIObject *obj, int32_t *out);
/* The structural kind of a type: Unsupported for a type without a kind, and for NULL. */
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
  bool is_clamped = kind == kTVMFFISEqHashKindFreeVar && current == kTVMFFIDefRegionKindSimple;
  return is_clamped ? (int32_t)kTVMFFIDefRegionKindNone : current;
}
/* The region that args[i] of a hook's callback requests: *out is `current` for kTVMFFIDefRegionKindNone. TypeError if
 * args[i] is not an integer, ValueError for an unknown kind. */
int fh_structural_arg_region(const char *name, const TVMFFIAny *args, int32_t i, int32_t current, int32_t *out);

/* Whether a mutation stores `result` (kTVMFFIUnchanged: no change) as the replacement of an object of that structural
 * kind in that region. */
static inline bool fh_structural_is_remapped(int32_t kind, int32_t region, const TVMFFIAny *result) {
  if (kind == kTVMFFISEqHashKindDAGNode) return true;
  return kind == kTVMFFISEqHashKindFreeVar &&
         (region == kTVMFFIDefRegionKindPattern || result->type_index != kTVMFFIUnchanged);
}

/* Calls args[2], a Function, with *region set to the region that args[1] requests, and restores *region. For the
 * functions WithDefRegionKind of visitors and mutators. */
int fh_structural_with_region(const char *name, const TVMFFIAny *args, int32_t *region, TVMFFIAny *result);

/* The thread that uses a visitor or mutator of this library: one at a time, which may enter it again. All zero:
 * none. */
typedef struct {
  uint64_t thread; /* atomic; 0: no thread */
  uint32_t n_entries; /* number of nested entries of that thread; only for it */
} fh_structural_use;

/* RuntimeError that names `what` if another thread is inside. */
int fh_structural_use_begin(fh_structural_use *use, const char *what);
void fh_structural_use_end(fh_structural_use *use);

/* A map that does not change while foreign code runs: a Map itself, borrowed, or a copy of a Dict. NULL with an error
 * pending. The caller frees it with fh_structural_end_map. */
fh_hashmap_object *fh_structural_read_map(TVMFFIObject *map);
static inline void fh_structural_end_map(const TVMFFIObject *map, fh_hashmap_object *read) {
  if (map->type_index == kTVMFFIDict) fh_object_release(read);
}

/* The address and size of a tensor's content; ValueError for a tensor that is not contiguous or not on the CPU. */
int fh_structural_tensor_bytes(const DLTensor *tensor, const char **data, size_t *n_bytes);

/* --- paths to a difference ---------------------------------------------------------------------------------------- */

/* The paths to a difference of two values, collected from the inside outwards. For
 * structural_equal.c. */

/* One step on each side. */
typedef struct {
  fh_access_kind kinds[2];
  TVMFFIAny keys[2]; /* owned */
} fh_structural_step;

/* All zero is an empty path. */
typedef struct {
  fh_structural_step *steps; /* the innermost step first */
  size_t n_steps, n_room;
} fh_structural_path;

/* Adds a step; the keys are views. */
int fh_structural_path_add(fh_structural_path *path, fh_access_kind left_kind, const TVMFFIAny *left,
                           fh_access_kind right_kind, const TVMFFIAny *right);
/* Adds a step that is the same on both sides. */
static inline int fh_structural_path_add_same(fh_structural_path *path, fh_access_kind kind, const TVMFFIAny *key) {
  return fh_structural_path_add(path, kind, key, kind, key);
}
/* Drops the steps from number n on. May run foreign code. */
void fh_structural_path_cut(fh_structural_path *path, size_t n);
/* Makes an Array of the two AccessPaths. */
int fh_structural_path_finish(const fh_structural_path *path, TVMFFIAny *out);
void fh_structural_path_free(fh_structural_path *path);
