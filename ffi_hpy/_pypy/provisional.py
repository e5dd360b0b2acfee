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


class Schema(binding.Schema):
    def convert(self, value):
        from . import natives
        from .backend import new_words, core
        from .bridge import _from_binding
        words = new_words(2)
        c = super().convert(value)
        _from_binding_cany(c, words)
        return CAny._of(words)


def _from_binding_cany(c, words):
    v = binding.cany_value(c)
    from .bridge import convert
    convert(v, words)


class FieldSlot:
    def __new__(cls, index, field, frozen, schema=None, *args):
        self = object.__new__(cls)
        self._slot = binding.FieldSlot(index, field, frozen, schema)
        self._frozen = bool(frozen)
        return self

    @property
    def frozen(self):
        return self._frozen

    def get(self, obj):
        if isinstance(obj, CObject):
            expect(obj, 64, 0)
            obj = lift(obj)
        return lower(self._slot.get(obj))

    def set(self, obj, value):
        if isinstance(obj, CObject):
            expect(obj, 64, 0)
            obj = lift(obj)
        self._slot.set(obj, value)

    def __get__(self, obj, cls=None):
        return self if obj is None else self.get(obj)

    def __set__(self, obj, value):
        if self._frozen:
            raise AttributeError("frozen")
        self.set(obj, value)

    def __delete__(self, obj):
        raise AttributeError("cannot be deleted")


class Initializer:
    def __new__(cls, index, missing):
        self = object.__new__(cls)
        self._init = binding.Initializer(index, lift(missing))
        return self

    def __call__(self, instance, args, kwargs={}):
        if instance._address:
            return False
        h = binding.CObject.__new__(binding.CObject)
        self._init(h, args, kwargs)
        from .cobject import put_handle
        from .backend import core
        a = h.__chandle__()
        core.incref(a)
        put_handle(instance, a)
        return True


def fields_define(index, fields, total_size, kind):
    binding.fields_define(index, fields, total_size, kind)


def schema_setter(schema, type_index):
    return lower(binding.schema_setter(schema, type_index))


def from_dlpack(ext_tensor, **kwargs):
    return lower(binding.from_dlpack(ext_tensor, **kwargs))
