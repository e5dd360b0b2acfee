"""Values of the ABI as text, from the memory of a debugged process: the shared part of the printers for gdb and lldb.

A debugger loads this file with its own Python, without the package.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["ANY", "OBJECT", "REFERENCE", "Values", "kind_of"]

ANY, REFERENCE, OBJECT = "any", "reference", "object"
"""The kinds of C++ values: a TVMFFIAny, a pointer to an object, or an object itself."""

_KINDS = {
    "TVMFFIAny": ANY,
    "tvm::ffi::Any": ANY,
    "tvm::ffi::AnyView": ANY,
    "tvm::ffi::String": ANY,
    "tvm::ffi::Bytes": ANY,
    "tvm::ffi::Variant": ANY,
    "ffi_hpy::handle": ANY,
    "tvm::ffi::ObjectRef": REFERENCE,
    "tvm::ffi::ObjectPtr": REFERENCE,
    "TVMFFIObject": OBJECT,
    "ffi_hpy_instance": OBJECT,
    "tvm::ffi::Object": OBJECT,
}

_MOST_ITEMS, _DEEPEST, _MOST_BYTES = 100, 4, 4096
_WORD = 8
_HEADER, _ANY_SIZE, _PAIR_SIZE, _SLOT_SIZE, _BLOCK_SLOTS = 24, 16, 32, 48, 16
_SMALL_TAG = 1 << 63
_STR, _BYTES, _ERROR, _SHAPE, _TENSOR, _ARRAY, _MAP, _LIST, _DICT = 65, 66, 67, 69, 70, 71, 72, 75, 76
_SMALL_STR, _SMALL_BYTES, _FIRST_OBJECT = 11, 12, 64
_EMPTY = -(1 << 31)  # the type index of a handle of bind.h that refers to nothing
_BOUND = {"ffi_hpy.List": "[]", "ffi_hpy.Tuple": "()", "ffi_hpy.Set": "{}", "ffi_hpy.Dict": "{}"}
"""Containers that a bound library makes for Python, with their brackets. A dict has keys and values in turn."""
_DEVICES = {1: "cpu", 2: "cuda", 7: "vulkan", 8: "metal", 10: "rocm"}
_TYPE_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}


def kind_of(name: str, bases: Iterable[tuple[str, int]]) -> tuple[str | None, int]:
    """Return the kind of a C++ type, by its name and the names of its bases, each with its offset; and the offset of
    the part that has this kind. (None, 0) for a type of others."""
    for each, offset in ((name, 0), *bases):
        kind = _KINDS.get(each.partition("<")[0])
        if kind is not None:
            return kind, offset
    return None, 0


class Values:
    """The values of a process. `read(address, n)` returns bytes; `type_info(index)` the address of a TVMFFITypeInfo, or
    0 where the process cannot be asked, such as in a core file. Both may raise any exception."""

    def __init__(self, read: Callable[[int, int], bytes], type_info: Callable[[int], int]) -> None:
        self._read = read
        self._type_info = type_info

    def text(self, kind: str, address: int) -> str:
        """Return the text for the C++ value at an address."""
        try:
            if kind == ANY:
                return self._any(address, 0)
            return self._object(self._word(address) if kind == REFERENCE else address, 0)
        except Exception as error:  # a value that is not initialised has any address
            return f"<unreadable: {error}>"

    def _word(self, address: int) -> int:
        return int.from_bytes(self._read(address, _WORD), "little")

    def _content(self, address: int) -> bytes:
        """Return the bytes of a TVMFFIByteArray, cut if there are many."""
        data, size = struct.unpack("<QQ", self._read(address, 2 * _WORD))
        return self._read(data, min(size, _MOST_BYTES)) if size else b""

    def _any(self, address: int, depth: int) -> str:
        index, small, payload = struct.unpack("<iI8s", self._read(address, _ANY_SIZE))
        number = struct.unpack("<q", payload)[0]
        if index >= _FIRST_OBJECT:
            return self._object(number, depth)
        if index in (_SMALL_STR, _SMALL_BYTES):
            return _quoted(payload[: min(small, 7)], index == _SMALL_STR)
        if index == 3:
            return repr(struct.unpack("<d", payload)[0])
        if index == 5:
            return _dtype(payload)
        if index == 6:
            return _device(payload)
        plain = {0: "None", 1: str(number), 2: str(bool(number)), _EMPTY: "<empty>"}
        return plain.get(index, f"<value of type {index}: {number:#x}>")

    def _object(self, address: int, depth: int) -> str:
        if address == 0:
            return "None"
        index = struct.unpack("<i", self._read(address + _WORD, 4))[0]
        body = address + _HEADER
        if index in (_STR, _BYTES):
            return _quoted(self._content(body), index == _STR)
        if index in (_ARRAY, _LIST):
            return f"[{self._items(body, depth)}]"
        if index in (_MAP, _DICT):
            size = self._word(body + _WORD)
            return f"{{{self._several(size, depth, self._pairs(body), self._pair)}}}"
        if index == _SHAPE:
            return self._numbers(body)
        if index == _ERROR:
            kind, message = (self._content(body + offset).decode(errors="replace") for offset in (0, 2 * _WORD))
            return f"<{kind}: {message}>"
        key = self._key(index)
        brackets = _BOUND.get(key)
        if brackets is not None:
            return brackets[0] + self._items(body, depth, key == "ffi_hpy.Dict") + brackets[1]
        return f"<{key}{self._array(body) if index == _TENSOR else ''} at {address:#x}>"

    def _items(self, body: int, depth: int, has_pairs: bool = False) -> str:
        data, size = struct.unpack("<Qq", self._read(body, 2 * _WORD))
        if not has_pairs:
            return self._several(size, depth, (data + i * _ANY_SIZE for i in range(size)), self._any)
        return self._several(size // 2, depth, (data + i * _PAIR_SIZE for i in range(size // 2)), self._pair)

    def _several(self, size: int, depth: int, addresses: Iterable[int], text_of: Callable[[int, int], str]) -> str:
        """Return the texts of the items of a container, of which only the first are shown."""
        if depth == _DEEPEST and size:
            return "..."
        shown = [text_of(address, depth + 1) for address, _ in zip(addresses, range(_MOST_ITEMS))]
        return ", ".join([*shown, "..."] if size > _MOST_ITEMS else shown)

    def _pair(self, address: int, depth: int) -> str:
        return f"{self._any(address, depth)}: {self._any(address + _ANY_SIZE, depth)}"

    def _pairs(self, body: int) -> Iterator[int]:
        """Yield the addresses of the pairs of a map, in order of insertion."""
        data, size, slots = struct.unpack("<QQQ", self._read(body, 3 * _WORD))
        if slots & _SMALL_TAG:
            yield from (data + i * _PAIR_SIZE for i in range(size))
            return
        slot = self._word(body + 5 * _WORD)
        for _ in range(size):
            block, place = divmod(slot, _BLOCK_SLOTS)
            item = data + block * (_BLOCK_SLOTS + _BLOCK_SLOTS * _SLOT_SIZE) + _BLOCK_SLOTS + place * _SLOT_SIZE
            yield item
            slot = self._word(item + _PAIR_SIZE + _WORD)

    def _numbers(self, body: int) -> str:
        data, size = struct.unpack("<QQ", self._read(body, 2 * _WORD))
        size = min(size, _MOST_ITEMS)
        numbers = struct.unpack(f"<{size}q", self._read(data, size * _WORD)) if size else ()
        return f"Shape{numbers}"

    def _array(self, body: int) -> str:
        """Return the form of a DLTensor."""
        device, n, dtype, shape = struct.unpack("<8si4sQ", self._read(body + _WORD, 24))
        sizes = struct.unpack(f"<{n}q", self._read(shape, n * _WORD)) if n else ()
        return f" {_dtype(dtype)}[{', '.join(map(str, sizes))}] on {_device(device)}"

    def _key(self, index: int) -> str:
        info = self._type_info(index)
        return self._content(info + _WORD).decode(errors="replace") if info else f"object of type {index}"


def _quoted(content: bytes, is_text: bool) -> str:
    return repr(content.decode(errors="replace")) if is_text else repr(content)


def _dtype(payload: bytes) -> str:
    code, bits, lanes = struct.unpack("<BBH", payload[:4])
    name = _TYPE_CODES.get(code, f"dtype{code}.")
    return f"{name}{'' if code == 6 else bits}{f'x{lanes}' if lanes != 1 else ''}"


def _device(payload: bytes) -> str:
    kind, number = struct.unpack("<ii", payload)
    return f"{_DEVICES.get(kind, f'device{kind}')}:{number}"
