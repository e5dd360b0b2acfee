/* Objects and the pointers that share them. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/any.h>

#include <thread>
#include <vector>

namespace {

using namespace test;

TEST(Object, PointersCount) {
  int before = IntObj::n_alive;
  {
    ObjectPtr<IntObj> first = make_object<IntObj>(7), second = first;
    EXPECT_EQ(first.use_count(), 2);
    EXPECT_FALSE(first.unique());
    second = std::move(first);
    EXPECT_TRUE(first == nullptr);
    EXPECT_TRUE(second.unique());
    ObjectPtr<Object> base = second;
    EXPECT_EQ(base.use_count(), 2);
    ObjectPtr<IntObj> &same = second;
    second = same;
    EXPECT_EQ(second->value, 7);
  }
  EXPECT_EQ(IntObj::n_alive, before);
}

TEST(Object, WeakPointersDoNotKeep) {
  int before = IntObj::n_alive;
  WeakObjectPtr<NumberObj> weak;
  EXPECT_TRUE(weak.expired());
  {
    ObjectPtr<IntObj> strong = make_object<IntObj>(1);
    EXPECT_TRUE(strong.unique());
    weak = strong;
    EXPECT_EQ(weak.use_count(), 1);
    EXPECT_FALSE(strong.unique()); /* a thread that locks the weak pointer becomes an owner */
    EXPECT_TRUE(weak.lock() == strong);
    WeakObjectPtr<NumberObj> other = weak;
  }
  EXPECT_EQ(IntObj::n_alive, before); /* the object is destroyed; the weak pointer owns its memory */
  EXPECT_TRUE(weak.expired());
  EXPECT_TRUE(weak.lock() == nullptr);
}

TEST(Object, WeakPointersOfManyThreads) {
  int before = IntObj::n_alive;
  for (int round = 0; round < 200; ++round) {
    ObjectPtr<IntObj> strong = make_object<IntObj>(round);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([weak = WeakObjectPtr<IntObj>(strong), round] {
        ObjectPtr<IntObj> locked = weak.lock();
        EXPECT_TRUE(locked == nullptr || locked->value == round);
      });
    }
    strong.reset();
    for (std::thread &thread : threads) thread.join();
  }
  EXPECT_EQ(IntObj::n_alive, before);
}

TEST(Object, InstancesAreThoseOfTheirTypes) {
  Int number(3);
  EXPECT_TRUE(number->IsInstance<IntObj>());
  EXPECT_TRUE(number->IsInstance<NumberObj>());
  EXPECT_TRUE(number->IsInstance<Object>());
  EXPECT_FALSE(number->IsInstance<FloatObj>());
  EXPECT_FALSE(number->IsInstance<VirtualObj>());
  EXPECT_EQ(number->GetTypeKey(), "test.cpp.Int");
  EXPECT_EQ(number.type_index(), IntObj::RuntimeTypeIndex());
  EXPECT_TRUE(detail::RuntimeTypeIndexMatch(IntObj::RuntimeTypeIndex(), NumberObj::RuntimeTypeIndex()));
  EXPECT_FALSE(detail::RuntimeTypeIndexMatch(NumberObj::RuntimeTypeIndex(), IntObj::RuntimeTypeIndex()));
  EXPECT_TRUE(detail::RuntimeTypeIndexMatch(kTVMFFISmallStr, kTVMFFIStr));
}

TEST(Object, ReferencesBecomeOthers) {
  ObjectRef ref = Int(5);
  EXPECT_EQ(ref.as<IntObj>()->value, 5);
  EXPECT_EQ(ref.as<FloatObj>(), nullptr);
  EXPECT_EQ(ObjectRef(ref).as<IntObj>(), ref.get()); /* also of a temporary: another owner keeps the object */
  EXPECT_TRUE(ref.as<Number>().has_value());
  EXPECT_FALSE(ref.as<Float>().has_value());
  EXPECT_EQ(ref.as_or_throw<Int>()->value, 5);
  Error error = ERROR_OF(ref.as_or_throw<Float>());
  EXPECT_EQ(error.kind(), "TypeError");
  EXPECT_EQ(error.message(), "Cannot treat type `test.cpp.Int` as type `test.cpp.Float`");
  Int moved = std::move(ref).as_or_throw<Int>();
  EXPECT_TRUE(moved.unique());
  EXPECT_FALSE(ref.defined());

  ObjectRef null;
  EXPECT_FALSE(null.as<Int>().has_value());
  EXPECT_TRUE(null.as<Expr>().has_value()); /* Expr may be null */
  EXPECT_EQ(null.type_index(), kTVMFFINone);
}

TEST(Object, ACastKeepsOrRefuses) {
  Int number(9);
  const IntObj *raw = number.get();
  EXPECT_TRUE(GetRef<Number>(raw).same_as(number));
  EXPECT_EQ(GetObjectPtr<Object>(const_cast<IntObj *>(raw)).use_count(), 2);
  EXPECT_EQ(ERROR_OF(GetRef<Int>(static_cast<const IntObj *>(nullptr))).kind(), "InternalError");
  EXPECT_FALSE(GetRef<Expr>(static_cast<const ExprObj *>(nullptr)).defined());
}

TEST(Object, VirtualFunctionsMoveTheHeader) {
  ObjectPtr<VirtualObj> object = make_object<VirtualObj>();
  EXPECT_EQ(detail::ObjectUnsafe::GetObjectOffsetToSubclass<VirtualObj>(), static_cast<int64_t>(sizeof(void *)));
  Any any = object;
  EXPECT_EQ(any.as<VirtualObj>()->Twice(), 42);
  EXPECT_EQ(any.cast<ObjectPtr<VirtualObj>>().get(), object.get());
}

TEST(Object, AConstructorMayThrow) { EXPECT_THROW(make_object<ThrowingObj>(1), std::runtime_error); }

TEST(Object, AnArcIsNeverNull) {
  static_assert(!std::is_default_constructible_v<Arc<IntObj>>, "");
  static_assert(!std::is_constructible_v<Arc<IntObj>, std::nullptr_t>, "");
  static_assert(!std::is_constructible_v<Arc<IntObj>, ObjectPtr<IntObj>>, "");
  Arc<IntObj> arc = make_arc<IntObj>(4);
  Arc<NumberObj> base = arc;
  EXPECT_EQ(base.use_count(), 2);
  EXPECT_FALSE(Any(nullptr).try_cast<Arc<IntObj>>().has_value());
  EXPECT_TRUE(Any(nullptr).try_cast<ObjectPtr<IntObj>>().has_value());
  EXPECT_EQ(TypeTraits<Arc<IntObj>>::TypeSchema(), R"({"type":"test.cpp.Int"})");
  EXPECT_EQ(TypeTraits<ObjectPtr<IntObj>>::TypeSchema(), R"({"type":"Optional","args":[{"type":"test.cpp.Int"}]})");
}

TEST(Object, RoomBehindAnObject) {
  ObjectPtr<ExprObj> object = make_inplace_array_object<ExprObj, int64_t>(100, String("x"));
  int64_t *room = reinterpret_cast<int64_t *>(object.get() + 1);
  for (int i = 0; i < 100; ++i) room[i] = i;
  EXPECT_EQ(room[99], 99);
  EXPECT_THROW((make_inplace_array_object<ExprObj, int64_t>(static_cast<size_t>(-1), String("x"))), std::bad_alloc);
}

} // namespace
