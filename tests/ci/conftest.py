"""The tests of ci's code import it from the checkout: it is in no wheel."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
