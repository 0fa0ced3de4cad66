"""Mirrored debates: both are held, or neither is."""

from pathlib import Path

import pytest

from bot.app import App
from engine.dataset.writer import export
from engine.store import ExportFilter
from engine.values.debate import Debate, Status
from engine.values.errors import BudgetError, UsageError
from tests.kit import until_asked
from tests.scenario.chat_stage import Chat
from tests.scenario.conftest import DEFAULTS, NO_CAPS, SIDES, Running
from tests.unit.test_dataset_export import table


async def test_a_debate_of_two_sides_is_held_twice_with_them_exchanged(line: Running) -> None:
    unsided = DEFAULTS.model_copy(update={"sides": {}})
    with pytest.raises(UsageError, match="A mirror swaps two sides"):
        await line.start(unsided, mirror=True, format="roundtable")
    assert await line.store.listings.recent() == []
    started = await line.start(mirror=True)
    assert started.mirror is not None
    first = await line.ended(started.debate.id)
    second = await line.ended(started.mirror.id)
    assert (first.status, second.status) == (Status.CLOSED, Status.CLOSED)
    assert (first.setup.mirror_of, second.setup.mirror_of) == (None, first.id)
    assert first.request.sides == SIDES
    assert second.request.sides == {"A": SIDES["B"], "B": SIDES["A"]}
    assert first.request.topic == second.request.topic
    assert first.thread != second.thread
    assert started.estimate.calls == 2 * (8 + 6 + 1)


@pytest.mark.postgresql
@pytest.mark.parametrize(
    "caps",
    [{"max_live_per_community": 1}, {"user_daily_debates": 1}, {"community_daily_usd": 0.05}],
)
async def test_when_only_one_fits_its_budget_neither_starts(
    line: Running, caps: dict[str, float]
) -> None:
    alone = await line.start()
    most = alone.estimate.usd_max
    assert most
    await line.ended(alone.debate.id)
    if "community_daily_usd" in caps:
        spent = (await line.store.journal.spending(alone.debate.id))[1] or 0.0
        caps = {"community_daily_usd": spent + 1.5 * most}
    tight = DEFAULTS.model_copy(update={"caps": NO_CAPS.model_copy(update=caps)})
    with pytest.raises(BudgetError):
        await line.start(tight, mirror=True, user="u1")
    assert [debate.id for debate in await line.store.listings.recent()] == [alone.debate.id]
    assert (await line.start(tight, user="u1")).mirror is None


async def both(app: App, status: Status) -> list[Debate]:
    pair = await until_asked(
        app.store.listings.recent,
        lambda found: (
            len(found) == 2 and all(d.status is status and d.vote_opened_at for d in found)
        ),
    )
    return sorted(pair, key=lambda debate: debate.id)


@pytest.mark.usefixtures("swift")
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
        out = tmp_path / "out"
        await export(app.store, out, ExportFilter(), None, version="1")
        pairs, votes = table(out, "preference_same_side"), table(out, "votes")
    assert len(pairs) == 2
    assert [vote["gold"] for vote in votes] == [True] * 6
