/* arg.h - the further arguments of def: names and defaults of parameters, guards, policies. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_ARG_H_
#define FFI_HPY_BIND_ARG_H_

#include <ffi_hpy/bind/caster.h>

FFI_HPY_NAMESPACE_BEGIN

/** A parameter with a default; or, in a call of Python, an argument by name. */
struct arg_v {
  const char *name;
  object value;
  uint32_t flags;
  const char *signature = nullptr; /**< the text of the default in signatures; null: its repr */
};

/** A parameter: arg("x"), or "x"_a. */
struct arg {
  const char *name_;
  uint32_t flags_ = kFfiHpyCastConvert;
  const char *signature_ = nullptr;

  constexpr explicit arg(const char *name = nullptr) : name_(name) {}
  /** The argument is not converted: an int is not accepted as a float. */
  constexpr arg noconvert(bool value = true) const { return with(kFfiHpyCastConvert, !value); }
  /** Whether None is accepted for a null pointer. */
  constexpr arg none(bool value = true) const { return with(kFfiHpyCastAcceptsNone, value); }
  /** A call locks the argument, see lock_self. */
  constexpr arg lock(bool value = true) const { return with(kFfiHpyParamLocked, value); }
  /** The text of the default in signatures. */
  constexpr arg sig(const char *text) const {
    arg changed = *this;
    changed.signature_ = text;
    return changed;
  }
  /** The parameter may be left out. */
  template <typename T> arg_v operator=(T &&value) const {
    object made = cast(std::forward<T>(value), rv_policy::copy);
    uint32_t flags = flags_ | (made.is_none() ? uint32_t{kFfiHpyCastAcceptsNone} : 0);
    return arg_v{name_, std::move(made), flags, signature_};
  }

private:
  constexpr arg with(uint32_t flag, bool value) const {
    arg changed = *this;
    changed.flags_ = value ? flags_ | flag : flags_ & ~flag;
    return changed;
  }
};

namespace literals {
constexpr arg operator""_a(const char *name, size_t) { return arg(name); }
} // namespace literals

/** The parameters after this one are passed by name only. */
struct kw_only {};
/** Objects of `Guards` live while the function runs: call_guard<gil_scoped_release>(). */
template <typename... Guards> struct call_guard {};
/** Other Python threads run while the function does. */
struct gil_scoped_release {};
/** The function implements an operator: for operands that do not fit, it returns NotImplemented. */
struct is_operator {};
/** The function is a method: its first parameter is the object. */
struct is_method {};
/** The signature that help() and stubs show, such as `def f(x: int) -> str`. */
struct sig {
  const char *value;
  constexpr explicit sig(const char *value) : value(value) {}
};
/** The name of a function that is made by cpp_function. */
struct name {
  const char *value;
  constexpr explicit name(const char *value) : value(value) {}
};
/** The patient lives at least as long as the nurse. 0 is the result, 1 the first argument. */
template <size_t Nurse, size_t Patient> struct keep_alive {};
/** Policy::precall(args, n, cleanup) runs before the function, Policy::postcall(args, n, result) after it. */
template <typename Policy> struct call_policy {};
/** A call locks the object of the method, on interpreters without the GIL. */
struct lock_self {};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_ARG_H_ */
