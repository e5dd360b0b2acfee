/* tensor.h - tensors: a Tensor shares one, a TensorView borrows one. A DLTensor holds data, shape, strides and type.
 *
 * Shapes and strides are in items, sizes in bytes. Strides are always present. A function that works on tensors should
 * take a TensorView: any kind of tensor argument is passed as one without conversion. */
#ifndef TVM_FFI_CONTAINER_TENSOR_H_
#define TVM_FFI_CONTAINER_TENSOR_H_

#include <dlpack/dlpack.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/device.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

#include <optional>

namespace tvm::ffi {

class Tensor;

/** Whether `data` of a tensor on that device is a pointer that allows arithmetic. If so, as_strided adds byte_offset to
 * it. */
inline bool IsDirectAddressDevice(const DLDevice &device) {
  return device.device_type <= kDLCUDAHost || device.device_type == kDLCUDAManaged || device.device_type == kDLROCM ||
         device.device_type == kDLROCMHost;
}

/** Whether the tensor is compact row-major. An empty tensor is. */
inline bool IsContiguous(const DLTensor &tensor) {
  if (tensor.strides == nullptr) return true;
  uint64_t expected = 1;
  bool in_a_row = true;
  for (int32_t i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && static_cast<uint64_t>(tensor.strides[i]) != expected) in_a_row = false;
    expected *= static_cast<uint64_t>(tensor.shape[i]);
  }
  return in_a_row;
}

/** Whether the address of the first item is a multiple of `alignment` bytes. */
inline bool IsAligned(const DLTensor &tensor, size_t alignment) {
  if (IsDirectAddressDevice(tensor.device)) {
    return (reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset) % alignment == 0;
  }
  return tensor.byte_offset % alignment == 0;
}

/** The number of bytes of numel items without gaps; types of less than a byte are packed. ValueError if no memory has
 * room for them. */
inline size_t GetDataSize(size_t numel, DLDataType dtype) {
  uint64_t n_bits = static_cast<uint64_t>(dtype.bits) * dtype.lanes, n = numel;
  if (TVM_FFI_PREDICT_FALSE(n_bits != 0 && n > (UINT64_MAX - 7) / n_bits)) {
    TVM_FFI_THROW(ValueError) << numel << " items of " << n_bits << " bits are more than memory has room for";
  }
  return static_cast<size_t>((n * n_bits + 7) / 8);
}
/** The number of bytes of the tensor's items without gaps. */
inline size_t GetDataSize(const DLTensor &tensor) {
  return GetDataSize(static_cast<size_t>(ShapeView(tensor.shape, static_cast<size_t>(tensor.ndim)).Product()),
                     tensor.dtype);
}

/** The object of a Tensor: a DLTensor with a reference count. */
class TensorObj : public Object, public DLTensor {
public:
  /** A DLPack tensor that keeps this one alive. */
  DLManagedTensor *ToDLPack() const {
    DLManagedTensor *made;
    TVM_FFI_CHECK_SAFE_CALL(TVMFFITensorToDLPack(detail::ObjectUnsafe::GetHeader(this), &made));
    return made;
  }
  /** As ToDLPack, with DLPack's versioned struct. */
  DLManagedTensorVersioned *ToDLPackVersioned() const {
    DLManagedTensorVersioned *made;
    TVM_FFI_CHECK_SAFE_CALL(TVMFFITensorToDLPackVersioned(detail::ObjectUnsafe::GetHeader(this), &made));
    return made;
  }

  static constexpr int32_t _type_index = kTVMFFITensor;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFITensor, TensorObj, Object);
};

namespace detail {

/** A tensor whose memory comes from a TNDAlloc. Shape and strides follow it in memory. */
template <typename TNDAlloc> class TensorObjFromNDAlloc : public TensorObj {
public:
  template <typename... ExtraArgs>
  TensorObjFromNDAlloc(TNDAlloc alloc, ShapeView dims, ShapeView steps, DLDataType type, DLDevice where,
                       ExtraArgs &&...extra_args)
      : alloc_(std::move(alloc)) {
    int64_t *numbers = reinterpret_cast<int64_t *>(this + 1);
    this->device = where;
    this->ndim = static_cast<int32_t>(dims.size());
    this->dtype = type;
    this->byte_offset = 0;
    this->shape = numbers;
    this->strides = numbers + dims.size();
    std::copy(dims.begin(), dims.end(), this->shape);
    std::copy(steps.begin(), steps.end(), this->strides);
    alloc_.AllocData(static_cast<DLTensor *>(this), std::forward<ExtraArgs>(extra_args)...);
  }
  ~TensorObjFromNDAlloc() { alloc_.FreeData(static_cast<DLTensor *>(this)); }

private:
  TNDAlloc alloc_;
};

inline int64_t DimensionAt(const int64_t *numbers, int32_t ndim, int64_t i) {
  int64_t at = i < 0 ? i + ndim : i;
  if (TVM_FFI_PREDICT_FALSE(at < 0 || at >= ndim)) {
    TVM_FFI_THROW(IndexError) << "Index " << i << " out of bounds for tensor with " << ndim << " dimensions";
  }
  return numbers[at];
}

/** The DLTensor of a view of a tensor that begins at item `offset`. */
inline DLTensor MakeStrided(DLTensor tensor, ShapeView shape, ShapeView strides, std::optional<int64_t> offset) {
  TVM_FFI_CHECK_EQ(shape.size(), strides.size(), ValueError) << "one stride for each dimension";
  TVM_FFI_CHECK_GE(offset.value_or(0), 0, ValueError) << "the offset is in items, from the first one on";
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.shape = const_cast<int64_t *>(shape.data());
  tensor.strides = const_cast<int64_t *>(strides.data());
  size_t n_before = GetDataSize(static_cast<size_t>(offset.value_or(0)), tensor.dtype);
  TVM_FFI_CHECK_LE(n_before, UINT64_MAX - tensor.byte_offset, ValueError) << "the offset is beyond memory";
  tensor.byte_offset += n_before;
  if (IsDirectAddressDevice(tensor.device)) {
    tensor.data = static_cast<char *>(tensor.data) + std::exchange(tensor.byte_offset, 0);
  }
  return tensor;
}

/** The queries that Tensor and TensorView share. Self provides const DLTensor *GetDLTensorPtr() const. */
template <typename Self> class TensorQueries {
public:
  /** The address of the memory; byte_offset is not added. */
  void *data_ptr() const { return dl().data; }
  /** The device of the memory. */
  DLDevice device() const { return dl().device; }
  /** The number of dimensions. */
  int32_t ndim() const { return dl().ndim; }
  /** As ndim. */
  int32_t dim() const { return ndim(); }
  /** The data type of the items. */
  DLDataType dtype() const { return dl().dtype; }
  /** The shape, borrowed from the tensor. */
  ShapeView shape() const { return ShapeView(dl().shape, static_cast<size_t>(dl().ndim)); }
  /** As shape. */
  ShapeView sizes() const { return shape(); }
  /** The strides in items, borrowed from the tensor. */
  ShapeView strides() const {
    TVM_FFI_ICHECK(dl().strides != nullptr || dl().ndim == 0) << "this tensor has no strides";
    return ShapeView(dl().strides, static_cast<size_t>(dl().ndim));
  }
  /** The size of one dimension; a negative i counts from the last one. IndexError if the dimension does not exist. */
  int64_t size(int64_t i) const { return DimensionAt(dl().shape, dl().ndim, i); }
  /** The stride of one dimension in items; a negative i counts from the last one. IndexError if it does not exist. */
  int64_t stride(int64_t i) const { return DimensionAt(strides().data(), dl().ndim, i); }
  /** The number of items. ValueError if it does not fit in int64. */
  int64_t numel() const { return shape().Product(); }
  /** The number of bytes from data_ptr to the first item. */
  uint64_t byte_offset() const { return dl().byte_offset; }
  /** Whether the tensor is compact row-major. An empty tensor is. */
  bool IsContiguous() const { return ::tvm::ffi::IsContiguous(dl()); }
  /** As IsContiguous. */
  bool is_contiguous() const { return IsContiguous(); }
  /** Whether the address of the first item is a multiple of `alignment` bytes. */
  bool IsAligned(size_t alignment) const { return ::tvm::ffi::IsAligned(dl(), alignment); }

private:
  TVM_FFI_INLINE const DLTensor &dl() const { return *static_cast<const Self *>(this)->GetDLTensorPtr(); }
};

} // namespace detail

/** A reference to a tensor; may be null. */
class Tensor : public ObjectRef, public detail::TensorQueries<Tensor> {
public:
  /** The class of the objects. */
  using ContainerType = TensorObj;
  [[maybe_unused]] static constexpr bool _type_is_nullable = true;

  Tensor() = default;
  /** From an object, or null. */
  explicit Tensor(ObjectPtr<TensorObj> data) : ObjectRef(std::move(data)) {}
  /** A null reference. */
  explicit Tensor(UnsafeInit tag) : ObjectRef(tag) {}
  TVM_FFI_DEFINE_DEFAULT_COPY_MOVE_AND_ASSIGN(Tensor)

  /** The DLTensor, borrowed; null if the reference is null. */
  const DLTensor *GetDLTensorPtr() const { return get(); }

  /** A tensor with memory from `alloc`, which the tensor stores: AllocData(DLTensor *, extra_args...) sets `data`,
   * FreeData(DLTensor *) frees it. */
  template <typename TNDAlloc, typename... ExtraArgs>
  static Tensor FromNDAlloc(TNDAlloc alloc, ShapeView shape, DLDataType dtype, DLDevice device,
                            ExtraArgs &&...extra_args) {
    Shape strides = Shape::StridesFromShape(shape);
    return FromNDAllocStrided(std::move(alloc), shape, strides, dtype, device, std::forward<ExtraArgs>(extra_args)...);
  }
  /** As FromNDAlloc, with given strides. ValueError unless there is one stride for each dimension. */
  template <typename TNDAlloc, typename... ExtraArgs>
  static Tensor FromNDAllocStrided(TNDAlloc alloc, ShapeView shape, ShapeView strides, DLDataType dtype,
                                   DLDevice device, ExtraArgs &&...extra_args) {
    TVM_FFI_CHECK_EQ(shape.size(), strides.size(), ValueError) << "one stride for each dimension";
    /* Called for its ValueError, so that allocators do not have to check the size. */
    GetDataSize(static_cast<size_t>(shape.Product()), dtype);
    return Tensor(make_inplace_array_object<detail::TensorObjFromNDAlloc<TNDAlloc>, int64_t>(
        2 * shape.size(), std::move(alloc), shape, strides, dtype, device, std::forward<ExtraArgs>(extra_args)...));
  }
  /** A tensor from the allocator of the caller's framework: env_alloc is TVMFFIEnvTensorAlloc. */
  static Tensor FromEnvAlloc(int (*env_alloc)(DLTensor *, TVMFFIObjectHandle *), ShapeView shape, DLDataType dtype,
                             DLDevice device) {
    DLTensor prototype{};
    prototype.device = device;
    prototype.dtype = dtype;
    prototype.shape = const_cast<int64_t *>(shape.data());
    prototype.ndim = static_cast<int32_t>(shape.size());
    TVMFFIObjectHandle handle;
    TVM_FFI_CHECK_SAFE_CALL(env_alloc(&prototype, &handle));
    return FromOwned(handle);
  }
  /** Takes ownership of a DLPack tensor. If the tensor does not meet the requirements: RuntimeError, and the caller
   * keeps it. */
  static Tensor FromDLPack(DLManagedTensor *tensor, size_t require_alignment = 0, bool require_contiguous = false) {
    TVMFFIObjectHandle handle;
    TVM_FFI_CHECK_SAFE_CALL(
        TVMFFITensorFromDLPack(tensor, static_cast<int32_t>(require_alignment), require_contiguous, &handle));
    return FromOwned(handle);
  }
  /** As FromDLPack, with DLPack's versioned struct. */
  static Tensor FromDLPackVersioned(DLManagedTensorVersioned *tensor, size_t require_alignment = 0,
                                    bool require_contiguous = false) {
    TVMFFIObjectHandle handle;
    TVM_FFI_CHECK_SAFE_CALL(
        TVMFFITensorFromDLPackVersioned(tensor, static_cast<int32_t>(require_alignment), require_contiguous, &handle));
    return FromOwned(handle);
  }
  /** A DLPack tensor that keeps this one alive; the caller calls its deleter. */
  DLManagedTensor *ToDLPack() const { return get_mutable()->ToDLPack(); }
  /** As ToDLPack, with DLPack's versioned struct. */
  DLManagedTensorVersioned *ToDLPackVersioned() const { return get_mutable()->ToDLPackVersioned(); }

  /** A view of this tensor's memory with another shape, which begins at item element_offset. Bounds are not checked. */
  Tensor as_strided(ShapeView shape, ShapeView strides, std::optional<int64_t> element_offset = std::nullopt) const {
    DLTensor view = detail::MakeStrided(*GetDLTensorPtr(), shape, strides, element_offset);
    TVMFFIObjectHandle handle;
    TVM_FFI_CHECK_SAFE_CALL(TVMFFITensorCreateUnsafeView(detail::ObjectUnsafe::GetHeader(get()), &view, &handle));
    return FromOwned(handle);
  }

protected:
  const TensorObj *get() const { return static_cast<const TensorObj *>(ObjectRef::get()); }
  TensorObj *get_mutable() const { return const_cast<TensorObj *>(get()); }

private:
  static Tensor FromOwned(TVMFFIObjectHandle handle) {
    return Tensor(detail::ObjectUnsafe::ObjectPtrFromOwned<TensorObj>(static_cast<TVMFFIObject *>(handle)));
  }
};

/** A borrowed tensor: the caller keeps it alive. */
class TensorView : public detail::TensorQueries<TensorView> {
public:
  /** A view of a Tensor, which must outlive the view; InternalError for null. */
  TensorView(const Tensor &tensor) {
    TVM_FFI_ICHECK(tensor.defined()) << "a view of no tensor";
    tensor_ = *tensor.GetDLTensorPtr();
  }
  /** A view of a DLTensor, whose shape and strides must outlive the view; InternalError for null. */
  TensorView(const DLTensor *tensor) {
    TVM_FFI_ICHECK(tensor != nullptr) << "a view of no tensor";
    tensor_ = *tensor;
  }
  TensorView(Tensor &&tensor) = delete; /**< the view would dangle */
  TensorView &operator=(Tensor &&tensor) = delete;
  TensorView &operator=(const Tensor &tensor) { return *this = TensorView(tensor); }
  TensorView(const TensorView &) = default;
  TensorView &operator=(const TensorView &) = default;

  /** The DLTensor, borrowed from the view. */
  const DLTensor *GetDLTensorPtr() const { return &tensor_; }
  /** As Tensor::as_strided; shape and strides are borrowed as well. */
  TensorView as_strided(ShapeView shape, ShapeView strides,
                        std::optional<int64_t> element_offset = std::nullopt) const {
    DLTensor view = detail::MakeStrided(tensor_, shape, strides, element_offset);
    return TensorView(&view);
  }

private:
  DLTensor tensor_;

  template <typename, typename> friend struct TypeTraits;
};

/** A borrowed tensor that is only read: the caller keeps it alive. A function with a parameter of this type accepts
 * read-only arrays, too, if it has metadata: every refl:: definition does, and an exported function that is compiled
 * with TVM_FFI_DLL_EXPORT_INCLUDE_METADATA=1. */
class ConstTensorView : public detail::TensorQueries<ConstTensorView> {
public:
  /** From anything that a TensorView can be made of, which must outlive the view. */
  ConstTensorView(const TensorView &view) : tensor_(*view.GetDLTensorPtr()) {}
  ConstTensorView(const Tensor &tensor) : ConstTensorView(TensorView(tensor)) {} /**< as TensorView */
  ConstTensorView(const DLTensor *tensor) : ConstTensorView(TensorView(tensor)) {} /**< as TensorView */
  ConstTensorView(Tensor &&tensor) = delete; /**< the view would dangle */

  /** The address of the memory; byte_offset is not added. */
  const void *data_ptr() const { return tensor_.data; }
  /** The DLTensor, borrowed from the view. The memory must not be written. */
  const DLTensor *GetDLTensorPtr() const { return &tensor_; }
  /** As Tensor::as_strided; shape and strides are borrowed as well. */
  ConstTensorView as_strided(ShapeView shape, ShapeView strides,
                             std::optional<int64_t> element_offset = std::nullopt) const {
    DLTensor view = detail::MakeStrided(tensor_, shape, strides, element_offset);
    return ConstTensorView(&view);
  }

private:
  DLTensor tensor_;
};

/** The number of bytes of the tensor's items without gaps. */
inline size_t GetDataSize(const Tensor &tensor) { return GetDataSize(*tensor.GetDLTensorPtr()); }
/** The number of bytes of the tensor's items without gaps. */
inline size_t GetDataSize(const TensorView &tensor) { return GetDataSize(*tensor.GetDLTensorPtr()); }

namespace detail {

/** The DLTensor of a value that is a DLTensor * or a Tensor; otherwise null. */
TVM_FFI_INLINE DLTensor *TensorOf(const TVMFFIAny *src) {
  if (src->type_index == kTVMFFIDLTensorPtr) return static_cast<DLTensor *>(src->v_ptr);
  if (src->type_index == kTVMFFITensor) return TVMFFITensorGetDLTensorPtr(src->v_obj);
  return nullptr;
}

} // namespace detail

/** Borrowed: for arguments only. */
template <> struct TypeTraits<DLTensor *> : TypeTraitsBase {
  static constexpr bool storage_enabled = false;
  static constexpr int32_t field_static_type_index = kTVMFFIDLTensorPtr;
  TVM_FFI_INLINE static void CopyToAnyView(DLTensor *src, TVMFFIAny *result) {
    TVM_FFI_ICHECK_NOTNULL(src);
    detail::PutPointer(kTVMFFIDLTensorPtr, src, result);
  }
  static void MoveToAny(DLTensor *, TVMFFIAny *) {
    TVM_FFI_THROW(RuntimeError) << "a DLTensor * cannot be kept in an Any, which does not keep it alive: use a Tensor";
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) { return src->type_index == kTVMFFIDLTensorPtr; }
  TVM_FFI_INLINE static DLTensor *CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return static_cast<DLTensor *>(src->v_ptr);
  }
  TVM_FFI_INLINE static std::optional<DLTensor *> TryCastFromAnyView(const TVMFFIAny *src) {
    if (DLTensor *tensor = detail::TensorOf(src)) return tensor;
    return std::nullopt;
  }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIDLTensorPtr)
};

template <> struct TypeTraits<TensorView> : TypeTraitsBase {
  static constexpr bool storage_enabled = false;
  static constexpr int32_t field_static_type_index = kTVMFFIDLTensorPtr;
  TVM_FFI_INLINE static void CopyToAnyView(const TensorView &src, TVMFFIAny *result) {
    detail::PutPointer(kTVMFFIDLTensorPtr, const_cast<DLTensor *>(&src.tensor_), result);
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) { return src->type_index == kTVMFFIDLTensorPtr; }
  TVM_FFI_INLINE static TensorView CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return TensorView(static_cast<const DLTensor *>(src->v_ptr));
  }
  TVM_FFI_INLINE static std::optional<TensorView> TryCastFromAnyView(const TVMFFIAny *src) {
    if (DLTensor *tensor = detail::TensorOf(src)) return TensorView(tensor);
    return std::nullopt;
  }
  static std::string TypeStr() { return "Tensor"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema(StaticTypeKey::kTVMFFIDLTensorPtr); }
};

namespace detail {

/** The traits of a type that is made of a DLTensor * and only used as a parameter. `Traits` names the accepted tensors,
 * by Accepts(const DLTensor &), and describes these tensors, by Form(): in Python's words, such as "read-only". */
template <typename Traits, typename T> struct TensorParameterTraits : TypeTraitsBase {
  static constexpr bool storage_enabled = false;
  static constexpr int32_t field_static_type_index = kTVMFFIDLTensorPtr;
  /** A result or a value in a container would outlive its memory, or lose its constness. */
  static void CopyToAnyView(const T &src, TVMFFIAny *result) = delete;
  static void MoveToAny(T src, TVMFFIAny *result) = delete; /**< as CopyToAnyView */
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kTVMFFIDLTensorPtr && Traits::Accepts(*static_cast<const DLTensor *>(src->v_ptr));
  }
  TVM_FFI_INLINE static T CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return T(static_cast<const DLTensor *>(src->v_ptr));
  }
  TVM_FFI_INLINE static std::optional<T> TryCastFromAnyView(const TVMFFIAny *src) {
    const DLTensor *tensor = TensorOf(src);
    if (TVM_FFI_PREDICT_TRUE(tensor != nullptr && Traits::Accepts(*tensor))) return T(tensor);
    return std::nullopt;
  }
  static std::string TypeStr() { return Traits::Form() + " array"; }
  /** The schema has the name of any tensor, for readers that do not know forms. */
  static std::string TypeSchema() {
    return std::string("{\"type\":\"").append(StaticTypeKey::kTVMFFIDLTensorPtr).append("\",\"array\":\"") +
           Traits::Form() + "\"}";
  }
};

} // namespace detail

/** Borrowed: for arguments only. */
template <>
struct TypeTraits<ConstTensorView> : detail::TensorParameterTraits<TypeTraits<ConstTensorView>, ConstTensorView> {
  TVM_FFI_INLINE static bool Accepts(const DLTensor &) { return true; }
  static std::string Form() { return "read-only"; }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_TENSOR_H_ */
