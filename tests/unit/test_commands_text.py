"""Commands read from text: what people type, on phones too, and what they are told."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from engine.chat.commands import parse_command
from engine.chat.invocation import (
    DebateArgument,
    HelpArguments,
    Invocation,
    SettingsArguments,
    StartArguments,
    SuggestArguments,
    TopicsArguments,
)
from engine.values.debate import BallotKind, Scores, TurnOrder
from engine.values.errors import UsageError
from engine.values.options import parse_minutes

MARKS = "\"“”„«»‘’'"
PROSE = (
    st.text(
        alphabet=st.one_of(
            st.sampled_from(MARKS + "= "),
            st.characters(codec="utf-8", categories=["L", "N", "P", "S"]),
        ),
        min_size=1,
    )
    .map(lambda text: " ".join(text.replace("\\", "").split()))
    .filter(bool)
)


def quote(text: str) -> str:
    """Write a text as one word, every mark in it behind a backslash."""
    return '"' + "".join(f"\\{c}" if c in MARKS else c for c in text) + '"'


def started(text: str) -> StartArguments:
    arguments = parse_command(f"start {text}").arguments
    assert isinstance(arguments, StartArguments)
    return arguments


# --- start -------------------------------------------------------------------------------


def test_everything_can_be_said_in_one_line() -> None:
    assert started(
        '"Tea beats coffee" conditions="Only in Türkiye" format=Classic a=online/x b=online/y '
        "jurors=near/j1,near/j2 language=tr rounds=2 vote=1h30m ballot=secret scores=live "
        "turn_order=simultaneous blind=off stance=yes"
    ) == StartArguments(
        topic="Tea beats coffee",
        conditions="Only in Türkiye",
        format="classic",
        sides={"A": "online/x", "B": "online/y"},
        jurors=("near/j1", "near/j2"),
        language="tr",
        rounds=2,
        vote_minutes=90,
        ballot=BallotKind.SECRET,
        scores=Scores.LIVE,
        turn_order=TurnOrder.SIMULTANEOUS,
        blind=False,
        stance=True,
    )


@pytest.mark.parametrize(
    "text",
    [
        '"Tea beats coffee"',
        "“Tea beats coffee”",
        "„Tea beats coffee“",
        "„Tea beats coffee”",
        "«Tea beats coffee»",
        "‘Tea beats coffee’",
        "'Tea beats coffee'",
        '“Tea beats coffee"',
        "Tea beats coffee",
        "  Tea   beats coffee\t",
    ],
)
def test_quotation_marks_of_any_sort_hold_a_topic_together(text: str) -> None:
    assert started(f"{text} rounds=2") == StartArguments(topic="Tea beats coffee", rounds=2)
    assert started(f"rounds=2 {text}") == StartArguments(topic="Tea beats coffee", rounds=2)


def test_an_apostrophe_opens_and_closes_nothing() -> None:
    assert started("People's taste doesn't matter").topic == "People's taste doesn't matter"
    assert started("'It's the dog's fault'").topic == "It's the dog's fault"


def test_a_quotation_within_a_quotation_stays_in_it() -> None:
    said = "He called it “good” today"
    assert started(f"“{said}”").topic == said
    assert started(r'"He said \"hi\" there"').topic == 'He said "hi" there'


def test_what_stands_in_quotation_marks_is_never_an_option() -> None:
    assert started('"format=team is best"').topic == "format=team is best"


def test_a_number_names_a_side_where_there_are_many() -> None:
    assert started("x 1=near/ana 9=near/ben").sides == {"1": "near/ana", "9": "near/ben"}


def test_seats_judges_and_the_formats_own_options_are_read() -> None:
    assert started(
        "x a1=near/ana model_b=near/ben judges=near/j1,near/j2 agents=4"
    ) == StartArguments(
        topic="x",
        sides={"A1": "near/ana", "B": "near/ben"},
        judges=("near/j1", "near/j2"),
        options={"agents": "4"},
    )
    assert started("x judges=2").options == {"judges": "2"}


def test_the_topic_can_be_named_as_on_any_platform() -> None:
    assert started('rounds=2 topic="Tea = rest"') == started('"Tea = rest" rounds=2')


def test_start_alone_leaves_everything_to_the_defaults() -> None:
    assert started("") == StartArguments()


@settings(deadline=None)
@given(topic=PROSE, conditions=PROSE)
def test_every_text_survives_its_quotation_marks(topic: str, conditions: str) -> None:
    command = started(f"{quote(topic)} conditions={quote(conditions)} a=near/x")
    assert (command.topic, command.conditions) == (topic, conditions)
    assert command.sides == {"A": "near/x"}


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_command_or_an_explanation(text: str) -> None:
    for line in (text, f"start {text}", f"settings {text}", f"status {text}"):
        with suppress(UsageError):
            parse_command(line)


# --- what was wrong ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('"Tea beats', "The quotation mark before “Tea beats” is not closed; close it"),
        ('"Tea"beats', "is not closed; close it and put a space after it."),
        ("x fromat=team", "Unknown option “fromat”; did you mean format?"),
        ("x xyzzy=1", "Unknown option “xyzzy”. All its options"),
        ("x a=near/x A=near/y", "“a” is given twice"),
        ("x vote=3m vote_minutes=4m", "“vote_minutes” is given twice"),
        ("x rounds=", "“rounds=” has no value"),
        ("x rounds = 2", "Stray “=”: write option=value without spaces"),
        ("x rounds=two", "rounds is “two”; write a whole number."),
        ("x vote=soon", "vote_minutes is “soon”; write a time such as 30m, 1h or 90s."),
        ("x vote=1h30", "vote_minutes is “1h30”; give each number a unit"),
        ("x blind=maybe", "blind is “maybe”; write on or off."),
        ("x ballot=secrte", "ballot is “secrte”; did you mean secret? it must be open,"),
        ("x jurors=a/b,,c/d", "jurors has an empty entry"),
        ('"Tea" beats', "“beats”: this command takes no more arguments."),
        ('topic="Tea" beats', "“beats”: this command takes no more arguments."),
        ('"Tea" topic="Coffee"', "“Tea”: this command takes no more arguments."),
    ],
)
def test_a_malformed_start_says_what_is_wrong_and_how_that_option_is_written(
    text: str, why: str
) -> None:
    with pytest.raises(UsageError) as told:
        parse_command(f"start {text}")
    assert why in str(told.value)
    assert len(str(told.value)) < 200
    assert re.search(r"(All its options: /debate help start| Usage: \w+=\S+)$", str(told.value))


def test_the_option_concerned_is_shown_as_it_is_typed() -> None:
    with pytest.raises(UsageError, match=r"Usage: vote=30m$"):
        parse_command("start Tea vote=soon")
    with pytest.raises(UsageError, match=r"Usage: ballot=open\|private$"):
        parse_command("start Tea ballot=x", hides=False)


def test_an_unknown_command_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Unknown command “statsu”; did you mean status"):
        parse_command("statsu k7f2qz")
    with pytest.raises(UsageError, match="Unknown command “xyzzy”; see /ask help"):
        parse_command("xyzzy", "/ask")


@pytest.mark.parametrize("name", ["list", "models", "formats", "export", "privacy"])
def test_a_command_that_takes_nothing_refuses_more(name: str) -> None:
    with pytest.raises(
        UsageError, match=f"“all”: this command takes no more arguments. .*: /debate {name}$"
    ):
        parse_command(f"{name} all")


# --- the others ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("", Invocation("help", HelpArguments())),
        ("help", Invocation("help", HelpArguments())),
        ("HELP start", Invocation("help", HelpArguments(command="start"))),
        ("cancel", Invocation("cancel", DebateArgument())),
        ("cancel K7F2QZ", Invocation("cancel", DebateArgument(debate="K7F2QZ"))),
        ("close #k7f2qz", Invocation("close", DebateArgument(debate="k7f2qz"))),
        ("status\nk7f2qz", Invocation("status", DebateArgument(debate="k7f2qz"))),
        ("result", Invocation("result", DebateArgument())),
        ("list", Invocation("list")),
        ("models", Invocation("models")),
        ("topics", Invocation("topics", TopicsArguments())),
        ("topics approve #7", Invocation("topics", TopicsArguments(action="approve", number=7))),
        ("suggest Tea or milk?", Invocation("suggest", SuggestArguments(topic="Tea or milk?"))),
        ('suggest "x=1 is true"', Invocation("suggest", SuggestArguments(topic="x=1 is true"))),
        ("formats", Invocation("formats")),
        ("export", Invocation("export")),
        ("privacy", Invocation("privacy")),
        ("settings", Invocation("settings", SettingsArguments())),
        (
            'settings models="near/ana, near/ben" vote_minutes=1h ballot=',
            Invocation(
                "settings",
                SettingsArguments(
                    changes={"models": "near/ana, near/ben", "vote_minutes": "1h", "ballot": ""}
                ),
            ),
        ),
    ],
)
def test_each_command_is_read(text: str, command: object) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize("text", ["settings language", "settings language=en language=tr"])
def test_settings_that_cannot_be_meant_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"settings \[name=value …\]$"):
        parse_command(text)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("30", 30), ("30m", 30), ("30 min", 30), ("1h", 60), ("90s", 1.5), ("2d", 2880), ("0.5h", 30)],
)
def test_times_are_minutes(text: str, minutes: float) -> None:
    assert parse_minutes("vote", text) == minutes


@settings(deadline=None)
@given(st.integers(0, 6), st.integers(0, 23), st.integers(0, 59))
def test_times_add_up(days: int, hours: int, minutes: int) -> None:
    total = days * 1440 + hours * 60 + minutes
    assert parse_minutes("vote", f"{days}d{hours}h{minutes}m") == total
