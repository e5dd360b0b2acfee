/* ndarray.h - arrays of NumPy, PyTorch and other libraries as arguments and as results, without a copy.
 *
 *   m.def("scale", [](nb::ndarray<double, nb::ndim<1>, nb::c_contig> a, double by) {
 *     for (size_t i = 0; i < a.shape(0); ++i) a(i) *= by;
 *   });
 *
 * The template arguments are a function's demands: the element type, nb::shape or nb::ndim, the order, the device,
 * nb::ro. A result becomes an object of the library that they name, such as nb::numpy. */
#ifndef FFI_HPY_NDARRAY_H_
#define FFI_HPY_NDARRAY_H_

#include <ffi_hpy/bind/array_memory.h>
#include <ffi_hpy/bind/function.h>
#include <ffi_hpy/bind/item_list.h>

#include <initializer_list>

FFI_HPY_NAMESPACE_BEGIN

/** An array of a known element type and number of axes, for loops. The view must not outlive its ndarray. */
template <typename Scalar, size_t N, char Order> class ndarray_view {
public:
  ndarray_view() = default;
  ndarray_view(Scalar *data, const int64_t *shape, const int64_t *strides, const int64_t *known) : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      shape_[i] = known[i] < 0 ? shape[i] : known[i];
      strides_[i] = strides[i];
    }
    /* The order is known, so the compiler may know the strides. */
    if constexpr (Order == 'C' || Order == 'F') detail::fill_strides(strides_, shape_, N, Order == 'F');
  }

  /** An element. */
  template <typename... I> Scalar &operator()(I... indices) const {
    static_assert(sizeof...(I) == N, "the number of indices is not the number of axes");
    const int64_t at[N + 1] = {static_cast<int64_t>(indices)..., 0};
    int64_t offset = 0;
    for (size_t i = 0; i < N; ++i) offset += at[i] * strides_[i];
    return data_[offset];
  }
  size_t ndim() const { return N; }
  size_t shape(size_t i) const { return static_cast<size_t>(shape_[i]); }
  int64_t stride(size_t i) const { return strides_[i]; }
  Scalar *data() const { return data_; }

private:
  Scalar *data_ = nullptr;
  int64_t shape_[N + 1] = {};
  int64_t strides_[N + 1] = {};
};

/** An array, which copies of it share. A default one refers to nothing. */
template <typename... Args> class ndarray {
  template <typename...> friend class ndarray;

public:
  using Config = detail::array_config<Args...>;
  using Scalar = typename Config::Scalar;
  static constexpr bool ReadOnly = std::is_const_v<Scalar>;
  static constexpr char Order = static_cast<char>(Config::Order::value);
  static constexpr int DeviceType = Config::DeviceType::value;
  using VoidPtr = std::conditional_t<ReadOnly, const void *, void *>;

  ndarray() = default;
  /** Shares the array of a handle. */
  explicit ndarray(detail::ndarray_handle *handle) {
    if (handle != nullptr) *this = ndarray({borrow(detail::array_value(handle)), object()});
  }
  /** Shares an array with other template arguments, which are not compared. */
  template <typename... Other>
  explicit ndarray(const ndarray<Other...> &other) : array_(other.array_), seen_(other.seen_) {}
  /** Describes memory, which `owner` keeps alive. Strides count elements; without them the array is compact. */
  ndarray(VoidPtr data, size_t ndim, const size_t *shape, class handle owner = {}, const int64_t *strides = nullptr,
          dlpack::dtype dtype = ::FFI_HPY_BIND_NAMESPACE::dtype<Scalar>(), int device_type = DeviceType,
          int device_id = 0, char order = Order, uint64_t byte_offset = 0) {
    describe(data, ndim, shape, owner, strides, dtype, device_type, device_id, order, byte_offset);
  }
  /** The shape may be left out if the template arguments have it. */
  ndarray(VoidPtr data, std::initializer_list<size_t> shape = {}, class handle owner = {},
          std::initializer_list<int64_t> strides = {}, dlpack::dtype dtype = ::FFI_HPY_BIND_NAMESPACE::dtype<Scalar>(),
          int device_type = DeviceType, int device_id = 0, char order = Order, uint64_t byte_offset = 0) {
    size_t n = shape.size();
    const size_t *extents = shape.begin();
    [[maybe_unused]] size_t known[Config::Shape::n > 0 ? Config::Shape::n : 1];
    if constexpr (Config::Shape::n > 0 && Config::Shape::is_known) {
      if (n == 0) {
        n = Config::Shape::n;
        for (size_t i = 0; i < n; ++i) known[i] = static_cast<size_t>(Config::Shape::extents[i]);
        extents = known;
      }
    }
    if (strides.size() != 0 && strides.size() != n)
      throw value_error("ndarray: the shape has another length than the strides");
    describe(data, n, extents, owner, strides.size() != 0 ? strides.begin() : nullptr, dtype, device_type, device_id,
             order, byte_offset);
  }

  /** Whether it refers to an array. If it does not, the other members describe an array without elements. */
  bool is_valid() const { return array_.tensor.is_valid(); }
  dlpack::dtype dtype() const { return {seen_.dtype.code, seen_.dtype.bits, seen_.dtype.lanes}; }
  size_t ndim() const { return static_cast<size_t>(seen_.ndim); }
  size_t shape(size_t i) const { return static_cast<size_t>(seen_.shape[i]); }
  int64_t stride(size_t i) const { return seen_.strides[i]; }
  const int64_t *shape_ptr() const { return seen_.shape; }
  const int64_t *stride_ptr() const { return seen_.strides; }
  int device_type() const { return static_cast<int>(seen_.device.device_type); }
  int device_id() const { return seen_.device.device_id; }
  /** The number of elements. */
  size_t size() const {
    size_t n = is_valid() ? 1 : 0;
    for (size_t i = 0; i < ndim(); ++i) n *= shape(i);
    return n;
  }
  size_t itemsize() const { return (size_t{seen_.dtype.bits} * seen_.dtype.lanes + 7) / 8; }
  size_t nbytes() const { return (size_t{seen_.dtype.bits} * seen_.dtype.lanes * size() + 7) / 8; }
  /** The first element. */
  Scalar *data() const { return reinterpret_cast<Scalar *>(bytes()); }
  /** The address, or a device's own handle, of the memory in which the first element is at byte_offset(). */
  void *data_handle() const { return seen_.data; }
  uint64_t byte_offset() const { return seen_.byte_offset; }
  /** The native tensor; null if the array refers to nothing. */
  detail::ndarray_handle *handle() const { return is_valid() ? array_.tensor.any().v_obj : nullptr; }

  /** An element. */
  template <typename... I> auto &operator()(I... indices) const {
    static_assert(!std::is_void_v<Scalar>, "ndarray: the template arguments need an element type, such as float");
    static_assert(Config::Shape::n >= 0, "ndarray: the template arguments need nb::ndim or nb::shape");
    static_assert(Config::Shape::n < 0 || sizeof...(I) == static_cast<size_t>(Config::Shape::n),
                  "ndarray: the number of indices is not the number of axes");
    [[maybe_unused]] size_t axis = 0;
    int64_t offset = 0;
    ((offset += static_cast<int64_t>(indices) * seen_.strides[axis++]), ...);
    return data()[offset];
  }
  /** The array for loops. More template arguments may name facts that the program has checked. */
  template <typename... More> auto view() const {
    using Seen = detail::array_config<More..., Args...>;
    using Item = std::conditional_t<ReadOnly, std::add_const_t<typename Seen::Scalar>, typename Seen::Scalar>;
    static_assert(!std::is_void_v<Item>, "ndarray::view: the template arguments need an element type, such as float");
    static_assert(Seen::Shape::n >= 0, "ndarray::view: the template arguments need nb::ndim or nb::shape");
    constexpr size_t n = Seen::Shape::n < 0 ? 0 : static_cast<size_t>(Seen::Shape::n);
    return ndarray_view<Item, n, static_cast<char>(Seen::Order::value)>(reinterpret_cast<Item *>(bytes()), seen_.shape,
                                                                        seen_.strides, Seen::Shape::extents);
  }
  /** The object of Python, as for a result. */
  auto cast(rv_policy policy = rv_policy::automatic, class handle parent = {}) const;

private:
  friend struct detail::type_caster<ndarray>;

  explicit ndarray(detail::array_and_source array) : array_(std::move(array)) {
    if (is_valid()) seen_ = *TVMFFITensorGetDLTensorPtr(handle());
  }
  void describe(VoidPtr data, size_t ndim, const size_t *shape, class handle owner, const int64_t *strides,
                dlpack::dtype dtype, int device_type, int device_id, char order, uint64_t byte_offset) {
    seen_.data = const_cast<void *>(data);
    seen_.device = {static_cast<DLDeviceType>(device_type != 0 ? device_type : int{kDLCPU}), device_id};
    seen_.ndim = static_cast<int32_t>(ndim);
    seen_.dtype = {dtype.code, dtype.bits, dtype.lanes};
    seen_.strides = const_cast<int64_t *>(strides);
    seen_.byte_offset = byte_offset;
    array_.tensor = detail::new_array(seen_, shape, order == 'F', owner, ReadOnly);
    seen_ = *TVMFFITensorGetDLTensorPtr(handle());
  }
  char *bytes() const { return static_cast<char *>(seen_.data) + seen_.byte_offset; }

  detail::array_and_source array_;
  DLTensor seen_{};
};

/** Whether a value of Python is an array that a parameter of type ndarray<ro> accepts. */
inline bool ndarray_check(handle value) { return detail::ask_python("is_array", value).any().v_int64 != 0; }

namespace detail {

/** Texts that are not empty, with ", " between them. */
template <size_t N> constexpr auto concat_maybe(const descr<N> &only) { return only; }
template <size_t N, size_t M, typename... More>
constexpr auto concat_maybe(const descr<N> &a, const descr<M> &b, const More &...more) {
  return concat_maybe(a + const_name < N != 0 && M != 0 > (", ", "") + b, more...);
}
template <typename T> constexpr auto dtype_text() {
  if constexpr (std::is_void_v<T>) {
    return const_name("");
  } else {
    return const_name("dtype=") + dtype_traits<std::remove_const_t<T>>::name;
  }
}

/** Describes an array, where a parameter demands another array. */
FFI_HPY_COLD inline bool explain_array(handle source, bool reads, mismatch *found) {
  object text = ask_python("describe_array", source, handle(word(kTVMFFIBool, reads)));
  std::string_view what;
  if (!read_text(text.any(), false, &what)) return false;
  found->place += what;
  return true;
}

template <typename... Args> struct type_caster<ndarray<Args...>> {
  using Config = array_config<Args...>;
  static constexpr auto demands_name =
      concat_maybe(dtype_text<typename Config::Scalar>(), Config::Shape::name, Config::Order::name,
                   Config::DeviceType::name, const_name<ndarray<Args...>::ReadOnly>("writable=False", ""));
  FFI_HPY_TYPE_CASTER(ndarray<Args...>,
                      Config::Framework::name +
                          const_name<sizeof(demands_name.text) == 1>(demands_name,
                                                                     const_name("[") + demands_name + const_name("]")));

  bool from_python(handle source, uint32_t flags, cleanup_list *) noexcept {
    static constexpr array_demands demands{dtype_traits<typename Config::Scalar>::value,
                                           Config::Shape::n,
                                           Config::Shape::extents,
                                           Value::DeviceType,
                                           Value::Order,
                                           Value::ReadOnly};
    return load_array(source, flags, demands, &value.array_, &value.seen_);
  }
  static bool explain(handle source, uint32_t, mismatch *found) {
    return explain_array(source, Value::ReadOnly, found);
  }
  static handle from_cpp(const Value &source, rv_policy policy, cleanup_list *cleanup) noexcept {
    if (!source.is_valid()) return handle(none_value());
    handle parent = cleanup != nullptr ? cleanup->self() : handle();
    return guarded(
        [&] { return export_array(source.array_, Value::ReadOnly, Config::Framework::value, policy, parent); });
  }
};

/** An object of Python that is an array. */
template <typename... Args> class ndarray_object : public object {
public:
  static constexpr auto Name = type_caster<ndarray<Args...>>::Name;
  ndarray_object(class handle value, borrow_t how) : object(value, how) {}
  ndarray_object(class handle value, steal_t how) : object(value, how) {}
};

} // namespace detail

template <typename... Args> auto ndarray<Args...>::cast(rv_policy policy, class handle parent) const {
  return steal<detail::ndarray_object<Args...>>(::FFI_HPY_BIND_NAMESPACE::cast(*this, policy, parent).release());
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_NDARRAY_H_ */
