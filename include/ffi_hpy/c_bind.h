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
#define FFI_HPY_BIND_VERSION 2

/* ---- Functions ---- */

/** Bits of ffi_hpy_param.flags. */
enum {
  kFfiHpyParamHasDefault = 1 << 0, /**< the argument may be left out */
  kFfiHpyParamNoConvert = 1 << 1,  /**< the argument must have the type already: an int is not taken for a float */
  kFfiHpyParamRefusesNone = 1 << 2 /**< None is not taken for a null pointer */
};

/** One parameter of an overload. */
typedef struct {
  const char *name;        /**< borrowed while the overload lives; NULL: the parameter has no name */
  TVMFFIAny default_value; /**< owned by the overload; None without kFfiHpyParamHasDefault */
  uint32_t flags;          /**< kFfiHpyParam* */
} ffi_hpy_param;

/** The result of an overload whose parameters do not accept the arguments. No error is pending. */
#define FFI_HPY_NEXT_OVERLOAD 1
/** A flag of a call: arguments may be converted implicitly. */
#define FFI_HPY_CONVERT 1u

/** One C++ function behind a name. The library makes it; it is constant afterwards, except for `next`. */
typedef struct ffi_hpy_overload {
  struct ffi_hpy_overload *next; /**< the overload that is tried after this one; NULL for the last */
  /** Calls the function with n_params arguments: 0, -1 with an Error pending, or FFI_HPY_NEXT_OVERLOAD. */
  int (*call)(const struct ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result);
  void (*destroy)(struct ffi_hpy_overload *self); /**< frees the overload; called when the Function is destroyed */
  const char *signature;       /**< "add(self: Counter, by: int = 1) -> int", for messages */
  const ffi_hpy_param *params; /**< n_params of them */
  uint32_t n_params;           /**< the number of parameters, including the object of a method */
  uint32_t n_required;         /**< parameters up to the last one without a default */
} ffi_hpy_overload;

/* ---- Classes and instances ---- */

/** A bound class. The library makes it, and it lives as long as the process. */
typedef struct ffi_hpy_class {
  const struct ffi_hpy_class *base; /**< the bound base class; NULL if there is none */
  void *(*to_base)(void *value);    /**< the address of the base in a value; NULL if both are the same */
  void (*destroy)(void *value);     /**< the destructor; NULL if the class has none that is public */
  const char *cpp_name;             /**< the name that the C++ compiler gives the type: equal in all libraries */
  size_t size;                      /**< bytes of a value */
  size_t alignment;                 /**< of a value, in bytes: at most 64 */
  int32_t type_index;               /**< the index of the type whose instances are objects of this class */
  void *core;                       /**< belongs to the core */
} ffi_hpy_class;

/** An object of a bound class: a header, and a C++ value inside of the object or elsewhere. */
typedef struct ffi_hpy_instance {
  TVMFFIObject header;
  void *value; /**< the C++ value; NULL while a constructor runs */
  const ffi_hpy_class *type; /**< the class of the value */
  void (*release)(struct ffi_hpy_instance *self); /**< ends the value when the object is destroyed; NULL: nothing */
  void *holder; /**< belongs to `release` */
  struct ffi_hpy_instance *next; /**< belongs to the core */
} ffi_hpy_instance;

/* ---- Containers ---- */

/** The classes of Python that a container becomes. */
enum {
  kFfiHpyList = 0,
  kFfiHpyTuple = 1,
  kFfiHpySet = 2,
  kFfiHpyDict = 3,         /**< its items are keys and values, in turn */
  kFfiHpyNumContainers = 4 /**< the number of these */
};
/** A flag of container_items: keys and values of a mapping, in turn. */
#define FFI_HPY_PAIRS 2u

/* ---- The table ---- */

/** The functions of the core. */
typedef struct {
  uint32_t version; /**< FFI_HPY_BIND_VERSION of the core */

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

  /** Makes a Function of an overload, which the Function owns. */
  int (*function_new)(ffi_hpy_overload *overload, TVMFFIObjectHandle *out);
  /** Adds an overload at the end of a Function of function_new, which owns it then. TypeError for another Function. */
  int (*function_add)(TVMFFIObjectHandle function, ffi_hpy_overload *overload);

  /* Classes */

  /** Registers the type of a class under a key, and sets type_index. RuntimeError if the key or the C++ class is bound
   * already. */
  int (*class_add)(ffi_hpy_class *type, const TVMFFIByteArray *key, const TVMFFIByteArray *doc);
  /** The class that any library has bound for a C++ type; NULL if there is none. */
  const ffi_hpy_class *(*class_find)(const char *cpp_name);
  /** Registers a property: `get` takes the object; `set`, which may be NULL, takes the object and the value. Both are
   * Functions, and gain a reference. Of `info`, the name, the documentation and the metadata count. */
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

  /** The deleter of the objects that new_str makes. They become a str, while other strings become an instance of the
   * package's subclass of str. */
  void (*str_deleter)(void *self, int flags);
  /** Makes an empty container of kFfiHpyList, ..., with room for n items. A TVMFFISeqCell follows the header; the
   * caller appends owned values to its data, and counts them in its size, before others get the object. */
  int (*container_new)(uint32_t kind, size_t n, TVMFFIObjectHandle *out);
  /** An object with the items of a sequence, or of a mapping with FFI_HPY_PAIRS: a TVMFFISeqCell follows its header,
   * and it never changes. Without FFI_HPY_CONVERT, sets and other iterables do not count as sequences. None for other
   * values. */
  int (*container_items)(const TVMFFIAny *value, uint32_t flags, TVMFFIAny *out);
} ffi_hpy_bind_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FFI_HPY_C_BIND_H_ */
