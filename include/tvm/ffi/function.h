/* function.h - functions as values: making, calling, registering under a name, and exporting from a library.
 *
 *   Function add = Function::FromTyped([](int a, int b) { return a + b; }, "add");
 *   int three = add(1, 2).cast<int>();
 *   TypedFunction<int(int, int)> typed = add;
 *   int four = typed(1, 3);
 *   Function::SetGlobal("my.add", add);
 *
 *   int Add(int a, int b) { return a + b; }
 *   TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, Add);    (exports the function "add" from this library)
 *
 * Arguments are borrowed for the call; the caller owns the result. In C++ an error is thrown as an Error; across the C
 * ABI it becomes a return code. Any thread may call a function; its author decides whether the function itself is
 * thread-safe. */
#ifndef TVM_FFI_FUNCTION_H_
#define TVM_FFI_FUNCTION_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/expected.h>
#include <tvm/ffi/function_detail.h>

#include <string_view>
#include <vector>

#ifndef TVM_FFI_DLL_EXPORT_INCLUDE_METADATA
/** 1: exported functions also export their types and documentation, for generated stubs. */
#define TVM_FFI_DLL_EXPORT_INCLUDE_METADATA 0
#endif

/* ---- Between C++ and C ---- */

/** Put these around the body of a function of type TVMFFISafeCallType. The function then returns 0; if an exception is
 * thrown, -1 with that exception as the pending error. */
#define TVM_FFI_SAFE_CALL_BEGIN() \
  try {                           \
  (void)0
/** Ends the block of TVM_FFI_SAFE_CALL_BEGIN. */
#define TVM_FFI_SAFE_CALL_END()                         \
  return 0;                                             \
  }                                                     \
  catch (...) {                                         \
    ::tvm::ffi::detail::SetSafeCallRaisedFromCurrent(); \
    return -1;                                          \
  }                                                     \
  TVM_FFI_UNREACHABLE()

/** Calls a C function and throws its error. */
#define TVM_FFI_CHECK_SAFE_CALL(call)                                                           \
  do {                                                                                          \
    if (TVM_FFI_PREDICT_FALSE((call) != 0)) throw ::tvm::ffi::detail::MoveFromSafeCallRaised(); \
  } while (0)

namespace tvm::ffi {

namespace detail {

/** In a handler: makes the current exception the pending error of this thread. Defined in exception.h, which has the
 * kinds of errors. */
TVM_FFI_HIDDEN void SetSafeCallRaisedFromCurrent();

} // namespace detail

/** The object of a Function. */
class FunctionObj : public Object, public TVMFFIFunctionCell {
public:
  /** The entry point for calls from C++, which throws errors. */
  using FCall = void (*)(const FunctionObj *, const AnyView *, int32_t, Any *);

  /** Calls the function with packed arguments; throws its error. `result` must not own anything before. */
  TVM_FFI_INLINE void CallPacked(const AnyView *args, int32_t num_args, Any *result) const {
    if (TVM_FFI_PREDICT_TRUE(cpp_call != nullptr)) {
      reinterpret_cast<FCall>(cpp_call)(this, args, num_args, result);
    } else {
      CallThroughC(args, num_args, result);
    }
  }

  static constexpr int32_t _type_index = kTVMFFIFunction;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIFunction, FunctionObj, Object);

protected:
  FunctionObj() : TVMFFIFunctionCell{} {}

private:
  void CallThroughC(const AnyView *args, int32_t num_args, Any *result) const {
    TVM_FFI_CHECK_SAFE_CALL(safe_call(detail::ObjectUnsafe::GetHeader(this), reinterpret_cast<const TVMFFIAny *>(args),
                                      num_args, reinterpret_cast<TVMFFIAny *>(result)));
  }
};

/** The arguments of a call. The arguments do not outlive the call. */
class PackedArgs {
public:
  /** From `size` views, which must outlive this object. */
  PackedArgs(const AnyView *data, int32_t size) : data_(data), size_(size) {}
  /** The number of arguments. */
  int size() const { return size_; }
  /** The arguments, borrowed. */
  const AnyView *data() const { return data_; }
  /** One argument, borrowed; the index is not checked. */
  AnyView operator[](int i) const { return data_[i]; }
  /** The arguments from `begin` to before `end`, or to the last one. */
  PackedArgs Slice(int begin, int end = -1) const { return PackedArgs(data_ + begin, (end < 0 ? size_ : end) - begin); }
  /** Writes a view of each argument to `data`. The arguments must outlive the views. */
  template <typename... Args> TVM_FFI_INLINE static void Fill(AnyView *data, Args &&...args) {
    size_t i = 0;
    ((data[i++] = View(std::forward<Args>(args))), ...);
    (void)i;
  }

private:
  template <typename T> TVM_FFI_INLINE static AnyView View(const T &value) {
    if constexpr (detail::IsAnyOrView<T> || TypeTraits<T>::convert_enabled ||
                  std::is_convertible_v<const T &, AnyView>) {
      return value;
    } else {
      return detail::CheckCrossing<T>();
    }
  }

  const AnyView *data_;
  int32_t size_;
};

namespace detail {

/** The entry point from C of every function made in C++. The entry point jumps to the entry point for C++, so that the
 * code of a function is compiled once and not once per entry point. */
TVM_FFI_HIDDEN inline int SafeCallOfCpp(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  TVM_FFI_SAFE_CALL_BEGIN();
  TVM_FFI_ICHECK_LT(result->type_index, static_cast<int32_t>(kTVMFFIStaticObjectBegin))
      << "the result of a call must not own anything before it";
  auto *function = ObjectUnsafe::RawObjectPtrFromUnowned<FunctionObj>(static_cast<TVMFFIObject *>(handle));
  reinterpret_cast<FunctionObj::FCall>(function->cpp_call)(function, reinterpret_cast<const AnyView *>(args), num_args,
                                                           reinterpret_cast<Any *>(result));
  TVM_FFI_SAFE_CALL_END();
}

/** A function that holds a C++ callable of packed form. */
template <typename TCallable> class FunctionObjImpl : public FunctionObj {
  static_assert(std::is_same_v<TCallable, std::decay_t<TCallable>>, "the function owns the object that it calls");

public:
  template <typename... Args> explicit FunctionObjImpl(Args &&...args) : callable_(std::forward<Args>(args)...) {
    this->safe_call = SafeCallOfCpp;
    this->cpp_call = reinterpret_cast<void *>(CppCall);
  }
  FunctionObjImpl(const FunctionObjImpl &) = delete;
  FunctionObjImpl &operator=(const FunctionObjImpl &) = delete;
  TCallable *GetCallable() { return &callable_; }

private:
  static void CppCall(const FunctionObj *self, const AnyView *args, int32_t num_args, Any *result) {
    static_cast<const FunctionObjImpl *>(self)->callable_(args, num_args, result);
  }

  mutable TCallable callable_;
};

/** Passes an argument through, or an Any made of it if it needs an owner during the call. */
template <typename T>
inline constexpr bool is_passed_as_any_v = needs_owner_v<std::remove_cv_t<std::remove_reference_t<T>>>;
template <typename T> TVM_FFI_INLINE decltype(auto) AsArgument(T &&value) {
  if constexpr (is_passed_as_any_v<T>) {
    return Any(std::forward<T>(value));
  } else {
    return static_cast<T &&>(value);
  }
}

/** The packed form of a callable with typed parameters. */
template <typename TCallable> class TypedCallable {
public:
  template <typename F> TypedCallable(F &&f, std::string &&name) : f_(std::forward<F>(f)), name_(std::move(name)) {}
  TVM_FFI_INLINE void operator()(const AnyView *args, int32_t num_args, Any *result) const {
    UnpackCall(name_, f_, args, num_args, result);
  }

private:
  mutable TCallable f_;
  std::string name_;
};
template <typename TCallable> class NamelessTypedCallable {
public:
  template <typename F> explicit NamelessTypedCallable(F &&f) : f_(std::forward<F>(f)) {}
  TVM_FFI_INLINE void operator()(const AnyView *args, int32_t num_args, Any *result) const {
    UnpackCall(std::string_view(), f_, args, num_args, result);
  }

private:
  mutable TCallable f_;
};
/** The packed form of a callable that takes PackedArgs. */
template <typename TCallable> class PackedArgsCallable {
public:
  template <typename F> explicit PackedArgsCallable(F &&f) : f_(std::forward<F>(f)) {}
  TVM_FFI_INLINE void operator()(const AnyView *args, int32_t num_args, Any *result) const {
    f_(PackedArgs(args, num_args), result);
  }

private:
  mutable TCallable f_;
};

} // namespace detail

/** A reference to a function; may be null. */
class Function : public ObjectRef {
public:
  /** A null function. */
  Function(std::nullptr_t) {}
  /** As FromPacked. */
  template <typename TCallable, typename = std::enable_if_t<!std::is_same_v<std::decay_t<TCallable>, Function>>>
  explicit Function(TCallable &&packed_call) : Function(FromPacked(std::forward<TCallable>(packed_call))) {}

  /* ---- Construction ---- */

  /** From void(const AnyView *args, int32_t num_args, Any *result) or void(PackedArgs args, Any *result). */
  template <typename TCallable> static Function FromPacked(TCallable &&packed_call) {
    using F = std::decay_t<TCallable>;
    if constexpr (std::is_invocable_v<F &, const AnyView *, int32_t, Any *>) {
      return Make<F>(std::forward<TCallable>(packed_call));
    } else {
      static_assert(std::is_invocable_v<F &, PackedArgs, Any *>,
                    "a packed function takes (const AnyView *, int32_t, Any *) or (PackedArgs, Any *)");
      return Make<detail::PackedArgsCallable<F>>(std::forward<TCallable>(packed_call));
    }
  }
  /** FromPacked with a callable that is constructed from args inside the function object. Returns the function and a
   * pointer to the callable. */
  template <typename TCallable, typename... Args> static auto FromPackedInplace(Args &&...args) {
    static_assert(std::is_invocable_v<TCallable &, const AnyView *, int32_t, Any *>,
                  "a packed function takes (const AnyView *, int32_t, Any *)");
    auto object = make_object<detail::FunctionObjImpl<TCallable>>(std::forward<Args>(args)...);
    TCallable *callable = object->GetCallable();
    return std::make_tuple(Function(ObjectPtr<FunctionObj>(std::move(object))), callable);
  }
  /** From any callable. A call checks and converts its arguments. Messages contain the name. */
  template <typename TCallable> static Function FromTyped(TCallable &&callable) {
    return Make<detail::NamelessTypedCallable<std::decay_t<TCallable>>>(std::forward<TCallable>(callable));
  }
  /** From any callable, with a name for messages. */
  template <typename TCallable> static Function FromTyped(TCallable &&callable, std::string name) {
    return Make<detail::TypedCallable<std::decay_t<TCallable>>>(std::forward<TCallable>(callable), std::move(name));
  }
  /** From a C function, which is called with `self`. deleter(self) is called when the function is destroyed, unless the
   * deleter is null. */
  static Function FromExternC(void *self, TVMFFISafeCallType safe_call, void (*deleter)(void *self)) {
    TVMFFIObjectHandle handle;
    TVM_FFI_CHECK_SAFE_CALL(TVMFFIFunctionCreate(self, safe_call, deleter, &handle));
    return FromOwned(handle);
  }

  /* ---- Global functions ---- */

  /** The global function of that name; nullopt if there is none. */
  static std::optional<Function> GetGlobal(std::string_view name) {
    TVMFFIByteArray text{name.data(), name.size()};
    TVMFFIObjectHandle handle;
    TVM_FFI_CHECK_SAFE_CALL(TVMFFIFunctionGetGlobal(&text, &handle));
    if (handle == nullptr) return std::nullopt;
    return FromOwned(handle);
  }
  /** The global function of that name; nullopt if there is none. */
  static std::optional<Function> GetGlobal(const std::string &name) { return GetGlobal(std::string_view(name)); }
  /** The global function of that name; nullopt if there is none. */
  static std::optional<Function> GetGlobal(const String &name) { return GetGlobal(ViewOf(name)); }
  /** The global function of that name; nullopt if there is none. */
  static std::optional<Function> GetGlobal(const char *name) { return GetGlobal(std::string_view(name)); }
  /** ValueError if there is none. */
  static Function GetGlobalRequired(std::string_view name) {
    std::optional<Function> function = GetGlobal(name);
    if (!function.has_value()) TVM_FFI_THROW(ValueError) << "Function " << name << " not found";
    return *std::move(function);
  }
  /** The global function of that name; ValueError if there is none. */
  static Function GetGlobalRequired(const std::string &name) { return GetGlobalRequired(std::string_view(name)); }
  /** The global function of that name; ValueError if there is none. */
  static Function GetGlobalRequired(const String &name) { return GetGlobalRequired(ViewOf(name)); }
  /** The global function of that name; ValueError if there is none. */
  static Function GetGlobalRequired(const char *name) { return GetGlobalRequired(std::string_view(name)); }
  /** RuntimeError if the name is registered already, unless override is true. */
  static void SetGlobal(std::string_view name, Function func, bool override = false) {
    TVMFFIByteArray text{name.data(), name.size()};
    TVM_FFI_CHECK_SAFE_CALL(
        TVMFFIFunctionSetGlobal(&text, detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(func), override));
  }
  /** The names of all global functions. */
  static std::vector<String> ListGlobalNames() {
    Function get = GetGlobalRequired("ffi.FunctionListGlobalNamesFunctor")().cast<Function>();
    int size = get(-1).cast<int>();
    std::vector<String> names;
    for (int i = 0; i < size; ++i) names.push_back(get(i).cast<String>());
    return names;
  }
  /** Removes the global function of that name. */
  static void RemoveGlobal(const String &name) { GetGlobalRequired("ffi.FunctionRemoveGlobal")(name); }

  /* ---- Calling ---- */

  /** RuntimeError if this is null. */
  template <typename... Args> TVM_FFI_INLINE Any operator()(Args &&...args) const {
    if constexpr ((detail::is_passed_as_any_v<Args> || ...)) {
      return (*this)(detail::AsArgument(std::forward<Args>(args))...);
    } else {
      AnyView views[sizeof...(Args) + 1]; /* one more, because arrays of length 0 are not allowed */
      PackedArgs::Fill(views, std::forward<Args>(args)...);
      Any result;
      CallPacked(views, sizeof...(Args), &result);
      return result;
    }
  }
  /** Calls the function with packed arguments; throws its error, or RuntimeError if this is null. */
  TVM_FFI_INLINE void CallPacked(const AnyView *args, int32_t num_args, Any *result) const {
    if (TVM_FFI_PREDICT_FALSE(data_ == nullptr)) ThrowNull();
    get()->CallPacked(args, num_args, result);
  }
  /** Calls the function with packed arguments; throws its error, or RuntimeError if this is null. */
  TVM_FFI_INLINE void CallPacked(PackedArgs args, Any *result) const { CallPacked(args.data(), args.size(), result); }
  /** The result or the error; a TypeError if the result does not convert to T. */
  template <typename T = Any, typename... Args> Expected<T> CallExpected(Args &&...args) const {
    if constexpr ((detail::is_passed_as_any_v<Args> || ...)) {
      return CallExpected<T>(detail::AsArgument(std::forward<Args>(args))...);
    } else {
      AnyView views[sizeof...(Args) + 1];
      PackedArgs::Fill(views, std::forward<Args>(args)...);
      if (data_ == nullptr) return NullError();
      Any result;
      if (get()->safe_call(detail::ObjectUnsafe::GetHeader(get()), reinterpret_cast<const TVMFFIAny *>(views),
                           sizeof...(Args), reinterpret_cast<TVMFFIAny *>(&result)) != 0) {
        return detail::MoveFromSafeCallRaised();
      }
      return ExpectResult<T>(std::move(result));
    }
  }
  /** Calls a C function, such as an export of a library, with the given handle. */
  template <typename... Args> static Any InvokeExternC(void *handle, TVMFFISafeCallType safe_call, Args &&...args) {
    if constexpr ((detail::is_passed_as_any_v<Args> || ...)) {
      return InvokeExternC(handle, safe_call, detail::AsArgument(std::forward<Args>(args))...);
    } else {
      AnyView views[sizeof...(Args) + 1];
      PackedArgs::Fill(views, std::forward<Args>(args)...);
      Any result;
      TVM_FFI_CHECK_SAFE_CALL(safe_call(handle, reinterpret_cast<const TVMFFIAny *>(views), sizeof...(Args),
                                        reinterpret_cast<TVMFFIAny *>(&result)));
      return result;
    }
  }

  bool operator==(std::nullptr_t) const { return data_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return data_ != nullptr; }

  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Function, ObjectRef, FunctionObj);

private:
  template <typename TCallable, typename... Args> static Function Make(Args &&...args) {
    return Function(
        ObjectPtr<FunctionObj>(make_object<detail::FunctionObjImpl<TCallable>>(std::forward<Args>(args)...)));
  }
  static Function FromOwned(TVMFFIObjectHandle handle) {
    return Function(detail::ObjectUnsafe::ObjectPtrFromOwned<FunctionObj>(static_cast<TVMFFIObject *>(handle)));
  }
  template <typename T> static Expected<T> ExpectResult(Any result) {
    if constexpr (std::is_same_v<T, Any>) {
      return result;
    } else {
      if (std::optional<Expected<T>> value = result.template try_cast<Expected<T>>()) return *std::move(value);
      return Error("TypeError",
                   "CallExpected: result type mismatch, expected " + detail::Type2Str<T>::v() + ", but got " +
                       result.GetTypeKey(),
                   "");
    }
  }
  static std::string_view ViewOf(const String &text) { return std::string_view(text.data(), text.size()); }
  TVM_FFI_COLD_CODE static Error NullError() { return Error("RuntimeError", "a null Function cannot be called", ""); }
  [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE static void ThrowNull() { throw NullError(); }
};

template <typename FType> class TypedFunction;

/** A function whose arguments and result have types that the compiler checks. A TypedFunction has the size of a
 * Function and converts to one. */
template <typename R, typename... Args> class TypedFunction<R(Args...)> {
  /* The order of these conditions matters. For this class, and for a class made of a TypedFunction,
   * is_copy_constructible may depend on itself; so it comes last, and only for an F that can be called. */
  template <typename F>
  static constexpr bool kCallable =
      std::conjunction_v<std::negation<std::is_same<std::decay_t<F>, TypedFunction>>,
                         std::is_invocable_r<R, F, Args...>, std::is_copy_constructible<std::decay_t<F>>>;

public:
  TypedFunction() = default;
  /** A null function. */
  TypedFunction(std::nullptr_t) {}
  /** From any function; calls check the result. */
  TypedFunction(Function packed) : packed_(std::move(packed)) {}
  /** From a callable, as Function::FromTyped. */
  template <typename F, typename = std::enable_if_t<kCallable<F>>>
  TypedFunction(F &&callable) : packed_(Function::FromTyped(std::forward<F>(callable))) {}
  /** From a callable, with a name for messages. */
  template <typename F, typename = std::enable_if_t<kCallable<F>>>
  TypedFunction(F &&callable, std::string name)
      : packed_(Function::FromTyped(std::forward<F>(callable), std::move(name))) {}
  template <typename F, typename = std::enable_if_t<kCallable<F>>> TypedFunction &operator=(F &&callable) {
    packed_ = Function::FromTyped(std::forward<F>(callable));
    return *this;
  }
  TypedFunction &operator=(Function packed) {
    packed_ = std::move(packed);
    return *this;
  }
  TypedFunction &operator=(std::nullptr_t) { return *this = Function(); }

  /** Calls the function; throws its error. If R is an Expected, it holds every error. */
  TVM_FFI_INLINE R operator()(Args... args) const {
    if constexpr (detail::is_expected_v<R>) {
      return packed_.template CallExpected<typename R::value_type>(std::forward<Args>(args)...);
    } else if constexpr (std::is_void_v<R>) {
      packed_(std::forward<Args>(args)...);
    } else if constexpr (std::is_same_v<R, Any>) {
      return packed_(std::forward<Args>(args)...);
    } else {
      return detail::CastResult<R>(packed_(std::forward<Args>(args)...));
    }
  }
  /** The function without its types. */
  operator Function() const { return packed_; }
  /** The function without its types, borrowed. */
  const Function &packed() const & { return packed_; }
  /** The function without its types, to be moved out. */
  Function &&packed() && { return std::move(packed_); }
  bool operator==(std::nullptr_t) const { return packed_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return packed_ != nullptr; }
  /** The types of the signature, as JSON. */
  static std::string TypeSchema() { return detail::FuncFunctorImpl<R, Args...>::TypeSchema(); }

private:
  Function packed_;
};

template <typename FType> inline constexpr bool use_default_type_traits_v<TypedFunction<FType>> = false;

/** Accepts every function; a call reports mismatched types. */
template <typename FType> struct TypeTraits<TypedFunction<FType>> : TypeTraitsBase {
  static constexpr int32_t field_static_type_index = kTVMFFIFunction;
  TVM_FFI_INLINE static void CopyToAnyView(const TypedFunction<FType> &src, TVMFFIAny *result) {
    TypeTraits<Function>::CopyToAnyView(src.packed(), result);
  }
  TVM_FFI_INLINE static void MoveToAny(TypedFunction<FType> src, TVMFFIAny *result) {
    TypeTraits<Function>::MoveToAny(std::move(src).packed(), result);
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) { return src->type_index == kTVMFFIFunction; }
  TVM_FFI_INLINE static TypedFunction<FType> CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return TypeTraits<Function>::CopyFromAnyViewAfterCheck(src);
  }
  TVM_FFI_INLINE static TypedFunction<FType> MoveFromAnyAfterCheck(TVMFFIAny *src) {
    return TypeTraits<Function>::MoveFromAnyAfterCheck(src);
  }
  TVM_FFI_INLINE static std::optional<TypedFunction<FType>> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Function> function = TypeTraits<Function>::TryCastFromAnyView(src);
    if (!function.has_value()) return std::nullopt;
    return TypedFunction<FType>(*std::move(function));
  }
  static std::string TypeStr() { return detail::FunctionInfo<FType>::Sig(); }
  static std::string TypeSchema() { return TypedFunction<FType>::TypeSchema(); }
};

/** The index of a registered type; RuntimeError if the key is unknown. */
inline int32_t TypeKeyToIndex(std::string_view type_key) {
  TVMFFIByteArray key{type_key.data(), type_key.size()};
  int32_t index;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFITypeKeyToIndex(&key, &index));
  return index;
}
namespace detail {
inline int32_t LookUpTypeIndex(const char *type_key) { return TypeKeyToIndex(type_key); }
inline int PutOwnedText(const std::string &text, TVMFFIAny *result) {
  TVMFFIByteArray bytes{text.data(), text.size()};
  return TVMFFIStringFromByteArray(&bytes, result);
}
} // namespace detail

} // namespace tvm::ffi

/* ---- Exporting from a library ---- */

/** The parameters' names end in _, so that they do not hide an exported function. */
#define TVM_FFI_EXPORT_SYMBOL_(Symbol)                                                  \
  extern "C" TVM_FFI_DLL_EXPORT int Symbol([[maybe_unused]] void *ffi_self_,            \
                                           [[maybe_unused]] const TVMFFIAny *ffi_args_, \
                                           [[maybe_unused]] int32_t ffi_num_args_, TVMFFIAny *ffi_result_)

#define TVM_FFI_EXPORT_CALL_(ExportName, Func)                                                                  \
  TVM_FFI_EXPORT_SYMBOL_(__tvm_ffi_##ExportName) {                                                              \
    TVM_FFI_SAFE_CALL_BEGIN();                                                                                  \
    ::tvm::ffi::detail::UnpackCall(#ExportName, Func, reinterpret_cast<const ::tvm::ffi::AnyView *>(ffi_args_), \
                                   ffi_num_args_, reinterpret_cast<::tvm::ffi::Any *>(ffi_result_));            \
    TVM_FFI_SAFE_CALL_END();                                                                                    \
  }

/** Exports a string. The caller gets a copy made by libtvm_ffi, which may outlive this library. */
#define TVM_FFI_EXPORT_TEXT_(Symbol, text)                        \
  TVM_FFI_EXPORT_SYMBOL_(Symbol) {                                \
    TVM_FFI_SAFE_CALL_BEGIN();                                    \
    return ::tvm::ffi::detail::PutOwnedText((text), ffi_result_); \
    TVM_FFI_SAFE_CALL_END();                                      \
  }

#if TVM_FFI_DLL_EXPORT_INCLUDE_METADATA
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(ExportName, Func)                                                         \
  TVM_FFI_EXPORT_CALL_(ExportName, Func)                                                                        \
  TVM_FFI_EXPORT_TEXT_(__tvm_ffi__metadata_##ExportName,                                                        \
                       "{\"type_schema\":" +                                                                    \
                           std::string(::tvm::ffi::EscapeStringJSON(                                            \
                               ::tvm::ffi::detail::FunctionInfo<std::decay_t<decltype(Func)>>::TypeSchema())) + \
                           "}")
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(ExportName, DocString) \
  TVM_FFI_EXPORT_TEXT_(__tvm_ffi__doc_##ExportName, DocString)
#else
/** Exports a C++ function from the library under a name: TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, Add). */
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(ExportName, Func) TVM_FFI_EXPORT_CALL_(ExportName, Func)
/** Exports the documentation of an exported function. */
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(ExportName, DocString)
#endif

#include <tvm/ffi/exception.h> /* IWYU pragma: export */

#endif /* TVM_FFI_FUNCTION_H_ */
