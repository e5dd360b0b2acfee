/* enum_def.h - EnumDef: adds an instance to a class of enum.h.
 *
 *   refl::ObjectDef<ColorObj>(refl::init(false));
 *   refl::EnumDef<ColorObj>("red").set_attr("rgb", 0xff0000);
 */
#ifndef TVM_FFI_REFLECTION_ENUM_DEF_H_
#define TVM_FFI_REFLECTION_ENUM_DEF_H_

#include <tvm/ffi/enum.h>
#include <tvm/ffi/reflection/registry.h>

namespace tvm::ffi::reflection {

/** Registers instances of an enum, one for each EnumDef. */
template <typename EnumClsObj, typename = std::enable_if_t<std::is_base_of_v<EnumObj, EnumClsObj>>> class EnumDef {
  static constexpr bool kIsIntEnum = std::is_base_of_v<IntEnumObj, EnumClsObj>;

public:
  /** Whether the class has an instance of that name. */
  static bool IsDefined(const String &name) {
    std::optional<EnumState> state = FindState();
    return state.has_value() && (*state)->indexes.count(name) != 0;
  }
  /** Adds the next instance; its number is the number of earlier instances. ValueError if the name or the number exists
   * already. */
  explicit EnumDef(const char *str_index) : instance_(UnsafeInit{}) {
    static_assert(!kIsIntEnum, "an instance of an IntEnum is given its number");
    EnumState state = EnsureState();
    Register(state, static_cast<int64_t>(state->entries.size()), str_index);
  }
  /** Adds an instance of an IntEnum. ValueError if the name or the number exists already. */
  EnumDef(const char *str_index, int64_t int_index) : instance_(UnsafeInit{}) {
    static_assert(kIsIntEnum, "only an instance of an IntEnum is given its number");
    Register(EnsureState(), int_index, str_index);
  }
  /** Sets an attribute of the instance. */
  template <typename T> EnumDef &set_attr(const char *name, T value) {
    Dict<String, Dict<ObjectRef, Any>> attrs = EnsureState()->attrs;
    Dict<ObjectRef, Any> column = attrs.Get(name).value_or(Dict<ObjectRef, Any>());
    attrs.Set(name, column);
    column.Set(instance_, Any(std::move(value)));
    return *this;
  }
  /** Sets an attribute of the instance; the value converts to the type of the key. */
  template <typename T, typename Value> EnumDef &set_attr(AttrKey<T> key, Value &&value) {
    return set_attr(key.name, T(std::forward<Value>(value)));
  }
  /** Sets a C++ function as an attribute; it is called without packing its arguments. */
  template <auto Fn, typename T> EnumDef &set_native_fn_attr(AttrKey<T> key) {
    return set_attr(key, T::template FromNative<Fn>());
  }

private:
  static int32_t TypeIndexOf() { return EnumClsObj::_GetOrAllocRuntimeTypeIndex(); }
  static std::optional<EnumState> FindState() {
    return type_attr::kEnumState.ValueFrom(TypeAttrColumn(type_attr::kEnumState)[TypeIndexOf()]);
  }
  static EnumState EnsureState() {
    if (std::optional<EnumState> state = FindState()) return *std::move(state);
    EnumState state = ffi::detail::ObjectUnsafe::ObjectRefFromObjectPtr<EnumState>(make_object<EnumStateObj>());
    detail::RegisterAttr(TypeIndexOf(), type_attr::kEnumState.name, state);
    return state;
  }
  void Register(const EnumState &state, int64_t int_index, const char *str_index) {
    List<ObjectRef> entries = state->entries;
    Dict<Any, ObjectRef> indexes = state->indexes;
    String name(str_index);
    if (indexes.count(int_index) != 0 || indexes.count(name) != 0) {
      TVM_FFI_THROW(ValueError) << "Duplicate enum index for type `" << EnumClsObj::_type_key << "`: " << int_index
                                << ", `" << name << "`";
    }
    ObjectPtr<EnumClsObj> entry = make_object<EnumClsObj>();
    entry->_int_index = int_index;
    entry->_str_index = name;
    instance_ = ffi::detail::ObjectUnsafe::ObjectRefFromObjectPtr<Enum>(std::move(entry));
    entries.push_back(instance_);
    indexes.Set(int_index, instance_);
    indexes.Set(name, instance_);
  }

  Enum instance_;
};

} // namespace tvm::ffi::reflection

#endif /* TVM_FFI_REFLECTION_ENUM_DEF_H_ */
