/* Compiled type schemas: immutable trees that decide whether a value matches and convert the value.
 *
 * Nodes are unique: equal trees are the same tree, so a comparison of pointers compares trees. A node is complete
 * before it is published under a lock, and never freed, like the types that it names; it contains no Python object.
 * Native setters therefore keep plain pointers to trees, and any thread may convert at any time. */
#pragma once

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
  /* an instance of type_index, or a value that the type's __ffi_convert__ converts to an instance */
  FB_SCHEMA_OBJECT,
  FB_SCHEMA_INSTANCE, /* an instance of type_index and nothing else */
  FB_SCHEMA_INT_ENUM, /* like FB_SCHEMA_OBJECT, or the integer of one of the type's singletons */
  FB_SCHEMA_STR_ENUM, /* like FB_SCHEMA_OBJECT, or the string of one of the type's singletons */
  FB_SCHEMA_SEQUENCE, /* type_index Array or List; args: item */
  FB_SCHEMA_TUPLE,    /* Array with exactly as many items as args */
  FB_SCHEMA_MAPPING,  /* type_index Map or Dict; args: key, value */
  FB_SCHEMA_OPTIONAL, /* args: one */
  FB_SCHEMA_UNION,    /* args: the first one that matches is used */
  /* args: the schema of the value that the package's check returns; its number is -1 - type_index */
  FB_SCHEMA_CHECKED,
  FB_N_SCHEMA_OPS
} FbSchemaOp;

enum { FB_SCHEMA_DEPTH_LIMIT = 128 }; /* of a tree; conversions recurse along the tree and no deeper */

/* The integers that become a bool, for messages. */
#define FB_SCHEMA_BOOL_RANGE "bool range [0, 1]"

typedef struct FbSchema {
  FbSchemaOp op;
  int32_t type_index; /* the type of the results, if `op` mentions one; else 0 */
  int32_t type_depth; /* of that type below ffi.Object */
  int32_t depth;      /* of the tree, 1 for a leaf */
  uint64_t hash;
  const struct FbSchema *next; /* in the table of nodes */
  const char *name;            /* the expected type, for messages; part of the node */
  int32_t n_args;
  const struct FbSchema *args[];
} FbSchema;

/* The parts from which a node is made. */
typedef struct FbSchemaParts {
  FbSchemaOp op;
  int32_t type_index;
  const char *name;
  const FbSchema *const *args;
  int32_t n_args;
} FbSchemaParts;

/* Returns the node with these parts. NULL if memory is exhausted or the tree is too deep; *too_deep distinguishes the
 * two. Callable from any thread, attached or not. */
const FbSchema *fb_schema_intern(const FbSchemaParts *parts, bool *too_deep);
