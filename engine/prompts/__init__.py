"""Prompt templates: the built-in texts, overridden file by file, checked before any use."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

import orjson
import regex
from jinja2 import Environment, StrictUndefined, Template, TemplateError, meta
from pydantic import BaseModel, ValidationError

from engine.values.errors import SettingsError, UsageError
from engine.values.text import clean

# Languages by BCP-47 code, named in English for prompts.
#
# Common ones are listed here; loading CLDR for the others takes Babel 50 ms.


NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay",
    "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip
# Names that prompts have always used; CLDR has others, or none.
_KEPT = {"cmn": "Mandarin", "dv": "Dhivehi", "ff": "Fulah", "mi": "Maori", "os": "Ossetian"}
_NO_LANGUAGE = frozenset({"mul", "und", "zxx"})  # several, unknown, none
# RFC 5646: a language, then at most one script and one region, then variants.
_CODE = re.compile(
    r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
)


def check_language(code: str) -> str:
    """Return a BCP-47 code unchanged. Raises UsageError for anything else, with suggestions."""
    if len(code) <= 35 and _CODE.fullmatch(code) and _name(code):
        return code
    near = _near(_primary(code))
    if not near:
        raise UsageError(
            "“{code}” is not a language code; write one like en, tr or zh-Hant.", code=code[:40]
        )
    raise UsageError(
        "“{code}” is not a language code; write one like en, tr or zh-Hant. Near it: {near}.",
        code=code[:40],
        near=tuple(f"{one} ({NAMES[one]})" for one in near),
    )


@lru_cache(maxsize=256)  # a file may repeat a mistake thousands of times
def _near(word: str) -> tuple[str, ...]:
    written = {name.lower(): one for one, name in NAMES.items()} | {one: one for one in NAMES}
    close = get_close_matches(word, written, n=3, cutoff=0.6)
    return tuple(dict.fromkeys(written[one] for one in close))


def language_name(code: str) -> str:
    """Name a language for a prompt: `Turkish (tr)`, or the code if the name is unknown."""
    name = _name(code)
    return f"{name} ({code})" if name else code


def _name(code: str) -> str | None:
    primary = _primary(code)
    return NAMES.get(primary) or _others().get(primary)


@cache
def _others() -> dict[str, str]:
    from babel import Locale

    named = Locale("en").languages.items()
    return {code: name for code, name in named if code not in _NO_LANGUAGE} | _KEPT


def _primary(code: str) -> str:
    return code.split("-")[0].lower()


# Texts of people and models as prompts show them: every line of them begins with `>`.
#
# This is the only place where a prompt's layout and a text meet. A line begins where Unicode has
# one begin, so a text has no way to write a line of the prompt's own, whatever it imitates.


MARK = ">"


class _Quoted(str):
    """A text whose every line carries the mark."""

    __slots__ = ()


class QuotedSpeech:
    """A text of others, below a line of the prompt's own that says whose it is."""

    def __init__(self, head: str, text: str) -> None:
        self.head, self.text = head, text

    @cached_property
    def quoted(self) -> str:
        """The speech with its text quoted; kept, as judges read it again with every turn."""
        return f"{self.head}\n{_quote(self.text)}"


class SpeechRecord(str):
    """Several speeches, to be quoted one by one; as a plain text they have no marks.

    `end` follows each of them.
    """

    speeches: tuple[QuotedSpeech, ...]
    end: str

    def __new__(cls, speeches: Iterable[QuotedSpeech], end: str = "") -> SpeechRecord:
        """Join speeches in their order."""
        given = tuple(speeches)
        said = (f"{one.head}\n{one.text}{end}" for one in given)
        record = super().__new__(cls, "\n\n".join(said))
        record.speeches, record.end = given, end
        return record


def quote(text: str) -> _Quoted:
    """Return a text with a mark before each line; of a record, before each line of its texts."""
    if isinstance(text, SpeechRecord):
        return _Quoted("\n\n".join(f"{one.quoted}{text.end}" for one in text.speeches))
    return text if isinstance(text, _Quoted) else _Quoted(_quote(text))


def _quote(text: str) -> str:
    # Without carriage returns, separators and other controls: only a newline begins a line.
    lines = clean(text).split("\n") if text else ()
    return "\n".join(f"{MARK} {line}".rstrip() for line in lines)


_MARKS = regex.compile(rf"^{MARK} ?", regex.MULTILINE)


def unquote(prompt: str) -> str:
    """Return a prompt without the marks, to look for what somebody said in it."""
    return _MARKS.sub("", prompt)


_LESS = "<＜﹤˂≺⟨〈《❮❰"
_SUSPECT = re.compile(f"[{_LESS}&]")  # rules most texts out quickly
_UNSEEN = r"[\s\p{M}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]"
_CLOSING = regex.compile(
    rf"(?:[{_LESS}]|&(?:lt|\#0*60|\#x0*3c);?)"
    rf"(?={_UNSEEN}*(?:[/／∕⁄⧸╱]|&(?:sol|\#0*47|\#x0*2f);?))",
    regex.IGNORECASE,
)


def guard(text: str) -> str:
    """Keep a text from closing a tag, for templates that put tags around it.

    It may be any tag, as a model reads look-alike letters as its name. Full-width signs and
    entities count, and so do signs with invisible characters or marks between them.
    """
    # Removing it could join the halves of another one.
    return _CLOSING.sub("‹", text) if _SUSPECT.search(text) else text


def shown(value: object) -> object:
    """Return what a template shows of a value: a text that it does not quote closes no tag."""
    if isinstance(value, str) and not isinstance(value, _Quoted):
        return guard(value)
    return value


SUFFIX = ".jinja"
DATA = ".toml"  # a table beside the templates, frozen with them: personalities, archetypes, …
D = TypeVar("D", bound=BaseModel)
# The variables that the stage provides to every template of a format, and the panel to those of
# a juror's first question, whether or not the built-in ones use them.
SPOKEN = frozenset(
    {"topic", "conditions", "language", "language_code", "round", "opposing", "limits"}
    | {"stances", "stands", "aims", "part"}
)
JUDGED = frozenset(
    {"topic", "conditions", "stances", "rounds", "names", "criteria", "language", "tie_word"}
    | {"answers"}
)
SOURCES = "sources"  # the folder of what is said about sources, where a debate has some
TRIAL = "trial"  # the folder of what is said where the right answer is known
AUDIENCE = "audience"  # the folder of what is said about the audience's questions
# A template is a small program; its expressions can fail.
MISTAKES = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError)


# Prompts are plain text for a model, not HTML: escaping would corrupt what people wrote.
ENVIRONMENT = Environment(  # noqa: S701
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=shown
)
ENVIRONMENT.filters["quoted"] = quote
# Of templates that put tags around texts, as all did before they were quoted.
ENVIRONMENT.filters["guarded"] = guard


@lru_cache(maxsize=1024)
def _compile(text: str) -> Template:
    """Compile a template once for all debates; that takes far longer than rendering."""
    template = ENVIRONMENT.from_string(text)
    # Each rendering copies them, and Jinja's chain of maps is slow to copy.
    template.globals = dict(template.globals)
    return template


class _Table(BaseModel, extra="allow"):
    """Any table; only its format knows the fields."""


class Prompts:
    """A set of template texts, by name such as `classic/a/opening`."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self._parts: dict[tuple[str, ...], Prompts] = {}
        self._data: dict[tuple[str, type[BaseModel]], Any] = {}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the texts, in hexadecimal."""
        return hashlib.sha256(orjson.dumps(self.texts, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def only(self, *folders: str) -> Prompts:
        """Return the templates of some folders, such as a format's and the jury's; cached."""
        if folders not in self._parts:
            wanted = tuple(f"{folder}/" for folder in folders)
            texts = {name: text for name, text in self.texts.items() if name.startswith(wanted)}
            self._parts[folders] = Prompts(texts)
        return self._parts[folders]

    def render(self, name: str, **variables: Any) -> str:
        """Render a template. Raises SettingsError if the template itself is wrong."""
        try:
            return _compile(self.texts[name]).render(**variables).strip()
        except MISTAKES as error:
            raise SettingsError(
                f"The template {name}{SUFFIX} cannot be filled in: {error}. "
                "Correct it, or remove it from ROSTRUM_TEMPLATES_DIR to use the built-in one."
            ) from error

    def compile(self) -> None:
        """Compile every template ahead of its use; a wrong one is refused there."""
        for name, text in self.texts.items():
            if not name.endswith(DATA):
                with suppress(TemplateError):
                    _compile(text)

    def data(self, name: str, shape: type[D]) -> D:
        """Return a data file such as `team/personalities`, read once; do not change the value.

        Raises SettingsError for a wrong one.
        """
        if (name, shape) not in self._data:
            try:
                read = shape.model_validate(tomllib.loads(self.texts[name + DATA]))
            except (tomllib.TOMLDecodeError, ValidationError) as error:
                problem = str(error).partition("\n  For further")[0].replace("\n", " ")
                raise SettingsError(
                    f"The file {name}{DATA} cannot be used: {problem}. Correct it, or remove it "
                    "from ROSTRUM_TEMPLATES_DIR to use the built-in one."
                ) from error
            self._data[name, shape] = read
        known: D = self._data[name, shape]
        return known

    def variables(self, name: str) -> set[str]:
        """Return the names of the variables that a template uses. Raises SettingsError."""
        try:
            return meta.find_undeclared_variables(ENVIRONMENT.parse(self.texts[name]))
        except TemplateError as error:
            raise SettingsError(
                f"The template {name}{SUFFIX} cannot be read: {error}. "
                "Correct it, or remove it from ROSTRUM_TEMPLATES_DIR to use the built-in one."
            ) from error


def load_prompts(overrides: Path | None = None) -> Prompts:
    """Read the built-in templates, replaced by those of a folder with the same names.

    Raises SettingsError for a file that replaces nothing, cannot be read, or uses a variable
    that its place in a debate does not provide.
    """
    root = files("engine.prompts")
    built_in = Prompts({name: _read(file) for name, file in _walk(root, "")})
    if overrides is None:
        return built_in
    if not overrides.is_dir():
        raise SettingsError(f"ROSTRUM_TEMPLATES_DIR is {overrides}, which is not a folder.")
    changed = Prompts(built_in.texts | {name: _read(file) for name, file in _walk(overrides, "")})
    for name in sorted(changed.texts):
        _check(name, changed, built_in)
    return changed


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for item in folder.iterdir():
        if item.is_dir():
            found += _walk(item, f"{prefix}{item.name}/")
        elif item.name.endswith((SUFFIX, DATA)):
            found.append((prefix + item.name.removesuffix(SUFFIX), item))
    return found


def _read(file: Traversable) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The template {file.name} cannot be read: {error}.") from error


def _check(name: str, changed: Prompts, built_in: Prompts) -> None:
    if name not in built_in.texts:
        file = name if name.endswith(DATA) else name + SUFFIX
        near = get_close_matches(name, built_in.texts, n=1)
        hint = f"did you mean {near[0]}?" if near else "docs/prompts.md says which there are."
        raise SettingsError(
            f"The template {file} in ROSTRUM_TEMPLATES_DIR replaces none of Rostrum's; {hint}"
        )
    if name.endswith(DATA):
        changed.data(name.removesuffix(DATA), _Table)
        return
    given = JUDGED if name.startswith("jury/") else SPOKEN
    allowed = built_in.variables(name) | (frozenset() if name == "jury/retry" else given)
    unknown = changed.variables(name) - allowed
    if unknown:
        raise SettingsError(
            f"The template {name}{SUFFIX} uses {', '.join(sorted(unknown))}, which Rostrum does "
            f"not provide there; it may use {', '.join(sorted(allowed))}."
        )
