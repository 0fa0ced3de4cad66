"""Languages: codes are checked, and named for prompts."""

from __future__ import annotations

import pytest

from engine.prompts.library import check_language, language_name
from engine.values.errors import UsageError


@pytest.mark.parametrize("code", ["en", "tr", "zh-Hant", "pt-BR", "sr-Latn-RS", "gsw", "gv"])
def test_a_language_code_is_taken_as_given(code: str) -> None:
    assert check_language(code) == code


@pytest.mark.parametrize(
    "code", ["", "e", "english", "en_US", "en-", "tr\n", "{{ 7*7 }}", "tr " * 20, "中文"]
)
def test_what_cannot_be_a_code_is_refused_with_an_example(code: str) -> None:
    with pytest.raises(UsageError, match="not a language code; write one like en, tr or zh-Hant"):
        check_language(code)


@pytest.mark.parametrize(
    "code", ["xx-yy-zz", "xx", "en-US-GB", "tr-Latn-Cyrl", "qq-Latn", "und", "zxx", "mul"]
)
def test_a_code_that_no_language_has_is_refused(code: str) -> None:
    with pytest.raises(UsageError, match="is not a language code; write one like"):
        check_language(code)


def test_the_nearest_languages_are_named() -> None:
    with pytest.raises(UsageError, match=r"Near it: .*en \(English\)"):
        check_language("enn")


def test_a_language_that_is_far_from_all_is_given_none() -> None:
    with pytest.raises(UsageError, match=r"or zh-Hant\.$"):
        check_language("klingon")


def test_a_language_written_by_its_name_is_given_its_code() -> None:
    with pytest.raises(UsageError, match=r"Near it: tr \(Turkish\)\."):
        check_language("turkish")


def test_a_language_is_named_in_english_beside_its_code() -> None:
    assert language_name("tr") == "Turkish (tr)"
    assert language_name("ZH-hant") == "Chinese (ZH-hant)"
    assert language_name("gsw") == "Swiss German (gsw)"
    assert language_name("xx") == "xx"


def test_prompts_name_languages_as_they_always_did() -> None:
    kept = {"nb": "Norwegian", "bn": "Bengali", "cmn": "Mandarin", "dv": "Dhivehi", "ff": "Fulah"}
    for code, name in (kept | {"mi": "Maori", "os": "Ossetian"}).items():
        assert language_name(code) == f"{name} ({code})"
