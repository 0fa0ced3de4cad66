"""Commands read from text: what people type, on phones too, and what they are told."""

import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from engine.chat.commands import parse_command
from engine.chat.invocation import Invocation, StartArguments
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
    arguments = parse_command(f"start {text}").arguments["asked"]
    assert isinstance(arguments, StartArguments)
    return arguments


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


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("", {}),
        # An apostrophe opens and closes nothing, and a quotation within one stays in it.
        ("People's taste doesn't matter", {"topic": "People's taste doesn't matter"}),
        ("'It's the dog's fault'", {"topic": "It's the dog's fault"}),
        ("“He called it “good” today”", {"topic": "He called it “good” today"}),
        (r'"He said \"hi\" there"', {"topic": 'He said "hi" there'}),
        ('"format=team is best"', {"topic": "format=team is best"}),  # never an option
        ('rounds=2 topic="Tea = rest"', {"topic": "Tea = rest", "rounds": 2}),
        ('"Tea = rest" rounds=2', {"topic": "Tea = rest", "rounds": 2}),
        ("1=near/ana 9=near/ben", {"sides": {"1": "near/ana", "9": "near/ben"}}),
        ("a1=near/ana model_b=near/ben", {"sides": {"A1": "near/ana", "B": "near/ben"}}),
        ("judges=near/j1,near/j2", {"judges": ("near/j1", "near/j2")}),
        ("agents=4 judges=2", {"options": {"agents": "4", "judges": "2"}}),
    ],
)
def test_topics_sides_and_the_formats_own_options_are_read(
    text: str, given: dict[str, Any]
) -> None:
    assert started(text) == StartArguments(**given)


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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("start Tea vote=soon", r"Usage: vote=30m$"),
        ("start Tea ballot=x", r"Usage: ballot=open\|private$"),
        ("statsu k7f2qz", "Unknown command “statsu”; did you mean status"),
        ("xyzzy", "Unknown command “xyzzy”; see /debate help"),
        *(
            (f"{name} all", f"“all”: this command takes no more arguments. .*: /debate {name}$")
            for name in ("list", "models", "formats", "export", "privacy")
        ),
        ("forget me", "“me”: this command takes no more"),  # nobody is by mistake
        ("forget yes", "“yes”: this command takes no more"),
        ("forget confirm=perhaps", "write on or off"),
        ("forget confirm=yes confirm=no", "takes no more"),
        ("forget sure=yes", "“sure=yes”: this command takes no more"),
        ("optout now", "“now”: this command takes no more"),
        ("settings language", r"settings \[name=value …\]$"),
        ("settings language=en language=tr", r"settings \[name=value …\]$"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_usage(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_command(text, hides=False)
    with pytest.raises(UsageError, match="Unknown command “xyzzy”; see /ask help"):
        parse_command("xyzzy", "/ask")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("", Invocation("help")),
        ("help", Invocation("help")),
        ("HELP start", Invocation("help", {"command": "start"})),
        ("cancel", Invocation("cancel")),
        ("cancel K7F2QZ", Invocation("cancel", {"debate": "K7F2QZ"})),
        ("close #k7f2qz", Invocation("close", {"debate": "k7f2qz"})),
        ("status\nk7f2qz", Invocation("status", {"debate": "k7f2qz"})),
        ("result", Invocation("result")),
        ("list", Invocation("list")),
        ("models", Invocation("models")),
        ("topics", Invocation("topics")),
        ("topics approve #7", Invocation("topics", {"action": "approve", "number": 7})),
        ("suggest Tea or milk?", Invocation("suggest", {"topic": "Tea or milk?"})),
        ('suggest "x=1 is true"', Invocation("suggest", {"topic": "x=1 is true"})),
        ("formats", Invocation("formats")),
        ("export", Invocation("export")),
        ("privacy", Invocation("privacy")),
        ("settings", Invocation("settings", {"changes": {}})),
        ("forget", Invocation("forget")),
        ("forget confirm=yes", Invocation("forget", {"confirm": True})),
        ("FORGET confirm=On", Invocation("forget", {"confirm": True})),
        ("forget confirm=no", Invocation("forget", {"confirm": False})),
        ("optout", Invocation("optout")),
        ("optin", Invocation("optin")),
        (
            'settings models="near/ana, near/ben" vote_minutes=1h ballot=',
            Invocation(
                "settings",
                {"changes": {"models": "near/ana, near/ben", "vote_minutes": "1h", "ballot": ""}},
            ),
        ),
    ],
)
def test_each_command_is_read(text: str, command: object) -> None:
    assert parse_command(text) == command


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
