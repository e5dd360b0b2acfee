"""What comes before the binding: loading it, locks that fork finds, answers that are remembered. Uses nothing above."""

from __future__ import annotations
