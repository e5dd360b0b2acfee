/* tensor.h - tensors of the library Eigen as arguments and as results: arrays of NumPy with one axis for each index.
 *
 * A parameter of type Eigen::Tensor or Eigen::TensorFixedSize gets a copy of any array. Eigen::TensorMap and
 * Eigen::TensorRef refer to the memory of the array, which must have their element type and order of axes;
 * Eigen::TensorRef<const T> refers to a copy otherwise, until the function returns. */
#ifndef FFI_HPY_EIGEN_TENSOR_H_
#define FFI_HPY_EIGEN_TENSOR_H_

#include <ffi_hpy/eigen/dense.h>

#include <unsupported/Eigen/CXX11/Tensor>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The kinds of classes of Eigen's tensors. */
enum class tensor_kind { none, owner, map, reference, expression };

/** The kind of a class, by its template; all other classes that derive from TensorBase are expressions. */
template <typename T> struct tensor_kind_of {
  static constexpr tensor_kind value = std::is_base_of<Eigen::TensorBase<T, Eigen::ReadOnlyAccessors>, T>::value
                                           ? tensor_kind::expression
                                           : tensor_kind::none;
};
template <typename S, int N, int Options, typename Index> struct tensor_kind_of<Eigen::Tensor<S, N, Options, Index>> {
  static constexpr tensor_kind value = tensor_kind::owner;
};
template <typename S, typename Extents, int Options, typename Index>
struct tensor_kind_of<Eigen::TensorFixedSize<S, Extents, Options, Index>> {
  static constexpr tensor_kind value = tensor_kind::owner;
};
template <typename T, int Options, template <class> class Pointer>
struct tensor_kind_of<Eigen::TensorMap<T, Options, Pointer>> {
  static constexpr tensor_kind value = tensor_kind::map;
};
template <typename T> struct tensor_kind_of<Eigen::TensorRef<T>> {
  static constexpr tensor_kind value = tensor_kind::reference;
};

/* Names of nanobind that projects use. */
template <typename T> inline constexpr bool is_eigen_tensor_v = tensor_kind_of<T>::value != tensor_kind::none;
template <typename T> inline constexpr bool is_eigen_tensor_map_v = tensor_kind_of<T>::value == tensor_kind::map;
template <typename T> inline constexpr bool is_eigen_tensor_ref_v = tensor_kind_of<T>::value == tensor_kind::reference;

/** The extents of a tensor as NumPy sees them: any, or the extents of the type. */
template <typename T, typename Extents = typename T::Dimensions> struct eigen_tensor_shape {
  using type = ndim<static_cast<size_t>(T::NumDimensions)>;
};
template <typename T, std::ptrdiff_t... Extents> struct eigen_tensor_shape<T, Eigen::Sizes<Extents...>> {
  using type = shape<Extents...>;
};

/** The array of NumPy for a type of tensors. The array is compact, in the order of the tensor. */
template <typename T, typename Scalar>
using eigen_tensor_array = ndarray<Scalar, numpy, typename eigen_tensor_shape<T>::type,
                                   std::conditional_t<int{T::Layout} == int{Eigen::RowMajor}, c_contig, f_contig>>;

/** A map on an array. */
template <typename Map, typename Array> Map eigen_tensor_map(const Array &array) {
  typename Map::Dimensions extents{};
  if constexpr (!Array::Config::Shape::is_known) {
    for (size_t i = 0; i < array.ndim(); ++i) extents[i] = static_cast<typename Map::Index>(array.shape(i));
  }
  return Map(array.data(), extents);
}

/** An array on the memory of a tensor. `owner` keeps the memory alive; without one, the policy names the owner. */
template <typename Scalar, typename T, enable_if_t<is_eigen_tensor_v<T>> = 0>
handle eigen_export(const T &value, handle owner, rv_policy policy, cleanup_list *cleanup) {
  using Array = eigen_tensor_array<T, Scalar>;
  constexpr auto n = static_cast<size_t>(T::NumDimensions);
  size_t extents[n + 1] = {};
  for (size_t i = 0; i < n; ++i) {
    if constexpr (Array::Config::Shape::is_known) {
      extents[i] = static_cast<size_t>(Array::Config::Shape::extents[i]);
    } else {
      extents[i] = static_cast<size_t>(value.dimensions()[i]);
    }
  }
  bool needs_parent = policy == rv_policy::reference_internal && !owner.is_valid();
  if (needs_parent && (cleanup == nullptr || !cleanup->self().is_valid())) throw cast_error();
  Array array(const_cast<std::remove_const_t<Scalar> *>(value.data()), n, extents, owner);
  return checked(make_caster<Array>::from_cpp(array, policy, cleanup)).release();
}

/** Tensors that own their elements. */
template <typename T>
struct type_caster<T, enable_if_t<tensor_kind_of<T>::value == tensor_kind::owner>> : eigen_results<T> {
  using Scalar = typename T::Scalar;
  static constexpr bool IsRowMajor = int{T::Layout} == int{Eigen::RowMajor};
  FFI_HPY_TYPE_CASTER(T, make_caster<eigen_tensor_array<T, Scalar>>::Name);
  using eigen_results<T>::from_cpp;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      make_caster<eigen_tensor_array<T, const Scalar>> read;
      if (source.is_none() || !read.from_python(source, flags, cleanup)) return false;
      value = eigen_tensor_map<Eigen::TensorMap<const T>>(read.value);
      return true;
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
};

/** Maps, which refer to the memory of an array. */
template <typename T, int Options, template <class> class Pointer>
struct type_caster<Eigen::TensorMap<T, Options, Pointer>> {
  using Map = Eigen::TensorMap<T, Options, Pointer>;
  using Scalar = std::conditional_t<std::is_const_v<T>, const typename T::Scalar, typename T::Scalar>;
  using Array = eigen_tensor_array<T, Scalar>;
  static constexpr auto Name = make_caster<Array>::Name;
  template <typename> using Cast = Map;
  template <typename> static constexpr bool can_cast() { return true; }

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    constexpr size_t alignment = (Options & Eigen::AlignedMask) != 0 ? size_t{Options & Eigen::AlignedMask} : 1;
    return !source.is_none() && read_.from_python(source, flags & ~uint32_t{cast_flags::convert}, cleanup) &&
           reinterpret_cast<uintptr_t>(read_.value.data()) % alignment == 0;
  }
  static handle from_cpp(const Map &source, rv_policy policy, cleanup_list *cleanup) noexcept {
    policy = eigen_reference_policy(policy);
    return guarded([&] { return steal(eigen_export<Scalar>(source, handle(), policy, cleanup)); });
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    return make_caster<Array>::explain(source, flags, found);
  }
  explicit operator Map() { return eigen_tensor_map<Map>(read_.value); }

private:
  make_caster<Array> read_;
};

/** References. One to const elements refers to a copy where a Map is not possible. */
template <typename T> struct type_caster<Eigen::TensorRef<T>> {
  using Ref = Eigen::TensorRef<T>;
  using Plain = std::remove_const_t<T>;
  using Scalar = typename make_caster<Eigen::TensorMap<T>>::Scalar;
  using Array = eigen_tensor_array<T, Scalar>;
  static constexpr auto Name = make_caster<Array>::Name;
  template <typename> using Cast = Ref;
  template <typename> static constexpr bool can_cast() { return true; }

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    bool may_copy = std::is_const_v<T> && (flags & cast_flags::manual) == 0; /* the copy ends with the caster */
    if (!may_copy) flags &= ~uint32_t{cast_flags::convert};
    return !source.is_none() && read_.from_python(source, flags, cleanup);
  }
  static handle from_cpp(const Ref &source, rv_policy policy, cleanup_list *cleanup) noexcept {
    return guarded([&] {
      if (source.data() != nullptr || source.size() == 0) {
        return steal(eigen_export<Scalar>(source, handle(), eigen_reference_policy(policy), cleanup));
      }
      return steal(make_caster<Plain>::from_cpp(Plain(source), rv_policy::move, cleanup)); /* an expression */
    });
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    return make_caster<Array>::explain(source, flags, found);
  }
  explicit operator Ref() { return Ref(eigen_tensor_map<Eigen::TensorMap<T>>(read_.value)); }

private:
  make_caster<Array> read_;
};

/** The type that owns the elements of an expression. */
template <typename T>
using eigen_tensor_of = Eigen::Tensor<std::remove_const_t<typename T::Scalar>, int{T::NumDimensions},
                                      Eigen::internal::traits<T>::Layout, typename T::Index>;
template <typename T>
struct type_caster<T, enable_if_t<tensor_kind_of<T>::value == tensor_kind::expression>>
    : eigen_expression_caster<T, eigen_tensor_of<T>> {};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_EIGEN_TENSOR_H_ */
