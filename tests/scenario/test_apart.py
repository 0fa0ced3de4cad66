"""A gateway and a worker do all that one process does, from the first tap to the last."""

from collections.abc import AsyncIterator

import pytest

import bot.app
import bot.serve.run
import engine.run.guest
import engine.series.schedule
from bot.app import App
from engine.delivery.reasons import interrupted
from engine.store.listings import DebateQuery
from engine.values.debate import Status
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.slack import Rules, SlackServer
from tests.kit import until, until_asked, until_true
from tests.scenario.chat_stage import Chat, OnDiscord, OnSlack, close
from tests.scenario.conftest import Shifted
from tests.scenario.discord_stage import DiscordStage, author, voting
from tests.scenario.slack_stage import SlackStage
from tests.scenario.test_leagues import begun
from tests.scenario.test_person_in_chats import invited, turn
from tests.scenario.test_rematches import finish, held
from tests.scenario.test_schedules import daily, schedule
from tests.scenario.test_slack_home import opened, told
from tests.scenario.test_suggested_topics import change


@pytest.fixture(params=["discord", "slack"])
async def apart(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Chat]:
    """A stage on either platform where a gateway serves and a worker thinks."""
    if request.param == "discord":
        async with DiscordServer(rates=Rates.generous()) as discord:
            yield OnDiscord(
                DiscordStage(url, discord, settings={"discord": {"personal": True}}, apart=True)
            )
    else:
        async with SlackServer(rules=Rules.generous()) as slack:
            yield OnSlack(SlackStage(url, slack, apart=True))


async def by_menu(chat: Chat) -> None:
    """Start a debate about a message, from that message's menu."""
    if isinstance(chat, OnDiscord):
        about = chat.discord.say("ben", "tea beats coffee")
        await until(lambda: len(chat.discord.world.commands.get(None) or ()) == 2)
        asked = await chat.discord.menu("cleo", "Debate this", about).answered()
        await chat.discord.submit_modal(asked, {}).finished()
        return
    said = chat.slack.say("ben", "tea beats coffee")
    shown = await chat.slack.shortcut("ada", said.ts, "rostrum:debate")
    await until(lambda: shown.view)
    assert not (await chat.slack.submit(shown, {"topic": "tea beats coffee"})).errors


async def on_its_own_page(chat: Chat, app: App) -> None:
    """Use the platform's own place for one person: Slack's Home, Discord's direct messages."""
    if not isinstance(chat, OnDiscord):
        assert "No debate is running" in await opened(chat.slack, "ben", "Live debates")
        await told(chat.slack, "ben", "My votes", "tea beats coffee")
        await told(chat.slack, "ben", "My data as a file", "everything that is stored about you")
        return
    discord = chat.discord
    place = discord.world.direct(discord.users["ben"].id)
    topic = {"topic": "Rain beats sun"}
    await discord.slash("ben", "debate start", topic, channel=place.id).finished()

    def said(what: str) -> bool:
        return any(author(m) == what for m in discord.messages(place.id))

    await until(lambda: said("Vote"))
    await voting(app)
    closed = await discord.slash("ben", "debate close", channel=place.id).finished()
    assert "closed" in closed.text
    await until(lambda: said("Reveal"))


async def test_a_debate_by_menu_its_rematch_a_scheduled_one_and_their_deletion(
    apart: Chat, clock: Shifted
) -> None:
    chat = apart
    async with chat.stage.process() as app:
        await by_menu(chat)
        await begun(app, 1)
        first, _ = await finish(chat, app, await chat.ballot())
        assert first.request.topic == "tea beats coffee"
        assert "starts now" in await chat.push("cleo", chat.announcement, "Rematch")
        again, reveal = await finish(chat, app, await held(chat, app, 2))
        assert again.setup.rematch_of == first.id
        assert "People: **🔵 A** (1–0)" in reveal
        # A community can save the juror who explains: then the reveal quotes one that read it.
        await change(chat, "why", "off")
        await schedule(chat, "olga", daily(clock), "is set.", topic="Parks beat malls")
        clock.skip(hours=1.1)
        await begun(app, 3)
        _, reveal = await finish(chat, app, await chat.ballot())
        debates = await app.store.listings.recent()
        assert debates[0].request.topic == "Parks beat malls"
        assert [debate.request.why for debate in debates] == [False, True, True]
        asked = [
            bool((await app.store.journal.read(debate.id, artifacts="why")).artifacts)
            for debate in debates
        ]
        assert asked == [False, True, True]
        assert "**Why the jury decided so:**" not in reveal
        await schedule(chat, "olga", "off", "has ended")
        await on_its_own_page(chat, app)
        for debate in debates:
            offered = await chat.give("olga", "delete", debate=debate.code)
            await chat.press("olga", offered, f"rostrum:delete:{debate.code}")
        for debate in debates:
            while await app.store.retention.asked(debate.platform):
                await app.service.clock.sleep(0.02)
        left = await app.store.listings.recent()
        assert not {debate.id for debate in debates} & {debate.id for debate in left}


HELD = """
SELECT (SELECT count(*) FROM procrastinate_jobs) + (
    SELECT count(*) FROM leases WHERE name LIKE 'debate/%' AND until >= clock_timestamp()
)
"""


async def left(app: App) -> None:
    """Wait until no worker has a place for the debate; none takes it up while it waits."""
    await until_asked(lambda: app.store.guests._database.value(HELD), lambda held: not held)
    assert len(await app.store.queue.unheld()) == 1
    assert await app.store.queue.unheld(waiting=False) == []
    newest = await app.store.listings.recent(limit=1)
    assert await interrupted(app.store, newest) == frozenset(), "nothing is amiss"
    assert (await app.store.listings.find(DebateQuery(interrupted=True), 0, 1))[1] == 0


@pytest.mark.slow
async def test_a_person_argues_a_side_and_takes_no_place_of_a_worker_while_they_think(
    apart: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.serve.run, "RECONCILE_SECONDS", 0.05)
    monkeypatch.setattr(engine.run.guest, "LEAVE_SECONDS", 0.0)
    chat = apart
    async with chat.stage.process() as app:
        asked = await invited(chat, await chat.start(model_b=chat.mention("ben"), length="short"))
        await left(app)
        assert "You take part" in await chat.push("ben", asked.id, "Take part")
        opening = await turn(chat, "opening")
        await left(app)
        await chat.fill("ben", opening, "Write your turn", text="Coffee wakes.")
        rebuttal = await turn(chat, "rebuttal")
        await left(app)
        chat.write("ben", "Tea is slow.")
        assert "Rostrum has your turn" in await chat.push("ben", rebuttal, "Done")
        for name in ("assumptions", "closing"):
            await chat.fill("ben", await turn(chat, name), "Write your turn", text=f"My {name}.")
        await voting(app)
        (debate,) = await app.store.listings.recent(limit=1)
        held = (await app.store.journal.read(debate.id, "turns")).turns
        own = [one.text for one in held if one.side == "B"]
        assert own == ["Coffee wakes.", "Tea is slow.", "My assumptions.", "My closing."]
        assert "was a person" in (await close(chat)).replace("*", "")
        await chat.ended(app)
        # One that is stopped while it waits is taken up once more, to end.
        started = await chat.start(model_b=chat.mention("ben"), length="short")
        assert "waits for the person" in started
        (debate,) = await app.store.listings.recent(limit=1)
        await until_true(lambda: app.store.guests.awaited(debate.id))
        await left(app)
        await app.service.cancel(debate.id, "Enough.")
        debate = await chat.ended(app)
        assert debate.status is Status.CANCELLED
