"""A debate's page, its calls and its pictures as values.

`Page` (engine/dataset/page.py) is what everyone may read. Beside it stands what an operator reads
of a debate in which nothing is sealed any more, made of the rows that an export has of it. So
pages of the database and of an export say the same, without what an export leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from engine.dataset.page import Page
from engine.pages.items import Item
from engine.pages.parts import Part, cut, weigh

Rows: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of one debate, by table of an export; `turns` may lack some, `SPOKEN` names all."""

SPOKEN = "spoken"

SOURCES_WEIGHT, BALLOTS_WEIGHT, SECTIONS_WEIGHT = 24_000, 34_000, 30_000  # bytes of HTML, about
CALLS_ON_A_PAGE = 100


class Grid(NamedTuple):
    """A table: its heads, and rows of as many cells."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Section(NamedTuple):
    """A part of a page below the turns; `key` is what a link to it ends with.

    `facts` are names with values, `text` is Markdown of models, `raw` is shown as it is. `picture`
    is the name of one, and `alt` says the same in words.
    """

    key: str
    title: str
    facts: tuple[tuple[str, str], ...] = ()
    grids: tuple[Grid, ...] = ()
    text: str = ""
    raw: str = ""
    picture: str = ""
    alt: str = ""


class Picture(NamedTuple):
    """A picture of a page, as SVG."""

    name: str
    svg: str
    alt: str


class TurnMark(NamedTuple):
    """What stands beside a turn once nothing is sealed: thumbs, the judge's score, its model."""

    thumbs: str
    score: str
    model: str
    decision: str


class DebatePage(NamedTuple):
    """A part of a debate's page.

    `page` has the turns of this part, and what follows the last turn only on the last one. `marks`
    are by the number of a turn. `sections` are empty while anything is sealed, and on other parts
    than the last. `live`: the page may still grow. `waits` says what a debate waits for, or why it
    ended early. `longer` are the numbers of turns that are cut here.
    """

    item: Item
    page: Page
    part: int
    parts: int
    turns: int
    marks: Mapping[int, TurnMark]
    sections: tuple[Section, ...]
    waits: str
    live: bool
    calls: int
    longer: frozenset[int] = frozenset()

    @property
    def last(self) -> bool:
        """Whether the result is on this part."""
        return self.part == self.parts


class Try(NamedTuple):
    """A try of a model call; `number` is its place in the debate, from 1."""

    number: int
    step: str
    attempt: int
    model: str
    answered: bool
    tokens_in: int | None
    tokens_cached: int | None
    tokens_out: int | None
    usd: float | None
    seconds: float | None


class CallsPage(NamedTuple):
    """A page of a debate's calls, with the sums over all of them; `usd` is None if unknown."""

    item: Item
    tries: tuple[Try, ...]
    number: int
    pages: int
    total: int
    tokens_in: int
    tokens_out: int
    usd: float | None
    sealed: bool
    kept: bool


class CallPage(NamedTuple):
    """A call with its prompt, by role, and its reply; None was deleted, or is not in an export."""

    item: Item
    call: Try
    messages: tuple[tuple[str, str], ...] | None
    reply: str | None
    error: str
    schema: str
    calls: int


def shorten(page: Page, part: Part) -> tuple[Page, frozenset[int]]:
    """Return a page whose texts fit, and the numbers of turns that are cut."""
    longer = frozenset(turn.number for turn in part.turns if cut(turn.text) != turn.text)
    turns = tuple(one._replace(text=cut(one.text)) for one in page.turns)
    sources = tuple((name, cut(text, most)) for (name, text), most in _shares(page))
    room = BALLOTS_WEIGHT // max(1, len(page.ballots))
    ballots = tuple(one._replace(reasons=cut(one.reasons, room)) for one in page.ballots)
    return page._replace(turns=turns, sources=sources, ballots=ballots), longer


def _shares(page: Page) -> list[tuple[tuple[str, str], int]]:
    share = SOURCES_WEIGHT // max(1, len(page.sources))
    return [(source, share) for source in page.sources]


def shorten_sections(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Return sections whose long texts fit on a page together."""
    heavy = sum(weigh(one.text) + len(one.raw) for one in sections)
    if heavy <= SECTIONS_WEIGHT:
        return tuple(sections)
    texts = sum(bool(one.text or one.raw) for one in sections)
    room = SECTIONS_WEIGHT // max(1, texts)
    return tuple(
        one._replace(
            text=cut(one.text, room), raw=one.raw[:room] + " …" if one.raw[room:] else one.raw
        )
        for one in sections
    )


def only_last(page: Page, part: Part) -> Page:
    """Return what a part shows of a page: what stands before the turns only on the first."""
    if part.number > 1:
        page = page._replace(conditions="", stances=(), sources=())
    return page if part.last else page._replace(result=(), ballots=())
