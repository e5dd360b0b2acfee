/* shapes.h - the classes of tvm::ffi that occur in mangled names: their size, their layout and their calling
 * convention.
 *
 * Compiled clients have the full classes from the headers; the classes here are only binary compatible with them. A
 * class with its own copy constructor or destructor is passed and returned through memory; most classes here need only
 * that. Nothing is included from a C++ library: std::exception belongs to the platform's C++ ABI and is declared here.
 * So no compiler's own library becomes a dependency, and this library runs with the libstdc++ of its clients.
 *
 * Errors are thrown as tvm::ffi::Error. Arguments are borrowed, results owned. Any thread may call every function. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tvm/ffi/c_api.h>

#define FX_EXPORT __attribute__((visibility("default")))
#define FX_LOCAL __attribute__((visibility("hidden"))) /* a member that clients compile themselves, inline */

/* Some names below exist in libstdc++ only. */
#if !defined(__APPLE__)
#define FX_LIBSTDCXX 1
#endif

namespace std {

class exception {
public:
  exception() noexcept {}
  exception(const exception &) noexcept {}
  virtual ~exception() noexcept;
  virtual const char *what() const noexcept;
};

#ifdef FX_LIBSTDCXX
class ios_base {
public:
  class Init { /* std::cout and the other streams can be used while an Init exists */
  public:
    Init();
    ~Init();
  };
};
#endif

/* The declaration that `typeid` requires. */
class type_info {
public:
  virtual ~type_info();
};

} // namespace std

#ifdef FX_LIBSTDCXX
namespace __cxxabiv1 {

/* The exception that unwinds a cancelled thread. A handler must rethrow it. */
class __forced_unwind {
  virtual ~__forced_unwind() throw();
  virtual void __pure_dummy() = 0;
};

} // namespace __cxxabiv1
#endif

namespace tvm::ffi {

/* ---- Values: 16 bytes ---- */

/* An owned value. */
class Any {
public:
  Any() : cell_{} {}
  explicit Any(TVMFFIAny owned) : cell_(owned) {}
  Any(Any &&other) noexcept : cell_(other.release()) {}
  Any(const Any &) = delete;
  Any &operator=(Any &&other) noexcept {
    TVMFFIAny old = cell_;
    cell_ = other.cell_;
    other.cell_ = old;
    return *this;
  }
  ~Any();
  const TVMFFIAny &view() const { return cell_; }
  /* Moves the value to the caller and leaves None. */
  TVMFFIAny release() {
    TVMFFIAny owned = cell_;
    cell_ = TVMFFIAny{};
    return owned;
  }

protected:
  TVMFFIAny cell_;
};

/* A string. Also the layout of Bytes, and of Optional<String>, where None means that the value is missing. */
class String : public Any {
public:
  using Any::Any;
  /* The empty string. */
  String() { cell_.type_index = kTVMFFISmallStr; }
};

/* Optional<int>: two layouts with one name. Clients that pass it by value have the old layout, clients that pass a
 * reference the new one. */
template <typename T, typename = void> class Optional;
template <> class Optional<int, void> {
public:
  Optional(const Optional &) = delete;
  ~Optional() {}
  TVMFFIAny by_value() const;
  const TVMFFIAny &by_reference() const { return cell_; }

private:
  union {
    TVMFFIAny cell_; /* since 0.1.13: an int, or None */
    struct {
      int32_t value;
      bool has_value;
    } pair_;
  };
};

/* ---- Objects ---- */

class Object {
public:
  TVMFFIObject header;
};

/* A pointer to an object, or null. Also the layout of Optional<ObjectRef>, and of every derived class without
 * members. */
class ObjectRef {
public:
  explicit ObjectRef(void *owned) : data_(static_cast<Object *>(owned)) {}
  ObjectRef(const ObjectRef &other);
  ~ObjectRef();
  TVMFFIAny view() const;

protected:
  Object *data_;
};

template <typename Signature> class TypedFunction;
template <> class TypedFunction<void(String, void *)> : public ObjectRef {};

class FX_EXPORT Error : public ObjectRef, public std::exception {
public:
  explicit Error(TVMFFIObjectHandle owned) : ObjectRef(owned) {}
  Error(const Error &) = default;
  FX_LOCAL ~Error() noexcept override;
  FX_LOCAL const char *what() const noexcept override;
  TVMFFIObjectHandle handle() const { return data_; }
};

class VisitErrorContext : public ObjectRef {
public:
  FX_EXPORT static ObjectRef FindAccessPaths(const ObjectRef &root, const VisitErrorContext &context,
                                             bool allow_prefix_match);
};

/* ---- Modules ---- */

class Module : public ObjectRef {
public:
  explicit Module(const ObjectRef &module) : ObjectRef(module) {}
  FX_EXPORT static Module LoadFromFile(const String &path);
  FX_EXPORT static void VisitContextSymbols(const TypedFunction<void(String, void *)> &visit);
};

/* The virtual functions are in the order of the ABI's vtable. A class that does not override a function inherits its
 * body from here. An object begins with the pointer to its vtable; the header, to which handles point, follows. */
class FX_EXPORT ModuleObj : public Object {
public:
  virtual const char *kind() const = 0;
  FX_LOCAL virtual int GetPropertyMask() const;
  virtual ObjectRef GetFunction(const String &name) = 0;
  FX_LOCAL virtual bool ImplementsFunction(const String &name);
  FX_LOCAL virtual String GetFunctionDoc(const String &name);
  FX_LOCAL virtual String GetFunctionMetadata(const String &name);
  FX_LOCAL virtual void WriteToFile(const String &path, const String &format) const;
  FX_LOCAL virtual ObjectRef GetWriteFormats() const;
  FX_LOCAL virtual String SaveToBytes() const;
  FX_LOCAL virtual String InspectSource(const String &format) const;
  virtual void ImportModule(const Module &other);
  virtual void ClearImports();

  ObjectRef GetFunction(const String &name, bool query_imports);
  bool ImplementsFunction(const String &name, bool query_imports);
  String GetFunctionDoc(const String &name, bool query_imports);
  String GetFunctionMetadata(const String &name, bool query_imports);

private:
  [[noreturn]] FX_LOCAL void refuse(const char *what) const;

  ObjectRef imports_, import_lookup_cache_;
};

/* ---- Functions over values ---- */

FX_EXPORT Any DeepCopy(const Any &value);
FX_EXPORT String ReprPrint(const Any &value);
FX_EXPORT int64_t RecursiveHash(const Any &value);
FX_EXPORT bool RecursiveEq(const Any &left, const Any &right);
FX_EXPORT bool RecursiveLt(const Any &left, const Any &right);
FX_EXPORT bool RecursiveLe(const Any &left, const Any &right);
FX_EXPORT bool RecursiveGt(const Any &left, const Any &right);
FX_EXPORT bool RecursiveGe(const Any &left, const Any &right);
FX_EXPORT Any ToJSONGraph(const Any &value, const Any &metadata);
FX_EXPORT Any FromJSONGraph(const Any &json);

class StructuralEqual {
public:
  FX_EXPORT static bool Equal(const Any &left, const Any &right, bool map_free_vars, bool skip_tensor_content);
  FX_EXPORT static ObjectRef GetFirstMismatch(const Any &left, const Any &right, bool map_free_vars,
                                              bool skip_tensor_content);
};

class StructuralHash {
public:
  FX_EXPORT static uint64_t Hash(const Any &value, bool map_free_vars, bool skip_tensor_content);
};

namespace json {

/* Throws a ValueError for a string that is not JSON. If `error` is given, the message is stored there instead; on
 * success *error becomes empty. */
FX_EXPORT Any Parse(const String &text, String *error);
FX_EXPORT String Stringify(const Any &value, Optional<int> indent);
FX_EXPORT String Stringify(const Any &value, const Optional<int> &indent);

} // namespace json
} // namespace tvm::ffi
