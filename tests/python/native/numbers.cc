// Functions, fields and containers of every C++ integer type, for the tests of ranges.
#include <tvm/ffi/extra/stl.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cfloat>

namespace {

using namespace tvm::ffi;
namespace refl = tvm::ffi::reflection;

enum class Color : uint8_t { kRed, kBlue = 200 };
enum Plain { kFirst, kSecond };
enum class Wide : uint64_t { kAll = UINT64_MAX };

template <typename T> T Echo(T value) { return value; }

struct NumbersObj : public Object {
  bool flag = false;
  char letter = 0;
  int8_t i8 = 0;
  uint8_t u8 = 0;
  int16_t i16 = 0;
  uint16_t u16 = 0;
  int32_t i32 = 0;
  uint32_t u32 = 0;
  int64_t i64 = 0;
  uint64_t u64 = 0;
  size_t size = 0;
  Color color = Color::kRed;
  float f32 = 0;
  double f64 = 0;
  Optional<int8_t> maybe;
  Optional<uint64_t> maybe64;
  Array<uint64_t> words;
  std::vector<uint8_t> bytes;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("numbers.Numbers", NumbersObj, Object);
};

template <typename T> struct DefaultedObj : public Object {
  T level{};
  static constexpr const char *kKey = std::is_same_v<T, uint8_t>    ? "numbers.DefaultedByte"
                                      : std::is_same_v<T, float>    ? "numbers.DefaultedFloat"
                                      : std::is_same_v<T, uint64_t> ? "numbers.DefaultedWord"
                                                                    : "numbers.DefaultedBytes";
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL(kKey, DefaultedObj, Object);
};

/** The sums of a list and of a dict after a callable has changed them: of items, of first and last item, of the keys
 * and values, and of the value at 1. */
template <typename T> Array<double> SumAfter(List<T> list, Dict<T, T> dict, const Function &change) {
  change(list, dict);
  double items = 0, entries = 0;
  for (T item : list) items += static_cast<double>(item);
  for (const auto &[key, value] : dict) entries += static_cast<double>(key) + static_cast<double>(value);
  return {items, static_cast<double>(list[0]) + static_cast<double>(list.back()), entries,
          static_cast<double>(dict.at(static_cast<T>(1)))};
}

/** The message of the registration of a field with a default; "" if it succeeds. */
template <typename T> std::string DefineDefaulted(const Any &value) {
  static const std::string refused = [&] {
    try {
      refl::ObjectDef<DefaultedObj<T>>().def_ro("level", &DefaultedObj<T>::level, refl::default_value(value));
    } catch (const Error &error) {
      return error.kind() + ": " + error.message();
    }
    return std::string();
  }();
  return refused;
}

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::GlobalDef()
      .def("numbers.bool", Echo<bool>, refl::arg("x"))
      .def("numbers.char", Echo<char>, refl::arg("x"))
      .def("numbers.int8", Echo<int8_t>, refl::arg("x"))
      .def("numbers.uint8", Echo<uint8_t>, refl::arg("x"))
      .def("numbers.int16", Echo<int16_t>, refl::arg("x"))
      .def("numbers.uint16", Echo<uint16_t>, refl::arg("x"))
      .def("numbers.char16", Echo<char16_t>, refl::arg("x"))
      .def("numbers.int32", Echo<int32_t>, refl::arg("x"))
      .def("numbers.uint32", Echo<uint32_t>, refl::arg("x"))
      .def("numbers.int64", Echo<int64_t>, refl::arg("x"))
      .def("numbers.uint64", Echo<uint64_t>, refl::arg("x"))
      .def("numbers.long_long", Echo<long long>, refl::arg("x"))
      .def("numbers.unsigned_long_long", Echo<unsigned long long>, refl::arg("x"))
      .def("numbers.wchar", Echo<wchar_t>, refl::arg("x"))
      .def("numbers.char32", Echo<char32_t>, refl::arg("x"))
      .def("numbers.size", Echo<size_t>, refl::arg("x"))
      .def("numbers.color", Echo<Color>, refl::arg("x"))
      .def("numbers.plain", Echo<Plain>, refl::arg("x"))
      .def("numbers.wide", Echo<Wide>, refl::arg("x"))
      .def("numbers.double", Echo<double>, refl::arg("x"))
      .def("numbers.float", Echo<float>, refl::arg("x"))
      .def("numbers.sum_of_bytes_after", SumAfter<uint8_t>)
      .def("numbers.sum_of_ints_after", SumAfter<int64_t>)
      .def("numbers.sum_of_doubles_after", SumAfter<double>)
      .def("numbers.sum_of_colors_after", SumAfter<Color>)
      .def("numbers.unnamed", Echo<uint8_t>)
      .def("numbers.defaulted_color", Echo<Color>, refl::arg("x") = Color::kBlue)
      .def("numbers.defaulted", Echo<uint64_t>, refl::arg("x") = UINT64_MAX)
      .def("numbers.define_byte", DefineDefaulted<uint8_t>)
      .def("numbers.define_float", DefineDefaulted<float>)
      .def("numbers.define_word", DefineDefaulted<uint64_t>)
      .def("numbers.define_bytes", DefineDefaulted<std::vector<uint8_t>>)
      .def("numbers.define_parameter",
           [] { refl::GlobalDef().def("numbers.refused", Echo<uint8_t>, refl::arg("level") = 300); })
      .def("numbers.define_color",
           [] { refl::GlobalDef().def("numbers.refused", Echo<Color>, refl::arg("level") = 256); })
      .def(
          "numbers.array", [](Array<uint8_t> x) { return x; }, refl::arg("x"))
      .def(
          "numbers.list", [](List<int16_t> x) { return x; }, refl::arg("x"))
      .def(
          "numbers.map", [](Map<int8_t, uint8_t> x) { return x; }, refl::arg("x"))
      .def(
          "numbers.optional", [](Optional<uint8_t> x) { return x; }, refl::arg("x"))
      .def(
          "numbers.tuple", [](Tuple<uint8_t, String> x) { return x; }, refl::arg("x"))
      .def(
          "numbers.variant", [](Variant<uint8_t, String> x) { return x; }, refl::arg("x"))
      .def(
          "numbers.one_or_all", [](Variant<double, Array<double>> x) { return x; }, refl::arg("x"))
      .def(
          "numbers.wider", [](Variant<int8_t, int64_t> x) { return x; }, refl::arg("x"))
      .def(
          "numbers.first_of_two", [](int8_t x, const Optional<Array<uint8_t>> &) { return x; }, refl::arg("x"),
          refl::arg("y") = nullptr)
      .def("numbers.nested_vector", Echo<std::vector<std::vector<int8_t>>>, refl::arg("x"))
      .def("numbers.call_array_with", [](const Any &x) { return Function::GetGlobalRequired("numbers.array")(x); })
      .def("numbers.cast_to_int", [](const AnyView &x) { return x.cast<int64_t>(); })
      .def("numbers.error_of_array",
           [](const Any &x) {
             try {
               Function::GetGlobalRequired("numbers.array")(x);
             } catch (const Error &error) {
               return error;
             }
             TVM_FFI_THROW(RuntimeError) << "accepted";
           })
      .def("numbers.vector", Echo<std::vector<uint8_t>>, refl::arg("x"))
      .def("numbers.shape", Echo<Shape>, refl::arg("x"))
      .def("numbers.colors", Echo<Array<Color>>, refl::arg("x"))
      .def("numbers.vector_of_colors", Echo<std::vector<Color>>, refl::arg("x"))
      .def("numbers.map_of_plains", Echo<Map<Plain, Color>>, refl::arg("x"))
      .def("numbers.vector64", Echo<std::vector<uint64_t>>, refl::arg("x"))
      .def("numbers.std_array", Echo<std::array<int8_t, 2>>, refl::arg("x"))
      .def("numbers.array64", Echo<Array<uint64_t>>, refl::arg("x"))
      .def("numbers.list64", Echo<List<uint64_t>>, refl::arg("x"))
      .def("numbers.map64", Echo<Map<uint64_t, uint64_t>>, refl::arg("x"))
      .def("numbers.dict64", Echo<Dict<String, uint64_t>>, refl::arg("x"))
      .def("numbers.tuple64", Echo<Tuple<uint64_t, String>>, refl::arg("x"))
      .def("numbers.optional64", Echo<Optional<uint64_t>>, refl::arg("x"))
      .def("numbers.variant64", Echo<Variant<String, uint64_t>>, refl::arg("x"))
      .def("numbers.std_map64", Echo<std::map<uint64_t, uint64_t>>, refl::arg("x"))
      .def("numbers.std_set64", Echo<std::set<uint64_t>>, refl::arg("x"))
      .def("numbers.std_pair64", Echo<std::pair<uint64_t, std::vector<uint64_t>>>, refl::arg("x"))
      .def("numbers.std_optional64", Echo<std::optional<uint64_t>>, refl::arg("x"))
      .def("numbers.std_variant64", Echo<std::variant<std::string, uint64_t>>, refl::arg("x"))
      .def(
          "numbers.look_up", [](const Map<uint64_t, String> &map, uint64_t key) { return map.at(key); },
          refl::arg("map"), refl::arg("key"))
      .def("numbers.floats", Echo<Array<float>>, refl::arg("x"))
      .def("numbers.vector_of_floats", Echo<std::vector<float>>, refl::arg("x"))
      .def("numbers.map_of_floats", Echo<Map<String, float>>, refl::arg("x"))
      .def("numbers.optional_float", Echo<Optional<float>>, refl::arg("x"))
      .def("numbers.std_tuple", Echo<std::tuple<int8_t, double>>, refl::arg("x"))
      .def("numbers.std_map", Echo<std::map<int8_t, uint8_t>>, refl::arg("x"))
      .def("numbers.std_optional", Echo<std::optional<uint8_t>>, refl::arg("x"))
      .def("numbers.std_variant", Echo<std::variant<uint8_t, std::string>>, refl::arg("x"))
      .def(
          "numbers.call64", [](TypedFunction<uint64_t(uint64_t)> f) { return f(UINT64_MAX); }, refl::arg("f"))
      .def(
          "numbers.call_color", [](TypedFunction<Color(Color)> f) { return f(Color::kBlue); }, refl::arg("f"))
      .def(
          "numbers.call_float", [](TypedFunction<float(float)> f) { return f(FLT_MAX); }, refl::arg("f"))
      .def("numbers.call", [](TypedFunction<uint8_t(int64_t)> f) { return f(1); }, refl::arg("f"));
  refl::ObjectDef<NumbersObj>()
      .def_rw("flag", &NumbersObj::flag)
      .def_rw("letter", &NumbersObj::letter)
      .def_rw("i8", &NumbersObj::i8)
      .def_rw("u8", &NumbersObj::u8)
      .def_rw("i16", &NumbersObj::i16)
      .def_rw("u16", &NumbersObj::u16)
      .def_rw("i32", &NumbersObj::i32)
      .def_rw("u32", &NumbersObj::u32)
      .def_rw("i64", &NumbersObj::i64)
      .def_rw("u64", &NumbersObj::u64)
      .def_rw("size", &NumbersObj::size)
      .def_rw("color", &NumbersObj::color)
      .def_rw("f32", &NumbersObj::f32)
      .def_rw("f64", &NumbersObj::f64)
      .def_rw("maybe64", &NumbersObj::maybe64)
      .def_rw("words", &NumbersObj::words)
      .def_rw("maybe", &NumbersObj::maybe)
      .def_rw("bytes", &NumbersObj::bytes)
      .def("add", [](const NumbersObj *self, uint8_t by) { return self->i64 + by; }, refl::arg("by"));
}

} // namespace
