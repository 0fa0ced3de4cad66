"""Answers that one person sees, for as long as Slack gives them a way.

A response URL is good for five uses in half an hour; after that, and where it fails, an ephemeral
message says it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog

from adapters.slack.errors import Act
from adapters.slack.markup import escape
from adapters.slack.render import markdown_block, pieces_of
from adapters.slack.rest import Json
from adapters.slack.workspaces import Workspaces
from engine.errors import VenueError
from engine.text import headline

USES, GOOD_SECONDS = 5, 1700.0  # of 1,800, as Slack's clock began earlier
FALLBACK = 200  # characters of what a notification shows
log = structlog.get_logger(__name__)


class Asker(NamedTuple):
    """Who asks, and where; `thread` is the place of the thread that a button was pressed in."""

    team: str
    channel: str
    user: str
    response_url: str = ""
    thread: str | None = None
    direct: bool = False


@dataclass
class Whisper:
    """Says something to whoever asked, and to nobody else."""

    workspaces: Workspaces
    asker: Asker
    _uses: int = 0
    _began: float = field(default_factory=time.monotonic)

    async def say(self, text: str, actions: Json | None = None) -> None:
        """Say Markdown, in as many messages as it takes; `actions` are put below the last."""
        pieces = pieces_of(text) or ("…",)
        for left, piece in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
            blocks = [markdown_block(piece)]
            if actions is not None and not left:
                blocks.append(actions)
            said: Json = {"text": escape(headline(piece, FALLBACK)), "blocks": blocks}
            if not await self._respond(said):
                await self._show(said)

    async def _respond(self, said: Json) -> bool:
        fresh = time.monotonic() - self._began < GOOD_SECONDS
        if not self.asker.response_url or self._uses >= USES or not fresh:
            return False
        self._uses += 1
        body = {"response_type": "ephemeral", "replace_original": False, **said}
        return await self.workspaces.app.respond(self.asker.response_url, body)

    async def _show(self, said: Json) -> None:
        body = {"channel": self.asker.channel, "user": self.asker.user, **said}
        try:
            rest = (await self.workspaces.find(self.asker.team)).rest
            await rest.write(Act.ASK, "chat.postEphemeral", body, place=self.asker.channel)
        except VenueError as error:
            log.warning("answer lost", place=self.asker.channel, why=str(error))
