"""Moved to tests/sample.py."""

from tests.sample import *  # noqa: F403
