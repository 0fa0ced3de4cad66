"""Reads a structured answer from a model's text; the only place that does.

The rungs, in order: balanced objects in the text → strict JSON → json-repair, flagged. An
answer that was cut off is never read: a repair would invent its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from engine.prompts import MARK
from engine.values.debate import Violation
from engine.values.errors import UnreadableError
from engine.values.limits import MAX_DEPTH, TOO_DEEP
from engine.values.ports import Reply
from engine.values.text import count_words

CUT_OFF = "length"  # a reply that reached its token cap
TOO_LONG = "too_long"  # our own word for a reply that was cut to the debate's cap
BEGINNING = 200  # characters; the whole of a cut reply invites another as long
MAX_CHARS = 1_000_000
MAX_OBJECTS = 16

_MARK = re.compile(r'["\\{}\[\]]')
# Halves of surrogate pairs and NUL are valid JSON escapes that no database takes.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PAIR = {"}": "{", "]": "["}
_EXAMPLE = re.compile(r'[:\[]\s*"([^"\n]+)"')

Object = dict[str, Any]


def sent_back(reply: Reply) -> str:
    """Return what a model is shown of its faulty reply: of a cut one, only how it began."""
    return f"{reply.text[:BEGINNING]} …" if reply.finish == CUT_OFF else reply.text


class Parsed(NamedTuple):
    """The object that an answer holds, and whether repair was needed to read or store it."""

    value: Object
    repaired: bool
    replaced: int = 0  # characters that cannot be stored


def read_object(text: str, finish: str = "stop") -> Parsed:
    """Return the one JSON object in a model's answer, with prose or fences around it.

    `finish` is why the answer stopped. Several objects are fine when
    they are equal. Raises UnreadableError for an answer that is cut off, holds no object, or
    holds two that differ. Linear in the text, and never deeper than 64 levels.
    """
    if finish == TOO_LONG:
        raise UnreadableError("the answer is longer than a reply may be")
    if finish == CUT_OFF:
        raise UnreadableError("it was cut off: answer shorter")
    if len(text) > MAX_CHARS:
        raise UnreadableError(f"the answer is longer than {MAX_CHARS} characters")
    found = [parsed for span in _spans(text) if (parsed := _parse(span))]
    # An empty pair of braces in prose is no second answer.
    found = [parsed for parsed in found if parsed.value] or found
    if not found:
        raise UnreadableError("the answer holds no JSON object")
    if len(found) > 1 and len({_canonical(parsed.value) for parsed in found}) > 1:
        raise UnreadableError("the answer holds two JSON objects that differ")
    return next((parsed for parsed in found if not parsed.repaired), found[0])


def example_texts(prompts: Iterable[str]) -> frozenset[str]:
    """Return the texts of the JSON examples in prompts' own lines, for `is_filler`."""
    quoting = (line for prompt in prompts for line in prompt.split("\n") if '"' in line)
    own = (line for line in quoting if not line.startswith(MARK))
    return frozenset(_letters(found) for line in own for found in _EXAMPLE.findall(line))


def is_filler(text: str, examples: frozenset[str]) -> bool:
    """Return whether a text says nothing: no letter or digit, or what an example has there."""
    letters = _letters(text)
    return not letters or letters in examples


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _spans(text: str) -> list[str]:
    """Return the outermost balanced `{…}` pieces; raises UnreadableError when one stays open."""
    spans: list[str] = []
    stack: list[str] = []
    start, position, quoted = 0, 0, False
    while mark := _MARK.search(text, position):
        sign, position = mark.group(), mark.end()
        if sign == "\\":
            position += 1
        elif sign == '"':
            quoted = bool(stack) and not quoted
        elif not quoted:
            if not stack:
                start = mark.start()
            _step(stack, sign)
            if sign == "}" and not stack:
                spans.append(text[start:position])
    if stack:
        raise UnreadableError("the answer's JSON is not closed")
    if len(spans) > MAX_OBJECTS:
        raise UnreadableError(f"the answer holds more than {MAX_OBJECTS} pieces of JSON")
    return spans


def _step(stack: list[str], sign: str) -> None:
    """Open or close a level; brackets outside of any object are prose."""
    if sign == "{" or (sign == "[" and stack):
        stack.append(sign)
        if len(stack) > MAX_DEPTH:
            raise UnreadableError(TOO_DEEP)
    elif stack and sign in _PAIR and stack.pop() != _PAIR[sign]:
        raise UnreadableError("the answer's JSON has a bracket that is not closed")


def _parse(span: str) -> Parsed | None:
    try:
        value = json.loads(span, object_pairs_hook=_unique, parse_constant=_refuse)
    except ValueError:
        from engine.stage.repair import repaired  # only now: most answers need none

        value = repaired(span)
        return None if value is None else _parsed_as(value, span, repaired=True)
    return _parsed_as(value, span, repaired=False)


def _parsed_as(value: Any, span: str, *, repaired: bool) -> Parsed:
    """Return a value without what cannot be stored."""
    suspect = "\\" in span or _UNSTORABLE.search(span)  # most answers hold neither
    replaced = _count_unstorable(value) if suspect else 0
    return Parsed(_clean(value) if replaced else value, repaired or replaced > 0, replaced)


def _count_unstorable(value: Any) -> int:
    if isinstance(value, str):
        return len(_UNSTORABLE.findall(value))
    if isinstance(value, dict):
        return sum(_count_unstorable(part) for pair in value.items() for part in pair)
    return sum(map(_count_unstorable, value)) if isinstance(value, list) else 0


def _clean(value: Any) -> Any:
    """Take what cannot be stored out of every text of a parsed value."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def _unique(pairs: list[tuple[str, Any]]) -> Object:
    """Build an object; a key given twice with two values would hide one of them."""
    value: Object = {}
    for key, item in pairs:
        if key in value and _canonical(value[key]) != _canonical(item):
            raise UnreadableError(f"the answer's JSON gives “{key[:40]}” twice, differently")
        value[key] = item
    return value


def _refuse(constant: str) -> float:
    raise UnreadableError(f"the answer's JSON holds {constant}, which is no JSON number")


def _canonical(value: object) -> str:
    """Write a value so that equal texts mean equal JSON: 1, 1.0 and true all differ."""
    return json.dumps(value, sort_keys=True)


# Recognises a turn in which a model declines to argue, by how a short text begins.
#
# Only what is certain counts: the first sentence must say that the speaker cannot or will not do
# what it was asked. A debater who says "I cannot accept that claim" argues. Models often decline in
# English whatever the debate's language, so every pattern is tried on every text.


REFUSAL = "refusal"
MOST_WORDS = 60  # a longer text argues something
MOST_CHARACTERS = 600  # of the text that patterns read
# After an apology; in each language: unable or unwilling, and to do what was asked.
_ENGLISH = (
    r"(?:(?:i(?:'m| am) (?:very |really )?sorry|sorry|i apologi[sz]e|my apologies|unfortunately"
    r"|as an ai(?: \w+){0,3})[\s,.;:—-]*(?:but )?){0,2}"
    r"i(?: respectfully| simply)? ?(?:can't|cannot|can not|won't|will not"
    r"|(?:must |have to )?(?:respectfully )?decline to"
    r"|(?:'m|am) (?:unable to|not (?:able to|willing to|going to|comfortable)))"
    r"(?: in good conscience| in good faith| responsibly| ethically)? "
    r"(?:help(?! but)|assist|comply|participat\w+|tak(?:e|ing) part|engag\w+|fulfil\w*"
    r"|argu(?:e|ing)(?= (?:for|against|in favou?r|this|either|that (?:side|position|case)))"
    r"|(?:writ|generat|creat|produc|provid)\w+ (?:\w+ ){0,3}(?:arguments?|content|speech|text))"
    r"[^.!?]*(?<=\W)(?:this|that|such|your request|the request|these|it)\b"
)
_GERMAN = (
    r"(?:(?:es )?(?:tut mir (?:sehr )?leid|entschuldigung|leider)[\s,.]*(?:aber )?)?"
    r"(?=[^.!?]{0,60}\b(?:ich (?:kann|darf|werde|möchte)|(?:kann|darf|werde|möchte) ich)\b)"
    r"(?=[^.!?]*\b(?:dies\w*|da(?:für|bei|zu|mit|gegen)|solche\w*|ihre[rn]?|deine[rn]?)\b)"
    r"[^.!?]*\b(?:nicht|keine?)\b[^.!?]*\b(?:helfen|weiterhelfen|argumentieren|nachkommen|erfüllen"
    r"|entsprechen|(?:argumente|inhalte|rede|text)\b[^.!?]*(?:liefern|erstellen|schreiben))\b"
)
_SPANISH = (
    r"(?:(?:lo siento|lo lamento|disculpa|perdón|lamentablemente)[\s,.]*(?:pero )?)?"
    r"no (?:puedo|podré|voy a|me es posible)\b"
    r"(?=[^.!?]*\b(?:ayudar|asistir|argumentar|argumentos|cumplir|participar|generar|escribir"
    r"|continuar))[^.!?]*\b(?:est[aeo]s?|es[aeo]s?|tu solicitud|su solicitud)\b"
)
_TURKISH = (
    r"(?:(?:üzgünüm|özür dilerim|maalesef|kusura bakmayın?)[\s,.]*(?:ama |ancak |fakat )?)?"
    r"[^.!?]{0,60}\b(?:bu|bunu|buna|böyle|bunun)\b[^.!?]{0,80}\b(?:yardımcı olamam"
    r"|yardımcı olamıyorum|savunamam|tartışamam|yerine getiremem|argüman (?:sunamam|üretemem"
    r"|yazamam)|yazamam|üretemem)\b"
)
_CHINESE = (
    r"(?:(?:很|非常)?(?:抱歉|对不起|對不起|遗憾)[，,。\s]*(?:但是?)?)?"
    r"(?:作为[^，。]{0,20}[，,]\s*)?我(?:无法|無法|不能|不会|拒绝)"
    r"[^。！？，,]{0,12}(?:协助|协助你|帮助|幫助|回答|回应|满足|参与|辩护|辩论|论证|提供|撰写|讨论)"
    r"[^。！？]{0,30}(?:这|此|该|那|您的请求|你的请求)?"
)
_DECLINES = re.compile(
    "|".join(f"(?:{one})" for one in (_ENGLISH, _GERMAN, _SPANISH, _TURKISH, _CHINESE)),
    re.IGNORECASE,
)


def declines(text: str) -> bool:
    """Return whether a text only says that its speaker will not do what was asked."""
    read = " ".join(text[:MOST_CHARACTERS].replace("’", "'").split()).strip("*_\"“”'> ")
    return bool(_DECLINES.match(read)) and count_words(text) <= MOST_WORDS


def refusal(text: str, finish: str = "stop") -> tuple[Violation, ...]:
    """Return the violation of a turn that its model declined, or that a filter withheld in part."""
    if finish != "content_filter" and not declines(text):
        return ()
    return (Violation(kind=REFUSAL, measured=1, limit=0),)
