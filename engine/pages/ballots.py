"""The ballots of a jury as one matrix: a row a juror, with all that it read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from engine.dataset.page import Read, tell_ballot
from engine.pages.head import cut
from engine.store.journal import Judging
from engine.values.language import N_
from engine.values.text import headline
from engine.words.phrases import option_name
from engine.words.translation import number, say

BETWEEN = " · "  # two readings
LEAST = 0.05  # points in which a juror differs from its panel
PREVIEW = 110  # characters of what a juror wrote
BALLOTS_WEIGHT, LEAST_WEIGHT = 34_000, 240  # bytes of HTML, about: of all reasons, and of one


class _JurorRow(NamedTuple):
    """A juror's readings, in one row; `cells` are its marks by criterion, the sides side by side.

    `leans` is the place of the side that it prefers more than its panel does, from 1; 0 for none.
    `notes` are what is to be known of its readings, and `reasons` are Markdown of a model.
    """

    juror: str
    order: str
    cells: tuple[str, ...]
    weight: str
    verdict: str
    beside: str
    leans: int
    preview: str
    notes: tuple[str, ...]
    reasons: tuple[str, ...]


class JuryMatrix(NamedTuple):
    """A jury: what it scored, and a row for each juror; `number` is 0 for the debate's own.

    `winner` is a later one's verdict; empty without one.
    """

    number: int
    sides: tuple[str, ...]
    criteria: tuple[str, ...]
    rows: tuple[_JurorRow, ...]
    winner: str = ""

    @property
    def key(self) -> str:
        """What a link to it ends with."""
        return f"ballots-{self.number}" if self.number else "ballots"


def read_juries(
    own: Sequence[Read], judgings: Sequence[Judging], names: Mapping[str, str], sides: Sequence[str]
) -> tuple[JuryMatrix, ...]:
    """Return the jury of a debate and later ones, those that read; `sides` are told in order."""
    later = {
        one.number: [tell_ballot(ballot, dict(names)) for ballot in one.found.ballots]
        for one in judgings
        if one.found is not None
    }
    read = {number: told for number, told in {0: list(own), **later}.items() if told}
    room = BALLOTS_WEIGHT // max(1, sum(map(len, read.values())))
    winners = {
        one.number: option_name(verdict.winner, names)
        for one in judgings
        for verdict in (one.found.verdicts.values() if one.found else ())
        if verdict.winner
    }
    return tuple(
        _matrix(
            number, told, tuple(sides), room if not number or room > LEAST_WEIGHT else 0
        )._replace(winner=winners.get(number, ""))
        for number, told in read.items()
    )


def _matrix(number: int, read: Sequence[Read], sides: tuple[str, ...], room: int) -> JuryMatrix:
    by_juror: dict[str, list[Read]] = {}
    for one in read:
        by_juror.setdefault(one.juror, []).append(one)
    criteria = dict.fromkeys(c for one in read for marks in one.marks for c, _ in marks.scores)
    means = {juror: mean for juror, found in by_juror.items() if (mean := _means(found, sides))}
    deciding = [means[juror] for juror in means if any(one.counts for one in by_juror[juror])]
    panel = tuple(map(fmean, zip(*(deciding or means.values()), strict=True)))
    rows = tuple(
        _row(juror, found, sides, tuple(criteria), (means.get(juror, ()), panel), room)
        for juror, found in by_juror.items()
    )
    return JuryMatrix(number, sides, tuple(criteria), rows)


def _means(found: Sequence[Read], sides: Sequence[str]) -> tuple[float, ...]:
    """Return the mean mark of each side over a juror's readings; none without any."""
    sheets = [{marks.name: marks.scores for marks in one.marks} for one in found if one.marks]
    if not all(side in sheet and sheet[side] for sheet in sheets for side in sides):
        return ()
    return tuple(
        fmean(score for sheet in sheets for _, score in sheet[side]) for side in sides if sheets
    )


def _row(
    juror: str,
    found: Sequence[Read],
    sides: Sequence[str],
    criteria: Sequence[str],
    marks: tuple[Sequence[float], Sequence[float]],
    room: int,
) -> _JurorRow:
    beside, leans = _beside(*marks, sides)
    faults = tuple(
        dict.fromkeys(
            fault
            for one in found
            for fault in (
                one.problem,
                "" if one.counts else say("decides nothing"),
                say("contradicts its own scores") if one.contradictory else "",
            )
            if fault
        )
    )
    sure = [number(one.confidence, ".2f") for one in found if one.confidence is not None]
    wrote = tuple(cut(one.reasons, room) for one in found if one.reasons) if room else ()
    weights = [number(one.weight, ".2f") for one in found if one.weight is not None]
    return _JurorRow(
        juror=juror,
        order=BETWEEN.join(one.order for one in found),
        cells=tuple(_cell(found, sides, criterion) for criterion in criteria),
        weight=BETWEEN.join(dict.fromkeys(weights)),
        verdict=BETWEEN.join(dict.fromkeys(one.verdict or say("invalid") for one in found)),
        beside=beside,
        leans=leans,
        preview=headline(" ".join((*faults, *wrote)), PREVIEW),
        notes=(*faults, *(say("confidence {share}", share=share) for share in dict.fromkeys(sure))),
        reasons=tuple(dict.fromkeys(wrote)),
    )


def _cell(found: Sequence[Read], sides: Sequence[str], criterion: str) -> str:
    """Return a juror's marks by a criterion: “7–9”, and both readings where they differ."""
    told = []
    for one in found:
        sheet = {marks.name: dict(marks.scores) for marks in one.marks}
        scores = [str(sheet.get(side, {}).get(criterion, "")) for side in sides]
        told.append("–".join(scores) if all(scores) else "–")
    return BETWEEN.join(dict.fromkeys(told))


def _beside(own: Sequence[float], panel: Sequence[float], sides: Sequence[str]) -> tuple[str, int]:
    """Return how a juror's marks differ from its panel's mean: whom it prefers, how harsh it is."""
    if not own:
        return "", 0
    told, leans = [], 0
    if len(sides) == 2:
        more = (own[0] - own[1]) - (panel[0] - panel[1])
        if abs(more) >= LEAST:
            leans = 1 if more > 0 else 2
            points = number(abs(more), ".1f")
            told.append(say("{points} more for {side}", points=points, side=sides[leans - 1]))
    milder = fmean(own) - fmean(panel)
    if abs(milder) >= LEAST:
        stricter = N_("{points} milder") if milder > 0 else N_("{points} harsher")
        told.append(say(stricter, points=number(abs(milder), ".1f")))
    return say(", ").join(told) or say("as the jury"), leans
