/* The references of containers, by their layouts in the ABI, and of reflected fields. */
#include "edges.h"

#include <stdlib.h>
#include <string.h>

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/growing.h"
#include "hpy_module/convert/core_function.h"

FH_INLINE void visit_value(const TVMFFIAny *value, const FbReferenceVisitor *to) {
  if (value->type_index >= kTVMFFIStaticObjectBegin && value->v_obj != NULL) to->visit(to->arg, value->v_obj, NULL);
}

/* --- containers --------------------------------------------------------------------------------------------------- */

static void visit_sequence(TVMFFIObject *object, const FbReferenceVisitor *to) {
  const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(const void *)(object + 1);
  for (int64_t i = 0; i < cell->size; ++i) visit_value((const TVMFFIAny *)cell->data + i, to);
}

/* The ABI's two layouts of Map and Dict. Small: the pairs are an array. Dense: blocks of 16 slots, each 16 bytes of
 * metadata and then the items, which a doubly linked list of slots connects. */
typedef struct Pair {
  TVMFFIAny key, value;
} Pair;
typedef struct Item {
  Pair pair;
  uint64_t prev, next;
} Item;
enum { BLOCK_SLOTS = 16 };
typedef struct Block {
  uint8_t meta[BLOCK_SLOTS];
  Item items[BLOCK_SLOTS];
} Block;
typedef struct Mapping {
  TVMFFIObject header;
  void *data;
  uint64_t size, slots;
  void (*data_deleter)(void *);
  uint32_t shift; /* this and the following members exist only in the dense layout */
  uint64_t head, tail;
} Mapping;
static const uint64_t SMALL = (uint64_t)1 << 63; /* set in the slots of the small layout */

static void visit_pair(const Pair *pair, const FbReferenceVisitor *to) {
  visit_value(&pair->key, to);
  visit_value(&pair->value, to);
}

static void visit_mapping(TVMFFIObject *object, const FbReferenceVisitor *to) {
  const Mapping *map = (const Mapping *)(const void *)object;
  if ((map->slots & SMALL) != 0) {
    for (uint64_t i = 0; i < map->size; ++i) visit_pair((const Pair *)map->data + i, to);
    return;
  }
  uint64_t position = map->head;
  for (uint64_t i = 0; i < map->size && position < map->slots; ++i) {
    const Item *item = &((const Block *)map->data)[position / BLOCK_SLOTS].items[position % BLOCK_SLOTS];
    visit_pair(&item->pair, to);
    position = item->next;
  }
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

/* The cause stays as the error was made with it. A walk that the error passes through may set the context. */
static void visit_error(TVMFFIObject *object, const FbReferenceVisitor *to) {
  const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(object);
  TVMFFIObject *context = fh_atomic_load_acquire(&cell->extra_context); /* pairs with context_of in visit_context.c */
  if (cell->cause_chain != NULL) to->visit(to->arg, cell->cause_chain, NULL);
  if (context != NULL) to->visit(to->arg, context, NULL);
}

static void cut_error(TVMFFIObject *object) {
  TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(object);
  TVMFFIObject *former[] = {cell->cause_chain, cell->extra_context};
  cell->cause_chain = cell->extra_context = NULL;
  for (size_t i = 0; i < sizeof(former) / sizeof(former[0]); ++i) {
    if (former[i] != NULL) TVMFFIObjectDecRef(former[i]);
  }
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

/* Whether the getter of a field returns the object at its address, which is not NULL. */
static bool returns_own_object(const TVMFFIFieldInfo *field, void *address) {
  TVMFFIAny value = {0};
  if (field->getter == NULL) return false;
  if (field->getter(address, &value) != 0) {
    fb_error_slot_clear();
    return false;
  }
  bool is_own = value.type_index >= kTVMFFIStaticObjectBegin && value.v_obj == *(TVMFFIObject **)address;
  fb_any_drop(&value);
  return is_own;
}

/* Whether the memory of a field is a pointer to an object or NULL. A C++ value that becomes a container, such as a
 * std::pair<int, int>, has the static type of the container and may have the size of a pointer. */
static bool is_pointer(const TVMFFIFieldInfo *field, void *address) {
  int32_t index = field->field_static_type_index;
  if (index < kTVMFFIStaticObjectBegin || field->size != (int64_t)sizeof(void *)) return false;
  if ((uintptr_t)address % sizeof(void *) != 0) return false;
  bool may_convert = index == kTVMFFIArray || index == kTVMFFIList || index == kTVMFFIMap || index == kTVMFFIDict ||
                     index == kTVMFFIFunction;
  return !may_convert || *(TVMFFIObject **)address == NULL || returns_own_object(field, address);
}

static bool is_container(FbHolderKind kind) { return kind == FB_HOLDER_SEQUENCE || kind == FB_HOLDER_MAPPING; }

/* Visits an item of a container that a getter has made. An item without other references was made with the container,
 * and ends with it. */
static void visit_item(void *arg, TVMFFIObject *item, FH_MAYBE_UNUSED const void *slot) {
  const FbReferenceVisitor *to = arg;
  if (item->combined_ref_count != FB_ONLY_REFERENCE) {
    to->visit(to->arg, item, NULL);
  } else if (is_container(fb_holder_kind(item->type_index))) {
    FbReferenceVisitor items = {visit_item, arg, NULL, NULL};
    fb_edges_visit(item, fb_holder_kind(item->type_index), &items);
  }
}

/* Returns the object that the getter of a field returns, or NULL. */
static TVMFFIObject *take_by_getter(const TVMFFIFieldInfo *field, void *address) {
  TVMFFIAny value = {0};
  if (field->getter == NULL) return NULL;
  if (field->getter(address, &value) != 0) {
    fb_error_slot_clear();
    return NULL;
  }
  return value.type_index < kTVMFFIStaticObjectBegin ? NULL : value.v_obj;
}

/* Visits the references of a field of another form, by its getter. A container that the getter has just made, of a
 * std::vector for example, stands for the references inside the field. */
static void visit_by_getter(const TVMFFIFieldInfo *field, void *address, const FbReferenceVisitor *to) {
  TVMFFIObject *value = take_by_getter(field, address);
  if (value == NULL) return;
  if (value->combined_ref_count == FB_ONLY_REFERENCE) {
    visit_item((void *)(uintptr_t)to, value, NULL);
    TVMFFIObjectDecRef(value);
  } else {
    TVMFFIObjectDecRef(value); /* before it is visited: its count is compared with the number of visits */
    to->visit(to->arg, value, NULL);
  }
}

/* --- each reference once ------------------------------------------------------------------------------------------ */

/* A class may have two fields of one member, and an author's function may visit a member that is a field. A reference
 * that counted twice could hide another holder of its target, so a slot identifies each reference of an object. The
 * table is allocated for many references. If memory is exhausted, references are left out: the targets then seem to
 * have other holders. */
typedef struct Slots {
  const FbReferenceVisitor *to;
  const void **table;
  size_t n, size; /* of the table: a power of 2 */
  const void *few[16]; /* the first n, without a table */
} Slots;

FH_INLINE void slots_begin(Slots *self, const FbReferenceVisitor *to) {
  self->to = to; /* memory of `few` need not be cleared, for each of many objects */
  self->table = NULL;
  self->n = self->size = 0;
}

static const uint64_t SPREAD = UINT64_C(0x9e3779b97f4a7c15);

static void put_in_table(Slots *self, const void *slot) {
  size_t at = (size_t)((uint64_t)(uintptr_t)slot * SPREAD >> 32) & (self->size - 1);
  while (self->table[at] != NULL && self->table[at] != slot) at = (at + 1) & (self->size - 1);
  self->n += self->table[at] == NULL;
  self->table[at] = slot;
}

static bool grow_table(Slots *self) {
  Slots larger = *self;
  larger.n = 0;
  larger.size = self->size == 0 ? 64 : 4 * self->size;
  larger.table = calloc(larger.size, sizeof(*larger.table));
  if (larger.table == NULL) return false;
  for (size_t i = 0; self->table == NULL && i < self->n; ++i) put_in_table(&larger, self->few[i]);
  for (size_t i = 0; i < self->size; ++i) {
    if (self->table[i] != NULL) put_in_table(&larger, self->table[i]);
  }
  free((void *)self->table);
  *self = larger;
  return true;
}

/* Returns whether a slot is new. Two references that an author's function has copied may have one address after the
 * other, so the target counts, too. */
static bool add_slot(Slots *self, const void *slot, const void *target) {
  enum { N_FEW = sizeof(self->few) / sizeof(self->few[0]) };
  if (slot == NULL) return true;
  slot = (const void *)((uintptr_t)slot * (uintptr_t)SPREAD + (uintptr_t)target); /* far apart for near slots */
  if (self->table == NULL) {
    for (size_t i = 0; i < self->n; ++i) {
      if (self->few[i] == slot) return false;
    }
    if (self->n < N_FEW) {
      self->few[self->n++] = slot;
      return true;
    }
  }
  if (2 * self->n >= self->size && !grow_table(self)) return false;
  size_t before = self->n;
  put_in_table(self, slot);
  return self->n != before;
}

static void visit_once(void *arg, TVMFFIObject *target, const void *slot) {
  Slots *self = arg;
  if (add_slot(self, slot, target)) self->to->visit(self->to->arg, target, slot);
}
static void share_once(void *arg, const void *block, const void *pointer,
                       ffi_hpy_shared *(*make)(const void *pointer)) {
  Slots *self = arg;
  if (add_slot(self, pointer, block)) self->to->share(self->to->arg, block, pointer, make);
}

static void visit_own_fields(const TVMFFITypeInfo *info, TVMFFIObject *object, Slots *slots) {
  for (int32_t i = 0; i < info->num_fields; ++i) {
    const TVMFFIFieldInfo *field = &info->fields[i];
    if (!fb_holder_is_field(field)) continue;
    void *address = (char *)object + field->offset;
    if (!is_pointer(field, address)) {
      if (add_slot(slots, address, NULL)) visit_by_getter(field, address, slots->to);
    } else if (*(TVMFFIObject **)address != NULL) {
      visit_once(slots, *(TVMFFIObject **)address, address);
    }
  }
}

/* The references of the members that one type of the object's chain declares. */
static void visit_own(const TVMFFITypeInfo *info, TVMFFIObject *object, FbHolderKind kind, Slots *slots) {
  visit_own_fields(info, object, slots);
  if (kind != FB_HOLDER_MEMBERS) return;
  FbHolderTraverse traverse = fb_holder_traverse(info->type_index);
  if (traverse != NULL) traverse(object, &(FbReferenceVisitor){visit_once, slots, NULL, share_once});
}

/* --- cuts --------------------------------------------------------------------------------------------------------- */

/* References that members have lost. If memory is exhausted, they leak. */
typedef struct Taken {
  struct TakenItem {
    void *former;
    void (*release)(void *former);
  } *items;
  size_t n, room;
} Taken;

static void take(void *arg, void *former, void (*release)(void *former)) {
  Taken *self = arg;
  struct TakenItem *items = fb_growing_reserve(self->items, self->n, &self->room, sizeof(*items));
  if (items == NULL) return;
  self->items = items;
  self->items[self->n++] = (struct TakenItem){former, release};
}
static void release_taken(Taken *self) {
  for (size_t i = 0; i < self->n; ++i) {
    const struct TakenItem *each = &self->items[i];
    each->release == NULL ? (void)TVMFFIObjectDecRef(each->former) : each->release(each->former);
  }
  free(self->items);
}
static void ignore_target(void *arg, TVMFFIObject *target, const void *slot) { (void)arg, (void)target, (void)slot; }
static void ignore_shared(void *arg, const void *block, const void *pointer,
                          ffi_hpy_shared *(*make)(const void *pointer)) {
  (void)arg, (void)block, (void)pointer, (void)make;
}

/* Returns whether the setter of a field accepts a value. */
static bool set_field(const TVMFFIFieldInfo *field, void *address, const TVMFFIAny *value) {
  int rc;
  if (field->setter == NULL) return false;
  if ((field->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) != 0) {
    TVMFFIAny args[2] = {{.type_index = kTVMFFIOpaquePtr}, *value}, result;
    args[0].v_ptr = address;
    rc = fb_core_function_call_handle(field->setter, args, 2, &result);
    if (rc == 0) fb_any_drop(&result);
  } else {
    TVMFFIFieldSetter setter;
    memcpy(&setter, &field->setter, sizeof(setter));
    rc = setter(address, value);
  }
  if (rc != 0) fb_error_slot_clear();
  return rc == 0;
}

static bool set_made(const TVMFFIFieldInfo *field, void *address, FbCoreFunction *maker, const TVMFFIAny *items,
                     int32_t n) {
  TVMFFIAny made;
  if (fb_core_function_call(maker, items, n, &made) != 0) {
    fb_error_slot_clear();
    return false;
  }
  bool is_set = set_field(field, address, &made);
  fb_any_drop(&made);
  return is_set;
}

/* Replaces a C++ container, whose setter does not accept None, by an empty one; a std::pair or std::tuple by one with
 * None instead of objects. */
static void empty_field(const TVMFFIFieldInfo *field, void *address) {
  static FbCoreFunction new_array = {.name = "ffi.Array"}, new_map = {.name = "ffi.Map"};
  TVMFFIObject *value = take_by_getter(field, address);
  if (value == NULL) return;
  FbHolderKind kind = fb_holder_kind(value->type_index);
  if (kind == FB_HOLDER_MAPPING) (void)set_made(field, address, &new_map, NULL, 0);
  if (kind == FB_HOLDER_SEQUENCE && !set_made(field, address, &new_array, NULL, 0)) {
    const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(const void *)(value + 1);
    TVMFFIAny *items = calloc((size_t)cell->size + 1, sizeof(*items));
    for (int64_t i = 0; items != NULL && i < cell->size; ++i) {
      const TVMFFIAny *item = (const TVMFFIAny *)cell->data + i;
      if (item->type_index < kTVMFFIStaticObjectBegin) items[i] = *item;
    }
    if (items != NULL) (void)set_made(field, address, &new_array, items, (int32_t)cell->size);
    free(items);
  }
  TVMFFIObjectDecRef(value);
}

static void note_target(void *arg, FH_MAYBE_UNUSED TVMFFIObject *target, FH_MAYBE_UNUSED const void *slot) {
  *(bool *)arg = true;
}

/* Only a field with references is set: a setter that refuses None throws, which takes longer than all else here. */
static void cut_field(const TVMFFIFieldInfo *field, void *address) {
  static const TVMFFIAny none;
  bool has_references = false;
  visit_by_getter(field, address, &(FbReferenceVisitor){note_target, &has_references, NULL, NULL});
  if (has_references && !set_field(field, address, &none)) empty_field(field, address);
}

static void cut_own_fields(const TVMFFITypeInfo *info, TVMFFIObject *object) {
  for (int32_t i = 0; i < info->num_fields; ++i) {
    const TVMFFIFieldInfo *field = &info->fields[i];
    if (!fb_holder_is_field(field)) continue;
    void *address = (char *)object + field->offset;
    if (is_pointer(field, address)) {
      /* without the setter, which may not accept None: only the destructor will see the field */
      TVMFFIObject *former = *(TVMFFIObject **)address;
      *(TVMFFIObject **)address = NULL;
      if (former != NULL) TVMFFIObjectDecRef(former);
    } else {
      cut_field(field, address);
    }
  }
}

/* --- any object --------------------------------------------------------------------------------------------------- */

void fb_edges_visit(TVMFFIObject *object, FbHolderKind kind, const FbReferenceVisitor *to) {
  if (kind == FB_HOLDER_SEQUENCE) visit_sequence(object, to);
  if (kind == FB_HOLDER_MAPPING) visit_mapping(object, to);
  if (kind == FB_HOLDER_ERROR) visit_error(object, to);
  if (kind != FB_HOLDER_FIELDS && kind != FB_HOLDER_MEMBERS) return;
  Slots slots;
  slots_begin(&slots, to);
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(object->type_index);
  for (int32_t i = 0; i < info->type_depth; ++i) visit_own(info->type_ancestors[i], object, kind, &slots);
  visit_own(info, object, kind, &slots);
  free((void *)slots.table);
}

void fb_edges_visit_shared(const ffi_hpy_shared *shared, const FbReferenceVisitor *to) {
  Slots slots;
  slots_begin(&slots, to);
  shared->visit(shared, &(FbReferenceVisitor){visit_once, &slots, NULL, share_once});
  free((void *)slots.table);
}

static void cut_own(const TVMFFITypeInfo *info, TVMFFIObject *object) {
  FbHolderTraverse traverse = fb_holder_traverse(info->type_index);
  Taken taken = {NULL, 0, 0};
  if (traverse != NULL) traverse(object, &(FbReferenceVisitor){ignore_target, &taken, take, ignore_shared});
  cut_own_fields(info, object);
  release_taken(&taken);
}

void fb_edges_cut(TVMFFIObject *object, FbHolderKind kind) {
  static FbCoreFunction list_clear = {.name = "ffi.ListClear"}, dict_clear = {.name = "ffi.DictClear"};
  if (object->type_index == kTVMFFIList || object->type_index == kTVMFFIDict) {
    TVMFFIAny argument = fb_core_function_object(object), result;
    FbCoreFunction *clear = object->type_index == kTVMFFIList ? &list_clear : &dict_clear;
    if (fb_core_function_call(clear, &argument, 1, &result) == 0) fb_any_drop(&result);
  }
  if (kind == FB_HOLDER_ERROR) cut_error(object);
  if (kind != FB_HOLDER_FIELDS && kind != FB_HOLDER_MEMBERS) return;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(object->type_index);
  for (int32_t i = 0; i < info->type_depth; ++i) cut_own(info->type_ancestors[i], object);
  cut_own(info, object);
}

void fb_edges_cut_shared(const ffi_hpy_shared *shared) {
  Taken taken = {NULL, 0, 0};
  shared->visit(shared, &(FbReferenceVisitor){ignore_target, &taken, take, ignore_shared});
  release_taken(&taken);
}
