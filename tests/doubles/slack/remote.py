"""What a test in another process may do with Slack's double, and sees of it."""

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.doubles.remote import Control, Json, RemoteDouble
from tests.doubles.slack.deliveries import DidNotRespondError
from tests.doubles.slack.server import SlackServer
from tests.doubles.slack.state import Asked, Message, Refusal, Rules


class SlackControl(Control[SlackServer]):
    """The double itself, and its socket."""

    refusals = (Refusal, AssertionError, DidNotRespondError)

    def known(self) -> Json:
        slack = self._double
        return {
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
        }

    def show(self, thing: object) -> Json | None:
        if isinstance(thing, Message):
            names = self._double.world.users
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

    package = "tests.doubles.slack.remote"
    api = "/api"

    async def socket(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do what its socket has a method for."""
        await self.act(f"socket.{name}", *args, **kwargs)


def main() -> None:
    """Serve until killed; the argument is a file for the port."""
    asyncio.run(SlackControl(SlackServer(rules=Rules.generous())).serve(Path(sys.argv[1])))
