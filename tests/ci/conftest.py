"""The tests import the code of ci/ from the checkout, because no wheel contains it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
