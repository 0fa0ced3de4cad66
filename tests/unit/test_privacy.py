"""What people are told of themselves, and the commands by which they ask."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.chat.answers.answers import Answer, to_markdown
from engine.chat.answers.own_data import ForgottenAnswer, OptedAnswer, PrivacyAnswer
from engine.chat.commands import parse_command
from engine.chat.invocation import ForgetArguments, Invocation
from engine.store import Traces
from engine.values.errors import UsageError

MUCH = Traces(
    known=True,
    votes=3,
    stances=1,
    thumbs=2,
    entries=9,
    started=1,
    since=datetime(2026, 3, 1, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("forget", Invocation("forget", ForgetArguments())),
        ("forget confirm=yes", Invocation("forget", ForgetArguments(confirm=True))),
        ("FORGET confirm=On", Invocation("forget", ForgetArguments(confirm=True))),
        ("forget confirm=no", Invocation("forget", ForgetArguments())),
        ("optout", Invocation("optout")),
        ("optin", Invocation("optin")),
    ],
)
def test_a_person_asks_in_one_line(text: str, command: Invocation) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("forget me", "“me”: this command takes no more"),
        ("forget yes", "“yes”: this command takes no more"),
        ("forget confirm=perhaps", "write on or off"),
        ("forget confirm=yes confirm=no", "takes no more"),
        ("forget sure=yes", "“sure=yes”: this command takes no more"),
        ("optout now", "“now”: this command takes no more"),
    ],
)
def test_nobody_is_forgotten_by_mistake(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_command(text)


@pytest.mark.parametrize(
    "answer",
    [
        PrivacyAnswer(traces=MUCH),
        ForgottenAnswer(done=False, traces=MUCH),
        OptedAnswer(out=True),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_a_channel_never_reads_what_is_said_of_one_person(answer: Answer) -> None:
    """Discord drops private answers after a while; what is for all is said in the channel then."""
    assert answer.public() is None


def test_privacy_counts_what_is_stored_of_who_asks() -> None:
    said = to_markdown(PrivacyAnswer(traces=MUCH), "/rostrum")
    assert (
        "Stored with your user id: votes on 3 debates, 1 stance on a topic, thumbs on "
        "2 turns, 1 debate that you started." in said
    )
    assert "9 choices that you made or withdrew" in said
    assert "You came back on 2026-03-01" in said
    assert "`/rostrum forget`" in said
    assert "`/rostrum optout`" in said


def test_privacy_says_it_when_there_is_nothing() -> None:
    assert "Nothing is stored about you." in to_markdown(PrivacyAnswer(traces=Traces()))
    known = to_markdown(PrivacyAnswer(traces=Traces(known=True, opted_out=True)))
    assert "Your user id and nothing else." in known
    assert "`/debate optin` undoes it" in known


def test_the_forgotten_are_told_what_remains() -> None:
    said = to_markdown(PrivacyAnswer(traces=Traces(forgotten=True)))
    assert "a keyed hash of your id" in said
    assert "`/debate optin` brings you back" in said
    assert "Nothing is stored about you." not in said


def test_forgetting_is_explained_before_it_is_done() -> None:
    said = to_markdown(ForgottenAnswer(done=False, traces=MUCH))
    assert "at once and for good" in said
    assert said.endswith("`/debate forget confirm=yes`")
    done = to_markdown(ForgottenAnswer(done=True, traces=MUCH))
    assert done.startswith("You are forgotten.")
    assert "export that is running" not in done
