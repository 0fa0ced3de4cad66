"""Debates and votes on Discord and on Slack, from the command to the reveal: what is alike."""

import re
from typing import Any

import pytest

import engine.delivery.outbox
import engine.run.invitation
import engine.votes.window
from bot.app import App
from bot.record.tables import show_debate
from engine.store import DebateRecord
from engine.values.debate import Status
from engine.values.errors import NotFoundError
from engine.values.verdicts import Question
from engine.words.reveal import UNREAD
from tests.doubles.discord.state import FLAGS
from tests.doubles.faults import drop, garbage, limited, page, status
from tests.kit import held_at, record_of, some, until, until_true, votes_in
from tests.scenario.chat_stage import NOBODY, Chat, OnDiscord, OnSlack, Shown, close, said, vote
from tests.scenario.discord_stage import (
    DiscordStage,
    counted_in,
    known,
    pass_deadline,
    state,
    voting,
)
from tests.scenario.slack_stage import SlackStage
from tests.scenario.test_round_votes import answers

NAMES = ("rehearsal/maple", "rehearsal/willow", "rehearsal/oak", "rehearsal/elm", "rehearsal/ash")


async def test_before_the_reveal_no_byte_names_a_model_but_the_starters_own_answer(
    chat: Chat,
) -> None:
    async with chat.stage.process() as app:
        assert "`rehearsal/maple` for 🔵 A" in await chat.start(model_a="rehearsal/maple")
        await until(lambda: chat.thread() or None)
        for command in ("status", "result", "list"):
            await chat.ask("ben", command)
        await chat.ballot()
        debate = await voting(app)
        for command in ("status", "result", "list", "review"):
            await chat.ask("ben", command)
        await chat.ask("olga", "export")
        await chat.push("ben", chat.announcement, "Status")
        if isinstance(chat, OnSlack):
            chat.slack.open_home("olga")
            await until(lambda: chat.slack.world.homes)
        ballots = (await app.store.journal.read(debate.id, "ballots")).ballots
        judged = [ballot.raw for ballot in ballots] + [ballot.reasons for ballot in ballots]
        assert judged
        platform = chat.discord if isinstance(chat, OnDiscord) else chat.slack
        assert not [text for text in judged if not text or text in platform.sent_text]
        said = [*chat.sent(), *chat.answers_to("ben"), *chat.answers_to("olga")]
        assert not [text for text in said if any(name in text for name in NAMES)]
        assert {"rehearsal/maple", "rehearsal/willow"} <= set((await close(chat)).split("`"))


async def test_the_announcement_shows_how_far_the_debate_is(chat: Chat) -> None:
    async with chat.stage.process() as app:
        with held_at("turn/rebuttal/A"):
            await chat.start()
            await until(lambda: chat.thread() and "of 8 turns posted" in chat.card)
        assert [*chat.buttons(chat.announcement)] == ["Stop", "Status"]
        await chat.ballot()
        debate = await voting(app)
        moment = int(some(debate.vote_deadline).timestamp())
        shown = f"<t:{moment}:R>" if isinstance(chat, OnDiscord) else f"<!date^{moment}^at {{"
        await until(lambda: "Vote now in" in chat.card and shown in chat.card)
        await close(chat)
        await until(lambda: "Read the whole debate" in chat.card)
        labels = ["Why?", "Details", "Rematch", "Swap sides"]
        assert [*chat.buttons(chat.announcement)] == labels
    if isinstance(chat, OnDiscord):
        assert "'#1 · " in chat.card
    assert chat.stage.references().count(f"{debate.code}·1·1/1") == 1


async def test_buttons_stop_a_debate_after_a_restart_for_those_who_may(chat: Chat) -> None:
    async with chat.stage.process():
        await chat.start()
        await until(lambda: chat.announcement)
    async with chat.stage.process() as app:
        with held_at("turn/closing/B"):
            shown = await chat.push("cleo", chat.announcement, "Status")
            assert "turns done" in shown or "queued" in shown
            refused = await chat.push("cleo", chat.announcement, "Stop")
            assert "Only its starter or a manager" in refused
            assert "is stopping" in await chat.push("ada", chat.announcement, "Stop")
            await chat.ended(app)
        await until(lambda: "stopped" in chat.card)
        assert [*chat.buttons(chat.announcement)] == ["Status"]


async def test_private_ballots_are_cast_by_buttons_also_after_a_restart(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat, ballot="private")
        assert chat.seeds(ballot) == set()
        await voting(app)
        a, b, tie, _, withdraw, *_ = chat.buttons(ballot)
        assert "recorded: 🔵 A" in await chat.push("ben", ballot, a)
        await chat.push("ben", ballot, b)
        await chat.push("cleo", ballot, a)
        assert "withdrawn" in await chat.push("cleo", ballot, withdraw)
    async with chat.stage.process():
        await chat.push("olga", ballot, tie)
        assert counted_in(await close(chat)) == NOBODY | {"B": 1, "tie": 1}
    assert chat.buttons(ballot) == {}
    if isinstance(chat, OnSlack):
        answers = [one.text for one in chat.slack.sent if one.method == "response_url"]
        assert all('"replace_original": false' in text for text in answers)  # the ballot stays


PEOPLE = ("ada", "ben", "cleo")


async def test_votes_cast_while_nothing_ran_are_counted(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        for user in PEOPLE:
            await chat.react(user, ballot, "A")
        await voting(app)
        await known(app, 3)
    await chat.unreact("ada", ballot, "A")
    await chat.unreact("cleo", ballot, "A")
    await chat.react("cleo", ballot, "B")
    await chat.react("olga", ballot, "B")
    expected = chat.held(ballot)
    async with chat.stage.process() as app:
        await chat.ask("ben", "me", "You have no vote on a revealed debate here yet.")
        assert counted_in(await close(chat)) == expected == NOBODY | {"A": 1, "B": 2}
        debate = await chat.ended(app)
        told = await chat.ask("ben", "me", "**Your votes:** 1 revealed debate here")
        # Two people chose B; a rehearsal jury is compared with no one.
        assert "as the people did: 0 of 1, too few to say much" in told
        assert "as the jury did: nothing to compare yet" in told
        assert str(debate.thread).rpartition("/")[2].replace(".", "") in told
        assert "Tea beats coffee: you 🔵 A" in told
        assert "as the people did: 1 of 1" in await chat.ask("cleo", "me")
        await chat.ask("ada", "me", "You have no vote on a revealed debate here yet.")


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["failing", "cut", "limited", "no JSON", "sign-in page"])
async def test_a_vote_waits_for_the_platform_and_closes_on_what_people_hold(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    """One option's page that failed was left out, and the vote closed on what was known before."""
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.05)
    faults = {"failing": status(502), "cut": drop(), "no JSON": garbage()}
    faults["limited"] = limited(0.1 if isinstance(chat, OnDiscord) else 1)
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        for user in PEOPLE:
            await chat.react(user, ballot, "A")
        await voting(app)
        await known(app, 3)
    for user in PEOPLE:
        await chat.unreact(user, ballot, "A")
        await chat.react(user, ballot, "B")
    chat.fail_readings(faults.get(trouble, page("<h1>Sign in</h1>", "text/html")))
    await pass_deadline(chat.stage.url)
    async with chat.stage.process() as app:
        waits = await state(app, lambda debate: debate.reason)
        assert waits.status is Status.VOTING
        await chat.ask("ada", "status", f"Waiting for {chat.title}")
        await until(lambda: f"Waiting for {chat.title}" in chat.card)
        chat.faults.clear()
        reveal = (await said(chat, "Reveal")).text
        assert counted_in(reveal) == NOBODY | {"B": 3}
        assert "could not be read" not in reveal
        assert (await chat.ended(app)).reason == ""


async def test_votes_that_may_never_be_read_are_no_labels(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        await chat.react("ben", ballot, "A")
        await voting(app)
        await known(app, 1)
        chat.forbid_readings(forbidden=True)
        debate = await app.service.close_vote((await voting(app)).id)
        reveal = (await said(chat, "Reveal")).text
        assert counted_in(reveal) == NOBODY | {"A": 1}
        assert "could not be read before the vote closed" in reveal
        record = await record_of(app.store, debate.id)
        assert [(v.gold, v.recovery) for v in votes_in(record)] == [(False, "unread")]
        for command in ("status", "result"):
            await chat.ask("ada", command, "could not be read before the vote closed")
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", chat.stage.url)
    await show_debate(debate.id)
    assert f"votes      {UNREAD}" in capsys.readouterr().out


async def test_rehearsal_models_are_called_what_they_are_and_make_no_labels(chat: Chat) -> None:
    named = "Rehearsal:** The speakers are rehearsal models: they recite prepared text"
    async with chat.stage.process() as app:
        await vote(chat)
        await voting(app)
        assert named in chat.card
        assert named in await close(chat)
        await chat.ended(app)
        for command in ("export", "leaderboard", "agreement"):
            await chat.ask("olga", command, "Only rehearsal debates were revealed here.")


async def hold_up(chat: Chat, app: App, **options: Any) -> str:
    """Start a debate whose second round cannot be posted yet; return the question of the first."""
    chat.fail_posts("turn 3 of 8", status(503), times=-1)
    await chat.start(round_votes=True, **options)
    await until(chat.thread)
    message = (await said(chat, "After opening")).id
    await taking(app, Question.ROUND)
    return message


async def taking(app: App, question: Question) -> None:
    (debate,) = await app.store.listings.recent(limit=1)
    await until_true(lambda: app.store.votes.targets(debate.id, question))


async def newest(app: App) -> DebateRecord:
    (debate,) = await app.store.listings.recent(limit=1)
    return await record_of(app.store, debate.id)


@pytest.mark.usefixtures("swift")
async def test_one_tap_says_who_is_ahead_and_the_reveal_shows_the_course(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.delivery.outbox, "LONGEST_PAUSE", 0.05)
    async with chat.stage.process() as app:
        opening = await hold_up(chat, app)
        asked = await said(chat, "After opening")
        assert "Who is ahead?" in asked.text
        for user, option in (("ada", "A"), ("ben", "A"), ("cleo", "even"), ("olga", "B")):
            await chat.react(user, opening, option)
        await chat.unreact("ben", opening, "A")
        await chat.react("ben", opening, "B")
        await chat.unreact("olga", opening, "B")
        await known(app, 7, Question.ROUND)
        chat.faults.clear()
        await voting(app)
        titles = [message.title for message in chat.thread()]
        reveal = await close(chat)
        await chat.ended(app)
        assert answers(await newest(app)) == {"opening": ["A", "B", "even"]}
    assert "Ahead after opening: 🔵 A 1, 🔴 B 1, even 1" in reveal
    questions = [title for title in titles if title.startswith("After ")]
    assert questions == ["After opening", "After rebuttal", "After assumptions"]
    assert [titles.index(one) for one in questions] == [2, 5, 8]
    assert [m.text for m in chat.thread() if "Ahead after" in m.text] == [reveal]


async def test_how_clear_it_was_is_one_more_tap_beside_the_vote(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat, confidence="on")
        await voting(app)
        sure = (await said(chat, "How clear was it?")).id
        await taking(app, Question.CONFIDENCE)
        for user, option, word in (("ada", "A", "close"), ("ben", "B", "onesided")):
            await chat.react(user, ballot, option)
            await chat.react(user, sure, word)
        await chat.react("cleo", ballot, "A")
        await chat.unreact("ada", sure, "close")
        await chat.react("ada", sure, "onesided")
        await known(app, 4, Question.CONFIDENCE)
        await known(app, 3)
        reveal = await close(chat)
        await chat.ended(app)
        votes = (await newest(app)).asked(Question.VOTE)
    assert counted_in(reveal) == NOBODY | {"A": 2, "B": 1}
    assert sorted((vote.option, vote.confidence) for vote in votes) == [
        *(("A", ""), ("A", "one-sided"), ("B", "one-sided")),
    ]


async def test_slacks_form_asks_for_both(on_slack: SlackStage) -> None:
    async with on_slack.process() as app:
        asked = await on_slack.slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        entered = {"topic": "Tea beats coffee", "round_votes": "on", "confidence": "on"}
        assert (await on_slack.slack.submit(asked, entered)).errors == {}
        debate = await voting(app)
        assert (debate.request.round_votes, debate.request.confidence) == (True, "on")


CLOSES = re.compile(r"Closes <t:(\d+):R>|Closes <!date\^(\d+)\^")


def whole(chat: Chat, shown: Shown) -> str:
    if isinstance(chat, OnDiscord):
        return shown.text
    return str(chat.slack.world.find(shown.id).blocks).replace("\\n", "\n")


def closes(chat: Chat, shown: Shown) -> int:
    found = CLOSES.search(whole(chat, shown))
    assert found, whole(chat, shown)
    return next(int(moment) for moment in found.groups() if moment)


async def test_it_recalls_the_debate_and_says_when_it_closes_also_after_an_extension(
    chat: Chat,
) -> None:
    chat.stage.settings |= {"default_quorum": 5, "default_extend": True}
    async with chat.stage.process() as app:
        await vote(chat)
        debate = await voting(app)
        shown = await said(chat, "Vote")
        text = whole(chat, shown)
        assert "Tea beats coffee" in text
        assert "What each side says at the end:" in text
        for side in ("🔵 A", "🔴 B"):
            assert re.search(rf"\*\*{side}:\*\* \S+", text), side
        first = next(one for one in chat.thread() if "opening" in one.title)
        link = re.search(r"\[Read it from the first turn\]\((\S+?)\)", text)
        assert link
        assert first.id.replace(".", "") in link[1]
        assert "**Who debated better?**" in text
        assert not any(model.ref in text for model in debate.request.sides.values())
        assert debate.vote_deadline is not None
        until_then = closes(chat, shown)
        assert abs(until_then - debate.vote_deadline.timestamp()) < 60
    await pass_deadline(chat.stage.url)
    async with chat.stage.process() as app:
        await until(lambda: edited(chat, shown.id))
        extended = await voting(app)
        assert extended.vote_extended
        assert closes(chat, again(chat, shown)) == int(some(extended.vote_deadline).timestamp())
        assert closes(chat, again(chat, shown)) >= until_then
        assert [one.title for one in chat.thread()].count("Vote") == 1


def again(chat: Chat, shown: Shown) -> Shown:
    return next(one for one in chat.thread() if one.id == shown.id)


def edited(chat: Chat, message: str) -> bool:
    if isinstance(chat, OnDiscord):
        sent = chat.discord.sent
        return any(one.method == "PATCH" and one.path.endswith(message) for one in sent)
    return chat.slack.world.find(message).edited is not None


def shown(chat: Chat) -> list[str]:
    if isinstance(chat, OnDiscord):
        places = [chat.discord.channel, *chat.discord.threads()]
        found = [m for place in places for m in chat.discord.messages(place.id)]
        people = {user.id for user in chat.discord.users.values()}
        return [m.text for m in found if m.author_id not in people]  # also by webhooks
    return [m.text for m in chat.slack.world.everything() if not m.deleted and not m.to]


async def gone(app: App, chat: Chat, *debates: str) -> None:
    """Wait until debates are neither in the record nor in the chat."""
    await until(lambda: not shown(chat) or None)
    for debate in debates:
        with pytest.raises(NotFoundError):
            await app.store.debates.get(debate)
    while await app.store.retention.asked(chat.title.casefold()):
        await app.service.clock.sleep(0.02)


async def test_a_debate_is_deleted_once_that_is_confirmed(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat)
        (debate,) = await app.store.listings.recent()
        code = debate.code
        refused_to_ben = await chat.give("ben", "delete", debate=code)
        assert "Only a manager, or its starter" in refused_to_ben.text
        asked = await chat.give("ada", "delete", debate=code)
        assert f"This deletes debate `{code}` (“Tea beats coffee”) for good" in asked.text
        assert "is stopped first" in asked.text
        assert list(asked.buttons) == [f"rostrum:delete:{code}"]
        await chat.react("ben", ballot, "A")
        await known(app, 1)
        late = await chat.press("ada", asked, f"rostrum:delete:{code}")
        assert "People have voted" in late.text
        assert len(shown(chat)) > 5
        by_manager = await chat.give("olga", "delete", debate=code)
        begun = await chat.press("olga", by_manager, f"rostrum:delete:{code}")
        assert f"Debate `{code}` is being deleted" in begun.text
        await gone(app, chat, debate.id)
        # The person who voted has no record left; the chat goes on as before.
        assert not (await app.store.privacy.traces(chat.title.casefold(), user(chat, "ben"))).known
        await chat.start(topic="Rain is better than sun")
        assert len(await app.store.listings.recent()) == 1


@pytest.mark.postgresql
async def test_a_running_debate_and_its_mirror_are_stopped_and_deleted_after_a_kill(
    chat: Chat,
) -> None:
    async with chat.stage.process() as app:
        await chat.start(mirror=True, model_a="rehearsal/maple", model_b="rehearsal/willow")
        debates = await app.store.listings.recent()
        if isinstance(chat, OnDiscord):
            for path in ("/channels/*/messages/*", "/channels/*"):
                chat.discord.fail(status(503), "DELETE", path, times=-1)
        else:
            chat.slack.fail(status(503), "chat.delete", times=-1)
        code = debates[0].code
        offered = await chat.give("ada", "delete", debate=code)
        assert list(offered.buttons) == [f"rostrum:delete:{code}", f"rostrum:delete_both:{code}"]
        both = await chat.press("ada", offered, f"rostrum:delete_both:{code}")
        assert "are being deleted" in both.text
        due = app.store.retention.asked
        while not all(one.messages is not None for one in await due(chat.title.casefold())):
            await app.service.clock.sleep(0.02)
        assert await app.store.listings.recent() == []
        assert shown(chat)
    chat.faults.clear()
    async with chat.stage.process() as app:
        await gone(app, chat, *(debate.id for debate in debates))


async def test_where_it_may_manage_threads_the_thread_goes_too(on_discord: DiscordStage) -> None:
    discord, chat = on_discord.discord, OnDiscord(on_discord)
    guild = discord.guild
    for role in guild.members[discord.world.bot.id]:
        guild.roles[role].permissions |= FLAGS["manage_threads"]
    async with on_discord.process() as app:
        await vote(chat)
        (debate,) = await app.store.listings.recent()
        assert [thread.id for thread in discord.threads()] == [debate.thread]
        begun = await chat.give("olga", "delete", debate=debate.code, confirm=True)
        assert "is being deleted" in begun.text
        await gone(app, chat, debate.id)
        assert discord.threads() == []
        # Once for the thread, once for the card: nothing is asked about messages that went with it.
        deleted = [sent.path for sent in discord.sent if sent.method == "DELETE"]
        assert len([path for path in deleted if "reactions" not in path]) == 2


def user(chat: Chat, name: str) -> str:
    world: Any = chat.discord.world if isinstance(chat, OnDiscord) else chat.slack.world
    return str(world.user(name).id)
