"""What chat commands answer, in words."""

from __future__ import annotations

from typing import Any

import pytest

from engine.chat.answers.answers import to_markdown
from engine.chat.answers.catalogue import (
    FormatLine,
    FormatsAnswer,
    HelpAnswer,
    IdeasAnswer,
    ModelsAnswer,
)
from engine.chat.answers.debates import (
    STATES,
    STATUSES,
    DebateLine,
    DebatesAnswer,
    ResultAnswer,
    StartedAnswer,
    StatusAnswer,
    StoppedAnswer,
)
from engine.chat.answers.management import (
    UNSET,
    FileAnswer,
    NoFileAnswer,
    SettingLine,
    SettingsAnswer,
)
from engine.chat.answers.privacy_notice import PrivacyAnswer
from engine.chat.answers.record_picture import Share
from engine.store import Traces
from engine.store.community import SETTING_NAMES
from engine.values.debate import Status
from engine.values.judging import Persuasion, Tally, Verdict
from engine.values.messages import Estimate, JurorLine
from engine.values.topics import Topic
from engine.words.phrases import money
from engine.words.reveal import UNREAD
from tests.kit import NOON, make_debate, reveal

ESTIMATE = Estimate(
    calls=13, calls_max=30, tokens_in=1, tokens_out=1, minutes=2.4, usd=0.123, usd_max=0.5
)
REVEAL = reveal(
    drawn=("B",),
    tally=Tally(counts={"A": 2, "weak": 1}, gold={"A": 2}, quorum_met=True, winner="A"),
    verdict=Verdict(winner="tie", valid=2, invalid=1),
    jurors=(
        JurorLine(juror="near/j1", verdict="tie", order=("A", "B")),
        JurorLine(juror="near/j2", verdict=None, order=("A", "B"), problem="no JSON"),
    ),
    agree=False,
    usd=0.0123,
    calls=1,
)


def line(status: Status = Status.RUNNING, **asked: Any) -> DebateLine:
    return DebateLine.of(make_debate(1, status, **asked))


def test_a_start_shows_what_it_takes_and_only_what_was_chosen() -> None:
    answer = StartedAnswer(
        debate=line(topic="Tea\nor coffee"),
        estimate=ESTIMATE,
        warnings=("One juror only.",),
        models={"A": "near/ana"},
        jurors=("near/j1", "near/j2"),
    )
    assert to_markdown(answer).splitlines() == [
        "Your debate starts now: **Tea or coffee**",
        f"`/debate status {answer.debate.code}` shows how far it is.",
        "Takes about 2 minutes · ≈ $0.12",
        "You chose `near/ana` for 🔵 A and the jury `near/j1`, `near/j2`. No one else sees "
        "this before the reveal.",
        "⚠ One juror only.",
    ]


def test_a_start_without_choices_or_prices_says_neither() -> None:
    estimate = ESTIMATE.model_copy(update={"usd": None, "minutes": 0.2})
    said = to_markdown(StartedAnswer(debate=line(), estimate=estimate))
    assert "You chose" not in said
    assert "Takes less than a minute · cost unknown" in said


@pytest.mark.parametrize(
    ("status", "turns", "left", "said"),
    [
        (Status.QUEUED, 0, None, "It waits to start."),
        (Status.RUNNING, 3, None, "It is running: 3 of 8 turns done."),
        (Status.RUNNING, 8, None, "All 8 turns are done; the jury is reading."),
        (Status.VOTING, 8, 12.2, "The vote is open: about 12 minutes left."),
        (Status.VOTING, 8, 1.1, "The vote is open: about 1 minute left."),
        (Status.VOTING, 8, 0.0, "The vote is closing."),
        (Status.VOTING, 8, None, "the vote opens once they are posted."),
        (Status.FAILED, 3, None, "It failed."),
        (Status.PARTIAL, 3, None, "It stopped early."),
    ],
)
def test_a_status_says_how_far_it_is(
    status: Status, turns: int, left: float | None, said: str
) -> None:
    answer = StatusAnswer(debate=line(status), turns=turns, turns_total=8, minutes_left=left)
    assert said in to_markdown(answer)


@pytest.mark.parametrize("status", [Status.FAILED, Status.PARTIAL])
def test_a_status_says_why_a_debate_ended_early(status: Status) -> None:
    why = "The cap on its cost was reached; a manager can resume it."
    answer = StatusAnswer(debate=line(status), turns=3, turns_total=8, why=why)
    assert to_markdown(answer).splitlines()[-2:] == [STATUSES[status], why]


@pytest.mark.parametrize("unread", [False, True])
def test_a_status_says_that_the_votes_could_not_be_read(unread: bool) -> None:
    answer = StatusAnswer(debate=line(Status.CLOSED), turns=8, turns_total=8, unread=unread)
    assert (UNREAD in to_markdown(answer).splitlines()) is unread


def test_a_debate_by_the_clock_has_no_number_of_turns_to_reach() -> None:
    running = line(Status.RUNNING)
    answer = StatusAnswer(debate=running, turns=34, turns_total=0, minutes_left=None)
    assert "It is running: 34 turns done." in to_markdown(answer)


def test_every_status_has_its_words() -> None:
    assert set(STATUSES) == set(STATES) == set(Status)


def test_a_result_names_models_and_both_judgments() -> None:
    said = to_markdown(ResultAnswer(debate=line(Status.CLOSED), reveal=REVEAL))
    assert said.splitlines()[1:] == [
        "People: **🔵 A** (2–0; with 1 vote that is not independent 2–0 · neither 1) · "
        "Jury: **a tie**",
        "People and jury **disagree**.",
        "",
        "**🔵 A** (for it) was `near/ana`",
        "**🔴 B** (against it) was `near/ben`, drawn at random",
        "",
        "**Details**",
        "**People:** 🔵 A 2",
        "With 1 vote that is not independent: 🔵 A 2 · neither 1",
        "**Jury: a tie** (2 jurors read it, 2 readings counted, 1 not counted)",
        "- `near/j1`: tie (read 🔵 A, 🔴 B)",
        "- `near/j2`: no answer that counts (read 🔵 A, 🔴 B)",
        "1 model call, $0.012",
    ]


def test_a_result_without_votes_or_verdict_says_so() -> None:
    reveal = REVEAL.model_copy(
        update={
            "tally": Tally(counts={"A": 0}, gold={"A": 0}, quorum_met=False, winner=None),
            "verdict": Verdict(winner=None, problem="too few ballots", valid=1, invalid=0),
            "agree": None,
            "usd": None,
            "persuasion": Persuasion(moved={"A": 2, "B": 1}, people=4, winner="A"),
        }
    )
    said = to_markdown(ResultAnswer(debate=line(Status.CLOSED), reveal=reveal))
    assert "People: no votes · Jury: no verdict" in said
    assert "**Jury:** no verdict, too few jurors gave an answer that counts (2 jurors" in said
    assert "2 jurors read it, 1 reading counted" in said
    assert "cannot be compared" in said
    assert "3 of 4 people changed sides: 🔵 A 2 · 🔴 B 1 (stances before and after)." in said
    assert "cost unknown" in said


def test_a_result_that_is_sealed_says_when_it_is_told() -> None:
    voting = ResultAnswer(debate=line(Status.VOTING), reveal=None, minutes_left=9)
    assert to_markdown(voting).endswith(
        "open: about 9 minutes left.\nResults stay sealed until the vote closes."
    )
    failed = ResultAnswer(debate=line(Status.FAILED), reveal=None)
    assert to_markdown(failed).endswith("It has no result.")


def test_lists_show_what_there_is() -> None:
    held = (line(Status.VOTING, topic="Tea " * 60), line(Status.CLOSED))
    opened = held[0].model_copy(update={"vote_deadline": NOON})
    assert f"`{opened.code}` vote open, " in to_markdown(DebatesAnswer(debates=(opened,)))
    said = to_markdown(DebatesAnswer(debates=held)).splitlines()
    assert said[0].startswith(
        f"- `{held[0].code}` vote opens soon, 2026-03-01 12:00 UTC, classic: Tea"
    )
    assert len(said[0]) < 180
    assert to_markdown(DebatesAnswer(debates=())) == "No debates here yet. Start one."
    models = to_markdown(ModelsAnswer(models=("near/ana",), jurors=()))
    assert models == "**Debaters**\n- `near/ana`\n**Jurors**\n- `none`"
    topics = IdeasAnswer(topics=(Topic(text="Tea", conditions="Now"), Topic(text="Coffee")))
    assert to_markdown(topics) == "- Tea (Now)\n- Coffee"
    formats = FormatsAnswer(
        formats=(
            FormatLine(name="x", about="two sides argue", minutes=7.6, usd=0.0421),
            FormatLine(name="y", about="several answer", options=("agents", "judges")),
            FormatLine(name="z", minutes=0.3, usd=None),
        )
    )
    assert to_markdown(formats).splitlines() == [
        f"- `x`: two sides argue · about 8 minutes to read · {money(0.0421)}",
        "- `y`: several answer · options `agents`, `judges`",
        f"- `z`: about 1 minute to read · {money(None)}",
    ]
    listed = HelpAnswer(commands=(), formats=formats.formats)
    assert "- `y`: several answer" in to_markdown(listed).splitlines()


def test_settings_say_what_applies_and_who_set_it() -> None:
    empty = {name: SettingLine(name=name, value="", own=False) for name in SETTING_NAMES}
    own = SettingLine(name="language", value="tr", own=True)
    lines = tuple((empty | {"language": own}).values())
    said = to_markdown(SettingsAnswer(settings=lines, changed=("language",)))
    assert said.startswith("Changed: language.\n")
    assert "- `language`: tr (set here)" in said
    assert "- `channels`: all channels" in said
    assert "- `debate_usd`: no cap" in said
    assert set(UNSET) <= set(SETTING_NAMES)


def test_few_votes_are_called_few() -> None:
    said = [Share(k, n).say() for k, n in ((0, 0), (3, 4), (12, 15))]
    assert said == ["nothing to compare yet", "3 of 4, too few to say much", "12 of 15 (80 %)"]


def test_an_export_too_large_says_how_to_get_it() -> None:
    said = to_markdown(NoFileAnswer(community="c7", bytes=15 * 2**20, bytes_max=10 * 2**20))
    assert "15.0 MiB; at most 10.0 MiB" in said
    assert "`rostrum export --out FOLDER --community c7`" in said
    assert "nothing to export" in to_markdown(NoFileAnswer(community="c7", bytes=0, bytes_max=1))
    file = FileAnswer(name="x.zip", content=b"", debates=1)
    assert to_markdown(file) == "`x.zip` has 1 revealed debate."


def test_stopping_says_what_stops() -> None:
    assert "is stopping" in to_markdown(StoppedAnswer(what="debate", debate=line()))
    assert "The result follows" in to_markdown(StoppedAnswer(what="vote", debate=line()))


def test_privacy_says_what_is_stored_and_who_gets_it() -> None:
    said = to_markdown(PrivacyAnswer(traces=Traces()))
    assert "in a single table" in said
    assert "pseudonyms" in said


def test_a_debate_that_failed_before_its_vote_says_nothing_of_votes() -> None:
    debate = DebateLine.of(make_debate(1, Status.FAILED))
    failed = StatusAnswer(debate=debate, turns=1, turns_total=8, gaps=2, unread=True)
    assert "vote" not in to_markdown(failed)


def test_a_debate_that_waits_for_consent_is_waiting_in_the_list() -> None:
    debate = DebateLine.of(make_debate(1, Status.RUNNING), asked=True)
    assert "waiting for a person" in to_markdown(DebatesAnswer(debates=(debate,)))
