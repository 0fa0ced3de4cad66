"""What a test in another process may do with Slack's double, and sees of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

from tests.doubles.faults import Fault
from tests.doubles.remote import ITSELF, Control, Json, RemoteDouble
from tests.doubles.slack.deliveries import DidNotRespondError
from tests.doubles.slack.server import SlackServer
from tests.doubles.slack.state import Asked, Message, Refusal

# What of Slack's double can be driven from another process, and how it is shown.


ACTS = frozenset(
    (
        "add_user",
        "advance",
        "archive",
        "delete_channel",
        "delete_message",
        "kick_bot",
        "press",
        "react",
        "revoke",
        "slash",
        "uninstall",
        "unreact",
    )
)
SOCKET_ACTS = frozenset(("drop", "refresh", "refuse", "silence"))


class SlackControl(Control):
    """The double itself, and its socket."""

    acts: ClassVar = {ITSELF: ACTS, "socket": SOCKET_ACTS}
    refusals = (Refusal, AssertionError, DidNotRespondError)

    def __init__(self, slack: SlackServer) -> None:
        super().__init__(slack)
        self._slack = slack

    def known(self) -> Json:
        """Return everything that it knows."""
        slack = self._slack
        return {
            "api_url": slack.api_url,
            "channel": slack.channel.id,
            "users": {user.name: user.id for user in slack.world.users.values()},
            "messages": [self.show(message) for message in slack.world.everything()],
            "asked": [self.show(asked) for asked in slack.interactions.all],
            "calls": slack.calls,
            "violations": [asdict(violation) for violation in slack.violations],
            "pings": [[ts, sorted(whom)] for ts, whom in slack.pings],
            "told": [asdict(told) for told in slack.deliveries.told],
            "hanging": slack.faults.hanging,
            "planned": slack.faults.planned,
            "connected": slack.socket.connected,
            "connects": slack.socket.connects,
        }

    def show(self, thing: object) -> Json | None:
        """Return a message or an interaction."""
        if isinstance(thing, Message):
            names = self._slack.world.users
            held = {
                name: sorted(names[user].name for user in users)
                for name, users in thing.reactions.items()
            }
            shown = {**thing.json(metadata=True), "channel": thing.channel, "reactions": held}
            return {**shown, "shown": thing.text, "deleted": thing.deleted}
        if isinstance(thing, Asked):
            return {"id": thing.id, "user": thing.user, "text": thing.text, "uses": thing.uses}
        return None


class Remote(RemoteDouble):
    """A client of `/control`."""

    package = "tests.doubles.slack"
    api = "/api"

    async def socket(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do what its socket has a method for."""
        await self._act("socket", name, args, kwargs)

    async def fail(self, fault: Fault, method: str = "**", **which: int | str) -> None:
        """Let a fault happen, as `SlackServer.fail` does."""
        await self._fail(fault, method=method, **which)
