"""What people may have looked up at once: each a little, and no community waits for another."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from engine.chat.answers import Answer, to_markdown
from engine.chat.commands import Commands, parse_command
from engine.chat.context import AT_ONCE, MOST_REMEMBERED, SECONDS, Requester, _Cooldown
from engine.delivery.reasons import refusal_of
from engine.store import Archive, DebateRecord, ExportFilter
from engine.values.debate import Model, Retrieval
from engine.values.errors import NotAllowedError, RostrumError
from tests.kit import NOW, FixedClock
from tests.scenario.conftest import DEFAULTS, Running

ANN = Requester(platform="memory", community="club", place="lobby", user="ann", max_bytes=2**20)
BOB = ANN.model_copy(update={"user": "bob"})
MANAGER = ANN.model_copy(update={"user": "mia", "manager": True})
GUILD = BOB.model_copy(update={"community": "guild"})
WILLOW = Model.parse("rehearsal/willow")
MUCH = ("list", "agreement", "leaderboard", "me", "privacy", "mydata", "topics", "review")
OFTEN = ("status", "help", "models", "formats", "optin", "suggest tea")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def commands(line: Running, clock: FixedClock) -> Commands:
    return Commands(replace(line.service, clock=clock), line.store, DEFAULTS, "1.2.3", b"key")


async def say(commands: Commands, person: Requester, text: str) -> str:
    try:
        answer: Answer = await commands.run(person, parse_command(text))
    except RostrumError as error:
        return refusal_of(error)
    return to_markdown(answer)


async def tire(commands: Commands, person: Requester, text: str = "list") -> None:
    for _ in range(AT_ONCE):
        assert "Try again" not in await say(commands, person, text)


@pytest.mark.each_case
@pytest.mark.parametrize("command", MUCH)
async def test_after_a_short_burst_a_person_waits_some_seconds(
    commands: Commands, clock: FixedClock, command: str
) -> None:
    await tire(commands, ANN, command)
    for _ in range(9):  # impatience costs nothing
        said = await say(commands, ANN, command)
    assert said == f"You looked up a lot in a short time. Try again in {SECONDS} seconds."
    assert "Try again" not in await say(commands, BOB, command)
    clock.pass_seconds(SECONDS)
    assert "Try again" not in await say(commands, ANN, command)
    assert "Try again" in await say(commands, ANN, command)


async def test_a_manager_waits_too_also_for_an_export(commands: Commands) -> None:
    await tire(commands, MANAGER, "export")
    assert "Try again in" in await say(commands, MANAGER, "export")
    assert "Only a manager" in await say(commands, ANN, "export")


async def test_all_that_reads_much_counts_together_in_every_community_and_nothing_else(
    commands: Commands,
) -> None:
    for text in MUCH[:AT_ONCE]:
        await say(commands, BOB, text)
    assert "Try again in" in await say(commands, BOB, "list")
    assert "Try again in" in await say(commands, GUILD, "leaderboard")
    for text in (*OFTEN * 3, "topics upvote 1", "review abcdef A", "league stop"):
        assert "Try again" not in await say(commands, BOB, text), "what reads little never waits"


def test_the_cooldown_remembers_a_bounded_number_of_people() -> None:
    cooldown = _Cooldown()
    for number in range(MOST_REMEMBERED + 100):
        cooldown.check(("memory", str(number)), NOW)
    assert len(cooldown.remembered) == MOST_REMEMBERED


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    cooldown, clock = _Cooldown(), FixedClock(NOW)
    for _ in range(AT_ONCE):
        cooldown.check(("memory", "ann"), clock.now())
    clock.pass_seconds(-86_400)
    with pytest.raises(NotAllowedError, match=f"in {SECONDS} seconds"):
        cooldown.check(("memory", "ann"), clock.now())
    clock.pass_seconds(SECONDS)
    cooldown.check(("memory", "ann"), clock.now())


class SlowArchive:
    """The archive of a store; reading a community's debates lasts until it is told to go on."""

    def __init__(self, archive: Archive, community: str) -> None:
        self._archive, self._community = archive, community
        self.reading_now, self.go_on, self.readings = threading.Event(), threading.Event(), 0

    @contextmanager
    def reading(self, where: ExportFilter) -> Iterator[Iterator[DebateRecord]]:
        with self._archive.reading(where) as records:
            if where.community == self._community:
                self.readings += 1
                self.reading_now.set()
                assert self.go_on.wait(20)
            yield records

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)


@pytest.fixture
def slow(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowArchive]:
    archive = SlowArchive(commands.store.archive, "club")
    monkeypatch.setattr(commands.store, "archive", archive)
    yield archive
    archive.go_on.set()


async def test_a_community_reads_one_thing_at_a_time_and_no_other_waits_for_it(
    commands: Commands, slow: SlowArchive
) -> None:
    asked = [
        asyncio.create_task(say(commands, person, "leaderboard")) for person in (ANN, BOB, MANAGER)
    ]
    assert await asyncio.to_thread(slow.reading_now.wait, 20)
    async with asyncio.timeout(10):
        for text in ("leaderboard", "agreement"):
            assert await say(commands, GUILD, text)
    assert not any(task.done() for task in asked)
    assert slow.readings == 1
    slow.go_on.set()
    await asyncio.gather(*asked)
    assert slow.readings == 3


@pytest.mark.parametrize(
    "more",
    [{"retrieval": Retrieval(model=WILLOW, calls=2, results=2)}, {"questions": 2}],
    ids=["sources", "people"],
)
async def test_commands_that_estimate_know_every_template_of_a_debate(
    line: Running, clock: FixedClock, more: dict[str, object]
) -> None:
    defaults = DEFAULTS.model_copy(update={"models": (*DEFAULTS.models, WILLOW), **more})
    service = replace(line.service, clock=clock)
    commands = Commands(service, line.store, defaults, "1.2.3", b"key")
    assert "`classic`" in await say(commands, MANAGER, "formats")
    for asked, answered in {
        "help": "start",
        'schedule "every weekday 09:00 Europe/Berlin" Tea': "09:00",
        "league start": "league",
    }.items():
        said = await say(commands, MANAGER, asked)
        assert answered in said
        assert "prevented" not in said
