"""Every fault of a model's backend at every step of a debate, over HTTP.

A fault comes once at every step and is survived; or it lasts at every step in turn, where the
debate fails and a new process goes on (a juror's is an invalid ballot, and another one is asked).
"""

import asyncio
import shutil
import sqlite3
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from adapters.models.attempts import LIMITED_TRIES, RetryPolicy
from adapters.models.backends import Backend
from adapters.models.router import open_models
from engine.values.debate import Debate, Model, Status, Turn
from engine.values.failures import failure_in, no_answer
from engine.values.ports import VenueLimits
from engine.values.verdicts import Ballot, Verdict
from tests.doubles import model_server as acts
from tests.doubles.deadlines import deadlines_by_event
from tests.doubles.hall import joined
from tests.doubles.model_server import Absence, Act, Body, ModelServer, answers_in
from tests.doubles.venue import MemoryVenue
from tests.kit import some, until_asked
from tests.scenario.conftest import (
    DEFAULTS,
    NO_CAPS,
    PRICE,
    Running,
    judging,
    play,
    shown,
    summing_up,
)

UNREADABLE = "I like both of them."
VOTED_ON = DEFAULTS.model_copy(update={"vote_minutes": 600.0})
QUIET = VenueLimits(typing_seconds=60, send_seconds=0.1)
TIMEOUT_S = 30.0
ROSTER = tuple(f"j{number}" for number in range(1, 7))


class Step(NamedTuple):
    """A step of the debates here: its name, its model, and the answers its request holds."""

    name: str
    model: str
    said: int


TURNS = (
    Step("turn/opening/A", "ana", 0),
    Step("turn/opening/A/shorten", "ana", 1),
    Step("turn/opening/B", "ben", 0),
    Step("turn/rebuttal/A", "ana", 2),
    Step("turn/rebuttal/B", "ben", 1),
    Step("turn/assumptions/A", "ana", 3),
    Step("turn/assumptions/B", "ben", 2),
    Step("turn/closing/A", "ana", 4),
    Step("turn/closing/B", "ben", 3),
)


SUMMARY_SAID = 10  # as if in a history of its own, beside the ballots of the same juror
TURNED_SAID = 20  # where a juror is shown the contenders against their names' order


def said_by(body: Body) -> int:
    """Return which step of its model a request is: the answers in it, its order, the summary."""
    if summing_up(body):
        return SUMMARY_SAID
    turned = judging(body) and shown(body) != tuple(sorted(shown(body)))
    return answers_in(body) + TURNED_SAID * turned


class Try(NamedTuple):
    step: str
    attempt: int
    state: str
    error: str
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    cost_max: float


class Held(NamedTuple):
    """A debate as it stands in the end, everything kept of it, and how it failed before."""

    debate: Debate
    failures: tuple[Debate, ...]
    turns: tuple[Turn, ...]
    verdict: Verdict | None
    ballots: tuple[Ballot, ...]
    journal: tuple[Try, ...]
    server: ModelServer

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(turn.step, turn.text) for turn in self.turns]

    @property
    def asked(self) -> Counter[tuple[str, int]]:
        return Counter((str(body["model"]), said_by(body)) for body in self.server.requests)

    @property
    def billed(self) -> float:
        """USD for every answer whose usage the server stated."""
        usages = self.server.stated
        return sum(PRICE.cost(u["prompt_tokens"], u["completion_tokens"]) for u in usages)

    def tries(self, step: str) -> list[Try]:
        return [one for one in self.journal if one.step == step]

    def readings(self, place: int, *, again: bool = False) -> list[str]:
        ref = self.debate.setup.panel.roster[place].ref
        steps = {one.step for one in self.journal if one.step.startswith(f"jury/{ref}/")}
        return sorted(step for step in steps if step.endswith("/again") is again)

    def ballot(self, step: str) -> Ballot:
        read = {f"jury/{one.juror}/{''.join(one.order)}": one for one in self.ballots}
        return read[step.removesuffix("/again")]


def speak(body: Body) -> str:
    said = play(body)
    wordy = not judging(body) and body["model"] == "ana" and answers_in(body) == 0
    return f"{said} {'And so on. ' * 200}" if wordy else said


@dataclass(slots=True)
class House:
    """The backend of one debate, and the debate that is held on it."""

    name: str
    server: ModelServer = field(default_factory=lambda: ModelServer(speak, said=said_by))
    jurors: int = len(ROSTER)
    debate_id: str = ""
    roster: tuple[Model, ...] = ()
    failures: list[Debate] = field(default_factory=list)

    def model(self, name: str) -> Model:
        return Model.parse(f"{self.name}/{name}#{name}")

    async def start(self, line: Running) -> None:
        sides = {"A": self.model("ana"), "B": self.model("ben")}
        jurors = tuple(self.model(name) for name in ROSTER[: self.jurors])
        debate = (await line.start(VOTED_ON, models=sides, jurors=jurors)).debate
        self.debate_id, self.roster = debate.id, debate.setup.panel.roster

    async def proceed(self, line: Running) -> None:
        if self.debate_id:
            await line.service.resume(self.debate_id, NO_CAPS)
        else:
            await self.start(line)

    async def rest(self, line: Running) -> Debate:
        return await until_asked(
            lambda: line.store.debates.get(self.debate_id), lambda debate: not debate.status.live
        )

    def disturb(self, step: Step, *acts: Act) -> None:
        """Answer the next requests for a step so."""
        self.server.script(*acts, model=step.model, said=step.said)

    def juror(self, place: int, again: bool = False) -> tuple[Step, Step]:
        """Return the steps of the juror at a place of the roster, in both orders, unnamed."""
        name = self.roster[place].name
        return Step("", name, int(again)), Step("", name, int(again) + TURNED_SAID)

    @property
    def summary(self) -> Step:
        return Step("summary", self.roster[-1].name, SUMMARY_SAID)


@dataclass(slots=True)
class FaultStage:
    """What outlives a process: the database file, the venue and the houses."""

    path: Path
    houses: Sequence[House]
    patience: RetryPolicy
    venue: MemoryVenue = field(default_factory=lambda: MemoryVenue(limits=QUIET))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for house in self.houses:
                await stack.enter_async_context(house.server)
            yield

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Running]:
        backends = {
            house.name: Backend.of(house.name, base_url=house.server.base_url, timeout_s=TIMEOUT_S)
            for house in self.houses
        }
        prices = dict.fromkeys(("ana", "ben", *ROSTER), PRICE)
        models = open_models(backends, prices, self.patience)
        url = f"sqlite+aiosqlite:///{self.path}"
        async with joined(url, self.venue, models=models) as (line, store):
            yield Running(line.service, store, line, self.venue)

    async def outcomes(self, line: Running) -> dict[str, Held]:
        """Return what every debate came to, by its house."""
        held = {}
        for house in self.houses:
            debate = await line.store.debates.get(house.debate_id)
            judged = await line.store.journal.read(debate.id, "verdict", "ballots")
            verdict, ballots = judged.verdict, judged.ballots
            turns, journal = await asyncio.to_thread(self._read, debate.id)
            held[house.name] = Held(
                debate, tuple(house.failures), turns, verdict, ballots, journal, house.server
            )
        return held

    def _read(self, debate_id: str) -> tuple[tuple[Turn, ...], tuple[Try, ...]]:
        file = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        try:
            spoken = file.execute(
                "SELECT body FROM turns WHERE debate = ? ORDER BY number", [debate_id]
            ).fetchall()
            tried = file.execute(
                "SELECT step, attempt, state, error, tokens_in, tokens_out, cost, cost_max"
                " FROM calls WHERE debate = ? ORDER BY step, attempt",
                [debate_id],
            ).fetchall()
        finally:
            file.close()
        turns = tuple(Turn.model_validate_json(body) for (body,) in spoken)
        return turns, tuple(Try(*row) for row in tried)


SCALE = 1 / 40  # of the waits, and of the time that a server is away
CURT = RetryPolicy(tries=2, first_wait=0.01)
USUAL = RetryPolicy()
PATIENT = RetryPolicy(
    tries=USUAL.tries,
    first_wait=USUAL.first_wait * SCALE,
    longest_wait=USUAL.longest_wait * SCALE,
)
AWAY_S = 20 * SCALE
LATER = "try again later or choose another model"
CAP = "raise the token cap of the role: ROSTRUM_SAMPLING__DEBATER__MAX_TOKENS"
REACH = "check that it runs and that its BASE_URL in ROSTRUM_BACKENDS is right"


class Fault(NamedTuple):
    """How a backend fails: `tries` until it is given up, and what one such try costs."""

    act: Act
    what: str
    advice: str = LATER
    tries: int = 2
    cost: Literal["nothing", "something", "unknown"] = "nothing"

    @property
    def leaves(self) -> Absence | None:
        """How the backend is away, when it cannot be reached at all."""
        return self.act.leaves


AWAY: dict[str, Fault] = {
    "connect refused": Fault(Act(leaves="refusing"), "could not be reached at http://", REACH),
    "connect time-out": Fault(Act(leaves="deaf"), "could not be reached at http://", REACH),
}
FINAL = {
    "401": Fault(acts.status(401), "refused the key (401)", "check its key", 1),
    "402": Fault(acts.status(402), "has no credit left (402)", "add credit to the account", 1),
    "404": Fault(acts.status(404), "does not know the model (404)", "check ROSTRUM_MODELS", 1),
    "429, Retry-After 130 s": Fault(
        acts.status(429, retry_after=130), "asks to wait 130 s, more than 120 s", tries=1
    ),
    "content filter": Fault(
        acts.empty("content_filter"),
        "declined to answer (content filter)",
        "reword the topic or choose another model",
        tries=1,
        cost="something",
    ),
}
PASSING = {
    "429": Fault(acts.status(429), "allows no more calls for now (429)", tries=2 + LIMITED_TRIES),
    "500": Fault(acts.status(500), "failed (500)"),
    "503": Fault(acts.status(503), "is overloaded (503)"),
    "reset before the answer": Fault(acts.reset("before"), "broke the connection", cost="unknown"),
    "reset in mid-answer": Fault(acts.reset(), "broke the connection", cost="unknown"),
    "200 with an error body": Fault(
        acts.error_body(), "answered with an error: upstream failed", cost="unknown"
    ),
    "empty": Fault(acts.empty(), "answered without any text", cost="something"),
    "length without text": Fault(
        acts.empty("length"), "used up the token cap", CAP, cost="something"
    ),
    "garbage JSON": Fault(acts.garbage(), "something that is not JSON", cost="unknown"),
    "wrong content type": Fault(acts.page(), "something that is not JSON", cost="unknown"),
}
SLOW = {
    "429, Retry-After 0.1 s": Fault(
        acts.status(429, retry_after=0.1), "for now (429)", tries=2 + LIMITED_TRIES
    ),
    "read time-out": Fault(
        acts.hang(),
        f"did not answer within {TIMEOUT_S:g} s",
        "raise the backend's TIMEOUT_S",
        cost="unknown",
    ),
}
ODD = {
    "clean": Act(),
    "another model": Act(model="other-2"),
    "missing usage": Act(usage=False),
    "JSON called text": Act(content_type="text/plain"),
}
ASKED_AGAIN = {
    f"{name}, {when}": replace(fault.act, text=UNREADABLE, away=away)
    for name, fault in AWAY.items()
    for when, away in (("for a while", AWAY_S), ("for good", 0.0))
}
LASTING = {**FINAL, **PASSING, **SLOW, **AWAY}
ONCE = {**PASSING, **SLOW}


class Matrix(NamedTuple):
    """What every debate came to: with a fault once at each step, and with one that lasts.

    The debates that share a lasting fault take every so-manieth turn each.
    """

    once: dict[str, Held]
    lasting: dict[str, tuple[Held, ...]]


def house_of(place: int, name: str) -> House:
    return House(f"b{place}", jurors=1 if name in ASKED_AGAIN else 6)


def prepare_once(name: str, house: House) -> None:
    if name in ODD:
        house.server.always(ODD[name])
    elif name == "an answer of 1 MB":
        for said in range(8):
            for model in ("ana", "ben"):
                # Too long, so it is asked for again; B's last one, which no delivery waits for,
                # is as long.
                wordy = said % 2 == 0 or (model, said) == ("ben", 7)
                house.disturb(Step("", model, said), acts.big() if wordy else Act())
    elif name in AWAY:
        for step in TURNS:
            house.disturb(step, Act(leaves=AWAY[name].leaves, away=AWAY_S))
    elif name in ONCE:
        for step in TURNS:
            house.disturb(step, ONCE[name].act)


def prepare_jurors(name: str, house: House) -> None:
    """Let the first juror write what cannot be read, and disturb every juror once."""
    first, again = house.juror(0)[0], house.juror(0, again=True)[0]
    unreadable = acts.says(UNREADABLE)
    if name in ODD:
        unreadable = replace(ODD[name], text=UNREADABLE)
    elif name == "an answer of 1 MB":
        for step in (*_panel(house), *house.juror(0, again=True), house.summary):
            house.disturb(step, acts.big())
        return
    elif name in ASKED_AGAIN:
        unreadable = ASKED_AGAIN[name]
        # The connection of an answered summary or other order would be a way round the absence.
        for step in (house.summary, house.juror(0)[1]):
            house.disturb(step, Act(closes=True))
    elif name in ONCE:
        for step in (*_panel(house), again, house.summary):
            house.disturb(step, ONCE[name].act)
    house.disturb(first, unreadable)


def _panel(house: House) -> list[Step]:
    return [step for place in range(3) for step in house.juror(place)]


async def hold_once(path: Path, names: Sequence[str], patience: RetryPolicy) -> dict[str, Held]:
    houses = {name: house_of(place, name) for place, name in enumerate(names)}
    stage = FaultStage(path, tuple(houses.values()), patience)
    async with stage.open(), stage.process() as line:
        for name, house in houses.items():
            prepare_once(name, house)
            if name in AWAY:
                await house.server.leave(AWAY[name].leaves or "refusing", AWAY_S)
            await house.start(line)
            prepare_jurors(name, house)
        for house in houses.values():
            await house.rest(line)
        held = await stage.outcomes(line)
    return {name: held[house.name] for name, house in houses.items()}


async def prepare_lasting(fault: Fault, house: House, place: int) -> None:
    """Let the fault last at one step; then the debate is to fail there."""
    if not fault.leaves:
        return house.disturb(TURNS[place], *[fault.act] * fault.tries)
    await house.server.back()
    if place == 0:
        return await house.server.leave(fault.leaves)
    return house.disturb(TURNS[place - 1], fault.act)


async def prepare_panel(fault: Fault, house: House) -> None:
    """Let the fault last for the first two jurors, and for the third when asked again."""
    if fault.leaves:
        await house.server.back()
        return house.disturb(TURNS[-1], fault.act)
    for step in house.juror(2):
        house.disturb(step, acts.says(UNREADABLE))
    for step in (*house.juror(0), *house.juror(1), *house.juror(2, again=True)):
        house.disturb(step, *[fault.act] * fault.tries)
    return None


async def hold_lasting(
    path: Path, names: Sequence[str], shares: int = 1
) -> dict[str, tuple[Held, ...]]:
    """Hold so many debates for each fault: at each turn one fails, in a process of that wave."""
    cases = [(name, share) for name in names for share in range(shares)]
    houses = {case: house_of(place, case[0]) for place, case in enumerate(cases)}
    stage = FaultStage(path, tuple(houses.values()), CURT)
    async with stage.open():
        for first in range(0, len(TURNS), shares):
            async with stage.process() as line:
                for (name, share), house in houses.items():
                    await prepare_lasting(LASTING[name], house, first + share)
                    await house.proceed(line)
                for house in houses.values():
                    house.failures.append(await house.rest(line))
        async with stage.process() as line:
            for (name, _), house in houses.items():
                await prepare_panel(LASTING[name], house)
                await house.proceed(line)
            for house in houses.values():
                await house.rest(line)
            held = await stage.outcomes(line)
    return {
        name: tuple(held[houses[name, share].name] for share in range(shares)) for name in names
    }


async def hold_all(paths: Sequence[Path]) -> Matrix:
    quick = await hold_once(paths[0], [*ODD, *PASSING, "an answer of 1 MB"], CURT)
    failed = await hold_lasting(paths[1], [*FINAL, *PASSING, "connect refused"])
    waited, waited_for = await asyncio.gather(
        hold_once(paths[2], [*SLOW, *AWAY, *ASKED_AGAIN], PATIENT),
        hold_lasting(paths[3], [*SLOW, "connect time-out"], shares=3),
    )
    return Matrix(quick | waited, failed | waited_for)


# One fault at one step is `make test`'s: see test_model_faults.py and test_ballots_http.py.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def matrix(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """What every debate came to; held once, because together they are a few hundred calls."""
    folder = tmp_path_factory.mktemp("matrix")
    paths = [folder / f"{number}.db" for number in range(4)]
    for path in paths:
        shutil.copy(migrated_file, path)
    with warnings.catch_warnings(), deadlines_by_event():
        # The history that holds an answer of 1 MB is sent in one piece, on purpose.
        warnings.filterwarnings("ignore", "Sending a large body", ResourceWarning)
        return asyncio.run(hold_all(paths))


def steps_of(held: Held) -> list[str]:
    jurors = [step for place in range(3) for step in held.readings(place)]
    return [*(step.name for step in TURNS), *jurors, *held.readings(0, again=True), "summary"]


def check_cost(fault: Fault, failed: Try) -> None:
    """Check what the journal says that a try without an answer cost."""
    assert failed.cost_max > PRICE.cost(0, 1000)
    if fault.cost == "something":
        assert failed.cost is not None
        assert 0 < failed.cost <= failed.cost_max
        assert failed.cost == PRICE.cost(failed.tokens_in or 0, failed.tokens_out or 0)
    else:
        assert failed.cost == (0.0 if fault.cost == "nothing" else None)
        assert failed.tokens_in is failed.tokens_out is None


def check_answered(done: Try) -> None:
    """Check that a try with an answer bears what it used, and what that cost."""
    assert (done.state, done.error) == ("done", "")
    assert done.tokens_in
    assert done.tokens_out
    assert done.cost == pytest.approx(PRICE.cost(done.tokens_in, done.tokens_out))


def check_problem(problem: str, tries: Sequence[Try], fault: Fault) -> None:
    """Check that a ballot names the kind of failure alone, and the journal has all of it."""
    kind = failure_in(tries[-1].error).partition(" (")[0]  # its status may be in none of the words
    assert no_answer(kind) in problem
    assert "Backend" not in problem
    waits = fault.what.startswith("asks to wait")  # which is of the call, not of a try
    assert {waits or fault.what in one.error for one in tries} == {True}


@pytest.mark.parametrize("name", ONCE)
def test_a_fault_at_every_step_changes_nothing_that_was_said_and_is_in_the_journal(
    matrix: Matrix, name: str
) -> None:
    held, fault, clean = matrix.once[name], ONCE[name], matrix.once["clean"]
    assert (held.debate.status, held.debate.reason) == (Status.VOTING, "")
    assert held.words == clean.words
    assert held.verdict == clean.verdict
    assert [ballot.valid for ballot in held.ballots] == [True] * 6
    for step in steps_of(held):
        failed, done = held.tries(step)
        assert (failed.attempt, failed.state, done.attempt) == (1, "failed", 2)
        assert fault.what in failed.error
        check_cost(fault, failed)
        check_answered(done)
        wider = PRICE.cost(0, 1000) if name == "length without text" else 0.0
        assert done.cost_max == pytest.approx(failed.cost_max + wider)
    assert len(held.journal) == sum(held.asked.values()) == 34
    assert sum(one.cost or 0 for one in held.journal) == pytest.approx(held.billed)


@pytest.mark.parametrize("name", AWAY)
def test_a_backend_back_after_twenty_seconds_is_waited_for(matrix: Matrix, name: str) -> None:
    held, clean = matrix.once[name], matrix.once["clean"]
    assert held.debate.status is Status.VOTING
    assert held.words == clean.words
    assert held.verdict == clean.verdict
    assert set(held.asked.values()) == {1}
    for step in steps_of(held):
        *failed, done = held.tries(step)
        assert failed or step.endswith("/again")
        check_answered(done)
        for one in failed:
            assert AWAY[name].what in one.error
            assert one.cost == 0


@pytest.mark.parametrize("name", AWAY)
def test_a_juror_that_is_asked_again_is_waited_for_as_long_and_then_invalid(
    matrix: Matrix, name: str
) -> None:
    held = matrix.once[f"{name}, for a while"]
    (again,) = held.readings(0, again=True)
    *failed, done = held.tries(again)
    assert failed
    check_answered(done)
    assert held.ballot(again).valid
    held, fault = matrix.once[f"{name}, for good"], AWAY[name]._replace(tries=PATIENT.tries)
    (again,) = held.readings(0, again=True)
    ballot, tries = held.ballot(again), held.tries(again)
    assert (ballot.valid, ballot.scores, ballot.raw) == (False, None, UNREADABLE)
    check_problem(ballot.problem, tries, fault)
    assert [one.state for one in tries] == ["failed"] * PATIENT.tries
    assert {one.cost for one in tries} == {0.0}


def test_the_waits_of_the_usual_patience_are_those_here_but_for_their_scale() -> None:
    """Even the shortest waits that chance can give outlast a server that is away for 20 s."""
    scaled = [PATIENT.wait(n, 0.0) / SCALE for n in range(1, PATIENT.tries)]
    assert scaled == pytest.approx([USUAL.wait(n, 0.0) for n in range(1, USUAL.tries)])
    assert sum(scaled) > AWAY_S / SCALE == 20


def test_odd_answers_at_every_step_change_no_word_and_are_recorded(matrix: Matrix) -> None:
    clean = matrix.once["clean"]
    odd = [matrix.once[name] for name in ("another model", "missing usage", "JSON called text")]
    for held in odd:
        assert held.words == clean.words
        assert held.verdict == clean.verdict
        assert held.debate.status is Status.VOTING
    other, unpriced, called_text = odd
    assert {turn.model for turn in other.turns} == {"other-2"}
    assert {ballot.model for ballot in other.ballots} == {"other-2"}
    assert [(one.state, one.cost) for one in unpriced.journal] == [("done", None)] * 17
    known = sum(one.cost or 0 for one in clean.journal)
    assert known == pytest.approx(clean.billed)
    assert sum(one.cost_max for one in unpriced.journal) > known
    assert len(called_text.journal) == sum(called_text.asked.values()) == 17


def test_a_megabyte_at_every_step_is_kept_whole_and_never_a_score(matrix: Matrix) -> None:
    held = matrix.once["an answer of 1 MB"]
    assert held.debate.status is Status.VOTING
    *others, closing = held.turns
    assert len(closing.text) > 999_000
    assert [violation.kind for violation in closing.violations] == ["unreadable"]
    assert not any(turn.violations or len(turn.text) > 1000 for turn in others)
    long = [one for one in held.journal if (one.tokens_out or 0) == 250_000]
    assert len(long) == 18
    assert all(one.state == "done" for one in held.journal)
    for step in held.readings(0):
        spoilt = held.ballot(step)
        assert (spoilt.valid, spoilt.scores, spoilt.verdict) == (False, None, None)
        assert len(spoilt.raw) == 1_000_000
    assert some(held.verdict).invalid == 2


@pytest.mark.parametrize("step", TURNS, ids=lambda step: step.name)
@pytest.mark.parametrize("name", LASTING)
def test_a_lasting_fault_ends_the_debate_at_any_step_and_says_what_to_do(
    matrix: Matrix, name: str, step: Step
) -> None:
    shared, fault, place = matrix.lasting[name], LASTING[name], TURNS.index(step)
    held = shared[place % len(shared)]
    failure = held.failures[place // len(shared)]
    backend = failure.request.sides["A"].backend
    assert failure.status is Status.FAILED
    # It is one sentence, and names who failed, how, and what to do.
    assert failure.reason.startswith(f"Backend “{backend}” ")
    assert failure.reason.count(". ") == 0
    assert failure.reason.endswith(".")
    tries = f", {fault.tries} tries" if fault.tries > 1 else ""
    assert f"(model “{step.model}”{tries}); " in failure.reason
    assert fault.what in failure.reason
    assert fault.advice in failure.reason.partition("); ")[2]
    *failed, done = held.tries(step.name)
    assert [one.attempt for one in (*failed, done)] == [*range(1, fault.tries + 2)]
    for one in failed:
        assert one.state == "failed"
        check_cost(fault, one)
    check_answered(done)
    assert done.cost_max == failed[0].cost_max
    assert held.asked[step.model, step.said] == (1 if fault.leaves else fault.tries + 1)


@pytest.mark.parametrize("name", LASTING)
def test_a_debate_that_failed_at_every_step_ends_as_one_that_never_did(
    matrix: Matrix, name: str
) -> None:
    for held in matrix.lasting[name]:
        assert (held.debate.status, held.debate.reason) == (Status.VOTING, "")
        assert held.words == matrix.once["clean"].words
        assert sum(one.cost or 0 for one in held.journal) == pytest.approx(held.billed)


@pytest.mark.parametrize("name", [name for name in LASTING if name not in AWAY])
def test_a_juror_that_fails_for_good_is_an_invalid_ballot_and_another_is_asked(
    matrix: Matrix, name: str
) -> None:
    held, fault, clean = matrix.lasting[name][0], LASTING[name], matrix.once["clean"]
    assert held.verdict is not None
    assert clean.verdict is not None
    assert (held.verdict.valid, held.verdict.invalid) == (6, 6)
    assert held.verdict.winner == clean.verdict.winner
    failed = [step for place in range(3) for step in held.readings(place, again=place == 2)]
    assert len(failed) == 6
    for step in failed:
        ballot, again = held.ballot(step), step.endswith("/again")
        assert (ballot.valid, ballot.scores, ballot.verdict) == (False, None, None)
        assert ballot.problem.startswith("no answer") is not again
        assert ballot.raw == (UNREADABLE if again else "")
        tries = held.tries(step)
        check_problem(ballot.problem, tries, fault)
        assert [one.state for one in tries] == ["failed"] * fault.tries
        for one in tries:
            check_cost(fault, one)


@pytest.mark.parametrize("name", AWAY)
def test_a_panel_that_cannot_be_reached_gives_no_verdict_and_says_why(
    matrix: Matrix, name: str
) -> None:
    held, fault = matrix.lasting[name][0], AWAY[name]
    assert held.verdict is not None
    assert (held.verdict.winner, held.verdict.p, held.verdict.z) == (None, {}, None)
    assert held.verdict.problem
    assert (held.verdict.valid, held.verdict.invalid) == (0, 2 * len(ROSTER))
    for place in range(len(ROSTER)):
        for step in held.readings(place):
            ballot, tries = held.ballot(step), held.tries(step)
            assert (ballot.valid, ballot.scores, ballot.verdict) == (False, None, None)
            check_problem(ballot.problem, tries, fault)
            assert [one.cost for one in tries] == [0.0, 0.0]
