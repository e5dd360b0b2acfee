/* array_memory.h - the native tensor behind an ndarray. Programs include ffi_hpy/ndarray.h.
 *
 * The tensor is an ffi.Tensor of the ABI, so other languages accept it. The tensor keeps the owner of the memory alive:
 * an object of Python, or the tensor that an argument was read as. */
#ifndef FFI_HPY_BIND_ARRAY_MEMORY_H_
#define FFI_HPY_BIND_ARRAY_MEMORY_H_

#include <ffi_hpy/bind/array_type.h>
#include <ffi_hpy/bind/item_list.h>
#include <ffi_hpy/bind/type_casters.h>

#include <cstdlib>
#include <new>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The native tensor of an ndarray; any library may have made the tensor. */
using ndarray_handle = TVMFFIObject;

/** A tensor that C++ made: one block with its shape and its strides. The block is constant once the tensor is
 * shared. */
struct array_block {
  TVMFFIObject header;
  DLTensor tensor;
  object owner; /**< keeps the memory alive; empty if nothing does */
  bool is_read_only;

  int64_t *extents() { return reinterpret_cast<int64_t *>(this + 1); }

  static void destroy(void *self, int flags) {
    auto *block = static_cast<array_block *>(self);
    if ((flags & kTVMFFIObjectDeleterFlagBitMaskStrong) != 0) block->owner.reset();
    if ((flags & kTVMFFIObjectDeleterFlagBitMaskWeak) != 0) std::free(block);
  }
  /** The block of a tensor; null if another library made it. */
  static array_block *of(ndarray_handle *tensor) {
    return tensor->deleter == &destroy ? reinterpret_cast<array_block *>(tensor) : nullptr;
  }
};

/** The tensor as a value of Python. */
inline handle array_value(ndarray_handle *array) { return handle(view_of(array)); }

/** The strides of a compact array, in elements. */
inline void fill_strides(int64_t *strides, const int64_t *shape, int32_t n, bool is_by_columns) {
  int64_t stride = 1;
  for (int32_t i = 0; i < n; ++i) {
    int32_t at = is_by_columns ? i : n - 1 - i;
    strides[at] = stride;
    stride *= shape[at];
  }
}

/** Makes the tensor of a description, whose shape and strides are copied. Without strides, the array is compact. */
FFI_HPY_NOINLINE inline object new_array(const DLTensor &seen, bool is_by_columns, object owner, bool is_read_only) {
  auto n = static_cast<size_t>(seen.ndim);
  void *block = std::malloc(sizeof(array_block) + 2 * n * sizeof(int64_t));
  if (block == nullptr) throw std::bad_alloc();
  constexpr uint64_t one_strong_one_weak = (uint64_t{1} << 32) | 1;
  auto *made = new (block) array_block{{}, seen, std::move(owner), is_read_only};
  made->header.combined_ref_count = one_strong_one_weak;
  made->header.type_index = kTVMFFITensor;
  made->header.deleter = &array_block::destroy;
  int64_t *shape = made->extents(), *strides = shape + n;
  for (size_t i = 0; i < n; ++i) shape[i] = seen.shape[i];
  if (seen.strides == nullptr) {
    fill_strides(strides, shape, seen.ndim, is_by_columns);
  } else {
    for (size_t i = 0; i < n; ++i) strides[i] = seen.strides[i];
  }
  made->tensor.shape = shape;
  made->tensor.strides = strides;
  return take_object(made);
}

/** As above, for a shape of another type. */
FFI_HPY_NOINLINE inline object new_array(DLTensor seen, const size_t *shape, bool is_by_columns, handle owner,
                                         bool is_read_only) {
  item_list<int64_t> extents;
  for (int32_t i = 0; i < seen.ndim; ++i) extents.add(static_cast<int64_t>(shape[i]));
  seen.shape = extents.data();
  return new_array(seen, is_by_columns, borrow(owner), is_read_only);
}

/** Whether the elements are contiguous in an order. Axes of one element may have any stride. */
FFI_HPY_NOINLINE inline bool is_compact(const DLTensor &tensor, bool is_by_columns) {
  int64_t expected = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return true;
  }
  if (tensor.strides == nullptr && !is_by_columns) return true;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    int32_t at = is_by_columns ? i : tensor.ndim - 1 - i;
    if (tensor.shape[at] == 1) continue;
    if (tensor.strides == nullptr || tensor.strides[at] != expected) return false;
    expected *= tensor.shape[at];
  }
  return true;
}

/* ---- Arguments ---- */

/** The demands of a parameter on an array. */
struct array_demands {
  dlpack::dtype type;     /**< 0 bits: any */
  int32_t n_axes;         /**< -1: any */
  const int64_t *extents; /**< -1: any */
  int32_t device;         /**< 0: any */
  char order;             /**< 'C', 'F', 'A'; 0: any */
  bool may_be_read_only;

  bool has_type(const DLTensor &tensor) const {
    return type.bits == 0 ||
           (tensor.dtype.code == type.code && tensor.dtype.bits == type.bits && tensor.dtype.lanes == type.lanes);
  }
  bool has_order(const DLTensor &tensor) const {
    return order == 0 || (order != 'F' && is_compact(tensor, false)) || (order != 'C' && is_compact(tensor, true));
  }
  /** Whether it has the device and the shape, which no conversion changes. */
  bool has_form(const DLTensor &tensor) const {
    if (device != 0 && static_cast<int32_t>(tensor.device.device_type) != device) return false;
    if (n_axes < 0) return true;
    if (tensor.ndim != n_axes) return false;
    for (int32_t i = 0; i < n_axes; ++i) {
      if (extents[i] >= 0 && tensor.shape[i] != extents[i]) return false;
    }
    return true;
  }
};

/** Calls the binding's function that reads NumPy arrays: a tensor, or None. */
inline object read_quickly(handle source, handle reads) {
  static const TVMFFIObjectHandle reader = [] {
    TVMFFIObjectHandle found = nullptr;
    TVMFFIByteArray name = bytes_of("ffi_hpy.array_reader");
    check(api->get_global(&name, &found));
    return found;
  }();
  TVMFFIAny args[] = {source.any(), reads.any()}, result = none_value();
  if (reader != nullptr && source.any().type_index == kTVMFFIOpaquePyObject) check(api->call(reader, args, 2, &result));
  return take(result);
}

/** A tensor, and the object of Python that it was read from: empty if C++ made the tensor, or for a capsule, which is
 * used up. */
struct array_and_source {
  object tensor, source;
};

/** Converts an array of Python, whose memory is that of `seen`, to the element type and the order of the demands. None
 * if it cannot be converted. */
FFI_HPY_COLD inline object convert_array(handle source, handle seen, const DLTensor &tensor,
                                         const array_demands &demands) {
  bool loses_a_part = tensor.dtype.code == kDLComplex && demands.type.bits != 0 && demands.type.code != kDLComplex;
  if (loses_a_part) return take(none_value());
  TVMFFIAny type = word(kTVMFFIDataType, 0);
  type.v_dtype =
      demands.type.bits == 0 ? tensor.dtype : DLDataType{demands.type.code, demands.type.bits, demands.type.lanes};
  char order[] = {demands.order, '\0'};
  return ask_python("astype", source, seen, handle(type), str_of(order));
}

/** Reads an array of Python: without a tensor if the value is not such an array. The package knows the protocols of
 * arrays. */
FFI_HPY_NOINLINE inline array_and_source read_array(handle source, const array_demands &demands, bool may_convert) {
  bool is_native = source.any().type_index == kTVMFFITensor && demands.may_be_read_only;
  handle reads(word(kTVMFFIBool, demands.may_be_read_only));
  object seen = is_native ? borrow(source) : read_quickly(source, reads);
  bool is_quick = !seen.is_none();
  if (!is_quick) {
    if (source.any().type_index == kTVMFFIOpaquePyObject && is_kind("list_or_tuple", source)) return {};
    seen = ask_python("tensor", source, reads);
  }
  if (seen.any().type_index != kTVMFFITensor) return {};
  const DLTensor &tensor = *TVMFFITensorGetDLTensorPtr(seen.any().v_obj);
  if (!demands.has_form(tensor)) return {};
  if (demands.has_type(tensor) && demands.has_order(tensor)) {
    if (tensor.strides == nullptr) seen = new_array(tensor, false, seen, demands.may_be_read_only);
    bool is_used_up = !is_quick && is_kind("capsule", source);
    return {std::move(seen), is_used_up ? object() : borrow(source)};
  }
  if (!may_convert) return {};
  object converted = convert_array(source, seen, tensor, demands);
  if (converted.is_none()) return {};
  return read_array(converted, demands, false);
}

/** Reads an argument. False if it is not such an array. */
FFI_HPY_NOINLINE inline bool load_array(handle source, uint32_t flags, const array_demands &demands,
                                        array_and_source *array, DLTensor *seen) noexcept {
  *array = {};
  *seen = {};
  if (source.is_none()) return (flags & cast_flags::accepts_none) != 0;
  try {
    *array = read_array(source, demands, (flags & cast_flags::convert) != 0);
  } catch (...) {
    (void)translate_exception();
    python_error dropped;
  }
  if (!array->tensor.is_valid()) return false;
  *seen = *TVMFFITensorGetDLTensorPtr(array->tensor.any().v_obj);
  return true;
}

/* ---- Results ---- */

/** The object of Python for an array, as the policy says. */
FFI_HPY_NOINLINE inline object export_array(const array_and_source &array, bool is_read_only, int framework,
                                            rv_policy policy, handle parent) {
  const array_block *block = array_block::of(array.tensor.any().v_obj);
  bool has_owner = block == nullptr || block->owner.is_valid();
  bool is_automatic = policy == rv_policy::automatic || policy == rv_policy::automatic_reference ||
                      (policy == rv_policy::reference_internal && !parent.is_valid());
  bool is_copied = is_automatic ? !has_owner : policy == rv_policy::copy || policy == rv_policy::move;
  if (array.source.is_valid()) {
    return is_copied ? ask_python("copy", array.source, array.tensor, int_value(framework)) : array.source;
  }
  if (policy == rv_policy::none) throw cast_error("rv_policy::none: no object of Python has this array");
  if (block != nullptr) is_read_only = block->is_read_only;
  object exported = array.tensor;
  if (policy == rv_policy::reference_internal && parent.is_valid()) {
    if (has_owner && (block == nullptr || !block->owner.is(parent))) {
      throw builtin_exception("RuntimeError", "rv_policy::reference_internal: the array has another owner already");
    }
    exported = new_array(block->tensor, false, borrow(parent), is_read_only);
  }
  return ask_python(kFfiHpyRunExport, exported, int_value(framework), handle(word(kTVMFFIBool, is_read_only)),
                    handle(word(kTVMFFIBool, is_copied)));
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_ARRAY_MEMORY_H_ */
