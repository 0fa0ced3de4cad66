"""Limits of a turn: what is measured, and that passing them is told, not punished."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from engine.floor.shapes import TurnLimits, violations

TURN = TurnLimits(words=5, arguments=2)


def kinds(text: str, limits: TurnLimits) -> dict[str, float]:
    """Return what a text passes, with what was measured."""
    return {found.kind: found.measured for found in violations(text, limits, 1.5)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("one two three four five", {}),
        ("one two three four five six", {"too_many_words": 6}),
        ("1. a\n2. b", {}),
        ("1. a\n2. b\n3. c", {"too_many_words": 6, "too_many_arguments": 3}),
        ("茶胜过咖啡啊", {}),
        ("茶胜过咖啡茶胜过咖啡", {"too_many_words": 7}),
    ],
)
def test_words_and_numbered_arguments_are_measured(text: str, found: dict[str, float]) -> None:
    assert kinds(text, TURN) == found


def test_no_limit_is_never_passed() -> None:
    assert violations("word " * 10_000, TurnLimits(), 1.5) == ()


@given(st.text(max_size=300))
def test_a_violation_always_says_more_than_its_limit(text: str) -> None:
    assert all(found.measured > found.limit for found in violations(text, TURN, 1.5))
