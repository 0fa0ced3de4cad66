"""A crowd taps one vote's buttons, menus and reactions at once: each is answered, each counts."""

import asyncio
from collections import Counter
from functools import partial
from itertools import cycle

import pytest

from engine.values.verdicts import Question
from tests.kit import until_asked
from tests.scenario.chat_stage import Chat, OnDiscord, Private, close, vote
from tests.scenario.discord_stage import DiscordStage, known, voting
from tests.scenario.test_remarks import kept, tap

PATIENCE = 300.0  # seconds: a busy machine is slow, and what is lost is lost
MARKS = {"A": "🔵", "B": "🔴"}


def join(chat: Chat, crowd: int) -> dict[str, str]:
    platform = chat.discord if isinstance(chat, OnDiscord) else chat.slack
    for number in range(crowd):
        platform.add_user(f"member{number}")
    return dict(zip((f"member{number}" for number in range(crowd)), cycle("AAB"), strict=False))


async def press(chat: Chat, user: str, ballot: str, side: str) -> Private:
    if isinstance(chat, OnDiscord):
        asked = await chat.discord.press(user, ballot, f"rostrum:vote:{side}").finished(PATIENCE)
        assert f"Vote recorded: {MARKS[side]} {side}." in asked.text
        return Private(asked.text, {}, asked.messages[0])
    shown = await chat.slack.press(user, ballot, f"{MARKS[side]} {side}")
    text = await shown.said("Vote recorded", PATIENCE)
    assert f"Vote recorded: {MARKS[side]} {side}." in text
    return Private(text, {}, shown.messages[-1])


@pytest.mark.usefixtures("database_kind")  # both kinds, which `chat` alone would not
@pytest.mark.parametrize("crowd", [12, 60])
async def test_each_tap_of_a_crowd_is_answered_and_each_vote_guess_and_reason_counts_once(
    chat: Chat, crowd: int
) -> None:
    # The platform waits for answers as long as a busy machine takes.
    if isinstance(chat, OnDiscord):
        chat.discord.rules.answer_seconds = PATIENCE
    else:
        chat.slack.rules.ack = chat.slack.rules.trigger = PATIENCE
    votes = join(chat, crowd)
    expected = Counter(votes.values())
    async with chat.stage.process() as app:
        ballot = await vote(chat, ballot="private")
        debate = await voting(app)
        code = debate.code
        below = await asyncio.gather(
            *(press(chat, user, ballot, side) for user, side in votes.items())
        )
        for id, value in ((f"ground:{code}/logic", ""), (f"guess:{code}/A", "0")):
            below = await asyncio.gather(
                *(
                    tap(chat, user, one, f"rostrum:{id}", value, PATIENCE)
                    for user, one in zip(votes, below, strict=True)
                )
            )
        reveal = await close(chat)
        assert f"({expected['A']}–{expected['B']})" in reveal
        record = await kept(app, debate)
        standing = record.asked(Question.VOTE)
        assert Counter(one.option for one in standing) == expected
        assert {one.ground for one in standing} == {"logic"}
        assert len(record.asked(Question.GUESS)) == crowd
        # The same by reactions, which change their minds on the way.
        ballot = await vote(chat)
        debate = await voting(app)
        for user, side in votes.items():
            await chat.react(user, ballot, "tie")
            await chat.unreact(user, ballot, "tie")
            await chat.react(user, ballot, side)
        logged = partial(app.store.votes.events, debate.id)
        await until_asked(logged, lambda found: len(found) >= 3 * crowd, PATIENCE)
        assert chat.held(ballot) == {**expected, "tie": 0, "weak": 0}
        assert f"({expected['A']}–{expected['B']})" in await close(chat)
        await chat.ended(app)
        record = await kept(app, debate)
    assert Counter(one.option for one in record.asked(Question.VOTE)) == expected
    platform = chat.discord if isinstance(chat, OnDiscord) else chat.slack
    assert platform.violations == []


async def test_a_crowd_whose_private_answers_are_lost_is_told_so_once_and_its_votes_count(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    async with on_discord.at_vote(ballot="private") as (app, ballot, _):
        discord.rules.answer_seconds = -1.0
        pressed = [discord.press(user, ballot, "rostrum:vote:A") for user in ("ada", "ben", "cleo")]
        await known(app, 3)
        discord.rules.answer_seconds = 60.0
        await discord.press("olga", ballot, "rostrum:vote:A").finished()  # after those before it
        reveal = await on_discord.close()
    assert "(3–0; with 1 vote that is not independent 4–0)" in reveal.text
    said = [
        m for m in discord.messages(on_discord.thread.id) if "Please ask again" in str(m.embeds)
    ]
    assert len(said) == 1
    assert [asked.messages for asked in pressed] == [[], [], []]
