/* Programs that must not compile. ci/cpp compiles each case separately, after the lines before the first case. A case
 * begins with its name and a part of the error's text. The compiler must report one error that names `Foo`. */
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/extra/stl.h>
#include <tvm/ffi/tvm_ffi.h>

#include <complex>

using namespace tvm::ffi;
struct Foo {
  int x;
};
template <typename T> struct Overloaded {
  int operator()(T x) const;
  int operator()(int x) const;
};
struct HolderObj : Object {
  Foo field;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Holder", HolderObj, Object);
};
int Take(const Foo &foo);
Foo Give(int x);

//! parameter: this parameter type cannot cross
Function made = Function::FromTyped(Take);
//! result: this result type cannot cross
Function made = Function::FromTyped(Give, "give");
//! exported: this parameter type cannot cross
TVM_FFI_DLL_EXPORT_TYPED_FUNC(take, Take)
//! registered: this parameter type cannot cross
TVM_FFI_STATIC_INIT_BLOCK() { reflection::GlobalDef().def("test.take", Take); }
//! field: this type cannot be a value: it needs TypeTraits
TVM_FFI_STATIC_INIT_BLOCK() { reflection::ObjectDef<HolderObj>().def_ro("field", &HolderObj::field); }
//! parameter_in_a_container: this parameter type cannot cross
void TakeAll(const std::vector<Foo> &);
Function made = Function::FromTyped(TakeAll);
//! typed_function_made: this parameter type cannot cross
TypedFunction<int(Foo)> made = [](const Foo &foo) { return foo.x; };
//! typed_function_called: this type cannot be a value: it needs TypeTraits
void Call(const TypedFunction<void(Foo)> &f) { f(Foo{}); }
//! typed_function_result: this type cannot be a value: it needs TypeTraits
int Call(const TypedFunction<Foo(int)> &f) { return f(1).x; }
//! overloaded: this is not a function with one signature
Function made = Function::FromTyped(Overloaded<Foo>{});
//! optional_parameter: this parameter type cannot cross
void TakeOne(const Optional<Foo> &);
Function made = Function::FromTyped(TakeOne);
//! argument: this type cannot be a value: it needs TypeTraits
void Call(const Function &f) { f(1, Foo{}); }
//! any_of: its_type_needs_TypeTraits|deleted
Any made = Any(Foo{});
//! any_assigned: its_type_needs_TypeTraits|deleted
void Assign(Any &any) { any = Foo{}; }
//! any_returned: could not convert|no viable conversion
Any Make() { return Foo{}; }
//! any_cast: this type cannot be a value: it needs TypeTraits
int Use(const Any &any) { return any.cast<Foo>().x; }
//! any_as: this type cannot be a value: it needs TypeTraits
bool Use(const Any &any) { return any.as<Foo>().has_value(); }
//! view_try_cast: this type cannot be a value: it needs TypeTraits
bool Use(AnyView view) { return view.try_cast<Foo>().has_value(); }
//! array: this type cannot be in an Any
Array<Foo> Make();
//! list: this type cannot be in an Any
List<Foo> Make();
//! map: this type cannot be in an Any
Map<String, Foo> Make();
//! dict: this type cannot be in an Any
Dict<Foo, int> Make();
//! tuple: this type cannot be in an Any
void Use(Tuple<int, Foo> tuple) { (void)tuple; }
//! variant: this type cannot be in an Any
void Use(Variant<int, Foo> variant) { (void)variant; }
//! complex: a std::complex: #include <tvm/ffi/extra/complex.h>
void Use(const std::complex<Foo> &);
Function made = Function::FromTyped(Use);
//! unique_parameter: a unique_ptr cannot take an object away from Python
struct FooObj : Object {
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("test.cpp.Foo", FooObj, Object);
};
Function made = Function::FromTyped([](std::unique_ptr<FooObj>) {});
