"""Puts the bytes of a file, such as a compiled CUDA kernel, into an object file, for code that expects them there.

    python -m ffi_hpy.utils.embed_cubin --cubin KERNEL.cubin --name NAME --input-obj IN.o --output-obj OUT.o

The code in IN.o has ``extern const unsigned char __tvm_ffi__cubin_NAME[], __tvm_ffi__cubin_NAME_end[];``, the first
byte and the one after the last. Works for every ELF machine, and needs only ``ld -r``; LD names another linker.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["embed_cubin", "main"]

_ALIGNMENT = 64  # of the bytes; the loader may require it


def embed_cubin(
    cubin_path: str | os.PathLike[str],
    input_obj_path: str | os.PathLike[str],
    output_obj_path: str | os.PathLike[str],
    name: str,
    verbose: bool = False,
) -> None:
    """Write `output_obj_path`: the object file `input_obj_path` with the bytes of `cubin_path` under `name`.

    The symbols are hidden, so that each library uses its own. The output may be one of the inputs. With `verbose`, the
    linker's command is printed.

    FileNotFoundError for a missing input; ValueError for a name that is not valid in C, or an input that is not an ELF
    object file; RuntimeError if the linker is missing or fails, with its output.
    """
    cubin, source, target = Path(cubin_path), Path(input_obj_path), Path(output_obj_path)
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"name must be an identifier in C, got {name!r}")
    content = cubin.read_bytes()
    header = _read_header(source)
    linker = shlex.split(os.environ.get("LD", "")) or ["ld"]
    if shutil.which(linker[0]) is None:
        raise RuntimeError(f"the linker {linker[0]!r} is not on PATH; LD can name one")
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        blob, merged = Path(folder, "blob.o"), Path(folder, "merged.o")
        blob.write_bytes(_make_object(header, f"__tvm_ffi__cubin_{name}", content))
        command = [*linker, "-r", "-o", str(merged), str(source), str(blob)]
        if verbose:
            print(*command)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
        merged.replace(target)


def _read_header(path: Path) -> bytes:
    """Return the first 64 bytes of an object file. ValueError if it is not an ELF object file for 64 bits."""
    with path.open("rb") as stream:
        header = stream.read(64)
    if len(header) < 64 or header[:4] != b"\x7fELF":
        raise ValueError(f"{path} is not an ELF file")
    order = _order(header)
    if header[4] != 2 or struct.unpack_from(f"{order}H", header, 16)[0] != 1:
        raise ValueError(f"{path} is not an object file for 64 bits, or is linked already")
    return header


def _order(header: bytes) -> str:
    return "<" if header[5] == 1 else ">"


def _make_object(like: bytes, symbol: str, content: bytes) -> bytes:
    """Return an ELF object file for the machine of the header `like`, with the content between `symbol` and
    `symbol`_end."""
    order = _order(like)
    # An empty .note.GNU-stack means that the stack need not be executable
    section_names = b"\0.rodata\0.note.GNU-stack\0.symtab\0.strtab\0.shstrtab\0"
    strings = b"\0" + symbol.encode() + b"\0" + symbol.encode() + b"_end\0"
    object_type, global_hidden = (1 << 4) | 1, 2  # STB_GLOBAL and STT_OBJECT; STV_HIDDEN
    symbols = struct.pack(f"{order}IBBHQQ", 0, 0, 0, 0, 0, 0)
    for string, value, size in ((1, 0, len(content)), (len(symbol) + 2, len(content), 0)):
        symbols += struct.pack(f"{order}IBBHQQ", string, object_type, global_hidden, 1, value, size)

    progbits, symtab, strtab, allocated = 1, 2, 3, 2
    sections: tuple[tuple[bytes, int, int, bytes, int, int, int, int], ...] = (
        # name, type, flags, content, alignment, link, info, size of an entry
        (b".rodata", progbits, allocated, content, _ALIGNMENT, 0, 0, 0),
        (b".note.GNU-stack", progbits, 0, b"", 1, 0, 0, 0),
        (b".symtab", symtab, 0, symbols, 8, 4, 1, 24),
        (b".strtab", strtab, 0, strings, 1, 0, 0, 0),
        (b".shstrtab", strtab, 0, section_names, 1, 0, 0, 0),
    )
    body = bytearray(64)
    rows = [bytes(64)]
    for name, kind, flags, data, alignment, link, info, entry in sections:
        body.extend(bytes(-len(body) % alignment))
        where = section_names.index(b"\0" + name + b"\0") + 1
        place = (flags, 0, len(body), len(data))
        rows.append(struct.pack(f"{order}IIQQQQIIQQ", where, kind, *place, link, info, alignment, entry))
        body.extend(data)
    body.extend(bytes(-len(body) % 8))
    body[:64] = like
    # From e_version on, except the machine's flags (at 48), which come from the other file
    struct.pack_into(f"{order}IQQQ", body, 20, 1, 0, 0, len(body))
    struct.pack_into(f"{order}HHHHHH", body, 52, 64, 0, 0, 64, len(rows), len(rows) - 1)
    return bytes(body) + b"".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, 1 if it fails."""
    summary, _, details = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="embed_cubin", description=summary, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output-obj", required=True, metavar="OUT.o", help="the object file to write")
    parser.add_argument("--input-obj", required=True, metavar="IN.o", help="the object file to put the bytes into")
    parser.add_argument("--cubin", required=True, metavar="FILE", help="the file with the bytes")
    parser.add_argument("--name", required=True, help="the name in the symbols")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the linker's command")
    given = parser.parse_args(arguments)
    try:
        embed_cubin(given.cubin, given.input_obj, given.output_obj, given.name, given.verbose)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"embed_cubin: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
