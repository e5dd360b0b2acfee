/* The scan: a graph of native objects, and the proof that only the graph and wrappers refer to some of them.
 *
 * The graph has an edge for each reference that an object is known to have. An object is held if its reference count is
 * larger than the number of edges to it plus the reference of its wrapper, or if a held object refers to it. All other
 * objects are proven.
 *
 * Other threads may run native code, whose changes take no lock. So an object is read only if all its holders are known
 * and none of them is in use; then no other code can change it. An object in a cycle of native objects never meets that
 * condition, because one of its holders is found only after it was read. Therefore reflected fields are read without
 * the condition while no call uses any wrapper: programs read these at any time, too. A container is not, because the
 * memory of its items may move. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

#include "core/platform/atomic.h"
#include "edges.h"
#include "hpy_module/context/growing.h"
#include "hpy_module/function/callback.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/preserve.h"

/* --- nodes -------------------------------------------------------------------------------------------------------- */

FH_INLINE size_t slot_of(const FbScan *self, const TVMFFIObject *object) {
  uint64_t hash = ((uint64_t)(uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(hash ^ hash >> 32) & (self->n_slots - 1);
}

/* Returns the slot of an object, or the free slot at its place. */
static uint32_t *probe(const FbScan *self, const TVMFFIObject *object) {
  for (size_t i = slot_of(self, object);; i = (i + 1) & (self->n_slots - 1)) {
    uint32_t *slot = &self->slots[i];
    if (*slot == 0 || self->nodes[*slot - 1].object == object) return slot;
  }
}

uint32_t fb_scan_find(const FbScan *self, const TVMFFIObject *object) {
  return self->n_slots == 0 ? FB_SCAN_NONE : *probe(self, object) - 1; /* FB_SCAN_NONE for a free slot */
}

static bool grow_nodes(FbScan *self) {
  uint32_t room = self->node_room == 0 ? 64 : 2 * self->node_room;
  FbScanNode *nodes = realloc(self->nodes, room * sizeof(*nodes));
  if (nodes != NULL) self->nodes = nodes;
  uint32_t *slots = nodes == NULL ? NULL : calloc(2 * (size_t)room, sizeof(*slots));
  if (slots == NULL) return false;
  free(self->slots);
  self->slots = slots;
  self->n_slots = 2 * room;
  self->node_room = room;
  for (uint32_t i = 0; i < self->n_nodes; ++i) *probe(self, nodes[i].object) = i + 1;
  return true;
}

/* Whether C++ has a std::shared_ptr of an object, which the object's count of references does not show. */
static FH_NOINLINE bool has_other_owner(TVMFFIObject *object, const FbPreserved *preserved) {
  void (*deleter)(void *, int) = preserved != NULL ? preserved->deleter : object->deleter;
  if (deleter == fb_identity_deleter) return true; /* an offer has taken the wrapper's object */
  deleter(object, FFI_HPY_DELETER_COUNTS_OWNERS);
  return object->__padding == FFI_HPY_OWNED_BY_SEVERAL;
}

/* preserved: of an object that owns its wrapper and was found by it, otherwise NULL. */
static uint32_t add_node(FbScan *self, TVMFFIObject *object, FbHolderKind kind, const FbPreserved *preserved) {
  if (self->n_nodes == self->node_room && !grow_nodes(self)) {
    self->has_failed = true;
    return FB_SCAN_NONE;
  }
  uint32_t number = self->n_nodes++;
  FbPyOwner *owner = kind == FB_HOLDER_FUNCTION ? fb_callback_owner(object)
                     : kind == FB_HOLDER_PYTHON ? fb_opaque_owner(object)
                                                : NULL;
  self->nodes[number] =
      (FbScanNode){.object = object, .owner = owner, .group = number, .next_in_group = number, .kind = (uint8_t)kind};
  if (kind != FB_HOLDER_SHARED && FH_UNLIKELY(fb_object_is_shared_ptrs(object)))
    self->nodes[number].is_held = has_other_owner(object, preserved);
  *probe(self, object) = number + 1;
  return number;
}

/* --- building the graph ------------------------------------------------------------------------------------------- */

/* `stack`: nodes that may be readable now. */
typedef struct Building {
  FbScan *scan;
  uint32_t *stack;
  uint32_t n_stack;
  size_t stack_room;
  const void **uses; /* the cells that threads use, without a GIL */
  uint32_t n_uses;
  size_t uses_room;
  struct Later { /* wrappers that are roots unless nothing is behind their objects */
    TVMFFIObject *object;
    FbHandleCell *cell;
  } *later;
  uint32_t n_later;
  size_t later_room;
  bool is_quiet; /* no call uses a wrapper */
  const FbScan *former; /* only wrappers that it found unreachable are roots; NULL: all */
  struct Known {
    bool is_found;
    FbHolderKind kind;
    FbHolderLayout layout;
  } *known; /* by type index */
  int32_t n_known;
} Building;

static FH_NOINLINE const struct Known *find_known(Building *self, int32_t type_index) {
  static const struct Known none = {.kind = FB_HOLDER_NONE}; /* without memory */
  if (type_index >= self->n_known) {
    int32_t n = type_index + 64;
    struct Known *known = realloc(self->known, (size_t)n * sizeof(*known));
    if (known == NULL) return &none;
    memset(known + self->n_known, 0, (size_t)(n - self->n_known) * sizeof(*known));
    self->known = known;
    self->n_known = n;
  }
  struct Known *found = &self->known[type_index];
  found->is_found = true;
  found->kind = fb_holder_kind(type_index);
  fb_holder_layout(type_index, found->kind, &found->layout);
  return found;
}

/* Returns the facts about the objects of a type, valid until the next call. */
FH_INLINE const struct Known *known_of(Building *self, int32_t type_index) {
  if (FH_LIKELY(type_index < self->n_known && self->known[type_index].is_found)) return &self->known[type_index];
  return find_known(self, type_index);
}

/* Like fb_growing_reserve; without memory the scan has failed. */
static void *reserve(FbScan *self, void *array, size_t n, size_t *room, size_t item_size) {
  void *reserved = fb_growing_reserve(array, n, room, item_size);
  if (reserved == NULL) self->has_failed = true;
  return reserved;
}

static void push(Building *self, uint32_t node) {
  uint32_t *stack = reserve(self->scan, self->stack, self->n_stack, &self->stack_room, sizeof(*stack));
  if (stack == NULL) return;
  self->stack = stack;
  self->stack[self->n_stack++] = node;
}

FH_INLINE uint32_t count_of(const FbScanNode *node) {
  /* relaxed: a thread that changes the count of an object that only the graph refers to would itself need a reference
   */
  if (node->shared != NULL) return node->shared->count(node->shared);
  return (uint32_t)fh_atomic_load_relaxed(&node->object->combined_ref_count);
}

static void add_edge_to(Building *self, uint32_t number) {
  FbScan *scan = self->scan;
  uint32_t *edges = reserve(scan, scan->edges, scan->n_edges, &scan->edge_room, sizeof(*edges));
  if (edges == NULL) return;
  scan->edges = edges;
  scan->edges[scan->n_edges++] = number;
  ++scan->nodes[number].n_found;
  if (!scan->nodes[number].is_read) push(self, number);
}

static void add_edge(void *arg, TVMFFIObject *target, FH_MAYBE_UNUSED const void *slot) {
  Building *self = arg;
  uint32_t number = fb_scan_find(self->scan, target);
  if (number == FB_SCAN_NONE) {
    FbHolderKind kind = known_of(self, target->type_index)->kind;
    if (kind == FB_HOLDER_NONE) return;
    number = add_node(self->scan, target, kind, NULL);
  }
  if (number != FB_SCAN_NONE) add_edge_to(self, number);
}

static TVMFFIObject *key_of(const void *block) { return (TVMFFIObject *)(uintptr_t)block; }

static void add_shared_edge(void *arg, const void *block, const void *pointer,
                            ffi_hpy_shared *(*make)(const void *pointer)) {
  Building *self = arg;
  FbScan *scan = self->scan;
  uint32_t number = fb_scan_find(scan, key_of(block));
  if (number == FB_SCAN_NONE) {
    number = add_node(scan, key_of(block), FB_HOLDER_SHARED, NULL);
    if (number == FB_SCAN_NONE) return;
    scan->nodes[number].shared = make(pointer);
    if (scan->nodes[number].shared == NULL) {
      scan->has_failed = true;
      return;
    }
  }
  add_edge_to(self, number);
}

static void visit_edges(const FbScanNode *node, const FbReferenceVisitor *to) {
  if (node->shared != NULL) {
    fb_edges_visit_shared(node->shared, to);
  } else {
    fb_edges_visit(node->object, (FbHolderKind)node->kind, to);
  }
}

static void read_node(Building *self, uint32_t number) {
  FbScan *scan = self->scan;
  FbScanNode *node = &scan->nodes[number];
  if (node->is_read || node->is_held) return;
  bool has_fields = node->kind == FB_HOLDER_FIELDS || node->kind == FB_HOLDER_MEMBERS ||
                    node->kind == FB_HOLDER_SHARED || node->kind == FB_HOLDER_ERROR;
  bool may_read = count_of(node) == node->n_found || (self->is_quiet && has_fields);
  if (!may_read || scan->has_failed) return;
  node->is_read = true;
  node->first_edge = scan->n_edges;
  FbScanNode read = *node; /* the array may move */
  visit_edges(&read, &(FbReferenceVisitor){add_edge, self, NULL, add_shared_edge});
  node = &scan->nodes[number];
  node->n_edges = scan->n_edges - node->first_edge;
}

/* --- roots -------------------------------------------------------------------------------------------------------- */

static void note_use(void *arg, const void *address) {
  Building *self = arg;
  const void **uses = reserve(self->scan, (void *)self->uses, self->n_uses, &self->uses_room, sizeof(*uses));
  if (uses == NULL) return;
  self->uses = uses;
  self->uses[self->n_uses++] = address;
}

static bool is_used(const Building *self, const FbHandleCell *cell) {
  if (fh_atomic_load_relaxed(&cell->n_uses) != 0) return true;
  for (uint32_t i = 0; i < self->n_uses; ++i) {
    if (self->uses[i] == cell) return true;
  }
  return false;
}

static bool was_unreachable(const FbScan *former, const TVMFFIObject *object, const FbHandleCell *cell) {
  uint32_t before = fb_scan_find(former, object);
  const FbScanNode *node = before == FB_SCAN_NONE ? NULL : &former->nodes[before];
  return node != NULL && node->cell == cell && node->is_seen && !node->is_live;
}

/* Whether the collector visits the callable of a Function without the scan (collect.c), or the Function has none. */
static bool is_simple_function(TVMFFIObject *object) {
  /* relaxed: see count_of */
  bool is_single = fh_atomic_load_relaxed(&object->combined_ref_count) == FB_ONLY_REFERENCE;
  return is_single || fb_callback_owner(object) == NULL;
}

static void add_later(Building *self, TVMFFIObject *object, FbHandleCell *cell) {
  struct Later *later = reserve(self->scan, self->later, self->n_later, &self->later_room, sizeof(*later));
  if (later == NULL) return;
  self->later = later;
  self->later[self->n_later++] = (struct Later){object, cell};
}

static FbScanNode *add_wrapped(Building *self, TVMFFIObject *object, FbHandleCell *cell, FbHolderKind kind,
                               const FbPreserved *preserved) {
  uint32_t number = add_node(self->scan, object, kind, preserved);
  if (number == FB_SCAN_NONE) return NULL;
  FbScanNode *node = &self->scan->nodes[number];
  node->cell = cell;
  node->n_found = 1;
  return node;
}

/* Adds the object of a wrapper, unless no references of the object can be found. Returns whether it did. */
static bool add_if_holder(Building *self, TVMFFIObject *object, FbHandleCell *cell, const FbPreserved *preserved) {
  /* a thread that uses any wrapper may change the wrapper's references */
  bool is_busy = preserved == NULL && is_used(self, cell);
  if (is_busy) self->is_quiet = false;
  bool is_live = self->former != NULL && !was_unreachable(self->former, object, cell);
  if (is_live && preserved == NULL) return false; /* the count of the object shows the wrapper's reference */
  FbHolderKind kind = known_of(self, object->type_index)->kind;
  uint8_t n_owned = fb_preserve_n_references(cell);
  if (n_owned == 0) {
    if (kind == FB_HOLDER_NONE || (kind == FB_HOLDER_FUNCTION && is_simple_function(object))) return false;
    if (kind != FB_HOLDER_FUNCTION && !is_busy) {
      add_later(self, object, cell);
      return false;
    }
  }
  FbScanNode *node = add_wrapped(self, object, cell, kind, preserved);
  if (node == NULL) return false;
  if (preserved != NULL) node->n_found = 0; /* a preserved wrapper owns no native reference */
  node->n_owned = n_owned;
  node->is_held |= is_busy || is_live;
  return true;
}

/* The lock of the stripe, or the GIL, or the fact that other threads are stopped, orders the stores. */
static void flag(FbHandleCell *cell, bool is_added) {
  uint8_t before = fh_atomic_load_relaxed(&cell->flags);
  if (((before & FB_CELL_SCANNED) != 0) != is_added)
    fh_atomic_store_relaxed(&cell->flags, (uint8_t)(before ^ FB_CELL_SCANNED));
}

static void add_root(void *arg, TVMFFIObject *object, FbHandleCell *cell, const FbPreserved *preserved) {
  flag(cell, add_if_holder(arg, object, cell, preserved));
}

/* Whether an object has no references, and no wrapper with owned references, which are nodes by now. */
static bool is_leaf(Building *self, int32_t type_index, const TVMFFIObject *object) {
  return known_of(self, type_index)->kind == FB_HOLDER_NONE && fb_scan_find(self->scan, object) == FB_SCAN_NONE;
}

/* Whether all references of a container are to leaves. */
typedef struct Leaves {
  Building *building;
  bool are_all;
} Leaves;

static void check_leaf(void *arg, TVMFFIObject *target, FH_MAYBE_UNUSED const void *slot) {
  Leaves *self = arg;
  if (self->are_all) self->are_all = is_leaf(self->building, target->type_index, target);
}

/* Whether all references in the fields of an object are to leaves. Calls no getters. */
static bool has_leaves(Building *self, TVMFFIObject *object) {
  const uint64_t *words = (const uint64_t *)(const void *)object;
  int32_t own_index = object->type_index;
  for (uint8_t i = 0; i < self->known[own_index].layout.n; ++i) { /* is_leaf may move the table */
    struct FbHolderWord word = self->known[own_index].layout.words[i];
    const TVMFFIAny *value = (const TVMFFIAny *)(const void *)(words + word.at);
    if (!word.is_any) return false;
    /* relaxed: no other memory depends on them */
    int32_t type_index = fh_atomic_load_relaxed(&value->type_index);
    if (type_index < kTVMFFIStaticObjectBegin) continue;
    if (!is_leaf(self, type_index, fh_atomic_load_relaxed(&value->v_obj))) return false;
  }
  return true;
}

/* Whether no reference of an object leads to another node. */
static bool leads_nowhere(Building *self, TVMFFIObject *object) {
  const struct Known *known = known_of(self, object->type_index);
  if (known->kind == FB_HOLDER_SEQUENCE || known->kind == FB_HOLDER_MAPPING) {
    Leaves leaves = {self, true};
    if ((uint32_t)fh_atomic_load_relaxed(&object->combined_ref_count) != 1) return false; /* see read_node */
    fb_edges_visit(object, known->kind, &(FbReferenceVisitor){check_leaf, &leaves, NULL, NULL});
    return leaves.are_all;
  }
  if (!self->is_quiet || !known->layout.is_known) return false;
  if (!known->layout.is_bound && has_leaves(self, object)) return true;
  return fb_holder_is_empty(&self->known[object->type_index].layout, object);
}

/* Most objects of many programs are left out here. If another object of the graph refers to such an object, its count
 * shows the reference of the wrapper, so it is held, and nothing is behind it. */
static void add_those_for_later(Building *self) {
  for (uint32_t i = 0; i < self->n_later && !self->scan->has_failed; ++i) {
    const struct Later *later = &self->later[i];
    if (leads_nowhere(self, later->object)) continue;
    FbHolderKind kind = known_of(self, later->object->type_index)->kind;
    flag(later->cell, add_wrapped(self, later->object, later->cell, kind, NULL) != NULL);
  }
}

/* --- the proof ---------------------------------------------------------------------------------------------------- */

uint32_t fb_scan_group(FbScan *self, uint32_t node) {
  FbScanNode *nodes = self->nodes;
  while (nodes[node].group != node) {
    nodes[node].group = nodes[nodes[node].group].group; /* halves the path */
    node = nodes[node].group;
  }
  return node;
}

static void join(FbScan *self, uint32_t a, uint32_t b) {
  a = fb_scan_group(self, a);
  b = fb_scan_group(self, b);
  if (a == b) return;
  FbScanNode *one = &self->nodes[a], *other = &self->nodes[b];
  other->group = a;
  one->n_wrappers += other->n_wrappers;
  uint32_t next = one->next_in_group; /* two rings become one */
  one->next_in_group = other->next_in_group;
  other->next_in_group = next;
}

static void hold(Building *self, uint32_t number) {
  FbScan *scan = self->scan;
  self->n_stack = 0;
  push(self, number);
  while (self->n_stack != 0) {
    number = self->stack[--self->n_stack];
    scan->nodes[number].is_held = true;
    for (uint32_t i = 0; i < scan->nodes[number].n_edges; ++i) {
      uint32_t target = fb_scan_edges(scan, number)[i];
      if (!scan->nodes[target].is_held) push(self, target);
    }
  }
}

/* Reads an object again. The graph must have all references of the object; otherwise a thread is changing the
 * object. */
typedef struct Checking {
  const FbScan *scan;
  uint32_t at, end;
  bool differs;
} Checking;

static void check_edge(void *arg, TVMFFIObject *target, FH_MAYBE_UNUSED const void *slot) {
  Checking *self = arg;
  uint32_t number = fb_scan_find(self->scan, target);
  if (number == FB_SCAN_NONE) return;
  if (self->at == self->end || self->scan->edges[self->at] != number) {
    self->differs = true;
  } else {
    ++self->at;
  }
}

static void check_shared_edge(void *arg, const void *block, const void *pointer,
                              ffi_hpy_shared *(*make)(const void *pointer)) {
  (void)make;
  Checking *self = arg;
  bool is_known = fb_scan_find(self->scan, key_of(block)) != FB_SCAN_NONE;
  if (!is_known) self->differs = true;
  if (is_known) check_edge(arg, key_of(block), pointer);
}

static void prove(Building *self) {
  FbScan *scan = self->scan;
  for (uint32_t i = 0; i < scan->n_nodes; ++i) {
    const FbScanNode *node = &scan->nodes[i];
    if (node->is_held || !node->is_read || count_of(node) != node->n_found) hold(self, i);
  }
  for (uint32_t i = 0; i < scan->n_nodes; ++i) {
    const FbScanNode *node = &scan->nodes[i];
    if (node->is_held) continue;
    Checking checking = {scan, node->first_edge, node->first_edge + node->n_edges, false};
    visit_edges(node, &(FbReferenceVisitor){check_edge, &checking, NULL, check_shared_edge});
    if (checking.differs || checking.at != checking.end || count_of(node) != node->n_found) hold(self, i);
  }
  for (uint32_t i = 0; i < scan->n_nodes; ++i) {
    FbScanNode *node = &scan->nodes[i];
    node->n_wrappers = !node->is_held && fb_scan_counts(node);
  }
  for (uint32_t i = 0; i < scan->n_nodes; ++i) {
    if (scan->nodes[i].is_held) continue;
    for (uint32_t k = 0; k < scan->nodes[i].n_edges; ++k) {
      uint32_t target = fb_scan_edges(scan, i)[k];
      if (!scan->nodes[target].is_held) join(scan, i, target);
    }
  }
}

static void add_orphan(Building *self, TVMFFIObject *object, bool is_preserved) {
  uint32_t number = fb_scan_find(self->scan, object);
  FbHolderKind kind = known_of(self, object->type_index)->kind;
  if (number == FB_SCAN_NONE && (is_preserved || kind != FB_HOLDER_NONE))
    number = add_node(self->scan, object, kind, NULL);
  if (number != FB_SCAN_NONE) ++self->scan->nodes[number].n_found;
}

void fb_scan_fill(FbScan *self, const FbScanRoots *roots) {
  Building building = {.scan = self, .is_quiet = !roots->is_busy, .former = roots->former};
  if (fb_context_free_threaded) fh_hazard_each(note_use, &building);
  if (building.n_uses != 0) building.is_quiet = false;
  if (roots->has_wrappers) fb_identity_each(add_root, &building);
  add_those_for_later(&building);
  for (uint32_t i = 0; i < roots->n_orphans; ++i) {
    add_orphan(&building, roots->orphans[i], i < roots->n_preserved);
  }
  for (uint32_t i = 0, n = self->n_nodes; i < n; ++i) push(&building, i);
  while (building.n_stack != 0) read_node(&building, building.stack[--building.n_stack]);
  if (!self->has_failed) prove(&building);
  self->path = calloc((size_t)self->n_nodes + 1, sizeof(*self->path));
  if (self->path == NULL) self->has_failed = true;
  if (self->has_failed) fb_scan_free(self);
  free(building.stack);
  free(building.later);
  free(building.uses);
  free(building.known);
}

void fb_scan_free(FbScan *self) {
  for (uint32_t i = 0; i < self->n_nodes; ++i) {
    if (self->nodes[i].shared != NULL) self->nodes[i].shared->free(self->nodes[i].shared);
  }
  free(self->nodes);
  free(self->edges);
  free(self->slots);
  free(self->path);
  *self = (FbScan){0};
}
