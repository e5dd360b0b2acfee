/* Context entries: constants, which are handles that live as long as the process. The interpreter's static objects are
 * borrowed; they are never freed. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

/* The exceptions by their names, which the context has with the prefix h_. CPython exports each as a pointer,
 * PyExc_<name>. */
/* clang-format off */
#define EXCEPTIONS(X) \
  X(BaseException) X(Exception) X(StopAsyncIteration) X(StopIteration) X(GeneratorExit) X(ArithmeticError)           \
  X(LookupError) X(AssertionError) X(AttributeError) X(BufferError) X(EOFError) X(FloatingPointError) X(OSError)     \
  X(ImportError) X(ModuleNotFoundError) X(IndexError) X(KeyError) X(KeyboardInterrupt) X(MemoryError) X(NameError)   \
  X(OverflowError) X(RuntimeError) X(RecursionError) X(NotImplementedError) X(SyntaxError) X(IndentationError)       \
  X(TabError) X(ReferenceError) X(SystemError) X(SystemExit) X(TypeError) X(UnboundLocalError) X(UnicodeError)       \
  X(UnicodeEncodeError) X(UnicodeDecodeError) X(UnicodeTranslateError) X(ValueError) X(ZeroDivisionError)            \
  X(BlockingIOError) X(BrokenPipeError) X(ChildProcessError) X(ConnectionError) X(ConnectionAbortedError)            \
  X(ConnectionRefusedError) X(ConnectionResetError) X(FileExistsError) X(FileNotFoundError) X(InterruptedError)      \
  X(IsADirectoryError) X(NotADirectoryError) X(PermissionError) X(ProcessLookupError) X(TimeoutError) X(Warning)     \
  X(UserWarning) X(DeprecationWarning) X(PendingDeprecationWarning) X(SyntaxWarning) X(RuntimeWarning)               \
  X(FutureWarning) X(ImportWarning) X(UnicodeWarning) X(BytesWarning) X(ResourceWarning)
/* clang-format on */

#define DECLARE(name) extern PyObject *PyExc_##name;
EXCEPTIONS(DECLARE)

void fhpy_ctx_constant_fill(HPyContext *ctx) {
#define SET(name) ctx->h_##name = to_hpy(PyExc_##name);
  EXCEPTIONS(SET)
  ctx->h_None = to_hpy(&_Py_NoneStruct);
  ctx->h_True = to_hpy(&_Py_TrueStruct);
  ctx->h_False = to_hpy(&_Py_FalseStruct);
  ctx->h_NotImplemented = to_hpy(&_Py_NotImplementedStruct);
  ctx->h_Ellipsis = to_hpy(&_Py_EllipsisObject);
  ctx->h_BaseObjectType = to_hpy(&PyBaseObject_Type);
  ctx->h_TypeType = to_hpy(&PyType_Type);
  ctx->h_BoolType = to_hpy(&PyBool_Type);
  ctx->h_LongType = to_hpy(&PyLong_Type);
  ctx->h_FloatType = to_hpy(&PyFloat_Type);
  ctx->h_UnicodeType = to_hpy(&PyUnicode_Type);
  ctx->h_TupleType = to_hpy(&PyTuple_Type);
  ctx->h_ListType = to_hpy(&PyList_Type);
  ctx->h_ComplexType = to_hpy(&PyComplex_Type);
  ctx->h_BytesType = to_hpy(&PyBytes_Type);
  ctx->h_MemoryViewType = to_hpy(&PyMemoryView_Type);
  ctx->h_CapsuleType = to_hpy(&PyCapsule_Type);
  ctx->h_SliceType = to_hpy(&PySlice_Type);
  ctx->h_Builtins = new_reference(PyEval_GetBuiltins()); /* the dict, as in all implementations of HPy 0.9 */
}
