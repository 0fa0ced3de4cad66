"""A debate ends under the version of its format, and the prompts, that it began with."""

from __future__ import annotations

import pytest

from engine.floor.floor import Floor
from engine.floor.shapes import TurnLimits
from engine.formats import FORMATS, Format, format_of, length_of
from engine.prompts.library import Prompts
from engine.values.debate import Request, TurnOrder
from engine.values.errors import PausedError, StoreError
from tests.doubles.rehearsed import DiedError, RehearsedDesk, hold, setup_for, todays_prompts


class Toy(Format):
    """Each side speaks once."""

    name = "toy"
    version = 1
    turn_order = TurnOrder.SEQUENTIAL

    def rounds(self, request: Request) -> tuple[str, ...]:
        return ("opening",)

    def turns(self, request: Request) -> int:
        return 2

    def waves(self, request: Request) -> int:
        return 2

    async def run(self, floor: Floor) -> None:
        for side in "AB":
            await self.speak(floor, side)

    async def speak(self, floor: Floor, side: str) -> None:
        limits = TurnLimits(words=200)
        await floor.speak(side, "opening", template="toy/speech", limits=limits)


class NewToy(Toy):
    """From version 2 on B begins."""

    version = 2
    finishes: tuple[int, ...] = (1,)

    async def run(self, floor: Floor) -> None:
        for side in "AB" if floor.version == 1 else "BA":
            await self.speak(floor, side)


class ForgetfulToy(NewToy):
    """It holds no debate of version 1 any more."""

    finishes = ()


def prompts(speech: str) -> Prompts:
    return Prompts(todays_prompts().texts | {"toy/system": "Debate.", "toy/speech": speech})


OLD, NEW = prompts("Speak."), prompts("Speak, and mind the new rules.")


def release(monkeypatch: pytest.MonkeyPatch, toy: Format) -> None:
    known = {**FORMATS, "toy": toy}
    for module in ("engine.formats", "engine.line.intake"):
        monkeypatch.setattr(f"{module}.FORMATS", known, raising=False)


async def test_a_debate_that_began_before_an_upgrade_ends_as_if_there_had_been_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release(monkeypatch, Toy())
    setup = setup_for("toy")
    undisturbed = await hold(setup, prompts=OLD)
    desk = RehearsedDesk(dies_at=2)
    with pytest.raises(DiedError):
        await hold(setup, desk, OLD)
    release(monkeypatch, NewToy())
    desk.dies_at = None
    await hold(setup, desk, OLD)
    assert desk.asked == undisturbed.asked
    assert desk.turns == undisturbed.turns
    assert [turn.seat for turn in desk.turns] == ["A", "B"]
    assert length_of(setup) == 2


async def test_a_new_debate_has_the_new_rules_and_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    release(monkeypatch, NewToy())
    setup = setup_for("toy")
    assert setup.format_version == 2
    desk = await hold(setup, prompts=NEW)
    assert [turn.seat for turn in desk.turns] == ["B", "A"]
    assert "mind the new rules" in desk.said_to("turn/opening/B")


def test_a_version_that_no_script_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    release(monkeypatch, Toy())
    setup = setup_for("toy")
    release(monkeypatch, ForgetfulToy())
    with pytest.raises(StoreError, match=r"version 1 of the format toy.*no longer has"):
        format_of("toy", 1)
    assert length_of(setup) == 0
    with pytest.raises(PausedError, match="which a newer Rostrum has"):
        format_of("toy", 3)
    for name, script in FORMATS.items():
        assert format_of(name, 1) is script
