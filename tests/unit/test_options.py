"""A debate's options: who says what wins, and how each is read from text."""

import pytest
from hypothesis import given, settings, strategies as st

from bot.settings.settings import Settings
from engine.chat.parameters import IN_A_CHAT
from engine.store.communities import SETTING_NAMES, CommunitySettings
from engine.values.debate import BallotKind, Request, TurnOrder
from engine.values.errors import UsageError
from engine.values.options import (
    BUILT_IN,
    LIMITS,
    PARAMS,
    Options,
    check_limits,
    nearest,
    read_options,
)

SAID = st.builds(
    Options,
    topic=st.none() | st.sampled_from(["Tea", "Coffee"]),
    conditions=st.none() | st.sampled_from(["", "At work."]),
    quorum=st.none() | st.integers(0, 9),
    blind=st.none() | st.booleans(),
    ballot=st.none() | st.sampled_from(BallotKind),
    options=st.sampled_from([{}, {"agents": "4"}]),
)


@settings(max_examples=100)
@given(SAID, SAID, SAID)
def test_who_says_it_last_has_it_and_silence_changes_nothing(
    operator: Options, community: Options, asked: Options
) -> None:
    merged = operator | community | asked
    assert merged == operator | (community | asked)
    assert merged.given() == operator.given() | community.given() | asked.given()
    assert (Options() | asked) == (asked | Options()) == asked


def test_every_option_of_a_request_can_be_said_and_has_a_built_in_value() -> None:
    # Chosen or drawn from what is offered, or given as files.
    own = {"sides", "drawn", "seats", "judges", "sources"}
    assert set(Options.model_fields) == set(Request.model_fields) - own | {"mirror", "panel"}
    unsaid = set(Options.model_fields) - set(BUILT_IN.given())
    assert unsaid == {"topic", "options", "rounds", "mirror", "protocol"}


def test_what_is_set_is_found_by_its_name_and_what_is_not_is_built_in() -> None:
    assert BUILT_IN | Settings().options == BUILT_IN
    assert CommunitySettings().given() == {}
    own = {"topic": "Tea", "default_quorum": 0, "blind": False, "stance_seconds": 5}
    operator = Settings.model_validate(own)
    said = operator.options
    assert (said.topic, said.quorum, said.blind, said.stance_seconds) == ("Tea", 0, False, 5)
    community = CommunitySettings(format="team", broadcast=False)
    assert community.given() == {"format": "team", "broadcast": False}
    assert set(IN_A_CHAT) < set(Options.model_fields)


def test_text_is_read_and_what_is_a_value_already_is_taken() -> None:
    text = {"format": "Team", "rounds": "3", "turn_order": "Simultaneous", "vote_minutes": "1h30m"}
    read = read_options(text | {"blind": "off", "quorum": 7, "stance": True})
    assert (read.format, read.rounds, read.turn_order) == ("team", 3, TurnOrder.SIMULTANEOUS)
    assert (read.vote_minutes, read.blind, read.quorum, read.stance) == (90, False, 7, True)
    paces = {"on": 238, "off": 0, "none": 0, "180": 180}  # or how fast people read
    assert {text: read_options({"pace": text}).pace for text in paces} == paces


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("rounds", "ten", "--rounds is “ten”; write a whole number."),
        ("rounds", "10", "--rounds is 10; it must be between 1 and 9."),
        ("rounds", "-1", "--rounds is -1; it must be between 1 and 9."),
        ("pace", "-1", "--pace is -1; it must be between 0 and 2000 words a minute."),
        ("pace", "fast", "--pace is “fast”; write on, off, or a number of words a minute up to 20"),
        ("vote_minutes", "8d", "--vote-minutes is “8d”; choose more than 0 and at most"),
        ("turn_order", "simultan", "--turn-order is “simultan”; did you mean simultaneous?"),
        ("ballot", "loud", "--ballot is “loud”; it must be open, secret or private."),
        ("mirror", "perhaps", "--mirror is “perhaps”; write on or off."),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_people_wrote(name: str, text: str, why: str) -> None:
    with pytest.raises(UsageError) as told:
        read_options({name: text}, lambda name: f"--{name.replace('_', '-')}")
    assert str(told.value).startswith(why)


@pytest.mark.parametrize(
    ("word", "known", "close"),
    [
        ("modles", "models", "models"),
        ("usdd", "usd", "usd"),
        ("opnai", "openai", "openai"),
        ("nope", "openai", None),
        ("foo", "for", None),
    ],
)
def test_only_a_likely_slip_is_a_known_word(word: str, known: str, close: str | None) -> None:
    assert nearest(word, [known]) == close


def test_every_number_that_people_write_has_limits_and_is_held_to_them() -> None:
    asked = {name for name in PARAMS if name in (*IN_A_CHAT, *SETTING_NAMES)}
    assert set(LIMITS) == {name for name in asked if PARAMS[name].kind in (int, float)}
    for name, (low, high) in LIMITS.items():
        check_limits(Options(**{name: low}))
        check_limits(Options(**{name: high}))
        for beyond in (low - 1, high + 1):
            with pytest.raises(UsageError, match=f"{name} is "):
                check_limits(Options(**{name: beyond}))
