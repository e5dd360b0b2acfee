/* Structural operations: equality, hashes, keys. */
#include "terms.h"

#include <gtest/gtest.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/structural_key.h>

#include <unordered_map>

namespace {

using namespace test;
namespace refl = tvm::ffi::reflection;

/* A class with its own comparison hook, which ignores the tag. */
class TaggedObj : public Object {
public:
  Any content;
  int64_t tag = 0;
  TaggedObj(Any value, int64_t number) : content(std::move(value)), tag(number) {}
  static bool Equal(const TaggedObj *lhs, const TaggedObj *rhs,
                    const TypedFunction<bool(AnyView, AnyView, int, AnyView)> &equal) {
    if (lhs->tag < 0) TVM_FFI_THROW(ValueError) << "negative tag";
    return equal(lhs->content, rhs->content, 0, "content");
  }
  static int64_t Hash(const TaggedObj *self, int64_t hash, const TypedFunction<int64_t(AnyView, int64_t, int)> &add) {
    return add(self->content, hash, 0);
  }
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Tagged", TaggedObj, Object);
};
class Tagged : public ObjectRef {
public:
  Tagged(Any content, int64_t tag) : ObjectRef(make_object<TaggedObj>(std::move(content), tag)) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Tagged, ObjectRef, TaggedObj);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<TaggedObj>(refl::init(false)).def_ro("content", &TaggedObj::content);
  refl::TypeAttrDef<TaggedObj>()
      .def(type_attr::kSEqual.name, &TaggedObj::Equal)
      .def(type_attr::kSHash.name, &TaggedObj::Hash);
}

/* Expects that the values are equal and have equal hashes. */
void ExpectSame(const Any &lhs, const Any &rhs) {
  EXPECT_TRUE(StructuralEqual()(lhs, rhs));
  EXPECT_EQ(StructuralHash()(lhs), StructuralHash()(rhs));
  EXPECT_FALSE(StructuralEqual::GetFirstMismatch(lhs, rhs).has_value());
}

TEST(StructuralEqual, LooksAtContents) {
  ExpectSame(Array<Any>{1, "two", Map<String, Any>{{"three", 3.0}}},
             Array<Any>{1, "two", Map<String, Any>{{"three", 3.0}}});
  ExpectSame(Pair(nullptr, List<Any>{true}), Pair(nullptr, List<Any>{true}));
  ExpectSame(Map<Any, Any>{{1, 2}, {"a", "b"}}, Map<Any, Any>{{"a", "b"}, {1, 2}});
  EXPECT_FALSE(StructuralEqual::Equal(Array<Any>{1, 2}, Array<Any>{2, 1}));
  EXPECT_FALSE(StructuralEqual::Equal(Array<Any>{1}, List<Any>{1}));
  EXPECT_NE(StructuralHash::Hash(Array<Any>{1, 2}), StructuralHash::Hash(Array<Any>{2, 1}));
}

TEST(StructuralEqual, TellsWhereTheFirstDifferenceIs) {
  Optional<refl::AccessPathPair> found =
      StructuralEqual::GetFirstMismatch(Pair(1, Array<Any>{1, 2}), Pair(1, Array<Any>{1, 3}));
  ASSERT_TRUE(found.has_value());
  refl::AccessPath expected = refl::AccessPath::Root()->Attr("right")->ArrayItem(1);
  EXPECT_TRUE(found.value().get<0>()->PathEqual(expected));
  EXPECT_TRUE(found.value().get<1>()->PathEqual(expected));
}

TEST(StructuralEqual, MatchesVariablesByWhereTheyAreDefined) {
  Var x("x"), y("y");
  ExpectSame(Lambda({x, y}, Pair(x, y), "a comment"), Lambda({y, x}, Pair(y, x)));
  EXPECT_FALSE(StructuralEqual::Equal(Lambda({x, y}, Pair(x, y)), Lambda({x, y}, Pair(y, x))));
  EXPECT_FALSE(StructuralEqual::Equal(x, y));
  EXPECT_TRUE(StructuralEqual::Equal(Pair(x, x), Pair(y, y), true));
  EXPECT_FALSE(StructuralEqual::Equal(Pair(x, x), Pair(y, x), true));
  EXPECT_EQ(StructuralHash::Hash(Pair(x, x), true), StructuralHash::Hash(Pair(y, y), true));
}

TEST(StructuralEqual, ComparesSharing) {
  Node shared(1);
  ExpectSame(Pair(shared, shared), [] {
    Node other(1);
    return Pair(other, other);
  }());
  EXPECT_FALSE(StructuralEqual::Equal(Pair(shared, shared), Pair(Node(1), Node(1))));
}

TEST(StructuralEqual, ComparesTensorsByContentUnlessItIsToBeSkipped) {
  struct Memory {
    void AllocData(DLTensor *tensor) { tensor->data = new int32_t(0); }
    void FreeData(DLTensor *tensor) { delete static_cast<int32_t *>(tensor->data); }
  };
  auto make = [](int32_t value) {
    Tensor tensor = Tensor::FromNDAlloc(Memory(), Shape{1}, DLDataType{kDLInt, 32, 1}, DLDevice{kDLCPU, 0});
    *static_cast<int32_t *>(tensor.data_ptr()) = value;
    return tensor;
  };
  ExpectSame(make(1), make(1));
  EXPECT_FALSE(StructuralEqual::Equal(make(1), make(2)));
  EXPECT_TRUE(StructuralEqual::Equal(make(1), make(2), false, true));
  EXPECT_EQ(StructuralHash::Hash(make(1), false, true), StructuralHash::Hash(make(2), false, true));
}

TEST(StructuralEqual, AsksTheHooksOfAType) {
  ExpectSame(Tagged(1, 1), Tagged(1, 2));
  Optional<refl::AccessPathPair> found = StructuralEqual::GetFirstMismatch(Tagged(1, 1), Tagged(2, 1));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found.value().get<0>()->PathEqual(refl::AccessPath::Root()->Attr("content")));
}

TEST(StructuralEqual, ThrowsErrors) {
  Array<Any> throws{Tagged(1, -1)};
  EXPECT_EQ(TextOf(ERROR_OF(StructuralEqual::Equal(throws, Array<Any>{Tagged(1, 1)}))), "ValueError: negative tag");
  EXPECT_EQ(ERROR_OF(StructuralEqual::Equal(Odd(1), Odd(1))).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(StructuralHash::Hash(Odd(1))).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(StructuralKey(Odd(1))).kind(), "TypeError");
}

TEST(StructuralEqual, GoesDownWithoutTheStack) {
  const int n_levels = 20000;
  ExpectSame(NestedPairs(n_levels), NestedPairs(n_levels));
  EXPECT_FALSE(StructuralEqual::Equal(NestedPairs(n_levels), NestedPairs(n_levels + 1)));
}

TEST(StructuralKey, IsFoundByItsContents) {
  StructuralKey one(Array<int>{1, 2}), same(Array<int>{1, 2}), other(Array<int>{1, 3});
  EXPECT_TRUE(one == one);
  EXPECT_TRUE(one == same);
  EXPECT_TRUE(one != other);
  EXPECT_EQ(static_cast<uint64_t>(one->hash_i64), StructuralHash::Hash(Array<int>{1, 2}));
  std::unordered_map<StructuralKey, int> numbers{{one, 1}, {other, 2}};
  EXPECT_EQ(numbers.at(same), 1);
  Map<StructuralKey, int> map{{one, 1}, {other, 2}};
  EXPECT_EQ(map[same], 1);
  map.Set(same, 3);
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map[one], 3);
}

TEST(StructuralKey, IsTheOneThatTheCoreKnows) {
  Any made = Function::GetGlobalRequired("ffi.StructuralKey")(Array<int>{1, 2});
  EXPECT_TRUE(made.cast<StructuralKey>() == StructuralKey(Array<int>{1, 2}));
  EXPECT_TRUE(
      Function::GetGlobalRequired("ffi.StructuralKeyEqual")(made, StructuralKey(Array<int>{1, 2})).cast<bool>());
  EXPECT_EQ(StructuralKeyObj().hash_i64, 0);
}

} // namespace
