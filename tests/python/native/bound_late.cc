/* A library that is bound with ffi_hpy/bind.h: the module `bound_late`. The library uses Python objects while the
 * interpreter ends, and after that. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/string.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace nb = ffi_hpy;

namespace {

/* Uses a list, which other threads may use, in several ways. Returns the text of the error. */
std::string use(const nb::object &list) {
  try {
    nb::object(list.attr("append"))(1);
    nb::borrow<nb::list>(list).append("a text of some length");
    nb::object last = list[-1];
    for (nb::handle item : nb::make_tuple(last, 2.5)) (void)nb::repr(item);
    return nb::len(list) < 2 ? "too short"
                             : nb::cast<std::string>(nb::str("a text of {}").attr("format")("some length"));
  } catch (const nb::python_error &error) {
    return error.what();
  } catch (const std::exception &error) {
    return std::string("another error: ") + error.what();
  }
}

void print(const char *where, const nb::object &list) {
  std::printf("%s: %s\n", where, use(list).c_str());
  std::fflush(stdout);
}

nb::object *kept = nullptr; /* never released */

struct Late {
  nb::object list; /* released after the interpreter has ended */
  ~Late() {
    if (list.is_valid()) print("static destructor", list);
  }
};
Late late;

} // namespace

FFI_HPY_MODULE(bound_late, m) {
  m.def("use", [](const nb::object &list) { return use(list); });
  m.def("keep", [](nb::object list) { late.list = std::move(list); });
  m.def("at_exit", [](nb::object list) {
    kept = new nb::object(std::move(list));
    std::atexit([] { print("atexit", *kept); });
  });
  m.def("on_thread", [](nb::object list) {
    std::thread([list = std::move(list)] {
      for (std::string found;;) {
        found = use(list);
        if (found == "a text of some length") continue;
        if (found.find("began to exit") == std::string::npos) {
          std::fprintf(stderr, "%s\n", found.c_str());
          std::_Exit(3);
        }
        std::this_thread::yield();
      }
    }).detach();
  });
}
