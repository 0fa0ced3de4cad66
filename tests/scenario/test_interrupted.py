"""A debate that no process holds any more, as commands and pages tell of it."""

from __future__ import annotations

import json

import pytest

from adapters.database.database import SqlDatabase
from adapters.web.links import ServerLinks, write_debate
from bot.record.listing import list_debates, show_debate
from engine.pages.debate import read_sought, write_sought
from engine.pages.stored import StoredLibrary
from engine.store import Store
from tests.kit import new_debate, run


@pytest.mark.postgresql
async def test_a_killed_debate_is_interrupted_and_not_running_for_ever(
    store: Store,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)
    held = await run(store, new_debate(platform="terminal"))
    killed = await run(store, new_debate(platform="terminal"))
    await store.leases.release(killed.lease)  # as it is nine seconds after its process was killed
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
    shown = capsys.readouterr().out
    assert f"waits for  a process; go on with: rostrum debate --resume {code}" in shown
    await show_debate(held.id)
    assert "interrupted" not in capsys.readouterr().out


@pytest.mark.postgresql
async def test_pages_tell_what_was_killed_from_what_runs(store: Store, database_url: str) -> None:
    held = await run(store, new_debate(platform="terminal"))
    killed = await run(store, new_debate(platform="terminal"))
    reader = Store(SqlDatabase(database_url, writable=False))
    library = StoredLibrary(reader)
    before = await library.pulse(killed.id)
    await store.leases.release(killed.lease)
    assert await library.pulse(killed.id) != before, "a page that is open has to grow"
    listed = await library.find(read_sought({"state": "interrupted"}), 1)
    assert [(item.id, item.state) for item in listed.items] == [(killed.id, "interrupted")]
    assert write_sought(listed.sought) == {"state": "interrupted"}
    everything = await library.find(read_sought({}), 1)
    assert [item.state for item in everything.items] == ["interrupted", "running"]
    page = await library.debate(killed.id)
    command = f"rostrum debate --resume {page.item.code}"
    assert page.waits == f"No process holds it any more. Go on with: {command}"
    shown = write_debate(page, ServerLinks(live=True))
    assert 'class="state state-interrupted">interrupted<' in shown
    assert command in shown
    assert (await library.debate(held.id)).item.state == "running"
    public = await StoredLibrary(reader, operator=False).debate(killed.id)
    assert (public.item.state, public.waits) == ("running", ""), "its visitors can start nothing"
    await reader.close()
