"""The forms on Slack: what they offer, what they refuse, and what becomes of them."""

from typing import Any

import pytest

from tests.doubles.slack import Asked, SlackServer, delay
from tests.doubles.slack.methods import options_of
from tests.kit import some
from tests.scenario.conftest import on_slack
from tests.scenario.discord_stage import until
from tests.scenario.slack_stage import SlackStage

stage = on_slack


async def opened(slack: SlackServer, user: str, line: str) -> Asked:
    asked = await slack.slash(user, line)
    await until(lambda: asked.view)
    return asked


def element(asked: Asked, name: str) -> dict[str, Any]:
    return next(b["element"] for b in some(asked.view)["blocks"] if b["block_id"] == name)


def hint(asked: Asked, name: str) -> str:
    block = next(b for b in some(asked.view)["blocks"] if b["block_id"] == name)
    return str(block["hint"]["text"])


async def test_a_message_is_debated_from_its_own_menu(stage: SlackStage) -> None:
    slack = stage.slack
    about = slack.say("ben", "<@U42|ben>, tea &amp; biscuits beat coffee <https://tea.example>")
    picture = slack.say("ben", "")
    async with stage.process():
        asked = await slack.shortcut("ada", about.ts, "rostrum:debate")
        await until(lambda: asked.view)
        motion = "tea & biscuits beat coffee https://tea.example"
        assert element(asked, "topic")["initial_value"] == motion
        sent = await slack.submit(asked, {"topic": motion})
        assert not sent.errors
        await until(lambda: [m for m in slack.messages() if m not in (about, picture)])
        (card,) = [m for m in slack.messages() if m not in (about, picture)]
        assert motion in card.text.replace("\u2060", "")
        empty = await slack.shortcut("ada", picture.ts, "rostrum:debate")
        await empty.said("This message has no text to debate.")
        assert empty.view is None


def offered(asked: Asked, name: str) -> list[str]:
    return [option["value"] for option in options_of(element(asked, name))]


async def test_a_manager_changes_the_settings_in_a_form_as_by_text(stage: SlackStage) -> None:
    async with stage.process():
        form = await opened(stage.slack, "olga", "/debate settings")
        assert hint(form, "vote_minutes") == "Empty: 30."
        changes = {
            "models": ["rehearsal/maple"],
            "vote_minutes": "1h",
            "channels": [stage.slack.channel.id],
            "ballot": "private",
            "debate_usd": "0.50",
        }
        assert (await stage.slack.submit(form, changes)).errors == {}
        told = await form.said("Changed:")
        by_text = await stage.slack.slash("olga", "/debate settings models=rehearsal/maple")
        shown = await by_text.said("Changed:")
    for line in (
        "- `models`: rehearsal/maple (set here)",
        "- `vote_minutes`: 60 (set here)",
        f"- `channels`: {stage.slack.channel.id} (set here)",
        "- `ballot`: private (set here)",
        "- `debate_usd`: 0.5 (set here)",
        "- `quorum`: 0",
    ):
        assert line in told
        assert line in shown
    assert "Changed: models, channels, vote_minutes, ballot, debate_usd." in told


async def test_a_form_shows_what_is_set_and_undoes_what_is_emptied(stage: SlackStage) -> None:
    async with stage.process():
        line = "/debate settings vote_minutes=20m ballot=private models=rehearsal/maple quorum=3"
        await (await stage.slack.slash("olga", line)).said("Changed:")
        form = await opened(stage.slack, "olga", "/debate settings")
        assert element(form, "vote_minutes")["initial_value"] == "20"
        assert element(form, "ballot")["initial_option"]["value"] == "private"
        assert [o["value"] for o in element(form, "models")["initial_options"]] == [
            "rehearsal/maple"
        ]
        undone = {"vote_minutes": "", "ballot": "default", "models": []}
        assert (await stage.slack.submit(form, undone)).errors == {}
        told = await form.said("Changed:")
    for line in ("- `vote_minutes`: 30", "- `ballot`: open", "- `quorum`: 3 (set here)"):
        assert f"{line}\n" in told


async def test_every_mistake_is_shown_beside_its_field_and_nothing_is_changed(
    stage: SlackStage, slack: SlackServer
) -> None:
    stage.settings["budget"] = {"debate_usd": 1.0}
    async with stage.process():
        form = await opened(slack, "olga", "/debate settings")
        entered = {"vote_minutes": "soon", "debate_usd": "5", "max_live": "many", "quorum": "2"}
        sent = await slack.submit(form, entered)
        assert set(sent.errors) == {"vote_minutes", "debate_usd", "max_live"}
        assert "30m" in sent.errors["vote_minutes"]
        assert "above the operator's limit of 1" in sent.errors["debate_usd"]
        assert "whole number" in sent.errors["max_live"]
        shown = await slack.slash("olga", "/debate settings quorum=default")
        assert "(set here)" not in await shown.said("Changed:")
        assert (await slack.submit(form, {"quorum": "2"})).errors == {}
        assert await form.said("- `quorum`: 2 (set here)")


async def test_two_managers_forms_do_not_undo_one_another(stage: SlackStage) -> None:
    async with stage.process():
        first = await opened(stage.slack, "olga", "/debate settings")
        second = await opened(stage.slack, "olga", "/debate settings")
        await stage.slack.submit(first, {"vote_minutes": "20"})
        await first.said("Changed: vote_minutes")
        await stage.slack.submit(second, {"quorum": "4"})
        told = await second.said("Changed: quorum")
    assert "`vote_minutes`: 20 (set here)" in told


async def test_admins_and_whom_the_operator_names_manage_and_a_form_acts_for_who_sends_it(
    stage: SlackStage, slack: SlackServer
) -> None:
    stage.managers = (slack.users["ada"].id,)
    async with stage.process():
        asked = await slack.slash("ben", "/debate settings")
        assert "manager" in await asked.said()
        assert asked.view is None
        changed = await slack.slash("ada", "/debate settings vote_minutes=20")
        assert "`vote_minutes`: 20 (set here)" in await changed.said("Changed:")
        assert (await opened(slack, "ada", "/debate settings")).view
        form = await opened(slack, "olga", "/debate settings")
        form.user = slack.users["ben"].id  # as if it had been passed on
        refused = await slack.submit(form, {"vote_minutes": "30"})
        assert "manager" in " ".join(refused.errors.values())
        by_text = await slack.slash("ben", "/debate settings vote_minutes=30")
        assert "manager" in await by_text.said()
        shown = await slack.slash("olga", "/debate settings quorum=2")
        assert "`vote_minutes`: 20" in await shown.said("Changed:")


async def test_a_role_or_a_least_age_is_refused_as_slack_has_none(stage: SlackStage) -> None:
    refusals = {
        "manager_role=r1": "the operator of Rostrum can add more",
        "account_days=7": "for Discord only",
        "member_days=7": "for Discord only",
    }
    async with stage.process():
        for setting, why in refusals.items():
            name = setting.partition("=")[0]
            asked = await stage.slack.slash("olga", f"/debate settings {setting}")
            assert why in await asked.said()
            undone = await stage.slack.slash("olga", f"/debate settings {name}=default")
            assert f"Changed: {name}" in await undone.said()


async def test_the_form_opens_in_time_however_slowly_slack_answers_of_people(
    stage: SlackStage, slack: SlackServer
) -> None:
    slack.rules.trigger = 0.5
    slack.fail(delay(1.0), "users.info", times=-1)
    async with stage.process():
        assert (await opened(slack, "ada", "/debate")).view


async def test_why_no_form_opens_is_explained(stage: SlackStage, slack: SlackServer) -> None:
    direct = slack.world.direct(slack.users["olga"].id)
    async with stage.process():
        for line in ("/debate", "/debate settings", "/debate start Tea"):
            asked = await slack.slash("olga", line, channel=direct.id)
            assert "works only in channels" in await asked.said()
            assert "Usage" not in asked.text
        slack.rules.trigger = -1  # it comes too late
        for line in ("/debate", "/debate settings"):
            asked = await slack.slash("olga", line)
            assert "type the command again" in await asked.said()
            assert asked.view is None


async def test_more_models_than_a_list_takes_are_all_offered_and_a_mistake_stands_beside_its_field(
    stage: SlackStage, slack: SlackServer
) -> None:
    models = [f"rehearsal/model-{n}" for n in range(230)]
    stage.settings["models"] = ", ".join(models)
    async with stage.process():
        form = await opened(slack, "ada", "/debate")
        assert offered(form, "a") == models
        assert offered(form, "jurors")[-230:] == models
        late = await slack.submit(form, {"topic": "Tea", "minutes": "14d"})
        assert "at most a week" in late.errors["minutes"]
        unseen = {"topic": "Tea", "for": "\u200b", "against": "coffee"}
        for field, typed in (("topic", {"topic": "\u200b"}), ("for", unseen)):
            sent = await slack.submit(form, typed)
            assert "invisible" in sent.errors[field]
        assert slack.messages() == []
        sent = await slack.submit(form, {"topic": "Tea", "a": models[229]})
        assert sent.errors == {}
        assert f"`{models[229]}` for 🔵 A" in await form.said("Your debate starts now")


@pytest.mark.parametrize("side", ["A", "B"])
async def test_a_person_argues_the_side_without_a_model_in_the_form(
    side: str, stage: SlackStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        form = await opened(slack, "ada", "/debate")
        ben = slack.users["ben"].id
        both = {"topic": "Tea", "a": "rehearsal/maple", "b": "rehearsal/maple", "person": ben}
        sent = await slack.submit(form, both)
        assert "a model for one side only" in sent.errors["person"]
        models = {"a": "rehearsal/maple"} if side == "B" else {"b": "rehearsal/maple"}
        sent = await slack.submit(form, {"topic": "Tea", **models, "person": ben})
        assert sent.errors == {}
        await form.said("Your debate waits for the person you named")
        [debate] = await app.store.listings.recent()
        assert debate.request.guest == side
