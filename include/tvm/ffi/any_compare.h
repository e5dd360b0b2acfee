/* any_compare.h - AnyHash and AnyEqual: hash and equality of map keys. Programs include any.h.
 *
 * Part of the ABI, because each library fills and searches maps with its own copy of this code. Strings and bytes are
 * compared by content, whether the content is in the value or in an object. Objects of a type with the attributes
 * __any_hash__ and __any_equal__ are compared by these hooks. All other values are compared by their bits: 1, 1.0 and
 * true are three keys. */
#ifndef TVM_FFI_ANY_COMPARE_H_
#define TVM_FFI_ANY_COMPARE_H_

#include <tvm/ffi/any.h>

namespace tvm::ffi {
namespace detail {

/** The value of an attribute for a type; null if the type has none. */
inline const TVMFFIAny *TypeAttrOf(const TVMFFITypeAttrColumn *column, int32_t type_index) {
  if (column == nullptr) return nullptr;
  int32_t i = type_index - column->begin_index;
  if (i < 0 || i >= column->size || column->data[i].type_index == kTVMFFINone) return nullptr;
  return &column->data[i];
}

/** Calls a hook: a Function, or the address of a C function that returns its result, or an Error, as a value. */
template <typename... Args>
TVM_FFI_NO_INLINE Any CallCompareHook(const TVMFFIAny *hook, const char *name, const Args &...args) {
  TVMFFIAny result;
  PutNone(&result);
  if (hook->type_index == kTVMFFIOpaquePtr) {
    using Hook = TVMFFIAny (*)(const Args &...) noexcept;
    result = reinterpret_cast<Hook>(hook->v_ptr)(args...);
  } else {
    TVM_FFI_ICHECK_EQ(hook->type_index, static_cast<int32_t>(kTVMFFIFunction)) << name << " must be a function";
    TVMFFIAny views[] = {*AnyUnsafe::TVMFFIAnyPtrFromAny(args)...};
    TVMFFIFunctionCell *cell = TVMFFIFunctionGetCellPtr(hook->v_obj);
    if (cell->safe_call(hook->v_obj, views, sizeof...(Args), &result) != 0) throw MoveFromSafeCallRaised();
  }
  Any owned = AnyUnsafe::MoveTVMFFIAnyRawToAny(result);
  if (owned.type_index() == kTVMFFIError) throw AnyUnsafe::MoveFromAnyAfterCheck<Error>(std::move(owned));
  return owned;
}

inline const TVMFFITypeAttrColumn *ColumnNamed(const char *name) {
  TVMFFIByteArray key{name, std::char_traits<char>::length(name)};
  return TVMFFIGetTypeAttrColumn(&key);
}

/** Stores the content of a string or bytes and returns kTVMFFIStr or kTVMFFIBytes; returns 0 for any other value. */
TVM_FFI_INLINE int32_t ContentOf(const TVMFFIAny *value, TVMFFIByteArray *content) {
  switch (value->type_index) {
  case kTVMFFISmallStr: *content = {value->v_bytes, value->small_str_len}; return kTVMFFIStr;
  case kTVMFFISmallBytes: *content = {value->v_bytes, value->small_str_len}; return kTVMFFIBytes;
  case kTVMFFIStr:
  case kTVMFFIBytes: *content = *TVMFFIBytesGetByteArrayPtr(value->v_obj); return value->type_index;
  default: return 0;
  }
}

} // namespace detail

/** The hash of values as keys of maps; consistent with AnyEqual. */
struct AnyHash {
  /** The hash of a key. */
  uint64_t operator()(const Any &key) const {
    const TVMFFIAny *value = detail::AnyUnsafe::TVMFFIAnyPtrFromAny(key);
    TVMFFIByteArray content;
    if (int32_t kind = detail::ContentOf(value, &content)) {
      return detail::StableHashCombine(static_cast<uint64_t>(kind),
                                       detail::StableHashBytes(content.data, content.size));
    }
    uint64_t own = value->v_uint64;
    if (value->type_index >= kTVMFFIStaticObjectBegin) {
      static const TVMFFITypeAttrColumn *hooks = detail::ColumnNamed("__any_hash__");
      if (const TVMFFIAny *hook = detail::TypeAttrOf(hooks, value->type_index)) {
        own = static_cast<uint64_t>(detail::CallCompareHook(hook, "__any_hash__", key).cast<int64_t>());
      }
    }
    return detail::StableHashCombine(static_cast<uint64_t>(value->type_index), own);
  }
};

/** Equality of values as keys of maps. */
struct AnyEqual {
  /** Whether two keys are equal. */
  bool operator()(const Any &left, const Any &right) const {
    const TVMFFIAny *a = detail::AnyUnsafe::TVMFFIAnyPtrFromAny(left);
    const TVMFFIAny *b = detail::AnyUnsafe::TVMFFIAnyPtrFromAny(right);
    if (left.same_as(right)) return true;
    TVMFFIByteArray a_content, b_content;
    if (int32_t kind = detail::ContentOf(a, &a_content)) {
      return detail::ContentOf(b, &b_content) == kind &&
             Bytes::memequal(a_content.data, b_content.data, a_content.size, b_content.size);
    }
    if (a->type_index != b->type_index || a->type_index < kTVMFFIStaticObjectBegin) return false;
    static const TVMFFITypeAttrColumn *hooks = detail::ColumnNamed("__any_equal__");
    const TVMFFIAny *hook = detail::TypeAttrOf(hooks, a->type_index);
    return hook != nullptr && detail::CallCompareHook(hook, "__any_equal__", left, right).cast<bool>();
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_ANY_COMPARE_H_ */
