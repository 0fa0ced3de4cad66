"""Cases of a test of which only some run in `make test`."""

from collections.abc import Iterable
from typing import Any

import pytest


def slow_after(quick: int, cases: Iterable[Any]) -> list[Any]:
    """Return cases of which all after the first few are slow ones."""
    found = [case if isinstance(case, tuple) else (case,) for case in cases]
    slow = [pytest.param(*case, marks=pytest.mark.slow) for case in found[quick:]]
    return [pytest.param(*case) for case in found[:quick]] + slow
