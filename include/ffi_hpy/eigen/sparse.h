/* sparse.h - sparse matrices of the library Eigen as arguments and as results: scipy.sparse.csr_matrix by rows, or
 * csc_matrix by columns. A parameter of type Eigen::Map refers to the arrays of the Python object. */
#ifndef FFI_HPY_EIGEN_SPARSE_H_
#define FFI_HPY_EIGEN_SPARSE_H_

#include <ffi_hpy/eigen/dense.h>

#include <Eigen/SparseCore>

#include <memory>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The three arrays of a sparse matrix of Python. The arrays of a const Matrix may be read-only. */
template <typename Matrix> struct sparse_arrays {
  using Scalar = typename std::remove_const_t<Matrix>::Scalar;
  using Index = typename std::remove_const_t<Matrix>::StorageIndex;
  static constexpr bool is_by_rows = std::remove_const_t<Matrix>::IsRowMajor;
  static constexpr auto Name = const_name<is_by_rows>("scipy.sparse.csr_matrix[", "scipy.sparse.csc_matrix[") +
                               dtype_text<Scalar>() + const_name("]");
  template <typename T> using array = ndarray<T, numpy, ndim<1>>;
  template <typename T> using seen = array<std::conditional_t<std::is_const_v<Matrix>, const T, T>>;

  /** The class of SciPy. */
  static object type() { return module_::import_("scipy.sparse").attr(is_by_rows ? "csr_matrix" : "csc_matrix"); }

  make_caster<seen<Scalar>> data;
  make_caster<seen<Index>> indices, starts;
  Eigen::Index rows = 0, cols = 0, n_values = 0;

  /** Reads an object of the class, or, with the flag `convert`, one that the class makes from the object. */
  bool read(handle source, uint32_t flags, cleanup_list *cleanup) {
    object cls = type(), matrix = borrow(source);
    bool may_convert = (flags & cast_flags::convert) != 0;
    if (source.is_none() || (!matrix.type().is(cls) && !may_convert)) return false;
    if (!matrix.type().is(cls)) matrix = cls(matrix);
    if (!cast<bool>(matrix.attr("has_sorted_indices"))) matrix.attr("sort_indices")();
    object extents = matrix.attr("shape");
    rows = cast<Eigen::Index>(extents[0]);
    cols = cast<Eigen::Index>(extents[1]);
    n_values = cast<Eigen::Index>(matrix.attr("nnz"));
    return data.from_python(object(matrix.attr("data")), flags, cleanup) &&
           indices.from_python(object(matrix.attr("indices")), flags, cleanup) &&
           starts.from_python(object(matrix.attr("indptr")), flags, cleanup);
  }
  /** A matrix of SciPy on the memory of one of Eigen, which `owner` keeps alive. */
  template <typename Written>
  static object write(const Written &matrix, handle owner, rv_policy policy, cleanup_list *cleanup) {
    if (!matrix.isCompressed()) {
      throw value_error("nanobind: unable to return an Eigen sparse matrix that is not in a compressed format. Please "
                        "call `.makeCompressed()` before returning the value on the C++ end.");
    }
    auto share = [&](auto *values, Eigen::Index n) {
      using Item = std::remove_const_t<std::remove_pointer_t<decltype(values)>>;
      array<Item> shared(const_cast<Item *>(values), {static_cast<size_t>(n)}, owner);
      return checked(make_caster<array<Item>>::from_cpp(shared, policy, cleanup));
    };
    object values = share(matrix.valuePtr(), matrix.nonZeros());
    object inner = share(matrix.innerIndexPtr(), matrix.nonZeros());
    object outer = share(matrix.outerIndexPtr(), matrix.outerSize() + 1);
    return type()(make_tuple(values, inner, outer), arg("shape") = make_tuple(matrix.rows(), matrix.cols()));
  }
};

/** Sparse matrices that own their elements. */
template <typename T, int Options, typename Index> struct type_caster<Eigen::SparseMatrix<T, Options, Index>> {
  using Matrix = Eigen::SparseMatrix<T, Options, Index>;
  using Arrays = sparse_arrays<const Matrix>;
  FFI_HPY_TYPE_CASTER(Matrix, Arrays::Name);

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      Arrays arrays;
      if (!arrays.read(source, flags, cleanup)) return false;
      value = Eigen::Map<const Matrix>(arrays.rows, arrays.cols, arrays.n_values, arrays.starts.value.data(),
                                       arrays.indices.value.data(), arrays.data.value.data());
      return true;
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
  static handle from_cpp(Matrix &&source, rv_policy, cleanup_list *cleanup) noexcept {
    return guarded([&] {
      auto moved = std::make_unique<Matrix>();
      moved->swap(source);
      return own(std::move(moved), cleanup);
    });
  }
  static handle from_cpp(const Matrix &source, rv_policy, cleanup_list *cleanup) noexcept {
    return guarded([&] { return own(std::make_unique<Matrix>(source), cleanup); });
  }

private:
  static object own(std::unique_ptr<Matrix> matrix, cleanup_list *cleanup) {
    const Matrix &kept = *matrix;
    capsule owner(matrix.get(), [](void *address) noexcept { delete static_cast<Matrix *>(address); });
    matrix.release();
    return Arrays::write(kept, owner, rv_policy::reference, cleanup);
  }
};

/** Maps of sparse matrices, which refer to the memory of the Python object. */
template <typename Matrix>
struct type_caster<
    Eigen::Map<Matrix>,
    enable_if_t<std::is_base_of_v<Eigen::SparseCompressedBase<Eigen::Map<Matrix>>, Eigen::Map<Matrix>>>> {
  using Map = Eigen::Map<Matrix>;
  using Arrays = sparse_arrays<Matrix>;
  static constexpr auto Name = Arrays::Name;
  template <typename> using Cast = Map;
  template <typename> static constexpr bool can_cast() { return true; }

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      return arrays_.read(source, flags & ~uint32_t{cast_flags::convert}, cleanup);
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
  static handle from_cpp(const Map &source, rv_policy policy, cleanup_list *cleanup) noexcept {
    bool is_automatic = policy == rv_policy::automatic || policy == rv_policy::automatic_reference;
    return guarded(
        [&] { return Arrays::write(source, handle(), is_automatic ? rv_policy::reference : policy, cleanup); });
  }
  explicit operator Map() {
    return Map(arrays_.rows, arrays_.cols, arrays_.n_values, arrays_.starts.value.data(), arrays_.indices.value.data(),
               arrays_.data.value.data());
  }

private:
  Arrays arrays_;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_EIGEN_SPARSE_H_ */
