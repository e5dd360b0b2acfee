/* reflect.c - the reflection data of types: fields, methods, metadata, attribute columns.
 *
 * A registration has three steps. The declaration is checked, then copied with its own references, then published. Only
 * the last step runs under the registry's lock, because the others may raise and release. A published declaration is
 * never removed. */
#include "reflect.h"

#include <stdio.h>

#include "any_own.h"
#include "compare_hook.h"
#include "core/platform/mem.h"
#include "core/platform/sync.h"
#include "error.h"
#include "guard.h"
#include "members.h"
#include "name.h"
#include "str.h"

/* ---- Growing lists. A reader may hold any generation, so all are kept; each links to the one before, so that all stay
 * reachable. The capacity doubles, so together the old ones are no longer than the newest. ---- */

/* Precedes the items of a list: clients see a pointer to the first item, as the ABI requires. */
typedef struct {
  void *older; /* the items of the generation before, or NULL */
  size_t capacity; /* number of items */
} list_head;
FH_STATIC_ASSERT(sizeof(list_head) % 8 == 0, "items follow, 8-byte aligned");

/* Returns items with room for one more after n_items: the same list or a longer copy, which replaces the list at once,
 * so that it stays reachable if the registration fails afterwards. NULL without memory. Under the lock. The copy is bit
 * by bit and counts no references, because lists are never freed. */
static void *list_reserve(void **items_slot, size_t n_items, size_t item_bytes) {
  void *items = *items_slot;
  const list_head *head = items != NULL ? (const list_head *)items - 1 : NULL;
  if (head != NULL && n_items < head->capacity) return items;
  size_t capacity = n_items < 4 ? 4 : n_items * 2;
  list_head *longer = (list_head *)fh_mem_calloc(1, sizeof(*longer) + capacity * item_bytes);
  if (longer == NULL) return NULL;
  longer->older = items;
  longer->capacity = capacity;
  if (n_items != 0) memcpy(longer + 1, items, n_items * item_bytes);
  fh_mem_keep(longer);
  fh_atomic_store_release_ptr(items_slot, longer + 1);
  return longer + 1;
}

/* Publishes one more item. The pointer to the items was stored before the count, so a reader that loads the count first
 * gets a list with at least that many items. The loads that pair with these stores are in fields_of and clients. */
static void list_publish(int32_t *n_slot) { fh_atomic_store_release_i32(n_slot, *n_slot + 1); }

static fh_type_entry *entry_of(const TVMFFITypeInfo *info) {
  return (fh_type_entry *)(void *)((char *)(uintptr_t)info - offsetof(fh_type_entry, info));
}

/* Copies a string, which is kept forever once the entry is published; {NULL, 0} for an empty one, as in the
 * reference. */
static int copy_text(TVMFFIByteArray text, TVMFFIByteArray *out) {
  out->data = NULL;
  out->size = 0;
  if (text.size == 0) return 0;
  out->data = fh_mem_copy_text(text.data, text.size);
  if (out->data == NULL) return fh_error_raise_no_memory();
  out->size = text.size;
  return 0;
}

static void free_text(TVMFFIByteArray text) { fh_mem_free((void *)(uintptr_t)text.data); }

static int raise_unknown_type(int32_t type_index) {
  return fh_error_raise(FH_RUNTIME_ERROR, "Expected the index of a registered type but got %d", (int)type_index);
}

/* ---- Fields ---- */

/* The fields that the type itself declares. */
static const TVMFFIFieldInfo *fields_of(const TVMFFITypeInfo *info, int32_t *n_items) {
  /* acquire: pairs with list_publish. The count first, so the list is at least that long. */
  *n_items = fh_atomic_load_acquire_i32(&info->num_fields);
  return (const TVMFFIFieldInfo *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&info->fields);
}

const TVMFFIFieldInfo *fh_reflect_own_field(const TVMFFITypeInfo *info, TVMFFIByteArray name) {
  int32_t n_items;
  const TVMFFIFieldInfo *fields = fields_of(info, &n_items);
  int32_t i = fh_members_find(&entry_of(info)->fields_by_name, fields, n_items, sizeof(*fields), name);
  return i >= 0 ? &fields[i] : NULL;
}

bool fh_reflect_may_repeat(const TVMFFITypeInfo *info) {
  /* relaxed: a field that is declared while objects exist becomes visible sooner or later */
  return fh_atomic_load_relaxed_u64(&entry_of(info)->may_repeat) != 0;
}

const TVMFFIFieldInfo *fh_reflect_next_level(fh_reflect_cursor *cursor) {
  const TVMFFITypeInfo *info = cursor->info;
  while (info != NULL && cursor->depth <= info->type_depth) {
    int32_t n_items;
    const TVMFFITypeInfo *at = cursor->depth < info->type_depth ? info->type_ancestors[cursor->depth] : info;
    const TVMFFIFieldInfo *fields = fields_of(at, &n_items);
    cursor->depth += 1;
    if (n_items == 0) continue;
    cursor->next = fields + 1;
    cursor->end = fields + n_items;
    return fields;
  }
  return NULL;
}

int32_t fh_reflect_count_fields(const TVMFFITypeInfo *info) {
  int32_t n_items, n_all;
  fields_of(info, &n_all);
  for (int32_t depth = 0; depth < info->type_depth; ++depth) {
    fields_of(info->type_ancestors[depth], &n_items);
    n_all += n_items;
  }
  return n_all;
}

int fh_reflect_each_field(const TVMFFITypeInfo *info, int (*visit)(void *state, const TVMFFIFieldInfo *field),
                          void *state) {
  fh_reflect_cursor cursor = fh_reflect_fields(info);
  for (const TVMFFIFieldInfo *field; (field = fh_reflect_next_field(&cursor)) != NULL;) {
    int result = visit(state, field);
    if (result != 0) return result;
  }
  return 0;
}

/* Whether `setter` is a Function, which the copy owns then, and not a C function. */
static bool has_function_setter(const TVMFFIFieldInfo *field) {
  return (field->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) && field->setter != NULL;
}

/* Undoes field_copy for a copy that was not published. Hold no lock. */
static void field_drop(TVMFFIFieldInfo *field) {
  free_text(field->name);
  free_text(field->doc);
  free_text(field->metadata);
  fh_any_drop(&field->default_value_or_factory);
  if (has_function_setter(field)) fh_object_release(field->setter);
}

/* Makes a copy that owns its strings, its default and its setter. -1 with an error pending, and then *out owns
 * nothing. */
static int field_copy(const TVMFFIFieldInfo *from, TVMFFIFieldInfo *out) {
  memset(out, 0, sizeof(*out)); /* the padding too */
  out->flags = from->flags;
  out->size = from->size;
  out->alignment = from->alignment;
  out->offset = from->offset;
  out->getter = from->getter;
  out->setter = from->setter;
  out->field_static_type_index = from->field_static_type_index;
  /* before any failure, because field_drop releases the setter */
  if (has_function_setter(out)) fh_object_retain(out->setter);
  if (copy_text(from->name, &out->name) == 0 && copy_text(from->doc, &out->doc) == 0 &&
      copy_text(from->metadata, &out->metadata) == 0) {
    if (!(from->flags & kTVMFFIFieldFlagBitMaskHasDefault)) return 0;
    if (fh_any_own(&from->default_value_or_factory, &out->default_value_or_factory) == 0) return 0;
  }
  field_drop(out);
  return -1;
}

typedef enum { MEMBER_ADDED, MEMBER_TAKEN, MEMBER_NO_MEMORY, FIELD_OUTSIDE } member_result;

static void set_may_repeat(fh_type_entry *entry) {
  fh_atomic_store_release_u64(&entry->may_repeat, 1); /* release is more than fh_reflect_may_repeat needs */
}

/* Under the lock, before a field is published. An ancestor of the type may have a field of that name, and so may a
 * derived type, if there is one: a C++ class may be registered before its base is complete. */
static void mark_repeats(fh_type_entry *entry, TVMFFIByteArray name) {
  const TVMFFITypeInfo *info = &entry->info;
  for (int32_t depth = 0; depth < info->type_depth; ++depth) {
    if (fh_reflect_own_field(info->type_ancestors[depth], name) != NULL) set_may_repeat(entry);
  }
  if (entry->n_children == 0 || entry->n_types_marked == fh_type_count()) return;
  entry->n_types_marked = fh_type_count();
  for (int32_t i = info->type_index + 1; i < fh_type_end(); ++i) {
    if (fh_type_is_instance(i, info->type_index)) set_may_repeat(fh_type_entry_find(i));
  }
}

/* Under the lock, so it raises no error. */
static member_result field_add(fh_type_entry *entry, const TVMFFIFieldInfo *field) {
  TVMFFITypeInfo *info = &entry->info;
  /* 0 while the type has no metadata */
  if (!fh_reflect_is_inside(field, entry->metadata.total_size)) return FIELD_OUTSIDE;
  if (fh_reflect_own_field(info, field->name) != NULL) return MEMBER_TAKEN;
  TVMFFIFieldInfo *fields =
      (TVMFFIFieldInfo *)list_reserve((void **)(uintptr_t)&info->fields, (size_t)info->num_fields, sizeof(*fields));
  if (fields == NULL) return MEMBER_NO_MEMORY;
  if (fh_members_add(&entry->fields_by_name, info->fields, info->num_fields, sizeof(*fields), field->name) != 0)
    return MEMBER_NO_MEMORY;
  mark_repeats(entry, field->name);
  fields[info->num_fields] = *field; /* after the published count: no thread reads it yet */
  /* before the field is published; relaxed: a thread that writes the field has seen it */
  if (fh_field_guard_is_for(field)) fh_atomic_store_relaxed_i32(&entry->has_guarded_field, 1);
  list_publish(&info->num_fields);
  /* only the strings: an object that the field refers to still counts as a live block */
  fh_mem_keep(field->name.data);
  fh_mem_keep(field->doc.data);
  fh_mem_keep(field->metadata.data);
  return MEMBER_ADDED;
}

/* A field may have the name of an ancestor's field: c_api.h promises a line on stderr, and no error. */
static void warn_shadowed(const TVMFFITypeInfo *info, TVMFFIByteArray name) {
  for (int32_t depth = 0; depth < info->type_depth; ++depth) {
    const TVMFFITypeInfo *ancestor = info->type_ancestors[depth];
    if (fh_reflect_own_field(ancestor, name) == NULL) continue;
    fprintf(stderr, "[WARNING] Field \"%.*s\" of type \"%s\" is already a field of its ancestor \"%s\"\n",
            FH_BYTES_ARGS(name), info->type_key.data, ancestor->type_key.data);
  }
}

int TVMFFITypeRegisterField(int32_t type_index, const TVMFFIFieldInfo *info) {
  fh_type_entry *entry = fh_type_entry_find(type_index);
  TVMFFIFieldInfo field;
  if (entry == NULL) return raise_unknown_type(type_index);
  if (fh_reflect_check_field(&entry->info, info) != 0) return -1;
  fh_guard_field(&entry->info, info, FH_GUARD_CALLER());
  if (fh_reflect_is_withdrawn(info)) fh_guard_withdrawn(&entry->info, info);
  if (field_copy(info, &field) != 0) return -1;
  warn_shadowed(&entry->info, info->name);
  fh_type_lock();
  member_result result = field_add(entry, &field);
  fh_type_unlock();
  if (result == MEMBER_ADDED) return 0;
  field_drop(&field);
  if (result == MEMBER_NO_MEMORY) return fh_error_raise_no_memory();
  if (result == FIELD_OUTSIDE) return fh_reflect_raise_outside(&entry->info, info, entry->metadata.total_size);
  return fh_error_raise(FH_RUNTIME_ERROR, "Duplicate field name \"%.*s\" in type \"%s\"", FH_BYTES_ARGS(info->name),
                        entry->info.type_key.data);
}

static char *field_address(const TVMFFIFieldInfo *field, void *obj) { return (char *)obj + field->offset; }

int fh_reflect_raise_unreadable(const TVMFFIFieldInfo *field) {
  return fh_error_raise(FH_TYPE_ERROR, "Field `%.*s` cannot be read", FH_BYTES_ARGS(field->name));
}

int fh_reflect_set(const TVMFFIFieldInfo *field, void *obj, const TVMFFIAny *value) {
  if (field->setter == NULL) {
    return fh_error_raise(FH_TYPE_ERROR, "Field `%.*s` cannot be written", FH_BYTES_ARGS(field->name));
  }
  fh_sync_check_unlocked("a field setter");
  if (!has_function_setter(field)) {
    return ((TVMFFIFieldSetter)(uintptr_t)field->setter)(field_address(field, obj), value);
  }
  /* a Function gets the address of the field, like a C setter */
  TVMFFIAny args[2] = {fh_any_ptr(field_address(field, obj)), *value};
  TVMFFIAny result = fh_any_none();
  if (TVMFFIFunctionGetCellPtr(field->setter)->safe_call(field->setter, args, 2, &result) != 0) return -1;
  fh_any_drop(&result);
  return 0;
}

/* ---- Methods; like fields, except for overloads ---- */

static void method_drop(TVMFFIMethodInfo *method) {
  free_text(method->name);
  free_text(method->doc);
  free_text(method->metadata);
  fh_any_drop(&method->method);
}

static int method_copy(const TVMFFIMethodInfo *from, TVMFFIMethodInfo *out) {
  memset(out, 0, sizeof(*out));
  out->flags = from->flags;
  if (copy_text(from->name, &out->name) == 0 && copy_text(from->doc, &out->doc) == 0 &&
      copy_text(from->metadata, &out->metadata) == 0 && fh_any_own(&from->method, &out->method) == 0) {
    return 0;
  }
  method_drop(out);
  return -1;
}

/* Under the lock, so it raises no error. The overloads of a method share its name and its function; each is added with
 * its own signature. */
static member_result method_add(fh_type_entry *entry, const TVMFFIMethodInfo *method) {
  TVMFFITypeInfo *info = &entry->info;
  fh_name_table *table = &entry->methods_by_name;
  int32_t other = fh_members_find(table, info->methods, info->num_methods, sizeof(*method), method->name);
  /* both are Functions (fh_reflect_check_method), so this compares their addresses */
  if (other >= 0 && info->methods[other].method.v_int64 != method->method.v_int64) return MEMBER_TAKEN;
  TVMFFIMethodInfo *methods =
      (TVMFFIMethodInfo *)list_reserve((void **)(uintptr_t)&info->methods, (size_t)info->num_methods, sizeof(*methods));
  if (methods == NULL) return MEMBER_NO_MEMORY;
  if (fh_members_add(table, info->methods, info->num_methods, sizeof(*methods), method->name) != 0)
    return MEMBER_NO_MEMORY;
  methods[info->num_methods] = *method;
  list_publish(&info->num_methods);
  fh_mem_keep(method->name.data);
  fh_mem_keep(method->doc.data);
  fh_mem_keep(method->metadata.data);
  return MEMBER_ADDED;
}

int TVMFFITypeRegisterMethod(int32_t type_index, const TVMFFIMethodInfo *info) {
  fh_type_entry *entry = fh_type_entry_find(type_index);
  TVMFFIMethodInfo method;
  if (entry == NULL) return raise_unknown_type(type_index);
  if (fh_reflect_check_method(&entry->info, info) != 0 || method_copy(info, &method) != 0) return -1;
  fh_type_lock();
  member_result result = method_add(entry, &method);
  fh_type_unlock();
  if (result == MEMBER_ADDED) return 0;
  method_drop(&method);
  if (result == MEMBER_NO_MEMORY) return fh_error_raise_no_memory();
  return fh_error_raise(FH_RUNTIME_ERROR, "Duplicate method name \"%.*s\" in type \"%s\"", FH_BYTES_ARGS(info->name),
                        entry->info.type_key.data);
}

/* ---- Metadata. The entry of the type contains it, and it is written once; readers reach it by the pointer in `info`
 * ---- */

/* Under the lock. A field of the type outside of its size; NULL if all are inside. */
static const TVMFFIFieldInfo *find_outside(const TVMFFITypeInfo *info, int32_t total_size) {
  for (int32_t i = 0; i < info->num_fields; ++i) {
    if (!fh_reflect_is_inside(&info->fields[i], total_size)) return &info->fields[i];
  }
  return NULL;
}

int TVMFFITypeRegisterMetadata(int32_t type_index, const TVMFFITypeMetadata *metadata) {
  fh_type_entry *entry = fh_type_entry_find(type_index);
  TVMFFIByteArray doc;
  if (entry == NULL) return raise_unknown_type(type_index);
  if (fh_reflect_check_metadata(&entry->info, metadata) != 0) return -1;
  fh_guard_metadata(&entry->info, metadata, FH_GUARD_CALLER());
  if (copy_text(metadata->doc, &doc) != 0) return -1;
  fh_type_lock();
  const TVMFFIFieldInfo *outside = find_outside(&entry->info, metadata->total_size); /* lists of fields are kept */
  bool is_first = entry->info.metadata == NULL;
  if (outside == NULL && is_first) {
    entry->metadata = *metadata;
    entry->metadata.doc = doc;
    /* release: pairs with fh_type_metadata and the loads of clients, so that its contents are visible */
    fh_atomic_store_release_ptr((void **)(uintptr_t)&entry->info.metadata, &entry->metadata);
    fh_mem_keep(doc.data);
  }
  fh_type_unlock();
  if (outside == NULL && is_first) return 0;
  free_text(doc);
  if (outside != NULL) return fh_reflect_raise_outside(&entry->info, outside, metadata->total_size);
  return fh_error_raise(FH_RUNTIME_ERROR,
                        "Metadata of type `%s` is already registered: is it defined twice, or do two types share "
                        "the key?",
                        entry->info.type_key.data);
}

/* ---- Attribute columns. A column is an array of cells, one for each type index; a cell is None if the type does not
 * have the attribute. A cell is filled once, so a reader needs no lock and may keep a pointer to it. ---- */

enum { N_OWN_BITS = 256 }; /* more than the number of types after the load-time constructor */

typedef struct {
  fh_name_entry by_name;       /* first: the name table returns a pointer to it */
  TVMFFITypeAttrColumn column; /* the struct that clients see */
  uint64_t is_own[N_OWN_BITS / 64]; /* for each type index: whether the core has filled the cell; under the lock */
} column_entry;

static fh_name_table columns; /* a table of column_entry; changed under the lock, only grows */

static const char *const first_names[] = {
    "__any_hash__",     "__any_equal__",      "__ffi_shallow_copy__", "__ffi_repr__",
    "__ffi_hash__",     "__ffi_eq__",         "__ffi_compare__",      "__ffi_new__",
    "__ffi_init__",     "__ffi_convert__",    "__ffi_enum__",         "__s_equal__",
    "__s_hash__",       "__s_visit__",        "__s_mutate__",         "__s_maybe_inplace_mutate__",
    "__data_to_json__", "__data_from_json__", "__ffi_enum_entries__", "__ffi_enum_attrs__",
};
FH_STATIC_ASSERT(FH_COUNT_OF(first_names) == FH_ATTR_COUNT, "one name for each fh_reflect_attr_id");
static column_entry first_columns[FH_ATTR_COUNT]; /* static, because fh_reflect_column cannot fail */

static bool has_own; /* whether the core has made all its own registrations; under the lock */

void fh_reflect_end_own(void) {
  fh_type_lock();
  has_own = true;
  fh_type_unlock();
}

void fh_reflect_init(void) {
  fh_type_lock();
  for (size_t i = 0; i < FH_ATTR_COUNT; ++i) {
    first_columns[i].by_name.name = fh_base_bytes(first_names[i]);
    if (fh_name_reserve(&columns) == 0) fh_name_put(&columns, &first_columns[i].by_name);
  }
  fh_type_unlock();
}

const TVMFFITypeAttrColumn *fh_reflect_column(fh_reflect_attr_id id) { return &first_columns[id].column; }

const char *fh_reflect_attr_name(fh_reflect_attr_id id) { return first_names[id]; }

const TVMFFIAny *fh_reflect_attr(const TVMFFITypeAttrColumn *column, int32_t type_index) {
  if (column == NULL || type_index < 0) return NULL;
  /* acquire, size first: pairs with cells_reserve, so that the data that is read next is at least that long */
  if (type_index >= fh_atomic_load_acquire_i32(&column->size)) return NULL;
  const TVMFFIAny *cells = (const TVMFFIAny *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&column->data);
  /* acquire: pairs with the release store in cell_fill, so that the rest of the cell is visible */
  int32_t value_type = fh_atomic_load_acquire_i32(&cells[type_index].type_index);
  return value_type != kTVMFFINone ? &cells[type_index] : NULL;
}

/* Under the lock. Finds or makes the column of that name; NULL without memory. */
static column_entry *column_get(TVMFFIByteArray name) {
  column_entry *entry = (column_entry *)fh_name_find(&columns, name);
  if (entry != NULL) return entry;
  if (fh_name_reserve(&columns) != 0) return NULL;
  entry = (column_entry *)fh_mem_calloc(1, sizeof(*entry));
  char *kept_name = fh_mem_copy_text(name.data, name.size);
  if (entry == NULL || kept_name == NULL) {
    fh_mem_free(entry);
    fh_mem_free(kept_name);
    return NULL;
  }
  entry->by_name.name.data = kept_name;
  entry->by_name.name.size = name.size;
  fh_mem_keep(entry);
  fh_mem_keep(kept_name);
  fh_name_put(&columns, &entry->by_name);
  return entry;
}

/* Under the lock. Extends the column to type_index; the new cells are None. -1 without memory. An old generation keeps
 * its cells and is not filled any more: a reader that still uses it only misses newer attributes. */
static int cells_reserve(TVMFFITypeAttrColumn *column, int32_t type_index) {
  if (type_index < column->size) return 0;
  const list_head *old_head = column->data != NULL ? (const list_head *)(const void *)column->data - 1 : NULL;
  size_t old_capacity = old_head != NULL ? old_head->capacity : 0;
  if ((size_t)type_index >= old_capacity) {
    size_t capacity = old_capacity * 2 > (size_t)type_index ? old_capacity * 2 : (size_t)type_index + 64;
    list_head *longer = (list_head *)fh_mem_calloc(1, sizeof(*longer) + capacity * sizeof(TVMFFIAny));
    if (longer == NULL) return -1;
    longer->older = (void *)(uintptr_t)column->data; /* kept: clients and callers in the core may hold it */
    longer->capacity = capacity;
    if (column->size != 0) memcpy(longer + 1, column->data, (size_t)column->size * sizeof(TVMFFIAny));
    fh_mem_keep(longer);
    fh_atomic_store_release_ptr((void **)(uintptr_t)&column->data, longer + 1); /* pairs with fh_reflect_attr */
  }
  fh_atomic_store_release_i32(&column->size, type_index + 1); /* after the data; pairs with fh_reflect_attr */
  return 0;
}

int fh_reflect_reserve_attr(fh_reflect_attr_id id, int32_t type_index) {
  fh_type_lock();
  int rc = cells_reserve(&first_columns[id].column, type_index);
  fh_type_unlock();
  return rc;
}

/* Under the lock. Stores a value in a None cell. The type is stored last, because readers check it first. */
static void cell_fill(TVMFFIAny *cell, const TVMFFIAny *value) {
  cell->v_uint64 = value->v_uint64;
  cell->zero_padding = value->zero_padding;
  fh_atomic_store_release_i32(&cell->type_index, value->type_index); /* pairs with fh_reflect_attr */
}

typedef enum { ATTR_SET, ATTR_OWN, ATTR_TAKEN, ATTR_NO_MEMORY } attr_result;

/* Under the lock. Steals `value` on ATTR_SET. ATTR_OWN: the core has set the attribute itself, and its value stays.
 * Libraries of 0.1.11 set some of these, because the core did not define them then. */
static attr_result attr_add(int32_t type_index, TVMFFIByteArray name, const TVMFFIAny *value) {
  column_entry *entry = column_get(name);
  if (entry == NULL) return ATTR_NO_MEMORY;
  if (type_index == kTVMFFINone) return ATTR_SET; /* the caller only needs the column to exist */
  if (cells_reserve(&entry->column, type_index) != 0) return ATTR_NO_MEMORY;
  /* the cast removes the const that the ABI has for clients */
  TVMFFIAny *cell = (TVMFFIAny *)(uintptr_t)&entry->column.data[type_index];
  uint64_t *own_bits = type_index < N_OWN_BITS ? &entry->is_own[type_index / 64] : NULL;
  uint64_t own_bit = (uint64_t)1 << (type_index % 64);
  if (cell->type_index != kTVMFFINone) {
    return has_own && own_bits != NULL && (*own_bits & own_bit) ? ATTR_OWN : ATTR_TAKEN;
  }
  if (!has_own && own_bits != NULL) *own_bits |= own_bit;
  cell_fill(cell, value);
  return ATTR_SET;
}

int TVMFFITypeRegisterAttr(int32_t type_index, const TVMFFIByteArray *attr_name, const TVMFFIAny *attr_value) {
  TVMFFIAny value = fh_any_none();
  if (fh_str_check_name("the name of a type attribute", *attr_name) != 0) return -1;
  if (type_index != kTVMFFINone) {
    if (fh_type_find(type_index) == NULL) return raise_unknown_type(type_index);
    if (fh_any_own(attr_value, &value) != 0) return -1;
    /* only an address changes: nothing is owned yet */
    if (fh_compare_hook_adapt(*attr_name, &value, fh_reflect_column(FH_ATTR_ANY_EQUAL)) != 0) return -1;
  }
  fh_type_lock();
  attr_result result = attr_add(type_index, *attr_name, &value);
  fh_type_unlock();
  if (result == ATTR_SET) return 0;
  fh_any_drop(&value);
  if (result == ATTR_OWN) return 0;
  if (result == ATTR_NO_MEMORY) return fh_error_raise_no_memory();
  return fh_error_raise(FH_RUNTIME_ERROR,
                        "TypeAttr `%.*s` is already registered for type `%s`. To change a value later, register a "
                        "mutable container such as a Dict once",
                        FH_BYTES_ARGS(*attr_name), fh_type_name(type_index));
}

int fh_reflect_set_final(int32_t type_index, bool is_final) {
  TVMFFIByteArray name = FH_LITERAL("__ffi_type_final__");
  TVMFFIAny value = fh_any_bool(is_final);
  return TVMFFITypeRegisterAttr(type_index, &name, &value);
}

const TVMFFITypeAttrColumn *TVMFFIGetTypeAttrColumn(const TVMFFIByteArray *attr_name) {
  if (attr_name->data == NULL && attr_name->size != 0) return NULL; /* this function cannot raise an error */
  column_entry *entry = (column_entry *)fh_name_find(&columns, *attr_name);
  return entry != NULL ? &entry->column : NULL;
}
