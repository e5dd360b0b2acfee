"""`python -m ffi_hpy` prints what a bug report needs: see _report."""

from ._report import main

raise SystemExit(main())
