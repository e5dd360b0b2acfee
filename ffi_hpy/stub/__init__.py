"""Stub generation: annotations or bindings for what native libraries register, in marked regions of source files.

The command is ffi-hpy-stubgen, in `cli`. The other modules, each using those before it:

`consts` the marks · `file_utils` files as blocks · `utils` what is known of functions and types · `lib_state` that, of
the loaded libraries · `layout` whether a type's memory can be reproduced from it · `target` what a target language
provides · `python_generator`, `rust_generator` the targets · `generator` which there are · `roll_out` regions for whole
namespaces
"""
