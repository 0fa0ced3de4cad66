"""Each side speaks under a neutral name and face of its own, where the platform lets the bot."""

import re
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from engine.values.debate import Debate
from engine.values.errors import VenueError
from engine.values.messages import Notice
from tests.doubles import facts
from tests.doubles.discord import DiscordServer
from tests.doubles.discord.platform import Draft
from tests.doubles.discord.state import Message
from tests.doubles.facts import Slack
from tests.doubles.faults import drop
from tests.doubles.slack import refused
from tests.scenario.discord_stage import HASTY, MODELS, DiscordStage, author, ended, until, voting
from tests.scenario.slack_stage import (
    SlackStage,
    ended as slack_ended,
    title,
    voting as slack_voting,
)

NAMED = re.compile(r"🔵 A · [A-Z][a-z]+|🔴 B · [A-Z][a-z]+")
REFERENCE = re.compile(r"#(\d+) · (\w+)")
CUSTOMIZE = "chat:write.customize"


def turns(stage: DiscordStage) -> list[Message]:
    return [m for m in stage.discord.messages(stage.thread.id) if " · turn " in author(m)]


def names(debate: Debate) -> list[str]:
    """Return under which names eight turns are to be read."""
    a, b = debate.setup.names["A"], debate.setup.names["B"]
    return [f"🔵 A · {a}", f"🔴 B · {b}"] * 4


async def test_on_discord_each_side_speaks_by_a_webhook_without_a_models_name(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    discord.allow("manage_webhooks")
    with capture_logs() as logs:
        async with on_discord.at_vote() as (app, ballot, debate):
            said = turns(on_discord)
            assert [m.username for m in said] == names(debate)
            assert all(NAMED.fullmatch(m.username) for m in said)
            assert len({m.avatar for m in said}) == 2
            assert ballot.author_id == discord.bot.id
            discord.react("ada", said[0].id, "👍")
            shown = " ".join(f"{m.username} {m.avatar}" for m in said)
            for model in (*MODELS.replace(",", "").split(), "maple", "willow"):
                assert model not in shown
            [hook] = discord.world.webhooks.values()
            assert hook.name == "Rostrum"
            await on_discord.close()
            await ended(app)
            # What a webhook posted, only its token edits and deletes.
            venue = app.deliveries["discord"].venue
            (part,) = venue.render(Notice(text="Said otherwise."), "k7f2qz·3")
            await venue.edit(on_discord.thread.id, said[0].id, part)
            edited = discord.world.messages[on_discord.thread.id][said[0].id]
            assert "Said otherwise." in edited.text
            assert (edited.username, edited.avatar) == (said[0].username, said[0].avatar)
            assert venue.erase is not None
            await venue.erase(on_discord.thread.id, said[-1].id)
            assert said[-1].id not in discord.world.messages[on_discord.thread.id]
    assert hook.token not in str(logs)


async def test_a_webhook_that_is_deleted_leaves_the_bots_own_name_and_managers_hear_of_it_once(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    discord.allow("manage_webhooks")
    async with on_discord.process() as app:
        await on_discord.start()
        await until(lambda: discord.threads() and len(turns(on_discord)) >= 2)
        discord.delete_webhook(next(iter(discord.world.webhooks)))
        await on_discord.ballot()
        said = [m.username for m in turns(on_discord)]
        debate = await voting(app)
        assert said[:2] == names(debate)[:2]
        assert "" in said
        assert len(said) == 8
        told = _told(discord, lambda text: "its webhook" in text)
        await until(lambda: len(told()) == 1)
        await on_discord.close()
        await ended(app)
        assert len(told()) == 1


@pytest.mark.slow
async def test_a_new_process_says_only_a_cause_that_managers_have_not_heard(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    discord.allow("manage_webhooks")
    deleted = _told(discord, lambda text: "its webhook" in text)
    full = _told(discord, lambda text: "as many webhooks" in text)
    held: list[int] = []
    for number in range(3):
        async with on_discord.process() as app:
            await on_discord.start()
            await until(lambda: len(discord.threads()) > len(held) and len(turns(on_discord)) >= 2)
            held.append(number)
            if number < 2:
                discord.delete_webhook(next(iter(discord.world.webhooks)))
            await on_discord.ballot()
            await on_discord.close()
            await ended(app)
            await until(lambda: len(deleted()) == 1 and len(full()) == held.count(2))
        if number == 1:
            for each in range(15):
                discord.add_webhook(discord.channel.id, f"Other {each}")


@pytest.mark.slow
async def test_a_webhook_of_somebody_elses_that_copies_a_turn_is_not_taken_for_it(
    on_discord: DiscordStage,
) -> None:
    """Its name and footer are ours; the turn in doubt was never stored, and has to be posted."""
    discord = on_discord.discord
    discord.allow("manage_webhooks")
    forged = discord.world.webhooks[discord.add_webhook(discord.channel.id, "Rostrum")]
    discord.fail(drop("before"), "POST", "/webhooks/*/*", skip=3, times=2, text='"username"')
    async with on_discord.process() as app:
        await on_discord.start()
        await until(lambda: discord.threads() and turns(on_discord))
        first = turns(on_discord)[0]
        number, code = REFERENCE.findall(str(first.embeds))[-1]
        footer = {"text": f"#{int(number) + 3} · {code}"}
        copied = Draft({"embeds": [{"description": "Forged.", "footer": footer}]})
        fake = discord.platform.post_by(forged, on_discord.thread, first.username, copied)
        await on_discord.ballot()
        debate = await voting(app)
        said = [m for m in turns(on_discord) if m.id != fake.id]
        assert [m.username for m in said] == names(debate)
        assert len({facts.on_discord({"embeds": m.embeds}) for m in said}) == 8
        venue = app.deliveries["discord"].venue
        (part,) = venue.render(Notice(text="Said otherwise."), "k7f2qz·3")
        with pytest.raises(VenueError):
            await venue.edit(on_discord.thread.id, fake.id, part)


def _told(discord: DiscordServer, matches: Callable[[str], bool]) -> Callable[[], list[str]]:
    def look() -> list[str]:
        kept = discord.world.messages.values()
        return [m.text for place in kept for m in place.values() if matches(m.text)]

    return look


@pytest.mark.parametrize("trouble", ["no permission", "full", "forbidden name"])
async def test_without_a_webhook_a_debate_is_held_under_the_bots_own_name(
    on_discord: DiscordStage, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    discord = on_discord.discord
    if trouble != "no permission":
        discord.allow("manage_webhooks")
    if trouble == "full":
        for number in range(15):
            discord.add_webhook(discord.channel.id, f"Other {number}")
    if trouble == "forbidden name":
        monkeypatch.setattr("engine.run.plan.draw_names", lambda *_: {"A": "Clyde", "B": "Pip"})
    async with on_discord.at_vote() as (app, _, debate):
        said = [m.username for m in turns(on_discord)]
        b = names(debate)[1]
        assert said == ["", b if trouble == "forbidden name" else ""] * 4
        await on_discord.close()
        await ended(app)
    told = _told(discord, lambda text: "under Rostrum's own name" in text)()
    assert len(told) == (0 if trouble == "no permission" else 1)


async def test_a_turn_whose_answer_was_lost_is_found_by_its_reference_and_posted_once(
    on_discord: DiscordStage,
) -> None:
    """Discord knows no nonce of webhooks: what is in doubt is looked for in the thread."""
    discord = on_discord.discord
    on_discord.limits = HASTY
    discord.allow("manage_webhooks")
    discord.fail(drop(when="after"), "POST", "/webhooks/*/*", times=3)
    async with on_discord.at_vote() as (_, _, debate):
        assert [m.username for m in turns(on_discord)] == names(debate)


async def test_on_slack_each_side_has_a_name_and_a_face(on_slack: SlackStage) -> None:
    async with on_slack.at_vote() as (app, ballot, _):
        debate = await slack_voting(app)
        said = [m for m in on_slack.replies if " · turn " in title(m)]
        assert [m.username for m in said] == names(debate)
        assert {m.icon for m in said} == {":large_blue_circle:", ":red_circle:"}
        assert not ballot.username
        await on_slack.close()
        await slack_ended(app)


@pytest.mark.parametrize("missing", [True, False], ids=["never granted", "revoked"])
async def test_without_its_scope_slack_debates_have_the_bots_own_name(
    on_slack: SlackStage, missing: bool
) -> None:
    slack = on_slack.slack
    if missing:
        slack.rules.scopes = tuple(scope for scope in Slack.SCOPES if scope != CUSTOMIZE)
    else:
        slack.fail(refused("missing_scope"), "chat.postMessage", times=-1, text='"username"')
    on_slack.managers = (slack.users["olga"].id,)
    for _ in range(2):
        async with on_slack.at_vote() as (app, _, _):
            said = [m for m in on_slack.replies if " · turn " in title(m)]
            assert [m.username for m in said] == [""] * 8
            await on_slack.close()
            await slack_ended(app)
    sent = [m for m in slack.world.everything() if "under Rostrum's own name" in m.text]
    assert [m.channel for m in sent] == [slack.world.direct(slack.users["olga"].id).id]
