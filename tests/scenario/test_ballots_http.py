"""Every way in which a juror can answer, over HTTP, and what is stored of it."""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.jury.aggregate import UNPROVEN
from engine.run.order import Defaults
from engine.values.debate import Debate, Model, PanelMode, Status
from engine.values.verdicts import Ballot, Verdict
from tests.doubles import model_server as acts
from tests.doubles.model_server import Body, ModelServer, answers_in
from tests.kit import some
from tests.scenario.conftest import (
    DEFAULTS,
    JURORS,
    Running,
    Stage,
    ballot,
    fair_ballot,
    play,
    prompt,
    shown,
    summing_up,
)

Answer = Callable[[Body], str]
Ballots = tuple[Ballot, Ballot]


def scored(score: object, **changes: object) -> Answer:

    def answer(body: Body) -> str:
        first, second = shown(body)
        return ballot({first: score, second: 5}, first, **changes)  # type: ignore[dict-item]  # wrong on purpose

    return answer


def voting(verdict: str) -> Answer:
    return lambda body: ballot(dict.fromkeys(shown(body), 6), verdict)


def contradictory(body: Body) -> str:
    first, second = shown(body)
    return ballot({first: 8, second: 5}, second)


def wrapped(before: str, after: str) -> Answer:
    return lambda body: f"{before}{fair_ballot(body)}{after}"


def cut(body: Body) -> str:
    return fair_ballot(body)[:-40]


def two_minds(body: Body) -> str:
    return fair_ballot(body) + voting("tie")(body)


class Case(NamedTuple):
    """What a juror answers, first and when asked again, and what that amounts to."""

    answers: tuple[Answer, ...]
    valid: bool
    problem: str = ""
    verdict: str = ""  # "tie", or nothing for the fair one
    repaired: bool = False
    contradictory: bool = False


NO_ONE = "names no one on the ballot"
CASES = {
    "plain": Case((fair_ballot,), True),
    "prose around it": Case((wrapped("Here I judge: ", "\nThat is all."),), True),
    "a fence": Case((wrapped("```json\n", "\n```"),), True),
    "half a character beside it": Case((wrapped("So: \ud800", ""),), True, repaired=True),
    "half a character in it": Case(
        (lambda body: fair_ballot(body).replace("Both were", "Both \\ud800 were"),),
        True,
        repaired=True,
    ),
    "a trailing comma": Case((lambda body: fair_ballot(body)[:-1] + ",}",), True, repaired=True),
    "cut off, twice": Case((cut, cut), False, "is not closed"),
    "cut off, then whole": Case((cut, fair_ballot), True),
    "two that differ": Case((two_minds, two_minds), False, "two JSON objects that differ"),
    "no JSON at all": Case((lambda body: "A won.",) * 2, False, "holds no JSON object"),
    "Tie": Case((voting("Tie"),), True, verdict="tie"),
    "TIE": Case((voting("TIE"),), True, verdict="tie"),
    "a tie in Turkish": Case((voting("BERABERLİK"),), True, verdict="tie"),
    "a tie in Chinese": Case((voting("平局"),), True, verdict="tie"),
    "a score of 11": Case((scored(11), scored(0)), False, "not from 1 to 10"),
    "half a point": Case((scored(7.5),) * 2, False, "not an integer"),
    "a score in words": Case((scored("8"),) * 2, False, "not an integer"),
    "a score of 11, then none": Case((scored(11), fair_ballot), True),
    "a verdict for Side A": Case((voting("Side A"),) * 2, False, NO_ONE),
    "a verdict for a model": Case((voting("ana"),) * 2, False, NO_ONE),
    "both names as verdict": Case((voting("Avocet and Wagtail"),) * 2, False, NO_ONE),
    "against its own scores": Case(
        (contradictory,) * 2, True, "weighted score is 3.00 lower", contradictory=True
    ),
    "against its own scores once": Case((contradictory, fair_ballot), True),
    "confidence of 7": Case((scored(7, confidence=7),) * 2, False, "not a number from 0 to 1"),
}


def first_juror(answer: Answer) -> Answer:
    """Let the first juror fill in both its ballots so, and answer all else as ever."""
    return lambda body: (
        answer(body) if body["model"] == "j1" and not summing_up(body) else play(body)
    )


async def judge(line: Running, defaults: Defaults = DEFAULTS) -> tuple[Debate, Verdict, Ballots]:
    started = await line.start(defaults)
    debate = await line.judged(started.debate.id)
    return debate, *await result(line, debate)


async def result(line: Running, debate: Debate) -> tuple[Verdict, Ballots]:
    judged = await line.store.journal.read(debate.id, "verdict", "ballots")
    verdict, ballots = judged.verdict, judged.ballots
    assert verdict is not None
    one, other = (ballot for ballot in ballots if ballot.juror == JURORS[0].ref)
    return verdict, (one, other)


class Judged(NamedTuple):
    """A debate whose first juror answered as a case says, and every answer to each order."""

    debate: Debate
    verdict: Verdict
    ballots: Ballots
    said: dict[tuple[str, ...], list[str]]


@pytest.fixture(scope="module")
def judged(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    """What every case came to; held once and all at once, because each takes a whole debate."""
    path = tmp_path_factory.mktemp("ballots") / "rostrum.db"
    shutil.copy(migrated_file, path)
    names = list(CASES)
    said = {name: defaultdict[tuple[str, ...], list[str]](list) for name in CASES}

    def respond(body: Body) -> str:
        name = names[int(prompt(body).split("Motion number ")[1].split()[0])]
        answers = said[name][shown(body)]
        answers.append(CASES[name].answers[len(answers)](body))
        return answers[-1]

    async def hold() -> dict[str, Judged]:
        url = f"sqlite+aiosqlite:///{path}"
        async with (
            ModelServer(first_juror(respond)) as server,
            Stage(url, server).process() as line,
        ):
            topics = [f"Motion number {number} carries" for number in range(len(names))]
            debates = [(await line.start(topic=topic)).debate for topic in topics]
            found = {}
            for name, debate in zip(names, debates, strict=True):
                await line.judged(debate.id)
                found[name] = Judged(debate, *await result(line, debate), said[name])
            return found

    return asyncio.run(hold())


@pytest.mark.each_case
@pytest.mark.parametrize("name", CASES)
def test_a_ballot_is_what_its_reply_amounts_to(judged: dict[str, Judged], name: str) -> None:
    case, (debate, verdict, ballots, said) = CASES[name], judged[name]
    for found in ballots:
        check(case, debate, found, said[tuple(found.names[side] for side in found.order)])
    assert (verdict.valid, verdict.invalid) == ((6, 0) if case.valid else (4, 2))


def check(case: Case, debate: Debate, found: Ballot, said: list[str]) -> None:
    """A ballot is what the case says its answers amount to."""
    assert len(said) == len(case.answers)
    assert found.raw == said[-1].replace("\ud800", "\ufffd")
    assert found.valid is case.valid
    assert case.problem in found.problem
    assert bool(found.problem) == bool(case.problem)
    assert (found.repaired, found.contradictory) == (case.repaired, case.contradictory)
    if case.valid:
        names = debate.setup.names
        fair = min(names, key=lambda side: names[side])
        assert found.contradictory or found.verdict == (case.verdict or fair)
        assert found.scores is not None
        assert found.weight == 1.0
    else:
        assert (found.scores, found.verdict, found.signal, found.weight) == (None,) * 4


def test_a_contradictory_verdict_adds_nothing_to_its_scores(judged: dict[str, Judged]) -> None:
    for found in judged["against its own scores"].ballots:
        # Three points apart at a spread of 1.5, without the 0.35 of the verdict.
        assert sorted(some(found.signal).values()) == [-2.0, 2.0]


async def test_a_retry_names_what_was_wrong_and_keeps_the_question(
    line: Running, stage: Stage
) -> None:
    answers = (scored(11), fair_ballot)
    stage.server.respond = first_juror(lambda body: answers[answers_in(body)](body))
    await judge(line)
    asked = [body for body in stage.jurors_asked if body["model"] == "j1"]
    assert len(asked) == 4
    for order in {shown(body) for body in asked}:
        first, again = (body for body in asked if shown(body) == order)
        assert again["messages"][: len(first["messages"])] == first["messages"]
        assert "is not from 1 to 10" in again["messages"][-1]["content"]


async def test_a_juror_that_cannot_answer_casts_an_invalid_ballot(stage: Stage) -> None:
    stage.server.always(acts.refusal(), model="j1")
    # As many as agree before jurors are proven to see: six readings of three others.
    defaults = DEFAULTS.model_copy(update={"jurors": JURORS[:4], "panel": PanelMode.ALL})
    async with stage.process() as line:
        debate, verdict, ballots = await judge(line, defaults)
        await line.ended(debate.id)
        calls = (await line.record(debate.id)).calls
    for found in ballots:
        assert (found.valid, found.scores, found.verdict, found.weight) == (False, None, None, None)
        assert found.problem == "no answer: declined"
    assert [call.error for call in calls if "declined to answer" in (call.error or "")]
    assert (verdict.valid, verdict.invalid) == (6, 2)
    assert verdict.winner is not None


@pytest.mark.each_case
@pytest.mark.parametrize("counts", [False, True])
async def test_what_was_said_before_a_juror_died_is_kept_and_counts_if_it_is_a_ballot(
    line: Running, stage: Stage, counts: bool
) -> None:
    said = contradictory if counts else lambda body: "I refuse."
    stage.server.respond = first_juror(said)
    stage.server.script(*[acts.status(401)] * 2, model="j1", said=1)
    _, verdict, ballots = await judge(line)
    assert [(found.valid, found.contradictory) for found in ballots] == [(counts, counts)] * 2
    assert verdict.valid == (6 if counts else 4)
    if not counts:
        for found in ballots:
            assert found.raw == "I refuse."
            assert "holds no JSON object" in found.problem
            assert "no answer: key (401)" in found.problem


@pytest.mark.parametrize("valid", [1, 0])
async def test_fewer_than_two_valid_ballots_are_no_verdict(
    line: Running, stage: Stage, valid: int
) -> None:
    for model in ("j1", "j2"):
        stage.server.always(acts.status(401), model=model)
    stage.server.script(*[acts.status(401)] * (2 - valid), model="j3")
    debate, verdict, _ = await judge(line)
    assert (await line.ended(debate.id)).status is Status.CLOSED
    assert (verdict.winner, verdict.p, verdict.z) == (None, {}, None)
    assert f"the panel has {valid} ballots that count" in verdict.problem
    assert verdict.problem in stage.venue.said()


def rehearsing(count: int, options: str) -> tuple[Model, ...]:
    """Name so many rehearsal jurors that behave so."""
    return tuple(Model.parse(f"rehearsal/j{n}?{options}#kin{n}") for n in range(count))


async def hold_many(line: Running, jurors: tuple[Model, ...], debates: int) -> list[Verdict]:
    """Hold debates on different topics before a panel, and return its verdicts."""
    sides = {"A": Model.parse("rehearsal/oak"), "B": Model.parse("rehearsal/elm")}
    defaults = DEFAULTS.model_copy(update={"sides": sides, "jurors": jurors, "vote_minutes": 60.0})
    for number in range(debates):
        await line.start(defaults, topic=f"Topic number {number}", seed=number)
    held = await line.store.listings.recent()
    verdicts = []
    for debate in held:
        await line.judged(debate.id)
        verdict = (await line.store.journal.read(debate.id, "verdict")).verdict
        verdicts.append(some(verdict))
    return verdicts


@pytest.mark.parametrize("jurors", [3, 4, 5, 6])
async def test_jurors_that_prefer_whoever_is_shown_first_decide_nothing(
    line: Running, jurors: int
) -> None:
    verdicts = await hold_many(line, rehearsing(jurors, "prefer=first"), 10)
    for one in verdicts:
        assert (one.winner, one.p, one.problem) == (None, {}, UNPROVEN)
        assert one.readings == {"A": 3, "B": 3}


async def test_jurors_that_see_the_true_winner_never_say_tie(line: Running) -> None:
    verdicts = await hold_many(line, rehearsing(6, "prefer=stronger&margin=1"), 10)
    assert {one.winner for one in verdicts} == {"A", "B"}
