/* nanobind_corners.cc - a library for nanobind with rarely used members: callbacks of weak references, iterators by
 * hand, formats with objects, None inside of containers, and every kind of items for containers. */
#include <nanobind/eval.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/bind_vector.h>
#include <nanobind/stl/chrono.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/unordered_set.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

struct Thing {
  int number;
  explicit Thing(int number) : number(number) {}
};
int number_of(const Thing *thing) { return thing != nullptr ? thing->number : 0; }
using Shared = std::shared_ptr<Thing>;

/* ---- weak references ---- */

/* The idiom: the weakref has no owner, and its callback releases it. */
void call_at_end(nb::object of, nb::list log) {
  nb::weakref(of, nb::cpp_function([log](nb::handle reference) {
                nb::list(nb::borrow<nb::list>(log)).append(reference.attr("__class__").attr("__name__"));
                reference.dec_ref();
              }))
      .release();
}
nb::weakref keep_reference(nb::object of, nb::list log) {
  return nb::weakref(of,
                     nb::cpp_function([log](nb::handle reference) { nb::borrow<nb::list>(log).append(reference); }));
}
nb::weakref call_python_at_end(nb::object of, nb::object callback) { return nb::weakref(of, callback); }

/* ---- iterators ---- */

template <typename Container> nb::list without_first(Container values) {
  nb::list rest;
  auto at = values.begin();
  if (at == values.end()) return rest;
  for (++at; at != values.end(); ++at) rest.append(*at);
  return rest;
}
nb::list keys_without_first(nb::dict values) {
  nb::list rest;
  auto at = values.begin();
  for (++at; at != values.end(); ++at) rest.append((*at).first);
  return rest;
}

/* ---- exceptions ---- */

void raise_formatted(nb::object value) {
  PyErr_Format(PyExc_ValueError, "%d%% %s %R %S %U %A %5.2s| %zd %lld %u %c", 7, "text", value.ptr(), value.ptr(),
               nb::str("\xc3\xa4").ptr(), nb::str("\xc3\xa4").ptr(), "long", static_cast<Py_ssize_t>(-3), 1LL << 40, 4u,
               'x');
  throw nb::python_error();
}
void raise_from_formatted(nb::object value) {
  try {
    nb::eval("1 // 0");
  } catch (nb::python_error &error) {
    nb::raise_from(error, PyExc_KeyError, "%U of %R after %S", nb::str("name").ptr(), value.ptr(), nb::str("x").ptr());
  }
}
void chain_formatted(nb::object value) {
  try {
    nb::eval("1 // 0");
  } catch (nb::python_error &error) {
    error.restore();
    nb::chain_error(PyExc_RuntimeError, "chained to %S", value.ptr());
    throw nb::python_error();
  }
}

std::string overloaded(int) { throw nb::next_overload(); }
bool next_overload_is_an_exception() {
  try {
    throw nb::next_overload();
  } catch (const nb::builtin_exception &thrown) {
    return thrown.type() == nb::exception_type::next_overload;
  }
}
std::vector<int> types_of_exceptions() {
  std::vector<int> found;
  for (int i = 0; i <= static_cast<int>(nb::exception_type::next_overload); ++i) {
    found.push_back(static_cast<int>(nb::builtin_exception(static_cast<nb::exception_type>(i), "").type()));
  }
  return found;
}

void translate(const std::exception_ptr &thrown, void *) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception &exception) {
    PyErr_SetString(PyExc_ArithmeticError, exception.what());
  }
}

/* ---- containers ---- */

template <typename Items> int sum(const Items &items) {
  int all = 0;
  for (int each : items) all += each;
  return all;
}
template <typename Pointers> std::vector<int> numbers_of(const Pointers &pointers) {
  std::vector<int> numbers;
  for (const auto &each : pointers) numbers.push_back(number_of(each.get()));
  return numbers;
}

} // namespace

NB_MAKE_OPAQUE(std::vector<Shared>)

NB_MODULE(nanobind_corners, m) {
  nb::class_<Thing>(m, "Thing").def(nb::init<int>()).def_ro("number", &Thing::number);
  nb::bind_vector<std::vector<Shared>>(m, "Things");

  m.def("call_at_end", &call_at_end);
  m.def("keep_reference", &keep_reference);
  m.def("call_python_at_end", &call_python_at_end, "of"_a, "callback"_a.none());

  m.def("list_without_first", &without_first<nb::list>);
  m.def("tuple_without_first", &without_first<nb::tuple>);
  m.def("args_without_first", [](nb::args all) { return without_first(all); });
  m.def("keys_without_first", &keys_without_first);

  m.def("raise_formatted", &raise_formatted);
  m.def("raise_from_formatted", &raise_from_formatted);
  m.def("chain_formatted", &chain_formatted);
  m.def("overloaded", &overloaded);
  m.def("overloaded", [](nb::object) { return "second"; });
  m.def("next_overload_is_an_exception", &next_overload_is_an_exception);
  m.def("types_of_exceptions", &types_of_exceptions);
  nb::register_exception_translator(&translate);
  m.def("raise_index_error", [] { throw nb::index_error("builtin"); });
  m.def("raise_logic_error", [] { throw std::logic_error("translated"); });
  m.def("call", [](nb::callable function) { return function(); });
  m.def("hint", [](nb::object of) { return nb::len_hint(of); });

  m.def("sum_bytes", [](const std::vector<uint8_t> &items) { return sum(items); });
  m.def("sum_bytes_as_they_are", [](const std::vector<uint8_t> &items) { return sum(items); }, nb::arg().noconvert());
  m.def("count_objects", [](const std::vector<nb::object> &items) { return items.size(); });
  m.def("sum_three", [](const std::array<uint8_t, 3> &items) { return sum(items); });
  m.def("choose", [](const std::vector<uint8_t> &) { return "vector"; });
  m.def("choose", [](nb::bytes) { return "bytes"; });
  m.def("texts",
        [](const std::set<std::string> &items) { return std::vector<std::string>(items.begin(), items.end()); });
  m.def("numbers", [](const std::unordered_set<int> &items) { return sum(items); });
  m.def("objects", [](const std::vector<std::set<std::string_view>> &all) {
    std::vector<std::string> found;
    for (const auto &items : all) found.insert(found.end(), items.begin(), items.end());
    return found;
  });
  m.def("pairs", [](const std::map<std::string, int> &items) {
    return std::vector<std::pair<std::string, int>>(items.begin(), items.end());
  });
  m.def("shared", [](const std::map<std::string, Shared> &all) {
    std::vector<int> numbers;
    for (const auto &each : all) numbers.push_back(number_of(each.second.get()));
    return numbers;
  });
  m.def("owned", [](const std::vector<std::unique_ptr<Thing>> &all) { return numbers_of(all); });
  m.def("callables", [](const std::vector<std::function<int()>> &all) {
    std::vector<int> numbers;
    for (const auto &each : all) numbers.push_back(each ? each() : 0);
    return numbers;
  });
  m.def("result_of", [](const std::function<Shared()> &make) { return number_of(make().get()); });
  m.def("cast_pointer", [](nb::handle value) { return number_of(nb::cast<Shared>(value).get()); }, nb::arg().none());
  m.def("optional_pair",
        [](const std::optional<std::pair<Shared, int>> &pair) { return number_of(pair->first.get()); });

  m.def("equal", [](nb::object a, nb::object b) { return std::make_pair(a.equal(b), a.not_equal(b)); });
  m.def("float_milliseconds", [](std::chrono::duration<float, std::milli> value) { return value; });
}
