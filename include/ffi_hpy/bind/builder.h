/* builder.h - tuples and lists of Python that C++ fills item by item. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_BUILDER_H_
#define FFI_HPY_BIND_BUILDER_H_

#include <ffi_hpy/bind/type_casters.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Collects the items of a Sequence, which Python makes of them at once. */
template <typename Sequence> class sequence_builder {
public:
  explicit sequence_builder(size_t n) : items_(n), n_(n) {}
  sequence_builder(const sequence_builder &) = delete;

  /** Sets the next item. False, without an item, for a value that cannot become one of Python. */
  template <typename T> bool put(T &&value) noexcept {
    try {
      items_.add(cast(std::forward<T>(value)));
      return items_.last().is_valid();
    } catch (...) {
      return false;
    }
  }
  /** The sequence. The builder is done. Throws cast_error if an item is missing. */
  Sequence commit() {
    if (is_committed_) throw cast_error("the sequence is already committed");
    if (items_.size() != n_) throw cast_error("the sequence is not completely filled");
    is_committed_ = true;
    item_list<TVMFFIAny> all;
    all.add(none_value());
    for (const object &item : items_) all.add(item.any());
    uint32_t what = std::is_same_v<Sequence, tuple> ? kFfiHpyRunTuple : kFfiHpyRunList;
    return steal<Sequence>(ask_python_with(what, all.data(), all.size()).release());
  }

private:
  item_list<object> items_;
  size_t n_;
  bool is_committed_ = false;
};

} // namespace detail

/** Makes a tuple, or a list, of a known size: put() each item, then commit(). */
using tuple_builder = detail::sequence_builder<tuple>;
using list_builder = detail::sequence_builder<list>;

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_BUILDER_H_ */
