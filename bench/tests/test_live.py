"""`rostrum bench live` holds whole debates: its server answers all that they ask today."""

from __future__ import annotations

import orjson
import pytest

from bench.wheel.live import CALLS, run_live


async def test_live_debates_make_the_calls_that_are_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await run_live(2, 0.0, 0.01)  # raises if a debate made other calls, or did not end
    shown = orjson.loads(capsys.readouterr().out)
    assert shown["calls_a_debate"] == CALLS == 15
    assert shown["cpu_a_call_over_aiohttp"] > 1
