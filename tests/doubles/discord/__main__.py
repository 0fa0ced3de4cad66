"""Run the double in a process of its own: `python -m tests.doubles.discord PORT_FILE`."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from tests.doubles.discord.control import Control
from tests.doubles.discord.rates import Rates
from tests.doubles.discord.server import DiscordServer


async def serve(port_file: Path, discord: DiscordServer, port: int) -> None:
    """Listen, and write the port into a file in one step, until killed."""
    await discord.start(port, Control(discord).app())
    written = port_file.with_suffix(".new")
    await asyncio.to_thread(written.write_text, str(discord.port))
    await asyncio.to_thread(written.replace, port_file)
    await asyncio.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description="Discord on loopback")
    parser.add_argument("port_file", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--generous", action="store_true", help="never limit rates")
    given = parser.parse_args()
    discord = DiscordServer(rates=Rates.generous() if given.generous else None)
    asyncio.run(serve(given.port_file, discord, given.port))


if __name__ == "__main__":
    main()
