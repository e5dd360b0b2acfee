/* shape.h - shapes and strides: int64 numbers, one for each dimension. Shape owns them, ShapeView borrows them. */
#ifndef TVM_FFI_CONTAINER_SHAPE_H_
#define TVM_FFI_CONTAINER_SHAPE_H_

#include <tvm/ffi/container/array.h>

#include <initializer_list>
#include <ostream>
#include <vector>

namespace tvm::ffi {

namespace detail {

/** Multiplies *product by factor; false if the result does not fit in int64. */
inline bool MultiplyInto(int64_t *product, int64_t factor) {
#if defined(__GNUC__)
  return !__builtin_mul_overflow(*product, factor, product);
#else
  auto size_of = [](int64_t n) { return n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n); };
  bool fits = factor == 0 || size_of(*product) <= static_cast<uint64_t>(INT64_MAX) / size_of(factor);
  *product = static_cast<int64_t>(static_cast<uint64_t>(*product) * static_cast<uint64_t>(factor));
  return fits;
#endif
}
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowProduct() {
  TVM_FFI_THROW(ValueError) << "the product of a shape is beyond 2**63 - 1";
  TVM_FFI_UNREACHABLE();
}

} // namespace detail

/** A borrowed shape: the caller keeps the numbers alive. */
class ShapeView {
public:
  /** No dimensions. */
  ShapeView() : cell_{nullptr, 0} {}
  /** From `size` numbers, which must outlive the view. */
  ShapeView(const int64_t *data, size_t size) : cell_{data, size} {}
  /** Valid as long as the list: only during the call. */
  ShapeView(const std::initializer_list<int64_t> &dims) : cell_{dims.begin(), dims.size()} {}

  /** The numbers, borrowed. */
  const int64_t *data() const { return cell_.data; }
  /** The number of dimensions. */
  size_t size() const { return cell_.size; }
  /** Whether there are no dimensions. */
  bool empty() const { return cell_.size == 0; }
  const int64_t *begin() const { return cell_.data; }
  const int64_t *end() const { return cell_.data + cell_.size; }
  /** One dimension; the index is not checked. */
  int64_t operator[](size_t i) const { return cell_.data[i]; }
  /** IndexError if the dimension does not exist. */
  int64_t at(size_t i) const {
    if (i >= size()) TVM_FFI_THROW(IndexError) << "indexing " << i << " on a Shape of size " << size();
    return cell_.data[i];
  }
  /** The first dimension; IndexError if there is none. */
  int64_t front() const { return at(0); }
  /** The last dimension; IndexError if there is none. */
  int64_t back() const { return at(size() - 1); }
  /** The product of the dimensions, 1 if there are none. ValueError if it does not fit in int64. */
  int64_t Product() const {
    int64_t product = 1;
    bool fits = true;
    for (int64_t dim : *this) {
      if (dim == 0) return 0;
      fits = detail::MultiplyInto(&product, dim) && fits;
    }
    if (TVM_FFI_PREDICT_FALSE(!fits)) detail::ThrowProduct();
    return product;
  }

private:
  TVMFFIShapeCell cell_;
};

/** The object of a Shape; its numbers lie behind it in memory. */
class ShapeObj : public Object, public TVMFFIShapeCell {
public:
  /** The type of a dimension. */
  using index_type = int64_t;
  /** The product of the dimensions, 1 if there are none. ValueError if it does not fit in int64. */
  int64_t Product() const { return ShapeView(data, size).Product(); }

  static constexpr int32_t _type_index = kTVMFFIShape;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIShape, ShapeObj, Object);
};

namespace detail {

/** A shape whose numbers follow it in memory. The caller fills them in through *dims. */
inline ObjectPtr<ShapeObj> MakeEmptyShape(size_t size, int64_t **dims) {
  ObjectPtr<ShapeObj> shape = make_inplace_array_object<ShapeObj, int64_t>(size);
  *dims = reinterpret_cast<int64_t *>(shape.get() + 1);
  shape->data = *dims;
  shape->size = size;
  return shape;
}
template <typename IterType> ObjectPtr<ShapeObj> MakeInplaceShape(IterType first, IterType last) {
  int64_t *dims;
  ObjectPtr<ShapeObj> shape = MakeEmptyShape(static_cast<size_t>(std::distance(first, last)), &dims);
  std::copy(first, last, dims);
  return shape;
}
/** Writes the strides of a compact row-major tensor, in items. The strides wrap around for shapes too large for any
 * memory. */
inline void FillStridesFromShape(ShapeView shape, int64_t *strides) {
  uint64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape[i]);
  }
}
inline ObjectPtr<ShapeObj> MakeStridesFromShape(ShapeView shape) {
  int64_t *strides;
  ObjectPtr<ShapeObj> made = MakeEmptyShape(shape.size(), &strides);
  FillStridesFromShape(shape, strides);
  return made;
}

} // namespace detail

/** A reference to a shape, which never changes. */
class Shape : public ObjectRef {
public:
  /** The type of a dimension. */
  using index_type = int64_t;

  /** No dimensions. */
  Shape() : Shape(ShapeView()) {}
  /** Copies the dimensions of a range. */
  template <typename IterType>
  Shape(IterType first, IterType last) : ObjectRef(detail::MakeInplaceShape(first, last)) {}
  /** Copies the dimensions of an array. */
  Shape(const Array<int64_t> &dims) : Shape(dims.begin(), dims.end()) {}
  /** Copies the dimensions of a list. */
  Shape(std::initializer_list<int64_t> dims) : Shape(dims.begin(), dims.end()) {}
  /** Copies the dimensions of a vector. */
  Shape(const std::vector<int64_t> &dims) : Shape(dims.begin(), dims.end()) {}
  /** Copies the dimensions of a view. */
  Shape(ShapeView dims) : Shape(dims.begin(), dims.end()) {}
  /** The strides of a compact row-major tensor of that shape, in items. */
  static Shape StridesFromShape(ShapeView shape) { return Shape(detail::MakeStridesFromShape(shape)); }
  /** A view of the dimensions, valid as long as this reference. */
  operator ShapeView() const { return ShapeView(data(), size()); }

  /** The numbers, borrowed. */
  const int64_t *data() const { return get()->data; }
  /** The number of dimensions. */
  size_t size() const { return get()->size; }
  /** Whether there are no dimensions. */
  bool empty() const { return size() == 0; }
  const int64_t *begin() const { return data(); }
  const int64_t *end() const { return data() + size(); }
  /** One dimension; the index is not checked. */
  int64_t operator[](size_t i) const { return data()[i]; }
  /** IndexError if the dimension does not exist. */
  int64_t at(size_t i) const { return ShapeView(*this).at(i); }
  /** The first dimension; IndexError if there is none. */
  int64_t front() const { return at(0); }
  /** The last dimension; IndexError if there is none. */
  int64_t back() const { return at(size() - 1); }
  /** The product of the dimensions, 1 if there are none. ValueError if it does not fit in int64. */
  int64_t Product() const { return get()->Product(); }

  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Shape, ObjectRef, ShapeObj);

private:
  explicit Shape(ObjectPtr<ShapeObj> data) : ObjectRef(std::move(data)) {}
};

inline std::ostream &operator<<(std::ostream &out, const Shape &shape) {
  const char *separator = "[";
  if (shape.empty()) out << separator;
  for (int64_t dim : shape) {
    out << separator << dim;
    separator = ", ";
  }
  return out << "]";
}

template <> inline constexpr bool use_default_type_traits_v<Shape> = false;

/** An Array or List of ints converts to a Shape. */
template <> struct TypeTraits<Shape> : ObjectRefWithFallbackTraitsBase<Shape, Array<int64_t>> {
  static constexpr int32_t field_static_type_index = kTVMFFIShape;
  static Shape ConvertFallbackValue(const Array<int64_t> &dims) { return Shape(dims); }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    return TypeTraits<Array<int64_t>>::GetMismatchTypeInfo(src);
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_SHAPE_H_ */
