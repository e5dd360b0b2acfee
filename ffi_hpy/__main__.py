"""`python -m ffi_hpy` prints the data for a bug report: see _report."""

from ._report import main

raise SystemExit(main())
