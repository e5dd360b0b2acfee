/* c_api.h - the tvm-ffi C ABI: values, objects, errors, functions, the type registry, strings, tensors.
 *
 * Binary compatible with apache-tvm-ffi 0.1.15.post2: the same names, sizes, offsets and numbers, each asserted by
 * tests/core/whole/abi_layout.c. C11 and C++17. Sizes below are for a 64-bit system.
 *
 * Contracts that hold unless a function says otherwise:
 * - Result: `int` functions return 0, or -1 with an Error pending on the calling thread. TVMFFIErrorMoveFromRaised
 *   returns the pending Error and clears it. On -1 the out parameters hold nothing to release.
 * - Ownership: arguments are borrowed; a returned handle or Any is a new reference that the caller releases.
 * - Threads: every function may be called from any thread at any time. Objects are shared by reference count; callers
 *   that change one object from two threads must synchronize.
 * - NULL: out parameters and pointers to inputs must not be NULL. A TVMFFIByteArray of size 0 may carry a NULL data.
 * - Strings: names and keys have a length and need no NUL at their end. Strings that the library stores end with
 *   one. */
#ifndef TVM_FFI_C_API_H_
#define TVM_FFI_C_API_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

/* Checked here once for C and C++: with smaller pointers most of this header would compile, but to other layouts. */
#if UINTPTR_MAX != UINT64_MAX
#error "tvm-ffi's layouts are those of 64-bit systems, and the pointers of this target are smaller"
#endif

/* ---- Linkage ---- */
#ifdef _MSC_VER
#define TVM_FFI_WEAK __declspec(selectany)
#else
/** Marks a symbol that other libraries may define as well; the linker keeps one definition. */
#define TVM_FFI_WEAK __attribute__((weak))
#endif

/* TVM_FFI_DLL: functions of this library; imported by clients, exported where TVM_FFI_EXPORTS is defined.
 * TVM_FFI_DLL_EXPORT: a function that a client exports. */
#if !defined(TVM_FFI_DLL)
#if defined(__EMSCRIPTEN__)
#include <emscripten/emscripten.h>
#define TVM_FFI_DLL EMSCRIPTEN_KEEPALIVE
#define TVM_FFI_DLL_EXPORT EMSCRIPTEN_KEEPALIVE
#elif defined(_WIN32)
#ifdef TVM_FFI_EXPORTS
#define TVM_FFI_DLL __declspec(dllexport)
#else
#define TVM_FFI_DLL __declspec(dllimport)
#endif
#define TVM_FFI_DLL_EXPORT __declspec(dllexport)
#else
#define TVM_FFI_DLL __attribute__((visibility("default")))
#define TVM_FFI_DLL_EXPORT __attribute__((visibility("default")))
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TVM_FFI_ATTRIBUTE_PURE __attribute__((__pure__))
#else
/** Marks a function without side effects whose result the compiler may reuse. */
#define TVM_FFI_ATTRIBUTE_PURE
#endif

/** ABI version. The reference implementation counts release 0.1.15.post2 as patch 16. */
#define TVM_FFI_VERSION_MAJOR 0
/** The second number of the ABI's version. */
#define TVM_FFI_VERSION_MINOR 1
/** The third number of the ABI's version. */
#define TVM_FFI_VERSION_PATCH 16

/* Enumerations have 4 bytes. C++ needs the underlying type for that, C compilers choose it. */
#ifdef __cplusplus
#define TVM_FFI_ENUM_BASE_ : int32_t
#else
#define TVM_FFI_ENUM_BASE_
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A version of the ABI. */
typedef struct {
  uint32_t major; /**< major version */
  uint32_t minor; /**< minor version */
  uint32_t patch; /**< patch version */
} TVMFFIVersion; /**< 12 bytes */

/* ---- Values ---- */

/** The type index of a TVMFFIAny and of an object. Below 64 a value is plain data; from 64 on it is an object. Indices
 * from 128 on are assigned at run time: programs know those types by key only. */
enum TVMFFITypeIndex TVM_FFI_ENUM_BASE_ {
  kTVMFFIAny = -1,            /**< "anything", only in metadata; no live value has it */
  kTVMFFINone = 0,            /**< payload 0: an all-zero TVMFFIAny is None */
  kTVMFFIInt = 1,             /**< v_int64 */
  kTVMFFIBool = 2,            /**< v_int64, 0 or 1 */
  kTVMFFIFloat = 3,           /**< v_float64 */
  kTVMFFIOpaquePtr = 4,       /**< v_ptr */
  kTVMFFIDataType = 5,        /**< v_dtype, the other 4 bytes 0 */
  kTVMFFIDevice = 6,          /**< v_device */
  kTVMFFIDLTensorPtr = 7,     /**< v_ptr to a DLTensor; by convention only in views */
  kTVMFFIRawStr = 8,          /**< v_c_str, NUL-terminated; only in views */
  kTVMFFIByteArrayPtr = 9,    /**< v_ptr to a TVMFFIByteArray; only in views */
  kTVMFFIObjectRValueRef = 10, /**< v_ptr to a TVMFFIObject* that the callee may steal, leaving NULL; only in views */
  kTVMFFISmallStr = 11,       /**< v_bytes: up to 7 bytes of a string, rest 0; length in small_str_len */
  kTVMFFISmallBytes = 12,     /**< as kTVMFFISmallStr, for bytes */
  kTVMFFIUnchanged = 13,      /**< marker: a structural mutation produced no new value */
  kTVMFFIStaticObjectBegin = 64, /**< the first index of an object */
  kTVMFFIObject = 64,         /**< the root type: only the header */
  kTVMFFIStr = 65,            /**< header, TVMFFIByteArray */
  kTVMFFIBytes = 66,          /**< header, TVMFFIByteArray */
  kTVMFFIError = 67,          /**< header, TVMFFIErrorCell */
  kTVMFFIFunction = 68,       /**< header, TVMFFIFunctionCell */
  kTVMFFIShape = 69,          /**< header, TVMFFIShapeCell */
  kTVMFFITensor = 70,         /**< header, DLTensor */
  kTVMFFIArray = 71,          /**< header, TVMFFISeqCell; not changed once shared */
  kTVMFFIMap = 72,            /**< not changed once shared */
  kTVMFFIModule = 73,         /**< a C++ class: its virtual table sits 8 bytes before the handle */
  kTVMFFIOpaquePyObject = 74, /**< header, TVMFFIOpaqueObjectCell */
  kTVMFFIList = 75,           /**< header, TVMFFISeqCell; mutable */
  kTVMFFIDict = 76,           /**< mutable */
  kTVMFFIVisitInterrupt = 77, /**< ends a structural visit early; holds a value */
  /** header, size_t word count, then that many int64 words, least significant first, two's complement, no redundant
   * sign word. A value that fits int64 is kTVMFFIInt instead. */
  kTVMFFIBigInt = 78,
  kTVMFFIStaticObjectEnd, /**< one above the last index that the ABI assigns */
  kTVMFFIDynObjectBegin = 128 /**< the first index of a type that is registered at run time */
};
typedef enum TVMFFITypeIndex TVMFFITypeIndex;

/** Points at the TVMFFIObject header of an object. */
typedef void *TVMFFIObjectHandle;

/** Flags of a deleter: destroy the value (Strong), free the memory (Weak), or both. */
enum TVMFFIObjectDeleterFlagBitMask TVM_FFI_ENUM_BASE_ {
  kTVMFFIObjectDeleterFlagBitMaskStrong = 1 << 0, /**< destroy the value */
  kTVMFFIObjectDeleterFlagBitMaskWeak = 1 << 1, /**< free the memory */
  kTVMFFIObjectDeleterFlagBitMaskBoth = 3 /**< destroy the value and free the memory */
};
typedef enum TVMFFIObjectDeleterFlagBitMask TVMFFIObjectDeleterFlagBitMask;

/** The __padding of an Array that a tuple of a caller in Python became. Only messages about the Array read it. */
#define FFI_HPY_MADE_OF_TUPLE 1u
/** A flag of a field, beside TVMFFIFieldFlagBitMask: the getter reads and the setter writes a number of at most one
 * word, so both may run in several threads at once. */
#define FFI_HPY_FIELD_IS_WORD (INT64_C(1) << 32)
/** The __padding of Bytes that a memoryview of a caller in Python became. Only messages about the Bytes read it. */
#define FFI_HPY_MADE_OF_MEMORYVIEW 2u
/** The __padding of Bytes, the extra_context of an Error, that say where the message names classes of arguments. A
 * binding writes the names there that the classes have in its language. The Bytes are numbers of type int64_t: for each
 * name its offset, its length, a count, and that many numbers, which are the position of the argument and then
 * positions of items, each in the value before. At the end are the address of the first argument and the size of the
 * message, which may since have got more text in front. Items 2 * i and 2 * i + 1 of a mapping are the key and the
 * value of its pair i. */
#define FFI_HPY_CLASS_PLACES 0x5b7d1e02u
/** The __padding of an object of which a std::shared_ptr is an owner (extra/stl_memory.h). Such an object is freed with
 * its last weak reference. Objects of other headers may have any __padding. */
#define FFI_HPY_OWNED_BY_SHARED 0x5b7d1e00u
/** The __padding of such an object while there are more std::shared_ptrs of it. */
#define FFI_HPY_OWNED_BY_SEVERAL 0x5b7d1e01u
/** The flag by which the deleter of such an object writes one of these two numbers. Deleters of other headers ignore
 * it. */
#define FFI_HPY_DELETER_COUNTS_OWNERS 4

/** Header of every object. 24 bytes. */
typedef struct {
  /** Low 32 bits: strong references. High 32 bits: weak references, of which all strong ones together own one.
   * A new object has 1 and 1. Touched by atomic operations only. */
  uint64_t combined_ref_count;
  int32_t type_index; /**< >= kTVMFFIStaticObjectBegin */
  uint32_t __padding; /**< 0, or one of the numbers above */
  union {
    /** Set by the library that made the object. NULL for an object that is never freed. */
    void (*deleter)(void *self, int flags);
    int64_t __ensure_align; /**< 8 bytes on 32-bit systems too */
  };
} TVMFFIObject;

/** One value, 16 bytes. An owned Any holds a reference to its object; a view borrows it and may have one of the
 * view-only indices. Unused bytes are 0, because equality compares all 16. */
typedef struct {
  int32_t type_index; /**< a TVMFFITypeIndex or the index of a registered type */
  union {
    uint32_t zero_padding;  /**< 0 */
    uint32_t small_str_len; /**< or the length of a small string or small bytes, 0 to 7 */
  };
  union {
    int64_t v_int64; /**< kTVMFFIInt, and kTVMFFIBool as 0 or 1 */
    double v_float64; /**< kTVMFFIFloat */
    void *v_ptr; /**< kTVMFFIOpaquePtr and other pointers to plain data */
    const char *v_c_str; /**< kTVMFFIRawStr */
    TVMFFIObject *v_obj; /**< an object, for an index from kTVMFFIStaticObjectBegin on */
    DLDataType v_dtype; /**< kTVMFFIDataType */
    DLDevice v_device; /**< kTVMFFIDevice */
    char v_bytes[8]; /**< the bytes of a small string or of small bytes */
    uint64_t v_uint64; /**< all 8 bytes of the payload */
  };
} TVMFFIAny;

/** Borrowed bytes: the creator of the struct keeps them alive. */
typedef struct {
  const char *data; /**< may contain NUL bytes */
  size_t size; /**< bytes */
} TVMFFIByteArray;

/** Body of ffi.Shape. */
typedef struct {
  const int64_t *data; /**< one number for each dimension */
  size_t size; /**< dimensions */
} TVMFFIShapeCell;

/** Body of ffi.Array and ffi.List. 32 bytes. */
typedef struct TVMFFISeqCell {
  void *data;       /**< TVMFFIAny[capacity], of which the first `size` are live */
  int64_t size;     /**< items */
  int64_t capacity; /**< items */
  void (*data_deleter)(void *); /**< frees `data`; NULL when it is part of the object's own block */
} TVMFFISeqCell;

/* ---- Errors and functions: the bodies ---- */

/** How update_backtrace of an error changes the backtrace. */
enum TVMFFIBacktraceUpdateMode TVM_FFI_ENUM_BASE_ {
  kTVMFFIBacktraceUpdateModeReplace = 0, /**< the new lines replace the backtrace */
  kTVMFFIBacktraceUpdateModeAppend = 1 /**< the new lines follow the backtrace */
};
typedef enum TVMFFIBacktraceUpdateMode TVMFFIBacktraceUpdateMode;

/** Body of ffi.Error. 72 bytes. */
typedef struct {
  TVMFFIByteArray kind; /**< any string; bindings map names such as "ValueError" to their exception classes */
  TVMFFIByteArray message; /**< text for the user */
  TVMFFIByteArray backtrace; /**< lines `  File "f", line N, in fn\n`, most recent call first */
  /** Replaces or extends `backtrace` in place. Not for an error that two threads use at once. If memory runs out, the
   * old string stays. */
  void (*update_backtrace)(TVMFFIObjectHandle self, const TVMFFIByteArray *backtrace, int32_t update_mode);
  TVMFFIObjectHandle cause_chain; /**< owned Error or NULL */
  TVMFFIObjectHandle extra_context; /**< owned object or NULL */
} TVMFFIErrorCell;

/** The signature of every function. `args` are views. `result` is None on entry, and owned by the caller afterwards. On
 * -1 an error is pending and `result` holds no object. No exception of any language passes through. `handle` is the
 * Function object, or the `self` of TVMFFIFunctionCreate; it is NULL for a function that was found as a symbol of a
 * library. */
typedef int (*TVMFFISafeCallType)(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);

/** Body of ffi.Function. 16 bytes. */
typedef struct {
  TVMFFISafeCallType safe_call; /**< the entry point of every caller in C; returns 0, or -1 with the error pending */
  /** NULL, or a C++ entry point that throws, for callers that know the library that made the function. */
  void *cpp_call;
} TVMFFIFunctionCell;

/** Body of ffi.OpaquePyObject. */
typedef struct {
  void *handle; /**< belongs to the language of the object */
} TVMFFIOpaqueObjectCell;

/* ---- Version ---- */

/** The version of the running library; it may differ from this header's. Cannot fail. */
TVM_FFI_DLL void TVMFFIGetVersion(TVMFFIVersion *out_version);

/* ---- Objects ---- */

/** Adds a strong reference. `obj` must not be NULL. Always 0. */
TVM_FFI_DLL int TVMFFIObjectIncRef(TVMFFIObjectHandle obj);

/** Releases a strong reference; NULL is allowed. May run the object's deleter on this thread. Always 0. */
TVM_FFI_DLL int TVMFFIObjectDecRef(TVMFFIObjectHandle obj);

/** Makes an object that carries `handle` and calls deleter(handle) (NULL: nothing) when it is destroyed. RuntimeError
 * unless type_index is kTVMFFIOpaquePyObject. On failure the caller keeps `handle`. */
TVM_FFI_DLL int TVMFFIObjectCreateOpaque(void *handle, int32_t type_index, void (*deleter)(void *handle),
                                         TVMFFIObjectHandle *out);

/** Lies directly before an object that a custom allocator made, 8 bytes before the object's address. */
typedef struct {
  void (*delete_space)(void *ptr); /**< the argument is the object's address */
} TVMFFIObjectAllocHeader;

/** An allocator for objects, which a process may install. */
typedef struct {
  /** Returns memory for an object of `size` bytes with a TVMFFIObjectAllocHeader before it. */
  void *(*allocate)(size_t size, size_t alignment, int32_t type_index, void *context);
  void *context; /**< passed to `allocate` unchanged */
} TVMFFICustomAllocator;

/** The current allocator, never NULL; the built-in one if none was set. Cannot fail. */
TVM_FFI_DLL TVMFFICustomAllocator *TVMFFIGetCustomAllocator(void);

/** Makes `allocator` the current one for the whole process; NULL selects the built-in one. The struct is borrowed while
 * it is current. This library's own objects do not come from it. */
TVM_FFI_DLL int TVMFFISetCustomAllocator(TVMFFICustomAllocator *allocator);

/** Index of a registered type. RuntimeError if the key is not registered. */
TVM_FFI_DLL int TVMFFITypeKeyToIndex(const TVMFFIByteArray *type_key, int32_t *out_tindex);

/* ---- Functions and errors ---- */

/** Makes a Function of a C closure. A call becomes safe_call(self, args, num_args, result), and deleter(self) runs when
 * the Function is destroyed. If self and deleter are both NULL, the cell holds safe_call itself, which gets the
 * Function as its handle. On failure the caller keeps `self`. */
TVM_FFI_DLL int TVMFFIFunctionCreate(void *self, TVMFFISafeCallType safe_call, void (*deleter)(void *self),
                                     TVMFFIObjectHandle *out);

/** Finds the global function of that name. 0, with NULL in *out if there is none. */
TVM_FFI_DLL int TVMFFIFunctionGetGlobal(const TVMFFIByteArray *name, TVMFFIObjectHandle *out);

/** Makes a view into an owned value: view-only strings and bytes are copied, an rvalue reference is moved out of its
 * slot (InternalError if the slot is empty already), objects gain a reference, everything else is copied bit by bit. A
 * DLTensor* stays a pointer: its tensor must outlive the value. */
TVM_FFI_DLL int TVMFFIAnyViewToOwnedAny(const TVMFFIAny *any_view, TVMFFIAny *out);

/** Calls a Function: equivalent to its cell's safe_call(func, args, num_args, result). *result must be None on
 * entry. */
TVM_FFI_DLL int TVMFFIFunctionCall(TVMFFIObjectHandle func, TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);

/** Moves the calling thread's pending error to *result; NULL if there is none. Cannot fail. */
TVM_FFI_DLL void TVMFFIErrorMoveFromRaised(TVMFFIObjectHandle *result);

/** Makes `error` (an Error, which gains a reference; or NULL) the pending error and replaces an earlier one. Cannot
 * fail. */
TVM_FFI_DLL void TVMFFIErrorSetRaised(TVMFFIObjectHandle error);

/** Makes a new Error with the current backtrace and makes it the pending error; if memory runs out, a MemoryError. A
 * NULL kind means "RuntimeError", a NULL message an empty one. */
TVM_FFI_DLL void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);

/** As TVMFFIErrorSetRaisedFromCStr, with the message in `num_parts` pieces; NULL pieces are skipped. */
TVM_FFI_DLL void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **message_parts, int32_t num_parts);

/** Makes an Error without raising it. -1 only without memory, and then no error is pending. */
TVM_FFI_DLL int TVMFFIErrorCreate(const TVMFFIByteArray *kind, const TVMFFIByteArray *message,
                                  const TVMFFIByteArray *backtrace, TVMFFIObjectHandle *out);

/** As TVMFFIErrorCreate, with a cause (an Error or NULL) and a context (any object or NULL), which gain a reference
 * each. */
TVM_FFI_DLL int TVMFFIErrorCreateWithCauseAndExtraContext(const TVMFFIByteArray *kind, const TVMFFIByteArray *message,
                                                          const TVMFFIByteArray *backtrace,
                                                          TVMFFIObjectHandle cause_chain,
                                                          TVMFFIObjectHandle extra_context, TVMFFIObjectHandle *out);

/* ---- Tensors ---- */

/** Makes a Tensor that takes ownership of `from`: from's deleter runs when the Tensor is destroyed. On failure the
 * caller keeps `from`. Missing strides are filled in as compact row-major. `require_alignment`: 0, or a number of bytes
 * that must divide the data pointer. `require_contiguous`: nonzero refuses gaps. */
TVM_FFI_DLL int TVMFFITensorFromDLPack(DLManagedTensor *from, int32_t require_alignment, int32_t require_contiguous,
                                       TVMFFIObjectHandle *out);

/** Makes a DLPack description of the Tensor `from`. The description keeps `from` alive until its deleter is called. */
TVM_FFI_DLL int TVMFFITensorToDLPack(TVMFFIObjectHandle from, DLManagedTensor **out);

/** As TVMFFITensorFromDLPack; RuntimeError for padded elements of less than a byte. */
TVM_FFI_DLL int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned *from, int32_t require_alignment,
                                                int32_t require_contiguous, TVMFFIObjectHandle *out);

/** As TVMFFITensorToDLPack. */
TVM_FFI_DLL int TVMFFITensorToDLPackVersioned(TVMFFIObjectHandle from, DLManagedTensorVersioned **out);

/** Makes a Tensor as `prototype` describes it (shape and strides are copied; strides must be given) and keeps `source`
 * alive. The function does not check that the view lies within the memory of `source`. */
TVM_FFI_DLL int TVMFFITensorCreateUnsafeView(TVMFFIObjectHandle source, const DLTensor *prototype,
                                             TVMFFIObjectHandle *out);

/* ---- Strings, bytes, big integers, data types ---- */

/** Makes a string value: small form up to 7 bytes, an ffi.String above. The bytes are not checked to be UTF-8. */
TVM_FFI_DLL int TVMFFIStringFromByteArray(const TVMFFIByteArray *input, TVMFFIAny *out);

/** Makes a bytes value: small form up to 7 bytes, an ffi.Bytes above. */
TVM_FFI_DLL int TVMFFIBytesFromByteArray(const TVMFFIByteArray *input, TVMFFIAny *out);

/** Makes an integer from 64-bit words, the least significant first, each in the machine's byte order; the last word has
 * the sign. Redundant sign words are dropped, a number that fits int64 becomes kTVMFFIInt, and zero words mean 0.
 * ValueError for a size that is not a multiple of 8. */
TVM_FFI_DLL int TVMFFIBigIntFromByteArray(const TVMFFIByteArray *input, TVMFFIAny *out);

/** The words of an integer (kTVMFFIInt or kTVMFFIBigInt), in the order of TVMFFIBigIntFromByteArray. The words are
 * borrowed from `value` and valid until it moves or changes. {NULL, 0} for a value that is neither. Cannot fail. */
TVM_FFI_DLL TVMFFIByteArray TVMFFIBigIntGetContentByteArray(const TVMFFIAny *value);

/** Parses "float32", "int8x4", "float8_e4m3fn", ... ValueError for anything else. */
TVM_FFI_DLL int TVMFFIDataTypeFromString(const TVMFFIByteArray *str, DLDataType *out);

/** Returns the name of a data type, as a string value. */
TVM_FFI_DLL int TVMFFIDataTypeToString(const DLDataType *dtype, TVMFFIAny *out);

/* ---- The type registry ---- */

/** Reads the field at address `field`; the caller owns `result`. */
typedef int (*TVMFFIFieldGetter)(void *field, TVMFFIAny *result);
/** Writes the field at address `field` from a view. */
typedef int (*TVMFFIFieldSetter)(void *field, const TVMFFIAny *value);
/** Makes an object with default contents. */
typedef int (*TVMFFIObjectCreator)(TVMFFIObjectHandle *result);

/** Bits of TVMFFIFieldInfo.flags and TVMFFIMethodInfo.flags. */
enum TVMFFIFieldFlagBitMask TVM_FFI_ENUM_BASE_ {
  kTVMFFIFieldFlagBitMaskWritable = 1 << 0, /**< the field can be set */
  kTVMFFIFieldFlagBitMaskHasDefault = 1 << 1, /**< default_value_or_factory holds a default */
  kTVMFFIFieldFlagBitMaskIsStaticMethod = 1 << 2, /**< the method does not take the object */
  kTVMFFIFieldFlagBitMaskSEqHashIgnore = 1 << 3, /**< structural equality and hash skip the field */
  kTVMFFIFieldFlagBitMaskSEqHashDefPattern = 1 << 4, /**< defines free variables, also nested ones */
  kTVMFFIFieldFlagBitMaskDefaultFromFactory = 1 << 5, /**< the default is a function to call */
  kTVMFFIFieldFlagBitMaskReprOff = 1 << 6, /**< the field is not in the repr */
  kTVMFFIFieldFlagBitMaskCompareOff = 1 << 7, /**< the field does not count for order and equality */
  kTVMFFIFieldFlagBitMaskHashOff = 1 << 8, /**< the field does not count for the hash */
  kTVMFFIFieldFlagBitMaskInitOff = 1 << 9, /**< the field is not a parameter of the constructor */
  kTVMFFIFieldFlagBitMaskKwOnly = 1 << 10, /**< the constructor takes the field by keyword (kwargs) only */
  kTVMFFIFieldFlagBitSetterIsFunctionObj = 1 << 11, /**< `setter` is a Function(field address, value) */
  kTVMFFIFieldFlagBitMaskSEqHashDefSimple = 1 << 12, /**< defines free variables, only directly */
  /** Older names. */
  kTVMFFIFieldFlagBitMaskSEqHashDef = kTVMFFIFieldFlagBitMaskSEqHashDefPattern, /**< older name of Pattern */
  kTVMFFIFieldFlagBitMaskSEqHashDefRecursive = kTVMFFIFieldFlagBitMaskSEqHashDefPattern, /**< older name of Pattern */
  kTVMFFIFieldFlagBitMaskSEqHashDefNonRecursive = kTVMFFIFieldFlagBitMaskSEqHashDefSimple /**< older name of Simple */
};
typedef enum TVMFFIFieldFlagBitMask TVMFFIFieldFlagBitMask;

/** How structural equality and structural hash treat a type. */
enum TVMFFISEqHashKind TVM_FFI_ENUM_BASE_ {
  kTVMFFISEqHashKindUnsupported = 0, /**< no structural comparison */
  kTVMFFISEqHashKindTreeNode = 1, /**< compared by contents */
  kTVMFFISEqHashKindFreeVar = 2, /**< a variable: equal if bound at the same place, or the same object */
  kTVMFFISEqHashKindDAGNode = 3, /**< compared by contents; parts must be shared on both sides alike */
  kTVMFFISEqHashKindConstTreeNode = 4, /**< compared by contents; an object equals itself without a comparison */
  kTVMFFISEqHashKindUniqueInstance = 5 /**< compared by identity */
};
typedef enum TVMFFISEqHashKind TVMFFISEqHashKind;

/** Whether a structural visit is inside a field that defines variables. */
enum TVMFFIDefRegionKind TVM_FFI_ENUM_BASE_ {
  kTVMFFIDefRegionKindNone = 0, /**< outside of such a field */
  kTVMFFIDefRegionKindPattern = 1, /**< the field defines variables, also nested ones */
  kTVMFFIDefRegionKindSimple = 2, /**< the field defines variables, only directly */
  /** Older names. */
  kTVMFFIDefRegionKindRecursive = kTVMFFIDefRegionKindPattern, /**< older name of Pattern */
  kTVMFFIDefRegionKindNonRecursive = kTVMFFIDefRegionKindSimple /**< older name of Simple */
};
typedef enum TVMFFIDefRegionKind TVMFFIDefRegionKind;

/** One field of a type. 120 bytes. */
typedef struct {
  TVMFFIByteArray name; /**< the name of the field */
  TVMFFIByteArray doc; /**< documentation; may be empty */
  TVMFFIByteArray metadata; /**< JSON */
  int64_t flags; /**< TVMFFIFieldFlagBitMask */
  int64_t size; /**< bytes */
  int64_t alignment; /**< bytes */
  int64_t offset; /**< bytes from the object's handle */
  TVMFFIFieldGetter getter; /**< reads the field */
  void *setter; /**< a TVMFFIFieldSetter, or a Function handle by flag; NULL when read-only */
  TVMFFIAny default_value_or_factory; /**< None unless a flag says that there is a default */
  int32_t field_static_type_index; /**< the index if the static type determines it, else kTVMFFIAny */
} TVMFFIFieldInfo;

/** One method of a type. 72 bytes. */
typedef struct {
  TVMFFIByteArray name; /**< the name of the method */
  TVMFFIByteArray doc; /**< documentation; may be empty */
  TVMFFIByteArray metadata; /**< JSON */
  int64_t flags; /**< TVMFFIFieldFlagBitMask */
  TVMFFIAny method; /**< a Function; its first argument is the object unless the method is static */
} TVMFFIMethodInfo;

/** 32 bytes. */
typedef struct {
  TVMFFIByteArray doc; /**< documentation; may be empty */
  TVMFFIObjectCreator creator; /**< NULL if the type has no default constructor */
  int32_t total_size; /**< bytes of an object, header included; 0 when it varies */
  TVMFFISEqHashKind structural_eq_hash_kind; /**< how structural equality and hash treat the type */
} TVMFFITypeMetadata;

/** The values of one attribute for all types: type i has data[i - begin_index] if 0 <= i - begin_index < size.
 * None marks a type without the attribute. Read `size` before `data` if types may be registered at the same time. */
typedef struct {
  const TVMFFIAny *data; /**< the values, by type index - begin_index */
  int32_t size; /**< the number of values */
  int32_t begin_index; /**< always 0 */
} TVMFFITypeAttrColumn;

/** One type. 72 bytes. The struct never moves and is never freed. The lists hold the declarations of the type itself;
 * its ancestors' lists hold the rest. `fields` and `methods` may be replaced by longer copies; the old ones stay
 * readable. Read the count before the pointer if types may be registered at the same time. */
typedef struct TVMFFITypeInfo {
  int32_t type_index; /**< the index of the type */
  int32_t type_depth; /**< 0 for a root */
  TVMFFIByteArray type_key; /**< the name of the type, such as "ffi.Array" */
  const struct TVMFFITypeInfo **type_ancestors; /**< type_depth of them, the root first, the parent last */
  uint64_t type_key_hash; /**< a hash of type_key */
  int32_t num_fields; /**< the number of fields that the type itself declares */
  int32_t num_methods; /**< the number of methods that the type itself declares */
  const TVMFFIFieldInfo *fields; /**< the fields, in the order of their registration */
  const TVMFFIMethodInfo *methods; /**< the methods, in the order of their registration */
  const TVMFFITypeMetadata *metadata; /**< NULL until registered */
} TVMFFITypeInfo;

/** Registers a global function. RuntimeError if the name is registered already and allow_override is 0; TypeError if
 * `f` is not a Function. The table keeps a reference. */
TVM_FFI_DLL int TVMFFIFunctionSetGlobal(const TVMFFIByteArray *name, TVMFFIObjectHandle f, int allow_override);

/** As TVMFFIFunctionSetGlobal, for a method; copies its metadata and its documentation. */
TVM_FFI_DLL int TVMFFIFunctionSetGlobalFromMethodInfo(const TVMFFIMethodInfo *method_info, int allow_override);

/** Declares a field. Everything in `info` is copied or gains a reference. RuntimeError for an unknown type, or if this
 * type has a field of that name already. A name that an ancestor has gives a warning on stderr. */
TVM_FFI_DLL int TVMFFITypeRegisterField(int32_t type_index, const TVMFFIFieldInfo *info);

/** Declares a method, as TVMFFITypeRegisterField declares a field. RuntimeError for an unknown type, or if this type
 * has a method of that name already, unless the Function is the same: such a method is an overload and is appended. */
TVM_FFI_DLL int TVMFFITypeRegisterMethod(int32_t type_index, const TVMFFIMethodInfo *info);

/** Declares size, creator and documentation. RuntimeError for an unknown type, or if the type has metadata already. */
TVM_FFI_DLL int TVMFFITypeRegisterMetadata(int32_t type_index, const TVMFFITypeMetadata *metadata);

/** Sets an attribute of a type for good: RuntimeError if the type has the attribute already. With kTVMFFINone as the
 * type the function only makes sure that the column exists. RuntimeError for a negative type index. */
TVM_FFI_DLL int TVMFFITypeRegisterAttr(int32_t type_index, const TVMFFIByteArray *attr_name,
                                       const TVMFFIAny *attr_value);

/** Returns the column of that name, NULL if there is none. The pointer stays valid for the life of the process. Cannot
 * fail. */
TVM_FFI_DLL const TVMFFITypeAttrColumn *TVMFFIGetTypeAttrColumn(const TVMFFIByteArray *attr_name);

/* ---- For generated code and bindings ---- */

/** Returns the frames above the caller, most recent first, in the format of TVMFFIErrorCell.backtrace; the given frame
 * comes first if `filename` and `func` are not NULL. The backtrace stops where the caller was entered through this ABI,
 * unless cross_ffi_boundary is nonzero. The environment variable TVM_TRACEBACK_LIMIT limits the number of frames (512).
 * The string belongs to the thread and is valid until its next call. Never NULL. */
TVM_FFI_DLL const TVMFFIByteArray *TVMFFIBacktrace(const char *filename, int lineno, const char *func,
                                                   int cross_ffi_boundary);

/** Returns the index of a type key; registers the type if it is new.
 * static_type_index: the index of the type, or -1 for the next free index. The index and its child slots must be free,
 * or slots of an ancestor. type_depth: 0 for a root, else the parent's + 1. num_child_slots: number of indices after
 * this type's that are reserved for its descendants. child_slots_can_overflow: whether a descendant may get another
 * index once they are used up. parent_type_index: -1 for a root, -2 to look the key up without registering it. For a
 * registered key the other arguments are ignored. Returns -2 for an unknown key that was only looked up, and -1 with a
 * RuntimeError pending for an impossible registration (the reference implementation ends the process there). */
TVM_FFI_DLL int32_t TVMFFITypeGetOrAllocIndex(const TVMFFIByteArray *type_key, int32_t static_type_index,
                                              int32_t type_depth, int32_t num_child_slots,
                                              int32_t child_slots_can_overflow, int32_t parent_type_index);

/** Returns the type of that index, always the same pointer. NULL, without an error, for an index without a type (the
 * reference implementation ends the process there). */
TVM_FFI_DLL TVM_FFI_ATTRIBUTE_PURE const TVMFFITypeInfo *TVMFFIGetTypeInfo(int32_t type_index);

/** Fills *handle_addr by init_func unless it is filled already. If several threads call, one runs init_func and the
 * others wait. No lock is held while init_func runs, so init_func may initialise other handles. RuntimeError if
 * init_func returns NULL, or asks for its own handle, or asks for a handle whose init_func is waiting, on another
 * thread, for this one. A nonzero result of init_func is passed on, and the next call tries again. */
TVM_FFI_DLL int TVMFFIHandleInitOnce(void **handle_addr, int (*init_func)(void **result));

/** Empties *handle_addr, passes the old handle to deinit_func and returns the result of deinit_func; 0 if *handle_addr
 * was empty. */
TVM_FFI_DLL int TVMFFIHandleDeinitOnce(void **handle_addr, int (*deinit_func)(void *handle));

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- Reading objects: pointer arithmetic only ---- */
#ifdef __cplusplus
#define TVM_FFI_INLINE_ inline
#else
#define TVM_FFI_INLINE_ static inline
#endif

/** Returns the type index of an object. */
TVM_FFI_INLINE_ int32_t TVMFFIObjectGetTypeIndex(TVMFFIObjectHandle obj) { return ((TVMFFIObject *)obj)->type_index; }

/** Returns the bytes of a small string or of small bytes, borrowed from `value`. */
TVM_FFI_INLINE_ TVMFFIByteArray TVMFFISmallBytesGetContentByteArray(const TVMFFIAny *value) {
  TVMFFIByteArray content = {value->v_bytes, (size_t)value->small_str_len};
  return content;
}

/** Returns the bytes of an ffi.String or ffi.Bytes, borrowed from the object. */
TVM_FFI_INLINE_ TVMFFIByteArray *TVMFFIBytesGetByteArrayPtr(TVMFFIObjectHandle obj) {
  return (TVMFFIByteArray *)(void *)((char *)obj + sizeof(TVMFFIObject));
}

/** Returns the contents of an ffi.Error, borrowed from the object. */
TVM_FFI_INLINE_ TVMFFIErrorCell *TVMFFIErrorGetCellPtr(TVMFFIObjectHandle obj) {
  return (TVMFFIErrorCell *)(void *)((char *)obj + sizeof(TVMFFIObject));
}

/** Whether the extra_context of an Error is Bytes with FFI_HPY_CLASS_PLACES. NULL is allowed. */
TVM_FFI_INLINE_ int ffi_hpy_is_class_places(TVMFFIObjectHandle context) {
  return context != NULL && ((TVMFFIObject *)context)->type_index == kTVMFFIBytes &&
         ((TVMFFIObject *)context)->__padding == FFI_HPY_CLASS_PLACES;
}
/** Lets an Error that names classes of the arguments at `from` be one about those at `to`. */
TVM_FFI_INLINE_ void ffi_hpy_move_class_places(TVMFFIObjectHandle error, const TVMFFIAny *from, uintptr_t to) {
  TVMFFIObjectHandle context = TVMFFIErrorGetCellPtr(error)->extra_context;
  if (!ffi_hpy_is_class_places(context)) return;
  TVMFFIByteArray *places = TVMFFIBytesGetByteArrayPtr(context);
  int64_t *first = (int64_t *)(uintptr_t)(places->data + places->size) - 2;
  if (*first == (int64_t)(uintptr_t)from) *first = (int64_t)to;
}

/** Returns the contents of an ffi.Function, borrowed from the object. */
TVM_FFI_INLINE_ TVMFFIFunctionCell *TVMFFIFunctionGetCellPtr(TVMFFIObjectHandle obj) {
  return (TVMFFIFunctionCell *)(void *)((char *)obj + sizeof(TVMFFIObject));
}

/** Returns the contents of an ffi.OpaquePyObject, borrowed from the object. */
TVM_FFI_INLINE_ TVMFFIOpaqueObjectCell *TVMFFIOpaqueObjectGetCellPtr(TVMFFIObjectHandle obj) {
  return (TVMFFIOpaqueObjectCell *)(void *)((char *)obj + sizeof(TVMFFIObject));
}

/** Returns the contents of an ffi.Shape, borrowed from the object. */
TVM_FFI_INLINE_ TVMFFIShapeCell *TVMFFIShapeGetCellPtr(TVMFFIObjectHandle obj) {
  return (TVMFFIShapeCell *)(void *)((char *)obj + sizeof(TVMFFIObject));
}

/** Returns the DLTensor of an ffi.Tensor, borrowed from the object. */
TVM_FFI_INLINE_ DLTensor *TVMFFITensorGetDLTensorPtr(TVMFFIObjectHandle obj) {
  return (DLTensor *)(void *)((char *)obj + sizeof(TVMFFIObject));
}

/** Makes a DLDevice from two numbers. */
TVM_FFI_INLINE_ DLDevice TVMFFIDLDeviceFromIntPair(int32_t device_type, int32_t device_id) {
  DLDevice device = {(DLDeviceType)device_type, device_id};
  return device;
}

#undef TVM_FFI_INLINE_
#undef TVM_FFI_ENUM_BASE_
#endif /* TVM_FFI_C_API_H_ */
