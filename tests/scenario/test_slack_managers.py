"""Who manages on Slack: admins as long as Slack confirms it, and listed people of one workspace."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

import adapters.slack.workspaces
from adapters.slack.checkup import check_managers
from adapters.slack.workspaces import OneWorkspace, managers_in
from bot.settings.settings import SlackSettings
from tests.doubles.faults import drop, status
from tests.doubles.slack import refused
from tests.scenario.chat_stage import OnSlack
from tests.scenario.slack_stage import SlackStage

AWAY = {"away": drop("before"), "ill": status(503), "refusing": refused("internal_error")}
ONLY_MANAGERS = "Only a manager of this community can close a vote early; please ask one."


class VoteEventFold:
    """The hands of a clock that can be moved on."""

    ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> VoteEventFold:
    moved = VoteEventFold()
    fake = SimpleNamespace(monotonic=moved.monotonic)
    monkeypatch.setattr(adapters.slack.workspaces, "time", fake)
    return moved


@pytest.mark.parametrize("how", AWAY)
async def test_an_admins_right_ends_ten_minutes_after_slack_last_confirmed_it(
    on_slack: SlackStage, hands: VoteEventFold, how: str
) -> None:
    chat, slack = OnSlack(on_slack), on_slack.slack
    async with on_slack.process():
        await chat.ask("olga", "close", "No debate is")
        slack.fail(AWAY[how], "users.info", times=-1)
        hands.ahead = 590
        await chat.ask("olga", "close", "No debate is")
        hands.ahead = 610
        await chat.ask("olga", "close", ONLY_MANAGERS)
        slack.faults.clear()
        await chat.ask("olga", "close", "No debate is")
        slack.users["olga"].admin = False
        hands.ahead = 1220
        await chat.ask("olga", "close", ONLY_MANAGERS)


class Installed(OneWorkspace):
    """Workspaces that installed Rostrum, by their ids."""

    def __init__(self, *teams: str) -> None:
        self._teams = teams

    async def teams(self) -> tuple[str, ...]:
        return self._teams


LISTED = ("U1", "T1/U2", "T2/U3", "T2/U1")


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("teams", "team", "expected"),
    [
        (("T1",), "T1", ("U1", "U2")),
        (("T2",), "T2", ("U1", "U3", "U1")),
        (("T1", "T2"), "T1", ("U2",)),
        (("T1", "T2"), "T2", ("U3", "U1")),
        (("T1", "T2"), "T3", ()),
        (("T1",), "T3", ()),
    ],
)
async def test_a_bare_id_is_of_the_only_workspace_and_of_none_of_several(
    teams: tuple[str, ...], team: str, expected: tuple[str, ...]
) -> None:
    assert await managers_in(Installed(*teams), LISTED, team) == expected


async def test_on_slack_a_listed_person_of_another_workspace_manages_nothing(
    on_slack: SlackStage,
) -> None:
    slack = on_slack.slack
    ada, ben, team = slack.users["ada"].id, slack.users["ben"].id, slack.users["ada"].team
    on_slack.managers = (f"{team}/{ada}", f"T0ELSEWHERE/{ben}")
    chat = OnSlack(on_slack)
    async with on_slack.process():
        await chat.ask("ada", "close", "No debate is")
        await chat.ask("ben", "close", ONLY_MANAGERS)


@pytest.mark.each_case
@pytest.mark.parametrize("entry", ["T1/", "/U1", "T1/U1/U2", "@ada", "T1:U1", "U 1"])
def test_what_names_nobody_is_refused_at_start(entry: str) -> None:
    with pytest.raises(ValidationError, match="TEAM/USER"):
        SlackSettings(managers=(entry,))


def check(listed: tuple[str, ...], *teams: str) -> Any:
    return [(one.good, one.text) for one in check_managers(listed, teams)]


def test_the_check_says_which_managers_count_nowhere() -> None:
    assert check((), "T1", "T2") == []
    assert check(LISTED, "T1", "T2") == [
        (
            False,
            "U1 manages nowhere, as several workspaces have Rostrum; write TEAM/U1 in "
            "ROSTRUM_SLACK__MANAGERS",
        )
    ]
    assert check(LISTED, "T1") == [
        (None, "T2/U3, T2/U1: Rostrum is not installed in that workspace"),
    ]
    assert check(("U1", "T1/U2"), "T1") == [(True, "2 listed beside admins")]
