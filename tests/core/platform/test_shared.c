/* test_shared.c - hazard pointers of threads, and reader-biased locks. */
#include "core/platform/hazard.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "support/harness.h"

static int things[FH_HAZARD_MAX + 1];

TEST(a_use_is_found_until_it_ends) {
  expect_int(fh_hazard_look(&things[0]), 0);
  expect_int(fh_hazard_begin(&things[0]), 1);
  expect_int(fh_hazard_look(&things[0]), 1);
  expect_int(fh_hazard_look(&things[1]), 0);
  expect_int(fh_hazard_end(&things[0]), 1);
  expect_int(fh_hazard_look(&things[0]), 0);
}

TEST(a_thing_that_is_used_twice_is_used_until_both_uses_end) {
  fh_hazard_begin(&things[0]);
  fh_hazard_begin(&things[0]);
  fh_hazard_end(&things[0]);
  expect_int(fh_hazard_find(&things[0]), 1);
  fh_hazard_end(&things[0]);
  expect_int(fh_hazard_find(&things[0]), 0);
}

TEST(uses_end_in_any_order) {
  for (int i = 0; i < 3; ++i) fh_hazard_begin(&things[i]);
  for (int i = 0; i < 3; ++i) {
    expect_int(fh_hazard_end(&things[i]), 1);
    for (int other = 0; other < 3; ++other) expect_int(fh_hazard_find(&things[other]), other > i);
  }
  expect_int((int)fh_hazard_mine->n, 0);
}

TEST(a_use_that_has_no_room_is_refused_and_has_no_end) {
  for (int i = 0; i < FH_HAZARD_MAX; ++i) expect_int(fh_hazard_begin(&things[i]), 1);
  expect_int(fh_hazard_begin(&things[FH_HAZARD_MAX]), 0);
  expect_int(fh_hazard_end(&things[FH_HAZARD_MAX]), 0);
  for (int i = 0; i < FH_HAZARD_MAX; ++i) expect_int(fh_hazard_end(&things[i]), 1);
}

#if !defined(_WIN32)
static void *use_and_end(void *unused) {
  FH_UNUSED(unused);
  fh_hazard_begin(&things[0]);
  return fh_hazard_mine;
}

TEST(uses_of_a_thread_that_ended_are_over_and_the_next_thread_gets_its_record) {
  pthread_t thread;
  void *records[2];
  for (int i = 0; i < 2; ++i) {
    expect_int(pthread_create(&thread, NULL, use_and_end, NULL), 0);
    expect_int(pthread_join(thread, &records[i]), 0);
    expect_int(fh_hazard_look(&things[0]), 0);
  }
  expect_int(records[0] == records[1], 1);
}

typedef struct {
  pthread_barrier_t began, seen;
} meeting;

static void *use_until_end(void *raw) {
  meeting *m = (meeting *)raw;
  fh_hazard_begin(&things[0]);
  pthread_barrier_wait(&m->began);
  pthread_barrier_wait(&m->seen);
  fh_hazard_end(&things[0]);
  return NULL;
}

TEST(a_use_of_another_thread_is_found_but_not_in_a_child_of_fork) {
  meeting m;
  pthread_t thread;
  pthread_barrier_init(&m.began, NULL, 2);
  pthread_barrier_init(&m.seen, NULL, 2);
  expect_int(pthread_create(&thread, NULL, use_until_end, &m), 0);
  pthread_barrier_wait(&m.began);
  fh_hazard_begin(&things[1]);
  expect_int(fh_hazard_look(&things[0]), 1);
  pid_t child = fork();
  if (child == 0) _exit(fh_hazard_look(&things[0]) * 2 + !fh_hazard_look(&things[1]));
  int status;
  expect_int(waitpid(child, &status, 0) == child && WIFEXITED(status), 1);
  expect_int(WEXITSTATUS(status), 0);
  pthread_barrier_wait(&m.seen);
  expect_int(pthread_join(thread, NULL), 0);
  expect_int(fh_hazard_look(&things[0]), 0);
  fh_hazard_end(&things[1]);
}
#endif

FH_SHARED_LOCKS(locks, 2, "of the test");

static int read_once(fh_shared *lock) {
  fh_shared_note note = fh_shared_read(lock);
  fh_shared_read_end(lock, note);
  return note == NULL; /* NULL: the reader has the mutex */
}

TEST(a_lock_opens_after_many_readers_and_a_writer_closes_it) {
  for (int i = 0; i < FH_SHARED_READS; ++i) expect_int(read_once(&locks[0].lock), 1);
  expect_int(read_once(&locks[0].lock), 0);
  fh_shared_write(&locks[0].lock);
  fh_shared_write_end(&locks[0].lock);
  expect_int(read_once(&locks[0].lock), 1);
}

/* Two words that are equal unless a thread is writing. */
static struct {
  uint64_t first;
  char apart[64];
  uint64_t second;
} pair;

static void read_and_write(void *unused, int thread) {
  FH_UNUSED(unused);
  for (int i = 0; i < 20000; ++i) {
    if (thread == 0 && i % 1000 == 0) {
      fh_shared_write(&locks[1].lock);
      pair.first += 1;
      pair.second += 1;
      fh_shared_write_end(&locks[1].lock);
    } else {
      fh_shared_note note = fh_shared_read(&locks[1].lock);
      int is_whole = pair.first == pair.second;
      fh_shared_read_end(&locks[1].lock, note);
      expect_int(is_whole, 1);
    }
  }
}

TEST(readers_of_a_lock_never_see_half_of_a_write) {
  test_threads(4, read_and_write, NULL);
  expect_int((int)pair.first, 20);
  pair.first = pair.second = 0;
}

#if !defined(_WIN32)
static struct {
  pthread_barrier_t round;
  int32_t words[2], seen[2];
} crossing;

/* Thread 0 uses the barrier without cost. */
static void cross(void *unused, int thread) {
  FH_UNUSED(unused);
  for (int32_t i = 1; i <= 300; ++i) {
    pthread_barrier_wait(&crossing.round);
    fh_atomic_store_relaxed_i32(&crossing.words[thread], i);
    if (thread == 0) {
      fh_barrier_light();
    } else {
      fh_barrier_heavy();
    }
    crossing.seen[thread] = fh_atomic_load_relaxed_i32(&crossing.words[!thread]) == i;
    pthread_barrier_wait(&crossing.round);
    expect_int(crossing.seen[0] || crossing.seen[1], 1);
  }
}

TEST(one_of_two_threads_that_pass_a_barrier_sees_the_other_s_write) {
  pthread_barrier_init(&crossing.round, NULL, 2);
  test_threads(2, cross, NULL);
  pthread_barrier_destroy(&crossing.round);
}
#endif
