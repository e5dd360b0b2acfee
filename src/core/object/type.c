/* type.c - the type registry: key to index, index to entry, ancestry.
 *
 * Objects contain the index of their type, so looking up an index must be fast: an array of chunks. A type may reserve
 * the indices after its own for its descendants: a C++ client that finds an index in that range does not need to check
 * ancestry. Types that are neither in a range nor at a static index get their index from one counter, the global
 * pool. */
#include "type.h"

#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "error.h"
#include "guard.h"
#include "str.h"

/* Entries by index, in chunks, because a chunk, in contrast to an array that grows, never moves: readers hold no
 * lock. */
#define CHUNK_ITEMS 1024
#define MAX_CHUNKS 2048
#define MAX_INDEX (CHUNK_ITEMS * MAX_CHUNKS)

FH_LOCK(registry_lock, "registry", FH_RANK_PLAIN);
static void *chunks[MAX_CHUNKS];                    /* void*[CHUNK_ITEMS]; release store under the lock */
static fh_name_table by_key;
static int32_t next_index = kTVMFFIDynObjectBegin; /* next index of the global pool; release store under the lock */
static int32_t n_types; /* under the lock */

void fh_type_lock(void) { fh_mutex_lock(&registry_lock); }
void fh_type_unlock(void) { fh_mutex_unlock(&registry_lock); }
int32_t fh_type_count(void) { return n_types; }

/* ---- Reading ---- */

fh_type_entry *fh_type_entry_find(int32_t type_index) {
  if (type_index < 0 || type_index >= MAX_INDEX) return NULL;
  /* acquire: pairs with the release store in reserve_chunk */
  void **chunk = (void **)fh_atomic_load_acquire_ptr(&chunks[type_index / CHUNK_ITEMS]);
  if (chunk == NULL) return NULL;
  /* acquire: pairs with the release store in publish, so that the entry is complete */
  return (fh_type_entry *)fh_atomic_load_acquire_ptr(&chunk[type_index % CHUNK_ITEMS]);
}

const TVMFFITypeInfo *fh_type_find(int32_t type_index) {
  fh_type_entry *entry = fh_type_entry_find(type_index);
  return entry != NULL ? &entry->info : NULL;
}

int32_t fh_type_find_key(TVMFFIByteArray type_key) {
  fh_type_entry *entry = (fh_type_entry *)fh_name_find(&by_key, type_key);
  return entry != NULL ? entry->info.type_index : -1;
}

const char *fh_type_name(int32_t type_index) {
  const TVMFFITypeInfo *info = fh_type_find(type_index);
  return info != NULL ? info->type_key.data : "<unknown type>";
}

int32_t fh_type_end(void) {
  return fh_atomic_load_acquire_i32(&next_index); /* acquire: pairs with the release store in add_locked */
}

bool fh_type_is_instance(int32_t type_index, int32_t ancestor) {
  const TVMFFITypeInfo *info = fh_type_find(type_index);
  const TVMFFITypeInfo *wanted = fh_type_find(ancestor);
  if (info == NULL || wanted == NULL) return false;
  if (info == wanted) return true;
  /* an ancestor's position in the list is its depth: one comparison, however deep the type is */
  return info->type_depth > wanted->type_depth && info->type_ancestors[wanted->type_depth] == wanted;
}

/* ---- Writing. fh_type_add checks a request without the lock; reserve_chunk to add_locked run under it ---- */

/* The arguments of fh_type_add. */
typedef struct {
  TVMFFIByteArray key;
  int32_t static_index, depth, n_child_slots;
  bool can_overflow;
  fh_type_entry *parent; /* NULL for a root */
} request;

/* Completes "Cannot register type `key`:" by `reason`. Always -1. */
static int refuse_type(const request *req, const char *reason) {
  return fh_error_raise(FH_RUNTIME_ERROR, "Cannot register type `%.*s`: %s", FH_BYTES_ARGS(req->key), reason);
}

/* The checks that need no lock. */
static int check_request(const request *req, int32_t parent_index) {
  if (req->key.size == 0) return refuse_type(req, "its key is empty");
  if (fh_str_check_name("a type key", req->key) != 0) return -1;
  if (parent_index >= 0 && req->parent == NULL) return refuse_type(req, "its parent's index belongs to no type");
  int32_t wanted_depth = req->parent != NULL ? req->parent->info.type_depth + 1 : 0;
  if (req->depth != wanted_depth) {
    return fh_error_raise(FH_RUNTIME_ERROR, "Cannot register type `%.*s`: expected depth %d but got %d",
                          FH_BYTES_ARGS(req->key), (int)wanted_depth, (int)req->depth);
  }
  if (req->n_child_slots < 0 || req->n_child_slots >= MAX_INDEX) return refuse_type(req, "its number of child slots");
  if (req->static_index < 0 && req->parent == NULL)
    return refuse_type(req, "it has neither a parent nor a static index");
  return 0;
}

/* The outcome of the part under the lock. The error is raised after it, because raising releases the error that was
 * pending. */
typedef enum { ADDED, NO_MEMORY, BEYOND_USED, INDEX_TAKEN, BELOW_PARENT, TOO_MANY_CHILDREN, NO_INDEX_LEFT } verdict;

/* The type that uses or has reserved one of the static indices of a request, child slots included; NULL if all are
 * free. Indices that an ancestor has reserved are free, too. Ranges are disjoint or nested, so the type with the
 * highest index whose range reaches the request decides: it is an ancestor around the request, or a type in the way. */
static const fh_type_entry *owner_of(const request *req) {
  int32_t first = req->static_index, last = first + req->n_child_slots;
  for (int32_t i = last; i >= 0; --i) {
    const fh_type_entry *entry = fh_type_entry_find(i);
    if (entry == NULL || i + entry->n_slots <= first) continue;
    bool is_around = i < first && last < i + entry->n_slots;
    bool is_ancestor = req->parent != NULL && fh_type_is_instance(req->parent->info.type_index, i);
    return is_around && is_ancestor ? NULL : entry;
  }
  return NULL;
}

static int raise_verdict(const request *req, verdict result) {
  switch (result) {
  case BEYOND_USED: return refuse_type(req, "its static index or child slots lie beyond the indices in use");
  case BELOW_PARENT: return refuse_type(req, "its index must be larger than its parent's");
  case NO_INDEX_LEFT: return refuse_type(req, "no type indices are left");
  case INDEX_TAKEN:
    return fh_error_raise(
        FH_RUNTIME_ERROR,
        "Cannot register type `%.*s`: static index %d with %d child slots overlaps with those of `%s`",
        FH_BYTES_ARGS(req->key), (int)req->static_index, (int)req->n_child_slots, owner_of(req)->info.type_key.data);
  case TOO_MANY_CHILDREN:
    return fh_error_raise(FH_RUNTIME_ERROR, "Cannot register type `%.*s`: reached the number of sub-classes of `%s`",
                          FH_BYTES_ARGS(req->key), req->parent->info.type_key.data);
  default: return fh_error_raise_no_memory();
  }
}

/* Makes the chunk that contains the index: 0, or -1 without memory. */
static int reserve_chunk(int32_t type_index) {
  void **slot = &chunks[type_index / CHUNK_ITEMS];
  if (*slot != NULL) return 0; /* plain: only writers change it */
  void *chunk = fh_mem_calloc(CHUNK_ITEMS, sizeof(void *));
  if (chunk == NULL) return -1;
  fh_mem_keep(chunk);
  fh_atomic_store_release_ptr(slot, chunk); /* pairs with fh_type_entry_find */
  return 0;
}

/* The caller chooses a static index. The index and its child slots are below all future indices of the global pool, so
 * that no index is used twice. The index must be above the parent's index, like every descendant's. */
static verdict check_static(const request *req) {
  if (req->static_index >= next_index - req->n_child_slots) return BEYOND_USED;
  if (owner_of(req) != NULL) return INDEX_TAKEN;
  if (req->parent != NULL && req->static_index <= req->parent->info.type_index) return BELOW_PARENT;
  return ADDED;
}

/* Whether the parent's reserved range has n_slots after the slots in use. A descendant with a static index may be in
 * the range; then the range counts as full. */
static bool has_room(const request *req, int32_t n_slots) {
  const fh_type_entry *parent = req->parent;
  if (parent->n_slots - parent->n_slots_used < n_slots) return false;
  for (int32_t i = 0; i < n_slots; ++i) {
    if (fh_type_entry_find(parent->info.type_index + parent->n_slots_used + i) != NULL) return false;
  }
  return true;
}

/* Finds the index for a request: the static one, or the next in the parent's range, or the next of the global pool, if
 * the parent allows that. add_locked marks it as used later, when no step can fail any more. */
static verdict pick_index(const request *req, int32_t *out, bool *is_from_parent) {
  int32_t n_slots = req->n_child_slots + 1;
  *is_from_parent = false;
  *out = req->static_index;
  if (req->static_index >= 0) return check_static(req);
  if (has_room(req, n_slots)) {
    *is_from_parent = true;
    *out = req->parent->info.type_index + req->parent->n_slots_used;
    return ADDED;
  }
  if (!req->parent->can_overflow) return TOO_MANY_CHILDREN;
  if (n_slots > MAX_INDEX - next_index) return NO_INDEX_LEFT;
  *out = next_index;
  return ADDED;
}

/* The hash of a type's key: libstdc++'s std::hash (MurmurHash64A with that library's seed). Structural hashes begin
 * with this hash, so they equal the hashes of a reference that is built with that library. */
static uint64_t hash_key(const char *key, size_t n_bytes) {
  const uint64_t multiplier = 0xc6a4a7935bd1e995u;
  uint64_t hash = 0xc70f6907u ^ ((uint64_t)n_bytes * multiplier);
  for (size_t i = 0; i < n_bytes; i += 8) { /* words of 8 bytes, little-endian; the last one may be shorter */
    size_t n = n_bytes - i < 8 ? n_bytes - i : 8;
    uint64_t word = 0;
    for (size_t k = 0; k < n; ++k) word |= (uint64_t)(unsigned char)key[i + k] << (8 * k);
    if (n == 8) {
      word *= multiplier;
      word = (word ^ (word >> 47)) * multiplier;
    }
    hash = (hash ^ word) * multiplier;
  }
  hash = (hash ^ (hash >> 47)) * multiplier;
  return hash ^ (hash >> 47);
}

/* Makes a complete entry that is not published yet; NULL without memory. */
static fh_type_entry *entry_new(const request *req, int32_t type_index) {
  fh_type_entry *entry = (fh_type_entry *)fh_mem_calloc(1, sizeof(*entry));
  char *key = fh_mem_copy_text(req->key.data, req->key.size);
  const TVMFFITypeInfo **ancestors = NULL;
  if (req->depth > 0) ancestors = (const TVMFFITypeInfo **)fh_mem_calloc((size_t)req->depth, sizeof(*ancestors));
  if (entry == NULL || key == NULL || (req->depth > 0 && ancestors == NULL)) {
    fh_mem_free(entry);
    fh_mem_free(key);
    fh_mem_free((void *)ancestors);
    return NULL;
  }
  TVMFFIByteArray kept_key = {key, req->key.size};
  if (req->parent != NULL) {
    int32_t n_inherited = req->parent->info.type_depth;
    for (int32_t i = 0; i < n_inherited; ++i) ancestors[i] = req->parent->info.type_ancestors[i];
    ancestors[n_inherited] = &req->parent->info;
  }
  entry->by_key.name = kept_key;
  entry->info.type_index = type_index;
  entry->info.type_depth = req->depth;
  entry->info.type_key = kept_key;
  entry->info.type_key_hash = hash_key(key, kept_key.size);
  entry->info.type_ancestors = ancestors;
  /* its own index is the first of its range, and used */
  entry->n_slots = req->n_child_slots + 1;
  entry->n_slots_used = 1;
  /* not beyond a parent that is strict: the descendants of this type are also descendants of the parent */
  entry->can_overflow = req->can_overflow && (req->parent == NULL || req->parent->can_overflow);
  return entry;
}

/* Makes the entry visible to readers: first by its index, so that a reader that has found the key finds the entry. */
static void publish(fh_type_entry *entry) {
  int32_t type_index = entry->info.type_index;
  void **chunk = (void **)chunks[type_index / CHUNK_ITEMS];
  fh_mem_keep(entry);
  fh_mem_keep(entry->by_key.name.data);
  fh_mem_keep((const void *)entry->info.type_ancestors);
  fh_atomic_store_release_ptr(&chunk[type_index % CHUNK_ITEMS], entry); /* pairs with fh_type_entry_find */
  fh_name_put(&by_key, &entry->by_key);
}

/* All steps that can fail come first: the index, its chunk, room in the key table, the entry. The rest only writes. */
static verdict add_locked(const request *req, int32_t *type_index) {
  bool is_from_parent;
  verdict result = pick_index(req, type_index, &is_from_parent);
  if (result != ADDED) return result;
  if (reserve_chunk(*type_index) != 0) return NO_MEMORY;
  fh_type_entry *entry = fh_name_reserve(&by_key) == 0 ? entry_new(req, *type_index) : NULL;
  if (entry == NULL) return NO_MEMORY;
  if (is_from_parent) {
    req->parent->n_slots_used += entry->n_slots;
  } else if (req->static_index < 0) {
    fh_atomic_store_release_i32(&next_index, next_index + entry->n_slots); /* pairs with fh_type_end */
  }
  if (req->parent != NULL) ++req->parent->n_children;
  ++n_types;
  publish(entry);
  return ADDED;
}

int32_t fh_type_add(TVMFFIByteArray type_key, int32_t static_index, int32_t depth, int32_t n_child_slots,
                    bool can_overflow, int32_t parent_index) {
  if (fh_str_check_bytes("a type key", type_key) != 0) return -1;
  int32_t type_index = fh_type_find_key(type_key); /* without the lock: entries are never removed */
  if (type_index >= 0) return type_index;
  if (parent_index == -2) return -2;
  request req = {type_key, static_index, depth, n_child_slots, can_overflow, fh_type_entry_find(parent_index)};
  if (check_request(&req, parent_index) != 0) return -1;
  fh_type_lock();
  type_index = fh_type_find_key(type_key); /* another thread may have been first */
  verdict result = type_index >= 0 ? ADDED : add_locked(&req, &type_index);
  fh_type_unlock();
  return result == ADDED ? type_index : raise_verdict(&req, result);
}

/* ---- The static types ---- */

/* Keys of the ABI. Plain data types are roots; object types are children of ffi.Object. */
static const struct {
  int32_t type_index;
  const char *type_key;
} static_types[] = {
    {kTVMFFINone, "None"},
    {kTVMFFIInt, "int"},
    {kTVMFFIBool, "bool"},
    {kTVMFFIFloat, "float"},
    {kTVMFFIOpaquePtr, "void*"},
    {kTVMFFIDataType, "DataType"},
    {kTVMFFIDevice, "Device"},
    {kTVMFFIDLTensorPtr, "DLTensor*"},
    {kTVMFFIRawStr, "const char*"},
    {kTVMFFIByteArrayPtr, "TVMFFIByteArray*"},
    {kTVMFFIObjectRValueRef, "ObjectRValueRef"},
    {kTVMFFISmallStr, "ffi.SmallStr"},
    {kTVMFFISmallBytes, "ffi.SmallBytes"},
    {kTVMFFIUnchanged, "ffi.Unchanged"},
    {kTVMFFIStr, "ffi.String"},
    {kTVMFFIBytes, "ffi.Bytes"},
    {kTVMFFIError, "ffi.Error"},
    {kTVMFFIFunction, "ffi.Function"},
    {kTVMFFIShape, "ffi.Shape"},
    {kTVMFFITensor, "ffi.Tensor"},
    {kTVMFFIArray, "ffi.Array"},
    {kTVMFFIMap, "ffi.Map"},
    {kTVMFFIModule, "ffi.Module"},
    {kTVMFFIOpaquePyObject, "ffi.OpaquePyObject"},
    {kTVMFFIList, "ffi.List"},
    {kTVMFFIDict, "ffi.Dict"},
    {kTVMFFIVisitInterrupt, "ffi.VisitInterrupt"},
    {kTVMFFIBigInt, "ffi.BigInt"},
};

void fh_type_init(void) {
  /* Only the root may have descendants elsewhere; the other static types are leaves. */
  fh_type_add(FH_LITERAL("ffi.Object"), kTVMFFIObject, 0, 0, 1, -1);
  for (size_t i = 0; i < FH_COUNT_OF(static_types); ++i) {
    bool is_object = static_types[i].type_index > kTVMFFIObject;
    fh_type_add(fh_base_bytes(static_types[i].type_key), static_types[i].type_index, is_object, 0, 0,
                is_object ? kTVMFFIObject : -1);
  }
}

/* ---- The ABI's functions ---- */

int TVMFFITypeKeyToIndex(const TVMFFIByteArray *type_key, int32_t *out_tindex) {
  if (fh_str_check_bytes("a type key", *type_key) != 0) return -1;
  int32_t type_index = fh_type_find_key(*type_key);
  if (type_index < 0) {
    /* The message shows the key: a key that no type can have, because of its length or a NUL, is refused as such. */
    if (type_key->size != 0 && fh_str_check_name("a type key", *type_key) != 0) return -1;
    return fh_error_raise(FH_RUNTIME_ERROR, "Cannot find type `%.*s`", FH_BYTES_ARGS(*type_key));
  }
  *out_tindex = type_index;
  return 0;
}

int32_t TVMFFITypeGetOrAllocIndex(const TVMFFIByteArray *type_key, int32_t static_type_index, int32_t type_depth,
                                  int32_t num_child_slots, int32_t child_slots_can_overflow,
                                  int32_t parent_type_index) {
  bool is_static = static_type_index >= 0 && parent_type_index != -2; /* -2: a lookup only */
  const TVMFFITypeInfo *holder = is_static ? fh_type_find(static_type_index) : NULL;
  int32_t type_index = fh_type_add(*type_key, static_type_index, type_depth, num_child_slots,
                                   child_slots_can_overflow != 0, parent_type_index);
  if (is_static) fh_guard_type(*type_key, static_type_index, type_index, holder, FH_GUARD_CALLER());
  return type_index;
}

const TVMFFITypeInfo *TVMFFIGetTypeInfo(int32_t type_index) { return fh_type_find(type_index); }
