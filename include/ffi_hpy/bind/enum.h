/* enum.h - enums of C++ as classes of Python's enum module. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_ENUM_H_
#define FFI_HPY_BIND_ENUM_H_

#include <ffi_hpy/bind/class.h>

#include <algorithm>

FFI_HPY_NAMESPACE_BEGIN

/** The members are ints as well: enum.IntEnum, or enum.IntFlag. */
struct is_arithmetic {};
/** The members can be combined: enum.Flag. */
struct is_flag {};

namespace detail {

/** The Python side of an enum. */
struct enum_record {
  std::string key;
  owned python;
  std::vector<std::pair<int64_t, owned>> members; /* objects of Python, by number once the enum is complete */
  std::vector<std::pair<const TVMFFIObject *, int64_t>> numbers; /* of the objects, by address */
  bool is_arithmetic = false, is_flag = false;

  /** Sorts both lists. */
  void finish() {
    for (const auto &[number, member] : members) {
      if (is_object(member.value)) numbers.emplace_back(member.value.v_obj, number);
    }
    std::sort(numbers.begin(), numbers.end());
    std::stable_sort(members.begin(), members.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  }
};

/** The item with a key in a sorted list of pairs; null if there is none. */
template <typename K, typename V> const V *find_sorted(const std::vector<std::pair<K, V>> &list, K key) {
  auto found = std::lower_bound(list.begin(), list.end(), key, [](const auto &pair, K k) { return pair.first < k; });
  return found != list.end() && found->first == key ? &found->second : nullptr;
}

template <typename E> struct enum_of {
  static inline enum_record *known = nullptr;
};

} // namespace detail

/** Enums that are bound with enum_. */
template <typename E> struct caster<E, std::enable_if_t<std::is_enum_v<E>>> : detail::value_caster<E> {
  bool from(const TVMFFIAny &any, bool) {
    const detail::enum_record *record = detail::enum_of<E>::known;
    if (record == nullptr) return false;
    if (any.type_index == kTVMFFIInt) {
      this->value = static_cast<E>(any.v_int64);
      return record->is_arithmetic;
    }
    return any.type_index == kTVMFFIOpaquePyObject && read(any);
  }
  static detail::owned to(E value, rv_policy, const TVMFFIAny *) {
    const detail::enum_record *record = detail::enum_of<E>::known;
    auto number = static_cast<int64_t>(value);
    detail::owned view(detail::word(kTVMFFIInt, number));
    if (record == nullptr) return view;
    const detail::owned *member = detail::find_sorted(record->members, number);
    if (member != nullptr) return *member;
    return detail::ask_python("enum_member", record->python, view);
  }
  static std::string name() {
    return detail::enum_of<E>::known != nullptr ? detail::enum_of<E>::known->key : typeid(E).name();
  }
  static std::string schema() { return detail::named_schema(name()); }

private:
  bool read(const TVMFFIAny &any) {
    const TVMFFIObject *object = any.v_obj;
    const int64_t *known = detail::find_sorted(detail::enum_of<E>::known->numbers, object);
    if (known != nullptr) {
      this->value = static_cast<E>(*known);
      return true;
    }
    detail::owned view(any); /* a combination of flags, or an object of another class */
    detail::owned number = detail::ask_python("enum_value", detail::enum_of<E>::known->python, view);
    (void)view.release();
    this->value = static_cast<E>(number.value.v_int64);
    return number.value.type_index == kTVMFFIInt;
  }
};

/** Binds an enum. Python's class is made when the object of this class ends, because it needs all members. */
template <typename E> class enum_ {
public:
  /** Further arguments: documentation, is_arithmetic(), is_flag(). */
  template <typename... Extra> enum_(const scope &in, const char *name, const Extra &...extra) {
    record_ = new detail::enum_record; /* for the life of the process */
    record_->key = in.key() + "." + name;
    (tell(extra), ...);
    builder_ = detail::ask_python("enum", in.python(), detail::str_of(name), detail::str_of(doc_), kind());
    detail::enum_of<E>::known = record_;
  }
  enum_(const enum_ &) = delete;
  enum_ &operator=(const enum_ &) = delete;
  ~enum_() noexcept(false) {
    if (std::uncaught_exceptions() != n_uncaught_) return; /* an exception ends the definition */
    record_->python = detail::ask_python("enum_finish", builder_);
    for (auto &[number, member] : record_->members) {
      member = detail::ask_python("enum_member", record_->python, detail::owned(detail::word(kTVMFFIInt, number)));
    }
    record_->finish();
  }
  /** Adds a member. */
  enum_ &value(const char *name, E value, const char *doc = "") {
    auto number = static_cast<int64_t>(value);
    detail::owned view(detail::word(kTVMFFIInt, number));
    detail::ask_python("enum_add", builder_, detail::str_of(name), view, detail::str_of(doc));
    record_->members.emplace_back(number, detail::owned());
    return *this;
  }
  /** Makes the members attributes of the scope of the enum, too. */
  enum_ &export_values() {
    detail::ask_python("enum_export", builder_);
    return *this;
  }

private:
  void tell(const char *doc) { doc_ = doc; }
  void tell(is_arithmetic) { record_->is_arithmetic = true; }
  void tell(is_flag) { record_->is_flag = true; }
  detail::owned kind() const {
    return detail::owned(detail::word(kTVMFFIInt, (record_->is_arithmetic ? 1 : 0) + (record_->is_flag ? 2 : 0)));
  }

  detail::enum_record *record_;
  detail::owned builder_;
  const char *doc_ = "";
  int n_uncaught_ = std::uncaught_exceptions();
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_ENUM_H_ */
