/* allocator.c - the custom allocator, which the ABI defines for objects of clients: the current one, and the built-in
 * one. The core's own objects come from mem.c, independent of the allocator that a client has set. */
#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/mem.h"

/* The header before an object of the built-in allocator: the ABI's header is its last part. */
typedef struct {
  void *block; /* the result of fh_mem_alloc */
  TVMFFIObjectAllocHeader abi;
} builtin_head;

static void builtin_delete_space(void *ptr) { fh_mem_free(((builtin_head *)ptr)[-1].block); }

/* Allocates room for an object at a multiple of `alignment`, a power of two, and for the head before it. The block may
 * begin at any multiple of 8, so it is longer by the bytes that aligning may skip. NULL without memory. */
static void *builtin_allocate(size_t size, size_t alignment, int32_t type_index, void *context) {
  FH_UNUSED(type_index);
  FH_UNUSED(context);
  /* at least the head's alignment: the head ends at the start of the object */
  if (alignment < sizeof(builtin_head)) alignment = sizeof(builtin_head);
  size_t extra_bytes = sizeof(builtin_head) + alignment - 1;
  if (size > SIZE_MAX - extra_bytes) return NULL;
  char *block = (char *)fh_mem_alloc(size + extra_bytes);
  if (block == NULL) return NULL;
  builtin_head *object = (builtin_head *)(((uintptr_t)block + extra_bytes) & ~(uintptr_t)(alignment - 1));
  object[-1].block = block;
  object[-1].abi.delete_space = builtin_delete_space;
  return object;
}

static TVMFFICustomAllocator builtin_allocator = {builtin_allocate, NULL};
static void *current_allocator = &builtin_allocator;

TVMFFICustomAllocator *TVMFFIGetCustomAllocator(void) {
  /* acquire: pairs with the release store in TVMFFISetCustomAllocator, so that the struct's contents are seen */
  return (TVMFFICustomAllocator *)fh_atomic_load_acquire_ptr(&current_allocator);
}

int TVMFFISetCustomAllocator(TVMFFICustomAllocator *allocator) {
  /* release: pairs with the acquire load in TVMFFIGetCustomAllocator */
  fh_atomic_store_release_ptr(&current_allocator, allocator != NULL ? allocator : &builtin_allocator);
  return 0;
}
