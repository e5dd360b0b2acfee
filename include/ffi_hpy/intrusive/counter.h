/* counter.h - a reference count inside of C++ objects, which Python takes over. While C++ alone has an object, the
 * count is a number. As soon as Python has the object, too, C++ and Python share one count.
 *
 *   class Node : public ffi_hpy::intrusive_base { ... };
 *
 *   nb::class_<nb::intrusive_base>(m, "Base",
 *       nb::intrusive_ptr<nb::intrusive_base>([](nb::intrusive_base *o, TVMFFIObject *self) noexcept {
 *         o->set_self_py(self);
 *       }));
 *   nb::class_<Node, nb::intrusive_base>(m, "Node");
 *
 * All functions may be called on any thread. The classes and their binding are parts of one library. */
#ifndef FFI_HPY_INTRUSIVE_COUNTER_H_
#define FFI_HPY_INTRUSIVE_COUNTER_H_

#include <ffi_hpy/bind/runtime.h>

#include <atomic>

FFI_HPY_NAMESPACE_BEGIN

/** A count of references, as large as a pointer. */
class intrusive_counter {
public:
  intrusive_counter() noexcept = default;
  /** A copy of an object has references of its own. */
  intrusive_counter(const intrusive_counter &) noexcept {}
  intrusive_counter(intrusive_counter &&) noexcept {}
  intrusive_counter &operator=(const intrusive_counter &) noexcept { return *this; }
  intrusive_counter &operator=(intrusive_counter &&) noexcept { return *this; }

  void inc_ref() const noexcept {
    uintptr_t state = state_.load(std::memory_order_acquire);
    while ((state & kCounts) != 0) {
      if (state_.compare_exchange_weak(state, state + kOne, std::memory_order_acq_rel, std::memory_order_acquire))
        return;
    }
    detail::add_ref(object_of(state));
  }
  /** Releases a reference. True if it was the last one: the caller deletes the object. Python deletes an object that it
   * has. */
  bool dec_ref() const noexcept {
    uintptr_t state = state_.load(std::memory_order_acquire);
    while ((state & kCounts) != 0) {
      if (state_.compare_exchange_weak(state, state - kOne, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return state - kOne == kCounts;
      }
    }
    detail::api->dec_ref(object_of(state));
    return false;
  }
  /** Lets Python's object count all references from now on. */
  void set_self_py(detail::counting_object *self) noexcept {
    auto *whole = reinterpret_cast<TVMFFIObject *>(self);
    uintptr_t state = state_.load(std::memory_order_acquire), n_added = 0;
    if ((state & kCounts) == 0) return; /* Python has it already */
    do {
      for (; n_added < state / kOne; ++n_added) detail::add_ref(whole);
    } while (!state_.compare_exchange_weak(state, reinterpret_cast<uintptr_t>(whole), std::memory_order_acq_rel));
    for (; n_added > state / kOne; --n_added) detail::api->dec_ref(whole); /* released by another thread just now */
  }
  /** Python's object, borrowed; NULL while C++ counts alone. */
  detail::counting_object *self_py() const noexcept {
    uintptr_t state = state_.load(std::memory_order_acquire);
    return (state & kCounts) != 0 ? nullptr : reinterpret_cast<detail::counting_object *>(state);
  }
  /** The number of references while C++ counts alone; otherwise 0. */
  uint32_t n_refs() const noexcept {
    uintptr_t state = state_.load(std::memory_order_acquire);
    return (state & kCounts) != 0 ? static_cast<uint32_t>(state / kOne) : 0;
  }

private:
  /* Twice the number of references, plus kCounts; or the pointer to the object, which is even. */
  enum : uintptr_t { kCounts = 1, kOne = 2 };
  static TVMFFIObject *object_of(uintptr_t state) { return reinterpret_cast<TVMFFIObject *>(state); }

  mutable std::atomic<uintptr_t> state_{kCounts};
};

/** A base class with a count. */
class intrusive_base {
public:
  virtual ~intrusive_base() = default;
  void inc_ref() const noexcept { counter_.inc_ref(); }
  bool dec_ref() const noexcept { return counter_.dec_ref(); }
  void set_self_py(detail::counting_object *self) noexcept { counter_.set_self_py(self); }
  detail::counting_object *self_py() const noexcept { return counter_.self_py(); }
  uint32_t n_refs() const noexcept { return counter_.n_refs(); }

private:
  intrusive_counter counter_;
};

/** The functions by which ref<T> counts; a class without this base declares its own beside it. */
inline void inc_ref(const intrusive_base *object) noexcept {
  if (object != nullptr) object->inc_ref();
}
inline void dec_ref(const intrusive_base *object) noexcept {
  if (object != nullptr && object->dec_ref()) delete object;
}

#if defined(FFI_HPY_BIND_PY_OBJECT)
/** nanobind's sources pass functions here that count references of Python. The core has its own. */
inline void intrusive_init(void (*)(PyObject *) noexcept, void (*)(PyObject *) noexcept) {}
#endif

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_INTRUSIVE_COUNTER_H_ */
