"""The public pages: debates, figures, leagues and datasets of communities that show them."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Any, TypeAlias

from aiohttp import web

from adapters.web.application import (
    SVG,
    Handler,
    PageFailure,
    failure_page,
    language_of,
    number_in,
    write,
)
from adapters.web.crowd import (
    BUSY,
    READ_SECONDS,
    SHARED_SECONDS,
    SHOWS,
    Crowd,
    LiveUpdates,
    PageContent,
)
from adapters.web.label_pages import Saw
from adapters.web.links import STATES, PublicLinks, write_debate
from engine.dataset.bundle import ROOT
from engine.pages.public import CommunityPages, PublicDebate, PublicReader
from engine.stats.presentation import (
    draw_leaderboard,
    draw_matrix,
    draw_reliability,
    leaderboard_alt,
)
from engine.stats.ratings import word_rating
from engine.store.communities import PublicPart
from engine.values.language import N_
from engine.values.messages import File
from engine.values.ports import Permalinks
from engine.words.league import league_lines, league_picture, league_title

Draw = Callable[[Sequence[File]], Awaitable[tuple[File, ...]]]
DOWNLOAD_SECONDS = 120.0  # in which a dataset must be built
MOST_DOWNLOADS = 16  # at once
PIECE_BYTES = 64 * 1024
STALL_SECONDS = 20.0  # in which a reader must take a piece
FIGURES_SECONDS = 30.0
TOO_LARGE = PageFailure(
    N_("This dataset is too large to be downloaded here"),
    N_("Ask the people who run Rostrum for it."),
)
LOOK_SECONDS = 3.0  # between looks at a debate whose page grows
TITLES = {
    PublicPart.DEBATES: N_("Debates here"),
    PublicPart.LEADERBOARD: N_("Ratings"),
    PublicPart.AGREEMENT: N_("Jury and people"),
    PublicPart.LEAGUES: N_("Leagues and schedules"),
    PublicPart.DATASET: N_("Dataset"),
}
LEAGUE = "public_league.html.jinja"
Values: TypeAlias = dict[str, Any]


class PublicPages:
    """Routes of the public pages; `draw` turns pictures into what link previews show.

    `saw` hears which debates a request shows the result of.
    """

    def __init__(
        self, public: PublicReader, permalinks: Permalinks, draw: Draw, saw: Saw | None = None
    ) -> None:
        self._public, self._permalinks, self._draw, self._saw = public, permalinks, draw, saw
        self._pages, self._files = Crowd(), Crowd(most=1)
        self._links, self._pulses = PublicLinks(live=True), LiveUpdates(public.pulse, LOOK_SECONDS)
        self._downloads = 0

    def routes(self) -> list[web.RouteDef]:
        """Return the pages by their addresses."""
        at, debate = "/c/{key}", "/d/{id}"
        return [
            web.get(debate, self._shared(self._debate)),
            web.get(f"{debate}/{{picture:(sealed|result)}}.png", self._shared(self._preview)),
            web.get(f"{debate}/{{picture:[a-z]+}}.svg", self._shared(self._drawing)),
            web.get(f"{debate}/turn-{{number:[0-9]{{1,6}}}}.txt", self._shared(self._turn)),
            web.get(f"{debate}/events", self._events, allow_head=False),
            web.get(at, self._front),
            web.get(f"{at}/debates", self._page(PublicPart.DEBATES, self._debates)),
            web.get(f"{at}/leaderboard", self._page(PublicPart.LEADERBOARD, self._leaderboard)),
            web.get(f"{at}/agreement", self._page(PublicPart.AGREEMENT, self._agreement)),
            web.get(f"{at}/leagues", self._page(PublicPart.LEAGUES, self._leagues)),
            web.get(f"{at}/leagues/{{name}}", self._page(PublicPart.LEAGUES, self._league, LEAGUE)),
            web.get(f"{at}/dataset", self._page(PublicPart.DATASET, self._dataset)),
            web.get(f"{at}/dataset.zip", self._download),
        ]

    def end(self) -> None:
        """Let the readers of growing pages go: the server stops."""
        self._pulses.end()

    # --- what every page does --------------------------------------------------------------

    def _shared(self, make: Callable[[web.Request], Awaitable[PageContent]]) -> Handler:
        """Return what answers with what is made for an address, shared by all who ask for it."""

        async def answer(request: web.Request) -> web.Response:
            key = (make.__name__, *request.match_info.values(), number_in(request, "part"))
            return await self._answer(request, key, partial(make, request))

        return answer

    def _page(
        self, part: PublicPart, read: Callable[[web.Request], Awaitable[Values]], name: str = ""
    ) -> Handler:
        """Return what answers with a community's page, a template filled with what is read."""

        async def answer(request: web.Request) -> web.Response:
            language = language_of(request)

            async def make() -> PageContent:
                key = request.match_info["key"]
                place = await self._public.place(key, part)
                values = {"heading": "", **await read(request), **_framed(place, part)}
                template = name or f"public_{part}.html.jinja"
                page = await asyncio.to_thread(partial(write, template, language, **values))
                told = part is PublicPart.AGREEMENT or name
                shows = await self._public.revealed(key) if told else ()
                return PageContent(page.encode(), shows=shows)

            asked = (part, *request.match_info.values(), name, language, _before(request))
            return await self._answer(request, asked, make, FIGURES_SECONDS)

        return answer

    async def _answer(
        self,
        request: web.Request,
        key: Hashable,
        make: Callable[[], Awaitable[PageContent]],
        seconds: float = READ_SECONDS,
        pages: Crowd | None = None,
    ) -> web.Response:
        """Answer a request, and tell what its reader knows from now on."""
        answer = await (pages or self._pages).answer(request, key, make, seconds)
        if self._saw is not None and (shows := answer.get(SHOWS)):
            await self._saw(request, shows)
        return answer

    # --- debates -------------------------------------------------------------------------

    async def _debate(self, request: web.Request) -> PageContent:
        found = await self._public.debate(request.match_info["id"], number_in(request, "part"))
        page = await asyncio.to_thread(self._write_debate, found)
        shows = () if found.sealed else (found.shown.item.id,)
        return PageContent(page.encode(), sealed=found.sealed, shows=shows)

    def _write_debate(self, found: PublicDebate) -> str:
        address = self._permalinks.debate(found.shown.item.id)
        preview = "sealed" if found.sealed else "result"
        frame = {
            **_framed(found.place, PublicPart.DEBATES),
            "heading": found.shown.page.topic,
            "told": found.told,
            "address": address,
            "preview": f"{address}/{preview}.png",
        }
        return write_debate(found.shown, self._links, "public_debate.html.jinja", **frame)

    async def _drawing(self, request: web.Request) -> PageContent:
        name = request.match_info["id"]
        picture = await self._public.drawing(name, request.match_info["picture"])
        return PageContent(picture.svg.encode(), SVG, shows=(name.upper(),))

    async def _turn(self, request: web.Request) -> PageContent:
        name, number = request.match_info["id"], int(request.match_info["number"])
        text = await self._public.turn_text(name, number)
        return PageContent(text.encode(), "text/plain", sealed=True)  # it may be hidden later on

    async def _preview(self, request: web.Request) -> PageContent:
        name, sealed = request.match_info["id"], request.match_info["picture"] == "sealed"
        files = await self._draw((await self._public.picture(name, sealed=sealed),))
        if not files:
            raise web.HTTPNotFound
        shows = () if sealed else (name.upper(),)
        return PageContent(b64decode(files[0].content), files[0].media, shows=shows)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        return await self._pulses.stream(request, request.match_info["id"], SHARED_SECONDS)

    # --- a community ---------------------------------------------------------------------

    async def _front(self, request: web.Request) -> web.Response:
        place = await self._public.place(request.match_info["key"])
        raise web.HTTPFound(f"/c/{place.key}/{place.parts[0]}")

    async def _debates(self, request: web.Request) -> Values:
        found = await self._public.debates(request.match_info["key"], _before(request))
        return {"found": found, "states": STATES}

    async def _leaderboard(self, request: web.Request) -> Values:
        board = await self._public.leaderboard(request.match_info["key"])
        return {"board": board, "draw": draw_leaderboard, "alt": leaderboard_alt}

    async def _agreement(self, request: web.Request) -> Values:
        figures, disputed = await self._public.agreement(request.match_info["key"])
        drawn = {"matrix": draw_matrix, "reliability": draw_reliability}
        return {"figures": figures, "disputed": disputed, **drawn}

    async def _leagues(self, request: web.Request) -> Values:
        return {"found": await self._public.leagues(request.match_info["key"])}

    async def _league(self, request: web.Request) -> Values:
        key, name = request.match_info["key"], request.match_info["name"]
        league, table, report, pictures = await self._public.league(key, name)
        told = {"title_of": league_title, "lines": league_lines, "standing": league_picture}
        return {"league": league, "table": table, "report": report, "pictures": pictures, **told}

    async def _dataset(self, request: web.Request) -> Values:
        return {"debates": await self._public.dataset_size(request.match_info["key"])}

    async def _download(self, request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]

        async def make() -> PageContent:
            whole = (await self._public.dataset(key)).content or b""
            shows = await self._public.revealed(key)
            return PageContent(whole, "application/zip", name=f"{ROOT}.zip", shows=shows)

        answer = await self._answer(request, key, make, DOWNLOAD_SECONDS, self._files)
        if answer.status == 200 and not answer.body:
            return failure_page(request, 503, TOO_LARGE)
        if answer.status != 200 or request.method == "HEAD":
            return answer
        if self._downloads >= MOST_DOWNLOADS:
            return failure_page(request, 503, BUSY)
        self._downloads += 1
        try:
            return await _send(request, answer)
        finally:
            self._downloads -= 1


def _before(request: web.Request) -> str:
    """Return the debate before which a list goes on; empty at its beginning."""
    return request.query.get("before", "")[:26]


async def _send(request: web.Request, whole: web.Response) -> web.StreamResponse:
    """Send a large answer piece by piece: as one, each slow reader would keep a copy of it.

    Raises ConnectionError for one who takes none for long.
    """
    body = memoryview(whole.body if isinstance(whole.body, bytes) else b"")
    sent = web.StreamResponse(headers=whole.headers)
    sent.content_length = len(body)
    await sent.prepare(request)
    try:
        for start in range(0, len(body), PIECE_BYTES):
            async with asyncio.timeout(STALL_SECONDS):
                await sent.write(body[start : start + PIECE_BYTES])
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionResetError from None
    return sent


def _framed(place: CommunityPages | None, part: PublicPart) -> dict[str, Any]:
    """Return what every public page's frame needs."""
    shown = place.parts if place else ()
    at = f"/c/{place.key}" if place else ""
    return {
        "title": TITLES[part],
        "tabs": [(f"{at}/{one}", TITLES[one], one is part) for one in shown],
        "at": at,
        "data": _data,
        "word_rating": word_rating,
        "parts": shown,
    }


def _data(svg: str) -> str:
    """Return a picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
