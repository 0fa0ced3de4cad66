"""Setups as they are stored: what an older version froze is read unchanged, and written alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from bot.app import defaults_of
from bot.settings.settings import Settings
from engine.chat.commands import parse_command
from engine.chat.invocation import StartArguments
from engine.chat.person import Person
from engine.chat.settings import change_settings, order_of, overlay
from engine.debate import BallotKind, Length, Setup
from engine.jury.history import fit
from engine.jury.rubric import DEBATE, find_rubric
from engine.line.intake import complete, freeze
from engine.prompts.library import load_prompts
from engine.store.community import CommunitySettings

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
    "default_why": "off",  # which came later, as these did
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
    asked = parse_command(line).arguments
    assert isinstance(asked, StartArguments)
    operator = defaults_of(Settings(**OPERATOR))
    community = change_settings(CommunitySettings(), COMMUNITY, operator)
    defaults = overlay(operator, community)
    person = Person(platform="chat", community="club", place="lobby", user="ada")
    order = order_of(person, asked, defaults)
    request, script = complete(order, defaults, SEED)
    prompts = load_prompts()
    return freeze(
        request, script, order, defaults, prompts, seed=SEED, number=NUMBER, fit=fit([])
    ).model_copy(update={"templates": "f" * 64, "prices": {"near/ana": None}})


@pytest.mark.parametrize("name", LINES)
def test_the_same_words_freeze_the_same_setup_as_ever(name: str) -> None:
    assert frozen(LINES[name]).model_dump_json() == (STORED / f"{name}.json").read_text()


@pytest.mark.parametrize("name", LINES)
def test_a_stored_setup_is_read_and_written_without_a_change(name: str) -> None:
    text = (STORED / f"{name}.json").read_text()
    assert Setup.model_validate_json(text).model_dump_json() == text


def test_what_an_older_setup_did_not_know_is_as_it_was_then() -> None:
    """Fields that came later have the value by which older debates were held."""
    later = (
        "stance",
        "stance_seconds",
        "again",
        "again_minutes",
        "broadcast",
        "extend",
        "ballot",
        "stance_a",
        "stance_b",
        "length",
    )
    old = orjson.loads((STORED / "classic.json").read_bytes())
    for name in later:
        del old["request"][name]
    for name in ("mirror_of", "replaced", "reply_chars", "chars_per_word"):
        del old[name]
    del old["panel"]["criteria"]
    setup = Setup.model_validate_json(orjson.dumps(old))
    request = setup.request
    assert (request.stance, request.again, request.broadcast) == (False, False, False)
    assert (request.ballot, request.extend) == (BallotKind.OPEN, True)
    assert (request.stance_seconds, request.again_minutes) == (60, 1440)
    assert (setup.mirror_of, setup.replaced, setup.reply_chars) == (None, (), None)
    assert setup.chars_per_word == 1.5
    assert (request.stances, request.length) == ({}, Length.NORMAL)
    assert find_rubric("panel", setup.panel.criteria) is DEBATE  # as the usual one was called
