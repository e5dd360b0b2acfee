/* String, Bytes, Optional. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/optional.h>

#include <initializer_list>
#include <sstream>
#include <unordered_map>

namespace {

using namespace test;

TEST(String, ShortAndLongContent) {
  for (size_t size : std::initializer_list<size_t>{0, 1, 7, 8, 15, 127, 128, 1000}) {
    std::string text(size, 'q');
    for (const String &made :
         {String(text), String(std::string(text)), String(text.c_str()), String(text.data(), size)}) {
      EXPECT_EQ(made.size(), size);
      EXPECT_EQ(made, text);
      EXPECT_EQ(std::char_traits<char>::length(made.c_str()), size);
      String copy = made, moved = std::move(copy);
      EXPECT_EQ(moved, made);
      EXPECT_EQ(AnyView(made).type_index(), size <= 7 ? kTVMFFISmallStr : kTVMFFIStr);
    }
  }
  for (size_t size : std::initializer_list<size_t>{3, 20, 500}) {
    std::string source(size, 'q');
    EXPECT_EQ(String(std::move(source)).size(), size);
    EXPECT_TRUE(source.empty());
  }
  String with_nul("a\0b", 3);
  EXPECT_EQ(with_nul.size(), 3U);
  EXPECT_EQ(static_cast<std::string>(with_nul), std::string("a\0b", 3));
}

TEST(String, OrderAndEquality) {
  String a("abc");
  EXPECT_TRUE(a == "abc" && "abc" == a && a == std::string("abc") && std::string("abc") == a);
  EXPECT_TRUE(a != "abd" && a < "abd" && "abd" > a && a <= "abc" && a >= "abc" && a < String("abcd"));
  EXPECT_TRUE(String("\xff") > "a"); /* bytes are unsigned */
  EXPECT_EQ(a.compare("abc"), 0);
  EXPECT_EQ(a.compare(std::string("z")), -1);
  EXPECT_EQ(a.compare(String("a")), 1);
}

TEST(String, SearchAndParts) {
  String s("hello world");
  EXPECT_EQ(s.find("world"), 6U);
  EXPECT_EQ(s.find("o", 5), 7U);
  EXPECT_EQ(s.find("wxyz", 0, 1), 6U);
  EXPECT_EQ(s.find("absent"), String::npos);
  EXPECT_EQ(s.substr(6), "world");
  EXPECT_THROW(s.substr(12), std::out_of_range);
  EXPECT_THROW(s.at(11), std::out_of_range);
  EXPECT_TRUE(s.starts_with("hell") && s.ends_with(String("rld")) && !s.ends_with("a much longer text than s"));
  EXPECT_EQ(String(",a,").Split(',').size(), 3U);
  EXPECT_EQ(String("").Split(',').size(), 1U);
  EXPECT_EQ(s + "!" + std::string("?") + String("."), "hello world!?.");
  EXPECT_EQ("x" + s, "xhello world");
  std::ostringstream out;
  out << s;
  EXPECT_EQ(out.str(), "hello world");
}

TEST(String, InQuotes) {
  EXPECT_EQ(EscapeStringJSON(String("a\"\\\n\t\x01/\x7f", 8)), R"("a\"\\\n\t\u0001\/\u007f")");
  EXPECT_EQ(EscapeStringJSON("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(EscapedStringPy(String("a\n\x1b\x7f\"", 5)), R"("a\n\x1b\x7f\"")");
  EXPECT_EQ(EscapedStringPy("\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80"), R"("\u00e9\u4e16\U0001f600")");
  EXPECT_EQ(EscapedStringPy("\x80\xc3 \xe4\xb8"), R"("\x80\xc3 \xe4\xb8")");
}

TEST(String, KeysOfStandardMaps) {
  std::unordered_map<String, int> counts{{"a", 1}, {"a text of some length", 2}};
  EXPECT_EQ(counts.at(String("a text of some length")), 2);
  EXPECT_EQ(std::hash<Bytes>()(Bytes("a", 1)), std::hash<Bytes>()(Bytes(std::string("a"))));
}

TEST(Bytes, Compare) {
  EXPECT_LT(Bytes::memncmp("ab", "abc", 2, 3), 0);
  EXPECT_GT(Bytes::memncmp("\xff", "a", 1, 1), 0);
  EXPECT_TRUE(Bytes::memequal("a\0b", "a\0b", 3, 3));
  EXPECT_FALSE(Bytes::memequal("a", "ab", 1, 2));
  EXPECT_TRUE(Bytes::memequal(nullptr, nullptr, 0, 0));
}

TEST(Bytes, AreAssignedFromTheirConstructorArguments) {
  Bytes bytes;
  bytes = "text";
  EXPECT_EQ(std::string(bytes), "text");
  bytes = String("a longer text");
  EXPECT_EQ(std::string(bytes), "a longer text");
  bytes = TVMFFIByteArray{"a\0b", 3};
  EXPECT_EQ(bytes.size(), 3U);
  bytes = {"abcd", 2};
  Bytes &same = bytes;
  bytes = same;
  EXPECT_EQ(std::string(bytes), "ab");
}

TEST(Optional, LayoutsAreThoseOfTheABI) {
  static_assert(sizeof(Optional<Int>) == sizeof(void *) && sizeof(Optional<ObjectPtr<IntObj>>) == sizeof(void *), "");
  static_assert(sizeof(Optional<int>) == 16 && sizeof(Optional<String>) == 16 && sizeof(Optional<double>) == 16, "");
}

template <typename T> void CheckOptional(T value) {
  Optional<T> none, some = value;
  EXPECT_FALSE(none.has_value());
  EXPECT_TRUE(some.has_value());
  EXPECT_TRUE(none == std::nullopt && some != std::nullopt && none != some && some == some);
  Error error = ERROR_OF(none.value());
  EXPECT_EQ(error.kind(), "RuntimeError");
  if constexpr (TypeTraits<T>::storage_enabled) {
    EXPECT_TRUE(Any(none) == nullptr);
    EXPECT_TRUE(Any(some).template cast<Optional<T>>() == some);
    EXPECT_FALSE(Any(none).template cast<Optional<T>>().has_value());
    Optional<T> copy = some;
    [[maybe_unused]] T moved = *std::move(copy);
    EXPECT_FALSE(copy.has_value());
  }
  some = std::nullopt;
  EXPECT_TRUE(some == none);
  some = value;
  EXPECT_TRUE(some.has_value());
}

TEST(Optional, OfEachLayout) {
  CheckOptional<int>(3);
  CheckOptional<String>("text");
  CheckOptional<Int>(Int(3));
  CheckOptional<ObjectPtr<IntObj>>(make_object<IntObj>(3));
  CheckOptional<const char *>("text");
}

TEST(Optional, NullIsNothing) {
  static_assert(std::is_convertible_v<std::nullptr_t, Optional<Int>>, "");
  static_assert(!std::is_convertible_v<std::nullptr_t, Optional<int>>, ""); /* overloads for pointers and for optionals
                                                                             * must be distinguishable */
  EXPECT_TRUE(Optional<void *>(nullptr).has_value()); /* a null pointer is a pointer like any other */
  Optional<int> number = 4;
  Optional<String> text = String("text");
  Optional<ObjectPtr<IntObj>> pointer = make_object<IntObj>(3);
  Optional<Optional<int>> nested = Optional<int>(7);
  number = nullptr;
  text = nullptr;
  pointer = nullptr;
  nested = nullptr;
  EXPECT_FALSE(number.has_value() || text.has_value() || pointer.has_value() || nested.has_value());
}

TEST(Optional, OfAPointerIsAPointer) {
  Optional<ObjectPtr<IntObj>> pointer = make_object<IntObj>(3);
  ObjectPtr<IntObj> same = pointer;
  ObjectPtr<Object> base = pointer;
  EXPECT_EQ(same->value, 3);
  EXPECT_EQ(ObjectRef(pointer).use_count(), 4);
  pointer.reset();
  EXPECT_FALSE(pointer.has_value());
  Optional<Arc<IntObj>> arc = make_arc<IntObj>(5);
  same = arc;
  EXPECT_TRUE(same == arc && arc->value == 5);
  EXPECT_EQ((*arc)->value, 5);
}

TEST(Optional, ValuesAndFallbacks) {
  Optional<String> text;
  EXPECT_EQ(text.value_or("default"), "default");
  text = "hello";
  EXPECT_TRUE(text == "hello" && text != "hallo");
  EXPECT_EQ(ERROR_OF(std::move(text).as_or_throw<Bytes>()).kind(), "TypeError");
  EXPECT_EQ(text.value(), "hello");
  Optional<Int> number = Int(4);
  EXPECT_EQ(number->value, 4);
  EXPECT_EQ((*number)->value, 4);
  EXPECT_TRUE(number.same_as(number.value()));
  EXPECT_EQ(number.as<IntObj>()->value, 4);
  EXPECT_FALSE(number.as<Float>().has_value());
  Optional<Optional<int>> nested = Optional<int>(std::nullopt); /* an inner nullopt is the same as an outer one */
  EXPECT_FALSE(nested.has_value());
  nested = Optional<int>(7);
  EXPECT_EQ(nested.value().value(), 7);
  EXPECT_EQ(TypeTraits<Optional<String>>::TypeStr(), "Optional<str>");
}

} // namespace
