"""Private answers, by response URL or ephemeral message.

A response URL is valid for five uses in half an hour; after that, or if it fails, an ephemeral
message is used. While neither is reachable, both are retried with growing pauses. Slack cannot say
whether an answer was shown: if the response was lost, the answer appears twice, which is better
than not at all.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import structlog

from adapters.slack.errors import SlackAct
from adapters.slack.install.workspaces import Workspaces
from adapters.slack.payloads import ReplyTarget
from adapters.slack.render import fallback, markdown_block, pieces_of
from adapters.slack.rest import Json
from engine.values.errors import VenueAwayError, VenueError
from engine.values.pace import Backoff

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
USES, GOOD_SECONDS = 5, 1700.0  # of 1,800, as Slack's clock started earlier
log = structlog.get_logger(__name__)


@dataclass
class EphemeralReply:
    """Answers privately, visible only to the person who asked.

    `in_place`: an answer replaces the private message whose button was pressed.
    """

    workspaces: Workspaces
    requester: ReplyTarget
    in_place: bool = False
    _uses: int = 0
    _may_pass: bool = False  # whether the last failure is temporary
    _why: str = ""
    _began: float = field(default_factory=time.monotonic)

    async def say(self, text: str, *actions: Json) -> None:
        """Show Markdown in as many messages as needed; `actions` go below the last."""
        pieces = pieces_of(text) or ("…",)
        for left, piece in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
            blocks = [markdown_block(piece)]
            if not left:
                blocks += actions
            said: Json = {"text": fallback(piece), "blocks": blocks}
            await self._insist(said)

    async def offer(self, text: str, *actions: Json) -> None:
        """Show Markdown once, in the thread; as no one asked for it, a failure is only logged."""
        said: Json = {"text": fallback(text)}
        if not await self._show(said | {"blocks": [markdown_block(text), *actions]}):
            log.info("nothing offered beside a vote", why=self._why)

    async def _insist(self, said: Json) -> None:
        """Try both ways, with growing pauses, while a failure is temporary."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while not (await self._respond(said) or await self._show(said)):
            if not self._may_pass or self._age + backoff.pause > GOOD_SECONDS:
                log.warning("answer lost", place=self.requester.channel, why=self._why)
                return
            log.info("private answer retried", why=self._why)
            await asyncio.sleep(backoff.next())

    @property
    def _age(self) -> float:
        return time.monotonic() - self._began

    async def _respond(self, said: Json) -> bool:
        self._may_pass = False
        if not self.requester.response_url or self._uses >= USES or self._age > GOOD_SECONDS:
            return False
        self._uses += 1
        body = {"response_type": "ephemeral", "replace_original": self.in_place, **said}
        try:
            return await self.workspaces.app.respond(self.requester.response_url, body)
        except VenueAwayError as error:
            self._may_pass, self._why = self._uses < USES, str(error)
            return False

    async def _show(self, said: Json) -> bool:
        body = {"channel": self.requester.channel, "user": self.requester.user, **said}
        if self.requester.root:
            body["thread_ts"] = self.requester.root
        try:
            rest = (await self.workspaces.find(self.requester.team)).rest
            if self.requester.home:
                said = {"channel": self.requester.user, **said}
                await rest.write(SlackAct.POST, "chat.postMessage", said, place=self.requester.user)
            else:
                await rest.write(
                    SlackAct.ASK, "chat.postEphemeral", body, place=self.requester.channel
                )
        except VenueError as error:
            self._may_pass |= isinstance(error, VenueAwayError)
            self._why = str(error)
            return False
        return True
