"""Whole debates in five languages, as a member reads them on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from adapters.terminal.render import plain
from engine.dataset.page import lay_out, write_markdown
from engine.formats import FORMATS
from engine.values.language import speaking
from engine.values.messages import Reveal
from engine.values.text import columns
from engine.values.topics import built_in_topics
from engine.words import translation
from engine.words.cards import ARGUES
from engine.words.translation import LANGUAGES, say
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
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    format: str,
    language: str,
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
