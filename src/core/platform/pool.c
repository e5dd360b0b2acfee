/* pool.c - small blocks: heaps of threads, and their chunks. As in mimalloc, a chunk has two free lists inside the free
 * blocks: one for blocks that the owner's thread frees, one for blocks that other threads free.
 *
 * A chunk has blocks of one size and belongs to one heap. A chunk is in one of four states, which only change in
 * alloc_slowly, put_in_place and end_of_thread:
 *   current  its heap allocates blocks from it; at most one of each size
 *   other    has room, and is in its heap's list `others`
 *   full     is in no list, until a block of it is freed
 *   empty    all its blocks are free: it returns to pages.c, unless it is the current one
 *
 * Other threads push the blocks that they free on a lock-free stack in the chunk. The thread that pushes on an empty
 * stack also pushes the chunk on a stack of its heap, `touched`. Both stacks are popped as a whole, by an exchange;
 * popping one node would be open to the ABA problem. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "pool.h"

#ifdef FH_POOL
#include <dlfcn.h>
#include <stdlib.h>

#include "atomic.h"
#include "fork.h"
#include "system.h"

/* ---- Sizes: by 16 bytes up to 256, then by 64 ---- */

enum { FINE_MAX = 256, N_FINE = FINE_MAX / 16, N_SIZES = N_FINE + (FH_POOL_MAX_BYTES - FINE_MAX) / 64 };

/* The number of the smallest size that has room for n_bytes, from 1 to FH_POOL_MAX_BYTES. */
static inline size_t size_number(size_t n_bytes) {
  return n_bytes <= FINE_MAX ? (n_bytes - 1) / 16 : N_FINE + (n_bytes - FINE_MAX - 1) / 64;
}
static size_t size_of_number(size_t number) {
  return number < N_FINE ? (number + 1) * 16 : FINE_MAX + (number - N_FINE + 1) * 64;
}

/* ---- Data structures ---- */

typedef struct heap heap;

/* The contents of a free block. */
typedef struct block {
  struct block *next;
} block;

/* The head of a chunk. The members before `foreign` are for the thread of its heap, or, while the heap has no thread,
 * for any thread under the lock. Other threads read two of them, `owner` and `block_bytes`, which never change. */
typedef struct chunk {
  heap *owner; /* never changes */
  block *free; /* list of free blocks */
  char *fresh, *end; /* the bytes that were never part of a block */
  uint32_t n_used; /* blocks in use */
  uint32_t block_bytes; /* never changes */
  bool is_full; /* neither the current chunk nor in `others` */
  struct chunk *next, *previous; /* in the list `others`; `next` also in the list of empty chunks */
  fh_pages_area *area;
  char apart[56];
  uint64_t foreign; /* blocks freed by other threads: their number << 32 | offset of the last of them in the chunk */
  struct chunk *next_touched;
  char apart_from_blocks[56];
} chunk;
FH_STATIC_ASSERT(offsetof(chunk, foreign) % 64 == 0, "the field that other threads write has its own cache line");
FH_STATIC_ASSERT(sizeof(chunk) % 16 == 8, "where blocks begin tells them from malloc's");

struct heap {
  uint64_t thread; /* id of the owner's thread, or NO_THREAD or NO_LONGER */
  chunk *current[N_SIZES]; /* the chunks to allocate from; `none` instead of NULL */
  chunk *others[N_SIZES]; /* lists of other chunks with room */
  heap *next; /* next in the list of all heaps, never changes */
  char apart[64];
  chunk *touched; /* the chunks in which other threads freed a block */
};

/* Of heaps: NO_THREAD waits for a thread; NO_LONGER belongs to a thread of the process that forked this one. */
enum { NO_THREAD = 0, NO_LONGER = 1 };

static chunk none; /* has no room; never written */

static FH_THREAD_LOCAL heap *my_heap; /* NULL before the thread's first block and when it is ending */
static FH_THREAD_LOCAL bool is_ending;

FH_LOCK(pool_lock, "pool", FH_RANK_POOL);
/* Under the lock: */
static heap *heaps; /* all heaps; they live as long as the process */
static fh_tls at_end; /* stores a thread's heap */
static bool is_ready;
/* Atomic: */
static int32_t is_off; /* 1 for good: no thread gets a heap, and none needs the lock to learn that */

/* The head is at the chunk's start, and chunks are at multiples of their size, so clearing low bits finds the head. */
static inline chunk *chunk_of(const void *block) {
  return (chunk *)((uintptr_t)block & ~(uintptr_t)(FH_PAGES_CHUNK - 1));
}

/* ---- The chunks of a heap. Only the heap's thread calls these functions; while the heap's thread is NO_THREAD, any
 * thread does, under the lock ---- */

static bool has_room(const chunk *c) { return c->free != NULL || c->fresh != c->end; }

static void link_other(heap *h, chunk *c) {
  chunk **list = &h->others[size_number(c->block_bytes)];
  c->previous = NULL;
  c->next = *list;
  if (*list != NULL) (*list)->previous = c;
  *list = c;
}

static void unlink_other(heap *h, chunk *c) {
  if (c->next != NULL) c->next->previous = c->previous;
  if (c->previous != NULL)
    c->previous->next = c->next;
  else
    h->others[size_number(c->block_bytes)] = c->next;
}

/* Updates the state of a chunk that was full before a block was freed, or is empty now. Empty chunks are put before
 * *empty, except for the current one. */
static FH_NOINLINE void put_in_place(heap *h, chunk *c, chunk **empty) {
  if (c->is_full) {
    c->is_full = false;
    link_other(h, c);
  }
  if (c->n_used != 0 || h->current[size_number(c->block_bytes)] == c) return;
  unlink_other(h, c);
  c->next = *empty;
  *empty = c;
}

static void free_chunks(chunk *c) {
  for (chunk *next; c != NULL; c = next) {
    next = c->next;
    fh_pages_free(c, c->area);
  }
}

/* Collects the blocks that other threads have freed. Chunks that become empty go to *empty, which the caller frees
 * after it has released pool_lock, if it holds that. */
static void collect(heap *h, chunk **empty) {
  /* seq_cst: not before the store of NO_THREAD in end_of_thread; pairs with touch. Otherwise a later call finds the
   * blocks that this call misses. */
  if (fh_atomic_load_seq_cst_ptr((void **)&h->touched) == NULL) return;
  /* acquire: pairs with the swap in touch */
  chunk *c = (chunk *)fh_atomic_exchange_acq_rel_ptr((void **)&h->touched, NULL);
  for (chunk *next; c != NULL; c = next) {
    next = c->next_touched; /* before the exchange, after which others may write it again */
    /* Pairs with the swap in free_foreign in both directions, as explained there. The word is not 0, because a chunk is
     * touched once for each time that its stack stops being empty. The count finds the end of the list: the last `next`
     * points to the chunk's head, which is not a block. */
    uint64_t foreign = fh_atomic_exchange_acq_rel_u64(&c->foreign, 0);
    block *first = (block *)(void *)((char *)c + (uint32_t)foreign), *last = first;
    uint32_t n = (uint32_t)(foreign >> 32);
    for (uint32_t i = 1; i < n; ++i) last = last->next;
    last->next = c->free;
    c->free = first;
    c->n_used -= n;
    if (c->is_full || c->n_used == 0) put_in_place(h, c, empty);
  }
}

/* Makes a chunk without free blocks, with all bytes fresh, in no list yet. NULL without memory. */
static chunk *chunk_new(heap *h, size_t number) {
  fh_pages_area *area;
  chunk *c = (chunk *)fh_pages_new(&area);
  if (c == NULL) return NULL;
  memset(c, 0, sizeof(*c)); /* the head only: the rest of a chunk has undefined contents */
  c->owner = h;
  c->area = area;
  c->block_bytes = (uint32_t)size_of_number(number);
  c->fresh = (char *)(c + 1);
  /* whole blocks only: the rest at the end of the chunk stays unused */
  c->end = c->fresh + (FH_PAGES_CHUNK - sizeof(*c)) / c->block_bytes * c->block_bytes;
  return c;
}

/* Makes free blocks of fresh bytes. Few at once: a page that no thread writes to costs no memory. */
static void add_fresh(chunk *c) {
  enum { AT_ONCE = 2048 };
  size_t n_left = (size_t)(c->end - c->fresh) / c->block_bytes, n = AT_ONCE / c->block_bytes;
  if (n > n_left) n = n_left;
  block **link = &c->free;
  for (; n != 0; --n, c->fresh += c->block_bytes) {
    *link = (block *)(void *)c->fresh;
    link = &(*link)->next;
  }
  *link = NULL;
}

/* ---- Heaps and threads ---- */

/* Leaves the heap to the next new thread. Clean-up code that runs later in this thread may still allocate and free:
 * without my_heap it gets its blocks from malloc, and its freed blocks are foreign to every heap. */
static void FH_TLS_CALLBACK end_of_thread(void *value) {
  heap *h = (heap *)value;
  chunk *empty = NULL;
  my_heap = NULL;
  is_ending = true;
  fh_mutex_lock(&pool_lock);
  fh_atomic_store_seq_cst_u64(&h->thread, NO_THREAD); /* before collect; pairs with touch */
  collect(h, &empty);
  /* The heap keeps no current chunk: those with room go into `others`, empty ones are freed. */
  for (size_t i = 0; i < N_SIZES; ++i) {
    chunk *c = h->current[i];
    if (c == &none) continue;
    h->current[i] = &none;
    c->is_full = true;
    if (has_room(c)) put_in_place(h, c, &empty);
  }
  fh_mutex_unlock(&pool_lock);
  free_chunks(empty);
}

/* The child of a fork does not have the other threads, and their heaps may be in the middle of a change. A new thread
 * of the child can have the id of one of them, and must not use such a heap: so these heaps are abandoned. */
static void forget_other_threads(void) {
  for (heap *h = heaps; h != NULL; h = h->next) {
    if (h != my_heap && h->thread != NO_THREAD) h->thread = NO_LONGER;
  }
}
FH_FORK_CHILD(forget_other_threads);

/* Tools that watch every block only see the blocks of malloc, so if such a tool is in the process the pool allocates
 * nothing; valgrind's tools of this kind have a malloc of their own, unlike callgrind. The test build uses the pool in
 * its own tests only, and the benchmark under valgrind requests it (FH_POOL_ALWAYS). */
static bool is_watched(void) {
#if defined(FH_TEST) || defined(FH_POOL_ALWAYS)
  return false;
#else
  static const char *const marks[] = {"_vgr10010ZU_VgSoSynsomalloc_malloc", "__asan_init", "__lsan_init", "__msan_init",
                                      "__tsan_init"};
  for (size_t i = 0; i < FH_COUNT_OF(marks); ++i) {
    if (fh_loader_find_anywhere(marks[i]) != NULL) return true;
  }
  return false;
#endif
}

/* Under the lock. Whether heaps can be made; the first call decides. */
static bool make_ready(void) {
  if (is_ready) return true;
  is_ready = !is_watched() && fh_tls_new(&at_end, end_of_thread) == 0;
  if (!is_ready) fh_atomic_store_release_i32(&is_off, 1); /* pairs with start */
  return is_ready;
}

/* Under the lock. Finds a heap that waits for a thread, or makes a new one; NULL without memory. Linear in the number
 * of heaps, once for each thread. The function uses calloc, because mem.c depends on this file. */
static heap *find_heap(void) {
  heap *h = heaps;
  while (h != NULL && h->thread != NO_THREAD) h = h->next;
  if (h != NULL) return h;
  h = (heap *)calloc(1, sizeof(*h));
  if (h == NULL) return NULL;
  for (size_t i = 0; i < N_SIZES; ++i) h->current[i] = &none;
  h->next = heaps;
  heaps = h;
  return h;
}

/* The thread's first block: finds a heap for it, NULL if there is none. */
static FH_NOINLINE heap *start_heap(void) {
  if (is_ending || fh_atomic_load_acquire_i32(&is_off)) return NULL; /* pairs with make_ready */
  fh_mutex_lock(&pool_lock);
  heap *h = make_ready() ? find_heap() : NULL;
  /* first, because a heap whose thread ends without end_of_thread would be lost */
  if (h != NULL && fh_tls_set(&at_end, h) != 0) h = NULL;
  if (h != NULL) fh_atomic_store_seq_cst_u64(&h->thread, fh_thread_id()); /* pairs with touch, fh_pool_free */
  fh_mutex_unlock(&pool_lock);
  my_heap = h;
  return h;
}

/* ---- Blocks ---- */

static inline void *take_block(chunk *c) {
  block *b = c->free;
  c->free = b->next;
  c->n_used += 1;
  return b;
}

/* The current chunk has no free block: makes some, or takes another chunk. Foreign blocks are collected only when this
 * chunk is used up, so that the lists of other threads are read once per chunk and not once per block. `none` is always
 * used up. */
static FH_NOINLINE void *alloc_slowly(heap *h, size_t number) {
  chunk *c = h->current[number], *empty = NULL;
  if (c->fresh == c->end) {
    if (c != &none) c->is_full = true;
    /* Without a current chunk during the collection, this one is handled like any full one: if it gets blocks back, it
     * joins the others, from which the next chunk is taken. */
    h->current[number] = &none;
    collect(h, &empty);
    free_chunks(empty);
    c = h->others[number];
    if (c != NULL)
      unlink_other(h, c);
    else if ((c = chunk_new(h, number)) == NULL)
      return NULL;
    h->current[number] = c;
  }
  if (c->free == NULL) add_fresh(c);
  return take_block(c);
}

void *fh_pool_alloc(size_t n_bytes) {
  heap *h = my_heap;
  if (FH_UNLIKELY(h == NULL) && (h = start_heap()) == NULL) return NULL;
  size_t number = size_number(n_bytes);
  chunk *c = h->current[number];
  return FH_LIKELY(c->free != NULL) ? take_block(c) : alloc_slowly(h, number);
}

/* Informs the heap of a chunk that the chunk has blocks to collect, and collects them if the heap has no thread. Once
 * the chunk is on the heap's stack, another thread may free the chunk at any moment: from then on only `h`, which is
 * never freed, is used. */
static void touch(heap *h, chunk *c) {
  chunk *empty = NULL;
  void *first = fh_atomic_load_relaxed_ptr((void **)&h->touched); /* a guess, checked by the swap */
  do {
    c->next_touched = (chunk *)first;
  } while (!fh_atomic_cas_seq_cst_ptr((void **)&h->touched, &first, c)); /* pairs with collect */
  /* Either this load comes after the store of NO_THREAD, or the storing thread collects the chunk touched above. */
  if (fh_atomic_load_seq_cst_u64(&h->thread) != NO_THREAD) return;
  fh_mutex_lock(&pool_lock);
  if (fh_atomic_load_relaxed_u64(&h->thread) == NO_THREAD) collect(h, &empty); /* written under this lock only */
  fh_mutex_unlock(&pool_lock);
  free_chunks(empty);
}

/* Frees a block of another thread's heap, or of a heap without a thread. One word holds the head of the stack and the
 * number of its blocks, so that both are read atomically. */
static FH_NOINLINE void free_foreign(chunk *c, block *b) {
  uint64_t after, before = fh_atomic_load_relaxed_u64(&c->foreign); /* a guess, checked by the swap */
  do {
    b->next = (block *)(void *)((char *)c + (uint32_t)before);
    after = ((before >> 32) + 1) << 32 | (uint32_t)((char *)b - (char *)c);
    /* release: this thread's writes into the block come first; acquire: the owner has read next_touched. Both pair with
     * the exchange in collect. */
  } while (!fh_atomic_cas_acq_rel_u64(&c->foreign, &before, after));
  if (before == 0) touch(c->owner, c); /* the chunk stays while it has blocks that were not collected */
}

void fh_pool_free(void *freed) {
  chunk *c = chunk_of(freed);
  block *b = (block *)freed;
  heap *h = c->owner;
  /* relaxed: only the thread itself writes its id there, or removes it */
  if (FH_UNLIKELY(fh_atomic_load_relaxed_u64(&h->thread) != fh_thread_id())) {
    free_foreign(c, b);
    return;
  }
  /* The chunk belongs to this thread: plain stores, and no more work unless its state changes. */
  b->next = c->free;
  c->free = b;
  c->n_used -= 1;
  if (FH_LIKELY(c->n_used != 0 && !c->is_full)) return;
  chunk *empty = NULL;
  put_in_place(h, c, &empty);
  free_chunks(empty);
}

size_t fh_pool_block_bytes(const void *block) { return chunk_of(block)->block_bytes; }
#endif
