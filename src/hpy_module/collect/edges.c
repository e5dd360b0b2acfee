/* The references of containers, by their layouts in the ABI, and of reflected fields. */
#include "edges.h"

#include <string.h>

#include "core/platform/base.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/convert/core_function.h"

FH_INLINE void visit_value(const TVMFFIAny *value, FbEdgesVisit visit, void *arg) {
  if (value->type_index >= kTVMFFIStaticObjectBegin && value->v_obj != NULL) visit(arg, value->v_obj);
}

/* --- containers --------------------------------------------------------------------------------------------------- */

static void visit_sequence(TVMFFIObject *object, FbEdgesVisit visit, void *arg) {
  const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(const void *)(object + 1);
  for (int64_t i = 0; i < cell->size; ++i) visit_value((const TVMFFIAny *)cell->data + i, visit, arg);
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

static void visit_pair(const Pair *pair, FbEdgesVisit visit, void *arg) {
  visit_value(&pair->key, visit, arg);
  visit_value(&pair->value, visit, arg);
}

static void visit_mapping(TVMFFIObject *object, FbEdgesVisit visit, void *arg) {
  const Mapping *map = (const Mapping *)(const void *)object;
  if ((map->slots & SMALL) != 0) {
    for (uint64_t i = 0; i < map->size; ++i) visit_pair((const Pair *)map->data + i, visit, arg);
    return;
  }
  uint64_t position = map->head;
  for (uint64_t i = 0; i < map->size && position < map->slots; ++i) {
    const Item *item = &((const Block *)map->data)[position / BLOCK_SLOTS].items[position % BLOCK_SLOTS];
    visit_pair(&item->pair, visit, arg);
    position = item->next;
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
  FbHolderKind kind = fb_holder_kind(index);
  if (kind != FB_HOLDER_SEQUENCE && kind != FB_HOLDER_MAPPING && kind != FB_HOLDER_FUNCTION) return true;
  return *(TVMFFIObject **)address == NULL || returns_own_object(field, address);
}

/* Visits what a field of another form refers to, by its getter. A container that the getter has just made, of a
 * std::vector for example, stands for the references inside the field. */
static void visit_by_getter(const TVMFFIFieldInfo *field, void *address, FbEdgesVisit visit, void *arg) {
  TVMFFIAny value = {0};
  if (field->getter == NULL) return;
  if (field->getter(address, &value) != 0) {
    fb_error_slot_clear();
    return;
  }
  if (value.type_index < kTVMFFIStaticObjectBegin || value.v_obj == NULL) return;
  if (value.v_obj->combined_ref_count == FB_ONLY_REFERENCE) {
    FbHolderKind kind = fb_holder_kind(value.v_obj->type_index);
    if (kind == FB_HOLDER_SEQUENCE || kind == FB_HOLDER_MAPPING) fb_edges_visit(value.v_obj, kind, visit, arg);
    TVMFFIObjectDecRef(value.v_obj);
  } else {
    TVMFFIObjectDecRef(value.v_obj); /* before it is visited: its count is compared with the number of visits */
    visit(arg, value.v_obj);
  }
}

static void visit_own_fields(const TVMFFITypeInfo *info, TVMFFIObject *object, FbEdgesVisit visit, void *arg) {
  for (int32_t i = 0; i < info->num_fields; ++i) {
    const TVMFFIFieldInfo *field = &info->fields[i];
    if (!fb_holder_is_field(field)) continue;
    void *address = (char *)object + field->offset;
    if (!is_pointer(field, address)) {
      visit_by_getter(field, address, visit, arg);
    } else if (*(TVMFFIObject **)address != NULL) {
      visit(arg, *(TVMFFIObject **)address);
    }
  }
}

/* The references of the members that one type of the object's chain declares. */
static void visit_own(const TVMFFITypeInfo *info, TVMFFIObject *object, FbEdgesVisit visit, void *arg) {
  visit_own_fields(info, object, visit, arg);
  FbHolderTraverse traverse = fb_holder_traverse(info->type_index);
  if (traverse != NULL) traverse(object, &(FbReferenceVisitor){visit, arg});
}

static void cut_own_fields(const TVMFFITypeInfo *info, TVMFFIObject *object) {
  static const TVMFFIAny none;
  for (int32_t i = 0; i < info->num_fields; ++i) {
    const TVMFFIFieldInfo *field = &info->fields[i];
    if (!fb_holder_is_field(field)) continue;
    void *address = (char *)object + field->offset;
    if (is_pointer(field, address)) {
      /* without the setter, which may not accept None: only the destructor will see the field */
      TVMFFIObject *former = *(TVMFFIObject **)address;
      *(TVMFFIObject **)address = NULL;
      if (former != NULL) TVMFFIObjectDecRef(former);
    } else if (field->setter != NULL && (field->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) != 0) {
      TVMFFIAny args[2] = {{.type_index = kTVMFFIOpaquePtr}, none}, result;
      args[0].v_ptr = address;
      if (fb_core_function_call_handle(field->setter, args, 2, &result) == 0) {
        fb_any_drop(&result);
      } else {
        fb_error_slot_clear();
      }
    } else if (field->setter != NULL) {
      TVMFFIFieldSetter setter;
      memcpy(&setter, &field->setter, sizeof(setter));
      if (setter(address, &none) != 0) fb_error_slot_clear();
    }
  }
}

/* --- any object --------------------------------------------------------------------------------------------------- */

void fb_edges_visit(TVMFFIObject *object, FbHolderKind kind, FbEdgesVisit visit, void *arg) {
  if (kind == FB_HOLDER_SEQUENCE) visit_sequence(object, visit, arg);
  if (kind == FB_HOLDER_MAPPING) visit_mapping(object, visit, arg);
  if (kind != FB_HOLDER_FIELDS) return;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(object->type_index);
  for (int32_t i = 0; i < info->type_depth; ++i) visit_own(info->type_ancestors[i], object, visit, arg);
  visit_own(info, object, visit, arg);
}

void fb_edges_cut(TVMFFIObject *object, FbHolderKind kind) {
  static FbCoreFunction list_clear = {.name = "ffi.ListClear"}, dict_clear = {.name = "ffi.DictClear"};
  if (object->type_index == kTVMFFIList || object->type_index == kTVMFFIDict) {
    TVMFFIAny argument = fb_core_function_object(object), result;
    FbCoreFunction *clear = object->type_index == kTVMFFIList ? &list_clear : &dict_clear;
    if (fb_core_function_call(clear, &argument, 1, &result) == 0) fb_any_drop(&result);
  }
  if (kind != FB_HOLDER_FIELDS) return;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(object->type_index);
  for (int32_t i = 0; i < info->type_depth; ++i) cut_own_fields(info->type_ancestors[i], object);
  cut_own_fields(info, object);
}
