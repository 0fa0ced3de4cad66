"""Run the double in a process of its own: `python -m tests.doubles.slack PORT_FILE`."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from tests.doubles.slack.control import Control
from tests.doubles.slack.rules import Rules
from tests.doubles.slack.server import SlackServer


async def serve(port_file: Path, slack: SlackServer, port: int) -> None:
    """Listen, and write the port into a file in one step, until killed."""
    await slack.start(port, Control(slack).app())
    written = port_file.with_suffix(".new")
    await asyncio.to_thread(written.write_text, str(slack.port))
    await asyncio.to_thread(written.replace, port_file)
    await asyncio.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description="Slack on loopback")
    parser.add_argument("port_file", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--generous", action="store_true", help="never limit rates")
    given = parser.parse_args()
    rules = Rules(tiered=not given.generous, spaced=not given.generous)
    asyncio.run(serve(given.port_file, SlackServer(rules=rules), given.port))


if __name__ == "__main__":
    main()
