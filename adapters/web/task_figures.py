"""What the report of a labelling task says, as a manager's page shows it: in words, by tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from engine.labelling.report import MARKS, AnnotatorFigures, HardDebate, LabelReport, Rate
from engine.stats.figure import Figure
from engine.words.phrases import money, option_name
from engine.words.translation import number, percent, say

NOTHING = "–"

Rows = list[tuple[str, str]]


class Person(NamedTuple):
    """An annotator, and what to look at."""

    name: str
    cells: tuple[str, ...]
    marks: str


class Hard(NamedTuple):
    """A debate on which people differ."""

    code: str
    topic: str
    cells: tuple[str, ...]


class TaskFigures(NamedTuple):
    """The tables of a report: of names and figures, of people, of hard debates."""

    tables: tuple[tuple[str, Rows], ...]
    people: tuple[Person, ...]
    hard: tuple[Hard, ...]


def figures_of(report: LabelReport) -> TaskFigures:
    """Return a report in the language spoken now; titles are in English, for the catalogue."""
    tables = (
        ("Progress", _progress(report)),
        ("Agreement", _agreement(report)),
        ("Cost", _cost(report)),
    )
    return TaskFigures(tables, tuple(map(_person, report.people)), tuple(map(_hard, report.hard)))


def _progress(report: LabelReport) -> Rows:
    return [
        ("Answers", f"{report.labels} / {report.wanted}"),
        ("People who label", f"{report.annotators}"),
        ("Debates with enough labels", f"{report.complete} / {report.debates}"),
        ("Open sheets", f"{report.waiting}"),
        ("By people who had not seen the result", f"{report.gold}"),
        ("Too fast to have read", f"{report.fast}"),
    ]


def _agreement(report: LabelReport) -> Rows:
    return [
        ("Pairs of people who agree", _share(report.agreement)),
        ("Krippendorff's alpha", _figure(report.alpha)),
        ("Cohen's kappa", _figure(report.kappa)),
        ("People here and the jury", _share(report.jury)),
        ("People here and in chat", _share(report.chat)),
        ("Tests of attention passed", _share(report.known)),
        ("The same answer at a second showing", _share(report.again)),
        ("For the side shown first", _share(report.first)),
    ]


def _cost(report: LabelReport) -> Rows:
    """Return what the debates' calls and the people cost."""
    cost = report.cost
    pay = NOTHING if cost.pay is None else money(cost.pay)
    each = NOTHING if cost.per_label is None else money(cost.per_label)
    return [
        ("Calls", money(cost.calls)),
        ("Pay", pay),
        ("In all", money(cost.total)),
        ("For each answer", each),
    ]


def _person(of: AnnotatorFigures) -> Person:
    seconds = NOTHING if of.seconds is None else number(of.seconds, ".0f")
    rates = (f"{one.right} / {one.n}" for one in (of.known, of.again, of.others))
    marks = _listed(say(MARKS[mark]) for mark in of.marks)
    return Person(of.name, (f"{of.labels}", *rates, f"{of.fast}", seconds), marks)


def _hard(of: HardDebate) -> Hard:
    counts = _listed(f"{option_name(option)} {n}" for option, n in sorted(of.labels.items()))
    judged = (option_name(one) if one else NOTHING for one in (of.jury, of.chat))
    return Hard(of.code, of.topic, (counts, percent(of.agreement), *judged))


def _listed(parts: Iterable[str]) -> str:
    return " · ".join(parts)


def _figure(figure: Figure | Rate) -> str:
    """Return a figure with its interval."""
    return _written(figure, lambda value: number(value, ".2f"))


def _share(figure: Figure | Rate) -> str:
    return _written(figure, percent)


def _written(figure: Figure | Rate, write: Callable[[float], str]) -> str:
    if figure.value is None:
        return NOTHING
    if figure.low is None or figure.high is None:
        return write(figure.value)
    return f"{write(figure.value)} ({write(figure.low)} – {write(figure.high)})"
