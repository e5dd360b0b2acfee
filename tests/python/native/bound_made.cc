/* A library that is bound with ffi_hpy/bind.h: the module `bound_made`. Results that are containers and texts. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/array.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/string_view.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/vector.h>

namespace nb = ffi_hpy;

namespace {

/* Becomes the object, or an error. */
struct Step {
  int number = 0;
  bool fails = false;
  nb::object held;
  bool operator<(const Step &other) const { return number < other.number; }
};

/* Containers of containers, which Python code may change at any time. */
struct Table {
  explicit Table(int n) {
    for (int i = 0; i < n; ++i) {
      rows.push_back({0});
      named[i] = {0, "text"};
    }
  }
  void change() {
    for (std::vector<int> &row : rows) ++row[0];
    for (auto &entry : named) ++entry.second.first;
  }
  std::vector<std::vector<int>> rows;
  std::map<int, std::pair<int, std::string>> named;
};

std::vector<Step> make_steps(const nb::object &held, int n, int bad) {
  std::vector<Step> steps;
  for (int i = 0; i < n; ++i) steps.push_back(Step{i, i == bad, held});
  return steps;
}

} // namespace

template <> struct ffi_hpy::detail::type_caster<Step> {
  FFI_HPY_TYPE_CASTER(Step, const_name("object"));
  bool from_python(handle, uint32_t, cleanup_list *) noexcept { return false; }
  static handle from_cpp(const Step &source, rv_policy, cleanup_list *) noexcept {
    if (!source.fails) return handle(source.held).inc_ref();
    return guarded([&]() -> object { throw value_error(("step " + std::to_string(source.number)).c_str()); });
  }
};

FFI_HPY_MODULE(bound_made, m) {
  using Inner = std::tuple<int, std::optional<std::string>, bool, double>;
  m.def("nested", [](int n) {
    std::map<std::string, std::vector<std::pair<std::array<int, 2>, Inner>>> made;
    for (int i = 0; i < n; ++i) {
      std::string name = "the name " + std::to_string(i);
      for (int k = 0; k < i; ++k) made[name].push_back({{i, k}, {k, name, k % 2 == 0, 0.5 * k}});
    }
    return made;
  });
  m.def("texts", [](std::string_view text, int n) {
    return std::vector<std::string>(static_cast<size_t>(n), std::string(text));
  });
  m.def("numbers", [](int n) {
    std::vector<int> made;
    for (int i = 0; i < n; ++i) made.push_back(i * 1000);
    return made;
  });
  m.def("bytes_as_text", [](int value) { return std::string(3, static_cast<char>(value)); });
  m.def("steps", make_steps);
  m.def("rows", [](const nb::object &held, int n, int bad) {
    return std::vector<std::vector<Step>>{make_steps(held, n, -1), make_steps(held, n, bad), make_steps(held, n, -1)};
  });
  m.def("step_set", [](const nb::object &held, int n, int bad) {
    std::set<Step> made;
    for (Step &step : make_steps(held, n, bad)) made.insert(step);
    return made;
  });
  m.def("step_map", [](const nb::object &held, int n, int bad) {
    std::map<int, Step> made;
    for (Step &step : make_steps(held, n, bad)) made[step.number] = step;
    return made;
  });
  m.def("step_tuple", [](const nb::object &held, int, int bad) {
    return std::make_tuple(std::string("text"), Step{0, bad == 0, held}, std::vector<int>{1}, Step{1, bad == 1, held});
  });
  m.def(
      "guarded", [](const nb::object &) { return std::make_tuple(std::string("text"), std::vector<int>{1, 2}); },
      nb::call_guard<nb::gil_scoped_release>());
  m.def("total", [](const nb::callable &function, int n) {
    int total = 0;
    for (int each : nb::cast<std::vector<int>>(function(n))) total += each;
    return total;
  });
  nb::class_<Table>(m, "Table")
      .def(nb::init<int>())
      .def("change", &Table::change)
      .def("rows", [](Table &self) -> const std::vector<std::vector<int>> & { return self.rows; })
      .def("named", [](Table &self) -> std::map<int, std::pair<int, std::string>> & { return self.named; });
}
