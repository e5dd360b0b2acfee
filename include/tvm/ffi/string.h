/* string.h - String and Bytes: immutable strings and bytes, shared by copies.
 *
 * Both have 16 bytes and store up to 7 bytes of content in themselves; longer content is an object. Strings are UTF-8.
 * A NUL follows the content; size() does not count it. Functions that make a String or Bytes throw std::bad_alloc. */
#ifndef TVM_FFI_STRING_H_
#define TVM_FFI_STRING_H_

#include <tvm/ffi/memory.h>
#include <tvm/ffi/object.h>

#include <algorithm>
#include <iosfwd>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tvm::ffi {
namespace detail {

template <typename TText, int32_t kSmall, int32_t kLarge, int32_t kBorrowed> struct TextTraitsBase;

class BytesObjBase : public Object, public TVMFFIByteArray {};

class BytesObj : public BytesObjBase {
public:
  static constexpr int32_t _type_index = kTVMFFIBytes;
  static constexpr bool _type_final = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIBytes, BytesObj, Object);
};

class StringObj : public BytesObjBase {
public:
  static constexpr int32_t _type_index = kTVMFFIStr;
  static constexpr bool _type_final = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIStr, StringObj, Object);
};

/** An object that takes ownership of a std::string instead of copying it. */
template <typename Base> class BytesObjStdImpl : public Base {
public:
  explicit BytesObjStdImpl(std::string &&content) : content_(std::move(content)) {
    this->data = content_.data();
    this->size = content_.size();
  }

private:
  std::string content_;
};

/** The value inside a String or Bytes. The value is also None, for an Optional of one. */
class BytesBaseCell {
public:
  BytesBaseCell() { PutNone(&value_); }
  explicit BytesBaseCell(int32_t small_type_index) { PutInt64(small_type_index, 0, &value_); }
  BytesBaseCell(const BytesBaseCell &other) : value_(other.value_) {
    if (IsObject()) ObjectUnsafe::IncRefObjectHandle(value_.v_obj);
  }
  BytesBaseCell(BytesBaseCell &&other) noexcept : value_(other.value_) { PutNone(&other.value_); }
  BytesBaseCell &operator=(BytesBaseCell other) noexcept {
    swap(other);
    return *this;
  }
  ~BytesBaseCell() {
    if (IsObject()) ObjectUnsafe::DecRefObjectHandle(value_.v_obj);
  }
  void swap(BytesBaseCell &other) noexcept { std::swap(value_, other.value_); }

  const char *data() const noexcept {
    return IsObject() ? TVMFFIBytesGetByteArrayPtr(value_.v_obj)->data : value_.v_bytes;
  }
  size_t size() const noexcept {
    return IsObject() ? TVMFFIBytesGetByteArrayPtr(value_.v_obj)->size : value_.small_str_len;
  }

  /** Makes room for `size` bytes, which the caller fills, followed by a NUL. The cell must be new. */
  template <typename LargeObj> char *MakeRoom(size_t size, int32_t small_type_index) {
    if (size < sizeof(value_.v_bytes)) {
      PutInt64(small_type_index, 0, &value_);
      value_.small_str_len = static_cast<uint32_t>(size);
      return value_.v_bytes;
    }
    ObjectPtr<LargeObj> object = make_inplace_array_object<LargeObj, char>(size + 1);
    char *room = reinterpret_cast<char *>(object.get() + 1);
    room[size] = '\0';
    object->data = room;
    object->size = size;
    PutOwned(std::move(object));
    return room;
  }
  template <typename LargeObj> void Copy(const char *data, size_t size, int32_t small_type_index) {
    char *room = MakeRoom<LargeObj>(size, small_type_index);
    if (size > 0) std::memcpy(room, data, size);
  }
  template <typename LargeObj> void Adopt(std::string &&content, int32_t small_type_index) {
    if (content.size() < kAdoptSize) {
      Copy<LargeObj>(content.data(), content.size(), small_type_index);
      content.clear();
    } else {
      PutOwned(make_object<BytesObjStdImpl<LargeObj>>(std::move(content)));
    }
  }

  /** The content as a value: CopyToTVMFFIAny returns a borrowed value, MoveToAny an owned one. */
  TVMFFIAny CopyToTVMFFIAny() const { return value_; }
  void MoveToAny(TVMFFIAny *result) {
    *result = value_;
    PutNone(&value_);
  }
  static BytesBaseCell CopyFromAnyView(const TVMFFIAny *src) {
    BytesBaseCell cell(*src);
    if (cell.IsObject()) ObjectUnsafe::IncRefObjectHandle(src->v_obj);
    return cell;
  }
  static BytesBaseCell MoveFromAny(TVMFFIAny *src) {
    BytesBaseCell cell(*src);
    PutNone(src);
    return cell;
  }

private:
  /** From this size on moving a std::string is cheaper than copying its content. */
  static constexpr size_t kAdoptSize = 128;

  explicit BytesBaseCell(const TVMFFIAny &value) : value_(value) {}
  bool IsObject() const { return value_.type_index >= kTVMFFIStaticObjectBegin; }
  template <typename LargeObj> void PutOwned(ObjectPtr<LargeObj> object) {
    ObjectUnsafe::PutObject(ObjectUnsafe::MoveObjectPtrToTVMFFIObjectPtr(std::move(object)), &value_);
  }

  TVMFFIAny value_;
};

} // namespace detail

/** Bytes, up to 7 of them without an object. The bytes never change. */
class Bytes {
public:
  /** No bytes. */
  Bytes() : cell_(kTVMFFISmallBytes) {}
  /** Copies `size` bytes. */
  Bytes(const char *data, size_t size) { cell_.Copy<detail::BytesObj>(data, size, kTVMFFISmallBytes); }
  /** Copies the bytes. */
  Bytes(TVMFFIByteArray bytes) : Bytes(bytes.data, bytes.size) {}
  /** Copies the bytes. */
  Bytes(const std::string &content) : Bytes(content.data(), content.size()) {}
  /** Takes over the memory of a long std::string; copies a short one. */
  Bytes(std::string &&content) { cell_.Adopt<detail::BytesObj>(std::move(content), kTVMFFISmallBytes); }

  /** From any type from which Bytes can be constructed, strings included. */
  template <typename T,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, Bytes> && std::is_constructible_v<Bytes, T>>>
  Bytes &operator=(T &&content) {
    return *this = Bytes(std::forward<T>(content));
  }

  void swap(Bytes &other) noexcept { cell_.swap(other.cell_); }
  /** The bytes, borrowed; valid until this object moves or changes. */
  const char *data() const noexcept { return cell_.data(); }
  /** The number of bytes. */
  size_t size() const noexcept { return cell_.size(); }
  /** A copy of the bytes. */
  operator std::string() const { return std::string(data(), size()); }

  /** Compares as unsigned bytes and returns -1, 0 or 1. A prefix is less than the longer operand. */
  static int memncmp(const char *left, const char *right, size_t left_size, size_t right_size) {
    int order = std::string_view(left, left_size).compare(std::string_view(right, right_size));
    return (order > 0) - (order < 0);
  }
  /** Whether both have equal bytes. */
  static bool memequal(const void *left, const void *right, size_t left_size, size_t right_size) {
    return left_size == right_size && (left == right || left_size == 0 || std::memcmp(left, right, left_size) == 0);
  }

private:
  explicit Bytes(detail::BytesBaseCell cell) : cell_(std::move(cell)) {}

  detail::BytesBaseCell cell_;

  template <typename, int32_t, int32_t, int32_t> friend struct detail::TextTraitsBase;
};

/** A string of UTF-8 bytes, which are not checked; up to 7 of them without an object. The string never changes. */
class String {
public:
  static constexpr size_t npos = static_cast<size_t>(-1); /**< no position */

  /** The empty string. */
  String() : cell_(kTVMFFISmallStr) {}
  String(std::nullptr_t) = delete;
  /** Copies a string that ends with NUL. */
  String(const char *text) : String(text, std::char_traits<char>::length(text)) {}
  /** Copies `size` bytes. */
  String(const char *data, size_t size) { cell_.Copy<detail::StringObj>(data, size, kTVMFFISmallStr); }
  /** Copies the bytes. */
  String(const std::string &text) : String(text.data(), text.size()) {}
  /** Takes over the memory of a long std::string; copies a short one. */
  String(std::string &&text) { cell_.Adopt<detail::StringObj>(std::move(text), kTVMFFISmallStr); }
  /** Copies the bytes. */
  explicit String(TVMFFIByteArray text) : String(text.data, text.size) {}
  String(const String &) = default;
  String(String &&) noexcept = default;
  String &operator=(const String &) = default;
  String &operator=(String &&) noexcept = default;
  String &operator=(const char *text) { return *this = String(text); }
  String &operator=(const std::string &text) { return *this = String(text); }
  String &operator=(std::string &&text) { return *this = String(std::move(text)); }

  void swap(String &other) noexcept { cell_.swap(other.cell_); }
  /** The bytes, borrowed; valid until this object moves or changes. A NUL follows them. */
  const char *data() const noexcept { return cell_.data(); }
  /** As data. */
  const char *c_str() const noexcept { return cell_.data(); }
  /** The number of bytes. */
  size_t size() const noexcept { return cell_.size(); }
  /** As size. */
  size_t length() const noexcept { return size(); }
  /** Whether there are no bytes. */
  bool empty() const noexcept { return size() == 0; }
  /** A copy as a std::string. */
  operator std::string() const { return std::string(data(), size()); }
  /** std::out_of_range for a position that is not before the end. */
  char at(size_t pos) const { return view().at(pos); }

  /** Positions and counts are in bytes. substr throws std::out_of_range for a `pos` beyond the end. */
  size_t find(const String &text, size_t pos = 0) const { return view().find(text.view(), pos); }
  /** The position of `text` from `pos` on; npos if there is none. */
  size_t find(const char *text, size_t pos = 0) const { return view().find(text, pos); }
  /** The position of the first `count` bytes of `text` from `pos` on; npos if there is none. */
  size_t find(const char *text, size_t pos, size_t count) const { return view().find(text, pos, count); }
  /** A copy of at most `count` bytes from `pos` on; std::out_of_range for a position beyond the end. */
  String substr(size_t pos = 0, size_t count = npos) const {
    std::string_view part = view().substr(pos, count);
    return String(part.data(), part.size());
  }
  /** Whether the string begins with `prefix`. */
  bool starts_with(std::string_view prefix) const { return view().substr(0, prefix.size()) == prefix; }
  /** Whether the string begins with `prefix`. */
  bool starts_with(const String &prefix) const { return starts_with(prefix.view()); }
  /** Whether the string begins with `prefix`. */
  bool starts_with(const char *prefix) const { return starts_with(std::string_view(prefix)); }
  /** Whether the string begins with the first `count` bytes of `prefix`. */
  bool starts_with(const char *prefix, size_t count) const { return starts_with(std::string_view(prefix, count)); }
  /** Whether the string ends with `suffix`. */
  bool ends_with(std::string_view suffix) const {
    return size() >= suffix.size() && view().substr(size() - suffix.size()) == suffix;
  }
  /** Whether the string ends with `suffix`. */
  bool ends_with(const String &suffix) const { return ends_with(suffix.view()); }
  /** Whether the string ends with `suffix`. */
  bool ends_with(const char *suffix) const { return ends_with(std::string_view(suffix)); }
  /** Whether the string ends with the first `count` bytes of `suffix`. */
  bool ends_with(const char *suffix, size_t count) const { return ends_with(std::string_view(suffix, count)); }
  /** The parts between delimiters, one more than there are delimiters. The parts are views of this string. */
  std::vector<std::string_view> Split(char delimiter) const {
    std::vector<std::string_view> parts;
    std::string_view rest = view();
    for (size_t at; (at = rest.find(delimiter)) != npos; rest.remove_prefix(at + 1))
      parts.push_back(rest.substr(0, at));
    parts.push_back(rest);
    return parts;
  }

  /** Compares as unsigned bytes and returns -1, 0 or 1. */
  int compare(std::string_view other) const { return Bytes::memncmp(data(), other.data(), size(), other.size()); }
  /** Below 0, 0 or above 0, as this string is less than, equal to or greater than `other`, by bytes. */
  int compare(const String &other) const { return compare(other.view()); }
  /** Below 0, 0 or above 0, as this string is less than, equal to or greater than `other`, by bytes. */
  int compare(const std::string &other) const { return compare(std::string_view(other)); }
  /** Below 0, 0 or above 0, as this string is less than, equal to or greater than `other`, by bytes. */
  int compare(const char *other) const { return compare(std::string_view(other)); }
  /** Below 0, 0 or above 0, as this string is less than, equal to or greater than `other`, by bytes. */
  int compare(const TVMFFIByteArray &other) const { return compare(std::string_view(other.data, other.size)); }

private:
  explicit String(detail::BytesBaseCell cell) : cell_(std::move(cell)) {}
  std::string_view view() const { return std::string_view(data(), size()); }
  static String Concat(std::string_view left, std::string_view right) {
    String sum;
    char *room = sum.cell_.MakeRoom<detail::StringObj>(left.size() + right.size(), kTVMFFISmallStr);
    std::copy(right.begin(), right.end(), std::copy(left.begin(), left.end(), room));
    return sum;
  }

  detail::BytesBaseCell cell_;

  template <typename, int32_t, int32_t, int32_t> friend struct detail::TextTraitsBase;
  friend String operator+(const String &left, const String &right) { return Concat(left.view(), right.view()); }
  friend String operator+(const String &left, const std::string &right) { return Concat(left.view(), right); }
  friend String operator+(const std::string &left, const String &right) { return Concat(left, right.view()); }
  friend String operator+(const String &left, const char *right) { return Concat(left.view(), right); }
  friend String operator+(const char *left, const String &right) { return Concat(left, right.view()); }
};

/** Comparisons with every kind of string on either side. A comparison with nullptr does not compile. */
#define TVM_FFI_STRING_COMPARE_(op)                                                                          \
  inline bool operator op(const String &left, const String &right) { return left.compare(right) op 0; }      \
  inline bool operator op(const String &left, const std::string &right) { return left.compare(right) op 0; } \
  inline bool operator op(const std::string &left, const String &right) { return 0 op right.compare(left); } \
  inline bool operator op(const String &left, const char *right) { return left.compare(right) op 0; }        \
  inline bool operator op(const char *left, const String &right) { return 0 op right.compare(left); }        \
  bool operator op(const String &left, std::nullptr_t) = delete;                                             \
  bool operator op(std::nullptr_t, const String &right) = delete;
TVM_FFI_STRING_COMPARE_(<)
TVM_FFI_STRING_COMPARE_(>)
TVM_FFI_STRING_COMPARE_(<=)
TVM_FFI_STRING_COMPARE_(>=)
TVM_FFI_STRING_COMPARE_(==)
TVM_FFI_STRING_COMPARE_(!=)
#undef TVM_FFI_STRING_COMPARE_

inline std::ostream &operator<<(std::ostream &out, const String &text) {
  return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

/** A view of the bytes. */
TVM_FFI_INLINE std::string_view ToStringView(TVMFFIByteArray text) { return std::string_view(text.data, text.size); }

/* ---- As values ---- */

template <> inline constexpr bool use_default_type_traits_v<Bytes> = false;
template <> inline constexpr bool use_default_type_traits_v<String> = false;
template <> inline constexpr bool use_default_type_traits_v<std::string> = false;

namespace detail {

/** Traits of String and Bytes. Each has two indices: kSmall for content inside the value, kLarge for an object.
 * TypeTraits<TText>::FromBorrowed converts a value with the index kBorrowed, which has borrowed content. */
template <typename TText, int32_t kSmall, int32_t kLarge, int32_t kBorrowed> struct TextTraitsBase : TypeTraitsBase {
  TVM_FFI_INLINE static void CopyToAnyView(const TText &src, TVMFFIAny *result) {
    *result = src.cell_.CopyToTVMFFIAny();
  }
  TVM_FFI_INLINE static void MoveToAny(TText src, TVMFFIAny *result) { src.cell_.MoveToAny(result); }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kSmall || src->type_index == kLarge;
  }
  TVM_FFI_INLINE static TText CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return TText(BytesBaseCell::CopyFromAnyView(src));
  }
  TVM_FFI_INLINE static TText MoveFromAnyAfterCheck(TVMFFIAny *src) { return TText(BytesBaseCell::MoveFromAny(src)); }
  TVM_FFI_INLINE static std::optional<TText> TryCastFromAnyView(const TVMFFIAny *src) {
    if (CheckAnyStrict(src)) return CopyFromAnyViewAfterCheck(src);
    if (src->type_index == kBorrowed) return TypeTraits<TText>::FromBorrowed(src);
    return std::nullopt;
  }
};

/** Traits of strings that are passed as borrowed content. The content is copied into a String or Bytes if it is
 * stored. */
template <typename T> struct BorrowedTextTraitsBase : TypeTraitsBase {
  static constexpr bool storage_enabled = false;
  TVM_FFI_INLINE static void PutRawStr(const char *text, TVMFFIAny *result) {
    PutPointer(kTVMFFIRawStr, const_cast<char *>(text), result);
  }
};

} // namespace detail

template <> struct TypeTraits<String> : detail::TextTraitsBase<String, kTVMFFISmallStr, kTVMFFIStr, kTVMFFIRawStr> {
  static String FromBorrowed(const TVMFFIAny *src) { return String(src->v_c_str); }
  static std::string TypeStr() { return "str"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema(StaticTypeKey::kTVMFFIStr); }
};

template <>
struct TypeTraits<Bytes> : detail::TextTraitsBase<Bytes, kTVMFFISmallBytes, kTVMFFIBytes, kTVMFFIByteArrayPtr> {
  static Bytes FromBorrowed(const TVMFFIAny *src) { return Bytes(*static_cast<TVMFFIByteArray *>(src->v_ptr)); }
  static std::string TypeStr() { return "bytes"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema(StaticTypeKey::kTVMFFIBytes); }
};

/** A string that ends at its NUL. An owned value of it is a String. */
template <> struct TypeTraits<const char *> : detail::BorrowedTextTraitsBase<const char *> {
  TVM_FFI_INLINE static void CopyToAnyView(const char *src, TVMFFIAny *result) { PutRawStr(src, result); }
  TVM_FFI_INLINE static void MoveToAny(const char *src, TVMFFIAny *result) {
    TypeTraits<String>::MoveToAny(String(src), result);
  }
  TVM_FFI_INLINE static std::optional<const char *> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFIRawStr) return src->v_c_str;
    return std::nullopt;
  }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIRawStr)
};
template <int N> struct TypeTraits<char[N]> : detail::BorrowedTextTraitsBase<char[N]> {
  TVM_FFI_INLINE static void CopyToAnyView(const char src[N], TVMFFIAny *result) {
    TypeTraits<const char *>::CopyToAnyView(src, result);
  }
  TVM_FFI_INLINE static void MoveToAny(const char src[N], TVMFFIAny *result) {
    TypeTraits<const char *>::MoveToAny(src, result);
  }
};

/** Bytes with a length. An owned value of them is a Bytes. */
template <> struct TypeTraits<TVMFFIByteArray *> : detail::BorrowedTextTraitsBase<TVMFFIByteArray *> {
  static constexpr int32_t field_static_type_index = kTVMFFIByteArrayPtr;
  TVM_FFI_INLINE static void CopyToAnyView(TVMFFIByteArray *src, TVMFFIAny *result) {
    detail::PutPointer(kTVMFFIByteArrayPtr, src, result);
  }
  TVM_FFI_INLINE static void MoveToAny(TVMFFIByteArray *src, TVMFFIAny *result) {
    TypeTraits<Bytes>::MoveToAny(Bytes(*src), result);
  }
  TVM_FFI_INLINE static std::optional<TVMFFIByteArray *> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFIByteArrayPtr) return static_cast<TVMFFIByteArray *>(src->v_ptr);
    return std::nullopt;
  }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIByteArrayPtr)
};

/** As an argument only the part up to the first NUL is passed, because a borrowed string has no length; a result
 * contains the whole string. */
template <>
struct TypeTraits<std::string> : FallbackOnlyTraitsBase<std::string, const char *, TVMFFIByteArray *, Bytes, String> {
  TVM_FFI_INLINE static void CopyToAnyView(const std::string &src, TVMFFIAny *result) {
    TypeTraits<const char *>::CopyToAnyView(src.c_str(), result);
  }
  TVM_FFI_INLINE static void MoveToAny(std::string src, TVMFFIAny *result) {
    TypeTraits<String>::MoveToAny(String(std::move(src)), result);
  }
  static std::string ConvertFallbackValue(const char *src) { return src; }
  static std::string ConvertFallbackValue(TVMFFIByteArray *src) { return std::string(src->data, src->size); }
  template <typename TText> static std::string ConvertFallbackValue(const TText &src) { return src; }
  static std::string TypeStr() { return "str"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema("std::string"); }
};

/* ---- Quoted strings ---- */

namespace detail {

inline void AppendHex(const char *prefix, uint32_t number, int n_digits, std::string *out) {
  out->append(prefix);
  while (n_digits-- > 0) out->push_back("0123456789abcdef"[(number >> (4 * n_digits)) & 15]);
}

/** The letter of the short escape of a character, the same in JSON and Python; 0 if there is none. */
inline char ShortEscape(char c) {
  switch (c) {
  case '"': return '"';
  case '\\': return '\\';
  case '\b': return 'b';
  case '\f': return 'f';
  case '\n': return 'n';
  case '\r': return 'r';
  case '\t': return 't';
  default: return 0;
  }
}

/** Decodes the UTF-8 sequence at the start of `text` and returns its length. If the bytes do not have that form: 1,
 * with the first byte as the character. */
inline size_t DecodeUTF8(std::string_view text, uint32_t *character) {
  uint32_t lead = static_cast<unsigned char>(text[0]);
  size_t size = (lead & 0xe0) == 0xc0 ? 2 : (lead & 0xf0) == 0xe0 ? 3 : (lead & 0xf8) == 0xf0 ? 4 : 1;
  uint32_t value = size == 1 ? lead : lead & (0x7fU >> size);
  *character = lead;
  if (size > text.size()) return 1;
  for (size_t i = 1; i < size; ++i) {
    uint32_t next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 1;
    value = value << 6 | (next & 0x3f);
  }
  *character = value;
  return size;
}

} // namespace detail

/** The content as a JSON string in quotes. Characters that are not ASCII stay unchanged. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline String EscapeStringJSON(const String &text) {
  std::string out(1, '"');
  for (char c : std::string_view(text.data(), text.size())) {
    unsigned char byte = static_cast<unsigned char>(c);
    char escape = c == '/' ? '/' : detail::ShortEscape(c);
    if (escape != 0) {
      out.append(1, '\\').push_back(escape);
    } else if (byte < 0x20 || byte == 0x7f) {
      detail::AppendHex("\\u", byte, 4, &out);
    } else {
      out.push_back(c);
    }
  }
  return String(out.append(1, '"'));
}
[[deprecated("its name is EscapeStringJSON")]] inline String EscapeString(const String &text) {
  return EscapeStringJSON(text);
}

/** The content as a string literal of Python, in quotes and in ASCII. Control characters without a short escape, and
 * bytes that do not have the form of UTF-8, become \xNN. */
inline String EscapedStringPy(const String &text) {
  std::string out(1, '"');
  std::string_view rest(text.data(), text.size());
  for (size_t size; !rest.empty(); rest.remove_prefix(size)) {
    uint32_t character;
    size = detail::DecodeUTF8(rest, &character);
    char escape = detail::ShortEscape(rest[0]);
    if (escape != 0) {
      out.append(1, '\\').push_back(escape);
    } else if (size > 1) {
      if (character < 0x10000) {
        detail::AppendHex("\\u", character, 4, &out);
      } else {
        detail::AppendHex("\\U", character, 8, &out);
      }
    } else if (character < 0x20 || character >= 0x7f) {
      detail::AppendHex("\\x", character, 2, &out);
    } else {
      out.push_back(rest[0]);
    }
  }
  return String(out.append(1, '"'));
}

} // namespace tvm::ffi

namespace std {
template <> struct hash<::tvm::ffi::String> {
  size_t operator()(const ::tvm::ffi::String &text) const {
    return hash<string_view>()(string_view(text.data(), text.size()));
  }
};
template <> struct hash<::tvm::ffi::Bytes> {
  size_t operator()(const ::tvm::ffi::Bytes &bytes) const {
    return hash<string_view>()(string_view(bytes.data(), bytes.size()));
  }
};
} // namespace std

#endif /* TVM_FFI_STRING_H_ */
