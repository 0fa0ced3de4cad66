"""Schedules on Discord and Slack: each time held once, or skipped with a line for each cause."""

import asyncio
from datetime import timedelta

import pytest

from bot.app import App
from engine.series.recurrence import AWAY, EMPTY, NO_PLACE, OVER_LIMIT, REFUSED, key_of
from engine.series.spec import Recurring, Series, SeriesPlace, read_when
from engine.store.series import StoredSeries
from engine.values.debate import Status
from engine.values.options import Options
from engine.values.topics import built_in_topics
from tests.doubles.model_server import ModelServer
from tests.kit import HANG_SECONDS, until, until_asked
from tests.scenario.chat_stage import Chat, OnDiscord
from tests.scenario.conftest import DEFAULTS, Shifted, Stage
from tests.scenario.test_leagues import begun
from tests.scenario.test_moderation import guard
from tests.scenario.test_series_people import begins_none, held, serving
from tests.scenario.test_suggested_topics import change, the_next

__all__ = ["guard"]  # a fixture
STANCED = next(one for one in built_in_topics() if "companions" in one.stance_a)


async def schedule(chat: Chat, user: str, when: str = "", expected: str = "", **more: str) -> str:
    """Give the command as each platform has it; `more` are a topic and options."""
    if isinstance(chat, OnDiscord):
        given = {"when": when, "topic": more.pop("topic", "")}
        given["more"] = " ".join(f"{name}={value}" for name, value in more.items())
        filled = {name: value for name, value in given.items() if value}
        return await chat.ask(user, "schedule", expected, **filled)
    topic_text = f' "{more.pop("topic")}"' if "topic" in more else ""
    options = "".join(f" {name}={value}" for name, value in more.items())
    said = f' "{when}"' if when else ""
    return await chat.ask(user, f"schedule{said}{topic_text}{options}", expected)


def daily(clock: Shifted) -> str:
    """Return a schedule whose next time is in an hour, more or less."""
    return f"every day {clock.now() + timedelta(hours=1):%H:%M} UTC"


def skipped(chat: Chat) -> list[str]:
    """Return what the channel says of skipped debates, oldest first."""
    if isinstance(chat, OnDiscord):
        posted = [f"{m.embeds}" for m in chat.discord.messages()]
    else:
        posted = [f"{m.text}\n{m.blocks}" for m in chat.slack.messages() if not m.thread_ts]
    return [text for text in posted if "was skipped" in text]


async def passed(app: App, clock: Shifted) -> str | None:
    """Wait until no time is due any more; return why the last one was skipped."""
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            going = [one for one in await app.store.series.all() if one.due_at is not None]
            # One that another took the place of ends a moment later.
            if len(going) == 1 and (going[0].due_at or clock.now()) > clock.now():
                return going[0].problem
            await asyncio.sleep(0.02)


async def suggest(app: App, clock: Shifted, text: str) -> None:
    """Put a topic on the community's list."""
    stored, *_ = [one for one in await app.store.series.all() if one.due_at is not None]
    await app.store.suggestions.suggest(
        stored.platform or "", stored.community or "", "u1", text, clock.now(), approved=True
    )


async def close(chat: Chat, app: App) -> None:
    await chat.ballot()
    await chat.stage.close()
    await chat.ended(app)


async def test_the_topic_wanted_most_is_held_once_at_its_time_and_each_cause_said_once(
    chat: Chat, clock: Shifted
) -> None:
    async with chat.stage.process() as app:
        await schedule(chat, "ben", expected="There is no schedule here.")
        await schedule(chat, "ben", daily(clock), "Only a manager of this community can set or end")
        said = await schedule(chat, "olga", daily(clock), "The schedule is set.")
        assert "the topic that people want most. Next: " in said
        await asyncio.sleep(0.2)
        assert await app.store.listings.recent() == []
        # Without any debate here there is no message to say it beside: it stands alone.
        (before,) = await app.store.series.all()
        clock.skip(hours=1.1)
        assert await passed(app, clock) == EMPTY
        assert len(skipped(chat)) == 1
        assert EMPTY in skipped(chat)[0]
        # As if the process had been killed before it noted the next time.
        await app.store.series.save(before)
        assert await passed(app, clock) == EMPTY
        assert len(skipped(chat)) == 1
        await schedule(chat, "ben", expected=f"The last one was skipped. {EMPTY}")
        await suggest(app, clock, "Night trains beat planes")
        clock.skip(days=1)
        await begun(app, 1)
        (debate,) = await app.store.listings.recent()
        assert debate.request.topic == "Night trains beat planes"
        assert debate.starter is None
        assert await passed(app, clock) is None
        await close(chat, app)
        assert len(skipped(chat)) == 1
        for _ in range(2):  # the list is empty again, which is said once
            clock.skip(days=1)
            assert await passed(app, clock) == EMPTY
        await until(lambda: len(skipped(chat)) == 2)
        await suggest(app, clock, "Parks beat malls")
    # An outage over three times holds none of them, and says so once.
    clock.skip(days=3.5)
    async with chat.stage.process() as app:
        assert await passed(app, clock) == AWAY
        await until(lambda: len(skipped(chat)) == 3)
        assert AWAY in skipped(chat)[2]
        assert len(await app.store.listings.recent()) == 1
        clock.skip(days=0.5)
        await begun(app, 2)
        assert (await app.store.listings.recent())[0].request.topic == "Parks beat malls"
        await close(chat, app)
        await schedule(chat, "ben", "off", "Only a manager")
        await schedule(chat, "olga", "off", "The schedule has ended")
        await schedule(chat, "olga", "off", "There is no schedule in this channel")
        clock.skip(days=1)
        await asyncio.sleep(0.3)
        assert len(await app.store.listings.recent()) == 2
        assert len(skipped(chat)) == 3
        (stored,) = await app.store.series.all()
        assert stored.due_at is None


@pytest.mark.slow
async def test_a_refused_topic_goes_back_to_managers_with_a_line_and_the_next_has_its_turn(
    chat: Chat, clock: Shifted, guard: ModelServer
) -> None:
    chat.stage.settings["moderation"] = {"model": "guard", "base_url": guard.base_url}
    guard.flags = {"insults": "Idiots"}
    async with chat.stage.process() as app:
        await schedule(chat, "olga", daily(clock), "The schedule is set.")
        # One that the model flags, one whose stances on offer have a blocked word, and a third.
        for topic in ("Idiots beat wits", STANCED.text, "Parks beat malls"):
            await suggest(app, clock, topic)
        await change(chat, "blocked_words", "companions")
        clock.skip(hours=1.1)
        for number in (1, 2):
            assert await passed(app, clock) == REFUSED
            assert len(skipped(chat)) == number
            assert REFUSED in skipped(chat)[-1]
            assert "Idiots" not in skipped(chat)[-1]
            clock.skip(days=1)
        await begun(app, 1)
        (debate,) = await app.store.listings.recent()
        assert debate.request.topic == "Parks beat malls"
        waiting = (await chat.give("olga", "topics")).text
        assert "Idiots beat wits" in waiting
        assert STANCED.text in waiting
        await close(chat, app)
        # What was set with the schedule is not the topics' fault.
        more = {"conditions": "no-cats"}
        await schedule(chat, "olga", daily(clock), "The schedule is set.", **more)
        await change(chat, "blocked_words", "no-cats")
        await suggest(app, clock, "Tea beats coffee")
        clock.skip(hours=1.1)
        assert "a word that is blocked here" in str(await passed(app, clock))
        assert await the_next(app, chat) == "Tea beats coffee"


@pytest.mark.slow
async def test_a_fixed_motion_waits_an_hour_for_room_and_is_purged_with_its_community(
    chat: Chat, clock: Shifted
) -> None:
    async with chat.stage.process() as app:
        await schedule(chat, "olga", "every now and then", "is not a time; write for example")
        await schedule(chat, "olga", "every day 25:00 UTC", "write a time of day and a time zone")
        await schedule(chat, "olga", "every day 09:00 Europe/Berlim", "does not exist")
        await schedule(chat, "olga", daily(clock), "did you mean", a="rehearsal/mapel")
        assert await app.store.series.all() == []
        more = {"topic": "Tea beats coffee", "length": "short", "confidence": "on"}
        said = await schedule(chat, "olga", daily(clock), "The schedule is set.", **more)
        assert "“Tea beats coffee”" in said
        # A new one takes the place of the one that the channel had.
        await schedule(chat, "olga", daily(clock), "The schedule is set.", **more)
        clock.skip(hours=1.1)
        await begun(app, 1)
        (debate,) = await app.store.listings.recent()
        assert (debate.request.length, debate.request.confidence) == ("short", "on")
        assert debate.request.topic == "Tea beats coffee"
        await close(chat, app)
        await change(chat, "max_live", "0")
        clock.skip(days=1)
        await asyncio.sleep(0.3)
        assert skipped(chat) == []  # it may still begin within the hour
        clock.skip(hours=1.1)
        assert await passed(app, clock) == OVER_LIMIT
        await until(lambda: skipped(chat))
        assert OVER_LIMIT in skipped(chat)[0]
        (debate,) = await app.store.listings.recent()
        assert debate.status is Status.CLOSED
        await app.store.communities.left(debate.platform, debate.community, clock.now())
        assert {one.due_at for one in await app.store.series.all()} == {None}
        await app.store.communities.purge(debate.platform, debate.community)
        assert await app.store.series.all() == []


@pytest.mark.slow
async def test_a_lost_permission_is_told_to_managers_and_ends_nothing(
    chat: Chat, clock: Shifted
) -> None:
    async with chat.stage.process() as app:
        more = {"topic": "Tea beats coffee"}
        await schedule(chat, "olga", daily(clock), "The schedule is set.", **more)
        clock.skip(hours=1.1)
        await begun(app, 1)
        await close(chat, app)
        if isinstance(chat, OnDiscord):
            chat.discord.deny("send_messages", chat.discord.channel.id)
        else:
            bot_user = chat.slack.world.caller.bot_user
            chat.slack.channel.members.discard(bot_user)
        clock.skip(days=1)
        assert await passed(app, clock) == NO_PLACE
        if isinstance(chat, OnDiscord):
            owner = chat.discord.world.direct(chat.discord.users["olga"].id)
            await until(
                lambda: NO_PLACE in str([m.embeds for m in chat.discord.messages(owner.id)])
            )
            chat.discord.allow("send_messages", chat.discord.channel.id)
        else:
            chat.slack.channel.members.add(bot_user)
        assert skipped(chat) == []
        clock.skip(days=1)
        await begun(app, 2)
        assert await passed(app, clock) is None


@pytest.mark.postgresql
async def test_two_processes_and_one_killed_between_two_writes_begin_a_debate_once(
    stage: Stage, clock: Shifted
) -> None:
    async with serving(stage, clock) as line:
        second = asyncio.create_task(line.line.open_schedule(DEFAULTS).run())
        series, due = recurring(), clock.now().replace(second=0, microsecond=0)
        kept = StoredSeries(
            name=series.name,
            body=series.model_dump_json(),
            begun_at=due,
            platform="memory",
            community="club",
            due_at=due,
        )
        await line.store.series.save(kept)
        (debate,) = await held(line, 1)
        assert debate.series_key == key_of(due)
        # As if the process had been killed before it noted the next time.
        await line.store.series.save(kept)
        await until_asked(
            lambda: line.store.series.find(series.name),
            lambda found: found and found.due_at and found.due_at > clock.now(),
        )
        await begins_none(line, 1)
        second.cancel()


def recurring() -> Series:
    """Return a schedule in a lobby, as the command makes it."""
    return Series(
        name="schedule-1",
        topics=(),
        models=(),
        pairs=(),
        formats=(),
        people=read_when("every day 09:00 UTC", SeriesPlace(platform="memory", channel="lobby")),
        recurring=Recurring(
            said="every day 09:00 UTC",
            place="lobby",
            channel="lobby",
            options=Options(topic="Tea beats coffee"),
        ),
    )
