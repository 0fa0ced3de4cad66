"""The pictures of a report, 400 pixels wide; pure.

Each is an SVG with its numbers as alternative text. People are round and the jury square, and a
share has its sign or number beside its colour, so that colours are not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import cos, hypot, pi, sin
from typing import NamedTuple, TypeAlias

from engine.drawing import (
    SIZE,
    Picture,
    Scale,
    axis,
    box,
    draw,
    grid,
    line,
    mark,
    round_scale,
    short_names,
    square,
    width_of,
    write,
)
from engine.series.report import SeriesReport
from engine.stats.comparisons import Trials
from engine.stats.figure import Figure
from engine.stats.ratings import Effect, Rating, word_rating

# Ratings against cost as numbered points, whose numbers do not cover one another; pure.


PLOT = 230  # pixels high
DIRECTIONS = 16
REACHES = (13, 22, 32, 44, 58, 74)  # pixels from a point to its number


class _Box(NamedTuple):
    """A rectangle that is taken."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        """Whether two rectangles overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def _draw_points(
    points: Sequence[tuple[float, Rating]], left: float, right: float, top: float
) -> tuple[list[str], float]:
    """Draw models by cost in USD and rating, numbered from 1, with axes.

    Returns the parts and where the picture goes on below.
    """
    bottom = top + 12 + PLOT
    up = points_scale([rating for _, rating in points], bottom, top + 12, parts=6)
    across = round_scale(0.0, max(usd for usd, _ in points) or 0.01, left, right - 10, parts=5)
    places = [(across.at(usd), up.at(rating.value or 0.0)) for usd, rating in points]
    parts, taken = list(grid(up, left, across.end, dash="1 5")), list[_Box]()
    parts += axis(across, bottom)
    middle = (left + across.end) / 2
    about = "USD of its own calls in a debate"
    parts.append(write(middle, bottom + 36, about, "faint small", "middle"))
    for (_, rating), (x, _) in zip(points, places, strict=True):
        low, high = up.at(rating.low or 0.0), up.at(rating.high or 0.0)
        parts.append(line(x, low, x, high, "line"))
        taken.append(_Box(x - 1, high, x + 1, low))
    parts += [square(x, y, 4, "jury") for x, y in places]
    taken += [_Box(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    frame = _Box(left, top, right, bottom)
    for number, (x, y) in enumerate(places, 1):
        free = _free(x, y, str(number), taken, frame)
        taken.append(free)
        along, level = (free.left + free.right) / 2, (free.top + free.bottom) / 2
        far = hypot(along - x, level - y)
        if far > REACHES[1]:  # a line to it
            share = 1 - 10 / far
            end = x + share * (along - x), y + share * (level - y)
            parts.append(line(x, y, *end, "line", "1 2"))
        parts.append(write(along, free.bottom - 3, str(number), "ink small", "middle"))
    return parts, bottom + 48


def _free(x: float, y: float, word: str, taken: Sequence[_Box], frame: _Box) -> _Box:
    """Return a place for a number near its point, where nothing else is."""
    half = width_of(word) / 2
    around = []
    for reach in REACHES:
        for direction in range(DIRECTIONS):
            angle = 2 * pi * direction / DIRECTIONS
            to_x, to_y = x + (reach + half - 4) * cos(angle), y + reach * sin(angle)
            box = _Box(to_x - half, to_y - SIZE / 2 - 1, to_x + half, to_y + SIZE / 2 + 1)
            around.append(box)
    inside = [
        one
        for one in around
        if one.left >= frame.left
        and one.right <= frame.right
        and one.top >= frame.top
        and one.bottom <= frame.bottom
    ]
    clear = (one for one in inside if not any(one.meets(other) for other in taken))
    return next(clear, (inside or around)[0])


WIDTH, MARGIN = 400, 16
TOP = 44  # below the title
ROW = 22
NAMES = 132  # room for the names of models, in pixels
MOST_SAID = 40  # numbers of an alternative text
NUMBERED = 9  # models up to which the cells of a matrix have numbers
LABELLED = 12  # models up to which every column of a matrix has its number
SMALL, FAINT = "ink small", "faint small"
WINS = "Share of wins, row against column"
_Cell: TypeAlias = tuple[float | None, str]
"""A cell of a matrix: its share from 0 to 1, None if there is none, and the word that says it."""


def points_scale(
    found: Iterable[Rating | Effect | None],
    start: float,
    end: float,
    middle: float = 1000.0,
    parts: int = 3,
) -> Scale:
    """Return a scale around every interval, with round ticks (see `round_scale`)."""
    known = [one for one in found if one is not None and one.value is not None]
    low = min((one.low for one in known if one.low is not None), default=middle - 100)
    high = max((one.high for one in known if one.high is not None), default=middle + 100)
    return round_scale(min(low, middle), max(high, middle), start, end, parts)


def draw_report(report: SeriesReport) -> dict[str, Picture]:
    """Return every picture that has something to show, by name."""
    drawn = {}
    if report.ratings.standings:
        drawn["ratings"] = draw_ratings(report)
    if report.wins or report.people_wins:
        drawn["wins"] = draw_wins(report)
        drawn["sides"] = draw_sides(report)
    if report.trials is not None:
        drawn["trials"] = draw_trials(report.trials)
    if report.juror_pairs:
        drawn["jurors"] = draw_jurors(report)
    if any(one.usd for one in report.conduct) and _rated(report):
        drawn["cost"] = draw_cost(report)
    return drawn


def _finish(title: str, said: Sequence[str], height: float, parts: Sequence[str]) -> Picture:
    shown = [*said[:MOST_SAID]]
    if len(said) > MOST_SAID:
        shown.append(f"and {len(said) - MOST_SAID} more, in the table")
    alt = f"{title}. {'; '.join(shown)}."
    return Picture(draw(title, alt, WIDTH, round(height), parts), alt)


# --- ratings -----------------------------------------------------------------------------


def draw_ratings(report: SeriesReport) -> Picture:
    """Draw each model's rating with its interval, the best at the top."""
    standings = report.ratings.standings
    judges = ("jury", "people") if report.ratings.people else ("jury",)
    names = short_names((one.model for one in standings), NAMES)
    found = [getattr(one, judge) for one in standings for judge in judges]
    scale = points_scale(found, MARGIN + NAMES + 10, WIDTH - MARGIN - 44)
    parts, said, y = list(_legend(judges)), [], TOP + 20.0
    height = ROW + 12 * (len(judges) - 1)
    bottom = y + height * len(standings)
    parts.append(line(scale.at(1000), y, scale.at(1000), bottom, dash="2 4"))
    for one in standings:
        parts.append(write(MARGIN, y + height / 2 + 4, names[one.model], SMALL))
        for place, judge in enumerate(judges):
            rating = getattr(one, judge)
            parts += _interval(rating, y + 11 + 14 * place, scale, judge)
            said.append(f"{one.model} by {judge}: {word_rating(rating)}")
        y += height
    parts += axis(scale, bottom)
    return _finish("Ratings with 95 % intervals", said, bottom + 30, parts)


def _legend(judges: Sequence[str]) -> Iterator[str]:
    for place, judge in enumerate(judges):
        x = MARGIN + 6 + 76 * place
        yield mark(judge, x, TOP + 4)
        yield write(x + 12, TOP + 8, judge, SMALL)


def _interval(rating: Rating | None, y: float, scale: Scale, judge: str) -> Iterator[str]:
    if rating is None or rating.value is None or rating.low is None or rating.high is None:
        yield write(scale.start, y + 4, "no rating", FAINT)
        return
    yield line(scale.at(rating.low), y, scale.at(rating.high), y, judge)
    yield mark(judge, scale.at(rating.value), y)
    yield write(WIDTH - MARGIN, y + 4, f"{rating.value:.0f}", SMALL, "end")


# --- matrices ----------------------------------------------------------------------------


def draw_wins(report: SeriesReport) -> Picture:
    """Draw the share of its debates that each model won against each other one."""
    pairs, judge = (report.wins, "jury") if report.wins else (report.people_wins, "people")
    shares: dict[tuple[str, str], float] = {}
    for one in pairs:
        shares[one.model, one.other] = won = (one.won + one.tied / 2) / (
            one.won + one.lost + one.tied
        )
        shares[one.other, one.model] = 1 - won
    said = [f"{one.model} {one.won}, {one.other} {one.lost}, ties {one.tied}" for one in pairs]
    cells = {pair: (share, f"{100 * share:.0f}") for pair, share in shares.items()}
    title = f"{WINS}, %"
    about = f"by {judge}, a tie counts half; blue: won more, orange: less"
    return _matrix(title, about, report.models, cells, said)


def draw_jurors(report: SeriesReport) -> Picture:
    """Draw how often each two jurors chose the same, and each juror and people."""
    figures = {(one.juror, one.other): one.agreement for one in report.juror_pairs}
    jurors = dict.fromkeys(name for pair in figures for name in pair)
    people = {
        (one.juror, "people"): one.agreement
        for one in report.agreement.jurors
        if one.agreement.n and one.juror in jurors
    }
    cells: dict[tuple[str, str], _Cell] = {}
    for (one, other), figure in (figures | people).items():
        share = figure.value
        word = f"n {figure.n}" if share is None else f"{100 * share:.0f}"
        cells[one, other] = cells[other, one] = (share, word)
    said = [f"{a} and {b}: {f}" for (a, b), f in (figures | people).items()]
    named = (*jurors, "people") if people else tuple(jurors)
    about = "same choice, % of debates; n: debates, too few for a share"
    return _matrix("How often jurors agree", about, named, cells, said)


def _matrix(
    title: str,
    about: str,
    named: Sequence[str],
    cells: Mapping[tuple[str, str], _Cell],
    said: Sequence[str],
) -> Picture:
    names = short_names(named, NAMES - 24)
    left = MARGIN + NAMES
    width = min(56.0, (WIDTH - MARGIN - left) / len(named))
    height = max(18.0, min(40.0, width))
    top = TOP + 36
    parts = [write(MARGIN, TOP + 4, about, FAINT)]
    for i, one in enumerate(named):
        y = top + height * i
        parts.append(write(MARGIN + 18, y + height / 2 + 4, str(i + 1), FAINT, "end"))
        parts.append(write(MARGIN + 24, y + height / 2 + 4, names[one], SMALL))
        if len(named) <= LABELLED or (i + 1) % 5 == 0 or i == 0:
            parts.append(write(left + width * (i + 0.5), top - 6, str(i + 1), FAINT, "middle"))
        for j, other in enumerate(named):
            share, word = cells.get((one, other), (None, ""))
            x = left + width * j
            if share is not None:
                kind = "people" if share >= 0.5 else "jury"
                strength = 0.1 + 0.75 * abs(share - 0.5)
                parts.append(box(x + 1, y + 1, width - 2, height - 2, f"{kind} plain", strength))
            if len(named) <= NUMBERED and word:
                kind = SMALL if share is not None else FAINT
                parts.append(write(x + width / 2, y + height / 2 + 4, word, kind, "middle"))
    return _finish(title, said, top + height * len(named) + MARGIN, parts)


# --- sides -------------------------------------------------------------------------------


def draw_sides(report: SeriesReport) -> Picture:
    """Draw how often side A and the last speaker won, and what that is in points of rating."""
    found, adjusted = report.agreement, report.adjusted.jury
    judges = [("jury", found.jury_shares)]
    if report.ratings.people:
        judges.append(("people", found.people_shares))
    shares = [("side A", judge, one.a) for judge, one in judges]
    shares += [("last speaker", judge, one.closer) for judge, one in judges]
    effects = [("side A", adjusted.side), ("last speaker", adjusted.closer)]
    effects += [("twice the words", adjusted.length)]
    scale = Scale(MARGIN + NAMES, WIDTH - MARGIN - 10, 0, 100, (0, 25, 50, 75, 100), " %")
    parts = [*_legend([judge for judge, _ in judges])]
    y = TOP + 20.0
    parts.append(write(MARGIN, y + 10, "share of decided debates won", FAINT))
    y += 20
    for place, (name, judge, figure) in enumerate(shares):
        parts += _row(name, judge, figure, y + ROW * place + 11, scale, 50, 100)
    y += ROW * len(shares)
    parts += [
        *axis(scale, y),
        write(MARGIN, y + 48, "lead in points of rating, by the jury", FAINT),
    ]
    y += 58
    lead = points_scale([one for _, one in effects], scale.start, scale.end, middle=0.0)
    for place, (name, effect) in enumerate(effects):
        parts += _row(name, "jury", effect, y + ROW * place + 11, lead, 0, 1)
    parts += axis(lead, y + ROW * len(effects))
    said = [f"{name} won with {judge}: {figure}" for name, judge, figure in shares]
    said += [f"lead of {name} in points: {effect}" for name, effect in effects]
    return _finish(
        "Advantage of side A and of the last word", said, y + ROW * len(effects) + 34, parts
    )


def _row(
    name: str,
    judge: str,
    found: Figure | Effect,
    y: float,
    scale: Scale,
    middle: float,
    unit: float,
) -> Iterator[str]:
    """Draw a figure with its interval beside a middle; `unit` is 1 of it on the scale."""
    yield write(MARGIN, y + 4, name, SMALL)
    if found.value is None:
        yield write(scale.start + 8, y + 4, str(found), FAINT)
        return
    x = scale.at(middle)
    yield line(x, y - ROW / 2, x, y + ROW / 2, dash="2 4")
    if found.low is not None and found.high is not None:
        yield line(scale.at(unit * found.low), y, scale.at(unit * found.high), y, judge)
    yield mark(judge, scale.at(unit * found.value), y)


# --- right answers -----------------------------------------------------------------------


def draw_trials(found: Trials) -> Picture:
    """Draw how often the jury and people found the right answer, by protocol."""
    shares = [(one.protocol, "jury", one.jury) for one in found.protocols]
    shares += [(one.protocol, "people", one.people) for one in found.protocols if one.people.n]
    judges = list(dict.fromkeys(judge for _, judge, _ in shares))
    scale = Scale(MARGIN + NAMES, WIDTH - MARGIN - 10, 0, 100, (0, 25, 50, 75, 100), " %")
    y = TOP + 20.0
    parts = [*_legend(judges), write(MARGIN, y + 10, "right answers", FAINT)]
    y += 20
    for place, (name, judge, figure) in enumerate(shares):
        parts += _row(name, judge, figure, y + ROW * place + 11, scale, 50, 100)
    y += ROW * len(shares)
    parts += axis(scale, y)
    said = [f"{name}, by the {judge}: {figure}" for name, judge, figure in shares]
    return _finish("Right answers by protocol", said, y + 34, parts)


# --- cost --------------------------------------------------------------------------------


def _rated(report: SeriesReport) -> dict[str, Rating]:
    return {
        one.model: one.jury
        for one in report.ratings.standings
        if one.jury is not None and one.jury.value is not None
    }


def draw_cost(report: SeriesReport) -> Picture:
    """Draw each rated model's rating against what its own calls cost in a debate."""
    rated = _rated(report)
    costs = {one.model: one.usd for one in report.conduct if one.usd is not None}
    named = [model for model in rated if model in costs]
    points = [(costs[model], rated[model]) for model in named]
    parts, y = _draw_points(points, MARGIN + 36, WIDTH - MARGIN, TOP)
    names = short_names(named, WIDTH / 2 - MARGIN - 30)
    rows = -(-len(named) // 2)
    for place, model in enumerate(named):
        x = MARGIN + (WIDTH / 2 - MARGIN + 4) * (place // rows)
        below = y + 18 * (place % rows) + 14
        parts.append(write(x + 18, below, str(place + 1), FAINT, "end"))
        parts.append(write(x + 24, below, names[model], SMALL))
    said = [f"{model}: {costs[model]:.4g} USD, {rated[model]}" for model in named]
    return _finish("Rating against cost of a debate", said, y + 18 * rows + MARGIN, parts)
