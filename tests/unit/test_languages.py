"""Languages: codes are checked, and named for prompts."""

import pytest

from engine.prompts import check_language, language_name
from engine.values.errors import UsageError


@pytest.mark.parametrize("code", ["en", "tr", "zh-Hant", "pt-BR", "sr-Latn-RS", "gsw", "gv"])
def test_a_language_code_is_taken_as_given(code: str) -> None:
    assert check_language(code) == code


EXAMPLE = "not a language code; write one like en, tr or zh-Hant"
CODELESS = ("", "e", "english", "en_US", "en-", "tr\n", "{{ 7*7 }}", "tr " * 20, "中文")
NOBODYS = ("xx-yy-zz", "xx", "en-US-GB", "tr-Latn-Cyrl", "qq-Latn", "und", "zxx", "mul")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        *((code, EXAMPLE) for code in CODELESS),
        *((code, "is not a language code; write one like") for code in NOBODYS),
        ("enn", r"Near it: .*en \(English\)"),
        ("klingon", r"or zh-Hant\.$"),  # far from all
        ("turkish", r"Near it: tr \(Turkish\)\."),
    ],
)
def test_what_is_no_code_is_refused_with_an_example_and_the_nearest(code: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_language(code)


def test_a_language_is_named_in_english_beside_its_code_as_prompts_always_did() -> None:
    kept = {"nb": "Norwegian", "bn": "Bengali", "cmn": "Mandarin", "dv": "Dhivehi", "ff": "Fulah"}
    kept |= {"mi": "Maori", "os": "Ossetian", "tr": "Turkish", "gsw": "Swiss German"}
    for code, name in (kept | {"ZH-hant": "Chinese"}).items():
        assert language_name(code) == f"{name} ({code})"
    assert language_name("xx") == "xx"
