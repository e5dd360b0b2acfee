/* Shapes and tensors. */
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/extra/array_view.h>
#include <tvm/ffi/extra/dtype.h>

#include <cstdlib>

namespace {

using namespace test;

constexpr DLDataType kFloat32{kDLFloat, 32, 1};
constexpr DLDevice kCPU{kDLCPU, 0};
int n_allocated = 0;

struct CountingAlloc {
  void AllocData(DLTensor *tensor) {
    tensor->data = std::malloc(GetDataSize(*tensor) + 1);
    ++n_allocated;
  }
  void FreeData(DLTensor *tensor) {
    std::free(tensor->data);
    --n_allocated;
  }
};

struct RefusingAlloc {
  void AllocData(DLTensor *) { TVM_FFI_THROW(MemoryError) << "none left"; }
  void FreeData(DLTensor *) { std::abort(); }
};

TEST(ArrayView, DeclaresTheForm) {
  Tensor tensor = Tensor::FromNDAlloc(CountingAlloc(), {2, 3}, kFloat32, kCPU);
  Function set = Function::FromTyped([](ArrayView<float, 2, kDLCPU> x, float value) { x(1, 2) = value; });
  Function get = Function::FromTyped([](ArrayView<const float, 2> x) { return x(1, 2); });
  set(tensor, 5);
  EXPECT_EQ(get(tensor).cast<double>(), 5);
  EXPECT_EQ(Function::FromTyped([](ConstTensorView x) { return x.size(-1); })(tensor).cast<int>(), 3);
  Function other = Function::FromTyped([](ArrayView<const int32_t, kAny, kDLCPU>) {}, "other");
  try {
    other(tensor);
    FAIL() << "a float is not an int";
  } catch (const Error &error) {
    EXPECT_NE(error.message().find("read-only int32 on cpu array"), std::string::npos);
    EXPECT_NE(error.message().find("float32[2, 3] on cpu array"), std::string::npos);
  }
  EXPECT_EQ((TypeTraits<ArrayView<void>>::TypeSchema()), R"({"type":"DLTensor*","array":"any"})");
  EXPECT_EQ(TypeTraits<ConstTensorView>::TypeSchema(), R"({"type":"DLTensor*","array":"read-only"})");
}

TEST(Shape, ViewsAndConversions) {
  Shape shape{2, 3, 4};
  EXPECT_EQ(shape.Product(), 24);
  EXPECT_EQ(Shape().Product(), 1);
  EXPECT_EQ(Shape::StridesFromShape(shape)[0], 12);
  ShapeView view = shape;
  EXPECT_EQ(view.back(), 4);
  EXPECT_EQ(ERROR_OF(shape.at(3)).kind(), "IndexError");
  EXPECT_EQ(ERROR_OF(Shape().front()).kind(), "IndexError");
  EXPECT_EQ(Any(Array<Any>{1, 2}).cast<Shape>()[1], 2);
  EXPECT_FALSE(Any(Array<Any>{1, 2.5}).try_cast<Shape>().has_value());
  std::ostringstream text;
  text << shape << Shape();
  EXPECT_EQ(text.str(), "[2, 3, 4][]");
}

TEST(Shape, ProductsBeyondAnInt64AreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_EQ(Shape({kHuge, 1}).Product(), kHuge);
  EXPECT_EQ(Shape({kHuge, 4, 0}).Product(), 0);
  EXPECT_EQ(Shape({-2, 3}).Product(), -6);
  EXPECT_EQ(ERROR_OF(Shape({kHuge, 4}).Product()).kind(), "ValueError"); /* 0 if the product wraps around */
  EXPECT_EQ(ERROR_OF(Shape({kHuge, -4}).Product()).kind(), "ValueError");
  EXPECT_EQ(Shape::StridesFromShape({2, kHuge, 4})[1], 4);
  EXPECT_EQ(GetDataSize(0, kFloat32), 0U);
  EXPECT_EQ(ERROR_OF(GetDataSize(kHuge, kFloat32)).kind(), "ValueError");
}

TEST(Tensor, TensorsLargerThanMemoryAreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (const Shape &shape : {Shape({kHuge, 4}), Shape({kHuge}), Shape({-1, 3})}) {
    EXPECT_EQ(ERROR_OF(Tensor::FromNDAlloc(CountingAlloc(), shape, kFloat32, kCPU)).kind(), "ValueError");
  }
  EXPECT_EQ(n_allocated, 0);
  Tensor tensor = Tensor::FromNDAlloc(CountingAlloc(), {2, 3}, kFloat32, kCPU);
  EXPECT_EQ(ERROR_OF(tensor.as_strided({2}, {1}, kHuge)).kind(), "ValueError");
  EXPECT_EQ(ERROR_OF(tensor.as_strided({2}, {kHuge})).kind(), "ValueError");
  EXPECT_EQ(ERROR_OF(tensor.as_strided({kHuge, 4}, {0, 0})).kind(), "ValueError");
  DLManagedTensor *managed = tensor.ToDLPack();
  void *data = std::exchange(managed->dl_tensor.data, nullptr);
  EXPECT_EQ(ERROR_OF(Tensor::FromDLPack(managed)).kind(), "ValueError");
  managed->dl_tensor.data = data;
  managed->deleter(managed); /* a refused tensor stays ours */
}

TEST(Tensor, MemoryIsGivenBack) {
  {
    Tensor tensor = Tensor::FromNDAlloc(CountingAlloc(), {2, 3}, kFloat32, kCPU);
    EXPECT_EQ(n_allocated, 1);
    EXPECT_EQ(tensor.stride(-2), 3);
    EXPECT_EQ(tensor.size(1), 3);
    EXPECT_EQ(tensor.numel(), 6);
    EXPECT_EQ(GetDataSize(tensor), 24U);
    EXPECT_TRUE(tensor.IsContiguous() && tensor.IsAligned(4));
    for (int64_t bad : {2, -3}) EXPECT_EQ(ERROR_OF(tensor.size(bad)).kind(), "IndexError");
    Tensor view = tensor.as_strided({3, 2}, {1, 3});
    tensor = Tensor();
    EXPECT_EQ(n_allocated, 1); /* the view keeps the memory */
    EXPECT_FALSE(view.IsContiguous());
  }
  EXPECT_EQ(n_allocated, 0);
  EXPECT_EQ(ERROR_OF(Tensor::FromNDAlloc(RefusingAlloc(), {2}, kFloat32, kCPU)).kind(), "MemoryError");
  EXPECT_EQ(ERROR_OF(Tensor::FromNDAllocStrided(CountingAlloc(), {2}, {1, 1}, kFloat32, kCPU)).kind(), "ValueError");
  EXPECT_EQ(n_allocated, 0);
}

TEST(Tensor, EmptyOnesAreContiguous) {
  Tensor tensor = Tensor::FromNDAllocStrided(CountingAlloc(), {4, 0, 4}, {7, 7, 7}, kFloat32, kCPU);
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_EQ(tensor.numel(), 0);
}

TEST(Tensor, OffsetsAreAddedToAddresses) {
  Tensor tensor = Tensor::FromNDAlloc(CountingAlloc(), {6}, kFloat32, kCPU);
  float *data = static_cast<float *>(tensor.data_ptr());
  for (int i = 0; i < 6; ++i) data[i] = static_cast<float>(i);
  Tensor part = tensor.as_strided({2}, {3}, 1);
  EXPECT_EQ(static_cast<float *>(part.data_ptr())[3], 4.0f);
  EXPECT_EQ(part.byte_offset(), 0U);
  Shape two{2}, three{3};
  EXPECT_EQ(TensorView(tensor).as_strided(two, three, 2).data_ptr(), data + 2);
  EXPECT_EQ(ERROR_OF(tensor.as_strided({2}, {1, 1})).kind(), "ValueError");
  EXPECT_EQ(ERROR_OF(tensor.as_strided({2}, {1}, -1)).kind(), "ValueError");
}

TEST(Tensor, DLPackBothWays) {
  Tensor tensor = Tensor::FromNDAlloc(CountingAlloc(), {1, 2}, kFloat32, kCPU);
  {
    Tensor back = Tensor::FromDLPack(tensor.ToDLPack());
    EXPECT_EQ(back.data_ptr(), tensor.data_ptr());
    EXPECT_EQ(tensor.use_count(), 2);
    Tensor versioned = Tensor::FromDLPackVersioned(tensor.ToDLPackVersioned(), 1, true);
    EXPECT_EQ(tensor.use_count(), 3);
  }
  EXPECT_EQ(tensor.use_count(), 1);
  Tensor strided = tensor.as_strided({2}, {2});
  DLManagedTensor *refused = strided.ToDLPack();
  EXPECT_EQ(ERROR_OF(Tensor::FromDLPack(refused, 0, true)).kind(), "RuntimeError");
  refused->deleter(refused); /* a refused tensor is still ours */
}

TEST(Tensor, ArgumentsAreViews) {
  Function dim = Function::FromTyped([](TensorView tensor) { return tensor.dim(); });
  Tensor tensor = Tensor::FromNDAlloc(CountingAlloc(), {1, 2}, kFloat32, kCPU);
  DLTensor raw = *tensor.GetDLTensorPtr();
  EXPECT_EQ(dim(tensor).cast<int>(), 2);
  EXPECT_EQ(dim(TensorView(tensor)).cast<int>(), 2);
  EXPECT_EQ(dim(&raw).cast<int>(), 2);
  EXPECT_EQ(ERROR_OF(dim(1)).message(),
            "Mismatched type on argument #0 when calling: `(0: Tensor) -> int`. Expected `Tensor` but got `int`");
  EXPECT_EQ(ERROR_OF(Any(&raw)).kind(), "RuntimeError");
  EXPECT_EQ(ERROR_OF(TensorView(Tensor(tensor).defined() ? static_cast<const DLTensor *>(nullptr) : &raw)).kind(),
            "InternalError");
}

TEST(DType, Kinds) {
  EXPECT_TRUE(DTypeIsInt(StringToDLDataType("int8")) && DTypeIsInt(StringToDLDataType("uint32x4")));
  EXPECT_FALSE(DTypeIsInt(StringToDLDataType("bool")) || DTypeIsInt(StringToDLDataType("float32")));
}

TEST(DType, OfTypes) {
  EXPECT_EQ(DLDataTypeToString(dtype_trait<signed char>::value), "int8");
  EXPECT_EQ(DLDataTypeToString(dtype_trait<unsigned long long>::value), "uint64");
  EXPECT_EQ(DLDataTypeToString(dtype_trait<long>::value), "int" + std::to_string(8 * sizeof(long)));
  EXPECT_EQ(DLDataTypeToString(dtype_trait<bool>::value), "bool");
  EXPECT_EQ(DLDataTypeToString(dtype_trait<double>::value), "float64");
  EXPECT_EQ(DLDataTypeToString(dtype_trait<__half>::value), "float16");
  EXPECT_EQ(DLDataTypeToString(dtype_trait<__nv_bfloat16>::value), "bfloat16");
  EXPECT_EQ(DLDataTypeToString(dtype_trait<__hip_fp8_e5m2_fnuz>::value), "float8_e5m2fnuz");
  EXPECT_EQ(DLDataTypeToString(dtype_trait<__nv_fp8_e8m0>::value), "float8_e8m0fnu");
  EXPECT_EQ(DLDataTypeToString(dtype_trait<__nv_fp4x2_e2m1>::value), "float4_e2m1fnx2");
}

} // namespace
