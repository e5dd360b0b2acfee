/* functions.cc - functions over values: each wraps a global function of the core. */
#include "call.h"

namespace tvm::ffi {

using fx::call;
using fx::view_of;

Any DeepCopy(const Any &value) { return call("ffi.DeepCopy", {view_of(value)}); }

String ReprPrint(const Any &value) { return fx::to_text("ffi.ReprPrint", call("ffi.ReprPrint", {view_of(value)})); }

int64_t RecursiveHash(const Any &value) {
  return fx::to_int("ffi.RecursiveHash", call("ffi.RecursiveHash", {view_of(value)}));
}

static bool compare(const char *name, const Any &left, const Any &right) {
  return fx::to_int(name, call(name, {view_of(left), view_of(right)})) != 0;
}

bool RecursiveEq(const Any &left, const Any &right) { return compare("ffi.RecursiveEq", left, right); }
bool RecursiveLt(const Any &left, const Any &right) { return compare("ffi.RecursiveLt", left, right); }
bool RecursiveLe(const Any &left, const Any &right) { return compare("ffi.RecursiveLe", left, right); }
bool RecursiveGt(const Any &left, const Any &right) { return compare("ffi.RecursiveGt", left, right); }
bool RecursiveGe(const Any &left, const Any &right) { return compare("ffi.RecursiveGe", left, right); }

/* ---- Structural comparison and hash ---- */

bool StructuralEqual::Equal(const Any &left, const Any &right, bool map_free_vars, bool skip_tensor_content) {
  const char *name = "ffi.StructuralEqual";
  return fx::to_int(name, call(name, {view_of(left), view_of(right), view_of(map_free_vars),
                                      view_of(skip_tensor_content)})) != 0;
}

ObjectRef StructuralEqual::GetFirstMismatch(const Any &left, const Any &right, bool map_free_vars,
                                            bool skip_tensor_content) {
  const char *name = "ffi.GetFirstStructuralMismatch";
  Any pair = call(name, {view_of(left), view_of(right), view_of(map_free_vars), view_of(skip_tensor_content)});
  return fx::to_object(name, static_cast<Any &&>(pair), kTVMFFIArray);
}

uint64_t StructuralHash::Hash(const Any &value, bool map_free_vars, bool skip_tensor_content) {
  const char *name = "ffi.StructuralHash";
  return static_cast<uint64_t>(
      fx::to_int(name, call(name, {view_of(value), view_of(map_free_vars), view_of(skip_tensor_content)})));
}

ObjectRef VisitErrorContext::FindAccessPaths(const ObjectRef &root, const VisitErrorContext &context,
                                             bool allow_prefix_match) {
  const char *name = "ffi.VisitErrorContext.FindAccessPaths";
  return fx::to_object(name, call(name, {view_of(root), view_of(context), view_of(allow_prefix_match)}), kTVMFFIArray);
}

/* ---- JSON ---- */

Any ToJSONGraph(const Any &value, const Any &metadata) {
  return call("ffi.ToJSONGraph", {view_of(value), view_of(metadata)});
}

Any FromJSONGraph(const Any &json) { return call("ffi.FromJSONGraph", {view_of(json)}); }

namespace json {

static bool is_value_error(const Error &error) {
  const TVMFFIByteArray &kind = TVMFFIErrorGetCellPtr(error.handle())->kind;
  return kind.size == sizeof "ValueError" - 1 && __builtin_memcmp(kind.data, "ValueError", kind.size) == 0;
}

static String message_of(const Error &error) {
  TVMFFIAny text{};
  if (TVMFFIStringFromByteArray(&TVMFFIErrorGetCellPtr(error.handle())->message, &text) != 0) fx::raise_pending();
  return String(text);
}

Any Parse(const String &text, String *error_message) {
  if (error_message == nullptr) return call("ffi.json.Parse", {view_of(text)});
  try {
    Any value = call("ffi.json.Parse", {view_of(text)});
    *error_message = String();
    return value;
  } catch (const Error &error) {
    if (!is_value_error(error)) throw;
    *error_message = message_of(error);
    return Any();
  }
}

static String stringify(const Any &value, const TVMFFIAny &indent) {
  return fx::to_text("ffi.json.Stringify", call("ffi.json.Stringify", {view_of(value), indent}));
}

String Stringify(const Any &value, Optional<int> indent) { return stringify(value, indent.by_value()); }
String Stringify(const Any &value, const Optional<int> &indent) { return stringify(value, indent.by_reference()); }

} // namespace json
} // namespace tvm::ffi
