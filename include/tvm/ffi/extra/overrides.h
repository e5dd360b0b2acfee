/* overrides.h - methods of a C++ class that classes of Python override.
 *
 *   class ShapeObj : public ffi::Object, public ffi::Overrides {
 *   public:
 *     double Area() const { return CallOverride("area", &ShapeObj::DoArea); } // C++ calls this function
 *     virtual double DoArea() const { return 0; }                             // classes of C++ override this one
 *     TVM_FFI_DECLARE_OBJECT_INFO("shapes.Shape", ShapeObj, ffi::Object);
 *   };
 *
 *   refl::ObjectDef<ShapeObj>().def(refl::init<>()).def("area", &ShapeObj::DoArea, refl::overridable());
 *
 * If the Python class of the object overrides `area`, Area() calls the method of the Python object, otherwise DoArea().
 * `super().area()` in Python calls DoArea(). An object belongs to a class of Python from the moment at which its
 * `__init__` gets the object from the constructor: in the constructor, Area() calls DoArea(), as in C++.
 *
 * Any thread may call an override. The exception of an override is thrown as ffi::Error. A call is a RuntimeError
 * during the destruction of the object, and after the interpreter began to exit. */
#ifndef TVM_FFI_EXTRA_OVERRIDES_H_
#define TVM_FFI_EXTRA_OVERRIDES_H_

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/memory.h>
#include <tvm/ffi/reflection/registry.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace tvm::ffi {

namespace detail {

/** The overridable methods of one class of Python, and whether the class overrides each. The class and its objects
 * share the table; Python code sets the marks, also later. */
class OverrideTableObj : public Object {
public:
  /** One overridable method. */
  struct Method {
    std::string name;
    Function call;                         /**< calls the method of that name of its first argument */
    std::atomic<bool> is_overridden{false}; /**< relaxed: a call during the change may see either */
  };

  OverrideTableObj(String cls, const Array<String> &names, const Array<Function> &calls)
      : class_name(std::move(cls)), size(names.size()), methods(new Method[names.size()]) {
    for (size_t i = 0; i < size; ++i) {
      methods[i].name = std::string(names[static_cast<int64_t>(i)]);
      methods[i].call = calls[static_cast<int64_t>(i)];
    }
  }
  const Method *Find(const char *name) const {
    for (size_t i = 0; i < size; ++i) {
      if (std::strcmp(methods[i].name.c_str(), name) == 0) return &methods[i];
    }
    return nullptr;
  }

  const String class_name;
  const size_t size;
  const std::unique_ptr<Method[]> methods;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy.OverrideTable", OverrideTableObj, Object);
};

/** The result of an override that does not convert: TypeError, or OverflowError for a number. */
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void
ThrowResultMismatch(const std::string &method, const std::string &expected, const std::string &given) {
  if (IsOutsideRange(given)) {
    TVM_FFI_THROW(OverflowError) << "Value out of range on return value when calling: `" << method << "`. Expected `"
                                 << expected << "` but got " << given;
  }
  TVM_FFI_THROW(TypeError) << "Mismatched type on return value when calling: `" << method << "`. Expected `" << expected
                           << "` but got `" << given << "`";
  TVM_FFI_UNREACHABLE();
}

} // namespace detail

/** A method of Python that overrides a method of an object. Callers use the method at once: another thread may change
 * the class. */
class Override {
public:
  /** No override. */
  Override() = default;
  /** Whether there is an override. */
  explicit operator bool() const { return method_ != nullptr; }
  /** Calls the override; the template arguments are the types of the result and of the parameters. Throws the error of
   * the override; TypeError or OverflowError if its result does not convert. */
  template <typename R, typename... Params> R Call(Params... args) const {
    static_assert(!std::is_reference_v<R>, "the result of an overridable method is a value");
    /* the override may release the last other reference to the object */
    ObjectPtr<Object> self = detail::ObjectUnsafe::ObjectPtrFromUnowned<Object>(const_cast<Object *>(self_));
    Any result = method_->call(self, std::forward<Params>(args)...);
    if constexpr (std::is_same_v<R, Any>) {
      return result;
    } else if constexpr (!std::is_void_v<R>) {
      return Convert<R>(std::move(result));
    }
  }

private:
  using Table = detail::OverrideTableObj;

  Override(const Table *table, const Table::Method *method, const Object *self)
      : table_(table), method_(method), self_(self) {}
  std::string FullName() const { return std::string(table_->class_name).append(1, '.').append(method_->name); }
  template <typename R> R Convert(Any &&result) const {
    if constexpr (TypeTraits<R>::storage_enabled) {
      if (TVM_FFI_PREDICT_TRUE(detail::AnyUnsafe::CheckAnyStrict<R>(result))) {
        return detail::AnyUnsafe::MoveFromAnyAfterCheck<R>(std::move(result));
      }
    }
    detail::Widening widening;
    std::optional<R> value = AnyView(result).template try_cast<R>();
    if (value.has_value()) return *std::move(value);
    TVMFFIAny given = AnyView(result).CopyToTVMFFIAny();
    detail::ThrowResultMismatch(FullName(), detail::Type2Str<R>::v(), TypeTraits<R>::GetMismatchTypeInfo(&given));
  }

  const Table *table_ = nullptr;
  const Table::Method *method_ = nullptr;
  const Object *self_ = nullptr;

  friend class Overrides;
};

/** Base of an object whose class has overridable methods, beside Object: one word, which is null unless the object is
 * of a class of Python that derives from the class of its type. */
class Overrides {
public:
  Overrides() = default;
  /** A copy is not an object of the class of Python. */
  Overrides(const Overrides &) {}
  Overrides &operator=(const Overrides &) { return *this; }
  ~Overrides() {
    if (Table *table = table_.load(std::memory_order_acquire)) detail::DropStrong(HeaderOf(table));
  }

  /** Calls the override of a method by the Python class of the object, or `method` of this object if there is none. The
   * name is the one under which the class registers the method as refl::overridable(). */
  template <typename Class, typename R, typename... Params, typename... Args>
  TVM_FFI_INLINE R CallOverride(const char *name, R (Class::*method)(Params...) const, Args &&...args) const {
    const Class *self = static_cast<const Class *>(this);
    if (TVM_FFI_PREDICT_TRUE(IsPlain())) return (self->*method)(std::forward<Args>(args)...);
    return CallByTable<R, Params...>(self, name, method, std::forward<Args>(args)...);
  }
  /** Calls the override of a method that is not const, or the method. */
  template <typename Class, typename R, typename... Params, typename... Args>
  TVM_FFI_INLINE R CallOverride(const char *name, R (Class::*method)(Params...), Args &&...args) {
    Class *self = static_cast<Class *>(this);
    if (TVM_FFI_PREDICT_TRUE(IsPlain())) return (self->*method)(std::forward<Args>(args)...);
    return CallByTable<R, Params...>(self, name, method, std::forward<Args>(args)...);
  }

  /** The override of a method, if there is one: for a function that needs more than CallOverride. `self` is the object
   * that has these Overrides. RuntimeError if the class does not declare the method, or if the object is being
   * destroyed. */
  TVM_FFI_INLINE Override FindOverride(const Object *self, const char *name) const {
    return TVM_FFI_PREDICT_TRUE(IsPlain()) ? Override() : Find(self, name);
  }
  /** The name of the object's class, for messages: the class of Python, otherwise the key of the type. */
  std::string ClassName(const Object *self) const {
    const Table *table = table_.load(std::memory_order_acquire);
    return table != nullptr ? std::string(table->class_name) : self->GetTypeKey();
  }

private:
  using Table = detail::OverrideTableObj;

  static TVMFFIObject *HeaderOf(const Object *object) { return detail::ObjectUnsafe::GetHeader(object); }

  /** Whether the object has no table. Relaxed: Find loads the table again. */
  TVM_FFI_INLINE bool IsPlain() const { return table_.load(std::memory_order_relaxed) == nullptr; }
  template <typename R, typename... Params, typename Class, typename Method, typename... Args>
  TVM_FFI_NO_INLINE R CallByTable(Class *self, const char *name, Method method, Args &&...args) const {
    if (Override found = Find(self, name)) return found.Call<R, Params...>(std::forward<Args>(args)...);
    return (self->*method)(std::forward<Args>(args)...);
  }
  TVM_FFI_NO_INLINE Override Find(const Object *self, const char *name) const {
    const Table *table = table_.load(std::memory_order_acquire);
    const Table::Method *method = table->Find(name);
    if (TVM_FFI_PREDICT_FALSE(method == nullptr)) {
      TVM_FFI_THROW(RuntimeError) << "`" << self->GetTypeKey() << "." << name << "` is not registered as overridable";
    }
    if (!method->is_overridden.load(std::memory_order_relaxed)) return Override();
    if (TVM_FFI_PREDICT_FALSE(self->use_count() == 0)) {
      TVM_FFI_THROW(RuntimeError) << "`" << table->class_name << "." << name
                                  << "` was called during the destruction of its object";
    }
    return Override(table, method, self);
  }
  /** Makes the object one of a class of Python. Release: a thread that sees the table sees its contents. The reference
   * to an earlier table of another class is never released, because another thread may be using that table. */
  void Connect(ObjectPtr<Table> table) {
    auto *fresh = static_cast<Table *>(table.get());
    Table *old = table_.exchange(fresh, std::memory_order_acq_rel);
    if (old != fresh) detail::ObjectUnsafe::MoveObjectPtrToTVMFFIObjectPtr(std::move(table)); /* the object owns it */
  }

  std::atomic<Table *> table_{nullptr}; /* acquire: pairs with Connect */

  template <typename Class> friend void reflection::detail::RegisterOverrides(int32_t type_index);
};

/** Throws the NotImplementedError of a method that only derived classes implement, in place of `= 0`: Python needs a
 * class with objects. */
template <typename Class> [[noreturn]] TVM_FFI_COLD_CODE void ThrowPureVirtual(const Class *self, const char *name) {
  TVM_FFI_THROW(NotImplementedError) << "`" << static_cast<const Overrides *>(self)->ClassName(self)
                                     << "` does not implement the pure virtual method `" << name << "`";
  TVM_FFI_UNREACHABLE();
}

namespace reflection {

/** overridable(): classes of Python may override the method. The class has Overrides as a base, and its function for
 * C++ calls CallOverride. */
class overridable : public InfoTrait {
public:
  /** Marks the method in its metadata. */
  void Apply(MethodInfoBuilder *info) const { info->metadata_.emplace_back("overridable", true); }
};

namespace detail {

/** Registers the functions by which Python code makes a table (of the name of a class, and of names and functions of
 * its overridable methods), sets the mark of a method, and gives an object its table. ObjectDef calls this. */
template <typename Class> void RegisterOverrides(int32_t type_index) {
  using Table = ffi::detail::OverrideTableObj;
  Array<Function> functions{
      Function::FromTyped([](String class_name, const Array<String> &names, const Array<Function> &calls) {
        return make_object<Table>(std::move(class_name), names, calls);
      }),
      Function::FromTyped([](Table *table, int64_t i, bool is_overridden) {
        table->methods[static_cast<size_t>(i)].is_overridden.store(is_overridden, std::memory_order_relaxed);
      }),
      Function::FromTyped([](const Class *self, ObjectPtr<Table> table) {
        const_cast<Class *>(self)->Overrides::Connect(std::move(table));
      })};
  RegisterAttr(type_index, "__ffi_overrides__", functions);
}

} // namespace detail
} // namespace reflection
} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_OVERRIDES_H_ */
