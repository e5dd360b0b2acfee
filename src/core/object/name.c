/* name.c - the table from names to entries: open addressing with linear probing, over a list in order of insertion. A
 * search takes constant time on average.
 *
 * A writer publishes a new entry in three steps, each a release store: an item, then the bucket with its number, then
 * the count. A filled bucket never changes, and an item changes only to another entry of its name, or to NULL. So a
 * concurrent reader finds each earlier name that is not removed, and possibly new ones. */
#include "name.h"

#include "core/platform/mem.h"
#include "core/platform/span.h"

/* One generation of a table. A generation does not change once the next one is published: its readers miss newer names,
 * and still find entries that were replaced or removed since. A removed name leaves its bucket and an empty item, so
 * that probing for other names continues after it; the next generation has neither. */
struct fh_name_slots {
  fh_name_slots *older; /* the generation before, if it is kept, so that it stays reachable; else NULL */
  size_t capacity;      /* number of items */
  size_t n_removed;     /* number of empty items */
  /* number of buckets - 1; at least twice as many buckets as items, so probing reaches an empty one */
  size_t mask;
  uint64_t n_items;     /* release store in append_entry, acquire load in readers */
  void **items;         /* fh_name_entry*, in order of first addition */
  uint64_t *buckets;    /* item number + 1, or 0 */
};

static fh_name_slots *load_slots(const fh_name_table *table) {
  /* acquire: pairs with the release store in renew_slots */
  return (fh_name_slots *)fh_atomic_load_acquire_ptr((void *const *)&table->slots);
}

static fh_name_entry *load_item(const fh_name_slots *slots, size_t i) {
  /* acquire: pairs with the release stores in append_entry and fh_name_put: the entry is complete */
  return (fh_name_entry *)fh_atomic_load_acquire_ptr(&slots->items[i]);
}

/* The bucket of that name, or the empty one for it. *entry is the entry that was found, or NULL. Readers use *entry and
 * do not read the item again: a writer may have emptied or replaced it. The search ends, because at least half of the
 * buckets are empty. */
static size_t find_bucket(const fh_name_slots *slots, uint64_t hash, TVMFFIByteArray name, fh_name_entry **entry) {
  /* Fibonacci hashing: the ABI's hash has 31 bits, and the product spreads them over 64. */
  for (size_t i = (size_t)(hash * 0x9e3779b97f4a7c15u >> 32) & slots->mask;; i = (i + 1) & slots->mask) {
    /* acquire: pairs with the release store in append_entry, so that the item with this number is visible */
    uint64_t number = fh_atomic_load_acquire_u64(&slots->buckets[i]);
    *entry = number != 0 ? load_item(slots, (size_t)number - 1) : NULL;
    if (number == 0 || (*entry != NULL && (*entry)->hash == hash && fh_span_same((*entry)->name, name))) return i;
  }
}

fh_name_entry *fh_name_find(const fh_name_table *table, TVMFFIByteArray name) {
  const fh_name_slots *slots = load_slots(table);
  if (slots == NULL) return NULL;
  fh_name_entry *entry;
  (void)find_bucket(slots, fh_span_hash(name.data, name.size), name, &entry);
  return entry;
}

/* An empty generation, one block: head, buckets, items. `capacity` is a power of two. NULL without memory. */
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

/* Appends a new name; there is room and the name is not in the table. */
static void append_entry(fh_name_slots *slots, fh_name_entry *entry) {
  /* The item before the bucket, and the bucket before the count: a reader that sees a later store sees the earlier
   * ones. */
  size_t n_items = (size_t)slots->n_items; /* plain: only the writer changes it */
  fh_name_entry *none;
  size_t bucket = find_bucket(slots, entry->hash, entry->name, &none);
  fh_atomic_store_release_ptr(&slots->items[n_items], entry);             /* pairs with load_item */
  fh_atomic_store_release_u64(&slots->buckets[bucket], n_items + 1);      /* pairs with find_bucket */
  fh_atomic_store_release_u64(&slots->n_items, n_items + 1);              /* pairs with fh_name_walk_begin */
}

enum { FIRST_CAPACITY = 64 };

/* The number of items in the next generation: twice as many as now if more than half of the items are live, half as
 * many if fewer than an eighth are. */
static size_t next_capacity(const fh_name_slots *old) {
  if (old == NULL) return FIRST_CAPACITY;
  size_t n_live = (size_t)old->n_items - old->n_removed;
  if (n_live > old->capacity / 2) return old->capacity * 2;
  return n_live < old->capacity / 8 && old->capacity > FIRST_CAPACITY ? old->capacity / 2 : old->capacity;
}

/* Replaces a full generation by one with room; *old becomes the full one. If the table has room, or had no generation
 * yet, *old is NULL. -1 without memory. Entries are not copied: both generations point to the same entries. */
static int renew_slots(fh_name_table *table, fh_name_slots **old) {
  fh_name_slots *full = table->slots; /* plain: only the writer changes it */
  *old = NULL;
  if (full != NULL && full->n_items < full->capacity) return 0;
  fh_name_slots *next = slots_new(next_capacity(full));
  if (next == NULL) return -1;
  for (size_t i = 0; full != NULL && i < full->n_items; ++i) {
    if (full->items[i] != NULL) append_entry(next, (fh_name_entry *)full->items[i]);
  }
  fh_atomic_store_release_ptr((void **)&table->slots, next); /* pairs with load_slots */
  *old = full;
  return 0;
}

int fh_name_reserve(fh_name_table *table) {
  const fh_name_slots *before = table->slots;
  fh_name_slots *old;
  if (renew_slots(table, &old) != 0) return -1;
  if (table->slots == before) return 0; /* there was room */
  table->slots->older = old;
  fh_mem_keep(table->slots); /* the next one links to it as `older`, so it stays reachable */
  return 0;
}

int fh_name_renew(fh_name_table *table, fh_name_slots **old) { return renew_slots(table, old); }

fh_name_entry *fh_name_put(fh_name_table *table, fh_name_entry *entry) {
  fh_name_slots *slots = table->slots; /* plain: only the writer changes it */
  /* The entry is complete only with its hash, so the hash comes before any store that publishes the entry. */
  entry->hash = fh_span_hash(entry->name.data, entry->name.size);
  fh_name_entry *old;
  size_t bucket = find_bucket(slots, entry->hash, entry->name, &old);
  if (old == NULL) {
    append_entry(slots, entry);
    return NULL;
  }
  fh_atomic_store_release_ptr(&slots->items[slots->buckets[bucket] - 1], entry); /* pairs with load_item */
  return old;
}

fh_name_entry *fh_name_remove(fh_name_table *table, TVMFFIByteArray name) {
  fh_name_slots *slots = table->slots; /* plain: only the writer changes it */
  if (slots == NULL) return NULL;
  fh_name_entry *entry;
  size_t bucket = find_bucket(slots, fh_span_hash(name.data, name.size), name, &entry);
  if (entry == NULL) return NULL;
  /* The bucket stays filled: searches for names that were added after it must continue there. */
  fh_atomic_store_release_ptr(&slots->items[slots->buckets[bucket] - 1], NULL); /* pairs with load_item */
  ++slots->n_removed;
  return entry;
}

fh_name_walk fh_name_walk_begin(const fh_name_table *table) {
  const fh_name_slots *slots = load_slots(table);
  /* acquire: pairs with the release store in append_entry, so that items below the count are visible */
  return (fh_name_walk){slots, 0, slots == NULL ? 0 : (size_t)fh_atomic_load_acquire_u64(&slots->n_items)};
}

fh_name_entry *fh_name_walk_next(fh_name_walk *walk) {
  while (walk->i < walk->n) {
    fh_name_entry *entry = load_item(walk->slots, walk->i++);
    if (entry != NULL) return entry;
  }
  return NULL;
}
