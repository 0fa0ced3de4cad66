"""Whole debates in five languages, as a member reads them on a phone; and short and long ones."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from adapters.terminal.render import plain
from engine.dataset.page import lay_out, write_markdown
from engine.formats import FORMATS, find_format
from engine.formats.team.rules import SEATS
from engine.prompts import load_prompts
from engine.run.order import Order
from engine.run.plan import plan
from engine.values.debate import Length, Model
from engine.values.errors import UsageError
from engine.values.language import speaking
from engine.values.messages import Announcement, Reveal
from engine.values.options import read_option
from engine.values.topics import built_in_topics
from engine.words import translation
from engine.words.cards import ARGUES, card_of
from engine.words.phrases import estimated
from engine.words.scores import columns
from engine.words.translation import LANGUAGES, say
from tests.doubles.rehearsed import DEFAULTS as REHEARSED, setup_for
from tests.doubles.whole_debate import DEFAULTS, hold_whole

PHONE = 40  # columns
CODES = re.compile(r"\b(free|cross|exchange)-\d|\bp\(|[a-z]_[a-z]")  # nothing that members read
# Words of frames that are no words of the other languages, of names or of commands.
ENGLISH = re.compile(
    r"\b(turn|of|words|votes?|jurors?|people|debated|better|both|weak|tie|cost|calls|reveal|read|"
    r"judges?|scores?|mean|stage|rounds?|argues|opening|closing|rebuttal|drawn|random|the|and|"
    r"chose|note|state|minutes|conceded|granted|doubted|denied|upheld|refuted|unclear)\b",
    re.IGNORECASE,
)


# Each format and each language in `make test`: which texts there are is tested of every message.
QUICK = set(zip(FORMATS, ("en", *LANGUAGES), strict=False))
# Of formats, models and commands, which are the same in every language.
NAMES = re.compile(r"`[^`]*`|<[^>]*>|rehearsal/\w+|\b(audited|structured|Rostrum)\b")


class Missed(dict[str, Any]):
    """A catalogue that remembers what was looked up in vain."""

    def __init__(self, found: Mapping[str, Any], missed: set[str]) -> None:
        super().__init__(found)
        self._missed = missed

    def get(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self._missed.add(key)
        return super().get(key, default)


def tables(text: str) -> Iterator[str]:
    """Yield the lines of tables, and those that trace one argument."""
    for row in text.splitlines():
        if row.startswith("| ") or re.match(r"- [AB]-\d+ ", row):
            yield row


@pytest.mark.parametrize(
    ("format", "language"),
    [
        pytest.param(*pair, marks=() if pair in QUICK else pytest.mark.slow)
        for pair in product(FORMATS, ("en", *LANGUAGES))
    ],
)
async def test_a_thread_is_in_one_language_and_fits_a_phone(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, language: str
) -> None:
    missed = set[str]()
    real = translation.catalogue
    monkeypatch.setattr(
        translation,
        "catalogue",
        lambda code: Missed(real(code), missed if code == language else set()),
    )
    whole = await hold_whole(
        database_url,
        tmp_path / "out",
        DEFAULTS,
        format=format,
        language=language,
        topic=next(topic.text for topic in built_in_topics() if topic.language == language),
    )
    thread = "\n".join(plain(message, "") for message in whole.posted)
    assert [row for row in tables(thread) if columns(row) > PHONE] == []
    assert not CODES.search(thread)
    assert (format in ("audited", "structured", "team")) is any(tables(thread))
    if language != "en":
        assert set(ENGLISH.findall(thread)) == set()
        assert {text for text in missed if re.search(r"[A-Za-z]{2}", text)} == set()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_short_debate_between_own_stances_is_in_one_language(
    database_url: str, tmp_path: Path, language: str
) -> None:
    whole = await hold_whole(
        database_url,
        tmp_path / "out",
        DEFAULTS,
        format="structured",
        language=language,
        length="short",
        topic="Tab / 4",
        stance_a="Tab",
        stance_b="4",
    )
    thread = "\n".join(plain(message, "") for message in whole.posted)
    assert set(ENGLISH.findall(thread)) == set()
    (reveal,) = [message for message in whole.posted if isinstance(message, Reveal)]
    with speaking(language):
        argues = say(ARGUES, side="A", stance="Tab").replace("*", "")
        reports = [write_markdown(lay_out(whole.debate, (), shown)) for shown in (None, reveal)]
    assert argues in thread
    assert set(ENGLISH.findall(NAMES.sub("", "".join(reports)))) == set()


JURORS = tuple(
    Model.parse(f"rehearsal/{name}") for name in ("birch", "elm", "rowan", "aspen", "hazel", "fir")
)
FULL = DEFAULTS.model_copy(update={"jurors": JURORS})
SAYS = {
    "classic": "At most 120 words.",
    "team": "words.",
    "structured": "Keep each text within 40 words.",
    "roundtable": "At most 120 words",
    "audited": "At most 120 words.",
    "oxford": "At most 120 words.",
}
TURNS = {"classic": 8, "team": 12, "structured": 6, "roundtable": 6, "audited": 6, "oxford": 6}
FIVE_MINUTES = 1200  # words


@pytest.mark.parametrize("format", FORMATS)
async def test_a_short_debate_is_read_in_five_minutes(
    database_url: str, tmp_path: Path, format: str
) -> None:
    whole = await hold_whole(
        database_url, tmp_path / "out", FULL, format=format, length=Length.SHORT
    )
    assert all(SAYS[format] in text for text in whole.sent("turn/opening"))
    turns = whole.table("turns")
    assert len(turns) == TURNS[format]
    assert sum(turn["words"] for turn in turns) <= FIVE_MINUTES
    (held,) = whole.table("debates")
    assert held["length"] == "short"
    expected = whole.started.estimate
    panel = len({step for step in whole.heard if step.startswith("jury/")})
    assert abs(len(whole.heard) - panel - (expected.calls - 4)) <= 2
    card = card_of(next(m for m in whole.posted if isinstance(m, Announcement)))
    assert any(f"**{format} (short)**: " in s and " to read" in s for s in card.lines)
    assert estimated(expected) == card.small


@pytest.mark.parametrize("seed", range(3))
async def test_a_short_team_debate_takes_an_afternoon(
    database_url: str, tmp_path: Path, seed: int
) -> None:
    whole = await hold_whole(
        database_url, tmp_path / "out", FULL, format="team", length=Length.SHORT, seed=seed
    )
    assert whole.messages <= 20
    assert len(whole.heard) <= 45
    assert whole.started.estimate.calls <= 45
    assert {turn["seat"] for turn in whole.table("turns")} == set(SEATS)


@pytest.mark.each_case
@pytest.mark.parametrize("format", FORMATS)
def test_short_never_allows_more_and_long_never_less(format: str) -> None:
    script = find_format(format)
    usual = script.limits.model_validate({}).model_dump()
    short, long = (script.limits_of(length, {}) for length in (Length.SHORT, Length.LONG))
    assert short
    assert long
    assert all(short[name] <= usual[name] for name in short)
    assert all(long[name] >= usual[name] for name in long)
    assert script.limits_of(Length.NORMAL, {"words": 7}) == {"words": 7}
    tight = {name: 1 for name, value in usual.items() if isinstance(value, int)}
    if format != "structured":
        assert all(script.limits_of(Length.SHORT, tight)[name] <= 1 for name in tight)


def test_what_was_asked_for_goes_before_the_length_and_that_before_the_default() -> None:
    short = setup_for("audited", length=Length.SHORT)
    assert short.request.options["turns"] == 6
    assert short.limits == {"words": 120}
    asked = setup_for("audited", length=Length.SHORT, options={"turns": "4"})
    assert asked.request.options["turns"] == 4
    assert setup_for("classic", length=Length.LONG).request.rounds == 2
    assert setup_for("classic", length=Length.LONG, rounds=1).request.rounds == 1
    assert setup_for("roundtable", length=Length.SHORT).request.rounds == 1
    assert setup_for("classic").request.length is Length.NORMAL
    where = {"platform": "memory", "community": "club", "place": "lobby"}
    defaults = REHEARSED.model_copy(update={"length": Length.SHORT})
    assert plan(Order(**where), defaults, load_prompts(), 1)[0].request.length is Length.SHORT
    assert (
        plan(Order(**where, length=Length.LONG), defaults, load_prompts(), 1)[0].request.length
        is Length.LONG
    )
    assert read_option("length", "Short") is Length.SHORT
    with pytest.raises(UsageError, match="did you mean short"):
        read_option("length", "shrt")
