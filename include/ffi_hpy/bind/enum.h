/* enum.h - enums of C++ as classes of Python's enum module. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_ENUM_H_
#define FFI_HPY_BIND_ENUM_H_

#include <ffi_hpy/bind/class.h>
#include <ffi_hpy/bind/item_list.h>

#include <atomic>

FFI_HPY_NAMESPACE_BEGIN

/** The members are ints as well: enum.IntEnum, or enum.IntFlag. */
struct is_arithmetic {};
/** The members can be combined: enum.Flag. */
struct is_flag {};
/** The members are strings as well: enum.StrEnum. enum_::str_value sets their texts. */
struct is_str {};

namespace detail {

/** Sorts pairs by their keys; pairs of one key keep their order. Most enums are sorted already, and <algorithm> takes
 * long to compile. */
template <typename Pair> void sort_pairs(item_list<Pair> *list) {
  Pair *at = list->data();
  for (size_t i = 1; i < list->size(); ++i) {
    for (size_t j = i; j > 0 && at[j].key < at[j - 1].key; --j) std::swap(at[j], at[j - 1]);
  }
}
/** The item with a key in a sorted list of pairs; null if there is none. */
template <typename Pair, typename K> const Pair *find_sorted(const item_list<Pair> &list, K key) {
  const Pair *at = list.data();
  size_t n = list.size();
  for (size_t half; n > 1; n -= half) {
    half = n / 2;
    if (at[half - 1].key < key) at += half;
  }
  return n != 0 && at->key == key ? at : nullptr;
}

/** A member by its number: its value in Python or, once the enum is complete, the member. */
struct enum_member {
  int64_t key;
  object value;
};
/** The number of a member by the address of its object. */
struct enum_number {
  const TVMFFIObject *key;
  int64_t value;
};

/** The Python side of an enum. */
struct enum_record {
  object builder, python; /* the class is made when it is first needed */
  item_list<enum_member> members;
  item_list<enum_number> numbers; /* once the enum is complete */
  object (*number_to_python)(int64_t number);
  bool is_arithmetic = false, is_flag = false, is_str = false;
  int n_definitions = 1; /* the copies of enum_ */

  /** Sorts both lists, when all members are known. */
  void sort() {
    for (const enum_member &each : members) {
      if (is_object(each.value.any())) numbers.add({each.value.any().v_obj, each.key});
    }
    sort_pairs(&numbers);
    sort_pairs(&members);
  }
};

/** The number of a member; an unsigned one may be larger than 63 bits. A bool and a character are numbers, too. */
template <typename E> object number_of(E value) {
  using Number = std::underlying_type_t<E>;
  constexpr bool is_int = std::is_integral_v<Number> && !std::is_same_v<Number, bool> && !is_std_char_v<Number>;
  return cast(static_cast<std::conditional_t<is_int, Number, int64_t>>(value));
}
template <typename E> object number_to_python(int64_t number) { return number_of(static_cast<E>(number)); }

/** Begins the class of an enum in a scope. */
FFI_HPY_NOINLINE inline void start_enum_in_module(enum_record *record, const std::type_info *info, handle scope,
                                                  const char *name, const char *doc) {
  object label = str_of(name);
  std::string key = cast<std::string>(ask_python("key_in", scope, label));
  enum_names = new enum_name{info, std::move(key), enum_names}; /* for the life of the process */
  int64_t kind = record->is_str ? 4 : (record->is_arithmetic ? 1 : 0) + (record->is_flag ? 2 : 0);
  record->builder = ask_python("enum", scope, label, str_of(doc), int_value(kind), str_of(cpp_name_of(*info)));
}
/** Adds a member, whose value in Python is `value`. */
FFI_HPY_NOINLINE inline void add_member_in_module(enum_record *record, const char *name, int64_t number, object value,
                                                  const char *doc) {
  ask_python("enum_add", record->builder, str_of(name), value, text_or_empty(doc), int_value(number));
  record->members.add({number, std::move(value)});
}
/** Makes Python's class of the members that are known by now. */
FFI_HPY_NOINLINE inline void finish_enum_in_module(enum_record *record) {
  if (record->python.is_valid()) return;
  record->python = ask_python("enum_finish", record->builder);
  for (enum_member &each : record->members) each.value = ask_python("enum_member", record->python, each.value);
  record->sort();
}
/** Fills the record of an enum that another library has bound. False if there is none. */
inline bool fill_enum(enum_record *made, const std::type_info *info) {
  made->builder = ask_python("enum_find", str_of(cpp_name_of(*info)));
  if (made->builder.is_none()) return false;
  int64_t kind = int_of(ask_python("enum_kind", made->builder));
  made->is_arithmetic = (kind & 1) != 0, made->is_flag = (kind & 2) != 0, made->is_str = kind == 4;
  for (handle item : ask_python("enum_items", made->builder)) {
    made->members.add({cast<int64_t>(item[0]), item[1].get()});
  }
  finish_enum_in_module(made);
  return true;
}
/** Makes a record of an enum that another library has bound. */
FFI_HPY_NOINLINE inline enum_record *find_enum_in_module(std::atomic<enum_record *> *known, const std::type_info *info,
                                                         object (*to_python)(int64_t number)) noexcept {
  enum_record *made = nullptr, *other = nullptr; /* of another thread */
  try {
    made = new enum_record{};
    made->number_to_python = to_python;
    bool is_found = fill_enum(made, info);
    if (is_found && known->compare_exchange_strong(other, made, std::memory_order_acq_rel)) return made;
  } catch (...) { /* no memory, or an error of Python, which ends with its exception */
  }
  delete made;
  return other;
}

/** The record of an enum: of this library, or found in another one when it is first needed; null if there is none. */
template <typename E> struct enum_of {
  static inline std::atomic<enum_record *> known{nullptr}; /* stored with release, loaded with acquire */
  static enum_record *find() noexcept {
    enum_record *own = known.load(std::memory_order_acquire);
    return own != nullptr ? own : in_module->find_enum(&known, &typeid(E), &number_to_python<E>);
  }
  /** The class of Python; empty if the enum is not bound. */
  static handle python() {
    enum_record *record = find();
    if (record == nullptr) return handle();
    in_module->finish_enum(record);
    return record->python;
  }
};

/** The number of a value of Python that is a member or, if it may be converted, equals one. */
inline bool ask_enum(enum_record *record, handle source, bool may_convert, int64_t *number) noexcept {
  handle found = guarded([&] {
    finish_enum_in_module(record);
    return ask_python("enum_value", record->python, source, handle(word(kTVMFFIBool, may_convert)));
  });
  if (!found.is_valid()) python_error dropped;
  object kept = found.is_valid() ? steal(found) : object();
  if (kept.any().type_index == kTVMFFIInt) {
    *number = kept.any().v_int64;
    return true;
  }
  if (!kept.is_valid() || kept.is_none()) return false;
  for (const enum_member &each : record->members) { /* the member of a text */
    if (!each.value.is(kept)) continue;
    *number = each.key;
    return true;
  }
  return false;
}

/** Whether a number is the number of a member, or a combination of flags. Before Python 3.11 `~flag` is a negative
 * number: it becomes the number of the other flags. */
inline bool is_member(const enum_record &record, int64_t *number) {
  bool is_sorted = record.python.is_valid();
  if (is_sorted && !record.is_flag) return find_sorted(record.members, *number) != nullptr;
  int64_t all = 0;
  for (const enum_member &each : record.members) {
    if (each.key == *number) return true;
    all |= each.key;
  }
  if (*number < 0) *number &= all;
  return record.is_flag;
}

/** The number of an argument; false if it is not a member. */
FFI_HPY_NOINLINE inline bool read_enum_in_module(enum_record *record, handle source, uint32_t flags,
                                                 int64_t *number) noexcept {
  if (record == nullptr) return false;
  bool may_convert = (flags & cast_flags::convert) != 0;
  switch (source.any().type_index) {
  case kTVMFFIInt:
    *number = source.any().v_int64;
    if (record->is_arithmetic) return is_member(*record, number); /* such a member is an int */
    return may_convert && !record->is_str && ask_enum(record, source, true, number);
  case kTVMFFIBigInt: return may_convert && !record->is_str && ask_enum(record, source, true, number);
  case kTVMFFISmallStr:
  case kTVMFFIStr: return record->is_str && ask_enum(record, source, true, number); /* such a member is a str */
  case kTVMFFIOpaquePyObject:
    if (const enum_number *known = find_sorted(record->numbers, source.any().v_obj)) {
      *number = known->value;
      return true;
    }
    /* a combination of flags, an object of another class, or an enum that is not complete */
    return ask_enum(record, source, false, number);
  default: return false;
  }
}
FFI_HPY_NOINLINE inline handle member_of_in_module(enum_record *record, int64_t number) noexcept {
  if (record == nullptr) return int_value(number);
  if (!record->python.is_valid() && !guarded([&] {
                                       finish_enum_in_module(record);
                                       return take(none_value());
                                     }).is_valid()) {
    return handle();
  }
  auto place = static_cast<size_t>(number); /* of the member in most enums, whose numbers begin with 0 */
  const enum_member *all = record->members.data();
  bool is_in_place = place < record->members.size() && all[place].key == number;
  const enum_member *member = is_in_place ? all + place : find_sorted(record->members, number);
  if (member != nullptr) return member->value.inc_ref();
  return guarded([&] { return ask_python("enum_member", record->python, record->number_to_python(number)); });
}

/** Enums that are bound with enum_. */
template <typename E>
struct type_caster<E, enable_if_t<std::is_enum_v<E>>> : plain_caster<type_caster<E>>, enum_caster {
  FFI_HPY_TYPE_CASTER(E, const_name<E>());
  bool from_python(handle source, uint32_t flags, cleanup_list *) noexcept {
    int64_t number = 0;
    enum_record *record = enum_of<E>::find();
    if (!in_module->read_enum(record, source, flags, &number)) return false;
    value = static_cast<E>(number);
    /* The key of a large number is negative. */
    if constexpr (std::is_unsigned_v<std::underlying_type_t<E>> && sizeof(E) == 8) {
      if (source.any().type_index == kTVMFFIInt && number < 0 && !record->is_flag) return false;
    }
    return static_cast<int64_t>(value) == number; /* a combination of flags may be outside the range */
  }
  static handle from_cpp(E source, rv_policy, cleanup_list *) noexcept {
    return in_module->member_of(enum_of<E>::find(), static_cast<int64_t>(source));
  }
};

} // namespace detail

namespace detail {

/** The documentation of an enum, to which a program assigns a text. */
class enum_doc {
public:
  explicit enum_doc(enum_record *record) : record_(record) {}
  void operator=(const char *text) const { ask_python("enum_document", record_->builder, str_of(text)); }

private:
  enum_record *record_;
};

} // namespace detail

/** Binds an enum. Python's class is made when the last copy of this object ends, or when a function that is defined
 * needs a member: the class needs all members. */
template <typename E> class enum_ {
public:
  using Base = class_<E>;                        /**< nanobind describes an enum as a class_ */
  using Underlying = std::underlying_type_t<E>; /**< of the numbers of the members */

  /** Further arguments: documentation, is_arithmetic(), is_flag(), is_str(). */
  template <typename... Extra> enum_(handle in, const char *name, const Extra &...extra) {
    record_ = new detail::enum_record{}; /* for the life of the process */
    record_->number_to_python = &detail::number_to_python<E>;
    (tell(extra), ...);
    detail::in_module->start_enum(record_, &typeid(E), in, name, doc_);
    detail::enum_of<E>::known.store(record_, std::memory_order_release);
  }
  enum_(const enum_ &other) : record_(other.record_), doc_(other.doc_), n_uncaught_(other.n_uncaught_) {
    ++record_->n_definitions;
  }
  enum_ &operator=(const enum_ &) = delete;
  ~enum_() noexcept(false) {
    if (--record_->n_definitions != 0 || std::uncaught_exceptions() != n_uncaught_) return; /* an exception */
    detail::in_module->finish_enum(record_);
  }
  /** Adds a member. */
  enum_ &value(const char *name, E value, const char *doc = "") {
    detail::in_module->add_member(record_, name, static_cast<int64_t>(value), detail::number_of(value), doc);
    return *this;
  }
  /** Adds a member of an enum with is_str(): its value in Python is a text. */
  enum_ &str_value(const char *name, E value, const char *text, const char *doc = "") {
    detail::in_module->add_member(record_, name, static_cast<int64_t>(value), detail::str_of(text), doc);
    return *this;
  }
  /** Adds a method: a function whose first parameter is a member. */
  template <typename F, typename... Extra> enum_ &def(const char *name, F &&f, const Extra &...extra) {
    return add("method", name, std::forward<F>(f), is_method(), extra...);
  }
  /** Adds a static method. */
  template <typename F, typename... Extra> enum_ &def_static(const char *name, F &&f, const Extra &...extra) {
    return add("static", name, std::forward<F>(f), extra...);
  }
  /** Adds a property with a function that reads it. */
  template <typename F, typename... Extra> enum_ &def_prop_ro(const char *name, F &&f, const Extra &...extra) {
    return add("property", name, std::forward<F>(f), extra...);
  }
  /** The documentation: `doc() = "text"`. */
  detail::enum_doc doc() const { return detail::enum_doc(record_); }
  /** Makes the members attributes of the scope of the enum, too. */
  enum_ &export_values() {
    detail::ask_python("enum_export", record_->builder);
    return *this;
  }

private:
  template <typename F, typename... Extra>
  enum_ &add(const char *kind, const char *name, F &&f, const Extra &...extra) {
    detail::ask_python("enum_def", record_->builder, detail::str_of(kind), detail::str_of(name),
                       cpp_function(std::forward<F>(f), ::FFI_HPY_BIND_NAMESPACE::name(name), extra...));
    return *this;
  }
  void tell(const char *doc) { doc_ = doc; }
  void tell(is_arithmetic) { record_->is_arithmetic = true; }
  void tell(is_flag) { record_->is_flag = true; }
  void tell(is_str) { record_->is_str = true; }

  detail::enum_record *record_;
  const char *doc_ = "";
  int n_uncaught_ = std::uncaught_exceptions();
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_ENUM_H_ */
