/* enum.h - classes whose instances are a fixed set, each with a number and a name. reflection/enum_def.h adds
 * instances. */
#ifndef TVM_FFI_ENUM_H_
#define TVM_FFI_ENUM_H_

#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/reflection/accessor.h>

namespace tvm::ffi {

/** The instances of one class. The object is an attribute of the type. */
class EnumStateObj : public Object {
public:
  List<ObjectRef> entries;                    /**< in the order of definition */
  Dict<Any, ObjectRef> indexes;               /**< by number and by name */
  Dict<String, Dict<ObjectRef, Any>> attrs;   /**< attributes of instances, by name */
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi.EnumState", EnumStateObj, Object);
};
class EnumState : public ObjectRef {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(EnumState, ObjectRef, EnumStateObj);
};

namespace type_attr {
/** The instances of a class of enums. */
inline constexpr reflection::AttrKey<EnumState> kEnumState{"__ffi_enum__"};
} // namespace type_attr

class Enum;

/** Base class of the objects of an enum. Each is the only instance with its number and name. */
class EnumObj : public Object {
public:
  int64_t _int_index = 0; /**< the number of the instance */
  String _str_index; /**< the name of the instance */

  EnumObj() = default;
  /** An instance with that number and name; EnumDef registers it. */
  EnumObj(int64_t int_index, String str_index) : _int_index(int_index), _str_index(std::move(str_index)) {}
  /** The instance with that number or name; ValueError if there is none. */
  template <typename EnumClsObj> static Enum _GetByIntIndex(int64_t index);
  /** The instance with that name; ValueError if there is none. */
  template <typename EnumClsObj> static Enum _GetByStrIndex(const String &index);
  /** The instance of a type with that number; ValueError if there is none. */
  static Enum _GetByIntIndex(int32_t type_index, int64_t index);
  /** The instance of a type with that name; ValueError if there is none. */
  static Enum _GetByStrIndex(int32_t type_index, const String &index);

  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindUniqueInstance;
  TVM_FFI_DECLARE_OBJECT_INFO("ffi.Enum", EnumObj, Object);

private:
  template <typename Index> static Enum GetByIndex(int32_t type_index, const Index &index);
};
class Enum : public ObjectRef {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Enum, ObjectRef, EnumObj);
};

/** IntEnum: instances are defined with a number. StrEnum: instances are identified by their names. */
class IntEnumObj : public EnumObj {
public:
  TVM_FFI_DECLARE_OBJECT_INFO("ffi.IntEnum", IntEnumObj, EnumObj);
};
class IntEnum : public Enum {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(IntEnum, Enum, IntEnumObj);
};
class StrEnumObj : public EnumObj {
public:
  TVM_FFI_DECLARE_OBJECT_INFO("ffi.StrEnum", StrEnumObj, EnumObj);
};
class StrEnum : public Enum {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(StrEnum, Enum, StrEnumObj);
};

template <typename Index> inline Enum EnumObj::GetByIndex(int32_t type_index, const Index &index) {
  static const reflection::TypeAttrColumn column(type_attr::kEnumState);
  if (std::optional<EnumState> state = type_attr::kEnumState.ValueFrom(column[type_index])) {
    if (std::optional<ObjectRef> entry = (*state)->indexes.Get(Any(index))) return entry->as_or_throw<Enum>();
  }
  TVM_FFI_THROW(ValueError) << "Enum `" << TypeIndexToTypeKey(type_index) << "` has no instance with index " << index;
  TVM_FFI_UNREACHABLE();
}
inline Enum EnumObj::_GetByIntIndex(int32_t type_index, int64_t index) { return GetByIndex(type_index, index); }
inline Enum EnumObj::_GetByStrIndex(int32_t type_index, const String &index) { return GetByIndex(type_index, index); }
template <typename EnumClsObj> inline Enum EnumObj::_GetByIntIndex(int64_t index) {
  static_assert(std::is_base_of_v<EnumObj, EnumClsObj>, "a class below EnumObj");
  return _GetByIntIndex(EnumClsObj::_GetOrAllocRuntimeTypeIndex(), index);
}
template <typename EnumClsObj> inline Enum EnumObj::_GetByStrIndex(const String &index) {
  static_assert(std::is_base_of_v<EnumObj, EnumClsObj>, "a class below EnumObj");
  return _GetByStrIndex(EnumClsObj::_GetOrAllocRuntimeTypeIndex(), index);
}

} // namespace tvm::ffi

#endif /* TVM_FFI_ENUM_H_ */
