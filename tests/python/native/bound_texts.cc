/* A library that is bound with ffi_hpy/bind.h: the module `bound_texts`. Texts in memory that belongs to Python. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/array.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/variant.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/trampoline.h>

namespace nb = ffi_hpy;

namespace {

/* Overwrites the stack of functions that have returned. */
[[gnu::noinline]] char scribble() {
  volatile char junk[2048];
  for (volatile char &each : junk) each = '#';
  return junk[7];
}

struct Joined {
  std::string text;
  Joined() { scribble(); }
  void add(std::string_view part) { text.append(part.data(), part.size()).append("|"); }
  void add(nb::object part) { add(nb::cast<std::string_view>(part)); }
  template <typename A, typename B> void add(const std::pair<A, B> &pair) { add(pair.first), add(pair.second); }
  template <typename T> void add(const std::optional<T> &part) {
    if (part) add(*part);
  }
  template <typename... T> void add(const std::variant<T...> &part) {
    std::visit([&](const auto &each) { add(each); }, part);
  }
  template <typename... T> void add(const std::tuple<T...> &all) {
    std::apply([&](const auto &...each) { (add(each), ...); }, all);
  }
  template <typename C> auto add(const C &all) -> decltype(all.begin(), void()) {
    for (const auto &each : all) add(each);
  }
};

template <typename... T> void define(nb::module_ &m, const char *name) {
  m.def(name, [](T... values) {
    Joined joined;
    (joined.add(values), ...);
    return joined.text;
  });
}

struct Speaker {
  virtual ~Speaker() = default;
  virtual const char *word() const { return "word"; }
  virtual std::string_view view() const { return "view"; }
};
struct PySpeaker : Speaker {
  FFI_HPY_TRAMPOLINE(Speaker);
  const char *word() const override { FFI_HPY_OVERRIDE(word); }
  std::string_view view() const override { FFI_HPY_OVERRIDE(view); }
};

std::string text_of(const char *text) { return scribble() == '#' && text != nullptr ? text : "(null)"; }
std::string text_of(std::string_view text) { return scribble() == '#' ? std::string(text) : ""; }

} // namespace

FFI_HPY_MODULE(bound_texts, m) {
  using View = std::string_view;
  using Chars = const char *;
  define<View, View>(m, "views");
  define<Chars, Chars>(m, "chars");
  define<std::vector<View>>(m, "vector_of_views");
  define<std::vector<Chars>>(m, "vector_of_chars");
  define<std::array<View, 2>>(m, "array_of_views");
  define<std::map<View, Chars>>(m, "map");
  define<std::tuple<View, Chars>>(m, "tuple");
  define<std::vector<std::tuple<View, Chars>>>(m, "vector_of_tuples");
  define<std::vector<std::pair<View, nb::object>>>(m, "vector_of_pairs");
  define<std::optional<View>, std::optional<Chars>>(m, "optionals");
  define<std::vector<std::variant<View, std::vector<View>>>>(m, "variants");

  nb::class_<Speaker, PySpeaker>(m, "Speaker").def(nb::init<>());
  m.def("word_of", [](const Speaker &speaker) { return text_of(speaker.word()); });
  m.def("view_of", [](const Speaker &speaker) { return text_of(speaker.view()); });
  m.def("call_chars", [](const std::function<Chars()> &f) { return text_of(f()); });
  m.def("call_view", [](const std::function<View()> &f) { return text_of(f()); });

  /* These functions use no argument after the call. */
  m.def("half", [](double number) { return number / 2; });
  m.def("sum", [](const std::vector<int> &numbers) {
    int sum = 0;
    for (int each : numbers) sum += each;
    return sum;
  });
  m.def("three",
        [](std::vector<int> a, std::tuple<> b, std::map<int, std::vector<int>> c) { return std::tuple(a, b, c); });
  m.def("either", [](int) { return "int"; });
  m.def("either", [](std::tuple<int, std::string> pair) { return "pair " + std::get<1>(pair); });
  m.def("either", [](const std::string &text) { return "text " + text; });
  /* This overload keeps its argument; the overload before it does not. */
  m.def("keep", [](int) { return nb::object(nb::none()); });
  m.def("keep", [](nb::object value) { return value; });

  m.def("cast_view", [](nb::object text) {
    auto view = nb::cast<View>(text);
    return text_of(view);
  });
  m.def("view_beside_dict", [](View text, nb::dict names) {
    std::string found;
    for (auto [name, value] : names) found += nb::cast<std::string>(name) + nb::str(name).c_str() + ",";
    return std::string(text) + ":" + found;
  });
  m.def("chars_of_each", [](std::vector<nb::object> values) {
    std::vector<Chars> all;
    for (const nb::object &each : values) all.push_back(nb::cast<Chars>(each));
    Joined joined;
    for (Chars each : all) joined.add(View(each));
    return joined.text;
  });
  m.def("bytes_of_each", [](std::vector<nb::bytes> values) {
    std::vector<Chars> all;
    for (const nb::bytes &each : values) all.push_back(each.c_str());
    Joined joined;
    for (Chars each : all) joined.add(View(each));
    return joined.text;
  });
  m.def("chars_beside_object", [](Chars text, nb::object) { return text_of(text); });
  m.def("echo_object", [](nb::object value) { return value; });
  m.def("echo_str", [](nb::str value) { return value; });
  m.def("echo_all", [](nb::args values, nb::kwargs named) { return nb::make_tuple(values, named); });
  m.def("n_objects", [](std::vector<nb::object> values) { return values.size(); });
  m.def("attribute", [](nb::object value) { return nb::isinstance<nb::str>(value.attr("text")); });
  m.def("is_text", [](const std::string &) { return true; });
  m.def("is_text", [](nb::handle) { return false; });
  m.def("types_of", [](nb::list items) {
    std::string found;
    for (nb::handle item : items) {
      found += nb::isinstance<nb::str>(item) ? 's' : nb::isinstance<nb::bytes>(item) ? 'b' : '-';
    }
    return found;
  });
  m.def("chars_of_handle", [](nb::handle text) { return nb::cast<Chars>(text); });
  m.def("try_cast_handles", [](std::vector<nb::object> values) {
    std::vector<Chars> chars;
    std::vector<View> views;
    for (const nb::object &each : values) {
      nb::handle text = each; /* ends before its text is read */
      Chars as_chars = "no text";
      View as_view = "no text";
      nb::try_cast(text, as_chars);
      nb::try_cast(text, as_view);
      chars.push_back(as_chars);
      views.push_back(as_view);
    }
    Joined joined;
    for (size_t i = 0; i < values.size(); ++i) {
      joined.add(View(chars[i]));
      joined.add(views[i]);
    }
    return joined.text;
  });
  m.def("try_cast", [](nb::object text) {
    Chars chars = "";
    View view;
    bool fits = nb::try_cast(text, chars) && nb::try_cast(text, view);
    return fits ? text_of(chars) + text_of(view) : "no text";
  });
}
