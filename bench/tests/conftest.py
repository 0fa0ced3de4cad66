"""What these tests share with the others; they are slow ones, as a benchmark is no product."""

from pathlib import Path

import pytest

from tests.conftest import _silent_log, postgres, pytest_runtest_setup

__all__ = ["_silent_log", "postgres", "pytest_runtest_setup"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)
