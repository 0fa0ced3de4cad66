"""Statistics as words and as pictures: agreement matrix, reliability diagram, leaderboard; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, sqrt

from engine.drawing import (
    Anchor,
    Scale,
    axis,
    box,
    darken,
    dot,
    draw,
    fit,
    grid,
    line,
    mark,
    short_names,
    square,
    width_of,
    write,
)
from engine.stats.agreement import Agreement
from engine.stats.ratings import Leaderboard, ModelRatings, Rating, word_rating
from engine.values.language import N_
from engine.values.messages import File
from engine.values.verdicts import TIE
from engine.words.translation import say

# Statistics as pictures: the agreement matrix, the reliability diagram, the leaderboard; pure.
#
# Each is an SVG with its numbers as alternative text. People are always round and the jury square,
# so that colours are not needed.


CELL = 92
PLOT = 320
ROW = 60
MOST_MODELS = 25
LEADERBOARD_TITLE = N_("Ratings by people and by the jury")
NOTHING = N_("Nothing to show yet.")
BY_PEOPLE, BY_JURY = N_("people"), N_("jury")


def draw_pictures(agreement: Agreement, leaderboard: Leaderboard) -> dict[str, str]:
    """Return every picture by its file name."""
    return {
        "agreement.svg": draw_matrix(agreement),
        "reliability.svg": draw_reliability(agreement),
        "leaderboard.svg": draw_leaderboard(leaderboard),
    }


def draw_matrix(agreement: Agreement) -> str:
    """Draw how often each pair of choices occurred."""
    matrix = agreement.matrix
    said = [
        f"people {_name(one)} and jury {_name(other)}: {n}"
        for one, row in matrix.items()
        for other, n in row.items()
    ]
    about = f"{agreement.compared} debates, agreement {agreement.agreement}"
    size = CELL * max(3, len(matrix))
    return draw(
        N_("What people chose, and what the jury chose"),
        f"{about}. {'; '.join(said) or NOTHING}",
        size + 150,
        size + 130,
        [write(16, 52, about, "faint"), *_cells(matrix)],
    )


def _cells(matrix: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    left, top = 130, 110
    most = max((n for row in matrix.values() for n in row.values()), default=0) or 1
    for i, (people, row) in enumerate(matrix.items()):
        middle = CELL * (i + 0.5)
        yield write(left - 10, top + middle + 5, f"people: {_name(people)}", anchor="end")
        yield write(left + middle, top - 10, f"jury: {_name(people)}", anchor="middle")
        for j, (jury, n) in enumerate(row.items()):
            x, y = left + CELL * j, top + CELL * i
            kind = "people" if people == jury else "jury"
            # Pale enough for the number to be legible in either scheme.
            yield box(x + 2, y + 2, CELL - 4, CELL - 4, kind, 0.06 + 0.3 * n / most)
            yield write(x + CELL / 2, y + CELL / 2 + 6, str(n), "ink heading", "middle")


def draw_reliability(agreement: Agreement) -> str:
    """Draw the share of A's wins with people against the panel's p_a, in five bins."""
    filled = [one for one in agreement.reliability if one.n]
    said = [
        f"{one.n} debates at {one.predicted:.0%} predicted, {one.observed:.0%} observed"
        for one in filled
        if one.predicted is not None and one.observed is not None
    ]
    left, right, top, bottom = 70, 70 + PLOT, 56, 56 + PLOT
    ticks = (0, 20, 40, 60, 80, 100)
    across = Scale(left, right, 0, 100, ticks, " %")
    up = Scale(bottom, top, 0, 100, ticks, " %")
    parts = [
        *grid(up, left, right, dash="1 5", gap=8, lower=5, kind="faint"),
        line(left, top, left, bottom),
        *axis(across, bottom, mark=0, below=20, kind="faint"),
        line(left, bottom, right, top, dash="6 4"),
        write(left + PLOT / 2, bottom + 44, "the jury's p(A)", anchor="middle"),
        write(left + 8, top + 16, "A's share with people"),
    ]
    for one in filled:
        x, y = across.at(100 * (one.predicted or 0)), up.at(100 * (one.observed or 0))
        radius = min(16.0, 3 + sqrt(one.n))
        anchor: Anchor = "end" if x > right - 60 else "start"
        aside = -radius - 4 if anchor == "end" else radius + 4
        parts.append(dot(x, y, radius, "people"))
        parts.append(write(x + aside, y + 5, f"n = {one.n}", anchor=anchor))
    return draw(
        "How often A won, by the jury's probability of A",
        f"A perfectly calibrated jury lies on the dashed diagonal. {'; '.join(said) or NOTHING}",
        PLOT + 130,
        PLOT + 130,
        parts,
    )


def draw_leaderboard(leaderboard: Leaderboard) -> str:
    """Draw every model's two ratings with their intervals, the best at the top.

    It is in the language spoken, with letters that a phone can show.
    """
    shown = leaderboard.standings[:MOST_MODELS]
    about = _about(leaderboard)
    scale = _points(shown)
    people = say(BY_PEOPLE)
    beside = EDGE + 48 + width_of(people, SMALL)
    names = short_names([one.model for one in shown], LEFT - 2 * EDGE, LETTERS)
    parts = [
        write(EDGE, 38, fit(say(LEADERBOARD_TITLE), WIDE - 2 * EDGE, LETTERS), "ink large"),
        write(EDGE, 64, fit(about, WIDE - 2 * EDGE, SMALL), "faint", size=SMALL),
        dot(EDGE + 8, 92, 7, "people"),
        write(EDGE + 24, 98, people, size=SMALL),
        square(beside + 8, 92, 7, "jury"),
        write(beside + 24, 98, say(BY_JURY), size=SMALL),
    ]
    for place, standing in enumerate(shown):
        y = TOP + ROW * place + ROW / 2
        parts.append(write(EDGE, y + 7, names[standing.model], "ink large"))
        parts += _rating(standing.people, y - 11, scale, "people")
        parts += _rating(standing.jury, y + 11, scale, "jury")
    parts += axis(scale, TOP + ROW * len(shown), mark=5, below=26, kind="faint", size=SMALL)
    title, alt = say(LEADERBOARD_TITLE), leaderboard_alt(leaderboard)
    return draw(title, alt, WIDE, TOP + ROW * len(shown) + 44, parts, headed=False)


def leaderboard_alt(leaderboard: Leaderboard) -> str:
    """Return what the picture of a leaderboard shows, in words."""
    said = [
        say(
            "{model} · people: {people} · jury: {jury}",
            model=one.model,
            people=word_rating(one.people),
            jury=word_rating(one.jury),
        )
        for one in leaderboard.standings[:MOST_MODELS]
    ]
    return f"{_about(leaderboard)}. {'; '.join(said) or say(NOTHING)}"


def _about(leaderboard: Leaderboard) -> str:
    return say(
        "Debates: {people} by people, {jury} by the jury; with 95 % intervals",
        people=leaderboard.people,
        jury=leaderboard.jury,
    )


WIDE, EDGE, LEFT, RIGHT, TOP = 720, 24, 330, 60, 118  # pixels
LETTERS, SMALL = 20.0, 16.0


def leaderboard_picture(leaderboard: Leaderboard) -> File:
    """Return the picture for a chat, always dark, as an SVG file; its alt text has the numbers."""
    svg, alt = darken(draw_leaderboard(leaderboard)), leaderboard_alt(leaderboard)
    return File(name="leaderboard.png", media="image/svg+xml", content=svg, alt=alt)


def _rating(rating: Rating | None, y: float, scale: Scale, kind: str) -> Iterator[str]:
    if rating is None or rating.value is None or rating.low is None or rating.high is None:
        by = say(BY_PEOPLE if kind == "people" else BY_JURY)
        said = say("{by}: {why}", by=by, why=word_rating(rating))
        yield write(LEFT, y + 6, fit(said, WIDE - LEFT - EDGE, SMALL), "faint", size=SMALL)
        return
    yield line(scale.at(rating.low), y, scale.at(rating.high), y, kind)
    yield mark(kind, scale.at(rating.value), y, 7, 7)


def _points(standings: Sequence[ModelRatings]) -> Scale:
    """Return a scale with round bounds around every interval."""
    ratings = [one for standing in standings for one in (standing.people, standing.jury) if one]
    lows = [rating.low for rating in ratings if rating.low is not None]
    highs = [rating.high for rating in ratings if rating.high is not None]
    low = 100.0 * floor(min(lows, default=900.0) / 100)
    high = 100.0 * ceil(max(highs, default=1100.0) / 100)
    ticks = tuple(low + (high - low) * step / 4 for step in range(5))
    return Scale(LEFT, WIDE - RIGHT, low, high, ticks)


def _name(choice: str) -> str:
    return "tie" if choice == TIE else choice
