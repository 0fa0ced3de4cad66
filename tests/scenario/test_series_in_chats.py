"""An operator puts a series before people on Discord and Slack, beside the running bot."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.kit import until_asked
from tests.scenario.chat_stage import Chat, OnDiscord

ROSTRUM = Path(sys.executable).with_name("rostrum")
FILE = """
name = "evening"
topics = ["Tabs beat spaces", "Tea beats coffee"]
models = ["rehearsal/maple", "rehearsal/willow"]
[jury]
models = ["rehearsal/oak", "rehearsal/elm"]
[people]
place = "{place}"
every = "1d"
"""


def channel_of(chat: Chat) -> str:
    if isinstance(chat, OnDiscord):
        return str(chat.discord.channel.id)
    return str(chat.slack.channel.id)


def settings_of(chat: Chat) -> dict[str, str]:
    """Return the settings that reach a stage's platform and database."""
    if isinstance(chat, OnDiscord):
        reach = {"DISCORD__TOKEN": chat.discord.token, "DISCORD__API_URL": chat.discord.api_url}
    else:
        reach = {
            "SLACK__BOT_TOKEN": chat.slack.bot_token,
            "SLACK__APP_TOKEN": chat.slack.app_token,
            "SLACK__API_URL": chat.slack.api_url,
        }
    given = reach | {"DATABASE_URL": chat.stage.url}
    return {f"ROSTRUM_{name}": value for name, value in given.items()}


async def rostrum(chat: Chat, folder: Path, *command: str) -> tuple[int, str]:
    """Run the command line beside the bot; return its code and everything that it said."""
    process = await asyncio.create_subprocess_exec(
        *(str(ROSTRUM), *command),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONWARNINGS": "ignore", **settings_of(chat)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


def write(folder: Path, place: str) -> str:
    file = folder / "evening.toml"
    file.write_text(FILE.format(place=place))
    return str(file)


@pytest.mark.slow
async def test_a_series_is_planned_voted_on_followed_and_stopped(
    chat: Chat, tmp_path: Path
) -> None:
    platform = chat.title.casefold()
    async with chat.stage.process() as app:
        file = write(tmp_path, f"{platform}:{channel_of(chat)}")
        code, said = await rostrum(chat, tmp_path, "series", "run", file)
        assert code == 0, said
        assert "rostrum run holds it in" in said
        assert "Next debate: " in said
        ballot = await chat.ballot()
        await chat.react("ben", ballot, "A")
        await chat.stage.close()
        await chat.ended(app)
        assert chat.held(ballot)["A"] >= 1
        code, said = await rostrum(chat, tmp_path, "series", "status", "evening")
        assert code == 0, said
        assert "1 of 4 debates held" in said
        assert "once the one before has ended" in said
        code, said = await rostrum(chat, tmp_path, "series", "stop", "evening")
        assert code == 0, said
        await until_asked(app.store.series.all, lambda stored: stored[0].due_at is None)
        assert len(await app.store.listings.recent()) == 1


@pytest.mark.parametrize("channel", ["99999", "C99999"])
async def test_a_place_that_is_no_channel_is_refused_in_one_sentence(
    chat: Chat, tmp_path: Path, channel: str
) -> None:
    platform = chat.title.casefold()
    async with chat.stage.process() as app:
        file = write(tmp_path, f"{platform}:{channel}")
        code, said = await rostrum(chat, tmp_path, "series", "run", file)
        assert code != 0
        assert said.count("\n") == 1
        assert f"people.place is {platform}:{channel}: " in said
        assert await app.store.series.all() == []


@pytest.mark.slow
async def test_a_place_where_the_bot_may_not_post_is_refused(chat: Chat, tmp_path: Path) -> None:
    if isinstance(chat, OnDiscord):
        chat.discord.deny("send_messages")
    else:
        chat.slack.channel.members.discard(chat.slack.world.caller.bot_user)
    platform = chat.title.casefold()
    async with chat.stage.process() as app:
        file = write(tmp_path, f"{platform}:{channel_of(chat)}")
        code, said = await rostrum(chat, tmp_path, "series", "run", file)
        assert code != 0, said
        assert "Send Messages" in said or "not a member" in said
        assert await app.store.series.all() == []
