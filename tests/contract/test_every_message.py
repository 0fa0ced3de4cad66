"""Every type of message once in every language, as each platform shows it."""

import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from engine.values.debate import Criterion, Violation
from engine.values.language import Text, speaking
from engine.values.messages import (
    AgainInvite,
    Alert,
    Arc,
    ArcPoint,
    BoardRow,
    ConfidenceInvite,
    GuestInvite,
    JurorLine,
    LeagueMatch,
    LeagueTable,
    Message,
    Notice,
    Progress,
    QuestionsClosed,
    QuestionsInvite,
    Report,
    Reveal,
    RoundInvite,
    ScoreBoard,
    Skipped,
    SpeakInvite,
    StanceInvite,
    VoteClosed,
    VoteInvite,
)
from engine.values.verdicts import Persuasion, Rationale, Tally, Verdict
from engine.words import translation
from engine.words.translation import LANGUAGES
from tests.contract.test_venue import PLATFORMS, Stage, post, terminal
from tests.kit import announcement, reveal, speech
from tests.scenario.test_languages import ENGLISH, NAMES, Missed

OWN = "Çığ 42"  # what models and people wrote
KIND = "too many words"  # of a rule, for those without a sentence of their own
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
OPTIONS = ("A", "B", "tie", "weak")


def result() -> Reveal:
    """Return a reveal with every line that it can have."""
    return reveal(
        topic=OWN,
        code="k7f2qz",
        drawn=("B",),
        tally=Tally(
            counts={"A": 3, "B": 1, "tie": 1, "weak": 1},
            gold={"A": 2, "B": 1},
            quorum_met=True,
            winner="A",
            share=0.75,
            low=0.4,
            high=0.9,
        ),
        verdict=Verdict(
            winner="B", p={"A": 0.3, "B": 0.7}, valid=2, invalid=1, effective_votes=1.5
        ),
        jurors=(
            JurorLine(juror="near/j1", verdict="B", order=("A", "B"), reasons=OWN),
            JurorLine(juror="near/j2", verdict=None, order=("B", "A"), recused=True),
        ),
        agree=False,
        persuasion=Persuasion(people=3, moved={"A": 1, "B": 1}, winner="tie"),
        why=Rationale(text=OWN, best={"A": OWN, "B": OWN}, differed=OWN),
        marks={"A": {"logic": 6.0}, "B": {"logic": 7.0}},
        criteria=(Criterion(name="logic", weight=1.0),),
        guessed={"A": (1, 2), "B": (0, 2)},
        guess_bounds={"A": (0.1, 0.9), "B": (0.0, 0.6)},
        menu=4,
        replaced=(("near/ana", "near/ben"),),
        judges=("near/j1",),
        gaps=1,
        usd=0.02,
        calls=12,
    )


def messages() -> Iterator[Message]:
    """Yield a message of every type, worded in the language spoken."""
    opening = announcement(OWN, conditions=OWN, rehearsal="speakers", sources=(OWN,), searches=2)
    opening = opening.model_copy(update={"language": speech("").language})
    yield opening
    for phase in ("queued", "asked", "judging", "voting", "partial"):
        update = {"progress": Progress(phase=phase, turns=2, total=4, until=NOON, thread="1")}
        yield opening.model_copy(update=update)
    running = Progress(phase="running", turns=2, total=4, round="opening", writing=("🔴 B",))
    yield opening.model_copy(update={"progress": running})
    ended = Progress(phase="closed", turns=4, total=4, result=result(), revealed="thread")
    yield opening.model_copy(update={"progress": ended})
    broken = Violation(kind="too_many_words", measured=9, limit=5)
    yield speech(OWN, violations=(broken,), seconds=20, seconds_limit=60)
    for kind in ("open", "secret", "private"):
        yield VoteInvite(
            options=OPTIONS, minutes=30, quorum=5, ballot=kind, topic=OWN, cases={"A": OWN}
        )
    for after in (False, True):
        thumbs = ("up", "down", "unsure")
        yield StanceInvite(topic=OWN, after=after, options=thumbs, seconds=None if after else 60)
    yield AgainInvite(options=OPTIONS, minutes=60)
    yield ConfidenceInvite(options=("close", "clear", "onesided"))
    yield RoundInvite(round="opening", options=("A", "B", "even"))
    yield QuestionsInvite(code="k7f2qz", minutes=2, listed=((1, OWN),), more=2)
    yield GuestInvite(code="k7f2qz", side="B", minutes=60, most=4, turn_minutes=10)
    yield SpeakInvite(
        code="k7f2qz", side="B", step="turn/opening/B", round="opening", minutes=10, words=300
    )
    yield QuestionsClosed(put=(OWN,))
    yield QuestionsClosed()
    yield VoteClosed(options=OPTIONS, votes=2, early=True)
    yield result()
    yield result().model_copy(update={"code": "", "aside": "channel"})
    yield Notice(level="warning", text=OWN)
    yield Alert(code="k7f2qz", percent=80, usd=10)
    yield Alert(code="k7f2qz", unnamed="full")
    yield Skipped(due=OWN, why="Rostrum was not running at that time.", following=OWN)
    why = Text(
        "{live} debates are running here already, and the cap is {cap}; wait for one to end.",
        live=3,
        cap=3,
    )
    yield Skipped(due=OWN, why=why, following=OWN)
    rows = (BoardRow(side="", name="near/ana", cells=("1", "3")),)
    latest = LeagueMatch(one="near/ana", other="near/ben", how="won", by="people")
    yield LeagueTable(played=1, total=3, rows=rows, unmet=1, latest=latest, next_match=OWN)
    yield Report(title=OWN, text=OWN, side="judge")
    yield ScoreBoard(title="Scoreboard", columns=("logic", "total"), rows=rows, notes=(OWN,))
    yield Arc(title="The arc", points=(ArcPoint(number=1, side="A", score=40),), alt=OWN)


def test_every_type_of_message_is_here() -> None:
    union, *_ = get_args(Message)
    assert {type(message) for message in messages()} == set(get_args(union))


@pytest.mark.parametrize("platform", [*PLATFORMS, "terminal"])
async def test_every_message_is_in_its_language_on_every_platform(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = set[str]()
    real = translation.catalogue
    monkeypatch.setattr(
        translation,
        "catalogue",
        lambda code, *package: Missed(real(code, *package), missed if code in LANGUAGES else set()),
    )
    for language in LANGUAGES:
        async with AsyncExitStack() as opened:
            if platform == "terminal":
                folder = tmp_path / language
                folder.mkdir()
                stage: Stage = terminal(folder)
            else:
                stage = await opened.enter_async_context(PLATFORMS[platform]())
            with speaking(language):
                said = list(messages())
            for number, message in enumerate(said, start=1):
                await post(stage, message, number)
            shown = NAMES.sub("", stage.seen())
        assert shown.count(OWN) >= len(said)
        assert (language, set(ENGLISH.findall(shown))) == (language, set())
    words = {text: re.sub(r"{.*?}", "", text) for text in missed - {OWN, KIND}}
    assert {text for text in words if re.search(r"[A-Za-z]{3}", words[text])} == set()
