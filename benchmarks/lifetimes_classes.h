/* The classes of lifetimes.py for nanobind and pybind11, with the members of the classes in lifetimes_ffi.cc. */
#ifndef LIFETIMES_CLASSES_H_
#define LIFETIMES_CLASSES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

inline std::atomic<int64_t> n_alive{0};

/* Counts the objects that exist. */
struct Counted {
  Counted() { ++n_alive; }
  Counted(const Counted &) { ++n_alive; }
  ~Counted() { --n_alive; }
};

struct Button {
  std::function<void()> on_click;
};

struct Window {
  Counted counted;
  std::shared_ptr<Button> button;
};

struct Subject {
  Counted counted;
  std::vector<std::function<void()>> observers;
  std::map<std::string, std::function<void()>> named;
  void Add(std::function<void()> observer) { observers.push_back(std::move(observer)); }
  void Name(const std::string &name, std::function<void()> observer) { named[name] = std::move(observer); }
};

struct Gate {
  Counted counted;
  std::function<int64_t(int64_t)> check;
};

struct Node {
  Counted counted;
  std::shared_ptr<Node> next;
};

struct Shape {
  Counted counted;
};

struct Canvas {
  std::vector<std::shared_ptr<Shape>> shapes;
  void Add(std::shared_ptr<Shape> shape) { shapes.push_back(std::move(shape)); }
  std::shared_ptr<Shape> Last() const { return shapes.back(); }
};

#endif /* LIFETIMES_CLASSES_H_ */
