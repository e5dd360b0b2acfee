"""The command ffi-hpy-init, which writes a project for a library that is bound with ffi_hpy/bind.h."""
