"""Sources given in a chat: files attached to Discord's command, a text pasted into Slack's form."""

from typing import Any

import pytest
from pydantic import SecretStr

import adapters.discord.interactions
import adapters.slack.rest
from adapters.slack.rest import SlackRest
from bot.app import App
from engine.values.errors import VenueError
from tests.doubles.discord import Interaction
from tests.doubles.facts import Slack
from tests.doubles.faults import status
from tests.doubles.slack import Asked
from tests.kit import some
from tests.scenario import slack_stage
from tests.scenario.discord_stage import DiscordStage, until, voting
from tests.scenario.slack_stage import SlackStage

TRAM = "In 2019 the city counted 41,000 riders a day. <@123456789012345678> @everyone"
SECRET = "zzyzx-canary"
FILES = "GET", "/attachments/**"
UNREADABLE = [
    ("scan.pdf", b"%PDF", "“scan.pdf” is not a source that debaters can read"),
    ("a.txt", b"x" * 200_001, "“a.txt” has 200,001 bytes"),
    ("a.txt", b"x" * 20_001, "“a.txt” has 20,001 characters"),
]


async def start(stage: DiscordStage, *files: tuple[str, bytes]) -> Interaction:
    named: dict[str, Any] = dict(zip(("source", "source_2"), files, strict=False))
    return await stage.start(**named)


async def none_started(app: App) -> bool:
    return not await app.store.listings.recent(limit=1)


async def test_files_attached_on_discord_are_read_by_every_side(
    on_discord: DiscordStage, caplog: pytest.LogCaptureFixture
) -> None:
    async with on_discord.process() as app:
        files = (
            ("Tram & @here.md", f"{TRAM} {SECRET}".encode()),
            ("公交.txt", "公交车灵活。".encode()),
        )
        asked = await start(on_discord, *files)
        assert " · free" in asked.text
        debate = await voting(app)
        assert [source.title for source in debate.request.sources] == ["Tram & here", "公交"]
        assert debate.request.sources[0].text == f"{TRAM} {SECRET}"
        card = on_discord.discord.messages()[-1]
        assert "Source 1: Tram & here · Source 2: 公交" in f"{card.text}{card.embeds}"
        shown = [m.text for m in on_discord.discord.messages(on_discord.thread.id)]
        assert sum("Quotations: 1 found" in text for text in shown) == 2
    assert not on_discord.discord.world.pings
    assert SECRET not in caplog.text


async def test_a_download_that_fails_is_tried_again_and_what_no_one_can_read_starts_nothing(
    on_discord: DiscordStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters.discord.interactions, "PAUSE_SECONDS", 0.01)
    async with on_discord.process() as app:
        for name, content, why in UNREADABLE:
            asked = await start(on_discord, (name, content))
            assert why in asked.text
            assert asked.ephemeral
            assert not on_discord.discord.messages()
        on_discord.discord.fail(status(503), *FILES, times=-1)
        asked = await start(on_discord, ("a.txt", TRAM.encode()))
        assert "repeat the command in a minute" in asked.text
        on_discord.discord.faults.clear()
        on_discord.discord.fail(status(404), *FILES)
        asked = await start(on_discord, ("a.txt", TRAM.encode()))
        assert "attach it again" in asked.text
        assert await none_started(app)
        on_discord.discord.fail(status(503), *FILES, times=2)
        asked = await start(on_discord, ("a.txt", TRAM.encode()))
        assert " · free" in asked.text
        assert (await voting(app)).request.sources[0].text == TRAM


async def test_a_file_can_be_attached_before_the_topic_is_written_into_the_form(
    on_discord: DiscordStage,
) -> None:
    async with on_discord.process() as app:
        discord = on_discord.discord
        asked = await discord.slash(
            "ada", "debate start", {"source": ("a.txt", TRAM.encode())}
        ).finished()
        await discord.submit_modal(asked, {"topic": "Tea beats coffee"}).finished()
        assert (await voting(app)).request.sources[0].text == TRAM


async def test_a_text_pasted_into_slacks_form_is_read_by_every_side(on_slack: SlackStage) -> None:
    async with on_slack.process() as app:
        form = await on_slack.slack.slash("ada", "/debate")
        await until(lambda: form.view)
        entered = {"topic": "Tea beats coffee", "source": TRAM}
        assert (await on_slack.slack.submit(form, entered)).errors == {}
        debate = await slack_stage.voting(app)
        assert [source.title for source in debate.request.sources] == ["pasted text"]
        assert "41,000 riders" in debate.request.sources[0].text
        shown = [m.text for m in on_slack.replies]
        assert sum("Quotations: 1 found" in text for text in shown) == 2


async def sent_with(stage: SlackStage, *files: tuple[str, bytes]) -> tuple[Asked, Asked]:
    form = await stage.slack.slash("ada", "/debate")
    await until(lambda: form.view)
    attached = [stage.slack.attach(name, content) for name, content in files]
    return form, await stage.slack.submit(form, {"topic": "Tea beats coffee", "files": attached})


async def test_files_attached_in_slacks_form_are_read_where_the_app_may(
    on_slack: SlackStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters.slack.rest, "PAUSE_SECONDS", 0.01)
    on_slack.slack.rules.scopes = (*Slack.SCOPES, "files:read")
    async with on_slack.process() as app:
        # A file that no one can read is explained in the form.
        _, sent = await sent_with(on_slack, ("scan.pdf", b"%PDF"))
        assert "“scan.pdf” is not a source" in sent.errors["topic"]
        on_slack.slack.file_statuses = [500, 500, 500]
        _, sent = await sent_with(on_slack, ("a.txt", TRAM.encode()))
        assert "send the form again in a minute" in sent.errors["topic"]
        on_slack.slack.file_statuses = [302]
        _, sent = await sent_with(on_slack, ("a.txt", TRAM.encode()))
        assert "paste its text instead" in sent.errors["topic"]
        assert await none_started(app)
        on_slack.slack.file_statuses = [503, 500]
        _, sent = await sent_with(
            on_slack, ("tram.md", TRAM.encode()), ("公交.txt", "灵活。".encode())
        )
        assert sent.errors == {}
        debate = await slack_stage.voting(app)
        assert [source.title for source in debate.request.sources] == ["tram", "公交"]
        assert debate.request.sources[0].text == TRAM


async def test_slacks_form_takes_no_files_where_the_app_may_not_read_them(
    on_slack: SlackStage,
) -> None:
    async with on_slack.process():
        form, _ = await sent_with(on_slack)
        names = [block["block_id"] for block in some(form.view)["blocks"]]
        assert "source" in names
        assert "files" not in names


async def test_slacks_token_is_sent_to_slack_alone() -> None:
    rest = SlackRest(SecretStr("xoxb-canary"), "http://127.0.0.1:1/api")
    with pytest.raises(VenueError, match="paste its text instead"):
        await rest.download("http://slack.com.example.org/file", 10)
