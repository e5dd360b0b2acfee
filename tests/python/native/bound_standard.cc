// Types of the standard library that are numbers, times, paths and texts, in a bound library.
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/array.h>
#include <ffi_hpy/stl/chrono.h>
#include <ffi_hpy/stl/complex.h>
#include <ffi_hpy/stl/filesystem.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/variant.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/stl/wstring.h>

#include <stdexcept>

namespace nb = ffi_hpy;
using namespace nb::literals;
using std::chrono::system_clock;

template <typename Unit> using time_in = std::chrono::time_point<system_clock, Unit>;

/* An order in which numbers that are close are one. */
struct Distant {
  bool operator()(double a, double b) const { return a < b - 0.5; }
};

struct Stamps {
  time_in<std::chrono::hours> hours;
  time_in<std::chrono::milliseconds> milliseconds;
};

/* Counts how often arguments are copied and moved. */
struct CountedPart {
  static inline int n_copied = 0, n_moved = 0;
  CountedPart() = default;
  CountedPart(const CountedPart &) { ++n_copied; }
  CountedPart(CountedPart &&) noexcept { ++n_moved; }
};

/* An alternative that cannot be assigned. */
struct FixedPart {
  const int number = 3;
};
/* An alternative without a default constructor. */
struct GivenPart {
  explicit GivenPart(int n) : number(n) {}
  int number;
};

/* An argument of a bound function that outlives the call. */
struct Kept {
  nb::object value;
};
template <> struct nb::detail::type_caster<Kept> : nb::detail::native_caster {
  FFI_HPY_TYPE_CASTER(Kept, const_name("object"));
  bool from_python(nb::handle source, uint32_t, cleanup_list *) noexcept {
    value.value = nb::borrow(source);
    return true;
  }
};

static std::string joined(const std::vector<const char *> &all) {
  std::string text;
  for (const char *each : all) text += each == nullptr ? "-" : std::string(each) + ".";
  return text;
}

FFI_HPY_MODULE(bound_standard, m) {
  /* ---- times ---- */
  m.def("now", [] { return system_clock::now(); });
  m.def("time", [](system_clock::time_point t) { return t; });
  m.def("nanoseconds", [](time_in<std::chrono::nanoseconds> t, std::chrono::nanoseconds d) { return t + d; });
  m.def("count", [](time_in<std::chrono::microseconds> t) { return t.time_since_epoch().count(); });
  m.def("duration", [](std::chrono::microseconds d) { return d; });
  m.def("hours", [](std::chrono::hours d) { return d; });
  m.def("exact_duration", [](std::chrono::milliseconds d) { return d.count(); }, nb::arg().noconvert());
  m.def("duration_or_float", [](std::chrono::milliseconds) { return "duration"; });
  m.def("duration_or_float", [](double) { return "float"; });
  m.def("most_hours", [] { return std::chrono::hours::max(); });
  m.def("float_duration", [](std::chrono::duration<float> a, std::chrono::duration<float> b) { return a - b; });
  m.def("steady", [](std::chrono::steady_clock::time_point t) { return t; });
  nb::class_<Stamps>(m, "Stamps")
      .def(nb::init<>())
      .def_rw("hours", &Stamps::hours)
      .def_rw("milliseconds", &Stamps::milliseconds);

  /* ---- numbers ---- */
  m.def("single", [](float x) { return x; });
  m.def("cast_to_int", [](nb::handle x) { return nb::cast<int>(x); });
  m.def("real", [](double x) { return x; });
  m.def("complex", [](std::complex<double> z) { return z; });
  m.def("complex_strict", [](std::complex<double> z) { return z; }, "z"_a.noconvert());
  m.def("complex_float", [](const std::complex<float> &z) { return z; });
  m.def("complex_float_strict", [](const std::complex<float> &z) { return z; }, "z"_a.noconvert());
  m.def("complexes", [](const std::vector<std::complex<double>> &all) { return all; });

  /* ---- paths and texts ---- */
  m.def("parent", [](const std::filesystem::path &path) { return path.parent_path(); });
  m.def("bytes_of",
        [](const std::filesystem::path &path) { return nb::bytes(path.string().data(), path.string().size()); });
  m.def("wide", [](const std::wstring &text) { return text; });
  m.def("wide_size", [](std::wstring text) { return text.size(); });
  m.def("bad_wide", [] { return std::wstring(1, static_cast<wchar_t>(0xd800)); });

  /* ---- texts in containers, copies ---- */
  m.def("kind", [](const std::vector<int> &) { return "vector"; });
  m.def("kind", [](const std::set<int> &) { return "set"; });
  m.def("kind", [](const std::map<int, int> &) { return "map"; });
  m.def("kind_turned", [](const std::map<int, int> &) { return "map"; });
  m.def("kind_turned", [](const std::set<std::string> &) { return "set"; });
  m.def("kind_turned", [](const std::vector<std::string> &) { return "vector"; });
  m.def("int", [](int x) { return x; });
  m.def("unsigned", [](uint64_t x) { return x; });

  m.def("joined", &joined);
  m.def("optional_text", [](std::optional<const char *> text) { return joined({text.value_or(nullptr)}); });
  m.def("text_or_int", [](std::variant<const char *, int> value) {
    return value.index() == 0 ? joined({std::get<0>(value)}) : "int";
  });
  m.def("mapped", [](const std::map<std::string, const char *> &all) {
    std::vector<const char *> texts;
    for (auto &pair : all) texts.push_back(pair.second);
    return joined(texts);
  });
  m.def("shape_of", [](std::tuple<int, std::string> t) { return std::get<1>(t) + std::to_string(std::get<0>(t)); });
  nb::class_<CountedPart>(m, "CountedPart").def(nb::init<>()).def("__index__", [](CountedPart &) { return 7; });
  m.def("in_vector", [](const std::vector<CountedPart> &) {});
  m.def("in_optional", [](const std::optional<CountedPart> &) {});
  m.def("in_tuple", [](const std::tuple<CountedPart> &) {});
  m.def("in_variant", [](const std::variant<int, CountedPart> &) {});
  m.def("in_variant_first", [](const std::variant<CountedPart, int> &) {});
  m.def("in_map", [](const std::map<int, CountedPart> &) {});
  nb::class_<FixedPart>(m, "FixedPart").def(nb::init<>());
  nb::class_<GivenPart>(m, "GivenPart").def(nb::init<int>());
  m.def("number_in", [](std::variant<FixedPart, GivenPart, int> value) {
    if (auto *fixed = std::get_if<FixedPart>(&value)) return fixed->number;
    if (auto *given = std::get_if<GivenPart>(&value)) return given->number;
    return std::get<int>(value);
  });
  m.def("number_at", [](std::variant<GivenPart, FixedPart *, int> *value) {
    if (auto *given = std::get_if<GivenPart>(value)) return given->number;
    if (auto *fixed = std::get_if<FixedPart *>(value)) return *fixed == nullptr ? 0 : (*fixed)->number;
    return std::get<int>(*value);
  });
  m.def("take_counts", [] {
    auto counts = std::make_tuple(CountedPart::n_copied, CountedPart::n_moved);
    CountedPart::n_copied = CountedPart::n_moved = 0;
    return counts;
  });
  m.def("is_known",
        [](const CountedPart &value) { return nb::find(value).is_valid() && !nb::find(CountedPart()).is_valid(); });

  /* ---- containers ---- */
  m.def("array", [](std::array<int, 3> a) {
    a[0] += 1;
    return a;
  });
  m.def("arrays", [](const std::array<std::string, 2> &a) { return a[0] + a[1]; });
  m.def("texts", [](const std::map<std::string, std::vector<std::vector<std::string>>> &all) { return all; });
  m.def("numbers", [](const std::set<int64_t> &all) { return all; });
  m.def("floats", [](const std::set<double> &all) { return all; });
  m.def("distant", [](const std::set<double, Distant> &all) { return all.size(); });
  m.def("reals", [](const std::vector<double> &all) { return all; });
  m.def("whole", [](const std::vector<int64_t> &all) { return all; });
  m.def("rows", [](const std::vector<std::vector<double>> &all) { return all; });
  m.def("words", [](const std::vector<std::string> &all) { return all; });
  m.def("durations", [](const std::vector<std::chrono::seconds> &all) { return all; });
  m.def("table", [](const std::map<int64_t, double> &all) { return all; });
  m.def("n_objects", [](const std::map<int64_t, nb::object> &all) { return all.size(); });
  m.def("keep", [](const Kept &kept) { return kept.value; });
  m.def(
      "types",
      [](const std::vector<int> &v, const std::map<std::string, std::vector<int>> &, const std::set<int> &s) {
        return std::map<std::string, std::set<int>>{{"a", s}, {"b", std::set<int>(v.begin(), v.end())}};
      },
      "v"_a, "m"_a, "s"_a);
}
