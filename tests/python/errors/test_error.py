"""Errors: from native code to Python, from callbacks to native code, and back."""

import subprocess
import sys

import pytest
from support import FREES_AT_ONCE, IS_PYPY, PROGRAM_SECONDS, parallelize, run_python, unique_name

import ffi_hpy
from ffi_hpy.error import ERROR_NAME_TO_TYPE, ERROR_TYPE_TO_NAME

KINDS = {
    "RuntimeError": RuntimeError, "ValueError": ValueError, "TypeError": TypeError, "AttributeError": AttributeError,
    "KeyError": KeyError, "IndexError": IndexError, "AssertionError": AssertionError, "MemoryError": MemoryError,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_native_error_of_a_registered_kind_raises_its_class(testing, kind):
    with pytest.raises(KINDS[kind]) as caught:
        testing.test_raise_error(kind, "the message")
    assert type(caught.value) is KINDS[kind]
    assert caught.value.args == ("the message",)


def test_a_native_error_of_an_unknown_kind_is_a_runtime_error_that_names_it(testing):
    with pytest.raises(RuntimeError, match=r"^NoSuchKindError: the message$"):
        testing.test_raise_error("NoSuchKindError", "the message")


@pytest.mark.parametrize("message", ["", "ä日本\U0001f600", "x" * 100_000, "two\nlines"], ids=lambda m: repr(m)[:9])
def test_a_message_arrives_whole(testing, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        testing.test_raise_error("ValueError", message)
    assert str(caught.value) == message

    def callback():
        raise ValueError(message)

    with pytest.raises(ValueError) as caught:  # noqa: PT011
        testing.apply(callback)
    assert str(caught.value) == message


def test_the_native_error_is_attached_to_its_exception(testing):
    with pytest.raises(ValueError, match="boo") as caught:
        testing.test_raise_error("ValueError", "boo")
    error = caught.value.__tvm_ffi_error__
    assert isinstance(error, ffi_hpy.Error)
    assert (error.kind, error.message, error.cause) == ("ValueError", "boo", None)


@pytest.mark.parametrize("kind", KINDS)
def test_the_exception_of_a_callback_comes_back_itself(testing, kind):
    exception = KINDS[kind]("the message", 2)

    def callback():
        raise exception

    with pytest.raises(KINDS[kind]) as caught:
        testing.apply(callback)
    assert caught.value is exception


def test_an_unregistered_class_of_exception_comes_back_itself(testing):
    class Unregistered(Exception):
        def __init__(self, a, b):
            super().__init__(a, b)
            self.note = [a, b]

    def callback():
        raise Unregistered(1, 2)

    with pytest.raises(Unregistered) as caught:
        testing.apply(callback)
    assert caught.value.note == [1, 2]


@pytest.mark.parametrize("exit_class", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_that_is_not_an_error_leaves_a_callback_unchanged(testing, exit_class):
    def callback():
        raise exit_class(3)

    with pytest.raises(exit_class) as caught:
        testing.apply(callback)
    assert caught.value.args == (3,)


def test_a_chain_of_exceptions_is_kept(testing):
    def callback():
        try:
            testing.test_raise_error("KeyError", "first")
        except KeyError as error:
            raise ValueError("second") from error

    with pytest.raises(ValueError, match="second") as caught:
        testing.apply(callback)
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_error_passes_callbacks_inside_callbacks(testing):
    def inner():
        raise KeyError("deep")

    def middle():
        testing.apply(inner)

    def outer():
        testing.apply(middle)

    with pytest.raises(KeyError) as caught:
        testing.apply(outer)
    assert caught.value.args == ("deep",)


def test_an_error_caught_in_a_callback_leaves_nothing_behind(testing):
    def callback():
        with pytest.raises(KeyError):
            testing.test_raise_error("KeyError", "x")
        with pytest.raises(IndexError):
            testing.apply([].pop)
        return 5

    assert testing.apply(callback) == 5
    assert testing.add_one(1) == 2


def test_one_exception_can_be_raised_again_and_again(testing):
    exception = ValueError("again")

    def callback():
        raise exception

    for _ in range(5):
        with pytest.raises(ValueError, match="again") as caught:
            testing.apply(callback)
        assert caught.value is exception


def test_a_native_error_raised_again_by_a_callback_keeps_its_kind(testing):
    def callback():
        caught = None
        try:
            testing.test_raise_error("NoSuchKindError", "boo")
        except RuntimeError as error:
            caught = error
        raise caught

    with pytest.raises(RuntimeError, match=r"^NoSuchKindError: boo$") as caught:
        testing.apply(callback)
    assert caught.value.__tvm_ffi_error__.kind == "NoSuchKindError"


def test_an_exception_without_a_usable_text_still_comes_back(testing):
    class Wordless(Exception):
        def __str__(self):
            raise ZeroDivisionError

    def callback():
        raise Wordless

    with pytest.raises(Wordless):
        testing.apply(callback)


def test_a_message_with_lone_surrogates_still_comes_back(testing):
    def callback():
        raise ValueError("\udc80")

    with pytest.raises(ValueError) as caught:  # noqa: PT011
        testing.apply(callback)
    assert caught.value.args == ("\udc80",)


# --- registration ---------------------------------------------------------------------------------------------------


def test_a_registered_class_is_raised_for_its_kind(testing):
    kind = unique_name("Kind")

    @ffi_hpy.register_error(kind)
    class Registered(Exception):
        pass

    with pytest.raises(Registered, match=r"^boo$"):
        testing.test_raise_error(kind, "boo")
    assert ffi_hpy.convert(Registered("x")).kind == kind
    assert (ERROR_NAME_TO_TYPE[kind], ERROR_TYPE_TO_NAME[Registered]) == (Registered, kind)


def test_register_error_has_three_forms(testing):
    kind = unique_name("Kind")
    first = type(kind, (ValueError,), {})
    assert ffi_hpy.register_error(first) is first
    assert ERROR_NAME_TO_TYPE[kind] is first
    second = type("Second", (ValueError,), {})
    assert ffi_hpy.register_error(kind, second) is second
    assert ERROR_NAME_TO_TYPE[kind] is second
    third = type(unique_name("Kind"), (ValueError,), {})
    assert ffi_hpy.register_error()(third) is third
    assert ERROR_NAME_TO_TYPE[third.__name__] is third


@pytest.mark.parametrize("wrong", [int, 3, ValueError("x")], ids=repr)
def test_register_error_refuses_classes_that_are_not_exceptions(wrong):
    with pytest.raises(TypeError, match="expected an exception class, got"):
        ffi_hpy.register_error(unique_name("Kind"), wrong)


def test_a_registered_class_with_another_constructor_is_still_caught(testing):
    kind = unique_name("Kind")

    @ffi_hpy.register_error(kind)
    class Demanding(Exception):
        def __init__(self, a, b, c):
            super().__init__(a, b, c)

    with pytest.raises(Demanding):
        testing.test_raise_error(kind, "boo")


def test_a_subclass_of_a_registered_class_has_its_kind():
    class Special(KeyError):
        pass

    assert ffi_hpy.convert(Special("x")).kind == "KeyError"
    assert ffi_hpy.convert(Exception("x")).kind == "RuntimeError"


# --- Error values ---------------------------------------------------------------------------------------------------


def test_an_error_value_has_its_parts():
    cause = ffi_hpy.Error("KeyError", "the cause", "")
    error = ffi_hpy.Error("ValueError", "the message", '  File "f.c", line 3, in g\n', cause, ffi_hpy.convert([1]))
    assert (error.kind, error.message) == ("ValueError", "the message")
    assert error.backtrace == '  File "f.c", line 3, in g\n'
    assert error.cause.same_as(cause)
    assert error.extra_context == [1]
    assert repr(error) == "Error('ValueError', 'the message')"


def test_the_message_for_a_wrong_cause_names_its_class():
    with pytest.raises(TypeError, match=r"^Error\(\) argument 'cause' must be an Error or None, not Array$"):
        ffi_hpy.Error("ValueError", "the message", "", ffi_hpy.convert([1]))


def test_a_backtrace_is_read_into_frames_under_the_name_that_tvm_ffi_has_for_it():
    text = '  File "a.py", line 1, in f\nno frame\n  File "b.so", line 23, in int g<int>(A, B)\n'
    assert ffi_hpy.error._parse_backtrace(text) == [("a.py", 1, "f"), ("b.so", 23, "int g<int>(A, B)")]


def test_a_backtrace_is_replaced_or_extended():
    error = ffi_hpy.Error("ValueError", "m", "one\n")
    error.update_backtrace("two\n")
    assert error.backtrace == "two\n"
    error.update_backtrace("three\n", True)
    assert error.backtrace == "two\nthree\n"


def test_an_error_value_goes_through_native_code(testing):
    error = ffi_hpy.Error("ValueError", "m", "")
    assert testing.echo(error).same_as(error)
    assert type(testing.echo(error)) is ffi_hpy.Error


def test_py_error_gives_the_exception_to_raise():
    exception = ffi_hpy.Error("KeyError", "boo", '  File "f.c", line 3, in g\n').py_error()
    assert type(exception) is KeyError
    assert exception.__traceback__.tb_frame.f_code.co_name == "g"


@pytest.mark.parametrize(
    "arguments", [(), ("a",), ("a", "b", 3), (1, "b", "c"), ("a", "b", "c", 3), ("a", "b", "c", None, 3)], ids=repr
)
def test_an_error_value_refuses_wrong_parts(arguments):
    with pytest.raises(TypeError, match=r"Error\(\)"):
        ffi_hpy.Error(*arguments)


def test_an_error_is_pickled_by_its_parts():
    import pickle

    error = pickle.loads(pickle.dumps(ffi_hpy.Error("KeyError", "m", "b")))
    assert (error.kind, error.message, error.backtrace) == ("KeyError", "m", "b")


@pytest.mark.skipif(not FREES_AT_ONCE, reason="only where references are counted")
def test_raising_and_catching_keeps_the_reference_counts(testing):
    exception = ValueError("x")

    def callback():
        raise exception

    def once():
        try:
            testing.apply(callback)
        except ValueError:
            exception.__traceback__ = None

    once()
    before = sys.getrefcount(exception)
    for _ in range(10):
        once()
    assert sys.getrefcount(exception) == before


# --- attributes that an exception keeps on its way ------------------------------------------------------------------


def come_back(testing, exception):
    """Return the exception that native code raises when a callback raises the given one."""

    def callback():
        raise exception

    try:
        testing.apply(callback)
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def test_cause_context_and_suppression_are_kept(testing):
    exception, cause, context = ValueError("x"), KeyError("cause"), IndexError("context")
    exception.__cause__, exception.__context__, exception.__suppress_context__ = cause, context, False
    back = come_back(testing, exception)
    assert back is exception
    assert back.__cause__ is cause
    assert back.__context__ is context
    assert back.__suppress_context__ is False


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes from 3.11 on")
def test_notes_are_kept(testing):
    exception = ValueError("x")
    exception.add_note("first")
    back = come_back(testing, exception)
    back.add_note("second")
    assert come_back(testing, back).__notes__ == ["first", "second"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are exception groups from 3.11 on")
def test_an_exception_group_comes_back_with_its_members(testing):
    members = [ValueError("a"), ExceptionGroup("inner", [KeyError("b")])]  # noqa: F821
    group = ExceptionGroup("outer", members)  # noqa: F821
    back = come_back(testing, group)
    assert back is group
    assert list(back.exceptions) == members
    assert back.split(KeyError)[0].exceptions[0].exceptions[0].args == ("b",)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are exception groups from 3.11 on")
def test_a_class_that_cannot_be_made_of_a_message_becomes_a_runtime_error(testing):
    kind = unique_name("Kind")
    ffi_hpy.register_error(kind, ExceptionGroup)  # noqa: F821
    with pytest.raises(RuntimeError, match=rf"^{kind}: boo$"):
        testing.test_raise_error(kind, "boo")


def test_a_class_that_refuses_attributes_comes_back_too(testing):
    class Frozen(Exception):
        def __setattr__(self, name, value):
            raise TypeError(f"{name} cannot be set")

    exception = Frozen("x")
    assert come_back(testing, exception) is exception
    kind = unique_name("Kind")
    ffi_hpy.register_error(kind, Frozen)
    with pytest.raises(Frozen, match=r"^boo$") as caught:
        testing.test_raise_error(kind, "boo")
    assert caught.value.__tvm_ffi_error__.kind == kind


@pytest.mark.skipif(not ffi_hpy._core.HAS_EXTENSION, reason="other contexts count the callbacks, and say so")
@pytest.mark.parametrize("limit", [0, 10**6], ids=["default limit", "limit beyond the stack"])
def test_an_exception_keeps_its_message_at_the_end_of_the_stack(limit):
    if limit and not IS_PYPY and sys.version_info < (3, 12):
        pytest.skip("this interpreter ends where its stack ends before its limit")
    program = """
import sys, ffi_hpy
if int(sys.argv[1]):
    sys.setrecursionlimit(int(sys.argv[1]))
apply = ffi_hpy.convert(lambda function, *arguments: function(*arguments))
class Own(Exception):
    pass
def deeper(n):
    return apply(deeper, n + 1)
def deeper_with_own(n):
    try:
        return apply(deeper_with_own, n + 1)
    except RecursionError:
        raise Own("mine", n) from None
try:
    deeper(0)
except RecursionError as error:
    print(str(error).partition(" ")[0].lower() in ("maximum", "stack"), error)
try:
    deeper_with_own(0)
except Own as error:
    print(error.args[0])
"""
    first, second = run_python(program, limit).splitlines()
    assert first.startswith("True ")
    assert second == "mine"


ENDLESS = """
import faulthandler, sys, threading
import ffi_hpy

faulthandler.dump_traceback_later(int(sys.argv[1]), exit=True)
sys.setrecursionlimit(int(sys.argv[2]))

def deeper(*arguments):
    return call(*arguments)

call = ffi_hpy.convert(deeper)

def run(*arguments):
    for _ in range(3):
        try:
            call(*arguments)
        except RecursionError:
            continue
        print("no RecursionError")

for arguments in ((), (1, ["two"], {"three": 3})):
    run(*arguments)
    for size in map(int, sys.argv[3:]):
        threading.stack_size(size)
        thread = threading.Thread(target=run, args=arguments)
        thread.start()
        thread.join()
print("the end")
"""


@pytest.mark.parametrize("limit", [1000, 30_000, 10**6])
def test_endless_recursion_through_a_callback_is_a_recursion_error_whatever_the_limit(limit):
    if limit != 1000 and not IS_PYPY and sys.version_info < (3, 14):
        pytest.skip("this CPython ends where its stack ends before its limit")
    stack_sizes = ("262144", "1048576", "8388608") if IS_PYPY else ()
    # Not run_python(): PyPy writes to stderr when it reaches its own limit in the entry of a callback.
    said = subprocess.run(
        [sys.executable, "-c", ENDLESS, str(PROGRAM_SECONDS), str(limit), *stack_sizes],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * PROGRAM_SECONDS,
    )
    assert (said.returncode, said.stdout) == (0, "the end\n"), said.stderr


def test_the_traceback_is_extended_at_each_crossing(testing):
    exception = ValueError("x")

    def depth_of():
        entry, depth = exception.__traceback__, 0
        while entry is not None:
            entry, depth = entry.tb_next, depth + 1
        return depth

    assert come_back(testing, exception) is exception
    first = depth_of()
    assert come_back(testing, exception) is exception
    assert depth_of() > first


@pytest.mark.skipif(not ffi_hpy._core.HAS_EXTENSION, reason="PyPy 7.3 calls str() within its guard")
def test_an_interruption_during_a_report_replaces_the_exception(testing):
    class Interrupting(Exception):
        def __str__(self):
            raise KeyboardInterrupt

    assert type(come_back(testing, Interrupting())) is KeyboardInterrupt


def test_the_context_of_a_native_error_is_the_exception_that_is_being_handled():
    raises = ffi_hpy.get_global_func("testing.test_raise_error")

    def raise_second():
        try:
            raises("IndexError", "first")
        except IndexError:
            raises("ValueError", "second")

    def raise_third(handled):
        try:
            raise handled
        except KeyError:
            raises("ValueError", "third")

    for call in (raise_second, ffi_hpy.convert(raise_second)):
        with pytest.raises(ValueError, match="second") as caught:
            call()
        assert repr(caught.value.__context__) == "IndexError('first')"
        assert (caught.value.__cause__, caught.value.__suppress_context__) == (None, False)
    handled = KeyError("handled")
    with pytest.raises(ValueError, match="third") as caught:
        raise_third(handled)
    assert caught.value.__context__ is handled
    with pytest.raises(ValueError, match="fourth") as caught:
        raises("ValueError", "fourth")
    assert caught.value.__context__ is None


def test_the_cause_of_a_native_error_is_the_cause_of_its_exception():
    first = ffi_hpy.Error("IndexError", "first", '  File "a.c", line 1, in f\n')
    second = ffi_hpy.Error("NoSuchKind", "second", "", first)
    third = ffi_hpy.Error("KeyError", "third", "", second)
    exception = third.py_error()
    assert [type(exception), type(exception.__cause__), type(exception.__cause__.__cause__)] == [
        KeyError, RuntimeError, IndexError,
    ]  # fmt: skip
    assert str(exception.__cause__) == "NoSuchKind: second"
    assert exception.__cause__.__cause__.__traceback__.tb_frame.f_code.co_name == "f"
    assert exception.__cause__.__cause__.__tvm_ffi_error__.same_as(first)
    assert exception.__cause__.__cause__.__cause__ is None


def test_a_long_chain_of_causes_costs_no_stack():
    error = None
    for i in range(5000):
        error = ffi_hpy.Error("ValueError", str(i), "", error)
    exception, n = error.py_error(), 0
    while exception is not None:
        exception, n = exception.__cause__, n + 1
    assert n == 5000


def test_an_exception_passed_as_a_value_tells_where_it_was_raised(testing):
    def raise_native():
        testing.test_raise_error("KeyError", "boo")

    with pytest.raises(KeyError) as caught:
        raise_native()
    before = caught.value.__tvm_ffi_error__.backtrace
    value = testing.echo(caught.value)
    assert "raise_native" not in before
    assert "in raise_native" in value.backtrace
    assert (value.kind, value.message) == ("KeyError", "boo")
    assert caught.value.__tvm_ffi_error__.backtrace == before
    assert type(value.py_error()) is KeyError


def test_an_exception_with_its_native_error_is_pickled_and_copied(testing):
    import copy
    import pickle

    with pytest.raises(ValueError, match="boo") as caught:
        testing.test_raise_error("ValueError", "boo")
    for made in (pickle.loads(pickle.dumps(caught.value)), copy.deepcopy(caught.value), copy.copy(caught.value)):
        assert made.args == ("boo",)
        assert made.__tvm_ffi_error__.message == "boo"
        assert come_back(testing, made) is made
    empty = pickle.loads(pickle.dumps(ffi_hpy.Error.__new__(ffi_hpy.Error)))
    assert empty.__chandle__() == 0
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(ffi_hpy.Error("K", "m", "b"), protocol)).kind == "K"


# --- threads --------------------------------------------------------------------------------------------------------


def test_kinds_are_registered_and_raised_by_many_threads(testing):
    def work(i):
        for _ in range(30):
            kind = unique_name("Kind")
            registered = ffi_hpy.register_error(kind, type("Registered", (ValueError,), {}))
            below = type("Below", (registered,), {})
            with pytest.raises(registered, match=r"^boo$"):
                testing.test_raise_error(kind, "boo")
            assert ffi_hpy.convert(below("x")).kind == kind
            assert type(come_back(testing, below("x"))) is below

    parallelize(work)


def test_one_kind_registered_by_many_threads_stays_consistent(testing):
    kind = unique_name("Kind")
    classes = [type(f"Registered{i}", (Exception,), {}) for i in range(4)]

    def work(i):
        for _ in range(50):
            ffi_hpy.register_error(kind, classes[i])
            with pytest.raises(tuple(classes)):
                testing.test_raise_error(kind, "boo")

    parallelize(work)
    assert ERROR_NAME_TO_TYPE[kind] in classes
    assert all(ERROR_TYPE_TO_NAME[cls] == kind for cls in classes)
