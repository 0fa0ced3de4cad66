"""Every answer, in every language: nothing is looked up in vain, and no English is left."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import engine.chat.answers as rooms
from engine.chat.answers import (
    ACCEPTED,
    DECLINED,
    LISTED,
    TURN_TAKEN,
    UNASKED,
    UNLISTED,
    Answer,
    SentFile,
    to_markdown,
    voted,
)
from engine.chat.answers.catalogue import (
    FormatLine,
    HelpAnswer,
    ModelsAnswer,
    TopicsAnswer,
    format_list,
    suggested,
)
from engine.chat.answers.debates import (
    STOPPED,
    DebateLine,
    ResultAnswer,
    StartedAnswer,
    StatusAnswer,
    debate_list,
    deleted,
    deletion,
    vote_closed,
)
from engine.chat.answers.management import (
    LEAGUE_STOPPED,
    SCHEDULE_ENDED,
    SettingLine,
    SettingsAnswer,
    export_file,
    league_standing,
    league_started,
    no_export,
    schedule_list,
)
from engine.chat.answers.own_data import (
    Frequency,
    OwnRecordAnswer,
    forgetting,
    forgotten,
    no_own_data,
    opted_in,
    opted_out,
    own_data,
    stored_data,
)
from engine.chat.answers.statistics import LeaderboardAnswer, agreement_figures
from engine.chat.answers.voters import RemarkAnswer, ReviewAnswer, ReviewLine, revised
from engine.chat.commands import COMMANDS
from engine.formats import FORMATS
from engine.series.spec import Recurring
from engine.stats.agreement import measure_agreement
from engine.stats.ratings import rank_models
from engine.store.ballots import RemarkResult
from engine.store.communities import SETTING_NAMES
from engine.store.privacy import OwnVote, PersonTraces
from engine.store.suggestions import Suggestion
from engine.values.debate import Status
from engine.values.language import Count, Text, speaking
from engine.values.messages import Estimate, LeagueTable
from engine.values.options import Options
from engine.words import translation
from engine.words.translation import LANGUAGES
from tests.kit import make_debate, make_row, reveal
from tests.scenario.test_languages import Missed

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
ESTIMATE = Estimate(
    calls=1, calls_max=2, tokens_in=1, tokens_out=1, minutes=2.4, usd=0.1, usd_max=0.2
)
COUNTS = {name: 2 for name, field in PersonTraces.model_fields.items() if field.annotation is int}
TRACES = PersonTraces(known=True, since=NOON, **COUNTS)
TOPIC = Suggestion(number=3, text="Thé ou café", approved=True, upvotes=2)
ROWS = [make_row(n, "AB"[n % 2], "AB"[n // 2 % 2]) for n in range(40)]
WRONG = Text(
    "The list has no topic in the language {language}; give a topic, or choose another language.",
    language="xx",
)


def line(status: Status = Status.CLOSED) -> DebateLine:
    return DebateLine.of(make_debate(1, status, topic="Thé ou café"))


def said(template: str, **values: object) -> Answer:
    return Answer(texts=(Text(template, **values),))


def of_debates() -> Iterator[Answer]:
    yield StartedAnswer(
        debate=line(),
        mirror=line(),
        estimate=ESTIMATE,
        warnings=("The same model argues more than one side.",),
        models={"A": "near/ana", "B": "near/ben"},
        jurors=("near/j1", "near/j2"),
    )
    code = line().code
    yield said(STOPPED, code=code)
    yield vote_closed(code)
    yield vote_closed(code, mirror=code)
    for status in Status:
        yield StatusAnswer(debate=line(status), turns=1, turns_total=4, gaps=2, unread=True)
        yield StatusAnswer(debate=line(status), turns=4, turns_total=4, waits=WRONG)
        yield StatusAnswer(debate=line(status), turns=1, turns_total=0, why="A manager stopped it.")
        yield ResultAnswer(debate=line(status), reveal=None, minutes_left=5)
    voting = line(Status.VOTING)
    for minutes in (0, 5):
        yield StatusAnswer(
            debate=voting, turns=4, turns_total=4, minutes_left=minutes, mirror=line()
        )
    for where in get_args(get_args(StatusAnswer.model_fields["revealed"].annotation)[0]):
        yield StatusAnswer(debate=line(), turns=4, turns_total=4, revealed=where, reveal=reveal())
    for part in ("", "why", "details"):
        yield ResultAnswer(debate=line(), reveal=reveal(), part=part)
    yield debate_list((), {})
    yield debate_list(tuple(map(line, Status)), {})
    yield deletion(line(), line(), going=True)
    yield deleted(code, code)
    yield deleted(code)


def of_people() -> Iterator[Answer]:
    code = line().code
    gone = PersonTraces(forgotten=True)
    for traces in (TRACES, PersonTraces(), PersonTraces(known=True, opted_out=True), gone):
        yield stored_data(traces)
        yield forgetting(traces)
    yield forgotten(rest=True)
    yield own_data(SentFile("mine.json", b""))
    yield no_own_data()
    yield no_own_data(forgotten=True)
    yield no_own_data(2**21, 2**20)
    yield opted_out(forgotten=False)
    yield opted_out(forgotten=True)
    yield opted_in(back=True)
    yield opted_in(back=False)
    vote = OwnVote(
        debate="x", option="A", people="tie", jury=None, rehearsal=False, revealed_at=NOON
    )
    at = line().model_copy(update={"topic": "Thé", "thread": None, "place": "t"})
    shown = (vote, at, dict[str, str]())
    yield OwnRecordAnswer(votes=20, people=Frequency(3, 20), jury=Frequency(1, 4), lines=(shown,))
    yield OwnRecordAnswer(votes=1, people=Frequency(0, 0), jury=Frequency(0, 0), lines=())
    yield OwnRecordAnswer(votes=0, people=Frequency(0, 0), jury=Frequency(0, 0), lines=())
    for outcome in get_args(RemarkResult.model_fields["outcome"].annotation):
        yield RemarkAnswer(code="x", held=RemarkResult(outcome=outcome, option="A"), asks=True)
    for why in ("differ", "close", "drawn", None):
        yield ReviewAnswer(lines=(ReviewLine(debate=line(), options=("A", "tie"), why=why),))
    yield ReviewAnswer(lines=())
    yield revised(code, "weak", {})
    yield revised(code, None, {})
    for template in (LISTED, UNLISTED, UNASKED):
        yield said(template, number=1)
    for template in (ACCEPTED, DECLINED):
        yield said(template)
    for words in (1, 2):
        yield Answer(texts=(Count(*TURN_TAKEN, words),))


def of_communities() -> Iterator[Answer]:
    listed = tuple(SettingLine(name=name, value="", own=False) for name in SETTING_NAMES)
    yield SettingsAnswer(settings=listed, changed=("language", "models"))
    yield SettingsAnswer(settings=(SettingLine(name="language", value="de", own=True),))
    yield export_file(SentFile("x.zip", b""), 2, 2)
    for size, rehearsals in ((0, 0), (0, 2), (2**21, 0)):
        yield no_export("1", size, 2**20, rehearsals)
    others = ("de", 20), ("fr", 1)
    yield TopicsAnswer(suggested=(TOPIC,) * 30, waiting=(TOPIC,), others=others)
    yield TopicsAnswer(others=others)
    for outcome in ("listed", "waits", "known", "upvoted", "taken_back", "removed"):
        yield suggested(outcome, TOPIC)
    yield league_started(3, 3)
    yield league_started(3, 3, "09:00")
    table = LeagueTable(played=1, total=3, rows=())
    yield league_standing(table, WRONG)
    yield said(LEAGUE_STOPPED)
    yield schedule_list((), "", new=True)
    for topic in ("", "random", "Thé"):
        at = Recurring(said="09:00", place="p", channel="p", options=Options(topic=topic or None))
        yield schedule_list(((at, "x", WRONG),), "" if topic else "p")
    yield said(SCHEDULE_ENDED)
    yield agreement_figures(measure_agreement(ROWS), 2)
    yield agreement_figures(measure_agreement(ROWS[:3]))
    yield agreement_figures(measure_agreement([]), 2)
    yield LeaderboardAnswer(leaderboard=rank_models(ROWS), rehearsals=2)
    yield LeaderboardAnswer(leaderboard=rank_models([]))
    yield ModelsAnswer(models=(), jurors=("near/j",))
    formats = tuple(
        FormatLine(name=n, about=s.about, options=("x",), minutes=3) for n, s in FORMATS.items()
    )
    yield format_list(formats)
    helped = [(name, one.about, one.who.note) for name, one in COMMANDS.items()]
    yield HelpAnswer(commands=tuple(helped), formats=formats)


@cache
def answers() -> tuple[Answer, ...]:
    return (*of_debates(), *of_people(), *of_communities())


def kinds(base: type[Answer] = Answer) -> Iterator[type[Answer]]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_kind_of_answer_is_here() -> None:
    for room in pkgutil.iter_modules(rooms.__path__):
        importlib.import_module(f"{rooms.__name__}.{room.name}")
    own = {kind for kind in kinds() if kind.__module__.startswith(rooms.__name__)}
    assert own - {type(answer) for answer in answers()} == set()


def test_every_function_that_makes_an_answer_is_here() -> None:
    makers = {
        name
        for room in pkgutil.iter_modules(rooms.__path__)
        for name, made in vars(importlib.import_module(f"{rooms.__name__}.{room.name}")).items()
        if inspect.isfunction(made) and made.__module__.startswith(rooms.__name__)
        if hasattr(made, "__wrapped__") or made.__annotations__.get("return") == "Answer"
    }
    assert (
        makers - {"voted"} - set(re.findall(r"yield (\w+)\(", Path(__file__).read_text())) == set()
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_answer_is_in_the_language(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    missed = set[str]()
    real = translation.catalogue
    monkeypatch.setattr(translation, "catalogue", lambda code: Missed(real(code), missed))
    english = {to_markdown(answer) for answer in answers()}
    missed.clear()
    with speaking(language):
        for answer in answers():
            said = to_markdown(answer)
            words = re.sub(r"`[^`]*`|<[^>]*>", "", said)
            assert said not in english or not re.search(r"[A-Za-z]{4}", words), said
        to_markdown(voted(None))
    own = {"Thé", "Thé ou café", "09:00", "x", "xx", "near/j", "1000"}
    assert {t for t in missed - own if re.search(r"[A-Za-z]{3}", re.sub(r"{.*?}", "", t))} == set()
