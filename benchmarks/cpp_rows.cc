/* One side of benchmarks/cpp.py: the same program, compiled against the C++ headers of either project.
 *
 * Reads lines `ROW SIZE N` and answers each with the ns of CPU time per operation, over N iterations of the row at that
 * size, and a 0. The argument of the program only labels the process in listings. */
#include "rows.h"

#include <tvm/ffi/tvm_ffi.h>

#include <cstring>
#include <string>

namespace {

namespace ffi = tvm::ffi;
using ffi::Any;
using ffi::AnyView;
using ffi::Array;
using ffi::Function;
using ffi::List;
using ffi::Map;
using ffi::Optional;
using ffi::String;
using ffi::Variant;

/* Hides a value from the optimizer: the compiler must compute the value before, and knows nothing about it
 * afterwards. */
template <typename T> T &opaque(T &value) {
  asm volatile("" : : "r"(&value) : "memory");
  return value;
}

class PointObj : public ffi::Object {
public:
  int64_t x;
  explicit PointObj(int64_t x) : x(x) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ffi_hpy_bench.Point", PointObj, ffi::Object);
};
class Point : public ffi::ObjectRef {
public:
  explicit Point(int64_t x) { data_ = ffi::make_object<PointObj>(x); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Point, ffi::ObjectRef, PointObj);
};

/* ---- Calls ---- */

double call(int64_t n, int64_t) {
  Function add = Function::FromTyped([](int64_t a, int64_t b, int64_t c) { return a + b + c; });
  int64_t x = 1;
  return time_of(n, 1, [&] { x = opaque(add)(opaque(x), 2, 3).cast<int64_t>() & 7; });
}

double call_named(int64_t n, int64_t) {
  Function add = Function::FromTyped([](int64_t a, double b) { return static_cast<double>(a) + b; }, "add");
  double x = 1;
  return time_of(n, 1, [&] { x = opaque(add)(1, opaque(x)).cast<double>() / 2; });
}

double call_typed(int64_t n, int64_t) {
  ffi::TypedFunction<int64_t(int64_t, int64_t)> add = [](int64_t a, int64_t b) { return a + b; };
  int64_t x = 1;
  return time_of(n, 1, [&] { x = opaque(add)(opaque(x), 2) & 7; });
}

double call_objects(int64_t n, int64_t) {
  Function first = Function::FromTyped([](Point point, String) { return point; });
  Point point(1);
  String text("a text of some length");
  return time_of(n, 1, [&] { point = opaque(first)(point, text).cast<Point>(); });
}

double call_packed(int64_t n, int64_t) {
  Function count = Function::FromPacked([](ffi::PackedArgs args, Any *result) { *result = args.size(); });
  int64_t x = 0;
  return time_of(n, 1, [&] { opaque(x) += opaque(count)(1, 2.0, nullptr).cast<int64_t>(); });
}

/* ---- Values ---- */

double any_int(int64_t n, int64_t) {
  int64_t x = 1;
  return time_of(n, 1, [&] {
    Any any = opaque(x);
    x = opaque(any).cast<int64_t>() + 1;
  });
}

double any_float_of_int(int64_t n, int64_t) {
  Any any = 3;
  double sum = 0;
  return time_of(n, 1, [&] { opaque(sum) += opaque(any).cast<double>(); });
}

double any_text(int64_t n, int64_t) {
  String text("a text of some length");
  return time_of(n, 1, [&] {
    Any any = text;
    String out = opaque(any).cast<String>();
    opaque(out);
  });
}

double any_std_string(int64_t n, int64_t) {
  Any any = String("a text of some length");
  return time_of(n, 1, [&] {
    std::string out = opaque(any).cast<std::string>();
    opaque(out);
  });
}

double any_object(int64_t n, int64_t) {
  Point point(1);
  return time_of(n, 1, [&] {
    Any any = point;
    point = std::move(opaque(any)).cast<Point>();
  });
}

double any_optional(int64_t n, int64_t) {
  Any any = 5;
  int64_t sum = 0;
  return time_of(n, 1, [&] { opaque(sum) += opaque(any).cast<Optional<int64_t>>().value_or(0); });
}

double any_variant(int64_t n, int64_t) {
  Any any = String("a text of some length");
  int64_t sum = 0;
  return time_of(n, 1, [&] { opaque(sum) += opaque(any).cast<Variant<int64_t, String>>().get<String>().size() > 0; });
}

double any_as(int64_t n, int64_t) {
  Any any = Point(1);
  int64_t sum = 0;
  return time_of(n, 1, [&] {
    if (const PointObj *point = opaque(any).as<PointObj>()) opaque(sum) += point->x;
  });
}

/* ---- Containers ---- */

Array<int64_t> numbers(int64_t size) {
  Array<int64_t> array;
  for (int64_t i = 0; i < size; ++i) array.push_back(i);
  return array;
}

double array_loop(int64_t n, int64_t size) {
  Array<int64_t> array = numbers(size);
  int64_t sum = 0;
  return time_of(n, size, [&] {
    for (int64_t x : opaque(array)) sum += x;
    opaque(sum);
  });
}

double array_index(int64_t n, int64_t size) {
  Array<Point> array;
  for (int64_t i = 0; i < size; ++i) array.push_back(Point(i));
  int64_t sum = 0;
  return time_of(n, size, [&] {
    opaque(array);
    for (size_t i = 0; i < array.size(); ++i) sum += array[i]->x;
    opaque(sum);
  });
}

double array_build(int64_t n, int64_t size) {
  return time_of(n, size, [&] {
    Array<int64_t> array = numbers(size);
    opaque(array);
  });
}

double array_cast(int64_t n, int64_t size) {
  Any any = numbers(size);
  return time_of(n, size, [&] {
    Array<int64_t> array = opaque(any).cast<Array<int64_t>>();
    opaque(array);
  });
}

double list_append(int64_t n, int64_t size) {
  return time_of(n, size, [&] {
    List<int64_t> list;
    for (int64_t i = 0; i < size; ++i) list.push_back(i);
    opaque(list);
  });
}

Map<String, int64_t> table(int64_t size) {
  Map<String, int64_t> map;
  for (int64_t i = 0; i < size; ++i) map.Set("the key number " + std::to_string(i), i);
  return map;
}

double map_loop(int64_t n, int64_t size) {
  Map<String, int64_t> map = table(size);
  int64_t sum = 0;
  return time_of(n, size, [&] {
    for (const auto &item : opaque(map)) sum += item.second;
    opaque(sum);
  });
}

double map_lookup(int64_t n, int64_t size) {
  Map<String, int64_t> map = table(size);
  String key("the key number 3");
  int64_t sum = 0;
  return time_of(n, 1, [&] { opaque(sum) += map.at(opaque(key)); });
}

double map_build(int64_t n, int64_t size) {
  return time_of(n, size, [&] {
    Map<int64_t, int64_t> map;
    for (int64_t i = 0; i < size; ++i) map.Set(i, i);
    opaque(map);
  });
}

/* ---- Commands ---- */

const struct {
  const char *name;
  double (*run)(int64_t n, int64_t size);
} rows[] = {
    {"call", call},
    {"call_named", call_named},
    {"call_typed", call_typed},
    {"call_objects", call_objects},
    {"call_packed", call_packed},
    {"any_int", any_int},
    {"any_float_of_int", any_float_of_int},
    {"any_text", any_text},
    {"any_std_string", any_std_string},
    {"any_object", any_object},
    {"any_optional", any_optional},
    {"any_variant", any_variant},
    {"any_as", any_as},
    {"array_loop", array_loop},
    {"array_index", array_index},
    {"array_build", array_build},
    {"array_cast", array_cast},
    {"list_append", list_append},
    {"map_loop", map_loop},
    {"map_lookup", map_lookup},
    {"map_build", map_build},
};

double ns_of(const char *name, int64_t size, int64_t n) {
  for (const auto &row : rows) {
    if (std::strcmp(row.name, name) == 0) return row.run(n, size);
  }
  return -1;
}

} // namespace

int main() { return answer_rows(ns_of); }
