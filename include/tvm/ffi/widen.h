/* widen.h - arguments of more classes than a type's traits accept: any sequence or mapping for a container, objects
 * with __index__ or __float__ for a number, and classes of Python's standard library.
 *
 * TryCastFromAnyView of a container accepts containers of the ABI, everywhere, and TryCastFromAnyView of a number ints
 * and floats. While a Widening lives on a thread, a container also accepts other values that have items: tensors in
 * memory of the CPU, shapes, and Python objects that are sequences or mappings; a number also accepts Python objects
 * with __index__, and, if it has a fraction, with __float__. Parameters, fields and results of callbacks are converted
 * under a Widening, after the narrow conversion has failed; try_cast() in a program is not, so that it still tells an
 * Array from a Tensor.
 *
 * Python objects are converted by the global function ffi_hpy.Python, which the Python package registers. Without it,
 * nothing is widened by Python. */
#ifndef TVM_FFI_WIDEN_H_
#define TVM_FFI_WIDEN_H_

#include <tvm/ffi/any.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tvm::ffi::detail {

/** While it lives, conversions of this thread are wide, or, with false, narrow; and descriptions have no marks. */
class Widening {
public:
  explicit Widening(bool is_on = true) : before_(std::exchange(flags_, is_on)) {}
  /** Conversions are as before, and descriptions have the marks of error.h. */
  explicit Widening(std::nullptr_t) : before_(std::exchange(flags_, flags_ | kMarks)) {}
  ~Widening() { flags_ = before_; }
  Widening(const Widening &) = delete;
  Widening &operator=(const Widening &) = delete;
  static bool IsOn() { return (flags_ & kIsOn) != 0; }
  static bool Marks() { return (flags_ & kMarks) != 0; }

private:
  static constexpr uint8_t kIsOn = 1, kMarks = 2;
#if defined(__ELF__)
  /* loaders of object files at run time know no other model */
  __attribute__((tls_model("global-dynamic")))
#endif
  static inline thread_local uint8_t flags_ = 0;
  uint8_t before_;
};

/** Throws the pending error after a C function failed. */
inline void CheckSafeCall(int rc) {
  if (TVM_FFI_PREDICT_FALSE(rc != 0)) throw MoveFromSafeCallRaised();
}

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void MoveUnsigned(uint64_t value, TVMFFIAny *result) {
  uint64_t words[2] = {value, 0};
  TVMFFIByteArray bytes{reinterpret_cast<const char *>(words), sizeof(words)};
  CheckSafeCall(TVMFFIBigIntFromByteArray(&bytes, result));
}

/** Calls a global function by name, while conversions are narrow; None if there is none of that name. Throws its error.
 */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Any CallIfRegistered(const char *name, TVMFFIAny *args, int32_t n) {
  Widening narrow(false);
  TVMFFIByteArray bytes{name, std::char_traits<char>::length(name)};
  TVMFFIObjectHandle handle = nullptr;
  CheckSafeCall(TVMFFIFunctionGetGlobal(&bytes, &handle));
  if (handle == nullptr) return Any();
  ObjectPtr<Object> function = ObjectUnsafe::ObjectPtrFromOwned<Object>(static_cast<TVMFFIObject *>(handle));
  TVMFFIAny result;
  PutNone(&result);
  CheckSafeCall(TVMFFIFunctionCall(handle, args, n, &result));
  return AnyUnsafe::MoveTVMFFIAnyRawToAny(result);
}

/** Calls an operation of Python (ffi_hpy/_values/standard.py); None if no Python is loaded, or if the operation refuses
 * the values. */
template <typename... Values>
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE Any AskPython(const char *operation, const Values &...values) {
  TVMFFIAny args[1 + sizeof...(Values)] = {AnyView(operation).CopyToTVMFFIAny(), AnyView(values).CopyToTVMFFIAny()...};
  return CallIfRegistered("ffi_hpy.Python", args, 1 + static_cast<int32_t>(sizeof...(Values)));
}

/** The class of a value in Python's words, for messages. An Array or a Map has the class that most callers pass: tuple,
 * list or dict. A Python object, an array, a callable, a List, a Dict, and an object of a Python subclass have the
 * qualified name of the class. Another object of a registered type has the type key. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string GivenClass(const TVMFFIAny *value) {
  if (Widening::Marks()) {
    Widening unmarked(Widening::IsOn());
    return kClassBegin + GivenClass(value) + kClassEnd;
  }
  bool asks = true;
  switch (value->type_index) {
  case kTVMFFISmallStr:
  case kTVMFFIStr: return "str";
  case kTVMFFISmallBytes: return "bytes";
  case kTVMFFIBytes: return value->v_obj->__padding == FFI_HPY_MADE_OF_MEMORYVIEW ? "memoryview" : "bytes";
  case kTVMFFIBigInt: return "int";
  case kTVMFFIArray: return value->v_obj->__padding == FFI_HPY_MADE_OF_TUPLE ? "tuple" : "list";
  case kTVMFFIMap: return "dict";
  case kTVMFFIDataType: return "dtype";
  case kTVMFFIOpaquePtr: return "ctypes.c_void_p";
  case kTVMFFITensor:
  case kTVMFFIFunction:
  case kTVMFFIList:
  case kTVMFFIDict:
  case kTVMFFIError:
  case kTVMFFIOpaquePyObject: break;
  default: asks = value->type_index >= kTVMFFIDynObjectBegin; /* it may be of a subclass in Python */
  }
  Any name = asks ? AskPython("class_name", AnyView::CopyFromTVMFFIAny(*value)) : Any();
  if (std::optional<String> text = name.as<String>()) return std::string(text->data(), text->size());
  std::string key = TypeIndexToTypeKey(value->type_index);
  bool is_of_package = value->type_index < kTVMFFIStaticObjectEnd && key.compare(0, 4, "ffi.") == 0;
  return is_of_package ? key.substr(4) : key; /* "Tensor", which ffi_hpy has */
}

inline std::string DescribeMarked(std::string (*describe)(const TVMFFIAny *), const TVMFFIAny *value) {
  Widening marking(nullptr);
  return describe(value);
}
/** The mark of an item in a description; "" if it has no marks. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string ItemMark(size_t i) {
  return Widening::Marks() ? Marked(kOfItem, i) : std::string();
}

/* ---- Numbers ---- */

/** The int of a Python object with __index__, or, for "number", the float of one with __float__ or else its int; None
 * for another value, or if conversions are not wide. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Any WideNumber(const TVMFFIAny *src, const char *operation) {
  if (!Widening::IsOn() || src->type_index != kTVMFFIOpaquePyObject) return Any();
  return AskPython(operation, AnyView::CopyFromTVMFFIAny(*src));
}
template <typename T> TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE std::optional<T> TryOtherNumber(const TVMFFIAny *src) {
  if constexpr (std::is_floating_point_v<T>) {
    std::optional<double> value = BigIntToDouble(src);
    if (value.has_value() && *value <= TypeTraits<T>::kMax && *value >= -TypeTraits<T>::kMax)
      return static_cast<T>(*value);
  } else if constexpr (is_unsigned64_v<T>) {
    if (std::optional<uint64_t> value = BigIntToUint64(src)) return static_cast<T>(*value);
  }
  if (src->type_index != kTVMFFIOpaquePyObject) return std::nullopt;
  Any number = WideNumber(src, std::is_floating_point_v<T> ? "number" : "index");
  return TypeTraits<T>::TryCastFromAnyView(AnyUnsafe::TVMFFIAnyPtrFromAny(number));
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string OutsideWideRange(const TVMFFIAny *src, int64_t min,
                                                                        uint64_t max) {
  Any number = WideNumber(src, "index");
  if (number == nullptr) return "";
  std::string found = OutsideRange(AnyUnsafe::TVMFFIAnyPtrFromAny(number), min, max);
  return IsOutsideRange(found) ? found : "";
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string OutsideWideFloat(const TVMFFIAny *src, double max) {
  Any number = WideNumber(src, "number");
  if (number == nullptr) return "";
  std::string found = OutsideFloat(AnyUnsafe::TVMFFIAnyPtrFromAny(number), max);
  return IsOutsideRange(found) ? found : "";
}

/** An Array of values. */
TVM_FFI_COLD_CODE inline Any ArrayOf(const std::vector<Any> &items) {
  std::vector<TVMFFIAny> views;
  views.reserve(items.size() + 1);
  for (const Any &item : items) views.push_back(*AnyUnsafe::TVMFFIAnyPtrFromAny(item));
  return CallIfRegistered("ffi.Array", views.data(), static_cast<int32_t>(items.size()));
}

/* ---- Tensors ---- */

/** A number in a floating-point format with a hidden bit. `has_inf`: the greatest exponent stands for infinity and NaN.
 */
TVM_FFI_COLD_CODE inline double FloatOfBits(uint64_t bits, int n_exponent, int n_mantissa, bool has_inf) {
  int exponent = static_cast<int>((bits >> n_mantissa) & ((1u << n_exponent) - 1u));
  double mantissa = static_cast<double>(bits & ((uint64_t{1} << n_mantissa) - 1u));
  bool is_negative = ((bits >> (n_exponent + n_mantissa)) & 1u) != 0;
  int bias = (1 << (n_exponent - 1)) - 1, greatest = (1 << n_exponent) - 1;
  double value;
  if (has_inf && exponent == greatest) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - n_mantissa);
  } else {
    value = std::ldexp(mantissa + std::ldexp(1.0, n_mantissa), exponent - bias - n_mantissa);
  }
  return is_negative ? -value : value;
}

template <typename T> T ReadElement(const char *place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

/** An element of a tensor with real numbers, as int, bool or float; None for other data types. */
TVM_FFI_COLD_CODE inline Any ElementAt(const char *place, DLDataType dtype) {
  if (dtype.lanes != 1) return Any();
  switch (dtype.code << 8 | dtype.bits) {
  case kDLInt << 8 | 8: return Any(int64_t{ReadElement<int8_t>(place)});
  case kDLInt << 8 | 16: return Any(int64_t{ReadElement<int16_t>(place)});
  case kDLInt << 8 | 32: return Any(int64_t{ReadElement<int32_t>(place)});
  case kDLInt << 8 | 64: return Any(ReadElement<int64_t>(place));
  case kDLUInt << 8 | 8: return Any(int64_t{ReadElement<uint8_t>(place)});
  case kDLUInt << 8 | 16: return Any(int64_t{ReadElement<uint16_t>(place)});
  case kDLUInt << 8 | 32: return Any(int64_t{ReadElement<uint32_t>(place)});
  case kDLUInt << 8 | 64: return Any(ReadElement<uint64_t>(place));
  case kDLBool << 8 | 8: return Any(ReadElement<uint8_t>(place) != 0);
  case kDLFloat << 8 | 16: return Any(FloatOfBits(ReadElement<uint16_t>(place), 5, 10, true));
  case kDLBfloat << 8 | 16: return Any(FloatOfBits(ReadElement<uint16_t>(place), 8, 7, true));
  case kDLFloat << 8 | 32: return Any(double{ReadElement<float>(place)});
  case kDLFloat << 8 | 64: return Any(ReadElement<double>(place));
  case kDLFloat8_e5m2 << 8 | 8: return Any(FloatOfBits(ReadElement<uint8_t>(place), 5, 2, true));
  case kDLFloat8_e4m3 << 8 | 8: return Any(FloatOfBits(ReadElement<uint8_t>(place), 4, 3, true));
  case kDLFloat8_e4m3fn << 8 | 8: {
    uint8_t bits = ReadElement<uint8_t>(place);
    return Any((bits & 0x7f) == 0x7f ? std::numeric_limits<double>::quiet_NaN() : FloatOfBits(bits, 4, 3, false));
  }
  default: return Any();
  }
}

/** The items of a tensor along its axis `axis`: numbers, or an Array for each row. None if an element is not a real
 * number. */
TVM_FFI_COLD_CODE inline Any ItemsOfAxis(const DLTensor &tensor, int32_t axis, const char *place, int64_t item_size) {
  int64_t n_elements = 1; /* between one item and the next in a compact tensor */
  for (int32_t i = axis + 1; i < tensor.ndim; ++i) n_elements *= tensor.shape[i];
  int64_t step = (tensor.strides == nullptr ? n_elements : tensor.strides[axis]) * item_size;
  std::vector<Any> items;
  items.reserve(static_cast<size_t>(tensor.shape[axis]));
  for (int64_t i = 0; i < tensor.shape[axis]; ++i, place += step) {
    Any item =
        axis + 1 == tensor.ndim ? ElementAt(place, tensor.dtype) : ItemsOfAxis(tensor, axis + 1, place, item_size);
    if (item == nullptr) return Any();
    items.push_back(std::move(item));
  }
  return ArrayOf(items);
}

/** The items of a tensor that the CPU can read, as nested Arrays; None for another tensor and for a scalar. Python
 * knows more types of elements. */
TVM_FFI_COLD_CODE inline Any ItemsOfTensor(const DLTensor &tensor) {
  DLDeviceType device = tensor.device.device_type;
  bool is_readable = device == kDLCPU || device == kDLCUDAHost || device == kDLROCMHost || device == kDLCUDAManaged;
  if (!is_readable || tensor.ndim < 1) return Any();
  const char *first = static_cast<const char *>(tensor.data) + tensor.byte_offset;
  Any items = ItemsOfAxis(tensor, 0, first, (tensor.dtype.bits + 7) / 8);
  if (items != nullptr) return items;
  TVMFFIAny view;
  PutPointer(kTVMFFIDLTensorPtr, const_cast<DLTensor *>(&tensor), &view);
  return AskPython("items_of_tensor", AnyView::CopyFromTVMFFIAny(view));
}

/* ---- All values ---- */

/** The items of a value that is neither an Array nor a List, as an Array; None if it has none, or if conversions are
 * not wide. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Any WideItems(const TVMFFIAny *src) {
  if (!Widening::IsOn()) return Any();
  switch (src->type_index) {
  case kTVMFFIDLTensorPtr: return ItemsOfTensor(*static_cast<const DLTensor *>(src->v_ptr));
  case kTVMFFITensor: return ItemsOfTensor(*TVMFFITensorGetDLTensorPtr(src->v_obj));
  case kTVMFFIShape: {
    const TVMFFIShapeCell *shape = TVMFFIShapeGetCellPtr(src->v_obj);
    return ArrayOf(std::vector<Any>(shape->data, shape->data + shape->size));
  }
  case kTVMFFIBytes: {
    TVMFFIAny bytes = *src;
    Any form = CallIfRegistered("ffi_hpy.BytesDescription", &bytes, 1);
    return form == nullptr ? Any() : AskPython("items_of_memory", AnyView::CopyFromTVMFFIAny(*src), form);
  }
  case kTVMFFIOpaquePyObject: return AskPython("items", AnyView::CopyFromTVMFFIAny(*src));
  default: return Any();
  }
}

/** The pairs of a value that is neither a Map nor a Dict, as a Map; None if it has none, or if conversions are not
 * wide. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Any WidePairs(const TVMFFIAny *src) {
  if (!Widening::IsOn() || src->type_index != kTVMFFIOpaquePyObject) return Any();
  return AskPython("pairs", AnyView::CopyFromTVMFFIAny(*src));
}

/** Whether Python objects convert to a T by TryOtherNumber. */
template <typename T>
inline constexpr bool is_wide_number_v =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || is_integeral_enum_v<T>;

template <typename T> TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE T CastUnderWidening(const AnyView &value) {
  Widening widening;
  if constexpr (is_wide_number_v<T>) {
    const TVMFFIAny *any = reinterpret_cast<const TVMFFIAny *>(&value);
    if (std::optional<T> number = TryOtherNumber<T>(any)) return *number;
    ThrowCannotConvert<T>(any);
  } else {
    return value.template cast<T>();
  }
}
/** As value.cast<T>(), but also converts widely. */
template <typename T> TVM_FFI_INLINE T CastWide(const AnyView &value) {
  if constexpr (std::is_scalar_v<T> && !is_wide_number_v<T>) {
    return value.template cast<T>();
  } else {
    std::optional<T> narrow = value.template try_cast<T>();
    if (TVM_FFI_PREDICT_TRUE(narrow.has_value())) return *std::move(narrow);
    return CastUnderWidening<T>(value);
  }
}
/** As CastWide, but moves the content out if the value is a T already. */
template <typename T> TVM_FFI_INLINE T CastResult(Any &&value) {
  if constexpr (TypeTraits<T>::storage_enabled) {
    if (TVM_FFI_PREDICT_TRUE(AnyUnsafe::CheckAnyStrict<T>(value))) {
      return AnyUnsafe::MoveFromAnyAfterCheck<T>(std::move(value));
    }
  }
  return CastWide<T>(value);
}

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_WIDEN_H_ */
