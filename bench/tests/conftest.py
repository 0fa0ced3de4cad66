"""What these tests share with the others."""

from tests.conftest import _silent_log, postgres, pytest_runtest_setup

__all__ = ["_silent_log", "postgres", "pytest_runtest_setup"]
