/* structural.c - structural kinds, regions and tensor contents; and the current thread of a visitor or mutator of this
 * library. */
#include "structural.h"

#include "core/container/seq.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"
#include "core/tensor/dltensor.h"
#include "core/tensor/tensor.h"

/* NULL also if `info` is NULL. */
static const TVMFFITypeMetadata *metadata_of(const TVMFFITypeInfo *info) {
  return info != NULL ? fh_type_metadata(info) : NULL;
}

int32_t fh_structural_kind_of(const TVMFFITypeInfo *info) {
  const TVMFFITypeMetadata *metadata = metadata_of(info);
  return metadata != NULL ? (int32_t)metadata->structural_eq_hash_kind : (int32_t)kTVMFFISEqHashKindUnsupported;
}

int fh_structural_kind(const TVMFFIObject *obj, int32_t *out) {
  const TVMFFITypeInfo *info = fh_type_find(obj->type_index);
  *out = fh_structural_kind_of(info);
  if (FH_LIKELY(*out != kTVMFFISEqHashKindUnsupported)) return 0;
  const char *missing = metadata_of(info) == NULL ? "Type metadata" : "_type_s_eq_hash_kind";
  return fh_error_raise(FH_TYPE_ERROR, "%s is not set for type `%s`, so StructuralHash is not supported for this type",
                        missing, fh_type_name(obj->type_index));
}

/* args[i] as a TVMFFIDefRegionKind: TypeError if it is not an integer, ValueError for an unknown one. */
static int arg_kind(const char *name, const TVMFFIAny *args, int32_t i, int32_t *out) {
  int64_t asked;
  if (fh_function_arg_int(name, args, i, &asked) != 0) return -1;
  if (asked < kTVMFFIDefRegionKindNone || asked > kTVMFFIDefRegionKindSimple) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected the kind of a definition region (0, 1 or 2) but got %lld",
                          (long long)asked);
  }
  *out = (int32_t)asked;
  return 0;
}

int fh_structural_arg_region(const char *name, const TVMFFIAny *args, int32_t i, int32_t current, int32_t *out) {
  if (arg_kind(name, args, i, out) != 0) return -1;
  /* Here the kind None, 0, requests no other region. */
  *out = fh_structural_enter(current, *out == kTVMFFIDefRegionKindNone ? current : *out);
  return 0;
}

int fh_structural_with_region(const char *name, const TVMFFIAny *args, int32_t *region, TVMFFIAny *result) {
  TVMFFIObject *func;
  int32_t entered = kTVMFFIDefRegionKindNone, before = *region;
  if (arg_kind(name, args, 1, &entered) != 0) return -1;
  if (fh_function_arg_object(name, args, 2, kTVMFFIFunction, &func) != 0) return -1;
  /* Here the kind None is entered, too: it ends a simple region for the time of the call. */
  *region = fh_structural_enter(before, entered);
  int rc = fh_function_call(func, fh_no_arguments, 0, result);
  *region = before;
  return rc;
}

int fh_structural_use_begin(fh_structural_use *use, const char *what) {
  /* Either no thread is inside and this thread enters, or it is inside already: a hook or callback has called the
   * visitor, or mutator, again. Only the thread inside writes n_entries. */
  uint64_t self = fh_thread_id(), user = 0;
  if (!fh_atomic_cas_relaxed_u64(&use->thread, &user, self) && user != self) {
    return fh_error_raise(FH_RUNTIME_ERROR, "Expected a `%s` to be used by one thread at a time", what);
  }
  /* acquire: pairs with the release store in fh_structural_use_end of the thread that was inside before. The value read
   * is that of the exchange above, which continues the release sequence of that store. */
  (void)fh_atomic_load_acquire_u64(&use->thread);
  use->n_entries += 1;
  return 0;
}

void fh_structural_use_end(fh_structural_use *use) {
  use->n_entries -= 1;
  if (use->n_entries == 0) fh_atomic_store_release_u64(&use->thread, 0); /* pairs with fh_structural_use_begin */
}

fh_hashmap_object *fh_structural_read_map(TVMFFIObject *map) {
  if (map->type_index != kTVMFFIDict) return (fh_hashmap_object *)(void *)map;
  return fh_hashmap_copy((const fh_hashmap_object *)(void *)map, kTVMFFIDict);
}

int fh_structural_tensor_bytes(const DLTensor *tensor, const char **data, size_t *n_bytes) {
  /* The device comes first: an address on another device must not be read. */
  if (tensor->device.device_type != kDLCPU) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a tensor on the CPU but got one on a device of type %d",
                          (int)tensor->device.device_type);
  }
  if (fh_tensor_check(tensor) != 0) return -1; /* other libraries may not have checked it */
  if (!fh_dltensor_is_compact(tensor)) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a contiguous tensor but got one with other strides");
  }
  *n_bytes = 0;
  (void)fh_dltensor_size(tensor, n_bytes); /* cannot fail after fh_tensor_check */
  *data = (const char *)tensor->data + tensor->byte_offset;
  return 0;
}

/* --- paths to a difference ---------------------------------------------------------------------------------------- */

/* Collects the path to the place where two values differ.
 *
 * The comparison leaves one frame after the other, so steps come from the inside outwards. An AccessPath grows from the
 * root, so the path is kept as an array until it is complete and is then read backwards. */

int fh_structural_path_add(fh_structural_path *path, fh_access_kind left_kind, const TVMFFIAny *left,
                           fh_access_kind right_kind, const TVMFFIAny *right) {
  if (fh_mem_reserve((void **)&path->steps, &path->n_room, path->n_steps, 1, sizeof(*path->steps)) != 0)
    return fh_error_raise_no_memory();
  fh_structural_step *step = &path->steps[path->n_steps];
  step->kinds[0] = left_kind;
  step->kinds[1] = right_kind;
  if (fh_any_own(left, &step->keys[0]) != 0) return -1;
  if (fh_any_own(right, &step->keys[1]) != 0) {
    fh_any_drop(&step->keys[0]);
    return -1;
  }
  /* The step counts only now that it owns both keys. */
  path->n_steps += 1;
  return 0;
}

void fh_structural_path_cut(fh_structural_path *path, size_t n) {
  while (path->n_steps > n) {
    fh_structural_step step = path->steps[--path->n_steps];
    fh_any_drop(&step.keys[0]);
    fh_any_drop(&step.keys[1]);
  }
}

/* The AccessPath of one side (0: left, 1: right): a new reference, NULL with an error pending. */
static fh_access_path_object *side_of(const fh_structural_path *path, int side) {
  fh_access_path_object *at = fh_access_path_root();
  for (size_t i = path->n_steps; i != 0 && at != NULL; --i) {
    const fh_structural_step *step = &path->steps[i - 1];
    fh_access_path_object *longer = fh_access_path_extend(at, step->kinds[side], &step->keys[side]);
    fh_object_release(at);
    at = longer;
  }
  return at;
}

int fh_structural_path_finish(const fh_structural_path *path, TVMFFIAny *out) {
  fh_access_path_object *left = side_of(path, 0), *right = left != NULL ? side_of(path, 1) : NULL;
  TVMFFIAny sides[2] = {fh_any_object(left), fh_any_object(right)};
  fh_seq_object *both = right != NULL ? fh_seq_from_views(kTVMFFIArray, sides, 2) : NULL;
  fh_object_release(left);
  fh_object_release(right);
  return fh_any_give_object(both, out);
}

void fh_structural_path_free(fh_structural_path *path) {
  fh_structural_path_cut(path, 0);
  fh_mem_free(path->steps);
}
