/* module.h - modules: functions by name, which come from one place, such as a library.
 *
 *   Module library = Module::LoadFromFile("./sum.so");
 *   Optional<Function> sum = library->GetFunction("sum");
 *
 * Who derives a kind of modules from ModuleObj implements kind() and GetFunction(name). */
#ifndef TVM_FFI_EXTRA_MODULE_H_
#define TVM_FFI_EXTRA_MODULE_H_

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/extra/base.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

namespace tvm {
namespace ffi {

class Module;

/* The order of the virtual functions, and that there is no virtual destructor, is part of the ABI. */
class TVM_FFI_EXTRA_CXX_API ModuleObj : public Object {
public:
  /* ---- What a kind of modules says ---- */

  /* Its name, which stands before the bytes of such a module. */
  virtual const char *kind() const = 0;
  /* Of Module::ModulePropertyMask. */
  virtual int GetPropertyMask() const { return 0; }
  /* The function of that name, which keeps the module alive; nullopt if there is none. */
  virtual Optional<Function> GetFunction(const String &name) = 0;
  /* Whether there is one. It may be true of a function that must be compiled before GetFunction gives it. */
  virtual bool ImplementsFunction(const String &name) { return GetFunction(name).has_value(); }
  virtual Optional<String> GetFunctionDoc([[maybe_unused]] const String &name) { return std::nullopt; }
  /* JSON: {"type_schema": "..."}, with the schema as JSON inside that string. */
  virtual Optional<String> GetFunctionMetadata([[maybe_unused]] const String &name) { return std::nullopt; }
  /* RuntimeError, as it stands here. */
  virtual void WriteToFile([[maybe_unused]] const String &file_name, [[maybe_unused]] const String &format) const {
    TVM_FFI_THROW(RuntimeError) << "Module[" << kind() << "] does not support WriteToFile";
  }
  virtual Array<String> GetWriteFormats() const { return Array<String>(); }
  /* What the global function "ffi.Module.load_from_bytes.<kind>" makes such a module from. RuntimeError, as it stands
   * here. */
  virtual Bytes SaveToBytes() const {
    TVM_FFI_THROW(RuntimeError) << "Module[" << kind() << "] does not support SaveToBytes";
    TVM_FFI_UNREACHABLE();
  }
  /* The source, empty if there is none. */
  virtual String InspectSource([[maybe_unused]] const String &format) const { return String(); }
  /* RuntimeError if `other` imports this module. */
  virtual void ImportModule(const Module &other);
  virtual void ClearImports();

  /* ---- Questions that the imported modules answer where this one has no answer ---- */

  Optional<Function> GetFunction(const String &name, bool query_imports);
  bool ImplementsFunction(const String &name, bool query_imports);
  Optional<String> GetFunctionDoc(const String &name, bool query_imports);
  Optional<String> GetFunctionMetadata(const String &name, bool query_imports);
  const Array<Any> &imports() const { return imports_; }

  static constexpr int32_t _type_index = kTVMFFIModule;
  static constexpr bool _type_mutable = true;
  static constexpr bool _type_final = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIModule, ModuleObj, Object);

protected:
  Array<Any> imports_;

private:
  Map<String, Function> import_lookup_cache_; /* what TVMFFIEnvModLookupFromImports has lent out */
};
static_assert(sizeof(ModuleObj) == sizeof(void *) + sizeof(TVMFFIObject) + 2 * sizeof(void *), "the ABI's module");

class Module : public ObjectRef {
public:
  enum ModulePropertyMask : int {
    kBinarySerializable = 1,    /* SaveToBytes works, and there is an ffi.Module.load_from_bytes.<kind> */
    kRunnable = 2,              /* GetFunction gives functions that can be called */
    kCompilationExportable = 4, /* WriteToFile writes what a compiler makes a library of */
  };

  /* InternalError for null. */
  explicit Module(const ObjectPtr<ModuleObj> &ptr) : ObjectRef(ptr) { TVM_FFI_ICHECK(ptr != nullptr); }
  /* By the global function "ffi.Module.load_from_file.<extension>". What a library imported must be imported again,
   * unless it is stored in it. Here, and not in the library of C++ names, so that a program which loads modules links
   * libtvm_ffi alone. */
  static Module LoadFromFile(const String &file_name) {
    return Function::GetGlobalRequired("ffi.ModuleLoadFromFile")(file_name).cast<Module>();
  }
  /* Calls back with the name and address of each symbol that TVMFFIEnvModRegisterContextSymbol has been given. */
  TVM_FFI_EXTRA_CXX_API static void VisitContextSymbols(const TypedFunction<void(String, void *)> &callback);

  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Module, ObjectRef, ModuleObj);
};

/* Names of symbols in a library. One more "_" after the prefix keeps them apart from those of functions. */
namespace symbol {
constexpr const char *tvm_ffi_symbol_prefix = "__tvm_ffi_";
constexpr const char *tvm_ffi_main = "__tvm_ffi_main";
constexpr const char *tvm_ffi_library_ctx = "__tvm_ffi__library_ctx";
constexpr const char *tvm_ffi_library_bin = "__tvm_ffi__library_bin";
constexpr const char *tvm_ffi_metadata_prefix = "__tvm_ffi__metadata_";
constexpr const char *tvm_ffi_doc_prefix = "__tvm_ffi__doc_";
} // namespace symbol

} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_MODULE_H_ */
