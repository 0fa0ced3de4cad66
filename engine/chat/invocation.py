"""A command as a person gave it: its name and its arguments; typed, chosen or pressed.

Discord's typed options and Slack's text become the same values; the parameter of each name is in
engine/chat/parameters.py. `"Tea beats coffee" format=classic vote=30m` becomes the arguments of
`start`. All of it is pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from engine.chat.parameters import IN_A_CHAT, LEAGUE
from engine.formats import FORMATS
from engine.values.errors import UsageError
from engine.values.language import Text
from engine.values.options import (
    STANCES,
    Options,
    Param,
    hint,
    parse_number,
    parse_switch,
    read_option,
    split_models,
)
from engine.values.sources import SourceFile
from engine.values.text import headline
from engine.values.verdicts import Question

_SIDE = re.compile(r"(?:model_)?([ab]\d?|[1-9])")
JURORS, JUDGES = "jurors", "judges"
ACTIONS_ON_TOPICS = ("upvote", "approve", "remove")
ALIASES = {
    "vote": "vote_minutes",
    "minutes": "vote_minutes",
    "lang": "language",
    "order": "turn_order",
    "juror": "jurors",
} | STANCES
_CLOSERS = {
    '"': '"”“',
    "“": '”"',
    "”": '”"',
    "„": '“”"',
    "«": "»",
    "‘": "’'",
    "'": "'’",
}
_QUOTES = frozenset("".join(_CLOSERS) + "".join(_CLOSERS.values()))
_ESCAPED = re.compile(r"\\([{}])".format("".join(_QUOTES)))
_BARE = re.compile(r"\S+")
_OPTION = re.compile(r"(\w[\w-]*)=(.*)", re.DOTALL)


class StartArguments(Options):
    """A debate to start; omitted values are defaults, or drawn at random.

    `sides` maps a contender or a seat (`A1`) to a model's name as typed; `jurors` and `judges`
    (the format's own) are names as typed too. `sources` are files that every side reads.
    """

    sides: Mapping[str, str] = {}
    jurors: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    sources: tuple[SourceFile, ...] = ()


class Invocation(NamedTuple):
    """A command's name and its arguments, by the names of its handler's parameters."""

    name: str
    arguments: Mapping[str, Any] = {}


# --- buttons and forms ---------------------------------------------------------------------


def pressed_invocation(  # noqa: C901 - one case a kind of button
    button: str, debate: str, chosen: str | None = None
) -> Invocation | None:
    """Return the command behind a button or menu; None for a vote button.

    `debate` is the code of its debate, maybe with what of it is meant, or the number of its topic.
    `chosen` is the selection from a menu.
    """
    code, _, of = debate.partition("/")
    match button:
        case "stop":
            return Invocation("cancel", {"debate": debate})
        case "status":
            return Invocation("status", {"debate": debate})
        case "why" | "details":
            return Invocation("result", {"debate": debate, "part": button})
        case "delete" | "delete_both":
            both = button == "delete_both"
            return Invocation("delete", {"debate": debate, "mirror": both, "confirm": True})
        case "upvote" | "approve" | "remove" if debate.isdecimal():
            return Invocation("topics", {"action": button, "number": int(debate)})
        case "remark":
            return Invocation("remark", {"debate": debate})
        case "ground" | "clear":
            asked = Question.GROUND if button == "ground" else Question.CONFIDENCE
            return Invocation("remark", {"debate": code, "question": asked, "option": of})
        case "guess":
            guess = {"question": Question.GUESS, "side": of, "option": chosen or ""}
            return Invocation("remark", {"debate": code, **guess})
        case "page":
            page = int(of) if of.isdecimal() else 0
            return Invocation("remark", {"debate": code, "page": page})
        case "rematch" | "swap":
            return Invocation("rematch", {"debate": debate, "swap": button == "swap"})
        case "accept" | "decline":
            return Invocation("consent", {"debate": debate, "text": button})
        case "done":
            return Invocation("done", {"debate": debate})
        case "review":
            return Invocation("review", {"debate": debate, "vote": chosen})
    return None


def home_invocation(button: str) -> Invocation | None:
    """Return the command behind a button of the app's own page; it has asked whether to forget."""
    if button == "forget":
        return Invocation("forget", {"confirm": True})
    if button == "me":
        return Invocation("me")
    return Invocation(button) if button in ("mydata", "optin", "optout") else None


def submitted_invocation(form: str, of: str, typed: Mapping[str, str]) -> Invocation | None:
    """Return the command behind a form that a button opened; None for an unknown one."""
    debate = of.partition(".")[0]
    match form:
        case "ask":
            return Invocation("ask", dict(debate=debate, **typed))
        case "unask":
            return Invocation("unask", {"debate": debate, "text": typed.get("number", "")})
        case "write":
            return Invocation("write", dict(debate=debate, **typed))
        case "sure":
            return Invocation("sure", {"debate": debate, "text": typed.get("percent", "")})
    return None


# --- words -------------------------------------------------------------------------------


class Word(NamedTuple):
    """A word of a command; `option` is empty for one without `name=`."""

    option: str
    text: str
    quoted: bool = False


def split_words(text: str) -> list[Word]:
    """Split a line into words and options; quotation marks of any kind group words.

    A mark opens at the start of a word or after `=`, and the same kind closes at the end of a
    word; a backslash escapes it. Raises UsageError for an unclosed one.
    """
    words, position = [], 0
    while bare := _BARE.search(text, position):
        position, end = bare.span()
        head = _OPTION.match(text, position, end)
        start = head.start(2) if head else position
        quoted = start < len(text) and text[start] in _CLOSERS
        if quoted:
            end = _closing(text, start) + 1
        said = _ESCAPED.sub(r"\1", text[start + 1 : end - 1]) if quoted else text[start:end]
        words.append(Word(head[1].casefold() if head else "", said, quoted))
        position = end
    return words


def _closing(text: str, start: int) -> int:
    """Return the position that closes the mark at `start`, skipping nested pairs."""
    opener, closers, depth = text[start], _CLOSERS[text[start]], 0
    for position in range(start + 1, len(text)):
        mark = text[position]
        if mark not in _QUOTES or text[position - 1] == "\\":
            continue
        if mark in closers:
            if depth == 0 and (position + 1 == len(text) or text[position + 1].isspace()):
                return position
            depth = max(0, depth - 1)
        elif mark == opener:
            depth += 1
    raise UsageError(
        "The quotation mark before “{text}” is not closed; close it and put a space after it.",
        text=headline(text[start + 1 :], 30),
    )


# --- arguments ---------------------------------------------------------------------------


def read_start(words: Sequence[Word]) -> StartArguments:
    """Read a topic and options. Raises UsageError, as all of these do."""
    _refuse_stray_equals(words)
    alone = [word for word in words if not word.option]
    fields: dict[str, Any] = {}
    sides: dict[str, str] = {}
    options: dict[str, str] = {}
    for name, text in _options(words).items():
        if _SIDE.fullmatch(name):
            sides[name.upper()] = text
        elif name == JURORS or (name == JUDGES and "/" in text):  # else how many judges there are
            fields[name] = parse_list(name, text)
        elif name in IN_A_CHAT:
            fields[name] = read_option(name, text)
        else:
            options[name] = text
    if "topic" in fields:
        _nothing_after(alone)
    fields.setdefault("topic", _topic(alone) or None)
    return StartArguments(sides=sides, options=options, **fields)


def _topic(words: Sequence[Word]) -> str:
    """Return the topic: the quoted text, or else all words joined."""
    if any(word.quoted for word in words):
        first, *more = sorted(words, key=lambda word: not word.quoted)
        _nothing_after(more)
        return first.text.strip()
    return " ".join(word.text for word in words)


def _options(words: Iterable[Word]) -> dict[str, str]:
    """Return the options of `start` by canonical name. Raises UsageError for a repeated one."""
    own = {name for script in FORMATS.values() for name in script.options.model_fields}
    known = ("a", "b", JURORS, JUDGES, *ALIASES, *IN_A_CHAT, *sorted(own))
    found: dict[str, str] = {}
    for word in words:
        if not word.option:
            continue
        side = _SIDE.fullmatch(word.option)
        if not side and word.option not in known:
            close, said = hint(word.option, known), _shorten(word.option)
            if close:
                raise UsageError("Unknown option “{option}”; {close}", option=said, close=close)
            raise UsageError("Unknown option “{option}”.", option=said)
        name = side[1] if side else ALIASES.get(word.option, word.option)
        if name in found:
            raise UsageError("“{option}” is given twice; give it once.", option=word.option)
        if not word.text.strip():
            raise UsageError(
                "“{option}=” has no value; write one after the sign.",
                option=word.option,
            )
        found[name] = word.text.strip()
    return found


def _refuse_stray_equals(words: Iterable[Word]) -> None:
    for word in words:
        if not word.option and not word.quoted and word.text.startswith("="):
            raise UsageError("Stray “=”: write option=value without spaces.")


def read_named(params: Sequence[Param], words: Sequence[Word]) -> dict[str, Any]:
    """Return the values of parameters by name: those that lead as they come, the others by name."""
    leading = [param for param in params if param.leads]
    named = {param.said: param for param in params if not param.leads}
    alone = [word for word in words if not word.option]
    _nothing_after(alone[len(leading) :])
    _nothing_after([word for word in words if word.option and word.option not in named])
    found: dict[str, Any] = {
        param.name: word.text.strip().lstrip("#") or None
        for param, word in zip(leading, alone, strict=False)
    }
    for word in words:
        if word.option:
            param = named[word.option]
            _nothing_after([word] if param.name in found else ())
            found[param.name] = parse_switch(word.option, word.text)
    return found


def read_settings(words: Sequence[Word]) -> dict[str, Any]:
    """Read changes, each as name=value."""
    _refuse_stray_equals(words)
    stray = next((word for word in words if not word.option), None)
    if stray:
        raise UsageError(
            "“{text}” is not a setting; write name=value.",
            text=_shorten(stray.text),
        )
    names = tuple(word.option for word in words)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UsageError(
            "“{option}” is given twice; give it once.",
            option=_shorten(twice),
        )
    return {"changes": {word.option: word.text.strip() for word in words}}


def read_suggest(words: Sequence[Word]) -> dict[str, Any]:
    """Read a topic: the quoted text, or else all words."""
    said = [
        word._replace(text=f"{word.option}={word.text}") if word.option else word for word in words
    ]
    return {"topic": _topic(said)}


def read_topics(words: Sequence[Word]) -> dict[str, Any]:
    """Read what to do with which topic; both may be missing."""
    _nothing_after([*words[2:], *(word for word in words if word.option)])
    action, number = [*(word.text.strip() for word in words), "", ""][:2]
    if not action:
        return {}
    if action.casefold() not in ACTIONS_ON_TOPICS:
        raise UsageError(
            "“{action}” cannot be done with a topic; choose from {known}.",
            action=_shorten(action),
            known=tuple(ACTIONS_ON_TOPICS),
        )
    if not number:
        raise UsageError("Give the number of a topic; the command topics shows it.")
    return {"action": action.casefold(), "number": parse_number("number", number.lstrip("#"))}


def read_league(words: Sequence[Word]) -> dict[str, Any]:
    """Read what to do with a league, and its options as name=value."""
    _refuse_stray_equals(words)
    alone = [word for word in words if not word.option]
    _nothing_after(alone[1:])
    known = [param.name for param in LEAGUE if param.name != "action"]
    given: dict[str, Any] = {}
    for word in words:
        if not word.option:
            continue
        if word.option not in known:
            close = suggest(word.option, known)
            raise UsageError(
                "Unknown option “{option}”; {close}", option=_shorten(word.option), close=close
            )
        if word.option in given:
            raise UsageError("“{option}” is given twice; give it once.", option=word.option)
        number = word.option in ("rounds", "quorum")
        text = word.text.strip()
        given[word.option] = parse_number(word.option, text) if number else text
    action = alone[0].text.casefold() if alone else "standing"
    return {"action": action, **given}


def read_schedule(words: Sequence[Word]) -> dict[str, Any]:
    """Read when to hold a debate, then its topic and options."""
    alone = [word for word in words if not word.option]
    named = [word for word in words if word.option]
    quoted = next((at for at, word in enumerate(alone) if word.quoted), len(alone))
    ends = max(1, quoted)
    when = " ".join(word.text for word in alone[:ends]).strip()
    if when.casefold() in ("", "off"):
        _nothing_after([*alone[ends:], *named])
        return {"when": when.casefold(), "asked": StartArguments()}
    return {"when": when, "asked": read_start([*alone[ends:], *named])}


def _nothing_after(words: Sequence[Word]) -> None:
    if words:
        said = f"{words[0].option}={words[0].text}" if words[0].option else words[0].text
        raise UsageError(
            "Unexpected “{said}”: this command takes no more arguments.",
            said=_shorten(said),
        )


def suggest(word: str, known: Iterable[str], *, listed_by: str = "") -> Text:
    """Return “did you mean …?” with the closest known word, or else all of them.

    `listed_by` is the command that lists them, where they are too many for a sentence.
    """
    known = tuple(known)
    if listed_by:
        all_of_them = Text("the command {command} lists them.", command=listed_by)
    else:
        all_of_them = Text("choose from {known}.", known=known)
    return hint(word, known) or all_of_them


def parse_list(name: str, text: str) -> tuple[str, ...]:
    """Read a comma-separated list without empty or repeated entries. Raises UsageError."""
    items = split_models(text)
    if not all(items):
        raise UsageError(
            "{name} has an empty entry; write a list such as one,two.",
            name=name,
        )
    return tuple(dict.fromkeys(items))


def _shorten(text: str) -> str:
    return headline(text, 40)
