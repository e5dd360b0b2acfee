/* rows.h - shared code of the C++ programs that time rows: cpp_rows.cc and structural_rows.cc. */
#ifndef FFI_HPY_BENCHMARKS_ROWS_H_
#define FFI_HPY_BENCHMARKS_ROWS_H_

#include <cstdint>
#include <cstdio>
#include <ctime>

inline double cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/* Returns ns per operation of f(), which does `per_round` operations. */
template <typename F> double time_of(int64_t n, int64_t per_round, F &&f) {
  double begin = cpu_ns();
  for (int64_t i = 0; i < n; ++i) f();
  return (cpu_ns() - begin) / static_cast<double>(n * per_round);
}

/* Reads lines `ROW SIZE N` and answers each with the ns of ns_of(row, size, n), and a 0. Returns 1 if the ns are
 * negative, because the row does not exist. */
template <typename F> int answer_rows(F &&ns_of) {
  char name[64];
  long long size, n;
  std::puts("ready");
  std::fflush(stdout);
  while (std::scanf("%63s %lld %lld", name, &size, &n) == 3) {
    double ns = ns_of(name, size, n);
    if (ns < 0) {
      std::fprintf(stderr, "no row %s\n", name);
      return 1;
    }
    std::printf("%.3f 0\n", ns);
    std::fflush(stdout);
  }
  return 0;
}

#endif /* FFI_HPY_BENCHMARKS_ROWS_H_ */
