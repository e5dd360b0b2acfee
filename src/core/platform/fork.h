/* fork.h - declarations of locks, by which the child of a fork() finds every lock free.
 *
 * The child has one thread: the thread that forked. Before the fork that thread takes every lock, rank by rank, and
 * releases all of them afterwards, in the parent and in the child. So the data that a lock guards is complete at the
 * moment of the fork. State without a lock for a busy thread (a count of readers, an initialisation in progress) is
 * corrected in the child, by the functions that FH_FORK_CHILD names.
 *
 * A declaration puts a pointer into a section of the binary, where fork.c finds it; so no list has to be kept
 * up to date, and the test build ends the process if it meets a lock that was declared otherwise. Each binary that
 * compiles this file (core, binding, HPy runtime) has its own handlers. The handlers run in the order binding, runtime,
 * core, because the binaries are loaded in the opposite order, and the binding may call the others with a lock held.
 *
 * vfork, posix_spawn and _Fork run no handlers; after _Fork nothing of this library may be used. */
#pragma once

#include "sync.h"

/* A thread takes a lock only while all locks that it holds have a lower rank. */
typedef enum {
  FH_RANK_GUARD, /* guards of objects, inside which foreign code runs (core/object/field_guard.h) */
  FH_RANK_ONCE,  /* the lock of an fh_once, whose init takes other locks */
  FH_RANK_PLAIN, /* almost all locks: a thread never holds two of them */
  FH_RANK_POOL,  /* any allocation may take it */
  FH_RANK_PAGES, /* the pool takes it */
  FH_N_RANKS
} fh_rank;

/* One lock, or an array of locks. */
typedef struct {
  const char *name;
  void *first;        /* points to an fh_mutex */
  size_t n, n_stride; /* number of locks, and bytes from one to the next */
  fh_rank rank;
} fh_fork_locks;

#if defined(__has_attribute)
#if __has_attribute(retain)
#define FH_FORK_KEPT used, retain /* `retain`: also kept by linkers that drop unreferenced sections */
#endif
#endif
#ifndef FH_FORK_KEPT
#define FH_FORK_KEPT used
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define FH_FORK_ENTRY(type, section_name, id, value) static type id = (value);
#elif defined(_WIN32) && defined(FH_TEST) /* for fork.c */
#define FH_FORK_ENTRY(type, section_name, id, value) \
  static type id __attribute__((used, section(section_name "$m"))) = (value);
#elif defined(_WIN32) /* Windows has no fork */
#define FH_FORK_ENTRY(type, section_name, id, value) static type id __attribute__((unused)) = (value);
#elif defined(__APPLE__)
#define FH_FORK_ENTRY(type, section_name, id, value) \
  static type id __attribute__((used, section("__DATA," section_name))) = (value);
#else
#define FH_FORK_ENTRY(type, section_name, id, value) \
  static type id __attribute__((FH_FORK_KEPT, section(section_name))) = (value);
#endif

/* The last line of this and of the other declarations is an unused declaration that the caller's semicolon ends. */
#define FH_FORK_LOCKS(id, name_text, first_lock, n_locks, stride, lock_rank)                \
  static fh_fork_locks id##_for_fork = {name_text, first_lock, n_locks, stride, lock_rank}; \
  FH_FORK_ENTRY(fh_fork_locks *, "fh_fork_locks", id##_entry_for_fork, &id##_for_fork)      \
  struct fh_fork_end_of_declaration

/* static fh_mutex id; `name` is its name in README.md. */
#define FH_LOCK(id, name, rank) \
  static fh_mutex id;           \
  FH_FORK_LOCKS(id, name, &id, 1, sizeof(fh_mutex), rank)

/* static fh_mutex_apart id[n]: locks of plain rank, one per guarded item, each on its own cache line. */
typedef struct {
  fh_mutex lock;
  char apart[64 - sizeof(fh_mutex)];
} fh_mutex_apart;
#define FH_LOCKS(id, n, name)  \
  static fh_mutex_apart id[n]; \
  FH_FORK_LOCKS(id, name, id, n, sizeof(fh_mutex_apart), FH_RANK_PLAIN)

/* The lock for an item at an address, in an array of FH_N_LOCKS_BY_ADDRESS. Fibonacci hashing: 2**64 divided by the
 * golden ratio carries all bits of the address into the upper 6. The low bits alone would not do, because blocks are
 * aligned. */
#define FH_N_LOCKS_BY_ADDRESS 64
static inline size_t fh_fork_number_of(const void *address) {
  return (size_t)((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}
static inline fh_mutex *fh_fork_lock_of(fh_mutex_apart *locks, const void *address) {
  return &locks[fh_fork_number_of(address)].lock;
}

/* static fh_once id. */
#define FH_ONCE(id, name) \
  static fh_once id;      \
  FH_FORK_LOCKS(id, name, &id.lock, 1, sizeof(fh_mutex), FH_RANK_ONCE)

/* Registers a function that runs in the child, on its only thread, with all locks held. The function must not
 * allocate. */
typedef void (*fh_fork_child)(void);
#define FH_FORK_CHILD(function)                                                       \
  FH_FORK_ENTRY(fh_fork_child, "fh_fork_child", function##_entry_for_fork, &function) \
  struct fh_fork_end_of_declaration
