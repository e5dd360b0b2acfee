"""Inline sources as files: the texts, the headers that they need not include, and the exports of their functions."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["export_of", "inline_unit"]

# The headers that inline sources need not include, and the part of the C++ library that tvm_ffi includes with them.
_HEADERS = (
    "tvm/ffi/container/tensor.h",
    "tvm/ffi/dtype.h",
    "tvm/ffi/error.h",
    "tvm/ffi/extra/c_env_api.h",
    "tvm/ffi/function.h",
    "algorithm",
    "array",
    "cctype",
    "functional",
    "iostream",
    "limits",
    "sstream",
    "string",
    "unordered_map",
    "vector",
)
# Without this option a library does not export documentation, which is part of the metadata.
_WITH_METADATA = """\
#ifndef TVM_FFI_DLL_EXPORT_INCLUDE_METADATA
#define TVM_FFI_DLL_EXPORT_INCLUDE_METADATA 1
#endif
"""


def inline_unit(name: str, suffix: str, texts: Sequence[str], functions: Mapping[str, str]) -> dict[str, str]:
    """Return the files to write, by name. The first one is compiled; compilers quote lines of the other files in
    messages.

    `texts` follow each other in one translation unit. A compiler's messages call the text `<name>.inline<suffix>`, or
    one of several `<name>.inline[i]<suffix>`, with the line numbers of the text. Messages call the exports
    `<name>.functions`, which has a line for each of `functions`: names with their documentation. If one has
    documentation, the library exports the documentation and the types of all, unless the compiler's options decide
    otherwise.
    """
    texts = [text[1:] if text.startswith("\ufeff") else text for text in texts]  # no byte order mark inside
    title = f"{name}.inline"
    titles = [f"{title}{suffix}"] if len(texts) == 1 else [f"{title}[{i}]{suffix}" for i in range(len(texts))]
    parts = [_WITH_METADATA] if any(functions.values()) else []
    parts += [f"#include <{header}>\n" for header in _HEADERS]
    for title, text in zip(titles, texts):
        parts.append(f"#line 1 {_literal(title)}\n{text}\n\n")  # empty line: the text may end with a backslash
    exports = "".join(f"{_export(function, doc)}\n" for function, doc in functions.items())
    if exports:
        parts.append(f"#line 1 {_literal(_exports_title(name))}\n{exports}")
        titles, texts = [*titles, _exports_title(name)], [*texts, exports]
    return {f"{name}.unit{suffix}": "".join(parts), **dict(zip(titles, texts))}


def export_of(name: str, functions: Sequence[str], output: str) -> str | None:
    """Return the function whose export causes the first message of a compiler; None for another cause. An error in the
    texts often causes others in their exports."""
    titles = rf"{re.escape(name)}\.inline(?:\[\d+\])?\.\w+|{re.escape(_exports_title(name))}"
    found = re.search(rf"({titles})[:(](\d+)", output)  # nvcc writes the line in parentheses
    line = int(found[2]) if found and found[1] == _exports_title(name) else 0
    return functions[line - 1] if 0 < line <= len(functions) else None


def _exports_title(name: str) -> str:
    return f"{name}.functions"


def _export(function: str, doc: str) -> str:
    export = f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({function}, {function});"
    return f"{export} TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC({function}, {_literal(doc)});" if doc else export


def _literal(text: str) -> str:
    """Return the text as a C string literal in ASCII, of its UTF-8 bytes, so that the compiler's input charset does not
    matter."""
    return '"{}"'.format("".join(_escaped(byte) for byte in text.encode()))


def _escaped(byte: int) -> str:
    character = chr(byte)
    return character if character.isascii() and character.isprintable() and character not in '"\\?' else f"\\{byte:03o}"
