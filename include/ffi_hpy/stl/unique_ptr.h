/* unique_ptr.h - std::unique_ptr as a result and as an argument. As a result it gives the value to the object of
 * Python. As an argument it takes the value: the object of Python has none until C++ returns the value.
 *
 * A value that Python has constructed is a part of its object: only std::unique_ptr<T, nb::deleter<T>> can take it,
 * which keeps the object alive. */
#ifndef FFI_HPY_STL_UNIQUE_PTR_H_
#define FFI_HPY_STL_UNIQUE_PTR_H_

#include <ffi_hpy/bind/instance.h>

#include <memory>

FFI_HPY_NAMESPACE_BEGIN

/** Deletes a value of C++, or releases the object of Python that has the value. */
template <typename T> class deleter {
public:
  deleter() = default;
  deleter(std::default_delete<T>) {}
  /** For a value in an object of Python: owns the object, and has the value that was taken from it. */
  deleter(object owner, void *taken, void (*release)(ffi_hpy_instance *), void *holder)
      : owner_(std::move(owner)), taken_(taken), release_(release), holder_(holder) {}
  /** Whether the value belongs to C++. */
  bool owned_by_cpp() const { return !owner_.is_valid(); }
  bool owned_by_python() const { return owner_.is_valid(); }
  void operator()(void *value) noexcept {
    if (owned_by_cpp()) {
      delete static_cast<T *>(value);
    } else {
      give_back();
      owner_.reset();
    }
  }
  /** Gives the value back to its object, and returns the object. */
  object give_back() const {
    auto *whole = reinterpret_cast<ffi_hpy_instance *>(owner_.any().v_obj);
    ffi_hpy_instance *found = detail::api->instance_return(whole->type, taken_, release_, holder_);
    return found != nullptr ? detail::take_object(found) : owner_;
  }

private:
  object owner_;
  void *taken_ = nullptr;
  void (*release_)(ffi_hpy_instance *) = nullptr;
  void *holder_ = nullptr;
};

namespace detail {

template <typename T, typename Deleter> struct may_be_empty<std::unique_ptr<T, Deleter>> : std::true_type {};

template <typename T, typename Deleter> struct type_caster<std::unique_ptr<T, Deleter>> : native_caster {
  using Value = std::unique_ptr<T, Deleter>;
  using Plain = std::remove_cv_t<T>;
  static constexpr auto Name = make_caster<T>::Name;
  static constexpr bool is_own = std::is_same_v<Deleter, deleter<T>>;
  static_assert(is_own || std::is_same_v<Deleter, std::default_delete<T>>,
                "a unique_ptr has the deleter of the standard library, or nb::deleter");
  template <typename> using Cast = Value;
  template <typename> static constexpr bool can_cast() { return true; }

  type_caster() = default;
  type_caster(const type_caster &) = delete;
  type_caster &operator=(const type_caster &) = delete;
  /* Until the function gets the value, the object can have it again. */
  ~type_caster() {
    if (taken_ != nullptr) drop(api->instance_return(source_->type, taken_, release_, holder_));
  }

  bool from_python(handle source, uint32_t flags, cleanup_list *) noexcept {
    if (source.is_none()) return (flags & cast_flags::accepts_none) != 0;
    const ffi_hpy_class *type = class_of<T>::find();
    if (type == nullptr) return false;
    source_ = api->instance_of(&source.any());
    if (source_ == nullptr || !is_of_class(*source_, type)) return false;
    value_ = static_cast<Plain *>(api->instance_cast(&source.any(), type));
    release_ = source_->release;
    holder_ = source_->holder;
    is_of_cpp_ = release_ != nullptr && release_ == type->delete_value;
    if (value_ != nullptr && (is_of_cpp_ || is_own)) taken_ = api->instance_take(source_);
    if (taken_ == nullptr) {
      warn_of_instance("::detail::nb_relinquish_ownership(): C++ cannot take the value of an instance of type '",
                       source_->type);
    }
    return taken_ != nullptr;
  }
  static handle from_cpp(Value source, rv_policy, cleanup_list *cleanup) noexcept {
    if (source == nullptr) return handle(none_value());
    handle made = guarded([&] {
      if constexpr (is_own) {
        if (source.get_deleter().owned_by_python()) return source.get_deleter().give_back();
      }
      auto *plain = const_cast<Plain *>(source.get());
      void *whole;
      const ffi_hpy_class &type = dynamic_class(plain, &whole);
      ffi_hpy_instance *known = api->instance_return(&type, whole, class_of<T>::get().delete_value, plain);
      if (known != nullptr) return take_object(known);
      return checked(make_caster<T>::from_cpp(source.get(), rv_policy::take_ownership, cleanup));
    });
    if (made.is_valid()) (void)source.release();
    return made;
  }
  explicit operator Value() {
    if (taken_ == nullptr) return nullptr;
    if constexpr (is_own) {
      if (!is_of_cpp_) {
        object owner = borrow(handle(view_of(source_)));
        return Value(value_, deleter<T>(std::move(owner), std::exchange(taken_, nullptr), release_, holder_));
      }
    }
    taken_ = nullptr;
    return Value(value_);
  }

private:
  static void drop(ffi_hpy_instance *given) {
    if (given != nullptr) api->dec_ref(given);
  }

  Plain *value_ = nullptr;
  ffi_hpy_instance *source_ = nullptr;
  void *taken_ = nullptr, *holder_ = nullptr;
  void (*release_)(ffi_hpy_instance *) = nullptr;
  bool is_of_cpp_ = false;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_UNIQUE_PTR_H_ */
