/* Array, List, Map, Dict, Tuple, Variant. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/function.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

namespace {

using namespace test;

/* Compares the results of a sequence with those of a std::vector. */
template <typename Seq> void CompareWithVector(unsigned seed) {
  std::mt19937 random(seed);
  Seq seq;
  std::vector<int> model;
  for (int i = 0; i < 2000; ++i) {
    int64_t at = static_cast<int64_t>(random() % (model.size() + 1));
    std::vector<int> part(model.begin(), model.begin() + at / 8);
    switch (random() % 7) {
    case 0:
    case 1:
      seq.push_back(i);
      model.push_back(i);
      break;
    case 2:
      seq.insert(seq.begin() + at, i);
      model.insert(model.begin() + at, i);
      break;
    case 3:
      seq.insert(seq.begin() + at, part.begin(), part.end());
      model.insert(model.begin() + at, part.begin(), part.end());
      break;
    case 4:
      if (at == static_cast<int64_t>(model.size())) break;
      seq.erase(seq.begin() + at);
      model.erase(model.begin() + at);
      break;
    case 5:
      if (at == static_cast<int64_t>(model.size())) break;
      seq.Set(at, -i);
      model[static_cast<size_t>(at)] = -i;
      break;
    default:
      seq.resize(at);
      model.resize(static_cast<size_t>(at));
      break;
    }
    ASSERT_EQ(seq.size(), model.size());
    ASSERT_TRUE(std::equal(seq.begin(), seq.end(), model.begin())) << i;
    if (model.size() > 500) {
      seq.clear();
      model.clear();
    }
  }
}

TEST(Array, IsAVector) { CompareWithVector<Array<int>>(1); }
TEST(List, IsAVector) { CompareWithVector<List<int>>(2); }

TEST(Array, IsCopiedBeforeItChanges) {
  Array<Int> first{Int(1), Int(2)}, second = first;
  second.Set(0, Int(9));
  EXPECT_EQ(first[0]->value, 1);
  EXPECT_EQ(second[0]->value, 9);
  EXPECT_TRUE(first.unique() && second.unique());
  second.push_back(Int(3));
  const ArrayObj *place = second.get();
  second.MutateByApply([](Int x) {
    EXPECT_TRUE(x.unique() || x->value == 2); /* `first` also holds 2 */
    return x;
  });
  EXPECT_EQ(second.get(), place);
}

/* Checks that threads that lock a weak pointer see no change while `change` changes the container. */
template <typename Container, typename Look, typename Change>
static void ExpectNoChangeIsSeen(Container container, Look look, Change change) {
  using Obj = std::remove_const_t<std::remove_pointer_t<decltype(container.get())>>;
  WeakObjectPtr<Obj> weak(GetObjectPtr<Obj>(const_cast<Obj *>(container.get())));
  EXPECT_FALSE(container.unique());
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([weak, look] {
      if (ObjectPtr<Obj> locked = weak.lock()) look(Container(locked));
    });
  }
  change(container);
  for (std::thread &thread : threads) thread.join();
  EXPECT_TRUE(weak.expired()); /* `change` has changed a copy */
}

TEST(Array, DoesNotChangeForThreadsThatLockAWeakPointer) {
  auto look = [](const Array<int> &seq) { EXPECT_TRUE(seq.size() == 2 && seq[0] == 1 && seq[1] == 2); };
  for (int round = 0; round < 50; ++round) {
    ExpectNoChangeIsSeen(Array<int>{1, 2}, look, [](Array<int> &seq) { seq.Set(0, 9); });
    ExpectNoChangeIsSeen(Array<int>{1, 2}, look, [](Array<int> &seq) { seq.push_back(3); });
    ExpectNoChangeIsSeen(Array<int>{1, 2}, look, [](Array<int> &seq) { seq.clear(); });
    ExpectNoChangeIsSeen(Array<int>{1, 2}, look, [](Array<int> &seq) { seq.MutateByApply([](int x) { return -x; }); });
  }
}

TEST(Map, DoesNotChangeForThreadsThatLockAWeakPointer) {
  auto look = [](const Map<int, int> &map) { EXPECT_TRUE(map.size() == 1 && map[1] == 2); };
  for (int round = 0; round < 50; ++round) {
    ExpectNoChangeIsSeen(Map<int, int>{{1, 2}}, look, [](Map<int, int> &map) { map.Set(1, 9); });
    ExpectNoChangeIsSeen(Map<int, int>{{1, 2}}, look, [](Map<int, int> &map) { map.clear(); });
  }
}

TEST(List, IsShared) {
  List<int> first{1}, second = first;
  for (int i = 0; i < 100; ++i) second.push_back(i);
  EXPECT_EQ(first.size(), 101U);
  EXPECT_TRUE(first.same_as(second));
}

/* Python may change items, which C++ code knows to be of one type. */
TEST(List, ItemsOfAnotherTypeAreErrors) {
  List<Any> changed{Array<int>{1}, String("text"), Int(1), Optional<Int>(Int(2)), Any(nullptr)};
  auto arrays = detail::AnyUnsafe::CopyFromAnyViewAfterCheck<List<Array<int>>>(changed);
  auto texts = detail::AnyUnsafe::CopyFromAnyViewAfterCheck<List<String>>(changed);
  auto ints = detail::AnyUnsafe::CopyFromAnyViewAfterCheck<List<Int>>(changed);
  auto perhaps = detail::AnyUnsafe::CopyFromAnyViewAfterCheck<List<Optional<Int>>>(changed);
  EXPECT_EQ(arrays[0].size(), 1U);
  EXPECT_EQ(texts[1], "text");
  EXPECT_EQ(ints[2]->value + ints[3]->value + perhaps[2].value()->value, 4);
  EXPECT_FALSE(perhaps[4].has_value());
  EXPECT_EQ(ERROR_OF(arrays[2].size()).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(arrays.back().size()).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(texts.front().size()).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(*ints.begin()).kind(), "TypeError");
  auto pairs = detail::AnyUnsafe::CopyFromAnyViewAfterCheck<List<Tuple<int, int>>>(changed);
  EXPECT_EQ(ERROR_OF(pairs[0].get<1>()).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(perhaps[1].has_value()).kind(), "TypeError");
  Dict<String, Any> entries{{"a", 5}};
  auto shared = detail::AnyUnsafe::CopyFromAnyViewAfterCheck<Dict<String, Array<int>>>(entries);
  EXPECT_EQ(ERROR_OF(shared["a"].size()).kind(), "TypeError");
  EXPECT_EQ(ERROR_OF((*shared.begin()).second.size()).kind(), "TypeError");
}

/* An algorithm with its own iterators, and every way to step and to compare. */
TEST(Array, IteratorsAreOfRandomAccess) {
  const Array<int> seq{3, 1, 4, 1, 5};
  auto [low, high] = std::minmax_element(seq.begin(), seq.end());
  EXPECT_EQ(*low, 1);
  EXPECT_EQ(*high, 5);
  auto it = 2 + seq.begin();
  EXPECT_EQ(it[0], 4);
  EXPECT_EQ(it[-2], 3);
  EXPECT_EQ(*std::upper_bound(seq.begin() + 3, seq.end(), 1), 5);
  EXPECT_TRUE(it > seq.begin() && it >= it && it <= it && it < seq.end());
  EXPECT_FALSE(it > it || it >= seq.end() || seq.end() <= it || it < it);
}

TEST(Array, BadIndices) {
  Array<int> items{1, 2, 3};
  for (int64_t i : {int64_t{3}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(ERROR_OF(items[i]).kind(), "IndexError");
    EXPECT_EQ(ERROR_OF((items.Set(i, 1), 0)).kind(), "IndexError");
  }
  Array<int> empty;
  EXPECT_EQ(ERROR_OF(empty.front()).message(), "front() of an empty sequence");
  EXPECT_EQ(ERROR_OF(empty.back()).message(), "back() of an empty sequence");
  EXPECT_EQ(ERROR_OF((empty.pop_back(), 0)).message(), "pop_back() of an empty sequence");
  EXPECT_EQ(ERROR_OF((empty.pop_back(), 0)).kind(), "IndexError");
  EXPECT_EQ(ERROR_OF((empty.resize(-1), 0)).kind(), "ValueError");
  Array<int> moved = std::move(items);
  EXPECT_EQ(items.size(), 0U);
  EXPECT_EQ(ERROR_OF(items[0]).kind(), "IndexError");
  items.push_back(5);
  EXPECT_EQ(items[0], 5);
}

TEST(Array, TwoNumbersAreACountAndAnItem) {
  EXPECT_EQ(Array<int>(3, 7)[2], 7);
  EXPECT_EQ(List<int>(3, 7).size(), 3U);
}

TEST(List, MoreRoomThanMemoryHasIsRefused) {
  List<int> list{1, 2};
  EXPECT_THROW(list.reserve(int64_t{1} << 60), std::bad_alloc);
  EXPECT_THROW(list.resize(int64_t{1} << 60), std::bad_alloc);
  EXPECT_EQ(list.size(), 2U);
}

TEST(Array, Conversions) {
  Array<Any> mixed{1, 2.5};
  Array<double> floats = AnyView(mixed).cast<Array<double>>();
  EXPECT_FALSE(floats.same_as(mixed));
  EXPECT_EQ(floats[0], 1.0);
  EXPECT_TRUE(AnyView(floats).cast<Array<double>>().same_as(floats));
  EXPECT_EQ(ERROR_OF(Any(mixed).cast<Array<int>>()).message(),
            "Cannot convert from type `Array[index 1: float]` to `Array<int>`");
  EXPECT_EQ(ERROR_OF(Any(Array<Array<Any>>{{}, {Int(1)}}).cast<Array<Array<int>>>()).message(),
            "Cannot convert from type `Array[index 1: Array[index 0: test.cpp.Int]]` to `Array<Array<int>>`");
  Array<Any> upcast = Array<int>{1};
  static_assert(type_subsumes_v<Array<Any>, Array<int>> && !type_subsumes_v<Array<int>, Array<Any>>, "");
  List<int> list = Any(Array<int>{1, 2}).cast<List<int>>();
  list.push_back(3);
  EXPECT_EQ(Any(list).cast<Array<int>>().size(), 3U);
  EXPECT_EQ(TypeTraits<Array<Optional<int>>>::TypeSchema(),
            R"({"type":"ffi.Array","args":[{"type":"Optional","args":[{"type":"int"}]}]})");
}

TEST(Array, Map) {
  Array<Int> items{Int(1), Int(2)};
  EXPECT_TRUE(items.Map([](Int x) { return x; }).same_as(items));
  Array<Number> others = items.Map([](Int x) -> Number { return x->value == 1 ? Number(x) : Number(Float(2)); });
  EXPECT_TRUE(others[0].same_as(items[0]));
  EXPECT_TRUE(others[1]->IsInstance<FloatObj>());
  EXPECT_EQ(items.Map([](Int x) { return x->value + 1; })[1], 3);
  EXPECT_EQ(Array<int>::Agregate(Array<int>{1, 2}, 3, Array<int>{4}).size(), 4U);
  EXPECT_EQ(Concat(Array<int>{1}, Array<int>{2})[1], 2);
}

/* Every library uses the tables of all other libraries: the core searches tables filled here, and the reverse. */
template <typename TMap> void CompareWithCore(const char *kind, unsigned seed) {
  Function get = Function::GetGlobalRequired(std::string("ffi.") + kind + "GetItem");
  Function count = Function::GetGlobalRequired(std::string("ffi.") + kind + "Count");
  std::mt19937 random(seed);
  TMap map;
  std::map<int, int> model;
  std::vector<int> order;
  for (int i = 0; i < 6000; ++i) {
    int key = static_cast<int>(random() % 700);
    bool is_small = map.size() <= 3;
    if (random() % 3 == 0) {
      map.erase(key);
      model.erase(key);
      order.erase(std::remove(order.begin(), order.end(), key), order.end());
    } else {
      bool was_there = model.count(key) != 0;
      map.Set(key, i);
      model[key] = i;
      if (was_there && !is_small) order.erase(std::remove(order.begin(), order.end(), key), order.end());
      if (!was_there || !is_small)
        order.push_back(key); /* setting a key of a large table again moves the key to the
                                                          * end */
    }
    ASSERT_EQ(map.size(), model.size());
    if (i % 500 == 499 || i < 20) {
      size_t at = 0;
      for (const auto &pair : map) {
        ASSERT_EQ(pair.second, model.at(pair.first));
        ASSERT_EQ(get(map, pair.first).template cast<int>(), pair.second);
        ASSERT_TRUE(i < 20 || pair.first == order[at++]);
      }
      ASSERT_EQ(count(map, 1000000).template cast<int>(), 0);
    }
    if (i == 3000) {
      map.clear();
      model.clear();
      order.clear();
      ASSERT_TRUE(map.begin() == map.end());
    }
  }
}

TEST(Map, TheCoreFindsKeysThatAreSet) { CompareWithCore<Map<int, int>>("Map", 3); }
TEST(Dict, TheCoreFindsKeysThatAreSet) { CompareWithCore<Dict<int, int>>("Dict", 4); }

TEST(Dict, KeysThatTheCoreSetsAreFound) {
  Dict<String, Any> dict;
  Function set = Function::GetGlobalRequired("ffi.DictSetItem");
  for (int i = 0; i < 300; ++i) {
    set(dict, "key " + std::to_string(i), i);
    for (int j = 0; j <= i; j += 37) ASSERT_EQ(dict.at("key " + std::to_string(j)).cast<int>(), j);
  }
  EXPECT_EQ(dict.size(), 300U);
}

TEST(Map, CopiesAndMerges) {
  Map<String, int> first{{"a", 1}, {"b", 2}}, second = first;
  second.Set("c", 3);
  EXPECT_EQ(first.size(), 2U);
  EXPECT_EQ(second["c"], 3);
  EXPECT_FALSE(first.Get("c").has_value());
  EXPECT_EQ(first.find("b") != first.end(), true);
  EXPECT_EQ(ERROR_OF(first.at("zzz")).kind(), "KeyError");
  Map<String, int> merged = Merge(first, Map<String, int>{{"b", 20}, {"z", 26}});
  EXPECT_EQ(merged["b"], 20);
  EXPECT_EQ(merged.size(), 3U);
  Map<int, int> large;
  for (int i = 0; i < 100; ++i) large.Set(i, i);
  Map<int, int> copy = large;
  copy.erase(50);
  EXPECT_EQ(large.count(50), 1U);
  EXPECT_EQ(copy.count(50), 0U);
  EXPECT_EQ(ERROR_OF(Any(first).cast<Map<String, String>>()).message(),
            "Cannot convert from type `Map[K, some value is int]` to `Map<str, str>`");
  auto last = large.end();
  EXPECT_EQ((*--last).first, 99);
}

TEST(Map, AnItemMayDropItsMap) {
  Dict<int, Any> dict;
  for (int i = 0; i < 10; ++i) dict.Set(i, dict); /* a cycle, broken by clear() */
  EXPECT_EQ(dict.use_count(), 11);
  dict.clear();
  EXPECT_EQ(dict.use_count(), 1);
}

TEST(Tuple, ItemsAndConversions) {
  Tuple<int, String> first(1, "one"), second = first;
  second.Set<0>(2);
  EXPECT_EQ(first.get<0>(), 1);
  auto [number, text] = second;
  EXPECT_EQ(number, 2);
  EXPECT_EQ(text, "one");
  Tuple<Any, String> upcast = first;
  EXPECT_TRUE(upcast.same_as(first));
  EXPECT_EQ((Any(Array<Any>{1, "x"}).cast<Tuple<Expr, String>>().get<0>()->text), "1");
  EXPECT_EQ(ERROR_OF((Any(Array<Any>{1.5, "x"}).cast<Tuple<int, String>>())).message(),
            "Cannot convert from type `Array[index 0: float]` to `Tuple<int, str>`");
  EXPECT_EQ(ERROR_OF((Any(Array<Any>{1}).cast<Tuple<int, String>>())).message(),
            "Cannot convert from type `Array[size=1]` to `Tuple<int, str>`");
  auto owner = Tuple{Array<int>{0}};
  EXPECT_EQ(get<0>(std::move(owner)).use_count(), 1);
}

TEST(Variant, ValuesAndConversions) {
  Variant<int, Int> v = 1;
  EXPECT_EQ(v.get<int>(), 1);
  v = Int(2);
  EXPECT_EQ(v.as<IntObj>()->value, 2);
  EXPECT_FALSE(v.as<int>().has_value());
  EXPECT_EQ((Any(7).cast<Variant<Expr, Array<int>>>().get<Expr>()->text), "7");
  EXPECT_EQ(ERROR_OF((Any(1.5).cast<Variant<int, Int>>())).message(),
            "Cannot convert from type `float` to `Variant<int, test.cpp.Int>`");
  Int shared(1);
  EXPECT_EQ(ObjectPtrHash()(Variant<int, Int>(shared)), ObjectPtrHash()(shared));
  EXPECT_TRUE((ObjectPtrEqual()(Variant<int, Int>(shared), Variant<int, Int>(shared))));
}

} // namespace
