"""How long commands wait for their acknowledgement while a thousand debates run.

`python -m bench.acks [DEBATES [SECONDS]]`: `rostrum run` in a process of its own, with a
database file, Discord's double here, and models that take two seconds a call. Debates are started
by slash commands over 18 seconds; each command's time from leaving Discord to its acknowledgement
arriving there is one measurement. The platforms cut a command off at 3 s.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import orjson

from bench.wheel.loopback import model_server
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.discord.server import TOKEN

CALL_SECONDS, OVER_SECONDS = 2.0, 18.0
JURORS = "bench/j1#kin1,bench/j2#kin2,bench/j3#kin3"


def environment(api_url: str, models: str) -> dict[str, str]:
    """Return the settings of the process."""
    backend = {"base_url": models, "local": True, "max_concurrency": 4000, "timeout_s": 600}
    ours = {
        "DATABASE_URL": "sqlite+aiosqlite:///rostrum.db",
        "DISCORD__TOKEN": TOKEN,
        "DISCORD__API_URL": api_url,
        "BACKENDS": orjson.dumps({"bench": backend}).decode(),
        "MODELS": "bench/ana,bench/ben",
        "JURORS": JURORS,
        "BUDGET__USER_DAILY_DEBATES": "1000000",
        "BUDGET__MAX_LIVE_PER_COMMUNITY": "1000000",
    }
    kept = {name: value for name, value in os.environ.items() if "ROSTRUM" not in name}
    return kept | {f"ROSTRUM_{name}": value for name, value in ours.items()}


async def measure(debates: int, over: float) -> dict[str, float]:
    """Start the debates, and return percentiles of the time to the acknowledgement, in ms."""
    root = str(Path(__file__).parents[1])
    with tempfile.TemporaryDirectory() as folder:
        async with (
            model_server(CALL_SECONDS) as models,
            DiscordServer(rates=Rates.generous()) as discord,
        ):
            discord.rules.answer_seconds = 60.0
            channels = [discord.add_channel(f"room-{n}") for n in range(debates)]
            with Path(folder, "log").open("wb") as log:  # noqa: ASYNC230 - before anything runs
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-c",
                    "from bot.cli import main; main()",
                    "run",
                    cwd=folder,
                    env=environment(discord.api_url, models) | {"PYTHONPATH": root},
                    stdout=log,
                    stderr=log,
                )
            try:
                while not discord.gateway.connected:  # noqa: ASYNC110 - the double has no event
                    await asyncio.sleep(0.1)
                await asyncio.sleep(2)
                asked = []
                for channel in channels:
                    options = {"topic": f"Tea {channel.id}", "format": "classic"}
                    asked.append(discord.slash("ada", "debate start", options, channel=channel.id))
                    await asyncio.sleep(over / debates)
                await asyncio.gather(*(one.answered(60) for one in asked))
                late = sorted(1000 * (one.latency or 60.0) for one in asked)
                await asyncio.gather(*(one.finished(120) for one in asked))
                begun = sum("could not" not in one.text for one in asked)
            finally:
                process.kill()
                await process.wait()
    return {
        "commands": len(late),
        "answered": begun,
        "ack_ms_p50": round(late[len(late) // 2], 1),
        "ack_ms_p99": round(late[int(0.99 * len(late))], 1),
        "ack_ms_worst": round(late[-1], 1),
    }


if __name__ == "__main__":
    given = [float(one) for one in sys.argv[1:]]
    number, span = (*given, 1000.0, OVER_SECONDS)[:2] if len(given) < 2 else given[:2]
    print(orjson.dumps(asyncio.run(measure(int(number), span))).decode())
