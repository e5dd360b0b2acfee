/* creator.h - creates objects by type key. */
#ifndef TVM_FFI_REFLECTION_CREATOR_H_
#define TVM_FFI_REFLECTION_CREATOR_H_

#include <tvm/ffi/container/map.h>
#include <tvm/ffi/reflection/accessor.h>

namespace tvm::ffi {
namespace detail {

/** The attribute __ffi_new__ of a type without a native creator; null if the type has neither. */
inline const TVMFFIAny *CreatorAttrOf(const TypeInfo *info) {
  const TVMFFIAny *value = TypeAttrOf(ColumnNamed(type_attr::kNew.name), info->type_index);
  return value != nullptr && value->type_index == kTVMFFIFunction ? value : nullptr;
}
inline TVMFFIObjectCreator NativeCreatorOf(const TypeInfo *info) {
  return info->metadata == nullptr ? nullptr : info->metadata->creator;
}

} // namespace detail

/** Whether objects of the type can be created without arguments. */
inline bool HasCreator(const TypeInfo *info) {
  return detail::NativeCreatorOf(info) != nullptr || detail::CreatorAttrOf(info) != nullptr;
}

/** A new object; the caller sets its fields. RuntimeError if objects of the type cannot be created. */
inline ObjectPtr<Object> CreateEmptyObject(const TypeInfo *info) {
  if (TVMFFIObjectCreator create = detail::NativeCreatorOf(info)) {
    TVMFFIObjectHandle handle;
    TVM_FFI_CHECK_SAFE_CALL(create(&handle));
    return detail::ObjectUnsafe::ObjectPtrFromOwned<Object>(static_cast<TVMFFIObject *>(handle));
  }
  const TVMFFIAny *create = detail::CreatorAttrOf(info);
  if (create == nullptr) {
    TVM_FFI_THROW(RuntimeError) << "Type `" << ToStringView(info->type_key)
                                << "` does not support reflection creation: it has no default constructor";
  }
  return detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(
      AnyView::CopyFromTVMFFIAny(*create).cast<Function>()().cast<ObjectRef>());
}

namespace reflection {
namespace detail {

template <typename TObjectRef> TObjectRef FFIConvertFromAnyViewToObjectRef(AnyView input) {
  std::optional<TObjectRef> ref = input.try_cast<TObjectRef>();
  if (!ref.has_value()) {
    TVM_FFI_THROW(TypeError) << "Cannot cast from `" << input.GetTypeKey() << "` to `"
                             << TypeTraits<TObjectRef>::TypeStr() << "`";
  }
  return *std::move(ref);
}

} // namespace detail
namespace details = detail; /**< the older name */

/** Makes objects of a type from the values of their fields. */
class ObjectCreator {
public:
  /** For the type of that key; RuntimeError if objects of the type cannot be created. */
  explicit ObjectCreator(std::string_view type_key) : ObjectCreator(TVMFFIGetTypeInfo(TypeKeyToIndex(type_key))) {}
  /** For a type; RuntimeError if objects of the type cannot be created. */
  explicit ObjectCreator(const TypeInfo *info) : info_(info) {
    if (!HasCreator(info)) {
      TVM_FFI_THROW(RuntimeError)
          << "Type `" << ToStringView(info->type_key)
          << "` does not support default constructor, as a result cannot be created via reflection";
    }
  }
  /** TypeError for a missing field without a default, and for an unknown field. */
  Any operator()(const Map<String, Any> &fields) const {
    ObjectPtr<Object> object = CreateEmptyObject(info_);
    char *base = reinterpret_cast<char *>(ffi::detail::ObjectUnsafe::GetHeader(object.get()));
    size_t n_set = 0;
    ForEachFieldInfo(info_, [&](const TVMFFIFieldInfo *field) {
      std::optional<Any> value = fields.Get(String(field->name));
      if (value.has_value()) {
        TVM_FFI_CHECK_SAFE_CALL(
            CallFieldSetter(field, base + field->offset, ffi::detail::AnyUnsafe::TVMFFIAnyPtrFromAny(*value)));
        ++n_set;
      } else if ((field->flags & kTVMFFIFieldFlagBitMaskHasDefault) != 0) {
        SetFieldToDefault(field, base + field->offset);
      } else {
        TVM_FFI_THROW(TypeError) << "Required field `" << ToStringView(field->name) << "` not set in type `"
                                 << ToStringView(info_->type_key) << "`";
      }
    });
    if (n_set != fields.size()) CheckNames(fields);
    return ObjectRef(std::move(object));
  }

private:
  void CheckNames(const Map<String, Any> &fields) const {
    for (const auto &pair : fields) {
      const String &name = pair.first;
      bool is_field = ForEachFieldInfoWithEarlyStop(
          info_, [&](const TVMFFIFieldInfo *field) { return name.compare(field->name) == 0; });
      if (!is_field) {
        TVM_FFI_THROW(TypeError) << "Type `" << ToStringView(info_->type_key) << "` does not have field `" << name
                                 << "`";
      }
    }
  }

  const TypeInfo *info_;
};

} // namespace reflection
} // namespace tvm::ffi

#endif /* TVM_FFI_REFLECTION_CREATOR_H_ */
