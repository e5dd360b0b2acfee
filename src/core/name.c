/* name.c - the table from names to entries: open addressing over a list in order of addition. */
#include "name.h"

#include "mem.h"
#include "str.h"

/* One generation of a table. Readers that hold an older generation miss the newest names, nothing else. */
struct fh_name_slots {
  fh_name_slots *older; /* kept, because a reader may still search it; also keeps it reachable */
  size_t capacity;      /* items */
  size_t mask;          /* buckets - 1; at least twice as many buckets as items, so probing meets an empty one */
  uint64_t n_items;     /* release store in fh_name_put, acquire load in readers */
  void **items;         /* fh_name_entry*, in order of first addition */
  uint64_t *buckets;    /* item number + 1, or 0 */
};

static fh_name_slots *load_slots(const fh_name_table *table) {
  /* acquire: pairs with the release store in fh_name_reserve */
  return (fh_name_slots *)fh_atomic_load_acquire_ptr((void *const *)&table->slots);
}

static fh_name_entry *load_item(const fh_name_slots *slots, size_t i) {
  /* acquire: pairs with the release store in fh_name_put, so that a replaced entry is complete */
  return (fh_name_entry *)fh_atomic_load_acquire_ptr(&slots->items[i]);
}

/* The bucket of that name, or the empty one where it would go. *entry is what the bucket held when it was read, or NULL:
 * readers must not look again, because an empty bucket may be given to another name meanwhile. */
static size_t find_bucket(const fh_name_slots *slots, uint64_t hash, TVMFFIByteArray name, fh_name_entry **entry) {
  for (size_t i = (size_t)(hash * 0x9e3779b97f4a7c15u >> 32) & slots->mask;; i = (i + 1) & slots->mask) {
    /* acquire: pairs with the release store in fh_name_put, so that the item behind the number is there */
    uint64_t number = fh_atomic_load_acquire_u64(&slots->buckets[i]);
    *entry = number != 0 ? load_item(slots, (size_t)number - 1) : NULL;
    if (*entry == NULL || ((*entry)->hash == hash && fh_str_same((*entry)->name, name))) return i;
  }
}

fh_name_entry *fh_name_find(const fh_name_table *table, TVMFFIByteArray name) {
  const fh_name_slots *slots = load_slots(table);
  if (slots == NULL) return NULL;
  fh_name_entry *entry;
  (void)find_bucket(slots, fh_str_hash(name.data, name.size), name, &entry);
  return entry;
}

static fh_name_slots *slots_new(size_t capacity) {
  size_t n_buckets = capacity * 2;
  size_t n_bytes = sizeof(fh_name_slots) + capacity * sizeof(void *) + n_buckets * sizeof(uint64_t);
  fh_name_slots *slots = (fh_name_slots *)fh_mem_calloc(1, n_bytes);
  if (slots == NULL) return NULL;
  slots->capacity = capacity;
  slots->mask = n_buckets - 1;
  slots->buckets = (uint64_t *)(slots + 1);
  slots->items = (void **)(slots->buckets + n_buckets);
  return slots;
}

/* Puts a new name behind the last one; there is room and the name is not in the table. */
static void append(fh_name_slots *slots, fh_name_entry *entry) {
  size_t n_items = (size_t)slots->n_items; /* plain: only the writer changes it */
  fh_name_entry *none;
  size_t bucket = find_bucket(slots, entry->hash, entry->name, &none);
  fh_atomic_store_release_ptr(&slots->items[n_items], entry);             /* pairs with load_item */
  fh_atomic_store_release_u64(&slots->buckets[bucket], n_items + 1);      /* pairs with find_bucket */
  fh_atomic_store_release_u64(&slots->n_items, n_items + 1);              /* pairs with fh_name_count */
}

int fh_name_reserve(fh_name_table *table) {
  fh_name_slots *old = table->slots; /* plain: only the writer changes it */
  if (old != NULL && old->n_items < old->capacity) return 0;
  fh_name_slots *longer = slots_new(old != NULL ? old->capacity * 2 : 64);
  if (longer == NULL) return -1;
  for (size_t i = 0; old != NULL && i < old->n_items; ++i) append(longer, (fh_name_entry *)old->items[i]);
  longer->older = old;
  fh_mem_keep(longer);
  fh_atomic_store_release_ptr((void **)&table->slots, longer); /* pairs with load_slots */
  return 0;
}

fh_name_entry *fh_name_put(fh_name_table *table, fh_name_entry *entry) {
  fh_name_slots *slots = table->slots; /* plain: only the writer changes it */
  entry->hash = fh_str_hash(entry->name.data, entry->name.size);
  fh_name_entry *old;
  size_t bucket = find_bucket(slots, entry->hash, entry->name, &old);
  if (old == NULL) {
    append(slots, entry);
    return NULL;
  }
  fh_atomic_store_release_ptr(&slots->items[slots->buckets[bucket] - 1], entry); /* pairs with load_item */
  return old;
}

size_t fh_name_count(const fh_name_table *table) {
  const fh_name_slots *slots = load_slots(table);
  /* acquire: pairs with the release store in append, so that items below the count are there */
  return slots == NULL ? 0 : (size_t)fh_atomic_load_acquire_u64(&slots->n_items);
}

fh_name_entry *fh_name_at(const fh_name_table *table, size_t i) {
  /* The generation may be newer than the one that was counted: it holds at least as many. */
  return load_item(load_slots(table), i);
}
