"""`rostrum init` as a person meets it: in a terminal of its own, beside platforms on loopback."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from dotenv import dotenv_values

from tests.doubles.command import Ended, rostrum
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.model_server import ModelServer
from tests.doubles.slack import SlackServer
from tests.doubles.slack.server import APP_TOKEN, BOT_TOKEN
from tests.scenario.terminal_stage import Screen, Seat, Shell, seated

LISTED = ("mistral-large", "deepseek-v3", "gpt-5-mini", "qwen3-max", "text-embedding-3")
PRICED = {"pricing": {"prompt": "0.000001", "completion": "0.000002"}}
DISCORD, SLACK = "Token of the Discord bot", "Bot token of Slack (xoxb-…)"
BACKEND, MORE = "Backend (Enter: none)", "(Enter: no more)"
DEBATERS, JURORS = "Models that debate", "Models that judge"
WRONG_TOKEN = "MTAwMDAwMDAwMDAwMDAwMDAwMA.wrong.wrong-and-secret"
WIDE = {"COLUMNS": "240"}  # sentences stand in one line
KEY = "sk-a-key-for-the-double-only"


@dataclass(slots=True)
class World:
    """The platforms and a backend, and a folder in which somebody sets Rostrum up."""

    discord: DiscordServer
    slack: SlackServer
    models: ModelServer
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return {
            "ROSTRUM_DISCORD__API_URL": self.discord.api_url,
            "ROSTRUM_SLACK__API_URL": self.slack.api_url,
            **self.settings,
        }

    async def converse(self, talk: Callable[[Talk], None]) -> tuple[int, str]:
        """Let somebody hold a conversation; return the exit code, and all that was shown."""
        shell = SetUp(self.folder, self.environment())

        def sit_down() -> tuple[int, str]:
            with seated(shell, "init") as seat:
                talk(Talk(seat))
                while seat.screen.read():
                    pass
                return seat.process.wait(30), seat.screen.shown

        return await asyncio.to_thread(sit_down)

    async def run(self, *words: str, **settings: str) -> Ended:
        given = self.environment() | settings
        return await asyncio.to_thread(rostrum, self.folder, "init", *words, **given)

    @property
    def env(self) -> Path:
        return self.folder / ".env"

    def written(self) -> dict[str, str | None]:
        return dotenv_values(self.env)


@dataclass(frozen=True, slots=True)
class SetUp(Shell):
    """A desk with more settings, and none of its own."""

    more: dict[str, str]

    def environment(self) -> dict[str, str]:
        own = Shell.environment(self)
        return {k: v for k, v in own.items() if not k.startswith("ROSTRUM_")} | self.more | WIDE


@dataclass(slots=True)
class Talk:
    """One side of a conversation: waits for each question, then answers it."""

    seat: Seat
    read: int = 0

    def answer(self, question: str, said: str = "") -> None:
        self.wait(question)
        self.seat.screen.press(f"{said}\n")

    def wait(self, text: str) -> None:
        screen = self.seat.screen
        unread = Screen(screen.keyboard, screen.shown[self.read :])
        try:
            unread.until(text)
        finally:
            screen.shown = screen.shown[: self.read] + unread.shown
        self.read += unread.shown.index(text) + len(text)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        discord = await stack.enter_async_context(DiscordServer(rates=Rates.generous()))
        slack = await stack.enter_async_context(SlackServer())
        models = await stack.enter_async_context(ModelServer())
        models.models = [{"id": name, **PRICED} for name in LISTED]
        yield World(discord, slack, models, tmp_path)


async def test_everything_is_tried_written_privately_and_leads_on(world: World) -> None:
    def talk(to: Talk) -> None:
        to.answer(DISCORD, world.discord.token)
        to.wait("ok    discord: the token is that of")
        to.answer(SLACK, BOT_TOKEN)
        to.wait("ok    slack: the token is")
        to.answer("App-level token", APP_TOKEN)
        to.wait("ok    slack app token: opens connections")
        to.answer(BACKEND, world.models.base_url)
        to.answer("Key of local", KEY)
        to.wait("ok    backend local: answers, with 5 models")
        to.answer(MORE)
        to.wait("local offers mistral-large, deepseek-v3, gpt-5-mini, qwen3-max.")
        to.answer(f"{DEBATERS} (Enter: local/deepseek-v3,local/mistral-large)")
        to.answer(f"{JURORS} (Enter: local/gpt-5-mini,local/qwen3-max)")
        to.wait("ok    debate: classic could start")
        to.wait("https://discord.com/oauth2/authorize?client_id=1000000000000000000&scope=bot")
        to.wait("Then: rostrum check, and rostrum run.")

    code, shown = await world.converse(talk)
    assert code == 0, shown
    assert world.written() == {
        "ROSTRUM_DISCORD__TOKEN": world.discord.token,
        "ROSTRUM_SLACK__BOT_TOKEN": BOT_TOKEN,
        "ROSTRUM_SLACK__APP_TOKEN": APP_TOKEN,
        "ROSTRUM_BACKENDS__LOCAL__BASE_URL": world.models.base_url,
        "ROSTRUM_BACKENDS__LOCAL__API_KEY": KEY,
        "ROSTRUM_MODELS": "local/deepseek-v3,local/mistral-large",
        "ROSTRUM_JURORS": "local/gpt-5-mini,local/qwen3-max",
    }
    assert stat.S_IMODE(world.env.stat().st_mode) == 0o600
    assert not any(secret in shown for secret in (world.discord.token, BOT_TOKEN, APP_TOKEN, KEY))
    assert sorted(file.name for file in world.folder.iterdir()) == [".env"]
    assert world.models.requests == []
    checked = await asyncio.to_thread(rostrum, world.folder, "check", **world.environment())
    assert checked.code == 0, checked.out


@pytest.mark.slow
async def test_a_wrong_answer_is_explained_and_asked_for_again(world: World) -> None:
    def talk(to: Talk) -> None:
        to.answer(DISCORD, "hello")
        to.wait("FAIL  discord: ROSTRUM_DISCORD__TOKEN is not a bot's token; copy it from the page")
        to.answer(f"{DISCORD} once more", WRONG_TOKEN)
        to.wait("FAIL  discord: ")
        to.answer(f"{DISCORD} once more", world.discord.token)
        to.wait("ok    discord: the token is that of")
        to.answer(SLACK, "xoxb-wrong")
        to.wait("FAIL  slack: ")
        to.answer(f"{SLACK} once more", BOT_TOKEN)
        to.answer("App-level token", "xapp-wrong")
        to.wait("FAIL  slack app token: ")
        to.answer("App-level token (xapp-…) once more")
        to.wait("Slack needs both tokens, so neither is written.")
        to.answer(BACKEND, "opnrouter")
        to.wait("“opnrouter” is neither a preset nor an http address; did you mean openrouter?")
        to.answer(BACKEND, "http://127.0.0.1:1/v1")
        to.answer("Key of local")
        to.wait("FAIL  backend local: ")
        to.answer(BACKEND, world.models.base_url)
        to.answer("Key of local")
        to.answer(MORE)
        to.answer(DEBATERS, "gpt-6-mini")
        to.wait("local does not list gpt-6-mini; did you mean gpt-5-mini?")
        to.answer(DEBATERS, "other/gpt-5-mini/x")
        to.wait("local does not list other/gpt-5-mini/x")
        to.answer(DEBATERS, "gpt-5-mini, local/qwen3-max#alibaba")
        to.answer(JURORS, "deepseek-v3")
        to.wait("name at least 2, separated by commas")
        to.answer(JURORS, "deepseek-v3, mistral-large")

    code, shown = await world.converse(talk)
    assert code == 0, shown
    written = world.written()
    assert written["ROSTRUM_MODELS"] == "local/gpt-5-mini,local/qwen3-max#alibaba"
    assert written["ROSTRUM_JURORS"] == "local/deepseek-v3,local/mistral-large"
    assert written["ROSTRUM_DISCORD__TOKEN"] == world.discord.token
    assert not any("SLACK" in name or "API_KEY" in name for name in written)
    assert WRONG_TOKEN not in shown


@pytest.mark.slow
async def test_a_token_can_be_kept_while_the_platform_is_away(world: World) -> None:
    world.settings["ROSTRUM_DISCORD__API_URL"] = "http://127.0.0.1:1/api/v10"

    def talk(to: Talk) -> None:
        to.answer(DISCORD, world.discord.token)
        to.wait("FAIL  discord: ")
        to.answer("keep writes it as it is", "keep")
        to.answer(SLACK)
        to.answer(BACKEND)

    code, shown = await world.converse(talk)
    assert code == 0, shown
    assert world.written() == {"ROSTRUM_DISCORD__TOKEN": world.discord.token}


@pytest.mark.slow
async def test_prices_that_no_list_has_are_asked_for(world: World) -> None:
    world.models.models = [{"id": name} for name in ("ana-1", "ben-1", "jo-1", "jim-1")]
    prices = 'ROSTRUM_PRICES={"local/ana-1": {"in": 1, "out": 2, "cached": 0.1}}\n'
    world.env.write_text(prices)

    def talk(to: Talk) -> None:
        to.answer(DISCORD)
        to.answer(SLACK)
        to.answer(BACKEND, world.models.base_url)
        to.answer("Key of local")
        to.answer(MORE)
        to.answer(DEBATERS)
        to.answer(JURORS)
        to.answer("No price is known of local/ben-1", "cheap")
        to.wait("write two numbers, such as 0.3 1.2")
        for name in ("ben-1", "jo-1", "jim-1"):
            to.answer(f"No price is known of local/{name}", "0.3 1.2")
        to.wait("ok    debate: classic could start")
        to.answer("Type yes to continue", "yes")

    code, shown = await world.converse(talk)
    assert code == 0, shown
    checked = await asyncio.to_thread(rostrum, world.folder, "check")
    assert checked.code == 0, checked.out
    assert '"cached": 0.1' in (world.written()["ROSTRUM_PRICES"] or "")


OLD = """\
# My settings
ROSTRUM_LOG__LEVEL=debug   # more of it

export ROSTRUM_DISCORD__TOKEN="an old one"
ROSTRUM_BACKENDS__LOCAL__PRESET=vllm
OTHER_TOOL='two
lines'
"""


@pytest.mark.slow
async def test_an_existing_file_is_written_only_after_yes_and_keeps_its_other_lines(
    world: World,
) -> None:
    world.env.write_text(OLD)
    world.env.chmod(0o644)
    kept = "Backend (Enter keeps those of .env)"

    def talk(to: Talk, said: str) -> None:
        to.answer(DISCORD, world.discord.token)
        to.answer(SLACK)
        to.answer(kept, world.models.base_url)
        to.answer("Key of local")
        to.answer(MORE)
        to.answer(DEBATERS)
        to.answer(JURORS)
        to.wait(".env exists. Its other lines stay; these are set in it: ROSTRUM_DISCORD__TOKEN,")
        to.answer("Type yes to continue", said)

    code, shown = await world.converse(lambda to: talk(to, "no"))
    assert (code, world.env.read_text()) == (1, OLD)
    assert "Nothing was done: the answer was not yes." in shown
    code, shown = await world.converse(lambda to: talk(to, "yes"))
    assert code == 0, shown
    assert world.env.read_text() == (
        "# My settings\n"
        "ROSTRUM_LOG__LEVEL=debug   # more of it\n"
        "\n"
        f"ROSTRUM_DISCORD__TOKEN={world.discord.token}\n"
        "OTHER_TOOL='two\n"
        "lines'\n"
        f"ROSTRUM_BACKENDS__LOCAL__BASE_URL={world.models.base_url}\n"
        "ROSTRUM_MODELS=local/deepseek-v3,local/mistral-large\n"
        "ROSTRUM_JURORS=local/gpt-5-mini,local/qwen3-max\n"
    )
    assert stat.S_IMODE(world.env.stat().st_mode) == 0o600


SET_UP = f"""\
ROSTRUM_DISCORD__TOKEN={WRONG_TOKEN}
ROSTRUM_BACKENDS__LOCAL__PRESET=vllm
ROSTRUM_BACKENDS__LOCAL__API_KEY={KEY}
ROSTRUM_MODELS=local/ana-1,local/ben-1
ROSTRUM_LOG__LEVEL=debug
"""


async def test_a_rerun_shows_what_is_set_and_enter_keeps_all_of_it(world: World) -> None:
    world.env.write_text(SET_UP)

    def talk(to: Talk) -> None:
        to.wait(".env has these, and Enter keeps them:")
        to.wait("ROSTRUM_DISCORD__TOKEN=…cret")
        to.wait("ROSTRUM_BACKENDS__LOCAL__PRESET=vllm")
        to.wait("ROSTRUM_BACKENDS__LOCAL__API_KEY=…only")
        to.wait("ROSTRUM_MODELS=local/ana-1,local/ben-1")
        to.answer(f"{DISCORD} (Enter keeps …cret)")
        to.answer(SLACK)
        to.answer("Backend (Enter keeps those of .env)")
        to.wait("Nothing was changed: .env stays as it is.")

    code, shown = await world.converse(talk)
    assert (code, world.env.read_text()) == (0, SET_UP), shown
    assert not any(secret in shown for secret in (KEY, WRONG_TOKEN))


@pytest.mark.slow
async def test_a_model_that_is_not_listed_can_be_kept(world: World) -> None:
    def talk(to: Talk) -> None:
        to.answer(DISCORD)
        to.answer(SLACK)
        to.answer(BACKEND, world.models.base_url)
        to.answer("Key of local")
        to.answer(MORE)
        to.answer(DEBATERS, "a-model-of-tomorrow, deepseek-v3")
        to.wait("FAIL  models that debate: local does not list a-model-of-tomorrow")
        to.answer("deepseek-v3,local/mistral-large), or keep", "keep")
        to.answer(JURORS)
        to.answer("No price is known of local/a-model-of-tomorrow", "0.3 1.2")

    code, shown = await world.converse(talk)
    assert code == 0, shown
    assert world.written()["ROSTRUM_MODELS"] == "local/a-model-of-tomorrow,local/deepseek-v3"


@pytest.mark.slow
async def test_an_address_without_a_list_is_asked_again_before_it_is_kept(world: World) -> None:
    nowhere = world.models.base_url.removesuffix("/v1")

    def talk(to: Talk) -> None:
        to.answer(DISCORD)
        to.answer(SLACK)
        to.answer(BACKEND, nowhere)
        to.answer("Key of local")
        to.answer("Its address once more")
        to.answer(BACKEND, nowhere)
        to.answer("Key of local")
        to.answer("Its address once more", "keep")
        to.answer(MORE)
        to.answer(DEBATERS)
        to.answer(JURORS)
        to.wait("FAIL  models: none is named, so no debate can begin: set ROSTRUM_MODELS and ROSTR")
        to.wait("Then: correct what failed above")

    code, shown = await world.converse(talk)
    assert code == 0, shown
    assert world.written() == {"ROSTRUM_BACKENDS__LOCAL__BASE_URL": nowhere}


async def test_a_line_that_is_no_assignment_is_named_before_any_question(world: World) -> None:
    world.env.write_text('ROSTRUM_LOG__LEVEL=debug\nROSTRUM_MODELS="a/b,c/d\nROSTRUM_JURORS=e/f\n')
    listed = await asyncio.to_thread(rostrum, world.folder, "list", **world.environment())
    assert "Line 2 of .env is not NAME=value; correct it, or remove it." in listed.failed(1)
    code, shown = await world.converse(lambda to: to.wait("and run rostrum init again."))
    assert (code, DISCORD in shown) == (1, False)


@pytest.mark.slow
async def test_what_keeps_the_new_settings_from_working_is_said(world: World) -> None:
    world.env.write_text("ROSTRUM_MODLES=x\n")
    (world.folder / "token").write_text(world.discord.token)
    world.settings["ROSTRUM_DISCORD__TOKEN_FILE"] = "token"

    def talk(to: Talk) -> None:
        to.answer(DISCORD, world.discord.token)
        to.answer(SLACK)
        to.answer(BACKEND)
        to.answer("Type yes to continue", "yes")
        to.wait("Wrote ROSTRUM_DISCORD__TOKEN to .env, which only you can read.")
        to.wait("note  settings: ROSTRUM_DISCORD__TOKEN_FILE is also set in the environment")
        to.wait(
            "FAIL  settings: ROSTRUM_MODLES in .env is not a setting; did you mean ROSTRUM_MODELS"
        )

    assert (await world.converse(talk))[0] == 0


@pytest.mark.parametrize("at", [DISCORD, BACKEND])
async def test_ctrl_c_leaves_nothing_and_a_terminal_that_shows_what_is_typed(
    world: World, at: str
) -> None:
    import termios

    echoes = []

    def talk(to: Talk) -> None:
        if at == BACKEND:
            to.answer(DISCORD, world.discord.token)
            to.answer(SLACK)
        to.wait(at)
        os.killpg(to.seat.process.pid, signal.SIGINT)
        to.wait("Stopped; nothing was written.")
        echoes.append(termios.tcgetattr(to.seat.screen.keyboard)[3] & termios.ECHO)

    code, shown = await world.converse(talk)
    assert code == 1, shown
    assert "Traceback" not in shown
    assert list(world.folder.iterdir()) == []
    assert all(echoes)


async def test_skipping_everything_writes_nothing(world: World) -> None:
    def talk(to: Talk) -> None:
        for question in (DISCORD, SLACK, BACKEND):
            to.answer(question)
        to.wait("Nothing to write. Without settings rostrum demo and rostrum debate work offline.")

    assert (await world.converse(talk))[0] == 0
    assert not world.env.exists()


@pytest.mark.slow
async def test_without_a_terminal_the_environment_is_tried_and_written(world: World) -> None:
    refused = await world.run()
    assert "rostrum init asks questions, which needs a terminal." in refused.failed(2)
    given = {
        "ROSTRUM_DISCORD__TOKEN": world.discord.token,
        "ROSTRUM_BACKENDS__NEAR__BASE_URL": world.models.base_url,
        "ROSTRUM_BACKENDS__NEAR__API_KEY": f"{KEY}'$x",
    }
    wrong = await world.run("--from-env", **given | {"ROSTRUM_DISCORD__TOKEN": WRONG_TOKEN})
    assert "Nothing was written: discord failed; see above." in wrong.failed(1)
    assert WRONG_TOKEN not in wrong.out + wrong.err
    away = given | {"ROSTRUM_BACKENDS__NEAR__BASE_URL": "http://127.0.0.1:1/v1"}
    failed = await world.run("--from-env", **away)
    assert "Nothing was written: backend near failed; see above." in failed.failed(1)
    assert not world.env.exists()
    said = (await world.run("--from-env", **given)).done()
    assert "Add the bot to your server: https://discord.com/oauth2/" in said
    assert KEY not in said
    assert world.written() == world.environment() | given | {
        "ROSTRUM_MODELS": "near/deepseek-v3,near/mistral-large",
        "ROSTRUM_JURORS": "near/gpt-5-mini,near/qwen3-max",
    }
    assert stat.S_IMODE(world.env.stat().st_mode) == 0o600
    asked = len(world.models.requests)
    again = await world.run("--from-env", **given)
    assert "Nothing was done: add --yes to write into it." in again.failed(2)
    assert len(world.models.requests) == asked, "it tried the network first"
    named = given | {
        "ROSTRUM_MODELS": "near/deepseek-v3,near/mistral-large",
        "ROSTRUM_JURORS": "near/gpt-5-mini,near/qwen3-max",
    }
    missing = (await world.run("--from-env", "--yes", **named)).done()
    assert "ok    models: near/deepseek-v3, near/mistral-large" in missing
    assert "6 readings have to agree, and 2 jurors give 4" in missing
    assert (await world.run("--from-env", "--yes", **given)).code == 0


async def test_what_keeps_debates_from_starting_is_next_and_not_a_debate(world: World) -> None:
    world.models.models = [{"id": "only-one"}]
    given = {
        "ROSTRUM_BACKENDS__NEAR__BASE_URL": world.models.base_url,
        "ROSTRUM_BACKENDS__NEAR__API_KEY": KEY,
    }
    said = (await world.run("--from-env", **given)).done()
    assert "FAIL" in said
    assert "Then: correct what failed above, and rostrum check." in said
    assert "rostrum debate" not in said


def test_an_empty_environment_is_nothing_to_write(tmp_path: Path) -> None:
    assert "and there are none; set for example" in rostrum(tmp_path, "init", "--from-env").failed(
        2
    )


async def test_a_folder_that_takes_no_file_is_said(world: World) -> None:
    world.env.symlink_to(world.folder / "missing" / ".env")
    failed = await world.run("--from-env", ROSTRUM_LOG__LEVEL="info")
    assert "could not be written: No such file or directory; nothing was changed." in failed.failed(
        1
    )
