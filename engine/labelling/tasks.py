"""Labelling tasks: who joins, which debate is next, and what becomes of an answer.

A page calls this and nothing else. Its text is data; it learns neither a model nor a side's letter.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from random import Random
from statistics import fmean

from engine.labelling.report import (
    LabelReport,
    labelled_of,
    person_figures,
    pseudonym,
    report_of,
)
from engine.labelling.sheet import (
    LabelProgress,
    Sheet,
    SheetAnswer,
    SheetLine,
    fill,
    line_of,
    make_sheet,
)
from engine.store import DebateRecord, ExportFilter, Store
from engine.store.labels import (
    Annotator,
    Drawn,
    Joining,
    Kind,
    LinkState,
    Queued,
    SaveOutcome,
    Task,
    Terms,
)
from engine.tally.questions import vote_options
from engine.values.debate import Debate, Status
from engine.values.errors import NotFoundError, UsageError
from engine.values.language import N_
from engine.values.ports import Clock
from engine.values.text import READING
from engine.votes.offers import Doubt, doubt_of, in_doubt, ranked

# Which debates a task has, in which order, and what is mixed in between. Pure.


KNOWN_SHARE = 0.1  # of sheets, where a task has debates with a known answer
EARLY = range(2, 6)  # one of these sheets is a test in any case


def may_label(debate: Debate) -> bool:
    """Return whether a debate can be labelled: held to its end, by two models."""
    sides = debate.request.sides
    return debate.status is Status.CLOSED and len(sides) == 2 and not debate.request.guest


def kind_of(task: Task, annotator: str, number: int, possible: Collection[Kind]) -> Kind:
    """Return what an annotator's next sheet is: the same for the same place in a task."""
    place = f"{task.seed}/{annotator}"
    if "known" in possible and number == Random(place).choice(EARLY):
        return "known"
    drawn = Random(f"{place}/{number}").random()
    if "again" in possible and drawn < task.repeats:
        return "again"
    return "known" if "known" in possible and drawn >= 1 - KNOWN_SHARE else "plain"


def queue_of(
    records: Iterable[DebateRecord], known: Mapping[str, str], seed: str, *, disagreement: bool
) -> tuple[Queued, ...]:
    """Return the debates to label, and those whose answer is `known`, by debate.

    With `disagreement` only those whose winner is unclear, the least clear first; else in a random
    order that the seed fixes. Raises UsageError for a known answer that cannot be one.
    """
    sides: dict[str, str] = {}
    doubts: list[Doubt] = []
    for record in records:
        debate = record.debate
        if may_label(debate) and (record.turns or debate.request.trial):
            sides[debate.id] = "".join(debate.request.sides)
            doubts.append(doubt_of(record))
            answer = known.get(debate.id)
            options = vote_options(tuple(debate.request.sides))
            if answer is not None and answer not in options:
                raise UsageError(
                    "“{answer}” is no answer for debate {code}; choose from {options}.",
                    answer=answer,
                    code=debate.code,
                    options=tuple(options),
                )
    wrong = next((debate for debate in known if debate not in sides), None)
    if wrong is not None:
        raise UsageError(
            "Debate {debate} has a known answer, and cannot be labelled: it has to be closed, and "
            "held by two models.",
            debate=wrong,
        )
    ids = [one.debate for one in doubts if one.debate not in known]
    if disagreement:
        unclear = {one.debate for one in doubts if in_doubt(one)}
        ids = [debate for debate in ranked(doubts) if debate in unclear and debate not in known]
    else:
        ids.sort(key=lambda debate: Random(f"{seed}/{debate}").random())
    tests = sorted(known, key=lambda debate: Random(f"{seed}/{debate}").random())
    return (
        *(Queued(debate, rank, sides[debate]) for rank, debate in enumerate(ids)),
        *(Queued(debate, rank, sides[debate], known[debate]) for rank, debate in enumerate(tests)),
    )


def _counting(
    records: Iterable[DebateRecord], words: list[int], trials: set[str]
) -> Iterator[DebateRecord]:
    """Yield records; add how many words were spoken in each, and which have a known answer."""
    for record in records:
        words.append(sum(turn.words for turn in record.turns))
        if record.debate.request.trial:
            trials.add(record.debate.id)
        yield record


SECONDS = 60.0  # a minute
ANSWERING = 1.0  # minutes for the answer to a sheet
HOLDING = {"fast", "tests"}  # marks for which a task may hold its code back
EVERYTHING = ExportFilter(revealed=True)
NOTHING = N_(
    "There is no debate to label: a task is of debates that are closed, and held by two models."
)
MOST_LINKS, MOST_PEOPLE, MOST_DAYS = 10_000, 1_000_000, 3650
MOST_GONE = 3  # debates that are deleted just when they are drawn, their sheets with them
_PARTICIPANT = re.compile(r"[A-Za-z0-9._@-]{1,64}")


@dataclass(frozen=True, slots=True)
class Labelling:
    """Labelling tasks, over a store."""

    store: Store
    clock: Clock

    # --- tasks ---------------------------------------------------------------------------

    async def create(
        self,
        terms: Terms,
        where: ExportFilter = EVERYTHING,
        known: Mapping[str, str] | None = None,
    ) -> Task:
        """Store a task with the debates that a filter finds now.

        `known` has the answers of those that only test attention, by debate id. Raises UsageError
        if there is nothing to label, or a task of that name.
        """
        seed, answers = secrets.token_hex(8), dict(known or {})
        now, words, trials = self.clock.now(), list[int](), set[str]()

        def find() -> tuple[Queued, ...]:
            with self.store.archive.reading(where) as records:
                read = _counting(records, words, trials)
                return queue_of(read, answers, seed, disagreement=terms.disagreement)

        queue = await asyncio.to_thread(find)
        if not any(one.known is None for one in queue):
            raise UsageError(NOTHING)
        minutes = round(fmean(words) / READING + ANSWERING, 1)
        task = Task(
            **terms.model_dump(),
            seed=seed,
            minutes=minutes,
            trials=fmean(one.debate in trials for one in queue),
            created_at=now,
        )
        return await self.store.labelling.add(task, queue)

    async def named(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of debates that codes name. Raises NotFoundError."""
        return tuple([(await self.store.debates.get(code)).id for code in codes])

    async def answers(self, given: Iterable[str]) -> dict[str, str]:
        """Read known answers, each as `k7f2qz=A`. Raises UsageError or NotFoundError."""
        found: dict[str, str] = {}
        for one in given:
            code, separator, answer = one.partition("=")
            if not separator:
                raise UsageError(
                    "“{given}” is no debate with its answer; write it as k7f2qz=A.", given=one
                )
            (debate,) = await self.named((code.strip(),))
            found[debate] = answer.strip()
        return found

    async def communities(self) -> tuple[str, ...]:
        """Return the communities that have debates."""
        return (await self.store.listings.choices()).communities

    async def tasks(self) -> tuple[Task, ...]:
        """Return every task, the newest first."""
        return await self.store.labelling.tasks()

    async def task(self, name: str) -> Task | None:
        """Return a task."""
        return await self.store.labelling.task(name)

    async def close(self, name: str) -> Task:
        """Give out no more sheets; those that are out take answers for an hour.

        Raises NotFoundError.
        """
        return await self.store.labelling.close(name, self.clock.now())

    # --- who labels ----------------------------------------------------------------------

    async def invite(
        self, name: str, links: int = 1, *, people: int = 1, days: float = 30
    ) -> tuple[str, ...]:
        """Make links for so many people each, and return what stands in them.

        That is stored as a digest only. Raises NotFoundError, or UsageError beyond the limits.
        """
        for what, n, most in (("links", links, MOST_LINKS), ("people", people, MOST_PEOPLE)):
            if not 1 <= n <= most:
                raise UsageError(
                    "A task can have 1 to {most} {what} at a time.", most=most, what=what
                )
        if not 0 < days <= MOST_DAYS:
            raise UsageError("A link can hold for up to {most} days.", most=MOST_DAYS)
        tokens = tuple(secrets.token_urlsafe(32) for _ in range(links))
        now = self.clock.now()
        await self.store.labelling.invite(name, tokens, people, now + timedelta(days=days), now)
        return tokens

    async def invitation(self, token: str) -> tuple[LinkState, Task | None, bool]:
        """Return what a link is good for, without using it: see `LabellingStore.link`."""
        return await self.store.labelling.link(token, self.clock.now())

    async def join(self, token: str, claim: str, participant: str = "") -> Joining:
        """Let somebody join by a link.

        `claim` is a random value of their browser: with the same one a repeated request is the
        same person. A `participant` has an id of a recruiting platform, and is the same person
        wherever it is sent; it is refused where the task names no parameter for it.
        """
        if participant:
            _, task, personal = await self.invitation(token)
            named = task is not None and task.parameter and not personal
            if not named or not _PARTICIPANT.fullmatch(participant):
                return "unknown", None
        now = self.clock.now()
        return await self.store.labelling.join(token, claim, participant, now)

    async def sign_in(
        self, name: str, platform: str, user: str, token: str = "", *, agreed: bool = True
    ) -> Joining:
        """Let a platform's user join, whose platform says who they are.

        One who is new needs a link, or a task that is for people of the platform, and must have
        agreed to take part.
        """
        now = self.clock.now()
        return await self.store.labelling.enter(name, platform, user, token, now, agreed=agreed)

    async def come_back(self, token: str) -> Annotator | None:
        """Return whose own link this is."""
        return await self.store.labelling.come_back(token)

    async def annotator(self, key: str) -> Annotator | None:
        """Return the annotator of a session, None for one who was forgotten."""
        return await self.store.labelling.annotator(key)

    async def saw(self, key: str, debates: Collection[str]) -> None:
        """Note that an annotator is shown the models or the results of debates."""
        await self.store.labelling.saw(key, debates, self.clock.now())

    # --- sheets --------------------------------------------------------------------------

    async def next(self, key: str) -> Sheet | None:
        """Return the annotator's open sheet, else a new one; None when nothing is left."""
        for _ in range(MOST_GONE):
            drawn = await self.store.labelling.draw(key, kind_of, self.clock.now())
            if drawn is None:
                return None
            if sheet := await self._show(drawn, open=True):
                return sheet
        return None

    async def sheet(self, key: str, sheet: str) -> Sheet | None:
        """Return one of an annotator's own sheets, with what they answered."""
        drawn = await self.store.labelling.sheet(key, sheet)
        if drawn is None:
            return None
        task = await self.store.labelling.task(drawn.task)
        return await self._show(
            drawn, open=task is not None and task.takes_answers(self.clock.now())
        )

    async def _show(self, drawn: Drawn, *, open: bool) -> Sheet | None:
        debate = await self._debate(drawn.debate)
        if debate is None:
            return None
        turns = (await self.store.journal.read(drawn.debate, "turns")).turns
        return await asyncio.to_thread(make_sheet, drawn, debate, turns, open=open)

    async def save(self, key: str, sheet: str, answer: SheetAnswer) -> SaveOutcome:
        """Store an answer, once however often it is sent; another one replaces it."""
        drawn = await self.store.labelling.sheet(key, sheet)
        if drawn is None:
            return "unknown"
        now = self.clock.now()
        filled = fill(
            drawn, (await self.store.journal.read(drawn.debate, "turns")).turns, answer, now
        )
        return await self.store.labelling.fill(key, sheet, filled, now)

    async def progress(self, key: str) -> LabelProgress | None:
        """Return how far an annotator is; None for one who was forgotten."""
        annotator = await self.store.labelling.annotator(key)
        task = await self.store.labelling.task(annotator.task) if annotator else None
        if task is None:
            return None
        drawn = await self.store.labelling.sheets(key)
        answered = [one for one in drawn if one.answered_at is not None]
        enough = len(answered) >= task.each if task.each else False
        waits = len(drawn) > len(answered)
        now = self.clock.now()
        at = None if enough else await self.store.labelling.next_at(key, now)
        left = not enough and (waits or at == now)
        away = at - now if at is not None and not left else timedelta(0)
        done = bool(answered) and not left
        own = person_figures(task, 0, answered, {})
        each = own.seconds / SECONDS if own.seconds else task.minutes
        held = done and task.hold_code and not HOLDING.isdisjoint(own.marks)
        return LabelProgress(
            task=task,
            answered=len(answered),
            wanted=task.wanted,
            minutes=ceil(each * max(task.wanted - len(answered), 0)),
            left=left,
            back_minutes=ceil(away.total_seconds() / SECONDS),
            done=done,
            code=task.code if done and not held else "",
            held=held and bool(task.code),
        )

    async def answered(self, key: str, most: int = 50) -> tuple[SheetLine, ...]:
        """Return the sheets that an annotator answered last, the newest first."""
        drawn = await self.store.labelling.sheets(key)
        done = [one for one in reversed(drawn) if one.answered_at is not None][:most]
        debates = [await self._debate(one.debate) for one in done]
        lines = (line_of(one, debate) for one, debate in zip(done, debates, strict=True) if debate)
        return tuple(line for line in lines if line is not None)

    async def _debate(self, debate_id: str) -> Debate | None:
        try:
            return await self.store.debates.get(debate_id)
        except NotFoundError:  # deleted meanwhile
            return None

    # --- what it gives -------------------------------------------------------------------

    async def report(self, name: str, *, pay: float | None = None) -> LabelReport:
        """Return what a task has given; a label earns `pay` in USD, or what the task says.

        Raises NotFoundError.
        """
        task = await self.store.labelling.task(name)
        if task is None:
            raise NotFoundError(
                "There is no labelling task {name}; rostrum label list shows them.", name=name
            )
        queue = await self.store.labelling.queue(name)
        work = await self.store.labelling.work(name)
        earned = task.pay if pay is None else pay

        def measure() -> LabelReport:
            ids = tuple(one.debate for one in queue)
            with self.store.archive.reading(ExportFilter(ids=ids)) as records:
                debates = {record.debate.id: labelled_of(record) for record in records}
            return report_of(task, queue, work, debates, earned)

        return await asyncio.to_thread(measure)

    async def exclude(self, name: str, annotator: str, *, excluded: bool) -> None:
        """Leave an annotator out of figures, by their name in the report, or count them again.

        Raises NotFoundError.
        """
        task = await self.store.labelling.task(name)
        work = await self.store.labelling.work(name) if task else ()
        people = {one.person for one in work}
        found = next((one for one in people if task and pseudonym(task, one) == annotator), None)
        if found is None:
            raise NotFoundError(
                "Task {name} has no annotator {annotator}; rostrum label report {name} names them.",
                name=name,
                annotator=annotator,
            )
        await self.store.labelling.exclude(name, found, excluded=excluded)
