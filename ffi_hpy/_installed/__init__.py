"""ffi_hpy as the environment's tvm_ffi: installed, uninstalled and told about by ``python -m ffi_hpy.dropin``."""
