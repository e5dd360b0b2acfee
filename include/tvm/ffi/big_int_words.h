/* big_int_words.h - arithmetic of integers of any size, as words and as digits, for big_int.h. Programs include
 * big_int.h.
 *
 * Words are int64, the least significant first, in two's complement: the highest word has the sign, and represents all
 * words above it. Words are the stored form; addition, comparison and bitwise operations work on them. Digits represent
 * the absolute value in base 2^32, the least significant first, without leading zeros: for multiplication, division and
 * decimal output. */
#ifndef TVM_FFI_BIG_INT_WORDS_H_
#define TVM_FFI_BIG_INT_WORDS_H_

#include <tvm/ffi/base_detail.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tvm::ffi::detail {
namespace int_ops {

/** Borrows at least one word. */
class WordsView {
public:
  WordsView(const int64_t *data, size_t size) : data_(data), size_(size) {}
  size_t size() const { return size_; }
  const int64_t &operator[](size_t i) const { return data_[i]; }
  /** Word i. Above the highest word: the sign of the number, as 0 or all ones. */
  uint64_t Word(size_t i) const { return static_cast<uint64_t>(i < size_ ? data_[i] : data_[size_ - 1] < 0 ? -1 : 0); }

private:
  const int64_t *data_;
  size_t size_;
};

inline bool IsNegative(WordsView x) { return x[x.size() - 1] < 0; }
inline bool IsNormalizedZero(WordsView x) { return x.size() == 1 && x[0] == 0; }

/** Returns -1, 0 or 1. If the signs are equal, the words are compared from the highest down, as unsigned numbers. */
inline int Compare(WordsView a, WordsView b) {
  if (IsNegative(a) != IsNegative(b)) return IsNegative(a) ? -1 : 1;
  for (size_t i = std::max(a.size(), b.size()); i-- > 0;) {
    if (a.Word(i) != b.Word(i)) return a.Word(i) < b.Word(i) ? -1 : 1;
  }
  return 0;
}

/* ---- One word: each function returns whether the result fits in int64, and stores it if it does ---- */

/** Computes with unsigned numbers, which wrap around. The sum has overflowed if its sign differs from the sign of both
 * operands. */
inline bool AddFitsPortable(int64_t a, int64_t b, int64_t *sum) {
  *sum = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  return ((a ^ *sum) & (b ^ *sum)) >= 0;
}
inline bool SubtractFitsPortable(int64_t a, int64_t b, int64_t *difference) {
  *difference = static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  return ((a ^ b) & (a ^ *difference)) >= 0;
}
inline bool MultiplyFitsPortable(int64_t a, int64_t b, int64_t *product) {
  *product = static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  if (a == -1) return b != INT64_MIN; /* -INT64_MIN does not fit, and INT64_MIN / -1 below would trap */
  return a == 0 || *product / a == b;
}

#if defined(__GNUC__)
TVM_FFI_INLINE bool AddFits(int64_t a, int64_t b, int64_t *sum) { return !__builtin_add_overflow(a, b, sum); }
TVM_FFI_INLINE bool SubtractFits(int64_t a, int64_t b, int64_t *out) { return !__builtin_sub_overflow(a, b, out); }
TVM_FFI_INLINE bool MultiplyFits(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }
#else
inline bool AddFits(int64_t a, int64_t b, int64_t *sum) { return AddFitsPortable(a, b, sum); }
inline bool SubtractFits(int64_t a, int64_t b, int64_t *out) { return SubtractFitsPortable(a, b, out); }
inline bool MultiplyFits(int64_t a, int64_t b, int64_t *out) { return MultiplyFitsPortable(a, b, out); }
#endif

/* ---- Digits ---- */

using Digits = std::vector<uint32_t>;

inline void DropLeadingZeros(Digits *digits) {
  while (!digits->empty() && digits->back() == 0) digits->pop_back();
}

/** The absolute value. */
inline Digits DigitsOf(WordsView x) {
  Digits digits;
  digits.reserve(2 * x.size());
  bool carry = IsNegative(x); /* -x is ~x + 1 */
  for (size_t i = 0; i < x.size(); ++i) {
    uint64_t word = IsNegative(x) ? ~x.Word(i) + carry : x.Word(i);
    carry = carry && word == 0;
    digits.push_back(static_cast<uint32_t>(word));
    digits.push_back(static_cast<uint32_t>(word >> 32));
  }
  DropLeadingZeros(&digits);
  return digits;
}

inline Digits Multiply(const Digits &a, const Digits &b) {
  Digits product(a.size() + b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      carry += uint64_t{a[i]} * b[j] + product[i + j]; /* at most (2^32 - 1)^2 + 2 (2^32 - 1), which is 2^64 - 1 */
      product[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    product[i + b.size()] = static_cast<uint32_t>(carry);
  }
  DropLeadingZeros(&product);
  return product;
}

/** Makes x the quotient and returns the remainder. */
inline uint32_t DivideBy(Digits *x, uint32_t divisor) {
  uint64_t rest = 0;
  for (size_t i = x->size(); i-- > 0;) {
    rest = rest << 32 | (*x)[i];
    (*x)[i] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  DropLeadingZeros(x);
  return static_cast<uint32_t>(rest);
}

/** The number of bits by which to shift a digit to the left so that its highest bit is set. */
inline int LeadingZeroBits(uint32_t digit) {
  int n = 0;
  while ((digit >> (31 - n) & 1) == 0) ++n;
  return n;
}
/** Shifts by less than one digit. The result has one digit more than x. */
inline Digits ShiftLeft(const Digits &x, int n_bits) {
  Digits shifted(x.size() + 1);
  for (size_t i = 0; i < x.size(); ++i) {
    uint64_t part = uint64_t{x[i]} << n_bits;
    shifted[i] |= static_cast<uint32_t>(part);
    shifted[i + 1] = static_cast<uint32_t>(part >> 32);
  }
  return shifted;
}
inline void ShiftRight(Digits *x, int n_bits) {
  for (size_t i = 0; i < x->size(); ++i) {
    uint64_t part = i + 1 < x->size() ? uint64_t{(*x)[i + 1]} << 32 : 0;
    (*x)[i] = static_cast<uint32_t>((part | (*x)[i]) >> n_bits);
  }
  DropLeadingZeros(x);
}

/** One step of the long division of Knuth (algorithm D). `d` has n digits, the highest of them at least 2^31, and a 0
 * above them. `rest` has n + 1 digits and is less than d * 2^32. Subtracts q * d from `rest` and returns the digit q of
 * the quotient. */
inline uint32_t DivideStep(uint32_t *rest, const Digits &d) {
  size_t n = d.size() - 1; /* without the 0 above the highest digit */
  uint64_t top = uint64_t{rest[n]} << 32 | rest[n - 1];
  uint64_t q = std::min<uint64_t>(top / d[n - 1], UINT32_MAX);
  uint64_t left = top - q * d[n - 1];
  /* With the second digit of d taken into account, q is right or 1 too large. */
  while (left <= UINT32_MAX && q * d[n - 2] > (left << 32 | rest[n - 2])) {
    --q;
    left += d[n - 1];
  }
  uint64_t borrow = 0;
  for (size_t i = 0; i <= n; ++i) {
    uint64_t taken = q * d[i] + borrow;
    borrow = (taken >> 32) + (rest[i] < static_cast<uint32_t>(taken));
    rest[i] -= static_cast<uint32_t>(taken);
  }
  if (borrow == 0) return static_cast<uint32_t>(q);
  uint64_t carry = 0;
  for (size_t i = 0; i <= n; ++i) {
    carry += uint64_t{rest[i]} + d[i];
    rest[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  return static_cast<uint32_t>(q - 1);
}

/** Makes *x the remainder and returns the quotient. The divisor must not be 0. */
inline Digits Divide(Digits *x, const Digits &divisor) {
  if (x->size() < divisor.size()) return Digits();
  if (divisor.size() == 1) {
    Digits quotient = std::move(*x);
    x->assign(1, DivideBy(&quotient, divisor[0]));
    DropLeadingZeros(x);
    return quotient;
  }
  int n_bits = LeadingZeroBits(divisor.back());
  Digits d = ShiftLeft(divisor, n_bits);
  *x = ShiftLeft(*x, n_bits);
  Digits quotient(x->size() - divisor.size());
  for (size_t i = quotient.size(); i-- > 0;) quotient[i] = DivideStep(&(*x)[i], d);
  ShiftRight(x, n_bits);
  DropLeadingZeros(&quotient);
  return quotient;
}

/** Decimal digits as a string. One division by 10^9 gives nine decimals. */
inline std::string ToDecimal(Digits x, bool negative) {
  std::string reversed;
  do {
    uint32_t part = DivideBy(&x, 1000000000);
    for (int i = 0; i < 9 && (!x.empty() || part != 0 || reversed.empty()); ++i, part /= 10) {
      reversed.push_back(static_cast<char>('0' + part % 10));
    }
  } while (!x.empty());
  if (negative) reversed.push_back('-');
  return std::string(reversed.rbegin(), reversed.rend());
}

/** The nearest double; a tie goes to the even mantissa. Infinity if x is too large. The conversion rounds the highest
 * 64 bits itself; the lowest of them is set if any bit below is, so that rounding is right. */
inline double ToDouble(const Digits &x) {
  size_t n = x.size();
  if (n == 0) return 0;
  if (n > 32) return std::numeric_limits<double>::infinity();
  int n_bits = LeadingZeroBits(x[n - 1]);
  auto digit = [&](size_t below_top) { return below_top < n ? uint64_t{x[n - 1 - below_top]} : 0; };
  uint64_t third = digit(2) << n_bits;
  uint64_t high = (digit(0) << 32 | digit(1)) << n_bits | third >> 32;
  bool rest = static_cast<uint32_t>(third) != 0;
  for (size_t i = 3; i < n; ++i) rest |= digit(i) != 0;
  return std::ldexp(static_cast<double>(high | rest), 32 * (static_cast<int>(n) - 2) - n_bits);
}

} // namespace int_ops
} // namespace tvm::ffi::detail

#endif /* TVM_FFI_BIG_INT_WORDS_H_ */
