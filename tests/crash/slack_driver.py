"""A process that serves Slack; its arguments are `FOLDER API_URL`.

It is joined as `rostrum run` joins it, and killed from outside or at a point of its fate.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from pydantic import SecretStr

from adapters.site import Site
from adapters.slack.rest import Rest
from adapters.slack.socket import SocketTransport
from tests.crash.lives import LIMITS, chain, fated, stay
from tests.doubles.slack.server import APP_TOKEN, BOT_TOKEN
from tests.scenario.discord_stage import settings_of
from tests.scenario.slack_stage import process


async def serve(folder: Path, api_url: str) -> None:
    """Serve until killed."""
    rest = Rest(SecretStr(BOT_TOKEN), api_url)
    transport, site = SocketTransport(rest, SecretStr(APP_TOKEN)), Site("127.0.0.1", 0)
    with fated(folder) as url:
        async with process(settings_of(url), rest, transport, site, limits=LIMITS):
            await stay(folder)


def main() -> int:
    """Serve in one life after the other."""
    home = Path(sys.argv[1])
    return chain(home, partial(serve, home, sys.argv[2]))
