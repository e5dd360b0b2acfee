/* A library whose objects count their references themselves: the module `bound_intrusive`. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/intrusive/counter.h>
#include <ffi_hpy/intrusive/ref.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/trampoline.h>

#include <atomic>
#include <thread>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace {

std::atomic<int> n_alive{0};

/* The base with the count is not at the beginning of the object. */
struct Tag {
  virtual ~Tag() = default;
  int tag = 5;
};
struct Node : Tag, nb::intrusive_base {
  int number;
  explicit Node(int number) : number(number) { ++n_alive; }
  ~Node() override { --n_alive; }
  virtual int value(int x) const { return number + x; }
};
struct PyNode : Node {
  FFI_HPY_TRAMPOLINE(Node);
  int value(int x) const override { FFI_HPY_OVERRIDE(value, x); }
};

nb::ref<Node> kept;

} // namespace

FFI_HPY_MODULE(bound_intrusive, m) {
  nb::class_<nb::intrusive_base>(m, "Base",
                                 nb::intrusive_ptr<nb::intrusive_base>(
                                     [](nb::intrusive_base *o, TVMFFIObject *self) noexcept { o->set_self_py(self); }));
  nb::class_<Node, nb::intrusive_base, PyNode>(m, "Node")
      .def(nb::init<int>(), "number"_a)
      .def("value", &Node::value, "x"_a)
      .def_rw("number", &Node::number);
  m.def("n_alive", [] { return n_alive.load(); });
  m.def("new_pointer", [](int number) { return new Node(number); });
  m.def("new_ref", [](int number) { return nb::ref<Node>(new Node(number)); });
  m.def("as_reference", [] { return kept.get(); }, nb::rv_policy::reference);
  m.def("keep", [](nb::ref<Node> node) { kept = std::move(node); }, "node"_a.none());
  m.def("kept", [] { return kept; });
  m.def("value_of", [](const nb::ref<Node> &node) { return node->value(1); });
  m.def("is_pythons", [](Node *node) { return node->self_py() != nullptr; });
  m.def("only_cpp", [] {
    {
      nb::ref<Node> node(new Node(1)), copy = node, moved = std::move(copy);
      kept = moved;
    }
    bool is_alone = kept->self_py() == nullptr;
    kept.reset();
    return is_alone;
  });
  m.def("count_on_threads", [](nb::ref<Node> node, int n) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&node, n] {
        for (int k = 0; k < n; ++k) nb::ref<Node> copy(node);
      });
    }
    for (std::thread &each : threads) each.join();
  });
  m.def("race_for_python", [](int n) {
    std::vector<nb::ref<Node>> made;
    for (int i = 0; i < n; ++i) {
      nb::ref<Node> node(new Node(i));
      std::thread other([&node] {
        for (int k = 0; k < 20; ++k) nb::ref<Node> copy(node);
      });
      nb::object seen = nb::cast(node.get());
      other.join();
      if (!seen.is_valid()) return -1;
      made.push_back(std::move(node));
    }
    return static_cast<int>(made.size());
  });
}
