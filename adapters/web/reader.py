"""The pages for reading debates, served to one reader on their own machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from aiohttp import web

from adapters.web.application import DRAWN, SVG, Handler, language_of, number_in
from adapters.web.crowd import LiveUpdates
from adapters.web.links import (
    Links,
    write_call,
    write_calls,
    write_debate,
    write_figures,
    write_list,
)
from engine.dataset.page import write_html
from engine.pages.debate_page import Library, read_sought
from engine.pages.figures import FiguresReader
from engine.values.errors import UsageError
from engine.values.language import ENGLISH
from engine.values.ports import Permalinks

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
