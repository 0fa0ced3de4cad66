"""What a test in another process may do with Discord's double, and sees of it."""

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.doubles.discord.interactions import Interaction
from tests.doubles.discord.rest import Rates
from tests.doubles.discord.server import DiscordServer
from tests.doubles.discord.state import Message, Refusal, channel_json, message_json
from tests.doubles.remote import Control, Json, RemoteDouble


class DiscordControl(Control[DiscordServer]):
    """The double itself, and its gateway."""

    refusals = (Refusal, AssertionError)

    def known(self) -> Json:
        discord = self._double
        gateway, world = discord.gateway, discord.world
        return {
            "token": discord.token,
            "channel": discord.channel.id,
            "users": {user.name: user.id for user in world.users.values()},
            "commands": sum(map(len, world.commands.values())),
            "channels": [channel_json(world, c) for c in world.channels.values()],
            "messages": {
                channel: [self.show(m) for m in world.in_order(channel)]
                for channel in world.messages
            },
            "webhooks": [hook.name for hook in world.webhooks.values()],
            "interactions": [self.show(asked) for asked in discord.interactions.all],
            "requests": [[call.method, call.path] for call in discord.rest.requests],
            "violations": [asdict(violation) for violation in discord.violations],
            "pings": world.pings,
            "hanging": discord.faults.hanging,
            "planned": discord.faults.planned,
            "connected": gateway.connected,
        }

    def show(self, thing: object) -> Json | None:
        if isinstance(thing, Message):
            names = self._double.world.users
            holders = {
                reaction.emoji: sorted(names[user].name for user in reaction.holders)
                for reaction in thing.reactions.values()
            }
            shown = message_json(self._double.world, thing, self._double.origin)
            return {**shown, "text": thing.text, "holders": holders, "nonce": thing.nonce}
        if isinstance(thing, Interaction):
            return {
                "id": thing.id,
                "name": thing.name,
                "user": thing.user_id,
                "type": thing.type,
                "latency": thing.latency,
                "filled": thing.filled,
                "ephemeral": thing.ephemeral,
                "text": thing.text,
                "choices": thing.choices,
                "messages": [self.show(message) for message in thing.messages],
            }
        return None


class Remote(RemoteDouble):
    """A client of `/control`."""

    package = "tests.doubles.discord.remote"
    api = "/api/v10"

    async def gateway(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do what its gateway has a method for."""
        await self.act(f"gateway.{name}", *args, **kwargs)


def main() -> None:
    """Serve until killed; the argument is a file for the port."""
    asyncio.run(DiscordControl(DiscordServer(rates=Rates.generous())).serve(Path(sys.argv[1])))
