"""Stub generation: annotations or bindings for the functions and types of native libraries, in marked regions of source
files.

The command is ffi-hpy-stubgen, in `cli`. The other modules, each of which uses only those before it:

`consts` the marks · `file_utils` files as blocks · `utils` descriptions of functions and types · `lib_state` the
descriptions for the loaded libraries · `layout` the test whether a type's memory can be reproduced from its description
· `target` the interface of a target language · `python_generator`, `rust_generator` the targets · `generator` the list
of targets · `roll_out` regions for whole namespaces
"""
