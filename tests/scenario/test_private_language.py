"""Private answers are in the person's language, and debates in their own."""

import pytest

from tests.doubles.discord import Code, denied
from tests.kit import some
from tests.scenario.discord_stage import DiscordStage, until
from tests.scenario.slack_stage import SlackStage, voting as slack_voting
from tests.scenario.test_languages import ENGLISH, NAMES

EDIT = ("PATCH", "/webhooks/*/*/messages/@original")
COMMANDS = ("privacy", "help", "topics", "formats", "models", "list", "leaderboard", "forget")
STARTED = {
    "de": "Deine Debatte beginnt jetzt",
    "tr": "Tartışman şimdi başlıyor",
    "zh-CN": "你的辩论现在开始",
    "es-419": "Tu debate empieza ahora",
    "fr": "Your debate starts now",
}


async def test_a_german_on_an_english_server_is_answered_in_german(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    async with on_discord.process():
        for command in COMMANDS:
            asked = await discord.slash("ada", f"debate {command}", locale="de").finished()
            said = "\n".join(row for row in asked.text.splitlines() if not row.startswith("- "))
            assert set(ENGLISH.findall(NAMES.sub("", said))) == set(), said
        wrong = discord.slash("ada", "debate start", {"topic": "x", "more": "vot=1"}, locale="de")
        assert "Unbekannte Option „vot“; meintest du vote?" in (await wrong.finished()).text
        unknown = discord.slash("ada", "debate status", {"debate": "0000"}, locale="de")
        assert "Hier gibt es keine Debatte „0000“" in (await unknown.finished()).text
        start = {"topic": "Tea beats coffee", "ballot": "private"}
        begun = await discord.slash("ada", "debate start", start, locale="de").finished()
        assert STARTED["de"] in begun.text
        ballot = await on_discord.ballot()
        pressed = await discord.press("ben", ballot, "rostrum:vote:A", locale="tr").finished()
        assert "Oyun kaydedildi" in pressed.text
        thread = "".join(m.text for m in discord.messages(on_discord.thread.id))
    assert "Abstimmung" not in thread + discord.messages()[-1].text


@pytest.mark.sqlite
@pytest.mark.parametrize("locale", list(STARTED))
async def test_each_language_of_a_client_is_answered_and_others_in_english(
    on_discord: DiscordStage, locale: str
) -> None:
    async with on_discord.process():
        asked = on_discord.discord.slash(
            "ada", "debate start", {"topic": "Tea beats coffee"}, locale=locale
        )
        assert STARTED[locale] in (await asked.finished()).text


@pytest.mark.sqlite
async def test_an_answer_that_all_can_read_is_in_the_servers_language(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    next(iter(discord.world.guilds.values())).locale = "tr"
    discord.fail(denied(Code.INVALID_TOKEN), *EDIT, times=-1)
    async with on_discord.process():
        discord.slash("ada", "debate list", locale="de")
        await until(lambda: discord.messages())
    assert "Burada henüz tartışma yok" in str(discord.messages()[-1].embeds)


async def test_a_german_in_an_english_workspace_is_answered_in_german(
    on_slack: SlackStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack = on_slack.slack
    slack.world.user("ada").locale = "de-DE"
    async with on_slack.process() as app:
        for command in COMMANDS:
            said = await (await slack.slash("ada", f"/debate {command}")).said("")
            told = "\n".join(row for row in said.splitlines() if not row.startswith("- "))
            assert set(ENGLISH.findall(NAMES.sub("", told))) == set(), told
        wrong = await slack.slash("ada", "/debate start Tea vot=1")
        assert "Alle Optionen: /debate help start" in await wrong.said("meintest du vote?")
        begun = await slack.slash("ada", '/debate start "Tea beats coffee" ballot=private')
        await begun.said(STARTED["de"])
        ballot = await on_slack.ballot()
        await slack_voting(app)
        pressed = await slack.press("ada", ballot.ts, "🔵 A")
        await pressed.said("Deine Stimme ist gezählt")
        # Why a vote could not be taken was said in English.
        with monkeypatch.context() as away:
            away.setattr(type(app.store), "away", True)
            refused = await slack.press("ada", ballot.ts, "🔵 A")
            await refused.said("Datenbank")
        shown = "".join(f"{m.text}{m.blocks}" for m in [on_slack.root, *on_slack.replies])
    assert "Abstimmung" not in shown


@pytest.mark.sqlite
async def test_slacks_form_and_the_mistakes_in_it_are_in_the_persons_language(
    on_slack: SlackStage,
) -> None:
    slack = on_slack.slack
    slack.world.user("ada").locale = "es-ES"
    async with on_slack.process():
        await (await slack.slash("ada", "/debate list")).said("Aquí aún no hay debates")
        opened = await slack.slash("ada", "/debate")
        await until(lambda: opened.view)
        assert some(opened.view)["title"]["text"] == "Iniciar un debate"
        sent = await slack.submit(opened, {"topic": "Té o café", "minutes": "soon"})
        assert sent.errors == {
            "minutes": "minutes es «soon»; escribe un tiempo como 30m, 1h o 90s."
        }
        # Without a person's locale the community's language is spoken.
        await (await slack.slash("olga", "/debate settings language=tr")).said("Changed")
        slack.rules.scopes = tuple(one for one in slack.rules.scopes if one != "users:read")
        await (await slack.slash("ben", "/debate list")).said("Burada henüz tartışma yok")
