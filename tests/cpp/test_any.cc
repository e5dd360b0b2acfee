/* Values: their contents, their conversions, and their use as keys. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/any.h>
#include <tvm/ffi/big_int.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/device.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

#include <cfloat>
#include <cmath>
#include <cstdint>

namespace {

using namespace test;

enum class Color : int16_t { kRed = -1, kGreen = 2 };

TEST(Any, PlainData) {
  Any any;
  EXPECT_TRUE(any == nullptr);
  any = 1;
  EXPECT_EQ(any.type_index(), kTVMFFIInt);
  EXPECT_EQ(any.cast<int64_t>(), 1);
  EXPECT_EQ(any.cast<double>(), 1.0);
  EXPECT_EQ(any.cast<bool>(), true);
  EXPECT_FALSE(any.as<double>().has_value()); /* as() does not convert */
  EXPECT_FALSE(any.as<bool>().has_value());
  any = true;
  EXPECT_EQ(any.type_index(), kTVMFFIBool);
  EXPECT_EQ(any.cast<int>(), 1);
  any = 2.5f;
  EXPECT_EQ(any.cast<float>(), 2.5f);
  EXPECT_FALSE(any.try_cast<int>().has_value());
  any = Color::kRed;
  EXPECT_EQ(any.cast<Color>(), Color::kRed);
  EXPECT_EQ(any.cast<int>(), -1);
  int x = 0;
  any = static_cast<void *>(&x);
  EXPECT_EQ(any.cast<void *>(), &x);
  EXPECT_EQ(Any(nullptr).cast<void *>(), nullptr);
  EXPECT_FALSE(Any(1).try_cast<StrictBool>().has_value());
}

TEST(Any, MismatchesAreReported) {
  Error error = ERROR_OF(Any(2.5).cast<int>());
  EXPECT_EQ(error.kind(), "TypeError");
  EXPECT_EQ(error.message(), "Cannot convert from type `float` to `int`");
  EXPECT_EQ(ERROR_OF(Any(2).as_or_throw<double>()).message(), "Cannot treat type `int` as type `float`");
  EXPECT_EQ(ERROR_OF(AnyView(UINT64_MAX)).kind(), "OverflowError");
  EXPECT_EQ(ERROR_OF(AnyView(static_cast<unsigned long long>(-1))).kind(), "OverflowError");
  EXPECT_EQ(Any(static_cast<uint64_t>(INT64_MAX)).cast<uint64_t>(), static_cast<uint64_t>(INT64_MAX));
}

TEST(Any, AnUnsignedIntegerBeyondInt64IsAValueLikeAnyOther) {
  enum class Wide : uint64_t { kAll = UINT64_MAX };
  constexpr uint64_t kLarge = UINT64_MAX - 1;
  Any any = kLarge;
  EXPECT_EQ(any.type_index(), kTVMFFIBigInt);
  EXPECT_EQ(any.cast<uint64_t>(), kLarge);
  EXPECT_EQ(any.as<uint64_t>(), kLarge);
  EXPECT_EQ(any.as<int64_t>(), std::nullopt);
  EXPECT_EQ(std::move(any).cast<uint64_t>(), kLarge);
  EXPECT_EQ(Any(Wide::kAll).as<Wide>(), Wide::kAll);
  EXPECT_EQ(Any(BigInt(1) << 64).as<uint64_t>(), std::nullopt);

  Optional<uint64_t> optional = kLarge;
  EXPECT_EQ(*optional, kLarge);
  EXPECT_EQ(*std::move(optional), kLarge);
  Array<uint64_t> array{1, kLarge};
  array.push_back(UINT64_MAX);
  EXPECT_EQ(array[1], kLarge);
  EXPECT_EQ(array.back(), UINT64_MAX);
  EXPECT_TRUE(Any(array).as<Array<uint64_t>>().has_value());
  EXPECT_FALSE(Any(array).try_cast<Array<int64_t>>().has_value());
  Map<uint64_t, uint64_t> map{{kLarge, UINT64_MAX}};
  EXPECT_EQ(map.at(kLarge), UINT64_MAX);
  EXPECT_EQ(map.count(UINT64_MAX), 0u);
  map.Set(UINT64_MAX, 1);
  map.erase(kLarge);
  EXPECT_EQ(map.size(), 1u);
  Tuple<uint64_t, int> tuple(kLarge, 2);
  EXPECT_EQ(std::move(tuple).get<0>(), kLarge);
  EXPECT_EQ((Variant<uint64_t, String>(kLarge).get<uint64_t>()), kLarge);

  Function next = Function::FromTyped([](uint64_t x) { return x + 1; });
  EXPECT_EQ(next(kLarge).cast<uint64_t>(), UINT64_MAX);
  TypedFunction<uint64_t(uint64_t)> typed = next;
  EXPECT_EQ(typed(kLarge), UINT64_MAX);
}

TEST(Any, AFiniteNumberDoesNotBecomeAnInfiniteFloat) {
  constexpr double kMax = static_cast<double>(FLT_MAX), kHalfway = 0x1.ffffffp127;
  EXPECT_EQ(Any(kMax).cast<float>(), FLT_MAX);
  EXPECT_EQ(Any(std::nextafter(kHalfway, 0.0)).cast<float>(), FLT_MAX);
  EXPECT_EQ(Any(HUGE_VAL).cast<float>(), HUGE_VALF);
  EXPECT_TRUE(std::isnan(Any(std::nan("")).cast<float>()));
  EXPECT_EQ(Any(1e-300).cast<float>(), 0.0f);
  for (double number : {kHalfway, -kHalfway, 1e300}) {
    EXPECT_EQ(Any(number).try_cast<float>(), std::nullopt);
    EXPECT_EQ(Any(number).as<float>(), std::nullopt);
    EXPECT_EQ(Any(number).cast<double>(), number);
  }
  Error error = ERROR_OF(Any(-1e300).cast<float>());
  EXPECT_EQ(error.kind(), "OverflowError");
  EXPECT_EQ(error.message(),
            "Cannot convert -1e+300, which is outside the range of a float, -3.4028234663852886e+38 to "
            "3.4028234663852886e+38, to `float`");
  EXPECT_EQ(ERROR_OF(Any(Array<double>{1.0, 1e39}).cast<Array<float>>()).kind(), "OverflowError");
}

TEST(Any, NumbersOutsideARangeAreRefused) {
  Any large = (int64_t{1} << 40) + 5, negative = -40000, big = Any(BigInt(1) << 70);
  EXPECT_EQ(large.try_cast<int32_t>(), std::nullopt);
  EXPECT_EQ(large.as<uint32_t>(), std::nullopt);
  EXPECT_EQ(negative.try_cast<int16_t>(), std::nullopt);
  EXPECT_EQ(negative.try_cast<uint64_t>(), std::nullopt);
  EXPECT_EQ(negative.try_cast<bool>(), std::nullopt);
  EXPECT_EQ(negative.cast<int32_t>(), -40000);
  EXPECT_EQ(Any(true).cast<int8_t>(), 1);
  EXPECT_EQ(Any(BigInt(UINT64_MAX)).cast<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(big.try_cast<uint64_t>(), std::nullopt);
  EXPECT_EQ(big.cast<double>(), 0x1p70);
  EXPECT_EQ(Any(-(BigInt(1) << 70)).cast<float>(), -0x1p70f);
  EXPECT_EQ(Any(BigInt(1) << 1024).try_cast<double>(), std::nullopt);
  Error error = ERROR_OF(large.cast<Color>());
  EXPECT_EQ(error.kind(), "OverflowError");
  EXPECT_EQ(error.message(), "Cannot convert 1099511627781, which is outside the range -32768 to 32767, to `int`");
  EXPECT_EQ(ERROR_OF(big.as_or_throw<int64_t>()).kind(), "OverflowError");
  EXPECT_EQ(ERROR_OF(Any(true).as_or_throw<int64_t>()).message(), "Cannot treat type `bool` as type `int`");
  EXPECT_EQ(ERROR_OF(Any(Array<Any>{1, 300}).cast<Array<uint8_t>>()).kind(), "OverflowError");
}

TEST(Any, ObjectsAreCounted) {
  int before = IntObj::n_alive;
  {
    Int number(1);
    Any any = number, copy = any;
    EXPECT_EQ(number.use_count(), 3);
    copy = nullptr;
    EXPECT_EQ(number.use_count(), 2);
    AnyView view = any;
    EXPECT_EQ(number.use_count(), 2);
    Any owned = view;
    EXPECT_EQ(number.use_count(), 3);
    Int out = std::move(owned).cast<Int>();
    EXPECT_TRUE(owned == nullptr);
    EXPECT_EQ(number.use_count(), 3);
    Any &same = any;
    any = same;
    EXPECT_TRUE(any.same_as(number));
    EXPECT_EQ(any.as<IntObj>()->value, 1);
    EXPECT_EQ(any.as<FloatObj>(), nullptr);
  }
  EXPECT_EQ(IntObj::n_alive, before);
}

TEST(Any, AFailedMoveLeavesTheValue) {
  Any any = Int(1);
  EXPECT_EQ(ERROR_OF(std::move(any).as_or_throw<Float>()).kind(), "TypeError");
  EXPECT_EQ(any.cast<Int>()->value, 1);
}

TEST(Any, BorrowedContentBecomesOwned) {
  std::string content = "a text that is longer than seven";
  AnyView view = content;
  EXPECT_EQ(view.type_index(), kTVMFFIRawStr);
  Any any = view;
  content = "something else";
  EXPECT_EQ(any.type_index(), kTVMFFIStr);
  EXPECT_EQ(any.cast<String>(), "a text that is longer than seven");
  EXPECT_EQ(Any(AnyView("short")).type_index(), kTVMFFISmallStr);
  TVMFFIByteArray bytes{"a\0b", 3};
  EXPECT_EQ(Any(AnyView(&bytes)).cast<Bytes>().size(), 3U);
}

TEST(Any, FallbacksMakeAReference) {
  EXPECT_EQ(Any(7).cast<Expr>()->text, "7");
  EXPECT_EQ(Any(true).cast<Expr>()->text, "true");
  EXPECT_EQ(AnyView("seven").cast<Expr>()->text, "seven");
  EXPECT_FALSE(Any(7).as<Expr>().has_value());
  EXPECT_FALSE(Any(nullptr).cast<Expr>().defined());
  EXPECT_EQ(ERROR_OF(Any(1.5).cast<Expr>()).message(), "Cannot convert from type `float` to `test.cpp.Expr`");
}

TEST(Any, KeysAreEqualByContentOrBits) {
  AnyHash hash;
  AnyEqual equal;
  std::string long_text(20, 'x');
  struct {
    Any left, right;
    bool is_equal;
  } cases[] = {{String("abc"), String("abc"), true},
               {String(long_text), String(long_text), true},
               {String("abc"), Bytes("abc", 3), false},
               {String(long_text), String(long_text + "y"), false},
               {1, 1, true},
               {1, 1.0, false},
               {1, true, false},
               {0.0, -0.0, false},
               {nullptr, nullptr, true},
               {nullptr, 0, false},
               {Float(1), Float(1), false}}; /* Int has hooks: see test_reflection.cc */
  for (const auto &[left, right, is_equal] : cases) {
    EXPECT_EQ(equal(left, right), is_equal) << left.GetTypeKey() << " " << right.GetTypeKey();
    EXPECT_TRUE(!is_equal || hash(left) == hash(right));
  }
  Any number = Float(1);
  EXPECT_TRUE(equal(number, Any(number)));
}

/* The hashes of the ABI: other libraries search the maps that our headers fill. */
TEST(Any, HashesAreThoseOfTheABI) {
  EXPECT_EQ(detail::StableHashBytes("", 0), 0U);
  EXPECT_EQ(detail::StableHashBytes("a", 1), 97U);
  char buffer[32] = "-0123456789abcdef";
  EXPECT_EQ(detail::StableHashBytes(buffer + 1, 16), detail::StableHashBytes("0123456789abcdef", 16));
  TVMFFIAny small = AnyView(String("abcdefg")).CopyToTVMFFIAny();
  EXPECT_EQ(detail::StableHashSmallStrBytes(&small), detail::StableHashBytes("abcdefg", 7));
  EXPECT_EQ(detail::StableHashCombine(1, 2), 1U ^ (2U + 0x9e3779b9U + 64U));
}

TEST(Any, TypesAndDevicesOfText) {
  EXPECT_EQ(AnyView("bfloat16x2").cast<DLDataType>(), (DLDataType{kDLBfloat, 16, 2}));
  EXPECT_EQ(ERROR_OF(AnyView("nonsense").cast<DLDataType>()).kind(), "ValueError");
  EXPECT_EQ(DLDataTypeToString(DLDataType{kDLBool, 8, 1}), "bool");
  EXPECT_EQ(DTypeAbbrev(DLDataType{kDLUInt, 8, 4}), "u8x4");
  EXPECT_EQ(DTypeAbbrev(DLDataType{kDLFloat8_e4m3fn, 8, 1}), "f8_e4m3fn");
  EXPECT_EQ(DTypeAbbrev(DLDataType{kDLOpaqueHandle, 0, 0}), "void");
  DLDevice device = AnyView("cuda:2147483647").cast<DLDevice>();
  EXPECT_EQ(device.device_type, kDLCUDA);
  EXPECT_EQ(device.device_id, 2147483647);
  for (const char *bad : {"cuda:", "cuda:-1", "cuda:1:2", "cuda:2147483648", "cuda:99999999999", "tpu", ":1", ""}) {
    EXPECT_FALSE(AnyView(bad).try_cast<DLDevice>().has_value()) << bad;
  }
}

} // namespace
