"""The stream that native code uses on a device."""

import ctypes
import sys
import threading

import pytest
from support import needs_threads

import ffi_hpy

CUDA = ffi_hpy.device("cuda:1")


def native_stream(device=CUDA):
    """Return the stream of native code."""
    get = ffi_hpy.LIB.TVMFFIEnvGetStream
    get.restype, get.argtypes = ctypes.c_size_t, (ctypes.c_int32, ctypes.c_int32)
    return get(device.dlpack_device_type(), device.index)


def test_native_code_sees_the_stream_of_the_innermost_context():
    assert ffi_hpy.get_raw_stream(CUDA) == native_stream() == 0
    with ffi_hpy.use_raw_stream(CUDA, 2**40) as outer:
        assert ffi_hpy.get_raw_stream(CUDA) == native_stream() == 2**40
        with ffi_hpy.use_raw_stream(CUDA, ctypes.c_void_p(5)), outer:
            assert native_stream() == 2**40
        assert native_stream(ffi_hpy.device("cuda:0")) == 0
        assert native_stream() == 2**40
    assert native_stream() == 0


def test_an_exception_closes_the_context():
    with pytest.raises(KeyError), ffi_hpy.use_raw_stream(CUDA, 7):
        raise KeyError
    assert native_stream() == 0


@needs_threads
def test_each_thread_has_its_own_stream():
    seen = []
    with ffi_hpy.use_raw_stream(CUDA, 7):
        thread = threading.Thread(target=lambda: seen.append(ffi_hpy.get_raw_stream(CUDA)))
        thread.start()
        thread.join()
    assert seen == [0]


@pytest.mark.parametrize(
    ("stream", "error", "says"),
    [("5", ValueError, "got str"), (None, ValueError, "got NoneType"), (2**70, OverflowError, None)],
    ids=repr,
)
def test_a_value_that_is_not_an_address_is_refused(stream, error, says):
    with pytest.raises(error, match=says), ffi_hpy.use_raw_stream(CUDA, stream):
        pass
    assert native_stream() == 0


def test_torchs_streams_need_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError):
        ffi_hpy.use_torch_stream()
