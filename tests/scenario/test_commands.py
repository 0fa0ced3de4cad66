"""Chat commands on a running Rostrum: who may do what, and what nobody is told too early."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from engine.chat.answers import Answer, SentFile, to_markdown
from engine.chat.answers.debates import StartedAnswer
from engine.chat.choices import match_debates, match_jurors, match_models
from engine.chat.commands import Commands, parse_command
from engine.chat.context import Requester
from engine.chat.lifecycle import status
from engine.run.order import Defaults
from engine.values.debate import Debate, Model, Status
from engine.values.errors import (
    BudgetError,
    NotAllowedError,
    NotFoundError,
    RostrumError,
    UsageError,
)
from tests.doubles import model_server as acts
from tests.scenario.conftest import DEFAULTS, NO_CAPS, Running, Stage, ballot, play, shown

MEBIBYTE = 2**20
STARTER = Requester(platform="memory", community="club", place="lobby", user="u1")
OTHER = STARTER.model_copy(update={"user": "u2"})
MANAGER = STARTER.model_copy(update={"user": "u3", "manager": True})
STRANGER = MANAGER.model_copy(update={"community": "guild"})

DEBATERS = tuple(Model.parse(f"near/{name}-canary#kin{name}") for name in ("zorblax", "fnordic"))
PANEL = tuple(Model.parse(f"near/jurex{n}-canary#kinex{n}") for n in range(1, 4))
REASONS = "Unheard-of-reasons"
SECRETS = ("canary", "zorblax", "fnordic", "jurex", "kin", REASONS.casefold(), "near")
SLOW = DEFAULTS.model_copy(update={"vote_minutes": 60.0, "quorum": 0})


def judge_tellingly(body: acts.Body) -> str:
    if not str(body["model"]).startswith("jurex"):
        return play(body)
    first, second = shown(body)
    return ballot({first: 7, second: 6}, first, reasons=REASONS)


class Chat:
    """A chat whose people give commands in text; everything they are told is kept."""

    def __init__(self, line: Running, defaults: Defaults) -> None:
        self.line = line
        self.commands = Commands(line.service, line.store, defaults, "1.2.3", b"key")
        self.told: list[Answer | str] = []

    async def say(self, person: Requester, text: str, max_bytes: int = MEBIBYTE) -> str:
        try:
            answer = await self.run(person, text, max_bytes)
        except RostrumError as error:
            self.told.append(str(error))
            return str(error)
        self.told.append(answer)
        return to_markdown(answer)

    async def run(self, person: Requester, text: str, max_bytes: int = MEBIBYTE) -> Answer:
        """Give a command, where a file may have `max_bytes`."""
        there = person.model_copy(update={"max_bytes": max_bytes})
        return await self.commands.run(there, parse_command(text))

    async def start(self, person: Requester = STARTER, text: str = '"Tea beats coffee"') -> Debate:
        answer = await self.run(person, f"start {text}")
        assert isinstance(answer, StartedAnswer)
        return await self.line.store.debates.get(answer.debate.id)

    async def voting(self, person: Requester = STARTER) -> Debate:
        debate = await self.start(person)
        return await self.line.until(debate.id, lambda d: d.vote_opened_at is not None)

    async def closed(self) -> Debate:
        debate = await self.voting()
        await self.say(MANAGER, f"close {debate.code}")
        return await self.line.ended(debate.id)

    def everything(self) -> str:
        said = [answer if isinstance(answer, str) else repr(answer) for answer in self.told]
        said += [to_markdown(answer) for answer in self.told if not isinstance(answer, str)]
        return "\n".join(said).casefold()


@pytest.fixture
async def chat(line: Running) -> Chat:
    return Chat(line, SLOW)


@pytest.fixture
async def telling(stage: Stage) -> AsyncIterator[Chat]:
    """A chat whose models and jurors carry canaries."""
    stage.server.respond = judge_tellingly
    secretive = SLOW.model_copy(
        update={"models": DEBATERS, "jurors": PANEL, "sides": {"A": DEBATERS[0]}}
    )
    async with stage.process(price=None) as line:
        yield Chat(line, secretive)


async def test_a_debate_from_start_to_result_by_text_alone(chat: Chat) -> None:
    said = await chat.say(STARTER, "start “Tea beats coffee” a=near/ana vote=30m")
    assert "Your debate starts now: **Tea beats coffee**" in said
    assert " · ≈ $0.0" in said
    assert "You chose `near/ana` for 🔵 A." in said
    debate = (await chat.line.store.listings.of_community("memory", "club"))[0]
    assert debate.request.vote_minutes == 30
    await chat.line.until(debate.id, lambda d: d.vote_opened_at is not None)
    assert "The vote is open: about 30 minutes left." in await chat.say(OTHER, "status")
    assert "Results stay sealed until the vote closes." in await chat.say(OTHER, "result")
    assert f"`{debate.code}` vote open" in await chat.say(OTHER, "list")
    assert "is closed. The result follows" in await chat.say(MANAGER, "close")
    assert (await chat.line.ended(debate.id)).closed_early
    result = await chat.say(OTHER, f"result {debate.code.upper()}")
    assert "**🔵 A** (for it) was `near/ana`" in result
    assert "People and jury" in result


async def test_a_start_that_fails_says_why_and_stores_nothing(chat: Chat) -> None:
    assert "did you mean near/ana?" in await chat.say(STARTER, "start x a=near/anna")
    assert "has no side 3" in await chat.say(STARTER, "start x 3=near/ana")
    chat.commands.defaults = SLOW.model_copy(
        update={"caps": NO_CAPS.model_copy(update={"user_daily_debates": 0})}
    )
    with pytest.raises(BudgetError, match="started 0 debates today"):
        await chat.start()
    assert await chat.say(OTHER, "list") == "No debates here yet. Start one."


async def test_what_is_known_can_be_asked_for(chat: Chat) -> None:
    assert "- `near/ana`" in await chat.say(OTHER, "models")
    assert "Remote work" in await chat.say(OTHER, "topics")
    assert "- `classic`: both sides argue in turn" in await chat.say(OTHER, "formats")
    assert "What is stored" in await chat.say(OTHER, "privacy")
    assert "/debate start" in await chat.say(OTHER, "help")
    assert "/debate close [debate]" in await chat.say(OTHER, "help /close")
    assert "Unknown command “clsoe”; did you mean close?" in await chat.say(OTHER, "help clsoe")


async def test_a_thread_means_its_own_debate_and_a_channel_its_newest(chat: Chat) -> None:
    first, second = await chat.voting(), await chat.voting()
    inside = OTHER.model_copy(update={"thread": first.thread})
    assert f"`{first.code}`" in await chat.say(inside, "status")
    assert f"`{second.code}`" in await chat.say(OTHER, "status")
    elsewhere = OTHER.model_copy(update={"place": "attic"})
    assert "No debates in this channel yet" in await chat.say(elsewhere, "status")
    both = await chat.say(MANAGER, "close")
    assert first.code in both
    assert second.code in both
    manager_inside = MANAGER.model_copy(update={"thread": first.thread})
    assert f"`{first.code}` is closed" in await chat.say(manager_inside, "close")
    await chat.line.ended(first.id)


async def test_only_the_starter_and_managers_stop_a_debate(chat: Chat) -> None:
    debate = await chat.start()
    with pytest.raises(
        NotAllowedError, match=f"Only its starter or a manager can stop debate {debate.code}"
    ):
        await chat.run(OTHER, f"cancel {debate.code}")
    assert "is stopping" in await chat.say(STARTER, "cancel")
    ended = await chat.line.ended(debate.id)
    assert ended.status is Status.CANCELLED
    assert "Its starter stopped it." in chat.line.venue.said()
    again = await chat.start()
    assert "is stopping" in await chat.say(MANAGER, f"cancel {again.code}")
    await chat.line.ended(again.id)
    assert "A manager stopped it." in chat.line.venue.said()
    assert "only a running debate can be stopped" in await chat.say(STARTER, f"cancel {again.code}")
    assert "No debate is queued or running in this channel" in await chat.say(STARTER, "cancel")


async def test_what_managers_do_others_may_not(chat: Chat) -> None:
    for command in ("close", "settings", "settings language=tr", "export"):
        said = await chat.say(STARTER, command)
        assert said.startswith("Only a manager of this community can ")
        assert said.endswith("; please ask one.")


async def test_another_communitys_debates_do_not_exist(chat: Chat) -> None:
    debate = await chat.closed()
    for command in ("status", "result", "cancel", "close"):
        theirs = await chat.say(STRANGER, f"{command} {debate.code}")
        nobodys = await chat.say(STRANGER, f"{command} zzzzzz")
        assert theirs == nobodys.replace("zzzzzz", debate.code)
        assert "There is no debate" in theirs
    assert "No debates here yet" in await chat.say(STRANGER, "list")
    assert "nothing to export" in await chat.say(STRANGER, "export")
    assert await match_debates(chat.commands, STRANGER, "") == ()
    with pytest.raises(NotFoundError):
        await status(chat.commands, STRANGER, debate.id)
    talk = MANAGER.model_copy(update={"platform": "talk"})
    assert "There is no debate" in await chat.say(talk, f"result {debate.code}")


async def test_settings_apply_to_the_community_that_made_them(chat: Chat) -> None:
    said = await chat.say(MANAGER, "settings models=near/ben vote_minutes=2h language=tr")
    assert said.startswith("Changed: models, vote_minutes, language.")
    said = await chat.say(MANAGER, "settings round_votes=on confidence=on")
    assert "`round_votes`: on" in said
    debate = await chat.start()
    assert (debate.request.round_votes, debate.request.confidence) == (True, "on")
    assert debate.request.sides["A"].ref == debate.request.sides["B"].ref == "near/ben"
    assert (debate.request.language, debate.request.vote_minutes) == ("tr", 120)
    assert "“near/ana” is not a model" in await chat.say(STARTER, "start x a=near/ana")
    theirs = await chat.start(STRANGER)
    assert theirs.request.language == "en"
    assert [c.value for c in await match_models(chat.commands, OTHER, "")] == ["near/ben"]
    assert "near/j1" in [c.value for c in await match_jurors(chat.commands, OTHER, "j")]


async def test_a_wrong_setting_changes_none_and_a_cap_holds(chat: Chat) -> None:
    with pytest.raises(UsageError, match="vote_minutes is “soon”"):
        await chat.run(MANAGER, "settings language=tr vote_minutes=soon")
    assert "(set here)" not in await chat.say(MANAGER, "settings")
    await chat.say(MANAGER, "settings max_live=0")
    assert "the cap is 0; wait for one to end" in await chat.say(STARTER, 'start "Tea"')


def rows(file: SentFile, table: str) -> list[dict[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(file.content)) as bundle:
        names = [n for n in bundle.namelist() if n.startswith(f"rostrum-export/data/{table}/")]
        lines = b"".join(bundle.read(name) for name in names).splitlines()
    return [orjson.loads(row) for row in lines]


async def test_an_export_covers_this_communitys_revealed_debates_and_names_its_licence(
    chat: Chat,
) -> None:
    assert "nothing to export" in await chat.say(MANAGER, "export")
    mine = await chat.closed()
    await chat.voting(STRANGER)
    await chat.voting()
    answer = await chat.run(MANAGER, "export")
    assert "`rostrum-export.zip` has 1 revealed debate." in to_markdown(answer)
    file = answer.file
    assert file is not None
    assert [row["debate_id"] for row in rows(file, "debates")] == [mine.id]
    assert (await chat.run(MANAGER, "export")).file == file
    assert "- `license`: not set" in await chat.say(MANAGER, "settings")
    said = await chat.say(MANAGER, "settings license=cc-by-sa-4.0")
    assert "- `license`: CC-BY-SA-4.0 (set here)" in said
    file = (await chat.run(MANAGER, "export")).file
    assert file is not None
    with zipfile.ZipFile(io.BytesIO(file.content)) as bundle:
        card = bundle.read("rostrum-export/README.md").decode()
    assert "\nlicense: cc-by-sa-4.0\n" in card
    assert "has set its licence: `CC-BY-SA-4.0`" in card
    # One too large for the platform says how to get it.
    answer = await chat.run(MANAGER, "export", 100)
    assert answer.file is None
    assert "`rostrum export --out FOLDER --community club`" in to_markdown(answer)


async def ask_everything(chat: Chat, debate: Debate) -> None:
    """Ask all that may be asked of a debate, as whoever may see the most."""
    for person in (MANAGER, OTHER):
        for command in ("status", "result", "cancel", "close"):
            if person is OTHER or command in ("status", "result"):
                await chat.say(person, f"{command} {debate.code}")
        await chat.say(person, "list")
        await chat.say(person, "export")
    chat.told += [repr(await match_debates(chat.commands, OTHER, ""))]


async def test_nothing_is_given_away_before_the_reveal(telling: Chat) -> None:
    debate = await telling.start()
    while (await telling.line.store.debates.get(debate.id)).status.live:
        await ask_everything(telling, debate)
        await asyncio.sleep(0.01)
    await telling.line.until(debate.id, lambda d: d.vote_opened_at is not None)
    await ask_everything(telling, debate)
    told = telling.everything()
    assert "the vote is open" in told
    for secret in SECRETS:
        assert secret not in told, secret
    await telling.say(MANAGER, f"close {debate.code}")
    await telling.line.ended(debate.id)
    assert "near/zorblax-canary" in await telling.say(OTHER, f"result {debate.code}")


async def test_only_the_starter_is_told_what_he_chose_and_nothing_that_was_drawn(
    telling: Chat,
) -> None:
    said = await telling.say(STARTER, "start x b=near/fnordic-canary jurors=near/jurex1-canary")
    assert "near/fnordic-canary" in said
    assert "near/jurex1-canary" in said
    assert "zorblax" not in telling.everything()


@pytest.mark.parametrize("swap", ["", " swap=on"])
async def test_a_rematch_gives_nothing_away_before_its_reveal(telling: Chat, swap: str) -> None:
    before = await telling.closed()
    telling.told.clear()
    said = await telling.say(OTHER, f"rematch {before.code}{swap}")
    assert "starts now" in said
    again = (await telling.line.store.listings.of_community("memory", "club"))[0]
    assert again.setup.rematch_of == before.id
    await telling.line.until(again.id, lambda d: d.vote_opened_at is not None)
    for command in ("status", "result", "list"):  # an export holds the debate before
        await telling.say(MANAGER, command)
    posted = [
        await telling.line.store.outbox.find(again.id, key) for key in ("announcement", "vote")
    ]
    told = f"{telling.everything()}\n{posted}".casefold()
    assert not [secret for secret in SECRETS if secret in told and secret != "kin"]  # “asking”


async def test_a_failed_debate_does_not_say_who_failed(telling: Chat, stage: Stage) -> None:
    stage.server.script(acts.status(404), model="fnordic-canary")
    debate = await telling.line.ended((await telling.start()).id)
    assert debate.status is Status.FAILED
    assert "fnordic" in debate.reason
    await ask_everything(telling, debate)
    told = telling.everything()
    assert "it failed.\nit has no result." in told
    assert "nothing to export" in told
    for secret in SECRETS:
        assert secret not in told, secret
