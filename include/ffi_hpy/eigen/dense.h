/* dense.h - dense matrices, vectors and arrays of the library Eigen as arguments and as results: arrays of NumPy.
 *
 * A parameter of a type with its own memory (Eigen::MatrixXd, Eigen::Vector3f, ...) gets a copy of any array.
 * Eigen::Map and Eigen::Ref refer to the memory of the array, which must have their element type and strides;
 * Eigen::Ref<const T> refers to a copy otherwise. DRef and DMap take arrays with any strides. */
#ifndef FFI_HPY_EIGEN_DENSE_H_
#define FFI_HPY_EIGEN_DENSE_H_

#include <ffi_hpy/ndarray.h>

#include <Eigen/Core>

#include <memory>

FFI_HPY_NAMESPACE_BEGIN

/** Any strides. */
using DStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
/** References to arrays with any strides. */
template <typename T> using DRef = Eigen::Ref<T, 0, DStride>;
template <typename T> using DMap = Eigen::Map<T, 0, DStride>;
/** Any strides between rows or columns; their elements are neighbors, so the compiler can vectorize loops. */
using DStride1 = Eigen::Stride<Eigen::Dynamic, 1>;
template <typename T> using DRef1 = Eigen::Ref<T, 0, DStride1>;
template <typename T> using DMap1 = Eigen::Map<T, 0, DStride1>;

namespace detail {

template <typename T> std::true_type test_eigen_dense(const Eigen::DenseBase<T> *);
std::false_type test_eigen_dense(...);
template <typename T> std::true_type test_eigen_plain(const Eigen::PlainObjectBase<T> *);
std::false_type test_eigen_plain(...);

/** Whether a type is one of Eigen's dense types; whether it owns its elements. */
template <typename T>
inline constexpr bool is_eigen_dense_v = decltype(test_eigen_dense(static_cast<T *>(nullptr)))::value;
template <typename T>
inline constexpr bool is_eigen_plain_v = decltype(test_eigen_plain(static_cast<T *>(nullptr)))::value;

/** The array of NumPy for a type of Eigen: with one axis for vectors, otherwise with two. */
template <typename T, typename Scalar>
using eigen_array = ndarray<Scalar, numpy,
                            std::conditional_t<T::IsVectorAtCompileTime, shape<T::SizeAtCompileTime>,
                                               shape<T::RowsAtCompileTime, T::ColsAtCompileTime>>>;

/* ---- Arguments ---- */

/** An array of Python as Eigen sees it: `inner` is the stride between neighbors, `outer` that between rows of a matrix
 * by rows, or else between columns. */
template <typename T> struct eigen_layout {
  Eigen::Index rows, cols, outer, inner;

  template <typename Array> explicit eigen_layout(const Array &array) {
    if constexpr (T::IsVectorAtCompileTime) {
      auto size = static_cast<Eigen::Index>(array.shape(0));
      rows = T::ColsAtCompileTime == 1 ? size : 1;
      cols = T::ColsAtCompileTime == 1 ? 1 : size;
      inner = array.stride(0);
      outer = size * inner;
    } else {
      rows = static_cast<Eigen::Index>(array.shape(0));
      cols = static_cast<Eigen::Index>(array.shape(1));
      outer = array.stride(T::IsRowMajor ? 0 : 1);
      inner = array.stride(T::IsRowMajor ? 1 : 0);
    }
    if (rows == 0 || cols == 0) { /* any stride is right */
      inner = 1;
      outer = n_inner();
    }
  }
  Eigen::Index n_inner() const { return T::IsVectorAtCompileTime ? rows * cols : T::IsRowMajor ? cols : rows; }
  Eigen::Index n_outer() const { return T::IsVectorAtCompileTime ? 1 : T::IsRowMajor ? rows : cols; }

  /** Whether a Map with a type of strides can refer to the memory. */
  template <typename Stride> bool fits() const {
    constexpr Eigen::Index outer_known = Stride::OuterStrideAtCompileTime, inner_known = inner_of<Stride>();
    if (inner_known != Eigen::Dynamic && inner != inner_known && n_inner() > 1) return false;
    Eigen::Index expected =
        outer_known == 0 ? n_inner() * (inner_known == Eigen::Dynamic ? inner : inner_known) : outer_known;
    return outer_known == Eigen::Dynamic || outer == expected || n_outer() <= 1;
  }
  template <typename Stride> Stride strides() const {
    constexpr Eigen::Index outer_known = Stride::OuterStrideAtCompileTime;
    constexpr Eigen::Index inner_known = Stride::InnerStrideAtCompileTime;
    Eigen::Index o = outer_known == Eigen::Dynamic ? outer : outer_known;
    Eigen::Index i = inner_known == Eigen::Dynamic ? inner : inner_known;
    if constexpr (std::is_constructible_v<Stride, Eigen::Index, Eigen::Index>) {
      return Stride(o, i);
    } else {
      return Stride(outer_known == 0 ? i : o);
    }
  }
  template <typename Map, typename Stride, typename Data> Map map(Data *data) const {
    if constexpr (T::IsVectorAtCompileTime) {
      return Map(data, rows * cols, strides<Stride>());
    } else {
      return Map(data, rows, cols, strides<Stride>());
    }
  }
  template <typename Stride> static constexpr Eigen::Index inner_of() {
    return Stride::InnerStrideAtCompileTime == 0 ? 1 : Eigen::Index{Stride::InnerStrideAtCompileTime};
  }
};

/* ---- Results ---- */

/** An array on the memory of a matrix. `owner` keeps the memory alive; without one, the policy names the owner. */
template <typename Scalar, typename T, enable_if_t<is_eigen_dense_v<T>> = 0>
handle eigen_export(const T &value, handle owner, rv_policy policy, cleanup_list *cleanup) {
  using Array = eigen_array<T, Scalar>;
  size_t extents[2] = {static_cast<size_t>(value.rows()), static_cast<size_t>(value.cols())};
  int64_t strides[2] = {value.outerStride(), value.innerStride()};
  if constexpr (T::IsVectorAtCompileTime) {
    extents[0] = static_cast<size_t>(value.size());
    strides[0] = value.innerStride();
  } else if constexpr (!T::IsRowMajor) {
    std::swap(strides[0], strides[1]);
  }
  bool needs_parent = policy == rv_policy::reference_internal && !owner.is_valid();
  if (needs_parent && (cleanup == nullptr || !cleanup->self().is_valid())) throw cast_error();
  Array array(const_cast<std::remove_const_t<Scalar> *>(value.data()), T::IsVectorAtCompileTime ? 1 : 2, extents, owner,
              strides);
  return checked(make_caster<Array>::from_cpp(array, policy, cleanup)).release();
}

/** Results and messages of types that own their elements. `eigen_export` of the type makes the array. */
template <typename T> struct eigen_results {
  using Scalar = typename T::Scalar;

  static bool explain(handle source, uint32_t, mismatch *found) { return explain_array(source, true, found); }

  static handle from_cpp(T &&source, rv_policy policy, cleanup_list *cleanup) noexcept {
    return guarded([&] { return own(new T(std::move(source)), policy, cleanup); });
  }
  static handle from_cpp(const T &&source, rv_policy policy, cleanup_list *cleanup) noexcept {
    return guarded([&] { return own(new T(source), policy, cleanup); });
  }
  static handle from_cpp(const T &source, rv_policy policy, cleanup_list *cleanup) noexcept {
    return guarded([&] {
      bool refers =
          policy == rv_policy::reference || policy == rv_policy::reference_internal || policy == rv_policy::none;
      return refers ? steal(eigen_export<Scalar>(source, handle(), policy, cleanup))
                    : own(new T(source), policy, cleanup);
    });
  }
  static handle from_cpp(T *source, rv_policy policy, cleanup_list *cleanup) noexcept {
    if (source == nullptr) return handle(none_value());
    if (policy == rv_policy::automatic_reference) policy = rv_policy::reference;
    bool is_given = policy == rv_policy::automatic || policy == rv_policy::take_ownership;
    return is_given ? guarded([&] { return own(source, policy, cleanup); }) : from_cpp(*source, policy, cleanup);
  }

private:
  /* An array that owns the value. */
  static object own(T *value, rv_policy policy, cleanup_list *cleanup) {
    std::unique_ptr<T> kept(value);
    if (policy == rv_policy::none) throw cast_error();
    capsule owner(value, [](void *address) noexcept { delete static_cast<T *>(address); });
    kept.release();
    return steal(eigen_export<Scalar>(*value, owner, rv_policy::reference, cleanup));
  }
};

/** The policy for a type that refers to memory. */
inline rv_policy eigen_reference_policy(rv_policy policy) {
  bool is_automatic = policy == rv_policy::automatic || policy == rv_policy::automatic_reference;
  return is_automatic ? rv_policy::reference : policy;
}

/* ---- Casters ---- */

/** Types that own their elements. */
template <typename T> struct type_caster<T, enable_if_t<is_eigen_plain_v<T>>> : eigen_results<T> {
  using Scalar = typename T::Scalar;
  FFI_HPY_TYPE_CASTER(T, make_caster<eigen_array<T, Scalar>>::Name);
  using eigen_results<T>::from_cpp;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      make_caster<eigen_array<T, const Scalar>> read;
      if (source.is_none() || !read.from_python(source, flags, cleanup)) return false;
      eigen_layout<T> layout(read.value);
      value = layout.template map<DMap<const T>, DStride>(read.value.data());
      return true;
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
};

/** Maps, which refer to the memory of an array. */
template <typename T, int Options, typename Stride>
struct type_caster<Eigen::Map<T, Options, Stride>, enable_if_t<is_eigen_plain_v<std::remove_const_t<T>>>> {
  using Map = Eigen::Map<T, Options, Stride>;
  using Scalar = std::conditional_t<std::is_const_v<T>, const typename Map::Scalar, typename Map::Scalar>;
  using Array = eigen_array<T, Scalar>;
  static constexpr auto Name = make_caster<Array>::Name;
  template <typename> using Cast = Map;
  template <typename> static constexpr bool can_cast() { return true; }

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    return !source.is_none() && read_.from_python(source, flags & ~uint32_t{cast_flags::convert}, cleanup) &&
           eigen_layout<T>(read_.value).template fits<Stride>();
  }
  static handle from_cpp(const Map &source, rv_policy policy, cleanup_list *cleanup) noexcept {
    policy = eigen_reference_policy(policy);
    return guarded([&] { return steal(eigen_export<Scalar>(source, handle(), policy, cleanup)); });
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    return make_caster<Array>::explain(source, flags, found);
  }
  explicit operator Map() { return eigen_layout<T>(read_.value).template map<Map, Stride>(read_.value.data()); }

private:
  make_caster<Array> read_;
};

/** References. A reference to const elements refers to a copy where a Map is not possible, if the strides of a copy fit
 * it. */
template <typename T, int Options, typename Stride> struct type_caster<Eigen::Ref<T, Options, Stride>> {
  using Ref = Eigen::Ref<T, Options, Stride>;
  using Map = Eigen::Map<T, Options, Stride>;
  using Scalar = typename make_caster<Map>::Scalar;
  using Array = eigen_array<T, Scalar>;
  static constexpr bool may_copy = std::is_const_v<T> && eigen_layout<T>::template inner_of<Stride>() == 1;
  static constexpr auto Name = make_caster<Array>::Name;
  template <typename> using Cast = Ref;
  template <typename> static constexpr bool can_cast() { return true; }

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    if (source.is_none()) return false;
    uint32_t strict = flags & ~uint32_t{cast_flags::convert};
    bool is_read = read_.from_python(source, strict, cleanup);
    is_copied_ = !is_read || !eigen_layout<T>(read_.value).template fits<Stride>();
    return !is_copied_ || (may_copy && (is_read || read_.from_python(source, flags, cleanup)));
  }
  static handle from_cpp(const Ref &source, rv_policy policy, cleanup_list *cleanup) noexcept {
    policy = eigen_reference_policy(policy);
    return guarded([&] { return steal(eigen_export<Scalar>(source, handle(), policy, cleanup)); });
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    return make_caster<Array>::explain(source, flags, found);
  }
  explicit operator Ref() {
    eigen_layout<T> layout(read_.value);
    if constexpr (may_copy) {
      auto all = layout.template map<DMap<T>, DStride>(read_.value.data());
      /* Eigen keeps the copy of an expression inside of the Ref, which may outlive the caster. */
      if (is_copied_) return Ref(all.unaryExpr([](const typename Ref::Scalar &element) { return element; }));
    }
    return Ref(layout.template map<Map, Stride>(read_.value.data()));
  }

private:
  make_caster<Array> read_;
  bool is_copied_ = false;
};

/** The results that are expressions or blocks: they become a Plain, which owns its elements. */
template <typename T, typename Plain> struct eigen_expression_caster {
  static constexpr auto Name = make_caster<Plain>::Name;
  static handle from_cpp(const T &source, rv_policy, cleanup_list *cleanup) noexcept {
    return guarded([&] { return steal(make_caster<Plain>::from_cpp(Plain(source), rv_policy::move, cleanup)); });
  }
};

template <typename T> inline constexpr bool is_eigen_map_or_ref_v = false;
template <typename T, int Options, typename Stride>
inline constexpr bool is_eigen_map_or_ref_v<Eigen::Map<T, Options, Stride>> = true;
template <typename T, int Options, typename Stride>
inline constexpr bool is_eigen_map_or_ref_v<Eigen::Ref<T, Options, Stride>> = true;
template <typename T>
struct type_caster<T, enable_if_t<is_eigen_dense_v<T> && !is_eigen_plain_v<T> && !is_eigen_map_or_ref_v<T>>>
    : eigen_expression_caster<T, typename T::PlainObject> {};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_EIGEN_DENSE_H_ */
