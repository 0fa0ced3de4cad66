"""A debate's page, its calls and its pictures as values.

`ReportedDebate` (engine/dataset/page.py) is what everyone may read. Beside it stands what an
operator reads of a debate in which nothing is sealed any more, made of the rows that an export has
of it. So pages of the database and of an export say the same, without what an export leaves out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from engine.dataset.entry import may_be_read
from engine.dataset.page import PageSection, ReportedDebate
from engine.delivery.reasons import INTERRUPTED
from engine.drawing import Picture
from engine.pages.head import LONGEST, SECTIONS_WEIGHT, Item, cut, weigh
from engine.stats.agreement import share_alike
from engine.stats.figure import Share
from engine.store.debates import ListedResult
from engine.store.listings import ORDERS, DebateQuery, DebateSummary, Decided, Facet
from engine.values.debate import Debate, Status, Turn
from engine.values.errors import UsageError
from engine.values.text import clean, headline, redact
from engine.values.topics import topic_id

if TYPE_CHECKING:
    from engine.pages.head import PageHead
    from engine.pages.parts import ArgumentCard, FreeSpeech, JuryMatrix, Revision

# A list of debates as a page shows it.


A_PAGE = 50  # debates
LONGEST_TOPIC = 200  # characters
_WORD = re.compile(r"[^\s\"“”]+")


class ListFigures(NamedTuple):
    """What a list's debates came to: in how many both agree, as a share too, and their cost."""

    alike: int
    agreement: Share
    usd: float


def figures_of(decided: Decided, usd: float) -> ListFigures:
    """Return what debates came to; takes a moment for thousands."""
    alike = sum(people == jury for _, people, jury in decided)
    pairs = [(topic_id(topic), people, jury) for topic, people, jury in decided]
    return ListFigures(alike, share_alike(pairs), usd)


class _Front(NamedTuple):
    """What stands above a whole list: what goes on, where people and jury differ most, figures.

    `live` counts debates that run or wait, and `voting` those on which people vote.
    """

    live: int
    voting: int
    hardest: tuple[Item, ...]
    figures: ListFigures


class ListPage(NamedTuple):
    """A page of a list: `number` from 1 of `pages`, of `total` debates.

    `facets` counts debates by what chips choose by, whatever of that is chosen. `front` is that of
    a list in which nothing is sought.
    """

    sought: DebateQuery
    items: tuple[Item, ...]
    total: int
    number: int
    pages: int
    choices: DebateSummary = DebateSummary()
    facets: Mapping[Facet, int] = {}
    front: _Front | None = None


HARDEST = 3  # debates above a list


def front_of(facets: Mapping[Facet, int], figures: ListFigures, hardest: Sequence[Item]) -> _Front:
    """Return what stands above a list."""
    states = Counter[str]()
    for (state, *_), n in facets.items():
        states[state] += n
    return _Front(
        live=states[Status.QUEUED] + states[Status.RUNNING],
        voting=states[Status.VOTING],
        hardest=tuple(hardest)[:HARDEST],
        figures=figures,
    )


def total_of(facets: Mapping[Facet, int], sought: DebateQuery) -> int:
    """Return how many debates of those counted are sought."""
    plain = (sought.status or "", sought.format, sought.language)
    return sum(
        n
        for facet, n in facets.items()
        if all(want in ("", one) for want, one in zip(plain, facet[:3], strict=True))
        and (facet[3] or not sought.disagreement)
    )


class _Chip(NamedTuple):
    """A filter: what it is called, how many debates it leaves, where it leads, and if it is on.

    `kind` is that of an address's parameter, and `value` its value; a chip that is on leads to what
    is sought without it.
    """

    kind: str
    value: str
    n: int
    sought: DebateQuery
    on: bool


FACETS = ("state", "format", "language", "disagreement")


def more_filters(page: ListPage) -> tuple[DebateQuery, ...]:
    """Return what a list can be filtered by that has no chip, each filter alone."""
    models = (DebateQuery(model=one) for one in page.choices.models)
    return (*models, *(DebateQuery(series=one) for one in page.choices.series))


def chips_of(page: ListPage, *, alone: bool = False) -> list[list[_Chip]]:
    """Return the filters that change a list, by kind, with how many debates each would leave.

    `alone`: a chip leads to what it leaves of the whole list, not of what is sought.
    """
    chosen = write_sought(page.sought)
    wanted = [chosen.get(kind, "") for kind in FACETS]
    found: list[dict[str, int]] = [{} for _ in FACETS]
    for facet, n in page.facets.items():
        told = [*facet[:3], "1" if facet[3] else ""]
        fits = [
            alone or want in ("", INTERRUPTED, one) for want, one in zip(wanted, told, strict=True)
        ]
        for place, value in enumerate(told):
            if value and all(fits[:place] + fits[place + 1 :]):
                found[place][value] = found[place].get(value, 0) + n
    rows = []
    for place, kind in enumerate(FACETS):
        if wanted[place] == INTERRUPTED:
            found[place][INTERRUPTED] = page.total
        elif wanted[place]:
            found[place].setdefault(wanted[place], 0)
        row = []
        for value, n in sorted(found[place].items(), key=lambda one: (-one[1], one[0])):
            on = value == wanted[place]
            rest = {name: one for name, one in chosen.items() if name != kind and not alone}
            sought = read_sought(rest if on else rest | {kind: value})
            row.append(_Chip(kind, value, n, sought, on))
        rows.append(row if len(row) > 1 or wanted[place] or kind == "disagreement" else [])
    return rows


def item_of(debate: Debate, gone: Container[str] = (), result: ListedResult | None = None) -> Item:
    """Return a stored debate as a list shows it, without what is sealed.

    `gone` are the ids of those that were interrupted.
    """
    request = debate.request
    return Item(
        id=debate.id,
        code=debate.code,
        topic=headline(redact(request.topic), LONGEST_TOPIC),
        state=INTERRUPTED if debate.id in gone else debate.status,
        format=request.format,
        language=request.language,
        platform=debate.platform,
        community=debate.community,
        series=debate.series or "",
        held=(debate.opened_at or debate.created_at).replace(microsecond=0),
        models=tuple((side, model.ref) for side, model in request.sides.items())
        if may_be_read(debate)
        else (),
        result=(result if may_be_read(debate) else None) or ListedResult(),
    )


def read_sought(given: Mapping[str, str]) -> DebateQuery:
    """Return what a form or an address asks for. Raises UsageError for an unknown state."""
    asked = {name: clean(value).strip() for name, value in given.items()}
    state = asked.get("state", "").lower()
    if state and state not in (*Status, INTERRUPTED):
        raise UsageError("There is no such state; choose one from the list.")
    order = asked.get("order", "").lower()
    if order not in ORDERS:
        raise UsageError("There is no such order; choose one from the list.")
    return DebateQuery(
        words=tuple(_WORD.findall(asked.get("q", ""))),
        status=Status(state) if state not in ("", INTERRUPTED) else None,
        interrupted=state == INTERRUPTED,
        disagreement=bool(asked.get("disagreement")),
        format=asked.get("format", ""),
        language=asked.get("language", ""),
        platform=asked.get("platform", ""),
        community=asked.get("community", ""),
        series=asked.get("series", ""),
        model=asked.get("model", ""),
        order=order,
    )


def state_of(sought: DebateQuery) -> str:
    """Return the state that is looked for; empty for any."""
    return INTERRUPTED if sought.interrupted else sought.status or ""


def write_sought(sought: DebateQuery) -> dict[str, str]:
    """Return the address's parameters of what is looked for, without those that are empty."""
    plain = {
        "q": " ".join(sought.words),
        "state": state_of(sought),
        "format": sought.format,
        "language": sought.language,
        "platform": sought.platform,
        "community": sought.community,
        "series": sought.series,
        "model": sought.model,
        "disagreement": "1" if sought.disagreement else "",
        "order": sought.order,
    }
    return {name: value for name, value in plain.items() if value}


def pages_of(total: int) -> int:
    """Return how many pages a list has; an empty one has one."""
    return max(1, -(-total // A_PAGE))


# Parts of a long debate: so many turns that a page stays small, and links find each turn.


MOST_WEIGHT = 62_000  # of a page's turns; bytes of HTML, about
MOST_TURNS = 60
_FRAME_WEIGHT = 700  # of a turn's title, link and marks


class TurnsPart(NamedTuple):
    """Which part of a debate's turns a page has: `number` from 1 of `parts`."""

    number: int
    parts: int
    turns: tuple[Turn, ...]

    @property
    def last(self) -> bool:
        """Whether the debate's last turn is on it, and so its result."""
        return self.number == self.parts


def divide(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], ...]:
    """Return the turns of each part; a debate without turns has one part."""
    parts: list[tuple[Turn, ...]] = []
    begun: list[Turn] = []
    weight = 0
    for turn in turns:
        adds = min(weigh(turn.text), LONGEST) + sum(map(weigh, turn.asked)) + _FRAME_WEIGHT
        if begun and (weight + adds > MOST_WEIGHT or len(begun) == MOST_TURNS):
            parts.append(tuple(begun))
            begun, weight = [], 0
        begun.append(turn)
        weight += adds
    return (*parts, tuple(begun))


class PartsOutline(NamedTuple):
    """What a debate's parts are: the first and last turn's number of each, and who spoke when.

    `spoken` names every turn by its step, and says how many words it has.
    """

    bounds: tuple[tuple[int, int], ...]
    spoken: tuple[Mapping[str, Any], ...]

    def choose(self, part: int, turn: int) -> int:
        """Return the number of the part that is asked for, or that has a turn; else the nearest."""
        if turn and not part:
            return next((n for n, (_, last) in enumerate(self.bounds, 1) if turn <= last), 1)
        return min(max(part, 1), len(self.bounds))


def outline(turns: Sequence[Turn]) -> PartsOutline:
    """Return what the parts of a debate's turns are."""
    bounds = tuple((part[0].number, part[-1].number) if part else (0, 0) for part in divide(turns))
    spoken = (
        {"step": one.step, "number": one.number, "seat": one.seat, "words": one.words}
        for one in turns
    )
    return PartsOutline(bounds, tuple(spoken))


SPOKEN = "spoken"

SOURCES_WEIGHT = 24_000  # bytes of HTML, about
CALLS_ON_A_PAGE = 100


class TurnMark(NamedTuple):
    """What stands beside a turn once nothing is sealed: thumbs, the judge's score, its model.

    `total` is that score as a number, `sheet` what it adds up, of how much, and `parts` all else
    that was scored. `register` is Markdown: what was entered of the turn, or came out in it.
    """

    thumbs: str
    score: str
    model: str
    decision: str
    total: float | None = None
    sheet: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    register: str = ""


class DebatePage(NamedTuple):
    """A part of a debate's page.

    `page` has the turns of this part, and what follows the last turn only on the last one. `marks`
    are by the number of a turn. `juries` and `sections` are empty while anything is sealed, and on
    other parts than the last. `live`: the page may still grow. `waits` says what a debate waits
    for, or why it ended early, where the `head` does not. `longer` are the numbers of turns that
    are cut here, and `pulse` is what changes when the page does. `arguments` are those of a
    `structured` debate, `board` is the free one of a `team`, `revisions` by the number of a turn.
    """

    item: Item
    page: ReportedDebate
    head: PageHead
    part: int
    parts: int
    marks: Mapping[int, TurnMark]
    juries: tuple[JuryMatrix, ...]
    sections: tuple[PageSection, ...]
    waits: str
    live: bool
    calls: int
    longer: frozenset[int] = frozenset()
    pulse: str = ""
    arguments: tuple[ArgumentCard, ...] = ()
    board: tuple[FreeSpeech, ...] = ()
    revisions: Mapping[int, Revision] = {}

    @property
    def last(self) -> bool:
        """Whether the result is on this part."""
        return self.part == self.parts


class PageTry(NamedTuple):
    """A try of a model call; `number` is its place in the debate, from 1.

    `began` is in seconds since the debate's first call; None where that is unknown. `error` says
    why it failed, `waited` are the seconds since the try before it began, and `turn` is the number
    of the turn that it wrote, else 0.
    """

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
    began: float | None = None
    error: str = ""
    turn: int = 0
    waited: float = 0.0


class ModelSpending(NamedTuple):
    """What calls of a model came to; `usd` is None if unknown, `failed` had no answer."""

    model: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    seconds: float
    usd: float | None


class CallsPage(NamedTuple):
    """A page of a debate's calls, with the sums over all of them, which are of no one model.

    They are in the order of their beginning where that is known; `lasted` is their time line, in
    seconds, and `by_model` has the dearest model first.
    """

    item: Item
    tries: tuple[PageTry, ...]
    number: int
    pages: int
    sums: ModelSpending
    sealed: bool
    kept: bool
    lasted: float = 0.0
    by_model: tuple[ModelSpending, ...] = ()


class CallPage(NamedTuple):
    """A call with its prompt, by role, and its reply; None was deleted, or is not in an export."""

    item: Item
    call: PageTry
    messages: tuple[tuple[str, str], ...] | None
    reply: str | None
    error: str
    schema: str
    calls: int
    shared: int = 0  # of its first messages, which the call before had too
    same: int = 0  # characters of the next one, with which that call's began too


def shorten(page: ReportedDebate, part: TurnsPart) -> tuple[ReportedDebate, frozenset[int]]:
    """Return a page whose texts fit, and the numbers of turns that are cut."""
    longer = frozenset(turn.number for turn in part.turns if cut(turn.text) != turn.text)
    turns = tuple(one._replace(text=cut(one.text)) for one in page.turns)
    share = SOURCES_WEIGHT // max(1, len(page.sources))
    sources = tuple((name, cut(text, share)) for name, text in page.sources)
    return page._replace(turns=turns, sources=sources), longer


def shorten_sections(sections: Sequence[PageSection]) -> tuple[PageSection, ...]:
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


def only_last(page: ReportedDebate, part: TurnsPart) -> ReportedDebate:
    """Return what a part shows of a page: what stands before the turns only on the first."""
    if part.number > 1:
        page = page._replace(conditions="", stances=(), sources=())
    return page._replace(result=(), ballots=())  # which the head and the matrix tell


# Where pages come from: the database of an installation, or the folder of an export.


class Library(Protocol):
    """Debates as pages; every method may raise StoreError.

    A debate is named by its id or short code; those that name one raise NotFoundError.
    """

    async def find(self, sought: DebateQuery, number: int) -> ListPage:
        """Return a page of a list, or its last one."""

    async def debate(self, name: str, part: int = 0, turn: int = 0) -> DebatePage:
        """Return a part of a debate: the one of a number, or with a turn; else the first."""

    async def report(self, name: str) -> ReportedDebate:
        """Return a debate as one page, as far as it may be read now."""

    async def place(self, name: str, turn: int) -> tuple[Item, int]:
        """Return a debate and the number of the part that has a turn."""

    async def calls(self, name: str, number: int = 1) -> CallsPage:
        """Return a page of a debate's calls; none while anything of it is sealed."""

    async def call_of(self, name: str, step: str) -> tuple[Item, int]:
        """Return a debate and the number of the last try of a step's call."""

    async def call(self, name: str, number: int) -> CallPage:
        """Return a call with what was asked and answered, by its place from 1."""

    async def picture(self, name: str, picture: str) -> Picture:
        """Return a picture of a debate's page."""

    async def turn_text(self, name: str, turn: int) -> str:
        """Return a turn's whole text, as voters read it."""

    async def pulse(self, name: str) -> str:
        """Return what changes whenever a debate's page grows or changes; cheap to ask often."""
