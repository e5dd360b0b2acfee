/* item_list.h - a list of items that grows, because compilers take long for std::vector. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_ITEM_LIST_H_
#define FFI_HPY_BIND_ITEM_LIST_H_

#include <ffi_hpy/bind/runtime.h>

#include <new>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Items in one block of memory, which are added at the end. */
template <typename T> class item_list {
public:
  item_list() = default;
  /** A list whose first items, up to that number, never move. */
  explicit item_list(size_t room) { grow(room); }
  item_list(const item_list &) = delete;
  item_list &operator=(const item_list &) = delete;
  ~item_list() { release(); }

  /** Adds an item. */
  void add(T item) {
    if (size_ == room_) grow(room_ == 0 ? 8 : 2 * room_);
    new (static_cast<void *>(items_ + size_)) T(static_cast<T &&>(item));
    ++size_;
  }
  size_t size() const { return size_; }
  T *data() { return items_; }
  const T *data() const { return items_; }
  T &last() { return items_[size_ - 1]; }
  T *begin() { return items_; }
  T *end() { return items_ + size_; }
  const T *begin() const { return items_; }
  const T *end() const { return items_ + size_; }

private:
  FFI_HPY_NOINLINE void grow(size_t room) {
    if (room > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    T *moved = static_cast<T *>(::operator new(room * sizeof(T)));
    for (size_t i = 0; i < size_; ++i) new (static_cast<void *>(moved + i)) T(static_cast<T &&>(items_[i]));
    release();
    items_ = moved;
    room_ = room;
  }
  void release() {
    for (size_t i = size_; i > 0; --i) items_[i - 1].~T();
    ::operator delete(items_);
  }

  T *items_ = nullptr;
  size_t size_ = 0, room_ = 0;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_ITEM_LIST_H_ */
