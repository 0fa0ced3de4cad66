"""Calibrates jurors on judgments from outside: asks them, once, about what was judged there.

What a juror said of a debate is taken where it is known. The rest is asked as in a debate: each
call is journaled, by case, juror and order, and the next run asks only for what is missing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from engine.blinding.identity import draw_names
from engine.blinding.transcript import BLINDER
from engine.fleet.leases import LeaseManager
from engine.jury.ballot import JurorReading
from engine.jury.panel import JurorPrompt, PanelReadings, open_transcript
from engine.prompts import Prompts
from engine.run.estimate import JURY_PROMPT_TOKENS, manner_of
from engine.run.later_judges import LaterJurors
from engine.stage.steps import BYTES_PER_TOKEN, Pace, Steps
from engine.store import Lease, Store
from engine.store.learning import Learnt
from engine.values.debate import (
    REHEARSAL,
    Criterion,
    Debate,
    Model,
    PanelSetup,
    Price,
    Request,
    Sampling,
    Turn,
    Value,
)
from engine.values.errors import BudgetError
from engine.values.verdicts import Ballot

if TYPE_CHECKING:
    from engine.values.protocols import Models

READERS = 6  # of each case: enough that what jurors share is told from what they see
AT_ONCE = 8  # cases
PROMPT_TOKENS = 3000  # what a juror reads beside the turns, at most
LARGEST_SEED = 2**48


class JudgedCase(Value):
    """Something that was judged elsewhere: two sides' turns, and whom people preferred.

    `ballots` are known ones; `human` is a side or "tie", None where people were not asked. One
    without turns can be learnt from, and no juror can be asked about it.
    """

    key: str
    topic: str
    sides: dict[str, Model]
    turns: tuple[Turn, ...] = ()
    conditions: str = ""
    stances: Mapping[str, str] = {}
    language: str = "en"
    ballots: tuple[Ballot, ...] = ()
    human: str | None = None
    rubric: str = "debate"
    criteria: tuple[Criterion, ...] = ()
    blind: bool = True

    @property
    def contenders(self) -> tuple[str, ...]:
        """The two sides, in order."""
        return tuple(sorted(self.sides))

    def learnt(self, source: str, ballots: Iterable[Ballot]) -> Learnt:
        """Return what is learnt from it, with these ballots."""
        known, made_up = tuple(ballots), f"{REHEARSAL}/"
        speakers = any(model.rehearses for model in self.sides.values())
        return Learnt(
            key=self.key,
            source=source,
            ballots=known,
            rubric=self.rubric,
            criteria=self.criteria,
            human=self.human,
            blind=self.blind,
            rehearsal=speakers or any(one.juror.startswith(made_up) for one in known),
        )


class IncompleteCase(NamedTuple):
    """A case with the readings that it lacks."""

    case: JudgedCase
    readings: tuple[JurorReading, ...]


@dataclass(slots=True)
class CalibrationProgress:
    """How far it is: `asked` readings are in, `missing` could not be had now, and why."""

    asked: int = 0
    missing: int = 0
    problem: str = ""
    full: bool = False


def plan_questions(
    cases: Sequence[JudgedCase],
    jurors: Sequence[Model],
    known: Sequence[Learnt],
    readers: int = READERS,
) -> list[IncompleteCase]:
    """Return what to ask: each case of some jurors, once each, in alternating orders; pure.

    Which jurors is drawn by the case's key, so that every two meet; each has either order as often.
    A second run draws the same. A juror of a debater's family is not asked; one whose ballot is
    known counts.
    """
    learnt = {one.key: one.ballots for one in known}
    planned = (
        IncompleteCase(case, tuple(_readings(at, case, jurors, learnt.get(case.key, ()), readers)))
        for at, case in enumerate(cases)
        if case.turns
    )
    return [one for one in planned if one.readings]


def _readings(
    at: int, case: JudgedCase, jurors: Sequence[Model], learnt: Sequence[Ballot], readers: int
) -> Iterable[JurorReading]:
    own = {model.maker for model in case.sides.values()}
    may = [juror for juror in jurors if juror.maker not in own]
    drawn = Random(f"calibration/{case.key}").sample(may, len(may))
    read = {ballot.juror for ballot in (*case.ballots, *learnt)}
    # Jurors whose ballots are known first: they are free.
    chosen = sorted(drawn, key=lambda juror: juror.ref not in read)[:readers]
    orders = (case.contenders, case.contenders[::-1])
    for juror in chosen:
        if juror.ref not in read:
            yield JurorReading(juror, orders[(at + Random(juror.ref).randrange(2)) % 2])


def price_questions(
    questions: Sequence[IncompleteCase], prices: dict[str, Price | None], sampling: Sampling
) -> tuple[float, float] | None:
    """Return what the questions cost in USD, as expected and at most; None: a price is unknown.

    A reply that cannot be read is asked for once more. Pure.
    """
    usd = most = 0.0
    for question in questions:
        size = sum(len(turn.text.encode()) for turn in question.case.turns)
        for reading in question.readings:
            price = prices.get(reading.juror.ref)
            if price is None:
                return None
            manner = manner_of(reading.juror)
            read = JURY_PROMPT_TOKENS + math.ceil(size / manner.token)
            usd += price.cost(read, manner.ballot)
            worst = PROMPT_TOKENS + math.ceil(2 * size / BYTES_PER_TOKEN)
            most += 2 * price.cost(
                worst, reading.juror.sampling(sampling).max_tokens, written=worst
            )
    return usd, most


@dataclass
class Calibration:
    """Asks the questions of one source, whose calls are journaled as `session`.

    `usd` is what they may cost in all, None for no cap.
    """

    session: Debate
    source: str
    store: Store
    models: Models
    lease_manager: LeaseManager
    prompts: Prompts
    prices: dict[str, Price | None]
    usd: float | None = None
    progress: CalibrationProgress = field(default_factory=CalibrationProgress)

    async def ask(self, questions: Sequence[IncompleteCase]) -> CalibrationProgress:
        """Ask what is missing and store each case's ballots; a reached cap ends it early."""
        async with self.lease_manager.hold(f"debate/{self.session.id}") as lease:
            journaled = await self.store.journal.load(self.session.id)
            cap = None if self.usd is None else journaled.spent + self.usd
            changed = {"prices": self.prices, "cap_usd": cap}
            setup = self.session.setup.model_copy(update=changed)
            session = self.session.model_copy(update={"setup": setup})
            services = (self.store, self.models, self.lease_manager)
            steps = Steps(session, lease, journaled, *services, Pace())
            room = asyncio.Semaphore(AT_ONCE)
            try:
                work = (self._case(one, session, steps, lease, room) for one in questions)
                # Every case ends before a failure is raised: what was paid for is journaled.
                for result in await asyncio.gather(*work, return_exceptions=True):
                    if isinstance(result, BaseException):
                        raise result
            finally:
                await steps.flush()
        return self.progress

    async def _case(
        self,
        question: IncompleteCase,
        session: Debate,
        steps: Steps,
        lease: Lease,
        room: asyncio.Semaphore,
    ) -> None:
        async with room:
            if self.progress.full:
                self._miss(len(question.readings), "")
                return
            case, loop = question.case, asyncio.get_running_loop()
            debate = _as_debate(session, case)
            transcript = await loop.run_in_executor(
                BLINDER, lambda: open_transcript(debate).lay_out(case.turns)
            )
            shown: dict[tuple[str, ...], JurorPrompt] = {}
            asked = [
                _CaseReading(
                    PanelReadings(debate, transcript, self.prompts, caller, shown),
                    caller,
                    reading,
                )
                for reading in question.readings
                for caller in (LaterJurors(steps, f"judging/{case.key}/"),)
            ]
            asked[0].panel.prepare({one.reading.order for one in asked})
            found = await asyncio.gather(*(one.read() for one in asked))
            await steps.flush()
            ballots = [ballot for ballot in found if ballot is not None]
            for one in asked:
                if one.missing:
                    self._miss(1, one.missing)
                    self.progress.full = self.progress.full or one.full
                else:
                    self.progress.asked += 1
            if ballots:
                await self.store.learning.learn(lease, [case.learnt(self.source, ballots)])

    def _miss(self, number: int, problem: str) -> None:
        self.progress.missing += number
        self.progress.problem = self.progress.problem or problem


@dataclass(slots=True)
class _CaseReading:
    """One reading of a case; `missing` says why it could not be had now."""

    panel: PanelReadings
    caller: LaterJurors
    reading: JurorReading
    missing: str = ""
    full: bool = False

    async def read(self) -> Ballot | None:
        """Return the juror's ballot, None if a later try may have one."""
        try:
            _, ballot = await self.panel.read(self.reading)
        except BudgetError as error:
            self.missing, self.full = str(error), True
            return None
        if self.caller.passing is not None:
            self.missing = str(self.caller.passing)
            return None
        return ballot


def _as_debate(session: Debate, case: JudgedCase) -> Debate:
    """Return a case as a debate that has just been held, for its jurors."""
    setup = session.setup
    seed = Random(f"names/{case.key}").randrange(LARGEST_SEED)
    avoid = (case.topic, case.conditions, *(model.name for model in case.sides.values()))
    request = Request(
        topic=case.topic,
        conditions=case.conditions,
        language=case.language,
        sides={side: case.sides[side] for side in case.contenders},
        stance_a=case.stances.get("A", ""),
        stance_b=case.stances.get("B", ""),
        blind=case.blind,
    )
    roster, rubric = setup.panel.roster, case.rubric
    panel = PanelSetup(roster=roster, rubric=rubric, criteria=case.criteria, blind=case.blind)
    names = draw_names(case.contenders, seed, avoid)
    changed = {"request": request, "names": names, "panel": panel, "seed": seed}
    return session.model_copy(update={"setup": setup.model_copy(update=changed)})
