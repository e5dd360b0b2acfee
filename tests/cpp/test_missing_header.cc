/* The header that the compiler's error names, for types whose header is not included here. */
#include <gtest/gtest.h>
#include <tvm/ffi/tvm_ffi.h>

#include <chrono>
#include <complex>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace tvm::ffi;
using detail::MissingHeader;
using detail::StlHeader;

struct Foo {};

TEST(MissingHeader, IsThatOfTheType) {
  EXPECT_EQ(MissingHeader<std::vector<int>>(), StlHeader::kStl);
  EXPECT_EQ((MissingHeader<std::map<std::string, Foo>>()), StlHeader::kStl);
  EXPECT_EQ(MissingHeader<std::set<int>>(), StlHeader::kStl);
  EXPECT_EQ(MissingHeader<std::wstring>(), StlHeader::kStl);
  EXPECT_EQ(MissingHeader<std::string_view>(), StlHeader::kStl);
  EXPECT_EQ(MissingHeader<std::shared_ptr<Foo>>(), StlHeader::kStl);
  EXPECT_EQ(MissingHeader<std::complex<float>>(), StlHeader::kComplex);
  EXPECT_EQ(MissingHeader<std::chrono::seconds>(), StlHeader::kChrono);
  EXPECT_EQ(MissingHeader<std::chrono::system_clock::time_point>(), StlHeader::kChrono);
}

TEST(MissingHeader, IsNoneForOtherTypes) {
  EXPECT_EQ(MissingHeader<Foo>(), StlHeader::kNone);
  EXPECT_EQ(MissingHeader<std::string>(), StlHeader::kNone); /* string.h has its traits */
  EXPECT_EQ(MissingHeader<std::less<int>>(), StlHeader::kNone);
  EXPECT_EQ(MissingHeader<Array<int>>(), StlHeader::kNone);
}

} // namespace
