"""What judges' reports say around a judge's own words, in the language of the debate."""

from __future__ import annotations

import re
import string
import tomllib
from itertools import product
from pathlib import Path

import pytest
from rich.cells import cell_len

from engine.debate import Model
from engine.formats.audited.answers import CONVERGENCES, PATTERNS
from engine.formats.reports import report_words
from engine.formats.structured.trace import STANDINGS, Trace, consensus_of, line
from engine.messages import Report
from tests.doubles.rehearsed import RehearsedDesk, hold, setup_for

FILE = Path(__file__).parents[2] / "engine" / "formats" / "reports.toml"
LANGUAGES = ("en", "de", "es", "tr", "zh")
KINDS = tomllib.loads(FILE.read_text(encoding="utf-8"))
JUDGES = tuple(Model.parse(f"rehearsal/{name}") for name in ("ash", "yew", "fir"))


def fields(template: str) -> set[str | None]:
    """Return the names that a template fills in."""
    return {name for _, name, _, _ in string.Formatter().parse(template)} - {None}


@pytest.mark.parametrize(("kind", "language"), [*product(KINDS, LANGUAGES)])
def test_every_language_has_every_word_and_fills_in_the_same(kind: str, language: str) -> None:
    english, own = KINDS[kind]["en"], KINDS[kind][language]
    assert list(own) == list(english)
    for name, text in own.items():
        assert fields(text) == fields(english[name]), name
        assert text.strip() == text


def test_a_region_has_its_languages_words_and_an_unknown_language_english() -> None:
    assert report_words("structured", "de-AT")["title"] == "Entscheidungsvorlage"
    assert report_words("structured", "fi") == report_words("structured", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_of_the_trace_table_fits_a_phone_in_every_language(language: str) -> None:
    words = report_words("structured", language)
    kinds = ("refute", "challenge", "concede", "partial", "")
    for standing, kind, confirmed, withdrawn in product(
        (*STANDINGS, ""), kinds, (True, False), (True, False)
    ):
        trace = Trace(
            id="A-5",
            side="A",
            claim="c",
            sourced=True,
            response=kind,
            confirmed=confirmed,
            withdrawn=withdrawn,
            consensus=consensus_of(kind, confirmed=confirmed, withdrawn=withdrawn),
            standing=standing,
            scores={},
        )
        assert cell_len(line(trace, words)) <= 40, line(trace, words)


@pytest.mark.parametrize("language", LANGUAGES[1:])
@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("structured", {}),
        ("roundtable", {"judges": 3}),
        ("roundtable", {}),
        ("audited", {}),
        ("team", {}),
    ],
    ids=["structured", "roundtable judged", "roundtable", "audited", "team"],
)
async def test_a_report_is_framed_in_the_debates_language(
    format: str, options: dict[str, int], language: str
) -> None:
    judges = JUDGES if format in ("structured", "team") or options else ()
    setup = setup_for(format, language=language, options=options, judges=judges)
    desk = await hold(setup, RehearsedDesk())
    reports = [post.message for post in desk.held if isinstance(post.message, Report)]
    assert len(reports) == {"audited": 3, "team": 2}.get(format, 1)
    shown = "\n".join(f"{report.title}\n{report.text}" for report in reports)
    english = {*KINDS[format]["en"].values(), *KINDS["judges"]["en"].values()}
    own = {*KINDS[format][language].values(), *KINDS["judges"][language].values()}
    for template in english - own:
        fixed = max(re.split(r"\{[^}]*\}", template), key=len).strip(" *.:,")
        if len(fixed) > 3:  # shorter ones are in other words too
            assert not re.search(rf"\b{re.escape(fixed)}\b", shown), template


def test_people_read_the_same_meanings_of_names_as_the_judge_of_audited() -> None:
    words = KINDS["audited"]["en"]
    for name, meaning in PATTERNS.items():
        assert name == "none" or words[name] == f"{name.replace('_', ' ')}: {meaning}"
    for name, meaning in CONVERGENCES.items():
        assert words[f"ends_{name}"] == meaning


@pytest.mark.parametrize("language", LANGUAGES)
async def test_readers_are_told_in_their_language_that_debaters_adapt(language: str) -> None:
    desk = await hold(setup_for("audited", language=language, options={"turns": 2}))
    assert KINDS["audited"][language]["adapt"] in desk.shown
