/* def_traits.h - options for the registration of a field, method or type. Programs include registry.h. */
#ifndef TVM_FFI_REFLECTION_DEF_TRAITS_H_
#define TVM_FFI_REFLECTION_DEF_TRAITS_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/arg.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace tvm::ffi::reflection {

/** Entries of the metadata of a field or method. */
using _MetadataType = std::vector<std::pair<String, Any>>;

/** The ABI's info struct, and the entries of its metadata. */
struct FieldInfoBuilder : public TVMFFIFieldInfo {
  _MetadataType metadata_; /**< the entries, which are registered as JSON */
};
/** The info of a method, and the entries of its metadata. */
struct MethodInfoBuilder : public TVMFFIMethodInfo {
  _MetadataType metadata_; /**< the entries, which are registered as JSON */
};

/** Base class of all traits. A trait has Apply(FieldInfoBuilder *), and Apply(MethodInfoBuilder *) if methods accept
 * it. */
struct InfoTrait {};

/** Metadata({{"key", value}, ...}): other entries of the metadata. Values are ints, bools or strings. */
class Metadata : public InfoTrait {
public:
  /** The entries, pairs of a key and a value. */
  Metadata(std::initializer_list<std::pair<String, Any>> items) : items_(items) {}
  /** Adds the entries to the info of a field or method. */
  template <typename Builder> void Apply(Builder *info) const {
    info->metadata_.insert(info->metadata_.end(), items_.begin(), items_.end());
  }

  /** The entries as JSON. Prints and throws TypeError for a value that is not an int, a bool or a string. */
  TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE static std::string ToJSON(const _MetadataType &metadata) {
    std::string text = "{";
    for (const auto &[key, value] : metadata) {
      if (text.size() > 1) text.push_back(',');
      text.append(1, '"').append(key.data(), key.size()).append("\":");
      if (std::optional<bool> flag = value.as<bool>()) {
        text.append(*flag ? "true" : "false");
      } else if (std::optional<int64_t> number = value.as<int64_t>()) {
        text.append(std::to_string(*number));
      } else if (std::optional<String> content = value.as<String>()) {
        text.append(EscapeStringJSON(*content));
      } else {
        TVM_FFI_LOG_AND_THROW(TypeError) << "Metadata can be only int, bool or string, but on key `" << key
                                         << "`, the type is " << value.GetTypeKey();
      }
    }
    return text.append("}");
  }

private:
  _MetadataType items_;
};

/** The default value of a field. */
class DefaultValue : public InfoTrait {
public:
  /** The value that the field has unless it is given. */
  explicit DefaultValue(Any value) : value_(std::move(value)) {}
  /** Sets the default in the info of a field. */
  void Apply(TVMFFIFieldInfo *info) const {
    info->default_value_or_factory = AnyView(value_).CopyToTVMFFIAny();
    info->flags |= kTVMFFIFieldFlagBitMaskHasDefault;
  }

private:
  Any value_;
};
class default_value : public DefaultValue {
  using DefaultValue::DefaultValue;
};

/** A function that returns the default value of a field. The function is called for each object. */
class DefaultFactory : public InfoTrait {
public:
  /** A function without arguments. */
  explicit DefaultFactory(Function factory) : factory_(std::move(factory)) {}
  /** Sets the factory in the info of a field. */
  void Apply(TVMFFIFieldInfo *info) const {
    info->default_value_or_factory = AnyView(factory_).CopyToTVMFFIAny();
    info->flags |= kTVMFFIFieldFlagBitMaskHasDefault | kTVMFFIFieldFlagBitMaskDefaultFromFactory;
  }

private:
  Function factory_;
};
class default_factory : public DefaultFactory {
  using DefaultFactory::DefaultFactory;
};

/** Sets any flag of a field. */
class AttachFieldFlag : public InfoTrait {
public:
  /** Bits of TVMFFIFieldFlagBitMask. */
  explicit AttachFieldFlag(int32_t flag) : flag_(flag) {}
  /** For structural equality and hash. Pattern: the field defines variables, also nested ones. Simple: it defines
   * variables, only directly. Ignore: it does not count. */
  static AttachFieldFlag SEqHashDefPattern() { return AttachFieldFlag(kTVMFFIFieldFlagBitMaskSEqHashDefPattern); }
  /** The field defines variables, only directly. */
  static AttachFieldFlag SEqHashDefSimple() { return AttachFieldFlag(kTVMFFIFieldFlagBitMaskSEqHashDefSimple); }
  /** The field does not count for structural equality and hash. */
  static AttachFieldFlag SEqHashIgnore() { return AttachFieldFlag(kTVMFFIFieldFlagBitMaskSEqHashIgnore); }
  /** Older names. */
  static AttachFieldFlag SEqHashDef() { return SEqHashDefPattern(); }
  /** Older name of SEqHashDefPattern. */
  static AttachFieldFlag SEqHashDefRecursive() { return SEqHashDefPattern(); }
  /** Older name of SEqHashDefSimple. */
  static AttachFieldFlag SEqHashDefNonRecursive() { return SEqHashDefSimple(); }
  /** Sets the flags in the info of a field. */
  void Apply(TVMFFIFieldInfo *info) const { info->flags |= flag_; }

private:
  int32_t flag_;
};

namespace detail {

/** Sets a flag if the argument is kWhen. */
template <int64_t kFlag, bool kWhen> class FlagTrait : public InfoTrait {
public:
  explicit FlagTrait(bool value) : value_(value) {}
  /** Sets the flag in the info of a field. */
  void Apply(TVMFFIFieldInfo *info) const {
    if (value_ == kWhen) info->flags |= kFlag;
  }

protected:
  bool value_;
};

} // namespace detail

/** repr: whether the field is in the repr. compare: whether it counts for order and equality. hash: whether it counts
 * for the hash. kw_only: whether it is passed by keyword only. */
class repr : public detail::FlagTrait<kTVMFFIFieldFlagBitMaskReprOff, false> {
  using FlagTrait::FlagTrait;
};
/** compare(false): the field does not count for order and equality. */
class compare : public detail::FlagTrait<kTVMFFIFieldFlagBitMaskCompareOff, false> {
  using FlagTrait::FlagTrait;
};
/** hash(false): the field does not count for the hash. */
class hash : public detail::FlagTrait<kTVMFFIFieldFlagBitMaskHashOff, false> {
  using FlagTrait::FlagTrait;
};
/** kw_only(true): the constructor takes the field by keyword (kwargs) only. */
class kw_only : public detail::FlagTrait<kTVMFFIFieldFlagBitMaskKwOnly, true> {
  using FlagTrait::FlagTrait;
};

/** init<Args...>(): a constructor, for def(). init(false) for a field: the field is not a parameter of the constructor
 * that takes the fields. init(false) for a type: the type has no such constructor. */
template <typename... Args> struct init {
  constexpr init() noexcept = default;
  /** Makes an object from the arguments of the constructor. */
  template <typename Class> static ObjectRef execute(Args... args) {
    return ObjectRef(make_object<Class>(std::forward<Args>(args)...));
  }
};
/** init(): the constructor without arguments. init(false): see init. */
template <> struct init<> : public detail::FlagTrait<kTVMFFIFieldFlagBitMaskInitOff, false> {
  /** The constructor without arguments. */
  init() noexcept : FlagTrait(true) {}
  /** Whether the field is a parameter, or the type has a constructor. */
  explicit init(bool include) : FlagTrait(include) {}
  /** The argument of init(bool). */
  bool includes() const { return value_; }
  /** Makes an object without arguments. */
  template <typename Class> static ObjectRef execute() { return ObjectRef(make_object<Class>()); }
};
init(bool) -> init<>;

namespace detail {

/** Applies one extra argument of a definition: a trait, or a string, which is documentation. */
template <typename Builder, typename T> void Say(Builder *info, const T &what) {
  if constexpr (kIsArg<T>) { /* the code that makes the function has read it */
    static_assert(std::is_same_v<Builder, MethodInfoBuilder>, "only functions have parameters");
  } else if constexpr (std::is_base_of_v<InfoTrait, T>) {
    what.Apply(info);
  } else {
    static_assert(std::is_convertible_v<const T &, const char *>, "use a trait, or a string, which is documentation");
    const char *doc = what;
    info->doc = TVMFFIByteArray{doc, std::char_traits<char>::length(doc)};
  }
}

} // namespace detail
} // namespace tvm::ffi::reflection

#endif /* TVM_FFI_REFLECTION_DEF_TRAITS_H_ */
