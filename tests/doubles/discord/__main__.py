"""Run the double in a process of its own: `python -m tests.doubles.discord PORT_FILE`."""

from __future__ import annotations

from tests.doubles.discord.remote import DiscordControl
from tests.doubles.discord.rest import Rates
from tests.doubles.discord.server import DiscordServer
from tests.doubles.remote import run


def make(generous: bool) -> DiscordControl:
    """Make the double with what drives it."""
    return DiscordControl(DiscordServer(rates=Rates.generous() if generous else None))


if __name__ == "__main__":
    run("Discord", make)
