/* arg.h - the further arguments of def: names and defaults of parameters, guards, policies. Programs include
 * ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_ARG_H_
#define FFI_HPY_BIND_ARG_H_

#include <ffi_hpy/bind/caster.h>
#include <ffi_hpy/bind/thread.h>

FFI_HPY_NAMESPACE_BEGIN

/** A parameter with a default; or, in a call of Python, an argument by name. */
struct arg_v {
  const char *name;
  object value;
  uint32_t flags;
  const char *signature = nullptr; /**< the text of the default in signatures; null: its repr */
};

struct arg_locked;
struct arg_locked_v;

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
  /** A call locks the argument, as lock_self does. */
  constexpr arg_locked lock() const;
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
    if (signature_ != nullptr) flags |= kFfiHpyParamWritten;
    return arg_v{name_, std::move(made), flags, signature_};
  }

private:
  constexpr arg with(uint32_t flag, bool value) const {
    arg changed = *this;
    changed.flags_ = value ? flags_ | flag : flags_ & ~flag;
    return changed;
  }
};

/** A parameter whose argument a call locks. */
struct arg_locked : arg {
  constexpr explicit arg_locked(const arg &other) : arg(other) {}
  constexpr arg_locked noconvert(bool value = true) const { return arg_locked(arg::noconvert(value)); }
  constexpr arg_locked none(bool value = true) const { return arg_locked(arg::none(value)); }
  constexpr arg_locked sig(const char *text) const { return arg_locked(arg::sig(text)); }
  constexpr arg_locked lock() const { return *this; }
  template <typename T> arg_locked_v operator=(T &&value) const;
};
/** A parameter with a default whose argument a call locks. */
struct arg_locked_v : arg_v {
  explicit arg_locked_v(arg_v &&other) : arg_v(std::move(other)) {}
};
constexpr arg_locked arg::lock() const { return arg_locked(with(kFfiHpyParamLocked, true)); }
template <typename T> arg_locked_v arg_locked::operator=(T &&value) const {
  return arg_locked_v(arg::operator=(std::forward<T>(value)));
}

namespace literals {
constexpr arg operator""_a(const char *name, size_t) { return arg(name); }
} // namespace literals

/** The parameters after this one are passed by name only. */
struct kw_only {};
/** Objects of `Guards` live while the function runs: call_guard<gil_scoped_release>(). */
template <typename... Guards> struct call_guard {};
/** The function implements an operator: for operands that do not fit, it returns NotImplemented. */
struct is_operator {};
/** The function is a method: its first parameter is the object. */
struct is_method {};
/** The signature that help() and stubs show, such as `def f(x: int) -> str`. */
struct sig {
  const char *value;
  constexpr explicit sig(const char *text) : value(text) {}
};
/** The module or class that gets the function of cpp_function or module_::def as an attribute. */
struct scope {
  handle value;
  scope(handle in) : value(in) {}
};
/** The name of a function that is made by cpp_function. */
struct name {
  const char *value;
  constexpr explicit name(const char *text) : value(text) {}
};
/** The patient lives at least as long as the nurse. 0 is the result, 1 the first argument. */
template <size_t Nurse, size_t Patient> struct keep_alive {};
/** Policy::precall(args, n, cleanup) runs before the arguments are read, and may replace them; Policy::postcall(args,
 * n, result) runs after the function. `args` are n handles. */
template <typename Policy> struct call_policy {};
/** A call locks the object of the method, where bound functions run in parallel: without a GIL, and on PyPy.
 * Objects of bound classes can be locked; at most two in a call. */
struct lock_self {};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_ARG_H_ */
