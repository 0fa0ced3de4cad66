"""The parts of benchmarks that are with the tests, which an installed Rostrum does not have."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.errors import RostrumError

ROOT = Path(__file__).parents[1]
NO_CHECKOUT = (
    "This benchmark runs on the platforms' doubles among the tests, which are not here ({why}); "
    "clone the repository, run make check once, and start it there."
)


def find_in_checkout(name: str) -> Any:
    """Import a module from the checkout that Rostrum runs in. Raises RostrumError without one."""
    sys.path.insert(0, str(ROOT))
    try:
        return import_module(name)
    except ImportError as error:
        raise RostrumError(NO_CHECKOUT.format(why=error)) from error
    finally:
        sys.path.remove(str(ROOT))
