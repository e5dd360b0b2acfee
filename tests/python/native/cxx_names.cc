// A C++ library that uses every function that libtvm_ffi.so exports under a mangled name, and a module class.
//
// Compiled against apache-tvm-ffi's headers of two eras, into one library each; ERA differs. Every call that can throw
// is inside `caught`, as in a user's C++ code, or lets its exception propagate to Python.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/extra/dataclass.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/extra/serialization.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/access_path.h>
#include <tvm/ffi/reflection/registry.h>
#if __has_include(<tvm/ffi/extra/visit_error_context.h>)
#include <tvm/ffi/extra/visit_error_context.h>
#endif

#include <exception>
#include <stdexcept>
#include <string>
#include <typeinfo>

namespace ffi_hpy_test {

namespace ffi = tvm::ffi;
using ffi::Any;
using ffi::Array;
using ffi::Function;
using ffi::Map;
using ffi::Optional;
using ffi::String;

// --- errors ----------------------------------------------------------------------------------------------------------

// Calls f and returns its exception, as seen by a handler for each class: [class, kind, message, is anything in
// flight].
template <typename F> Array<Any> caught(F f) {
  Array<Any> seen;
  try {
    f();
    return {String("nothing")};
  } catch (const ffi::Error &error) {
    const std::exception &base = error;
    seen = {String("Error"), String(error.kind()), String(base.what())};
  } catch (const std::exception &error) {
    seen = {String("exception"), String(typeid(error).name()), String(error.what())};
  } catch (...) {
    seen = {String("something")};
  }
  seen.push_back(std::uncaught_exceptions() != 0);
  return seen;
}

// --- functions over values -------------------------------------------------------------------------------------------

Any deep_copy(Any value) { return ffi::DeepCopy(value); }
String repr_print(Any value) { return ffi::ReprPrint(value); }
int64_t recursive_hash(Any value) { return ffi::RecursiveHash(value); }
Array<Any> recursive_compare(Any left, Any right) {
  return {ffi::RecursiveEq(left, right), ffi::RecursiveLt(left, right), ffi::RecursiveLe(left, right),
          ffi::RecursiveGt(left, right), ffi::RecursiveGe(left, right)};
}
bool recursive_eq(Any left, Any right) { return ffi::RecursiveEq(left, right); }
bool structural_equal(Any left, Any right, bool map_free_vars, bool skip_tensor_content) {
  return ffi::StructuralEqual::Equal(left, right, map_free_vars, skip_tensor_content);
}
// Returns whether there is a mismatch, and the depth of the path to it on each side.
Array<Any> structural_mismatch(Any left, Any right) {
  Optional<ffi::reflection::AccessPathPair> found = ffi::StructuralEqual::GetFirstMismatch(left, right);
  if (!found.has_value()) return {false};
  ffi::reflection::AccessPathPair pair = *found;
  return {true, pair.get<0>()->depth, pair.get<1>()->depth};
}
int64_t structural_hash(Any value, bool map_free_vars, bool skip_tensor_content) {
  return static_cast<int64_t>(ffi::StructuralHash::Hash(value, map_free_vars, skip_tensor_content));
}
Any to_json_graph(Any value, Any metadata) { return ffi::ToJSONGraph(value, metadata); }
Any from_json_graph(Any json) { return ffi::FromJSONGraph(json); }

Any json_parse(String text) { return ffi::json::Parse(text); }
// Returns [value, message]; the message keeps its initial value if the function does not set it.
Array<Any> json_try_parse(String text) {
  String message = "not written, and too long for a small text";
  Any value = ffi::json::Parse(text, &message);
  return {value, message};
}
String json_stringify(Any value) { return ffi::json::Stringify(value); }
String json_stringify_indented(Any value, int64_t indent) {
  return ffi::json::Stringify(value, static_cast<int>(indent));
}

#ifdef TVM_FFI_EXTRA_VISIT_ERROR_CONTEXT_H_
// Returns the depths of the paths to `target` in `root`.
Array<Any> find_access_paths(ffi::ObjectRef root, ffi::ObjectRef target, bool allow_prefix_match) {
  ffi::List<ffi::ObjectRef> pattern;
  pattern.push_back(target);
  ffi::ObjectPtr<ffi::VisitErrorContextObj> context = ffi::make_object<ffi::VisitErrorContextObj>();
  context->reverse_visit_pattern = pattern;
  Array<Any> depths;
  for (const ffi::reflection::AccessPath &path :
       ffi::VisitErrorContext::FindAccessPaths(root, ffi::VisitErrorContext(context), allow_prefix_match)) {
    depths.push_back(path->depth);
  }
  return depths;
}
#endif

// Returns the exception of each function for a wrong value.
Map<String, Any> caught_from_values(Any value) {
  Map<String, Any> seen;
  seen.Set("DeepCopy", caught([&] { ffi::DeepCopy(value); }));
  seen.Set("ReprPrint", caught([&] { ffi::ReprPrint(value); }));
  seen.Set("RecursiveHash", caught([&] { ffi::RecursiveHash(value); }));
  seen.Set("RecursiveEq", caught([&] { ffi::RecursiveEq(value, value); }));
  seen.Set("RecursiveLt", caught([&] { ffi::RecursiveLt(value, value); }));
  seen.Set("RecursiveLe", caught([&] { ffi::RecursiveLe(value, value); }));
  seen.Set("RecursiveGt", caught([&] { ffi::RecursiveGt(value, value); }));
  seen.Set("RecursiveGe", caught([&] { ffi::RecursiveGe(value, value); }));
  seen.Set("StructuralEqual", caught([&] { ffi::StructuralEqual::Equal(value, value); }));
  seen.Set("GetFirstMismatch", caught([&] { ffi::StructuralEqual::GetFirstMismatch(value, value); }));
  seen.Set("StructuralHash", caught([&] { ffi::StructuralHash::Hash(value); }));
  seen.Set("ToJSONGraph", caught([&] { ffi::ToJSONGraph(value); }));
  seen.Set("FromJSONGraph", caught([&] { ffi::FromJSONGraph(value); }));
  seen.Set("Stringify", caught([&] { ffi::json::Stringify(value); }));
  return seen;
}
Array<Any> caught_from_parse(String text) {
  return caught([&] { ffi::json::Parse(text); });
}

// --- modules ---------------------------------------------------------------------------------------------------------

// Overrides everything except the imports. The functions of this class are named below; some queries about it throw.
class ModuleOfTestObj : public ffi::ModuleObj {
public:
  explicit ModuleOfTestObj(String name) : name_(std::move(name)) {}

  const char *kind() const final { return "module_of_" ERA; }
  int GetPropertyMask() const final { return ffi::Module::kRunnable | ffi::Module::kCompilationExportable; }
  Optional<Function> GetFunction(const String &name) final {
    if (name == "throws_error") TVM_FFI_THROW(KeyError) << "thrown by a module: " << name;
    if (name == "throws_exception") throw std::runtime_error("thrown by the standard library");
    if (name == "throws_something") throw 42;
    if (name == "name") {
      ffi::ObjectPtr<ffi::Object> self = ffi::GetObjectPtr<ffi::Object>(this);
      return Function::FromTyped([self, this] { return name_; });
    }
    if (name == "add_one") return Function::FromTyped([](int64_t x) { return x + 1; });
    if (name == "fails") return Function::FromTyped([]() { TVM_FFI_THROW(IndexError) << "thrown by a function"; });
    return std::nullopt;
  }
  bool ImplementsFunction(const String &name) final { return name == "compiled_later"; }
  Optional<String> GetFunctionDoc(const String &name) final {
    if (name == "add_one") return String("adds one to a number");
    return std::nullopt;
  }
  Optional<String> GetFunctionMetadata(const String &name) final {
    if (name == "add_one") return String("{\"nonblocking\": true}");
    return std::nullopt;
  }
  void WriteToFile(const String &file_name, const String &format) const final {
    TVM_FFI_THROW(ValueError) << "cannot write " << file_name << " as " << format;
  }
  Array<String> GetWriteFormats() const final { return {"first", "a second format"}; }
  ffi::Bytes SaveToBytes() const final { return ffi::Bytes(std::string("\0saved\0", 7)); }
  String InspectSource(const String &format) const final { return "source of " + name_ + " as " + format; }

private:
  String name_;
};

// Overrides only the required methods.
class PlainModuleOfTestObj : public ffi::ModuleObj {
public:
  const char *kind() const final { return "plain_module"; }
  Optional<Function> GetFunction(const String &name) final {
    if (name == "throws_error") TVM_FFI_THROW(KeyError) << "thrown by a plain module";
    if (name == "two") return Function::FromTyped([] { return 2; });
    return std::nullopt;
  }
};

ffi::Module make_module(String name) { return ffi::Module(ffi::make_object<ModuleOfTestObj>(name)); }
ffi::Module make_plain_module() { return ffi::Module(ffi::make_object<PlainModuleOfTestObj>()); }

// Returns the view of C++ on a module of any maker, through its table and by the functions of the base class.
Array<Any> look_at_module(ffi::Module module, String name) {
  ffi::ModuleObj *it = const_cast<ffi::ModuleObj *>(module.operator->());
  Optional<Function> own = it->GetFunction(name), any = it->GetFunction(name, true);
  Optional<String> doc = it->GetFunctionDoc(name, true), metadata = it->GetFunctionMetadata(name, true);
  Array<Any> seen = {String(it->kind()), it->GetPropertyMask(), own.has_value(), any.has_value()};
  seen.push_back(it->ImplementsFunction(name));
  seen.push_back(it->ImplementsFunction(name, true));
  seen.push_back(doc.has_value() ? Any(*doc) : Any(nullptr));
  seen.push_back(metadata.has_value() ? Any(*metadata) : Any(nullptr));
  seen.push_back(it->GetWriteFormats());
  seen.push_back(it->InspectSource("text"));
  seen.push_back(static_cast<int64_t>(it->imports().size()));
  return seen;
}
Map<String, Any> caught_from_module(ffi::Module module, String name) {
  ffi::ModuleObj *it = const_cast<ffi::ModuleObj *>(module.operator->());
  Map<String, Any> seen;
  seen.Set("GetFunction", caught([&] { it->GetFunction(name, false); }));
  seen.Set("WriteToFile", caught([&] { it->WriteToFile("a file", "a format"); }));
  seen.Set("SaveToBytes", caught([&] { it->SaveToBytes(); }));
  seen.Set("ImportModule", caught([&] { it->ImportModule(module); }));
  seen.Set("LoadFromFile", caught([&] { ffi::Module::LoadFromFile(name); }));
  return seen;
}
// Returns the run-time type information.
Array<Any> identify_module(ffi::Module module) {
  const ffi::ModuleObj *it = module.operator->();
  return {dynamic_cast<const ModuleOfTestObj *>(it) != nullptr,
          dynamic_cast<const PlainModuleOfTestObj *>(it) != nullptr, typeid(*it) == typeid(ModuleOfTestObj)};
}
void import_module(ffi::Module module, ffi::Module other) {
  const_cast<ffi::ModuleObj *>(module.operator->())->ImportModule(other);
}
void clear_imports(ffi::Module module) { const_cast<ffi::ModuleObj *>(module.operator->())->ClearImports(); }
ffi::Module load_module(String path) { return ffi::Module::LoadFromFile(path); }
// Returns name and address of each context symbol; throws at the symbol `refused`, if given.
Map<String, Any> context_symbols(String refused) {
  Map<String, Any> seen;
  ffi::Module::VisitContextSymbols(ffi::TypedFunction<void(String, void *)>([&](String name, void *symbol) {
    if (name == refused) TVM_FFI_THROW(ValueError) << "refused: " << name;
    seen.Set(name, reinterpret_cast<int64_t>(symbol));
  }));
  return seen;
}

// The loader of embedded modules of this kind.
TVM_FFI_STATIC_INIT_BLOCK() {
  ffi::reflection::GlobalDef().def("ffi.Module.load_from_bytes.module_of_" ERA, [](ffi::Bytes content) {
    return make_module(String(content.data(), content.size()));
  });
}

} // namespace ffi_hpy_test

#define EXPORT(name) TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, ffi_hpy_test::name)
EXPORT(deep_copy);
EXPORT(repr_print);
EXPORT(recursive_hash);
EXPORT(recursive_compare);
EXPORT(recursive_eq);
EXPORT(structural_equal);
EXPORT(structural_mismatch);
EXPORT(structural_hash);
EXPORT(to_json_graph);
EXPORT(from_json_graph);
EXPORT(json_parse);
EXPORT(json_try_parse);
EXPORT(json_stringify);
EXPORT(json_stringify_indented);
EXPORT(caught_from_values);
EXPORT(caught_from_parse);
EXPORT(make_module);
EXPORT(make_plain_module);
EXPORT(look_at_module);
EXPORT(caught_from_module);
EXPORT(identify_module);
EXPORT(import_module);
EXPORT(clear_imports);
EXPORT(load_module);
EXPORT(context_symbols);
#ifdef TVM_FFI_EXTRA_VISIT_ERROR_CONTEXT_H_
EXPORT(find_access_paths);
#endif
