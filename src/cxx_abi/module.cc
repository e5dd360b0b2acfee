/* module.cc - modules: what the classes of clients inherit, and what they ask about any module. */
#include "call.h"

namespace tvm {
namespace ffi {

using fx::call;
using fx::view_of;

/* The layout that handles and the table rely on: nothing but the table's address before the header. */
static_assert(sizeof(ModuleObj) == sizeof(void *) + sizeof(TVMFFIObject) + 2 * sizeof(void *), "ABI");
static_assert(sizeof(Error) == 2 * sizeof(void *), "ABI");
static_assert(sizeof(Any) == sizeof(TVMFFIAny) && sizeof(String) == sizeof(TVMFFIAny), "ABI");

static TVMFFIAny view_of(const ModuleObj *module) { return fx::view_of_handle(static_cast<const Object *>(module)); }

/* ---- What a class that does not override it gets ---- */

int ModuleObj::GetPropertyMask() const { return 0; }

bool ModuleObj::ImplementsFunction(const String &name) {
  return GetFunction(name).view().type_index != kTVMFFINone;
}

String ModuleObj::GetFunctionDoc(const String &) { return String(TVMFFIAny{}); }
String ModuleObj::GetFunctionMetadata(const String &) { return String(TVMFFIAny{}); }

void ModuleObj::refuse(const char *what) const {
  fx::raise("RuntimeError", "Module[", kind(), "] does not support ", what);
}

void ModuleObj::WriteToFile(const String &, const String &) const { refuse("WriteToFile"); }
String ModuleObj::SaveToBytes() const { refuse("SaveToBytes"); }
ObjectRef ModuleObj::GetWriteFormats() const { return fx::to_object("ffi.Array", call("ffi.Array", nullptr, 0)); }
String ModuleObj::InspectSource(const String &) const { return String(); }

void ModuleObj::ImportModule(const Module &other) {
  call("ffi_hpy.module_add_import", {view_of(this), fx::view_of(other)});
}

void ModuleObj::ClearImports() { call("ffi_hpy.module_drop_imports", {view_of(this)}); }

/* ---- Questions that imports answer too ---- */

ObjectRef ModuleObj::GetFunction(const String &name, bool query_imports) {
  const char *asked = "ffi.ModuleGetFunction";
  return fx::to_object(asked, call(asked, {view_of(this), fx::view_of(name), fx::view_of(query_imports)}));
}

bool ModuleObj::ImplementsFunction(const String &name, bool query_imports) {
  const char *asked = "ffi.ModuleImplementsFunction";
  return fx::to_int(asked, call(asked, {view_of(this), fx::view_of(name), fx::view_of(query_imports)})) != 0;
}

String ModuleObj::GetFunctionDoc(const String &name, bool query_imports) {
  const char *asked = "ffi.ModuleGetFunctionDoc";
  return fx::to_text(asked, call(asked, {view_of(this), fx::view_of(name), fx::view_of(query_imports)}));
}

String ModuleObj::GetFunctionMetadata(const String &name, bool query_imports) {
  const char *asked = "ffi.ModuleGetFunctionMetadata";
  return fx::to_text(asked, call(asked, {view_of(this), fx::view_of(name), fx::view_of(query_imports)}));
}

/* ---- Functions of no module ---- */

Module Module::LoadFromFile(const String &path) {
  const char *name = "ffi.ModuleLoadFromFile";
  return Module(call(name, {fx::view_of(path)}).release().v_obj);
}

void Module::VisitContextSymbols(const TypedFunction<void(String, void *)> &visit) {
  call("ffi_hpy.visit_context_symbols", {fx::view_of(visit)});
}

} // namespace ffi
} // namespace tvm
