// A library of one release of apache-tvm-ffi: the hooks of a class, in the convention of that release, and inline
// functions of its headers over objects of the core. NAMESPACE: see release.cc.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/expected.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/reflection/registry.h>
#if __has_include(<tvm/ffi/extra/structural_visit.h>)
#include <tvm/ffi/extra/structural_visit.h>
#define HAS_VISIT 1
#endif
#if __has_include(<tvm/ffi/big_int.h>)
#include <tvm/ffi/extra/structural_mutate.h>
#define HAS_MUTATE 1
#endif

#include <string>
#include <utility>

namespace NAMESPACE {

namespace ffi = tvm::ffi;
namespace refl = tvm::ffi::reflection;
using ffi::Any;
using ffi::AnyView;
using ffi::Array;
using ffi::Dict;
using ffi::Function;
using ffi::List;
using ffi::Map;
using ffi::Optional;
using ffi::String;

// --- a class with every hook; the hooks ignore the field `note` -----------------------------------------------------

class HookedObj : public ffi::Object {
public:
  int64_t number = 0;
  Any part;
  String note;

  HookedObj() = default;
  HookedObj(int64_t number, Any part, String note) : number(number), part(std::move(part)), note(std::move(note)) {}

  static constexpr bool _type_mutable = true;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_test.Hooked_" ERA, HookedObj, ffi::Object);
};
class Hooked : public ffi::ObjectRef {
public:
  Hooked(int64_t number, Any part, String note)
      : ffi::ObjectRef(ffi::make_object<HookedObj>(number, std::move(part), std::move(note))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Hooked, ffi::ObjectRef, HookedObj);
};

// A class without a constructor: since 0.1.11 the core makes its instances from Python.
class PlainObj : public ffi::Object {
public:
  int64_t number = 1;
  Optional<String> text;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_test.Plain_" ERA, PlainObj, ffi::Object);
};

const HookedObj *hooked_in(const Any &value) { return value.as<HookedObj>(); }

// Native hooks for hashing and equality. Before 0.1.15 they return an int64_t and a bool, later an Any.
#if __has_include(<tvm/ffi/reflection/native_function.h>)
TVMFFIAny any_hash(const Any &value) noexcept {
  TVMFFIAny result{};
  result.type_index = kTVMFFIInt;
  result.v_int64 = hooked_in(value)->number;
  return result;
}
TVMFFIAny any_equal(const Any &left, const Any &right) noexcept {
  TVMFFIAny result{};
  result.type_index = kTVMFFIBool;
  result.v_int64 = hooked_in(left)->number == hooked_in(right)->number;
  return result;
}
#else
int64_t any_hash(const Any &value) { return hooked_in(value)->number; }
bool any_equal(const Any &left, const Any &right) { return hooked_in(left)->number == hooked_in(right)->number; }
#endif

// The third argument of structural callbacks: whether the part is in a definition region; since 0.1.12, its kind.
#if __has_include(<tvm/ffi/extra/visit_error_context.h>)
using Region = int;
#else
using Region = bool;
#endif
using EqualPart = ffi::TypedFunction<bool(AnyView, AnyView, Region, AnyView)>;
using HashPart = ffi::TypedFunction<int64_t(AnyView, int64_t, Region)>;

#ifdef HAS_VISIT
TVMFFIAny visit(ffi::StructuralVisitorObj *visitor, AnyView value) noexcept {
  return ffi::details::ExpectedUnsafe::MoveToTVMFFIAny(visitor->VisitExpected(value.as<HookedObj>()->part));
}
// Returns the sum of the ints that the inline walk visits in containers; the walk visits Hooked by its hook.
int64_t sum_of_ints(Any root) {
  int64_t sum = 0;
  ffi::StructuralWalk<ffi::WalkOrder::kPreOrder>(root, [&sum](int64_t number) {
    sum += number;
    return ffi::WalkResult::Advance();
  });
  return sum;
}
// Stops at the first string, and returns it as the value of the interrupt.
Any first_text(Any root) {
  auto found = ffi::StructuralWalk<ffi::WalkOrder::kPreOrder>(
      root, [](String text) { return ffi::WalkResult::Interrupt(ffi::VisitInterrupt(Any(text))); });
  return found.has_value() ? found.value()->value : Any(nullptr);
}
#endif
#ifdef HAS_MUTATE
Any double_ints(Any root) {
  return ffi::StructuralMap<ffi::WalkOrder::kPostOrder>(root, [](int64_t number) { return Any(number * 2); });
}
#endif

// --- containers in walks of the headers' code -----------------------------------------------------------------------

using Nested = Map<String, Array<Map<int64_t, List<Dict<String, Optional<double>>>>>>;

double sum_of_nested(Nested nested) {
  double sum = 0;
  for (const auto &named : nested) {
    for (const auto &map : named.second) {
      for (const auto &numbered : map) {
        for (const auto &dict : numbered.second) {
          for (const auto &last : dict) sum += static_cast<double>(numbered.first) * last.second.value_or(0.5);
        }
      }
    }
  }
  return sum;
}
int64_t count_key(Map<Any, Any> map, Any key) { return static_cast<int64_t>(map.count(key)); }
Map<Any, Any> make_map_of(Array<Any> keys) {
  Map<Any, Any> map;
  for (size_t i = 0; i < keys.size(); ++i) map.Set(keys[i], static_cast<int64_t>(i));
  return map;
}

// --- calls ----------------------------------------------------------------------------------------------------------

ffi::Expected<int64_t> half_of(int64_t number) {
  if (number % 2 != 0) return ffi::Error("ValueError", "an odd number", "");
  return number / 2;
}
Array<Any> call_expected(Function f, Any argument) {
  ffi::Expected<int64_t> result = f.CallExpected<int64_t>(argument);
  if (result.is_ok()) return {result.value()};
  return {String(result.error().kind()), String(result.error().message())};
}
void throw_with_cause(Function f) {
  try {
    f();
  } catch (const ffi::Error &cause) {
    throw ffi::Error("RuntimeError", "thrown by " ERA, "", cause, std::nullopt);
  }
}
String name_kind(ffi::Variant<int64_t, String, Array<Any>, Hooked> value) {
  if (value.as<int64_t>()) return "an int";
  if (value.as<String>()) return "a text";
  return value.as<Array<Any>>() ? "an array" : "an object";
}
Array<Any> look_at_tensor(ffi::TensorView tensor) {
  return {tensor.ndim(), tensor.size(0), tensor.stride(0), tensor.dtype(), tensor.IsContiguous()};
}
Any read_field(ffi::ObjectRef object, String name) {
  return refl::FieldGetter(refl::GetFieldInfo(object->GetTypeKey(), name.c_str()))(object.get());
}

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<HookedObj>()
      .def(refl::init<int64_t, Any, String>())
      .def_rw("number", &HookedObj::number)
      .def_rw("part", &HookedObj::part, "a part of the object")
      .def_rw("note", &HookedObj::note, refl::DefaultValue(String("")))
      .def("plus", [](const HookedObj *self, int64_t more) { return self->number + more; })
      .def_static("at", [](int64_t number) { return Hooked(number, nullptr, "made by at"); });
  refl::ObjectDef<PlainObj>()
      .def_rw("number", &PlainObj::number)
      .def_rw("text", &PlainObj::text, refl::DefaultValue(Optional<String>(String("no text"))));
  refl::TypeAttrDef<HookedObj>()
      .attr("__any_hash__", reinterpret_cast<void *>(&any_hash))
      .attr("__any_equal__", reinterpret_cast<void *>(&any_equal))
      .def("__ffi_repr__",
           [](const HookedObj *self, Function repr) -> String {
             return "hooked " + std::to_string(self->number) + " with " + std::string(repr(self->part).cast<String>());
           })
      .def("__ffi_hash__", [](const HookedObj *self, Function) { return self->number; })
      .def("__ffi_eq__", [](const HookedObj *a, const HookedObj *b, Function) { return a->number == b->number; })
      .def("__ffi_compare__",
           [](const HookedObj *a, const HookedObj *b, Function) -> int32_t {
             return a->number < b->number ? -1 : a->number > b->number;
           })
      .def("__s_equal__",
           [](const HookedObj *a, const HookedObj *b, EqualPart equal) {
             return a->number == b->number && equal(a->part, b->part, Region(0), "part");
           })
      .def("__s_hash__",
           [](const HookedObj *self, int64_t start, HashPart hash) {
             return hash(self->part, hash(self->number, start, Region(0)), Region(0));
           })
      .def("__data_to_json__",
           [](const HookedObj *self) { return Map<String, Any>{{"n", self->number}, {"by", String(ERA)}}; })
      .def("__data_from_json__",
           [](Map<String, Any> data) { return Hooked(data["n"].cast<int64_t>(), nullptr, "from JSON"); })
#ifdef HAS_VISIT
      .attr("__s_visit__", reinterpret_cast<void *>(&visit))
#endif
      .def("__ffi_convert__", [](AnyView value) -> Any {
        if (auto number = value.as<int64_t>()) return Hooked(*number, nullptr, "converted");
        return Any(value);
      });
  refl::GlobalDef().def("ffi_hpy_test.releases." ERA, [](int64_t, Array<String>, Optional<double>) { return true; });
}

} // namespace NAMESPACE

#define EXPORT(name) TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, NAMESPACE::name)
#ifdef HAS_VISIT
EXPORT(sum_of_ints);
EXPORT(first_text);
#endif
#ifdef HAS_MUTATE
EXPORT(double_ints);
#endif
EXPORT(sum_of_nested);
EXPORT(count_key);
EXPORT(make_map_of);
EXPORT(half_of);
EXPORT(call_expected);
EXPORT(throw_with_cause);
EXPORT(name_kind);
EXPORT(look_at_tensor);
EXPORT(read_field);
