"""What an operator sees: what the day has cost, and which debate no process holds any more."""

import json

import orjson
import pytest

from adapters.database.database import SqlDatabase
from adapters.web.reader import Links, write_debate
from bot.commands.choice import DebateChoice
from bot.doctor import check_day
from bot.record.tables import list_debates, show_debate, show_usage
from bot.serve.health import Health
from engine.pages.debate_page import read_sought, write_sought
from engine.pages.stored import StoredLibrary
from engine.store import Store
from engine.values.debate import Status
from engine.values.ports import utc_now
from tests.kit import NO_CAPS, new_debate, run
from tests.scenario.discord_stage import settings_of

SHOWN = DebateChoice(include_rehearsal=True)


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
    await show_usage("model", SHOWN, as_json=True)
    today = orjson.loads(capsys.readouterr().out)["today"]
    assert today == {"spent_usd": 0.25, "reserved_usd": 0.5}
    await show_usage("model", SHOWN, as_json=False)
    assert "Today (UTC): 0.2500 USD spent, 0.5000 USD reserved" in capsys.readouterr().out


async def test_a_bot_that_others_can_add_without_a_cap_of_all_is_noted(database_url: str) -> None:
    public = settings_of(database_url, discord={"token": "t"})
    (found,) = [finding async for finding in check_day(public)]
    assert found.good is None
    assert "ROSTRUM_BUDGET__INSTALLATION_DAILY_USD" in found.text
    own = settings_of(database_url, discord={"token": "t", "guild_ids": [5]})
    assert [finding async for finding in check_day(own)] == []


@pytest.mark.postgresql
async def test_commands_and_pages_tell_what_was_killed_from_what_runs(
    store: Store,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)
    held = await run(store, new_debate(platform="terminal"))
    killed = await run(store, new_debate(platform="terminal"))
    reader = Store(SqlDatabase(database_url, writable=False))
    library = StoredLibrary(reader)
    before = await library.pulse(killed.id)
    await store.leases.release(killed.lease)  # as it is nine seconds after its process was killed
    assert await library.pulse(killed.id) != before, "a page that is open has to grow"
    await list_debates(None, 10)
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[1] for line in lines] == ["interrupted", "running"]
    await list_debates(None, 10, as_json=True)
    listed = json.loads(capsys.readouterr().out)["debates"]
    assert [one["interrupted"] for one in listed] == [True, False]
    await list_debates("Interrupted", 10)
    [line] = capsys.readouterr().out.splitlines()[1:]
    code = (await killed.get()).code
    assert line.split()[0] == code
    await show_debate(killed.id)
    command = f"rostrum resume {code}"
    assert f"waits for  a process; go on with: {command}" in capsys.readouterr().out
    await show_debate(held.id)
    assert "interrupted" not in capsys.readouterr().out
    found = await library.find(read_sought({"state": "interrupted"}), 1)
    assert [(item.id, item.state) for item in found.items] == [(killed.id, "interrupted")]
    assert write_sought(found.sought) == {"state": "interrupted"}
    everything = await library.find(read_sought({}), 1)
    assert [item.state for item in everything.items] == ["interrupted", "running"]
    page = await library.debate(killed.id)
    assert page.head.trouble == ("No process holds it any more.", f"Go on with: {command}")
    shown = write_debate(page, Links(live=True))
    assert 'class="state state-interrupted">interrupted<' in shown
    assert command in shown
    assert (await library.debate(held.id)).item.state == "running"
    public = await StoredLibrary(reader, operator=False).debate(killed.id)
    assert (public.item.state, public.waits, public.head.trouble) == ("running", "", ()), (
        "its visitors can start nothing"
    )
    await reader.close()
