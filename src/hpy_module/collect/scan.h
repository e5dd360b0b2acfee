/* Finds the native objects to which nothing refers except other such objects and wrappers. */
#pragma once

#include "hpy_module/context/py_owner.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/object/handle_cell.h"

/* An object of the graph. Numbers of nodes are positions in FbScan.nodes; groups are sets of nodes, connected by
 * references between proven nodes, each with one node that represents it. */
typedef struct FbScanNode {
  TVMFFIObject *object; /* the address of the count instead, for FB_HOLDER_SHARED */
  ffi_hpy_shared *shared; /* owned; of FB_HOLDER_SHARED, otherwise NULL */
  FbHandleCell *cell; /* of the wrapper that owns one of the counted references, or NULL */
  FbPyOwner *owner;   /* the Python object that the native object owns, or NULL */
  uint32_t first_edge, n_edges;
  uint32_t n_found;       /* references found: edges, and references of the wrapper and of the caller */
  uint32_t group;         /* a node closer to the group's representative, or the representative itself */
  uint32_t next_in_group; /* the group is a ring of nodes */
  uint32_t n_wrappers, n_seen; /* of the representative: wrappers with outgoing references, and those traversed */
  uint8_t kind; /* FbHolderKind */
  bool is_read; /* its edges are known */
  uint8_t n_owned; /* references to the wrapper that belong to the native object (fb_preserve_n_references) */
  bool is_held; /* something else refers to it, or may do so */
  bool is_seen, is_live; /* the collector has counted, or reached, the wrapper */
  bool is_cleared; /* of the representative: the group is garbage and was cleared */
  bool is_reached; /* a live wrapper refers to it, perhaps through other nodes */
  bool is_retained; /* the collection has a reference to the object */
  bool is_acyclic; /* it is garbage, and not part of a cycle of native objects, nor behind one */
} FbScanNode;

typedef struct FbScan {
  FbScanNode *nodes;
  uint32_t *edges, *slots; /* slots: a hash table of node numbers plus one, by object */
  uint32_t *path; /* room for the numbers of all nodes, for walks */
  uint32_t n_nodes, n_edges, node_room, n_slots;
  size_t edge_room;
  bool has_failed; /* memory is exhausted: nothing is proven */
} FbScan;

enum { FB_SCAN_NONE = UINT32_MAX };

/* Where a scan begins. */
typedef struct FbScanRoots {
  bool has_wrappers; /* at the registered wrappers of types that hold objects */
  const FbScan *former; /* only at wrappers that the collector found unreachable by this scan; NULL: all */
  TVMFFIObject *const *orphans; /* at these objects, to each of which the caller has a reference */
  uint32_t n_orphans;
  uint32_t n_preserved; /* the first n_preserved orphans have wrappers with state */
  bool is_busy; /* a call may be changing objects: none is read before all its holders are known */
} FbScanRoots;

/* Fills an empty scan. Calls getters of libraries. */
void fb_scan_fill(FbScan *self, const FbScanRoots *roots);
void fb_scan_free(FbScan *self);

/* Returns the number of an object's node, or FB_SCAN_NONE. */
uint32_t fb_scan_find(const FbScan *self, const TVMFFIObject *object);
/* Whether the wrapper of a node must be counted before Python objects of its group are: whether anything is behind it.
 */
FH_INLINE bool fb_scan_counts(const FbScanNode *node) {
  return node->cell != NULL && (node->n_edges != 0 || node->owner != NULL || node->n_owned != 0);
}
/* Returns the representative of a node's group. */
uint32_t fb_scan_group(FbScan *self, uint32_t node);
FH_INLINE const uint32_t *fb_scan_edges(const FbScan *self, uint32_t node) {
  return self->edges + self->nodes[node].first_edge;
}
