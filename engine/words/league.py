"""The standing of a league, as chats show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from engine.drawing.svg import BLUE, GOLD, bar, darken, draw, fit, write
from engine.values.language import N_
from engine.values.messages import BoardRow, File, LeagueMatch, LeagueTable, ScoreBoard
from engine.words.card import Card
from engine.words.scores import board_lines
from engine.words.translation import in_its_language, plural, say

# The standing of a league as a picture: one bar a model, as long as its points.


WIDTH, ROW, MARGIN, BAR = 720, 44, 24, 22  # pixels; drawn at twice that
NAMES, POINTS = 360, 80  # pixels for names, and for the number after a bar
LETTERS = 20.0  # pixels, as the class large


@in_its_language
def league_picture(table: LeagueTable) -> File:
    """Return the picture of a standing as an SVG file; its alt text says the same in words."""
    alt, parts = league_alt(table), []
    most = max((points_of(row) for row in table.rows), default=0.0) or 1.0
    room = WIDTH - NAMES - 2 * MARGIN - POINTS
    for number, row in enumerate(table.rows):
        middle, points = MARGIN + ROW * number + ROW / 2, points_of(row)
        length = room * points / most
        colour = GOLD if points == most else BLUE
        parts += [
            write(MARGIN, middle + 7, fit(row.name, NAMES - MARGIN, LETTERS), "ink large"),
            bar(MARGIN + NAMES, middle - BAR / 2, max(length, 1.0), BAR, colour),
            write(MARGIN + NAMES + length + 12, middle + 7, row.cells[-1], "ink large"),
        ]
    height = 2 * MARGIN + ROW * len(table.rows)
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
