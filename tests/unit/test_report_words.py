"""What judges' reports say around a judge's own words, in the language of the debate."""

import re
from itertools import product

import pytest
from rich.cells import cell_len

from engine.formats.audited.result import CONVERGENCES, PATTERNS
from engine.formats.structured.briefing import TITLE
from engine.formats.structured.trace import STANDINGS, Trace, consensus_of, line
from engine.values.debate import Model
from engine.values.language import speaking
from engine.values.messages import Report
from engine.words.translation import LANGUAGES, catalogue, say
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for
from tests.slow import slow_after

JUDGES = tuple(Model.parse(f"rehearsal/{name}") for name in ("ash", "yew", "fir"))


def test_a_region_has_its_languages_words_and_names_mean_what_they_do_to_the_judge() -> None:
    for language, title in {"de-AT": "Entscheidungsvorlage", "fi": TITLE}.items():
        with speaking(language):
            assert say(TITLE) == title
    words = catalogue("de")
    for name, meaning in PATTERNS.items():
        assert name == "none" or f"{name.replace('_', ' ')}: {meaning}" in words
    assert set(CONVERGENCES.values()) <= set(words)


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_a_line_of_the_trace_table_fits_a_phone_in_every_language(language: str) -> None:
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
        with speaking(language):
            shown = line(trace)
        assert cell_len(shown) <= 40, shown


@pytest.mark.parametrize("language", slow_after(2, LANGUAGES))
@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("structured", {}),
        ("roundtable", {"judges": 3}),
        ("roundtable", {}),
        ("audited", {}),
        pytest.param("team", {}, marks=pytest.mark.slow),
    ],
    ids=["structured", "roundtable judged", "roundtable", "audited", "team"],
)
async def test_a_report_is_framed_in_the_debates_language(
    format: str, options: dict[str, int], language: str
) -> None:
    judges = JUDGES if format in ("structured", "team") or options else ()
    setup = setup_for(format, language=language, options=options, judges=judges)
    host = await hold(setup, RehearsedHost())
    reports = [post.message for post in host.held if isinstance(post.message, Report)]
    assert len(reports) == {"audited": 3, "team": 2}.get(format, 1)
    shown = "\n".join(f"{report.title}\n{report.text}" for report in reports)
    for template, own in catalogue(language).items():
        # “Note” is a German word too, and “Debate” a Spanish one.
        if own in (template, "Hinweis", "Debate {n} de {all}"):
            continue
        fixed = max(re.split(r"\{[^}]*\}", template), key=len).strip(" *.:,")
        if len(fixed) > 3:  # shorter ones are in other words too
            assert not re.search(rf"\b{re.escape(fixed)}\b", shown), template
