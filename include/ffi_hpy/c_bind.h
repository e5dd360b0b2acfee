/* c_bind.h - the C functions and structs between a library that is bound with bind.h and the core.
 *
 * A bound library links to nothing: the package passes it the address of this table when the library is imported. A
 * later core has the same table with more entries at its end, so a library runs on every core that is not older.
 *
 * The contracts are those of c_api.h: `int` functions return 0, or -1 with an Error pending; any thread may call. */
#ifndef FFI_HPY_C_BIND_H_
#define FFI_HPY_C_BIND_H_

#include <tvm/ffi/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The entries of the table that this header knows; a core with fewer is refused. */
#define FFI_HPY_BIND_VERSION 1

/* ---- Functions ---- */

/** Bits of ffi_hpy_param.flags, and of the flags of a call. */
enum {
  kFfiHpyCastConvert = 1 << 0,     /**< the argument may be converted: an int is accepted as a float */
  kFfiHpyCastConstruct = 1 << 1,   /**< the call is the call of a constructor */
  kFfiHpyCastAcceptsNone = 1 << 2, /**< None is accepted as a null pointer */
  kFfiHpyCastManual = 1 << 3,      /**< the value is not an argument */
  kFfiHpyParamRefusesNone = 1 << 4, /**< the core sets it for named parameters without kFfiHpyCastAcceptsNone */
  kFfiHpyParamWritten = 1 << 5,    /**< the author has written `shown`, as source code of Python */
  kFfiHpyParamHasDefault = 1 << 8, /**< the argument may be left out */
  kFfiHpyParamLocked = 1 << 9,     /**< a call locks the argument */
  kFfiHpyParamByNameOnly = 1 << 10, /**< set by the core: see n_positional */
  kFfiHpyParamArgs = 1 << 11,      /**< set by the core: an Array of the other arguments by position */
  kFfiHpyParamKwargs = 1 << 12, /**< set by the core: an Array of names and values of the other arguments by name */
  kFfiHpyParamUnsigned = 1 << 13 /**< set by the core: see kFfiHpyTypeUnsigned */
};
/** The position of the bits that FFI_HPY_TYPE_SIZE_SHIFT describes, set by the core: the highest bits of the flags. */
#define FFI_HPY_PARAM_SIZE_SHIFT 14

/** One parameter of an overload. */
typedef struct {
  const char *name; /**< NULL: the parameter has no name */
  const char *shown; /**< the text of the default in Python's words; NULL if there is none */
  TVMFFIAny default_value; /**< None without kFfiHpyParamHasDefault */
  uint32_t flags; /**< kFfiHpyCast*, kFfiHpyParam* */
} ffi_hpy_param;

/** The result of an overload whose parameters do not accept the arguments. */
#define FFI_HPY_NEXT_OVERLOAD 1
/** As FFI_HPY_NEXT_OVERLOAD, with an Error pending that was raised while an argument was read. */
#define FFI_HPY_UNREADABLE 2
/** From this bit on, both results may have the number of the parameter that refuses its argument, counted from 1. */
#define FFI_HPY_REFUSED_SHIFT 8

/** The words of an overload for its callable. */
#define FFI_HPY_CAPTURE_WORDS 3

/** Why an argument does not fit. The values are owned by the caller of `explain`. */
typedef struct {
  TVMFFIAny place; /**< a str: where in the argument the value is, such as "[2]"; or, without a value, the reason */
  TVMFFIAny value; /**< the value that does not fit */
  int has_value; /**< FFI_HPY_REASON_TAKES_ITEMS before `explain` fills in the rest */
  uint8_t type_flags; /**< kFfiHpyType* of the type that the value does not fit */
  TVMFFIAny items; /**< None, or Bytes: the numbers of items that lead to the value, as with FFI_HPY_CLASS_PLACES */
} ffi_hpy_reason;
/** The flag tells `explain` that the caller reads `items`: a core that does not set the flag has no room for them. */
#define FFI_HPY_REASON_TAKES_ITEMS 2

/** One C++ function behind a name. The struct is constant after function_define. */
typedef struct ffi_hpy_overload {
  /** Calls the function with n_params arguments: 0, -1 with an Error pending, or FFI_HPY_NEXT_OVERLOAD, or
   * FFI_HPY_UNREADABLE. A conversion gets the flags of its parameter that `flags` contains. */
  int (*call)(const struct ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result);
  void *capture[FFI_HPY_CAPTURE_WORDS]; /**< belongs to the library */
  const ffi_hpy_param *params; /**< n_params of them */
  uint32_t n_params; /**< the number of parameters, including the object of a method */
  uint32_t policy; /**< belongs to the library: an rv_policy */
} ffi_hpy_overload;

/** The beginning of the first overload of a Function that function_define has made. The address of the overload follows
 * the TVMFFIFunctionCell. A caller that recognises such a Function by its safe_call may call the overload itself. */
typedef struct {
  ffi_hpy_overload head;
  /** The number of arguments with which `head.call(&head, args, UINT32_MAX, result)` is the whole call, unless its
   * result is above 0: then function_refuse ends the call. -1: each call needs function_call. The core may change the
   * number at any time. */
  int32_t n_alone;
  /** 1: no overload uses an argument after the call, so strings and containers may be in memory of the caller, with
   * FFI_HPY_LENT_COUNT as their reference count. Atomic: the core may set it to 0. */
  int32_t borrows;
} ffi_hpy_first_overload;
/** The reference count of an object that lasts for one call. The count is so high that no callee destroys the object,
 * and that code which changes an object in place only without other owners leaves the object unchanged. */
#define FFI_HPY_LENT_COUNT (UINT64_C(1) << 32 | UINT64_C(1) << 30)
/** The padding in the header of an instance whose wrapper is not in the instance map of the cffi backend. */
#define FFI_HPY_UNLISTED 0x5b7d1e02

/** Bits of ffi_hpy_function_spec.flags. */
enum {
  kFfiHpyFunctionIsMethod = 1 << 0, /**< the first parameter is the object; its name, if missing, is "self" */
  kFfiHpyFunctionIsOperator = 1 << 1, /**< NotImplemented for arguments that do not fit */
  kFfiHpyFunctionReleasesGil = 1 << 2, /**< other threads of Python run during the call */
  kFfiHpyFunctionLocksSelf = 1 << 3, /**< a call locks the object of the method */
  kFfiHpyFunctionExplains = 1 << 4, /**< the struct has the member `explain` */
  kFfiHpyFunctionRefusesNone = 1 << 5, /**< parameters refuse None also if they have no name */
  kFfiHpyFunctionBorrows = 1 << 6, /**< the function uses no argument after the call: see ffi_hpy_first_overload */
  kFfiHpyFunctionSetsWord = 1 << 7 /**< the function assigns a member of one word: see FFI_HPY_FIELD_IS_WORD */
};

/** Bits that follow from the C++ type of a parameter. */
enum {
  kFfiHpyTypeArgs = 1 << 0, /**< the parameter is *args */
  kFfiHpyTypeKwargs = 1 << 1, /**< the parameter is **kwargs */
  kFfiHpyTypeAcceptsNone = 1 << 2, /**< None is a value of the type */
  kFfiHpyTypeTakesPython = 1 << 3, /**< the argument is an object of Python itself, not a native value */
  kFfiHpyTypeUnsigned = 1 << 4, /**< the parameter is an unsigned integer */
  kFfiHpyTypeEnum = kFfiHpyTypeUnsigned /**< with the size 0: the parameter is an enum */
};
/** The position of the size of a number: 1 to 4 for an integer of 1, 2, 4 and 8 bytes, 5 for a float, 6 for a double, 0
 * for another type. */
#define FFI_HPY_TYPE_SIZE_SHIFT 5

/** Marks the name of a class in ffi_hpy_function_spec.types that is not bound yet: the mark, its C++ name, the mark, a
 * readable name, the mark. U+E000, which no name has. */
#define FFI_HPY_NAME_MARK "\xee\x80\x80"

/** The definition of an overload. function_define borrows all members except the capture. */
typedef struct {
  const char *name;
  const char *doc; /**< NULL: none */
  const char *signature; /**< replaces the generated one; NULL */
  const char *types; /**< the types of the result and of the parameters in Python's words, one a line */
  const uint8_t *type_flags; /**< kFfiHpyType* of each parameter */
  const ffi_hpy_param *params; /**< n_named of them: none, or all parameters, with or without a method's object */
  uint32_t n_params, n_named;
  uint32_t n_positional; /**< the number of named parameters before the keyword-only parameters; or UINT32_MAX */
  uint32_t flags; /**< kFfiHpyFunction* */
  uint32_t policy;
  int (*call)(const struct ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result);
  void (*free_capture)(void **capture); /**< NULL: nothing to do */
  void *capture[FFI_HPY_CAPTURE_WORDS]; /**< consumed, also on failure */
  /** Looks for the reason why an argument does not fit, after a call that failed. `flags`: kFfiHpyCast*. Returns 1 if
   * it has filled in *out, or 0. With kFfiHpyFunctionExplains. */
  int (*explain)(uint32_t param, const TVMFFIAny *arg, uint32_t flags, ffi_hpy_reason *out);
} ffi_hpy_function_spec;

/* ---- Classes and instances ---- */

/** A bound class. The library makes it, and it lives as long as the process. */
struct ffi_hpy_instance;
/** A value that several std::shared_ptr own, for the collector. The struct does not keep the value alive. */
typedef struct ffi_hpy_shared {
  uint32_t (*count)(const struct ffi_hpy_shared *self); /**< the number of owners */
  /** Visits the objects that the value owns. The value is alive. */
  void (*visit)(const struct ffi_hpy_shared *self, const void *visitor);
  void (*retain)(struct ffi_hpy_shared *self); /**< owns the value, too, if it is alive, until `release` */
  void (*release)(struct ffi_hpy_shared *self);
  void (*free)(struct ffi_hpy_shared *self); /**< frees the struct */
} ffi_hpy_shared;
/** Visits the objects that a part of a value owns. */
typedef struct ffi_hpy_traverse {
  /** `visitor`: the struct of tvm::ffi::reflection::ReferenceVisitor. */
  void (*visit)(const struct ffi_hpy_traverse *self, const void *value, const void *visitor);
  const struct ffi_hpy_traverse *next; /**< belongs to the core */
} ffi_hpy_traverse;
typedef struct ffi_hpy_class {
  const struct ffi_hpy_class *base; /**< the bound base class; NULL if there is none */
  void *(*to_base)(void *value); /**< the address of the base in a value; NULL if both are the same */
  void (*destroy)(void *value); /**< the destructor; NULL if the class has none that is public */
  const char *cpp_name; /**< the name that the C++ compiler gives the type: equal in all libraries */
  size_t size; /**< bytes of a value */
  size_t alignment; /**< of a value, in bytes: at most 64 */
  int32_t type_index; /**< the index of the type whose instances are objects of this class */
  void *core; /**< belongs to the core */
  void (*copy)(void *room, const void *value); /**< constructs a copy; NULL: it is not possible */
  void (*move)(void *room, void *value); /**< constructs a value from another value; NULL: it is not possible */
  const void *info; /**< the std::type_info */
  void *supplement; /**< a value that the library adds to the class; NULL */
  /** Tells a value that counts its references that an object owns the value now; NULL: the class has no count. */
  void (*set_self)(const struct ffi_hpy_class *type, void *value, TVMFFIObject *self);
  void (*set_self_function)(void); /**< belongs to set_self */
  /** The `release` of a value that `new` has made: the holder is the pointer. NULL: the class has no public
   * destructor. */
  void (*delete_value)(struct ffi_hpy_instance *self);
  /** Visits the objects that the value of an object owns, if the object owns the value; see ffi_hpy_traverse. */
  void (*visit_value)(const struct ffi_hpy_instance *self, const void *visitor);
  const ffi_hpy_traverse *traverse; /**< belongs to the core: the steps of class_add_traverse */
} ffi_hpy_class;

/** An object of a bound class: a header, and a C++ value inside of the object or elsewhere. */
typedef struct ffi_hpy_instance {
  TVMFFIObject header;
  void *value; /**< the C++ value; NULL while a constructor runs */
  const ffi_hpy_class *type; /**< the class of the value */
  void (*release)(struct ffi_hpy_instance *self); /**< destroys the value with the object; NULL: nothing */
  void *holder; /**< belongs to `release` */
  struct ffi_hpy_instance *next; /**< belongs to the core */
  void *kept; /**< belongs to the core: the objects of instance_keep */
} ffi_hpy_instance;

/* ---- Containers ---- */

/** The classes of Python that a container becomes. */
enum {
  kFfiHpyList = 0,
  kFfiHpyTuple = 1,
  kFfiHpySet = 2,
  kFfiHpyDict = 3, /**< its items are keys and values, in turn */
  kFfiHpyNumContainers = 4 /**< the number of these */
};
/** The zero_padding of the None that a caller passes as the `result` of a function, if the caller takes the objects of
 * container_new. Other callers get an Array or a Map. */
#define FFI_HPY_TAKES_CONTAINERS 0x66707963u
/** A flag of container_items: keys and values of a mapping, in turn. */
#define FFI_HPY_PAIRS 2u

/* ---- Values of Python ---- */

/** The type index of an object of Python itself: a new reference, in the second word. Only ffi_hpy_python_values makes
 * such values, and only its functions and the caller of the function take them. */
#define FFI_HPY_PYTHON_VALUE (INT32_MIN + 1)

/** The operations of ffi_hpy_python_values.operate: X(constant, name). The package has each operation, too, under its
 * name, and most of the names are Python's own. */
#define FFI_HPY_OPERATIONS(X)                                                                                        \
  X(kFfiHpyRunGetAttr, "getattr") /**< object, name */                                                               \
  X(kFfiHpyRunSetAttr, "setattr") /**< object, name, value */                                                        \
  X(kFfiHpyRunHasAttr, "hasattr") /**< object, name */                                                               \
  X(kFfiHpyRunGetItem, "getitem") /**< object, key */                                                                \
  X(kFfiHpyRunSetItem, "setitem") /**< object, key, value */                                                         \
  X(kFfiHpyRunContains, "contains") /**< object, key */                                                              \
  X(kFfiHpyRunLength, "len") /**< object */                                                                          \
  X(kFfiHpyRunAppend, "append") /**< list, value */                                                                  \
  X(kFfiHpyRunCall, "call_with") /**< callable, arguments by position */                                             \
  X(kFfiHpyRunCallMethod, "call_method") /**< name, object, arguments by position */                                 \
  X(kFfiHpyRunCallFunction, "call_function") /**< arguments, Function; a callable inside of it is called itself */   \
  X(kFfiHpyRunIter, "iter") /**< iterable */                                                                         \
  X(kFfiHpyRunNext, "next") /**< iterator, the result at its end */                                                  \
  X(kFfiHpyRunNextPair, "next_pair") /**< the same for an iterator of pairs: an Array of the two */                  \
  X(kFfiHpyRunTuple, "tuple") /**< items */                                                                          \
  X(kFfiHpyRunList, "list") /**< items */                                                                            \
  X(kFfiHpyRunDict, "dict") /**< keys and values, in turn */                                                         \
  X(kFfiHpyRunIs, "is") /**< two objects */                                                                          \
  X(kFfiHpyRunEqual, "equal") /**< two objects */                                                                    \
  X(kFfiHpyRunBool, "bool") /**< object */                                                                           \
  X(kFfiHpyRunType, "type") /**< object */                                                                           \
  X(kFfiHpyRunIsInstance, "isinstance") /**< object, class */                                                        \
  X(kFfiHpyRunStr, "str") /**< object */                                                                             \
  X(kFfiHpyRunOperator, "operator") /**< one or two objects, a name of Python's operator module as `const char *` */ \
  X(kFfiHpyRunExport, "export") /**< Tensor, the library's number in array_type.h, is read-only, is copied */        \
  X(kFfiHpyRunComplex, "complex") /**< the two parts */                                                              \
  X(kFfiHpyRunComplexParts, "complex_parts") /**< object, may convert: an Array of the two parts, or None */         \
  X(kFfiHpyRunToFloat, "to_float") /**< object: the float of a number, or None */                                    \
  X(kFfiHpyRunBigInt, "big_int") /**< the bits of a uint64_t as an int64_t */                                        \
  X(kFfiHpyRunCapsule, "capsule") /**< address, name or None, the address of a C function or None */                 \
  X(kFfiHpyRunCapsuleData, "capsule_data") /**< capsule, maybe the name that it must have */                         \
  X(kFfiHpyRunIsKind, "is_kind") /**< object, the name of a kind as `const char *` */                                \
  X(kFfiHpyRunSliceRange, "slice_range") /**< slice, size: an Array of start, stop, step and length */               \
  X(kFfiHpyRunMicroseconds, "microseconds") /**< object: the microseconds of a timedelta, or None */                 \
  X(kFfiHpyRunTimedelta, "timedelta") /**< microseconds */
/** The numbers of the operations. */
enum {
#define FFI_HPY_OPERATION(constant, name) constant,
  FFI_HPY_OPERATIONS(FFI_HPY_OPERATION)
#undef FFI_HPY_OPERATION
      kFfiHpyNumOperations /**< the number of these */
};

/** Makes the results of a function for a caller that is Python, holds the GIL, and takes FFI_HPY_PYTHON_VALUE. Such a
 * caller passes None as the `result`, with the address of its struct in the second word. */
typedef struct {
  /** Makes a str of UTF-8. */
  int (*new_str)(const TVMFFIByteArray *text, TVMFFIAny *out);
  /** Makes a container kFfiHpyList, ... of n items. Consumes the items, also on failure; the memory stays the
   * caller's, with other content. */
  int (*new_container)(uint32_t kind, TVMFFIAny *items, size_t n, TVMFFIAny *out);
  /** Releases n items. */
  void (*drop)(TVMFFIAny *items, size_t n);
  /** Finds the text of an object of Python, which lives as long as the object: of a str as UTF-8, or of bytes; also of
   * derived classes. Any thread may call. Returns 1; or 0 for another object, and where texts do not live so long. */
  int (*read_text)(const TVMFFIAny *value, int is_bytes, TVMFFIByteArray *out);
  /** The items of an iterable, as an Array; None for strings, mappings and values that are not iterable. Any thread may
   * call. */
  int (*read_items)(const TVMFFIAny *value, TVMFFIAny *out);
  /** Runs an operation (kFfiHpyRunGetAttr, ...) on n values, without a call of Python code of the package. Borrows the
   * values, and returns a new reference. Any thread may call. Returns 0; -1 with the thread's error set; or 1, with
   * *result as before, if only the package can run the operation. */
  int (*operate)(uint32_t operation, const TVMFFIAny *values, size_t n, TVMFFIAny *result);
} ffi_hpy_python_values;

/* ---- The table ---- */

/** The functions of the core. */
typedef struct {
  uint32_t version; /**< FFI_HPY_BIND_VERSION of the core */
  /** The deleter of the objects that new_str and new_bytes make. Objects with this deleter become a str and bytes;
   * other strings and bytes become instances of the package's subclasses. The second word of the table: the cffi
   * backend reads it. */
  void (*str_deleter)(void *self, int flags);

  /* of c_api.h */
  int (*dec_ref)(TVMFFIObjectHandle obj);
  int (*get_global)(const TVMFFIByteArray *name, TVMFFIObjectHandle *out);
  int (*call)(TVMFFIObjectHandle function, TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);
  int (*own)(const TVMFFIAny *view, TVMFFIAny *out);
  int (*new_function)(void *self, TVMFFISafeCallType call, void (*deleter)(void *self), TVMFFIObjectHandle *out);
  int (*new_str)(const TVMFFIByteArray *text, TVMFFIAny *out);
  int (*new_bytes)(const TVMFFIByteArray *bytes, TVMFFIAny *out);
  void (*raise)(const char *kind, const char *message);
  void (*take_error)(TVMFFIObjectHandle *out);
  void (*set_error)(TVMFFIObjectHandle error);
  const TVMFFITypeInfo *(*type_info)(int32_t type_index);

  /* Functions */

  /** Makes a Function of an overload, or, unless `known` is NULL, adds the overload at the end of that Function, which
   * this entry has made. Returns a new reference to the Function, and the overload's metadata (JSON). TypeError for
   * names that do not match the parameters, or another Function. */
  int (*function_define)(const ffi_hpy_function_spec *spec, TVMFFIObjectHandle known, TVMFFIObjectHandle *out,
                         TVMFFIAny *metadata);

  /* Classes */

  /** Registers the type of a class under a key, and sets type_index. RuntimeError if the key or the C++ class is bound
   * already. */
  int (*class_add)(ffi_hpy_class *type, const TVMFFIByteArray *key, const TVMFFIByteArray *doc);
  /** The class that any library has bound for a C++ type; NULL if there is none. */
  const ffi_hpy_class *(*class_find)(const char *cpp_name);
  /** Registers a property: `get` takes the object; `set`, which may be NULL, takes the object and the value. Both are
   * Functions, and gain a reference. The core reads from `info` the name, the documentation, the metadata and the flag
   * FFI_HPY_FIELD_IS_WORD. */
  int (*class_add_property)(const ffi_hpy_class *type, const TVMFFIFieldInfo *info, TVMFFIObjectHandle get,
                            TVMFFIObjectHandle set);
  /** Registers a method; see TVMFFITypeRegisterMethod. */
  int (*class_add_method)(int32_t type_index, const TVMFFIMethodInfo *info);
  /** Registers an attribute; see TVMFFITypeRegisterAttr. */
  int (*class_add_attr)(int32_t type_index, const TVMFFIByteArray *name, const TVMFFIAny *value);

  /* Instances */

  /** Makes an object with room for a value, at `*room`; or, if room is NULL, without. The caller constructs the value
   * and calls instance_ready, or releases the object. */
  int (*instance_new)(const ffi_hpy_class *type, void **room, ffi_hpy_instance **out);
  /** Gives an object its value, so that instance_find finds it. Returns NULL. With may_be_known: if another object of
   * the class has that value already, returns a new reference to it, and `self` gets no value. */
  ffi_hpy_instance *(*instance_ready)(ffi_hpy_instance *self, void *value, int may_be_known);
  /** A new reference to the object whose value is at an address and of a class; NULL if there is none. */
  ffi_hpy_instance *(*instance_find)(const ffi_hpy_class *type, const void *value);
  /** The `release` of an object whose value is a part of another object: `holder`, to which it owns a reference. */
  void (*instance_release_whole)(ffi_hpy_instance *self);
  /** The value of an object as a class; NULL if the argument is not an object of that class. */
  void *(*instance_cast)(const TVMFFIAny *value, const ffi_hpy_class *type);

  /* Values of Python's own classes */

  /** Makes an empty container of kFfiHpyList, ..., with room for n items. A TVMFFISeqCell follows the header; the
   * caller appends owned values to its data, and counts them in its size, before others get the object. */
  int (*container_new)(uint32_t kind, size_t n, TVMFFIObjectHandle *out);
  /** An object with the items of a sequence, or of a mapping with FFI_HPY_PAIRS: a TVMFFISeqCell follows its header,
   * and it never changes. Without kFfiHpyCastConvert, sets and other iterables do not count as sequences. None for
   * other values. */
  int (*container_items)(const TVMFFIAny *value, uint32_t flags, TVMFFIAny *out);
  /** The object of a bound class that a value is; NULL for another value. */
  ffi_hpy_instance *(*instance_of)(const TVMFFIAny *value);
  /** Lets an object own a reference to another object until it is destroyed, after its value. */
  int (*instance_keep)(ffi_hpy_instance *self, TVMFFIObjectHandle kept);
  /** Takes the value from an object, which then has none: the caller destroys the value. Returns the value; NULL if the
   * object has none. */
  void *(*instance_take)(ffi_hpy_instance *self);
  /** Gives a value back to the object that it was taken from, with a new release and holder. Returns a new reference to
   * the object; NULL if there is none. */
  ffi_hpy_instance *(*instance_return)(const ffi_hpy_class *type, void *value, void (*release)(ffi_hpy_instance *self),
                                       void *holder);
  /** The safe_call of the Functions that function_define makes. A caller that recognises such a Function may pass
   * strings and containers that last as long as the call. */
  TVMFFISafeCallType function_call;
  /** Adds a step to a class, which lives as long as the class. */
  void (*class_add_traverse)(const ffi_hpy_class *type, ffi_hpy_traverse *step);
  /** Runs the steps of a class, which may be NULL, and of its bases on a value. */
  void (*value_visit)(const ffi_hpy_class *type, const void *value, const void *visitor);
  /** The struct of the binding that asks for values of Python; NULL if there is none. The binding sets it before it
   * imports the first bound library. */
  const ffi_hpy_python_values **python;
  /** Ends a call whose only overload has returned `rc`, which is above 0: with other arguments, or with an error. */
  int (*function_refuse)(const ffi_hpy_first_overload *self, const TVMFFIAny *args, TVMFFIAny *result, int rc);
  /** As take_error; but an exception of Python becomes an error object only if error_of is called. */
  void (*hold_error)(TVMFFIObjectHandle *out);
  /** The error object of such a handle, valid as long as the handle. */
  TVMFFIObjectHandle (*error_of)(TVMFFIObjectHandle held);
  /** As set_error, for such a handle. */
  void (*restore_error)(TVMFFIObjectHandle held);
} ffi_hpy_bind_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FFI_HPY_C_BIND_H_ */
