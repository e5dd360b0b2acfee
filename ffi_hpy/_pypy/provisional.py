from .binding import binding
from .bridge import lift, lower
from .cobject import CObject
from .objects import expect
from .natives import CAny


def delegate(cls, names):
    def make(name):
        def method(self, *args, **kwargs):
            expect(self, 64, 0)
            return lower(getattr(lift(self), name)(*args, **kwargs))
        method.__name__ = name
        return method
    for name in names:
        setattr(cls, name, make(name))


class CSequence(CObject):
    __slots__ = ()

    def __init__(self, input_list=()):
        from .cobject import put_handle
        from .arguments import make_sequence
        put_handle(self, make_sequence("ffi.Array", list(input_list), "Array() argument 1", 0))

    def __iter__(self):
        for x in lift(self):
            yield lower(x)


class CList(CSequence):
    __slots__ = ()

    def __init__(self, input_list=()):
        from .cobject import put_handle
        from .arguments import make_sequence
        put_handle(self, make_sequence("ffi.List", list(input_list), "List() argument 1", 0))


class CMapping(CObject):
    __slots__ = ()

    def __init__(self, input_dict=None):
        from .cobject import put_handle
        from .arguments import make_mapping
        put_handle(self, make_mapping("ffi.Map", input_dict or {}, "Map() argument 1", 0))

    def __iter__(self):
        for x in lift(self):
            yield lower(x)

    def _iter_values(self):
        for x in lift(self)._iter_values():
            yield lower(x)

    def _iter_items(self):
        for x, y in lift(self)._iter_items():
            yield lower(x), lower(y)


class CDict(CMapping):
    __slots__ = ()

    def __init__(self, input_dict=None):
        from .cobject import put_handle
        from .arguments import make_mapping
        put_handle(self, make_mapping("ffi.Dict", input_dict or {}, "Dict() argument 1", 0))


class Tensor(CObject):
    __slots__ = ()


delegate(CSequence, ["__len__", "__getitem__", "__contains__"])
delegate(CList, ["__setitem__", "__delitem__", "append", "insert", "pop"])
delegate(CMapping, ["__len__", "__getitem__", "__contains__", "get"])
delegate(CDict, ["__setitem__", "__delitem__", "pop"])
delegate(Tensor, ["data_ptr", "numel", "size", "is_contiguous", "_to_dlpack", "_to_dlpack_versioned", "__dlpack__", "__dlpack_device__"])
for _name in ("shape", "strides", "dtype", "device", "ndim", "byte_offset"):
    setattr(Tensor, _name, property(lambda self, _name=_name: lower(getattr(lift(self), _name))))


def from_dlpack(ext_tensor, **kwargs):
    return lower(binding.from_dlpack(ext_tensor, **kwargs))
