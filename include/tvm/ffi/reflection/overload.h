/* overload.h - OverloadObjectDef: an ObjectDef that allows several methods, or constructors, of one name. A call runs
 * the first overload to whose parameters the arguments convert. */
#ifndef TVM_FFI_REFLECTION_OVERLOAD_H_
#define TVM_FFI_REFLECTION_OVERLOAD_H_

#include <tvm/ffi/reflection/registry.h>

#include <memory>
#include <tuple>
#include <vector>

namespace tvm::ffi {
namespace detail {

/** One of the functions that share a name. */
class OverloadCandidate {
public:
  virtual ~OverloadCandidate() = default;
  /** Calls the function. TypeError if the arguments do not match. */
  virtual void Call(const AnyView *args, int32_t num_args, Any *result) const = 0;
  /** Calls the function if the arguments match, which are also converted widely (widen.h) if it `is_wide`. Otherwise
   * returns false and does not call it. */
  virtual bool TryCall(const AnyView *args, int32_t num_args, Any *result, bool is_wide) const = 0;
  /** Describes why the arguments do not match, with marks. */
  virtual std::string Mismatch(const AnyView *args, int32_t num_args) const = 0;
};

template <typename F> class TypedOverload : public OverloadCandidate {
  using Info = FunctionInfo<F>;
  using Index = std::make_index_sequence<Info::num_args>;

public:
  TypedOverload(F f, std::string name) : f_(std::move(f)), name_(std::move(name)) {}
  void Call(const AnyView *args, int32_t num_args, Any *result) const override {
    UnpackCall(name_, f_, args, num_args, result);
  }
  bool TryCall(const AnyView *args, int32_t num_args, Any *result, bool is_wide) const override {
    return num_args == static_cast<int32_t>(Info::num_args) && TryCallWith(args, result, is_wide, Index{});
  }
  std::string Mismatch(const AnyView *args, int32_t num_args) const override {
    std::string text;
    if (num_args != static_cast<int32_t>(Info::num_args)) {
      return "Mismatched number of arguments when calling: `" + name_ + Info::Sig() + "`. Expected " +
             std::to_string(Info::num_args) + " arguments";
    }
    MismatchOf(args, &text, Index{});
    return text;
  }

private:
  template <size_t I> using Plain = std::decay_t<std::tuple_element_t<I, typename Info::ArgType>>;

  template <typename T> static std::optional<T> Convert(const AnyView &arg) {
    if constexpr (IsAnyOrView<T>) {
      return T(arg);
    } else {
      return arg.template try_cast<T>();
    }
  }
  template <size_t... I>
  bool TryCallWith([[maybe_unused]] const AnyView *args, Any *result, bool is_wide, std::index_sequence<I...>) const {
    std::tuple<std::optional<Plain<I>>...> values;
    {
      Widening widening(is_wide);
      if (!((std::get<I>(values) = Convert<Plain<I>>(args[I])).has_value() && ...)) return false;
    }
    InvokeInto(result, f_, *std::move(std::get<I>(values))...);
    return true;
  }
  template <size_t... I>
  void MismatchOf([[maybe_unused]] const AnyView *args, [[maybe_unused]] std::string *text,
                  std::index_sequence<I...>) const {
    (void)(MismatchAt<Plain<I>>(args[I], I, text) || ...);
  }
  template <typename T> bool MismatchAt(const AnyView &arg, size_t i, std::string *text) const {
    if constexpr (!IsAnyOrView<T>) {
      if (!Convert<T>(arg).has_value()) {
        TVMFFIAny given = arg.CopyToTVMFFIAny();
        *text = ArgMismatch(CallContext{name_, &Info::Sig}, i, Type2Str<T>::v(),
                            DescribeMarked(&TypeTraits<T>::GetMismatchTypeInfo, &given));
        return true;
      }
    }
    return false;
  }

  mutable F f_;
  std::string name_;
};

/** All functions that share a name, as one packed function. All are added before it is called. */
class OverloadSet {
public:
  explicit OverloadSet(std::string name) : name_(std::move(name)) {}
  template <typename F> void Add(F f) {
    candidates_.push_back(std::make_unique<TypedOverload<F>>(std::move(f), name_));
  }
  void operator()(const AnyView *args, int32_t num_args, Any *result) const {
    if (candidates_.size() == 1) return candidates_[0]->Call(args, num_args, result);
    for (const auto &candidate : candidates_) {
      if (candidate->TryCall(args, num_args, result, false)) return;
    }
    for (const auto &candidate : candidates_) {
      if (candidate->TryCall(args, num_args, result, true)) return;
    }
    Widening widening;
    std::string reasons;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      reasons += (i == 0 ? "Overload #" : "\nOverload #") + std::to_string(i) + ": " +
                 candidates_[i]->Mismatch(args, num_args);
    }
    std::string text = "No matching overload found when calling: `" + name_ + "` with " + std::to_string(num_args) +
                       " arguments:\n" + reasons;
    ThrowMarked(IsOutsideRange(reasons) ? "OverflowError" : "TypeError", reinterpret_cast<const TVMFFIAny *>(args),
                text);
  }

private:
  std::string name_;
  std::vector<std::unique_ptr<OverloadCandidate>> candidates_;
};

} // namespace detail

namespace reflection {

/** As ObjectDef, for several methods of one name: a call runs the first one to whose parameters the
 * arguments convert. */
template <typename Class> class OverloadObjectDef {
public:
  /** Registers the type, as ObjectDef. */
  template <typename... Extra> explicit OverloadObjectDef(const Extra &...extra) : def_(extra...) {}

  /** Registers a read-only field. */
  template <typename T, typename BaseClass, typename... Extra>
  OverloadObjectDef &def_ro(const char *name, T BaseClass::*field, const Extra &...extra) {
    def_.def_ro(name, field, extra...);
    return *this;
  }
  /** Registers a field that can be set. */
  template <typename T, typename BaseClass, typename... Extra>
  OverloadObjectDef &def_rw(const char *name, T BaseClass::*field, const Extra &...extra) {
    def_.def_rw(name, field, extra...);
    return *this;
  }
  /** Adds an overload of a method. */
  template <typename F, typename... Extra> OverloadObjectDef &def(const char *name, F &&f, const Extra &...extra) {
    Method(name, 0, std::forward<F>(f), extra...);
    return *this;
  }
  /** Adds an overload of a static method. */
  template <typename F, typename... Extra>
  OverloadObjectDef &def_static(const char *name, F &&f, const Extra &...extra) {
    Method(name, kTVMFFIFieldFlagBitMaskIsStaticMethod, std::forward<F>(f), extra...);
    return *this;
  }
  /** Adds an overload of the constructor. */
  template <typename... Args, typename... Extra> OverloadObjectDef &def(init<Args...>, const Extra &...extra) {
    bool is_first = Find(type_attr::kInit.name) == nullptr;
    def_.has_init_ = true;
    Function made = Method(type_attr::kInit.name, kTVMFFIFieldFlagBitMaskIsStaticMethod,
                           &init<Args...>::template execute<Class>, extra...);
    if (is_first) detail::RegisterAttr(def_.type_index_, type_attr::kInit.name, made);
    return *this;
  }

private:
  struct Named {
    std::string name;
    Function function;
    ffi::detail::OverloadSet *set; /**< owned by the function */
  };

  Named *Find(std::string_view name) {
    for (Named &named : named_) {
      if (named.name == name) return &named;
    }
    return nullptr;
  }
  /** Registers each overload, so that its signature is known; all overloads refer to one packed function. */
  template <typename F, typename... Extra>
  Function Method(const char *name, int64_t flags, F &&f, const Extra &...extra) {
    static_assert(!(detail::kIsArg<Extra> || ...), "parameters of overloads have no names");
    std::string schema = ffi::detail::FunctionInfo<std::decay_t<F>>::TypeSchema();
    Named *named = Find(name);
    if (named == nullptr) {
      auto [function, set] =
          Function::FromPackedInplace<ffi::detail::OverloadSet>(std::string(def_.type_key_) + "." + name);
      named_.push_back(Named{name, function, set});
      named = &named_.back();
    }
    named->set->Add(std::decay_t<decltype(detail::WithSelf(std::forward<F>(f)))>(detail::WithSelf(std::forward<F>(f))));
    MethodInfoBuilder info = detail::MethodInfo(name, named->function, std::move(schema), flags);
    (detail::Say(&info, extra), ...);
    detail::RegisterMethod(def_.type_index_, &info);
    return named->function;
  }

  std::vector<Named> named_;
  ObjectDef<Class> def_; /**< destroyed last, which completes the registration */
};

} // namespace reflection
} // namespace tvm::ffi

#endif /* TVM_FFI_REFLECTION_OVERLOAD_H_ */
