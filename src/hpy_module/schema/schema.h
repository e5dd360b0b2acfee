/* Type schemas, compiled: immutable trees that say which values fit, and what they become.
 *
 * Nodes are unique: equal trees are one tree, so a tree is an address and comparing is comparing addresses. They are
 * made under a lock, complete before they are published, and stay for good, as the types they name do; nothing of
 * Python's is in them. Native setters therefore keep plain pointers to them, and any thread may convert at any time. */
#ifndef FFI_HPY_SCHEMA_SCHEMA_H_
#define FFI_HPY_SCHEMA_SCHEMA_H_

#include <stdbool.h>
#include <tvm/ffi/c_api.h>

typedef enum FbSchemaOp {
  FB_SCHEMA_ANY,
  FB_SCHEMA_NONE,
  FB_SCHEMA_INT,
  FB_SCHEMA_FLOAT,
  FB_SCHEMA_BOOL,
  FB_SCHEMA_STR,
  FB_SCHEMA_BYTES,
  FB_SCHEMA_DEVICE,
  FB_SCHEMA_DTYPE,
  FB_SCHEMA_OPAQUE_PTR,
  FB_SCHEMA_OBJECT,   /* an instance of type_index, or what the type's __ffi_convert__ makes into one */
  FB_SCHEMA_INSTANCE, /* an instance of type_index and nothing else */
  FB_SCHEMA_INT_ENUM, /* FB_SCHEMA_OBJECT, or the integer of one of the type's singletons */
  FB_SCHEMA_STR_ENUM, /* FB_SCHEMA_OBJECT, or the text of one of the type's singletons */
  FB_SCHEMA_SEQUENCE, /* type_index Array or List; args: item */
  FB_SCHEMA_TUPLE,    /* Array with exactly as many items as args */
  FB_SCHEMA_MAPPING,  /* type_index Map or Dict; args: key, value */
  FB_SCHEMA_OPTIONAL, /* args: one */
  FB_SCHEMA_UNION,    /* args: the first that fits counts */
  FB_N_SCHEMA_OPS
} FbSchemaOp;

enum { FB_SCHEMA_DEPTH_LIMIT = 128 }; /* of a tree; conversions recurse along it and no further */

typedef struct FbSchema {
  FbSchemaOp op;
  int32_t type_index; /* of the results where `op` speaks of one, else 0 */
  int32_t type_depth; /* of that type below ffi.Object */
  int32_t depth;      /* of the tree, 1 for a leaf */
  uint64_t hash;
  const struct FbSchema *next; /* in the table of nodes */
  const char *name;            /* what was expected, for messages; lives in the node */
  int32_t n_args;
  const struct FbSchema *args[];
} FbSchema;

/* What a node consists of, to make one. */
typedef struct FbSchemaParts {
  FbSchemaOp op;
  int32_t type_index;
  const char *name;
  const FbSchema *const *args;
  int32_t n_args;
} FbSchemaParts;

/* The node of these parts. NULL without memory, or for a tree too deep; *too_deep tells which. Any thread, attached or
 * not. */
const FbSchema *fb_schema_intern(const FbSchemaParts *parts, bool *too_deep);

#endif /* FFI_HPY_SCHEMA_SCHEMA_H_ */
