"""Several workspaces that install Rostrum by OAuth, each with its own token, in one process."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.serve.platforms import open_platforms
from bot.serve.run import serving
from engine.store import ExportFilter
from engine.values.debate import Status
from engine.values.errors import SettingsError
from tests.doubles.databases import contents
from tests.doubles.slack import Fault, SlackServer, drop, garbage, refused, status
from tests.doubles.slack.methods import reaction
from tests.doubles.slack.state import TEAM
from tests.doubles.slack.web_api import CLIENT_ID, CLIENT_SECRET
from tests.kit import NO_CAPS, held_at, until_asked
from tests.scenario.discord_stage import free_port, settings_of, state, until
from tests.scenario.slack_oauth_stage import KEY, OAuthStage
from tests.scenario.slack_stage import counted, voting

BAY = "T0BAY"


@pytest.fixture
def stage(database_url: str, slack: SlackServer) -> OAuthStage:
    slack.bot_token = ""
    return OAuthStage(database_url, slack)


@pytest.mark.parametrize("http", [False, True])
async def test_two_workspaces_install_and_each_holds_a_debate(
    stage: OAuthStage, slack: SlackServer, http: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    stage.http = http
    lounge, hall = slack.add_team("bay"), slack.channel
    async with stage.process() as app:
        for team, name in ((TEAM, "Hall"), (BAY, "Bay")):
            page = await stage.install(team)
            assert page.status == 200
            assert f"installed in {name}" in page.text
        ballots = await asyncio.gather(stage.vote("ada", hall.id), stage.vote("bay-ada", lounge.id))
        await until_asked(
            app.store.listings.recent, lambda found: all(one.vote_opened_at for one in found)
        )
        for ballot, user, option in zip(
            ballots, ("ben", "bay-olga"), ("large_blue_circle", "red_circle"), strict=True
        ):
            await slack.react(user, ballot.ts, option)
        await slack.deliveries.heard()
        for user, channel in (("olga", hall), ("bay-olga", lounge)):
            closing = await slack.slash(user, "/debate close", channel.id)
            assert "closed" in await closing.said("closed")
        reveals = [await stage.said(channel.id, "Reveal") for channel in (hall, lounge)]
        found = await app.store.listings.recent()
        with app.store.archive.reading(ExportFilter(platform="slack")) as records:
            exported = repr(list(records)) + repr(await app.store.installs.every("slack"))
    assert [counted(reveal) for reveal in reveals] == [
        {"A": 1, "B": 0, "tie": 0, "neither": 0},
        {"A": 0, "B": 1, "tie": 0, "neither": 0},
    ]
    assert {debate.community for debate in found} == {TEAM, BAY}
    authors = {m.user for m in slack.world.everything() if m.channel == lounge.id}
    assert authors == {slack.world.teams[BAY].bot_user}
    tokens = [team.token for team in slack.world.teams.values()]
    kept = b"".join(contents(stage.url).values())
    for secret in (*tokens, CLIENT_SECRET):
        assert secret not in caplog.text + exported
        assert secret.encode() not in kept


async def test_in_a_shared_channel_votes_count_and_other_workspaces_admins_manage_nothing(
    stage: OAuthStage, slack: SlackServer
) -> None:
    lounge, guest = slack.add_team("bay"), slack.world.user("bay-olga")
    slack.channel.members.add(guest.id)
    async with stage.process() as app:
        await stage.install(TEAM)
        await stage.install(BAY)
        ballot = await stage.vote("ada", slack.channel.id)
        await voting(app)
    read = slack.calls.count("reactions.get")
    async with stage.process() as app:  # one that does not remember what it posted
        # What nobody was told of it reads once, before it is told anything.
        await until(lambda: slack.calls.count("reactions.get") > read)
        told = reaction("reaction_added", guest.id, "large_blue_circle", ballot)
        ballot.reactions["large_blue_circle"][guest.id] = None
        slack.deliveries.tell_of(slack.world.teams[BAY], told)
        await slack.deliveries.heard()
        (debate,) = await app.store.listings.recent()
        assert [event.option for event in await app.store.votes.events(debate.id)] == ["A"]
        asked = await slack.press("bay-olga", slack.messages()[-1].ts, "Status")
        assert "no debate" not in await asked.said(debate.code)
        for line, channel in (("close", slack.channel), (f"close {debate.code}", lounge)):
            refused = await slack.slash("bay-olga", f"/debate {line}", channel.id)
            assert "closed" not in await refused.said()
        assert (await app.store.debates.get(debate.id)).status is Status.VOTING


async def test_a_workspace_is_named_as_it_names_itself_but_for_what_would_act_on_something(
    stage: OAuthStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        slack.world.teams[TEAM].name = "Çay <b>&</b> 会"
        page = await stage.install(TEAM)
        assert "installed in Çay <b>&</b> 会." in page.text
        assert page.kind == "text/plain; charset=utf-8"
        slack.world.teams[TEAM].name = "Hall\x1b[2J\nok  \ud800\u202e" + "x" * 300
        page = await stage.install(TEAM)
        assert page.status == 200
        assert "installed in Hall[2J ok xxx" in page.text
        (install,) = await app.store.installs.every("slack")
    assert install.name.startswith("Hall[2J ok xxx")
    assert len(install.name) <= 255


async def test_a_process_that_begins_again_knows_its_workspaces_and_tells_others_to_install_it(
    stage: OAuthStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        await stage.install(TEAM)
        ballot = await stage.vote("ada", slack.channel.id)
        await voting(app)
    await slack.react("ben", ballot.ts, "large_blue_circle")
    lounge = slack.add_team("bay")
    async with stage.process():
        asked = await slack.slash("bay-ada", "/debate help", lounge.id)
        assert "install it again" in await asked.said()
        closing = await slack.slash("olga", "/debate close")
        await closing.said("closed")
        assert counted(await stage.said(slack.channel.id, "Reveal"))["A"] == 1


async def test_a_denied_installation_installs_nothing(
    stage: OAuthStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        begun = await stage.begin()
        page = await stage.visit(slack.oauth.deny(begun.location), begun.cookie)
        assert "Nothing was installed" in page.text
        again = await stage.begin()
        denied = slack.oauth.deny(again.location)
        turkish = await stage.visit(denied, again.cookie, "fr;q=1, tr-TR,tr;q=0.9,en;q=0.8")
        assert turkish.text == "İstediğin gibi hiçbir şey yüklenmedi."
        assert await app.store.installs.every("slack") == []


async def test_a_page_is_good_for_once_in_one_browser_and_for_ten_minutes(
    stage: OAuthStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        begun, other = await stage.begin(), await stage.begin()
        back = slack.oauth.approve(begun.location, TEAM)
        forged = back.replace("state=", "state=x")
        assert (await stage.visit(back)).status == 400
        assert (await stage.visit(back, other.cookie)).status == 400
        assert (await stage.visit(forged, begun.cookie.replace("=", "=x"))).status == 401
        assert await app.store.installs.every("slack") == []
        assert (await stage.visit(back, begun.cookie)).status == 200
        replayed = await stage.visit(back, begun.cookie)
        assert replayed.status == 401
        assert "already used" in replayed.text
        assert slack.calls.count("oauth.v2.access") == 1


@pytest.mark.parametrize(
    ("granted", "said"),
    [({"whole": True}, "per workspace"), ({"expires": True}, "tokens expire")],
)
async def test_what_rostrum_cannot_hold_is_refused_with_the_reason(
    stage: OAuthStage, granted: dict[str, bool], said: str
) -> None:
    async with stage.process() as app:
        page = await stage.install(TEAM, **granted)
        assert page.status == 403
        assert said in page.text
        assert await app.store.installs.every("slack") == []


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("fault", "answered", "said"),
    [
        (refused("invalid_code"), 401, "no token for its code"),
        (refused("bad_client_secret"), 401, "no token for its code"),
        (status(503), 401, "later if Slack has problems"),
        (drop("before"), 502, "in a minute"),
    ],
)
async def test_a_code_that_comes_to_nothing_is_said(
    stage: OAuthStage, slack: SlackServer, fault: Fault, answered: int, said: str
) -> None:
    async with stage.process() as app:
        slack.fail(fault, "oauth.v2.access")
        page = await stage.install(TEAM)
        assert page.status == answered
        assert said in page.text
        assert await app.store.installs.every("slack") == []
        assert (await stage.install(TEAM)).status == 200


def about_installs(logs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the lines but those of tasks that run beside."""
    return [log for log in logs if log["event"] not in ("limits divided", "slack connected")]


GARBLED = {
    "cut": '{"ok": true, "access_token": "xoxb-not-to-be-logged',
    "no text": '{"ok": true, "access_token": "xoxb-not-to-be-logged\xff"}',
    "empty": "",
    "deep": '{"xoxb-not-to-be-logged":' * 40_000,
    "a list": '["xoxb-not-to-be-logged"]',
    "a team that is a name": '{"ok": true, "access_token": "xoxb-not-to-be-logged", "team": "T1"}',
    "a token that is none": '{"ok": true, "access_token": ["xoxb-not-to-be-logged"]}',
}


@pytest.mark.parametrize("text", GARBLED.values(), ids=GARBLED)
async def test_an_answer_to_a_code_that_cannot_be_read_is_one_sentence_and_one_line(
    stage: OAuthStage, slack: SlackServer, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    async with stage.process() as app:
        caplog.clear()
        slack.fail(garbage(text), "oauth.v2.access")
        with capture_logs() as logs:
            page = await stage.install(TEAM)
        assert (page.status, page.text.count("\n")) == (401, 0)
        assert "no token for its code" in page.text
        assert await app.store.installs.every("slack") == []
        (line,) = about_installs(logs)
        assert (line["event"], line["log_level"]) == ("workspace not installed", "warning")
        assert "its response is unreadable" in line["why"]
        assert caplog.text == ""
        assert "not-to-be-logged" not in f"{page.text}{logs}"
        assert (await stage.install(TEAM)).status == 200


async def test_the_log_says_by_slacks_own_word_why_a_code_was_refused_and_not_the_code(
    stage: OAuthStage, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage.process():
        slack.fail(refused("bad_client_secret"), "oauth.v2.access")
        with capture_logs() as logs:
            await stage.install(TEAM)
        assert ["bad_client_secret" in log["why"] for log in about_installs(logs)] == [True]
        (code,) = slack.oauth.grants
        assert code not in f"{logs}{caplog.text}"


async def test_what_an_address_adds_changes_and_shows_nothing(stage: OAuthStage) -> None:
    async with stage.process():
        begun = await stage.visit(f"{stage.address}/slack/install?team=T1%26scope=admin%2Ball")
        assert "admin" not in begun.location
        unknown = await stage.visit(f"{stage.address}/slack/oauth_redirect?error=%3Cscript%3E")
        assert "script" not in unknown.text
        posted = await stage.visit(f"{stage.address}/slack/events")
        assert posted.status in (404, 405)


@pytest.mark.each_case
@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_the_settings_alone_serve_the_pages_under_the_public_address(
    stage: OAuthStage, slack: SlackServer, mode: str
) -> None:
    port, given = free_port(), {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    slack.oauth.redirect_urls = (f"http://127.0.0.1:{port}/slack/oauth_redirect",)
    settings = settings_of(
        stage.url,
        secret_key=(KEY,),
        slack=given
        | {"mode": mode, "port": port, "public_url": f"http://127.0.0.1:{port}/"}
        | {"app_token": slack.app_token, "signing_secret": slack.signing_secret}
        | {"api_url": slack.api_url},
    )
    (platform,) = open_platforms(settings)
    async with serving(settings, platform) as app:
        await until(platform.is_connected)
        begun = await stage.visit(f"http://127.0.0.1:{port}/slack/install")
        assert f"redirect_uri=http://127.0.0.1:{port}/slack/oauth_redirect" in begun.location
        back = slack.oauth.approve(begun.location, TEAM)
        assert (await stage.visit(back, begun.cookie)).status == 200
        (install,) = await app.store.installs.every("slack")
        assert install.token.get_secret_value() == slack.bot_token


@pytest.mark.parametrize("leaving", ["uninstall", "revoke"])
async def test_a_workspace_that_leaves_in_mid_debate_stops_it_and_may_come_back(
    stage: OAuthStage, slack: SlackServer, leaving: str
) -> None:
    lounge = slack.add_team("bay")
    async with stage.process() as app:
        await stage.install(TEAM)
        await stage.install(BAY)
        with held_at("turn/closing/B"):
            await slack.slash("bay-ada", '/debate start "Tea beats coffee"', lounge.id)
            await until(lambda: slack.messages(lounge.id))
            getattr(slack, leaving)(BAY)
            await slack.deliveries.heard()
            failed = await state(app, lambda d: not d.status.live)
        assert failed.status is Status.FAILED
        assert "removed" in failed.reason or "not installed" in failed.reason
        assert [i.community for i in await app.store.installs.every("slack")] == [TEAM]
        later = app.service.clock.now()
        assert [community for _, community in await app.store.communities.gone(later)] == [BAY]

        await slack.deliveries.repeat()
        await stage.install(BAY)
        await slack.deliveries.repeat()
        assert await app.store.communities.gone(app.service.clock.now()) == []
        asked = await slack.slash("bay-ada", "/debate help", lounge.id)
        assert await asked.said("/debate start")
        still = await slack.slash("ada", "/debate help")
        assert await still.said("/debate start")
        before = len(stage.inside(lounge.id))
        with held_at("turn/closing/B"):
            await app.service.resume(failed.id, NO_CAPS)
            again = await state(app, lambda d: d.status is Status.RUNNING and d.thread is not None)
            assert again.id == failed.id
            await until(lambda: len(stage.inside(lounge.id)) > before)
        assert len(slack.messages(lounge.id)) == 1


async def test_a_workspace_that_leaves_while_people_vote_keeps_its_votes(
    stage: OAuthStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        await stage.install(TEAM)
        ballot = await stage.vote("ada", slack.channel.id)
        await voting(app)
        await slack.react("ben", ballot.ts, "large_blue_circle")
        await slack.deliveries.heard()
        slack.uninstall()
        closed = await state(app, lambda d: d.status is not Status.VOTING)
        assert closed.status is Status.CLOSED
        assert "removed" in closed.reason or "not installed" in closed.reason
        assert [event.option for event in await app.store.votes.events(closed.id)] == ["A"]


async def test_a_wrong_key_is_one_sentence_at_start_and_a_rotated_one_works(
    stage: OAuthStage, slack: SlackServer
) -> None:
    async with stage.process():
        await stage.install(TEAM)
    old, stage.keys = stage.keys, ("another-key-of-the-operator",)
    with pytest.raises(SettingsError, match=r"ROSTRUM_SECRET_KEY .* Hall \(slack T0HALL\)"):
        async with stage.process():
            raise AssertionError("it started")
    stage.keys = (*stage.keys, *old)
    async with stage.process():
        pass
    stage.keys = stage.keys[:1]
    async with stage.process():
        asked = await slack.slash("ada", "/debate help")
        assert await asked.said("/debate start")
