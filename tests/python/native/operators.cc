// Classes whose operators are C++ functions. tests/python/classes/test_operators.py uses them.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/overload.h>
#include <tvm/ffi/reflection/registry.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace {  // two builds of this file may be loaded at once

namespace ffi = tvm::ffi;
namespace refl = tvm::ffi::reflection;

// --- a number --------------------------------------------------------------------------------------------------------

class NumObj : public ffi::Object {
public:
  int64_t value;
  explicit NumObj(int64_t value) : value(value) {}
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("operators." ERA ".Num", NumObj, ffi::Object);
};

class Num : public ffi::ObjectRef {
public:
  explicit Num(int64_t value) { data_ = ffi::make_object<NumObj>(value); }
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Num, ffi::ObjectRef, NumObj);
};

Num Add(const Num &self, const Num &other) { return Num(self->value + other->value); }
Num AddTo(const Num &self, int64_t other) { return Num(other * 100 + self->value); }
Num Subtract(const Num &self, const Num &other) {
  if (other->value < 0) TVM_FFI_THROW(TypeError) << "a negative number";
  return Num(self->value - other->value);
}
Num Multiply(const Num &self, int64_t other) { return Num(self->value * other); }
Num Power(const Num &self, int64_t exponent) {
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) result *= self->value;
  return Num(result);
}
// Returns nothing: the statement `a += 1` keeps `a`.
void AddInPlace(NumObj *self, int64_t other) { self->value += other; }
ffi::ObjectRef MultiplyInPlace(Num self, int64_t other) {
  self.get()->value *= other;
  return self;
}

// --- objects that compare --------------------------------------------------------------------------------------------

/** Has only __eq__ and __lt__. */
class OnlyEqualObj : public ffi::Object {
public:
  int64_t value;
  explicit OnlyEqualObj(int64_t value) : value(value) {}
  TVM_FFI_DECLARE_OBJECT_INFO("operators." ERA ".OnlyEqual", OnlyEqualObj, ffi::Object);
};

/** Inherits __eq__. */
class BelowEqualObj : public OnlyEqualObj {
public:
  explicit BelowEqualObj(int64_t value) : OnlyEqualObj(value) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".BelowEqual", BelowEqualObj, OnlyEqualObj);
};

/** Has __eq__, __ne__ and __hash__. */
class HashedObj : public ffi::Object {
public:
  int64_t value;
  explicit HashedObj(int64_t value) : value(value) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".Hashed", HashedObj, ffi::Object);
};

/** Has every operator; a result is the name of the function, the value and the operand. */
class AllObj : public ffi::Object {
public:
  int64_t value;
  explicit AllObj(int64_t value) : value(value) {}
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".All", AllObj, ffi::Object);
};

// --- protocols -------------------------------------------------------------------------------------------------------

class CounterObj : public ffi::Object {
public:
  int64_t next = 0;
  int64_t end;
  explicit CounterObj(int64_t end) : end(end) {}
  int64_t Next() {
    if (next == end) TVM_FFI_THROW(StopIteration) << "the end";
    return next++;
  }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".Counter", CounterObj, ffi::Object);
};

class RangeObj : public ffi::Object {
public:
  int64_t size;
  explicit RangeObj(int64_t size) : size(size) {}
  ffi::Array<int64_t> Items() const {
    ffi::Array<int64_t> items;
    for (int64_t i = 0; i < size; ++i) items.push_back(i);
    return items;
  }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".Range", RangeObj, ffi::Object);
};

/** A context manager; `log` has a line for each event. */
class GuardObj : public ffi::Object {
public:
  ffi::Array<ffi::String> log;
  bool swallows;
  explicit GuardObj(bool swallows) : swallows(swallows) {}
  bool Exit(const ffi::AnyView &type, const ffi::AnyView &value, const ffi::AnyView &traceback) {
    bool failed = !(type == nullptr);
    log.push_back(failed ? "failed" : "left");
    return failed && swallows;
  }
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".Guard", GuardObj, ffi::Object);
};

class Guard : public ffi::ObjectRef {
public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Guard, ffi::ObjectRef, GuardObj);
};

/** A context manager whose __exit__ has no parameters. */
class ClosedObj : public ffi::Object {
public:
  bool is_open = false;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".Closed", ClosedObj, ffi::Object);
};

/** Awaited: its value, whatever it is. */
class TaskObj : public ffi::Object {
public:
  ffi::Any value;
  explicit TaskObj(ffi::Any value) : value(std::move(value)) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".Task", TaskObj, ffi::Object);
};

/** A class whose __eq__ and __contains__ have overloads. */
class BytesObj : public ffi::Object {
public:
  int64_t value;
  explicit BytesObj(int64_t value) : value(value) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("operators." ERA ".Bytes", BytesObj, ffi::Object);
};

TVM_FFI_STATIC_INIT_BLOCK() {
  auto equals = [](const BytesObj *self, int8_t other) { return self->value == other; };
  auto is_text = [](const BytesObj *self, const ffi::String &text) { return text == std::to_string(self->value); };
  refl::OverloadObjectDef<BytesObj>()
      .def(refl::init<int64_t>())
      .def("__eq__", equals)
      .def("__eq__", is_text)
      .def("__contains__", equals)
      .def("__contains__", is_text);
  auto all = refl::ObjectDef<AllObj>();
  all.def_rw("value", &AllObj::value).def(refl::init<int64_t>());
  auto define = [&](const std::string &name) {
    all.def(("__" + name + "__").c_str(), [name](const AllObj *self, int64_t other) {
      return ffi::String(name + " " + std::to_string(self->value) + " " + std::to_string(other));
    });
  };
  for (const char *name :
       {"add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "xor", "or"}) {
    define(name);
    define(std::string("r") + name);
    // The function returns nothing, so the object stays.
    all.def(("__i" + std::string(name) + "__").c_str(), [](AllObj *self, int64_t other) { self->value = other; });
  }
  for (const char *name : {"divmod", "rdivmod", "lt", "le", "gt", "ge"}) define(name);
  refl::OverloadObjectDef<NumObj>()
      .def_rw("value", &NumObj::value)
      .def(refl::init<int64_t>())
      .def("__truediv__", [](const NumObj *self, int64_t other) { return Num(self->value / other); })
      .def("__truediv__", [](const NumObj *self, const Num &other) { return Num(self->value / other->value); })
      .def("__add__", Add)
      .def("__radd__", AddTo)
      .def("__sub__", Subtract)
      .def("__mul__", Multiply)
      .def("__rmul__", Multiply)
      .def("__pow__", Power)
      .def("__iadd__", AddInPlace)
      .def("__imul__", MultiplyInPlace)
      .def("__neg__", [](const NumObj *self) { return Num(-self->value); })
      .def("__bool__", [](const NumObj *self) { return self->value != 0; })
      .def("__index__", [](const NumObj *self) { return self->value; })
      .def("__int__", [](const NumObj *self) { return self->value; })
      .def("__float__", [](const NumObj *self) { return self->value + 0.5; })
      .def("__call__", [](const NumObj *self, int64_t x) { return self->value + x; })
      .def("__str__", [](const NumObj *self) { return ffi::String("Num"); });
  refl::ObjectDef<OnlyEqualObj>()
      .def(refl::init<int64_t>())
      .def("__eq__", [](const OnlyEqualObj *self, const OnlyEqualObj *other) { return self->value == other->value; })
      .def("__lt__", [](const OnlyEqualObj *self, const OnlyEqualObj *other) { return self->value < other->value; });
  refl::ObjectDef<BelowEqualObj>().def(refl::init<int64_t>());
  refl::ObjectDef<HashedObj>()
      .def(refl::init<int64_t>())
      .def("__eq__", [](const HashedObj *self, int64_t other) { return self->value == other; })
      .def("__ne__", [](const HashedObj *self, int64_t other) { return self->value == -other; })
      .def("__hash__", [](const HashedObj *self) { return self->value; });
  refl::ObjectDef<CounterObj>()
      .def(refl::init<int64_t>())
      .def("__iter__", [](const ffi::ObjectRef &self) { return self; })
      .def("__next__", &CounterObj::Next);
  refl::ObjectDef<RangeObj>()
      .def(refl::init<int64_t>())
      .def("__len__", [](const RangeObj *self) { return self->size; })
      .def("__contains__",
           [](const RangeObj *self, int64_t x) {
             if (x == -5) TVM_FFI_THROW(TypeError) << "an error of its own";
             return 0 <= x && x < self->size;
           })
      .def("__iter__", &RangeObj::Items)
      .def("__reversed__", &RangeObj::Items)
      .def("__getitem__", [](const RangeObj *self, int64_t i) { return self->Items()[i]; });
  refl::ObjectDef<GuardObj>()
      .def(refl::init<bool>())
      .def_ro("log", &GuardObj::log)
      .def("__enter__",
           [](const Guard &self) {
             self.get()->log.push_back("entered");
             return self;
           })
      .def("__exit__", &GuardObj::Exit);
  refl::ObjectDef<ClosedObj>()
      .def(refl::init<>())
      .def_ro("is_open", &ClosedObj::is_open)
      .def("__enter__", [](ClosedObj *self) { self->is_open = true; })
      .def("__exit__", [](ClosedObj *self) { self->is_open = false; });
  refl::ObjectDef<TaskObj>().def(refl::init<ffi::Any>()).def("__await__", [](const TaskObj *self) {
    return self->value;
  });
}

} // namespace
