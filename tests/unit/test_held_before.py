"""Debates of earlier versions of a format are finished by the rules that they began with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.debate import Setup
from engine.errors import PausedError, StoreError
from engine.formats import FORMATS, format_of
from engine.ports import Reply
from engine.prompts.library import Prompts
from tests.doubles.rehearsed import RehearsedDesk, hold

HELD = Path(__file__).parent / "held_before"


def _unexpected(step: str) -> None:
    raise AssertionError(f"{step} was asked, and was not when the debate was held")


def without_marks(text: str) -> str:
    """Return a text as it was said before sides had marks in reports."""
    return text.replace("🔵 ", "").replace("🔴 ", "")


def _as_it_was(then: Any, now: Any) -> Any:
    """Return what is found now, without what was not yet stored then, and marks of sides."""
    if isinstance(then, dict) and isinstance(now, dict):
        return {key: _as_it_was(then[key], value) for key, value in now.items() if key in then}
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [_as_it_was(*pair) for pair in zip(then, now, strict=True)]
    if isinstance(then, str) and isinstance(now, str):
        return without_marks(now)
    return now


@pytest.mark.parametrize("name", [file.stem for file in sorted(HELD.glob("*.json"))])
async def test_a_debate_of_an_earlier_version_ends_as_it_did(name: str) -> None:
    """A journal, its setup and its templates, stored by the version of that time: no new step."""
    held: dict[str, Any] = orjson.loads((HELD / f"{name}.json").read_bytes())
    setup = Setup.model_validate(held["setup"])
    replies = {
        step: Reply(text=text, finish="stop", model="m") for step, text in held["replies"].items()
    }
    desk = RehearsedDesk(stored=replies, twist=_unexpected)
    await hold(setup, desk, Prompts(held["templates"]))
    assert set(desk.asked) == set()
    without_model = [turn | {"model": "m"} for turn in held["turns"]]
    assert [turn.model_dump(mode="json") for turn in desk.turns] == without_model
    found = [note.model_dump(mode="json") for note in desk.notes]
    assert [_as_it_was(then, now) for then, now in zip(held["notes"], found, strict=True)] == held[
        "notes"
    ]


def test_a_version_that_is_unknown_is_refused() -> None:
    for name, script in FORMATS.items():
        with pytest.raises(StoreError, match="no longer has"):
            format_of(name, 0)
        with pytest.raises(PausedError, match="which a newer Rostrum has"):
            format_of(name, script.version + 1)
