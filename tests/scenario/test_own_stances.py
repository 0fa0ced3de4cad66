"""Stances in the asker's own words: asked for, argued, judged, voted on, revealed and exported."""

import re
from pathlib import Path
from typing import Any

import pytest

from bot.local.orders import order_of
from engine.chat.commands import parse_command
from engine.chat.invocation import StartArguments
from engine.formats import FORMATS, find_format
from engine.values.debate import BallotKind
from engine.values.messages import Announcement, Reveal, StanceInvite, VoteInvite
from engine.values.text import marked
from engine.values.topics import built_in_topics, find_topic
from engine.words.cards import card_of
from tests.doubles.whole_debate import DEFAULTS, Whole, hold_whole
from tests.kit import some
from tests.scenario import discord_stage
from tests.scenario.chat_stage import Chat, OnDiscord, close, said
from tests.scenario.discord_stage import DiscordStage, until
from tests.scenario.slack_stage import SlackStage

TWO_SIDED = [name for name in FORMATS if find_format(name).contenders == ("A", "B")]
OPTIONS = {"audited": {"turns": 4}}
TOPIC, TABS, SPACES = "Tabs or spaces", "tabs, everywhere", "spaces"
FOR_AND_AGAINST = re.compile(r"in favour of the motion|against the motion|argues for the motion")
PAINTED = re.compile(r"What (\w+) argues:\n> (.+)")


async def hold(url: str, out: Path, format: str, **asked: Any) -> Whole:
    defaults = DEFAULTS.model_copy(update={"limits": {"team": {"free_minutes": 1.2}}})
    stances: dict[str, Any] = {"topic": TOPIC, "stance_a": TABS, "stance_b": SPACES}
    options = OPTIONS.get(format, {})
    return await hold_whole(url, out, defaults, format=format, options=options, **stances | asked)


@pytest.mark.parametrize("format", TWO_SIDED)
async def test_every_model_is_told_the_stances(
    database_url: str, tmp_path: Path, format: str
) -> None:
    whole = await hold(database_url, tmp_path / "out", format)
    assert not [step for step, text in whole.heard.items() if FOR_AND_AGAINST.search(text)]
    turns = {step: text for step, text in whole.heard.items() if step.startswith("turn/")}
    for step, text in turns.items():
        side = step.split("/")[2][0]
        assert re.search(rf"{side}[1-4]?, whose stance is quoted in your instructions\.", text), (
            step
        )
    for text in (*turns.values(), *whole.sent("judge/"), *whole.sent("captain/")):
        assert f"A argues:\n> {TABS}\n" in text
        assert f"B argues:\n> {SPACES}\n" in text


async def test_jurors_card_votes_and_reveal_name_the_stances(
    database_url: str, tmp_path: Path
) -> None:
    given = {"ballot": BallotKind.PRIVATE, "stance": True}
    whole = await hold(database_url, tmp_path / "out", "classic", **given)
    # Jurors read them by neutral name, in the order of their ballot.
    names, stances, orders = whole.debate.setup.names, {"A": TABS, "B": SPACES}, set()
    for step, text in whole.heard.items():
        if step.startswith("jury/"):
            order = step.split("/")[3]
            orders.add(order)
            assert PAINTED.findall(text) == [(names[side], stances[side]) for side in order]
            assert "side A" not in text
            assert "Side A" not in text
    assert orders == {"AB", "BA"}
    # People are asked for their own view in these words.
    asked = [card_of(m).ballot for m in whole.posted if isinstance(m, StanceInvite)]
    assert asked
    for paper in asked:
        assert paper is not None
        assert [paper.name(one) for one in paper.options] == [TABS, SPACES, "unsure"]
    cards = [m for m in whole.posted if isinstance(m, Announcement)]
    (card,) = {card_of(m).lines for m in cards if not (m.progress and m.progress.result)}
    assert f"**🔵 A** argues: {TABS}" in card
    assert f"**🔴 B** argues: {SPACES}" in card
    assert not any("argues for it" in line for line in card)
    vote = card_of(next(m for m in whole.posted if isinstance(m, VoteInvite)))
    assert vote.ballot is not None
    assert [vote.ballot.name(one) for one in vote.ballot.options] == [
        f"🔵 A: {TABS}", f"🔴 B: {SPACES}", "tie", "neither",
    ]  # fmt: skip
    labels = [button.label for button in vote.buttons]
    assert labels[:2] == [f"A: {TABS}", f"B: {SPACES}"]
    reveal = card_of(next(m for m in whole.posted if isinstance(m, Reveal))).lines
    assert any(line.startswith(f"**🔵 A** ({TABS}) was `rehearsal/") for line in reveal)
    winner = whole.table("debates")[0]["jury_winner"]
    if winner in ("A", "B"):
        outcome = next(line for line in reveal if line.startswith("People: "))
        assert f"Jury: **{marked(winner)}: {stances[winner]}**, " in outcome


async def test_exports_carry_no_mention_and_jurors_no_name_of_a_model_in_them(
    database_url: str, tmp_path: Path
) -> None:
    stances = {"stance_a": "tabs, says <@123456789012345678>", "stance_b": "空格, as maple would"}
    whole = await hold(database_url, tmp_path / "out", "classic", **stances)
    for text in whole.sent("jury/"):
        assert PAINTED.search(text)
        if "maple" in {model.name for model in whole.debate.request.speakers}:
            assert "maple" not in text
            assert "空格, as [name] would" in text
    (held,) = whole.table("debates")
    assert held["topic"] == TOPIC
    assert [side["stance"] for side in held["sides"]] == [
        "tabs, says [mention]",
        "空格, as maple would",
    ]
    (ballot, *_) = whole.table("arena_jury")
    asked_of_a, asked_of_b = (ballot[f"conversation_{one}"][0]["content"] for one in "ab")
    assert "Make the most convincing case, for this: tabs, says [mention]." in asked_of_a
    assert "Make the most convincing case, for this: 空格, as maple would." in asked_of_b
    assert "123456789012345678" not in (whole.out / "README.md").read_text(encoding="utf-8")


def test_chat_and_command_line_take_them_under_the_same_names() -> None:
    typed = parse_command(f'start "{TOPIC}" for="{TABS}" against=spaces').arguments["asked"]
    assert isinstance(typed, StartArguments)
    given = order_of({"topic": TOPIC, "stance_a": TABS, "stance_b": SPACES})
    for options in (typed, given):
        assert (options.topic, options.stance_a, options.stance_b) == (TOPIC, TABS, SPACES)


async def test_discord_takes_them_as_options_and_in_the_form(on_discord: DiscordStage) -> None:
    async with on_discord.process():
        asked = await on_discord.start(topic=TOPIC, **{"for": TABS})
        assert "The stance of side 🔴 B is missing" in asked.text
        form = await on_discord.discord.slash("ada", "debate start", {"for": TABS}).answered()
        typed = {"topic": TOPIC, "against": SPACES, "for": "**tabs** @everyone"}
        await on_discord.discord.submit_modal(form, typed).finished()
        await until(lambda: on_discord.discord.threads())
        said = on_discord.discord.messages()[0]
        assert "argues: **tabs** @" in said.text
        assert "argues: spaces" in said.text
        assert not said.pings
        vote = await on_discord.ballot()
        assert "B: spaces" in vote.text


async def test_slack_takes_them_as_text_and_in_the_form(on_slack: SlackStage) -> None:
    async with on_slack.process():
        refused = await on_slack.start(f'"{TOPIC}" for=tabs against=Tabs.')
        await refused.said("Both sides have the same stance")
        form = await on_slack.slack.slash("ada", "/debate")
        await until(lambda: form.view)
        sent = await on_slack.slack.submit(
            form, {"topic": TOPIC, "for": "<!channel> tabs", "against": SPACES}
        )
        assert sent.errors == {}
        vote = await on_slack.ballot()
        assert "B: spaces" in vote.text
        assert "argues: spaces" in on_slack.root.text
        assert "<!channel>" not in on_slack.root.text


async def test_a_drawn_topic_is_debated_with_its_stances(database_url: str, tmp_path: Path) -> None:
    drawn = {"topic": "random", "stance_a": None, "stance_b": None, "language": "tr", "seed": 3}
    whole = await hold(database_url, tmp_path / "out", "classic", **drawn)
    request = whole.debate.request
    topic = some(find_topic(built_in_topics(), request.topic))
    assert topic.language == "tr"
    assert request.stances.get("A", "") == topic.stance_a
    for text in whole.sent("turn/opening"):
        assert f"Motion:\n> {topic.text}" in text
        assert ("whose stance is" in text) == bool(topic.stance_a)
    assert whole.table("debates")[0]["topic"] == topic.text


LONG_A, LONG_B = "tabs 🟦 " * 25, "空格" * 100


@pytest.mark.parametrize("kind", ["open", "private"])
async def test_the_longest_stances_fit(chat: Chat, kind: str) -> None:
    async with chat.stage.process() as app:
        if isinstance(chat, OnDiscord):
            given = {"topic": TOPIC, "for": LONG_A, "against": LONG_B, "ballot": kind}
            await chat.stage.start(**given)
        else:
            await chat.stage.start(f'"{TOPIC}" for="{LONG_A}" against="{LONG_B}" ballot={kind}')
        await chat.ballot()
        assert "B: 空格空格" in (await said(chat, "Vote")).text
        await discord_stage.voting(app)
        await close(chat)
        await chat.ended(app)
