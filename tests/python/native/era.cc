// A library of one era: libraries of the other eras accept, change, call and free its objects.
//
// Compiled against apache-tvm-ffi's headers of two eras, and against ours. All libraries have the class Item under one
// key, so they share the type; only the library of the era REGISTRAR registers the fields. NAMESPACE differs between
// the libraries, because the loader merges the static variables of inline functions with equal names.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/registry.h>

#include <atomic>
#include <string>
#include <utility>

namespace NAMESPACE {

namespace ffi = tvm::ffi;
using ffi::Any;
using ffi::Array;
using ffi::Dict;
using ffi::Function;
using ffi::List;
using ffi::Map;
using ffi::Optional;
using ffi::String;

// --- objects ---------------------------------------------------------------------------------------------------------

std::atomic<int64_t> n_items_alive{0};

class ItemObj : public ffi::Object {
public:
  String name;
  int64_t number;
  Any extra;
  Array<Any> children;
  Optional<ffi::ObjectRef> link;

  ItemObj() { n_items_alive += 1; }
  ItemObj(String name, int64_t number) : name(std::move(name)), number(number) { n_items_alive += 1; }
  ~ItemObj() { n_items_alive -= 1; }

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("ffi_hpy_test.ItemDescribedBy_" REGISTRAR, ItemObj, ffi::Object);
};

class Item : public ffi::ObjectRef {
public:
  Item(String name, int64_t number) { data_ = ffi::make_object<ItemObj>(std::move(name), number); }
  explicit Item(ffi::ObjectPtr<ItemObj> item) : ffi::ObjectRef(std::move(item)) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Item, ffi::ObjectRef, ItemObj);
};

// A child class that only one era has.
class OwnItemObj : public ItemObj {
public:
  String own;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_test.ItemOf_" ERA "_DescribedBy_" REGISTRAR, OwnItemObj, ItemObj);
};

// Object is the second base: the members of the first base come before the header, at negative offsets.
class Counted {
public:
  int64_t count = 3;
  String note = "before the header";
  virtual ~Counted() = default;
};
class LateObj : public Counted, public ffi::Object {
public:
  int64_t after = 4;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_test.LateOf_" ERA "_DescribedBy_" REGISTRAR, LateObj, ffi::Object);
};
ffi::ObjectRef make_late() { return ffi::ObjectRef(ffi::make_object<LateObj>()); }

// The code of this library frees Items, whichever library drops the last reference.
int64_t items_alive() { return n_items_alive; }
Item make_item(String name, int64_t number) { return Item(std::move(name), number); }
Item make_own_item(String name) {
  ffi::ObjectPtr<OwnItemObj> item = ffi::make_object<OwnItemObj>();
  item->name = name;
  item->number = 1;
  item->own = "own " + name;
  return Item(item);
}
Array<Any> look_at_item(Item item) {
  return {item->name, item->number, item->extra, item->children, item->link.has_value(), String(item->GetTypeKey())};
}
void change_item(Item item, String name, int64_t number, Any extra) {
  ItemObj *it = const_cast<ItemObj *>(item.get());
  it->name = std::move(name);
  it->number = number;
  it->extra = std::move(extra);
  it->children.push_back(number);
}
void link_items(Item from, Optional<Item> to) {
  const_cast<ItemObj *>(from.get())->link = to.has_value() ? Optional<ffi::ObjectRef>(*to) : std::nullopt;
}
bool is_linked_to(Item from, Item to) { return from->link.has_value() && (*from->link).same_as(to); }

// --- containers ------------------------------------------------------------------------------------------------------

// Returns values of every kind that containers hold.
Array<Any> make_values() {
  return {nullptr,
          true,
          -7,
          2.5,
          String("short"),
          String("a text of some length"),
          ffi::Bytes(std::string("\0b", 2)),
          ffi::Bytes(std::string("bytes of some length")),
          DLDataType{kDLFloat, 32, 4},
          DLDevice{kDLCPU, 3},
          ffi::Shape({2, 3}),
          make_item("in an array", 1),
          Array<Any>{1, 2}};
}
bool values_are_equal(Array<Any> left, Array<Any> right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!ffi::AnyEqual()(left[i], right[i]) || ffi::AnyHash()(left[i]) != ffi::AnyHash()(right[i])) return false;
  }
  return true;
}
Array<Any> append_to_array(Array<Any> array, Any value) {
  array.push_back(value);
  return array;
}

List<Any> make_list() { return List<Any>(); }
int64_t append_to_list(List<Any> list, Any value, int64_t times) {
  for (int64_t i = 0; i < times; ++i) list.push_back(value);
  return static_cast<int64_t>(list.size());
}
Any change_list(List<Any> list) {
  Any last = list.back();
  list.pop_back();
  list.erase(list.begin());
  list.insert(list.begin(), String("inserted by " ERA));
  list.Set(1, String("set by " ERA));
  return last;
}

Map<Any, Any> make_map(int64_t n) {
  Map<Any, Any> map;
  for (int64_t i = 0; i < n; ++i) map.Set(String("the key number " + std::to_string(i)), i);
  return map;
}
Dict<Any, Any> make_dict() { return Dict<Any, Any>(); }
void set_in_dict(Dict<Any, Any> dict, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) {
    dict.Set(String("the key number " + std::to_string(i)), i);
    dict.Set(i, String("value by " ERA));
  }
}
void erase_in_dict(Dict<Any, Any> dict, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) dict.erase(i);
}
// Returns the number of keys that have their expected value, and the sum of all values in an iteration.
template <typename Mapping> Array<Any> count_keys(const Mapping &mapping, int64_t n) {
  int64_t n_found = 0, sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    String key("the key number " + std::to_string(i));
    if (mapping.count(key) != 0 && mapping.at(key).template cast<int64_t>() == i) n_found += 1;
  }
  for (const auto &pair : mapping) {
    if (auto number = pair.second.template as<int64_t>()) sum += *number;
  }
  return {n_found, sum, static_cast<int64_t>(mapping.size())};
}
Array<Any> count_in_map(Map<Any, Any> map, int64_t n) { return count_keys(map, n); }
Array<Any> count_in_dict(Dict<Any, Any> dict, int64_t n) { return count_keys(dict, n); }
Map<Any, Any> set_in_map(Map<Any, Any> map, Any key, Any value) {
  map.Set(key, value);
  return map;
}

// --- optional and variant --------------------------------------------------------------------------------------------

using Choice = ffi::Variant<int64_t, String, Item>;
String name_choice(Choice choice) {
  if (choice.as<int64_t>()) return "an int";
  return choice.as<String>() ? "a text" : "an item";
}
Choice make_choice(int64_t which) {
  if (which == 0) return int64_t{5};
  if (which == 1) return String("a chosen text, a long one");
  return make_item("chosen", 5);
}
Array<Any> look_at_optionals(Optional<int64_t> number, Optional<String> text, Optional<Item> item,
                             Optional<Array<Any>> array, Optional<Choice> choice) {
  return {number.has_value() ? Any(*number) : Any(nullptr), text.has_value() ? Any(*text) : Any(nullptr),
          item.has_value() ? Any((*item)->name) : Any(nullptr),
          array.has_value() ? Any(static_cast<int64_t>((*array).size())) : Any(nullptr),
          choice.has_value() ? Any(name_choice(*choice)) : Any(nullptr)};
}
Optional<String> maybe_text(bool there) {
  return there ? Optional<String>(String("a text that is there")) : std::nullopt;
}
Optional<Item> maybe_item(bool there) { return there ? Optional<Item>(make_item("there", 1)) : std::nullopt; }
ffi::Tuple<int64_t, String, Item> make_tuple() {
  return ffi::Tuple<int64_t, String, Item>(int64_t{3}, String("in a tuple"), make_item("in a tuple", 3));
}
String look_at_tuple(ffi::Tuple<int64_t, String, Item> tuple) {
  return std::to_string(tuple.get<0>()) + " " + std::string(tuple.get<1>()) + " " + std::string(tuple.get<2>()->name);
}

// --- functions -------------------------------------------------------------------------------------------------------

Function make_adder(int64_t n, Any kept) {
  return Function::FromTyped([n, kept](int64_t x) { return x + n; });
}
Any call(Function f, Any argument) { return f(argument); }
// Calls through typed wrappers, as C++ code does.
int64_t call_typed(ffi::TypedFunction<int64_t(int64_t)> f, int64_t x) { return f(x) + f(x + 1); }
// Returns f(g(x)), where f and g may be of any era.
Function compose(Function f, Function g) {
  return Function::FromTyped([f, g](Any x) -> Any { return f(g(x)); });
}
void set_global(String name, Function f) { Function::SetGlobal(std::string(name), f, true); }
Any call_global(String name, Any argument) { return Function::GetGlobalRequired(name)(argument); }

// --- errors ----------------------------------------------------------------------------------------------------------

__attribute__((noinline)) void throw_in_a_function_of_its_own(const String &message) {
  TVM_FFI_THROW(ValueError) << message << ", thrown by " ERA;
}
void throw_error(String message) { throw_in_a_function_of_its_own(message); }
// Returns kind, message and backtrace of the error that f throws.
Array<Any> catch_error(Function f, Any argument) {
  try {
    f(argument);
  } catch (const ffi::Error &error) {
    return {String(error.kind()), String(error.message()), String(error.backtrace())};
  }
  return {};
}
ffi::Error catch_and_return(Function f, Any argument) {
  try {
    f(argument);
  } catch (const ffi::Error &error) {
    return error;
  }
  return ffi::Error("RuntimeError", "nothing was thrown", "");
}
void catch_and_rethrow(Function f, Any argument) {
  try {
    f(argument);
  } catch (ffi::Error &error) {
    throw;
  }
}
void throw_it(ffi::Error error) { throw error; }
Array<Any> look_at_error(ffi::Error error) {
  return {String(error.kind()),      String(error.message()),         String(error.what()),
          String(error.backtrace()), error.cause_chain().has_value(), error.extra_context().has_value()};
}
ffi::Error make_error(String message, Optional<ffi::Error> cause, Optional<ffi::ObjectRef> context) {
  std::optional<ffi::Error> inner;
  std::optional<ffi::ObjectRef> extra;
  if (cause.has_value()) inner.emplace(*cause);
  if (context.has_value()) extra.emplace(*context);
  return ffi::Error("ValueError", message, "", inner, extra);
}

TVM_FFI_STATIC_INIT_BLOCK() {
  if (std::string(ERA) == REGISTRAR) {
    ffi::reflection::ObjectDef<ItemObj>()
        .def(ffi::reflection::init<String, int64_t>())
        .def_rw("name", &ItemObj::name)
        .def_rw("number", &ItemObj::number)
        .def_rw("extra", &ItemObj::extra)
        .def_rw("children", &ItemObj::children)
        .def_rw("link", &ItemObj::link);
  }
  ffi::reflection::ObjectDef<OwnItemObj>().def_ro("own", &OwnItemObj::own);
  ffi::reflection::ObjectDef<LateObj>()
      .def_rw("count", &LateObj::count)
      .def_rw("note", &LateObj::note)
      .def_rw("after", &LateObj::after);
}

} // namespace NAMESPACE

#define EXPORT(name) TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, NAMESPACE::name)
EXPORT(items_alive);
EXPORT(make_item);
EXPORT(make_own_item);
EXPORT(make_late);
EXPORT(look_at_item);
EXPORT(change_item);
EXPORT(link_items);
EXPORT(is_linked_to);
EXPORT(make_values);
EXPORT(values_are_equal);
EXPORT(append_to_array);
EXPORT(make_list);
EXPORT(append_to_list);
EXPORT(change_list);
EXPORT(make_map);
EXPORT(make_dict);
EXPORT(set_in_dict);
EXPORT(erase_in_dict);
EXPORT(count_in_map);
EXPORT(count_in_dict);
EXPORT(set_in_map);
EXPORT(name_choice);
EXPORT(make_choice);
EXPORT(look_at_optionals);
EXPORT(maybe_text);
EXPORT(maybe_item);
EXPORT(make_tuple);
EXPORT(look_at_tuple);
EXPORT(make_adder);
EXPORT(call);
EXPORT(call_typed);
EXPORT(compose);
EXPORT(set_global);
EXPORT(call_global);
EXPORT(throw_error);
EXPORT(catch_error);
EXPORT(catch_and_return);
EXPORT(catch_and_rethrow);
EXPORT(throw_it);
EXPORT(look_at_error);
EXPORT(make_error);
