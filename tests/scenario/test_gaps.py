"""What a chat platform refuses for good: plain words in its place, else a notice, and no labels."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from bot.record.tables import show_debate
from engine.dataset.writer import export
from engine.store import ExportFilter
from tests.doubles.discord import Code, denied
from tests.doubles.faults import drop
from tests.doubles.slack import refused
from tests.scenario.chat_stage import Chat, OnDiscord, OnSlack, close, vote
from tests.scenario.discord_stage import HASTY, voting
from tests.unit.test_dataset_export import table

SECOND = "turn 2 of 8"
BLOCKS = ("invalid_blocks", "msg_blocks_too_long", "msg_too_long")


pytestmark = pytest.mark.usefixtures("swift")


@pytest.fixture(autouse=True)
def forgetful(chat: Chat) -> None:
    """Let Discord forget at once what it stored under a nonce."""
    if isinstance(chat, OnDiscord):
        chat.discord.rules.nonce_seconds = 0.0


REFUSALS = {OnDiscord: [denied(Code.INVALID_FORM)], OnSlack: [refused(why) for why in BLOCKS]}


async def test_a_refused_turn_is_plain_and_in_its_place(chat: Chat) -> None:
    for refusal in REFUSALS[type(chat)]:
        chat.fail_posts(SECOND, refusal)
        async with chat.stage.process() as app:
            await vote(chat)
            debate = await voting(app)
            await close(chat)
        assert [m.plain for m in chat.thread()[:8]] == [number == 2 for number in range(1, 9)]
        plain = chat.thread()[1]
        assert f"{SECOND}\n" in plain.text
        assert "#3" in plain.text.splitlines()[-1]
        if isinstance(chat, OnDiscord):
            assert plain.text.startswith("🔴 B · opening · turn 2 of 8\n")
            assert "**" not in plain.text.replace("\\*", "")
            assert chat.discord.world.pings == []
        assert debate.gaps == 0


async def test_a_plain_turn_whose_answer_is_lost_is_found(chat: Chat) -> None:
    chat.stage.limits = HASTY
    chat.refuse_posts(SECOND)
    chat.fail_posts(f"{SECOND}\\n", drop("after"))
    async with chat.stage.process() as app:
        await vote(chat)
        debate = await voting(app)
    assert len([m for m in chat.thread() if m.plain]) == 1
    assert debate.gaps == 0


async def test_a_gap_is_said_and_its_votes_are_no_labels(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.refuse_posts(SECOND, times=2)
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        debate = await voting(app)
        for user in ("ben", "cleo"):
            await chat.react(user, ballot, "A")
        await chat.ask("ada", "status", "1 message may be missing")
        reveal = await close(chat)
        assert (await chat.ended(app)).gaps == 1
        await export(app.store, tmp_path / "out", ExportFilter(), None, version="1")
    assert f"{SECOND}* is missing here" in chat.thread()[1].text.replace("**", "*")
    assert f"is missing here: {chat.title} refused it" in chat.thread()[1].text.replace("*", "")
    assert "so the vote has no winner" in reveal
    votes = table(tmp_path / "out", "votes")
    assert [(vote["gold"], vote["reason"]) for vote in votes] == [(False, "gap")] * 2
    [row] = table(tmp_path / "out", "debates")
    assert (row["gaps"], row["human_winner"], row["n_a"]) == (1, None, 2)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", chat.stage.url)
    with redirect_stdout(StringIO()) as shown:
        await show_debate(debate.id)
    assert "turn/opening/B is missing: " in shown.getvalue()
