/* shapes.h - the classes of tvm::ffi that mangled names speak of: their size, layout and how they are passed.
 *
 * Compiled clients have the full classes from headers; here is only what agrees with them at the binary level. A class
 * with a copy constructor or destructor of its own is passed and returned through memory, and that is all that most of
 * these need. None of it comes from a C++ library's headers: std::exception is the platform ABI's, declared here, so
 * that no compiler's own library gets in and the bridge runs on whatever libstdc++ its clients run on.
 *
 * Errors are thrown as tvm::ffi::Error. Arguments are borrowed, results owned. Every function may be called from any
 * thread. */
#ifndef FX_SHAPES_H_
#define FX_SHAPES_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/ffi/c_api.h>

#define FX_EXPORT __attribute__((visibility("default")))
#define FX_LOCAL __attribute__((visibility("hidden"))) /* a member that clients have themselves, inline */

/* Two of the names below are libstdc++'s alone. */
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
  class Init { /* as long as there is one, std::cout and the like can be used */
  public:
    Init();
    ~Init();
  };
};
#endif

/* What `typeid` needs to see. */
class type_info {
public:
  virtual ~type_info();
};

} // namespace std

#ifdef FX_LIBSTDCXX
namespace __cxxabiv1 {

/* What the unwinding of a cancelled thread looks like to a handler; it must go on. */
class __forced_unwind {
  virtual ~__forced_unwind() throw();
  virtual void __pure_dummy() = 0;
};

} // namespace __cxxabiv1
#endif

namespace tvm {
namespace ffi {

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
  /* Gives the value away. */
  TVMFFIAny release() {
    TVMFFIAny owned = cell_;
    cell_ = TVMFFIAny{};
    return owned;
  }

protected:
  TVMFFIAny cell_;
};

/* A text, also as a value of type Optional<String>, which is None without one; the same layout holds Bytes. */
class String : public Any {
public:
  using Any::Any;
  /* The empty text. */
  String() { cell_.type_index = kTVMFFISmallStr; }
};

/* Optional<int>: two layouts, the same name. A parameter by value is of the old one, a reference is to the new one. */
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

/* A pointer to an object, or to none: also Optional<ObjectRef>, and every class derived without members. */
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

/* The virtual functions are in the order of the table; what they do here is what a class that does not override them
 * gets. The table's address comes first, then the header, which is what handles point to. */
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

/* With an `error` there is no exception for what is no JSON: it gets the message, else the empty text. */
FX_EXPORT Any Parse(const String &text, String *error);
FX_EXPORT String Stringify(const Any &value, Optional<int> indent);
FX_EXPORT String Stringify(const Any &value, const Optional<int> &indent);

} // namespace json
} // namespace ffi
} // namespace tvm

#endif /* FX_SHAPES_H_ */
