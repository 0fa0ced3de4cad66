"""Mirrored debates on the chat platforms: both are voted on blind, and the export pairs them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.app import App
from engine.dataset.writer import export
from engine.store import ExportFilter
from engine.values.debate import Debate, Status
from tests.kit import HANG_SECONDS
from tests.scenario.chat_stage import Chat
from tests.scenario.test_export import table

pytestmark = pytest.mark.usefixtures("swift")


async def pair_of(app: App) -> list[Debate]:
    return sorted(await app.store.debates.recent(), key=lambda debate: debate.id)


async def both(app: App, status: Status) -> list[Debate]:
    """Wait until both are in a state, and, while they vote, people can."""
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            pair = await pair_of(app)
            if all(d.status is status and d.vote_opened_at for d in pair) and len(pair) == 2:
                return pair
            await asyncio.sleep(0.02)


async def exported(app: App, out: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the exported pairs of cases for one side, and the votes."""
    await export(app.store, out, ExportFilter(), None, version="1")
    return table(out, "preference_same_side"), table(out, "votes")


@pytest.mark.parametrize("closed", [0, 1], ids=["first", "second"])
async def test_both_votes_are_labels_and_the_export_pairs_them(
    chat: Chat, tmp_path: Path, closed: int
) -> None:
    async with chat.stage.process() as app:
        await chat.start("olga", mirror=True)
        first, second = await both(app, Status.VOTING)
        for debate, chosen in ((first, "AAB"), (second, "BBA")):
            for user, option in zip(("ada", "ben", "cleo"), chosen, strict=True):
                await chat.react(user, debate.vote_message or "", option)
        tied = f"It closes together with the vote on its mirror, `{second.code}`."
        await chat.ask("olga", "status", tied, debate=first.code)
        said = await chat.ask("olga", "close", debate=(first, second)[closed].code)
        assert first.code in said
        assert second.code in said
        await both(app, Status.CLOSED)
        pairs, votes = await exported(app, tmp_path / "out")
    assert len(pairs) == 2
    assert [vote["gold"] for vote in votes] == [True] * 6
