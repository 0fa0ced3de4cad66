"""Debates of earlier versions of a format are finished by the rules that they began with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.debate import Model, Setup
from engine.errors import PausedError, StoreError
from engine.floor.steps import prompt_hash
from engine.formats import FORMATS, format_of
from engine.ports import Reply
from engine.prompts.library import Prompts
from tests.doubles.rehearsed import RehearsedDesk, hold

HELD = Path(__file__).parent / "held_before"
# The SHA-256 of all prompts by step, as they were sent when the debates were held.
PROMPTS = {
    "audited_1": "e747898f99d5f97caa5387a6a5ba302ffda54ca9e3a46ea4c42a43960541a522",
    "audited_2": "97c2b44040fcd9ee88816b50c329ac8c1c14d0421bc1a13fa9a31dbffa296639",
    "classic_1": "a6cd337112a393e7256a1b06c6e780bdf511705d6a33ddc71b5098b69898e827",
    "classic_2": "a2227be44177b3f280c266d07a076bac0bdc01c90fa898657baad91e174dcc34",
    "oxford_1": "75fce27ddf7c6e235c6aa90252fefe9ee395a264b5df33854bff033ac98cd521",
    "oxford_2": "7b773bba9def17cb1add7d269c1c28e64f900ae48d478acce5ad96c22976f1f2",
    "roundtable_1": "ff34a08f6006a94053cdcb9cb4d7b7e5811673888ac0de7e4da377d214c404c8",
    "roundtable_2": "d20a444d1cd792dd734d4d8c78de7fa24681766c07b3ffdac03636ff3c55c20d",
    "roundtable_3": "932863f931d464a94b3e32034b5263215c3b32162141b58eea17f888cc574113",
    "structured_1": "06014d43aab1d184b9c94aca7a0d00e32e16af89026a68f4e9a0d5498b985586",
    "structured_2": "37f0938b5de64c8a82bcd3d14299a413e295b01063291246fd0ba4469d670989",
    "team_1": "1190c323e1ff0ef279d7a07e9662a5976e00707c36ec11741d80228ce722e66d",
    "team_2": "97c73f82371e72f6fde8eeb45b5697527abf2dca8b284a3fe6fa3c58b96f463d",
    "team_3": "0839ab34afc4e9f6f00e42d035758a3457225b654a9bf7d4d77a2cba007e94ea",
}


@dataclass(slots=True)
class Prompted(RehearsedDesk):
    """A desk that notes the hash of each prompt."""

    prompts: dict[str, str] = field(default_factory=dict)

    async def call(self, step: str, model: Model, messages: Any, *args: Any, **more: Any) -> Reply:
        """Return the stored reply."""
        self.prompts[step] = prompt_hash(messages)
        return await super(Prompted, self).call(step, model, messages, *args, **more)


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
    desk = Prompted(stored=replies, twist=_unexpected)
    await hold(setup, desk, Prompts(held["templates"]))
    assert set(desk.asked) == set()
    sent = orjson.dumps(desk.prompts, option=orjson.OPT_SORT_KEYS)
    assert hashlib.sha256(sent).hexdigest() == PROMPTS[name]
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
