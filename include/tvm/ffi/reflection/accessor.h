/* accessor.h - access to registered fields, methods and attributes of types; reads and sets fields by name. */
#ifndef TVM_FFI_REFLECTION_ACCESSOR_H_
#define TVM_FFI_REFLECTION_ACCESSOR_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/native_function.h>

#include <string_view>

namespace tvm::ffi {
namespace reflection {

/** The bytes of a C string, borrowed. */
inline constexpr TVMFFIByteArray AsByteArray(const char *text) { return {text, std::char_traits<char>::length(text)}; }

/** The name of an attribute of types, with the C++ type of its values. */
template <typename T> struct AttrKey {
  /** The C++ type of the attribute's values. */
  using ValueType = T;
  const char *name; /**< the name of the attribute */
  /** The name of the attribute. */
  constexpr operator const char *() const { return name; }
  /** The value of the attribute as a T; nullopt for None, TypeError for another type. */
  TVM_FFI_INLINE std::optional<T> ValueFrom(AnyView value) const {
    if (value == nullptr) return std::nullopt;
    return value.template as_or_throw<T>();
  }
};

namespace detail {

/** Finds an info by name among n infos; null if no info has the name. */
template <typename Info> inline const Info *FindNamed(const Info *infos, int32_t n, std::string_view name) {
  for (int32_t i = 0; i < n; ++i) {
    if (ToStringView(infos[i].name) == name) return &infos[i];
  }
  return nullptr;
}

} // namespace detail

/** A field, or method, that the type itself declares. RuntimeError if there is none; ancestors are not searched. */
inline const TVMFFIFieldInfo *GetFieldInfo(std::string_view type_key, const char *field_name) {
  const TypeInfo *info = TVMFFIGetTypeInfo(TypeKeyToIndex(type_key));
  const TVMFFIFieldInfo *field = detail::FindNamed(info->fields, info->num_fields, field_name);
  if (field == nullptr) TVM_FFI_THROW(RuntimeError) << "Cannot find field `" << field_name << "` in " << type_key;
  return field;
}
/** A method that the type itself declares. RuntimeError if there is none; ancestors are not searched. */
inline const TVMFFIMethodInfo *GetMethodInfo(std::string_view type_key, const char *method_name) {
  const TypeInfo *info = TVMFFIGetTypeInfo(TypeKeyToIndex(type_key));
  const TVMFFIMethodInfo *method = detail::FindNamed(info->methods, info->num_methods, method_name);
  if (method == nullptr) TVM_FFI_THROW(RuntimeError) << "Cannot find method `" << method_name << "` in " << type_key;
  return method;
}
/** The function of a method that the type itself declares. RuntimeError if there is none; ancestors
 * are not searched. */
inline Function GetMethod(std::string_view type_key, const char *method_name) {
  return AnyView::CopyFromTVMFFIAny(GetMethodInfo(type_key, method_name)->method).cast<Function>();
}

/** Sets the field at `address`. Returns 0, or -1 with an error pending. */
inline int CallFieldSetter(const TVMFFIFieldInfo *field, void *address, const TVMFFIAny *value) {
  if ((field->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) == 0) {
    return reinterpret_cast<TVMFFIFieldSetter>(field->setter)(address, value);
  }
  TVMFFIAny args[2], result;
  ffi::detail::PutPointer(kTVMFFIOpaquePtr, address, &args[0]);
  args[1] = *value;
  ffi::detail::PutNone(&result);
  return TVMFFIFunctionCall(static_cast<TVMFFIObjectHandle>(field->setter), args, 2, &result);
}
/** Sets the field at `address` to its default. Returns 0, or -1 with an error pending. */
inline int CallFieldSetterToDefault(const TVMFFIFieldInfo *field, void *address) {
  const TVMFFIAny *value = &field->default_value_or_factory;
  if ((field->flags & kTVMFFIFieldFlagBitMaskDefaultFromFactory) == 0) return CallFieldSetter(field, address, value);
  Expected<Any> made = AnyView::CopyFromTVMFFIAny(*value).cast<Function>().CallExpected();
  if (made.is_err()) {
    ffi::detail::SetSafeCallRaised(made.error());
    return -1;
  }
  return CallFieldSetter(field, address,
                         ffi::detail::AnyUnsafe::TVMFFIAnyPtrFromAny(
                             ffi::detail::ExpectedUnsafe::GetData(static_cast<const Expected<Any> &>(made))));
}
/** Sets the field at `address` to its default; throws if that fails. */
inline void SetFieldToDefault(const TVMFFIFieldInfo *field, void *address) {
  TVM_FFI_CHECK_SAFE_CALL(CallFieldSetterToDefault(field, address));
}

/** Reads a field of any object of the type. */
class FieldGetter {
public:
  /** For a field; the type keeps the info. */
  explicit FieldGetter(const TVMFFIFieldInfo *field) : field_(field) {}
  /** For a field that the type itself declares. RuntimeError if there is none. */
  FieldGetter(std::string_view type_key, const char *field_name) : FieldGetter(GetFieldInfo(type_key, field_name)) {}
  /** The value of the field in an object. */
  Any operator()(const Object *object) const {
    TVMFFIAny value;
    ffi::detail::PutNone(&value);
    void *address = reinterpret_cast<char *>(ffi::detail::ObjectUnsafe::GetHeader(object)) + field_->offset;
    TVM_FFI_CHECK_SAFE_CALL(field_->getter(address, &value));
    return ffi::detail::AnyUnsafe::MoveTVMFFIAnyRawToAny(value);
  }
  /** The value of the field in an object. */
  Any operator()(const ObjectPtr<Object> &object) const { return (*this)(object.get()); }
  /** The value of the field in an object. */
  Any operator()(const ObjectRef &object) const { return (*this)(object.get()); }

private:
  const TVMFFIFieldInfo *field_;
};

/** Sets a field of any object of the type, even a read-only one. */
class FieldSetter {
public:
  /** For a field; the type keeps the info. */
  explicit FieldSetter(const TVMFFIFieldInfo *field) : field_(field) {}
  /** For a field that the type itself declares. RuntimeError if there is none. */
  FieldSetter(std::string_view type_key, const char *field_name) : FieldSetter(GetFieldInfo(type_key, field_name)) {}
  /** Sets the field of an object; throws the error of the field's setter. */
  void operator()(const Object *object, AnyView value) const {
    TVMFFIAny raw = value.CopyToTVMFFIAny();
    void *address = reinterpret_cast<char *>(ffi::detail::ObjectUnsafe::GetHeader(object)) + field_->offset;
    TVM_FFI_CHECK_SAFE_CALL(CallFieldSetter(field_, address, &raw));
  }
  /** Sets the field of an object; throws the error of the field's setter. */
  void operator()(const ObjectPtr<Object> &object, AnyView value) const { (*this)(object.get(), value); }
  /** Sets the field of an object; throws the error of the field's setter. */
  void operator()(const ObjectRef &object, AnyView value) const { (*this)(object.get(), value); }

private:
  const TVMFFIFieldInfo *field_;
};

/** The values of one attribute, by type index. None for a type without it. RuntimeError if no type ever had it. */
class TypeAttrColumn {
public:
  /** The column of that name; RuntimeError if there is none. */
  explicit TypeAttrColumn(std::string_view name) {
    TVMFFIByteArray text{name.data(), name.size()};
    column_ = TVMFFIGetTypeAttrColumn(&text);
    if (column_ == nullptr) TVM_FFI_THROW(RuntimeError) << "Cannot find type attribute " << name;
  }
  /** The column of a key; RuntimeError if there is none. */
  template <typename T> explicit TypeAttrColumn(AttrKey<T> key) : TypeAttrColumn(key.name) {}
  /** The value of a type, borrowed; None for a type without the attribute. */
  AnyView operator[](int32_t type_index) const {
    const TVMFFIAny *value = ffi::detail::TypeAttrOf(column_, type_index);
    return value == nullptr ? AnyView() : AnyView::CopyFromTVMFFIAny(*value);
  }

private:
  const TVMFFITypeAttrColumn *column_;
};

/** Calls f with each field of a type, its ancestors' fields first, until f returns true. Returns whether it did. */
template <typename F> inline bool ForEachFieldInfoWithEarlyStop(const TypeInfo *info, F f) {
  for (int32_t depth = 1; depth <= info->type_depth; ++depth) {
    const TypeInfo *at = depth < info->type_depth ? info->type_ancestors[depth] : info;
    for (int32_t i = 0; i < at->num_fields; ++i) {
      if (f(at->fields + i)) return true;
    }
  }
  return false;
}
/** Calls f with each field of a type, its ancestors' fields first. */
template <typename F> inline void ForEachFieldInfo(const TypeInfo *info, F f) {
  static_assert(std::is_void_v<std::invoke_result_t<F, const TVMFFIFieldInfo *>>, "f returns nothing");
  ForEachFieldInfoWithEarlyStop(info, [&f](const TVMFFIFieldInfo *field) { return f(field), false; });
}

} // namespace reflection

/** The attributes that the ABI defines. */
namespace type_attr {
/** Makes an object without arguments. */
inline constexpr reflection::AttrKey<TypedFunction<ObjectRef()>> kNew{"__ffi_new__"};
/** The constructor, which the language bindings call. */
inline constexpr reflection::AttrKey<Function> kInit{"__ffi_init__"};
/** Converts a value to a reference to this type. */
inline constexpr reflection::AttrKey<TypedFunction<Any(AnyView)>> kConvert{"__ffi_convert__"};
/** The schema of the values that kConvert accepts. */
inline constexpr reflection::AttrKey<Any> kConvertTypeSchema{"__ffi_convert_type_schema__"};
/** Copies an object without the objects that it refers to. */
inline constexpr reflection::AttrKey<TypedFunction<ObjectRef(const Object *)>> kShallowCopy{"__ffi_shallow_copy__"};
/** Whether no type derives from this one. */
inline constexpr reflection::AttrKey<bool> kTypeFinal{"__ffi_type_final__"};
/** The hash of objects as keys of maps. */
inline constexpr reflection::AttrKey<reflection::NativeFunctionView<int64_t(const Any &)>> kAnyHash{"__any_hash__"};
/** Equality of objects as keys of maps. */
inline constexpr reflection::AttrKey<reflection::NativeFunctionView<bool(const Any &, const Any &)>> kAnyEqual{
    "__any_equal__"};
} // namespace type_attr
namespace reflection {
namespace type_attr = ffi::type_attr; /**< their older namespace */
} // namespace reflection

} // namespace tvm::ffi

#endif /* TVM_FFI_REFLECTION_ACCESSOR_H_ */
