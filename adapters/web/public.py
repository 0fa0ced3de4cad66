"""The public pages: debates, figures, leagues and datasets of communities that show them."""

from __future__ import annotations

import asyncio
from base64 import b64decode
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
from adapters.web.reader import STATES, WORDS, Links, write_debate
from engine.dataset.bundle import ROOT
from engine.drawing import data_address
from engine.pages.debate_page import ListPage
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
from engine.words.scores import league_lines, league_picture, league_title

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
FRONT = N_("Debates between AI models")
LONGEST_SEARCH = 200  # characters
LEAGUE = "public_league.html.jinja"
SHOWN = {
    **WORDS,
    "heading": "",
    "states": STATES,
    "data": data_address,
    "word_rating": word_rating,
    "draw": draw_leaderboard,
    "alt": leaderboard_alt,
    "matrix": draw_matrix,
    "reliability": draw_reliability,
    "title_of": league_title,
    "lines": league_lines,
    "standing": league_picture,
}
Read: TypeAlias = Callable[..., Awaitable[object]]


class PublicPages:
    """Routes of the public pages; `draw` turns pictures into what link previews show.

    `saw` hears which debates a request shows the result of.
    """

    def __init__(
        self, public: PublicReader, permalinks: Permalinks, draw: Draw, saw: Saw | None = None
    ) -> None:
        self._public, self._permalinks, self._draw, self._saw = public, permalinks, draw, saw
        self._pages, self._files = Crowd(), Crowd(most=1)
        self._links = Links("/d/{}", live=True, permalinks=permalinks)
        self._pulses = LiveUpdates(public.pulse, LOOK_SECONDS)
        self._downloads = 0

    def routes(self) -> list[web.RouteDef]:
        """Return the pages by their addresses."""
        at, debate, public = "/c/{key}", "/d/{id}", self._public
        reads: dict[PublicPart, Read] = {
            PublicPart.DEBATES: public.debates,
            PublicPart.LEADERBOARD: public.leaderboard,
            PublicPart.AGREEMENT: public.agreement,
            PublicPart.LEAGUES: public.leagues,
            PublicPart.DATASET: public.dataset_size,
        }
        return [
            web.get(debate, self._shared(self.debate)),
            web.get(f"{debate}/{{picture:(sealed|result)}}.png", self._shared(self.preview)),
            web.get(f"{debate}/{{picture:[a-z]+}}.svg", self._shared(self.drawing)),
            web.get(f"{debate}/turn-{{number:[0-9]{{1,6}}}}.txt", self._shared(self.turn)),
            web.get(f"{debate}/events", self.events, allow_head=False),
            web.get("/", self.front),
            web.get(at, self.first),
            *(web.get(f"{at}/{part}", self._page(part, read)) for part, read in reads.items()),
            web.get(
                f"{at}/leagues/{{name}}", self._page(PublicPart.LEAGUES, public.league, LEAGUE)
            ),
            web.get(f"{at}/dataset.zip", self.download),
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

    def _page(self, part: PublicPart, read: Read, name: str = "") -> Handler:
        """Return what answers with a community's page, a template filled with what is read."""

        async def answer(request: web.Request) -> web.Response:
            language = language_of(request)
            listed = part is PublicPart.DEBATES
            sought = [request.query.get("q", "")[:LONGEST_SEARCH], number_in(request, "page") or 1]
            asked = [*request.match_info.values(), *(sought if listed else ())]

            async def make() -> PageContent:
                place = await self._public.place(asked[0], part)
                found = await read(*asked)
                values = {**SHOWN, **_framed(place, part), "found": found, "links": self._links}
                template = name or f"public_{part}.html.jinja"
                page = await asyncio.to_thread(partial(write, template, language, **values))
                told = part is PublicPart.AGREEMENT or name
                shows = await self._public.revealed(asked[0]) if told else ()
                if isinstance(found, ListPage):
                    shows = tuple(item.id for item in found.items if item.models)
                return PageContent(page.encode(), shows=shows)

            key = (part, *asked, name, language)
            return await self._answer(request, key, make, FIGURES_SECONDS)

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

    async def debate(self, request: web.Request) -> PageContent:
        """Show a part of a debate."""
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

    async def drawing(self, request: web.Request) -> PageContent:
        """Show a picture of a debate's page."""
        name = request.match_info["id"]
        picture = await self._public.drawing(name, request.match_info["picture"])
        return PageContent(picture.svg.encode(), SVG, shows=(name.upper(),))

    async def turn(self, request: web.Request) -> PageContent:
        """Show a turn's whole text."""
        name, number = request.match_info["id"], int(request.match_info["number"])
        text = await self._public.turn_text(name, number)
        return PageContent(text.encode(), "text/plain", sealed=True)  # it may be hidden later on

    async def preview(self, request: web.Request) -> PageContent:
        """Show the picture by which a link shows a debate."""
        name, sealed = request.match_info["id"], request.match_info["picture"] == "sealed"
        files = await self._draw((await self._public.picture(name, sealed=sealed),))
        if not files:
            raise web.HTTPNotFound
        shows = () if sealed else (name.upper(),)
        return PageContent(b64decode(files[0].content), files[0].media, shows=shows)

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Tell a page whenever its debate has grown, until its reader goes away."""
        return await self._pulses.stream(request, request.match_info["id"], SHARED_SECONDS)

    async def front(self, request: web.Request) -> web.Response:
        """Say what these pages are; whose there are is nobody's to know."""
        language = language_of(request)

        async def make() -> PageContent:
            template = "public_front.html.jinja"
            page = write(template, language, heading="", title=FRONT, tabs=())
            return PageContent(page.encode())

        return await self._answer(request, (FRONT, language), make)

    # --- a community ---------------------------------------------------------------------

    async def first(self, request: web.Request) -> web.Response:
        """Lead to the first of a community's pages."""
        place = await self._public.place(request.match_info["key"])
        raise web.HTTPFound(f"/c/{place.key}/{place.parts[0]}")

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Send the dataset of a community."""
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
            # Piece by piece: sent as one, each slow reader would keep a copy of it.
            body = memoryview(answer.body if isinstance(answer.body, bytes) else b"")
            sent = web.StreamResponse(headers=answer.headers)
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
        finally:
            self._downloads -= 1


def _framed(place: CommunityPages | None, part: PublicPart) -> dict[str, Any]:
    """Return what every public page's frame needs."""
    shown = place.parts if place else ()
    at = f"/c/{place.key}" if place else ""
    return {
        "title": TITLES[part],
        "tabs": [(f"{at}/{one}", TITLES[one], one is part) for one in shown],
        "at": at,
        "parts": shown,
    }
