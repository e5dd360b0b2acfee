/* JSON, graphs of objects as JSON, and base64. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/extra/base64.h>
#include <tvm/ffi/extra/serialization.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>

namespace {

using namespace test;

TEST(Json, TextBecomesValuesAndTextAgain) {
  String text = R"({"a":[1,2.5,true,null,"\u00e9\n"],"b":{}})";
  json::Object value = json::Parse(text).cast<json::Object>();
  json::Array items = value["a"].cast<json::Array>();
  EXPECT_EQ(items[0].type_index(), kTVMFFIInt);
  EXPECT_EQ(items[1].cast<double>(), 2.5);
  EXPECT_EQ(items[3], nullptr);
  EXPECT_EQ(items[4].cast<String>(), "\xc3\xa9\n");
  EXPECT_EQ(json::Stringify(value), "{\"a\":[1,2.5,true,null,\"\xc3\xa9\\n\"],\"b\":{}}");
  EXPECT_EQ(json::Stringify(json::Array{1, 2}, 2), "[\n  1,\n  2\n]");
  EXPECT_EQ(json::Stringify(json::Array{1, 2}, std::nullopt), "[1,2]");
}

TEST(Json, ErrorsAreThrownOrTold) {
  EXPECT_EQ(Thrown([] { json::Parse("[1,"); }).rfind("ValueError: ", 0), 0U);
  String told = "an older text";
  EXPECT_EQ(json::Parse("[1,", &told), nullptr);
  EXPECT_GT(told.size(), 0U);
  EXPECT_EQ(json::Parse("7", &told).cast<int>(), 7);
  EXPECT_EQ(told, "");
  EXPECT_EQ(Thrown([] { json::Stringify(Bytes("x", 1)); }).rfind("ValueError: ", 0), 0U);
}

class PairObj : public Object {
public:
  Any first, second;
  PairObj() = default;
  PairObj(Any a, Any b) : first(std::move(a)), second(std::move(b)) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.json.Pair", PairObj, Object);
};
class Pair : public ObjectRef {
public:
  Pair(Any a, Any b) : ObjectRef(make_object<PairObj>(std::move(a), std::move(b))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Pair, ObjectRef, PairObj);
};
/* A class with its own serialization: its data is its number as a string. */
class CodeObj : public Object {
public:
  int64_t number;
  explicit CodeObj(int64_t n) : number(n) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.json.Code", CodeObj, Object);
};
class Code : public ObjectRef {
public:
  explicit Code(int64_t n) : ObjectRef(make_object<CodeObj>(n)) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Code, ObjectRef, CodeObj);
};
TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = reflection;
  refl::ObjectDef<PairObj>().def_ro("first", &PairObj::first).def_ro("second", &PairObj::second);
  refl::TypeAttrDef<CodeObj>()
      .def(type_attr::kDataToJson, [](const CodeObj *code) { return std::to_string(code->number); })
      .def(type_attr::kDataFromJson, [](const String &text) { return Code(std::stoll(text)); });
}

TEST(Graph, ObjectsComeBackAndSharedOnesStayShared) {
  Code shared(42);
  Any again = FromJSONGraph(ToJSONGraph(Array<Any>{Pair(shared, 1.5), Pair(shared, String("x"))}));
  Array<Pair> pairs = again.cast<Array<Pair>>();
  EXPECT_EQ(pairs[0]->first.cast<Code>()->number, 42);
  EXPECT_TRUE(pairs[0]->first.same_as(pairs[1]->first));
  EXPECT_FALSE(pairs[0]->first.same_as(shared));
  EXPECT_EQ(pairs[1]->second.cast<String>(), "x");
  json::Object graph = ToJSONGraph(1, json::Object{{"v", 3}}).cast<json::Object>();
  EXPECT_EQ(graph["metadata"].cast<json::Object>()["v"].cast<int>(), 3);
  EXPECT_EQ(ToJSONGraph(1).cast<json::Object>().count("metadata"), 0U);
}

TEST(Graph, UnreadableValuesAreATypeError) {
  Function f = Function::FromTyped([] {});
  EXPECT_EQ(Thrown([&] { ToJSONGraph(Pair(f, 1)); }).rfind("TypeError: ", 0), 0U);
  EXPECT_NE(Thrown([&] { FromJSONGraph(json::Object{{"nodes", json::Array{}}}); }), "none: nothing was thrown");
}

TEST(Base64, BytesAndText) {
  const char *kTexts[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
  for (auto &[bytes, text] : kTexts) {
    EXPECT_EQ(Base64Encode(Bytes(std::string(bytes))), text);
    EXPECT_EQ(std::string(Base64Decode(String(text))), bytes);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  EXPECT_EQ(std::string(Base64Decode(Base64Encode(Bytes(all)))), all);
  EXPECT_TRUE(std::string(Base64Encode(Bytes(all))).find('+') != std::string::npos);
}

TEST(Base64, OtherTextIsAnError) {
  EXPECT_EQ(Thrown([] { Base64Decode(String("abc")); }),
            "ValueError: Expected base64 in groups of 4 characters but got 3 characters");
  EXPECT_EQ(Thrown([] { Base64Decode(String("ab-d")); }),
            "ValueError: Expected a base64 character but got byte 45 at position 2");
  for (const char *text : {"====", "a===", "=abc", "ab=c", "\xff\xff\xff\xff"}) {
    EXPECT_EQ(Thrown([text] { Base64Decode(String(text)); }).rfind("ValueError: ", 0), 0U) << text;
  }
}

} // namespace
