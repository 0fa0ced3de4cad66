"""What a chat platform refuses for good: plain words in its place, else a notice, and no labels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import engine.delivery.outbox
from bot.operate import show_debate
from engine.dataset.writer import export
from engine.store import ExportFilter, Store
from tests.doubles.discord import Code, DiscordServer, Rates, Rules, denied, drop
from tests.doubles.slack import Rules as SlackRules
from tests.doubles.slack import SlackServer, refused
from tests.doubles.slack import drop as slack_drop
from tests.scenario.discord_stage import OPTIONS, DiscordStage, ended, voting
from tests.scenario.slack_stage import SlackStage
from tests.scenario.slack_stage import ended as slack_ended
from tests.scenario.slack_stage import voting as slack_voting
from tests.scenario.test_export import table

POST = ("POST", "/channels/*/messages")
INVALID = denied(Code.INVALID_FORM)
SECOND = "turn 2 of 8"
BLOCKS = ("invalid_blocks", "msg_blocks_too_long", "msg_too_long")


@pytest.fixture(autouse=True)
def swift(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)


@pytest.fixture
async def discord(database_url: str) -> AsyncIterator[DiscordStage]:
    async with DiscordServer(rates=Rates.generous(), rules=Rules(nonce_seconds=0.0)) as server:
        yield DiscordStage(database_url, server)


@pytest.fixture
async def slack(database_url: str) -> AsyncIterator[SlackStage]:
    async with SlackServer(rules=SlackRules.generous()) as server:
        yield SlackStage(database_url, server)


async def test_on_discord_a_refused_turn_is_plain_and_in_its_place(discord: DiscordStage) -> None:
    discord.discord.fail(INVALID, *POST, text=SECOND)
    async with discord.process() as app:
        await discord.vote()
        debate = await voting(app)
    messages = discord.discord.messages(discord.thread.id)
    [plain] = [m for m in messages if not m.embeds]
    assert messages.index(plain) == 1
    assert plain.content.startswith("B · opening · turn 2 of 8\n")
    assert plain.content.endswith("·3·1/1")
    assert "**" not in plain.content.replace("\\*", "")
    assert debate.gaps == 0
    assert discord.discord.world.pings == []


async def test_on_discord_a_plain_turn_whose_answer_is_lost_is_found(discord: DiscordStage) -> None:
    discord.discord.fail(INVALID, *POST, text=SECOND)
    discord.discord.fail(drop("after"), *POST, text="turn 2 of 8\\n")
    async with discord.process() as app:
        await discord.vote()
        debate = await voting(app)
    [_] = [m for m in discord.discord.messages(discord.thread.id) if not m.embeds]
    assert debate.gaps == 0


async def test_on_discord_a_gap_is_said_and_its_votes_are_no_labels(
    discord: DiscordStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    discord.discord.fail(INVALID, *POST, times=2, text=SECOND)
    async with discord.process() as app:
        ballot = await discord.vote()
        debate = await voting(app)
        for user in ("ben", "cleo"):
            discord.discord.react(user, ballot.id, OPTIONS["A"])
        asked = await discord.discord.slash("ada", "debate status").finished()
        assert "1 message may be missing" in asked.text
        reveal = await discord.close()
        await ended(app)
        await export(app.store, tmp_path / "out", ExportFilter(), None, version="1")
    notice = discord.discord.messages(discord.thread.id)[1]
    assert f"{SECOND}** is missing here: Discord refused it" in notice.text
    assert "so the vote has no winner" in reveal.text
    votes = table(tmp_path / "out", "votes")
    assert [(vote["gold"], vote["reason"]) for vote in votes] == [(False, "gap")] * 2
    [row] = table(tmp_path / "out", "debates")
    assert (row["gaps"], row["human_winner"], row["n_a"]) == (1, None, 2)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", discord.url)
    with redirect_stdout(StringIO()) as shown:
        await show_debate(debate.id)
    assert "turn/opening/B is missing: " in shown.getvalue()


@pytest.mark.parametrize("why", BLOCKS)
async def test_on_slack_a_refused_turn_is_plain_and_in_its_place(
    slack: SlackStage, why: str
) -> None:
    slack.slack.fail(refused(why), "chat.postMessage", text=SECOND)
    async with slack.process() as app:
        await slack.vote()
        debate = await slack_voting(app)
    plain = slack.replies[1]
    assert plain.blocks == []
    assert f"{SECOND}\n" in plain.text
    assert plain.text.endswith("·3·1/1")
    assert debate.gaps == 0


async def test_on_slack_a_gap_is_said_and_a_vote_tells_it(slack: SlackStage) -> None:
    slack.slack.fail(refused("invalid_blocks"), "chat.postMessage", times=2, text=SECOND)
    async with slack.process() as app:
        ballot = await slack.vote()
        await slack.slack.react("ben", ballot.ts, "a")
        asked = await slack.slack.slash("ada", "/debate status")
        assert "1 message may be missing" in await asked.said()
        await slack.close()
        debate = await slack_ended(app)
        votes = await _votes(app.store)
    assert f"{SECOND}* is missing here" in slack.replies[1].text.replace("**", "*")
    assert (debate.gaps, votes) == (1, ["gap"])


async def test_on_slack_a_plain_turn_whose_answer_is_lost_is_found(slack: SlackStage) -> None:
    slack.slack.fail(refused("invalid_blocks"), "chat.postMessage", text=SECOND)
    slack.slack.fail(slack_drop("after"), "chat.postMessage", text=f"{SECOND}\\n")
    async with slack.process() as app:
        await slack.vote()
        debate = await slack_voting(app)
    assert len([m for m in slack.replies if not m.blocks]) == 1
    assert debate.gaps == 0


async def _votes(store: Store) -> list[str]:
    def read() -> list[str]:
        with store.archive.reading(ExportFilter()) as records:
            return [vote.reason for record in records for vote in record.votes]

    return await asyncio.to_thread(read)
