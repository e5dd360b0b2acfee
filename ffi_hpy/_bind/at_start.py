"""Lets `import` find bound libraries before the package is imported. ffi_hpy.pth executes this text when PyPy starts,
with the folder of the package in `sitedir`; as a module it does nothing."""

import sys
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import spec_from_file_location

folder = locals().get("sitedir")
spec = spec_from_file_location("ffi_hpy._bind.finder", f"{folder}/ffi_hpy/_bind/finder.py")
if folder is not None and spec is not None and spec.loader is not None:
    finder = module_from_spec(spec)
    spec.loader.exec_module(finder)
    sys.modules.setdefault(finder.__name__, finder).install()
