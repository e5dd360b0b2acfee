/* Copies, strings, hashes and orders of any value. */
#include "terms.h"

#include <gtest/gtest.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/extra/dataclass.h>

#include <sstream>

namespace {

using namespace test;
namespace refl = tvm::ffi::reflection;

/* A class with every hook. */
class HookedObj : public Object {
public:
  Any content;
  explicit HookedObj(Any value) : content(std::move(value)) {}
  static String Repr(const HookedObj *self, const TypedFunction<String(AnyView)> &repr) {
    return "<" + std::string(repr(self->content)) + ">";
  }
  static int64_t Hash(const HookedObj *self, const TypedFunction<int64_t(AnyView)> &hash) {
    return hash(self->content) + 1;
  }
  static bool Eq(const HookedObj *lhs, const HookedObj *rhs, const TypedFunction<bool(AnyView, AnyView)> &eq) {
    if (lhs->content == nullptr) TVM_FFI_THROW(KeyError) << "nothing to compare";
    return eq(lhs->content, rhs->content);
  }
  static int32_t Compare(const HookedObj *lhs, const HookedObj *rhs,
                         const TypedFunction<int32_t(AnyView, AnyView)> &compare) {
    return -compare(lhs->content, rhs->content);
  }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Hooked", HookedObj, Object);
};
class Hooked : public ObjectRef {
public:
  explicit Hooked(Any content) : ObjectRef(make_object<HookedObj>(std::move(content))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Hooked, ObjectRef, HookedObj);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<HookedObj>(refl::init(false)).def_ro("content", &HookedObj::content);
  refl::TypeAttrDef<HookedObj>()
      .def(type_attr::kRepr.name, &HookedObj::Repr)
      .def(type_attr::kHash.name, &HookedObj::Hash)
      .def(type_attr::kEq.name, &HookedObj::Eq)
      .def(type_attr::kCompare.name, &HookedObj::Compare);
}

template <typename T> std::string Printed(const T &value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

TEST(Dataclass, CopiesAllThatCanChange) {
  List<Any> inner{1};
  Pair original(inner, inner);
  Pair copy = DeepCopy(original).cast<Pair>();
  EXPECT_FALSE(copy.same_as(original));
  List<Any> copied = copy->left.cast<List<Any>>();
  EXPECT_FALSE(copied.same_as(inner));
  EXPECT_TRUE(copied.same_as(copy->right.cast<List<Any>>()));
  inner.push_back(2);
  EXPECT_EQ(copied.size(), 1U);
  EXPECT_EQ(DeepCopy("text").cast<String>(), "text");
}

TEST(Dataclass, ComparesFieldByField) {
  EXPECT_TRUE(RecursiveEq(Pair(1, "a"), Pair(1, "a")));
  EXPECT_EQ(RecursiveHash(Pair(1, "a")), RecursiveHash(Pair(1, "a")));
  EXPECT_FALSE(RecursiveEq(Pair(1, "a"), Pair(1, "b")));
  EXPECT_TRUE(RecursiveLt(Array<int>{1, 2}, Array<int>{1, 3}));
  EXPECT_TRUE(RecursiveLe(Pair(nullptr, 0), Pair(0, 0)));
  EXPECT_TRUE(RecursiveGt("b", "a"));
  EXPECT_TRUE(RecursiveGe(1.5, 1.5));
  EXPECT_FALSE(RecursiveGe(Array<int>{1}, Array<int>{1, 0}));
}

TEST(Dataclass, AsksTheHooksOfAType) {
  EXPECT_EQ(ReprPrint(Array<Any>{Hooked(1), Hooked("a")}), "(<1>, <\"a\">)");
  EXPECT_EQ(RecursiveHash(Hooked(1)), RecursiveHash(1) + 1);
  EXPECT_TRUE(RecursiveEq(Hooked(1), Hooked(1)));
  EXPECT_TRUE(RecursiveGt(Hooked(1), Hooked(2)));
}

TEST(Dataclass, ThrowsErrors) {
  EXPECT_EQ(TextOf(ERROR_OF(RecursiveEq(Array<Any>{Hooked(nullptr)}, Array<Any>{Hooked(nullptr)}))),
            "KeyError: nothing to compare");
  EXPECT_EQ(ERROR_OF(RecursiveLt(1, "a")).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(RecursiveLt(Map<int, int>{{1, 2}}, Map<int, int>{{1, 3}})).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(DeepCopy(Array<Any>{Function::FromTyped([] { return 1; })})).kind(), "InternalError");
}

TEST(Dataclass, GoesDownWithoutTheStack) {
  const int n_levels = 20000;
  Any deep = NestedPairs(n_levels);
  EXPECT_TRUE(RecursiveEq(deep, DeepCopy(deep)));
  EXPECT_EQ(RecursiveHash(deep), RecursiveHash(NestedPairs(n_levels)));
  EXPECT_GT(ReprPrint(deep).size(), static_cast<size_t>(n_levels));
}

TEST(Dataclass, CopiesAndPrintsCycles) {
  Cycle cycle;
  EXPECT_EQ(ReprPrint(cycle.list), "[...]");
  List<Any> copy = DeepCopy(cycle.list).cast<List<Any>>();
  EXPECT_FALSE(copy.same_as(cycle.list));
  EXPECT_TRUE(copy[0].same_as(copy));
  EXPECT_TRUE(RecursiveEq(copy, cycle.list));
  copy.clear();
}

TEST(Dataclass, StreamsPrintValuesAsTheirRepr) {
  EXPECT_EQ(Printed(Any(1)), "1");
  EXPECT_EQ(Printed(Any("text")), "\"text\"");
  EXPECT_EQ(Printed(Pair(1, nullptr)), "test.cpp.terms.Pair(left=1, right=None)");
  EXPECT_EQ(Printed(ObjectRef(Pair(1, 2))), "test.cpp.terms.Pair(left=1, right=2)");
  EXPECT_EQ(Printed(ObjectRef()), "None");
  EXPECT_EQ(Printed(Variant<int64_t, String>(String("a"))), "\"a\"");
  EXPECT_EQ(Printed(Optional<int64_t>(3)), "3");
  EXPECT_EQ(Printed(Optional<Pair>(std::nullopt)), "None");
}

TEST(Dataclass, StreamsPrintTextAndShapesTheirOwnWay) {
  EXPECT_EQ(Printed(String("text")), "text");
  EXPECT_EQ(Printed(Shape{1, 2}), "[1, 2]");
}

} // namespace
