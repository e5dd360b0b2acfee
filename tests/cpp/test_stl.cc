/* Types of the standard library as arguments and results. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/chrono.h>
#include <tvm/ffi/extra/complex.h>
#include <tvm/ffi/extra/filesystem.h>
#include <tvm/ffi/extra/stl.h>
#include <tvm/ffi/reflection/registry.h>

#include <memory>

namespace {

using namespace test;

/* Passes a value through a function that takes and returns a T. */
template <typename T> T Through(const T &value) {
  Function echo = Function::FromTyped([](T given) { return given; }, "echo");
  return echo(value).template cast<T>();
}
/* Returns the message of the TypeError for a value that is not a T. */
template <typename T> std::string Mismatch(const Any &value) {
  std::string message = ERROR_OF(Function::FromTyped([](const T &) {}, "f")(value)).message();
  return message.substr(message.rfind("Expected"));
}

TEST(Stl, ContainersComeBackAsTheyWere) {
  EXPECT_EQ(Through(std::vector<int>{}), std::vector<int>{});
  EXPECT_EQ(Through(std::vector<int>{1, -2, 3}), (std::vector<int>{1, -2, 3}));
  EXPECT_EQ(Through(std::vector<bool>{true, false}), (std::vector<bool>{true, false}));
  EXPECT_EQ(Through(std::vector<std::string>{"", "a text that is long enough for the heap"}),
            (std::vector<std::string>{"", "a text that is long enough for the heap"}));
  EXPECT_EQ(Through(std::array<double, 2>{1.5, 2}), (std::array<double, 2>{1.5, 2}));
  EXPECT_EQ(Through(std::tuple<int, std::string, bool>(1, "b", true)), std::make_tuple(1, std::string("b"), true));
  EXPECT_EQ(Through(std::tuple<>()), std::tuple<>());
  using Nested = std::map<std::string, std::vector<std::optional<std::array<int, 2>>>>;
  Nested nested{{"x", {std::nullopt, std::array<int, 2>{1, 2}}}, {"y", {}}};
  EXPECT_EQ(Through(nested), nested);
  std::unordered_map<int, std::string> table{{1, "a"}, {2, "b"}};
  EXPECT_EQ(Through(table), table);
  std::map<int, bool, std::greater<int>> descending{{1, true}, {2, false}};
  EXPECT_EQ(Through(descending), descending);
}

TEST(Stl, ContainersAreMadeOfAnyArrayListMapOrDict) {
  using Ints = std::vector<int>;
  EXPECT_EQ(Any(Array<int>{1, 2}).cast<Ints>(), (Ints{1, 2}));
  EXPECT_EQ(Any(List<Any>{1, true}).cast<Ints>(), (Ints{1, 1}));
  EXPECT_EQ((Any(List<int>{1, 2}).cast<std::array<float, 2>>()), (std::array<float, 2>{1, 2}));
  EXPECT_EQ((Any(List<int>{1, 2}).cast<std::tuple<int, double>>()), std::make_tuple(1, 2.0));
  EXPECT_EQ((Any(Dict<int, int>{{1, 2}}).cast<std::map<int, double>>()), (std::map<int, double>{{1, 2.0}}));
  Any two_keys_that_become_one = Map<Any, int>{{1, 10}, {true, 20}};
  EXPECT_EQ(ERROR_OF((two_keys_that_become_one.cast<std::map<int, int>>())).kind(), "ValueError");
  EXPECT_EQ(Any(std::vector<int>{1}).type_index(), kTVMFFIArray);
  EXPECT_EQ((Any(std::map<int, int>{{1, 2}}).type_index()), kTVMFFIMap);
}

TEST(Stl, FurtherContainersComeBackAsTheyWere) {
  EXPECT_EQ(Through(std::list<int>{1, 2}), (std::list<int>{1, 2}));
  EXPECT_EQ(Through(std::deque<std::string>{"a", "b"}), (std::deque<std::string>{"a", "b"}));
  EXPECT_EQ(Through(std::forward_list<int>{1, 2, 3}), (std::forward_list<int>{1, 2, 3}));
  EXPECT_EQ(Through(std::pair<int, std::string>{1, "b"}), (std::pair<int, std::string>{1, "b"}));
  EXPECT_EQ(Through(std::set<int>{2, 1}), (std::set<int>{1, 2}));
  EXPECT_EQ(Through(std::unordered_set<std::string>{"a"}), (std::unordered_set<std::string>{"a"}));
  EXPECT_EQ(Through(std::multiset<int>{2, 1, 2}), (std::multiset<int>{1, 2, 2}));
  EXPECT_EQ(Any(std::set<int>{1}).type_index(), kTVMFFIArray); /* this process has no Python */
}

TEST(Stl, TextsNumbersAndTimesComeBackAsTheyWere) {
  using namespace std::chrono;
  EXPECT_EQ(Through(std::wstring(L"h\u00e9\U0001F600")), L"h\u00e9\U0001F600");
  EXPECT_EQ(Through(std::u16string(u"h\u00e9\U0001F600x")), u"h\u00e9\U0001F600x");
  EXPECT_EQ(ERROR_OF(Any(std::u16string(1, char16_t{0xD800}))).kind(), "ValueError");
  Function size = Function::FromTyped([](std::string_view text) { return text.size(); });
  EXPECT_EQ(size("a text that is long enough for the heap").cast<int>(), 39);
  EXPECT_EQ(size(String("short")).cast<int>(), 5);
  EXPECT_EQ(Through(std::monostate()), std::monostate());
  EXPECT_EQ(Through(std::complex<double>(1, -2)), std::complex<double>(1, -2));
  EXPECT_EQ(Through(std::filesystem::path("a/b")), std::filesystem::path("a/b"));
  EXPECT_EQ(Through(milliseconds(1500)), milliseconds(1500));
  EXPECT_EQ(Any(2).cast<seconds>(), seconds(2));
  EXPECT_EQ(ERROR_OF(Any(1e300).cast<seconds>()).kind(), "OverflowError");
}

TEST(Stl, PointersOwnTheirObjects) {
  int n = IntObj::n_alive;
  std::shared_ptr<IntObj> shared = std::make_shared<IntObj>(3);
  {
    Any first = shared, second = shared;
    EXPECT_TRUE(first.same_as(second));
    EXPECT_EQ(first.cast<std::shared_ptr<IntObj>>().get(), shared.get());
    shared.reset();
    EXPECT_EQ(IntObj::n_alive, n + 1);
  }
  EXPECT_EQ(IntObj::n_alive, n);
  std::shared_ptr<IntObj> of_object = Any(make_object<IntObj>(4)).cast<std::shared_ptr<IntObj>>();
  EXPECT_EQ(of_object->value, 4);
  EXPECT_TRUE(Any(of_object).same_as(Any(of_object)));
  std::vector<std::shared_ptr<IntObj>> copies(3, of_object);
  EXPECT_EQ(Any(of_object).cast<ObjectRef>().use_count(), 5); /* a reference for each copy, and the result */
  copies.clear();
  EXPECT_EQ(Any(of_object).cast<ObjectRef>().use_count(), 2);
  of_object.reset();
  EXPECT_EQ(Any(std::make_unique<IntObj>(5)).cast<ObjectPtr<IntObj>>()->value, 5);
  EXPECT_EQ(Any(std::shared_ptr<IntObj>()), nullptr);
  EXPECT_EQ(Any(nullptr).cast<std::shared_ptr<IntObj>>(), nullptr);
  EXPECT_EQ(IntObj::n_alive, n);
}

/* A parameter takes the items of a tensor; try_cast, by which programs tell values apart, does not. */
TEST(Stl, ParametersTakeTheItemsOfTensors) {
  float numbers[] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 3}, strides[] = {1, 2};
  DLTensor tensor{numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  using Rows = std::vector<std::vector<double>>;
  Function echo = Function::FromTyped([](Rows rows) { return rows; });
  EXPECT_EQ(echo(&tensor).cast<Rows>(), (Rows{{1, 2, 3}, {4, 5, 6}}));
  tensor.strides = strides;
  tensor.byte_offset = sizeof(float);
  shape[1] = 2;
  EXPECT_EQ(echo(&tensor).cast<Rows>(), (Rows{{2, 4}, {3, 5}}));
  EXPECT_FALSE(AnyView(&tensor).try_cast<Rows>().has_value());
  std::string said = ERROR_OF(Function::FromTyped([](std::vector<int>) {})(&tensor)).message();
  EXPECT_NE(said.find("Expected `list[int]` but got `DLTensor*[index 0: list]`"), std::string::npos) << said;
  EXPECT_EQ(Function::FromTyped([](Array<int> items) { return items.size(); })(Shape{3, 4}).cast<int>(), 2);
}

TEST(Stl, MismatchesAreReported) {
  EXPECT_EQ(Mismatch<std::vector<int>>(1), "Expected `list[int]` but got `int`");
  EXPECT_EQ(Mismatch<std::vector<int>>(Array<Any>{1, String("x")}),
            "Expected `list[int]` but got `list[index 1: str]`");
  EXPECT_EQ((Mismatch<std::array<int, 2>>(Array<int>{1, 2, 3})),
            "Expected `list[int] of length 2` but got `list[size=3]`");
  EXPECT_EQ((Mismatch<std::tuple<int, float>>(Array<Any>{1})), "Expected `tuple[int, float]` but got `list[size=1]`");
  EXPECT_EQ((Mismatch<std::tuple<int, float>>(Array<Any>{1, nullptr})),
            "Expected `tuple[int, float]` but got `list[index 1: None]`");
  EXPECT_EQ((Mismatch<std::map<int, int>>(Map<Any, Any>{{1, 2}, {3, 4.5}})),
            "Expected `dict[int, int]` but got `dict[K, some value is float] at key 3`");
  EXPECT_EQ((Mismatch<std::unordered_map<int, int>>(Map<Any, Any>{{nullptr, 2}})),
            "Expected `dict[int, int]` but got `dict[some key is None, V]`");
  EXPECT_EQ((Mismatch<std::map<int, int>>(Array<int>{})), "Expected `dict[int, int]` but got `list`");
  EXPECT_EQ((Mismatch<std::variant<int, std::vector<int>>>(String("x"))), "Expected `int | list[int]` but got `str`");
  EXPECT_EQ(Mismatch<std::optional<std::vector<int>>>(2), "Expected `list[int] | None` but got `int`");
  EXPECT_EQ((Mismatch<std::optional<std::variant<int, std::optional<bool>>>>(2.5)),
            "Expected `int | bool | None` but got `float`");
  EXPECT_EQ(Mismatch<std::function<int(float)>>(2), "Expected `Callable[[float], int]` but got `int`");
}

TEST(Stl, OptionalIsAValueOrNone) {
  EXPECT_EQ(Through(std::optional<int>(3)), 3);
  EXPECT_EQ(Through(std::optional<int>()), std::nullopt);
  EXPECT_EQ(Any(std::optional<int>()).type_index(), kTVMFFINone);
  EXPECT_EQ(AnyView(std::optional<int>(3)).type_index(), kTVMFFIInt);
  EXPECT_EQ(Any(1).as<std::optional<int>>(), std::make_optional(std::make_optional(1)));
  EXPECT_EQ(Any(1.5).as<std::optional<int>>(), std::nullopt);
  EXPECT_EQ(Any().as<std::optional<int>>(), std::make_optional(std::optional<int>()));
  Any owned = Int(4);
  EXPECT_EQ(std::move(owned).as<std::optional<Int>>().value().value()->value, 4);
  static_assert(TypeTraits<std::optional<int>>::storage_enabled &&
                !TypeTraits<std::optional<std::vector<int>>>::storage_enabled);
}

TEST(Stl, VariantIsTheFirstAlternativeThatFits) {
  using V = std::variant<int, bool, double, std::string, std::vector<int>>;
  EXPECT_EQ(Through(V(true)).index(), 1U);
  EXPECT_EQ(Through(V(2)).index(), 0U);
  EXPECT_EQ(Through(V(2.5)).index(), 2U);
  EXPECT_EQ(Through(V(std::string("x"))), V(std::string("x")));
  EXPECT_EQ(Through(V(std::vector<int>{1})), V(std::vector<int>{1}));
  EXPECT_EQ((Any(true).cast<std::variant<std::string, int>>()).index(), 1U); /* converted, because no alternative is a
                                                                              * bool */
  using W = std::variant<Int, Float>;
  Any owned = Float(2.5);
  EXPECT_EQ(std::get<Float>(std::move(owned).as<W>().value())->value, 2.5);
  EXPECT_EQ(owned, nullptr);
  EXPECT_EQ(Any(1).as<W>(), std::nullopt);
}

TEST(Stl, FunctionsGoBothWays) {
  Function compose =
      Function::FromTyped([](std::function<int(int)> f, std::function<int(int)> g) -> std::function<int(int)> {
        return [f, g](int x) { return f(g(x)); };
      });
  std::function<int(int)> twice = [](int x) { return 2 * x; };
  Function add_one = Function::FromTyped([](int x) { return x + 1; });
  EXPECT_EQ(compose(twice, add_one).cast<std::function<int(int)>>()(3), 8);
  EXPECT_EQ(compose(add_one, twice).cast<Function>()(3).cast<int>(), 7);
  EXPECT_TRUE(Any(Any(add_one).cast<std::function<int(int)>>()).same_as(Any(add_one)));
  EXPECT_FALSE(Through(std::function<void()>()));
  EXPECT_EQ(Any(std::function<void()>()).type_index(), kTVMFFINone);
  std::function<int(const std::vector<int> &)> first = [](const std::vector<int> &v) { return v.at(0); };
  EXPECT_EQ(Through(first)({5, 6}), 5);
  EXPECT_THROW(Any(add_one).cast<std::function<std::string(int)>>()(1), Error);
}

/* Each object that is made for a call is destroyed after the call. */
TEST(Stl, CallsOwnValuesThatAViewCannot) {
  int n = IntObj::n_alive;
  Function count = Function::FromTyped([](const Array<Int> &items) { return static_cast<int>(items.size()); });
  std::vector<Int> items{Int(1), Int(2)};
  EXPECT_EQ(count(items).cast<int>(), 2);
  EXPECT_EQ(count(std::vector<Int>{Int(3)}).cast<int>(), 1);
  EXPECT_EQ(count.CallExpected<int>(items).value(), 2);
  EXPECT_EQ(TypedFunction<int(std::vector<Int>)>(count)(items), 2);
  EXPECT_EQ(count(std::optional<std::vector<Int>>(items)).cast<int>(), 2);
  EXPECT_EQ(count(Optional<std::vector<Int>>(items)).cast<int>(), 2);
  TVMFFISafeCallType echo = [](void *, const TVMFFIAny *args, int32_t, TVMFFIAny *result) {
    return TVMFFIAnyViewToOwnedAny(args, result);
  };
  EXPECT_EQ(Function::InvokeExternC(nullptr, echo, items).cast<std::vector<Int>>().size(), 2U);
  EXPECT_EQ(items[0].use_count(), 1);
  items.clear();
  EXPECT_EQ(IntObj::n_alive, n);
}

TEST(Stl, MovedContainersMoveTheirItems) {
  std::vector<Int> items{Int(1)};
  const Object *object = items[0].get();
  Any value = std::move(items);
  EXPECT_EQ(value.cast<Array<Int>>()[0].use_count(), 2);
  EXPECT_EQ(value.cast<Array<Int>>()[0].get(), object);
}

TEST(Stl, TypesTellTheirNames) {
  EXPECT_EQ((TypeTraits<std::vector<std::array<int, 3>>>::TypeSchema()),
            R"({"type":"std::vector","args":[{"type":"std::array","args":[{"type":"int"},3]}]})");
  EXPECT_EQ((TypeTraits<std::map<std::string, std::variant<int, bool>>>::TypeSchema()),
            R"({"type":"std::map","args":[{"type":"std::string"},)"
            R"({"type":"std::variant","args":[{"type":"int"},{"type":"bool"}]}]})");
  EXPECT_EQ((TypeTraits<std::unordered_map<int, Any>>::TypeStr()), "dict[int, Any]");
  EXPECT_EQ((TypeTraits<std::tuple<int, Any>>::TypeSchema()),
            R"({"type":"std::tuple","args":[{"type":"int"},{"type":"Any"}]})");
  EXPECT_EQ((TypeTraits<std::function<void(int, bool)>>::TypeSchema()),
            R"({"type":"std::function","named_args":{"return":[{"type":"None"}],)"
            R"("params":[{"type":"int"},{"type":"bool"}]}})");
  EXPECT_EQ((TypeTraits<std::optional<int>>::TypeSchema()), R"({"type":"std::optional","args":[{"type":"int"}]})");
  EXPECT_EQ((TypeTraits<std::function<int()>>::TypeStr()), "Callable[[], int]");
}

/* A container cannot cross if its items cannot. */
struct Opaque {};
static_assert(!TypeTraits<std::vector<Opaque>>::convert_enabled &&
              !TypeTraits<std::optional<Opaque>>::convert_enabled &&
              !TypeTraits<std::map<int, Opaque>>::convert_enabled && !TypeTraits<std::tuple<Opaque>>::convert_enabled &&
              !TypeTraits<std::variant<int, Opaque>>::convert_enabled &&
              !TypeTraits<std::function<void(Opaque)>>::convert_enabled &&
              !TypeTraits<std::vector<std::unique_ptr<int>>>::convert_enabled);

} // namespace
