/* py_object.h - `PyObject *` for sources that were written with Python.h: a value of Python as one word.
 *
 * The header has no part of Python.h. A pointer to a native object is the address of the object. None, bool, int, float
 * and short texts, which are not native objects, are encoded in the word itself, so that they need no memory and no
 * owner. Programs include nanobind/nanobind.h. */
#ifndef FFI_HPY_BIND_PY_OBJECT_H_
#define FFI_HPY_BIND_PY_OBJECT_H_

#if defined(FFI_HPY_BIND_RUNTIME_H_) && !defined(FFI_HPY_BIND_PY_OBJECT)
#error "ffi_hpy/bind/py_object.h must be included before the other headers"
#endif
#if !defined(FFI_HPY_BIND_PY_OBJECT)
#define FFI_HPY_BIND_PY_OBJECT 1
#endif

#include <ffi_hpy/bind/runtime.h>

#include <atomic>
#include <cstddef>

typedef std::ptrdiff_t Py_ssize_t;

/** A value of Python. The struct has no definition: only functions read it. */
typedef struct ffi_hpy_py_object PyObject;

/** A built-in class, of which C++ knows the address: `&PyLong_Type`. */
typedef struct ffi_hpy_py_class {
  TVMFFIObject header;               /**< its type_index distinguishes it from an object */
  const char *name;                  /**< in the module builtins */
  std::atomic<TVMFFIObject *> known; /**< the class, which is never released; NULL until the first use */
} PyTypeObject;

/** The visitor that a Py_tp_traverse calls for each object that a value owns. */
typedef int (*visitproc)(PyObject *, void *);
typedef int (*traverseproc)(PyObject *, visitproc, void *);
typedef int (*inquiry)(PyObject *);
typedef Py_ssize_t (*lenfunc)(PyObject *);
typedef PyObject *(*reprfunc)(PyObject *);
typedef PyObject *(*unaryfunc)(PyObject *);
typedef PyObject *(*binaryfunc)(PyObject *, PyObject *);
typedef PyObject *(*ternaryfunc)(PyObject *, PyObject *, PyObject *);
typedef PyObject *(*ssizeargfunc)(PyObject *, Py_ssize_t);
typedef PyObject *(*richcmpfunc)(PyObject *, PyObject *, int);
typedef int (*ssizeobjargproc)(PyObject *, Py_ssize_t, PyObject *);
typedef int (*objobjproc)(PyObject *, PyObject *);
typedef int (*objobjargproc)(PyObject *, PyObject *, PyObject *);
typedef Py_ssize_t Py_hash_t;
typedef PyObject *(*PyCFunctionWithKeywords)(PyObject *, PyObject *, PyObject *);

/** A function of a class, in an array that ends with 0. */
struct PyType_Slot {
  int slot;
  void *pfunc;
};
/** The functions that a class may have. */
enum {
  Py_mp_ass_subscript = 3,
  Py_mp_length = 4,
  Py_mp_subscript = 5,
  Py_nb_absolute = 6,
  Py_nb_add = 7,
  Py_nb_and = 8,
  Py_nb_bool = 9,
  Py_nb_divmod = 10,
  Py_nb_float = 11,
  Py_nb_floor_divide = 12,
  Py_nb_index = 13,
  Py_nb_inplace_add = 14,
  Py_nb_inplace_and = 15,
  Py_nb_inplace_floor_divide = 16,
  Py_nb_inplace_lshift = 17,
  Py_nb_inplace_multiply = 18,
  Py_nb_inplace_or = 19,
  Py_nb_inplace_remainder = 21,
  Py_nb_inplace_rshift = 22,
  Py_nb_inplace_subtract = 23,
  Py_nb_inplace_true_divide = 24,
  Py_nb_inplace_xor = 25,
  Py_nb_int = 26,
  Py_nb_invert = 27,
  Py_nb_lshift = 28,
  Py_nb_multiply = 29,
  Py_nb_negative = 30,
  Py_nb_or = 31,
  Py_nb_positive = 32,
  Py_nb_remainder = 34,
  Py_nb_rshift = 35,
  Py_nb_subtract = 36,
  Py_nb_true_divide = 37,
  Py_nb_xor = 38,
  Py_sq_ass_item = 39,
  Py_sq_contains = 41,
  Py_sq_item = 44,
  Py_sq_length = 45,
  Py_tp_call = 50,
  Py_tp_clear = 51,
  Py_tp_doc = 56,
  Py_tp_hash = 59,
  Py_tp_init = 60,
  Py_tp_iter = 62,
  Py_tp_iternext = 63,
  Py_tp_repr = 66,
  Py_tp_richcompare = 67,
  Py_tp_str = 70,
  Py_tp_traverse = 71,
  Py_nb_matrix_multiply = 75,
  Py_nb_inplace_matrix_multiply = 76
};
/** The comparisons of a Py_tp_richcompare. */
enum { Py_LT = 0, Py_LE = 1, Py_EQ = 2, Py_NE = 3, Py_GT = 4, Py_GE = 5 };

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The type_index in a PyTypeObject. */
enum : int32_t { kStaticClass = INT32_MIN + 1 };
/** The value of a built-in class, borrowed. */
TVMFFIAny class_value(PyTypeObject *type); /* python.h defines it */

/** The two low bits of a pointer, and, beside kTagOther, the three bits above. */
enum : uint64_t {
  kTagObject = 0,
  kTagInt = 1,
  kTagFloat = 2,
  kTagOther = 3,
  kTagConstant = kTagOther | 0 << 2, /* the type index, and the payload of a bool */
  kTagKept = kTagOther | 1 << 2,     /* the address of a kept_value */
  kTagStr = kTagOther | 2 << 2,      /* three bits of length, and seven bytes */
  kTagBytes = kTagOther | 3 << 2
};

/** A value that does not fit into a word: an int of more than 62 bits, a float with a large exponent, a device. The
 * value is kept for the life of the process, once for all equal values. */
struct alignas(32) kept_value {
  TVMFFIAny value;
  kept_value *next;
};
FFI_HPY_COLD inline uint64_t keep_value(const TVMFFIAny &value) {
  enum { kLists = 64 };
  static std::atomic<kept_value *> lists[kLists];
  std::atomic<kept_value *> &list = lists[(value.v_uint64 * 0x9E3779B97F4A7C15u) >> 58];
  kept_value *first = list.load(std::memory_order_acquire), *made = nullptr;
  for (;;) {
    kept_value *each = first;
    while (each != nullptr && (each->value.type_index != value.type_index || each->value.v_uint64 != value.v_uint64)) {
      each = each->next;
    }
    if (each != nullptr) {
      delete made;
      return reinterpret_cast<uintptr_t>(each) | kTagKept;
    }
    if (made == nullptr) made = new kept_value{value, nullptr};
    made->next = first;
    if (list.compare_exchange_strong(first, made, std::memory_order_acq_rel)) {
      return reinterpret_cast<uintptr_t>(made) | kTagKept;
    }
  }
}

/** Whether the three highest bits of the exponent of a float are 011 or 100: one bit is enough for them. */
inline bool is_usual_float(uint64_t bits) { return ((bits >> 60 & 7) + 1) >> 1 == 2; }

/** A value as a pointer. The pointer takes over the reference of the value, if the value has one. */
inline PyObject *pointer_of(const TVMFFIAny &value) {
  uint64_t bits = value.v_uint64, made = 0;
  switch (value.type_index) {
  case kNull: return nullptr;
  case kTVMFFINone:
  case kTVMFFIBool: made = (static_cast<uint64_t>(value.type_index) << 1 | bits) << 5 | kTagConstant; break;
  case kTVMFFIInt:
    made = static_cast<int64_t>(bits << 2) >> 2 == value.v_int64 ? bits << 2 | kTagInt : keep_value(value);
    break;
  case kTVMFFIFloat:
    made = is_usual_float(bits) ? (bits << 4) >> 2 | (bits >> 62) << 62 | kTagFloat : keep_value(value);
    break;
  case kTVMFFISmallStr:
  case kTVMFFISmallBytes:
    made = value.type_index == kTVMFFISmallStr ? kTagStr : kTagBytes;
    made |= uint64_t{value.small_str_len} << 5;
    for (uint32_t i = 0; i < value.small_str_len; ++i) {
      made |= uint64_t{static_cast<unsigned char>(value.v_bytes[i])} << (8 * i + 8);
    }
    break;
  default: made = is_object(value) ? bits : keep_value(value);
  }
  return reinterpret_cast<PyObject *>(static_cast<uintptr_t>(made));
}

/** The value of a pointer. */
inline TVMFFIAny value_of(const PyObject *pointer) {
  uint64_t bits = reinterpret_cast<uintptr_t>(pointer);
  TVMFFIAny value = word(kNull, 0);
  if (pointer == nullptr) return value;
  switch (bits & 3) {
  case kTagObject:
    value.v_obj = reinterpret_cast<TVMFFIObject *>(static_cast<uintptr_t>(bits));
    value.type_index = value.v_obj->type_index;
    return value.type_index == kStaticClass ? class_value(reinterpret_cast<PyTypeObject *>(value.v_obj)) : value;
  case kTagInt: return word(kTVMFFIInt, static_cast<int64_t>(bits) >> 2);
  case kTagFloat: {
    uint64_t exponent = (bits >> 62 & 1) != 0 ? 4 : 3;
    value.type_index = kTVMFFIFloat;
    value.v_uint64 = (bits >> 63) << 63 | exponent << 60 | (bits & ~uint64_t{3}) << 2 >> 4;
    return value;
  }
  default: break;
  }
  switch (bits & 31) {
  case kTagConstant: return word(static_cast<int32_t>(bits >> 6), static_cast<int64_t>(bits >> 5 & 1));
  case kTagKept: return reinterpret_cast<kept_value *>(static_cast<uintptr_t>(bits & ~uint64_t{31}))->value;
  default: break;
  }
  value = word((bits & 31) == kTagStr ? kTVMFFISmallStr : kTVMFFISmallBytes, 0);
  value.small_str_len = static_cast<uint32_t>(bits >> 5 & 7);
  for (uint32_t i = 0; i < value.small_str_len; ++i) value.v_bytes[i] = static_cast<char>(bits >> (8 * i + 8));
  return value;
}

/** The object that this thread passes to a Py_tp_traverse: a header without references, before the value. */
inline const void *&traversed_object() {
  static thread_local const void *object = nullptr;
  return object;
}
inline bool is_traversed(const PyObject *o) { return o != nullptr && o == traversed_object(); }

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_PY_OBJECT_H_ */
