/* hashmap_dense.c - the ABI's tables of Map and Dict: keys, and the dense layout. */
#include "hashmap_dense.h"

#include "core/object/any_hash.h"
#include "core/object/reflect.h"
#include "core/platform/mem.h"

/* --- the two layouts ---------------------------------------------------------------------------------------------- */

/* Hash and equality of keys that are not plain data: strings, bytes and objects, whose types may
 * have hooks.
 *
 * fh_any_hash and fh_any_equal run those hooks. Under a lock no foreign code may run, so a caller with a lock forbids
 * hooks, and a key that needs one makes the whole operation stop before any pair has changed. */

/* BigInt's hooks are this library's own and run no foreign code. */
static bool has_foreign_hook(const TVMFFIAny *key, fh_reflect_attr_id id) {
  return key->type_index >= kTVMFFIStaticObjectBegin && key->type_index != kTVMFFIBigInt &&
         fh_reflect_attr(fh_reflect_column(id), key->type_index) != NULL;
}

int fh_hashmap_hash_other(const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *out) {
  if (hooks == FH_HASHMAP_NO_HOOKS && has_foreign_hook(key, FH_ATTR_ANY_HASH)) return FH_HASHMAP_NEEDS_HOOK;
  return fh_any_hash(key, out);
}

int fh_hashmap_equal_other(const TVMFFIAny *a, const TVMFFIAny *b, fh_hashmap_hooks hooks, int *out) {
  /* fh_any_equal calls the hook only for two objects of one type */
  if (hooks == FH_HASHMAP_NO_HOOKS && a->type_index == b->type_index && has_foreign_hook(a, FH_ATTR_ANY_EQUAL)) {
    return FH_HASHMAP_NEEDS_HOOK;
  }
  return fh_any_equal(a, b, out);
}

/* --- the dense layout --------------------------------------------------------------------------------------------- */

/* The dense table layout: hashing, chains, growth. The scheme is Malte Skarupke's bytell hash map,
 * extended by the order of insertion.
 *
 * The home of a key is a slot, computed from its hash by Fibonacci hashing. All items with one home form one chain, and
 * the chain's head is in that home. So a search begins at the home: if the home is empty, or has an item of another
 * chain, the key is not in the table; else the search follows the chain. If an item of another chain occupies the home
 * of a new item, free_slot moves the rest of that chain to other slots. The last item of a chain fills the hole of a
 * removed one, so there are no tombstones. Search, insertion and removal take O(1) on average.
 *
 * C++ clients work on the same tables with their own code (include/tvm/ffi/container/map_table.h). So every visible
 * decision, such as the next free slot, the moment of growth or the order, must be the same as theirs. */

FH_STATIC_ASSERT(sizeof(fh_hashmap_item) == 48, "ABI");
FH_STATIC_ASSERT(sizeof(fh_hashmap_block) == 16 + 16 * 48, "ABI");

/* A metadata byte is EMPTY, RESERVED, or the byte of an item. RESERVED is a free slot that free_slot has chosen
 * already; it exists only during that call. An item's byte has the bit BODY unless the item is the head of its chain.
 * The low bits of an item's byte encode the distance to the next item of the chain, as an index into `distances`; 0
 * ends the chain. EMPTY and RESERVED have the bit BODY too, so neither looks like a head. */
#define EMPTY 0xffu
#define RESERVED 0xfeu
#define BODY 0x80u
#define JUMP_MASK 0x7fu
#define N_DISTANCES 126u
#define NO_SLOT FH_HASHMAP_NO_SLOT
/* MAX_LOAD is part of the ABI. MAX_SLOTS keeps sizes in bytes, and the doubling, far from overflow. */
#define MAX_LOAD 0.99
#define MAX_SLOTS ((uint64_t)1 << 48)

/* The distances that a metadata byte can encode. Clients have this list compiled in, so it is part of the ABI. The list
 * has 0 to 15, which stay in the block or the next one; then, as in quadratic probing, all triangular numbers up to
 * 2628; then ever fewer of the larger ones, for tables in which all nearer slots are used. Two zeros follow, so that
 * EMPTY and RESERVED end a chain, too. */
/* clang-format off */
static const uint64_t distances[JUMP_MASK + 1] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105, 120, 136, 153, 171,
    190, 210, 231, 253, 276, 300, 325, 351, 378, 406, 435, 465, 496, 528, 561, 595, 630, 666, 703, 741, 780, 820, 861,
    903, 946, 990, 1035, 1081, 1128, 1176, 1225, 1275, 1326, 1378, 1431, 1485, 1540, 1596, 1653, 1711, 1770, 1830,
    1891, 1953, 2016, 2080, 2145, 2211, 2278, 2346, 2415, 2485, 2556, 2628, 8515, 19110, 42778, 96141, 216153, 486591,
    1092981, 2458653, 5532801, 12442566, 27993903, 62983476, 141717030, 318844378, 717352503, 1614057336, 3631522476u,
    8170957530u, 18384510628u, 41364789378u, 93070452520u, 209408356380u, 471168559170u, 1060128894105u,
    2385289465695u, 5366898840628u, 12075518705635u, 27169915244790u, 61132312065111u, 137547689707000u,
    309482283181501u, 696335127828753u, 1566753995631385u, 3525196511162271u, 7931691992677701u, 17846306936293605u,
    40154190677507445u, 90346928918121501u, 203280589587557251u, 457381325854679626u, 1029107982097042876u,
    2315492959180353330u, 5209859154120846435u,
};
/* clang-format on */

/* ---- Slots ---- */

static uint64_t count_blocks(uint64_t slots) { return (slots + FH_HASHMAP_BLOCK_SLOTS - 1) / FH_HASHMAP_BLOCK_SLOTS; }

static uint8_t *meta_at(const fh_hashmap_object *map, uint64_t slot) {
  return &((fh_hashmap_block *)map->data + slot / FH_HASHMAP_BLOCK_SLOTS)->meta[slot % FH_HASHMAP_BLOCK_SLOTS];
}

static bool is_head(uint8_t meta) { return (meta & BODY) == 0; }

/* Fibonacci hashing: the factor is 2**64 divided by the golden ratio, and the top bits of the product are the slot. */
static uint64_t home_of(const fh_hashmap_object *map, uint64_t hash) {
  return (hash * 11400714819323198485u) >> map->fib_shift;
}

/* The next slot of a chain, NO_SLOT at its end. */
static uint64_t next_in_chain(const fh_hashmap_object *map, uint64_t slot) {
  uint64_t distance = distances[*meta_at(map, slot) & JUMP_MASK];
  return distance == 0 ? NO_SLOT : (slot + distance) & (map->slots - 1); /* a power of two */
}

static void set_jump(fh_hashmap_object *map, uint64_t slot, uint8_t jump) {
  uint8_t *meta = meta_at(map, slot);
  *meta = (uint8_t)((*meta & BODY) | jump);
}

/* Finds the first free slot that the metadata of `from` can encode: returns the jump to it, 0 if there is none.
 * Distances wrap around the table, so in a small table several jumps may lead to one slot. */
static uint8_t find_free(const fh_hashmap_object *map, uint64_t from, uint64_t *slot) {
  for (uint8_t jump = 1; jump < N_DISTANCES; ++jump) {
    *slot = (from + distances[jump]) & (map->slots - 1);
    if (*meta_at(map, *slot) == EMPTY) return jump;
  }
  return 0;
}

/* The item before `slot` in its chain, NO_SLOT if there is none. Chains have no links back: the function searches the
 * chain of `head`, and if that chain does not contain `slot`, because the hash of a key has changed, the whole
 * table. */
static uint64_t previous_in_chain(const fh_hashmap_object *map, uint64_t head, uint64_t slot) {
  for (uint64_t at = head, next; (next = next_in_chain(map, at)) != NO_SLOT; at = next) {
    if (next == slot) return at;
  }
  for (uint64_t at = 0; at < map->slots; ++at) {
    if (next_in_chain(map, at) == slot) return at;
  }
  return NO_SLOT;
}

/* ---- The order of insertion ---- */

/* The links of the order are slot numbers. At the ends, the map's head and tail replace the link of a neighbour. */
static void order_unlink(fh_hashmap_object *map, const fh_hashmap_item *item) {
  *(item->prev == NO_SLOT ? &map->head : &fh_hashmap_dense_item(map, item->prev)->next) = item->next;
  *(item->next == NO_SLOT ? &map->tail : &fh_hashmap_dense_item(map, item->next)->prev) = item->prev;
}

static void order_append(fh_hashmap_object *map, uint64_t slot) {
  fh_hashmap_item *item = fh_hashmap_dense_item(map, slot);
  item->prev = map->tail;
  item->next = NO_SLOT;
  *(map->tail == NO_SLOT ? &map->head : &fh_hashmap_dense_item(map, map->tail)->next) = slot;
  map->tail = slot;
}

/* Moves an item's bytes to another slot, which gets its place in the order. The caller writes the metadata of both
 * slots. */
static void move_item(fh_hashmap_object *map, uint64_t from, uint64_t to) {
  fh_hashmap_item *item = fh_hashmap_dense_item(map, to);
  *item = *fh_hashmap_dense_item(map, from);
  *(item->prev == NO_SLOT ? &map->head : &fh_hashmap_dense_item(map, item->prev)->next) = to;
  *(item->next == NO_SLOT ? &map->tail : &fh_hashmap_dense_item(map, item->next)->prev) = to;
}

/* ---- Whole tables ---- */

void fh_hashmap_dense_forget(fh_hashmap_object *map) {
  fh_hashmap_block *blocks = (fh_hashmap_block *)map->data;
  uint64_t n_blocks = count_blocks(map->slots);
  for (uint64_t i = 0; i < n_blocks; ++i) memset(blocks[i].meta, EMPTY, sizeof(blocks[i].meta));
  map->size = 0;
  map->head = map->tail = NO_SLOT;
}

/* Gives `map` a new table without items. The caller frees the old table. -1 without memory, with `map` unchanged. */
static int alloc_table(fh_hashmap_object *map, uint64_t slots, uint32_t fib_shift) {
  if (slots > MAX_SLOTS) return -1;
  uint64_t n_blocks = count_blocks(slots);
  if (n_blocks > SIZE_MAX / sizeof(fh_hashmap_block)) return -1;
  void *data = fh_mem_alloc((size_t)n_blocks * sizeof(fh_hashmap_block));
  if (data == NULL) return -1;
  map->data = data;
  map->data_deleter = fh_mem_free;
  map->slots = slots;
  map->fib_shift = fib_shift;
  fh_hashmap_dense_forget(map);
  return 0;
}

int fh_hashmap_dense_init(fh_hashmap_object *map, uint64_t n_pairs) {
  if (n_pairs > MAX_SLOTS) return -1;
  if (n_pairs == 0) n_pairs = 1;
  /* The ABI's size: the smallest power of two that is at least 2 * n_pairs. */
  uint32_t n_bits = 1;
  while (n_bits < 64 && (UINT64_C(1) << n_bits) < 2 * n_pairs) n_bits += 1;
  return alloc_table(map, UINT64_C(1) << n_bits, 64 - n_bits);
}

int fh_hashmap_dense_copy(const fh_hashmap_object *from, fh_hashmap_object *map) {
  if (alloc_table(map, from->slots, from->fib_shift) != 0) return -1;
  memcpy(map->data, from->data, (size_t)count_blocks(from->slots) * sizeof(fh_hashmap_block));
  map->size = from->size;
  map->head = from->head;
  map->tail = from->tail;
  return 0;
}

/* ---- Search ---- */

/* Searches the chain whose head is in `slot`: 1 with *slot the slot of the key; 0 with *slot the last slot of the
 * chain, where an insertion continues; -1 or FH_HASHMAP_NEEDS_HOOK because of a hook. */
static int search_chain(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *slot) {
  for (;;) {
    int equal, rc = fh_hashmap_key_equal(key, &fh_hashmap_dense_item(map, *slot)->pair.key, hooks, &equal);
    if (rc != 0) return rc;
    if (equal) return 1;
    uint64_t next = next_in_chain(map, *slot);
    if (next == NO_SLOT) return 0;
    *slot = next;
  }
}

/* As search_chain, from the home of a hash. A home without a head means that the table has no key with that home. */
static int find_hashed(const fh_hashmap_object *map, const TVMFFIAny *key, uint64_t hash, fh_hashmap_hooks hooks,
                       uint64_t *slot) {
  *slot = home_of(map, hash);
  return is_head(*meta_at(map, *slot)) ? search_chain(map, key, hooks, slot) : 0;
}

int fh_hashmap_dense_find(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *slot) {
  uint64_t hash;
  /* Before the hash, which may need a hook. */
  if (map->size == 0) return 0;
  int rc = fh_hashmap_key_hash(key, hooks, &hash);
  return rc != 0 ? rc : find_hashed(map, key, hash, hooks, slot);
}

/* ---- Insertion ---- */

/* The move of one item. A new chain needs a slot for its head, so the item of another chain in that slot moves, with
 * the rest of its chain. */
typedef struct {
  uint64_t from;
  uint64_t to;
  uint8_t jump; /* jump from the item before */
} chain_move;

/* Finds new slots for the n items of a chain from `slot` on, and reserves them, so that no slot is found twice. The
 * chain up to slot `before` stays. Each new slot must be in reach of the slot before it. 0 if there are not enough
 * slots, and then nothing is reserved. */
static bool plan_moves(fh_hashmap_object *map, uint64_t slot, uint64_t before, chain_move *moves, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i, slot = next_in_chain(map, slot)) {
    moves[i].from = slot;
    moves[i].jump = find_free(map, before, &moves[i].to);
    if (moves[i].jump == 0) {
      while (i-- > 0) *meta_at(map, moves[i].to) = EMPTY;
      return false;
    }
    before = moves[i].to;
    *meta_at(map, before) = RESERVED;
  }
  return true;
}

/* Frees a slot by moving its item and the rest of that item's chain: 1; 0 without room; the result of a failing hook;
 * or FH_HASHMAP_NO_MEMORY. Either all these items move or none, so that the table is valid even if it cannot grow
 * afterwards. The item's own hash leads to its chain's head, from which the item before it is found. */
static int free_slot(fh_hashmap_object *map, uint64_t slot, fh_hashmap_hooks hooks) {
  uint64_t hash, n = 0;
  int rc = fh_hashmap_key_hash(&fh_hashmap_dense_item(map, slot)->pair.key, hooks, &hash);
  if (rc != 0) return rc;
  uint64_t before = previous_in_chain(map, home_of(map, hash), slot);
  if (before == NO_SLOT) return 0; /* the chains are damaged: a larger table rebuilds them */
  for (uint64_t at = slot; at != NO_SLOT; at = next_in_chain(map, at)) ++n;
  /* Chains are short, so this rarely allocates. */
  chain_move few[16], *moves = few;
  if (n > FH_COUNT_OF(few)) {
    moves = n > SIZE_MAX / sizeof(*moves) ? NULL : (chain_move *)fh_mem_alloc((size_t)n * sizeof(*moves));
    if (moves == NULL) return FH_HASHMAP_NO_MEMORY;
  }
  bool has_room = plan_moves(map, slot, before, moves, n);
  for (uint64_t i = 0; has_room && i < n; ++i) {
    move_item(map, moves[i].from, moves[i].to);
    *meta_at(map, moves[i].from) = EMPTY;
    *meta_at(map, moves[i].to) = BODY;
    set_jump(map, before, moves[i].jump);
    before = moves[i].to;
  }
  if (moves != few) fh_mem_free(moves);
  return has_room;
}

/* Whether one more pair would exceed the load limit. Only called if the home of the new key is used: an empty home is
 * filled at any load, as in clients. */
static bool is_full(const fh_hashmap_object *map) { return (double)(map->size + 1) > (double)map->slots * MAX_LOAD; }

/* Writes a pair, which the table steals, into a free slot, with that metadata byte, at the end of the order. */
static void put_new(fh_hashmap_object *map, uint64_t slot, uint8_t meta, const fh_hashmap_pair *pair) {
  *meta_at(map, slot) = meta;
  fh_hashmap_dense_item(map, slot)->pair = *pair;
  order_append(map, slot);
  map->size += 1;
}

/* Inserts or replaces: 1; 0 if the table must grow first; the result of a failing hook; or FH_HASHMAP_NO_MEMORY. Only 1
 * changes the table. *old becomes the replaced pair, if any. */
static int try_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, uint64_t hash, fh_hashmap_hooks hooks,
                   fh_hashmap_pair *old) {
  uint64_t slot = home_of(map, hash);
  uint8_t meta = *meta_at(map, slot);
  if (meta == EMPTY) {
    put_new(map, slot, 0, pair);
    return 1;
  }
  /* An item of another chain is in the home: it moves, and the new item becomes the head of a new chain. */
  if (!is_head(meta)) {
    int rc = is_full(map) ? 0 : free_slot(map, slot, hooks);
    if (rc == 1) put_new(map, slot, 0, pair);
    return rc;
  }
  /* The head of the key's own chain is in the home: the key is in the chain, or is added after its last item. */
  int found = search_chain(map, &pair->key, hooks, &slot);
  if (found < 0) return found;
  if (found) {
    fh_hashmap_item *item = fh_hashmap_dense_item(map, slot);
    old->key = pair->key; /* the new key is dropped: the first one stays, as in the reference */
    old->value = item->pair.value;
    item->pair.value = pair->value;
    order_unlink(map, item);
    order_append(map, slot);
    return 1;
  }
  uint64_t free_at;
  uint8_t jump = is_full(map) ? 0 : find_free(map, slot, &free_at);
  if (jump == 0) return 0;
  set_jump(map, slot, jump);
  put_new(map, free_at, BODY, pair);
  return 1;
}

/* Copies the bytes of all pairs of `map` to the empty `larger`: 1; 0 if it is too small; or another result of
 * try_set. */
static int fill_larger(const fh_hashmap_object *map, fh_hashmap_object *larger, fh_hashmap_hooks hooks) {
  for (uint64_t slot = map->head; slot != NO_SLOT; slot = fh_hashmap_dense_item(map, slot)->next) {
    const fh_hashmap_pair *pair = &fh_hashmap_dense_item(map, slot)->pair;
    /* Stays unwritten: no pair is replaced, because the keys of a table differ. */
    fh_hashmap_pair old;
    uint64_t hash;
    int rc = fh_hashmap_key_hash(&pair->key, hooks, &hash);
    if (rc == 0) rc = try_set(larger, pair, hash, hooks, &old);
    if (rc != 1) return rc;
  }
  return 1;
}

/* Doubles the table, more than once if the chains do not fit. The items move as bytes, with their references, and the
 * former table is put aside. 0; or on failure the result of fill_larger or FH_HASHMAP_NO_MEMORY, with `map`
 * unchanged. */
static int grow_table(fh_hashmap_object *map, fh_hashmap_hooks hooks, fh_mem_aside *aside) {
  /* without a header: the header of `map` stays, because other threads change its reference count */
  fh_hashmap_object larger;
  memset(&larger, 0, sizeof(larger));
  uint64_t slots = map->slots;
  uint32_t shift = map->fib_shift;
  int rc;
  do {
    slots *= 2;
    shift -= 1;
    if (alloc_table(&larger, slots, shift) != 0) return FH_HASHMAP_NO_MEMORY;
    rc = fill_larger(map, &larger, hooks);
    if (rc != 1) fh_mem_free(larger.data);
  } while (rc == 0);
  if (rc < 0) return rc;
  fh_mem_put_aside(aside, map->data, map->data_deleter);
  memcpy((char *)map + sizeof(map->header), (char *)&larger + sizeof(map->header),
         sizeof(larger) - sizeof(map->header));
  return 0;
}

int fh_hashmap_dense_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, fh_hashmap_hooks hooks,
                         fh_hashmap_rest *rest) {
  uint64_t hash;
  int rc = fh_hashmap_key_hash(&pair->key, hooks, &hash);
  if (rc != 0) return rc;
  /* Each growth makes room, so the loop ends. The hash of the new key is computed once. */
  while ((rc = try_set(map, pair, hash, hooks, &rest->pair)) == 0) {
    if ((rc = grow_table(map, hooks, &rest->buffer)) != 0) return rc;
  }
  return rc == 1 ? 0 : rc;
}

/* ---- Removal ---- */

int fh_hashmap_dense_erase(fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair *old) {
  uint64_t hash, slot;
  if (map->size == 0) return 0;
  int found = fh_hashmap_key_hash(key, hooks, &hash);
  if (found != 0) return found;
  found = find_hashed(map, key, hash, hooks, &slot);
  if (found != 1) return found;
  /* The pair leaves the table and the order. */
  fh_hashmap_item *item = fh_hashmap_dense_item(map, slot);
  *old = item->pair;
  order_unlink(map, item);
  map->size -= 1;
  /* The last item of the chain fills the hole, and the item before it becomes the last. If the removed item is the last
   * itself, no item moves. */
  uint64_t last = slot;
  for (uint64_t next; (next = next_in_chain(map, last)) != NO_SLOT;) last = next;
  if (last != home_of(map, hash)) set_jump(map, previous_in_chain(map, home_of(map, hash), last), 0);
  if (last != slot) move_item(map, last, slot);
  *meta_at(map, last) = EMPTY;
  return 1;
}

/* ---- Checks ---- */

bool fh_hashmap_dense_is_used(const fh_hashmap_object *map, uint64_t slot) {
  return slot < map->slots && *meta_at(map, slot) < RESERVED;
}

#ifdef FH_TEST
/* Follows the order, and finds each key in its own slot by its hash; then counts the used slots, so that no item is
 * missing in the order. */
int fh_hashmap_dense_is_valid(const fh_hashmap_object *map) {
  uint64_t n = 0, n_used = 0, previous = NO_SLOT;
  for (uint64_t slot = map->head; slot != NO_SLOT; slot = fh_hashmap_dense_item(map, slot)->next, ++n) {
    uint64_t hash, at;
    const fh_hashmap_item *item = fh_hashmap_dense_item(map, slot);
    if (n > map->size || item->prev != previous) return 0;
    if (fh_any_hash(&item->pair.key, &hash) != 0) return 0;
    if (find_hashed(map, &item->pair.key, hash, FH_HASHMAP_HOOKS, &at) != 1 || at != slot) return 0;
    previous = slot;
  }
  for (uint64_t slot = 0; slot < map->slots; ++slot) {
    if (*meta_at(map, slot) == RESERVED) return 0;
    n_used += *meta_at(map, slot) != EMPTY;
  }
  return n == map->size && n_used == n && previous == map->tail && map->slots == (uint64_t)1 << (64 - map->fib_shift);
}
#endif
