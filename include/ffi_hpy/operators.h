/* operators.h - operators of C++ as methods: class_<V>(m, "V").def(nb::self + nb::self).def(2.0 *
 * nb::self).def(-nb::self).
 *
 * A method returns NotImplemented for operands of other types. An operator such as += returns the object itself. */
#ifndef FFI_HPY_OPERATORS_H_
#define FFI_HPY_OPERATORS_H_

#include <ffi_hpy/bind/class.h>

#include <cstdlib>
#include <functional>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The place of the object in an expression. */
struct self_t {};

template <typename Class, typename Operand>
using operand_t = std::conditional_t<std::is_same_v<Operand, self_t>, typename Class::Type, Operand>;

/** The result of an operator for `def` (Result is void), or for `def_cast`. */
template <typename Result, typename T> auto operator_result(T &&value) {
  if constexpr (std::is_void_v<Result>) {
    return std::decay_t<T>(std::forward<T>(value));
  } else {
    return static_cast<Result>(std::forward<T>(value));
  }
}

/** `Left op Right`, where one is self. */
template <typename Op, typename Left, typename Right>
struct binary_operator : def_visitor<binary_operator<Op, Left, Right>> {
  template <typename Class, typename... Extra> void execute(Class &cl, const Extra &...extra) const {
    define<void>(cl, extra...);
  }
  template <typename Class, typename... Extra> void execute_cast(Class &cl, const Extra &...extra) const {
    define<typename Class::Type>(cl, extra...);
  }

private:
  template <typename Result, typename Class, typename... Extra> static void define(Class &cl, const Extra &...extra) {
    using L = operand_t<Class, Left>;
    using R = operand_t<Class, Right>;
    if constexpr (std::is_same_v<Left, self_t>) {
      auto apply = [](const L &l, const R &r) { return operator_result<Result>(Op::apply(l, r)); };
      cl.def(Op::name, apply, is_operator(), extra...);
    } else {
      auto apply = [](const R &r, const L &l) { return operator_result<Result>(Op::apply(l, r)); };
      cl.def(Op::reflected, apply, is_operator(), extra...);
    }
  }
};

/** `self op= Right`. */
template <typename Op, typename Right> struct inplace_operator : def_visitor<inplace_operator<Op, Right>> {
  template <typename Class, typename... Extra> void execute(Class &cl, const Extra &...extra) const {
    using L = typename Class::Type;
    using R = operand_t<Class, Right>;
    cl.def(
        Op::name, [](L &l, const R &r) -> decltype(auto) { return Op::apply(l, r); }, is_operator(),
        rv_policy::reference, extra...);
  }
};

/** `op self`. */
template <typename Op> struct unary_operator : def_visitor<unary_operator<Op>> {
  template <typename Class, typename... Extra> void execute(Class &cl, const Extra &...extra) const {
    define<void>(cl, extra...);
  }
  template <typename Class, typename... Extra> void execute_cast(Class &cl, const Extra &...extra) const {
    define<typename Class::Type>(cl, extra...);
  }

private:
  template <typename Result, typename Class, typename... Extra> static void define(Class &cl, const Extra &...extra) {
    auto apply = [](const typename Class::Type &self) { return operator_result<Result>(Op::apply(self)); };
    cl.def(Op::name, apply, is_operator(), extra...);
  }
};

#define FFI_HPY_BINARY_OPERATOR(id, symbol, python, python_reflected)                                            \
  struct operator_##id {                                                                                         \
    static constexpr const char *name = python, *reflected = python_reflected;                                   \
    template <typename L, typename R> static auto apply(const L &l, const R &r) { return l symbol r; }           \
  };                                                                                                             \
  constexpr binary_operator<operator_##id, self_t, self_t> operator symbol(self_t, self_t) { return {}; }        \
  template <typename R> constexpr binary_operator<operator_##id, self_t, R> operator symbol(self_t, const R &) { \
    return {};                                                                                                   \
  }                                                                                                              \
  template <typename L> constexpr binary_operator<operator_##id, L, self_t> operator symbol(const L &, self_t) { \
    return {};                                                                                                   \
  }
FFI_HPY_BINARY_OPERATOR(add, +, "__add__", "__radd__")
FFI_HPY_BINARY_OPERATOR(sub, -, "__sub__", "__rsub__")
FFI_HPY_BINARY_OPERATOR(mul, *, "__mul__", "__rmul__")
FFI_HPY_BINARY_OPERATOR(truediv, /, "__truediv__", "__rtruediv__")
FFI_HPY_BINARY_OPERATOR(mod, %, "__mod__", "__rmod__")
FFI_HPY_BINARY_OPERATOR(lshift, <<, "__lshift__", "__rlshift__")
FFI_HPY_BINARY_OPERATOR(rshift, >>, "__rshift__", "__rrshift__")
FFI_HPY_BINARY_OPERATOR(and, &, "__and__", "__rand__")
FFI_HPY_BINARY_OPERATOR(or, |, "__or__", "__ror__")
FFI_HPY_BINARY_OPERATOR(xor, ^, "__xor__", "__rxor__")
FFI_HPY_BINARY_OPERATOR(lt, <, "__lt__", "__gt__")
FFI_HPY_BINARY_OPERATOR(le, <=, "__le__", "__ge__")
FFI_HPY_BINARY_OPERATOR(gt, >, "__gt__", "__lt__")
FFI_HPY_BINARY_OPERATOR(ge, >=, "__ge__", "__le__")
FFI_HPY_BINARY_OPERATOR(eq, ==, "__eq__", "__eq__")
FFI_HPY_BINARY_OPERATOR(ne, !=, "__ne__", "__ne__")
#undef FFI_HPY_BINARY_OPERATOR

#define FFI_HPY_INPLACE_OPERATOR(id, symbol)                                                               \
  struct operator_##id {                                                                                   \
    static constexpr const char *name = "__" #id "__";                                                     \
    template <typename L, typename R> static decltype(auto) apply(L &l, const R &r) { return l symbol r; } \
  };                                                                                                       \
  template <typename R> constexpr inplace_operator<operator_##id, R> operator symbol(self_t, const R &) { return {}; }
FFI_HPY_INPLACE_OPERATOR(iadd, +=)
FFI_HPY_INPLACE_OPERATOR(isub, -=)
FFI_HPY_INPLACE_OPERATOR(imul, *=)
FFI_HPY_INPLACE_OPERATOR(itruediv, /=)
FFI_HPY_INPLACE_OPERATOR(imod, %=)
FFI_HPY_INPLACE_OPERATOR(ilshift, <<=)
FFI_HPY_INPLACE_OPERATOR(irshift, >>=)
FFI_HPY_INPLACE_OPERATOR(iand, &=)
FFI_HPY_INPLACE_OPERATOR(ior, |=)
FFI_HPY_INPLACE_OPERATOR(ixor, ^=)
#undef FFI_HPY_INPLACE_OPERATOR

#define FFI_HPY_UNARY_OPERATOR(id, declared, expression)                          \
  struct operator_##id {                                                          \
    static constexpr const char *name = "__" #id "__";                            \
    template <typename T> static auto apply(const T &self) { return expression; } \
  };                                                                              \
  constexpr unary_operator<operator_##id> declared(self_t) { return {}; }
FFI_HPY_UNARY_OPERATOR(neg, operator-, -self)
FFI_HPY_UNARY_OPERATOR(pos, operator+, +self)
FFI_HPY_UNARY_OPERATOR(invert, operator~, ~self)
FFI_HPY_UNARY_OPERATOR(bool, operator!, !!self)
FFI_HPY_UNARY_OPERATOR(abs, abs, [&] {
  using std::abs;
  return abs(self);
}())
FFI_HPY_UNARY_OPERATOR(hash, hash, std::hash<T>()(self))
#undef FFI_HPY_UNARY_OPERATOR

} // namespace detail

/** The object in an expression that is an argument of class_::def. */
inline constexpr detail::self_t self{};
using detail::abs;
using detail::hash;

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_OPERATORS_H_ */
