/* make_iterator.h - iterators of C++ as iterators of Python.
 *
 *   .def("__iter__", [](const Words &words) {
 *     return nb::make_iterator(nb::type<Words>(), "iterator", words.begin(), words.end());
 *   }, nb::keep_alive<0, 1>())
 *
 * The first call makes the class of the iterator, with a name in a scope. */
#ifndef FFI_HPY_MAKE_ITERATOR_H_
#define FFI_HPY_MAKE_ITERATOR_H_

#include <ffi_hpy/bind/class.h>
#include <ffi_hpy/stl/pair.h>

#include <atomic>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Without an rvalue reference, which would refer to a part of a temporary. */
template <typename T>
using iterated_t = std::conditional_t<std::is_rvalue_reference_v<T>, std::remove_cv_t<std::remove_reference_t<T>>, T>;

/** The parts of an item that an iterator returns. */
template <typename Iterator> struct iterator_access {
  using result_type = decltype(*std::declval<Iterator &>());
  result_type operator()(Iterator &it) const { return *it; }
};
template <typename Iterator> struct iterator_key_access {
  using result_type = iterated_t<decltype(((*std::declval<Iterator &>()).first))>;
  result_type operator()(Iterator &it) const { return (*it).first; }
};
template <typename Iterator> struct iterator_value_access {
  using result_type = iterated_t<decltype(((*std::declval<Iterator &>()).second))>;
  result_type operator()(Iterator &it) const { return (*it).second; }
};

/** The value of an iterator's class. */
template <typename Access, rv_policy policy, typename Iterator, typename End> struct iterator_state {
  Iterator at;
  End end;
  bool is_at_start;
  bool is_done = false;
};

/** Held while the class of an iterator is made. The lock is never deleted: threads may run until the process ends. */
inline system_mutex &iterator_classes() {
  static auto *mutex = new system_mutex;
  return *mutex;
}

/** Whether the class of an iterator is made. */
template <typename State> inline std::atomic<bool> class_is_made{false};

/** Calls make(context) once for each flag, also if several threads begin at once. */
FFI_HPY_COLD inline void make_class(std::atomic<bool> *is_made, void (*make)(const void *), const void *context) {
  iterator_classes().lock_without_gil();
  unlock_later lock(iterator_classes());
  if (is_made->load(std::memory_order_relaxed)) return;
  make(context);
  is_made->store(true, std::memory_order_release);
}
/** Calls make() once for each State. */
template <typename State, typename Make> void make_class_once(const Make &make) {
  if (class_is_made<State>.load(std::memory_order_acquire)) return;
  make_class(&class_is_made<State>, [](const void *context) { (*static_cast<const Make *>(context))(); }, &make);
}

template <template <typename> class Access, rv_policy policy, typename Iterator, typename End, typename... Extra>
auto make_part_iterator(handle scope, const char *name, Iterator &&first, End &&last, const Extra &...extra) {
  using Kept = std::decay_t<Iterator>;
  using End_ = std::decay_t<End>;
  using Item = typename Access<Kept>::result_type;
  using State = iterator_state<Access<Kept>, policy, Kept, End_>;
  make_class_once<State>([&] {
    if (type<State>().is_valid()) return; /* another library iterates over such containers, too */
    class_<State>(scope, name)
        .def("__iter__", [](handle self) { return self; })
        .def(
            "__next__",
            [](State &state) {
              if (!state.is_done && !state.is_at_start) ++state.at;
              state.is_at_start = false;
              state.is_done = state.is_done || state.at == state.end;
              return next_item{no_lock(), state.is_done, [&state]() -> Item { return Access<Kept>()(state.at); }};
            },
            policy, extra...);
  });
  using Result = typed<iterator, Item>;
  return Result(steal<iterator>(
      cast(State{std::forward<Iterator>(first), std::forward<End>(last), true}, rv_policy::move).release()));
}

} // namespace detail

/** An iterator of Python over a range. `policy` is for the items. */
template <rv_policy policy = rv_policy::automatic_reference, typename Iterator, typename End, typename... Extra>
auto make_iterator(handle scope, const char *name, Iterator &&first, End &&last, const Extra &...extra) {
  return detail::make_part_iterator<detail::iterator_access, policy>(scope, name, std::forward<Iterator>(first),
                                                                     std::forward<End>(last), extra...);
}
/** An iterator of Python over the first parts of a range of pairs. */
template <rv_policy policy = rv_policy::automatic_reference, typename Iterator, typename End, typename... Extra>
auto make_key_iterator(handle scope, const char *name, Iterator &&first, End &&last, const Extra &...extra) {
  return detail::make_part_iterator<detail::iterator_key_access, policy>(scope, name, std::forward<Iterator>(first),
                                                                         std::forward<End>(last), extra...);
}
/** An iterator of Python over the second parts of a range of pairs. */
template <rv_policy policy = rv_policy::automatic_reference, typename Iterator, typename End, typename... Extra>
auto make_value_iterator(handle scope, const char *name, Iterator &&first, End &&last, const Extra &...extra) {
  return detail::make_part_iterator<detail::iterator_value_access, policy>(scope, name, std::forward<Iterator>(first),
                                                                           std::forward<End>(last), extra...);
}
/** An iterator of Python over the items of a container. */
template <rv_policy policy = rv_policy::automatic_reference, typename Container, typename... Extra>
auto make_iterator(handle scope, const char *name, Container &container, const Extra &...extra) {
  return make_iterator<policy>(scope, name, std::begin(container), std::end(container), extra...);
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_MAKE_ITERATOR_H_ */
