"""A debate that no process holds any more, as `rostrum list` and `rostrum show` tell of it."""

from __future__ import annotations

import json

import pytest

from adapters.storage.store import SqlStore
from bot.showing import list_debates, show_debate
from tests.sample import new_debate, run


@pytest.mark.postgresql
async def test_a_killed_debate_is_interrupted_and_not_running_for_ever(
    store: SqlStore,
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
    code = (await killed.get()).code
    await show_debate(killed.id)
    shown = capsys.readouterr().out
    assert f"waits for  a process; go on with: rostrum debate --resume {code}" in shown
    await show_debate(held.id)
    assert "interrupted" not in capsys.readouterr().out
