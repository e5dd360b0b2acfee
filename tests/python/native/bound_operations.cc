/* Each operation on Python objects that the binding may run, also as the package runs it. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/vector.h>

#include <string>
#include <thread>
#include <vector>

namespace fh = ffi_hpy;

/* Runs an operation. The name of a class is passed as C++ passes it. */
static fh::object run(fh::detail::operation what, const fh::args &given, bool ends_with_name) {
  std::vector<fh::object> values;
  for (fh::handle value : given) values.push_back(fh::borrow(value));
  std::vector<TVMFFIAny> words{fh::detail::none_value()};
  for (const fh::object &value : values) words.push_back(value.any());
  std::string name;
  if (ends_with_name) {
    name = fh::cast<std::string>(values.back());
    words.back() = fh::detail::word(kTVMFFIRawStr, 0);
    words.back().v_c_str = name.c_str();
  }
  return fh::detail::ask_python_with(what, words.data(), words.size());
}

FFI_HPY_MODULE(bound_operations, m) {
  m.def("operations", [] {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < kFfiHpyNumOperations; ++i) names.push_back(fh::detail::operation(i).text());
    return fh::cast(names);
  });
  m.def("run", [](uint32_t number, const fh::args &values) { return run(number, values, number == kFfiHpyRunIsKind); });
  m.def("run_in_package",
        [](const std::string &name, const fh::args &values) { return run(name.c_str(), values, name == "is_kind"); });
  m.def("apply", [](const fh::object &function) { return function(function); });
  m.def("on_thread", [](const fh::list &values) {
    size_t n = 0;
    fh::gil_scoped_release released;
    std::thread([&] { n = values.size(); }).join();
    return n;
  });
}
