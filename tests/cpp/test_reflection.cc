/* Registered classes and functions, and their use through the registry. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/reflection/registry.h>

namespace {

using namespace test;
namespace refl = tvm::ffi::reflection;

class PointObj : public Object {
public:
  int64_t x = 0, y = 0;
  Array<int64_t> history;
  Optional<String> name;
  PointObj() = default;
  PointObj(int64_t first, int64_t second) : x(first), y(second) {}
  int64_t Sum(int64_t more) const { return x + y + more; }
  void Shift(int64_t by) { x += by; }
  static String Origin() { return "0, 0"; }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("test.cpp.Point", PointObj, Object);
};
class Point : public ObjectRef {
public:
  Point(int64_t x, int64_t y) : ObjectRef(make_object<PointObj>(x, y)) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Point, ObjectRef, PointObj);
};

/* A class whose header is not at its beginning, without a default constructor. */
class NamedPointObj : public PointObj {
public:
  virtual ~NamedPointObj() = default;
  String label;
  explicit NamedPointObj(String text) : label(std::move(text)) {}
  explicit NamedPointObj(UnsafeInit) {}
  virtual int64_t Kind() const { return 2; }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.NamedPoint", NamedPointObj, PointObj);
};

int64_t HashOfInt(const Any &value) { return value.cast<Int>()->value; }
bool EqualInts(const Any &left, const Any &right) {
  if (right.cast<Int>()->value < 0) TVM_FFI_THROW(ValueError) << "negative";
  return left.cast<Int>()->value == right.cast<Int>()->value;
}
int Twice(int x) { return 2 * x; }
[[maybe_unused]] int Twice(double) { return -1; }

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::GlobalDef()
      .def(
          "test.cpp.add", [](int a, int b) { return a + b; }, "The sum.", refl::Metadata{{"cost", 3}, {"pure", true}})
      .def_packed("test.cpp.count", [](PackedArgs args, Any *result) { *result = args.size(); })
      .def_method("test.cpp.point_sum", &PointObj::Sum)
      .def("test.cpp.twice", refl::overload_cast<int>(Twice));
  refl::ObjectDef<PointObj>("A point.")
      .def_rw("x", &PointObj::x, "Across.")
      .def_ro("y", &PointObj::y, refl::default_value(5))
      .def_rw("history", &PointObj::history,
              refl::default_factory(Function::FromTyped([] { return Array<int64_t>{1}; })))
      .def_rw("name", &PointObj::name, refl::default_value(nullptr), refl::repr(false), refl::kw_only(true))
      .def("sum", &PointObj::Sum)
      .def("shift", &PointObj::Shift)
      .def_static("origin", &PointObj::Origin, "Where it begins.");
  refl::ObjectDef<NamedPointObj>().def_ro("label", &NamedPointObj::label).def("kind", &NamedPointObj::Kind);
  refl::ObjectDef<IntObj>(refl::init(false)).def_ro("value", &IntObj::value).def(refl::init<int64_t>());
  refl::TypeAttrDef<IntObj>()
      .native_fn_attr<&HashOfInt>(type_attr::kAnyHash)
      .native_fn_attr<&EqualInts>(type_attr::kAnyEqual)
      .attr("test.cpp.rank", 7);
}

/* Classes for a type that another class registers, and for a type that is never registered. */
class PointView : public Object {
public:
  int64_t x, y;
  TVM_FFI_DECLARE_OBJECT_INFO_LOOKUP("test.cpp.Point", 1);
};
class AbsentView : public Object {
public:
  TVM_FFI_DECLARE_OBJECT_INFO_LOOKUP("test.cpp.Absent", 1);
};

TEST(Reflection, TypesOfOthers) {
  Any point = Point(3, 4);
  EXPECT_EQ(point.as<PointView>()->y, 4);
  EXPECT_EQ(Any(Int(1)).as<PointView>(), nullptr);
  EXPECT_EQ(ERROR_OF(point.as<AbsentView>()).kind(), "RuntimeError");
}

TEST(Reflection, GlobalFunctions) {
  EXPECT_EQ(Function::GetGlobalRequired("test.cpp.add")(1, 2).cast<int>(), 3);
  EXPECT_EQ(Function::GetGlobalRequired("test.cpp.count")(1, 2, 3).cast<int>(), 3);
  EXPECT_EQ(Function::GetGlobalRequired("test.cpp.point_sum")(Point(1, 2), 3).cast<int>(), 6);
  EXPECT_EQ(Function::GetGlobalRequired("test.cpp.twice")(4).cast<int>(), 8);
  String metadata = Function::GetGlobalRequired("ffi.GetGlobalFuncMetadata")("test.cpp.add").cast<String>();
  EXPECT_NE(metadata.find("\"cost\":3,\"pure\":true"), String::npos) << metadata;
  EXPECT_EQ(ERROR_OF(refl::GlobalDef().def("test.cpp.add", refl::overload_cast<int>(Twice))).kind(), "RuntimeError");
}

TEST(Reflection, FieldsOfObjects) {
  Point point(3, 4);
  refl::FieldGetter get_x("test.cpp.Point", "x");
  refl::FieldSetter set_x("test.cpp.Point", "x"), set_name("test.cpp.Point", "name");
  EXPECT_EQ(get_x(point).cast<int>(), 3);
  set_x(point, 30);
  set_name(point, "p");
  EXPECT_EQ(point->x, 30);
  EXPECT_EQ(point->name, "p");
  EXPECT_EQ(ERROR_OF((set_x(point, "text"), 0)).kind(), "TypeError");
  EXPECT_EQ(point->x, 30);
  EXPECT_EQ(ERROR_OF(refl::FieldGetter("test.cpp.Point", "z")).kind(), "RuntimeError");
  EXPECT_EQ(ERROR_OF(refl::FieldGetter("test.cpp.Absent", "z")).kind(), "RuntimeError");
  const TVMFFIFieldInfo *y = refl::GetFieldInfo("test.cpp.Point", "y");
  EXPECT_EQ(y->flags & kTVMFFIFieldFlagBitMaskWritable, 0);
  EXPECT_NE(y->flags & kTVMFFIFieldFlagBitMaskHasDefault, 0);
  const TVMFFIFieldInfo *name = refl::GetFieldInfo("test.cpp.Point", "name");
  EXPECT_EQ(name->flags & (kTVMFFIFieldFlagBitMaskReprOff | kTVMFFIFieldFlagBitMaskKwOnly),
            kTVMFFIFieldFlagBitMaskReprOff | kTVMFFIFieldFlagBitMaskKwOnly);
  EXPECT_EQ(ToStringView(refl::GetFieldInfo("test.cpp.Point", "x")->doc), "Across.");
}

TEST(Reflection, FieldsBehindAVirtualTable) {
  ObjectPtr<NamedPointObj> point = make_object<NamedPointObj>("label");
  point->x = 8;
  EXPECT_EQ(refl::FieldGetter("test.cpp.NamedPoint", "label")(ObjectPtr<Object>(point)).cast<String>(), "label");
  EXPECT_EQ(refl::FieldGetter("test.cpp.Point", "x")(ObjectPtr<Object>(point)).cast<int>(), 8);
  EXPECT_EQ(refl::GetMethod("test.cpp.NamedPoint", "kind")(point).cast<int>(), 2);
  int n_fields = 0;
  refl::ForEachFieldInfo(TVMFFIGetTypeInfo(NamedPointObj::RuntimeTypeIndex()),
                         [&n_fields](const TVMFFIFieldInfo *) { ++n_fields; });
  EXPECT_EQ(n_fields, 5);
}

TEST(Reflection, Methods) {
  Point point(1, 2);
  EXPECT_EQ(refl::GetMethod("test.cpp.Point", "sum")(point, 3).cast<int>(), 6);
  refl::GetMethod("test.cpp.Point", "shift")(point, 10);
  EXPECT_EQ(point->x, 11);
  EXPECT_EQ(refl::GetMethod("test.cpp.Point", "origin")().cast<String>(), "0, 0");
  EXPECT_EQ(ERROR_OF(refl::GetMethod("test.cpp.Point", "sum")(point)).message(),
            "Mismatched number of arguments when calling: `test.cpp.Point.sum(0: test.cpp.Point, 1: int) -> int`. "
            "Expected 2 but got 1 arguments");
}

TEST(Reflection, ObjectsMadeFromTheirFields) {
  refl::ObjectCreator create("test.cpp.Point");
  Point point = create({{"x", 1}, {"name", "p"}}).cast<Point>();
  EXPECT_EQ(point->y, 5);
  EXPECT_EQ(point->history.size(), 1U);
  EXPECT_FALSE(point->history.same_as(create({{"x", 1}}).cast<Point>()->history));
  EXPECT_EQ(ERROR_OF(create({{"y", 1}})).message(), "Required field `x` not set in type `test.cpp.Point`");
  EXPECT_EQ(ERROR_OF(create({{"x", 1}, {"z", 1}})).message(), "Type `test.cpp.Point` does not have field `z`");
  EXPECT_EQ(refl::ObjectCreator("test.cpp.NamedPoint")({{"x", 1}, {"label", "l"}}).cast<ObjectRef>()->GetTypeKey(),
            "test.cpp.NamedPoint");
  EXPECT_EQ(ERROR_OF(refl::ObjectCreator("test.cpp.Expr")).kind(), "RuntimeError");
}

TEST(Reflection, ConstructorsAndCopies) {
  refl::TypeAttrColumn init(type_attr::kInit), copy(type_attr::kShallowCopy), rank("test.cpp.rank");
  Function make_int = init[IntObj::RuntimeTypeIndex()].cast<Function>();
  EXPECT_EQ(make_int(4).cast<Int>()->value, 4);
  EXPECT_EQ(init[PointObj::RuntimeTypeIndex()].cast<Function>()(1, 2).cast<Point>()->y, 2); /* made from the fields */
  Point point(1, 2), other = copy[PointObj::RuntimeTypeIndex()].cast<Function>()(point).cast<Point>();
  EXPECT_FALSE(other.same_as(point));
  EXPECT_EQ(other->y, 2);
  EXPECT_EQ(rank[IntObj::RuntimeTypeIndex()].cast<int>(), 7);
  EXPECT_TRUE(rank[PointObj::RuntimeTypeIndex()] == nullptr);
  EXPECT_EQ(ERROR_OF(refl::TypeAttrColumn("test.cpp.absent")).kind(), "RuntimeError");
}

/* A class with a const member. */
class FixedObj : public Object {
public:
  const int64_t number = 7;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Fixed", FixedObj, Object);
};

TEST(Reflection, ConstMembersAreOnlyRead) {
  refl::ObjectDef<FixedObj>(refl::init(false)).def_ro("number", &FixedObj::number);
  ObjectRef fixed(make_object<FixedObj>());
  EXPECT_EQ(refl::FieldGetter("test.cpp.Fixed", "number")(fixed).cast<int>(), 7);
  EXPECT_EQ(ERROR_OF((refl::FieldSetter("test.cpp.Fixed", "number")(fixed, 8), 0)).message(),
            "a field that is const cannot be set");
}

TEST(Reflection, HooksOfKeys) {
  Dict<Int, int> dict;
  for (int i = 0; i < 50; ++i) dict.Set(Int(i), i);
  EXPECT_EQ(dict.at(Int(7)), 7);
  EXPECT_EQ(ERROR_OF(dict.count(Int(-1))).kind(), "none"); /* no key has its hash, so no comparison takes place */
  Dict<Int, int> small{{Int(1), 1}};
  EXPECT_EQ(ERROR_OF(small.count(Int(-1))).message(), "negative");
  EXPECT_EQ(small.size(), 1U);
}

} // namespace
