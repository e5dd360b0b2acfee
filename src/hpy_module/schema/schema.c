/* The table of schema nodes (hash consing): one node per set of parts, so equal trees are one pointer.
 *
 * The arguments of a node are nodes already. So hashing and comparing use one level and the pointers of the arguments,
 * and never descend: a lookup takes time in proportion to the arguments and the name of one node. The table is an array
 * of lists that grow at their heads. schema_type.c fills it when it compiles Python's TypeSchema. */
#include "schema.h"

#include <stdlib.h>

#include "core/platform/fork.h"

/* A fixed number: a program with many more schemas gets longer lists. */
enum { N_BUCKETS = 1024 };

/* Guarded by `lock`. No foreign code runs under it: nodes are compared by their members. */
FH_LOCK(lock, "schemas", FH_RANK_PLAIN);
static const FbSchema *buckets[N_BUCKETS];

/* FNV-1a */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t byte_len) {
  for (size_t i = 0; i < byte_len; ++i) hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* Member by member, because the struct has padding, and the name is compared by its characters and not by its
 * pointer. */
static uint64_t hash_parts(const FbSchemaParts *parts) {
  uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), &parts->op, sizeof(parts->op));
  hash = hash_bytes(hash, &parts->type_index, sizeof(parts->type_index));
  hash = hash_bytes(hash, parts->name, strlen(parts->name));
  if (parts->n_args > 0) hash = hash_bytes(hash, parts->args, (size_t)parts->n_args * sizeof(parts->args[0]));
  return hash;
}

/* Whether a node has these parts. Two schemas with equal conversions may have different names: a plain `tuple` and an
 * Array are both sequences of Any. So the name is compared, too, because messages show it. */
static bool is_of(const FbSchema *node, const FbSchemaParts *parts, uint64_t hash) {
  if (node->hash != hash || node->op != parts->op || node->type_index != parts->type_index) return false;
  if (node->n_args != parts->n_args || strcmp(node->name, parts->name) != 0) return false;
  for (int32_t i = 0; i < parts->n_args; ++i) {
    if (node->args[i] != parts->args[i]) return false;
  }
  return true;
}

/* The caller holds the lock. */
static const FbSchema *find_node(const FbSchemaParts *parts, uint64_t hash) {
  const FbSchema *node = buckets[hash % N_BUCKETS];
  while (node != NULL && !is_of(node, parts, hash)) node = node->next;
  return node;
}

/* Allocates one block for the node, its arguments, and its name. NULL if memory is exhausted. */
static FbSchema *node_new(const FbSchemaParts *parts, uint64_t hash, int32_t depth) {
  size_t args_size = (size_t)parts->n_args * sizeof(parts->args[0]), name_size = strlen(parts->name) + 1;
  FbSchema *node = calloc(1, sizeof(*node) + args_size + name_size);
  if (node == NULL) return NULL;
  /* The node stores the type's depth, so that an instance check compares one ancestor (convert.c). */
  const TVMFFITypeInfo *info =
      parts->type_index >= kTVMFFIStaticObjectBegin ? TVMFFIGetTypeInfo(parts->type_index) : NULL;
  char *name = (char *)node + sizeof(*node) + args_size;
  memcpy(name, parts->name, name_size);
  node->op = parts->op;
  node->type_index = parts->type_index;
  node->type_depth = info == NULL ? 0 : info->type_depth;
  node->depth = depth;
  node->hash = hash;
  node->name = name;
  node->n_args = parts->n_args;
  if (args_size != 0) memcpy(node->args, parts->args, args_size);
  return node;
}

const FbSchema *fb_schema_intern(const FbSchemaParts *parts, bool *too_deep) {
  /* The arguments are trees that were accepted, so their own depths suffice. */
  int32_t depth = 1;
  for (int32_t i = 0; i < parts->n_args; ++i) {
    if (parts->args[i]->depth >= depth) depth = parts->args[i]->depth + 1;
  }
  *too_deep = depth > FB_SCHEMA_DEPTH_LIMIT;
  if (*too_deep) return NULL;
  uint64_t hash = hash_parts(parts);
  fh_mutex_lock(&lock);
  const FbSchema *found = find_node(parts, hash);
  fh_mutex_unlock(&lock);
  if (found != NULL) return found;
  /* Made without the lock, because memory is not allocated and the core is not called under it. So the table is
   * searched twice. */
  FbSchema *fresh = node_new(parts, hash, depth);
  if (fresh == NULL) return NULL;
  fh_mutex_lock(&lock);
  found = find_node(parts, hash); /* another thread may have made the node first */
  if (found == NULL) {
    fresh->next = buckets[hash % N_BUCKETS];
    buckets[hash % N_BUCKETS] = fresh;
  }
  fh_mutex_unlock(&lock);
  if (found == NULL) return fresh;
  free(fresh);
  return found;
}
