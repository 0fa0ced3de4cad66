"""Texts in five languages: the catalogues hold every text that a thread shows."""

import ast
import importlib
import re
import string
from collections.abc import Iterator, Mapping
from types import ModuleType

import pytest

from engine.chat.commands import with_usage
from engine.delivery.reasons import refusal_of, without_settings
from engine.values.errors import (
    BudgetError,
    NotAllowedError,
    NotFoundError,
    RostrumError,
    SeriesCapError,
    UsageError,
    VenueError,
)
from engine.values.language import Count, Text, from_stored, speaking, to_stored
from engine.values.options import hint
from engine.words.phrases import WAITS_TO_POST
from engine.words.translation import LANGUAGES, catalogue, plural, say
from tests.catalogues import FOR_OPERATORS, ROOT
from tests.slow import slow_after

REFUSALS = (UsageError, NotAllowedError, NotFoundError, BudgetError, VenueError)


def _words(module: ModuleType, called: ast.expr) -> bool:
    """Return whether a call is given a text that people read."""
    named = getattr(module, called.id, None) if isinstance(called, ast.Name) else None
    refusal = isinstance(named, type) and issubclass(named, REFUSALS)
    refusal = refusal and named is not SeriesCapError  # which an operator's file has
    return named in (say, plural, Text) or refusal


def _named(module: ModuleType, said: ast.expr, function: ast.AST) -> Iterator[str]:
    if isinstance(said, ast.JoinedStr):  # what only operators read
        return
    keys = {id(n.slice) for n in ast.walk(said) if isinstance(n, ast.Subscript)}
    keys |= {id(n.elts[0]) for n in ast.walk(said) if isinstance(n, ast.Tuple)}  # a singular
    found = [n for n in ast.walk(said) if isinstance(n, ast.Constant) and id(n) not in keys]
    literals = [n.value for n in found]
    yield from (text for text in literals if isinstance(text, str))
    names = _constants(said)
    if not names and not literals:  # a variable: anything that the function names may be in it
        names = _constants(function)
    for name in names:
        of, _, constant = name.rpartition(".")
        yield from _strings(getattr(getattr(module, of) if of else module, constant, None))


def _constants(node: ast.AST) -> list[str]:
    """Return the names of constants, and those of the module `texts`."""
    own = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id.isupper()]
    others = (n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr.isupper())
    return own + [f"texts.{n.attr}" for n in others if getattr(n.value, "id", "") == "texts"]


def _strings(value: object) -> Iterator[str]:
    """Yield the texts in a constant; of two forms the plural, which is a catalogue's key."""
    match value:
        case str():
            yield value
        case (str() as one, str() as many) if "{n}" in one + many:
            yield many
        case tuple():
            for each in value:
                yield from _strings(each)
        case Mapping():
            for each in value.values():
                yield from _strings(each)


CATALOGUES = {language: catalogue(language) for language in LANGUAGES}


def _forms(translation: str | list[str]) -> list[str]:
    return [translation] if isinstance(translation, str) else translation


def _blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


NO_WORDS = re.compile(r"\{[^}]*\}|`[^`]*`|\b(?:AI|ID|USD|UTC|Rostrum|Discord|Slack|Markdown)\b")


# What a catalogue calls otherwise everywhere else, or whom it addresses otherwise.
STRAY_WORDS = {
    "de": r"Lesung|aufgedeckte|verschlüsselter Hash|nimm den Befehl|Kürzel|richtende",
    "es": r"Véase|\bgestor|\bjurados\b|partidos|\bPodéis|\bComprobad|“|orden\.\"$|etiquetaste",
    "tr": r"kelime|\bileti |\bdizi|Ekip |Format|İşletici|şletmeci|’|\b(?:açın|edin|arayın)\b",
    "zh": r"评审(?!团|列)|最多 +个词|假名|社群|智能体|重赛|(?<=[一-龥]),|讨论串”权限|众人",
}


@pytest.mark.parametrize("package", ["engine.words", "adapters.discord"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_has_one_word_for_a_thing(language: str, package: str) -> None:
    for text, translation in catalogue(language, package).items():
        for form in _forms(translation):
            found = re.search(STRAY_WORDS[language], NO_WORDS.sub("", form))
            assert not found, (text, form, found)


OWN = {"hint", "passing", "retry_after", "maybe_stored"}  # arguments that are no values


def refusals() -> Iterator[tuple[str, ast.Call]]:
    """Yield every place where people are refused something, or a text is kept for later."""
    for path in sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("adapters/**/*.py")]):
        name = str(path.relative_to(ROOT))
        source = path.read_text("utf-8")
        if name.startswith(FOR_OPERATORS):
            continue
        if re.search(r"Error\(|Text\(", source):
            module = importlib.import_module(name[:-3].replace("/", "."))
            for call in ast.walk(ast.parse(source)):
                if not (isinstance(call, ast.Call) and call.args and _words(module, call.func)):
                    continue
                if getattr(call.func, "id", "") not in ("say", "plural"):
                    yield f"{name}:{call.lineno}", call


def test_refusals_are_templates_with_their_values() -> None:
    found = list(refusals())
    assert len(found) > 150
    for where, call in found:
        template = call.args[0]
        assert not any(isinstance(n, ast.JoinedStr) for n in ast.walk(template)), where
        given = {keyword.arg for keyword in call.keywords} - OWN
        later = getattr(call.func, "id", "") == "Text" and not given  # filled in where it is raised
        if isinstance(template, ast.Constant) and None not in given and not later:
            assert _blanks(str(template.value)) == given, where


def raised() -> Iterator[tuple[str, RostrumError]]:
    """Yield every refusal that people are given, with values in its blanks."""
    for where, call in refusals():
        module = importlib.import_module(where.partition(":")[0][:-3].replace("/", "."))
        kind = getattr(module, getattr(call.func, "id", ""), None)
        if not (isinstance(kind, type) and issubclass(kind, RostrumError)):
            continue
        for template in filter(lambda text: " " in text, _named(module, call.args[0], call)):
            blanks = [
                (name, spec) for _, name, spec, _ in string.Formatter().parse(template) if name
            ]
            values: dict[str, object] = {name: 3 if spec else "§" for name, spec in blanks}
            values |= {name: ("§",) for name, spec in blanks if spec in ("or", "and")}
            yield template, kind(Text(template, **values))


@pytest.mark.parametrize("language", slow_after(2, LANGUAGES))
def test_a_refusal_without_blanks_does_not_stay_english_inside_a_usage(language: str) -> None:
    every = dict(raised())
    assert len(every) > 150
    for template, error in every.items():
        with speaking(language):
            bare = refusal_of(error)
            doors = [bare]
            if isinstance(error, UsageError):
                doors += [
                    refusal_of(with_usage(error, name, hides=hides))
                    for name in ("start", "forget")
                    for hides in (True, False)
                ]
        for shown in doors:
            assert without_settings(str(error)) not in shown, (language, template, shown)
            assert bare in shown or "secret" in template, (template, shown)


@pytest.mark.parametrize("language", slow_after(1, LANGUAGES))
def test_a_refusal_that_was_stored_does_not_stay_english(language: str) -> None:
    """Why a schedule skipped, or what a thread waits for."""
    for template, error in dict(raised()).items():
        waits = Text(WAITS_TO_POST, why=error.text)
        read = from_stored(to_stored(waits))
        with speaking(language):
            said = say(error.text)
            assert say(from_stored(to_stored(error.text))) == said, template
            assert say(read) == say(waits) == say(WAITS_TO_POST, why=said), template
        assert read == str(waits), template


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain, with {braces}",
        '{"template": "of a person", "values": {"x": 1}}',
        Text("A manager stopped it."),
        Text("{usd:usd} of {n:,} for {name}", usd=0.5, n=1200, name="{x} “y”"),
        Text(
            "{why} {names:or} {yes}", why=Text("It is {n:.1f}", n=1.0), names=("a", "b"), yes=True
        ),
        Text("{what:and}", what=(Text("for {side}", side="A"), Text("queued"))),
        Count("{n} vote on {code}", "{n} votes on {code}", 1, code="k7f2qz"),
        Text("{left}.", left=Count("{n} minute", "{n} minutes", 2.5)),
    ],
)
def test_a_text_is_read_as_it_was_stored(text: str) -> None:
    read = from_stored(to_stored(text))
    assert read == text
    assert to_stored(read) == to_stored(text)  # by which what a debate waits for is found
    for language in ("en", *LANGUAGES):
        with speaking(language):
            assert say(read) == say(text)


def test_a_refusal_is_english_for_logs_and_said_in_any_language() -> None:
    error = UsageError(
        "{name} is “{text}”; {near} it must be {known:or}.",
        name="ballot",
        text="{x} secrte",
        near=hint("secrte", ("open", "secret", "private")),
        known=("open", "secret", "private"),
    )
    assert str(error) == (
        "ballot is “{x} secrte”; did you mean secret? it must be open, secret or private."
    )
    with speaking("de"):
        assert str(error).startswith("ballot is")
        assert refusal_of(error) == (
            "ballot ist „{x} secrte“; meintest du secret? Möglich ist open, secret oder private."
        )
    with speaking("zh-CN"):
        assert refusal_of(error).endswith("必须是 open、secret或private。")
    with speaking("pt-BR"):
        assert refusal_of(error) == str(error)


def test_translations_have_the_blanks_of_their_texts_and_none_is_left_in_english() -> None:
    for language, found in CATALOGUES.items():
        for text, translation in found.items():
            words = re.findall(r"[A-Za-z]{2,}", NO_WORDS.sub("", text))
            same = translation in (text, [text, text])
            assert not (same and len(words) > 2), (language, text)
            for form in _forms(translation):
                assert (language, text, _blanks(form)) == (language, text, _blanks(text))
                assert text[0].isspace() == form[0].isspace()
                assert form == form.strip() or text != text.strip()


def test_a_text_is_said_in_the_language_spoken_and_its_values_are_data() -> None:
    assert say("Vote") == "Vote"
    for language, said in {"de": "Abstimmung", "zh-Hans": "投票", "fr": "Vote"}.items():
        with speaking(language):
            assert say("Vote") == said
    assert say("Vote") == "Vote"
    with speaking("de"):
        assert say("Topic: {topic}", topic="{n} {0.x}") == "Thema: {n} {0.x}"
