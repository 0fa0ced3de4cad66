"""A process that serves Discord; its arguments are `FOLDER API_URL`.

It is joined as `rostrum run` joins it, and killed from outside or at a point of its fate.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from tests.crash.lives import LIMITS, chain, fated, stay
from tests.doubles.discord.server import TOKEN
from tests.scenario.discord_stage import process, settings_of


async def serve(folder: Path, api_url: str) -> None:
    """Serve until killed."""
    with fated(folder) as url:
        async with process(settings_of(url), TOKEN, api_url, limits=LIMITS):
            await stay(folder)


def main() -> int:
    """Serve in one life after the other."""
    home = Path(sys.argv[1])
    return chain(home, partial(serve, home, sys.argv[2]))
