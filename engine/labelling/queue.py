"""Which debates a task has, in which order, and what is mixed in between. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from engine.store import DebateRecord
from engine.store.labelling import Course, Kind, Queued
from engine.tally.questions import vote_options
from engine.values.debate import Debate, Status
from engine.values.errors import UsageError
from engine.votes.offers import Doubt, doubt_of, in_doubt, ranked

KNOWN_SHARE = 0.1  # of sheets, where a task has debates with a known answer
EARLY = range(2, 6)  # one of these sheets is a test in any case


def may_label(debate: Debate) -> bool:
    """Return whether a debate can be labelled: held to its end, by two models."""
    sides = debate.request.sides
    return debate.status is Status.CLOSED and len(sides) == 2 and not debate.request.guest


def kind_of(course: Course) -> Kind:
    """Return what an annotator's next sheet is: the same for the same place in a task."""
    task, place = course.task, f"{course.task.seed}/{course.key}"
    if course.known and course.number == Random(place).choice(EARLY):
        return "known"
    drawn = Random(f"{place}/{course.number}").random()
    if course.again and drawn < task.repeats:
        return "again"
    return "known" if course.known and drawn >= 1 - KNOWN_SHARE else "plain"


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
        if may_label(debate) and record.turns:
            sides[debate.id] = "".join(debate.request.sides)
            doubts.append(doubt_of(record))
            _check_known(debate, known.get(debate.id))
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


def _check_known(debate: Debate, answer: str | None) -> None:
    options = vote_options(tuple(debate.request.sides))
    if answer is not None and answer not in options:
        raise UsageError(
            "“{answer}” is no answer for debate {code}; choose from {options}.",
            answer=answer,
            code=debate.code,
            options=tuple(options),
        )
