/* map_table.h - the hash table of Map and Dict. Programs include map.h or dict.h.
 *
 * Every library has its own copy of this code and works on the tables of all others, so layout, hashing, probing, order
 * and growth are part of the ABI.
 *
 * The number of slots is a power of two; 16 slots form a block. A slot has a metadata byte and an item. Fibonacci
 * hashing maps a hash to its home slot. The items of one home slot form a chain that begins there; the metadata of each
 * item encodes the distance to the next. If the home slot of a new item holds an item of another chain, that item is
 * moved to another slot. All items are linked in the order of insertion. */
#ifndef TVM_FFI_CONTAINER_MAP_TABLE_H_
#define TVM_FFI_CONTAINER_MAP_TABLE_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/memory.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace tvm::ffi::detail {

using MapPair = std::pair<Any, Any>;
static_assert(sizeof(MapPair) == 32 && std::is_standard_layout_v<MapPair>, "the ABI's pair");

/** Structs of the ABI: the fields of a map object from offset 24 on, and the fields that follow them in a map with a
 * table. */
struct MapFields {
  void *data;                   /**< MapPair[slots] in a small map, Block[slots / 16] in a table */
  uint64_t size;                /**< number of pairs */
  uint64_t slots;               /**< number of slots, with the highest bit set in a small map */
  void (*data_deleter)(void *); /**< frees data; null if it is part of the object */
};
struct MapDenseFields {
  uint32_t fib_shift; /**< 64 - log2(slots) */
  uint64_t head;      /**< slots of the first and the last inserted item */
  uint64_t tail;
};
static_assert(sizeof(MapFields) == 32 && sizeof(MapDenseFields) == 24, "the ABI's fields");

/** A view of both structs. The view owns nothing. */
class MapTable {
public:
  static constexpr uint64_t kNoSlot = static_cast<uint64_t>(-1);

  MapTable(MapFields *fields, MapDenseFields *dense) : fields_(fields), dense_(dense) {}

  uint64_t head() const { return dense_->head; }
  uint64_t Next(uint64_t slot) const { return ItemAt(slot)->next; }
  uint64_t Previous(uint64_t slot) const { return slot == kNoSlot ? dense_->tail : ItemAt(slot)->prev; }
  MapPair *PairAt(uint64_t slot) const { return reinterpret_cast<MapPair *>(ItemAt(slot)->pair); }

  /** Makes an empty table with room for n_pairs. On std::bad_alloc nothing is changed. */
  void Create(uint64_t n_pairs) {
    uint32_t n_bits = 1; /* the smallest power of two that is at least 2 * n_pairs */
    while ((uint64_t{1} << n_bits) < 2 * (n_pairs == 0 ? 1 : n_pairs)) n_bits += 1;
    Allocate(uint64_t{1} << n_bits, 64 - n_bits);
  }
  /** Makes a copy of another table. On std::bad_alloc nothing is changed. */
  void CreateCopy(const MapTable &from) {
    Allocate(from.fields_->slots, from.dense_->fib_shift);
    std::memcpy(fields_->data, from.fields_->data, CountBlocks(fields_->slots) * sizeof(Block));
    fields_->size = from.fields_->size;
    dense_->head = from.dense_->head;
    dense_->tail = from.dense_->tail;
    for (uint64_t slot = head(); slot != kNoSlot; slot = Next(slot)) {
      MapPair *pair = PairAt(slot);
      const MapPair *source = from.PairAt(slot);
      new (pair) MapPair(*source);
    }
  }
  /** Removes all items. */
  void Clear() {
    std::vector<MapPair> dropped; /* released when the table is empty, because releasing an item may run foreign code */
    dropped.reserve(fields_->size);
    for (uint64_t slot = head(); slot != kNoSlot; slot = Next(slot)) dropped.push_back(std::move(*PairAt(slot)));
    Forget();
  }

  /** Releases all items in place, without allocating. For a caller that frees the table next and is its only user. */
  void End() {
    for (uint64_t slot = head(), next; slot != kNoSlot; slot = next) {
      next = Next(slot);
      PairAt(slot)->~MapPair();
    }
  }

  /** The slot of a key, kNoSlot if the key does not exist. */
  uint64_t Find(const Any &key) const { return fields_->size == 0 ? kNoSlot : FindHashed(key, AnyHash()(key)); }
  /** Sets the value of a key. An existing key object stays, and its pair moves to the end of the order. */
  void Set(MapPair pair) {
    uint64_t hash = AnyHash()(pair.first);
    while (!TrySet(&pair, hash)) Grow();
  }
  void Erase(uint64_t slot) {
    /* A hook may throw in this statement, before anything is changed. */
    uint64_t home = HomeOf(AnyHash()(PairAt(slot)->first)), last = slot;
    MapPair dropped = std::move(*PairAt(slot));
    Unlink(ItemAt(slot));
    fields_->size -= 1;
    for (uint64_t next; (next = NextInChain(last)) != kNoSlot;) last = next;
    if (last != home) SetJump(PreviousInChain(home, last), 0);
    if (last != slot) MoveItem(last, slot); /* the chain's last item fills the gap */
    *MetaAt(last) = kEmpty;
  }

private:
  struct Item {
    TVMFFIAny pair[2]; /**< a MapPair if the slot is in use */
    uint64_t prev, next;
  };
  struct Block {
    uint8_t meta[16];
    Item items[16];
  };
  static_assert(sizeof(Item) == 48 && sizeof(Block) == 16 + 16 * 48, "the ABI's blocks");

  /** Metadata: kEmpty; kReserved (an item is being moved there); or for an item the jump to the next one of its chain,
   * with kBody set unless it is the first. */
  static constexpr uint8_t kEmpty = 0xff, kReserved = 0xfe, kBody = 0x80, kJumpMask = 0x7f;
  static constexpr uint8_t kNumJumps = 126;

  /** The distance of a jump: 0 to 15, then triangular numbers. Jump 0 ends a chain. */
  static uint64_t Distance(uint8_t jump) {
    static const uint64_t gap[] = {8515,
                                   19110,
                                   42778,
                                   96141,
                                   216153,
                                   486591,
                                   1092981,
                                   2458653,
                                   5532801,
                                   12442566,
                                   27993903,
                                   62983476,
                                   141717030,
                                   318844378,
                                   717352503,
                                   1614057336,
                                   3631522476,
                                   8170957530,
                                   18384510628,
                                   41364789378,
                                   93070452520,
                                   209408356380,
                                   471168559170,
                                   1060128894105,
                                   2385289465695,
                                   5366898840628,
                                   12075518705635,
                                   27169915244790,
                                   61132312065111,
                                   137547689707000,
                                   309482283181501,
                                   696335127828753,
                                   1566753995631385,
                                   3525196511162271,
                                   7931691992677701,
                                   17846306936293605,
                                   40154190677507445,
                                   90346928918121501,
                                   203280589587557251,
                                   457381325854679626,
                                   1029107982097042876,
                                   2315492959180353330,
                                   5209859154120846435};
    constexpr uint8_t kFirstTriangular = 16, kFirstFar = 83;
    if (jump < kFirstTriangular) return jump;
    if (jump < kFirstFar) return (static_cast<uint64_t>(jump) - 10) * (static_cast<uint64_t>(jump) - 9) / 2;
    return gap[jump - kFirstFar];
  }

  static uint64_t CountBlocks(uint64_t slots) { return (slots + 15) / 16; }
  Block *BlockOf(uint64_t slot) const { return static_cast<Block *>(fields_->data) + slot / 16; }
  uint8_t *MetaAt(uint64_t slot) const { return &BlockOf(slot)->meta[slot % 16]; }
  Item *ItemAt(uint64_t slot) const { return &BlockOf(slot)->items[slot % 16]; }
  static bool IsHead(uint8_t meta) { return (meta & kBody) == 0; }
  uint64_t HomeOf(uint64_t hash) const { return (hash * 11400714819323198485U) >> dense_->fib_shift; }
  uint64_t NextInChain(uint64_t slot) const {
    uint8_t jump = *MetaAt(slot) & kJumpMask;
    return jump == 0 ? kNoSlot : (slot + Distance(jump)) & (fields_->slots - 1);
  }
  uint64_t PreviousInChain(uint64_t head, uint64_t slot) const {
    uint64_t previous = head;
    for (uint64_t at = NextInChain(head); at != slot; at = NextInChain(at)) previous = at;
    return previous;
  }
  void SetJump(uint64_t slot, uint8_t jump) { *MetaAt(slot) = static_cast<uint8_t>((*MetaAt(slot) & kBody) | jump); }
  /** Finds a free slot within a jump of `from`. Returns the jump, 0 if all of these slots are used. */
  uint8_t FindFree(uint64_t from, uint64_t *slot) const {
    for (uint8_t jump = 1; jump < kNumJumps; ++jump) {
      *slot = (from + Distance(jump)) & (fields_->slots - 1);
      if (*MetaAt(*slot) == kEmpty) return jump;
    }
    return 0;
  }

  /** The linked list of the order of insertion. */
  void Unlink(const Item *item) {
    *(item->prev == kNoSlot ? &dense_->head : &ItemAt(item->prev)->next) = item->next;
    *(item->next == kNoSlot ? &dense_->tail : &ItemAt(item->next)->prev) = item->prev;
  }
  void Append(uint64_t slot) {
    Item *item = ItemAt(slot);
    item->prev = dense_->tail;
    item->next = kNoSlot;
    *(dense_->tail == kNoSlot ? &dense_->head : &ItemAt(dense_->tail)->next) = slot;
    dense_->tail = slot;
  }
  /** Moves an item to another slot and keeps its place in the order. */
  void MoveItem(uint64_t from, uint64_t to) {
    Item *item = ItemAt(to);
    *item = *ItemAt(from);
    *(item->prev == kNoSlot ? &dense_->head : &ItemAt(item->prev)->next) = to;
    *(item->next == kNoSlot ? &dense_->tail : &ItemAt(item->next)->prev) = to;
  }

  void Forget() {
    Block *blocks = static_cast<Block *>(fields_->data);
    for (uint64_t i = 0; i < CountBlocks(fields_->slots); ++i)
      std::memset(blocks[i].meta, kEmpty, sizeof(blocks[i].meta));
    fields_->size = 0;
    dense_->head = dense_->tail = kNoSlot;
  }
  void Allocate(uint64_t slots, uint32_t fib_shift) {
    uint64_t n_blocks = CountBlocks(slots);
    if (n_blocks > static_cast<size_t>(-1) / sizeof(Block)) ThrowBadAlloc();
    void *data = std::malloc(static_cast<size_t>(n_blocks) * sizeof(Block));
    if (data == nullptr) ThrowBadAlloc();
    *fields_ = MapFields{data, 0, slots, [](void *old) { std::free(old); }};
    dense_->fib_shift = fib_shift;
    Forget();
  }

  uint64_t FindHashed(const Any &key, uint64_t hash) const {
    uint64_t slot = HomeOf(hash);
    if (!IsHead(*MetaAt(slot))) return kNoSlot;
    while (slot != kNoSlot && !AnyEqual()(key, PairAt(slot)->first)) slot = NextInChain(slot);
    return slot;
  }

  bool IsFull() const { return static_cast<double>(fields_->size + 1) > static_cast<double>(fields_->slots) * 0.99; }
  void Place(uint64_t slot, uint8_t meta, MapPair *pair) {
    *MetaAt(slot) = meta;
    new (ItemAt(slot)->pair) MapPair(std::move(*pair));
    Append(slot);
    fields_->size += 1;
  }
  /** Inserts or replaces a pair. False, with the table unchanged, if the table must grow first. */
  bool TrySet(MapPair *pair, uint64_t hash) {
    uint64_t slot = HomeOf(hash), free_slot;
    uint8_t meta = *MetaAt(slot);
    if (meta == kEmpty) {
      Place(slot, 0, pair);
      return true;
    }
    if (!IsHead(meta)) {
      if (IsFull() || !FreeSlot(slot)) return false;
      Place(slot, 0, pair);
      return true;
    }
    for (;;) {
      if (AnyEqual()(pair->first, PairAt(slot)->first)) {
        PairAt(slot)->second.swap(pair->second);
        Unlink(ItemAt(slot));
        Append(slot);
        return true;
      }
      uint64_t next = NextInChain(slot);
      if (next == kNoSlot) break;
      slot = next;
    }
    uint8_t jump = IsFull() ? 0 : FindFree(slot, &free_slot);
    if (jump == 0) return false;
    SetJump(slot, jump);
    Place(free_slot, kBody, pair);
    return true;
  }
  /** Empties `slot`, which holds an item of another chain, by moving that item and the rest of its chain. False, with
   * the table unchanged, if the table has no room. */
  bool FreeSlot(uint64_t slot) {
    struct Move {
      uint64_t from, to;
      uint8_t jump; /* from the previous item of the chain */
    };
    std::vector<Move> moves;
    uint64_t start = PreviousInChain(HomeOf(AnyHash()(PairAt(slot)->first)), slot), before = start;
    for (uint64_t at = slot; at != kNoSlot; at = NextInChain(at)) moves.push_back(Move{at, 0, 0});
    for (size_t i = 0; i < moves.size(); ++i) {
      moves[i].jump = FindFree(before, &moves[i].to);
      if (moves[i].jump == 0) {
        while (i-- > 0) *MetaAt(moves[i].to) = kEmpty;
        return false;
      }
      before = moves[i].to;
      *MetaAt(before) = kReserved;
    }
    before = start;
    for (const Move &move : moves) {
      MoveItem(move.from, move.to);
      *MetaAt(move.from) = kEmpty;
      *MetaAt(move.to) = kBody;
      SetJump(before, move.jump);
      before = move.to;
    }
    return true;
  }
  /** Doubles the table, more than once if chains do not fit. */
  TVM_FFI_NO_INLINE void Grow() {
    /* Frees the larger table without releasing its items. A hook may throw, and then the old table still owns them. */
    struct Forgotten {
      MapFields fields{};
      ~Forgotten() { std::free(fields.data); }
    };
    uint64_t slots = fields_->slots;
    uint32_t shift = dense_->fib_shift;
    for (bool fits = false; !fits;) {
      slots *= 2;
      shift -= 1;
      Forgotten other;
      MapDenseFields other_dense;
      MapTable larger(&other.fields, &other_dense);
      larger.Allocate(slots, shift);
      fits = true;
      for (uint64_t slot = head(); fits && slot != kNoSlot; slot = Next(slot)) fits = larger.TakeBits(*this, slot);
      if (!fits) continue;
      void *old = std::exchange(other.fields.data, nullptr);
      std::swap(old, fields_->data);
      fields_->data_deleter(old);
      fields_->data_deleter = other.fields.data_deleter;
      fields_->slots = slots;
      *dense_ = other_dense;
    }
  }
  /** Copies the bits of a pair from another table, without counting references. Only one of the two tables releases its
   * items later. */
  bool TakeBits(const MapTable &from, uint64_t slot) {
    alignas(MapPair) unsigned char bits[sizeof(MapPair)];
    std::memcpy(bits, from.ItemAt(slot)->pair, sizeof(bits));
    MapPair *pair = reinterpret_cast<MapPair *>(bits);
    return TrySet(pair, AnyHash()(pair->first));
  }

  MapFields *fields_;
  MapDenseFields *dense_;
};

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_CONTAINER_MAP_TABLE_H_ */
