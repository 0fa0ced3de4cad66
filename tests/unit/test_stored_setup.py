"""Setups as they are stored: the same start freezes the same, and it is read and written alike."""

from pathlib import Path
from typing import Any

import pytest

from bot.app import defaults_of
from bot.settings.settings import Settings
from engine.chat.commands import parse_command
from engine.chat.context import Requester
from engine.chat.invocation import StartArguments
from engine.chat.settings import change_settings, order_of, overlay
from engine.jury.history import fit
from engine.prompts import load_prompts
from engine.run.freeze import setup_of
from engine.run.plan import plan
from engine.store.communities import CommunitySettings
from engine.values.debate import Setup

STORED = Path(__file__).with_name("stored")
SEED, NUMBER = 7, 12
OPERATOR: dict[str, Any] = {
    "backends": {"near": {"base_url": "http://127.0.0.1:9/v1"}},
    "models": "near/ana, near/ben#kin, near/cleo",
    "jurors": "near/judy, near/jo, near/ana-2#ana",
    "conditions": "At work.",
    "blind": "off",
    "turn_order": "simultaneous",
    "default_language": "de",
    "default_vote_minutes": 12.5,
    "default_quorum": 3,
    "default_extend": "off",
    "default_why": "off",
    "default_reasons": "off",
    "default_guess": "off",
    "stance_seconds": 45,
    "again_minutes": 90,
    "panel": {"mode": "strict"},
    "budget": {"debate_usd": "off"},
}
COMMUNITY = {"quorum": "4", "ballot": "private", "broadcast": "on", "again": "on", "language": "tr"}
LINES = {
    "classic": 'start "Çay kahveden iyidir" rounds=2 a=near/ben vote=1h30m scores=live stance=on',
    "team": "start Tea beats coffee format=team A2=near/cleo judges=near/jo "
    "personalities=A1=logical",
    "roundtable": "start Tea format=roundtable agents=4 judges=2 1=near/ben language=zh blind=on "
    'conditions="In China" jurors=near/judy',
}


def frozen(line: str) -> Setup:
    """Return the setup of a start typed into a chat, where operator and community set much."""
    asked = parse_command(line).arguments["asked"]
    assert isinstance(asked, StartArguments)
    operator = defaults_of(Settings(**OPERATOR))
    community = change_settings(CommunitySettings(), COMMUNITY, operator)
    defaults = overlay(operator, community)
    person = Requester(platform="chat", community="club", place="lobby", user="ada")
    order = order_of(person, asked, defaults)
    (planned,) = plan(order, defaults, load_prompts(), SEED)
    return setup_of(planned, NUMBER, fit([])).model_copy(
        update={"templates": "f" * 64, "prices": {"near/ana": None}}
    )


@pytest.mark.parametrize("name", LINES)
def test_the_same_words_freeze_the_same_setup_as_ever(name: str) -> None:
    assert frozen(LINES[name]).model_dump_json() == (STORED / f"{name}.json").read_text()


@pytest.mark.parametrize("name", LINES)
def test_a_stored_setup_is_read_and_written_without_a_change(name: str) -> None:
    text = (STORED / f"{name}.json").read_text()
    assert Setup.model_validate_json(text).model_dump_json() == text
