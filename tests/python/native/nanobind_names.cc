// A library that was written for nanobind: its headers, namespace and macros.
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/bind_map.h>
#include <nanobind/stl/bind_vector.h>
#include <nanobind/stl/detail/nb_array.h>
#include <nanobind/stl/detail/nb_dict.h>
#include <nanobind/stl/detail/nb_list.h>
#include <nanobind/stl/detail/nb_optional.h>
#include <nanobind/stl/detail/nb_set.h>
#include <nanobind/stl/detail/traits.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>
#include <nanobind/typing.h>

#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

// Containers and an optional value that are not of the standard library.
struct Stack : std::deque<int> {};
struct Bag : std::set<int> {};
struct Table : std::map<std::string, double> {};
struct Corner : std::array<int, 2> {};
struct Maybe : std::optional<int> {
  using std::optional<int>::optional;
};
struct Ids {
  std::vector<int> all;
};
NB_MAKE_OPAQUE(std::vector<short>)

struct Odd : std::exception {
  const char *what() const noexcept override { return "odd"; }
};

// Members that are pointers to texts, and an enum that is documented afterwards.
struct Label {
  const char *text = "first";
  std::string_view view = "one";
};
enum class Lamp : unsigned char { red, green };
static_assert(std::is_same_v<nb::enum_<Lamp>::Underlying, unsigned char>);
static_assert(std::is_same_v<nb::enum_<Lamp>::Base, nb::class_<Lamp>>);
template <typename T> struct ManyOf {};
struct ManyInts : ManyOf<int> {};
static_assert(nb::is_base_of_template_v<ManyInts, ManyOf> && !nb::is_base_of_template_v<Label, ManyOf>);

struct Unique {
  int value = 1;
  Unique() = default;
  Unique(const Unique &) { throw std::runtime_error("it was copied"); }
};

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)
template <> struct type_caster<Stack> : list_caster<Stack, int> {};
template <> struct type_caster<Bag> : set_caster<Bag, int> {};
template <> struct type_caster<Table> : dict_caster<Table, std::string, double> {};
template <> struct type_caster<Corner> : array_caster<Corner, int, 2> {};
template <> struct type_caster<Maybe> : optional_caster<Maybe, int> {};
template <> struct type_caster<Ids> {
  NB_TYPE_CASTER(Ids, const_name("Ids"))

  bool from_python(handle source, uint8_t flags, cleanup_list *cleanup) noexcept {
    make_caster<std::vector<int>> list;
    if (!list.from_python(source, flags, cleanup)) return false;
    value.all = list.value;
    return true;
  }
  static handle from_cpp(const Ids &ids, rv_policy policy, cleanup_list *cleanup) noexcept {
    return make_caster<std::vector<int>>::from_cpp(ids.all, policy, cleanup);
  }
};
template <> struct is_copy_constructible<Unique> : std::false_type {};
NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

class Shape {
public:
  virtual ~Shape() = default;
  virtual std::string name() const { return "shape"; }
  virtual double area() const = 0;
  virtual int corners() const { return 0; }
};
class PyShape : public Shape {
public:
  NB_TRAMPOLINE(Shape, 3);
  std::string name() const override { NB_OVERRIDE(name); }
  double area() const override { NB_OVERRIDE_PURE_NAME("get_area", area); }
  int corners() const override { NB_OVERRIDE_NAME("n_corners", corners); }
};

struct Drawer {
  char label[8] = "socks";
  std::list<int> unknown; /* this source does not include its header */
  std::vector<Unique *> contents;
};
/* The elements of the result keep the first argument alive. */
struct keeps_drawer {
  static void precall(nb::handle *, size_t, nb::detail::cleanup_list *) {}
  static void postcall(nb::handle *args, size_t, nb::handle result) {
    for (nb::handle nurse : result) nb::detail::keep_alive(nurse, args[0]);
  }
};

/* A project's own binding of a vector, from the parts of bind_vector. */
template <typename Vector> void bind_row(nb::handle scope, const char *name) {
  namespace detail = nb::detail;
  using Item = typename detail::iterator_access<typename Vector::iterator>::result_type;
  using Value = std::decay_t<Item>;
  using Caster = detail::make_caster<Value>;
  static_assert(!detail::is_base_caster_v<Caster> || detail::is_copy_constructible_v<Value>);
  nb::handle known = nb::type<Vector>();
  if (known.is_valid()) {
    nb::borrow<nb::class_<Vector>>(known).def("again", [](const Vector &v) { return v.size(); });
    return;
  }
  nb::class_<Vector> row(scope, name);
  row.def(nb::init<>())
      .def("append", [](Vector &v, const Value &value) { v.push_back(value); })
      .def("__getitem__", [](Vector &v, nb::ssize_t i) -> Item { return v[detail::wrap(i, v.size())]; })
      .def("__repr__", [](nb::handle_t<Vector> h) { return nb::steal<nb::str>(detail::repr_list(h.ptr())); });
  if constexpr (detail::is_equality_comparable_v<Value>)
    row.def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"));
}
template <typename Map> void bind_pairs(nb::handle scope, const char *name) {
  using Iterator = typename Map::iterator;
  using Key = typename nb::detail::iterator_key_access<Iterator>::result_type;
  using Value = typename nb::detail::iterator_value_access<Iterator>::result_type;
  nb::class_<Map>(scope, name)
      .def(nb::init<>())
      .def("first",
           [](Map &m) -> Value {
             Iterator first = m.begin();
             return nb::detail::iterator_value_access<Iterator>()(first);
           })
      .def("__setitem__", [](Map &m, Key key, std::decay_t<Value> value) { m[key] = value; })
      .def("items", [](Map &m) { return std::vector<typename Map::value_type>(m.begin(), m.end()); })
      .def("__repr__", [](nb::handle_t<Map> h) { return nb::steal<nb::str>(nb::detail::repr_map(h.ptr())); });
}

#if NB_VERSION_MAJOR < 3
#error "sources ask for the version"
#endif

NB_MODULE(nanobind_names, m) {
  m.def("fail", [] { throw Odd(); });
  nb::class_<Label>(m, "Label").def(nb::init<>()).def_rw("text", &Label::text).def_rw("view", &Label::view);
  nb::enum_<Lamp> lamp(m, "Lamp");
  lamp.doc() = "The colors of a lamp.";
  lamp.value("red", Lamp::red).value("green", Lamp::green);
  m.def("abi_tag", [] { return nb::detail::abi_tag(); });
  m.def("class_name", [](nb::handle o) { return nb::steal<nb::str>(nb::detail::nb_inst_name(o.ptr())); });
  m.def("throw_pending", [] {
    PyErr_SetString(PyExc_KeyError, "pending");
    nb::detail::raise_python_error();
  });
  nb::class_<Shape, PyShape>(m, "Shape").def(nb::init<>());
  m.def("describe", [](const Shape &s) { return nb::make_tuple(s.name(), s.area(), s.corners()); });
  m.def("stack", [](Stack value) { return value; });
  m.def("bag", [](Bag value) { return value; });
  m.def("table", [](Table value) { return value; });
  m.def("corner", [](Corner value) { return value; });
  m.def("maybe", [](Maybe value) { return value; }, "value"_a.none());
  m.def("ids", [](Ids value) { return value; });
  nb::class_<std::vector<short>>(m, "Shorts").def(nb::init<>());
  nb::class_<Unique>(m, "Unique").def(nb::init<>());
  m.def(
      "copy",
      []() -> const Unique & {
        static Unique one;
        return one;
      },
      nb::rv_policy::copy);
  nb::class_<Drawer>(m, "Drawer", nb::is_weak_referenceable())
      .def(nb::init<>())
      .def("__init__",
           [](Drawer *drawer, Unique *content) {
             new (drawer) Drawer;
             drawer->contents = {content};
           })
      .def_ro("label", &Drawer::label)
      .def_rw("unknown", &Drawer::unknown)
      .def("contents", [](const Drawer &drawer) { return drawer.contents; }, nb::call_policy<keeps_drawer>());
  bind_row<std::deque<int>>(m, "Row");
  bind_row<std::deque<int>>(m, "Row");
  bind_pairs<std::map<int, double>>(m, "Pairs");
  m.def("largest", [] { return INT_MAX; });
  nb::bind_map<std::map<std::string, float>>(m, "Prices");
  m.attr("T") = nb::type_var("T", "bound"_a = nb::type<Shape>());
  m.def("param_spec", [] { return nb::param_spec("P"); });
  m.def("type_var_tuple", [] { return nb::type_var_tuple("Ts"); });
  m.attr("Any") = nb::any_type();
}
