"""Types of the binding's binary, `_core.hpy0.so`, and of the cffi backend (`_pypy`) that replaces parts of it on PyPy.

The binary contains the code that every call passes through; the Python modules of the package name, group and document
it.

All functions are safe to call from several threads.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, SupportsIndex, final, overload, type_check_only

from typing_extensions import Self, disjoint_base

# --- How a Python type is passed to native code -----------------------------------------------------------------
# `classify` (see `set_hooks`) returns one of these tags for each Python type; the result is cached.
TAG_NONE: Final[int]
TAG_BOOL: Final[int]
TAG_INT: Final[int]  # also int subclasses and types with __index__
TAG_FLOAT: Final[int]  # also float subclasses and types with __float__
TAG_STR: Final[int]
TAG_BYTES: Final[int]  # bytes and subclasses
TAG_OBJECT: Final[int]  # CObject and subclasses: the handle
TAG_RVALUE_REF: Final[int]
TAG_DATA_TYPE: Final[int]
TAG_DEVICE: Final[int]
TAG_OPAQUE_PTR: Final[int]
TAG_OPAQUE: Final[int]  # becomes an ffi.OpaquePyObject
TAG_SEQUENCE: Final[int]  # list, tuple: becomes an ffi.Array
TAG_MAPPING: Final[int]  # dict: becomes an ffi.Map
TAG_DLPACK: Final[int]  # has __dlpack__: becomes an ffi.Tensor
TAG_CONVERTER: Final[int]  # converter(value) returns a value with one of the tags above
TAG_EXCHANGE: Final[int]  # the class has a DLPack C exchange API: becomes an ffi.Tensor
TAG_MEMBER: Final[int]  # a member of a bound enum: its ffi.OpaquePyObject

# --- Numbers of the C headers (src/hpy_module/module/constants.c) ---------------------------------------------------
# TVMFFITypeIndex: the types that every core has.
TYPE_INDEX_ANY: Final[int]  # only in metadata; no value has it
TYPE_INDEX_NONE: Final[int]
TYPE_INDEX_INT: Final[int]
TYPE_INDEX_BOOL: Final[int]
TYPE_INDEX_FLOAT: Final[int]
TYPE_INDEX_OPAQUE_PTR: Final[int]
TYPE_INDEX_DATA_TYPE: Final[int]
TYPE_INDEX_DEVICE: Final[int]
TYPE_INDEX_DL_TENSOR_PTR: Final[int]
TYPE_INDEX_RAW_STR: Final[int]
TYPE_INDEX_BYTE_ARRAY_PTR: Final[int]
TYPE_INDEX_OBJECT_RVALUE_REF: Final[int]
TYPE_INDEX_SMALL_STR: Final[int]
TYPE_INDEX_SMALL_BYTES: Final[int]
TYPE_INDEX_OBJECT: Final[int]  # the root of all objects, and the lowest index of an object
TYPE_INDEX_STR: Final[int]
TYPE_INDEX_BYTES: Final[int]
TYPE_INDEX_FUNCTION: Final[int]
TYPE_INDEX_TENSOR: Final[int]
TYPE_INDEX_ARRAY: Final[int]
TYPE_INDEX_MAP: Final[int]
TYPE_INDEX_LIST: Final[int]
TYPE_INDEX_DICT: Final[int]
TYPE_INDEX_BIG_INT: Final[int]
TYPE_INDEX_DYNAMIC_BEGIN: Final[int]  # the first index of types that are registered at run time

# TVMFFIFieldFlagBitMask: bits of the flags of a field or method.
FIELD_WRITABLE: Final[int]
FIELD_HAS_DEFAULT: Final[int]
FIELD_IS_STATIC_METHOD: Final[int]
FIELD_STRUCTURAL_IGNORE: Final[int]
FIELD_STRUCTURAL_DEF_PATTERN: Final[int]
FIELD_STRUCTURAL_DEF_SIMPLE: Final[int]
FIELD_DEFAULT_FROM_FACTORY: Final[int]
FIELD_REPR_OFF: Final[int]
FIELD_COMPARE_OFF: Final[int]
FIELD_HASH_OFF: Final[int]
FIELD_INIT_OFF: Final[int]
FIELD_KW_ONLY: Final[int]
FIELD_SETTER_IS_FUNCTION: Final[int]

# TVMFFISEqHashKind: how structural comparison treats objects of a type.
STRUCTURE_UNSUPPORTED: Final[int]
STRUCTURE_TREE: Final[int]
STRUCTURE_FREE_VAR: Final[int]
STRUCTURE_DAG: Final[int]
STRUCTURE_CONST_TREE: Final[int]
STRUCTURE_UNIQUE_INSTANCE: Final[int]

# Bits by which `set_hooks(classify=...)` reports the protocols of a class for schemas.
PROTOCOL_OBJECT: Final[int]  # __tvm_ffi_object__
PROTOCOL_VALUE: Final[int]  # __tvm_ffi_value__
PROTOCOL_CONVERT: Final[int]  # ObjectConvertible
PROTOCOL_MAPPING: Final[int]  # a mapping other than dict
PROTOCOL_WRAPPER: Final[int]  # a wrapper of a native object from another binding
PROTOCOL_LAZY_BITS: Final[int]  # a torch tensor, whose memory may differ from its values
PROTOCOL_INDEX: Final[int]  # __index__ of an opaque object
PROTOCOL_FLOAT: Final[int]  # __float__ of an opaque object

# TVMFFIDefRegionKind: whether the first occurrence of a variable defines it.
DEF_REGION_NONE: Final[int]
DEF_REGION_PATTERN: Final[int]
DEF_REGION_SIMPLE: Final[int]

# DLDeviceType.
DEVICE_TYPE_CPU: Final[int]
DEVICE_TYPE_CUDA: Final[int]
DEVICE_TYPE_CUDA_HOST: Final[int]
DEVICE_TYPE_OPENCL: Final[int]
DEVICE_TYPE_VULKAN: Final[int]
DEVICE_TYPE_METAL: Final[int]
DEVICE_TYPE_VPI: Final[int]
DEVICE_TYPE_ROCM: Final[int]
DEVICE_TYPE_ROCM_HOST: Final[int]
DEVICE_TYPE_EXT_DEV: Final[int]
DEVICE_TYPE_CUDA_MANAGED: Final[int]
DEVICE_TYPE_ONEAPI: Final[int]
DEVICE_TYPE_WEBGPU: Final[int]
DEVICE_TYPE_HEXAGON: Final[int]
DEVICE_TYPE_MAIA: Final[int]
DEVICE_TYPE_TRN: Final[int]

# DLDataTypeCode, the codes that Python uses.
TYPE_CODE_INT: Final[int]
TYPE_CODE_UINT: Final[int]
TYPE_CODE_FLOAT: Final[int]
TYPE_CODE_HANDLE: Final[int]
TYPE_CODE_BFLOAT: Final[int]
TYPE_CODE_BOOL: Final[int]
TYPE_CODE_FLOAT8_FIRST: Final[int]  # from here to the last: float8_*, float6_*, float4_*
TYPE_CODE_FLOAT4_LAST: Final[int]

DLPACK_MAJOR_VERSION: Final[int]
DLPACK_MINOR_VERSION: Final[int]
BIND_STR_DELETER: Final[int]  # the word of a member of ffi_hpy_bind_api (ffi_hpy/c_bind.h)
BIND_FUNCTION_CALL: Final[int]  # another one
BIND_FIRST_OVERLOAD: Final[int]  # the word of the first overload behind the handle of a Function
BIND_BORROWS: Final[int]  # the place of a member of ffi_hpy_first_overload, in words of 4 bytes
BIND_UNLISTED: Final[int]  # FFI_HPY_UNLISTED
OBJECT_HEADER_BYTES: Final[int]  # sizeof(TVMFFIObject)
OBJECT_ALIGNMENT: Final[int]  # alignof(TVMFFIObject), bytes

CALLS: Final[str]  # "cffi" where the cffi backend runs the hot paths (PyPy), else "binding"
CALLS_REASON: Final[str]  # the reason why CALLS is not "cffi"; "" if it is
SHORT_CALLS_KEEP_GIL: Final[bool]  # whether calls of short functions are faster if they keep the GIL: false with cffi
CONTEXT_NAME: Final[str]  # name of the HPy context in use
HAS_EXTENSION: Final[bool]  # whether that context is the package's own, with its accelerators
HAS_DESCRIPTORS: Final[bool]  # whether FieldSlot is a data descriptor
HAS_EXCHANGE: Final[bool]  # whether it can use the DLPack C exchange API; false on PyPy 7.3 and in hpy's debug mode
KEEPS_IDENTITY: Final[bool]  # whether a native object has one wrapper during the wrapper's life; false in debug modes
NATIVE_TABLES: Final[tuple[Any, ...]]  # only in the cffi backend: tables by which native code holds Python objects

@disjoint_base
class CObject:
    """Base of all classes whose instances own a handle of a native object. The handle is None (0) before initialisation
    and after it was moved away. Moving it away while a call uses it is a RuntimeError; a Function's handle is never
    moved away."""

    def __chandle__(self) -> int:
        """Pointer to the native object, 0 if there is none."""
    @property
    def id_(self) -> int:
        """Address of the native object, 0 if there is none."""
    def __ctypes_handle__(self) -> Any:
        """Pointer to the native object as ctypes.c_void_p, whose value is None if there is none."""
    def __init_handle_by_constructor__(self, fconstructor: Function, /, *args: Any) -> None:
        """Steal the handle of the object that `fconstructor(*args)` returns. TypeError if the result is not an object.
        Never releases the GIL."""
    def __move_handle_from__(self, other: CObject, /) -> None:
        """Move the handle of `other` to this wrapper and leave `other` empty. A Function keeps its handle, because a
        call of it may be running. TypeError for a Function that has a handle already."""
    def _move(self) -> ObjectRValueRef:
        """Mark the object for a call that may steal its handle."""
    def same_as(self, other: object) -> bool:
        """Tell whether both own the same native object.

        Args:
            other: any object.
        """
    def is_(self, other: object) -> bool:
        """As same_as().

        Args:
            other: any object.
        """
    def __eq__(self, other: object, /) -> bool:
        """Equality by handle; NotImplemented for a value that is not a CObject."""
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int:
        """Hash of the handle's pointer."""
    def __getstate__(self) -> dict[str, Any]:
        """The state for pickle: see ffi_hpy._values.object.get_state."""
    def __setstate__(self, state: dict[str, Any]) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __type_index__(self) -> int:
        """Type index of the native object; ValueError if there is none."""
    def __use_count__(self) -> int:
        """Strong references to the native object, 0 if there is none."""
    def _shallow_copy(self) -> Any:
        """A new object with the same field values. TypeError if the type cannot be copied."""
    def _deep_copy(self, memo: Any = None, /) -> Any:
        """A new object whose fields are deep copies. RuntimeError for a value that cannot be copied."""
    def _swap_memo(self, memo: Any, /) -> Any:
        """Replace the memo of the deep copy that runs on this thread, None if none runs, and return the former memo.
        The object has no part in it."""

# The base classes of Array, List, Map and Dict. Each operation is atomic. For rare operations and for errors they call
# methods of the package's classes (ffi_hpy/_containers): `_copy_plain()`, `_get_rare(key)`, `_set_rare(key, value)`,
# `_delete(key)`, `_refuse(key)` and `_refuse_object()`.

class CSequence(CObject):
    """Read access to native sequences: instances have an ffi.Array or an ffi.List. Calling the class with an iterable
    creates an ffi.Array."""

    def __init__(self, input_list: Iterable[Any] = ()) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, idx: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, idx: slice, /) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]:
        """An iterator over the current items."""
    def __deepcopy__(self, memo: Any = None, /) -> Any:
        """A new container with deep copies of the items."""

class CList(CSequence):
    """Write access to native sequences: instances have an ffi.List."""

    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __delitem__(self, index: Any, /) -> None: ...
    def append(self, value: Any, /) -> None: ...

class CMapping(CObject):
    """Read access to native mappings: instances have an ffi.Map or an ffi.Dict. Calling the class with a mapping
    creates an ffi.Map."""

    def __init__(self, input_dict: Any = None) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any:
        """KeyError."""
    def __contains__(self, key: object, /) -> bool: ...
    def get(self, key: Any, default: Any = None) -> Any: ...
    def __iter__(self) -> Iterator[Any]:
        """An iterator over the current keys."""
    def __deepcopy__(self, memo: Any = None, /) -> Any:
        """A new mapping with deep copies of the keys and values."""
    def _iter_values(self) -> Iterator[Any]: ...
    def _iter_items(self) -> Iterator[tuple[Any, Any]]: ...

class CDict(CMapping):
    """Write access to native mappings: instances have an ffi.Dict."""

    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __delitem__(self, key: Any, /) -> None: ...

@final
class ObjectRValueRef:
    """A CObject marked by `_move()`: the callee of a call with it may steal the handle."""

    def __new__(cls, obj: CObject, /) -> Self: ...

@final
class Function(CObject):
    """A native function, which any thread may call. A value that can be called becomes one on its way to native code.

    Arguments are converted by their classes, as convert() lists them. Keyword arguments use the names that the author
    has given the parameters; without such names they are a TypeError. An error of native code is raised as an
    exception. The GIL is released during the call where `release_gil` is true.

    A Function is not made directly, but by get_global_func(), convert_func(), or a module. An instance of a subclass
    has no function at first, and takes over the function of another instance by `__move_handle_from__`.

    Examples:
        >>> size = ffi_hpy.get_global_func("ffi.ArraySize")
        >>> size([1, 2, 3])
        3
    """

    release_gil: bool
    """Whether a call releases the GIL while native code runs: by default yes, unless TVM_FFI_RELEASE_GIL_BY_DEFAULT
    is 0."""
    __name__: str
    """Name for messages; "" if unknown. Writable."""
    __qualname__: str
    """Name after the name of the class, for functions of bound libraries."""

    @property
    def _qualname(self) -> Any:
        """The package computes `__qualname__` (function_metadata.py)."""
    _about: int
    """The number of the function's metadata in the package (function_metadata.py); 0 if there is none."""

    @property
    def _callable(self) -> Any:
        """The Python callable that the function is made of, by function_from_callable() or by a conversion; None for
        another function."""

    _takes_python: bool
    """Set to True for a function whose arguments are the Python objects themselves: a list, not an Array."""

    _is_operator: bool
    """Set to True for a function of bind.h that is an operator: a call with operands that do not fit returns
    NotImplemented. Exists where method_descriptor does."""

    def _by_names(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...] | str:
        """The package sets it, for the cffi backend (function_metadata.py)."""

    def __copy__(self) -> Function:
        """The function itself, as in Python."""
    def __deepcopy__(self, memo: object = None) -> Function: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def __from_extern_c__(c_symbol: int, *, keep_alive_object: Any = None) -> Function:
        """See ffi_hpy._values.function.from_extern_c."""
    @staticmethod
    def __from_mlir_packed_safe_call__(mlir_packed_symbol: int, *, keep_alive_object: Any = None) -> Function:
        """See ffi_hpy._values.function.from_mlir_packed_safe_call."""

class Error(CObject):
    """A native error value (not an exception)."""

    def __init__(
        self,
        kind: str,
        message: str,
        backtrace: str,
        cause: Error | None = None,
        extra_context: CObject | None = None,
        /,
    ) -> None: ...
    @property
    def kind(self) -> str:
        """Kind of the error: the name of an exception class."""
    @property
    def message(self) -> str:
        """The message of the error."""
    @property
    def backtrace(self) -> str:
        """Frames, most recent call first, each ``  File "f", line N, in fn`` and a newline."""
    @property
    def cause(self) -> Error | None:
        """The error that led to this one, or None."""
    @property
    def extra_context(self) -> Any:
        """A value attached to the error, or None."""
    def update_backtrace(self, backtrace: str, append: bool = False) -> None:
        """Replace the backtrace, or append to it.

        Args:
            backtrace: the text.
            append: whether to keep the existing text and add this one behind it.
        """

@disjoint_base
class PlainValue:
    """Base of the classes whose values consist of one word: DataType, Device and OpaquePtr in ffi_hpy/_values. The tag
    of a class (TAG_DATA_TYPE, TAG_DEVICE, TAG_OPAQUE_PTR) decides the form of the word: src/hpy_module/value/plain.c
    describes the forms. The arguments are for subclasses; a new instance has the word 0."""

    def __new__(cls, /, *args: Any, **kwargs: Any) -> Self: ...
    _word: int
    """The value, as a signed number of 64 bits. Constructors set it."""

class Tensor(CObject):
    """An n-dimensional array with shared ownership of its memory, exchanged through DLPack."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Stride of each axis, in elements."""
    @property
    def dtype(self) -> Any:
        """Element type."""
    @property
    def device(self) -> Any:
        """Where the memory is."""
    @property
    def ndim(self) -> int:
        """Number of axes."""
    @property
    def byte_offset(self) -> int:
        """Bytes from the beginning of the memory to the first element."""
    def data_ptr(self) -> int:
        """Address of the first element, on the tensor's device."""
    def numel(self) -> int:
        """Number of elements. OverflowError beyond 2**63 - 1."""
    def size(self, idx: int) -> int:
        """Return the extent of one axis.

        Args:
            idx: the axis; negative counts from the end.

        Raises:
            IndexError: if the axis does not exist.
        """
    def is_contiguous(self) -> bool:
        """Whether the elements are contiguous, row by row."""
    def _to_dlpack(self) -> Any:
        """Capsule "dltensor" (legacy struct). BufferError if the memory is read-only."""
    def _to_dlpack_versioned(self) -> Any:
        """Capsule "dltensor_versioned"."""
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def _view(self, shape: tuple[int, ...], strides: tuple[int, ...], n_bytes: int, /) -> Self:
        """Return a Tensor over a part of the memory, which begins `n_bytes` after the first element. Strides count
        elements. Bounds are not checked."""
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class CAny:
    """An owned native value. `CAny(value)` converts a Python value as a call would."""

    def __new__(cls, value: object = None, /) -> Self: ...
    @property
    def type_index(self) -> int:
        """Type index of the value."""

@disjoint_base
class Schema:
    """Base of TypeSchema: its conversions. The methods use a tree that is compiled on first use from the results of
    `_describe()`."""

    def convert(self, value: object) -> CAny:
        """Convert a value to this schema; TypeError if it does not match."""
    def check_value(self, value: object) -> None:
        """TypeError if convert() would reject the value."""
    def _convert_into(self, value: object, address: int, is_check: bool, /) -> None:
        """Convert a value into the TVMFFIAny at a pointer, which then owns the result. Only in the C binding."""

@type_check_only
class FieldInfo(NamedTuple):
    """One reflected field or method, as returned by type_info() (a plain tuple in this order)."""

    name: str
    doc: str
    metadata: str  # JSON, "" if there is none
    flags: int
    size: int  # bytes; methods: 0
    offset: int  # bytes from the handle; methods: 0
    static_type_index: int  # methods: 0
    alignment: int  # bytes; methods: 0
    value: Any  # field: default value or factory (None if there is none); method: the Function

@disjoint_base
class FieldSlot:
    """One field that a native type itself declares. If HAS_DESCRIPTORS is true it is a data descriptor; a frozen
    descriptor rejects assignment, and every descriptor rejects deletion. Subclassable.

    `schema`, a Schema, converts values before the native setter gets them; fields from fields_define() have a schema.

    IndexError for a field that the type does not have, ValueError for an unknown type.
    """

    def __new__(cls, index: int, field: int, frozen: bool, schema: Any = None, /, *args: Any) -> Self: ...
    @property
    def frozen(self) -> bool: ...
    def get(self, obj: Any, /) -> Any:
        """Return the field's value of an object. TypeError if the object is of another type, ValueError if it has no
        handle."""
    def set(self, obj: Any, value: Any, /) -> None:
        """Set the field, frozen or not. TypeError for a value that does not match."""
    @property
    def _native(self) -> tuple[int, int, int] | None:
        """Pointers for calls from other code: the field, and the functions that copy and store its value; None unless
        Python code defined the field. Only in the C binding, like `_convert`."""
    def _convert(self, value: object, address: int, what: str | None, /) -> None:
        """Convert a value into the TVMFFIAny at a pointer, which then owns the result. `what` begins messages; None
        means that the value is assigned."""

@final
class Initializer:
    """Creates objects of a type from its current fields, with the error messages of the native constructor.

    Called with an instance without a handle, a tuple of arguments and a dict of keyword arguments, it creates the
    native object, sets each field to its argument, default or factory result, stores the object in the instance and
    returns True. A call does not change an instance that already has an object, and returns False. An argument that is
    `missing` counts as not given.
    """

    def __new__(cls, index: int, missing: Any, /) -> Self: ...
    def __call__(self, instance: CObject, args: tuple[Any, ...], kwargs: dict[str, Any] = ..., /) -> bool: ...

@final
class InitFunction:
    """The callable behind the methods of init_method(). The native function runs the most common calls itself and
    passes all other calls to the written function."""

    @property
    def __wrapped__(self) -> Callable[..., None]: ...
    @property
    def __nb_signature__(self) -> Any: ...
    def __call__(self, instance: CObject, *args: Any, **kwargs: Any) -> None: ...

def init_method(
    cls: type[CObject],
    written: Callable[..., None],
    maker: Initializer | Function,
    module: str,
    name: str,
    qualname: str,
    doc: str | None,
    /,
) -> Any:
    """Return `__init__` for `cls`: `written`, but without Python code for a new instance of exactly `cls`, for which
    `maker` must have the same effect. Missing without HAS_EXTENSION and on PyPy."""

def class_call(cls: type[CObject], maker: Function | Initializer | None, /) -> None:
    """Let a call of exactly `cls` make the object by `maker`, without `__new__` and `__init__`, which must have the
    same effect. None undoes that. Missing where the interpreter does not support this."""

def class_next(cls: type[CObject], function: Function, /) -> None:
    """Let the steps of an iteration over an instance of exactly `cls` call `function`, which the method `__next__` of
    `cls` calls. An assignment of `__next__` undoes that. Missing where the interpreter does not support this."""

# --- conversion -------------------------------------------------------------------------------------------------

def set_hooks(
    *,
    classify: Callable[[type], tuple[int, Callable[[Any], Any] | int | None, int]] = ...,
    class_for_type_index: Callable[[int], type] = ...,
    error_to_exception: Callable[[Any, int], BaseException] = ...,
    exception_to_error: Callable[[BaseException, int], CObject] = ...,
    exception_leaves: Callable[[BaseException, int], bool] = ...,
    exception_arrives: Callable[[BaseException, int], None] = ...,
    exception_asked_for: Callable[[BaseException, int], CObject] = ...,
    interrupts: Callable[[Any], bool] = ...,
    call_guarded: Callable[[Callable[..., Any], tuple[Any, ...], int], tuple[bool, Any]] = ...,
    check_signals: Callable[[], None] = ...,
    dlpack_capsule: Callable[[Any], Any] = ...,
    check_memory: Callable[[Any], None] = ...,
    array_to_tensor: Callable[[Any], Tensor] = ...,
    tensor_to_array: Callable[[Any], Any] = ...,
    array_stream: Callable[[int, int], int] = ...,
    string_class: Callable[[str], Any] = ...,
    bytes_class: Callable[[bytes], Any] = ...,
    wrap_dtype: Callable[[int], Any] = ...,
    wrap_opaque_ptr: Callable[[int], Any] = ...,
    device_class: type[PlainValue] = ...,
    shape_class: Callable[[tuple[int, ...], CObject], Any] = ...,
    convert: Callable[[Any], Any] = ...,
    did_you_mean: Callable[[str, Iterable[str]], str] = ...,
    opaque_value: Callable[[Any], Any] = ...,
    order_of_arguments: Callable[[Function, int, tuple[str, ...]], tuple[tuple[str, ...], tuple[Any, ...]] | str] = ...,
    replace_refused: Callable[[Function | str, int, Any], Any] = ...,
    check_annotated: Callable[[int, Any], Any] = ...,
    name_classes: Callable[[bytes, bytes, int, tuple[Any, ...]], str] = ...,
    object_lacking: Callable[[CObject], bool] = ...,
    object_made: Callable[[int], object] | None = ...,
    object_replaced: Callable[[CObject], None] = ...,
    subclass_made: Callable[[CObject], tuple[Any, Any] | bool | None] = ...,
) -> None:
    """Set the Python functions that the binding calls; the package calls this. Omitted hooks stay.

    - classify(cls): the tag of a Python type; for TAG_CONVERTER the converter, for TAG_EXCHANGE the pointer to the
      DLPack C exchange API; and the protocols of the type, bits of PROTOCOL_*.
    - class_for_type_index(index): the class for native objects of a type that has no registered class yet.
    - error_to_exception(error, moment): the exception to raise for a native error, at the moment of that number.
    - exception_to_error(exc, began): the native error for a Python exception that leaves a callback, which began at a
      moment.
    - exception_leaves(exc, began): whether an exception may leave a callback unchanged, without an error made from it.
    - exception_arrives(exc, moment): such an exception is raised out of native code now, at the moment of that number.
    - exception_asked_for(exc, 0): the native error for such an exception, because native code inspects it.
    - interrupts(error): whether a native error is unrelated to the value that is being converted: the class of its
      exception does not derive from Exception, or it reports that memory or stack is exhausted.
    - call_guarded(fn, args, began): (True, fn(*args)) or (False, exception_to_error(exc, began)); for contexts without
      the extension.
    - check_signals(): runs Python code, so that PyPy calls the handlers of pending signals.
    - array_to_tensor(x), tensor_to_array(tensor), array_stream(device type, device index): for exchange_from_python().
    - dlpack_capsule(x): capsule of x.__dlpack__(...), versioned if x supports that.
    - check_memory(x): BufferError if x, an instance of a class with PROTOCOL_LAZY_BITS, is a view whose values differ
      from its memory.
    - string_class/bytes_class: wrap strings and bytes of more than 7 bytes that come from native code.
    - shape_class(extents, obj): wrap shapes; obj is the native object.
    - convert: `convert` itself, for call_guarded.
    - did_you_mean(name, names): the end of a message about a name that is not in `names`.
    - opaque_value(value): for a schema, the content of an OpaquePyObject that the binding does not own, else the value
      itself.
      Set only where Python code owns such objects.
    - order_of_arguments(function, n, names): the order of the arguments of a call with n positional arguments, which
      those with the names follow: the names, interned; and for each argument of the native function its number in the
      call, or a tuple with a default. A str, for a TypeError, if they do not match the function's parameters.
    - check_annotated(number, value): the value to convert for a value of a schema with the check of that number; an
      exception if the value does not match.
    - name_classes(message, places, first, args): a message of native code with the names that the classes of the
      arguments have in Python, at the places of FFI_HPY_CLASS_PLACES (c_api.h). The address of the first is `first`.
    - replace_refused(callee, position, value): the value to pass to a function, or to a field given by its name, for
      one with an array that was refused as a tensor: True for the value itself, whose arrays are only read, another
      value, or None.
    - object_lacking(obj): native code is to get the object of a wrapper that has none. Whether the wrapper has got one.
      Called only if it is set.
    - object_replaced(obj): a constructor is to make another object for a wrapper that has one. An exception ends the
      attempt. Called only if it is set.
    - object_made(pointer): a new wrapper has got the object at the pointer. None, as at the beginning, if the package
      does not record objects.
    - subclass_made(obj): a wrapper has got its handle, and its class is not the class of the native type. Called only
      if it is set. A result other than None concerns all other wrappers of the class and the type: a function and its
      second argument, which may be called instead of the hook, or False, if nothing is to do.
    - wrap_dtype, wrap_opaque_ptr: wrap values that come from native code, given as numbers.
    - device_class: the class of devices that come from native code; called with a name, it makes a device of a value
      for a schema.
    """

def convert(value: Any, /) -> Any:
    """Return the value after a round trip through native code (list -> ffi.Array, callable -> Function, ...)."""

def cany_value(value: CAny, /) -> Any:
    """Return the Python value of a CAny; strings and bytes of any length are String and Bytes. TypeError for any other
    value."""

def schema_setter(schema: Schema, type_index: int, /) -> Function:
    """Return a native Function(field pointer, value) that converts the value by the schema and writes it into a field
    of that static type (-1 for an Any). The conversion runs without Python unless the value requires Python. ValueError
    for a type index that fields cannot have."""

def function_from_callable(fn: Callable[..., Any], exchange_api: Any = ..., /) -> Function:
    """Return a native function that calls `fn`. Native code may call and release it on any thread. With the capsule of
    a DLPack C exchange API, tensor arguments arrive as arrays of that API's library. TypeError for a capsule without
    one."""

def function_from_method_name(name: str, /) -> Function:
    """Return a native function that calls the method of that name of its first argument with the other arguments.
    Missing in debug modes and in the cffi backend, where a Python function does the work."""

def function_that_keeps(callable: Callable[..., Any], pointer_class: type, /) -> Function:
    """Return a native function that calls a callable, and returns a result that is not a native value as the Python
    object itself, except an instance of `pointer_class`, ctypes.c_void_p. Missing in the cffi backend."""

def function_from_address(address: int, keep_alive: Any = None, context: int = 0, /) -> Function:
    """Return a Function for a C function of type TVMFFISafeCallType, called with `context` as its handle."""

def method_descriptor(
    fn: Function, module: str = ..., name: str = ..., qualname: str = ..., doc: str | None = None, /
) -> Any:
    """Return the function as a class attribute: called on an instance, it gets the instance as the first argument. Give
    all of module, name, qualname and doc, or none. Missing where a Python method is as fast (PyPy, debug modes)."""

def function_from_mlir(address: int, keep_alive: Any = None, /) -> Function:
    """Return a Function for code that MLIR's execution engine compiled from a C function of type TVMFFISafeCallType.
    The code takes one array of pointers: to its handle (NULL), arguments, number of arguments, result and return
    code."""

def native_functions() -> dict[str, int]:
    """Return the pointers to the binding's C functions of type TVMFFISafeCallType, by name: see
    src/hpy_module/value/native.c."""

def wrappers() -> list[CObject]:
    """Return the registered wrappers: the wrappers of objects to which native code may have a reference."""

def opaque_new(value: object, /) -> int:
    """Return the pointer to a new native object that owns a Python object. The caller owns the reference."""

def data_type_parse(name: str, /) -> int:
    """Return the word of a data type by its name. ValueError if the str does not name one."""

def data_type_name(word: int, /) -> str:
    """Return the name of a data type by its word."""

def exchange_table() -> Any:
    """Return a capsule with the DLPack C exchange API of Tensor."""

def capsule_new(address: int, name: str | None, cleanup: int, /) -> Any:
    """Return a capsule with a copy of the name. When the capsule is freed, it calls the C function at `cleanup` with
    the address; 0: none."""

def capsule_read(capsule: Any, /) -> tuple[int, str | None]:
    """Return the address in a capsule, and its name. ValueError for another object."""

def memory_capsule(
    owner: object,
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: tuple[int, int, int],
    device: tuple[int, int],
    is_read_only: bool,
    /,
) -> Any:
    """Return a DLPack capsule "dltensor_versioned" over memory that `owner` keeps alive. Strides count elements; a type
    is code, bits and lanes."""

def array_reader() -> int:
    """Return the pointer to the C function, of type TVMFFISafeCallType, that returns the Tensor of a NumPy array inside
    an OpaquePyObject, or None. Missing in the cffi backend."""

def ndarray_reads(
    array: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...], code: int, bits: int, /
) -> bool:
    """Whether the struct of a NumPy array has these values; strides count items."""

def ndarray_use(cls: type, as_array: Callable[[Any], Any], /) -> None:
    """Read arrays of that class, numpy.ndarray, from their struct from now on, and make them of tensors by the function
    numpy.asarray."""

def exchange_address(capsule: Any, /) -> int:
    """Return the pointer to the DLPack C exchange API in a capsule "dlpack_exchange_api", or at a pointer; 0 if its
    version is not supported. TypeError for another value, ValueError for the pointer 0."""

def exchange_writable(address: int, /) -> None:
    """Treat all arrays of the library with the DLPack C exchange API at this pointer as writable from now on."""

def lazy_bits_learn(samples: list[tuple[Any, int, int]], object_bytes: int, mask: int, /) -> bool:
    """Find the place of the bits of `mask` in torch's tensors by samples: a tensor, the pointer to its native part, and
    the word with the bits in that part. Each object has `object_bytes` bytes. Returns whether the places were found."""

def exchange_from_python() -> int:
    """Return the pointer to a DLPack C exchange API that calls the hooks array_to_tensor, tensor_to_array and
    array_stream."""

def from_dlpack(ext_tensor: Any, *, require_alignment: int = 0, require_contiguous: bool = False) -> Any: ...

# --- registry ---------------------------------------------------------------------------------------------------

def type_key_to_index(key: str, /) -> int:
    """Return the index of a type key, -1 if the key is unknown."""

def type_info(index: int, /) -> tuple[str, int, str, int, list[Any], list[Any], tuple[int, ...]]:
    """Return (key, parent type index or -1, doc, total size in bytes or 0, fields, methods, ancestor indices from the
    root). Inherited fields and methods are left out; each is a FieldInfo. ValueError for an index that is not
    registered."""

def type_attr(index: int, name: str, /) -> Any:
    """Return the value in the attribute column `name` for the type itself (no inheritance), None if there is none."""

def type_define(key: str, parent: int, /) -> int:
    """Return the index of a key below a parent type, and register it if it is new. ValueError if it has another
    parent."""

def fields_define(index: int, fields: list[tuple[Any, ...]], total_size: int, kind: int, /) -> None:
    """Register the fields of a type, which must have none (RuntimeError), with its size in bytes and its
    TVMFFISEqHashKind, and add `__ffi_init__`, `__ffi_new__` and `__ffi_shallow_copy__`.

    A field is (name, doc or None, metadata, flags, size, alignment, offset, static type index, Schema, default or
    factory). All fields are checked before any is registered."""

def method_define(index: int, name: str, fn: Any, metadata: str, flags: int, /) -> None: ...
def type_attr_define(index: int, name: str, value: Any, /) -> None:
    """Set a type's value in an attribute column. RuntimeError if it has one."""

@overload
def class_offer(index: int, cls: None, /) -> type | None:
    """Return the class of a type, None if it has none."""

@overload
def class_offer(index: int, cls: type[CObject], /) -> type[CObject]:
    """Register a class for a type that has none. Returns the type's class, which may come from another thread that was
    first."""

def class_register(index: int, cls: type, /) -> None:
    """Make native objects of that type instances of cls from now on. cls must derive from CObject."""

class_guard: Callable[[type], None]
"""Keeps attributes of wrappers from methods for attributes that a class defines. Only in the cffi backend."""

def class_made(cls: type[CObject], /) -> None:
    """Watch the end of instances of a class that was made, or has got `__del__`: a wrapper with state lives as long as
    native code holds its object. Missing in the cffi backend, which needs no notice."""

def global_get(name: str, /) -> Function | None: ...
def global_metadata(name: str, word: str, /) -> str | None:
    """Return the metadata of a global function, None if they do not contain a word. Missing with cffi."""

def global_set(name: str, fn: Function, override: bool, /) -> None: ...
def stream_get(device_type: int, device_id: int, /) -> int:
    """Return the pointer to this thread's stream of a device, 0 if none was set."""

def stream_set(device_type: int, device_id: int, stream: int, /) -> int:
    """Set this thread's stream of a device and return the previous one. OverflowError if it is not a pointer."""

def enable_builtins(set_class: type, api: int, /) -> None:
    """Let containers of libraries that are bound with ffi_hpy/bind.h arrive as lists, tuples, instances of a class
    (set) and dicts, and strings as str. `api` is the pointer to the core's ffi_hpy_bind_api."""

def items_of(value: Any, /) -> list[Any] | None:
    """Return the items of an iterable; None for strings, mappings, and values that are not iterable."""

def member_register(member: Any, /) -> None:
    """Pass a member of a bound enum, whose class has TAG_MEMBER, as the same native object each time."""

def mark_finalizing() -> None:
    """Leak Python objects owned by native code from now on, instead of releasing them. Called at exit."""

# --- for the cffi backend (ffi_hpy/_pypy); only in the C binding --------------------------------------------------

def messages() -> dict[str, str]:
    """Return the formats of the error messages that both backends raise, by name
    (src/hpy_module/context/messages.h)."""

def start_cffi_backend(call: int, make_error: int, ask: int, never_ends: bool, /) -> tuple[int, ...]:
    """Take pointers to the C functions that run callbacks, make errors from exceptions and check signals, and whether
    Python code runs until the process ends; return the pointers to the counterparts in C
    (src/hpy_module/function/cffi_backend.c)."""

def closed_groups(objects: int, n_first: int, n: int, is_busy: bool, /) -> int:
    """Given a pointer to the pointers of the objects of wrappers, one for each wrapper, return a pointer to the graph
    of the objects to which only these wrappers and the graph refer: words, which the caller frees
    (src/hpy_module/collect/closed.c). The graph has only groups with a function or with one of the first objects. 0 if
    memory is exhausted. `is_busy`: a call uses a wrapper."""

def closed_break(objects: int, n: int, /) -> None:
    """Break the cycles of native objects that only wrappers keep alive: garbage, whose objects are given as above."""

def tensor_from_dlpack(ext_tensor: Any, *, require_alignment: int = 0, require_contiguous: bool = False) -> int:
    """Like from_dlpack(), but return the pointer to the native tensor. The caller owns the reference."""

def tensor_to_read(array: Any, /) -> int:
    """As tensor_from_dlpack(array), for native code that only reads: the array may be read-only."""

def tensor_capsule(address: int, is_versioned: bool, /) -> Any:
    """Return the DLPack capsule of a native tensor. The caller keeps its reference to the tensor."""
