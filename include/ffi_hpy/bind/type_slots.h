/* type_slots.h - functions of a class in CPython's form (PyType_Slot) as methods of a bound class. Programs include
 * nanobind/nanobind.h.
 *
 * Py_tp_clear has no counterpart: the garbage collector destroys the values of a cycle itself. Py_tp_init is not
 * needed: the `__init__` of a class may be replaced. */
#ifndef FFI_HPY_BIND_TYPE_SLOTS_H_
#define FFI_HPY_BIND_TYPE_SLOTS_H_

#include <ffi_hpy/bind/py_object.h>

#include <ffi_hpy/bind/class.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** A Py_tp_traverse as a step of a class. */
struct slot_traverse : ffi_hpy_traverse {
  traverseproc function;
  const ffi_hpy_class *type;
};
inline int visit_pointer(PyObject *pointer, void *visitor) {
  TVMFFIAny any = value_of(pointer);
  if (!is_object(any) || is_traversed(pointer)) return 0;
  auto &visit = *static_cast<const reference_visitor *>(visitor);
  if (!visit.is_cutting()) visit.visit_target(any.v_obj, nullptr); /* the member that owns it is not known */
  return 0;
}
inline void run_traverse(const ffi_hpy_traverse *self, const void *value, const void *visitor) {
  auto *own = static_cast<const slot_traverse *>(self);
  /* Members of def_rw and def_ro are visited already, and the function would visit them twice. */
  if (own->type->traverse != self || self->next != nullptr) return;
  ffi_hpy_instance whole{};
  whole.header.type_index = own->type->type_index;
  whole.value = const_cast<void *>(value);
  whole.type = own->type;
  traversed_object() = &whole;
  own->function(reinterpret_cast<PyObject *>(&whole), visit_pointer, const_cast<void *>(visitor));
  traversed_object() = nullptr;
}
inline void add_slot_traverse(const ffi_hpy_class *type, void *function) {
  auto *step = new slot_traverse{}; /* for the life of the process, as the class */
  step->visit = run_traverse;
  step->function = reinterpret_cast<traverseproc>(function);
  step->type = type;
  api->class_add_traverse(type, step);
}

/** A result of a function of CPython's form. */
inline object slot_result(PyObject *made) {
  if (made == nullptr) throw python_error();
  return steal(handle(made));
}
template <typename T> T slot_number(T number) {
  if (number == T(-1)) {
    python_error error;
    if (!error.kind().empty()) throw error;
  }
  return number;
}

/** The methods of a slot. */
struct slot_methods {
  int slot;
  const char *name;      /**< of the method */
  const char *reflected; /**< the method of an operator whose object is on the right; NULL for other slots */
};
inline constexpr slot_methods unary_slots[] = {
    {Py_nb_absolute, "__abs__", nullptr}, {Py_nb_float, "__float__", nullptr},   {Py_nb_index, "__index__", nullptr},
    {Py_nb_int, "__int__", nullptr},      {Py_nb_invert, "__invert__", nullptr}, {Py_nb_negative, "__neg__", nullptr},
    {Py_nb_positive, "__pos__", nullptr}, {Py_tp_iter, "__iter__", nullptr},     {Py_tp_iternext, "__next__", nullptr},
    {Py_tp_repr, "__repr__", nullptr},    {Py_tp_str, "__str__", nullptr},
};
inline constexpr slot_methods binary_slots[] = {
    {Py_mp_subscript, "__getitem__", nullptr},
    {Py_nb_add, "__add__", "__radd__"},
    {Py_nb_and, "__and__", "__rand__"},
    {Py_nb_divmod, "__divmod__", "__rdivmod__"},
    {Py_nb_floor_divide, "__floordiv__", "__rfloordiv__"},
    {Py_nb_lshift, "__lshift__", "__rlshift__"},
    {Py_nb_matrix_multiply, "__matmul__", "__rmatmul__"},
    {Py_nb_multiply, "__mul__", "__rmul__"},
    {Py_nb_or, "__or__", "__ror__"},
    {Py_nb_remainder, "__mod__", "__rmod__"},
    {Py_nb_rshift, "__rshift__", "__rrshift__"},
    {Py_nb_subtract, "__sub__", "__rsub__"},
    {Py_nb_true_divide, "__truediv__", "__rtruediv__"},
    {Py_nb_xor, "__xor__", "__rxor__"},
    {Py_nb_inplace_add, "__iadd__", nullptr},
    {Py_nb_inplace_and, "__iand__", nullptr},
    {Py_nb_inplace_floor_divide, "__ifloordiv__", nullptr},
    {Py_nb_inplace_lshift, "__ilshift__", nullptr},
    {Py_nb_inplace_matrix_multiply, "__imatmul__", nullptr},
    {Py_nb_inplace_multiply, "__imul__", nullptr},
    {Py_nb_inplace_or, "__ior__", nullptr},
    {Py_nb_inplace_remainder, "__imod__", nullptr},
    {Py_nb_inplace_rshift, "__irshift__", nullptr},
    {Py_nb_inplace_subtract, "__isub__", nullptr},
    {Py_nb_inplace_true_divide, "__itruediv__", nullptr},
    {Py_nb_inplace_xor, "__ixor__", nullptr},
};
template <size_t N> const slot_methods *find_slot(const slot_methods (&all)[N], int slot) {
  for (const slot_methods &each : all) {
    if (each.slot == slot) return &each;
  }
  return nullptr;
}

/** Defines the methods of slots of one class: a template, so that libraries without slots do not compile the bodies. */
template <typename T> class slot_definer {
public:
  slot_definer(handle cls, const ffi_hpy_class *type) : cls_(cls), type_(type) {}

  void define(const PyType_Slot &given) {
    void *f = given.pfunc;
    if (const slot_methods *found = find_slot(unary_slots, given.slot)) return define_unary(found->name, f);
    if (const slot_methods *found = find_slot(binary_slots, given.slot)) return define_binary(*found, f);
    switch (given.slot) {
    case Py_tp_traverse: add_slot_traverse(type_, f); break;
    case Py_tp_clear:
    case Py_tp_init: break;
    case Py_mp_length:
    case Py_sq_length: define_number("__len__", f); break;
    case Py_tp_hash: define_number("__hash__", f); break;
    case Py_nb_bool:
      add("__bool__", [f](handle self) { return slot_number(reinterpret_cast<inquiry>(f)(self.ptr())) != 0; });
      break;
    case Py_sq_contains:
      add(
          "__contains__",
          [f](handle self, handle item) {
            return slot_number(reinterpret_cast<objobjproc>(f)(self.ptr(), item.ptr())) != 0;
          },
          arg().none());
      break;
    case Py_mp_ass_subscript: define_assignment<handle, objobjargproc>(f); break;
    case Py_sq_ass_item: define_assignment<Py_ssize_t, ssizeobjargproc>(f); break;
    case Py_sq_item:
      add("__getitem__", [f](handle self, Py_ssize_t at) {
        return slot_result(reinterpret_cast<ssizeargfunc>(f)(self.ptr(), at_from_start(self, at)));
      });
      break;
    case Py_tp_call:
      add("__call__", [f](handle self, args given_args, kwargs named) {
        PyObject *by_name = len(named) == 0 ? nullptr : named.ptr();
        return slot_result(reinterpret_cast<ternaryfunc>(f)(self.ptr(), given_args.ptr(), by_name));
      });
      break;
    case Py_tp_doc: setattr(cls_, "__doc__", str(static_cast<const char *>(f))); break;
    case Py_tp_richcompare: define_comparisons(f); break;
    default: raise("type_slots: the slot %d has no counterpart; define a method", given.slot);
    }
  }

private:
  template <typename F, typename... Extra> void add(const char *name, F &&f, const Extra &...extra) {
    description<kFfiHpyFunctionIsMethod, std::decay_t<F>, Extra...> made(name, std::forward<F>(f), extra...);
    define_method(cls_, type_, name, false, &made);
  }
  void define_unary(const char *name, void *f) {
    add(name, [f](handle self) { return slot_result(reinterpret_cast<unaryfunc>(f)(self.ptr())); });
  }
  void define_binary(const slot_methods &methods, void *f) {
    auto function = reinterpret_cast<binaryfunc>(f);
    add(
        methods.name, [function](handle self, handle other) { return slot_result(function(self.ptr(), other.ptr())); },
        arg().none());
    if (methods.reflected == nullptr) return;
    add(
        methods.reflected,
        [function](handle self, handle other) { return slot_result(function(other.ptr(), self.ptr())); }, arg().none());
  }
  void define_number(const char *name, void *f) {
    add(name, [f](handle self) { return slot_number(reinterpret_cast<lenfunc>(f)(self.ptr())); });
  }
  /** An assignment and, without a value, a deletion. */
  template <typename Key, typename Function> void define_assignment(void *f) {
    auto function = reinterpret_cast<Function>(f);
    add(
        "__setitem__",
        [function](handle self, Key key, handle value) {
          slot_number(function(self.ptr(), slot_key(self, key), value.ptr()));
        },
        arg(), arg().none());
    add("__delitem__",
        [function](handle self, Key key) { slot_number(function(self.ptr(), slot_key(self, key), nullptr)); });
  }
  void define_comparisons(void *f) {
    static constexpr const char *kNames[] = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"};
    auto function = reinterpret_cast<richcmpfunc>(f);
    for (int which = Py_LT; which <= Py_GE; ++which) {
      add(
          kNames[which],
          [function, which](handle self, handle other) {
            return slot_result(function(self.ptr(), other.ptr(), which));
          },
          arg().none());
    }
  }
  /** An index from the start: Python adds the length to a negative index for Py_sq_item. */
  static Py_ssize_t at_from_start(handle self, Py_ssize_t at) {
    return at < 0 && hasattr(self, "__len__") ? at + static_cast<Py_ssize_t>(len(self)) : at;
  }
  static PyObject *slot_key(handle, handle key) { return key.ptr(); }
  static Py_ssize_t slot_key(handle self, Py_ssize_t at) { return at_from_start(self, at); }

  handle cls_;
  const ffi_hpy_class *type_;
};

template <typename T, std::enable_if_t<std::is_same_v<T, type_slots>, int>>
void define_slots(handle cls, const ffi_hpy_class *type, const T &given) {
  slot_definer<T> definer(cls, type);
  for (const PyType_Slot *each = given.slots; each->slot != 0; ++each) definer.define(*each);
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_TYPE_SLOTS_H_ */
