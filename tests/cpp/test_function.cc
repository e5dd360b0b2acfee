/* Functions, and the errors that they propagate. */
#define TVM_FFI_DLL_EXPORT_INCLUDE_METADATA 1
#include "objects.h"

#include <gtest/gtest.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/rvalue_ref.h>

#include <thread>

namespace {

using namespace test;

int AddOne(int x) noexcept { return x + 1; }
struct Doubler {
  static int Run(int x) { return 2 * x; }
};

/* Names that the macros could shadow. */
int content(int args) { return args + 1; }
int args(int result) { return result + 2; }

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(test_cpp_content, content)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(test_cpp_args, args)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(test_cpp_add_one, AddOne)
TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(test_cpp_add_one, "One more.")
TVM_FFI_DLL_EXPORT_TYPED_FUNC(test_cpp_double, (&Doubler::Run));

namespace {

TEST(Function, Typed) {
  Function f = Function::FromTyped([](const int &a, double b) { return a + b; });
  EXPECT_EQ(f(1, 2).cast<double>(), 3.0);
  EXPECT_EQ(ERROR_OF(f(1.5, 2)).message(),
            "Mismatched type on argument #0 when calling: `(0: int, 1: float) -> float`. "
            "Expected `int` but got `float`");
  Function named = Function::FromTyped([](Int, AnyView) -> Function { return nullptr; }, "named");
  EXPECT_EQ(ERROR_OF(named()).message(), "Mismatched number of arguments when calling: `named(0: test.cpp.Int, "
                                         "1: AnyView) -> ffi.Function`. Expected 2 but got 0 arguments");
  EXPECT_EQ(Function::FromTyped([](Expr e) { return e->text; })(5).cast<String>(), "5");
  EXPECT_TRUE(Function::FromTyped([] {})() == nullptr);
  int count = 0;
  Function counting = Function::FromTyped([&count](Any x) mutable { return ++count, x; });
  EXPECT_EQ(counting("text").cast<String>(), "text");
  EXPECT_EQ(count, 1);
}

TEST(Function, Packed) {
  Function f = Function::FromPacked([](PackedArgs args, Any *result) { *result = args.size() + args[0].cast<int>(); });
  EXPECT_EQ(f(10, nullptr, "x").cast<int>(), 13);
  Function g([](const AnyView *args, int32_t n, Any *result) { *result = n > 0 ? args[n - 1].cast<int>() : -1; });
  EXPECT_EQ(g(1, 2, 3).cast<int>(), 3);
  EXPECT_EQ(g().cast<int>(), -1);
  AnyView views[3];
  PackedArgs::Fill(views, 1, "two", 3.0);
  PackedArgs rest = PackedArgs(views, 3).Slice(1);
  EXPECT_EQ(rest.size(), 2);
  EXPECT_EQ(rest[1].cast<double>(), 3.0);
}

TEST(Function, GlobalOnes) {
  Function::SetGlobal("test.cpp.f", Function::FromTyped(AddOne));
  EXPECT_EQ(Function::GetGlobalRequired("test.cpp.f")(1).cast<int>(), 2);
  EXPECT_EQ(ERROR_OF(Function::SetGlobal("test.cpp.f", Function::FromTyped(AddOne))).kind(), "RuntimeError");
  Function::SetGlobal("test.cpp.f", Function::FromTyped(&Doubler::Run), true);
  EXPECT_EQ(Function::GetGlobal(String("test.cpp.f")).value()(4).cast<int>(), 8);
  bool found = false;
  for (const String &name : Function::ListGlobalNames()) found = found || name == "test.cpp.f";
  EXPECT_TRUE(found);
  Function::RemoveGlobal("test.cpp.f");
  EXPECT_FALSE(Function::GetGlobal(std::string("test.cpp.f")).has_value());
  EXPECT_EQ(ERROR_OF(Function::GetGlobalRequired("test.cpp.f")).kind(), "ValueError");
}

TEST(Function, ExportedOnes) {
  EXPECT_EQ(Function::InvokeExternC(nullptr, __tvm_ffi_test_cpp_add_one, 1).cast<int>(), 2);
  EXPECT_EQ(Function::FromExternC(nullptr, __tvm_ffi_test_cpp_double, nullptr)(4).cast<int>(), 8);
  EXPECT_EQ(ERROR_OF(Function::InvokeExternC(nullptr, __tvm_ffi_test_cpp_add_one, "x")).message(),
            "Mismatched type on argument #0 when calling: `test_cpp_add_one(0: int) -> int`. Expected `int` but got "
            "`const char*`");
  EXPECT_EQ(Function::InvokeExternC(nullptr, __tvm_ffi__doc_test_cpp_add_one).cast<String>(), "One more.");
  String metadata = Function::InvokeExternC(nullptr, __tvm_ffi__metadata_test_cpp_add_one).cast<String>();
  EXPECT_TRUE(metadata.starts_with("{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\"")) << metadata;
}

TEST(Function, TheDeleterOfAnExternOneRunsOnce) {
  static int n_deleted = 0;
  {
    Function f = Function::FromExternC(
        &n_deleted,
        [](void *self, const TVMFFIAny *, int32_t, TVMFFIAny *result) {
          detail::PutInt64(kTVMFFIInt, *static_cast<int *>(self), result);
          return 0;
        },
        [](void *self) { ++*static_cast<int *>(self); });
    EXPECT_EQ(f().cast<int>(), 0);
  }
  EXPECT_EQ(n_deleted, 1);
}

TEST(Function, ErrorsAreOfTheirKindAndOfItsBases) {
  Error error("FileNotFoundError", "why", "");
  for (const char *kind : {"FileNotFoundError", "OSError", "Exception", "BaseException"}) EXPECT_TRUE(error.is_a(kind));
  EXPECT_FALSE(error.is_a("LookupError") || error.is_a(""));
  EXPECT_TRUE(Error("my.Error", "", "").is_a("Exception"));
  EXPECT_FALSE(Error("KeyboardInterrupt", "", "").is_a("Exception"));
}

TEST(Function, ErrorsPassThrough) {
  Function thrower = Function::FromTyped([](int x) -> int {
    if (x < 0) TVM_FFI_THROW(ValueError) << "negative: " << x;
    if (x == 0) throw std::runtime_error("zero");
    if (x == 1) throw 1;
    return x;
  });
  Error error = ERROR_OF(thrower(-2));
  EXPECT_EQ(error.kind(), "ValueError");
  EXPECT_STREQ(error.what(), "negative: -2");
  EXPECT_NE(error.backtrace().find("test_function.cc"), std::string::npos);
  EXPECT_EQ(thrower.CallExpected<int>(-2).error().kind(), "ValueError");
  EXPECT_EQ(thrower.CallExpected<int>(0).error().kind(), "RuntimeError");
  EXPECT_EQ(thrower.CallExpected<int>(0).error().message(), "zero [std::runtime_error]");
  EXPECT_EQ(thrower.CallExpected<int>(1).error().kind(), "RuntimeError");
  EXPECT_EQ(thrower.CallExpected<int>(5).value(), 5);
  EXPECT_EQ(thrower.CallExpected<String>(5).error().kind(), "TypeError");
  EXPECT_EQ(ERROR_OF(Function(nullptr)(1)).kind(), "RuntimeError");
  EXPECT_EQ(Function(nullptr).CallExpected<int>(1).error().kind(), "RuntimeError");
}

/* is_copy_constructible asks whether this is an argument of TypedFunction, and that answer must not depend on
 * copying. */
struct MadeOfTypedFunction {
  MadeOfTypedFunction(TypedFunction<bool(double)>) {}
};
static_assert(std::is_copy_constructible_v<MadeOfTypedFunction>, "");
static_assert(!std::is_constructible_v<TypedFunction<bool(double)>, MadeOfTypedFunction>, "");

TEST(Function, TypedFunction) {
  TypedFunction<int(int)> f = AddOne;
  EXPECT_EQ(f(1), 2);
  Any any = f;
  EXPECT_EQ((any.cast<TypedFunction<int(int)>>()(2)), 3);
  Any moved = std::move(f);
  EXPECT_TRUE(f == nullptr);
  EXPECT_EQ((TypedFunction<String(int)>(moved.cast<Function>()).packed()(4).cast<int>()), 5);
  EXPECT_EQ(ERROR_OF(TypedFunction<String(int)>(moved.cast<Function>())(4)).kind(), "TypeError");
  static_assert(!std::is_constructible_v<TypedFunction<int(int)>, String (*)(Array<int>)>, "");
  f = AddOne;
  f = nullptr;
  EXPECT_TRUE(f == nullptr);
}

TEST(Function, ATypedOneThatGivesAnExpectedDoesNotThrow) {
  TypedFunction<Expected<int>(int)> half = [](int x) -> Expected<int> {
    TVM_FFI_RET_CHECK(x % 2 == 0, ValueError) << "odd";
    if (x < 0) TVM_FFI_THROW(IndexError) << "negative";
    return x / 2;
  };
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_EQ(half(5).error().kind(), "ValueError");
  EXPECT_EQ(half(-2).error().kind(), "IndexError");
  TypedFunction<Expected<void>()> fail = []() -> Expected<void> { return TVM_FFI_UNEXPECTED(KeyError); };
  EXPECT_EQ(fail().error().kind(), "KeyError");
}

TEST(Function, AnArgumentGivenAway) {
  Function append = Function::FromTyped([](RValueRef<Array<int>> ref, int x, bool unique) {
    Array<int> items = *std::move(ref);
    EXPECT_EQ(items.unique(), unique);
    items.push_back(x);
    return items;
  });
  Array<int> items{1, 2};
  items = append(RValueRef(std::move(items)), 3, true).cast<Array<int>>();
  EXPECT_EQ(append(items, 4, false).cast<Array<int>>().size(), 4U);
  EXPECT_EQ(items.size(), 3U);
  Array<Any> mixed{1, 2.5};
  EXPECT_EQ(ERROR_OF(append(RValueRef(std::move(mixed)), 1, true)).message(),
            "Mismatched type on argument #0 when calling: `(0: RValueRef<Array<int>>, 1: int, 2: bool) -> Array<int>`. "
            "Expected `RValueRef<Array<int>>` but got `RValueRef<Array[index 1: float]>`");
}

TEST(Function, AMessageWithBytesThatAreNoText) {
  Function f = Function::FromTyped([](const Map<String, int> &pairs) { return pairs.size(); });
  std::string key("\xff\xfd\xfc\xfe");
  for (size_t n = 1; n <= key.size(); ++n) {
    std::string said = ERROR_OF(f(Map<Any, Any>{{String(key.substr(0, n)), String("x")}})).message();
    EXPECT_NE(said.find("but got `Map[K, some value is str] at key '"), std::string::npos) << said;
  }
}

TEST(Function, FromManyThreads) {
  Function f = Function::FromTyped([](const Array<int> &items) {
    if (items.size() % 2 == 1) TVM_FFI_THROW(ValueError) << items.size();
    return items.size();
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&f, i] {
      Array<int> items(static_cast<size_t>(i), 0);
      for (int round = 0; round < 500; ++round) {
        Expected<int> size = f.CallExpected<int>(items);
        EXPECT_EQ(size.is_ok(), i % 2 == 0);
        EXPECT_EQ(size.is_ok() ? std::to_string(i) : std::string(size.error().message()), std::to_string(i));
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST(Error, Parts) {
  Error cause("KeyError", "the cause", "");
  Error error("ValueError", "message", "line 1\nline 2\n", cause, ObjectRef(Int(3)));
  EXPECT_TRUE(error.cause_chain()->same_as(cause));
  EXPECT_EQ(error.extra_context()->as<IntObj>()->value, 3);
  EXPECT_EQ(error.TracebackMostRecentCallLast(), "line 2\nline 1\n");
  EXPECT_EQ(error.FullMessage(), "Traceback (most recent call last):\nline 2\nline 1\nValueError: message\n");
  TVMFFIByteArray more{"line 3\n", 7};
  error.UpdateBacktrace(&more, kTVMFFIBacktraceUpdateModeAppend);
  EXPECT_EQ(error.backtrace(), "line 1\nline 2\nline 3\n");
  EXPECT_EQ(Error("A", "b", "no line feed").TracebackMostRecentCallLast(), "no line feed\n");
  EXPECT_FALSE(cause.cause_chain().has_value());
}

TEST(Error, Checks) {
  int evaluated = 0;
  TVM_FFI_CHECK_EQ(++evaluated, 1, ValueError) << "never";
  EXPECT_EQ(evaluated, 1);
  EXPECT_EQ(ERROR_OF(TVM_FFI_CHECK_NOTNULL(static_cast<int *>(nullptr), ValueError)).kind(), "ValueError");
  auto check = [](int x, size_t y) -> int {
    TVM_FFI_ICHECK_LT(x, y) << "detail";
    return x;
  };
  EXPECT_EQ(check(1, 2), 1);
  try {
    check(2, 2);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), "InternalError");
    EXPECT_EQ(error.message(), "Check failed: x < y (2 vs. 2) : detail");
  }
}

Expected<int> Parse(const String &text) noexcept {
  TVM_FFI_RET_CHECK(!text.empty(), ValueError) << "nothing to parse";
  if (text.size() > 1)
    TVM_FFI_RET_CHECK_EQ(text.size(), 2U, TypeError);
  else
    return 1;
  return TVM_FFI_UNEXPECTED(KeyError) << std::hex << 31;
}

TEST(Expected, ChecksReturn) {
  EXPECT_EQ(Parse("").error().message(), "Check failed: (!text.empty()) is false: nothing to parse");
  EXPECT_EQ(Parse("a").value(), 1);
  EXPECT_EQ(Parse("abc").error().kind(), "TypeError");
  EXPECT_EQ(Parse("ab").error().message(), "1f");
  EXPECT_EQ(ERROR_OF(Parse("").value()).kind(), "ValueError");
  EXPECT_EQ(ERROR_OF(Parse("a").error()).kind(), "RuntimeError");
  EXPECT_EQ(Parse("").value_or(9), 9);
}

TEST(Expected, Conversions) {
  Expected<double> wide = Expected<int>(42);
  EXPECT_EQ(wide.value(), 42.0);
  Expected<Any> any = Expected<String>(String("hello"));
  EXPECT_EQ(any.value().cast<String>(), "hello");
  EXPECT_EQ(any.as_or_error<String>().value(), "hello");
  EXPECT_EQ(any.as_or_error<int>().error().kind(), "TypeError");
  Error error("ValueError", "kept", "");
  EXPECT_TRUE((Expected<int>(error).as_or_error<String>().error().same_as(error)));
  Expected<void> nothing;
  EXPECT_TRUE(nothing.is_ok());
  EXPECT_TRUE(Any(nothing) == nullptr);
  EXPECT_TRUE(Any(Expected<void>(error)).cast<Expected<void>>().is_err());
  EXPECT_FALSE(Any(1).try_cast<Expected<void>>().has_value());
  static_assert(!std::is_convertible_v<Expected<void>, Expected<Any>>, "");
}

} // namespace
