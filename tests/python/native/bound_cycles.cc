// Classes whose values own objects of Python, in every form that the garbage collector knows.
#include <ffi_hpy/bind.h>
#include <ffi_hpy/intrusive/ref.h>
#include <ffi_hpy/stl/bind_map.h>
#include <ffi_hpy/stl/bind_vector.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/optional.h>
#include <ffi_hpy/stl/pair.h>
#include <ffi_hpy/stl/shared_ptr.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/unique_ptr.h>
#include <ffi_hpy/stl/variant.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/trampoline.h>

#include <atomic>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace cycles {

std::atomic<int> n_alive{0};
std::atomic<bool> traverse_throws{false};

struct Part {
  Part() { ++n_alive; }
  Part(const Part &) = delete;
  virtual ~Part() { --n_alive; }
};

using Callback = std::function<int()>;
struct Button : Part {
  Callback on_click;
  nb::object data;
  std::optional<nb::object> maybe;
  std::tuple<int, Callback> mixed;
  std::variant<int, nb::list, Callback> variant;
  std::shared_ptr<Button> next;
  int click() const { return on_click ? on_click() : -1; }
  void hide(nb::object object) { hidden_ = std::move(object); }
  const nb::object &hidden() const { return hidden_; }

private:
  nb::object hidden_;
};
struct WideButton : Button {
  int width = 3;
};
struct Window : Part {
  std::shared_ptr<Button> shared = std::make_shared<Button>();
  Button inside;
  std::vector<std::shared_ptr<Button>> row;
};
struct Pane : Part {};
struct Frame : Part {
  Pane pane;
  Callback on_open;
};
struct Owner : Part {
  std::unique_ptr<Button> owned = std::make_unique<WideButton>();
};
struct Shape : Part, std::enable_shared_from_this<Shape> {
  nb::object note;
  std::shared_ptr<Shape> neighbor;
  virtual int corners() const { return 0; }
};
struct PyShape : Shape {
  FFI_HPY_TRAMPOLINE(Shape, 1);
  int corners() const override { FFI_HPY_OVERRIDE(corners); }
};
/* Counts its references itself. */
struct Counted : Part, nb::intrusive_base {
  Callback on_click;
  nb::ref<Counted> next;
  std::vector<nb::ref<Counted>> row;
};
/* A count that the headers do not know. */
struct Tallied : Part {
  nb::intrusive_counter counter;
  Callback on_click;
  nb::ref<Tallied> next;
};
inline void inc_ref(const Tallied *object) noexcept {
  if (object != nullptr) object->counter.inc_ref();
}
inline void dec_ref(const Tallied *object) noexcept {
  if (object != nullptr && object->counter.dec_ref()) delete object;
}
using Callbacks = std::vector<Callback>;
using Table = std::map<std::string, nb::object>;

std::shared_ptr<Button> kept_button;
Callback kept_callback;
nb::ref<Counted> kept_counted;
auto *const kept_data = new nb::object(); /* never destroyed: Python ends earlier */

} // namespace cycles

FFI_HPY_MAKE_OPAQUE(cycles::Callbacks);
FFI_HPY_MAKE_OPAQUE(cycles::Table);

FFI_HPY_MODULE(bound_cycles, m) {
  using namespace cycles;
  auto weak = nb::is_weak_referenceable();
  nb::class_<Button>(m, "Button", weak)
      .def(nb::init<>())
      .def_rw("on_click", &Button::on_click)
      .def_rw("data", &Button::data)
      .def_rw("same_data", &Button::data)
      .def_rw("next", &Button::next)
      .def_rw("maybe", &Button::maybe)
      .def_rw("mixed", &Button::mixed)
      .def_rw("variant", &Button::variant)
      .def("click", &Button::click)
      .def("hide", &Button::hide)
      .def_traverse([](const Button &button, const nb::reference_visitor &visit) {
        if (traverse_throws) throw std::runtime_error("no reference");
        visit(button.hidden());
        visit(button.data); /* a property, too */
      });
  nb::class_<WideButton, Button>(m, "WideButton", weak).def(nb::init<>()).def_ro("width", &WideButton::width);
  nb::bind_vector<Callbacks>(m, "Callbacks", weak);
  nb::bind_map<Table>(m, "Table", weak);
  nb::class_<Window>(m, "Window", weak, nb::dynamic_attr())
      .def(nb::init<>())
      .def_rw("shared", &Window::shared)
      .def_ro("inside", &Window::inside)
      .def_rw("row", &Window::row);
  nb::class_<Pane>(m, "Pane");
  nb::class_<Frame>(m, "Frame", weak)
      .def(nb::init<>())
      .def_rw("on_open", &Frame::on_open)
      .def("share_pane", [](std::shared_ptr<Frame> frame) { return std::shared_ptr<Pane>(frame, &frame->pane); });
  nb::class_<Owner>(m, "Owner", weak)
      .def(nb::init<>())
      .def_prop_ro(
          "button", [](Owner &owner) { return owner.owned.get(); }, nb::rv_policy::reference_internal)
      .def_traverse([](const Owner &owner, const nb::reference_visitor &visit) { visit(owner.owned); });
  nb::class_<Shape, PyShape>(m, "Shape", weak)
      .def(nb::init<>())
      .def_rw("note", &Shape::note)
      .def_rw("neighbor", &Shape::neighbor)
      .def("corners", &Shape::corners);
  nb::class_<Counted>(m, "Counted", weak,
                      nb::intrusive_ptr<Counted>([](Counted *o, TVMFFIObject *self) noexcept { o->set_self_py(self); }))
      .def(nb::init<>())
      .def_rw("on_click", &Counted::on_click)
      .def_rw("next", &Counted::next)
      .def_rw("row", &Counted::row)
      .def("add_chain", [](Counted &first, const Callback &last) {
        first.next = new Counted();
        first.next->next = new Counted();
        first.next->next->on_click = last;
        first.next->next->next = first.next;
        first.row = {first.next, first.next};
      });
  nb::class_<Tallied>(m, "Tallied", weak, nb::intrusive_ptr<Tallied>([](Tallied *o, TVMFFIObject *self) noexcept {
                        o->counter.set_self_py(self);
                      }))
      .def(nb::init<>())
      .def_rw("on_click", &Tallied::on_click)
      .def_rw("next", &Tallied::next);
  m.def("make_button", [] { return std::make_shared<Button>(); });
  m.def("make_wide_button", []() -> std::shared_ptr<Button> { return std::make_shared<WideButton>(); });
  m.def("make_shape", [] { return std::make_shared<Shape>(); });
  m.def("keep_data", [](const Button &button) { *kept_data = button.data; });
  m.def("kept_data", [] { return *kept_data; });
  m.def("keep_counted", [](nb::ref<Counted> counted) { kept_counted = std::move(counted); }, "counted"_a.none());
  m.def("kept_counted", [] { return kept_counted; });
  m.def("keep", [](std::shared_ptr<Button> button) { kept_button = std::move(button); }, "button"_a.none());
  m.def("kept", [] { return kept_button; });
  m.def(
      "keep_callback", [](const Button *button) { kept_callback = button != nullptr ? button->on_click : nullptr; },
      "button"_a.none());
  m.def("call_kept", [] { return kept_callback(); });
  m.def("link", [](nb::handle, nb::handle) {}, nb::keep_alive<1, 2>());
  m.def("set_traverse_throws", [](bool throws) { traverse_throws = throws; });
  m.def("n_alive", [] { return n_alive.load(); });
}
