"""How votes and scores moved, as pictures: both use shapes as well as colours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from math import ceil

from engine.dataset.page import PageSection
from engine.drawing import GREY, OTHERS, Picture, Scale, bar, disc, draw, fit, grid, write
from engine.pages.debate_page import SPOKEN
from engine.pages.head import Rows
from engine.values.language import N_, speaking
from engine.values.text import unmarked
from engine.values.verdicts import TIE, WEAK
from engine.words.phrases import option_name
from engine.words.translation import number, say

VOTES, SCORES = "votes", "scores"
TOTALS = ("total", "speech")  # what a turn got in all
WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, FLOOR = 44, 150, 24, 216
VOTES_MOVED, SCORES_MOVED = N_("How the votes came in"), N_("How the scores moved")
MOST_STEPS = 400
DASHES = ("", "6 3", "2 3", "9 3 2 3")


def timelines(rows: Rows, names: Mapping[str, str]) -> Iterator[PageSection | None]:
    """Yield a section for each picture that has something to show."""
    for key, title, make in (
        (VOTES, VOTES_MOVED, draw_votes),
        (SCORES, SCORES_MOVED, draw_scores),
    ):
        picture = make(rows, names)
        yield picture and PageSection(f"timeline-{key}", say(title), picture=key, alt=picture.alt)


def draw_votes(rows: Rows, names: Mapping[str, str]) -> Picture | None:
    """Draw how many standing votes each option had over time; None without votes."""
    moved = _moved(rows)
    if not moved:
        return None
    last = max(steps[-1][0] for steps in moved.values()) or 1.0
    most = max(steps[-1][1] for steps in moved.values())
    up, across = _up(most), Scale(LEFT, WIDTH - RIGHT, 0, last)
    parts = [*grid(up, LEFT, across.end, word=partial(number, spec="g"))]
    told = []
    for place, (option, steps) in enumerate(moved.items()):
        label = unmarked(option_name(option, names))
        count = steps[-1][1]
        told.append(f"{label} {count}")
        parts += _staircase(steps, across, up, place, option)
        x, y = across.end + 8, up.at(count) - 4 + 15 * (place - 1)
        parts.append(disc(x + 4, y, 4, _colour(option)))
        parts.append(write(x + 14, y + 4, fit(f"{label} {count}", RIGHT - 24), "ink small"))
    parts.append(write(LEFT, HEIGHT - 12, "0", "faint small"))
    parts.append(write(across.end, HEIGHT - 12, f"{number(last, '.0f')} min", "faint small", "end"))
    alt = say(
        "After {minutes} minutes: {counts}.",
        minutes=number(last, ".0f"),
        counts=say(", ").join(told),
    )
    return Picture(draw(say(VOTES_MOVED), alt, WIDTH, HEIGHT, parts, headed=False), alt)


def draw_scores(rows: Rows, names: Mapping[str, str]) -> Picture | None:
    """Draw the score of each turn as a bar; None without scores."""
    numbers = {one["step"]: one["number"] for one in rows.get(SPOKEN, ())}
    found = {
        numbers[one["subject"]]: (one["side"], float(one["adjusted"]))
        for one in rows.get("scores", ())
        if one["criterion"] in TOTALS and one["subject"] in numbers
    }
    totals = dict(sorted(found.items()))
    if len(totals) < 2:
        return None
    most = 2.0 * max(1, ceil(max(score for _, score in totals.values()) / 2))
    slot = (WIDTH - 2 * LEFT) / len(totals)
    up, told = _up(most), []
    parts = [*grid(up, LEFT, WIDTH - LEFT, word=partial(number, spec="g"))]
    for place, (turn, (side, score)) in enumerate(totals.items()):
        x = LEFT + slot * (place + 0.15)
        y = up.at(score)
        parts.append(bar(x, y, slot * 0.7, max(FLOOR - y, 2.0), _colour(side)))
        if slot > 22:
            parts.append(write(x + slot * 0.35, FLOOR + 18, f"{side}{turn}", "ink small", "middle"))
            parts.append(write(x + slot * 0.35, y - 4, number(score, ".0f"), "ink small", "middle"))
        told.append(f"{side}{turn} {number(score, '.1f')}")
    alt = say("Score by turn: {scores}.", scores=say(", ").join(told))
    return Picture(draw(say(SCORES_MOVED), alt, WIDTH, HEIGHT, parts, headed=False), alt)


def _moved(rows: Rows) -> dict[str, list[tuple[float, int]]]:
    """Return how many votes each option had, by the minutes since the vote opened."""
    debate = rows["debates"][0]
    sides = [one["side"] for one in debate["sides"]]
    times: dict[str, list[datetime]] = defaultdict(list)
    for vote in rows.get("votes", ()):
        if vote["phase"] == "before_reveal" and not vote["ambiguous"]:
            times[vote["option"]].append(read_moment(vote["last_at"]))
    if not times:
        return {}
    began = min(min(each) for each in times.values())
    if debate["vote_opened_at"]:
        began = min(began, read_moment(debate["vote_opened_at"]))
    moved = {}
    for option in (*sides, TIE, WEAK):
        if each := sorted(times.get(option, ())):
            steps = [((at - began).total_seconds() / 60, n) for n, at in enumerate(each, 1)]
            thin = max(1, len(steps) // MOST_STEPS)
            moved[option] = [*steps[:-1:thin], steps[-1]]
    return moved


def read_moment(text: str) -> datetime:
    """Read a time as an export writes it."""
    return datetime.fromisoformat(text)


def _up(most: float) -> Scale:
    return Scale(FLOOR, TOP, 0, most, (0, most / 2, most))


def _staircase(
    steps: Sequence[tuple[float, int]], across: Scale, up: Scale, place: int, option: str
) -> Iterator[str]:
    """Yield one path: up at each vote, level between them."""
    points = [(across.start, up.start)]
    for minutes, n in steps:
        points.append((across.at(minutes), points[-1][1]))
        points.append((across.at(minutes), up.at(n)))
    points.append((across.end, points[-1][1]))
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = DASHES[place % len(DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    yield (
        f'<polyline points="{path}" fill="none" stroke="{_colour(option)}" '
        f'stroke-width="2.5"{dashes}/>'
    )


def _colour(option: str) -> str:
    if option.isdigit():
        return OTHERS[(int(option) - 1) % len(OTHERS)]
    return {"A": OTHERS[0], "B": OTHERS[1], TIE: "#5a9e5a"}.get(
        option[:1] if option != TIE else TIE, GREY
    )


def picture_of(rows: Rows, names: Mapping[str, str], name: str, language: str) -> Picture | None:
    """Return a debate's picture by its name, in the debate's language."""
    with speaking(language):
        if name == VOTES:
            return draw_votes(rows, names)
        return draw_scores(rows, names) if name == SCORES else None
