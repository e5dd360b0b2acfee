/* registry.h - registers functions, and the members of classes of objects, for use by all libraries and languages.
 *
 *   TVM_FFI_STATIC_INIT_BLOCK() {
 *     namespace refl = tvm::ffi::reflection;
 *     refl::GlobalDef().def("my.add", [](int a, int b) { return a + b; }, "The sum.");
 *     refl::ObjectDef<PointObj>("A point.")
 *         .def_ro("x", &PointObj::x)
 *         .def_ro("y", &PointObj::y, refl::default_value(0))
 *         .def("norm", &PointObj::Norm);
 *   }
 *
 * A registration lasts until the process ends. A second registration of a name is a RuntimeError. */
#ifndef TVM_FFI_REFLECTION_REGISTRY_H_
#define TVM_FFI_REFLECTION_REGISTRY_H_

#include <tvm/ffi/function.h>
#include <tvm/ffi/memory.h>
#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/reflection/arg.h>
#include <tvm/ffi/reflection/creator.h>
#include <tvm/ffi/reflection/def_traits.h>
#include <tvm/ffi/reflection/references.h>

#include <functional>

namespace tvm::ffi {

class Overrides; /* extra/overrides.h */

namespace reflection {

class overridable; /* extra/overrides.h */

/** Bytes from an object's header to a field. */
template <typename Class, typename T> inline int64_t GetFieldByteOffsetToObject(T Class::*field) {
  /* The address of an object that is never accessed. The address must not be null, because casting a null pointer adds
   * no offset. */
  Class *whole = reinterpret_cast<Class *>(static_cast<uintptr_t>(4096));
  return reinterpret_cast<char *>(const_cast<std::remove_cv_t<T> *>(&(whole->*field))) -
         reinterpret_cast<char *>(static_cast<Object *>(whole));
}

namespace detail {

template <typename T, typename = void> struct HasContainerType : std::false_type {};
template <typename T> struct HasContainerType<T, std::void_t<typename T::ContainerType>> : std::true_type {};

/* ---- Functions whose addresses are registered ---- */

/** Writes a value as two words of 8 bytes. The caller reads it at once in words of that size; a processor would stall
 * after smaller writes. */
TVM_FFI_INLINE void PutByHalves(TVMFFIAny value, TVMFFIAny *result) {
  uint64_t low = static_cast<uint32_t>(value.type_index), high = value.zero_padding;
  uint64_t head = TVM_FFI_LITTLE_ENDIAN != 0 ? low | high << 32 : low << 32 | high;
  std::memcpy(static_cast<void *>(result), &head, sizeof(head));
  result->v_uint64 = value.v_uint64;
}

template <typename T> int GetField(void *address, TVMFFIAny *result) {
  TVM_FFI_SAFE_CALL_BEGIN();
  PutByHalves(ffi::detail::AnyUnsafe::MoveAnyToTVMFFIAny(Any(T(*static_cast<T *>(address)))), result);
  TVM_FFI_SAFE_CALL_END();
}
template <typename T> int SetField([[maybe_unused]] void *address, [[maybe_unused]] const TVMFFIAny *value) {
  TVM_FFI_SAFE_CALL_BEGIN();
  if constexpr (std::is_const_v<T>) {
    TVM_FFI_THROW(TypeError) << "a field that is const cannot be set";
  } else if constexpr (std::is_same_v<T, Any>) {
    *static_cast<T *>(address) = AnyView::CopyFromTVMFFIAny(*value);
  } else {
    *static_cast<T *>(address) = ffi::detail::CastWide<T>(*reinterpret_cast<const AnyView *>(value));
  }
  TVM_FFI_SAFE_CALL_END();
}
template <typename T, typename... Args> int CreateObject(TVMFFIObjectHandle *result) {
  TVM_FFI_SAFE_CALL_BEGIN();
  *result = ffi::detail::ObjectUnsafe::MoveObjectPtrToTVMFFIObjectPtr(make_object<T>(Args{}...));
  TVM_FFI_SAFE_CALL_END();
}

/** Makes a function of a method, with the object as the first parameter. Returns any other argument unchanged. */
template <typename F> F &&WithSelf(F &&f) { return std::forward<F>(f); }
template <typename Class, typename R, typename... Args> auto WithSelf(R (Class::*method)(Args...)) {
  if constexpr (std::is_base_of_v<ObjectRef, Class>) {
    return [method](Class self, Args... args) -> R { return (self.*method)(std::forward<Args>(args)...); };
  } else {
    static_assert(std::is_base_of_v<Object, Class>, "a method must belong to a class below Object or ObjectRef");
    return [method](const Class *self, Args... args) -> R {
      return (const_cast<Class *>(self)->*method)(std::forward<Args>(args)...);
    };
  }
}
template <typename Class, typename R, typename... Args> auto WithSelf(R (Class::*method)(Args...) const) {
  if constexpr (std::is_base_of_v<ObjectRef, Class>) {
    return [method](const Class &self, Args... args) -> R { return (self.*method)(std::forward<Args>(args)...); };
  } else {
    static_assert(std::is_base_of_v<Object, Class>, "a method must belong to a class below Object or ObjectRef");
    return [method](const Class *self, Args... args) -> R { return (self->*method)(std::forward<Args>(args)...); };
  }
}

/* ---- Calls of the C ABI, out of line ---- */

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void RegisterAttr(int32_t type_index, const char *name, AnyView value) {
  TVMFFIByteArray text = AsByteArray(name);
  TVMFFIAny raw = value.CopyToTVMFFIAny();
  TVM_FFI_CHECK_SAFE_CALL(TVMFFITypeRegisterAttr(type_index, &text, &raw));
}
/** Fills in the metadata and makes the call that registers `info`. */
template <typename Builder, typename Call> void Finish(Builder *info, Call call) {
  std::string metadata = Metadata::ToJSON(info->metadata_);
  info->metadata = TVMFFIByteArray{metadata.data(), metadata.size()};
  TVM_FFI_CHECK_SAFE_CALL(call());
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void RegisterField(int32_t type_index, FieldInfoBuilder *info) {
  Finish(info, [&] { return TVMFFITypeRegisterField(type_index, info); });
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void RegisterMethod(int32_t type_index, MethodInfoBuilder *info) {
  Finish(info, [&] { return TVMFFITypeRegisterMethod(type_index, info); });
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void RegisterGlobal(MethodInfoBuilder *info) {
  Finish(info, [&] { return TVMFFIFunctionSetGlobalFromMethodInfo(info, 0); });
}
/** "my.Class.name" */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string MemberName(const char *type_key, const char *name) {
  return std::string(type_key).append(1, '.').append(name);
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void SaySchema(_MetadataType *metadata, std::string schema) {
  metadata->emplace_back("type_schema", String(std::move(schema)));
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void SayArgs(_MetadataType *metadata, const std::string &args) {
  if (!args.empty()) metadata->emplace_back("params", String(args));
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline MethodInfoBuilder MethodInfo(const char *name, const Function &f,
                                                                        std::string schema, int64_t flags = 0) {
  MethodInfoBuilder info{};
  info.name = AsByteArray(name);
  info.flags = flags;
  info.method = AnyView(f).CopyToTVMFFIAny();
  SaySchema(&info.metadata_, std::move(schema));
  return info;
}

/** Registers an attribute of a type: a value unchanged, anything else as a function made of it. */
template <typename T>
inline constexpr bool kIsValue = std::is_convertible_v<T, AnyView> || std::is_convertible_v<std::decay_t<T>, AnyView>;
template <typename T>
TVM_FFI_COLD_CODE void RegisterAttrOf(int32_t type_index, const char *type_key, const char *name, T &&value) {
  if constexpr (kIsValue<T>) {
    RegisterAttr(type_index, name, Any(value));
  } else {
    Function f = Function::FromTyped(WithSelf(std::forward<T>(value)), MemberName(type_key, name));
    RegisterAttr(type_index, name, f);
  }
}

/** Defined in extra/overrides.h. */
template <typename Class> void RegisterOverrides(int32_t type_index);

} // namespace detail

/** Registers global functions. The arguments after the function are documentation, the names of its parameters (arg.h),
 * or traits of def_traits.h. */
class GlobalDef {
public:
  /** Registers a function under a name. RuntimeError if the name is registered already. */
  template <typename F, typename... Extra> GlobalDef &def(const char *name, F &&f, const Extra &...extra) {
    std::string schema = ffi::detail::FunctionInfo<std::decay_t<F>>::TypeSchema();
    auto [made, args] = detail::MakeNamed(false, std::forward<F>(f), name, extra...);
    return Register(name, made, std::move(schema), args, extra...);
  }
  /** Registers a packed function. The function fills in defaults itself. */
  template <typename F, typename... Extra> GlobalDef &def_packed(const char *name, F f, const Extra &...extra) {
    return Register(name, Function::FromPacked(std::move(f)), TypeTraits<Function>::TypeSchema(),
                    detail::NamesToJSON(extra...), extra...);
  }
  /** Registers a method as a function whose first parameter is the object. */
  template <typename F, typename... Extra> GlobalDef &def_method(const char *name, F &&f, const Extra &...extra) {
    std::string schema = ffi::detail::FunctionInfo<std::decay_t<F>>::TypeSchema();
    auto [made, args] = detail::MakeNamed(true, detail::WithSelf(std::forward<F>(f)), name, extra...);
    return Register(name, made, std::move(schema), args, extra...);
  }

private:
  template <typename... Extra>
  TVM_FFI_COLD_CODE GlobalDef &Register(const char *name, const Function &f, std::string schema,
                                        const std::string &args, const Extra &...extra) {
    MethodInfoBuilder info = detail::MethodInfo(name, f, std::move(schema));
    detail::SayArgs(&info.metadata_, args);
    (detail::Say(&info, extra), ...);
    detail::RegisterGlobal(&info);
    return *this;
  }
};

/** Registers a class of objects. The destructor completes the registration. If the class is copy constructible, it adds
 * a function that copies objects. If the class is default constructible or constructible from UnsafeInit, it adds a
 * function that makes objects without arguments, and the constructor that takes the fields, unless there is an init or
 * init(false). */
template <typename Class> class ObjectDef {
  static_assert(std::is_base_of_v<Object, Class>, "register a class of objects, not a class of references");

public:
  /** Registers the type. The arguments are documentation or traits of def_traits.h. */
  template <typename... Extra>
  explicit ObjectDef(const Extra &...extra)
      : type_index_(Class::_GetOrAllocRuntimeTypeIndex()), type_key_(Class::_type_key) {
    TVMFFITypeMetadata info{};
    info.total_size = static_cast<int32_t>(sizeof(Class));
    info.structural_eq_hash_kind = Class::_type_s_eq_hash_kind;
    if constexpr (std::is_default_constructible_v<Class>) {
      info.creator = detail::CreateObject<Class>;
    } else if constexpr (std::is_constructible_v<Class, UnsafeInit>) {
      info.creator = detail::CreateObject<Class, UnsafeInit>;
    }
    creator_ = info.creator;
    (SayOfType(&info, extra), ...);
    TVM_FFI_CHECK_SAFE_CALL(TVMFFITypeRegisterMetadata(type_index_, &info));
  }
  ObjectDef(const ObjectDef &) = delete;
  ObjectDef &operator=(const ObjectDef &) = delete;
  TVM_FFI_COLD_CODE ~ObjectDef() noexcept(false) {
    if constexpr (std::is_copy_constructible_v<Class>) {
      def_type_attr(type_attr::kShallowCopy.name,
                    [](const Class *self) { return ObjectRef(make_object<Class>(*self)); });
    }
    if (creator_ != nullptr) {
      def_type_attr(type_attr::kNew.name, [create = creator_]() -> ObjectRef {
        TVMFFIObjectHandle handle;
        TVM_FFI_CHECK_SAFE_CALL(create(&handle));
        return ObjectRef(ffi::detail::ObjectUnsafe::ObjectPtrFromOwned<Object>(static_cast<TVMFFIObject *>(handle)));
      });
      if (!has_init_) {
        if (std::optional<Function> register_init = Function::GetGlobal("ffi._RegisterFFIInit")) {
          (*register_init)(type_index_);
        }
      }
    }
    if constexpr (std::is_base_of_v<Overrides, Class>) detail::RegisterOverrides<Class>(type_index_);
    def_type_attr(type_attr::kTypeFinal.name, static_cast<bool>(Class::_type_final));
  }

  /** Registers a field of this class or of a base class: read-only (ro), or also writable (rw). */
  template <typename T, typename BaseClass, typename... Extra>
  ObjectDef &def_ro(const char *name, T BaseClass::*field, const Extra &...extra) {
    return Field(name, field, 0, extra...);
  }
  /** Registers a field that can be set; the class must be _type_mutable. */
  template <typename T, typename BaseClass, typename... Extra>
  ObjectDef &def_rw(const char *name, T BaseClass::*field, const Extra &...extra) {
    static_assert(Class::_type_mutable, "a field can be written only where the class is _type_mutable");
    static_assert(!std::is_const_v<T>, "a const member is read-only: use def_ro");
    return Field(name, field, kTVMFFIFieldFlagBitMaskWritable, extra...);
  }
  /** Registers a method of the class, or a function whose first parameter is the object. */
  template <typename F, typename... Extra> ObjectDef &def(const char *name, F &&f, const Extra &...extra) {
    Method(name, 0, std::forward<F>(f), extra...);
    return *this;
  }
  /** Registers a static method. */
  template <typename F, typename... Extra> ObjectDef &def_static(const char *name, F &&f, const Extra &...extra) {
    Method(name, kTVMFFIFieldFlagBitMaskIsStaticMethod, std::forward<F>(f), extra...);
    return *this;
  }
  /** Registers a constructor. */
  template <typename... Args, typename... Extra> ObjectDef &def(init<Args...>, const Extra &...extra) {
    has_init_ = true;
    Function made = Method(type_attr::kInit.name, kTVMFFIFieldFlagBitMaskIsStaticMethod,
                           &init<Args...>::template execute<Class>, extra...);
    detail::RegisterAttr(type_index_, type_attr::kInit.name, made);
    return *this;
  }
  /** Registers an attribute of the type: a value, or a function. */
  template <typename T> ObjectDef &def_type_attr(const char *name, T &&value) {
    detail::RegisterAttrOf(type_index_, type_key_, name, std::forward<T>(value));
    return *this;
  }
  /** Registers a method, or a function of the object, that visits the references in members that are not registered as
   * fields: void Visit(const ReferenceVisitor &visit) const { visit(member_); }. With it Python's garbage collector
   * frees cycles through such members. The function may run on any thread, while other threads are stopped, so it only
   * reads the object. The function visits each reference as often as the object has it, and no other reference. If it
   * throws, the objects behind the members that it has not visited stay alive. */
  template <auto Traverse> ObjectDef &def_traverse() {
    void (*traverse)(TVMFFIObject *, const ReferenceVisitor &) = [](TVMFFIObject *object,
                                                                    const ReferenceVisitor &visit) {
      const Class *self = ffi::detail::ObjectUnsafe::RawObjectPtrFromUnowned<Class>(object);
      try {
        std::invoke(Traverse, self, visit);
      } catch (...) { /* the collector assumes that another holder has the other references */
      }
    };
    return def_type_attr("__ffi_traverse__", reinterpret_cast<void *>(traverse));
  }
  /** Registers how other values convert to a TSelf, for fields of that type that are set from Python. */
  template <typename TSelf> ObjectDef &def_convert() {
    if constexpr (detail::HasContainerType<TSelf>::value) {
      static_assert(std::is_same_v<typename TSelf::ContainerType, Class>, "a reference to another class");
    }
    return def_type_attr(type_attr::kConvert.name, &detail::FFIConvertFromAnyViewToObjectRef<TSelf>);
  }

private:
  template <typename T> void SayOfType(TVMFFITypeMetadata *info, const T &what) {
    if constexpr (std::is_same_v<T, init<>>) {
      if (!what.includes()) has_init_ = true;
    } else if constexpr (!std::is_base_of_v<InfoTrait, T>) {
      detail::Say(info, what);
    }
  }
  template <typename T, typename BaseClass, typename... Extra>
  TVM_FFI_COLD_CODE ObjectDef &Field(const char *name, T BaseClass::*field, int64_t flags, const Extra &...extra) {
    static_assert(std::is_base_of_v<BaseClass, Class>, "a field of this class or one above it");
    using Value = std::remove_const_t<T>;
    FieldInfoBuilder info{};
    info.name = AsByteArray(name);
    info.field_static_type_index = TypeToFieldStaticTypeIndex<Value>::value;
    info.offset = GetFieldByteOffsetToObject<Class, T>(field);
    info.size = sizeof(T);
    info.alignment = alignof(T);
    info.flags = flags;
    if constexpr (ffi::detail::CheckField<Value>()) {
      info.getter = detail::GetField<Value>;
      info.setter = reinterpret_cast<void *>(detail::SetField<T>);
    }
    detail::SaySchema(&info.metadata_, ffi::detail::TypeSchema<T>::v());
    (detail::Say(&info, extra), ...);
    constexpr int64_t kMade = kTVMFFIFieldFlagBitMaskDefaultFromFactory;
    if ((info.flags & (kTVMFFIFieldFlagBitMaskHasDefault | kMade)) == kTVMFFIFieldFlagBitMaskHasDefault) {
      if constexpr (ffi::detail::CheckField<Value>()) {
        detail::CheckDefault<Value>(AnyView::CopyFromTVMFFIAny(info.default_value_or_factory),
                                    detail::MemberName(type_key_, name));
      }
    }
    detail::RegisterField(type_index_, &info);
    return *this;
  }
  template <typename F, typename... Extra>
  TVM_FFI_COLD_CODE Function Method(const char *name, int64_t flags, F &&f, const Extra &...extra) {
    static_assert(!(std::is_same_v<Extra, overridable> || ...) || std::is_base_of_v<Overrides, Class>,
                  "a class with overridable methods has ffi::Overrides as a base");
    std::string schema = ffi::detail::FunctionInfo<std::decay_t<F>>::TypeSchema();
    bool has_object = (flags & kTVMFFIFieldFlagBitMaskIsStaticMethod) == 0;
    auto [made, args] = detail::MakeNamed(has_object, detail::WithSelf(std::forward<F>(f)),
                                          detail::MemberName(type_key_, name), extra...);
    MethodInfoBuilder info = detail::MethodInfo(name, made, std::move(schema), flags);
    detail::SayArgs(&info.metadata_, args);
    (detail::Say(&info, extra), ...);
    detail::RegisterMethod(type_index_, &info);
    return made;
  }

  int32_t type_index_;
  const char *type_key_;
  TVMFFIObjectCreator creator_ = nullptr;
  bool has_init_ = false;

  template <typename T> friend class OverloadObjectDef;
};

/** Registers attributes of a type that other code registers. */
template <typename Class, typename = std::enable_if_t<std::is_base_of_v<Object, Class>>> class TypeAttrDef {
public:
  /** For a type that is registered, or will be. */
  template <typename... Extra>
  explicit TypeAttrDef(const Extra &...)
      : type_index_(Class::_GetOrAllocRuntimeTypeIndex()), type_key_(Class::_type_key) {}

  /** Registers a value, or a function made from a callable, as an attribute. */
  template <typename T> TypeAttrDef &def(const char *name, T &&value) {
    detail::RegisterAttrOf(type_index_, type_key_, name, std::forward<T>(value));
    return *this;
  }
  /** Registers a value as an attribute. */
  template <typename T> TypeAttrDef &attr(const char *name, T value) {
    detail::RegisterAttr(type_index_, name, AnyView(value));
    return *this;
  }
  /** Converts the value to the type of the key. */
  template <typename T, typename Value> TypeAttrDef &attr(AttrKey<T> key, Value &&value) {
    T typed(std::forward<Value>(value));
    detail::RegisterAttr(type_index_, key.name, AnyView(typed));
    return *this;
  }
  /** Registers a C++ function as a hook that is called without packing its arguments. */
  template <auto Fn, typename T> TypeAttrDef &native_fn_attr(AttrKey<T> key) {
    return attr(key, T::template FromNative<Fn>());
  }
  /** Registers the conversion of values to TSelf, a reference to this type. */
  template <typename TSelf> TypeAttrDef &def_convert() {
    if constexpr (detail::HasContainerType<TSelf>::value) {
      static_assert(std::is_same_v<typename TSelf::ContainerType, Class>, "a reference to another class");
    }
    return def(type_attr::kConvert.name, &detail::FFIConvertFromAnyViewToObjectRef<TSelf>);
  }

private:
  int32_t type_index_;
  const char *type_key_;
};

/** Makes sure that the column of an attribute exists, for code that keeps its address. */
inline void EnsureTypeAttrColumn(std::string_view name) {
  TVMFFIByteArray text{name.data(), name.size()};
  TVMFFIAny none;
  ffi::detail::PutNone(&none);
  TVM_FFI_CHECK_SAFE_CALL(TVMFFITypeRegisterAttr(kTVMFFINone, &text, &none));
}
/** Makes sure that the column of an attribute exists, for code that keeps its address. */
template <typename T> inline void EnsureTypeAttrColumn(AttrKey<T> key) { EnsureTypeAttrColumn(key.name); }

namespace detail {

/** Each form exists twice. If several overloads begin with Args, the form without further parameters is more
 * specialised and so is chosen for the overload that has exactly Args. */
template <typename... Args> struct OverloadCastImpl {
  template <typename R> constexpr auto operator()(R (*f)(Args...)) const noexcept { return f; }
  template <typename R, typename... Rest> constexpr auto operator()(R (*f)(Args..., Rest...)) const noexcept {
    return f;
  }
  template <typename R, typename Class>
  constexpr auto operator()(R (Class::*f)(Args...), std::false_type = {}) const noexcept {
    return f;
  }
  template <typename R, typename Class, typename... Rest>
  constexpr auto operator()(R (Class::*f)(Args..., Rest...), std::false_type = {}) const noexcept {
    return f;
  }
  template <typename R, typename Class>
  constexpr auto operator()(R (Class::*f)(Args...) const, std::true_type) const noexcept {
    return f;
  }
  template <typename R, typename Class, typename... Rest>
  constexpr auto operator()(R (Class::*f)(Args..., Rest...) const, std::true_type) const noexcept {
    return f;
  }
};

} // namespace detail

/** overload_cast<int>(f) is the overload of f whose parameters are, or begin with, the given types.
 * overload_cast<int>(&C::f, const_) is the const overload. */
template <typename... Args> inline constexpr detail::OverloadCastImpl<Args...> overload_cast = {};
/** Selects the const overload in overload_cast. */
inline constexpr auto const_ = std::true_type{};

} // namespace reflection
} // namespace tvm::ffi

#endif /* TVM_FFI_REFLECTION_REGISTRY_H_ */
