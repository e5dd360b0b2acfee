/* typing.h - objects of Python's module typing, for the types of a stub.
 *
 *   m.attr("T") = nb::type_var("T", "bound"_a = nb::type<Shape>());
 *   m.def("first", &First, nb::sig("def first(all: list[T]) -> T"));
 */
#ifndef FFI_HPY_TYPING_H_
#define FFI_HPY_TYPING_H_

#include <ffi_hpy/bind.h>

FFI_HPY_NAMESPACE_BEGIN

/** The module. */
inline module_ typing() { return module_::import_("typing"); }
inline object any_type() { return typing().attr("Any"); }

/** The arguments are passed to the class in Python. */
template <typename... Args> object type_var(Args &&...args) {
  return typing().attr("TypeVar")(std::forward<Args>(args)...);
}
template <typename... Args> object type_var_tuple(Args &&...args) {
  return typing().attr("TypeVarTuple")(std::forward<Args>(args)...);
}
template <typename... Args> object param_spec(Args &&...args) {
  return typing().attr("ParamSpec")(std::forward<Args>(args)...);
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_TYPING_H_ */
