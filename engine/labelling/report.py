"""What a labelling task has given: progress, agreement, who is reliable, hard debates, cost. Pure.

A label for neither counts as a tie, as in every figure of people and jury.
"""

from __future__ import annotations

import hmac
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from statistics import median
from typing import NamedTuple

from engine.stats.agreement import alike, alpha_between, categories_of, pairs_alike, share_alike
from engine.stats.figure import Figure, Share, kappa_of, kappa_sums, total
from engine.stats.row import TITLE_LENGTH
from engine.store import DebateRecord
from engine.store.labels import Drawn, Queued, Task
from engine.tally import count, wilson
from engine.values.debate import Value
from engine.values.language import N_
from engine.values.text import headline, redact
from engine.values.topics import topic_id
from engine.values.verdicts import TIE, WEAK, Question

EXCLUDED = "excluded"
HARD = 10  # debates listed
FAST_SHARE = 0.2  # of an annotator's labels, from which they are marked
LOW, FEWEST_ALONE = 0.5, 10  # agreement below which an annotator is marked, of so many labels
FEWEST_TESTS = 3
MARKS = {
    "fast": N_("too fast"),
    "tests": N_("fails tests"),
    "repeats": N_("contradicts themselves"),
    "alone": N_("rarely as the others"),
    "excluded": N_("left out of figures"),
}
"""What each mark of an annotator says."""


class Rate(Share):
    """The share `right` of `n` with its Wilson interval, however small `n` is; None of nothing."""

    right: int


class _AnnotatorFigures(Value):
    """How reliable an annotator is, who has a pseudonym of this task.

    `known` is agreement with known answers, `again` with themselves, and `others` with the majority
    of everyone else. `seconds` is the median time for a debate. `marks` say what to look at:
    `fast`, `tests`, `repeats`, `alone` or, for one whom other figures leave out, `excluded`.
    """

    name: str
    labels: int
    known: Rate
    again: Rate
    others: Rate
    fast: int
    seconds: float | None
    marks: tuple[str, ...] = ()


class _HardDebate(Value):
    """A debate on which annotators differ; `agreement` is the share of pairs that are alike."""

    debate: str
    code: str
    topic: str
    labels: Mapping[str, int]
    agreement: float
    jury: str | None = None
    chat: str | None = None


class _LabelCost(Value):
    """What labels cost in USD: the debates' calls, and what people are paid; None where unknown."""

    calls: float | None
    pay: float | None
    total: float | None
    per_label: float | None


class LabelReport(Value):
    """The report of a task.

    `complete` debates have as many labels as are wanted. `agreement` is the share of pairs of
    annotators that chose the same, and `alpha` and `kappa` are beyond chance; `jury` and `chat` are
    agreement of the labels' majority with them. `first` is the share of labels for the side shown
    first, of those for a side.
    """

    name: str
    open: bool
    debates: int
    complete: int
    wanted: int
    labels: int
    gold: int
    fast: int
    waiting: int
    annotators: int
    agreement: Share
    alpha: Figure
    kappa: Figure
    jury: Share
    chat: Share
    known: Rate
    again: Rate
    first: Rate
    people: tuple[_AnnotatorFigures, ...]
    hard: tuple[_HardDebate, ...]
    cost: _LabelCost


class _Labelled(NamedTuple):
    """A debate of a task: what it is about, who won by jury and chat, what its calls cost."""

    id: str
    code: str
    topic: str
    topic_id: str
    jury: str | None
    chat: str | None
    usd: float | None


def labelled_of(record: DebateRecord) -> _Labelled:
    """Return what a report needs of a debate."""
    debate, topic = record.debate, redact(record.debate.request.topic)
    tally = count(record.asked(Question.VOTE), tuple(debate.request.sides), debate.request.quorum)
    costs = [call.cost for call in record.calls]
    return _Labelled(
        id=debate.id,
        code=debate.code,
        topic=headline(topic, TITLE_LENGTH),
        topic_id=topic_id(topic),
        jury=record.verdict.winner if record.verdict and record.verdict.blind else None,
        chat=tally.winner,
        usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def report_of(
    task: Task,
    queue: Sequence[Queued],
    work: Sequence[Drawn],
    debates: Mapping[str, _Labelled],
    pay: float | None = None,
) -> LabelReport:
    """Return the report of a task, of its sheets; a label earns `pay` in USD.

    Who is excluded stands among `people` alone, and is paid.
    """
    answered = [one for one in work if one.filled is not None]
    earned = sum(one.kind == "plain" for one in answered)
    labels = [one for one in answered if one.kind == "plain" and not one.excluded]
    choices: dict[str, dict[int, str]] = defaultdict(dict)  # of each person, by debate
    for one in labels:
        choices[one.debate][one.person] = _choice(one)
    sides = [one.order.index(choice) for one in labels if (choice := _choice(one)) in one.order]
    units = [(debates[id].topic_id, Counter(of.values())) for id, of in choices.items()]
    by_person: dict[int, list[Drawn]] = defaultdict(list)
    for one in answered:
        by_person[one.person].append(one)
    found = (person_figures(task, person, own, choices) for person, own in by_person.items())
    people = tuple(sorted(found, key=lambda one: (-one.labels, one.name)))
    wanted = [one for one in queue if one.known is None]
    return LabelReport(
        name=task.name,
        open=task.closed_at is None,
        debates=len(wanted),
        complete=sum(len(choices.get(one.debate, ())) >= task.per_debate for one in wanted),
        wanted=len(wanted) * task.per_debate,
        labels=len(labels),
        gold=sum(not one.exposed for one in labels),
        fast=sum(one.filled.fast for one in labels if one.filled),
        waiting=len(work) - len(answered),
        annotators=len({one.person for one in work if not one.excluded}),
        agreement=pairs_alike(units),
        alpha=alpha_between(units),
        kappa=_kappa(units),
        jury=_beside(choices, debates, lambda one: one.jury),
        chat=_beside(choices, debates, lambda one: one.chat),
        known=_sum(one.known for one in people if EXCLUDED not in one.marks),
        again=_sum(one.again for one in people if EXCLUDED not in one.marks),
        first=rate(sides.count(0), len(sides)),
        people=people,
        hard=tuple(_hard(choices, debates)),
        cost=_cost(debates.values(), len(labels), None if pay is None else pay * earned),
    )


def _choice(drawn: Drawn) -> str:
    option = drawn.filled.option if drawn.filled else ""
    return TIE if option == WEAK else option


def rate(right: int, n: int) -> Rate:
    """Return a share with its interval."""
    if not n:
        return Rate(right=0, n=0)
    low, high = wilson(right, n)
    return Rate(right=right, n=n, value=right / n, low=low, high=high)


def _sum(rates: Iterable[Rate]) -> Rate:
    counted = [(one.right, one.n) for one in rates]
    return rate(sum(right for right, _ in counted), sum(n for _, n in counted))


def _majority(choices: Iterable[str]) -> str | None:
    """Return what most chose; None where several did."""
    counted = Counter(choices).most_common(2)
    if not counted or (len(counted) == 2 and counted[0][1] == counted[1][1]):
        return None
    return counted[0][0]


# --- agreement ---------------------------------------------------------------------------

Unit = tuple[str, Counter[str]]  # of a debate: its topic, and how many chose what


def _kappa(units: Iterable[Unit]) -> Figure:
    """Return κ over all pairs of annotators of a debate, each pair both ways round."""
    several = [(topic, unit) for topic, unit in units if unit.total() > 1]
    kinds = categories_of(choice for _, unit in several for choice in unit)
    sums = (
        (
            topic,
            total([kappa_sums(a, b, kinds) for a, b in permutations(unit.elements(), 2)]),
        )
        for topic, unit in several
    )
    return Figure.estimate(sums, kappa_of)


def _beside(
    choices: Mapping[str, Mapping[int, str]],
    debates: Mapping[str, _Labelled],
    other: Callable[[_Labelled], str | None],
) -> Share:
    """Compare the majority of labels with another judgment."""
    found = (
        (debates[debate].topic_id, _majority(of.values()), other(debates[debate]))
        for debate, of in choices.items()
    )
    return share_alike([(topic, a, b) for topic, a, b in found if a and b])


# --- people ------------------------------------------------------------------------------


def person_figures(
    task: Task, person: int, own: Sequence[Drawn], choices: Mapping[str, Mapping[int, str]]
) -> _AnnotatorFigures:
    """Return how reliable an annotator is, by their answered sheets and all people's `choices`."""
    labels = [one for one in own if one.kind == "plain"]
    tests = [
        _choice(one) == (TIE if one.known == WEAK else one.known)
        for one in own
        if one.kind == "known"
    ]
    first = {one.debate: _choice(one) for one in labels}
    again = [_choice(one) == first.get(one.debate) for one in own if one.kind == "again"]
    beside = [
        most == _choice(one)
        for one in labels
        if (others := choices.get(one.debate, {}))
        and (most := _majority(c for who, c in others.items() if who != person))
    ]
    times = [one.filled.seconds for one in own if one.filled]
    figures = _AnnotatorFigures(
        name=pseudonym(task, person),
        labels=len(labels),
        known=rate(sum(tests), len(tests)),
        again=rate(sum(again), len(again)),
        others=rate(sum(beside), len(beside)),
        fast=sum(one.filled.fast for one in labels if one.filled),
        seconds=median(times) if times else None,
    )
    marks = (*_marks(figures), *[EXCLUDED] * any(one.excluded for one in own))
    return figures.model_copy(update={"marks": marks})


def pseudonym(task: Task, person: int) -> str:
    """Return the name of an annotator in the reports of a task."""
    return hmac.digest(task.seed.encode(), f"person/{person}".encode(), "sha256").hex()[:8]


def _marks(of: _AnnotatorFigures) -> Iterator[str]:
    if of.labels and of.fast / of.labels > FAST_SHARE:
        yield "fast"
    limits = (("tests", of.known, FEWEST_TESTS), ("repeats", of.again, FEWEST_TESTS))
    for mark, found, fewest in (*limits, ("alone", of.others, FEWEST_ALONE)):
        if found.n >= fewest and found.value is not None and found.value < LOW:
            yield mark


# --- debates and money -------------------------------------------------------------------


def _hard(
    choices: Mapping[str, Mapping[int, str]], debates: Mapping[str, _Labelled]
) -> Iterator[_HardDebate]:
    """Yield the debates on which annotators differ most, the most labelled first of equals."""
    units = {id: Counter(of.values()) for id, of in choices.items() if len(of) > 1}
    differ = [id for id, unit in units.items() if alike(unit) < 1]
    differ.sort(key=lambda id: (alike(units[id]), -units[id].total(), id))
    for id in differ[:HARD]:
        about = debates[id]
        yield _HardDebate(
            debate=id,
            code=about.code,
            topic=about.topic,
            labels=units[id],
            agreement=alike(units[id]),
            jury=about.jury,
            chat=about.chat,
        )


def _cost(debates: Iterable[_Labelled], labels: int, paid: float | None) -> _LabelCost:
    known = [one.usd for one in debates]
    calls = sum(usd for usd in known if usd is not None) if None not in known else None
    whole = None if calls is None else calls + (paid or 0.0)
    each = whole / labels if whole is not None and labels else None
    return _LabelCost(calls=calls, pay=paid, total=whole, per_label=each)
