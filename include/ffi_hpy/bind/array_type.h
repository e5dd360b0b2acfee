/* array_type.h - the template arguments of ndarray: element types, shapes, orders, devices, frameworks. Programs
 * include ffi_hpy/ndarray.h. */
#ifndef FFI_HPY_BIND_ARRAY_TYPE_H_
#define FFI_HPY_BIND_ARRAY_TYPE_H_

#include <ffi_hpy/bind/caster.h>

FFI_HPY_NAMESPACE_BEGIN

/** DLPack's words for element types and devices. */
namespace dlpack {

/** The kinds of elements. */
enum class dtype_code : uint8_t {
  Int = kDLInt,
  UInt = kDLUInt,
  Float = kDLFloat,
  Bfloat = kDLBfloat,
  Complex = kDLComplex,
  Bool = kDLBool,
  Float8_E3M4 = kDLFloat8_e3m4,
  Float8_E4M3 = kDLFloat8_e4m3,
  Float8_E4M3B11FNUZ = kDLFloat8_e4m3b11fnuz,
  Float8_E4M3FN = kDLFloat8_e4m3fn,
  Float8_E4M3FNUZ = kDLFloat8_e4m3fnuz,
  Float8_E5M2 = kDLFloat8_e5m2,
  Float8_E5M2FNUZ = kDLFloat8_e5m2fnuz,
  Float8_E8M0FNU = kDLFloat8_e8m0fnu,
  Float6_E2M3FN = kDLFloat6_e2m3fn,
  Float6_E3M2FN = kDLFloat6_e3m2fn,
  Float4_E2M1FN = kDLFloat4_e2m1fn,
  Bcomplex = 18 /* newer than the DLPack of this ABI */
};

/** The type of an element; 0 bits: any. */
struct dtype {
  uint8_t code = 0;
  uint8_t bits = 0;
  uint16_t lanes = 0;
  constexpr bool operator==(const dtype &other) const {
    return code == other.code && bits == other.bits && lanes == other.lanes;
  }
  constexpr bool operator!=(const dtype &other) const { return !(*this == other); }
};

} // namespace dlpack

namespace detail {

/** Whether a T is complex, as std::complex is: a pair of numbers that real() and imag() return. Files without such
 * elements need not compile <complex>, which takes long. */
template <typename T, typename = void> inline constexpr bool is_complex_v = false;
template <typename T>
inline constexpr bool is_complex_v<
    T, std::void_t<typename T::value_type, decltype(std::declval<T>().real()), decltype(std::declval<T>().imag())>> =
    std::is_same_v<decltype(std::declval<T>().real()), typename T::value_type> &&
    std::is_same_v<decltype(std::declval<T>().imag()), typename T::value_type> &&
    sizeof(T) == 2 * sizeof(typename T::value_type);

template <typename T> constexpr dlpack::dtype_code code_of_number() {
  if (std::is_same_v<T, bool>) return dlpack::dtype_code::Bool;
  if (is_complex_v<T>) return dlpack::dtype_code::Complex;
  if (std::is_floating_point_v<T>) return dlpack::dtype_code::Float;
  return std::is_signed_v<T> ? dlpack::dtype_code::Int : dlpack::dtype_code::UInt;
}

/** The element type of a C++ type. Authors specialise it for types such as half: `value`, a dlpack::dtype, and `name`,
 * a const_name. */
template <typename T, typename = int> struct dtype_traits {
  static constexpr dlpack::dtype value{};
  static constexpr auto name = const_name("");
};
template <typename T>
struct dtype_traits<T, enable_if_t<!std::is_const_v<T> && (std::is_arithmetic_v<T> || is_complex_v<T>)>> {
  static constexpr dlpack::dtype value{static_cast<uint8_t>(code_of_number<T>()), static_cast<uint8_t>(8 * sizeof(T)),
                                       1};
  static constexpr auto name = [] {
    constexpr auto bits = const_name<8 * sizeof(T)>();
    if constexpr (std::is_same_v<T, bool>) {
      return const_name("bool");
    } else if constexpr (is_complex_v<T>) {
      return const_name("complex") + bits;
    } else if constexpr (std::is_floating_point_v<T>) {
      return const_name("float") + bits;
    } else {
      return const_name<std::is_signed_v<T>>("int", "uint") + bits;
    }
  }();
};
template <typename T> struct dtype_traits<const T, int> : dtype_traits<T> {};

/** The base classes of template arguments, one for each purpose. */
struct order_tag {};
struct device_tag {};
struct framework_tag {};
struct shape_tag {};

/** An argument that is missing: without a text, and any value. */
struct unused : order_tag, device_tag {
  static constexpr int value = 0;
  static constexpr auto name = const_name("");
};

} // namespace detail

/** The element type of a C++ type. */
template <typename T> constexpr dlpack::dtype dtype() { return detail::dtype_traits<T>::value; }

/** The extents of an array: -1 for any. */
template <int64_t... Extents> struct shape : detail::shape_tag {
  static_assert(((Extents >= -1) && ...), "shape: an extent is positive, 0, or -1 for any");
  static constexpr int32_t n = sizeof...(Extents);
  static constexpr bool is_known = ((Extents >= 0) && ...);
  static constexpr int64_t extents[sizeof...(Extents) + 1] = {Extents..., 0};
  static constexpr auto name =
      detail::const_name("shape=(") +
      detail::concat(detail::const_name<Extents == -1>(
          detail::const_name("*"), detail::const_name<static_cast<size_t>(Extents < 0 ? 0 : Extents)>())...) +
      detail::const_name(")");
};

namespace detail {
/** Any number of axes. */
struct any_shape : shape_tag {
  static constexpr int32_t n = -1;
  static constexpr bool is_known = false;
  static constexpr int64_t extents[1] = {0};
  static constexpr auto name = const_name("");
};
template <size_t... I> shape<(static_cast<void>(I), -1)...> shape_of_ndim(std::index_sequence<I...>);
} // namespace detail

/** A number of axes. */
template <size_t N> using ndim = decltype(detail::shape_of_ndim(std::make_index_sequence<N>()));

/** The array may be read-only. */
struct ro {};

#define FFI_HPY_ARRAY_ORDER(type, letter)                                  \
  struct type : detail::order_tag {                                        \
    static constexpr char value = letter[0];                               \
    static constexpr auto name = detail::const_name("order='" letter "'"); \
  }
FFI_HPY_ARRAY_ORDER(c_contig, "C"); /**< compact, the last axis first */
FFI_HPY_ARRAY_ORDER(f_contig, "F"); /**< compact, the first axis first */
FFI_HPY_ARRAY_ORDER(any_contig, "A"); /**< compact in either order */
#undef FFI_HPY_ARRAY_ORDER

#define FFI_HPY_ARRAY_FRAMEWORK(type, number, text)        \
  struct type : detail::framework_tag {                    \
    static constexpr int value = number;                   \
    static constexpr auto name = detail::const_name(text); \
  }
FFI_HPY_ARRAY_FRAMEWORK(no_framework, 0, "ndarray"); /* the numbers are those of _bind/arrays.py */
FFI_HPY_ARRAY_FRAMEWORK(numpy, 1, "numpy.ndarray");
FFI_HPY_ARRAY_FRAMEWORK(pytorch, 2, "torch.Tensor");
FFI_HPY_ARRAY_FRAMEWORK(tensorflow, 3, "tensorflow.python.framework.ops.EagerTensor");
FFI_HPY_ARRAY_FRAMEWORK(jax, 4, "jaxlib._jax.ArrayImpl");
FFI_HPY_ARRAY_FRAMEWORK(cupy, 5, "cupy.ndarray");
FFI_HPY_ARRAY_FRAMEWORK(memview, 6, "memoryview");
FFI_HPY_ARRAY_FRAMEWORK(array_api, 7, "ArrayLike");
FFI_HPY_ARRAY_FRAMEWORK(mlx, 8, "mlx.core.array");
#undef FFI_HPY_ARRAY_FRAMEWORK

/** Where the memory of an array is. */
namespace device {
#define FFI_HPY_ARRAY_DEVICE(type, number)                                 \
  struct type : detail::device_tag {                                       \
    static constexpr int value = number;                                   \
    static constexpr auto name = detail::const_name("device='" #type "'"); \
  }
FFI_HPY_ARRAY_DEVICE(none, 0);
FFI_HPY_ARRAY_DEVICE(cpu, kDLCPU);
FFI_HPY_ARRAY_DEVICE(cuda, kDLCUDA);
FFI_HPY_ARRAY_DEVICE(cuda_host, kDLCUDAHost);
FFI_HPY_ARRAY_DEVICE(opencl, kDLOpenCL);
FFI_HPY_ARRAY_DEVICE(vulkan, kDLVulkan);
FFI_HPY_ARRAY_DEVICE(metal, kDLMetal);
FFI_HPY_ARRAY_DEVICE(rocm, kDLROCM);
FFI_HPY_ARRAY_DEVICE(rocm_host, kDLROCMHost);
FFI_HPY_ARRAY_DEVICE(cuda_managed, kDLCUDAManaged);
FFI_HPY_ARRAY_DEVICE(oneapi, kDLOneAPI);
#undef FFI_HPY_ARRAY_DEVICE
} // namespace device

namespace detail {

/** The first of some types that derives from Tag; Default if there is none. */
template <typename Tag, typename Default, typename... Ts> struct first_tagged {
  using type = Default;
};
template <typename Tag, typename Default, typename T, typename... Ts>
struct first_tagged<Tag, Default, T, Ts...>
    : std::conditional_t<std::is_base_of_v<Tag, T>, first_tagged<Tag, T>, first_tagged<Tag, Default, Ts...>> {};

/** The first of some types that is an element type; Default if there is none. */
template <typename Default, typename... Ts> struct first_scalar {
  using type = Default;
};
template <typename Default, typename T, typename... Ts>
struct first_scalar<Default, T, Ts...>
    : std::conditional_t<dtype_traits<T>::value.bits != 0, first_scalar<T>, first_scalar<Default, Ts...>> {};

/** The template arguments of an ndarray, in order. */
template <typename... Args> struct array_config {
  static constexpr bool is_read_only = ((std::is_same_v<Args, ro> || std::is_const_v<Args>) || ...);
  using Given = typename first_scalar<void, Args...>::type;
  using Scalar = std::conditional_t<is_read_only, const Given, Given>;
  using Shape = typename first_tagged<shape_tag, any_shape, Args...>::type;
  using Order = typename first_tagged<order_tag, unused, Args...>::type;
  using DeviceType = typename first_tagged<device_tag, unused, Args...>::type;
  using Framework = typename first_tagged<framework_tag, no_framework, Args...>::type;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_ARRAY_TYPE_H_ */
