"""A search endpoint on loopback that records what it is asked, and fails on request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.doubles.loopback import LoopbackServer


@dataclass
class SearchServer(LoopbackServer):
    """Answers `results`, or what `script` holds for the next requests: a status, or a body.

    From the request of number `hold_from` on it says nothing. In a result `{query}` is replaced by
    what was searched for, `{number}` by the request's number.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    script: list[int | str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    hold_from: int | None = None
    port: int = 0

    @property
    def url(self) -> str:
        """The address to search at."""
        return f"{self.origin}/search?format=json"

    async def _search(self, request: web.Request) -> web.Response:
        self.asked.append(request.query["q"])
        self.keys.add(request.headers.get("Authorization", ""))
        if self.hold_from is not None and len(self.asked) >= self.hold_from:
            await asyncio.sleep(30)  # the client has gone by then
        act = self.script.pop(0) if self.script else 200
        if isinstance(act, str):
            return web.Response(text=act)
        if act != 200:
            return web.Response(status=act)
        query, number = self.asked[-1], str(len(self.asked))
        found = [
            {
                name: said.replace("{query}", query).replace("{number}", number)
                for name, said in one.items()
            }
            for one in self.results
        ]
        return web.json_response({"query": self.asked[-1], "results": found})

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/search", self._search)
        return app
