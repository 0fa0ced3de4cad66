"""What these tests share with the others; they are slow ones, as a benchmark is no product."""

from pathlib import Path

import pytest

from tests.conftest import _silent_log, postgres, pytest_runtest_setup

HERE = Path(__file__).parent
__all__ = ["_silent_log", "postgres", "pytest_runtest_setup"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.slow)
