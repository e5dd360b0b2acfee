/* module.h - modules: named functions of one source, such as a library.
 *
 *   Module library = Module::LoadFromFile("./sum.so");
 *   Optional<Function> sum = library->GetFunction("sum");
 *
 * A kind of module is a class derived from ModuleObj that implements kind() and GetFunction(name). */
#ifndef TVM_FFI_EXTRA_MODULE_H_
#define TVM_FFI_EXTRA_MODULE_H_

#include <tvm/ffi/cast.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

namespace tvm::ffi {

class Module;

/** The order of the virtual functions, and the absence of a virtual destructor, are part of the ABI. */
class TVM_FFI_EXTRA_CXX_API ModuleObj : public Object {
public:
  /* ---- Implemented by a kind of module ---- */

  /** The name of the kind. In serialised form it precedes the bytes of such a module. */
  virtual const char *kind() const = 0;
  /** Bits of Module::ModulePropertyMask. */
  virtual int GetPropertyMask() const { return 0; }
  /** The function of that name; it keeps the module alive. nullopt if there is none. */
  virtual Optional<Function> GetFunction(const String &name) = 0;
  /** Whether GetFunction finds the function. May be true for a function that is compiled only when GetFunction asks for
   * it. */
  virtual bool ImplementsFunction(const String &name) { return GetFunction(name).has_value(); }
  /** The documentation of a function; nullopt if there is none. */
  virtual Optional<String> GetFunctionDoc([[maybe_unused]] const String &name) { return std::nullopt; }
  /** JSON: {"type_schema": "..."}, with the schema as JSON inside that string. */
  virtual Optional<String> GetFunctionMetadata([[maybe_unused]] const String &name) { return std::nullopt; }
  /** Throws a RuntimeError unless a derived class overrides it. */
  virtual void WriteToFile([[maybe_unused]] const String &file_name, [[maybe_unused]] const String &format) const {
    TVM_FFI_THROW(RuntimeError) << "Module[" << kind() << "] does not support WriteToFile";
  }
  /** The formats that WriteToFile accepts. */
  virtual Array<String> GetWriteFormats() const { return Array<String>(); }
  /** The bytes from which the global function "ffi.Module.load_from_bytes.<kind>" makes such a module. Throws a
   * RuntimeError unless a derived class overrides it. */
  virtual Bytes SaveToBytes() const {
    TVM_FFI_THROW(RuntimeError) << "Module[" << kind() << "] does not support SaveToBytes";
    TVM_FFI_UNREACHABLE();
  }
  /** The source, empty if there is none. */
  virtual String InspectSource([[maybe_unused]] const String &format) const { return String(); }
  /** RuntimeError if `other` imports this module. */
  virtual void ImportModule(const Module &other);
  /** Removes all imported modules. */
  virtual void ClearImports();

  /* ---- With query_imports: asks the imported modules if this one has no answer ---- */

  /** The function of that name, also of imported modules if query_imports is true. */
  Optional<Function> GetFunction(const String &name, bool query_imports);
  /** Whether GetFunction with these arguments finds the function. */
  bool ImplementsFunction(const String &name, bool query_imports);
  /** The documentation of a function, also of imported modules if query_imports is true. */
  Optional<String> GetFunctionDoc(const String &name, bool query_imports);
  /** The metadata of a function, also of imported modules if query_imports is true. */
  Optional<String> GetFunctionMetadata(const String &name, bool query_imports);
  /** The imported modules, borrowed. */
  const Array<Any> &imports() const { return imports_; }

  static constexpr int32_t _type_index = kTVMFFIModule;
  static constexpr bool _type_mutable = true;
  static constexpr bool _type_final = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIModule, ModuleObj, Object);

protected:
  Array<Any> imports_;

private:
  Map<String, Function> import_lookup_cache_; /**< keeps results of TVMFFIEnvModLookupFromImports alive */
};
static_assert(sizeof(ModuleObj) == sizeof(void *) + sizeof(TVMFFIObject) + 2 * sizeof(void *), "the ABI's module");

/** A reference to a module; never null. */
class Module : public ObjectRef {
public:
  /** Bits of ModuleObj::GetPropertyMask. */
  enum ModulePropertyMask : int {
    kBinarySerializable = 1,    /**< SaveToBytes works, and there is an ffi.Module.load_from_bytes.<kind> */
    kRunnable = 2,              /**< GetFunction returns functions that can be called */
    kCompilationExportable = 4, /**< WriteToFile writes a file from which a compiler makes a library */
  };

  /** InternalError for null. */
  explicit Module(const ObjectPtr<ModuleObj> &ptr) : ObjectRef(ptr) { TVM_FFI_ICHECK(ptr != nullptr); }
  /** Loads a module by the global function "ffi.Module.load_from_file.<extension>". Imports of a library must be added
   * again, unless they are stored in it. Defined here and not in the library of C++ names, so that a program that loads
   * modules links libtvm_ffi alone. */
  static Module LoadFromFile(const String &file_name) {
    return Function::GetGlobalRequired("ffi.ModuleLoadFromFile")(file_name).cast<Module>();
  }
  /** Calls `callback` with the name and address of each symbol registered by TVMFFIEnvModRegisterContextSymbol. */
  TVM_FFI_EXTRA_CXX_API static void VisitContextSymbols(const TypedFunction<void(String, void *)> &callback);

  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Module, ObjectRef, ModuleObj);
};

#if defined(_WIN32)
/** Definitions that libtvm_ffi_cxx has on other systems. */
inline void ModuleObj::ImportModule(const Module &other) {
  Function::GetGlobalRequired("ffi_hpy.module_add_import")(GetRef<Module>(this), other);
}
inline void ModuleObj::ClearImports() {
  Function::GetGlobalRequired("ffi_hpy.module_drop_imports")(GetRef<Module>(this));
}
inline Optional<Function> ModuleObj::GetFunction(const String &name, bool query_imports) {
  if (!query_imports) return GetFunction(name);
  return Function::GetGlobalRequired("ffi.ModuleGetFunction")(GetRef<Module>(this), name, true)
      .cast<Optional<Function>>();
}
inline bool ModuleObj::ImplementsFunction(const String &name, bool query_imports) {
  if (!query_imports) return ImplementsFunction(name);
  return Function::GetGlobalRequired("ffi.ModuleImplementsFunction")(GetRef<Module>(this), name, true).cast<bool>();
}
inline Optional<String> ModuleObj::GetFunctionDoc(const String &name, bool query_imports) {
  if (!query_imports) return GetFunctionDoc(name);
  return Function::GetGlobalRequired("ffi.ModuleGetFunctionDoc")(GetRef<Module>(this), name, true)
      .cast<Optional<String>>();
}
inline Optional<String> ModuleObj::GetFunctionMetadata(const String &name, bool query_imports) {
  if (!query_imports) return GetFunctionMetadata(name);
  return Function::GetGlobalRequired("ffi.ModuleGetFunctionMetadata")(GetRef<Module>(this), name, true)
      .cast<Optional<String>>();
}
inline void Module::VisitContextSymbols(const TypedFunction<void(String, void *)> &callback) {
  Function::GetGlobalRequired("ffi_hpy.visit_context_symbols")(callback);
}
#endif

/** Names of symbols in a library. A function has the prefix before its name. Other symbols have one more "_" after the
 * prefix, which separates them from functions whose names do not begin with "_". */
namespace symbol {
constexpr const char *tvm_ffi_symbol_prefix = "__tvm_ffi_"; /**< before the name of an exported function */
constexpr const char *tvm_ffi_main = "__tvm_ffi_main"; /**< the name of a library's main function */
/** A place for the address of the library's module. */
constexpr const char *tvm_ffi_library_ctx = "__tvm_ffi__library_ctx";
constexpr const char *tvm_ffi_library_bin = "__tvm_ffi__library_bin"; /**< imported modules in serialised form */
/** Before the name of a function: its metadata. */
constexpr const char *tvm_ffi_metadata_prefix = "__tvm_ffi__metadata_";
constexpr const char *tvm_ffi_doc_prefix = "__tvm_ffi__doc_"; /**< before the name of a function: its documentation */
} // namespace symbol

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_MODULE_H_ */
