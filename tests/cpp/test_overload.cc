/* Methods and constructors with the same name; and all headers included at once. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/tvm_ffi.h>

namespace {

using namespace test;
namespace refl = tvm::ffi::reflection;

class TextObj : public Object {
public:
  String text;
  explicit TextObj(String content) : text(std::move(content)) {}
  explicit TextObj(int64_t number) : text(std::to_string(number)) {}
  bool Is(const String &other) const { return text == other; }
  bool Is(int64_t number) const { return text == std::to_string(number); }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Text", TextObj, Object);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::OverloadObjectDef<TextObj>("A text.")
      .def_ro("text", &TextObj::text)
      .def(refl::init<int64_t>())
      .def(refl::init<String>())
      .def("is", refl::overload_cast<const String &>(&TextObj::Is, refl::const_))
      .def("is", refl::overload_cast<int64_t>(&TextObj::Is, refl::const_))
      .def_static("one", [] { return 1; });
}

TEST(Overload, TheFirstThatFits) {
  Function make = refl::GetMethod("test.cpp.Text", "__ffi_init__"), is = refl::GetMethod("test.cpp.Text", "is");
  Any text = make("12"), number = make(12);
  EXPECT_TRUE(is(text, 12).cast<bool>());
  EXPECT_TRUE(is(number, "12").cast<bool>());
  EXPECT_FALSE(is(number, "13").cast<bool>());
  EXPECT_TRUE(refl::TypeAttrColumn(type_attr::kInit)[TextObj::RuntimeTypeIndex()].same_as(AnyView(make)));
  EXPECT_EQ(refl::GetMethod("test.cpp.Text", "one")().cast<int>(), 1);
}

TEST(Overload, WhyNoneFits) {
  Function make = refl::GetMethod("test.cpp.Text", "__ffi_init__"), one = refl::GetMethod("test.cpp.Text", "one");
  Error error = ERROR_OF(make(1.5));
  EXPECT_EQ(error.kind(), "TypeError");
  EXPECT_EQ(error.message(),
            "No matching overload found when calling: `test.cpp.Text.__ffi_init__` with 1 arguments:\n"
            "Overload #0: Mismatched type on argument #0 when calling: `test.cpp.Text.__ffi_init__(0: int) -> "
            "ffi.Object`. Expected `int` but got `float`\n"
            "Overload #1: Mismatched type on argument #0 when calling: `test.cpp.Text.__ffi_init__(0: str) -> "
            "ffi.Object`. Expected `str` but got `float`");
  EXPECT_NE(ERROR_OF(make()).message().find("Overload #1: Mismatched number of arguments"), std::string::npos);
  EXPECT_EQ(ERROR_OF(one(1)).message(), "Mismatched number of arguments when calling: `test.cpp.Text.one() -> int`. "
                                        "Expected 0 but got 1 arguments");
}

TEST(Overload, EachSignatureIsKnown) {
  const TypeInfo *info = TVMFFIGetTypeInfo(TextObj::RuntimeTypeIndex());
  int n_found = 0;
  for (int32_t i = 0; i < info->num_methods; ++i) n_found += ToStringView(info->methods[i].name) == "is";
  EXPECT_EQ(n_found, 2);
}

} // namespace
