"""Panel modes on the whole line: who is asked, what is said beforehand, and what is exported."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeVar

import pytest

from adapters.discord import render as discord_render
from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from adapters.slack import render as slack_render
from adapters.terminal.render import plain
from engine.jury.panel import hold_panel, open_transcript
from engine.prompts import load_prompts
from engine.run.order import Order
from engine.run.run import warm_up
from engine.values.debate import Model, PanelMode
from engine.values.errors import StoreError
from engine.values.messages import Announcement, JurorLine, Reveal
from engine.values.ports import Call, Reply
from engine.values.protocols import AttemptLog
from engine.values.text import marked
from tests.doubles.archive import export_rows
from tests.doubles.hall import LOBBY, Hall
from tests.doubles.rehearsed import DEFAULTS as REHEARSED
from tests.doubles.venue import AttentiveVenue
from tests.kit.stages import Answer, ScriptedHost
from tests.scenario.conftest import (
    DEFAULTS,
    SWIFT,
    Running,
    Stage,
    ballot,
    fair_ballot,
    judging,
    play,
    shown,
)

EIGHT = tuple(Model.parse(f"near/j{number}#kin{number}") for number in range(1, 9))
KIN = Model.parse("near/j9#ana")  # of side A's family
MODES = list(PanelMode)


def of(mode: PanelMode, jurors: Sequence[Model] = EIGHT) -> Any:
    return DEFAULTS.model_copy(update={"panel": mode, "jurors": tuple(jurors)})


M = TypeVar("M")


@pytest.fixture
def stage(stage: Stage) -> Stage:
    """The stage, with a platform that remembers what messages meant."""
    stage.venue = AttentiveVenue(limits=SWIFT)
    return stage


def meant(line: Running, kind: type[M]) -> M:
    assert isinstance(line.venue, AttentiveVenue)
    return next(message for message in line.venue.meant if isinstance(message, kind))


def first_shown(body: Any) -> str:
    """Prefer the contender that is shown first, by as much as the juror's number."""
    first, second = shown(body)
    return ballot({first: 5 + int(body["model"][1]) % 4 + 1, second: 5}, first)


@pytest.mark.parametrize(
    ("mode", "calls", "said"),
    [
        (PanelMode.ADAPTIVE, 6, "3 to 6 jurors read it blind ·"),
        (PanelMode.STRICT, 6, "3 to 6 jurors read it blind ·"),
        (PanelMode.ALL, 16, "8 jurors read it blind ·"),
        (PanelMode.ONE, 2, "a single juror reads it blind ·"),
    ],
)
async def test_the_card_says_who_will_read_and_so_many_do(
    stage: Stage, line: Running, mode: PanelMode, calls: int, said: str
) -> None:
    started = await line.start(of(mode), seed=1)
    debate = await line.ended(started.debate.id)
    assert len(stage.jurors_asked) == calls
    expected = {PanelMode.STRICT: 8}.get(mode, calls)
    assert started.estimate.calls == 8 + expected + 1  # eight turns, the ballots, the summary
    announced = meant(line, Announcement)
    assert said in plain(announced, "x·1/1")
    record = await line.record(debate.id)
    (row,) = export_rows("debates", record)
    assert (row["panel_mode"], row["single"]) == (mode.value, mode is PanelMode.ONE)
    assert row["jury_winner"] in ("A", "B")


async def test_all_jurors_read_in_both_orders_and_a_recused_one_does_not_count(
    stage: Stage, line: Running
) -> None:
    """The matrix is complete, and a juror of a debater's family decides nothing."""

    def respond(body: Any) -> str:
        if not judging(body):
            return play(body)
        if body["model"] != "j9":
            return fair_ballot(body)
        loser, winner = sorted(shown(body))  # against everyone else, and as strongly as it can be
        return ballot({winner: 10, loser: 1}, winner)

    stage.server.respond = respond
    debate = await line.hold(of(PanelMode.ALL, (*EIGHT[:3], KIN)))
    record = await line.record(debate.id)
    read = Counter((one["juror"], one["order"]) for one in export_rows("verdicts", record))
    assert read == {(f"near/j{n}", order): 1 for n in (1, 2, 3, 9) for order in ("AB", "BA")}
    marked = {one["juror"] for one in export_rows("verdicts", record) if one["recused"]}
    assert marked == {"near/j9"}
    assert record.verdict is not None
    assert (record.verdict.valid, record.verdict.winner) == (6, record.ballots[0].verdict)
    reveal = meant(line, Reveal)
    assert "near/j9: " in plain(reveal, "x·1/1")
    assert plain(reveal, "x·1/1").count("not counted, as it is related to a debater") == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [3, 2, 5, 8])
async def test_jurors_that_go_by_the_order_alone_give_no_verdict_yet(
    stage: Stage, line: Running, mode: PanelMode, count: int
) -> None:
    stage.server.respond = lambda body: first_shown(body) if judging(body) else play(body)
    debate = await line.hold(of(mode, EIGHT[:count]))
    record = await line.record(debate.id)
    assert record.verdict is not None
    assert record.verdict.winner == ("tie" if mode is PanelMode.ONE else None)
    assert record.verdict.invalid == 0
    if mode is not PanelMode.ONE:
        assert sum(record.verdict.readings.values()) == record.verdict.valid
        [row] = export_rows("debates", record)
        assert {one["option"] for one in row["jury_readings"]} == {"A", "B"}
        told = plain(meant(line, Reveal), "x·1/1")
        assert "Jury: no verdict yet (readings: 🔵 A " in told
        assert ("; six have to agree)" in told) == (count == 2)
        assert "have not yet shown that they see more than order or chance" in told


@pytest.mark.parametrize("mode", [PanelMode.ALL, PanelMode.ONE])
async def test_a_failed_juror_stays_a_failed_juror(
    stage: Stage, line: Running, mode: PanelMode
) -> None:
    """Nobody takes its place, and its other reading decides nothing on its own."""

    def respond(body: Any) -> str:
        if judging(body) and body["model"] == "j1":
            return "no ballot"
        return play(body)

    stage.server.respond = respond
    debate = await line.hold(of(mode, EIGHT[:4]))
    record = await line.record(debate.id)
    failed = [one for one in export_rows("verdicts", record) if one["juror"] == "near/j1"]
    assert [(one["valid"], one["raw"]) for one in failed] == [(False, "no ballot")] * 2
    assert record.verdict is not None
    if mode is PanelMode.ONE:
        assert record.verdict.winner is None
        assert "two readings" in record.verdict.problem
        assert {one.juror for one in record.ballots} == {"near/j1"}
    else:
        assert (record.verdict.valid, record.verdict.invalid) == (6, 2)
        assert record.verdict.winner in ("A", "B")


async def test_a_single_verdict_is_marked_in_the_reveal(stage: Stage, line: Running) -> None:
    await line.hold(of(PanelMode.ONE))
    reveal = meant(line, Reveal)
    assert reveal.verdict.single
    won = marked(reveal.verdict.winner or "")
    assert f"(a single juror, 95% sure that {won} won, 1 juror read it" in plain(reveal, "x·1/1")
    why, details = plain(reveal, "x·1/1").split("Why?\n")[1].split("Details\n")
    assert (why.count("near/j"), details.count("near/j")) == (1, 1)


def once(said: str) -> Answer:
    """Return what answers once, and then finds its process gone."""
    left = [said]
    return lambda _: left.pop() if left else StoreError("The process is gone.")


@pytest.mark.parametrize("mode", MODES)
async def test_a_panel_that_dies_at_every_call_asks_for_nothing_twice(
    stage: Stage, line: Running, mode: PanelMode
) -> None:
    debate = await line.hold(of(mode, (*EIGHT[:4], KIN)))
    record = await line.record(debate.id)

    async def judge(host: ScriptedHost) -> Any:
        writer, prompts = open_transcript(debate), load_prompts()
        return await hold_panel(debate, record.turns, prompts, host, writer)

    names = sorted(debate.setup.names.values())
    said = ballot(dict(zip(names, (7, 6), strict=True)), names[0])
    whole, pieces = ScriptedHost(lambda _: said), ScriptedHost()
    expected, found = await judge(whole), None
    for _ in range(40):
        pieces.answer = once(said)
        with suppress(StoreError):
            found = await judge(pieces)
            break
    assert found == expected
    assert sorted(pieces.finished) == sorted(whole.finished) == sorted(set(whole.finished))


@pytest.mark.each_case
@pytest.mark.parametrize("count", [12, 40])
def test_a_reveal_of_many_jurors_fits_both_platforms(count: int) -> None:
    verdict = {"winner": "A", "p": {"A": 0.9, "B": 0.1}, "z": 2, "valid": 2 * count, "invalid": 0}
    jurors = tuple(
        JurorLine(
            juror=f"online/a-vendor/a-model-of-quite-a-long-name-{n}", verdict="A", order=order
        )
        for n in range(count)
        for order in (("A", "B"), ("B", "A"))
    )
    reveal = Reveal.model_validate(
        {
            "topic": "Tea beats coffee",
            "models": {"A": "x/ana", "B": "x/ben"},
            "tally": {"counts": {"A": 1}, "gold": {"A": 1}, "quorum_met": True, "winner": "A"},
            "verdict": verdict,
            "jurors": jurors,
            "agree": True,
            "usd": 0.1,
            "calls": 9,
        }
    )
    embeds = [part.body for part in discord_render.parts(reveal, "x·1")]
    blocks = [part.body for part in slack_render.parts(reveal, "x·1")]
    for number in range(count):
        assert sum(f"name-{number}`" in body for body in embeds) == 1
        assert sum(f"name-{number}`" in body for body in blocks) == 1


OPTIONS = {"roundtable": {"agents": 2, "judges": 1}, "audited": {"turns": 2}}
SLOW = "?latency=0.1"


class WatchedModels(RehearsalModels):
    """The rehearsal models, which remember what was asked and answered, in order."""

    def __init__(self) -> None:
        super().__init__(RetryPolicy())
        self.seen: list[tuple[str, str]] = []

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        self.seen.append(("asked", call.step))
        reply = await super().complete(call, log)
        self.seen.append(("answered", call.step))
        return reply

    def places(self, what: str, kind: str) -> list[int]:
        """Return when steps of a kind were asked or answered, as places in the order."""
        return [
            at for at, seen in enumerate(self.seen) if seen[0] == what and seen[1].startswith(kind)
        ]


@pytest.mark.parametrize(
    ("format", "last_word"),
    [
        ("structured", "judge"),
        ("roundtable", "judge"),
        ("audited", "judge/narrative"),
        ("team", "judge/review"),
    ],
)
async def test_the_panel_reads_as_soon_as_the_last_turn_is_spoken(
    database_url: str, format: str, last_word: str
) -> None:
    models = WatchedModels()
    defaults = REHEARSED.model_copy(
        update={
            "jurors": tuple(
                Model.parse(f"{juror.ref}{SLOW}#{juror.family}") for juror in REHEARSED.jurors
            ),
            "limits": {"team": {"free_minutes": 0.3}},
        }
    )
    order = Order(
        platform="memory",
        community="club",
        place=LOBBY,
        format=format,
        options=OPTIONS.get(format, {}),
    )
    warm_up(load_prompts(), frozenset())
    async with Hall(database_url).open(models) as session:
        started = await session.service.start(order, defaults)
        await session.voting(started.debate.id)
    jury = min(models.places("asked", "jury/"))
    assert max(models.places("answered", "turn/")) < jury
    assert jury < max(models.places("answered", last_word))
