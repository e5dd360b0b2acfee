/* module.cc - the functions that clients' module classes inherit, and the queries of any module. */
#include "call.h"

namespace tvm::ffi {

using fx::call;
using fx::view_of;

/* The layouts that the ABI requires. Only the pointer to its vtable precedes the header of a module. */
static_assert(sizeof(ModuleObj) == sizeof(void *) + sizeof(TVMFFIObject) + 2 * sizeof(void *), "ABI");
static_assert(sizeof(Error) == 2 * sizeof(void *), "ABI");
static_assert(sizeof(Any) == sizeof(TVMFFIAny) && sizeof(String) == sizeof(TVMFFIAny), "ABI");

static TVMFFIAny view_of(const ModuleObj *module) { return fx::view_of_handle(static_cast<const Object *>(module)); }

/* ---- Virtual functions for classes that do not override them ---- */

int ModuleObj::GetPropertyMask() const { return 0; }

/* Calls the core, which recognises an override that returns a value other than a pointer. */
bool ModuleObj::ImplementsFunction(const String &name) {
  const char *question = "ffi.ModuleGetFunction";
  return fx::to_object(question, call(question, {view_of(this), fx::view_of(name), fx::view_of(false)}),
                       kTVMFFIFunction)
             .view()
             .type_index != kTVMFFINone;
}

String ModuleObj::GetFunctionDoc(const String &) { return String(TVMFFIAny{}); }
String ModuleObj::GetFunctionMetadata(const String &) { return String(TVMFFIAny{}); }

void ModuleObj::refuse(const char *what) const {
  fx::raise("RuntimeError", "Module[", kind(), "] does not support ", what);
}

void ModuleObj::WriteToFile(const String &, const String &) const { refuse("WriteToFile"); }
String ModuleObj::SaveToBytes() const { refuse("SaveToBytes"); }
ObjectRef ModuleObj::GetWriteFormats() const {
  return fx::to_object("ffi.Array", call("ffi.Array", nullptr, 0), kTVMFFIArray);
}
String ModuleObj::InspectSource(const String &) const { return String(); }

void ModuleObj::ImportModule(const Module &other) {
  call("ffi_hpy.module_add_import", {view_of(this), fx::view_of(other)});
}

void ModuleObj::ClearImports() { call("ffi_hpy.module_drop_imports", {view_of(this)}); }

/* ---- Queries that imported modules also answer. The core asks them, and converts their exceptions into errors.
 * ---- */

static Any ask(const char *question, const ModuleObj *module, const String &name) {
  return call(question, {view_of(module), fx::view_of(name), fx::view_of(true)});
}

ObjectRef ModuleObj::GetFunction(const String &name, bool query_imports) {
  const char *question = "ffi.ModuleGetFunction";
  return query_imports ? fx::to_object(question, ask(question, this, name), kTVMFFIFunction) : GetFunction(name);
}

bool ModuleObj::ImplementsFunction(const String &name, bool query_imports) {
  const char *question = "ffi.ModuleImplementsFunction";
  return query_imports ? fx::to_int(question, ask(question, this, name)) != 0 : ImplementsFunction(name);
}

String ModuleObj::GetFunctionDoc(const String &name, bool query_imports) {
  const char *question = "ffi.ModuleGetFunctionDoc";
  return query_imports ? fx::to_text(question, ask(question, this, name)) : GetFunctionDoc(name);
}

String ModuleObj::GetFunctionMetadata(const String &name, bool query_imports) {
  const char *question = "ffi.ModuleGetFunctionMetadata";
  return query_imports ? fx::to_text(question, ask(question, this, name)) : GetFunctionMetadata(name);
}

/* ---- Static functions ---- */

Module Module::LoadFromFile(const String &path) {
  const char *name = "ffi.ModuleLoadFromFile";
  ObjectRef module = fx::to_object(name, call(name, {fx::view_of(path)}), kTVMFFIModule);
  return Module(module);
}

void Module::VisitContextSymbols(const TypedFunction<void(String, void *)> &visit) {
  call("ffi_hpy.visit_context_symbols", {fx::view_of(visit)});
}

} // namespace tvm::ffi
