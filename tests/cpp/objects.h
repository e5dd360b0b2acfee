/* objects.h - classes of objects for several tests. */
#ifndef TESTS_CPP_OBJECTS_H_
#define TESTS_CPP_OBJECTS_H_

#include <tvm/ffi/cast.h>
#include <tvm/ffi/memory.h>
#include <tvm/ffi/object.h>

#include <stdexcept>

namespace test {

using namespace tvm::ffi;

/* A hierarchy of types: Int and Float derive from Number. */
class NumberObj : public Object {
public:
  static constexpr uint32_t _type_child_slots = 3;
  TVM_FFI_DECLARE_OBJECT_INFO("test.cpp.Number", NumberObj, Object);
};
class Number : public ObjectRef {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Number, ObjectRef, NumberObj);
};

class IntObj : public NumberObj {
public:
  int64_t value;
  explicit IntObj(int64_t number) : value(number) { ++n_alive; }
  ~IntObj() { --n_alive; }
  static inline int n_alive = 0;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Int", IntObj, NumberObj);
};
class Int : public Number {
public:
  explicit Int(int64_t value) : Number(UnsafeInit{}) { data_ = make_object<IntObj>(value); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Int, Number, IntObj);
};

class FloatObj : public NumberObj {
public:
  double value;
  explicit FloatObj(double number) : value(number) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Float", FloatObj, NumberObj);
};
class Float : public Number {
public:
  explicit Float(double value) : Number(UnsafeInit{}) { data_ = make_object<FloatObj>(value); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Float, Number, FloatObj);
};

/* A class with virtual functions, so its header is not at its beginning. */
class VirtualObj : public Object {
public:
  virtual ~VirtualObj() = default;
  virtual int Twice() const { return 2 * value; }
  int value = 21;
  TVM_FFI_DECLARE_OBJECT_INFO("test.cpp.Virtual", VirtualObj, Object);
};

/* A reference that may be null; ints and strings convert to it. */
class ExprObj : public Object {
public:
  String text;
  explicit ExprObj(String content) : text(std::move(content)) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Expr", ExprObj, Object);
};
class Expr : public ObjectRef {
public:
  explicit Expr(String text) : ObjectRef(make_object<ExprObj>(std::move(text))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Expr, ObjectRef, ExprObj);
};

class ThrowingObj : public Object {
public:
  explicit ThrowingObj(int) { throw std::runtime_error("no object today"); }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Throwing", ThrowingObj, Object);
};

} // namespace test

namespace tvm {
namespace ffi {
template <> inline constexpr bool use_default_type_traits_v<test::Expr> = false;
template <> struct TypeTraits<test::Expr> : ObjectRefWithFallbackTraitsBase<test::Expr, StrictBool, int64_t, String> {
  static test::Expr ConvertFallbackValue(StrictBool value) { return test::Expr(value ? "true" : "false"); }
  static test::Expr ConvertFallbackValue(int64_t value) { return test::Expr(std::to_string(value)); }
  static test::Expr ConvertFallbackValue(String value) { return test::Expr(std::move(value)); }
};
} // namespace ffi
} // namespace tvm

namespace test {

/* Returns the error that f throws. */
template <typename F> Error ErrorOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error;
  }
  return Error("none", "nothing was thrown", "");
}
/* Returns the error that f throws as "Kind: message". */
template <typename F> std::string Thrown(F f) {
  Error error = ErrorOf(f);
  return error.kind() + ": " + error.message();
}

} // namespace test

#define ERROR_OF(...) ::test::ErrorOf([&] { (void)(__VA_ARGS__); })

#endif /* TESTS_CPP_OBJECTS_H_ */
