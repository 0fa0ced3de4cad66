"""Scoreboards, arcs and standings of leagues, as Markdown and as pictures."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from engine.drawing import (
    BLUE,
    GOLD,
    GREY,
    RED,
    Scale,
    bar,
    box,
    darken,
    draw,
    fit,
    grid,
    width_of,
    write,
)
from engine.values.language import N_
from engine.values.messages import (
    Arc,
    ArcPoint,
    BoardRow,
    File,
    LeagueMatch,
    LeagueTable,
    ScoreBoard,
)
from engine.words.card import Card
from engine.words.translation import in_its_language, plural, say

# The arc of an audited debate as a picture: one bar a turn, in the colour of its side.
#
# The label below a bar names the turn, the one above gives its score. A gold top shows points that
# were docked later; a short grey bar is a turn without a score. Lines mark 50 and 100 points. It is
# dark and opaque, so it reads the same in light and dark themes. It contains only side letters and
# numbers; the words are in the alt text.


WIDTH, HEIGHT, MARGIN = 720, 240, 28  # pixels; drawn at twice that
FULL = 100.0
NO_SCORE_HEIGHT = 4  # pixels
LETTERS = 14.0  # pixels; smaller where bars are narrow
FREE = 2.0  # pixels of a slot that no letter covers
UP = Scale(HEIGHT - MARGIN, MARGIN, 0, FULL, (FULL, FULL / 2))


@in_its_language
def arc_picture(arc: Arc) -> File:
    """Return the picture of an arc as an SVG file, which adapters draw."""
    slot = (WIDTH - 2 * MARGIN) / max(1, len(arc.points))
    # Each text leaves a little free.
    widest = max(width_of(text, 1.0) for text in (f"B{len(arc.points)}", f"{FULL:g}"))
    size = min(LETTERS, (slot - FREE) / widest)
    lines = grid(UP, MARGIN, WIDTH - MARGIN, gap=4, lower=LETTERS / 3, kind="faint", size=12)
    parts = list(lines)
    for place, point in enumerate(arc.points):
        parts += _bar(MARGIN + slot * (place + 0.15), slot * 0.7, point, size)
    svg = darken(draw(arc.title, arc.alt, WIDTH, HEIGHT, parts, headed=False))
    return File(name="arc.png", media="image/svg+xml", content=svg, alt=arc.alt)


def _bar(left: float, width: float, point: ArcPoint, size: float) -> Iterator[str]:
    floor, middle = UP.start, left + width / 2
    yield write(middle, floor + 5 + size, f"{point.side}{point.number}", "ink", "middle", size)
    if point.score is None:
        yield bar(left, floor - NO_SCORE_HEIGHT, width, NO_SCORE_HEIGHT, GREY)
        return
    # `docked` is negative or 0; the bar's full height is the score before it.
    top, kept = UP.at(point.score - point.docked), UP.at(point.score)
    if top < kept:
        yield bar(left, top, width, kept - top, GOLD)
    if kept < floor:
        yield bar(left, kept, width, floor - kept, RED if point.side == "B" else BLUE)
    text, y = f"{point.score:.0f}", top - 4
    room = width_of(text, size)
    yield box(middle - room / 2, y - size * 0.8, room, size, "back")  # a line may pass there
    yield write(middle, y, text, "ink", "middle", size)


_BARS = "▁▂▃▄▅▆▇█"
# Heads as they are shown, so that a table fits the 40 columns of a phone.
_HEADS = {"speeches": N_("said"), "penalties": N_("lost")}
_NARROWEST = 4  # characters of a column: its rule has three hyphens and a colon


def board_card(board: ScoreBoard) -> Card:
    """Return the card of a scoreboard."""
    return Card(say(board.title), text="\n".join(board_lines(board)))


def arc_card(arc: Arc) -> Card:
    """Return the card of an arc."""
    text = f"`{sparkline(arc)}`\n\n{arc.alt}"
    return Card(say(arc.title), text=text, picture=partial(arc_picture, arc))


def sparkline(arc: Arc) -> str:
    """Draw one bar a turn, as high as its score is of 100; a turn without a score is a dot."""
    bars = []
    for point in arc.points:
        if point.score is None:
            bars.append("·")
        else:
            share = max(0.0, min(point.score, 100.0)) / 100
            bars.append(_BARS[round(share * (len(_BARS) - 1))])
    return "".join(bars)


def board_lines(board: ScoreBoard) -> Iterator[str]:
    """Return a scoreboard as a table, its columns as wide as what they hold, with its notes below.

    Chats that draw no tables show it as it is written.
    """
    rows = [tuple(map(_safe, (row.name, *row.cells))) for row in board.rows]
    head = ("", *(_safe(say(_HEADS.get(column, column))) for column in board.columns))
    widths = [max(_NARROWEST, *map(columns, column)) for column in zip(head, *rows, strict=True)]
    yield _row(head, widths)
    yield _row(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])], widths)
    yield from (_row(row, widths) for row in rows)
    if board.notes:
        yield ""
        yield from (f"- {note}" for note in board.notes)


def _safe(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *scores = cells
    room = (" " * (width - columns(cell)) for cell, width in zip(cells, widths, strict=True))
    first, *others = room
    padded = (blank + cell for cell, blank in zip(scores, others, strict=True))
    return f"| {' | '.join([name + first, *padded])} |"


def columns(text: str) -> int:
    """Return how many columns a text takes on a screen: two for a wide character or an emoji."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(bool(unicodedata.combining(char)) for char in text)


# The standing of a league: in words, and as a picture with one bar a model, as long as its points.


LEAGUE_MARGIN, ROW, BAR = 24, 44, 22  # pixels; drawn at twice that
NAMES, POINTS = 360, 80  # pixels for names, and for the number after a bar
LARGE = 20.0  # pixels, as the class large


@in_its_language
def league_picture(table: LeagueTable) -> File:
    """Return the picture of a standing as an SVG file; its alt text says the same in words."""
    alt, parts = league_alt(table), []
    most = max((points_of(row) for row in table.rows), default=0.0) or 1.0
    room = WIDTH - NAMES - 2 * LEAGUE_MARGIN - POINTS
    for number, row in enumerate(table.rows):
        middle, points = LEAGUE_MARGIN + ROW * number + ROW / 2, points_of(row)
        length = room * points / most
        colour = GOLD if points == most else BLUE
        parts += [
            write(
                LEAGUE_MARGIN, middle + 7, fit(row.name, NAMES - LEAGUE_MARGIN, LARGE), "ink large"
            ),
            bar(LEAGUE_MARGIN + NAMES, middle - BAR / 2, max(length, 1.0), BAR, colour),
            write(LEAGUE_MARGIN + NAMES + length + 12, middle + 7, row.cells[-1], "ink large"),
        ]
    height = 2 * LEAGUE_MARGIN + ROW * len(table.rows)
    svg = darken(draw(league_title(table), alt, WIDTH, height, parts, headed=False))
    return File(name="standing.png", media="image/svg+xml", content=svg, alt=alt)


def points_of(row: BoardRow) -> float:
    """Return the points in a row of a standing."""
    return float(row.cells[-1])


COLUMNS = (N_("won"), N_("points"))
WON: Mapping[str, str] = {
    "people": N_("**{one}** beat {other}: people decided."),
    "jury": N_("**{one}** beat {other}: the jury decided."),
}
TIED: Mapping[str, str] = {
    "people": N_("{one} and {other} tied: people decided."),
    "jury": N_("{one} and {other} tied: the jury decided."),
}


def league_card(table: LeagueTable) -> Card:
    """Return the card of a standing."""
    picture = partial(league_picture, table) if table.rows else None
    return Card(league_title(table), "vote", lines=tuple(league_lines(table)), picture=picture)


def league_title(table: LeagueTable) -> str:
    """Return the title of a standing."""
    if table.outcome == "over":
        return say("League: the final standing")
    if table.outcome == "stopped":
        return say("League: stopped by a manager")
    return say("League: {played} of {total} matches", played=table.played, total=table.total)


def league_lines(table: LeagueTable) -> Iterator[str]:
    """Yield who won the latest match, the standing, and what comes next."""
    if table.latest is not None:
        yield _latest(table.latest)
    if table.lot:
        yield say("Their matches had no winner, so {model} goes on by lot.", model=f"`{table.lot}`")
    if table.rows:
        yield ""
        yield from board_lines(
            ScoreBoard(language=table.language, title="", columns=COLUMNS, rows=table.rows)
        )
        yield ""
    if table.unmet and table.outcome == "going":
        yield plural(
            "{n} model has met no one yet.", "{n} models have met no one yet.", table.unmet
        )
    yield from _ending(table)


def league_alt(table: LeagueTable) -> str:
    """Return what the picture of a standing shows, in words."""
    places = (
        say("{name}: points {points}", name=row.name, points=row.cells[-1]) for row in table.rows
    )
    return say("The standing by points. {places}.", places="; ".join(places))


def _latest(match: LeagueMatch) -> str:
    names = {"one": f"`{match.one}`", "other": f"`{match.other}`"}
    if match.how == "won":
        return say(WON[match.by], **names)
    if match.how == "tied":
        return say(TIED[match.by], **names)
    return say("{one} against {other} ended without a result.", **names)


def _ending(table: LeagueTable) -> Iterator[str]:
    if table.champions:
        models = ", ".join(f"`{model}`" for model in table.champions)
        yield say(
            N_("🏆 **{models}** are level at the top.")
            if len(table.champions) > 1
            else N_("🏆 **{models}** won the league."),
            models=models,
        )
    elif table.outcome == "going":
        yield (
            say("**Next match:** {time}", time=table.next_match)
            if table.next_match
            else say("The next match begins soon.")
        )
