/* endian.h - the byte order of this machine, and of portable data (little-endian unless configured otherwise). */
#ifndef TVM_FFI_ENDIAN_H_
#define TVM_FFI_ENDIAN_H_

#include <cstddef>

#ifndef TVM_FFI_IO_USE_LITTLE_ENDIAN
/** 1 if portable data is little-endian. */
#define TVM_FFI_IO_USE_LITTLE_ENDIAN 1
#endif

#ifndef TVM_FFI_LITTLE_ENDIAN
#if defined(TVM_FFI_CMAKE_LITTLE_ENDIAN)
#define TVM_FFI_LITTLE_ENDIAN TVM_FFI_CMAKE_LITTLE_ENDIAN
#elif defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#define TVM_FFI_LITTLE_ENDIAN (__BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#else /* MSVC: all its targets are little-endian */
/** 1 if this machine is little-endian. A build may define it. */
#define TVM_FFI_LITTLE_ENDIAN 1
#endif
#endif

/** 1 if portable data has the same bytes as in memory. */
#define TVM_FFI_IO_NO_ENDIAN_SWAP (TVM_FFI_LITTLE_ENDIAN == TVM_FFI_IO_USE_LITTLE_ENDIAN)

namespace tvm::ffi {

/** Reverses the bytes of each of num_elems elements of elem_bytes bytes, in place. */
inline void ByteSwap(void *data, size_t elem_bytes, size_t num_elems) {
  unsigned char *elem = static_cast<unsigned char *>(data);
  for (; num_elems > 0; --num_elems, elem += elem_bytes) {
    for (size_t low = 0, high = elem_bytes; low + 1 < high; ++low) {
      unsigned char byte = elem[--high];
      elem[high] = elem[low];
      elem[low] = byte;
    }
  }
}

} // namespace tvm::ffi

#endif /* TVM_FFI_ENDIAN_H_ */
