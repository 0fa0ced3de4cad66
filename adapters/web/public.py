"""The public pages: debates, figures, leagues and datasets of communities that show them."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Any

from aiohttp import web

from adapters.web.application import PageFailure, failure_page, language_of, write
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
from adapters.web.reader import DRAWN
from engine.dataset.bundle import ROOT
from engine.pages.public import CommunityPages, PublicDebate, PublicReader
from engine.stats.presentation import (
    draw_leaderboard,
    draw_matrix,
    draw_reliability,
    leaderboard_alt,
    word_rating,
    word_record,
    word_share,
)
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
PATHS = {part: f"/{part}" for part in PublicPart}


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
        return [
            web.get("/d/{id}", self._debate),
            web.get("/d/{id}/{picture:(sealed|result)}.png", self._preview),
            web.get("/d/{id}/{picture:[a-z]+}.svg", self._drawing),
            web.get("/d/{id}/turn-{number:[0-9]{1,6}}.txt", self._turn),
            web.get("/d/{id}/events", self._events, allow_head=False),
            web.get("/c/{key}", self._front),
            web.get("/c/{key}/debates", self._debates),
            web.get("/c/{key}/leaderboard", self._leaderboard),
            web.get("/c/{key}/agreement", self._agreement),
            web.get("/c/{key}/leagues", self._leagues),
            web.get("/c/{key}/leagues/{name}", self._league),
            web.get("/c/{key}/dataset", self._dataset),
            web.get("/c/{key}/dataset.zip", self._download),
        ]

    def end(self) -> None:
        """Let the readers of growing pages go: the server stops."""
        self._pulses.end()

    # --- debates -------------------------------------------------------------------------

    async def _debate(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        asked = request.query.get("part", "")[:6]
        part = int(asked) if asked.isascii() and asked.isdecimal() else 1

        async def make() -> PageContent:
            found = await self._public.debate(name, part)
            page = await asyncio.to_thread(self._write_debate, found)
            shows = () if found.sealed else (found.shown.item.id,)
            return PageContent(page.encode(), sealed=found.sealed, shows=shows)

        return await self._answer(request, ("debate", name, part), make)

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

    async def _drawing(self, request: web.Request) -> web.Response:
        name, which = request.match_info["id"], request.match_info["picture"]

        async def make() -> PageContent:
            picture = await self._public.drawing(name, which)
            return PageContent(picture.svg.encode(), "image/svg+xml", shows=(name.upper(),))

        answer = await self._answer(request, ("drawing", name, which), make)
        answer.headers.update(DRAWN if answer.content_type == "image/svg+xml" else {})
        return answer

    async def _turn(self, request: web.Request) -> web.Response:
        name, number = request.match_info["id"], int(request.match_info["number"])

        async def make() -> PageContent:
            text = await self._public.turn_text(name, number)
            return PageContent(
                text.encode(), "text/plain", sealed=True
            )  # it may be hidden later on

        return await self._answer(request, ("turn", name, number), make)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        return await self._pulses.stream(request, request.match_info["id"], SHARED_SECONDS)

    async def _preview(self, request: web.Request) -> web.Response:
        name, sealed = request.match_info["id"], request.match_info["picture"] == "sealed"

        async def make() -> PageContent:
            files = await self._draw((await self._public.picture(name, sealed=sealed),))
            if not files:
                raise web.HTTPNotFound
            shows = () if sealed else (name.upper(),)
            return PageContent(b64decode(files[0].content), files[0].media, shows=shows)

        return await self._answer(request, ("preview", name, sealed), make)

    async def _front(self, request: web.Request) -> web.Response:
        place = await self._public.place(request.match_info["key"])
        raise web.HTTPFound(f"/c/{place.key}{PATHS[place.parts[0]]}")

    async def _debates(self, request: web.Request) -> web.Response:
        key, before = request.match_info["key"], request.query.get("before", "")[:26]

        def put(found: Any) -> dict[str, Any]:
            return {"found": found, "states": STATES}

        read = partial(self._public.debates, key, before)
        return await self._page(request, PublicPart.DEBATES, read, put, before)

    # --- figures -------------------------------------------------------------------------

    async def _leaderboard(self, request: web.Request) -> web.Response:
        def put(found: Any) -> dict[str, Any]:
            return {"board": found, "draw": draw_leaderboard, "alt": leaderboard_alt}

        read = partial(self._public.leaderboard, request.match_info["key"])
        return await self._page(request, PublicPart.LEADERBOARD, read, put)

    async def _agreement(self, request: web.Request) -> web.Response:
        def put(found: Any) -> dict[str, Any]:
            figures, disputed = found
            return {
                "figures": figures,
                "disputed": disputed,
                "matrix": draw_matrix,
                "reliability": draw_reliability,
            }

        read = partial(self._public.agreement, request.match_info["key"])
        return await self._page(request, PublicPart.AGREEMENT, read, put)

    async def _leagues(self, request: web.Request) -> web.Response:
        read = partial(self._public.leagues, request.match_info["key"])
        return await self._page(request, PublicPart.LEAGUES, read, lambda found: {"found": found})

    async def _league(self, request: web.Request) -> web.Response:
        key, name = request.match_info["key"], request.match_info["name"]

        def put(found: Any) -> dict[str, Any]:
            league, table, report, pictures = found
            return {
                "league": league,
                "table": table,
                "report": report,
                "pictures": pictures,
                "title_of": league_title,
                "lines": league_lines,
                "standing": league_picture,
            }

        read = partial(self._public.league, key, name)
        return await self._page(
            request, PublicPart.LEAGUES, read, put, name, template="public_league.html.jinja"
        )

    # --- the dataset ---------------------------------------------------------------------

    async def _dataset(self, request: web.Request) -> web.Response:
        read = partial(self._public.dataset_size, request.match_info["key"])
        return await self._page(
            request, PublicPart.DATASET, read, lambda debates: {"debates": debates}
        )

    async def _download(self, request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]

        async def make() -> PageContent:
            whole = (await self._public.dataset(key)).content or b""
            shows = await self._public.revealed(key)
            return PageContent(whole, "application/zip", name=f"{ROOT}.zip", shows=shows)

        kept = ("dataset", key)
        answer = await self._answer(request, kept, make, DOWNLOAD_SECONDS, self._files)
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

    # --- every page of a community ---------------------------------------------------------

    async def _page(
        self,
        request: web.Request,
        part: PublicPart,
        read: Callable[[], Awaitable[object]],
        put: Callable[[Any], dict[str, Any]],
        *more: str,
        template: str = "",
    ) -> web.Response:
        """Answer with the page of a part, from what was read."""
        key, language = request.match_info["key"], language_of(request)

        async def make() -> PageContent:
            place = await self._public.place(key, part)
            values = {"heading": "", **put(await read()), **_framed(place, part)}
            name = template or f"public_{part}.html.jinja"
            page = await asyncio.to_thread(partial(write, name, language, **values))
            told = part is PublicPart.AGREEMENT or template
            shows = await self._public.revealed(key) if told else ()
            return PageContent(page.encode(), shows=shows)

        return await self._answer(
            request, (part, key, language, template, *more), make, FIGURES_SECONDS
        )


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
        "tabs": [(f"{at}{PATHS[one]}", TITLES[one], one is part) for one in shown],
        "at": at,
        "data": _data,
        "word_rating": word_rating,
        "word_record": word_record,
        "word_share": word_share,
        "parts": shown,
    }


def _data(svg: str) -> str:
    """Return a picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
