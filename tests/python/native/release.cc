// A library of one release of apache-tvm-ffi: it uses features that differ between releases, and registers objects with
// the core. NAMESPACE differs between the libraries, because the loader merges the static variables of inline functions
// with equal names.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/enum.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/access_path.h>
#include <tvm/ffi/reflection/enum_def.h>
#include <tvm/ffi/reflection/registry.h>

#include <string>
#include <utility>

namespace NAMESPACE {

namespace ffi = tvm::ffi;
namespace refl = tvm::ffi::reflection;
using ffi::Any;
using ffi::Array;
using ffi::Optional;
using ffi::String;

// --- an enum: up to 0.1.12 a type has a Dict of its variants, later an EnumState -------------------------------------

class LevelObj : public ffi::EnumObj {
public:
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_test.Level_" ERA, LevelObj, ffi::EnumObj);
};

ffi::ObjectRef find_level(String name) {
#if HAS_ENUM_STATE
  return ffi::EnumObj::_GetByStrIndex<LevelObj>(name);
#else
  return ffi::EnumObj::Get<LevelObj>(name);
#endif
}
void add_level(String name, int64_t weight) {
  static std::string kept; // EnumDef keeps the pointer
  kept = name;
  refl::EnumDef<LevelObj>(kept.c_str()).set_attr("weight", weight);
}

// --- a class with a field of each kind whose layout has changed ------------------------------------------------------

class BoxObj : public ffi::Object {
public:
  Optional<int64_t> number;
  Optional<String> text;
  Optional<Array<Any>> items;
  ffi::Variant<int64_t, String> choice{int64_t{0}};
  double end = 2.5;

  static constexpr bool _type_mutable = true;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_test.Box_" ERA, BoxObj, ffi::Object);
};

ffi::ObjectRef make_box(Optional<int64_t> number, Optional<String> text, Optional<Array<Any>> items) {
  ffi::ObjectPtr<BoxObj> box = ffi::make_object<BoxObj>();
  box->number = number;
  box->text = text;
  box->items = items;
  box->choice = String("a choice of some length");
  return ffi::ObjectRef(box);
}
Array<Any> look_at_box(ffi::ObjectRef ref) {
  const BoxObj *box = ref.as<BoxObj>();
  return {box->number, box->text, box->items, box->choice, box->end};
}

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<LevelObj>();
  refl::EnumDef<LevelObj>("low").set_attr("weight", int64_t{1});
  refl::EnumDef<LevelObj>("high").set_attr("weight", int64_t{9}).set_attr("loud", true);
  refl::ObjectDef<BoxObj>()
      .def_rw("number", &BoxObj::number)
      .def_rw("text", &BoxObj::text)
      .def_rw("items", &BoxObj::items)
      .def_rw("choice", &BoxObj::choice)
      .def_rw("end", &BoxObj::end);
  // Hooks of built-in types that had no such hooks in 0.1.11.
  auto repr = [](ffi::ObjectRef, ffi::Function) -> String { return "of " ERA; };
  refl::TypeAttrDef<refl::AccessPathObj>().def("__ffi_repr__", repr);
  refl::TypeAttrDef<refl::AccessStepObj>().def("__ffi_repr__", repr);
}

} // namespace NAMESPACE

TVM_FFI_DLL_EXPORT_TYPED_FUNC(find_level, NAMESPACE::find_level);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_level, NAMESPACE::add_level);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_box, NAMESPACE::make_box);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(look_at_box, NAMESPACE::look_at_box);
