"""Single steps of a build, under tvm_ffi's names, for programs that do the other steps themselves."""

from __future__ import annotations

import os
from functools import partial

from ._gpu import choose_backend as _resolve_gpu_backend
from ._gpu import home_of
from ._ninja import run_alone as build_ninja

__all__ = ["IS_WINDOWS", "_find_cuda_home", "_find_rocm_home", "_resolve_gpu_backend", "build_ninja"]

IS_WINDOWS = os.name == "nt"
_find_cuda_home = partial(home_of, "cuda")
_find_rocm_home = partial(home_of, "hip")
