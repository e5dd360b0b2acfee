/* big_int.h - BigInt: integers of any size. An integer that fits in int64 is stored in the value itself; any other
 * integer is an immutable object that copies share.
 *
 *   BigInt big = BigInt(1) << 100;
 *   int64_t small = static_cast<int64_t>(big >> 60);   (OverflowError if it did not fit)
 *
 * The operators behave like operators of int64_t without its limits: bit operations work on two's complement, / and %
 * truncate. C++ integers convert implicitly, floating-point numbers explicitly. */
#ifndef TVM_FFI_BIG_INT_H_
#define TVM_FFI_BIG_INT_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/big_int_words.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/memory.h>

#include <istream>
#include <ostream>

namespace tvm::ffi {

class BigInt;

namespace detail {

struct BigIntUnsafe;

/** The words follow the object in memory. Code that makes an object writes all words and then drops redundant ones by
 * Normalize. */
class BigIntObj : public Object {
public:
  explicit BigIntObj(size_t n_words) : n_words_(n_words) {}
  BigIntObj(const BigIntObj &) = delete;
  BigIntObj &operator=(const BigIntObj &) = delete;

  static constexpr int32_t _type_index = kTVMFFIBigInt;
  static constexpr bool _type_final = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIBigInt, BigIntObj, Object);

private:
  size_t n_words_;
  friend struct BigIntUnsafe;
};
static_assert(sizeof(BigIntObj) == sizeof(TVMFFIObject) + sizeof(size_t), "words follow behind the ABI's object");

/** Operators call these if int64 is not enough. Defined below the class. */
namespace int_ops {
BigInt FromUnsigned(uint64_t value);
BigInt FromDouble(double value);
BigInt Add(WordsView a, WordsView b);
BigInt Subtract(WordsView a, WordsView b);
BigInt Multiply(WordsView a, WordsView b);
BigInt ShiftLeft(WordsView x, uint64_t n_bits);
BigInt ShiftRight(WordsView x, uint64_t n_bits);
/** Applies op(uint64_t, uint64_t) to each pair of words. */
template <typename Op> BigInt Bitwise(WordsView a, WordsView b, Op op);
/** The truncated quotient, and the remainder, which has the sign of a. ZeroDivisionError. */
std::pair<BigInt, BigInt> DivRemFallback(WordsView a, WordsView b);
[[noreturn]] void ThrowNegativeShift();
[[noreturn]] void ThrowTooLarge(const char *for_what);
} // namespace int_ops

} // namespace detail

/** 16 bytes, a value of kTVMFFIInt or kTVMFFIBigInt. After a move it is 0. */
class BigInt {
  template <typename Int>
  using EnableForInt = std::enable_if_t<std::is_integral_v<Int> && sizeof(Int) <= sizeof(int64_t), int>;

public:
  /** A borrowed view of the words of a number. */
  using ArrayView = detail::int_ops::WordsView;

  /** Zero. */
  BigInt() : data_(int64_t{0}) {}
  /** From a C++ integer of any size and sign. */
  template <typename Int, EnableForInt<Int> = 0> TVM_FFI_INLINE BigInt(Int value) : data_(int64_t{0}) {
    if constexpr (std::is_unsigned_v<Int> && sizeof(Int) == sizeof(int64_t)) {
      if (TVM_FFI_PREDICT_FALSE(value > static_cast<uint64_t>(INT64_MAX))) {
        *this = detail::int_ops::FromUnsigned(value);
        return;
      }
    }
    data_ = static_cast<int64_t>(value);
  }
  /** Truncates. ValueError for NaN, OverflowError for infinity. */
  explicit BigInt(double value) : data_(int64_t{0}) {
    if (value >= -0x1p63 && value < 0x1p63) {
      data_ = static_cast<int64_t>(value);
    } else {
      *this = detail::int_ops::FromDouble(value);
    }
  }
  BigInt(const BigInt &) = default;
  BigInt &operator=(const BigInt &) = default;
  BigInt(BigInt &&other) noexcept : data_(int64_t{0}) { swap(other); }
  BigInt &operator=(BigInt &&other) noexcept {
    BigInt(std::move(other)).swap(*this);
    return *this;
  }
  void swap(BigInt &other) noexcept { data_.swap(other.data_); }
  friend void swap(BigInt &a, BigInt &b) noexcept { a.swap(b); }

  /* ---- Conversion to other types ---- */

  /** Whether the number is not 0. */
  explicit operator bool() const noexcept { return !IsSmall() || Small() != 0; }
  /** OverflowError if the integer does not fit. */
  explicit operator int64_t() const {
    if (TVM_FFI_PREDICT_FALSE(!IsSmall())) detail::int_ops::ThrowTooLarge("int64_t");
    return Small();
  }
  /** The nearest double; a tie goes to the even mantissa. OverflowError if the result is infinite. */
  explicit operator double() const {
    if (IsSmall()) return static_cast<double>(Small());
    double value = detail::int_ops::ToDouble(detail::int_ops::DigitsOf(Words()));
    if (std::isinf(value)) detail::int_ops::ThrowTooLarge("double");
    return detail::int_ops::IsNegative(Words()) ? -value : value;
  }
  /** nullopt if the integer does not fit. */
  template <typename Int, EnableForInt<Int> = 0> std::optional<Int> as() const {
    if (IsSmall()) {
      Int value = static_cast<Int>(Small());
      bool fits = static_cast<int64_t>(value) == Small() && (value < Int(1)) == (Small() < 1);
      return fits ? std::optional<Int>(value) : std::nullopt;
    }
    if constexpr (std::is_unsigned_v<Int> && sizeof(Int) == sizeof(int64_t)) {
      if (Words().size() == 2 && Words()[1] == 0) return static_cast<Int>(Words()[0]);
    }
    return std::nullopt;
  }
  /** An integer that fits in int64 is its own hash. The hash of an integer is the same on every machine and in every
   * version. */
  uint64_t hash() const {
    if (IsSmall()) return static_cast<uint64_t>(Small());
    return detail::StableHashBytes(&Words()[0], Words().size() * sizeof(int64_t));
  }

  /* ---- Arithmetic ---- */

  TVM_FFI_INLINE friend BigInt operator+(const BigInt &a, const BigInt &b) {
    int64_t sum;
    if (AreSmall(a, b) && detail::int_ops::AddFits(a.Small(), b.Small(), &sum)) return sum;
    return detail::int_ops::Add(a.Words(), b.Words());
  }
  TVM_FFI_INLINE friend BigInt operator-(const BigInt &a, const BigInt &b) {
    int64_t difference;
    if (AreSmall(a, b) && detail::int_ops::SubtractFits(a.Small(), b.Small(), &difference)) return difference;
    return detail::int_ops::Subtract(a.Words(), b.Words());
  }
  TVM_FFI_INLINE friend BigInt operator*(const BigInt &a, const BigInt &b) {
    int64_t product;
    if (AreSmall(a, b) && detail::int_ops::MultiplyFits(a.Small(), b.Small(), &product)) return product;
    return detail::int_ops::Multiply(a.Words(), b.Words());
  }
  friend BigInt operator/(const BigInt &a, const BigInt &b) {
    return CanDivideSmall(a, b) ? BigInt(a.Small() / b.Small())
                                : detail::int_ops::DivRemFallback(a.Words(), b.Words()).first;
  }
  friend BigInt operator%(const BigInt &a, const BigInt &b) {
    return CanDivideSmall(a, b) ? BigInt(a.Small() % b.Small())
                                : detail::int_ops::DivRemFallback(a.Words(), b.Words()).second;
  }
  friend BigInt operator+(const BigInt &x) { return x; }
  friend BigInt operator-(const BigInt &x) { return 0 - x; }

  /* ---- Bits. ValueError for a negative count; OverflowError for a shift to the left by a count that does not fit in
   * int64. ---- */

  friend BigInt operator&(const BigInt &a, const BigInt &b) {
    return detail::int_ops::Bitwise(a.Words(), b.Words(), [](uint64_t x, uint64_t y) { return x & y; });
  }
  friend BigInt operator|(const BigInt &a, const BigInt &b) {
    return detail::int_ops::Bitwise(a.Words(), b.Words(), [](uint64_t x, uint64_t y) { return x | y; });
  }
  friend BigInt operator^(const BigInt &a, const BigInt &b) {
    return detail::int_ops::Bitwise(a.Words(), b.Words(), [](uint64_t x, uint64_t y) { return x ^ y; });
  }
  friend BigInt operator~(const BigInt &x) { return -1 - x; }
  friend BigInt operator<<(const BigInt &x, const BigInt &count) {
    if (count < 0) detail::int_ops::ThrowNegativeShift();
    if (!x) return x;
    if (!count.IsSmall()) detail::int_ops::ThrowTooLarge("the number of bits of an integer");
    return detail::int_ops::ShiftLeft(x.Words(), static_cast<uint64_t>(count.Small()));
  }
  friend BigInt operator>>(const BigInt &x, const BigInt &count) {
    if (count < 0) detail::int_ops::ThrowNegativeShift();
    return detail::int_ops::ShiftRight(x.Words(), count.IsSmall() ? static_cast<uint64_t>(count.Small()) : UINT64_MAX);
  }

  BigInt &operator+=(const BigInt &other) { return *this = *this + other; }
  BigInt &operator-=(const BigInt &other) { return *this = *this - other; }
  BigInt &operator*=(const BigInt &other) { return *this = *this * other; }
  BigInt &operator/=(const BigInt &other) { return *this = *this / other; }
  BigInt &operator%=(const BigInt &other) { return *this = *this % other; }
  BigInt &operator&=(const BigInt &other) { return *this = *this & other; }
  BigInt &operator|=(const BigInt &other) { return *this = *this | other; }
  BigInt &operator^=(const BigInt &other) { return *this = *this ^ other; }
  BigInt &operator<<=(const BigInt &count) { return *this = *this << count; }
  BigInt &operator>>=(const BigInt &count) { return *this = *this >> count; }
  BigInt &operator++() { return *this += 1; }
  BigInt &operator--() { return *this -= 1; }
  BigInt operator++(int) { return std::exchange(*this, *this + 1); }
  BigInt operator--(int) { return std::exchange(*this, *this - 1); }

  friend bool operator==(const BigInt &a, const BigInt &b) { return Compare(a, b) == 0; }
  friend bool operator!=(const BigInt &a, const BigInt &b) { return Compare(a, b) != 0; }
  friend bool operator<(const BigInt &a, const BigInt &b) { return Compare(a, b) < 0; }
  friend bool operator<=(const BigInt &a, const BigInt &b) { return Compare(a, b) <= 0; }
  friend bool operator>(const BigInt &a, const BigInt &b) { return Compare(a, b) > 0; }
  friend bool operator>=(const BigInt &a, const BigInt &b) { return Compare(a, b) >= 0; }

private:
  explicit BigInt(UnsafeInit, Any data) : data_(std::move(data)) {}
  const TVMFFIAny &Raw() const { return *detail::AnyUnsafe::TVMFFIAnyPtrFromAny(data_); }
  bool IsSmall() const { return data_.type_index() == kTVMFFIInt; }
  int64_t Small() const { return Raw().v_int64; }
  ArrayView Words() const;
  static bool AreSmall(const BigInt &a, const BigInt &b) { return TVM_FFI_PREDICT_TRUE(a.IsSmall() && b.IsSmall()); }
  /** INT64_MIN / -1 does not fit in int64. */
  static bool CanDivideSmall(const BigInt &a, const BigInt &b) {
    return AreSmall(a, b) && b.Small() != 0 && (b.Small() != -1 || a.Small() != INT64_MIN);
  }
  static int Compare(const BigInt &a, const BigInt &b) {
    if (AreSmall(a, b)) return (a.Small() > b.Small()) - (a.Small() < b.Small());
    return detail::int_ops::Compare(a.Words(), b.Words());
  }

  Any data_;

  friend struct detail::BigIntUnsafe;
  friend struct TypeTraits<BigInt>;
};

/** Division that rounds towards zero; the remainder has the sign of a. ZeroDivisionError. */
inline BigInt truncdiv(const BigInt &a, const BigInt &b) { return a / b; }
/** The remainder of a division that rounds towards zero; it has the sign of a. */
inline BigInt truncmod(const BigInt &a, const BigInt &b) { return a % b; }
/** Division that rounds down; the remainder has the sign of b. */
inline BigInt floordiv(const BigInt &a, const BigInt &b) {
  BigInt quotient = a / b;
  return (a < 0) != (b < 0) && quotient * b != a ? quotient - 1 : quotient;
}
/** The remainder of a division that rounds down; it has the sign of b. */
inline BigInt floormod(const BigInt &a, const BigInt &b) {
  BigInt remainder = a % b;
  return remainder && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
/** The smaller of two numbers. */
inline BigInt min(const BigInt &a, const BigInt &b) { return b < a ? b : a; }
/** The larger of two numbers. */
inline BigInt max(const BigInt &a, const BigInt &b) { return a < b ? b : a; }

namespace detail {

/** Access to the words and their creation, for code that knows the representation. */
struct BigIntUnsafe {
  static bool CheckInt64(const BigInt &value) { return value.IsSmall(); }
  static int64_t GetInt64(const BigInt &value) { return value.Small(); }
  /** The words, borrowed from the argument, which must outlive the view. */
  static BigInt::ArrayView GetArrayView(const BigInt &value) { return GetArrayView(&value.Raw()); }
  static BigInt::ArrayView GetArrayView(const int64_t &value) { return {&value, 1}; }
  static BigInt::ArrayView GetArrayView(const ObjectPtr<BigIntObj> &ptr) {
    return {GetMutableData(ptr), ptr->n_words_};
  }
  static BigInt::ArrayView GetArrayView(const TVMFFIAny *value) {
    if (value->type_index == kTVMFFIInt) return {&value->v_int64, 1};
    const BigIntObj *object = ObjectUnsafe::RawObjectPtrFromUnowned<BigIntObj>(value->v_obj);
    return {reinterpret_cast<const int64_t *>(object + 1), object->n_words_};
  }
  /** Writable words of an object that is not shared yet. */
  static int64_t *GetMutableData(const ObjectPtr<BigIntObj> &ptr) { return reinterpret_cast<int64_t *>(ptr.get() + 1); }
  static void ShrinkSize(const ObjectPtr<BigIntObj> &ptr, size_t n_words) { ptr->n_words_ = n_words; }
  /** The integer that consists of all the words. The result uses the same object if it needs an object. */
  static BigInt Normalize(ObjectPtr<BigIntObj> ptr) {
    const int64_t *words = GetMutableData(ptr);
    size_t n = ptr->n_words_;
    while (n > 1 && words[n - 1] == (words[n - 2] < 0 ? -1 : 0)) --n;
    if (n <= 1) return n == 0 ? 0 : words[0];
    ShrinkSize(ptr, n);
    return BigInt(UnsafeInit{}, Any(std::move(ptr)));
  }
};

namespace int_ops {

/** Makes the integer of n words, which are word(0) to word(n - 1). */
template <typename Word> BigInt FromWords(size_t n, Word word) {
  auto object = make_inplace_array_object<BigIntObj, int64_t>(n, n);
  int64_t *words = BigIntUnsafe::GetMutableData(object);
  for (size_t i = 0; i < n; ++i) words[i] = static_cast<int64_t>(word(i));
  return BigIntUnsafe::Normalize(std::move(object));
}
inline BigInt FromDigits(const Digits &digits, bool negative) {
  bool carry = negative; /* -x is ~x + 1 */
  return FromWords(digits.size() / 2 + 2, [&](size_t i) {
    auto digit = [&](size_t j) { return j < digits.size() ? uint64_t{digits[j]} : 0; };
    uint64_t word = digit(2 * i + 1) << 32 | digit(2 * i);
    if (!negative) return word;
    word = ~word + carry;
    carry = carry && word == 0;
    return word;
  });
}
inline BigInt FromUnsigned(uint64_t value) {
  return FromWords(2, [value](size_t i) { return i == 0 ? value : 0; });
}
inline BigInt FromDouble(double value) {
  if (std::isnan(value)) TVM_FFI_THROW(ValueError) << "cannot convert NaN to an integer";
  if (std::isinf(value)) TVM_FFI_THROW(OverflowError) << "cannot convert infinity to an integer";
  int exponent;
  double fraction = std::frexp(value, &exponent);
  return BigInt(static_cast<int64_t>(std::ldexp(fraction, 53))) << (exponent - 53);
}

/** The sum may need one more word than the operands. */
inline BigInt Add(WordsView a, WordsView b) {
  uint64_t carry = 0;
  return FromWords(std::max(a.size(), b.size()) + 1, [&](size_t i) {
    uint64_t part = a.Word(i) + carry, sum = part + b.Word(i);
    carry = (part < carry) | (sum < part);
    return sum;
  });
}
inline BigInt Subtract(WordsView a, WordsView b) {
  uint64_t borrow = 0;
  return FromWords(std::max(a.size(), b.size()) + 1, [&](size_t i) {
    uint64_t part = a.Word(i) - b.Word(i), difference = part - borrow;
    borrow = (a.Word(i) < b.Word(i)) | (part < borrow);
    return difference;
  });
}
inline BigInt Multiply(WordsView a, WordsView b) {
  return FromDigits(Multiply(DigitsOf(a), DigitsOf(b)), IsNegative(a) != IsNegative(b));
}
inline std::pair<BigInt, BigInt> DivRemFallback(WordsView a, WordsView b) {
  if (IsNormalizedZero(b)) TVM_FFI_THROW(ZeroDivisionError) << "Division by zero";
  Digits remainder = DigitsOf(a);
  Digits quotient = Divide(&remainder, DigitsOf(b));
  return {FromDigits(quotient, IsNegative(a) != IsNegative(b)), FromDigits(remainder, IsNegative(a))};
}

template <typename Op> BigInt Bitwise(WordsView a, WordsView b, Op op) {
  if (a.size() == 1 && b.size() == 1) return static_cast<int64_t>(op(a.Word(0), b.Word(0)));
  return FromWords(std::max(a.size(), b.size()), [&](size_t i) { return op(a.Word(i), b.Word(i)); });
}
inline BigInt ShiftLeft(WordsView x, uint64_t n_bits) {
  size_t n_words = static_cast<size_t>(n_bits / 64), n = static_cast<size_t>(n_bits % 64);
  return FromWords(x.size() + n_words + 1, [&](size_t i) {
    if (i < n_words) return uint64_t{0};
    uint64_t below = i == n_words || n == 0 ? 0 : x.Word(i - n_words - 1) >> (64 - n);
    return x.Word(i - n_words) << n | below;
  });
}
inline BigInt ShiftRight(WordsView x, uint64_t n_bits) {
  if (n_bits / 64 >= x.size()) return IsNegative(x) ? -1 : 0;
  size_t n_words = static_cast<size_t>(n_bits / 64), n = static_cast<size_t>(n_bits % 64);
  auto word = [&](size_t i) { return x.Word(i + n_words) >> n | (n == 0 ? 0 : x.Word(i + n_words + 1) << (64 - n)); };
  return x.size() - n_words == 1 ? BigInt(static_cast<int64_t>(word(0))) : FromWords(x.size() - n_words, word);
}

[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowNegativeShift() {
  TVM_FFI_THROW(ValueError) << "an integer cannot be shifted by a negative number of bits";
  TVM_FFI_UNREACHABLE();
}
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowTooLarge(const char *for_what) {
  TVM_FFI_THROW(OverflowError) << "the integer is too large for " << for_what;
  TVM_FFI_UNREACHABLE();
}

} // namespace int_ops
} // namespace detail

inline BigInt::ArrayView BigInt::Words() const { return detail::BigIntUnsafe::GetArrayView(&Raw()); }

/** Accepts both kinds of integer; a bool counts as 0 or 1. */
template <> struct TypeTraits<BigInt> : TypeTraitsBase {
  TVM_FFI_INLINE static void CopyToAnyView(const BigInt &src, TVMFFIAny *result) { *result = src.Raw(); }
  TVM_FFI_INLINE static void MoveToAny(BigInt src, TVMFFIAny *result) {
    *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(src.data_));
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kTVMFFIInt || src->type_index == kTVMFFIBigInt;
  }
  TVM_FFI_INLINE static BigInt CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return BigInt(UnsafeInit{}, AnyView::CopyFromTVMFFIAny(*src));
  }
  TVM_FFI_INLINE static BigInt MoveFromAnyAfterCheck(TVMFFIAny *src) {
    return BigInt(UnsafeInit{}, detail::AnyUnsafe::MoveTVMFFIAnyToAny(src));
  }
  TVM_FFI_INLINE static std::optional<BigInt> TryCastFromAnyView(const TVMFFIAny *src) {
    if (CheckAnyStrict(src)) return CopyFromAnyViewAfterCheck(src);
    if (src->type_index == kTVMFFIBool) return BigInt(src->v_int64);
    return std::nullopt;
  }
  static std::string TypeStr() { return "BigInt"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema(StaticTypeKey::kTVMFFIBigInt); }
};

/** Decimal digits. Reading skips white space, reads a sign and digits, and leaves the rest. Without a digit the stream
 * fails and the integer is unchanged. */
inline std::ostream &operator<<(std::ostream &out, const BigInt &value) {
  BigInt::ArrayView words = detail::BigIntUnsafe::GetArrayView(value);
  return out << detail::int_ops::ToDecimal(detail::int_ops::DigitsOf(words), detail::int_ops::IsNegative(words));
}
inline std::istream &operator>>(std::istream &in, BigInt &value) {
  std::istream::sentry ready(in);
  if (!ready) return in;
  std::streambuf *text = in.rdbuf();
  auto digit = [text] { return text->sgetc() >= '0' && text->sgetc() <= '9'; };
  bool negative = text->sgetc() == '-';
  if (negative || text->sgetc() == '+') text->sbumpc();
  std::ios::iostate state = digit() ? std::ios::goodbit : std::ios::failbit;
  BigInt sum;
  while (digit()) {
    int64_t part = 0, unit = 1; /* as many digits as fit in int64 */
    for (; unit < 1000000000000000000 && digit(); unit *= 10) part = part * 10 + (text->sbumpc() - '0');
    sum = sum * unit + part;
  }
  if (state == std::ios::goodbit) value = negative ? -sum : sum;
  in.setstate(text->sgetc() == std::streambuf::traits_type::eof() ? state | std::ios::eofbit : state);
  return in;
}

} // namespace tvm::ffi

namespace std {
template <> struct hash<::tvm::ffi::BigInt> {
  size_t operator()(const ::tvm::ffi::BigInt &value) const { return static_cast<size_t>(value.hash()); }
};
} // namespace std

#endif /* TVM_FFI_BIG_INT_H_ */
