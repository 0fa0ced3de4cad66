"""`python -m bench.series` in small: a series that is killed repeats no call and loses no token."""

from __future__ import annotations

import orjson
import pytest

from bench.series import run_series


async def test_a_killed_series_repeats_nothing_and_its_totals_are_the_servers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await run_series(debates=10, at_once=5, seconds=0.1, kills=2, seed=3)
    shown = orjson.loads(capsys.readouterr().out)
    for held in (shown["undisturbed"], shown["killed"]):
        assert held["held"] == 10
        assert held["stored_calls_repeated"] == 0
        assert held["totals_equal_the_servers_log"]
        assert held["requests"] == held["calls"] + held["in_flight_at_kills"]
    assert shown["undisturbed"]["in_flight_at_kills"] == 0
    assert shown["killed"]["kills"] == 2
    assert shown["killed"]["in_flight_at_kills"] <= 2 * 5 * 4  # jurors are asked side by side
    assert shown["killed"]["calls"] == shown["undisturbed"]["calls"]
    assert shown["one_after_another"]["debates_measured"] == 2
