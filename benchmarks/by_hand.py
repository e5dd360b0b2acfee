"""The rows of pypy_side.py in cffi written by hand: direct calls of the same C functions.

This code is specific to one program: each function knows its types, reuses the memory of its arguments, and supports
neither threads nor nested calls. The code shows the minimal cost of a call and is not a binding. The second argument of
the importing program is the path of the testing library.
"""

from __future__ import annotations

import sys
from typing import Any

from _cffi_backend import cast  # FFI.cast would look it up at each use
from cffi import FFI

# Type indices.
INT, FLOAT, DATA_TYPE, DEVICE, RAW_STR, SMALL_STR = 1, 3, 5, 6, 8, 11
FUNCTION, ARRAY, MAP, LIST, DICT = 68, 71, 72, 75, 76

ffi = FFI()
ffi.cdef("""
typedef struct { const char *data; size_t size; } Text;
typedef struct { const int64_t *data; int32_t size, begin; } Column;
int TVMFFIFunctionGetGlobal(const Text *name, int64_t *function);
int TVMFFIFunctionCreate(int64_t self, void *call, void *deleter, int64_t *function);
int TVMFFITypeKeyToIndex(const Text *key, int32_t *index);
const Column *TVMFFIGetTypeAttrColumn(const Text *name);
int TVMFFIObjectIncRef(int64_t object);
int TVMFFIObjectDecRef(int64_t object);
""")

# Offsets of the fields of the testing types: an int, a float, an object.
INT_FIELD, FLOAT_FIELD, OBJECT_FIELD = 24, 32, 64

# Types are parsed once: a type given as str would be looked up at each use.
WORDS, DOUBLES = ffi.typeof("int64_t *"), ffi.typeof("double *")
SAFE_CALL = ffi.typeof("int (*)(int64_t, const int64_t *, int, int64_t *)")

args = ffi.new("int64_t[32]")
"""Arguments: the type and the payload of each, 16 bytes per argument."""
doubles = cast(DOUBLES, args)
result = ffi.new("int64_t[2]")
result_double = cast(DOUBLES, result)
chars = ffi.new("char[128]")
chars_buffer = ffi.buffer(chars)
chars_address = int(ffi.cast("int64_t", chars))
many = ffi.new("int64_t[2000]")

library = sys.argv[2]
core = ffi.dlopen(library.replace("_testing", ""), ffi.RTLD_NOW | ffi.RTLD_GLOBAL)
testing = ffi.dlopen(library)  # registers the testing.* functions and types
incref, decref = core.TVMFFIObjectIncRef, core.TVMFFIObjectDecRef


def view(text: str) -> tuple[Any, Any]:
    """Return a Text, and the memory that it points to."""
    data = ffi.new("char[]", text.encode())
    return ffi.new("Text *", (data, len(data) - 1)), data


def words_at(address: int) -> Any:
    return cast(WORDS, address)


def doubles_at(address: int) -> Any:
    return cast(DOUBLES, address)


def ready(function: int) -> tuple[int, Any]:
    """Return the handle of a function and its C code."""
    return function, cast(SAFE_CALL, words_at(function)[3])


def find(name: str) -> tuple[int, Any]:
    found = ffi.new("int64_t *")
    name_view, _name = view(name)
    if core.TVMFFIFunctionGetGlobal(name_view, found) != 0 or not found[0]:
        raise ValueError(f"no function {name}")
    return ready(found[0])


def type_of(key: str) -> int:
    index = ffi.new("int32_t *")
    key_view, _key = view(key)
    if core.TVMFFITypeKeyToIndex(key_view, index) != 0:
        raise ValueError(f"no type {key}")
    found: int = index[0]
    return found


def init_of(key: str) -> tuple[int, Any]:
    attribute, _attribute = view("__ffi_init__")
    column = core.TVMFFIGetTypeAttrColumn(attribute)
    return ready(column.data[2 * (type_of(key) - column.begin) + 1])


def short_text(text: str) -> tuple[int, int]:
    """Return the words of a str of at most 7 bytes."""
    data = text.encode()
    return SMALL_STR | len(data) << 32, int.from_bytes(data, "little")


def fail() -> None:
    raise RuntimeError("native code raised an error")


PAIR = type_of("testing.TestIntPair")
nop, call_nop = find("testing.nop")
echo, call_echo = find("testing.echo")
apply, call_apply = find("testing.apply")
init_pair, call_init_pair = init_of("testing.TestIntPair")
make, call_make = find("ffi.MakeObjectFromPackedArgs")
array, call_array = find("ffi.Array")
array_item, call_array_item = find("ffi.ArrayGetItem")
list_new, call_list_new = find("ffi.List")
list_item, call_list_item = find("ffi.ListGetItem")
map_new, call_map_new = find("ffi.Map")
map_item, call_map_item = find("ffi.MapGetItem")
dict_new, call_dict_new = find("ffi.Dict")
dict_set, call_dict_set = find("ffi.DictSetItem")


def nop_none() -> None:
    if call_nop(nop, args, 0, result) != 0:
        fail()


def nop_ints(a: int, b: int, c: int) -> None:
    args[0] = args[2] = args[4] = INT
    args[1] = a
    args[3] = b
    args[5] = c
    if call_nop(nop, args, 3, result) != 0:
        fail()


def nop_text(text: str) -> None:
    data = text.encode()
    n = len(data)
    chars_buffer[0:n] = data
    chars[n] = b"\0"
    args[0] = RAW_STR
    args[1] = chars_address
    if call_nop(nop, args, 1, result) != 0:
        fail()


def nop_object(address: int) -> None:
    args[0] = PAIR
    args[1] = address
    if call_nop(nop, args, 1, result) != 0:
        fail()


def nop_value(kind: int, word: int) -> None:
    args[0] = kind
    args[1] = word
    if call_nop(nop, args, 1, result) != 0:
        fail()


def nop_list(items: list[int]) -> None:
    i = 0
    for item in items:
        args[i] = INT
        args[i + 1] = item
        i += 2
    if call_array(array, args, len(items), result) != 0:
        fail()
    made = result[1]
    args[0] = ARRAY
    args[1] = made
    if call_nop(nop, args, 1, result) != 0:
        fail()
    decref(made)


def echo_int(value: int) -> int:
    args[0] = INT
    args[1] = value
    if call_echo(echo, args, 1, result) != 0:
        fail()
    echoed: int = result[1]
    return echoed


def echo_float(value: float) -> float:
    args[0] = FLOAT
    doubles[1] = value
    if call_echo(echo, args, 1, result) != 0:
        fail()
    echoed: float = result_double[1]
    return echoed


def echo_object(address: int) -> int:
    args[0] = PAIR
    args[1] = address
    if call_echo(echo, args, 1, result) != 0:
        fail()
    echoed: int = result[1]
    decref(echoed)
    return echoed


def echo_value(kind: int, word: int) -> int:
    args[0] = kind
    args[1] = word
    if call_echo(echo, args, 1, result) != 0:
        fail()
    echoed: int = result[1]
    return echoed


def take(address: int, a: int, b: int) -> None:
    args[0] = PAIR
    args[1] = address
    args[2] = args[4] = INT
    args[3] = a
    args[5] = b
    if call_nop(nop, args, 3, result) != 0:
        fail()


def new_pair(a: int, b: int) -> int:
    args[0] = args[2] = INT
    args[1] = a
    args[3] = b
    if call_init_pair(init_pair, args, 2, result) != 0:
        fail()
    made: int = result[1]
    return made


def make_pair(a: int, b: int) -> None:
    decref(new_pair(a, b))


def new_sequence(function: int, call: Any, items: list[int]) -> int:
    for i, item in enumerate(items):
        many[2 * i] = INT
        many[2 * i + 1] = item
    if call(function, many, len(items), result) != 0:
        fail()
    made: int = result[1]
    return made


def new_object(key: str, **fields: int) -> int:
    args[0] = INT
    args[1] = type_of(key)
    for i, (name, address) in enumerate(fields.items()):
        args[4 * i + 2], args[4 * i + 3] = short_text(name)
        args[4 * i + 4] = words_at(address)[1] & 0xFFFFFFFF
        args[4 * i + 5] = address
    if call_make(make, args, 1 + 2 * len(fields), result) != 0:
        fail()
    made: int = result[1]
    return made


def item_of_array(address: int, i: int) -> int:
    args[0] = ARRAY
    args[1] = address
    args[2] = INT
    args[3] = i
    if call_array_item(array_item, args, 2, result) != 0:
        fail()
    item: int = result[1]
    return item


def item_of_list(address: int, i: int) -> int:
    args[0] = LIST
    args[1] = address
    args[2] = INT
    args[3] = i
    if call_list_item(list_item, args, 2, result) != 0:
        fail()
    item: int = result[1]
    return item


def total_of(address: int) -> int:
    total = 0
    for i in range(1000):
        total += item_of_array(address, i)
    return total


def item_of_map(address: int, key: str) -> int:
    data = key.encode()
    n = len(data)
    chars_buffer[0:n] = data
    chars[n] = b"\0"
    args[0] = MAP
    args[1] = address
    args[2] = RAW_STR
    args[3] = chars_address
    if call_map_item(map_item, args, 2, result) != 0:
        fail()
    item: int = result[1]
    return item


def set_item(address: int, key: int, value: int) -> None:
    args[0] = DICT
    args[1] = address
    args[2] = args[4] = INT
    args[3] = key
    args[5] = value
    if call_dict_set(dict_set, args, 3, result) != 0:
        fail()


def return_argument(_self: int, given: Any, _n: int, returned: Any) -> int:
    returned[0] = INT
    returned[1] = given[1]
    return 0


code = ffi.callback(SAFE_CALL, return_argument)
created = ffi.new("int64_t *")
if core.TVMFFIFunctionCreate(0, code, ffi.NULL, created) != 0:
    fail()
callback, call_callback = ready(created[0])


def round_trip(value: int) -> int:
    args[0] = INT
    args[1] = value
    if call_callback(callback, args, 1, result) != 0:
        fail()
    returned: int = result[1]
    return returned


def round_trip_within(value: int) -> int:
    args[0] = FUNCTION
    args[1] = callback
    args[2] = INT
    args[3] = value
    if call_apply(apply, args, 2, result) != 0:
        fail()
    returned: int = result[1]
    return returned


def new_map() -> int:
    for i in range(100):
        many[4 * i], many[4 * i + 1] = short_text(f"k{i}")
        many[4 * i + 2] = INT
        many[4 * i + 3] = i
    if call_map_new(map_new, many, 200, result) != 0:
        fail()
    made: int = result[1]
    return made


def new_dict() -> int:
    for i in range(200):
        many[2 * i] = INT
        many[2 * i + 1] = i // 2
    if call_dict_new(dict_new, many, 200, result) != 0:
        fail()
    made: int = result[1]
    return made


def field_of_object(address: int) -> int:
    field: int = words_at(address + OBJECT_FIELD)[0]
    incref(field)
    decref(field)
    return field


_numbers = list(range(1000))
text_map = new_map()
_fields = {"v_map": text_map, "v_array": new_sequence(array, call_array, [1, 2])}
pairs = [new_pair(i, i) for i in range(8)]
bases = [new_object("testing.TestObjectBase") for _ in range(8)]
points = [new_pair(i, i) for i in range(8)]
ints = new_sequence(array, call_array, _numbers)
items = new_sequence(list_new, call_list_new, _numbers)
derived = [new_object("testing.TestObjectDerived", **_fields) for _ in range(8)]
int_dict = new_dict()
data_types = [kind | 32 << 8 | 1 << 16 for kind in (0, 1, 2, 0, 1, 2, 0, 1)]
devices = [1 | i << 32 for i in range(8)]
