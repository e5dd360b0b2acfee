// Arrays as arguments and results of a bound library.
#include <ffi_hpy/bind.h>
#include <ffi_hpy/ndarray.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/vector.h>

#include <complex>

namespace nb = ffi_hpy;
using namespace nb::literals;

struct Half {
  uint16_t bits;
};
/** A complex number of another library. */
struct Phasor {
  using value_type = float;
  float parts[2];
  float real() const { return parts[0]; }
  float imag() const { return parts[1]; }
};
/** Two numbers that are not a complex number. */
struct Interval {
  using value_type = float;
  float low, high;
};
static_assert(ffi_hpy::dtype<Phasor>() == ffi_hpy::dtype<std::complex<float>>());
static_assert(ffi_hpy::dtype<Interval>() == ffi_hpy::dlpack::dtype());
namespace ffi_hpy::detail {
template <> struct dtype_traits<Half> {
  static constexpr dlpack::dtype value{static_cast<uint8_t>(dlpack::dtype_code::Float), 16, 1};
  static constexpr auto name = const_name("float16");
};
} // namespace ffi_hpy::detail

static int n_freed = 0;
static float fixed[8] = {1, 2, 3, 4, 5, 6, 7, 8};

template <typename T> nb::capsule owner_of(T *data) {
  return nb::capsule(data, [](void *p) noexcept {
    ++n_freed;
    delete[] static_cast<T *>(p);
  });
}
template <typename Array> Array made() {
  auto *data = new float[8]{1, 2, 3, 4, 5, 6, 7, 8};
  size_t shape[2] = {2, 4};
  return Array(data, 2, shape, owner_of(data));
}

struct Matrix {
  float m[6] = {0, 1, 2, 3, 4, 5};
  static inline int n_alive = 0;
  Matrix() { ++n_alive; }
  Matrix(const Matrix &) = delete;
  ~Matrix() { --n_alive; }
  using Array = nb::ndarray<nb::numpy, float, nb::shape<2, 3>, nb::f_contig>;
  Array data() { return Array(m); }
  Array owned() { return Array(m, {2, 3}, nb::cast(this, nb::rv_policy::none)); }
  Array owned_by(nb::handle owner) { return Array(m, {2, 3}, owner); }
  auto copy() { return Array(m).cast(nb::rv_policy::copy); }
  auto internal() { return Array(m).cast(nb::rv_policy::reference_internal, nb::cast(this, nb::rv_policy::none)); }
};

FFI_HPY_MODULE(bound_arrays, m) {
  /* ---- properties of an array ---- */
  m.def(
      "describe",
      [](const nb::ndarray<nb::ro> &a) {
        std::string text = std::to_string(a.dtype().code) + "/" + std::to_string(a.dtype().bits) + "@" +
                           std::to_string(a.device_type()) + ":" + std::to_string(a.device_id());
        for (size_t i = 0; i < a.ndim(); ++i)
          text += " " + std::to_string(a.shape(i)) + "*" + std::to_string(a.stride(i));
        return text;
      },
      "array"_a.noconvert());
  m.def(
      "sizes", [](const nb::ndarray<> &a) { return nb::make_tuple(a.is_valid(), a.size(), a.nbytes(), a.itemsize()); },
      "array"_a.noconvert().none());
  m.def(
      "is_given", [](const nb::ndarray<nb::ro> &a) { return a.is_valid() && a.handle() != nullptr; },
      "array"_a = nb::none());
  m.def("is_type", [](const nb::ndarray<> &a) {
    return a.dtype() == nb::dtype<float>()                  ? "float"
           : a.dtype() == nb::dtype<bool>()                 ? "bool"
           : a.dtype() == nb::dtype<std::complex<double>>() ? "complex"
                                                            : "other";
  });
  m.def("check", [](nb::handle value) { return nb::ndarray_check(value); });

  /* ---- demands ---- */
  m.def("float32", [](const nb::ndarray<float> &) {}, "array"_a.noconvert());
  m.def(
      "shaped", [](const nb::ndarray<float, nb::shape<3, -1, 4>, nb::c_contig, nb::device::cpu> &) {},
      "array"_a.noconvert());
  m.def("order", [](nb::ndarray<nb::ro, nb::c_contig>) { return "C"; });
  m.def("order", [](nb::ndarray<nb::ro, nb::f_contig>) { return "F"; });
  m.def("order", [](nb::ndarray<nb::ro>) { return "?"; });
  m.def("either", [](nb::ndarray<float, nb::any_contig> a) { return a; }, "array"_a.noconvert());
  m.def("gpu", [](nb::ndarray<nb::ro, nb::device::cuda>) {});
  m.def("converted", [](nb::ndarray<const float, nb::c_contig, nb::ndim<2>> a) { return a; });
  m.def("by_columns", [](nb::ndarray<double, nb::f_contig> a) { return a; });
  m.def("strict", [](nb::ndarray<float, nb::c_contig, nb::ndim<2>> a) { return a; }, "array"_a.noconvert());
  m.def("kind", [](nb::ndarray<double, nb::ndim<1>> a) {
    a(0) = 7;
    return "real";
  });
  m.def("imag", [](nb::ndarray<const Phasor, nb::ndim<1>> a) { return a(0).imag(); });
  m.def("kind", [](nb::ndarray<std::complex<double>, nb::ndim<1>> a) {
    a(0) = 7;
    return "complex";
  });

  /* ---- elements ---- */
  m.def("scale", [](nb::ndarray<double, nb::ndim<1>> a, double by) {
    for (size_t i = 0; i < a.shape(0); ++i) a(i) *= by;
  });
  m.def(
      "fill",
      [](nb::ndarray<float, nb::ndim<2>, nb::device::cpu> a) {
        auto v = a.view();
        for (size_t i = 0; i < v.shape(0); ++i)
          for (size_t j = 0; j < v.shape(1); ++j) v(i, j) = static_cast<float>(10 * i + j);
      },
      "a"_a.noconvert());
  m.def(
      "fill_columns",
      [](nb::ndarray<float, nb::shape<3, 4>, nb::f_contig> a) {
        auto v = a.view();
        for (size_t i = 0; i < v.shape(0); ++i)
          for (size_t j = 0; j < v.shape(1); ++j) v(i, j) = static_cast<float>(10 * i + j);
      },
      "a"_a.noconvert());
  m.def("double_floats", [](nb::ndarray<> a) {
    if (a.dtype() != nb::dtype<float>() || a.ndim() != 2) return false;
    auto v = a.view<float, nb::ndim<2>>();
    for (size_t i = 0; i < v.shape(0); ++i)
      for (size_t j = 0; j < v.shape(1); ++j) v(i, j) *= 2;
    return true;
  });
  m.def(
      "negate",
      [](nb::ndarray<std::complex<float>, nb::shape<2, 2>, nb::c_contig> a) {
        auto v = a.view<nb::shape<4>>();
        for (size_t i = 0; i < v.shape(0); ++i) v(i) = -v(i);
      },
      "a"_a.noconvert());
  m.def("read", [](nb::ndarray<const double, nb::ndim<1>> a) {
    static_assert(std::is_same_v<decltype(a(0)), const double &>);
    static_assert(std::is_same_v<decltype(a.view<double>()(0)), const double &>);
    double sum = 0;
    for (size_t i = 0; i < a.shape(0); ++i) sum += a(i);
    return sum;
  });
  m.def("bytes", [](nb::ndarray<const uint8_t, nb::ndim<1>> a) {
    return std::string(reinterpret_cast<const char *>(a.data()), a.size());
  });
  m.def(
      "count",
      [](nb::ndarray<uint8_t, nb::shape<10>> &a) {
        for (size_t i = 0; i < 10; ++i) a(i) = static_cast<uint8_t>(i);
      },
      "a"_a.noconvert());
  m.def("sequence_or_array", [](const std::vector<double> &) { return "sequence"; });
  m.def("sequence_or_array", [](nb::ndarray<const double>) { return "array"; });
  m.def("exact_sequence", [](const std::vector<double> &numbers) { return numbers.size(); }, nb::arg().noconvert());
  m.def("sum_all", [](const std::vector<nb::ndarray<const double, nb::ndim<1>>> &all) {
    double sum = 0;
    for (const auto &a : all) sum += a(0);
    return sum;
  });

  /* ---- results ---- */
  m.def("n_freed", [] { return n_freed; });
  m.def("plain", [] { return made<nb::ndarray<float, nb::shape<2, 4>>>(); });
  m.def("numpy", [] { return made<nb::ndarray<nb::numpy, float, nb::shape<2, 4>>>(); });
  m.def("torch", [] { return made<nb::ndarray<nb::pytorch, float, nb::shape<2, 4>>>(); });
  m.def("memory", [] { return made<nb::ndarray<nb::memview, float, nb::shape<2, 4>>>(); });
  m.def("memory_ro", [] { return made<nb::ndarray<nb::memview, const float, nb::shape<2, 4>>>(); });
  m.def("array_api", [] { return made<nb::ndarray<nb::array_api, float>>(); });
  m.def("array_api_shaped", [] { return nb::ndarray<nb::array_api, float>(fixed, {3, 0, 4}, nb::none()); });
  m.def("array_api_ro", [] { return made<nb::ndarray<nb::array_api, const float>>(); });
  m.def("scalar", [] { return nb::ndarray<nb::numpy, float, nb::shape<>>(fixed, 0, nullptr, nb::handle()); });
  m.def("empty", [] {
    float *none = nullptr;
    return nb::ndarray<nb::numpy, float, nb::ndim<1>>(none, {0}, owner_of(none));
  });
  m.def(
      "fixed",
      [] { return nb::ndarray<nb::numpy, const float, nb::shape<2, 4>, nb::f_contig>(fixed, {2, 4}, nb::handle()); },
      nb::rv_policy::reference);
  m.def("fixed_copy", [] { return nb::ndarray<nb::numpy, const float, nb::shape<2, 4>>(fixed); });
  m.def("strided", [] { return nb::ndarray<nb::numpy, float>(fixed, {2, 2}, nb::none(), {4, 2}); });
  m.def("typed_late", [](bool is_int) {
    static int numbers[1] = {1};
    using Result = nb::ndarray<nb::numpy>;
    return is_int ? Result(nb::ndarray<nb::numpy, int, nb::shape<1>>(numbers))
                  : Result(nb::ndarray<nb::numpy, float, nb::shape<1>>(fixed));
  });
  m.def("half", [] {
    auto *data = new Half[2]{{0x3c00}, {0x4000}};
    return nb::ndarray<nb::numpy, Half, nb::shape<2>>(data, {2}, owner_of(data));
  });
  m.def("from_stack", [] {
    float local[3] = {1, 2, 3};
    return nb::cast(nb::ndarray<nb::numpy, float, nb::shape<3>>(local));
  });
  m.def("memory_from_stack", [] {
    float local[3] = {1, 2, 3};
    return nb::ndarray<nb::memview, float, nb::shape<3>>(local);
  });
  m.def("wrong_strides", [] { return nb::ndarray<nb::numpy, float>(fixed, {2, 2}, nb::none(), {4}); });
  m.def("pass", [](nb::ndarray<> a) { return a; }, nb::rv_policy::none);
  m.def("pass_or_none", [](nb::ndarray<> a) { return a; }, nb::arg().none());
  m.def("pass_copy", [](nb::ndarray<> a) { return a; }, nb::rv_policy::copy);
  m.def("numpy_copy", [](nb::ndarray<nb::numpy> a) { return a; }, nb::rv_policy::copy);
  m.def("pass_numpy", [](nb::ndarray<nb::numpy> a) { return a; });
  m.def("bools", [](nb::ndarray<nb::numpy, bool, nb::ndim<1>> a) { return a; });
  m.def(
      "internal_without_object", [] { return nb::ndarray<nb::numpy, float, nb::shape<2, 4>>(fixed); },
      nb::rv_policy::reference_internal);
  m.def("refuse", [] { return nb::ndarray<nb::numpy, float, nb::shape<8>>(fixed); }, nb::rv_policy::none);

  nb::class_<Matrix>(m, "Matrix")
      .def(nb::init<>())
      .def("data", &Matrix::data, nb::rv_policy::reference_internal)
      .def("owned", &Matrix::owned)
      .def("owned_internal", &Matrix::owned, nb::rv_policy::reference_internal)
      .def("owned_by", &Matrix::owned_by, nb::rv_policy::reference_internal)
      .def("copy", &Matrix::copy)
      .def("internal", &Matrix::internal)
      .def_static("n_alive", [] { return Matrix::n_alive; });
}
