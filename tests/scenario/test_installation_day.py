"""The installation's day, as an operator sees it: `rostrum check`, `rostrum usage`, `/metrics`."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from bot.doctor.doctor import check_day
from bot.record.listing import show_usage
from bot.serve.health import Health
from engine.store import Store
from engine.values.debate import Status
from engine.values.ports import utc_now
from tests.kit import NO_CAPS, new_debate, run
from tests.scenario.discord_stage import settings_of

SHOWN: dict[str, Any] = {
    "by": "model",
    "since": None,
    "until": None,
    "series": None,
    "include_rehearsal": True,
}


async def test_an_operator_sees_what_the_day_has_cost_everywhere_together(
    store: Store,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for community, ends in (("one", True), ("two", False)):
        new = new_debate(reserved=0.5, community=community, created_at=utc_now())
        held = await run(store, new, NO_CAPS)
        await held.call("turn/opening/A", cost=0.25)
        if ends:
            await held.advance(Status.FAILED)
    settings = settings_of(database_url, budget={"installation_daily_usd": 2.0})
    (found,) = [finding async for finding in check_day(settings)]
    assert found.good
    assert found.text == "today 0.25 USD spent and 0.50 reserved, of 2.00 USD"
    assert "\nrostrum_day_cap_usd " not in (await Health(store, {}).metrics()).decode()
    page = (await Health(store, {}, day_cap=2.0).metrics()).decode()
    assert "\nrostrum_day_cap_usd 2.0\n" in page
    assert 'rostrum_day_usd{kind="reserved"} 0.5' in page
    assert 'rostrum_day_usd{kind="spent"} 0.25' in page
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)
    await show_usage(**SHOWN, as_json=True)
    today = orjson.loads(capsys.readouterr().out)["today"]
    assert today == {"spent_usd": 0.25, "reserved_usd": 0.5}
    await show_usage(**SHOWN, as_json=False)
    assert "Today (UTC): 0.2500 USD spent, 0.5000 USD reserved" in capsys.readouterr().out


async def test_a_bot_that_others_can_add_without_a_cap_of_all_is_noted(database_url: str) -> None:
    public = settings_of(database_url, discord={"token": "t"})
    (found,) = [finding async for finding in check_day(public)]
    assert found.good is None
    assert "ROSTRUM_BUDGET__INSTALLATION_DAILY_USD" in found.text
    own = settings_of(database_url, discord={"token": "t", "guild_ids": [5]})
    assert [finding async for finding in check_day(own)] == []
