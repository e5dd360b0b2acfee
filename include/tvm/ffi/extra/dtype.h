/* dtype.h - dtype_trait<T>::value, the DLDataType of a C++ type: of numbers, and of the small formats of CUDA and HIP,
 * whose headers need not be included. Other types have no value; a program may specialise dtype_trait for its own
 * types. */
#ifndef TVM_FFI_EXTRA_DTYPE_H_
#define TVM_FFI_EXTRA_DTYPE_H_

#include <dlpack/dlpack.h>
#include <tvm/ffi/base_detail.h>

#include <type_traits>

struct __half; /**< of CUDA and HIP */

/** CUDA */
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;
struct __nv_fp8_e8m0;
struct __nv_fp4_e2m1;
struct __nv_fp4x2_e2m1;

/** HIP */
struct hip_bfloat16;
struct __hip_bfloat16;
struct __hip_fp8_e4m3;
struct __hip_fp8_e4m3_fnuz;
struct __hip_fp8_e5m2;
struct __hip_fp8_e5m2_fnuz;
struct __hip_fp4_e2m1;
struct __hip_fp4x2_e2m1;

namespace tvm::ffi {
namespace detail {

template <DLDataTypeCode kCode, size_t kBits, uint16_t kLanes = 1> struct DTypeValue {
  static constexpr DLDataType value = {static_cast<uint8_t>(kCode), static_cast<uint8_t>(kBits), kLanes};
};
template <typename T> using IntDType = DTypeValue<std::is_signed_v<T> ? kDLInt : kDLUInt, 8 * sizeof(T)>;

} // namespace detail

template <typename T> struct dtype_trait {};

template <> struct dtype_trait<signed char> : detail::IntDType<signed char> {};
template <> struct dtype_trait<short> : detail::IntDType<short> {};
template <> struct dtype_trait<int> : detail::IntDType<int> {};
template <> struct dtype_trait<long> : detail::IntDType<long> {};
template <> struct dtype_trait<long long> : detail::IntDType<long long> {};
template <> struct dtype_trait<unsigned char> : detail::IntDType<unsigned char> {};
template <> struct dtype_trait<unsigned short> : detail::IntDType<unsigned short> {};
template <> struct dtype_trait<unsigned int> : detail::IntDType<unsigned int> {};
template <> struct dtype_trait<unsigned long> : detail::IntDType<unsigned long> {};
template <> struct dtype_trait<unsigned long long> : detail::IntDType<unsigned long long> {};

template <> struct dtype_trait<bool> : detail::DTypeValue<kDLBool, 8> {};
template <> struct dtype_trait<float> : detail::DTypeValue<kDLFloat, 32> {};
template <> struct dtype_trait<double> : detail::DTypeValue<kDLFloat, 64> {};
template <> struct dtype_trait<__half> : detail::DTypeValue<kDLFloat, 16> {};

template <> struct dtype_trait<__nv_bfloat16> : detail::DTypeValue<kDLBfloat, 16> {};
template <> struct dtype_trait<__nv_fp8_e4m3> : detail::DTypeValue<kDLFloat8_e4m3fn, 8> {};
template <> struct dtype_trait<__nv_fp8_e5m2> : detail::DTypeValue<kDLFloat8_e5m2, 8> {};
template <> struct dtype_trait<__nv_fp8_e8m0> : detail::DTypeValue<kDLFloat8_e8m0fnu, 8> {};
template <> struct dtype_trait<__nv_fp4_e2m1> : detail::DTypeValue<kDLFloat4_e2m1fn, 4> {};
template <> struct dtype_trait<__nv_fp4x2_e2m1> : detail::DTypeValue<kDLFloat4_e2m1fn, 4, 2> {};

template <> struct dtype_trait<hip_bfloat16> : detail::DTypeValue<kDLBfloat, 16> {};
template <> struct dtype_trait<__hip_bfloat16> : detail::DTypeValue<kDLBfloat, 16> {};
template <> struct dtype_trait<__hip_fp8_e4m3> : detail::DTypeValue<kDLFloat8_e4m3fn, 8> {};
template <> struct dtype_trait<__hip_fp8_e4m3_fnuz> : detail::DTypeValue<kDLFloat8_e4m3fnuz, 8> {};
template <> struct dtype_trait<__hip_fp8_e5m2> : detail::DTypeValue<kDLFloat8_e5m2, 8> {};
template <> struct dtype_trait<__hip_fp8_e5m2_fnuz> : detail::DTypeValue<kDLFloat8_e5m2fnuz, 8> {};
template <> struct dtype_trait<__hip_fp4_e2m1> : detail::DTypeValue<kDLFloat4_e2m1fn, 4> {};
template <> struct dtype_trait<__hip_fp4x2_e2m1> : detail::DTypeValue<kDLFloat4_e2m1fn, 4, 2> {};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_DTYPE_H_ */
