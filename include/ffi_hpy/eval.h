/* eval.h - Python code in strings and files, from C++. */
#ifndef FFI_HPY_EVAL_H_
#define FFI_HPY_EVAL_H_

#include <ffi_hpy/bind.h>

FFI_HPY_NAMESPACE_BEGIN

/** The kind of code: an expression, a statement whose value is printed, or statements. */
enum eval_mode { eval_expr, eval_single_statement, eval_statements };

/** Runs Python code, by default with the variables of `__main__`. The result is the value of an expression, otherwise
 * None. The common indentation of the lines is removed. */
template <eval_mode mode = eval_expr> object eval(const str &code, handle global = handle(), handle local = handle()) {
  handle missing(detail::none_value());
  const char *name = mode == eval_expr ? "eval" : mode == eval_statements ? "exec" : "single";
  return detail::ask_python("run", detail::str_of(name), code, global.is_valid() ? global : missing,
                            local.is_valid() ? local : missing);
}
template <eval_mode mode = eval_expr, size_t N>
object eval(const char (&code)[N], handle global = handle(), handle local = handle()) {
  return eval<mode>(str(code), global, local);
}
/** Runs statements of Python. */
inline void exec(const str &code, handle global = handle(), handle local = handle()) {
  eval<eval_statements>(code, global, local);
}
template <size_t N> void exec(const char (&code)[N], handle global = handle(), handle local = handle()) {
  exec(str(code), global, local);
}

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_EVAL_H_ */
