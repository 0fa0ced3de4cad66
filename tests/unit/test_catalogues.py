"""The catalogues are complete and hold nothing more: they are compared with the whole source."""

import pytest
from babel.messages.catalog import Catalog

from engine.values.debate import Status
from engine.values.language import Text, speaking
from engine.words.phrases import WAITS_TO_CLOSE
from engine.words.translation import LANGUAGES, catalogue, say
from tests.catalogues import FOR_OPERATORS, LOCALES, ROOT, extracted, forms_of, read


@pytest.fixture(scope="module")
def source() -> Catalog:
    return extracted()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_has_every_text_of_the_source_and_nothing_more(
    source: Catalog, language: str
) -> None:
    own = {message.id for message in read(LOCALES / f"{language}.po") if message.id}
    every = {message.id for message in source if message.id}
    assert len(every) > 1500
    assert (every - own, own - every) == (set(), set()), "run make catalogues, then translate"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_in_each_of_its_forms_and_read_as_babel_reads_it(
    language: str,
) -> None:
    catalog, expected = read(LOCALES / f"{language}.po"), dict[str, str | list[str]]()
    for message in filter(lambda message: message.id, catalog):
        forms = forms_of(message)
        assert len(forms) == (catalog.num_plurals if message.pluralizable else 1), message.id
        assert all(forms), message.id
        assert not message.fuzzy, message.id
        text = message.id if isinstance(message.id, str) else message.id[1]
        expected[text] = forms[0] if len(forms) == 1 else list(forms)
    assert catalogue(language) == expected
    assert [status for status in Status if status not in expected] == []  # refusals name it


def test_every_module_that_is_named_as_of_operators_exists() -> None:
    assert [path for path in FOR_OPERATORS if not (ROOT / path).exists()] == []


def test_why_a_debate_waits_is_said_in_its_language() -> None:
    with speaking("de"):
        assert say(Text(WAITS_TO_CLOSE, platform="Discord")).startswith("Warten auf Discord: ")
        assert say("A manager stopped it.") == "Die Verwaltung hat sie gestoppt."
        assert say("Anything else.") == "Anything else."
