"""The pages for reading debates, served to one reader on their own machine."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import web

from adapters.web.application import (
    DRAWN,
    SVG,
    Handler,
    address_of,
    assets,
    language_of,
    number_in,
    write,
)
from adapters.web.crowd import LiveUpdates
from engine.dataset.page import write_html
from engine.delivery.reasons import INTERRUPTED
from engine.drawing import data_address
from engine.pages.debate_page import (
    CallPage,
    CallsPage,
    DebatePage,
    Library,
    ListPage,
    chips_of,
    more_filters,
    read_sought,
    write_sought,
)
from engine.pages.figures import FiguresReader
from engine.pages.head import Item
from engine.stats.presentation import draw_leaderboard, leaderboard_alt
from engine.stats.ratings import word_rating
from engine.store.listings import ORDERS, DebateQuery
from engine.values.debate import Status
from engine.values.errors import UsageError
from engine.values.language import ENGLISH, N_
from engine.values.ports import Permalinks
from engine.values.text import SIDES, marked
from engine.words.phrases import money
from engine.words.stored import day, moment
from engine.words.translation import number

# Where pages are, served or in a folder, and what stands there.


class Links:
    """The addresses of pages of a running server, as templates ask for them.

    `at` is where a debate's page is, by its id. `live` pages grow by themselves. With `figures`
    there are pages of models, jurors, costs and series. `permalinks` are those of public pages.
    """

    filters = True
    policy = ""  # of a page that no server sends headers with
    between = "/"  # a debate's address, and what belongs to it

    def __init__(
        self,
        at: str = "/debates/{}",
        *,
        live: bool,
        figures: bool = False,
        permalinks: Permalinks = Permalinks(),  # noqa: B008 - a frozen value
    ) -> None:
        self._at, self.live, self.figures, self._permalinks = at, live, figures, permalinks

    def asset(self, name: str) -> str:
        """Return where a style sheet or script is."""
        return address_of(name)

    def list(self, sought: DebateQuery | None = None, number: int = 1) -> str:
        """Return where a page of a list is."""
        given = write_sought(sought) if sought else {}
        if number > 1:
            given["page"] = str(number)
        return f"/?{urlencode(given)}" if given else "/"

    def sorted(self, sought: DebateQuery, order: str) -> str:
        """Return where a list is in another order."""
        return self.list(sought._replace(order=order))

    def debate(self, item: Item, part: int = 1) -> str:
        """Return where a part of a debate is."""
        return self.of(item) + (f"?part={part}" if part > 1 else "")

    def public(self, item: Item) -> str:
        """Return where everyone may read a debate; empty if such pages are served nowhere."""
        return self._permalinks.debate(item.id)

    def report(self, item: Item) -> str:
        """Return where a debate is as one file."""
        return self.of(item, "report.html")

    def series(self, name: str) -> str:
        """Return where the report of a series is, or the list of its debates."""
        if self.figures:
            return f"/series/{quote(name, safe='')}"
        return self.list(DebateQuery(series=name))

    def events(self, item: Item, pulse: str) -> str:
        """Return what tells that a debate's page has grown since it was made of a pulse."""
        return self.of(item, f"events?seen={pulse}")

    def calls(self, item: Item, number: int = 1) -> str:
        """Return where a page of a debate's calls is."""
        return self.of(item, "calls") + (f"?page={number}" if number > 1 else "")

    def call(self, item: Item, number: int) -> str:
        """Return where a call is."""
        return self.of(item, f"calls/{number}")

    def at_turn(self, item: Item, number: int) -> str:
        """Return where a turn is, on whichever part."""
        return f"{self.of(item)}?turn={number}"

    def call_of(self, item: Item, step: str) -> str:
        """Return where the call is that a step asked for."""
        return self.of(item, f"calls?{urlencode({'step': step})}")

    def picture(self, item: Item, name: str) -> str:
        """Return where a picture is."""
        return self.of(item, f"{name}.svg")

    def turn(self, item: Item, number: int) -> str:
        """Return where a turn's whole text is."""
        return self.of(item, f"turn-{number}.txt")

    def of(self, item: Item, name: str = "") -> str:
        """Return where a debate is, or something of it."""
        at = self._at.format(item.id.lower())
        return f"{at}{self.between}{name}" if name else at


class _Filed(Links):
    """Files of a folder, linked from one in its top (`up` is empty) or in a folder (`../`)."""

    filters = False
    policy = "default-src 'none'; style-src 'self' file:; img-src 'self' file:; base-uri 'none'"
    between = "-"

    def __init__(self, up: str = "") -> None:
        super().__init__(f"{up}debates/{{}}", live=False)
        self._up = up

    def asset(self, name: str) -> str:
        return f"{self._up}static/{name}"

    def list(self, sought: DebateQuery | None = None, number: int = 1) -> str:
        words = ["list"]
        for name, value in (write_sought(sought) if sought else {}).items():
            plain = re.sub(r"[^a-z0-9]+", "-", value.lower())
            told = plain if plain == value else f"{plain}-{sha256(value.encode()).hexdigest()[:6]}"
            words += [name, told]
        words += [str(number)] if number > 1 else []
        return f"{self._up}{'-'.join(words) if words[1:] else 'index'}.html"

    def sorted(self, sought: DebateQuery, order: str) -> str:
        return self.list(DebateQuery(order=order))  # a folder has no list that is both

    def debate(self, item: Item, part: int = 1) -> str:
        return self.of(item, f"{part}" if part > 1 else "") + ".html"

    def calls(self, item: Item, number: int = 1) -> str:
        return self.of(item, f"calls-{number}.html" if number > 1 else "calls.html")

    def call(self, item: Item, number: int) -> str:
        return self.of(item, f"call-{number}.html")

    def at_turn(self, item: Item, number: int) -> str:
        return f"{self.debate(item)}#t{number}"

    def call_of(self, item: Item, step: str) -> str:
        return f"{self.calls(item)}#{quote(step)}"


# Pages for reading as HTML: a list, a debate, its calls; the same served and in a folder.


STATES: Mapping[str, str] = {
    Status.QUEUED: N_("waiting to begin"),
    Status.RUNNING: N_("running"),
    INTERRUPTED: N_("interrupted"),
    Status.VOTING: N_("people vote"),
    Status.CLOSED: N_("decided"),
    Status.PARTIAL: N_("ended at its cap"),
    Status.CANCELLED: N_("stopped"),
    Status.FAILED: N_("failed"),
}
THREADS = {  # where platforms show a thread in a browser
    "discord": "https://discord.com/channels/{community}/{thread}",
    "slack": "https://slack.com/app_redirect?team={community}&channel={channel}&message_ts={root}",
}


def thread_at(item: Item, thread: str) -> str:
    """Return the address of a debate's thread; empty where it has none."""
    if not thread or item.platform not in THREADS:
        return ""
    channel, _, root = thread.partition(":")[2].partition("/")
    named = {"community": item.community, "thread": thread, "channel": channel, "root": root}
    quoted = {name: quote(value, safe="") for name, value in named.items()}
    return THREADS[item.platform].format(**quoted)


WORDS = {
    "day": day,
    "moment": moment,
    "number": number,
    "money": money,
    "marked": marked,
    "thread_at": thread_at,
}


def write_list(page: ListPage, links: Links, language: str) -> str:
    """Return a page of a list."""
    values: dict[str, object] = {
        "states": STATES,
        "chips": chips_of(page, alone=not links.filters),
        "chosen": write_sought(page.sought),
        "more": more_filters,
    }
    return _write("list.html.jinja", language, links, page=page, here="/", **values)


def write_figures(name: str, links: Links, language: str, values: Mapping[str, Any]) -> str:
    """Return a page of figures."""
    shown: dict[str, object] = {
        "word_rating": word_rating,
        "draw": draw_leaderboard,
        "alt": leaderboard_alt,
        "data": data_address,
        "here": f"/{name}",
    }
    return _write(f"{name}.html.jinja", language, links, **shown, **values)


def write_debate(
    shown: DebatePage, links: Links, template: str = "debate.html.jinja", **frame: object
) -> str:
    """Return a part of a debate's page, in the debate's language; `frame` is for a template."""
    values = {"shown": shown, "page": shown.page, "item": shown.item, "states": STATES}
    values["sides"] = SIDES
    return _write(template, shown.page.language, links, **values, **frame)


def write_calls(page: CallsPage, links: Links) -> str:
    """Return a page of a debate's calls."""
    return _write("calls.html.jinja", page.item.language, links, page=page)


def write_call(page: CallPage, links: Links) -> str:
    """Return a call with its prompt and its reply."""
    return _write("call.html.jinja", page.item.language, links, page=page)


def _write(name: str, language: str, links: Links, **values: object) -> str:
    return write(name, language, asset=links.asset, links=links, **WORDS, **values)


# Pages as a folder that opens from a disk, and that any host can serve.


TOP, INSIDE = _Filed(), _Filed("../")
LEFT_OUT = (".js",)  # nothing of a folder grows


async def write_folder(library: Library) -> AsyncIterator[tuple[str, bytes]]:
    """Yield each file of the folder: its path and what it holds."""
    for name, (body, _, _) in sorted(assets().items()):
        if not name.endswith(LEFT_OUT):
            yield TOP.asset(name), body
    whole = await library.find(DebateQuery(), 1)
    filters = [chip.sought for row in chips_of(whole, alone=True) for chip in row if chip.n]
    orders = [DebateQuery(order=order) for order in ORDERS]
    for sought in (*orders, *filters, *more_filters(whole)):
        number, pages = 1, 1
        while number <= pages:
            page = await library.find(sought, number)
            pages = page.pages
            yield TOP.list(sought, number), write_list(page, TOP, ENGLISH).encode()
            for item in page.items if sought == DebateQuery() else ():
                async for file in _debate(library, item):
                    yield file
            number += 1


async def _debate(library: Library, item: Item) -> AsyncIterator[tuple[str, bytes]]:
    part, parts = 1, 1
    while part <= parts:
        shown = await library.debate(item.id, part)
        parts = shown.parts
        yield TOP.debate(item, part), write_debate(shown, INSIDE).encode()
        for section in shown.sections:
            if section.picture:
                picture = await library.picture(item.id, section.picture)
                yield TOP.picture(item, section.picture), picture.svg.encode()
        if part == 1:
            report = await library.report(item.id)
            yield TOP.report(item), write_html(report).encode()
        for long_turn in sorted(shown.longer):  # of which the page has the beginning
            yield TOP.turn(item, long_turn), (await library.turn_text(item.id, long_turn)).encode()
        part += 1
    async for file in _calls(library, item):
        yield file


async def _calls(library: Library, item: Item) -> AsyncIterator[tuple[str, bytes]]:
    number, pages = 1, 1
    while number <= pages:
        page = await library.calls(item.id, number)
        pages = page.pages
        if not page.sums.calls:
            return
        yield TOP.calls(item, number), write_calls(page, INSIDE).encode()
        for call in page.tries if page.kept else ():
            told = await library.call(item.id, call.number)
            yield TOP.call(item, call.number), write_call(told, INSIDE).encode()
        number += 1


LONGEST_STEP = 255  # characters


class ReadingPages:
    """Serves a library; `live` pages of debates that go on grow by themselves.

    With `figures` there are pages of models, jurors, costs and series. `permalinks` are those of
    public pages.
    """

    def __init__(
        self,
        library: Library,
        *,
        live: bool,
        pulses: LiveUpdates | None = None,
        figures: FiguresReader | None = None,
        permalinks: Permalinks = Permalinks(),  # noqa: B008 - a frozen value
    ) -> None:
        self._library, self._figures = library, figures
        self._links = Links(live=live, figures=figures is not None, permalinks=permalinks)
        self._pulses = pulses or LiveUpdates(library.pulse)

    def routes(self) -> Sequence[web.RouteDef]:
        """Return the routes of all pages."""
        one = "/debates/{name}"
        return [
            web.get("/", self.list),
            web.get(one, self.debate),
            web.get(f"{one}/report.html", self.report),
            web.get(f"{one}/calls", self.calls),
            web.get(f"{one}/calls/{{number:[0-9]+}}", self.call),
            web.get(f"{one}/turn-{{number:[0-9]+}}.txt", self.turn),
            web.get(f"{one}/{{picture:[a-z]+}}.svg", self.picture),
            web.get(f"{one}/events", self.events, allow_head=False),
            *self._figure_routes(),
        ]

    def _figure_routes(self) -> Iterator[web.RouteDef]:
        if self._figures is None:
            return
        reads = {
            "models": self._figures.models,
            "jurors": self._figures.jurors,
            "costs": self._figures.costs,
        }
        for name, read in reads.items():
            yield web.get(f"/{name}", self._figure_page(name, read))
        series = self._figures.series

        async def report(request: web.Request) -> web.Response:
            name = request.match_info["name"]
            values = {"found": await series(name), "series": name}
            return await _page(write_figures, "series", self._links, ENGLISH, values)

        yield web.get("/series/{name}", report)

    def _figure_page(self, name: str, read: Callable[..., Awaitable[object]]) -> Handler:
        """Return what answers with a page of figures, a template filled with what is read."""

        async def answer(request: web.Request) -> web.Response:
            asked = dict(request.query)
            values = {"found": await read(asked), "asked": asked}
            return await _page(write_figures, name, self._links, language_of(request), values)

        return answer

    def end(self) -> None:
        """Let the readers of growing pages go: the server stops."""
        self._pulses.end()

    async def list(self, request: web.Request) -> web.Response:
        """Show a page of the list."""
        try:
            sought = read_sought(request.query)
        except UsageError:
            raise web.HTTPBadRequest from None
        page = await self._library.find(sought, number_in(request, "page") or 1)
        return await _page(write_list, page, self._links, language_of(request))

    async def debate(self, request: web.Request) -> web.Response:
        """Show a part of a debate, or lead to the one with a turn."""
        name = request.match_info["name"]
        if turn := number_in(request, "turn"):
            item, part = await self._library.place(name, turn)
            raise web.HTTPFound(f"{self._links.debate(item, part)}#t{turn}")
        shown = await self._library.debate(name, number_in(request, "part"))
        return await _page(write_debate, shown, self._links)

    async def report(self, request: web.Request) -> web.Response:
        """Send a debate as one file."""
        page = await self._library.report(request.match_info["name"])
        answer = await _page(write_html, page)
        answer.headers["Content-Disposition"] = f'attachment; filename="debate-{page.code}.html"'
        return answer

    async def calls(self, request: web.Request) -> web.Response:
        """Show a page of a debate's calls, or lead to the one that a step asked for."""
        name, number = request.match_info["name"], number_in(request, "page") or 1
        if step := request.query.get("step", "")[:LONGEST_STEP]:
            item, place = await self._library.call_of(name, step)
            raise web.HTTPFound(self._links.call(item, place))
        return await _page(write_calls, await self._library.calls(name, number), self._links)

    async def call(self, request: web.Request) -> web.Response:
        """Show a call with its prompt and its reply."""
        name, number = request.match_info["name"], int(request.match_info["number"][:9])
        return await _page(write_call, await self._library.call(name, number), self._links)

    async def picture(self, request: web.Request) -> web.Response:
        """Show a picture."""
        name, which = request.match_info["name"], request.match_info["picture"]
        picture = await self._library.picture(name, which)
        return web.Response(text=picture.svg, content_type=SVG, headers=DRAWN)

    async def turn(self, request: web.Request) -> web.Response:
        """Show a turn's whole text."""
        name, number = request.match_info["name"], int(request.match_info["number"][:9])
        return web.Response(text=await self._library.turn_text(name, number))

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Tell a page whenever its debate has grown, until its reader goes away."""
        return await self._pulses.stream(request, request.match_info["name"])


async def _page(make: Callable[..., str], *values: object) -> web.Response:
    """Write a page in a thread: Markdown of a long debate takes a moment."""
    text = await asyncio.to_thread(make, *values)
    return web.Response(text=text, content_type="text/html")
