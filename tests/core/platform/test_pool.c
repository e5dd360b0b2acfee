/* test_pool.c - small blocks: sizes, reuse, blocks freed by other threads, ending threads, forks. */
#include "core/platform/pages.h"
#include "core/platform/pool.h"

#include "support/harness.h"

#ifdef FH_POOL
#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/sync.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX = FH_POOL_MAX_BYTES };

/* Allocates a block filled with a byte that identifies its owner. */
static unsigned char *alloc_marked(size_t n_bytes, int mark) {
  unsigned char *block = (unsigned char *)fh_pool_alloc(n_bytes);
  expect(block != NULL && fh_pool_has(block) && fh_pool_block_bytes(block) >= n_bytes);
  memset(block, mark, n_bytes);
  return block;
}

static void free_marked(unsigned char *block, size_t n_bytes, int mark) {
  for (size_t i = 0; i < n_bytes; ++i) expect_int(block[i], mark);
  fh_pool_free(block);
}

TEST(pool_blocks_of_every_size_do_not_overlap) {
  enum { N_EACH = 300 };
  static unsigned char *blocks[MAX + 1][N_EACH];
  for (size_t n = 1; n <= MAX; ++n) {
    for (int i = 0; i < N_EACH; ++i) blocks[n][i] = alloc_marked(n, (int)(n + (size_t)i) & 255);
  }
  for (size_t n = MAX; n >= 1; --n) {
    for (int i = 0; i < N_EACH; ++i) free_marked(blocks[n][i], n, (int)(n + (size_t)i) & 255);
  }
}

TEST(pool_sizes_waste_at_most_an_eighth) {
  for (size_t n = 1; n <= MAX; ++n) {
    void *block = fh_pool_alloc(n);
    size_t n_bytes = fh_pool_block_bytes(block);
    expect(n_bytes >= n && n_bytes <= (n <= 256 ? n + 15 : n + 63) && n_bytes % 16 == 0);
    fh_pool_free(block);
  }
}

TEST(a_pool_block_that_was_freed_is_given_again) {
  void *block = fh_pool_alloc(40);
  fh_pool_free(block);
  expect(fh_pool_alloc(48) == block);
  fh_pool_free(block);
}

TEST(blocks_of_malloc_are_none_of_the_pool) {
  for (size_t n = 1; n < 100; ++n) {
    void *block = malloc(n < 16 ? 16 : n);
    expect(!fh_pool_has(block));
    free(block);
  }
}

/* ---- Empty chunks ---- */

enum { N_MANY = 50000 };

static void fill(void **blocks, int n) {
  for (int i = 0; i < n; ++i) {
    blocks[i] = fh_pool_alloc(200);
    expect(blocks[i] != NULL);
  }
}

TEST(pool_chunks_go_back_when_they_are_empty) {
  static void *blocks[N_MANY];
  int before = fh_pages_n_taken();
  for (int round = 0; round < 3; ++round) {
    fill(blocks, N_MANY);
    expect(fh_pages_n_taken() >= before + N_MANY / 400);
    for (int i = 0; i < N_MANY; ++i) fh_pool_free(blocks[(int64_t)i * 7919 % N_MANY]);
    expect(fh_pages_n_taken() <= before + 1);
  }
}

TEST(pool_chunks_with_room_are_used_before_new_ones) {
  static void *blocks[N_MANY];
  fill(blocks, N_MANY);
  int full = fh_pages_n_taken();
  for (int i = 0; i < N_MANY; i += 2) fh_pool_free(blocks[i]);
  for (int i = 0; i < N_MANY; i += 2) blocks[i] = fh_pool_alloc(200);
  expect_int(fh_pages_n_taken(), full);
  for (int i = 0; i < N_MANY; ++i) fh_pool_free(blocks[i]);
}

/* ---- Threads ---- */

typedef struct {
  void *blocks[N_MANY];
  pthread_barrier_t *made, *freed; /* NULL: the thread ends at once */
} maker;

static void *make_blocks(void *raw) {
  maker *m = (maker *)raw;
  fill(m->blocks, N_MANY);
  if (m->made == NULL) return NULL;
  pthread_barrier_wait(m->made);
  pthread_barrier_wait(m->freed);
  void *block = fh_pool_alloc(200); /* one of the blocks that the other thread has freed */
  fh_pool_free(block);
  return NULL;
}

TEST(pool_blocks_of_a_thread_that_ended_are_freed_by_another) {
  static maker m;
  pthread_t thread;
  int before = fh_pages_n_taken();
  expect_int(pthread_create(&thread, NULL, make_blocks, &m), 0);
  expect_int(pthread_join(thread, NULL), 0);
  expect(fh_pages_n_taken() >= before + N_MANY / 400);
  for (int i = 0; i < N_MANY; ++i) fh_pool_free(m.blocks[i]);
  expect_int(fh_pages_n_taken(), before);
}

TEST(pool_blocks_of_a_thread_that_lives_are_freed_by_another) {
  static maker m;
  pthread_t thread;
  pthread_barrier_t made, freed;
  pthread_barrier_init(&made, NULL, 2);
  pthread_barrier_init(&freed, NULL, 2);
  m.made = &made;
  m.freed = &freed;
  int before = fh_pages_n_taken();
  expect_int(pthread_create(&thread, NULL, make_blocks, &m), 0);
  pthread_barrier_wait(&made);
  for (int i = 0; i < N_MANY; ++i) fh_pool_free(m.blocks[i]);
  pthread_barrier_wait(&freed);
  expect_int(pthread_join(thread, NULL), 0);
  expect_int(fh_pages_n_taken(), before);
  pthread_barrier_destroy(&made);
  pthread_barrier_destroy(&freed);
}

static void *chunk_of_a_block(void *out) {
  void *block = fh_pool_alloc(500);
  *(uintptr_t *)out = (uintptr_t)block / FH_PAGES_CHUNK;
  return block; /* the thread that joins frees it */
}

TEST(a_new_thread_continues_the_pool_of_a_thread_that_ended) {
  uintptr_t chunks[2];
  void *blocks[2];
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    expect_int(pthread_create(&thread, NULL, chunk_of_a_block, &chunks[i]), 0);
    expect_int(pthread_join(thread, &blocks[i]), 0);
  }
  expect(chunks[0] == chunks[1] && blocks[0] != blocks[1]);
  fh_pool_free(blocks[0]);
  fh_pool_free(blocks[1]);
}

static pthread_key_t late_key;

static void use_pool_late(void *block) {
  free_marked((unsigned char *)block, 33, 'x');
  void *another = fh_pool_alloc(33); /* NULL if the pool knows that the thread is ending: then malloc makes the block */
  if (another != NULL) fh_pool_free(another);
}

static void *leave_for_late(void *state) {
  (void)state;
  expect_int(pthread_setspecific(late_key, alloc_marked(33, 'x')), 0);
  return NULL;
}

TEST(the_pool_can_be_used_while_a_thread_ends) {
  pthread_t thread;
  expect_int(pthread_key_create(&late_key, use_pool_late), 0);
  for (int i = 0; i < 20; ++i) {
    expect_int(pthread_create(&thread, NULL, leave_for_late, NULL), 0);
    expect_int(pthread_join(thread, NULL), 0);
  }
  expect_int(pthread_key_delete(late_key), 0);
}

/* Threads swap blocks into shared cells and free the blocks that they get back. */
enum { N_PLACES = 512, N_SWAPS = 20000, N_SWAPPERS = 4 };

static void swap_blocks(void *raw, int thread) {
  void **places = (void **)raw;
  uint32_t random = (uint32_t)thread + 1;
  for (int i = 0; i < N_SWAPS; ++i) {
    random = random * 1664525u + 1013904223u;
    size_t n_bytes = 1 + (random >> 8) % MAX;
    unsigned char *block = alloc_marked(n_bytes, (int)n_bytes & 255);
    /* pairs with the exchanges of the other threads */
    unsigned char *found = (unsigned char *)fh_atomic_exchange_acq_rel_ptr(&places[(random >> 20) % N_PLACES], block);
    if (found == NULL) continue;
    expect_int(found[0], found[fh_pool_block_bytes(found) > 16 ? 1 : 0]);
    fh_pool_free(found);
  }
}

TEST(threads_free_one_anothers_pool_blocks) {
  static void *places[N_PLACES];
  memset(places, 0, sizeof(places));
  int before = fh_pages_n_taken();
  for (int round = 0; round < 4; ++round) test_threads(N_SWAPPERS, swap_blocks, places);
  for (int i = 0; i < N_PLACES; ++i) {
    if (places[i] != NULL) fh_pool_free(places[i]);
  }
  expect(fh_pages_n_taken() <= before);
}

/* ---- Forks. ThreadSanitizer does not allow threads in the child of a process with threads. ---- */

#ifndef FH_ATOMIC_TSAN

static void *alloc_and_free(void *found) {
  fh_pool_free(found);
  void *block = fh_pool_alloc(200);
  expect(block != NULL);
  fh_pool_free(block);
  return NULL;
}

/* In the child of a process with two threads: frees a block of the thread that does not exist in the child, and starts
 * a thread, which may get the id of that thread. */
static void use_pool_in_child(maker *m, void *mine) {
  fh_pool_free(mine);
  fh_pool_free(m->blocks[0]);
  pthread_t thread;
  expect_int(pthread_create(&thread, NULL, alloc_and_free, m->blocks[1]), 0);
  expect_int(pthread_join(thread, NULL), 0);
  _exit(7);
}

TEST(the_pool_can_be_used_in_the_child_of_a_fork) {
  static maker m;
  pthread_t thread;
  pthread_barrier_t made, freed;
  pthread_barrier_init(&made, NULL, 2);
  pthread_barrier_init(&freed, NULL, 2);
  m.made = &made;
  m.freed = &freed;
  void *mine = fh_pool_alloc(200);
  expect_int(pthread_create(&thread, NULL, make_blocks, &m), 0);
  pthread_barrier_wait(&made);
  pid_t child = fork();
  if (child == 0) use_pool_in_child(&m, mine);
  int status = 0;
  expect(waitpid(child, &status, 0) == child);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  fh_pool_free(mine);
  for (int i = 0; i < N_MANY; ++i) fh_pool_free(m.blocks[i]);
  pthread_barrier_wait(&freed);
  expect_int(pthread_join(thread, NULL), 0);
  pthread_barrier_destroy(&made);
  pthread_barrier_destroy(&freed);
}
#endif
#endif
