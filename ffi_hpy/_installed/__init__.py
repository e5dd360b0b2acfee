"""ffi_hpy as the environment's tvm_ffi: the commands of ``python -m ffi_hpy.dropin`` that install, uninstall and report
it."""
