/* Integers of any size: arithmetic compared with int64 and checked by identities, conversions, strings, and use as
 * values. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/big_int.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/function.h>

#include <random>
#include <sstream>

namespace {

using namespace test;
namespace int_ops = tvm::ffi::detail::int_ops;

const int64_t kEdges[] = {0,         1,         -1,         2,           -2,        3,         -7,
                          INT32_MAX, INT32_MIN, 4294967295, -4294967296, INT64_MAX, INT64_MIN, INT64_MIN + 1};

BigInt Read(const std::string &text) {
  std::istringstream in(text);
  BigInt value;
  in >> value;
  EXPECT_FALSE(in.fail()) << text;
  return value;
}
std::string Text(const BigInt &value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/* Up to 64 * n_words bits, with runs of ones and zeros, which produce long carries. */
BigInt Random(std::mt19937_64 *source, int n_words) {
  BigInt value;
  for (int i = 0; i < n_words; ++i) {
    uint64_t word = (*source)();
    if (word % 4 == 0) word = 0;
    if (word % 4 == 1) word = ~uint64_t{0};
    value = (value << 64) | BigInt(word);
  }
  return (*source)() % 2 == 0 ? value : -value;
}

TEST(BigInt, SmallOperandsAsIn128Bits) {
  __extension__ typedef __int128 Wide;
  auto same = [](const BigInt &value, Wide expected) {
    BigInt high = static_cast<int64_t>(expected >> 64), low = static_cast<uint64_t>(expected);
    return value == (high << 64) + low;
  };
  for (int64_t a : kEdges) {
    for (int64_t b : kEdges) {
      EXPECT_TRUE(same(BigInt(a) + b, Wide{a} + b)) << a << " + " << b;
      EXPECT_TRUE(same(a - BigInt(b), Wide{a} - b)) << a << " - " << b;
      EXPECT_TRUE(same(BigInt(a) * b, Wide{a} * b)) << a << " * " << b;
      EXPECT_TRUE(same(BigInt(a) & b, Wide{a & b})) << a << " & " << b;
      EXPECT_TRUE(same(BigInt(a) | b, Wide{a | b})) << a << " | " << b;
      EXPECT_TRUE(same(BigInt(a) ^ b, Wide{a ^ b})) << a << " ^ " << b;
      EXPECT_EQ(BigInt(a) < b, a < b);
      EXPECT_EQ(BigInt(a) == b, a == b);
      if (b == 0) continue;
      EXPECT_TRUE(same(BigInt(a) / b, Wide{a} / b)) << a << " / " << b;
      EXPECT_TRUE(same(BigInt(a) % b, Wide{a} % b)) << a << " % " << b;
      Wide floor = Wide{a} / b - ((Wide{a} % b != 0) && (a < 0) != (b < 0));
      EXPECT_TRUE(same(floordiv(a, BigInt(b)), floor)) << a << " // " << b;
      EXPECT_TRUE(same(floormod(BigInt(a), b), a - floor * b)) << a << " mod " << b;
    }
  }
}

TEST(BigInt, PortableOverflowChecksAgreeWithTheCompilers) {
  for (int64_t a : kEdges) {
    for (int64_t b : kEdges) {
      int64_t expected, found;
      EXPECT_EQ(int_ops::AddFitsPortable(a, b, &found), int_ops::AddFits(a, b, &expected)) << a << " + " << b;
      EXPECT_EQ(found, expected);
      EXPECT_EQ(int_ops::SubtractFitsPortable(a, b, &found), int_ops::SubtractFits(a, b, &expected)) << a << " - " << b;
      EXPECT_EQ(found, expected);
      EXPECT_EQ(int_ops::MultiplyFitsPortable(a, b, &found), int_ops::MultiplyFits(a, b, &expected)) << a << " * " << b;
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(BigInt, LargeResultsKeepTheIdentitiesOfIntegers) {
  std::mt19937_64 source(20260);
  for (int round = 0; round < 400; ++round) {
    BigInt a = Random(&source, static_cast<int>(source() % 9)), b = Random(&source, static_cast<int>(source() % 6));
    BigInt c = Random(&source, 3);
    EXPECT_EQ((a + b) - b, a);
    EXPECT_EQ(a - b, -(b - a));
    EXPECT_EQ((a + b) * c, a * c + b * c);
    EXPECT_EQ((a & b) + (a | b), a + b);
    EXPECT_EQ((a ^ b), (a | b) - (a & b));
    EXPECT_EQ(~a, -a - 1);
    EXPECT_EQ(Read(Text(a)), a);
    int n = static_cast<int>(source() % 200);
    EXPECT_EQ(a << n, a * (BigInt(1) << n));
    EXPECT_EQ(a >> n, floordiv(a, BigInt(1) << n));
    if (!b) continue;
    BigInt quotient = a / b, remainder = a % b;
    EXPECT_EQ(quotient * b + remainder, a) << a << " / " << b;
    EXPECT_LT(max(remainder, -remainder), max(b, -b)) << a << " / " << b;
    EXPECT_TRUE(!remainder || (remainder < 0) == (a < 0)) << a << " % " << b;
    EXPECT_EQ(floordiv(a, b) * b + floormod(a, b), a) << a << " // " << b;
    EXPECT_TRUE(!floormod(a, b) || (floormod(a, b) < 0) == (b < 0)) << a << " mod " << b;
    EXPECT_EQ(a * b / b, a);
  }
}

/* The estimate of a quotient digit is too large by one only for rare operands such as these. */
TEST(BigInt, QuotientDigitIsCorrected) {
  BigInt divisor = Read("39614081257132168796771975169"); /* 2^95 + 1 */
  EXPECT_EQ((divisor * 4294967297 - 1) / divisor, 4294967296);
  EXPECT_EQ((divisor * 4294967297 - 1) % divisor, divisor - 1);
}

TEST(BigInt, ResultsThatPythonHasComputed) {
  BigInt power = 1;
  for (int i = 0; i < 50; ++i) power *= 7;
  EXPECT_EQ(Text(power), "1798465042647412146620280340569649349251249");
  BigInt factorial = 1;
  for (int i = 2; i <= 40; ++i) factorial *= i;
  EXPECT_EQ(Text(factorial), "815915283247897734345611269596115894272000000000");
  EXPECT_EQ(Text(factorial % power), "251954918323551948826648861365049138112423");
  EXPECT_EQ(Text(-factorial / power), "-453673");
}

TEST(BigInt, SmallNumbersAreInTheValue) {
  auto is_small = [](const BigInt &value) { return Any(value).type_index() == kTVMFFIInt; };
  EXPECT_TRUE(is_small(INT64_MIN));
  EXPECT_FALSE(is_small(BigInt(INT64_MAX) + 1));
  EXPECT_TRUE(is_small((BigInt(1) << 100) - (BigInt(1) << 100)));
  EXPECT_TRUE(is_small(-(BigInt(INT64_MAX) + 1)));
  EXPECT_TRUE(is_small((BigInt(1) << 200) >> 150));
  EXPECT_FALSE(is_small(UINT64_MAX));
  EXPECT_TRUE(is_small(BigInt(UINT64_MAX) & INT64_MAX));
}

TEST(BigInt, IntegersOfAnyTypeKeepTheirValue) {
  EXPECT_EQ(Text(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(Text(BigInt(1) + UINT64_MAX), "18446744073709551616"); /* not the sum with (int64_t)UINT64_MAX */
  EXPECT_EQ(Text(true), "1");
  EXPECT_EQ(Text('A'), "65");
  static_assert(!std::is_convertible_v<double, BigInt> && std::is_constructible_v<BigInt, double>);
  static_assert(!std::is_convertible_v<BigInt, int64_t> && !std::is_convertible_v<BigInt, bool>);
}

TEST(BigInt, AsReturnsNumbersThatFit) {
  EXPECT_EQ(BigInt(255).as<uint8_t>(), 255);
  EXPECT_EQ(BigInt(256).as<uint8_t>(), std::nullopt);
  EXPECT_EQ(BigInt(-1).as<uint64_t>(), std::nullopt);
  EXPECT_EQ(BigInt(UINT64_MAX).as<uint64_t>(), UINT64_MAX);
  EXPECT_EQ((BigInt(UINT64_MAX) + 1).as<uint64_t>(), std::nullopt);
  EXPECT_EQ(BigInt(-129).as<int8_t>(), std::nullopt);
  EXPECT_EQ(BigInt(-128).as<int8_t>(), -128);
  EXPECT_EQ(BigInt(1).as<bool>(), true);
  EXPECT_EQ(BigInt(2).as<bool>(), std::nullopt);
}

TEST(BigInt, DoubleIsTheNearestOne) {
  BigInt unit = BigInt(1) << 47; /* half of the last bit of 2^100 */
  double power = 0x1p100, above = 0x1.0000000000001p100;
  EXPECT_EQ(static_cast<double>((unit << 53) + unit), power); /* a tie rounds to even */
  EXPECT_EQ(static_cast<double>((unit << 53) + unit + 1), above);
  EXPECT_EQ(static_cast<double>((unit << 53) + 3 * unit), 0x1.0000000000002p100);
  EXPECT_EQ(static_cast<double>(-((unit << 53) + unit + 1)), -above);
  EXPECT_EQ(static_cast<double>(BigInt(UINT64_MAX)), 0x1p64);
  for (double value : {0x1p63, -0x1p63, 0x1.fffffffffffffp1023, -0x1p64, 0x1.8p70}) {
    EXPECT_EQ(static_cast<double>(BigInt(value)), value);
  }
  EXPECT_EQ(BigInt(-2.9), -2);
  EXPECT_EQ(Text(BigInt(0x1p70)), "1180591620717411303424");
}

TEST(BigInt, ErrorsNameTheFault) {
  BigInt large = BigInt(1) << 70;
  EXPECT_EQ(Thrown([&] { (void)(large / 0); }), "ZeroDivisionError: Division by zero");
  EXPECT_EQ(Thrown([&] { (void)floormod(5, 0); }), "ZeroDivisionError: Division by zero");
  EXPECT_EQ(Thrown([&] { (void)(large << -1); }),
            "ValueError: an integer cannot be shifted by a negative number of bits");
  EXPECT_EQ(Thrown([&] { (void)(BigInt(0) >> -large); }),
            "ValueError: an integer cannot be shifted by a negative number of bits");
  EXPECT_EQ(Thrown([&] { (void)(BigInt(1) << large); }),
            "OverflowError: the integer is too large for the number of bits of an integer");
  EXPECT_EQ(BigInt(0) << large, 0);
  EXPECT_EQ(-large >> large, -1);
  EXPECT_EQ(Thrown([&] { (void)static_cast<int64_t>(large); }), "OverflowError: the integer is too large for int64_t");
  EXPECT_EQ(Thrown([&] { (void)static_cast<double>(BigInt(1) << 1024); }),
            "OverflowError: the integer is too large for double");
  EXPECT_EQ(Thrown([&] { (void)static_cast<double>(BigInt(1) << 2000); }),
            "OverflowError: the integer is too large for double");
  EXPECT_EQ(Thrown([&] { (void)BigInt(std::nan("")); }), "ValueError: cannot convert NaN to an integer");
  EXPECT_EQ(Thrown([&] { (void)BigInt(-HUGE_VAL); }), "OverflowError: cannot convert infinity to an integer");
}

TEST(BigInt, TextIsReadAsFarAsItIsANumber) {
  BigInt value = 5;
  std::istringstream in("  -00012 +34x");
  in >> value;
  EXPECT_EQ(value, -12);
  in >> value;
  EXPECT_EQ(value, 34);
  EXPECT_EQ(in.get(), 'x');
  for (const char *text : {"", "-", "x", "+ 1"}) {
    std::istringstream bad(text);
    EXPECT_TRUE((bad >> value).fail()) << text;
    EXPECT_EQ(value, 34) << text;
  }
  EXPECT_EQ(Text(Read("100000000000000000000000000000000000000001")), "100000000000000000000000000000000000000001");
  EXPECT_EQ(Text(0), "0");
}

TEST(BigInt, CopiesShareImmutableDigits) {
  BigInt value = BigInt(1) << 90, copy = value;
  EXPECT_TRUE(Any(copy).same_as(Any(value)));
  copy += 1;
  EXPECT_EQ(value, BigInt(1) << 90);
  BigInt moved = std::move(copy);
  EXPECT_EQ(copy, 0);
  EXPECT_EQ(moved, value + 1);
  swap(moved, value);
  EXPECT_EQ(value - moved, 1);
  EXPECT_EQ(value--, moved + 1);
  EXPECT_EQ(++value, moved + 1);
}

TEST(BigInt, ValueLikeAnInt) {
  BigInt large = BigInt(1) << 80;
  Map<BigInt, int> map{{large, 1}, {7, 2}};
  EXPECT_EQ(map[BigInt(2) << 79], 1);
  EXPECT_EQ(map[7], 2);
  EXPECT_EQ(std::hash<BigInt>()(large), std::hash<BigInt>()(BigInt(2) << 79));
  Function add = Function::FromTyped([](BigInt a, const BigInt &b) { return a + b; }, "add");
  EXPECT_EQ(add(large, 1).cast<BigInt>(), large + 1);
  EXPECT_EQ(add(true, large - large).cast<int>(), 1);
  EXPECT_EQ(Thrown([&] { add("1", 2); }),
            "TypeError: Mismatched type on argument #0 when calling: "
            "`add(0: BigInt, 1: BigInt) -> BigInt`. Expected `BigInt` but got `const char*`");
  EXPECT_EQ(Any(large).try_cast<int64_t>(), std::nullopt);
  EXPECT_EQ(TypeTraits<BigInt>::TypeSchema(), "{\"type\":\"ffi.BigInt\"}");
}

} // namespace
