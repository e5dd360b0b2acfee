/* atomic.h - all atomic operations of the project, with the memory order in the name.
 *
 * The operations work on plain integers and pointers because the fields of the ABI's structs are plain. A comment at
 * each call names the operation in another thread that it pairs with. */
#pragma once

#include "base.h"

#if defined(_MSC_VER)
#include <intrin.h>

/* The Interlocked functions are full barriers, which is stronger than required and correct. A volatile access alone
 * orders nothing (/volatile:iso, the default on arm64), so a barrier follows each acquire and precedes each release. */
#if defined(_M_ARM64)
#define FH_ATOMIC_BARRIER() __dmb(_ARM64_BARRIER_ISH)
#else
#define FH_ATOMIC_BARRIER() _ReadWriteBarrier() /* x86 keeps the order, so only the compiler needs a barrier */
#endif

static inline uint64_t fh_atomic_load_relaxed_u64(const uint64_t *p) { return *(const volatile uint64_t *)p; }
static inline uint64_t fh_atomic_load_acquire_u64(const uint64_t *p) {
  uint64_t seen = *(const volatile uint64_t *)p;
  FH_ATOMIC_BARRIER();
  return seen;
}
static inline void fh_atomic_store_release_u64(uint64_t *p, uint64_t v) {
  FH_ATOMIC_BARRIER();
  *(volatile uint64_t *)p = v;
}
static inline uint64_t fh_atomic_add_relaxed_u64(uint64_t *p, uint64_t v) {
  return (uint64_t)_InterlockedExchangeAdd64((volatile __int64 *)p, (__int64)v);
}
static inline uint64_t fh_atomic_sub_release_u64(uint64_t *p, uint64_t v) {
  return (uint64_t)_InterlockedExchangeAdd64((volatile __int64 *)p, -(__int64)v);
}
static inline uint64_t fh_atomic_add_seq_cst_u64(uint64_t *p, uint64_t v) {
  return (uint64_t)_InterlockedExchangeAdd64((volatile __int64 *)p, (__int64)v);
}
static inline int fh_atomic_cas_relaxed_u64(uint64_t *p, uint64_t *expected, uint64_t desired) {
  uint64_t seen = (uint64_t)_InterlockedCompareExchange64((volatile __int64 *)p, (__int64)desired, (__int64)*expected);
  int done = seen == *expected;
  *expected = seen;
  return done;
}
static inline int32_t fh_atomic_load_acquire_i32(const int32_t *p) {
  int32_t seen = *(const volatile int32_t *)p;
  FH_ATOMIC_BARRIER();
  return seen;
}
static inline int32_t fh_atomic_load_relaxed_i32(const int32_t *p) { return *(const volatile int32_t *)p; }
static inline void fh_atomic_store_release_i32(int32_t *p, int32_t v) {
  FH_ATOMIC_BARRIER();
  *(volatile int32_t *)p = v;
}
static inline void *fh_atomic_load_acquire_ptr(void *const *p) {
  void *seen = *(void *const volatile *)p;
  FH_ATOMIC_BARRIER();
  return seen;
}
static inline void fh_atomic_store_release_ptr(void **p, void *v) {
  FH_ATOMIC_BARRIER();
  *(void *volatile *)p = v;
}
static inline void *fh_atomic_exchange_acq_rel_ptr(void **p, void *v) {
  return _InterlockedExchangePointer((void *volatile *)p, v);
}
static inline void *fh_atomic_load_relaxed_ptr(void *const *p) { return *(void *const volatile *)p; }
static inline void *fh_atomic_load_seq_cst_ptr(void *const *p) {
  return _InterlockedCompareExchangePointer((void *volatile *)(uintptr_t)p, NULL, NULL);
}
static inline uint64_t fh_atomic_load_seq_cst_u64(const uint64_t *p) {
  return (uint64_t)_InterlockedExchangeAdd64((volatile __int64 *)(uintptr_t)p, 0);
}
static inline void fh_atomic_store_seq_cst_u64(uint64_t *p, uint64_t v) {
  (void)_InterlockedExchange64((volatile __int64 *)p, (__int64)v);
}
static inline uint64_t fh_atomic_exchange_acq_rel_u64(uint64_t *p, uint64_t v) {
  return (uint64_t)_InterlockedExchange64((volatile __int64 *)p, (__int64)v);
}
static inline int fh_atomic_cas_acq_rel_u64(uint64_t *p, uint64_t *expected, uint64_t desired) {
  return fh_atomic_cas_relaxed_u64(p, expected, desired);
}
static inline int fh_atomic_cas_seq_cst_ptr(void **p, void **expected, void *desired) {
  void *seen = _InterlockedCompareExchangePointer((void *volatile *)p, desired, *expected);
  int done = seen == *expected;
  *expected = seen;
  return done;
}
static inline void fh_atomic_fence_acquire_after_u64(const uint64_t *p) {
  (void)p;
  FH_ATOMIC_BARRIER();
}
static inline void fh_atomic_store_relaxed_i32(int32_t *p, int32_t v) { *(volatile int32_t *)p = v; }
static inline uint32_t fh_atomic_load_relaxed_u32(const uint32_t *p) { return *(const volatile uint32_t *)p; }
static inline void fh_atomic_store_relaxed_u32(uint32_t *p, uint32_t v) { *(volatile uint32_t *)p = v; }
static inline uint32_t fh_atomic_exchange_release_u32(uint32_t *p, uint32_t v) {
  return (uint32_t)_InterlockedExchange((volatile long *)p, (long)v);
}
static inline uint32_t fh_atomic_exchange_acquire_u32(uint32_t *p, uint32_t v) {
  return (uint32_t)_InterlockedExchange((volatile long *)p, (long)v);
}
static inline int fh_atomic_cas_acquire_u32(uint32_t *p, uint32_t *expected, uint32_t desired) {
  uint32_t seen = (uint32_t)_InterlockedCompareExchange((volatile long *)p, (long)desired, (long)*expected);
  int done = seen == *expected;
  *expected = seen;
  return done;
}
static inline void fh_atomic_store_relaxed_u64(uint64_t *p, uint64_t v) { *(volatile uint64_t *)p = v; }
static inline uint8_t fh_atomic_load_relaxed_u8(const uint8_t *p) { return *(const volatile uint8_t *)p; }
static inline void fh_atomic_store_relaxed_u8(uint8_t *p, uint8_t v) { *(volatile uint8_t *)p = v; }
static inline void fh_atomic_fence_compiler(void) { _ReadWriteBarrier(); }
static inline void fh_atomic_fence_seq_cst(void) {
  volatile long word = 0;
  (void)_InterlockedExchange(&word, 1); /* a full barrier */
}

#else

static inline uint64_t fh_atomic_load_relaxed_u64(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline uint64_t fh_atomic_load_acquire_u64(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void fh_atomic_store_release_u64(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline void fh_atomic_store_relaxed_u64(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline uint8_t fh_atomic_load_relaxed_u8(const uint8_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void fh_atomic_store_relaxed_u8(uint8_t *p, uint8_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline uint64_t fh_atomic_add_relaxed_u64(uint64_t *p, uint64_t v) {
  return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
static inline uint64_t fh_atomic_sub_release_u64(uint64_t *p, uint64_t v) {
  return __atomic_fetch_sub(p, v, __ATOMIC_RELEASE);
}
static inline uint64_t fh_atomic_add_seq_cst_u64(uint64_t *p, uint64_t v) {
  return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}
/* On failure *expected receives the value found. */
static inline int fh_atomic_cas_relaxed_u64(uint64_t *p, uint64_t *expected, uint64_t desired) {
  return __atomic_compare_exchange_n(p, expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
/* For the locks of Linux (sync.h). */
static inline int fh_atomic_cas_acquire_u32(uint32_t *p, uint32_t *expected, uint32_t desired) {
  return __atomic_compare_exchange_n(p, expected, desired, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
static inline uint32_t fh_atomic_exchange_acquire_u32(uint32_t *p, uint32_t v) {
  return __atomic_exchange_n(p, v, __ATOMIC_ACQUIRE);
}
static inline uint32_t fh_atomic_exchange_release_u32(uint32_t *p, uint32_t v) {
  return __atomic_exchange_n(p, v, __ATOMIC_RELEASE);
}
static inline uint32_t fh_atomic_load_relaxed_u32(const uint32_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void fh_atomic_store_relaxed_u32(uint32_t *p, uint32_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline int32_t fh_atomic_load_acquire_i32(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline int32_t fh_atomic_load_relaxed_i32(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void fh_atomic_store_release_i32(int32_t *p, int32_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline void fh_atomic_store_relaxed_i32(int32_t *p, int32_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline void *fh_atomic_load_acquire_ptr(void *const *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void fh_atomic_store_release_ptr(void **p, void *v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline void *fh_atomic_exchange_acq_rel_ptr(void **p, void *v) {
  return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL);
}
static inline void *fh_atomic_load_relaxed_ptr(void *const *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void *fh_atomic_load_seq_cst_ptr(void *const *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static inline uint64_t fh_atomic_load_seq_cst_u64(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static inline void fh_atomic_store_seq_cst_u64(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
static inline uint64_t fh_atomic_exchange_acq_rel_u64(uint64_t *p, uint64_t v) {
  return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL);
}
/* On failure *expected receives the value found, in acquire order, in both functions: the caller may read the object to
 * which it points. */
static inline int fh_atomic_cas_acq_rel_u64(uint64_t *p, uint64_t *expected, uint64_t desired) {
  return __atomic_compare_exchange_n(p, expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
static inline int fh_atomic_cas_seq_cst_ptr(void **p, void **expected, void *desired) {
  return __atomic_compare_exchange_n(p, expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}

/* Generic operations on any word or pointer, for the binding, whose compilers all have these builtins. `p` points to a
 * plain object of that type. A compare and swap that fails stores the value found in *expected, in relaxed order
 * (acq_rel: in acquire order). */
#define fh_atomic_load_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define fh_atomic_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define fh_atomic_load_seq_cst(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define fh_atomic_store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define fh_atomic_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define fh_atomic_store_seq_cst(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define fh_atomic_add_relaxed(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define fh_atomic_add_seq_cst(p, v) __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)
#define fh_atomic_sub_release(p, v) __atomic_fetch_sub(p, v, __ATOMIC_RELEASE)
#define fh_atomic_exchange_acquire(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQUIRE)
#define fh_atomic_exchange_acq_rel(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL)
#define fh_atomic_cas_relaxed(p, expected, v) \
  __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define fh_atomic_cas_acquire(p, expected, v) \
  __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
#define fh_atomic_cas_release(p, expected, v) \
  __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
#define fh_atomic_cas_acq_rel(p, expected, v) \
  __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FH_ATOMIC_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FH_ATOMIC_TSAN 1
#endif

/* Keeps the compiler from moving loads and stores across it; for the processor see hazard.h. */
static inline void fh_atomic_fence_compiler(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
/* Orders all loads and stores before it before all loads and stores after it. ThreadSanitizer does not model fences, so
 * under it this is an operation on a local word, which has the same effect on the supported processors. */
static inline void fh_atomic_fence_seq_cst(void) {
#ifdef FH_ATOMIC_TSAN
  uint32_t word = 0;
  (void)__atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Orders everything after it behind the operation just done on *p. ThreadSanitizer does not model fences, so under it
 * this is an acquire load of the same word. */
static inline void fh_atomic_fence_acquire_after_u64(const uint64_t *p) {
#ifdef FH_ATOMIC_TSAN
  (void)__atomic_load_n(p, __ATOMIC_ACQUIRE);
#else
  (void)p;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}
#endif
