/* json.h - JSON: None, bool, int, float, String, and arrays and objects of these. */
#ifndef TVM_FFI_EXTRA_JSON_H_
#define TVM_FFI_EXTRA_JSON_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/core_function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/string.h>

namespace tvm::ffi {
namespace detail {
inline constexpr char kJSONParseName[] = "ffi.json.Parse";
inline constexpr char kJSONStringifyName[] = "ffi.json.Stringify";
} // namespace detail

namespace json {

/** A JSON value. */
using Value = Any;
/** A JSON object. */
using Object = ffi::Map<Any, Any>;
/** A JSON array. */
using Array = ffi::Array<Any>;

/** Parses a string. A number without point and exponent is an int; NaN and Infinity are accepted. ValueError for a
 * string that is not JSON. If error_msg is given, *error_msg becomes the message instead, and the result is None; on
 * success *error_msg becomes empty. */
inline Value Parse(const String &json_str, String *error_msg = nullptr) {
  Expected<Any> value = detail::CoreFunction<detail::kJSONParseName>().CallExpected(json_str);
  if (error_msg == nullptr) return std::move(value).value();
  *error_msg = String();
  if (value.is_err() && value.error().kind() == "ValueError") {
    *error_msg = value.error().message();
    return Any();
  }
  return std::move(value).value();
}

/** The JSON of a value, on one line, or over several lines with `indent` spaces for each level. ValueError for a value
 * that has no JSON form, for a key that is not a String, and for a List that contains itself. */
inline String Stringify(const Value &value, const Optional<int> &indent = std::nullopt) {
  return detail::CoreFunction<detail::kJSONStringifyName>()(value, indent).cast<String>();
}

} // namespace json
} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_JSON_H_ */
