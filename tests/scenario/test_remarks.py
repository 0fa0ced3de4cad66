"""Why people voted as they did, and which models they think debated: in chats, and kept."""

import asyncio
from dataclasses import replace
from typing import Any

from bot.app import App
from engine.chat.context import Requester
from engine.chat.invocation import Invocation
from engine.store import DebateRecord, Store
from engine.values.debate import Debate
from engine.values.errors import UsageError
from engine.values.verdicts import Question
from tests.doubles.archive import export_rows
from tests.doubles.slack import SlackServer
from tests.doubles.slack.state import Message as SlackMessage
from tests.kit import HANG_SECONDS, record_of
from tests.scenario.chat_stage import Chat, OnDiscord, Private, close, said, vote
from tests.scenario.discord_stage import DiscordStage, known, until, voting
from tests.scenario.slack_stage import SlackStage
from tests.scenario.test_suggested_topics import change

MODELS = "rehearsal/maple, rehearsal/willow, rehearsal/cedar, rehearsal/CANARYMODEL"
MENU = tuple(MODELS.split(", "))


async def say_why(chat: Chat, user: str, ballot: str, code: str) -> Private:
    if isinstance(chat, OnDiscord):
        asked = await chat.discord.press(user, ballot, f"rostrum:remark:{code}").finished()
        assert asked.ephemeral
        return Private(asked.text, {}, asked.messages[0])
    shown = await chat.slack.press(user, ballot, "Say why")
    await until(lambda: shown.messages)  # beside it, one who just voted is offered the same
    return Private(shown.messages[-1].text, {}, shown.messages[-1])


async def tap(
    chat: Chat, user: str, below: Private, id: str, value: str = "", seconds: float = HANG_SECONDS
) -> Private:
    """Press a button or choose from a menu of a private message, which changes in place."""
    if isinstance(chat, OnDiscord):
        values = [value] if value else None
        asked = await chat.discord.press(user, below.message, id, values=values).finished(seconds)
        assert asked.messages[0].id == below.message.id
        return Private(asked.text, {}, asked.messages[0])
    chosen = await chat.slack.choose(user, below.message, id, value)
    await until(lambda: chosen.messages, seconds)
    assert chosen.messages == [below.message]
    return Private(below.message.text, {}, below.message)


def menus(below: Private) -> dict[str, tuple[str, ...]]:
    """Return the models on each menu of a private message."""
    message = below.message
    rows = getattr(message, "components", None) or message.blocks
    shown = [one for row in rows for one in row.get("components", row.get("elements", ()))]
    return {
        one.get("custom_id") or one["action_id"]: tuple(
            option["label"] if "label" in option else option["text"]["text"]
            for option in one["options"]
        )
        for one in shown
        if "options" in one
    }


async def kept(app: App, debate: Debate) -> DebateRecord:
    assert isinstance(app.store, Store)
    return await record_of(app.store, debate.id)


async def test_voters_say_why_and_guess_in_private(chat: Chat) -> None:
    chat.stage.settings["models"] = MODELS
    sides = {"model_a": "rehearsal/maple", "model_b": "rehearsal/willow"}
    async with chat.stage.process() as app:
        ballot = await vote(chat, **sides)
        debate = await voting(app)
        code = debate.code
        # One who has not voted is told what to do, and leaves no trace.
        refused = await say_why(chat, "cleo", ballot, code)
        assert "Vote first" in refused.text
        await chat.react("ben", ballot, "A")
        await known(app, 1)
        below = await say_why(chat, "ben", ballot, code)
        # The menu is that of the community, in its order, and no hint on this debate.
        assert set(menus(below).values()) == {MENU}
        assert len(menus(below)) == 2
        below = await tap(chat, "ben", below, f"rostrum:ground:{code}/evidence")
        below = await tap(chat, "ben", below, f"rostrum:clear:{code}/close")
        below = await tap(chat, "ben", below, f"rostrum:guess:{code}/A", "0")
        below = await tap(chat, "ben", below, f"rostrum:guess:{code}/B", "3")
        for told in (
            "**Why:** evidence",
            "**How clear:** close",
            "**Your guess:** 🔵 A `rehearsal/",
        ):
            assert told in await text_of(chat, below), told
        events = len(await app.store.votes.events(debate.id))
        await tap(chat, "ben", below, f"rostrum:ground:{code}/evidence")
        assert len(await app.store.votes.events(debate.id)) == events
        # Before the reveal no one else can see a model's name.
        assert not any("CANARYMODEL" in shown.text for shown in chat.thread())
        assert "CANARYMODEL" not in chat.card
        reveal = await close(chat)
        assert "`rehearsal/maple` · the only guess was right" in reveal
        assert "`rehearsal/willow` · the only guess was wrong" in reveal
        details = await chat.ask("ben", "result", "Guesses at")
        assert "Guesses at 🔵 A: 1 of 1 right (21–100%; by chance 25%)" in details
        late = await tap(chat, "ben", below, f"rostrum:ground:{code}/style")
        assert "The vote is closed, so nothing was changed." in await text_of(chat, late)
        await chat.ask("ben", "me", "- Models you guessed right: 1 of 2, too few to say much")
        assert "Who guesses" not in await chat.ask("ada", "leaderboard")
        await chat.ask("ben", "me", "names you among those who guess models", scoreboard=True)
        named = await chat.ask("ada", "leaderboard", "**Who guesses models best**")
        ben = chat.user("ben")
        assert f"1. {ben}: 1 of 2" in named
        await chat.ask("ben", "me", "names you in `/debate leaderboard`", scoreboard=False)
        assert "Who guesses" not in await chat.ask("ada", "leaderboard")
        record = await kept(app, debate)
    [standing] = record.asked(Question.VOTE)
    assert (standing.ground, standing.confidence) == ("evidence", "close")
    guesses = {(one.step, one.option) for one in record.asked(Question.GUESS)}
    assert guesses == {("A", MENU[0]), ("B", MENU[3])}
    assert record.debate.setup.menu == MENU
    [row] = export_rows("votes", record)
    assert (row["ground"], row["confidence"], row["phase"]) == (
        "evidence",
        "close",
        "before_reveal",
    )
    rows = export_rows("guesses", record)
    assert [(one["side"], one["right"], one["blind"]) for one in rows] == [
        *(("A", True, True), ("B", False, True))
    ]
    assert {one["voter"] for one in rows} == {row["voter"]}
    assert {one["options"] for one in rows} == {4}
    hidden = replace(record, opted_out=frozenset({standing.person}))
    assert not export_rows("guesses", hidden)


async def text_of(chat: Chat, below: Private) -> str:
    """Return what a private message shows now."""
    if isinstance(chat, OnDiscord):
        return str(below.message.text)
    await asyncio.sleep(0)
    return str(below.message.blocks)


async def remark(chat: Chat, app: App, debate: Debate, user: str, **asked: Any) -> str:
    """Send what no button offers, as a forged request would."""
    world = chat.discord.world if isinstance(chat, OnDiscord) else chat.slack.world
    person = Requester(
        platform=debate.platform,
        community=debate.community,
        place=debate.place,
        user=world.user(user).id,
    )
    try:
        given = {"debate": debate.code, **asked}
        await app.commands.run(person, Invocation("remark", given))
    except UsageError as error:
        return str(error)
    return ""


async def test_a_community_switches_both_off(chat: Chat) -> None:
    async with chat.stage.process() as app:
        for name in ("reasons", "guess"):
            assert "Changed" in await change(chat, name, "off")
        ballot = await vote(chat)
        debate = await voting(app)
        assert not debate.setup.menu
        shown = await said(chat, "Vote")
        assert shown.id == ballot
        if isinstance(chat, OnDiscord):
            assert not chat.discord.world.find_message(ballot).components


async def test_slack_asks_each_voter_once_after_a_reaction(on_slack: SlackStage) -> None:
    slack = on_slack.slack
    async with on_slack.at_vote() as (app, ballot, _):
        robot = slack.add_user("robot", bot=True).name
        await slack.react("ben", ballot.ts, "large_blue_circle")
        await slack.react(robot, ballot.ts, "large_blue_circle")
        await until(lambda: offers(slack))
        await slack.unreact("ben", ballot.ts, "large_blue_circle")
        await slack.react("ben", ballot.ts, "red_circle")
        await slack.react("cleo", ballot.ts, "red_circle")
        await until(lambda: len(offers(slack)) == 2)
        await known(app, 5)
    ben, cleo = offers(slack)
    assert [ben.to, cleo.to] == [slack.world.user(name).id for name in ("ben", "cleo")]
    assert "**Your vote:** 🔵 A" in str(ben.blocks)
    asked = [sent.text for sent in slack.api.sent if sent.method == "chat.postEphemeral"]
    assert sum(f'"thread_ts": "{on_slack.root.ts}"' in text for text in asked) == 2
    assert "What decided it for you?" not in "".join(m.text for m in slack.messages())


def offers(slack: SlackServer) -> list[SlackMessage]:
    return [m for m in slack.world.ephemeral if "What decided it for you?" in str(m.blocks)]


async def test_a_private_vote_is_answered_with_what_else_one_may_say(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat, ballot="private")
        debate = await voting(app)
        if isinstance(chat, OnDiscord):
            pressed = await chat.discord.press("ben", ballot, "rostrum:vote:A").finished()
            below = Private(pressed.text, {}, pressed.messages[0])
        else:
            asked = await chat.slack.press("ben", ballot, "🔵 A")
            below = Private(await asked.said("Vote recorded"), {}, asked.messages[-1])
        assert "Vote recorded: 🔵 A." in below.text
        below = await tap(chat, "ben", below, f"rostrum:ground:{debate.code}/style")
        assert "**Why:** style" in await text_of(chat, below)
        await close(chat)
        [standing] = (await kept(app, debate)).asked(Question.VOTE)
    assert (standing.option, standing.ground) == ("A", "style")


async def test_nine_agents_are_guessed_page_by_page(on_discord: DiscordStage) -> None:
    """Discord shows five rows, so that the menus of nine agents take five pages."""
    discord = on_discord.discord
    async with on_discord.process() as app:
        ballot = await on_discord.vote(format="roundtable", more="agents=9", ballot="private")
        debate = await voting(app)
        pressed = await discord.press("ben", ballot, "rostrum:vote:4").finished()
        below = Private(pressed.text, {}, pressed.messages[0])
        seen = set(menus(below))
        chat = OnDiscord(on_discord)
        for page in range(1, 5):
            below = await tap(chat, "ben", below, f"rostrum:page:{debate.code}/{page}")
            assert len(below.message.components) <= 5
            seen |= set(menus(below))
        assert seen == {f"rostrum:guess:{debate.code}/{side}" for side in range(1, 10)}


async def test_what_was_not_offered_is_refused_and_what_a_kill_interrupts_is_tapped_again(
    chat: Chat,
) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        debate = await voting(app)
        await chat.react("ben", ballot, "A")
        await known(app, 1)
        below = await say_why(chat, "ben", ballot, debate.code)
        for asked in (
            {"question": Question.GUESS, "side": "A", "option": "99"},
            {"question": Question.GUESS, "side": "A", "option": "-1"},
            {"question": Question.GUESS, "side": "Z", "option": "0"},
            {"question": Question.GROUND, "option": "bribe"},
            {"question": Question.AGAIN, "option": "A"},
        ):
            refused = await remark(chat, app, debate, "ben", **asked)
            assert "not one of the choices" in refused
        assert len(await app.store.votes.events(debate.id)) == 1
    async with chat.stage.process() as app:  # another process, which knows nothing but the id
        below = await tap(chat, "ben", below, f"rostrum:ground:{debate.code}/logic")
        await known(app, 1, Question.GROUND)
        await close(chat)
        [standing] = (await kept(app, debate)).asked(Question.VOTE)
    assert standing.ground == "logic"


async def test_many_taps_at_once_are_all_answered_and_one_stands(on_discord: DiscordStage) -> None:
    discord = on_discord.discord
    async with on_discord.at_vote() as (app, ballot, debate):
        discord.react("ben", ballot.id, "🔵")
        await known(app, 1)
        asked = await discord.press("ben", ballot, f"rostrum:remark:{debate.code}").finished()
        shown = asked.messages[0]
        ids = [f"rostrum:ground:{debate.code}/{ground}" for ground in ("logic", "style")]
        taps = [discord.press("ben", shown, ids[n % 2]) for n in range(20)]
        done = await asyncio.gather(*(tapped.finished(30) for tapped in taps))
        assert all(tapped.acknowledged is not None for tapped in done)
        await on_discord.close()
        [standing] = (await kept(app, debate)).asked(Question.VOTE)
    assert standing.ground in ("logic", "style")
