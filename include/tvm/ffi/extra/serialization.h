/* serialization.h - values and the objects that they reach as JSON, and back: one object stays one object.
 *
 *   {"root_index": 1, "nodes": [{"type": "ffi.String", "data": "x"}, {"type": "my.Point", "data": {...}}]}
 *
 * Objects are written by their registered fields. A type may define another form by the attributes below. */
#ifndef TVM_FFI_EXTRA_SERIALIZATION_H_
#define TVM_FFI_EXTRA_SERIALIZATION_H_

#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/accessor.h>

namespace tvm::ffi {
namespace detail {
inline constexpr char kToJSONGraphName[] = "ffi.ToJSONGraph";
inline constexpr char kFromJSONGraphName[] = "ffi.FromJSONGraph";
} // namespace detail

/** The graph of a value. The metadata is JSON for the reader's own use; it becomes "metadata" of the graph unless it is
 * None. TypeError for an object that could not be created again, such as a Function; ValueError for a container that
 * contains itself. */
inline json::Value ToJSONGraph(const Any &value, const Any &metadata = Any(nullptr)) {
  return detail::CoreFunction<detail::kToJSONGraphName>()(value, metadata);
}

/** The value of a graph, made of new objects only. ValueError, TypeError or KeyError for JSON that is not a graph. */
inline Any FromJSONGraph(const json::Value &value) { return detail::CoreFunction<detail::kFromJSONGraphName>()(value); }

namespace type_attr {
/** kDataToJson makes the "data" of an object, as JSON; kDataFromJson makes an object of the type from this data. */
inline constexpr reflection::AttrKey<TypedFunction<Any(AnyView)>> kDataToJson{"__data_to_json__"};
/** Makes an object from the data that it was saved as. */
inline constexpr reflection::AttrKey<TypedFunction<Any(AnyView)>> kDataFromJson{"__data_from_json__"};
} // namespace type_attr

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_SERIALIZATION_H_ */
